"""The table as text, as a picture and as a GIF; what is on it, and what is not."""

import re
import sys

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo.test import render_test

from ginenv import Rules, adapter, engine, film, gin_rummy_v0, opponents, picture, render, tabletop
from ginenv.rules import KNOCK, PRESETS, TAKE_PILE, Phase, Result
from ginenv.view import resample_hidden, view
from tests.hands import rich_deck, stacked_deck

Image = pytest.importorskip("PIL.Image")


def game(non_dealer, dealer, upcard, actions=()):
    """A game of player_0, the non-dealer, against player_1 after some actions."""
    deck = np.array(stacked_deck(non_dealer, dealer, upcard))
    state = engine.deal(None, 1, dealer=1, decks=deck)
    for action in actions:
        engine.step(state, [action])
    return state


# Non-dealer takes the five and knocks with the queen, deadwood 10: A-2-3 and three sevens and
# three fives in melds. The dealer's four stays in his own run; the two of spades is the knocker's.
FIRST_NIGHT = game(
    "As 2s 3s 7d 7h 7c 5h 5c Jc Qd",
    "4s 5s 6s Kh Ks Kd 8c 2h Td 9c",
    "5d",
    [TAKE_PILE, KNOCK + 37],
)


def test_a_settled_hand_as_text():
    assert render.text(tabletop.table(FIRST_NIGHT)).splitlines() == [
        "turn 1   knock with 10 or less",
        "player_1 (dealer)   0 points   deadwood 29",
        "  [4♠ 5♠ 6♠] [K♠ K♥ K♦] 2♥ 8♣ 9♣ T♦",
        "stock 31   pile 0, top none   the knocker's discard face down",
        "player_0   19 points   deadwood 10",
        "  [A♠ 2♠ 3♠] [5♥ 5♦ 5♣] [7♥ 7♦ 7♣] J♣",
        "player_0 knocks and wins 19 points",
    ]


def test_layoffs_are_shown_apart():
    state = game(
        "As 2s 3s 7d 7h 7c 5h 5c Jc Qd",
        "4s 7s 9s Kh Ks Kd 8c 2h Td 6c",
        "5d",
        [TAKE_PILE, KNOCK + 37],
    )
    lines = render.text(tabletop.table(state)).splitlines()
    assert lines[2] == "  [K♠ K♥ K♦] 2♥ 6♣ 8♣ 9♠ T♦ laid off: 4♠ 7♠"
    assert lines[1].endswith("deadwood 35")


def test_only_what_the_viewer_knows_is_shown():
    """Re-deal what he cannot see: neither text nor picture changes, at any moment of many hands."""
    rng = np.random.default_rng(0)
    state = engine.deal(rng, 1)
    for step in range(150):
        if state.phase[0] == Phase.OVER:
            engine.redeal(state, [0], rng)
        for viewer in (0, 1):
            other = resample_hidden(state, rng, viewer)
            ours, theirs = tabletop.table(state, viewer), tabletop.table(other, viewer)
            assert ours == theirs
            assert ours.far.deadwood is None
            assert ours.far.hidden + len(ours.far.loose) in (10, 11)
            if step % 50 == 0:
                np.testing.assert_array_equal(picture.draw(ours), picture.draw(theirs))
            revealed = tabletop.table(state, viewer, reveal=True)
            assert revealed.far == tabletop.table(state, 1 - viewer).near
        engine.step(state, opponents.random_legal(view(state), rng))
        if state.result[0] not in (0, 5):
            engine.redeal(state, [0], rng)


def test_every_ending_is_told_and_drawn():
    rng = np.random.default_rng(0)
    decks = np.stack([rich_deck(rng) for _ in range(200)])
    state = engine.deal(rng, 200, Rules(max_turns=20), decks=decks)
    endings = {}
    for _ in range(60):
        engine.step(state, np.where(state.phase == Phase.OVER, -1, _goes_on(view(state))))
        for row in np.flatnonzero(state.phase == Phase.OVER):
            endings.setdefault(Result(state.result[row]).name, state[row])
    told = {name: tabletop.table(game).message.split(" ", 1)[1] for name, game in endings.items()}
    assert {name: re.sub(r" \d+ points", "", message) for name, message in told.items()} == {
        "KNOCK": "knocks and wins",
        "GIN": "goes gin and wins",
        "BIG_GIN": "has big gin and wins",
        "UNDERCUT": "knocks and is undercut for",
        "VOID": "hand is void",
    }
    for game in endings.values():
        frame = render.frame(game, "rgb_array")
        assert frame.shape == (600, 800, 3) and frame.dtype == np.uint8


def _goes_on(now):
    """Big gin or a knock if it may; else draws from the stock and throws for the least deadwood."""
    best, mask = now.deadwood_after.argmin(axis=1), now.action_mask
    actions = np.where(mask[:, :52].any(axis=1), best, np.where(mask[:, 104], 104, 106))
    actions = np.where(mask[:, KNOCK:104].any(axis=1) & (now.hand % 3 > 0), KNOCK + best, actions)
    return np.where(mask[:, 107], 107, actions)


def test_cards_are_drawn_apart():
    """Every card's picture differs from every other's."""
    faces = {picture._card(card, picture.CARD).tobytes() for card in range(-2, 52)}
    assert len(faces) == 54


def test_pettingzoo_render_test(capsys):
    render_test(gin_rummy_v0.env)


def test_human_prints_after_each_step(capsys):
    for env in (
        gin_rummy_v0.env(render_mode="human", viewer="player_1"),
        gym.make("ginenv:GinRummy-v0", render_mode="human"),
    ):
        env.reset(seed=1)
        assert "player_0" in capsys.readouterr().out
        env.step(105)
        assert "discards or knocks" in capsys.readouterr().out


def test_human_on_a_terminal_without_suit_symbols(monkeypatch, capsysbinary):
    import io

    out = io.TextIOWrapper(raw := io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    render.frame(FIRST_NIGHT, "human")
    out.flush()
    assert b"[As 2s 3s] [5h 5d 5c]" in raw.getvalue()


def test_vector_frames():
    envs = gym.make_vec("ginenv:GinRummy-v0", num_envs=3, render_mode="rgb_array", reveal=True)
    envs.reset(seed=0)
    assert [frame.shape for frame in envs.render()] == [(600, 800, 3)] * 3


def test_without_pillow_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(adapter, "version", lambda package: "9.0")
    remedy = r"10.1 or newer, found pillow 9.0: pip install 'ginenv\[render\]'"
    with pytest.raises(gym.error.DependencyNotInstalled, match=remedy):
        gin_rummy_v0.env(render_mode="rgb_array")
    monkeypatch.undo()
    with pytest.raises(ImportError, match="no_such_package is not installed: pip install it"):
        adapter.require("no_such_package", "1.0", "it")


# Films


def test_film(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(PRESETS, "standard", {"max_turns": 4})
    path = tmp_path / "game.gif"
    assert film.main([str(path), "--seed", "2", "--reveal", "--seconds", "0.1"]) == 0
    assert str(path) in capsys.readouterr().out
    with Image.open(path) as gif:
        assert gif.size == (800, 600) and 8 < gif.n_frames < 15


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["x.gif", "--players", "nobody", "random"], "nobody"),
        (["x.gif", "--import", "no_such_module"], "no_such_module"),
        (["no/such/folder/x.gif"], "no/such/folder"),
    ],
)
def test_film_tells_what_is_wrong(arguments, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert film.main(arguments) == 2
    assert says in capsys.readouterr().err


def test_gymnasiums_record_video(tmp_path):
    pytest.importorskip("moviepy")
    env = gym.make("ginenv:GinRummy-v0", render_mode="rgb_array")
    env = gym.wrappers.RecordVideo(env, str(tmp_path), episode_trigger=lambda episode: True)
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, info = env.step(env.action_space.sample(info["action_mask"]))
    env.close()
    assert list(tmp_path.glob("*.mp4"))


def test_pettingzoos_record_video(tmp_path):
    wrappers = pytest.importorskip("pettingzoo.utils.wrappers")
    if not hasattr(wrappers, "RecordVideo"):
        pytest.skip("PettingZoo has RecordVideo from 1.27 on")
    pytest.importorskip("moviepy")
    env = wrappers.RecordVideo(gin_rummy_v0.env(render_mode="rgb_array"), str(tmp_path))
    env.reset(seed=0)
    for agent in env.agent_iter():
        observation, _, over, _, _ = env.last()
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
    env.close()
    assert list(tmp_path.glob("*.mp4"))
