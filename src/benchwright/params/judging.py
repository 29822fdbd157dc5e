"""How judges of questions are asked: shared by `difficulty:`, `checking:` and `fields:`."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class JudgesParams(BaseModel):
    """Chat models that judge.

    Attributes:
        judges: their names under `models.models`; without any, nobody judges.
        attempts: the most times each is asked where its reply cannot be read.
        temperature: of the second attempt and later ones.
        max_tokens: the most a judge may write.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    judges: tuple[str, ...] = ()
    attempts: int = Field(default=3, ge=1, le=20)
    temperature: float = Field(default=0.7, gt=0, le=2)
    max_tokens: int = Field(default=24, ge=1)

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if len(set(self.judges)) < len(self.judges):
            raise ValueError("judges names a model twice")
        return self
