"""The trainer's command as a user types it, in this process, on the smallest run there is."""

from agents import cli_train
from tests.tiny import A_ROLLOUT, words

EVALUATED = {"eval_every": 5 * A_ROLLOUT}


def train(*arguments):
    """Its exit status."""
    return cli_train.main([str(argument) for argument in arguments])


def start(run_dir, *arguments, **changes):
    """The same for a run of its own, some keys changed."""
    return train(*words(run_dir=run_dir, **changes), *arguments)


def one_line(capsys):
    """What was said to a user who made a mistake."""
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert said.err.count("\n") == 1 and said.err.startswith("train.py: ")
    return said.err
