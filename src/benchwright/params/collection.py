"""How questions are read off documents (`collection:` in conf; docs/collection.md)."""

from pydantic import BaseModel, ConfigDict, Field

from benchwright.params.batch_engine import BatchEngineParams


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReadingParams(_Section):
    """How shards of documents are read.

    Attributes:
        batch_documents, batch_bytes: a batch ends before it holds more.
        document_bytes: a larger document is left out and counted.
        expansion: a compressed shard may hold at most so many times its size.
    """

    batch_documents: int = Field(default=1_000, ge=1)
    batch_bytes: int = Field(default=64 << 20, ge=1)
    document_bytes: int = Field(default=8 << 20, ge=1)
    expansion: int = Field(default=1_000, ge=1)


class ExtractionParams(_Section):
    """Limits of extraction.

    Attributes:
        document_characters: of a longer document, the rest is not read.
        line_characters: labels inside longer lines are not looked for.
        prefilter: pass over documents that show no sign of a question, before they are parsed.
    """

    document_characters: int = Field(default=4_000_000, ge=1)
    line_characters: int = Field(default=20_000, ge=1)
    prefilter: bool = True


class CollectionParams(BatchEngineParams):
    """Reading documents and extracting questions (MMLU-CF, section 3.2, step 1).

    With several workers, or on Ray, each shard is read and extracted by one of them.
    """

    reading: ReadingParams = ReadingParams()
    extraction: ExtractionParams = ExtractionParams()
