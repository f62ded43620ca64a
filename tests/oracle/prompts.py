"""The prompts that every reference reads."""

import numpy as np

LENGTHS = (1, 7, 64, 300)


def prompts(base_vocab):
    """Length -> ids below `base_vocab`, the number of ordinary tokens."""
    rng = np.random.Generator(np.random.PCG64(7))
    return {length: rng.integers(0, base_vocab, length).astype(np.int32) for length in LENGTHS}
