"""The last stage of the pipeline `documents`: classified items to an open benchmark."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.documents.nodes import open_texts, write_open_benchmark


def create_pipeline() -> Pipeline:
    """Create the pipeline that writes the open benchmark and the tables of its construction."""
    return Pipeline(
        [
            Node(
                open_texts,
                ["raw_items", "rejected_raw_items", "cleaning_changes", "cleaning_duplicates"],
                [
                    "open_raw_items",
                    "open_rejected_items",
                    "open_cleaning_changes",
                    "open_duplicates",
                ],
                name="open_texts",
            ),
            Node(
                write_open_benchmark,
                ["fielded_items", "params:open_benchmark", "params:seed"],
                ["open_benchmark", "open_clean_items"],
                name="write_open_benchmark",
            ),
        ]
    )
