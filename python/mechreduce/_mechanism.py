"""Mechanisms."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from os import PathLike, fspath
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _mechreduce
from ._arrays import numeric, vectors
from ._errors import ModelWarning
from ._model import Model

Progress = Callable[[dict[str, Any]], object]


class Mechanism:
    """A mechanism file: bodies, joints, actuators, and the full model that they make."""

    def __init__(self, native: _mechreduce.Mechanism) -> None:
        self._native = native
        self._layout: dict[str, Any] = json.loads(native.layout())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Mechanism:
        """Reads a mechanism file. `Error` holds all of its faults, with their places."""
        return cls(_mechreduce.Mechanism.load(fspath(path)))

    def __repr__(self) -> str:
        bodies, joints = self._layout["bodies"], self._layout["joints"]
        names = ", ".join(self.coordinates)
        return f"<mechreduce.Mechanism {self.name}: {bodies} bodies, {joints} joints, actuated {names}>"

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return str(self._layout["name"])

    @property
    def coordinates(self) -> list[str]:
        """Names of the actuated coordinates."""
        return list(self._layout["coordinates"])

    @property
    def output_names(self) -> list[str]:
        """Names of the output points."""
        return list(self._layout["outputs"])

    def validate(self, at: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Assembles the mechanism and counts: the document of `reduce validate --json`.

        With `at`, a configuration, also checks that it lies in the domain and can be reduced.
        """
        theta = None if at is None else np.asarray(at, dtype=np.float64).ravel().tolist()
        return dict(numeric(json.loads(self._native.validate(theta))))

    def local(
        self,
        theta: npt.ArrayLike,
        *,
        rate: npt.ArrayLike | None = None,
        accel: npt.ArrayLike | None = None,
        frequencies: int = 10,
        anywhere: bool = False,
        on_path: bool = False,
        jobs: int | None = None,
    ) -> dict[str, Any]:
        """The full model reduced exactly at configurations (..., s): the document of `reduce local --json`.

        Every list of numbers is an array with the leading axes of `theta`; `rate` and `accel` are one motion for all of
        them. Lists of frequencies that are shorter at some configurations end with NaN there.
        """
        leading, (thetas,) = vectors(theta=(theta, 1 if on_path else len(self.coordinates)))
        rates, accels = (None if v is None else np.asarray(v, dtype=np.float64).ravel().tolist() for v in (rate, accel))
        flat = thetas.reshape(-1, thetas.shape[-1])
        texts = self._native.local(flat.tolist(), rates, accels, frequencies, anywhere, on_path, jobs)
        documents = [json.loads(text) for text in texts]
        return dict(_stacked(documents, leading))

    def modes(self, theta: npt.ArrayLike) -> dict[str, Any]:
        """What the local modes at one configuration are: the document of `reduce modes --json`."""
        text = self._native.modes(np.asarray(theta, dtype=np.float64).ravel().tolist())
        return dict(numeric(json.loads(text)))

    def reduce(
        self,
        output: str | PathLike[str] | None = None,
        *,
        jobs: int | None = None,
        fresh: bool = False,
        samples_dir: str | PathLike[str] | None = None,
        memory: str | None = None,
        time: str | float | None = None,
        report: bool = True,
        force: bool = False,
        progress: Progress | None = None,
    ) -> Model:
        """Reduces the mechanism, as `reduce M.toml` does; the summary is `Model.summary`.

        With `output`, a folder, all files of the command line are written there and samples are stored in it;
        otherwise nothing is written but samples, where `samples_dir` is given. `progress` is called on this thread
        with dictionaries: `phase`, or `open_boxes`, `finished_boxes`, `samples`, `new_samples` and
        `worst_error_over_tolerance`. Ctrl-C, and an exception of `progress`, end the work after the samples that are
        under way and are raised then: no file is changed, stored samples stay and a further run uses them.
        """
        native, summary = self._native.reduce(
            None if output is None else fspath(output),
            jobs,
            fresh,
            None if samples_dir is None else fspath(samples_dir),
            memory,
            None if time is None else str(time),
            not report,
            force,
            hearing(progress),
        )
        return Model(native, numeric(json.loads(summary)))


def hearing(progress: Progress | None) -> Callable[[str, str], None]:
    """Hands progress on, and warnings to Python's."""

    def hear(kind: str, text: str) -> None:
        if kind == "warning":
            warnings.warn(text, ModelWarning, stacklevel=3)
        elif progress is not None:
            progress(json.loads(text))

    return hear


def _stacked(documents: list[Any], leading: tuple[int, ...]) -> Any:
    """Documents of the same shape as one, with leading axes."""
    first = documents[0] if documents else {}
    if isinstance(first, dict):
        keys = dict.fromkeys(key for document in documents for key in document)
        return {key: _entry(key, [document.get(key) for document in documents], leading) for key in keys}
    raise TypeError("a document is a dictionary")


def _entry(key: str, values: list[Any], leading: tuple[int, ...]) -> Any:
    first = next((value for value in values if value is not None), None)
    if key in ("coordinates", "status"):
        return first
    if isinstance(first, dict):
        return _stacked(values, leading)
    if isinstance(first, list):
        longest = max(len(value or []) for value in values)
        if first and isinstance(first[0], list):
            return np.array(values, dtype=np.float64).reshape(leading + np.shape(first))
        padded = [(value or []) + [np.nan] * (longest - len(value or [])) for value in values]
        return np.array(padded, dtype=np.float64).reshape((*leading, longest))
    if leading == ():
        return first
    return np.array(values, dtype=object).reshape(leading)
