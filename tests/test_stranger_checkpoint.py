"""Checkpoints made to harm: bounded before memory is taken, refused in one line."""

import contextlib
import json
import struct
import zipfile

import numpy as np
import pytest
import torch

from agents import checkpoint
from agents.checkpoint import CheckpointError
from agents.network import Network, NetworkConfig
from ginenv import archive, engine
from ginenv.rules import STANDARD

SMALL = NetworkConfig(hidden_size=4, hidden_layers=1)


def policy(**changes):
    content = checkpoint.pack_policy(Network(SMALL), "float32")
    return {"config": {"points_scale": 50.0}, **content, **changes}


def saved(path, content):
    checkpoint.save(path, content)
    return path


def refusal(call, *arguments):
    with pytest.raises(CheckpointError) as caught:
        call(*arguments)
    line = str(caught.value)
    assert "\n" not in line and len(line) < 1000
    return line


# Archives


def rezipped(path, change=lambda name, part: (name, part), method=zipfile.ZIP_STORED, more=()):
    """The same archive with its parts changed."""
    with zipfile.ZipFile(path) as old:
        parts = [change(name, old.read(name)) for name in old.namelist()]
    with zipfile.ZipFile(path, "w", method) as new:
        for name, part in [*parts, *more]:
            new.writestr(name, part)
    return path


def test_a_few_bytes_that_unpack_to_many(tmp_path):
    path = saved(tmp_path / "p.pt", {"zeros": torch.zeros(1_000_000)})
    rezipped(path, method=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 20_000
    assert "its parts claim 400" in refusal(checkpoint.load, path)


def test_a_part_that_claims_terabytes(tmp_path):
    path = saved(tmp_path / "p.pt", policy())
    whole = bytearray(path.read_bytes())
    place = whole.rindex(b"PK\x01\x02")
    struct.pack_into("<II", whole, place + 20, 2**32 - 2, 2**32 - 2)
    path.write_bytes(whole)
    assert "its parts claim 429" in refusal(checkpoint.load, path)


def test_thousands_of_parts(tmp_path):
    path = saved(tmp_path / "p.pt", policy())
    rezipped(path, more=[(f"archive/{number}", b"") for number in range(3_000)])
    assert checkpoint.load(path)["precision"] == "float32", "allowed where there is room for them"
    with pytest.raises(archive.ArchiveError, match="lists more than 1000 parts"):
        archive.read(path, max_parts=1_000)


def test_two_parts_of_one_name(tmp_path):
    path = saved(tmp_path / "p.pt", policy())
    with pytest.warns(UserWarning, match="Duplicate name"):
        rezipped(path, more=[("archive/data/0", b"another")])
    assert "two of its parts have one name" in refusal(checkpoint.load, path)


def test_a_part_with_a_path_that_leads_outside_is_written_nowhere(tmp_path):
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    path = saved(inside / "p.pt", policy())
    for name in ("../../escaped", str(tmp_path / "absolute"), "archive/../../../escaped"):
        rezipped(saved(path, policy()), more=[(name, b"x")])
        with contextlib.suppress(CheckpointError):
            checkpoint.load(path)
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["p.pt"]


def test_what_is_no_file_is_not_waited_for():
    assert "no regular file" in refusal(checkpoint.load, "/dev/zero")


# Containers and tensors


def test_a_tensor_larger_than_its_data(tmp_path):
    huge = torch.zeros(1).expand(2**40)
    path = saved(tmp_path / "p.pt", policy(extra=huge))
    assert "larger than its data" in refusal(checkpoint.load, path)


def test_a_tensor_that_claims_more_than_the_file_holds(tmp_path):
    path = saved(tmp_path / "p.pt", {"weight": torch.arange(10.0)})

    def claim(name, part):
        return name, part.replace(b"K\nt", b"M\xe8\x03t").replace(b"K\n\x85", b"M\xe8\x03\x85")

    rezipped(path, claim)
    assert "is no checkpoint of ginenv" in refusal(checkpoint.load, path)


def laughs(make, depth):
    """Twice the container before, and so on: two to the depth, in a few bytes."""
    content = make(("ha", "ha"))
    for _ in range(depth):
        content = make((content, content))
    return content


@pytest.mark.parametrize("make", [list, tuple, lambda pair: dict(enumerate(pair))])
def test_a_few_containers_in_very_many_places(tmp_path, make):
    path = saved(tmp_path / "p.pt", policy(extra=laughs(make, 60)))
    assert path.stat().st_size < 40_000
    assert "containers stand in several places" in refusal(checkpoint.load, path)


def test_a_deeply_nested_version(tmp_path):
    nested = 1
    for _ in range(150):
        nested = [nested]
    torch.save({"format": checkpoint.FORMAT, "version": nested}, tmp_path / "p.pt")
    assert "of version [[[[[[[...]]]]]]]" in refusal(checkpoint.load, tmp_path / "p.pt")


# Networks


@pytest.mark.parametrize(
    ("shape", "complaint"),
    [
        ({"hidden_size": 10**9}, "allowed is 1 to 16384"),
        ({"hidden_layers": 10**9}, "allowed is 1 to 64"),
        ({"hidden_size": 16_384, "hidden_layers": 64}, "its weights must be"),
        ({"hidden_size": 0}, "allowed is 1 to 16384"),
        ({"hidden_size": True}, "must be int"),
        ({"hidden_size": 4.0}, "must be int"),
        ({"hidden_size": None}, "must be int"),
        ({"hidden_size": 5}, "wanted is"),
    ],
    ids=str,
)
def test_a_network_of_another_shape_is_not_built(tmp_path, shape, complaint):
    path = saved(tmp_path / "p.pt", policy(network_config={**vars(SMALL), **shape}))
    assert complaint in refusal(checkpoint.load_policy, path)


def test_weights_are_finite_numbers_of_the_right_kind(tmp_path):
    weights = Network(SMALL).state_dict()
    wrong = {
        "nan": weights["policy.bias"].fill_(torch.nan),
        "infinite": weights["policy.bias"].clone().fill_(-torch.inf),
        "complex": torch.zeros(108, dtype=torch.complex64),
        "double": torch.zeros(108, dtype=torch.float64),
        "longer": torch.zeros(109),
        "text": "0" * 108,
    }
    for name, bias in wrong.items():
        content = policy(network={**Network(SMALL).state_dict(), "policy.bias": bias})
        path = saved(tmp_path / f"{name}.pt", content)
        assert "policy.bias" in refusal(checkpoint.load_policy, path), name


@pytest.mark.parametrize(
    "change",
    [
        {"precision": "float8"},
        {"precision": ["float32"]},
        {"config": {"points_scale": float("nan")}},
        {"config": {"points_scale": 0}},
        {"config": {"points_scale": "50"}},
        {"observation": [[[["full"]]], "x" * 10_000]},
        {"network": [1, 2]},
        {"network": {}},
    ],
    ids=lambda change: str(change)[:40],
)
def test_what_goes_with_a_network_is_checked(tmp_path, change):
    path = saved(tmp_path / "p.pt", policy(**change))
    assert str(path) in refusal(checkpoint.load_policy, path)


@pytest.mark.parametrize("config", [None, [1], "text", {}])
def test_a_policy_without_its_configuration_plays(tmp_path, config):
    loaded = checkpoint.load_policy(saved(tmp_path / "p.pt", policy(config=config)))
    assert loaded.points_scale is None


# Games in flight and random states


def games(**changes):
    packed = checkpoint.pack_state(engine.deal(np.random.default_rng(0), 5))
    return {**packed, "arrays": {**packed["arrays"], **changes}}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (games(phase=torch.full((5,), 77, dtype=torch.int8)), "game 0: phase is 77"),
        (games(deck=torch.zeros((5, 52), dtype=torch.int8)), "game 0: deck is"),
        (games(deck=torch.zeros((5, 51), dtype=torch.int8)), "deck is torch.int8 (5, 51)"),
        (games(hands=torch.zeros((5, 2))), "hands is torch.float32"),
        (games(hands=None), "games in flight"),
        ({"arrays": {}, "rules": vars(STANDARD), "next_game_id": 5}, "games in flight"),
        ({**games(), "next_game_id": 10**30}, "next_game_id"),
        ({**games(), "next_game_id": "many"}, "games in flight"),
        ({**games(), "rules": {"knock_limit": 99}}, "knock_limit"),
        ({**games(), "rules": None}, "games in flight"),
        ([], "games in flight"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_games_that_cannot_be_are_refused(content, complaint):
    assert complaint in refusal(checkpoint.unpack_state, content)


GENERATOR = np.random.default_rng(0).bit_generator.state


@pytest.mark.parametrize(
    "content",
    [
        "no JSON",
        "[" * 100_000,
        "null",
        json.dumps({**GENERATOR, "bit_generator": "MT19937"}),
        json.dumps({**GENERATOR, "state": {"state": -1, "inc": 1}}),
        json.dumps({**GENERATOR, "state": {"state": 2**200, "inc": 1}}),
        json.dumps({**GENERATOR, "state": None}),
        json.dumps({**GENERATOR, "uinteger": "x"}),
        None,
    ],
    ids=lambda content: str(content)[:40],
)
def test_random_states_that_are_none_are_refused(content):
    assert "random state" in refusal(checkpoint.unpack_rng, content)


def test_the_archive_that_was_checked_is_the_one_that_is_read(tmp_path):
    """One hidden behind another: a reader may see either, but all that read it see the same."""
    one, other = tmp_path / "one.pt", tmp_path / "other.pt"
    saved(one, policy(precision="bfloat16"))
    saved(other, policy())
    one.write_bytes(one.read_bytes() + other.read_bytes())
    assert b"bfloat16" not in archive.read(one, max_parts=100)["archive/data.pkl"]
    assert checkpoint.load(one)["precision"] == "float32"
