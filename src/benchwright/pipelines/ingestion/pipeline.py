"""The pipeline of the ingestion stage."""

from kedro.pipeline import Pipeline, node

from benchwright.pipelines.ingestion.nodes import map_source_rows


def create_pipeline() -> Pipeline:
    """Create the ingestion stage."""
    return Pipeline(
        [
            node(
                map_source_rows,
                inputs=["benchmark_source", "params:ingestion", "params:limit", "params:seed"],
                outputs=["items", "demonstrations", "calibration_items", "rejected_items"],
                name="map_source_rows",
            )
        ]
    )
