"""Who sits where: the shares of the opponents, and snapshots that come and go."""

import numpy as np
import pytest
import torch

from agents.league import LEARNER, League
from agents.network import Network, NetworkConfig
from ginenv import engine
from ginenv.view import view
from tests.tiny import tiny

FIXED = ("greedy", "easy")
FIRST_SNAPSHOT = 1 + len(FIXED)


def network(mark):
    """A network that can be told from all others by its mark."""
    made = Network(NetworkConfig(4, 1))
    with torch.no_grad():
        made.card_rule.fill_(mark)
    return made


def marks(league):
    return [float(snapshot.card_rule[0, 0]) for snapshot in league.snapshots]


def league(num_games=16, seed=0, **changes):
    return League(tiny(num_games=num_games, **changes), np.random.default_rng(seed))


def seated_over_time(seats):
    """Seat players as if the games had begun in many different rollouts."""
    for games in np.array_split(np.arange(len(seats.seated)), 20):
        seats.invite()
        seats.seat_players(games)


def within_binomial_error(count, total, share):
    """Within 4.5 standard deviations: wrong once in 150,000 true cases."""
    return abs(count - total * share) <= 4.5 * np.sqrt(total * share * (1 - share))


# Shares


def test_opponents_get_their_shares_and_either_seat():
    n = 20_000
    seats = league(n, opponent_share=0.3, past_self_share=0.2)
    seats.add_snapshot(network(0))
    seats.invite()
    seats.seat_players(np.arange(n))
    others = seats.seated != LEARNER
    assert not others.all(axis=1).any(), "the learner plays at least one seat of every game"
    by_game = seats.seated.max(axis=1)
    assert within_binomial_error((by_game == LEARNER).sum(), n, 0.5)
    fixed, past = seats.guests
    for player, share in {fixed: 0.3, past: 0.2}.items():
        rows = by_game == player
        assert within_binomial_error(rows.sum(), n, share), player
        assert within_binomial_error(others[rows, 0].sum(), rows.sum(), 0.5), player


def test_every_opponent_is_invited_equally_often():
    n = 6_000
    seats = league()
    for mark in range(2):
        seats.add_snapshot(network(mark))
    invited = np.zeros((n, 2), dtype=int)
    for guests in invited:
        seats.invite()
        guests[:] = seats.guests
    assert set(invited[:, 0]) == {1, 2}
    assert set(invited[:, 1]) == {FIRST_SNAPSHOT, FIRST_SNAPSHOT + 1}
    for column in range(2):
        first = invited[:, column] == invited[:, column].min()
        assert within_binomial_error(first.sum(), n, 0.5)


def test_new_guests_come_to_new_hands_only():
    seats = league(1_000, opponent_share=0.5, past_self_share=0.5)
    before = seats.seated.copy()
    while seats.guests[0] == before.max():
        seats.invite()
    assert (seats.seated == before).all()
    seats.seat_players(np.arange(1_000))
    assert seats.seated.max() == seats.guests[0] != before.max()


def test_without_snapshots_the_learner_plays_itself_instead():
    n = 20_000
    seats = league(n, opponent_share=0.1, past_self_share=0.9)
    assert within_binomial_error((seats.seated.max(axis=1) > 0).sum(), n, 0.1)
    assert seats.seated.max() <= len(FIXED)


def test_only_the_named_games_get_new_players():
    seats = league(1_000, opponent_share=0.5)
    before = seats.seated.copy()
    seats.seat_players(np.arange(0, 1_000, 2))
    assert (seats.seated[1::2] == before[1::2]).all()
    assert (seats.seated[::2] != before[::2]).any()


def test_all_games_against_opponents_and_none():
    assert (league(500, opponent_share=1, past_self_share=0).seated.max(axis=1) > 0).all()
    nobody = league(500, opponents=(), opponent_share=0, past_self_share=0)
    assert (nobody.seated == LEARNER).all()
    state = engine.deal(np.random.default_rng(0), 500)
    learner, opponents = nobody.to_move(state)
    assert len(learner) == 500 and opponents is None


# Whose move


def test_each_decision_is_asked_of_the_player_who_sits_there():
    n = 400
    seats = league(n, opponent_share=0.5, past_self_share=0.4)
    seats.add_snapshot(network(1))
    seated_over_time(seats)
    asked = {}

    def asking(number):
        def policy(seen, rng):
            asked[number] = seen.game_id.tolist()
            return np.full(len(seen), number)

        return policy

    seats._policy = asking
    state = engine.deal(np.random.default_rng(1), n)
    learner, who = seats.to_move(state)
    actions = np.full(n, -7)
    seats.act(view(state), who, actions)
    expected = seats.seated[np.arange(n), state.player]
    assert set(learner) == set(np.flatnonzero(expected == LEARNER))
    assert (actions[learner] == -7).all(), "the learner decides for itself"
    others = expected != LEARNER
    assert (actions[others] == expected[others]).all()
    for number in (1, 2, FIRST_SNAPSHOT):
        assert asked[number] == np.flatnonzero(expected == number).tolist(), number


def test_opponents_play_legal_actions_only():
    n = 64
    seats = league(n, opponent_share=0.5, past_self_share=0.4)
    seats.add_snapshot(network(0.3))
    seated_over_time(seats)
    rng = np.random.default_rng(2)
    state = engine.deal(rng, n)
    for _ in range(120):
        seats.invite()
        legal = engine.legal_actions(state)
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in legal])
        _, who = seats.to_move(state)
        if who is not None:
            seats.act(view(state), who, actions)
        assert legal[np.arange(n), actions].all()
        ended = np.flatnonzero(engine.step(state, actions).hand_over)
        if ended.size:
            engine.redeal(state, ended, rng)
            seats.seat_players(ended)


# Snapshots


def test_a_snapshot_is_a_copy_that_never_learns():
    live = network(1)
    seats = league()
    seats.add_snapshot(live)
    with torch.no_grad():
        live.card_rule.fill_(5)
    assert marks(seats) == [1]
    assert not any(p.requires_grad for p in seats.snapshots[0].parameters())


def test_the_newest_snapshot_always_stays_and_the_order_is_by_age():
    seats = league(max_snapshots=3)
    for mark in range(40):
        seats.add_snapshot(network(mark))
        kept = marks(seats)
        assert kept[-1] == mark and kept == sorted(kept)
        assert len(kept) == min(mark + 1, 3)


@pytest.mark.parametrize("seed", range(12))
def test_who_sits_at_a_table_stays_there_when_another_snapshot_is_dropped(seed):
    """A game goes on against the same network; only where it is gone, the newest takes over."""
    seats = league(200, seed, opponent_share=0.2, past_self_share=0.8, max_snapshots=4)
    for mark in range(4):
        seats.add_snapshot(network(mark))
    seated_over_time(seats)
    old = marks(seats)
    before = seats.seated.copy()
    seats.add_snapshot(network(4))
    new = marks(seats)
    (dropped,) = set(old) - set(new)

    def mark_of(number, pool):
        return pool[number - FIRST_SNAPSHOT]

    for was, now in zip(before.ravel(), seats.seated.ravel(), strict=True):
        if was < FIRST_SNAPSHOT:
            assert now == was, "the learner and the fixed players keep their numbers"
        elif mark_of(was, old) == dropped:
            assert mark_of(now, new) == 4
        else:
            assert mark_of(now, new) == mark_of(was, old)
    assert (before == FIRST_SNAPSHOT + old.index(dropped)).any(), "somebody sat against it"


def test_the_only_snapshot_makes_room_for_the_next():
    seats = league(100, opponent_share=0, past_self_share=1, max_snapshots=1)
    seats.add_snapshot(network(0))
    seated_over_time(seats)
    before = seats.seated.copy()
    assert before.any()
    seats.add_snapshot(network(1))
    assert marks(seats) == [1]
    assert (seats.seated == before).all()


def test_a_league_goes_on_from_what_it_saved():
    seats = league(100, opponent_share=0.3, past_self_share=0.5)
    for mark in range(2):
        seats.add_snapshot(network(mark))
    seated_over_time(seats)
    saved = seats.state_dict()
    fresh = league(100, seed=9, opponent_share=0.3, past_self_share=0.5)
    fresh.load_state_dict(saved, network(7))
    assert marks(fresh) == marks(seats)
    assert (fresh.seated == seats.seated).all()
    assert fresh.guests == seats.guests
    seats.seated[:] = 0
    assert fresh.seated.any(), "what was loaded shares no memory with what was saved"
