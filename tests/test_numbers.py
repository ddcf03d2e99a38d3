"""Integers of every kind, laid out in memory in every way, few and many: right, or refused."""

import numpy as np
import pytest

from ginenv import cards, engine, melds, view
from ginenv.rules import Phase, Rules, settle
from tests.players import mixed

SIGNED = ["i1", "i2", "i4", "i8"]
KINDS = [order + kind for kind in [*SIGNED, "u1", "u2", "u4", "u8"] for order in "<>"]
BOARDS = ["<u8", ">u8", "<i8", ">i8"]


def reversed_twice(array):
    """The same values behind negative strides."""
    return array[::-1].copy()[::-1]


def every_other(array):
    """The same values with gaps between them."""
    spread = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
    spread[::2] = array
    return spread[::2]


def odd_address(array):
    """The same values where no number is aligned."""
    octets = bytearray(b"x" + array.tobytes())
    return np.frombuffer(octets, array.dtype, offset=1).reshape(array.shape)


def read_only(array):
    """The same values that cannot be written."""
    array = array.copy()
    array.flags.writeable = False
    return array


LAYOUTS = [np.copy, np.asfortranarray, reversed_twice, every_other, odd_address, read_only]


def by_name(value):
    return getattr(value, "__name__", str(value))


@pytest.fixture(params=LAYOUTS, ids=by_name)
def layout(request):
    return request.param


def same(one, other):
    assert one.dtype == other.dtype and one.shape == other.shape
    assert one.tobytes() == other.tobytes()


RNG = np.random.default_rng(0)
IDS = np.stack([RNG.permutation(52)[:10] for _ in range(40)])
HANDS = cards.pack(IDS)
DECKS = np.stack([RNG.permutation(52) for _ in range(6)])


def midway(num_games=6):
    state = engine.deal(None, num_games, dealer=0, decks=DECKS[np.arange(num_games) % 6])
    rng = np.random.default_rng(1)
    for _ in range(15):
        engine.step(state, mixed(view.view(state), rng))
    return state


# Cards and melds


@pytest.mark.parametrize("kind", KINDS)
def test_pack(kind, layout):
    same(cards.pack(layout(IDS.astype(kind))), HANDS)


@pytest.mark.parametrize("kind", BOARDS)
def test_show(kind):
    for board in HANDS.astype(kind):
        assert cards.parse(cards.show(board)) == cards.parse(cards.show(int(board)))


@pytest.mark.parametrize("kind", BOARDS)
def test_deadwood_and_layoff_and_settle(kind, layout):
    deck = np.stack([RNG.permutation(52) for _ in range(30)])
    knockers, defenders = cards.pack(deck[:, :10]), cards.pack(deck[:, 10:20])
    wanted = settle(knockers, defenders)
    arranged = melds.arrangement(knockers)
    given = layout(knockers.astype(kind)), layout(defenders.astype(kind))
    same(melds.deadwood(given[0]), melds.deadwood(knockers))
    laid = layout(arranged.astype(kind))
    same(melds.layoff(laid, given[1]), melds.layoff(arranged, defenders))
    for field, values in vars(settle(*given)).items():
        same(values, getattr(wanted, field))


def test_one_hand_alone_and_hands_in_any_shape():
    grid = HANDS.reshape(5, 8)
    same(melds.deadwood(grid), melds.deadwood(HANDS).reshape(5, 8))
    same(melds.deadwood(np.asfortranarray(grid)), melds.deadwood(grid))
    assert melds.deadwood(HANDS[0]).shape == ()
    assert melds.deadwood(int(HANDS[0])) == melds.deadwood(HANDS)[0]
    assert melds.deadwood(np.uint8(1)) == 1


@pytest.mark.parametrize("kind", [int, np.uint64, float])
def test_no_hands(kind):
    none = np.zeros(0, dtype=kind)
    assert melds.deadwood(none).shape == (0,)
    assert melds.layoff(np.zeros((0, 3), dtype=kind), none).shape == (0,)
    assert settle(none, none).points.shape == (0,)
    assert cards.pack(np.zeros((0, 10), dtype=kind)).shape == (0,)
    assert cards.pack(np.zeros((4, 0), dtype=kind)).tolist() == [0] * 4
    assert cards.show(0) == ""


@pytest.mark.parametrize(
    "call",
    [
        lambda: cards.pack(5),
        lambda: cards.pack([52]),
        lambda: cards.pack([-1]),
        lambda: cards.pack(np.array([300], np.uint16)),
        lambda: cards.pack(np.array([2**63], np.uint64)),
        lambda: cards.pack([1.0]),
        lambda: cards.pack([True]),
        lambda: cards.pack(["5s"]),
        lambda: cards.show(1.0),
        lambda: cards.show(-1),
        lambda: cards.show(2**64),
        lambda: cards.show(1 << 13),
        lambda: cards.show("5s"),
        lambda: cards.show(HANDS),
        lambda: cards.name(1.0),
        lambda: cards.name("5"),
        lambda: cards.name(52),
        lambda: melds.deadwood([1.0]),
        lambda: melds.deadwood([-1]),
        lambda: melds.deadwood([1 << 15]),
        lambda: melds.deadwood([2**64]),
        lambda: melds.deadwood([cards.FULL_DECK]),
        lambda: melds.layoff(HANDS, HANDS),
        lambda: melds.layoff(np.zeros((3, 3), int), [1, 2]),
        lambda: settle(HANDS, HANDS),
        lambda: settle(HANDS[0], HANDS[1]),
        lambda: settle(HANDS.astype(float), HANDS),
    ],
)
def test_what_is_no_card_and_no_hand_is_refused(call):
    with pytest.raises(ValueError, match=r"card|hand|bitboard|meld|run"):
        call()


def test_settle_wants_rules():
    with pytest.raises(TypeError, match="rules must be"):
        settle(HANDS[:0], HANDS[:0], "standard")


# The engine


@pytest.mark.parametrize("kind", KINDS)
def test_deal(kind, layout):
    seats = np.array([0, 1, 1, 0, 1, 0])
    wanted = engine.deal(None, 6, dealer=seats, decks=DECKS)
    given = layout(DECKS.astype(kind)), layout(seats.astype(kind))
    assert engine.deal(None, 6, dealer=given[1], decks=given[0]) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_of_games_of_any_integer_type(kind):
    """Five times 52 is no int8."""
    number = np.dtype(kind).type(5)
    wanted = engine.deal(np.random.default_rng(0), 5)
    assert engine.deal(np.random.default_rng(0), number) == wanted
    assert engine.deal(np.random.default_rng(0), np.array(5, kind)) == wanted


@pytest.mark.parametrize("number", [5.0, True, [5], np.array([5]), "5", None, -1, np.int8(-3)])
def test_a_number_of_games_that_is_none(number):
    with pytest.raises(ValueError, match="num_games"):
        engine.deal(np.random.default_rng(0), number)


@pytest.mark.parametrize("kind", KINDS)
def test_step(kind, layout):
    state, twin = midway(), midway()
    actions = mixed(view.view(state), np.random.default_rng(3))
    actions[actions < 0] = 104 if kind[1] == "u" else -1
    playable = state.phase != Phase.OVER
    state, twin, actions = state[playable], twin[playable], actions[playable]
    one = engine.step(state, actions)
    two = engine.step(twin, layout(actions.astype(kind)))
    assert state == twin
    assert all((values == getattr(two, name)).all() for name, values in vars(one).items())


@pytest.mark.parametrize("kind", KINDS)
def test_an_action_out_of_range_does_not_wrap_around(kind):
    state = midway()
    before = state.copy()
    for action in (np.iinfo(kind).max, np.iinfo(kind).min, 108):
        if action == 0:
            continue
        actions = np.full(6, action, dtype=kind)
        with pytest.raises(ValueError, match="game 0: action"):
            engine.step(state, actions)
    assert state == before


@pytest.mark.parametrize("kind", KINDS)
def test_redeal(kind, layout):
    state, twin = midway(), midway()
    rows = np.array([5, 2, 3])
    engine.redeal(state, rows, None, DECKS[:3])
    engine.redeal(twin, layout(rows.astype(kind)), None, layout(DECKS[:3].astype(kind)))
    assert state == twin


@pytest.mark.parametrize(
    "rows", [2, np.int8(2), np.array(2), [2], [-4], [False] * 2 + [True] + [False] * 3]
)
def test_one_row_in_any_way(rows):
    state, twin = midway(), midway()
    engine.redeal(state, np.array([2]), None, DECKS[0])
    engine.redeal(twin, rows, None, DECKS[0])
    assert state == twin


@pytest.mark.parametrize("rows", [[6], [-7], [0.0], [True, False], ["0"]])
def test_rows_that_are_none(rows):
    state = midway()
    before = state.copy()
    with pytest.raises(IndexError):
        engine.redeal(state, rows, None, DECKS[0])
    assert state == before


@pytest.mark.parametrize("rows", [[1, 1], [0, -6], [[0, 1]]])
def test_a_game_is_dealt_once_at_a_time(rows):
    with pytest.raises(ValueError, match="different games"):
        engine.redeal(midway(), rows, np.random.default_rng(0))


# Views and observations


@pytest.mark.parametrize("kind", KINDS)
def test_seats_of_any_kind(kind, layout):
    state, seats = midway(), np.array([0, 1, 1, 0, 1, 0])
    given = layout(seats.astype(kind))
    assert (
        view.encode(view.view(state, given)).tobytes()
        == view.encode(view.view(state, seats)).tobytes()
    )
    one, two = (view.resample_hidden(state, np.random.default_rng(0), s) for s in (seats, given))
    assert one == two


def test_encode_into_memory_of_any_layout():
    seen = view.view(midway())
    wanted = view.encode(seen)
    wide = np.zeros((12, 2 * wanted.shape[1]), dtype=np.uint8)
    for out in (wide[::2, ::2], wide[::-2, ::-2], np.asfortranarray(np.zeros_like(wanted))):
        assert view.encode(seen, out=out) is out
        assert (out == wanted).all()


@pytest.mark.parametrize("spoil", [read_only, lambda out: out.astype(np.int8), lambda out: out[:5]])
def test_memory_that_cannot_hold_it_is_refused(spoil):
    seen = view.view(midway())
    with pytest.raises(ValueError, match="out must be uint8"):
        view.encode(seen, out=spoil(view.encode(seen)))


@pytest.mark.parametrize("kind", [*KINDS, "<f4", ">f8"])
def test_split_gives_parts_of_the_same_memory(kind):
    encoded = view.encode(view.view(midway())).astype(kind)
    for observation in (encoded, encoded[::-1], np.asfortranarray(encoded), encoded[0]):
        planes, counts = view.split(observation)
        assert np.shares_memory(planes, observation) and np.shares_memory(counts, observation)
        joined = [planes.reshape(*observation.shape[:-1], -1), counts]
        assert (np.concatenate(joined, axis=-1) == observation).all()


def test_split_of_what_is_no_observation():
    for wrong in (5, [], [1, 2], np.zeros((3, 632))):
        with pytest.raises(ValueError, match="observations have"):
            view.split(wrong)


# Few and many


@pytest.mark.parametrize("num_games", [0, 1, 3])
def test_few_games_go_through_everything(num_games):
    every = midway(6)
    state = every[:num_games]
    legal = engine.legal_actions(state)
    assert (
        legal.shape == (num_games, 108) and (legal == engine.legal_actions(every)[:num_games]).all()
    )
    seen = view.view(state)
    assert (view.encode(seen) == view.encode(view.view(every))[:num_games]).all()
    planes, counts = view.split(view.encode(seen))
    assert planes.shape == (num_games, 12, 4, 13) and len(counts) == num_games
    assert len(view.resample_hidden(state, np.random.default_rng(0))) == num_games
    actions = mixed(seen, np.random.default_rng(0))
    assert len(engine.step(state, actions).points) == num_games
    engine.redeal(state, np.ones(num_games, dtype=bool), np.random.default_rng(0))
    engine.redeal(state, [], np.random.default_rng(0))


@pytest.mark.parametrize("empty", [[], np.zeros(0), np.zeros(0, np.int8)], ids=["list", "f8", "i1"])
def test_nothing_may_be_of_any_type(empty):
    state = engine.deal(np.random.default_rng(0), 0, dealer=empty)
    assert len(engine.step(state, empty).result) == 0
    assert len(view.view(state, empty)) == 0


def test_a_hundred_thousand_games_are_a_hundred_thousand_times_one():
    rng = np.random.default_rng(4)
    state = engine.deal(rng, 100_000)
    for _ in range(6):
        actions = mixed(view.view(state), rng)
        some = np.array([0, 1, 2047, 2048, 65_535, 65_536, 99_999])
        few = state[some]
        assert (view.encode(view.view(state))[some] == view.encode(view.view(few))).all()
        assert (engine.legal_actions(state)[some] == engine.legal_actions(few)).all()
        one, all_of_them = engine.step(few, actions[some]), engine.step(state, actions)
        assert state[some] == few
        assert (all_of_them.points[some] == one.points).all()
    assert Rules() == state.rules
