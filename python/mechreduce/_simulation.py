"""Scenarios: both models in time, and forces for paths of outputs."""

from __future__ import annotations

import json
from os import PathLike, fspath
from typing import Any, NamedTuple

import numpy as np

from . import _mechreduce
from ._arrays import Array, numeric
from ._mechanism import Progress, hearing


class Simulation(NamedTuple):
    """Columns of `full.csv` and `reduced.csv` by name, `time` first, and the summary of `reduce simulate --json`."""

    full: dict[str, Array]
    reduced: dict[str, Array]
    summary: dict[str, Any]


def simulate(
    path: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    *,
    jobs: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Simulation:
    """Runs the full and the reduced model of a scenario file side by side.

    With `output`, a folder, the files of the command line are written there. `progress` and Ctrl-C are as for
    `Mechanism.reduce`; while the full model runs, `progress` gets `time` and `duration`.
    """
    folder = None if output is None else fspath(output)
    full, reduced, summary = _mechreduce.simulate(fspath(path), folder, jobs, force, hearing(progress))
    return Simulation(_columns(*full), _columns(*reduced), numeric(json.loads(summary)))


class Inversion(NamedTuple):
    """Columns of `inversion.csv` by name, `time` first, and the document of `reduce invert --json`."""

    table: dict[str, Array]
    summary: dict[str, Any]


def invert(
    path: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    *,
    jobs: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Inversion:
    """Finds motions and forces under which outputs of the flexible mechanism follow the paths of a scenario file.

    With `output`, a folder, the files of the command line are written there. `progress` and Ctrl-C are as for
    `Mechanism.reduce`; the inversion itself, after the reduction, is not interrupted.
    """
    folder = None if output is None else fspath(output)
    table, summary = _mechreduce.invert(fspath(path), folder, jobs, force, hearing(progress))
    return Inversion(_columns(*table), numeric(json.loads(summary)))


def _columns(names: list[str], numbers: list[float]) -> dict[str, Array]:
    table = np.array(numbers, dtype=np.float64).reshape(-1, len(names))
    return {name: table[:, i].copy() for i, name in enumerate(names)}
