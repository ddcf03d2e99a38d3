"""The report page: its figures, what must not break out of it, and the page in a real browser."""

import json
import re
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from agents import cli_evaluate, evaluation, report
from agents.cli_evaluate import main
from agents.evaluation import Comparison, Plan
from agents.html_report import PlayReport, assemble
from agents.players import player
from agents.scripted import greedy
from ginenv.rules import DRAW_STOCK, NUM_ACTIONS, TAKE_PILE
from tests.browser import CHROMIUM, NO_CHROMIUM, Browser


class Explained:
    """Greedy, and what it says of itself: mostly its choice, and the rest shared out evenly."""

    points_scale = 10.0

    def __call__(self, view, rng):
        return greedy(view, rng)

    def explain(self, view):
        probabilities = view.action_mask / view.action_mask.sum(axis=1, keepdims=True) / 4
        probabilities[np.arange(len(view)), greedy(view, None)] += 0.75
        return probabilities.astype(np.float32), np.linspace(-1, 1, len(view), dtype=np.float32)


def report_on(policies, num_hands=40, num_games=2):
    """The page of the first policy against the others, and the figures in it."""
    plan = Plan(num_hands, num_games, seed=5)
    made = PlayReport(plan, "standard")
    first = next(iter(policies))
    for name in list(policies)[1:] or [first]:
        comparison = Comparison(first, name)
        evaluation.measure(comparison, policies, plan, recorder=made.watch(comparison))
        made.pick_hands(policies)
    text = made.page()
    return text, content_of(text)


def content_of(text):
    return json.loads(re.search(r'<script type="application/json" id="content">(.*?)<', text)[1])


@pytest.fixture(scope="module")
def page():
    return report_on({"clever": Explained(), "greedy": greedy, "crazy": player("crazy")})


def test_the_figures_are_those_of_the_play(page):
    _, content = page
    assert [one["opponent"] for one in content["pairings"]] == ["greedy", "crazy"]
    for one in content["pairings"]:
        found = one["statistics"]
        assert found["hands"] == sum(count for _, count in found["points"])
        assert found["hands"] == sum(map(sum, found["endings"].values()))
        assert one["result"]["hands"] == 40
        assert one["result"]["matches"] == 2
        assert "±" in one["result"]["points"]


def test_sample_hands_are_whole_games_of_cards(page):
    _, content = page
    for one in content["pairings"]:
        assert len(one["hands"]) == 12
        assert len({hand["result"] for hand in one["hands"]}) > 1  # picked for variety
        for hand in one["hands"]:
            assert hand["steps"][-1]["mover"] is None
            assert (hand["winner"] is None) == (hand["points"] == 0)
            for step in hand["steps"]:
                held = [
                    card
                    for side in step["hands"]
                    for group in (*side["melds"], side["loose"], side["laid"])
                    for card in group
                ]
                down = [step["down"]] if step["down"] >= 0 else []
                shown = [*held, *step["pile"], *down]
                assert len(set(shown)) == len(shown)
                assert len(shown) + step["stock"] == 52
                for side in step["hands"]:
                    assert {*side["known"]} <= {*held}
            for before, after in zip(hand["steps"][:-1], hand["steps"][1:], strict=True):
                if before["action"] in (DRAW_STOCK, TAKE_PILE):
                    mine = after["hands"][before["mover"]]
                    everything = [*chain(*mine["melds"]), *mine["loose"]]
                    assert len(everything) == 11
                    assert before["drawn"][0] in everything


def test_who_explains_himself_shows_probabilities_and_values_in_points(page):
    _, content = page
    for hand in content["pairings"][0]["hands"]:
        assert hand["unit"] == "points"
        for step in hand["steps"][:-1]:
            assert ("probabilities" in step) == ("value" in step) == (step["mover"] == 0)
            if step["mover"] == 0:
                actions = [action for action, _ in step["probabilities"]]
                assert step["action"] == actions[0]
                assert all(0 <= action < NUM_ACTIONS for action in actions)
                assert -10 <= step["value"] <= 10
        values = [step["value"] for step in hand["steps"] if "value" in step]
        assert len(values) == 1 or (values[0], values[-1]) == (-10, 10)


def test_a_player_who_meets_himself():
    _, content = report_on({"greedy": greedy}, num_games=0)
    found = content["pairings"][0]["statistics"]
    assert found["sides"] == 1
    assert len(found["deadwood"]) == 1
    assert sum(count for _, count in found["points"]) == 40


HOSTILE = "</script><script>alert(1)</script><!--{{style}}&amp;\u2028"


def test_no_name_breaks_out_of_the_page():
    text, content = report_on({HOSTILE: greedy, "greedy": greedy}, num_hands=4, num_games=0)
    assert "alert(1)</script>" not in text
    assert text.count("</script>") == 2
    assert content["player"] == report.short(HOSTILE)
    text = assemble(HOSTILE, {"player": HOSTILE, "{{content}}": "{{script}}"})
    assert text.count("</script>") == 2
    assert content_of(text) == {"player": HOSTILE, "{{content}}": "{{script}}"}


def test_the_page_needs_nothing_else(page):
    text, _ = page
    assert not re.search(
        r"""(src|href)=["'](?!data:)|@import|url\((?!data:)|fetch\(|\bimport\b""", text
    )
    assert "default-src 'none'" in text


# The command line


def test_report_is_an_option_of_the_referee(tmp_path, capsys):
    path = tmp_path / "report.html"
    words = ["greedy", "--opponent", "easy", "--hands", "20", "--games", "0", "--rules", "straight"]
    assert main([*words, "--report", str(path)]) == 0
    content = content_of(path.read_text(encoding="utf-8"))
    assert content["rules"] == "straight"
    assert content["pairings"][0]["statistics"]["endings"]["knock"] == [0, 0, 0]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--round-robin", "greedy", "easy"], "does not go with --round-robin"),
        (["greedy", "--report", "/nowhere/at/all.html"], "cannot write"),
    ],
)
def test_reports_that_cannot_be(words, reason, tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*words, *([] if "--report" in words else ["--report", str(tmp_path / "a.html")])])
    assert stopped.value.code == 2
    assert reason in capsys.readouterr().err


# In a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def address(page, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page[0], encoding="utf-8")
    return path.as_uri()


def test_a_browser_draws_every_chart_and_asks_for_nothing(browser, address):
    browser.resize(1280, 900)
    browser.open(address)
    charts = browser.run(
        "[...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('rect, path').length)"
    )
    assert len(charts) == 9
    assert min(charts) > 0
    assert browser.text("#title") == "How clever plays"
    assert "undefined" not in browser.run("document.body.innerText")
    assert "NaN" not in browser.run("document.body.innerHTML")
    assert browser.complaints == []


def test_stepping_through_a_hand(browser, address, page):
    hand = page[1]["pairings"][0]["hands"][2]
    browser.resize(1280, 900)
    browser.open(f"{address}#hand=3&step=1")
    for number, step in enumerate(hand["steps"][1:-1], start=1):
        assert browser.text(".controls output") == f"{number} / {len(hand['steps']) - 1}"
        assert step["says"] in browser.text(".says")
        shown = browser.run(
            "[...document.querySelectorAll('.who .deadwood')].map(d => d.textContent)"
        )
        assert shown == [f"deadwood {step['hands'][side]['deadwood']}" for side in (1, 0)]
        bars = browser.run("document.querySelectorAll('.actions .bar').length")
        assert bars == len(step.get("probabilities", []))
        assert browser.run("document.querySelectorAll('.actions .chosen').length") == 1
        browser.press("ArrowRight") if number % 2 else browser.click("#next")
    assert "points" in browser.text(".says")
    assert browser.run("document.querySelector('#next').disabled")
    browser.press("Home")
    assert browser.text(".controls output").startswith("0 /")
    browser.click("#hand-list button:nth-child(5)")
    assert browser.run("location.hash") == "#opponent=0&hand=5&step=0"
    assert browser.complaints == []


def test_the_other_opponent_and_the_other_view_of_knocks(browser, address, page):
    browser.resize(1280, 900)
    browser.open(f"{address}#opponent=1&hand=1&step=2")
    assert browser.text("#legend .b") == "crazy"
    assert browser.text("#curve svg") is not None
    before = browser.run("document.querySelector('#knocks').innerHTML")
    browser.click("#knock-choice button:nth-child(2)")
    assert browser.run("document.querySelector('#knocks').innerHTML") != before
    browser.click("#opponents button:nth-child(1)")
    assert browser.text("#legend .b") == "greedy"
    assert browser.run("location.hash") == "#opponent=0&hand=1&step=0"


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_sticks_out(browser, address, width):
    browser.resize(width, 800, phone=width < 500)
    browser.open(f"{address}#hand=2&step=5")
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_a_hostile_name_is_only_text(browser, tmp_path):
    name = "<img src=x onerror=document.title='broken'>"
    text, _ = report_on({name: greedy, "greedy": greedy}, num_hands=4, num_games=0)
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    browser.open(path.as_uri())
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert "<img" in browser.text("#title")
    assert browser.complaints == []


def test_the_manual_names_every_option():
    manual = (Path(__file__).parent.parent / "docs/evaluation.md").read_text(encoding="utf-8")
    help_text = cli_evaluate._parser().format_help()
    for option in sorted(set(re.findall(r"--[a-z-]+", help_text)) - {"--help"}):
        assert f"`{option}" in manual, option
