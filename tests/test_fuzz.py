"""Some thousand mutated inputs for every loader; ``python -m tests.fuzz`` tries a million."""

import random
import sys
import warnings
from pathlib import Path

import pytest

from tests.fuzz import harness
from tests.fuzz.harness import Finding, Harness
from tests.fuzz.targets import TARGETS, Target

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of the system")

INPUTS = {
    "text": 1500,
    "answer": 1500,
    "message": 700,
    "record": 500,
    "match": 60,
    "state": 200,
    "checkpoint": 60,
    "config": 150,
}


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_inputs_end_in_an_error_or_a_right_result(name):
    outcomes = [Harness(seed=1).attempt(TARGETS[name], n) for n in range(INPUTS[name])]
    assert [o for o in outcomes if isinstance(o, Finding)] == []
    assert "refused" in outcomes and "read" in outcomes, "neither too wild nor too tame"


@pytest.mark.parametrize("name", TARGETS)
def test_good_inputs_are_read(name):
    for data in TARGETS[name].good:
        TARGETS[name].load(data + b"\n" * (name == "answer"))


def test_the_shares_are_all_there_is():
    assert sum(target.share for target in TARGETS.values()) == pytest.approx(1)
    assert TARGETS.keys() == INPUTS.keys()


def test_an_input_can_be_made_again():
    target = TARGETS["text"]
    one, same, other = (target.input(random.Random(text)) for text in ("0/1", "0/1", "0/2"))
    assert one == same != other


def raises(error):
    def load(data):
        raise error

    return load


def warns(data):
    warnings.warn("odd", stacklevel=1)


def hangs(data):
    while True:
        pass


def hoards(data):
    assert b"x" * (harness._resident() + harness.MEMORY_LIMIT)


def asks_for_terabytes(data):
    bytearray(2**42)


@pytest.mark.parametrize(
    ("load", "says"),
    [
        (raises(KeyError("x")), "KeyError"),
        (raises(UnicodeDecodeError("utf-8", b"", 0, 1, "x")), "UnicodeDecodeError"),
        (raises(AssertionError("not the same")), "not the same"),
        (warns, "UserWarning"),
        (hangs, "more than 0.2 seconds"),
        (hoards, "too much memory"),
        (asks_for_terabytes, "MemoryError"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_loader_that_behaves_badly_is_found(monkeypatch, tmp_path, load, says):
    monkeypatch.setattr(harness, "TIME_LIMIT", 0.2)
    target = Target("bad", 1.0, ValueError, lambda: [b"good"], lambda rng, data, _: data, load)
    found = Harness(seed=3).attempt(target, 5)
    assert isinstance(found, Finding) and says in found.what
    assert found.keep(tmp_path).startswith(f"{tmp_path / 'bad-3-5'}: ")
    assert Path(tmp_path / "bad-3-5").read_bytes() == b"good"


def test_the_loaders_own_error_is_no_finding():
    target = Target("good", 1.0, ValueError, lambda: [b""], lambda *_: b"", raises(ValueError("x")))
    assert Harness().attempt(target, 0) == "refused"
