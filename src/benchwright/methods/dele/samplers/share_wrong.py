"""Harder items with a higher chance, by the answers that exist (DELE, sections 3.2 and 4.2)."""

import numpy as np

from benchwright.core.seeding import item_uniforms
from benchwright.methods.dele.samplers.answers import required_answers, share_wrong
from benchwright.methods.dele.samplers.pool import Draw, Sampler, SamplingPool
from benchwright.methods.dele.samplers.ranking import prefixes
from benchwright.params.anchors import AnchorParams


def share_wrong_sampler(params: AnchorParams) -> Sampler:
    """Each next item is drawn with a chance in proportion to its share of wrong answers.

    Without replacement: items in order of log(u)/w, u a hash of seed and id in (0, 1), w the share
    to the power `hardness` (Efraimidis & Spirakis 2006). Items count alike, so scores fall: the
    sampler is to set models apart, not to estimate what they score on all items.
    """

    def sample(pool: SamplingPool, seed: int) -> Draw:
        weights = share_wrong(required_answers(pool, "share_wrong")) ** params.hardness
        uniforms = 1 - item_uniforms(seed, "sampling.share_wrong", pool.item_ids)  # never 0
        ids = np.array(pool.item_ids, dtype=object)
        return prefixes(np.lexsort((ids, -np.log(uniforms) / weights)))

    return sample
