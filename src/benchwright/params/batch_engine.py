"""Where the batches of a stage run (`engine` of `collection` and `cleaning`)."""

from typing import Literal

from pydantic import Field

from benchwright.params.section import Section


class BatchClusterParams(Section):
    """The Ray cluster of `engine: ray` (docs/how_to/run_on_ray.md).

    Attributes:
        address: of an existing cluster (`auto`, `host:6379`); None starts one on this machine.
        allow_spill: let Ray write document and question texts to disk when its store is full. A
            cluster that is started here keeps them in memory and needs no permission.
    """

    address: str | None = None
    allow_spill: bool = False


class BatchEngineParams(Section):
    """Where the batches of a stage run; the results are the same everywhere.

    Attributes:
        engine: `local`, in this process or in `workers` processes of this machine, or `ray`.
        workers: batches or shards at a time, each on one core.
    """

    engine: Literal["local", "ray"] = "local"
    workers: int = Field(default=1, ge=1)
    ray: BatchClusterParams = BatchClusterParams()
