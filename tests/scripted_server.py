"""An OpenAI-compatible server that says what a test lets it say."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from language_models.faulty_server import Server


@dataclass
class ScriptedServer(Server):
    """`says` gives the reply to a prompt and a request."""

    says: Callable[[str, dict[str, Any]], str] = lambda prompt, _: f"You said: {prompt}"

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if self.refusal:
            return self.refusal[0], {"error": {"message": self.refusal[1]}}
        chat = path.endswith("/chat/completions")
        prompt = body["messages"][0]["content"] if chat else body["prompt"]
        if len(prompt.split()) > self.context:
            return 400, {"error": {"message": "This model's maximum context length is exceeded"}}
        text = self.says(prompt, body)
        content = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())}
        choice = {"index": 0, "finish_reason": "stop", "logprobs": None, **content}
        return 200, {"object": "completion", "choices": [choice], "usage": usage}


def served(url: str, **changes: Any) -> dict[str, Any]:
    """The entry of a model behind the server."""
    endpoint = {"url": url, "api": "chat", "logprobs": "none", **changes.pop("endpoint", {})}
    return {"backend": "openai", "family": "f", "endpoint": endpoint, "instruct": True, **changes}
