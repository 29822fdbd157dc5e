"""Keys and values of many texts that are being written, each in a slot of its own.

A text's tokens lie in its slot without gaps, in the order of their positions, so that texts of any
length are written side by side, one that is finished leaves without a trace, and another takes its
place. Memory grows with the longest text by doubling; nothing is copied from token to token.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchwright.language_models.shared_prefix import Layers

if TYPE_CHECKING:
    import torch

_ROOM = 64  # columns beyond those needed at first


class RowCache:
    """The cache of up to `slots` texts with a common prefix; rows 0, 1, … are in use.

    Args:
        slots: how many texts.
        prefix: what all texts share, of which nothing is written again.
        apart: whether the attention looks at the prefix by itself; otherwise it is copied into
            each slot.
    """

    def __init__(self, slots: int, prefix: Layers, apart: bool) -> None:
        self._slots = slots
        self._prefix = prefix
        self._copied = prefix[0][0].shape[-2] if prefix and not apart else 0
        self._keys: list[torch.Tensor] = []
        self._values: list[torch.Tensor] = []
        self._fresh: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._columns: torch.Tensor | None = None
        self._width = 0

    def to_read(self) -> Any:
        """A cache for Transformers with which new texts are read after the prefix.

        What it reads is kept until `place` puts it into slots.
        """
        self._columns = None
        self._fresh = {}
        return self._for_transformers()

    def to_write(self, columns: "torch.Tensor") -> Any:
        """A cache with which each row gets one token after its `columns` (rows,) own tokens."""
        self._columns = columns + self._copied
        self._width = int(self._columns.max()) + 1
        if self._keys and self._width > self._keys[0].shape[2]:
            self._grow(2 * self._width)
        return self._for_transformers()

    def _for_transformers(self) -> Any:
        from transformers.cache_utils import Cache

        numbers = iter(range(1 << 16))
        return Cache(layer_class_to_replicate=lambda: _layer_class()(self, next(numbers)))

    def place(self, slots: Sequence[int], rows: Sequence[int]) -> None:
        """Put rows of what was read last into slots."""
        import torch

        for layer, (keys, values) in sorted(self._fresh.items()):
            width = self._copied + keys.shape[2]
            if layer == len(self._keys):
                self._keys.append(self._empty(keys, width + _ROOM))
                self._values.append(self._empty(values, width + _ROOM))
        if self._keys and width > self._keys[0].shape[2]:
            self._grow(width + _ROOM)
        for layer, fresh in self._fresh.items():
            for kept, new, part in zip((self._keys, self._values), fresh, (0, 1), strict=True):
                into = torch.tensor(list(slots), device=new.device)
                taken = torch.tensor(list(rows), device=new.device)
                kept[layer][into, :, self._copied : width] = new[taken]
                if self._copied:
                    kept[layer][into, :, : self._copied] = self._prefix[layer][part]

    def move(self, source: int, target: int) -> None:
        """Copy one slot into another."""
        for kept in (*self._keys, *self._values):
            kept[target, :, : self._width] = kept[source, :, : self._width]

    def update(
        self, layer: int, keys: "torch.Tensor", values: "torch.Tensor"
    ) -> "tuple[torch.Tensor, torch.Tensor]":
        """Take a layer's new keys and values (rows, heads, width, size); give those to look at."""
        import torch

        if self._columns is None:
            self._fresh[layer] = (keys, values)
            if not self._copied:
                return keys, values
            before = [part.expand(len(keys), -1, -1, -1) for part in self._prefix[layer]]
            return torch.cat([before[0], keys], dim=2), torch.cat([before[1], values], dim=2)
        rows = torch.arange(len(keys), device=keys.device)
        self._keys[layer][rows, :, self._columns] = keys[:, :, 0]
        self._values[layer][rows, :, self._columns] = values[:, :, 0]
        seen = (slice(0, len(keys)), slice(None), slice(0, self._width))
        return self._keys[layer][seen], self._values[layer][seen]

    def _empty(self, like: "torch.Tensor", width: int) -> "torch.Tensor":
        return like.new_zeros((self._slots, like.shape[1], width, like.shape[3]))

    def _grow(self, width: int) -> None:
        for kept in (self._keys, self._values):
            for layer, old in enumerate(kept):
                kept[layer] = self._empty(old, width)
                kept[layer][:, :, : old.shape[2]] = old


@functools.cache
def _layer_class() -> Any:
    from transformers.cache_utils import DynamicLayer

    class RowLayer(DynamicLayer):
        """One layer of a `RowCache`, as Transformers asks it."""

        def __init__(self, cache: RowCache, number: int) -> None:
            super().__init__()
            self._cache = cache
            self._number = number

        def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> Any:
            return self._cache.update(self._number, key_states, value_states)

    return RowLayer
