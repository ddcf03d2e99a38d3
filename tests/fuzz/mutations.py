"""Good inputs made bad: bytes, JSON, YAML and zip archives."""

import contextlib
import copy
import io
import json
import zipfile

VALUES = [
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    10,
    51,
    52,
    127,
    128,
    2**31,
    2**63,
    2**64,
    10**400,
    -(10**30),
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "As",
    "draw",
    "\x00",
    "\ud800",
    "é" * 300,
    "9" * 5000,
    [],
    {},
    [[]],
    [0] * 300,
    {"": None},
    {"format": 1},
]


def nested(depth):
    """A list in a list in a list."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


def some_bytes(rng, data, others):
    """A few bytes flipped, set, cut out, doubled, put in, cut off, or joined with another input."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        place = rng.randrange(len(data) + 1)
        length = rng.choice([1, 2, 4, 8, 64, 1024])
        kind = rng.randrange(8)
        if kind == 0 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1 and place < len(data):
            data[place] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        elif kind == 2:
            del data[place : place + length]
        elif kind == 3:
            data[place:place] = data[place : place + length]
        elif kind == 4:
            data[place:place] = rng.randbytes(min(length, 64))
        elif kind == 5:
            del data[place:]
        elif kind == 6:
            other = rng.choice(others)
            data[place:] = other[rng.randrange(len(other) + 1) :]
        else:
            number = rng.choice([0, 1, 127, 255, 2**15, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1])
            size = rng.choice([1, 2, 4, 8])
            data[place : place + size] = (number % 256**size).to_bytes(size, "little")
    return bytes(data)


def some_json(rng, data, others):
    """A value somewhere in JSON replaced, taken away, doubled, or moved; at times bytes as well."""
    tree = [json.loads(data)]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        holder, key = rng.choice(list(_places(tree)))
        kind = rng.randrange(6)
        if kind < 3:
            holder[key] = _neighbour(rng, holder[key])
        elif kind == 3:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        elif kind == 4 and holder is not tree:
            del holder[key]
        elif isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
        else:
            holder[rng.choice(["", "x", "format", f"{key}s"])] = nested(rng.choice([3, 50, 300]))
    mutated = b"\n".join(json.dumps(value).encode() for value in tree)
    return some_bytes(rng, mutated, others) if rng.random() < 0.2 else mutated


def _places(tree):
    """Every holder and key in nested lists and objects."""
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        keys = range(len(holder)) if isinstance(holder, list) else holder
        for key in keys:
            yield holder, key
            if isinstance(holder[key], (list, dict)):
                waiting.append(holder[key])


def _neighbour(rng, value):
    """A value of the same type that is nearly right."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        near = [value + 1, value - 1, -value, value + 2**32, str(value)]
        return rng.choice([*near, float(value)] if abs(value) < 2**63 else near)
    if isinstance(value, str):
        words = value.split() or [""]
        place = rng.randrange(len(words))
        words[place] = rng.choice([rng.choice(words), words[place][::-1], words[place] * 2, "Kd"])
        return rng.choice([" ".join(words), value.upper(), value + " ", value[1:], [value]])
    if isinstance(value, list):
        return rng.choice([value[1:], value[::-1], value + value, dict(enumerate(map(str, value)))])
    if isinstance(value, dict):
        return rng.choice([list(value), dict(list(value.items())[1:]), {**value, "x": value}])
    return 0


YAML_VALUES = [
    "",
    "~",
    "yes",
    "0x10",
    "0o7",
    "1_000",
    "1:30",
    "2026-13-45",
    "2026-05-32 25:61:00",
    ".nan",
    "-.inf",
    "5e6",
    "1e400",
    "9" * 5000,
    "[]",
    "{}",
    "{a: {b: [c]}}",
    "[[[[1]]]]",
    "[" * 40 + "]" * 40,
    "[" * 3000,
    "- - - - 1",
    "&a [*a]",
    "*a",
    "&a 3",
    "!!python/object/apply:os.getcwd []",
    "!!binary '#'",
    "!!int 'x'",
    "!!float ''",
    "!!timestamp 'x'",
    "!!set {a, b}",
    "!!omap [a: 1]",
    "!unknown x",
    "|\n  text",
    ">-\n  text",
    "'it",
    '"\\x00\\ud800"',
    "? [1, 2]\n: 3",
    "<<: {a: 1}",
    "@",
    "%TAG",
    "é",
    "\u2028",
]


def laughs(rng):
    """Aliases of aliases: a few lines that stand for very many values."""
    lines = ["opponents: &a0 [greedy, greedy]"]
    for depth in range(1, rng.choice([3, 10, 40])):
        lines.append(f"seed: &a{depth} [{', '.join([f'*a{depth - 1}'] * rng.choice([2, 9]))}]")
    return "\n".join(lines)


def some_yaml(rng, data, others):
    """A line of YAML with another key or value, doubled or taken away; at times bytes as well."""
    lines = data.decode().splitlines()
    for _ in range(rng.choice([1, 1, 2, 4])):
        place = rng.randrange(len(lines) or 1)
        key, _, value = lines[place].partition(": ") if lines else ("seed", "", "")
        line = rng.choice(
            [
                f"{key}: {rng.choice(YAML_VALUES)}",
                f"{key}: {rng.choice(YAML_VALUES)}",
                f"{key}: {value}{value}",
                f"{key}: -{value}",
                f"{rng.choice(YAML_VALUES)}: {value}",
                f"{key}s: {value}",
                f"  {key}: {value}",
                f"{key}:{value}",
                rng.choice(YAML_VALUES),
                "---",
                laughs(rng),
            ]
        )
        lines[place : place + rng.randrange(2)] = [line]
    mutated = "\n".join(lines).encode()
    return some_bytes(rng, mutated, others) if rng.random() < 0.2 else mutated


def some_zip(rng, data, others):
    """A part of an archive changed, its checksum right; at times the archive's own bytes."""
    if rng.random() < 0.25:
        return some_bytes(rng, data, others)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [(name, archive.read(name)) for name in archive.namelist()]
    for _ in range(rng.choice([1, 1, 2])):
        place = rng.randrange(len(parts))
        name, part = parts[place]
        kind = rng.randrange(8)
        if kind < 4:
            changed = some_bytes(rng, part[:4096], [p for _, p in parts]) + part[4096:]
            parts[place] = name, _as_told(rng, name, part) if kind == 0 else changed
        elif kind == 4:
            del parts[place]
            parts = parts or [("", b"")]
        elif kind == 5:
            parts[place] = rng.choice(["x", "../x", name + "x", "/" + name, "\u00e9"]), part
        elif kind == 6:
            parts[place] = name, rng.choice(parts)[1]
        else:
            parts.insert(place, (f"{name}{rng.randrange(3)}", part))
    changed = io.BytesIO()
    method = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(changed, "w", method) as archive:
        for name, part in dict(parts).items():
            archive.writestr(name, part)
    return changed.getvalue()


def _as_told(rng, name, part):
    """A part with another number in its text: a shape in a header, a length in a pickle, JSON."""
    if name == "about.npy":
        with contextlib.suppress(ValueError):  # it has been mangled before
            end = part.index(b"\n") + 1
            told = some_json(rng, part[end:].decode("utf-32-le").encode(), [b"{}"])
            told = told.decode(errors="replace").encode("utf-32-le", errors="replace")
            return part[:end] + told
    digits = [place for place, byte in enumerate(part[:3000]) if 48 <= byte <= 57]
    changed = bytearray(part)
    for place in rng.sample(digits, min(len(digits), rng.choice([1, 2]))):
        changed[place : place + 1] = rng.choice([b"0", b"1", b"9", b"99", b"999999999"])
    return bytes(changed)
