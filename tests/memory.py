"""The memory of this process, watched while something long goes on."""

import gc
import os
import sys
from pathlib import Path

STATM = Path("/proc/self/statm")
SAMPLES = 200


def resident():
    """Bytes of this process that lie in memory (Linux)."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Samples memory and Python's objects at even distances of a long piece of work.

    The first fifth is warm-up: caches fill and the allocator finds its size.  From then on both
    should stay what they are, whatever the work's length.
    """

    def __init__(self, total):
        self.total, self._next = total, 0
        self._samples = []

    def update(self, done):
        """Take a sample if one is due; ``done`` of the total is behind us."""
        if done >= self._next:
            self._next += self.total / SAMPLES
            gc.collect()
            self._samples.append((done, resident(), sys.getallocatedblocks()))

    @property
    def growth(self):
        """How much the highest resident bytes and object counts rose after the warm-up."""
        early = [sample for sample in self._samples if sample[0] <= self.total / 5]
        late = self._samples[len(early) :]
        return tuple(
            max(sample[column] for sample in late) - max(sample[column] for sample in early)
            for column in (1, 2)
        )
