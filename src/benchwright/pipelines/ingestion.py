"""The stage that maps source rows to items, demonstrations and rejected rows."""

from kedro.pipeline import Pipeline

from benchwright.ingestion.source_rows import IngestedTables, map_source_rows
from benchwright.pipelines.nodes import node


def create_pipeline() -> Pipeline:
    """Create the ingestion stage."""
    return Pipeline(
        [
            node(
                map_source_rows,
                ["benchmark_source", "params:ingestion", "params:limit", "params:seed"],
                list(IngestedTables._fields),
            )
        ]
    )
