"""Random numbers for players: the same ones, and no way back to the seed."""

import numpy as np

from ginenv import streams


def test_the_numbers_are_the_same():
    rng = np.random.default_rng(7).spawn(1)[0]
    rng.random(3, dtype=np.float32)  # leaves half a word
    apart = streams.for_players(rng)
    assert (apart.random(9, dtype=np.float32) == rng.random(9, dtype=np.float32)).all()
    assert (apart.integers(52, size=9) == rng.integers(52, size=9)).all()


def test_the_source_stays_where_it_was():
    rng = np.random.default_rng(7)
    before = rng.bit_generator.state
    streams.for_players(rng).random(5)
    assert rng.bit_generator.state == before


def test_the_seed_is_gone():
    apart = streams.for_players(np.random.default_rng(np.random.SeedSequence(7, spawn_key=(1, 2))))
    seeds = apart.bit_generator.seed_seq
    assert seeds.entropy != 7 and seeds.spawn_key == ()


def test_what_two_players_spawn_differs():
    one, other = (streams.for_players(np.random.default_rng(seed)).spawn(1)[0] for seed in (1, 2))
    assert one.random() != other.random()
