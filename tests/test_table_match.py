"""The match behind the table: cut, play, saving, records, coach; no screen."""

import dataclasses
import json

import numpy as np
import pytest

from agents.table import coach
from agents.table.arrangement import Arrangement
from agents.table.levels import level
from agents.table.match import OPPONENT, PERSON, Cut, DamagedMatch, Match, Terms
from agents.table.storage import MatchResult, Settings, Statistics, Storage
from ginenv import cards, engine
from ginenv.rules import DRAW_STOCK, Result
from ginenv.view import resample_hidden

CRAZY, NORMAL = level("crazy"), level("normal")


def played(terms, num_actions=10**6, dealer=PERSON):
    """A match in which Crazy sits in the person's chair."""
    match = Match.start(terms, dealer)
    for _ in range(num_actions):
        if match.over:
            break
        if match.hand_over:
            match.deal_next()
        elif match.person_to_move:
            match.act(int(CRAZY.policy(match.seen, np.random.default_rng(0))[0]))
        else:
            match.act(match.opponent_action(NORMAL.policy))
    return match


# Cutting


def test_the_lowest_card_deals_and_both_seats_do_equally_often():
    dealers = []
    for seed in range(300):
        cut = Cut(Terms("normal", seed=seed))
        while cut.dealer is None:
            mine, his = cut.pick(seed % 52)
            assert mine != his
            if cut.dealer is None:
                assert mine % 13 == his % 13, "only two cards of a rank are cut again"
        assert (cut.dealer == PERSON) == (mine % 13 < his % 13)
        dealers.append(cut.dealer)
    assert 110 < sum(dealers) < 190  # five standard deviations around 150


# The match


@pytest.mark.parametrize("scoring", ["hands", "classic", "hollywood"])
def test_the_sheet_ends_the_match(scoring):
    match = played(Terms("normal", "standard", scoring, seed=8))
    assert match.over
    assert match.state.rules.target_score == (100 if scoring == "hands" else None)
    sheet = match.sheet
    assert sheet.points.max(axis=2).min() >= 100, "every game of it has reached its target"
    if scoring == "hands":
        assert list(match.totals) == match.state.scores[0].tolist()


def test_the_same_seed_is_the_same_match():
    terms = Terms("normal", seed=11)
    assert played(terms).as_dict()["hands"] == played(terms).as_dict()["hands"]
    assert played(terms).as_dict()["hands"] != played(Terms("normal", seed=12)).as_dict()["hands"]


def test_a_move_that_is_not_legal_changes_nothing():
    match = Match.start(Terms("normal", seed=1), OPPONENT)
    before = match.as_dict()
    with pytest.raises(ValueError, match="illegal in phase UPCARD"):
        match.act(DRAW_STOCK)
    assert match.as_dict() == before
    assert match.log == []


def test_the_log_tells_no_secret():
    """What the opponent draws from the stock is not in the log, whatever it is."""
    match = played(Terms("normal", seed=2), num_actions=12)
    assert "Normal draws from the stock" in match.log
    other = Match.from_dict(match.as_dict())
    other.state = resample_hidden(match.state, np.random.default_rng(5), PERSON)
    assert match.table == other.table
    assert other.state != match.state


# Saving


@pytest.mark.parametrize("num_actions", [0, 1, 17, 60, 10**6])
def test_a_saved_match_is_played_on_as_if_nothing_had_happened(num_actions):
    terms = Terms("normal", "oklahoma", "classic", seed=21)
    match = played(terms, num_actions)
    loaded = Match.from_dict(json.loads(json.dumps(match.as_dict())))
    assert loaded.state == match.state
    assert loaded.log == match.log
    assert loaded.finished == match.finished
    assert loaded.totals == match.totals
    assert loaded.as_dict() == match.as_dict()
    if not match.hand_over and not match.person_to_move:
        assert loaded.opponent_action(NORMAL.policy) == match.opponent_action(NORMAL.policy)


def tampered(change):
    saved = played(Terms("normal", seed=3), num_actions=60).as_dict()
    change(saved)
    return saved


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda saved: saved.update(format=2), "no saved match of format 1"),
        (lambda saved: saved.pop("seed"), "lacks 'seed'"),
        (lambda saved: saved.update(hands=[]), "index out of range"),
        (lambda saved: saved.update(rules_name="poker"), "unknown rules 'poker'"),
        (lambda saved: saved.update(scoring_name="golf"), "unknown scoring 'golf'"),
        (lambda saved: saved.update(seed="x"), "seed must be a int, got 'x'"),
        (lambda saved: saved.update(seed=[1, 2]), "seed must be a int"),
        (lambda saved: saved.update(seed=-1), "non-negative|negative"),
        (lambda saved: saved.update(level=None), "level must be a str"),
        (lambda saved: saved.update(name=["x"]), "name must be a str"),
        (lambda saved: saved.update(hands={"0": 1}), "hands must be a list"),
        (lambda saved: saved.update(rules_name=[]), "rules_name must be a str"),
        (lambda saved: saved["hands"][0].update(deck="As"), "deck must hold"),
        (lambda saved: saved["hands"][0]["actions"].append("draw"), "hand 1"),
        (lambda saved: saved["hands"][0]["actions"].pop(), "hand 1"),
        (lambda saved: saved["hands"][0].update(points=[99, -99]), "hand 1: what was played"),
        (lambda saved: saved["hands"][1].update(dealer=PERSON), "hand 2"),
        (lambda saved: saved["hands"][1]["actions"].insert(0, "big gin"), "hand 2"),
    ],
)
def test_a_damaged_match_says_what_is_wrong(change, reason):
    with pytest.raises(DamagedMatch, match=reason):
        Match.from_dict(tampered(change))


def test_files_of_a_level(tmp_path):
    storage = Storage(tmp_path / "new" / "place")
    assert storage.load_match(NORMAL) is None
    match = played(Terms("normal", seed=3), num_actions=20)
    storage.save_match(match)
    assert storage.load_match(NORMAL).state == match.state
    assert storage.load_match(CRAZY) is None
    assert [file.name for file in storage.directory.iterdir()] == ["match-normal.json"]
    assert storage.notices == []


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"\xff\xfe\x00", b'{"format": 1}', b"[" * 9999, b" " * 16_000_001],
    ids=["empty", "cut", "list", "no text", "no match", "nested", "huge"],
)
def test_a_damaged_save_is_set_aside_and_named(tmp_path, damage):
    storage = Storage(tmp_path)
    file = storage.match_file(NORMAL)
    for number in (1, 2):
        file.write_bytes(damage)
        assert storage.load_match(NORMAL) is None
        aside = tmp_path / f"match-normal.damaged-{number}.json"
        assert aside.read_bytes() == damage
        assert not file.exists()
        assert str(aside) in storage.notices.pop()


def test_a_full_disk_leaves_the_last_save(tmp_path, monkeypatch):
    storage = Storage(tmp_path)
    match = played(Terms("normal", seed=3), num_actions=20)
    storage.save_match(match)
    saved = storage.match_file(NORMAL).read_bytes()
    match.deal_next() if match.hand_over else None

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        storage.save_match(match)
    assert storage.match_file(NORMAL).read_bytes() == saved
    assert [file.name for file in tmp_path.iterdir()] == ["match-normal.json"]


# Records


def result(match="m", outcome="won", level="normal", **figures):
    numbers = {"points": 110, "opponent_points": 40, "hands": 5, "hands_won": 3, "gins": 1}
    numbers |= {"undercuts": 0, "opponent_gins": 0, **figures}
    return MatchResult(match=match, outcome=outcome, level=level, **numbers)


def test_a_match_counts_once_however_often_it_is_closed(tmp_path):
    storage = Storage(tmp_path)
    match = played(Terms("normal", seed=8))
    storage.save_match(match)
    for _ in range(3):  # as after a kill between the result and the removal of the file
        storage.close_match(match)
    assert len(storage.results()) == 1
    counted = storage.results(NORMAL)[0]
    assert counted.outcome in ("won", "lost")
    assert counted.hands == len(match.finished)
    assert counted.gins == sum(
        hand.result in (Result.GIN, Result.BIG_GIN) and hand.knocker == PERSON
        for hand in match.finished
    )
    assert storage.load_match(NORMAL) is None


def test_statistics_add_up_by_level(tmp_path):
    storage = Storage(tmp_path)
    storage.add_result(result("a", "lost", points=20, opponent_points=101))
    storage.add_result(result("b", gins=2))
    storage.add_result(result("c", "given up", hands=1, hands_won=0, gins=0))
    storage.add_result(result("d", points=120, opponent_points=10))
    storage.add_result(result("e", level="easy"))
    found = storage.statistics(NORMAL)
    assert (found.won, found.lost, found.given_up) == (2, 1, 1)
    assert (found.hands, found.hands_won, found.gins) == (16, 9, 4)
    assert (found.best_margin, found.streak) == (110, 2)
    assert Statistics.of([]).won == 0


def test_damaged_results_come_back_from_their_twin(tmp_path):
    storage = Storage(tmp_path)
    storage.add_result(result("a"))
    (tmp_path / "results.json").write_text('{"format": 1, "results": [{"match": 3}]}')
    assert [r.match for r in storage.results()] == ["a"]
    assert "results.damaged-1.json" in storage.notices.pop()
    storage.add_result(result("b"))
    assert [r.match for r in Storage(tmp_path).results()] == ["a", "b"]
    (tmp_path / "results.backup.json").unlink()
    assert [r.match for r in Storage(tmp_path).results()] == ["a", "b"]


@pytest.mark.parametrize(
    "change", [{"outcome": "cheated"}, {"hands": 10**4000}, {"gins": -(10**12)}, {"hands": True}]
)
def test_results_that_cannot_be_are_damage(tmp_path, change):
    storage = Storage(tmp_path)
    match = played(Terms("normal", seed=3), num_actions=20)
    result = dataclasses.asdict(MatchResult.of(match))
    for name in ("results.json", "results.backup.json"):
        content = {"format": 1, "results": [result | change]}
        (tmp_path / name).write_text(json.dumps(content))
    assert storage.results() == []
    assert len(storage.notices) == 2


def test_settings_are_kept(tmp_path):
    assert Storage(tmp_path).settings() == Settings(sound=True)
    Storage(tmp_path).save_settings(Settings(sound=False))
    assert Storage(tmp_path).settings() == Settings(sound=False)
    (tmp_path / "settings.json").write_text("{}")
    assert Storage(tmp_path).settings() == Settings()


# Levels


def test_levels_by_name():
    assert level(" Hard ").name == "Hard"
    with pytest.raises(ValueError, match=r"unknown level 'hrad', did you mean 'hard'\?"):
        level("hrad")


def test_a_level_that_is_no_file():
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="there is no checkpoint"):
        level("nowhere.pt")


# The hand


def lay(text):
    arrangement = Arrangement()
    arrangement.update(int(cards.parse(text)))
    return arrangement


def shown(arrangement):
    """Trays in brackets."""
    words = [(" ".join(map(cards.name, g.cards)), g.is_meld) for g in arrangement.groups()]
    return " ".join(f"[{text}]" if is_meld else text for text, is_meld in words)


def test_melds_lie_on_trays_and_loose_cards_follow_by_rank():
    hand = lay("Kd 5s 6s 7s 9c 9h 9d 2h Qc Ah")
    assert shown(hand) == "[5s 6s 7s] [9h 9d 9c] Ah 2h Qc Kd"


def test_cards_moved_by_hand_stay_where_they_were_laid():
    hand = lay("Kd 5s 6s 7s 9c 9h 9d 2h Qc Ah")
    hand.move(cards.card("Kd"), 0)
    hand.move(cards.card("6s"), 9)
    assert shown(hand) == "Kd 5s 7s [9h 9d 9c] Ah 2h Qc 6s"
    hand.update(int(cards.parse("Kd 5s 6s 7s 9c 9h 9d 2h 3d Ah")))  # the queen for a three
    assert shown(hand) == "Kd 5s 7s [9h 9d 9c] Ah 2h 6s 3d"
    hand.sort()
    assert shown(hand) == "[5s 6s 7s] [9h 9d 9c] Ah 2h 3d Kd"


# The coach


def test_outs_are_the_unseen_cards_that_enter_a_meld():
    """5♠ 6♠ wait for 4♠ and 7♠, 9♥ 9♦ for a nine; 9♣ is not unseen."""
    hand, unseen = cards.parse("5s 6s 9h 9d Kc"), cards.parse("4s 7s 9s Ks 2d 8h")
    assert [cards.name(c) for c in coach.outs(int(hand), int(unseen))] == ["4s", "7s", "9s"]


def test_the_coach_knows_no_more_than_the_person():
    match = played(Terms("normal", seed=2), num_actions=8)
    while not match.person_to_move:
        match.act(match.opponent_action(NORMAL.policy))
    twin = resample_hidden(match.state, np.random.default_rng(9), PERSON)
    one, other = (
        coach.advise(state, CRAZY, PERSON, np.random.default_rng(1))
        for state in (match.state, twin)
    )
    assert [(c.action, c.probability) for c in one.choices] == [
        (c.action, c.probability) for c in other.choices
    ]
    facts = [(a.outs, a.num_unseen, a.known, a.discarded, a.declined) for a in (one, other)]
    assert facts[0] == facts[1]
    assert one.known == tuple(cards.ids(match.seen.opponent_known[0]))


def test_the_coach_goes_gin():
    """One card from gin with the card in hand: every re-deal ends at once, 25 points or more."""
    hand = "As 2s 3s 4h 5h 6h 7c 8c 9c Tc Kd"
    deck = np.arange(52)
    state = engine.deal(None, 1, dealer=OPPONENT, decks=deck)
    engine.step(state, [105])
    mine = cards.parse(hand)
    state.hands[0, 0] = mine
    taken = cards.ids(cards.FULL_DECK & ~mine)
    state.hands[0, 1] = cards.pack(taken[:10])
    state.drawn[0], state.known[0] = cards.card("As"), 0
    state.in_pile[0], state.upcard[0], state.pile_size[0] = 0, -1, 0
    state.stock_start[0] = 21
    state.deck[0] = [*cards.ids(mine), *taken]
    advice = coach.advise(state, CRAZY, PERSON, np.random.default_rng(1))
    best = advice.choices[0]
    assert best.action == 52 + cards.card("Kd")
    assert best.probability == 1.0
    assert best.points > 25
    assert advice.value is None


def test_a_network_explains_itself(tmp_path):
    torch = pytest.importorskip("torch")
    from agents import checkpoint
    from agents.network import Network, NetworkConfig

    torch.manual_seed(1)
    content = checkpoint.pack_policy(Network(NetworkConfig(8, 1)), "float32")
    checkpoint.save(tmp_path / "net.pt", {**content, "config": {"points_scale": 50.0}})
    learned = level(str(tmp_path / "net.pt"))
    match = Match.start(Terms(learned.key, seed=2), OPPONENT)
    advice = coach.advise(match.state, learned, PERSON, np.random.default_rng(1))
    assert sum(choice.probability for choice in advice.choices) == pytest.approx(1)
    probabilities, value = learned.policy.explain(match.seen)
    assert advice.choices[0].probability == pytest.approx(probabilities.max())
    assert advice.value == pytest.approx(50 * value[0])
