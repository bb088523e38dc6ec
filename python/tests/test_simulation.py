"""Scenarios: the tables and summaries of `reduce simulate` and `reduce invert`."""

import csv
import os
import signal

import mechreduce
import numpy as np
import pytest
from conftest import DATA
from mechreduce._arrays import numeric
from test_mechanism import same

SCENARIO = DATA / "scenarios/orthoglide_forces.toml"
PATH = DATA / "inversion/two_link_half_circle.toml"


def without_times(document):
    if isinstance(document, dict):
        timed = ("seconds", "reduction_seconds", "speed_up")
        return {key: without_times(value) for key, value in document.items() if key not in timed}
    return document


def same_table(columns, file):
    with open(file, newline="") as lines:
        header, *rows = csv.reader(lines)
    assert list(columns) == header
    assert np.array_equal(np.array(list(columns.values())).T, np.array(rows, dtype=float))


def test_tables_and_summary_are_those_of_the_command_line(cli, tmp_path):
    expected = cli.json("simulate", SCENARIO, "-o", tmp_path / "theirs")
    heard = []
    found = mechreduce.simulate(SCENARIO, tmp_path / "ours", progress=heard.append)
    same(without_times(found.summary), numeric(without_times(expected)))
    for name, columns in (("full", found.full), ("reduced", found.reduced)):
        file = f"{name}.csv"
        assert (tmp_path / "ours" / file).read_bytes() == (tmp_path / "theirs" / file).read_bytes()
        same_table(columns, tmp_path / "theirs" / file)
    assert heard[-1]["time"] <= heard[-1]["duration"]


def test_ctrl_c_ends_a_simulation():
    def stop(state):
        if "time" in state:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        mechreduce.simulate(SCENARIO, progress=stop)


def test_an_inverted_path_is_that_of_the_command_line(cli, tmp_path):
    expected = cli.json("invert", PATH, "-o", tmp_path / "theirs")
    found = mechreduce.invert(PATH, tmp_path / "ours")
    same(found.summary, numeric(expected))
    for file in ("inversion.csv", "inversion.svg"):
        assert (tmp_path / "ours" / file).read_bytes() == (tmp_path / "theirs" / file).read_bytes()
    same_table(found.table, tmp_path / "theirs/inversion.csv")


def test_a_scenario_without_a_path_cannot_be_inverted():
    with pytest.raises(mechreduce.Error, match="track"):
        mechreduce.invert(SCENARIO)
