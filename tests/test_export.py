"""Exported policies say what the policy says, or are not there at all."""

import json
import os
import re
import resource
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from agents import checkpoint, export, run_log
from agents.export import ExportError
from agents.inputs import observe
from agents.network import LearnedPolicy, Network, NetworkConfig
from agents.players import play, player
from agents.symmetry import restore
from ginenv import engine, opponents
from ginenv.view import view

PAGE = Path(__file__).parent.parent / "docs" / "export.md"
MISSING = [name for name in ("onnx", "onnxscript", "onnxruntime") if find_spec(name) is None]
needs_onnx = pytest.mark.skipif(bool(MISSING), reason="needs the extra export")
KINDS = [pytest.param("onnx", marks=needs_onnx), "torchscript"]


def opinionated(network):
    """Weights large enough for sharp preferences, as after a training."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weights in network.parameters():
            weights.copy_(0.2 * torch.randn(weights.shape, generator=generator))
    return network


@pytest.fixture(scope="module")
def policy():
    """With random opinions, but it throws what leaves little deadwood, and knocks."""
    network = opinionated(Network(NetworkConfig(hidden_size=32)))
    with torch.no_grad():
        network.card_rule[-5] = -20
        network.policy.bias[52:104] = 6
        network.policy.bias[104] = 2  # rather the stock than the pile
    return LearnedPolicy(network, points_scale=40.0)


@pytest.fixture(scope="module")
def positions():
    """The inputs of 1,000 decisions at all stages of a hand."""
    rng = np.random.default_rng(1)
    state = engine.deal(rng, 250)
    seen = []
    for step in range(80):
        if step % 20 == 19:
            seen.append(observe(view(state))[:2])
        outcome = engine.step(state, player("greedy")(view(state), rng))
        engine.redeal(state, outcome.hand_over, rng)
    observations, masks = zip(*seen, strict=True)
    return torch.cat(observations), torch.cat(masks)


@pytest.fixture(scope="module")
def exported(policy, tmp_path_factory):
    """Writes each format once: a function from a format to its file."""
    place, written = tmp_path_factory.mktemp("exported"), {}

    def file(kind):
        if kind not in written:
            written[kind] = place / f"policy{export.SUFFIXES[kind]}"
            export.export(policy, written[kind], kind)
        return written[kind]

    return file


@pytest.fixture
def few_pairs(monkeypatch):
    """The check plays few hands: what it says of them is tested elsewhere."""
    monkeypatch.setattr(export, "PAIRS", 8)


@pytest.fixture
def saved(tmp_path, policy, few_pairs):
    """A checkpoint of the policy, with a file beside it that is none."""
    path = tmp_path / "run" / "best.pt"
    path.parent.mkdir()
    content = checkpoint.pack_policy(policy.network, "float32")
    checkpoint.save(path, {**content, "config": {"points_scale": 40.0}})
    (tmp_path / "notes.txt").write_text("no policy")
    return path


class Loaded:
    """An exported file as a player, read as its user would."""

    def __init__(self, path):
        if path.suffix == ".onnx":
            import onnxruntime

            self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
            self.about = self.session.get_modelmeta().custom_metadata_map["ginenv"]
        else:
            found = {"ginenv.json": ""}
            self.script = torch.jit.load(path, _extra_files=found)
            self.about = found["ginenv.json"]
            self.session = None

    def says(self, observation, mask):
        if self.session is not None:
            asked = {"observation": observation.numpy(), "mask": mask.numpy()}
            return self.session.run(["log_probs", "value"], asked)
        with torch.no_grad():
            return [said.numpy() for said in self.script(observation, mask)]

    def __call__(self, seen, rng):
        observation, mask, suits = observe(seen)
        log_probs, _ = self.says(observation, mask)
        return restore(log_probs.argmax(axis=1), suits)


# What the file says


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_what_the_network_says(kind, exported, policy, positions):
    with torch.no_grad():
        wanted = [said.numpy() for said in policy.network(*positions)]
    log_probs, value = Loaded(exported(kind)).says(*positions)
    assert (log_probs.dtype, value.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(log_probs, wanted[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(value, wanted[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_illegal_actions_are_exactly_impossible(kind, exported, positions):
    observation, mask = positions
    log_probs, _ = Loaded(exported(kind)).says(observation, mask)
    assert (np.isneginf(log_probs) == ~mask.numpy()).all()
    np.testing.assert_allclose(np.exp(log_probs).sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_it_takes_any_number_of_positions(kind, size, exported, positions):
    loaded = Loaded(exported(kind))
    log_probs, value = loaded.says(*(part[:size] for part in positions))
    assert (log_probs.shape, value.shape) == ((size, 108), (size,))
    everything = loaded.says(*positions)
    np.testing.assert_allclose(log_probs, everything[0][:size], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(value, everything[1][:size], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_it_plays_as_the_policy_plays(kind, exported, policy):
    """Of two equal players that draw no random numbers, each wins what the other wins."""
    tally = play(Loaded(exported(kind)), policy, num_pairs=20, seed=3)
    assert (tally.points.sum(axis=1) == 0).all()
    assert tally.points.any()


@pytest.mark.parametrize("kind", KINDS)
def test_what_one_needs_to_know_is_in_the_file(kind, exported, policy, positions):
    about = json.loads(Loaded(exported(kind)).about)
    assert about["points_scale"] == 40.0
    assert about["observation_size"] == positions[0].shape[1]
    assert about["network_config"] == vars(policy.network.config)
    assert [about["observation"], about["observation_size"]] == checkpoint.pack_policy(
        policy.network, "float32"
    )["observation"]


@needs_onnx
def test_onnx_does_not_tell_where_it_was_made(exported):
    assert str(Path(export.__file__).parent).encode() not in exported("onnx").read_bytes()


# What does not say the same is not written


class Moody(Network):
    """Thinks better of everything each time it is asked."""

    asked = 0

    def forward(self, observation, mask):
        self.asked += 1
        log_probs, value = super().forward(observation, mask)
        return log_probs, value + 0.001 * self.asked


class OfOneSize(Network):
    """Remembers how many positions it was shown when it was traced."""

    def forward(self, observation, mask):
        log_probs, value = super().forward(observation, mask)
        return log_probs, value + torch.zeros(len(observation))


@pytest.mark.parametrize(
    ("network", "reason"),
    [(Moody, "differs from the policy by"), (OfOneSize, "cannot be written as TorchScript")],
)
def test_a_file_that_says_something_else_is_not_kept(network, reason, tmp_path, few_pairs):
    path = tmp_path / "policy.ts"
    path.write_text("kept")
    with pytest.raises(ExportError, match=reason):
        export.export(LearnedPolicy(network(NetworkConfig(hidden_size=4))), path, "torchscript")
    assert os.listdir(tmp_path) == ["policy.ts"] and path.read_text() == "kept"


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(kind, tmp_path, policy, few_pairs):
    path = tmp_path / "policy"
    path.write_text("kept")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OSError, match="cannot write") as caught:
            export.export(policy, path, kind)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert str(path) in str(caught.value)
    assert os.listdir(tmp_path) == ["policy"] and path.read_text() == "kept"


# The command


def refusal(capsys, *arguments):
    """The one line that is said about a command line that cannot work."""
    with pytest.raises(SystemExit) as caught:
        export.main(arguments)
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_a_checkpoint_is_exported_beside_itself(saved, capsys):
    assert export.main([str(saved), "--format", "torchscript"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"best\.ts: [\d,]+ bytes, within \S+ of the policy\n$", said)
    assert Loaded(saved.with_name("best.ts")).about


def test_a_run_is_exported_by_its_best_policy(saved, capsys, positions):
    checkpoint.save(saved.with_name("latest.pt"), {"in": "the middle of training"})
    assert export.main([str(saved.parent), "--format", "torchscript"]) == 0
    assert sorted(os.listdir(saved.parent)) == ["best.pt", "latest.pt", "policy.ts"]


def test_a_run_is_known_by_the_files_that_training_leaves(saved):
    names = [run_log.POLICY, run_log.BEST, run_log.LATEST]
    for name in reversed(names):
        saved.rename(saved.with_name(name))
        saved = saved.with_name(name)
        assert isinstance(player(str(saved.parent)), LearnedPolicy)


def test_a_name_is_exported_here(policy, tmp_path, few_pairs, monkeypatch, capsys):
    monkeypatch.setitem(opponents._factories, "champion", lambda: policy)
    monkeypatch.chdir(tmp_path)
    assert export.main(["champion", "--format", "torchscript"]) == 0
    assert os.listdir() == ["champion.ts"]


def test_what_has_no_network_is_refused(saved, capsys, monkeypatch):
    monkeypatch.chdir(saved.parent.parent)
    scripted = ["--format", "torchscript"]
    assert "no learned policy" in refusal(capsys, "crazy", *scripted)
    assert "no learned policy" in refusal(capsys, f"cmd:{sys.executable}", *scripted)
    assert "did you mean 'crazy'?" in refusal(capsys, "crasy", *scripted)
    assert "there is no checkpoint none.pt" in refusal(capsys, "none.pt", *scripted)
    assert "notes.txt is no checkpoint" in refusal(capsys, "notes.txt", *scripted)
    assert ". is a directory, not a checkpoint" in refusal(capsys, ".", *scripted)


def test_a_place_that_cannot_be_written_is_refused(saved, capsys):
    words = [str(saved), "--format", "torchscript", "--output"]
    assert "there is no directory" in refusal(capsys, *words, str(saved / "policy.ts"))
    assert "it is a directory" in refusal(capsys, *words, str(saved.parent))
    assert "it is the policy itself" in refusal(capsys, *words, str(saved))
    assert os.listdir(saved.parent) == ["best.pt"]


def test_an_unknown_format_is_refused(saved, capsys, policy, tmp_path):
    assert "'onnx', 'torchscript'" in refusal(capsys, str(saved), "--format", "onyx")
    with pytest.raises(ExportError, match=r"unknown format 'onyx'\. Known: onnx, torchscript"):
        export.export(policy, tmp_path / "p.onyx", "onyx")


def test_a_difference_is_told_by_the_exit_status(saved, capsys, monkeypatch):
    monkeypatch.setattr(export, "TOLERANCE", -1.0)
    assert export.main([str(saved), "--format", "torchscript"]) == 1
    assert "was not kept" in capsys.readouterr().err
    assert os.listdir(saved.parent) == ["best.pt"]


def test_without_the_extra_the_remedy_is_told_and_torchscript_works(saved, capsys, monkeypatch):
    for name in ("onnx", "onnxscript", "onnxruntime"):
        monkeypatch.setitem(sys.modules, name, None)
    said = refusal(capsys, str(saved))
    assert "needs onnx, onnxscript, onnxruntime: pip install 'ginenv[export]'" in said
    assert export.main([str(saved), "--format", "torchscript"]) == 0


# The page


@needs_onnx
def test_the_python_on_the_page_runs(exported, tmp_path, monkeypatch, capsys):
    (tmp_path / "pretrained.onnx").write_bytes(exported("onnx").read_bytes())
    (tmp_path / "pretrained.ts").write_bytes(exported("torchscript").read_bytes())
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), {})
