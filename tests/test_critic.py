"""The value function that sees all cards: what it is shown, and that nobody else sees it."""

import numpy as np
import pytest
import torch

from agents.critic import HIDDEN_SIZE, Critic, hidden_cards, opponent_hand
from agents.inputs import NUM_INPUTS, observe
from ginenv import engine, melds
from ginenv.rules import Phase
from ginenv.view import resample_hidden, view
from tests.positions import states

SAME_SUITS = np.arange(4)


def cards_of(plane):
    return set(plane.nonzero().flatten().tolist())


def shown(state, row):
    """The planes of one game with its suits as they are, and the last number."""
    hidden = hidden_cards(state, np.array([row]), SAME_SUITS[None])
    return [cards_of(plane) for plane in hidden[0, :-1].view(-1, 52)], int(hidden[0, -1])


def test_the_opponents_hand_and_its_deadwood():
    state = states(64, seed=1)
    for row in range(64):
        planes, deadwood = shown(state, row)
        opponent = 1 - state.player[row]
        assert sum(1 << (16 * (c // 13) + c % 13) for c in planes[0]) == state.hands[row, opponent]
        assert deadwood == melds.deadwood(state.hands[row, opponent][None])[0]


def passed_twice():
    """Games in which the non-dealer has to draw from the stock."""
    state = engine.deal(np.random.default_rng(3), 8)
    for _ in range(2):
        engine.step(state, np.full(8, 106))
    assert (state.phase == Phase.FORCED_DRAW).all()
    return state


@pytest.mark.parametrize("state", [states(200, seed=2), passed_twice()], ids=["any", "forced"])
def test_the_stock_is_told_by_who_will_draw_it(state):
    """Everybody draws from the stock from now on: the cards come as the planes say."""
    for row in np.flatnonzero(state.stock_size >= 12)[:60]:
        planes, _ = shown(state, row)
        me, game = int(state.player[row]), state[int(row)]
        drawn = {0: [], 1: []}
        while len(drawn[0]) < 4 or len(drawn[1]) < 4:
            phase, player = game.phase[0], int(game.player[0])
            if phase in (Phase.DRAW, Phase.FORCED_DRAW):
                drawn[player].append(int(game.deck[0, game.stock_start[0]]))
                action = 104
            elif phase == Phase.UPCARD:
                action = 106
            else:
                action = int(np.flatnonzero(engine.legal_actions(game)[0])[0])
            assert not engine.step(game, np.array([action])).hand_over[0]
        for who, first in ((me, 1), (1 - me, 5)):
            cards = drawn[who]
            assert planes[first] == {cards[0]}
            assert planes[first + 1] == {cards[1]}
            assert planes[first + 2] == {cards[2], cards[3]}


def test_near_the_end_the_stock_has_no_more_cards_than_it_has():
    state = states(400, seed=4)
    row = int(np.argmin(np.where(state.phase < Phase.OVER, state.stock_size, 99)))
    planes, _ = shown(state, row)
    left = int(state.stock_size[row])
    assert left < 12
    assert sum(map(len, planes[1:])) == min(left, 16)


def test_suits_are_told_in_the_order_of_the_observation():
    state = states(64, seed=5)
    observation, _, suits = observe(view(state))
    assert (suits != SAME_SUITS).any()
    hidden = hidden_cards(state, np.arange(64), suits)
    for row in range(64):
        planes, _ = shown(state, row)
        real = {13 * suits[row, c // 13] + c % 13 for c in cards_of(opponent_hand(hidden)[row])}
        assert real == planes[0]
        assert not (observation[row, :52].bool() & opponent_hand(hidden)[row].bool()).any()


def test_it_sees_what_the_policy_does_not():
    """Other hidden cards: the same observation, another value."""
    state = states(64, seed=6)
    other = resample_hidden(state, np.random.default_rng(0))
    critic, games = Critic(16, 1), np.arange(64)
    (observation, _, suits), (same, _, _) = observe(view(state)), observe(view(other))
    assert torch.equal(observation, same)
    inputs = torch.rand(64, NUM_INPUTS)
    with torch.inference_mode():
        before = critic(inputs, hidden_cards(state, games, suits))
        after = critic(inputs, hidden_cards(other, games, suits))
    assert before.shape == (64,) and before.dtype == torch.float32
    assert (before != after).float().mean() > 0.9


def test_no_game_at_all():
    none = np.zeros(0, dtype=int)
    hidden = hidden_cards(states(4), none, np.zeros((0, 4), dtype=int))
    assert hidden.shape == (0, HIDDEN_SIZE)
