"""Mechanisms: every document is the one that the command line prints, bit for bit."""

import os
import signal

import mechreduce
import numpy as np
import pytest
from mechreduce._arrays import numeric

TIMES = {"seconds", "call_seconds", "evaluated"}


def same(found, expected, path=""):
    """Equal documents: numbers by their bits."""
    if isinstance(expected, dict):
        assert set(found) == set(expected), path
        for key, entry in expected.items():
            same(found[key], entry, f"{path}.{key}")
    elif isinstance(expected, np.ndarray):
        # Matrices without rows have no length in JSON.
        assert expected.size == np.size(found), path
        assert np.array_equal(np.reshape(found, expected.shape), expected), path
    elif isinstance(expected, list):
        assert len(found) == len(expected), path
        for i, (a, b) in enumerate(zip(found, expected)):
            same(a, b, f"{path}[{i}]")
    else:
        assert found == expected, path


def test_validate(cli, four_bar):
    mechanism = mechreduce.Mechanism.load(four_bar.file)
    same(mechanism.validate(), numeric(cli.json("validate", four_bar.file)))
    at = cli.json("validate", four_bar.file, "--at", "0.3")
    same(mechanism.validate(at=[0.3]), numeric(at))
    assert repr(mechanism) == "<mechreduce.Mechanism four_bar: 3 bodies, 4 joints, actuated theta>"


@pytest.mark.parametrize("theta", [-1.2, 0.3, 0.81])
def test_local(cli, four_bar, theta):
    mechanism = mechreduce.Mechanism.load(four_bar.file)
    expected = cli.json("local", four_bar.file, f"--at={theta}", "--frequencies", "4")
    same(mechanism.local([theta], frequencies=4), numeric(expected))
    moved = cli.json("local", four_bar.file, f"--at={theta}", "--rate", "2", "--accel=-3")
    same(mechanism.local([theta], rate=[2], accel=[-3]), numeric(moved))


def test_local_takes_leading_axes(orthoglide):
    mechanism = mechreduce.Mechanism.load(orthoglide.file)
    theta = np.linspace(-0.07, 0.25, 18).reshape(2, 3, 3)
    together = mechanism.local(theta, jobs=2)
    assert together["mass"].shape == (2, 3, 3, 3)
    for i in np.ndindex(2, 3):
        alone = mechanism.local(theta[i])
        for key in ("mass", "gyroscopic", "gravity", "locked_frequencies_hz"):
            assert np.array_equal(together[key][i], alone[key]), key
        output = mechanism.output_names[0]
        for part in ("position", "rotation", "jacobian"):
            assert np.array_equal(together["outputs"][output][part][i], alone["outputs"][output][part])


def test_modes(cli, four_bar):
    found = mechreduce.Mechanism.load(four_bar.file).modes([0.3])
    same(found, numeric(cli.json("modes", four_bar.file, "--at", "0.3")))


def test_reduce_makes_the_same_model_and_tells_the_same(four_bar, tmp_path):
    mechanism = mechreduce.Mechanism.load(four_bar.file)
    heard = []
    model = mechanism.reduce(jobs=1, progress=heard.append)
    model.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_bytes() == four_bar.model.read_bytes()
    told = {key: value for key, value in model.summary.items() if key not in TIMES}
    same(told, numeric({k: v for k, v in four_bar.summary.items() if k not in TIMES}))
    assert [state["phase"] for state in heard if "phase" in state][-2:] == ["checking", "writing"]
    assert any(state.get("samples", 0) > 0 for state in heard)


def test_reduce_writes_what_the_command_line_writes(rigid, tmp_path):
    mechreduce.Mechanism.load(rigid.file).reduce(tmp_path / "made", report=False, jobs=2)
    files = [file for file in rigid.folder.rglob("*") if file.is_file() and ".samples" not in file.parts]
    assert len(files) > 6
    for file in files:
        assert (tmp_path / "made" / file.relative_to(rigid.folder)).read_bytes() == file.read_bytes(), file


class Enough(Exception):
    pass


@pytest.mark.parametrize("interrupt", ["signal", "exception"])
def test_an_interrupted_reduction_leaves_nothing_half_done(four_bar, tmp_path, interrupt):
    mechanism = mechreduce.Mechanism.load(four_bar.file)
    folder = tmp_path / "made"

    def stop(state):
        if state.get("samples", 0) > 0:
            if interrupt == "exception":
                raise Enough
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt if interrupt == "signal" else Enough):
        mechanism.reduce(folder, progress=stop)
    assert [file.name for file in folder.iterdir()] == [".samples"]
    model = mechanism.reduce(folder, report=False)
    assert (folder / "model.json").read_bytes() == four_bar.model.read_bytes()
    # What the interrupted run computed is not computed again.
    assert model.summary["evaluated"] < model.summary["samples"]


def test_errors_have_the_texts_of_the_command_line(cli, four_bar, tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text(four_bar.file.read_text().replace("range", "rnage", 1))
    faults = cli.json("validate", file, code=2)["faults"]
    with pytest.raises(mechreduce.Error) as raised:
        mechreduce.Mechanism.load(file)
    assert raised.value.faults == faults
    for fault in faults:
        assert fault["message"] in str(raised.value)
        assert fault["help"] is None or f"help: {fault['help']}" in str(raised.value)
        assert f"{file}:{fault['line']}:{fault['column']}: " in str(raised.value)
    mechanism = mechreduce.Mechanism.load(four_bar.file)
    faults = cli.json("local", four_bar.file, "--at=9", code=2)["faults"]
    with pytest.raises(mechreduce.Error) as raised:
        mechanism.local([9.0])
    assert raised.value.faults == faults
    faults = cli.json("validate", tmp_path / "none.toml", code=2)["faults"]
    with pytest.raises(mechreduce.Error, match="no such file") as raised:
        mechreduce.Mechanism.load(tmp_path / "none.toml")
    assert raised.value.faults == faults


def test_shapes_and_options_are_refused_by_name(four_bar):
    mechanism = mechreduce.Mechanism.load(four_bar.file)
    with pytest.raises(ValueError, match=r"theta has the shape \(2,\), but its last axis must have 1"):
        mechanism.local([0.1, 0.2])
    with pytest.raises(ValueError, match="frequencies"):
        mechanism.local([0.1], frequencies=0)
    with pytest.raises(ValueError, match="is no time"):
        mechanism.reduce(time="soon")
    with pytest.raises(mechreduce.Error, match="leaves no thread"):
        mechanism.reduce(jobs=0)
