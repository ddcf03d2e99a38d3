"""YAML files as plain values, of bounded size: no tags, no anchors, no aliases.

A few lines of YAML can stand for more values than fit into any memory (aliases of aliases), and a
tag can ask for a kind of value that its text is not.  A configuration needs neither.
"""

from __future__ import annotations

import os
from typing import Any

import yaml

LARGEST = 100_000  # bytes of a file
DEEPEST = 50  # lists and mappings in each other: the time to read them grows with the square

_REFUSED = {
    yaml.AnchorToken: "an anchor (&)",
    yaml.AliasToken: "an alias (*)",
    yaml.TagToken: "a tag (!)",
}
_DEEPER = {
    yaml.FlowSequenceStartToken: 1,
    yaml.FlowSequenceEndToken: -1,
    yaml.FlowMappingStartToken: 1,
    yaml.FlowMappingEndToken: -1,
    yaml.BlockSequenceStartToken: 1,
    yaml.BlockMappingStartToken: 1,
    yaml.BlockEndToken: -1,
}


def load(path: str | os.PathLike[str]) -> Any:
    """What a file holds.

    Raises:
        ValueError: if it is larger than `LARGEST` or deeper than `DEEPEST`, is no YAML, or uses
            what is refused here.
        OSError: if it cannot be read.
    """
    with open(path, "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST} bytes")
    depth = 0
    try:
        for token in yaml.scan(content, Loader=yaml.SafeLoader):
            if type(token) in _REFUSED:
                raise ValueError(
                    f"it has {_REFUSED[type(token)]} in line {token.start_mark.line + 1}"
                )
            depth += _DEEPER.get(type(token), 0)
            if depth > DEEPEST:
                raise ValueError("its lists and mappings are nested too deeply")
        return yaml.safe_load(content)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a 32nd of May, another encoding
        raise ValueError(" ".join(str(error).split())[:500]) from None
