"""Headers of GGUF files; lengths beyond the file are rejected."""

import struct
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.errors import InputError
from benchwright.language_models.gguf_header import gguf_fields

U32, STRING, ARRAY = 4, 8, 9
F32, Q4_0 = 0, 2  # of 4 bytes a value; of 18 bytes for 32 values


def text(value: str) -> bytes:
    content = value.encode()
    return struct.pack("<Q", len(content)) + content


def number(name: str, value: int) -> bytes:
    return text(name) + struct.pack("<II", U32, value)


def nested(name: str, depth: int) -> bytes:
    """Nested lists, the innermost empty."""
    return (
        text(name)
        + struct.pack("<I", ARRAY)
        + struct.pack("<IQ", ARRAY, 1) * (depth - 1)
        + struct.pack("<IQ", U32, 0)
    )


def tensor(shape: tuple[int, ...], kind: int = F32, offset: int = 0) -> bytes:
    return text("t") + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def whole(
    *entries: bytes, tensors: tuple[bytes, ...] = (), data: int = 0, **claims: int
) -> tuple[bytes, int]:
    """Return a file and the start of its data, a multiple of 32."""
    counts = (claims.get("n_tensors", len(tensors)), claims.get("n_entries", len(entries)))
    head = b"GGUF" + struct.pack("<IQQ", claims.get("version", 3), *counts)
    head += b"".join([*entries, *tensors])
    alignment = claims.get("alignment", 32)
    start = -(-len(head) // alignment) * alignment
    return head.ljust(start, b"\0") + bytes(data), start


def fields(folder: Path, content: bytes) -> dict[str, Any]:
    path = folder / "x.gguf"
    path.write_bytes(content)
    return gguf_fields(path)


@pytest.mark.parametrize("version", [2, 3])
def test_both_versions_are_read(tmp_path: Path, version: int) -> None:
    value = text("b") + struct.pack("<I", STRING) + text("é")
    content, _ = whole(number("a", 7), value, version=version)
    assert fields(tmp_path, content) == {"a": 7, "b": "é"}
    with pytest.raises(InputError, match="is no complete GGUF file"):
        fields(tmp_path, content.replace("é".encode(), b"\xff\xff"))


@pytest.mark.parametrize("version", [0, 1, 4])
def test_other_versions_are_rejected(tmp_path: Path, version: int) -> None:
    with pytest.raises(InputError, match=f"begins with b'GGUF', version {version}"):
        fields(tmp_path, whole(number("a", 7), version=version)[0])


def test_duplicate_names_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'a' is there twice"):
        fields(tmp_path, whole(number("a", 1), number("a", 2))[0])


def test_nested_lists_are_followed_four_levels_deep(tmp_path: Path) -> None:
    assert fields(tmp_path, whole(nested("a", 4))[0]) == {"a": 1}
    with pytest.raises(InputError, match="type 9 is not known"):
        fields(tmp_path, whole(nested("a", 5))[0])


def test_lists_must_lie_in_the_file(tmp_path: Path) -> None:
    def listed(count: int, values: int) -> bytes:
        return text("a") + struct.pack("<IIQ", ARRAY, U32, count) + bytes(4 * values)

    assert fields(tmp_path, whole(listed(8, 8))[0]) == {"a": 8}
    with pytest.raises(InputError, match=r"states 1,000 entries in"):
        fields(tmp_path, whole(listed(1_000, 8))[0])
    # What is left counts, not the whole file: 30 × 4 bytes fit the file, not the rest of it.
    long = text("x" * 150) + struct.pack("<II", U32, 1)
    with pytest.raises(InputError, match=r"states 30 entries in"):
        fields(tmp_path, whole(long, listed(30, 2))[0])


@pytest.mark.parametrize("claim", ["n_entries", "n_tensors"])
def test_impossible_counts_are_rejected_before_reading(tmp_path: Path, claim: str) -> None:
    content, _ = whole(number("a", 1), **{claim: 1_000})
    with pytest.raises(InputError, match=r"states 1,000 entries in"):
        fields(tmp_path, content)


@pytest.mark.parametrize("alignment", [0, 2**32 - 1])
def test_alignment_must_be_positive(tmp_path: Path, alignment: int) -> None:
    content, _ = whole(number("general.alignment", alignment), tensors=(tensor((1,)),), data=4)
    reported = "general.alignment is 0" if alignment == 0 else "ends before its last tensor"
    with pytest.raises(InputError, match=reported):
        fields(tmp_path, content)
    entry = text("general.alignment") + struct.pack("<I", STRING) + text("32")
    with pytest.raises(InputError, match=r"general\.alignment is '32'"):
        fields(tmp_path, whole(entry)[0])


@pytest.mark.parametrize(
    ("shape", "kind", "offset", "size"),
    [((3, 5), F32, 0, 60), ((32, 2), Q4_0, 32, 68), ((), F32, 8, 12)],
)
def test_tensors_must_lie_in_the_file(
    tmp_path: Path, shape: tuple[int, ...], kind: int, offset: int, size: int
) -> None:
    part = tensor(shape, kind, offset)
    content, start = whole(number("a", 1), tensors=(tensor((1,)), part), data=size)
    assert len(content) == start + size
    assert fields(tmp_path, content) == {"a": 1}
    with pytest.raises(InputError, match="ends before its last tensor"):
        fields(tmp_path, content[:-1])


def test_data_begins_where_the_alignment_says(tmp_path: Path) -> None:
    entry = number("general.alignment", 128)
    content, start = whole(entry, tensors=(tensor((2,)),), data=8, alignment=128)
    assert start == 128
    assert fields(tmp_path, content) == {"general.alignment": 128}
    with pytest.raises(InputError, match="ends before its last tensor"):
        fields(tmp_path, content[:-1])


def test_tensors_have_at_most_eight_dimensions(tmp_path: Path) -> None:
    for dimensions in (8, 9):
        content, _ = whole(tensors=(tensor((1,) * dimensions),), data=4)
        if dimensions == 8:
            assert fields(tmp_path, content) == {}
            continue
        with pytest.raises(InputError, match=r"a tensor of 9 dimensions"):
            fields(tmp_path, content)
