"""What all sections of the settings share."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Base of the sections: a key that is not known is an error, and nothing changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True)
