"""Arrays in NumPy's ``.npy`` format that a stranger may have made, known by their header alone.

NumPy's own reader takes the memory that a header claims before it looks at the data, and a header
is an expression of Python to it.  Here it is the one line that `numpy.save` writes, or refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "parse", "stored"]

_HEADER = re.compile(
    rb"\x93NUMPY\x01\0..\{'descr': '(?P<descr>[<|][a-zA-Z]\d{1,9})', 'fortran_order': False, "
    rb"'shape': \((?P<shape>(\d{1,18}, ?)*(\d{1,18})?)\), \} *\n",
    re.DOTALL,
)


@dataclass(frozen=True)
class Array:
    """An array that has not been made yet.

    Attributes:
        descr: its dtype as NumPy writes it, ``"<u8"``.
        shape: as its header says.
        data: its bytes, as many as there are.
    """

    descr: str
    shape: tuple[int, ...]
    data: memoryview

    def array(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The array itself; a ``ValueError`` if there is more or less data than its shape says."""
        found = np.frombuffer(self.data, stored(dtype)).reshape(self.shape)
        return found.astype(dtype)  # a copy: what it is read from cannot be written

    def text(self) -> str:
        """The text of an array of one string."""
        return self.data.tobytes().decode("utf-32-le").rstrip("\0")


def parse(content: bytes) -> Array:
    """The array that a ``.npy`` file holds.

    Raises:
        ValueError: if it does not begin as `numpy.save` begins one, version 1, in C order.
    """
    header = _HEADER.match(content)
    if header is None:
        raise ValueError("an array does not begin as numpy.save begins one")
    shape = tuple(int(number) for number in header["shape"].replace(b",", b" ").split())
    return Array(header["descr"].decode("ascii"), shape, memoryview(content)[header.end() :])


def stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype as it is in files: little-endian on every machine."""
    return dtype.newbyteorder("<")
