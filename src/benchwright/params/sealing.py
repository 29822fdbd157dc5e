"""How the closed half is sealed (`sealing:` in conf); the key is never part of it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    # A key in the wrong place is not to show in an error.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class SealingParams(_Section):
    """Name, key's place and smallest reported group of a sealed benchmark.

    Attributes:
        name: of the benchmark; part of the keyed ids and of the canaries.
        key_env: environment variable that holds the key.
        key_file: instead, a file that holds nothing else.
        judge_store: what judges say is kept on disk under the same key (`encrypted`), so that a
            run that was killed goes on where it was, or in `memory`.
        min_group: fewest questions of a field whose accuracy is told by itself.
    """

    name: str = Field(default="mmlu_cf", pattern=r"^[a-z][a-z0-9_]*$")
    key_env: str = Field(default="BENCHWRIGHT_SEAL_KEY", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    key_file: str | None = None
    judge_store: Literal["encrypted", "memory"] = "encrypted"
    min_group: int = Field(default=50, ge=2)
