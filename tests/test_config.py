"""The configuration: what it accepts, and what it says about the rest."""

import dataclasses
import random

import pytest
import yaml

from agents import config as configs
from agents.config import Config, ConfigError, coerce, dump, load

FIELDS = {field.name: field for field in dataclasses.fields(Config)}


def written(tmp_path, text):
    path = tmp_path / "some.yaml"
    path.write_text(text)
    return path


def refusal(what, *args, **kwargs):
    """The one line that is said about something that cannot be used."""
    with pytest.raises(ConfigError) as caught:
        what(*args, **kwargs)
    line = str(caught.value)
    assert "\n" not in line
    return line


# Accepted


def test_no_file_and_no_overrides_give_the_defaults():
    assert load(None, {}) == Config()


def test_an_empty_file_gives_the_defaults(tmp_path):
    assert load(written(tmp_path, "# nothing yet\n"), {}) == Config()


def test_overrides_come_after_the_file(tmp_path):
    path = written(tmp_path, "seed: 7\nnum_games: 512\n")
    config = load(path, {"seed": "8"})
    assert (config.seed, config.num_games) == (8, 512)


@pytest.mark.parametrize("written_as", ["5e6", "5E6", "5.0e6", "5_000_000", "5000000", "5000000.0"])
def test_whole_numbers_may_be_written_in_any_way(tmp_path, written_as):
    for config in (
        load(written(tmp_path, f"total_decisions: {written_as}\n"), {}),
        load(None, {"total_decisions": written_as}),
    ):
        assert config.total_decisions == 5_000_000
        assert type(config.total_decisions) is int


def test_a_fraction_may_be_a_whole_number_and_an_exponent_needs_no_point(tmp_path):
    config = load(written(tmp_path, "max_grad_norm: 1\nlearning_rate: 3e-4\n"), {})
    assert (config.max_grad_norm, config.learning_rate) == (1.0, 3e-4)
    assert type(config.max_grad_norm) is float


@pytest.mark.parametrize("names", ["[greedy, crazy]", "greedy, crazy", "greedy crazy"])
def test_names_may_be_a_list_or_words(tmp_path, names):
    assert load(written(tmp_path, f"opponents: {names}\n"), {}).opponents == ("greedy", "crazy")


def test_no_opponents_where_none_are_wanted():
    config = Config(opponents=(), opponent_share=0.0)
    assert config.opponents == ()


def another(name, rng):
    """A value that the key may have and that is not its default."""
    default = FIELDS[name].default
    if name == "rules":
        return "oklahoma"
    if name == "precision":
        return "float32"
    if name == "critic":
        return "own_view"
    if isinstance(default, bool):
        return not default
    if isinstance(default, tuple):
        return ("easy", "cmd:./my_bot")
    if isinstance(default, str):
        return "elsewhere"
    low, _ = configs._RANGES[name]
    return max(low, default + 1) if isinstance(default, int) else rng.uniform(low, 0.5)


@pytest.mark.parametrize("name", FIELDS)
def test_what_is_dumped_loads_back_equal_key_by_key(tmp_path, name):
    changed = another(name, random.Random(name))
    needed = {"imitate": "crazy"} if name == "imitate_decisions" else {}
    config = Config(**{name: changed, **needed})
    assert getattr(config, name) == changed != FIELDS[name].default
    assert load(written(tmp_path, dump(config)), {}) == config
    assert yaml.safe_load(dump(config)).keys() == FIELDS.keys()


def test_every_number_has_a_range():
    numbers = {name for name, f in FIELDS.items() if type(f.default) in (int, float)}
    assert configs._RANGES.keys() == numbers


# Refused


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("lerning_rate", "learning_rate"),
        ("total_timesteps", "total_decisions"),
        ("num_game", "num_games"),
        ("Seed", "seed"),
        ("ent-coef", "ent_coef"),
    ],
)
def test_an_unknown_key_names_the_nearest(tmp_path, typed, meant):
    for line in (
        refusal(load, written(tmp_path, f"{typed}: 1\n"), {}),
        refusal(load, None, {typed: "1"}),
    ):
        assert f"unknown key {typed!r}, did you mean {meant}?" in line


def test_an_unknown_key_like_no_other_gets_them_all():
    line = refusal(coerce, "zzzz", 1)
    assert "did you mean" not in line
    assert all(name in line for name in FIELDS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", True),
        ("seed", 1.5),
        ("seed", "1.5"),
        ("seed", "one"),
        ("seed", ""),
        ("seed", None),
        ("seed", [1]),
        ("seed", float("inf")),
        ("seed", "1e999"),
        pytest.param("seed", "9" * 5000, id="seed-huge"),
        ("gamma", "high"),
        ("gamma", False),
        ("gamma", "nan"),
        ("gamma", "inf"),
        ("gamma", None),
        pytest.param("learning_rate", 10**400, id="learning_rate-huge"),
        ("learning_rate", {"first": 1}),
        ("device", 0),
        ("rules", None),
        ("opponents", 3),
        ("opponents", ["greedy", 3]),
        ("opponents", {"greedy": 1}),
    ],
)
def test_a_wrong_type_says_what_is_wanted(name, value):
    kinds = {int: "a whole number", float: "a number", str: "text", tuple: "a list of names"}
    line = refusal(Config, **{name: value})
    assert line.startswith(f"{name} must be {kinds[type(FIELDS[name].default)]}")


@pytest.mark.parametrize("name", configs._RANGES)
def test_a_number_out_of_range_says_the_range(name):
    low, high = configs._RANGES[name]
    kind = type(FIELDS[name].default)
    for outside in (kind(low) - 1, kind(high) * 2 + 1):
        line = refusal(Config, **{name: outside})
        assert line.startswith(f"{name} must lie in {low:g} to {high:g}, got ")


def test_a_number_beyond_all_bounds_is_out_of_range():
    assert "seed must lie in" in refusal(Config, seed=10**400)


@pytest.mark.parametrize("name", ["rules", "precision"])
def test_a_choice_names_the_choices(name):
    right = FIELDS[name].default
    line = refusal(Config, **{name: right + "s"})
    assert f"{name} must be one of" in line and f"did you mean {right!r}?" in line


def test_a_minibatch_larger_than_the_rollout():
    line = refusal(Config, num_games=8, num_steps=4, minibatch_size=33)
    assert "33 is larger than a rollout of num_games x num_steps = 32" in line
    assert "lower it" in line
    Config(num_games=8, num_steps=4, minibatch_size=32)


def test_a_share_of_games_against_nobody():
    line = refusal(Config, opponents=(), opponent_share=0.1)
    assert "opponent_share needs opponents: name some, or set it to 0" in line


def test_more_than_all_games():
    line = refusal(Config, opponent_share=0.6, past_self_share=0.41)
    assert "must add up to at most 1" in line
    Config(opponent_share=0.6, past_self_share=0.4)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- seed\n- 3\n", "must hold 'key: value' lines, not list"),
        ("seed\n", "must hold 'key: value' lines, not str"),
        ("seed: [1\nnum_games: 2\n", "is no plain YAML"),
        ("seed: 'open\n", "is no plain YAML"),
        ("seed: !!python/object/apply:os.getcwd []\n", "is no plain YAML"),
        ("seed: 2020-99-99\n", "is no plain YAML"),
        ("seed: \0\n", "is no plain YAML"),
        ("seed: !!timestamp 'x'\n", "a tag (!) in line 1"),
        ("seed: !!int '3'\n", "a tag (!) in line 1"),
        ("a: &a [1]\nb: 3\n", "an anchor (&) in line 1"),
        ("b: 3\na: *a\n", "an alias (*) in line 2"),
        ("seed: " + "[" * 3000 + "]" * 3000 + "\n", "nested too deeply"),
        ("seed: " + "[" * 90_000 + "\n", "nested too deeply"),  # would take minutes to read
        ("seed: " + "{a: " * 20_000 + "\n", "nested too deeply"),
        ("".join(" " * n + "a:\n" for n in range(60)), "nested too deeply"),
        ("".join(" " * n + "- \n" for n in range(60)), "nested too deeply"),
        ("seed: " + "[" * 51 + "]" * 51 + "\n", "nested too deeply"),
        ("seed: " + "[" * 49 + "]" * 49 + "\n", "seed must be a whole number"),
        ("seed: [" + "1, " * 3000 + "1]\n", "got [1, 1, 1, 1, 1, 1, ...]"),
        ("seed: '" + "9" * 9000 + "'\n", "seed must be a whole number"),
        ("x" * 900 + ": 1\n", "unknown key 'xxx"),
        ("# " + "x" * 100_000 + "\nseed: 3\n", "more than 100000 bytes"),
        ("1: 2\n", "unknown key '1'"),
        ("seed:\n", "seed must be a whole number"),
    ],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path, text, says):
    path = written(tmp_path, text)
    line = refusal(load, path, {})
    assert line.startswith(f"{path}") and says in line


def test_a_file_in_another_encoding(tmp_path):
    path = tmp_path / "latin.yaml"
    path.write_bytes("run_dir: übung\n".encode("latin-1"))
    assert f"{path} is no plain YAML" in refusal(load, path, {})


def test_a_file_that_is_not_there_and_a_directory(tmp_path):
    assert "cannot read" in refusal(load, tmp_path / "none.yaml", {})
    assert f"cannot read {tmp_path}" in refusal(load, tmp_path, {})
