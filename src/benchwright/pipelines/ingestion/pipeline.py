"""The pipeline of the ingestion stage."""

from kedro.pipeline import Pipeline, node

from benchwright.pipelines.ingestion.nodes import IngestedTables, map_source_rows


def create_pipeline() -> Pipeline:
    """Create the ingestion stage."""
    return Pipeline(
        [
            node(
                map_source_rows,
                inputs=["benchmark_source", "params:ingestion", "params:limit", "params:seed"],
                outputs=list(IngestedTables._fields),
                name="map_source_rows",
            )
        ]
    )
