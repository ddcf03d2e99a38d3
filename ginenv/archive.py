"""Zip archives that a stranger may have made: their parts, bounded before memory is taken.

Saved states (NumPy's ``.npz``) and checkpoints (torch's ``.pt``) are both zip archives.  What an
archive says about itself may be a lie: a few kilobytes may claim to hold terabytes, list thousands
of parts, or place one part over another.  Nothing is ever extracted to disk, so that the name of a
part cannot lead anywhere.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile

__all__ = ["ArchiveError", "read"]

_LISTED = b"PK\x01\x02"  # opens each entry of an archive's table of contents
_BY_CHANCE = 16  # so often these four bytes may stand in the data, too
_DIRECTORY = 0x10  # the mark of a directory; some readers take such a part for an empty one


class ArchiveError(ValueError):
    """An archive that is damaged or claims too much, with the reason in its text."""


def read(
    path: str | os.PathLike[str], max_parts: int, max_bytes: int | None = None
) -> dict[str, bytes]:
    """All parts of an archive, by name, their checksums verified.

    Args:
        path: the file.
        max_parts: how many parts it may have.
        max_bytes: how many bytes the parts may have together once they are unpacked.  None: no
            more than the file itself, so that nothing can be compressed.

    Raises:
        ArchiveError: if it is no archive, is damaged, or holds more than it may.
        OSError: if it cannot be read at all.
    """
    with open(path, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ArchiveError("it is no regular file")
        allowed = about.st_size if max_bytes is None else max_bytes
        if about.st_size > allowed + max_parts * 1024:
            raise ArchiveError(f"the file has {about.st_size} bytes, at most {allowed} are read")
        content = file.read(about.st_size)
    if content.count(_LISTED) > max_parts + _BY_CHANCE:
        raise ArchiveError(f"it lists more than {max_parts} parts")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            listed = archive.infolist()
            _check(listed, max_parts, allowed)
            return {part.filename: _part(archive, part) for part in listed}
    except ArchiveError:
        raise
    except Exception:  # a damaged archive fails in more ways than one can list
        raise ArchiveError("it is no archive, or was cut off") from None


def _check(listed: list[zipfile.ZipInfo], max_parts: int, max_bytes: int) -> None:
    if len(listed) > max_parts:
        raise ArchiveError(f"it lists {len(listed)} parts, at most {max_parts} are read")
    total = sum(part.file_size for part in listed)
    if total > max_bytes:
        raise ArchiveError(f"its parts claim {total} bytes, at most {max_bytes} are read")
    if len({part.filename for part in listed}) < len(listed):
        raise ArchiveError("two of its parts have one name")
    for part in listed:
        if part.external_attr & _DIRECTORY or part.is_dir():
            raise ArchiveError(f"{part.filename!r:.80} is marked as a directory")


def _part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """One part whole; it never unpacks to more than what it claims."""
    try:
        return archive.read(part)
    except zipfile.BadZipFile:
        raise ArchiveError(f"the checksum of {part.filename!r:.80} does not match") from None
