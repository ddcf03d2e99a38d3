"""What is said where an extra is not installed: the command that installs it.

The extras `play` and `export` are in the tests of their commands, `render` as a render mode in
`test_render.py`.
"""

import json
import sys

import pytest

import ginenv
from ginenv import adapter, benchmark, film, peers


def test_a_film_without_pillow(tmp_path, monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "ginenv.picture", raising=False)
    monkeypatch.delattr(ginenv, "picture", raising=False)
    monkeypatch.setattr(adapter, "version", lambda package: "9.0")
    assert film.main([str(tmp_path / "game.gif")]) == 2
    assert "found pillow 9.0: pip install 'ginenv[render]'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--no-peers"]])
def test_a_benchmark_without_others_to_compare_with(arguments, monkeypatch, capsys):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    monkeypatch.setattr(benchmark, "GAMES", 64)
    monkeypatch.setattr(benchmark, "SIZES", ())
    quick = ["--rounds", "1", "--seconds", "0.001", "--json"]
    assert benchmark.main([*quick, *arguments]) == 0
    told = capsys.readouterr()
    assert ("pip install 'ginenv[peers]'" in told.err) == (arguments == [])
    assert all(figure["median"] > 0 for figure in json.loads(told.out)["figures"])
