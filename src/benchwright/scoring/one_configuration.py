"""The settings that ask one configuration of a model."""

from benchwright.params.scoring import ScoringParams


def one_configuration(name: str, scoring: ScoringParams) -> ScoringParams:
    """Return the project's settings (device, precision, sizes) for one configuration."""
    asked = {
        "mode": "live",
        "configurations": [name],
        "conditions": ["question"],
        "calibration": False,
        # Batches in other processes go through an object store that spills to disk.
        "engine": "local",
    }
    return ScoringParams.model_validate({**scoring.model_dump(), **asked})
