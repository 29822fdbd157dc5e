"""The public half in the clear, the closed half encrypted, and what may be told of them."""

import logging
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from benchwright.methods.mmlu_cf.sealing.key import KeyedNames, read_key
from benchwright.methods.mmlu_cf.sealing.keyed_leaks import keyed_leak_pairs
from benchwright.methods.mmlu_cf.sealing.quiet_errors import no_question_in_errors
from benchwright.methods.mmlu_cf.sealing.seal import keyed_assignment, seal_halves
from benchwright.params.sealing import SealingParams

logger = logging.getLogger(__name__)


def seal_benchmark(
    cf_items: pd.DataFrame,
    split_assignment: pd.DataFrame,
    leak_pairs: pd.DataFrame,
    earlier_closed_ids: Sequence[str],
    sealing: SealingParams,
) -> tuple[Mapping[str, bytes], pd.DataFrame, pd.DataFrame]:
    """Seal the closed half with the key of `sealing`.

    Warns where the public half holds questions that an earlier run closed under this key and name.

    Returns:
        The files of the benchmark by name (`seal_halves`), and the `SplitAssignment` and
        `LeakPairs` in which closed items have keyed ids.

    Raises:
        InputError: there is no key, or a half has no items.
    """
    key = read_key(sealing)
    levels = split_assignment.set_index("item_id")["difficulty"]
    items = cf_items.assign(difficulty=cf_items["item_id"].map(levels))
    with no_question_in_errors(items, "sealing"), tempfile.TemporaryDirectory() as folder:
        written = seal_halves(items, split_assignment, Path(folder), sealing.name, key)
        files = {path.name: path.read_bytes() for path in written}
        assignment = keyed_assignment(split_assignment, key, sealing.name)
        pairs = keyed_leak_pairs(leak_pairs, split_assignment, key, sealing.name)
        names = KeyedNames(key, sealing.name)
        public = split_assignment.loc[split_assignment["half"].eq("validation"), "item_id"]
        opened = set(earlier_closed_ids) & set(map(names.item_id, public))
    if opened:
        logger.warning(
            "sealing: %d questions of the public half were closed by an earlier run: publish one "
            "of the two runs only, and delete the other's folder",
            len(opened),
        )
    return files, assignment, pairs
