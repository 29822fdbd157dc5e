"""Two halves of a built benchmark, the closed one sealed."""

from benchwright.pipelines.splitting.pipeline import create_pipeline, create_seed_pipeline

__all__ = ["create_pipeline", "create_seed_pipeline"]
