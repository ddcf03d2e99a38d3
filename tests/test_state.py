"""Carrying games around: copies, rows, joining, files, and the same bytes everywhere."""

import hashlib
import json
import zipfile

import numpy as np
import pytest

from ginenv import engine
from ginenv import state as statefile
from ginenv.decks import raw_words
from ginenv.engine import State
from ginenv.rules import PRESETS, STANDARD, Rules
from ginenv.state import FIELDS
from ginenv.view import OBSERVATIONS, encode, view
from tests.invariants import check_state
from tests.players import mixed, plays_at_random, waits_for_gin


def midway(num_games=40, steps=25, seed=1, rules=STANDARD):
    """Games in the middle of play, some of them in their second hand."""
    rng = np.random.default_rng(seed)
    state = engine.deal(rng, num_games, rules)
    for _ in range(steps):
        advance(state, rng)
    return state


def advance(state, rng):
    outcome = engine.step(state, mixed(view(state), rng))
    engine.redeal(state, outcome.hand_over, rng)
    return outcome


def same_bytes(one, other):
    return one == other and all(
        getattr(one, field).tobytes() == getattr(other, field).tobytes() for field in FIELDS
    )


# Copies and rows


def test_stepping_a_copy_never_touches_the_original():
    state = midway()
    before, copy = state.copy(), state.copy()
    rng = np.random.default_rng(2)
    for _ in range(30):
        advance(copy, rng)
    assert state == before
    assert copy != before


@pytest.mark.parametrize(
    "take",
    [
        lambda s: s.copy(),
        lambda s: s[:],
        lambda s: s[::2],
        lambda s: s[3],
        lambda s: s[[1, 1, 5]],
        lambda s: s[s.player == 0],
        lambda s: State.concatenate([s]),
    ],
    ids=["copy", "all rows", "a slice", "an index", "indices", "a mask", "concatenation"],
)
def test_nothing_shares_memory_with_its_source(take):
    state = midway()
    part = take(state)
    for field in FIELDS:
        assert not np.shares_memory(getattr(part, field), getattr(state, field)), field


def test_a_row_plays_on_alone_as_it_does_in_the_batch():
    state = midway()
    alone = state[7]
    for _ in range(20):
        actions = plays_at_random(view(state), np.random.default_rng(3))
        one = engine.step(alone, actions[7:8])
        every = engine.step(state, actions)
        assert alone == state[7]
        assert one.points.tolist() == every.points[7:8].tolist()
        if every.hand_over.any():
            break


@pytest.mark.parametrize("rows", [np.array([2, 9, 30]), 9])
def test_rows_are_taken_and_written_back(rows):
    state = midway()
    before = state.copy()
    part = state[rows]
    advance(part, np.random.default_rng(4))
    state[rows] = part
    assert state[rows] == part
    others = np.setdiff1d(np.arange(len(state)), rows)
    for field in FIELDS:
        assert np.array_equal(getattr(state, field)[others], getattr(before, field)[others])
    check_state(state)


def test_numbers_of_hands_stay_apart_after_rows_are_written_back():
    state = midway()
    part = state[:4]
    engine.redeal(part, np.arange(4), np.random.default_rng(5))
    state[:4] = part
    engine.redeal(state, np.arange(4, 8), np.random.default_rng(6))
    assert len(set(state.game_id.tolist())) == len(state)


def test_concatenation_is_undone_by_slices():
    one, other = midway(10, seed=1), midway(5, seed=2)
    both = State.concatenate([one, other])
    assert len(both) == 15
    for field in FIELDS:
        assert np.array_equal(getattr(both, field)[:10], getattr(one, field))
        assert np.array_equal(getattr(both, field)[10:], getattr(other, field))
    assert both.next_game_id == max(one.next_game_id, other.next_game_id)


def test_states_of_different_rules_do_not_mix():
    one, other = midway(), midway(rules=Rules.preset("straight"))
    with pytest.raises(ValueError, match="different rules do not mix"):
        State.concatenate([one, other])
    with pytest.raises(ValueError, match="different rules do not mix"):
        one[:] = other


def test_writing_the_wrong_thing_is_refused():
    state = midway()
    with pytest.raises(ValueError, match="cannot write 2 games over 3"):
        state[:3] = state[:2]
    with pytest.raises(TypeError, match="only a State"):
        state[:3] = 0
    with pytest.raises(ValueError, match="nothing to concatenate"):
        State.concatenate([])


def test_equality_is_of_rules_counter_and_every_field():
    state = midway()
    assert state == state.copy()
    assert state != midway(rules=Rules(max_turns=99))
    assert state != "a state"
    for field in FIELDS:
        other = state.copy()
        first = getattr(other, field).reshape(-1)[:1]
        first[:] = first == 0
        assert state != other, field
    other = state.copy()
    other.next_game_id += 1
    assert state != other


# Files


@pytest.mark.parametrize("preset", PRESETS)
def test_saved_and_loaded_it_is_the_same_and_plays_on_the_same(tmp_path, preset):
    state = midway(rules=Rules.preset(preset))
    state.save(tmp_path / "games.state")
    loaded = State.load(tmp_path / "games.state")
    assert same_bytes(state, loaded)
    for games in (state, loaded):
        rng = np.random.default_rng(7)
        for _ in range(10):
            advance(games, rng)
    assert same_bytes(state, loaded)


def test_what_could_not_be_loaded_again_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(statefile, "MAX_GAMES", 39)
    with pytest.raises(ValueError, match="a file holds at most 39 games, not 40"):
        midway(num_games=40).save(tmp_path / "games.npz")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_state_goes_through_a_file(tmp_path):
    empty = midway()[:0]
    empty.save(tmp_path / "empty")
    assert State.load(tmp_path / "empty") == empty


def test_arrays_in_any_order_in_memory_are_saved(tmp_path):
    state = midway(6)
    state.hands = np.asfortranarray(state.hands)
    state.save(tmp_path / "games")
    assert same_bytes(State.load(tmp_path / "games"), midway(6))


def test_a_saved_state_holds_no_pickle(tmp_path):
    midway().save(tmp_path / "games.state")
    with zipfile.ZipFile(tmp_path / "games.state") as archive:
        for name in archive.namelist():
            assert not archive.read(name).startswith(b"\x80"), name
    with np.load(tmp_path / "games.state", allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)


def saved(path, change):
    """A state file with something changed: ``change(about, arrays)``."""
    state = midway(6)
    state.save(path)
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(str(arrays["about"]))
    change(about, arrays)
    arrays["about"] = np.array(json.dumps(about))
    with open(path, "wb") as file:
        np.savez(file, **arrays)
    return path


def test_a_file_of_another_version_is_refused_with_both_versions(tmp_path):
    path = saved(tmp_path / "games", lambda about, _: about.update(format=99))
    with pytest.raises(ValueError, match=f"version 99.* reads {statefile.FORMAT_VERSION}"):
        State.load(path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda _, arrays: arrays.update(hands=arrays["hands"][:, :1]), r"hands is .*\(6, 1\)"),
        (lambda _, arrays: arrays.update(deck=arrays["deck"][:5]), r"deck is \|i1 \(5, 52\)"),
        (lambda _, arrays: arrays.update(deck=arrays["deck"].astype(float)), "deck is <f8"),
        (lambda _, arrays: arrays.pop("known"), "see known"),
        (lambda _, arrays: arrays.update(trick=np.zeros(6)), "see trick"),
        (lambda about, _: about.pop("format"), "no saved state"),
        (lambda about, _: about["rules"].update(knock_limit=11), "knock_limit"),
    ],
    ids=["shape", "games", "dtype", "missing", "unknown", "no version", "rules"],
)
def test_a_wrong_file_is_refused(tmp_path, change, complaint):
    with pytest.raises(ValueError, match=complaint):
        State.load(saved(tmp_path / "games", change))


@pytest.mark.parametrize(
    "change",
    [
        lambda about, _: about.pop("rules"),
        lambda about, _: about["rules"].update(trumps=True),
        lambda about, _: about.pop("next_game_id"),
        lambda about, _: about.update(next_game_id="many"),
        lambda _, arrays: arrays.update(phase=np.int8(0)),
    ],
    ids=["no rules", "unknown rule", "no counter", "wrong counter", "no rows"],
)
def test_a_malformed_file_is_refused_with_its_name(tmp_path, change):
    path = saved(tmp_path / "games", change)
    with pytest.raises(ValueError, match="games"):
        State.load(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"no state", b"PK\x03\x04 broken", b"\x80\x04N."],
)
def test_a_file_that_is_no_state_is_refused(tmp_path, content):
    path = tmp_path / "games"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="games is no saved state"):
        State.load(path)


def test_a_truncated_file_is_refused(tmp_path):
    midway().save(tmp_path / "games")
    whole = (tmp_path / "games").read_bytes()
    (tmp_path / "games").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="games is no saved state"):
        State.load(tmp_path / "games")


def test_a_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        State.load(tmp_path / "nowhere")


# The same bytes everywhere

PUBLIC = [
    "hands",
    "player",
    "dealer",
    "phase",
    "scores",
    "upcard",
    "drawn",
    "turn",
    "knock_limit",
    "deck",
    "game_id",
]


def fingerprint(rules, steps=100, num_games=80):
    """A hash of every position, mask, observation and outcome of a seeded play."""
    rng = np.random.default_rng(20)
    state = engine.deal(rng, num_games, rules)
    digest = hashlib.sha256()

    def note(array):
        digest.update(array.astype(array.dtype.newbyteorder("<")).tobytes())

    for _ in range(steps):
        seen = view(state)
        for field in PUBLIC:
            note(getattr(state, field))
        for observation in OBSERVATIONS:
            note(encode(seen, observation))
        note(engine.legal_actions(state))
        actions = np.where(state.dealer == 0, mixed(seen, rng), waits_for_gin(seen, rng))
        outcome = engine.step(state, actions)
        for part in (outcome.points, outcome.result, outcome.knocker, outcome.deadwood):
            note(part)
        note(outcome.hand_over | outcome.match_over)
        engine.redeal(state, outcome.hand_over, rng)
    return digest.hexdigest()[:16]


# A change of one of these is a change of the environment: it makes v1 of v0.
FINGERPRINTS = {
    "standard": "6f6d40f3eb0dd600",
    "no_big_gin": "486a634fadb49f24",
    "oklahoma": "ddabc780c0dd6245",
    "oklahoma_faces": "615cdae1c1ed1cf5",
    "straight": "1d41b0de6a7be589",
    "eaai": "a24e5de2d01fae19",
}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_and_actions_give_the_same_bytes_on_every_numpy(preset):
    assert fingerprint(Rules.preset(preset)) == FINGERPRINTS[preset]


def test_raw_words_are_the_bit_generators_own():
    """The generator is fixed for good by its reference implementation, unlike NumPy's methods."""
    words = raw_words(np.random.Generator(np.random.PCG64(0)), 2)
    assert words.tolist() == np.random.PCG64(0).random_raw(2).tolist()
