"""Checkpoints: written whole or not at all, read whole or not at all, and never run."""

import errno
import os
import pickle
import random
import resource
import zipfile

import numpy as np
import pytest
import torch

from agents import checkpoint
from agents.checkpoint import CheckpointError
from agents.network import LearnedPolicy, Network, NetworkConfig
from ginenv import engine, opponents
from ginenv.rules import PRESETS, Rules
from ginenv.view import view
from tests.tiny import differences

CONTENT = {
    "network": {"weight": torch.linspace(-1, 1, 6), "count": torch.tensor(3)},
    "names": ["greedy", "crazy"],
    "counters": {"decisions": 1_000_000, "best": -1.5},
}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "latest.pt"
    checkpoint.save(path, CONTENT)
    return path


def refusal(path):
    """The one line that is said about a file that is no usable checkpoint."""
    with pytest.raises(CheckpointError) as caught:
        checkpoint.load(path)
    line = str(caught.value)
    assert "\n" not in line and str(path) in line
    return line


# There and back


def test_what_is_saved_is_loaded(saved):
    loaded = checkpoint.load(saved)
    assert (loaded.pop("format"), loaded.pop("version")) == (checkpoint.FORMAT, checkpoint.VERSION)
    assert differences(loaded, CONTENT) == []


def test_nothing_else_is_left_in_the_directory(saved):
    checkpoint.save(saved, CONTENT)
    assert os.listdir(saved.parent) == ["latest.pt"]


@pytest.mark.parametrize("rules", PRESETS)
def test_games_in_flight_come_back_byte_for_byte(tmp_path, rules):
    rng = np.random.default_rng(0)
    state = engine.deal(rng, 32, Rules.preset(rules))
    for _ in range(45):
        engine.step(state, opponents.random_legal(view(state), rng))
        engine.redeal(state, state.result > 0, rng)
    checkpoint.save(tmp_path / "s.pt", {"state": checkpoint.pack_state(state)})
    assert checkpoint.unpack_state(checkpoint.load(tmp_path / "s.pt")["state"]) == state


def test_a_random_generator_goes_on_where_it_stood():
    rng = np.random.default_rng(5)
    rng.random(7, dtype=np.float32)  # leaves half a word in the generator
    again = checkpoint.unpack_rng(checkpoint.pack_rng(rng))
    assert (again.random(9, dtype=np.float32) == rng.random(9, dtype=np.float32)).all()
    assert (again.random(9) == rng.random(9)).all()


def test_a_policy_rebuilds_itself_from_its_file(tmp_path):
    network = Network(NetworkConfig(hidden_size=24, hidden_layers=3))
    checkpoint.save(tmp_path / "p.pt", checkpoint.pack_policy(network, "bfloat16"))
    policy = opponents.resolve(str(tmp_path / "p.pt"))
    assert policy.precision == "bfloat16" and not policy.sampled
    seen = view(engine.deal(np.random.default_rng(0), 64))
    rng = np.random.default_rng(1)
    assert (policy(seen, rng) == LearnedPolicy(network, precision="bfloat16")(seen, rng)).all()


def test_a_policy_of_another_observation_is_refused(tmp_path):
    content = checkpoint.pack_policy(Network(NetworkConfig(4, 1)), "float32")
    checkpoint.save(tmp_path / "p.pt", {**content, "observation": ["full", 600]})
    with pytest.raises(CheckpointError, match=r"was trained on observation \['full', 600\]"):
        checkpoint.load_policy(tmp_path / "p.pt")


@pytest.mark.parametrize(
    "change",
    [
        {"network_config": {"hidden_size": 5, "hidden_layers": 1}},
        {"network_config": {"width": 4}},
        {"network": {}},
        {"network": None},
        {"network_config": None},
        {"observation": None},
    ],
)
def test_weights_that_do_not_fit_are_refused(tmp_path, change):
    content = checkpoint.pack_policy(Network(NetworkConfig(4, 1)), "float32")
    checkpoint.save(tmp_path / "p.pt", {**content, **change})
    with pytest.raises(CheckpointError, match=r"p\.pt"):
        checkpoint.load_policy(tmp_path / "p.pt")


# Not a checkpoint


def test_a_file_that_is_not_there(tmp_path):
    assert "there is no checkpoint" in refusal(tmp_path / "none.pt")


def test_a_directory(tmp_path):
    assert "is a directory" in refusal(tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"seed: 3\n", bytes(5_000)])
def test_a_file_of_another_kind(tmp_path, content):
    path = tmp_path / "foreign.pt"
    path.write_bytes(content)
    assert "is no checkpoint" in refusal(path)


def test_a_zip_file_of_something_else(tmp_path):
    path = tmp_path / "foreign.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/readme.txt", "hello")
    assert "is no checkpoint of ginenv" in refusal(path)


@pytest.mark.parametrize("content", [torch.zeros(3), {"network": torch.zeros(3)}, ["format"]])
def test_a_torch_file_of_someone_else(tmp_path, content):
    path = tmp_path / "foreign.pt"
    torch.save(content, path)
    assert refusal(path) == f"{path} is no checkpoint of ginenv"


def test_another_version(tmp_path):
    path = tmp_path / "old.pt"
    torch.save({"format": checkpoint.FORMAT, "version": 0}, path)
    assert refusal(path).endswith(
        f"is a checkpoint of version 0; this ginenv reads version {checkpoint.VERSION}"
    )


class Bomb:
    """Writes a file as soon as it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return (os.mkdir, (self.target,))


def test_a_strangers_file_runs_no_code(tmp_path):
    target = tmp_path / "code_ran"
    plain, zipped, legacy = (tmp_path / f"{name}.pt" for name in ("plain", "zipped", "legacy"))
    plain.write_bytes(pickle.dumps(Bomb(str(target))))
    content = {
        "format": checkpoint.FORMAT,
        "version": checkpoint.VERSION,
        "network": Bomb(str(target)),
    }
    torch.save(content, zipped)
    torch.save(content, legacy, _use_new_zipfile_serialization=False)
    for path in (plain, zipped, legacy):
        assert "is no checkpoint" in refusal(path)
        assert not target.exists()
    pickle.loads(plain.read_bytes())
    assert target.exists(), "the bomb itself works"


# Damage


def test_a_file_cut_off_anywhere_is_refused(saved):
    whole = saved.read_bytes()
    for length in range(0, len(whole), 7):
        saved.write_bytes(whole[:length])
        assert "is no checkpoint, or damaged" in refusal(saved)
    for length in range(len(whole) - 60, len(whole)):
        saved.write_bytes(whole[:length])
        refusal(saved)


def flipped(whole, place, bit):
    damaged = bytearray(whole)
    damaged[place] ^= 1 << bit
    return bytes(damaged)


def harmless_or_refused(path, whole, places_and_bits):
    """How many of these flips were refused; the others must change nothing."""
    path.write_bytes(whole)
    wanted = checkpoint.load(path)
    refused = 0
    for place, bit in places_and_bits:
        path.write_bytes(flipped(whole, place, bit))
        try:
            loaded = checkpoint.load(path)
        except CheckpointError:
            refused += 1
        else:
            assert differences(wanted, loaded) == [], f"bit {bit} of byte {place}"
    return refused


def test_a_flipped_bit_is_noticed_or_changes_nothing(saved):
    whole = saved.read_bytes()
    rng = random.Random(0)
    some = [(rng.randrange(len(whole)), rng.randrange(8)) for _ in range(250)]
    assert 50 < harmless_or_refused(saved, whole, some) < 250


def test_every_flipped_bit_of_the_content_is_refused(saved):
    whole = saved.read_bytes()
    with zipfile.ZipFile(saved) as archive:
        part = archive.getinfo("archive/data/0")
        content = archive.read(part)
    start = whole.index(content)
    assert content == CONTENT["network"]["weight"].numpy().tobytes()
    places = [(place, place % 8) for place in range(start, start + len(content))]
    assert harmless_or_refused(saved, whole, places) == len(content)


def test_a_part_that_a_flipped_bit_turns_into_a_directory_is_refused(saved):
    """Its checksum is right, and torch leaves its tensor as the memory happens to be."""
    whole = saved.read_bytes()
    entry = whole.rindex(b"archive/data/0") - 46  # in the zip file's table of contents
    assert whole[entry:].startswith(b"PK\x01\x02")
    saved.write_bytes(flipped(whole, entry + 38, 4))
    weight = CONTENT["network"]["weight"]
    assert not torch.equal(torch.load(saved)["network"]["weight"], weight), "torch sees no fault"
    assert "'archive/data/0' is marked as a directory" in refusal(saved)


@pytest.mark.slow
def test_every_flipped_bit_is_noticed_or_changes_nothing(saved):
    whole = saved.read_bytes()
    every = [(place, bit) for place in range(len(whole)) for bit in range(8)]
    harmless_or_refused(saved, whole, every)


def test_the_newest_that_can_be_read_is_taken(tmp_path):
    paths = [tmp_path / f"{name}.pt" for name in ("new", "older", "oldest")]
    for number, path in enumerate(paths):
        checkpoint.save(path, {"number": number})
    paths[0].write_bytes(paths[0].read_bytes()[:-100])
    found, content, faults = checkpoint.newest_good(paths)
    assert (found, content["number"]) == (paths[1], 1)
    assert len(faults) == 1 and str(paths[0]) in faults[0]
    for path in paths:
        path.write_bytes(b"")
    with pytest.raises(CheckpointError) as caught:
        checkpoint.newest_good(paths)
    assert all(str(path) in str(caught.value) for path in paths)
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        checkpoint.newest_good([])


# Writing fails


def fails_with(error):
    def fail(*args, **kwargs):
        raise error

    return fail


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("call", ["fsync", "replace", "torch.save"])
@pytest.mark.parametrize(
    "error", [FULL, RuntimeError("PytorchStreamWriter failed writing file data/0\nmore")]
)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(saved, monkeypatch, call, error):
    before = saved.read_bytes()
    where = (torch, "save") if call == "torch.save" else (os, call)
    monkeypatch.setattr(*where, fails_with(error))
    with pytest.raises(OSError, match="cannot write checkpoint") as caught:
        checkpoint.save(saved, {"other": torch.zeros(100)})
    assert str(saved) in str(caught.value) and "\n" not in str(caught.value)
    assert os.listdir(saved.parent) == ["latest.pt"]
    assert saved.read_bytes() == before


def test_a_file_size_limit_of_the_system_is_a_full_disk(saved):
    """No pretence: the system itself refuses to write beyond 20,000 bytes."""
    before = saved.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OSError, match="cannot write checkpoint"):
            checkpoint.save(saved, {"other": torch.zeros(100_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(saved.parent) == ["latest.pt"]
    assert saved.read_bytes() == before


def test_an_interrupt_in_the_middle_leaves_the_old_file_and_nothing_else(saved, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr(os, "fsync", fails_with(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        checkpoint.save(saved, {"other": torch.zeros(100)})
    assert os.listdir(saved.parent) == ["latest.pt"]
    assert saved.read_bytes() == before


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "none" / "p.pt", tmp_path / "file" / "p.pt"):
        with pytest.raises(OSError, match="cannot write checkpoint") as caught:
            checkpoint.save(path, CONTENT)
        assert str(path) in str(caught.value)
    (tmp_path / "taken.pt").mkdir()
    with pytest.raises(OSError, match="cannot write checkpoint"):
        checkpoint.save(tmp_path / "taken.pt", CONTENT)
    assert sorted(os.listdir(tmp_path)) == ["file", "taken.pt"]
