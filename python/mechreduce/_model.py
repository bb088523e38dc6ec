"""Reduced models."""

from __future__ import annotations

import json
import warnings
from enum import IntEnum
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from . import _mechreduce
from ._arrays import Array, numeric, vectors
from ._errors import DomainWarning, ModelWarning

if TYPE_CHECKING:
    from ._mechanism import Mechanism

Statuses = npt.NDArray[np.uint8]


class Status(IntEnum):
    """How an evaluation went, by severity."""

    INSIDE = 0
    """The configuration is in the domain."""
    CLAMPED = 1
    """It is outside; each coordinate was put to the end of its range."""
    UNDEFINED = 2
    """A region without a model, violated inequalities, or a singular mass; results are NaN."""
    NOT_FINITE = 3
    """An argument is not finite, or a result is beyond the range of numbers; results are NaN."""
    BENT = 4
    """Deflections far beyond those for which second-order terms hold; results are NaN."""


class LinearModel(NamedTuple):
    """dx/dt = A x + B force and y = C x + D force around a state x = (eta, rate).

    y holds position, small rotation and velocity of each output, inertial axes.
    """

    A: Array
    B: Array
    C: Array
    D: Array


class Feedforward(NamedTuple):
    """Actuator forces along a motion, and the modal coordinates that follow it quasi-statically."""

    force: Array
    modal: Array


class OutputMotion(NamedTuple):
    """Motion of one output, inertial axes."""

    position: Array
    """(..., 3), m."""
    rotation: Array
    """(..., 3, 3), body to inertial."""
    velocity: Array
    """(..., 3), m/s."""
    angular_velocity: Array
    """(..., 3), rad/s."""
    jacobian: Array
    """(..., 6, n): velocity, then angular velocity, per generalised velocity."""


class Model:
    """A reduced model: explicit equations of motion over a domain of configurations.

    States are eta, the n generalised coordinates (the s actuated ones first, then modal ones), and their rates.
    Every function takes arrays (..., n) or (..., s) and broadcasts their leading axes. Where a model has no value, the
    result is NaN; where a configuration is outside the domain, its coordinates are put to the ends of their ranges and
    a `DomainWarning` says so. With `return_status=True` the statuses (see `Status`) come as a second result and
    nothing is warned of.
    """

    def __init__(self, native: _mechreduce.Model, summary: dict[str, Any] | None = None) -> None:
        self._native = native
        self._layout: dict[str, Any] = json.loads(native.layout())
        #: What `Mechanism.reduce` found, as `reduce M.toml --json` tells it; None of a model from a file.
        self.summary = summary

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Model:
        """Reads a model that ends in `.json` or `.h5`."""
        return cls(_mechreduce.Model.load(fspath(path)))

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Writes the whole model, `.json` or `.h5` by its ending.

        Files that mechreduce has not written are replaced with `force` only.
        """
        ending = Path(path).suffix
        formats = {".json": "json", ".h5": "hdf5"}
        if ending not in formats:
            raise ValueError(f"`{fspath(path)}` ends neither in .json nor in .h5")
        self.export(formats[ending], path, force=force)

    def __repr__(self) -> str:
        names = ", ".join(self.coordinates)
        return f"<mechreduce.Model {self.name}: {self.n} coordinates ({names}), {len(self.boxes)} box(es)>"

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return str(self._layout["name"])

    @property
    def coordinates(self) -> list[str]:
        """Names of the generalised coordinates."""
        return list(self._layout["coordinates"])

    @property
    def n(self) -> int:
        """Number of generalised coordinates."""
        return len(self._layout["coordinates"])

    @property
    def n_rigid(self) -> int:
        """Number s of actuated coordinates, which come first."""
        return int(self._layout["n_rigid"])

    @property
    def output_names(self) -> list[str]:
        """Names of the output points."""
        return list(self._layout["outputs"])

    @property
    def boxes(self) -> Array:
        """Boxes into which the domain is divided: smallest and largest theta of each, (boxes, 2, s)."""
        return np.array(self._layout["boxes"], dtype=np.float64).reshape(-1, 2, self.n_rigid)

    @property
    def reached(self) -> bool:
        """The tolerances that the model was made for hold."""
        return bool(self._layout["reached"])

    @property
    def domain(self) -> dict[str, Any]:
        """Ranges, periods and inequalities of the actuated coordinates, as the model file holds them."""
        return dict(numeric(self._layout["domain"]))

    def with_parameters(
        self,
        *,
        payload_mass: npt.ArrayLike | None = None,
        gravity: npt.ArrayLike | None = None,
        rotor_inertia: npt.ArrayLike | None = None,
        viscous: npt.ArrayLike | None = None,
        coulomb: npt.ArrayLike | None = None,
        coulomb_rate: npt.ArrayLike | None = None,
    ) -> Model:
        """The same model with other parameters: payloads (kg, per output), gravity (m/s², three axes), rotor
        inertia, viscous and Coulomb friction (per actuated coordinate). What is not given stays as it is."""
        given = (payload_mass, gravity, rotor_inertia, viscous, coulomb, coulomb_rate)
        lists = [None if v is None else np.asarray(v, dtype=np.float64).ravel().tolist() for v in given]
        return Model(self._native.with_parameters(*lists), self.summary)

    def status(self, theta: npt.ArrayLike) -> Statuses:
        """Status of each configuration theta (..., s), numbers of `Status`."""
        leading, (theta,) = vectors(theta=(theta, self.n_rigid))
        status = np.empty(leading, dtype=np.uint8)
        self._native.status(theta, status.reshape(-1))
        return status

    @overload
    def inverse_dynamics(
        self, eta: npt.ArrayLike, rate: npt.ArrayLike, accel: npt.ArrayLike, *, return_status: Literal[False] = False
    ) -> Array: ...
    @overload
    def inverse_dynamics(
        self, eta: npt.ArrayLike, rate: npt.ArrayLike, accel: npt.ArrayLike, *, return_status: Literal[True]
    ) -> tuple[Array, Statuses]: ...
    def inverse_dynamics(self, eta: Any, rate: Any, accel: Any, *, return_status: bool = False) -> Any:
        """Generalised force (..., n) that gives states (eta, rate) the accelerations `accel`, all (..., n)."""
        out, status = self._dynamics(True, eta, rate, accel, "accel")
        return _told(out, [out], status, return_status)

    @overload
    def forward_dynamics(
        self, eta: npt.ArrayLike, rate: npt.ArrayLike, force: npt.ArrayLike, *, return_status: Literal[False] = False
    ) -> Array: ...
    @overload
    def forward_dynamics(
        self, eta: npt.ArrayLike, rate: npt.ArrayLike, force: npt.ArrayLike, *, return_status: Literal[True]
    ) -> tuple[Array, Statuses]: ...
    def forward_dynamics(self, eta: Any, rate: Any, force: Any, *, return_status: bool = False) -> Any:
        """Accelerations (..., n) of states (eta, rate) under generalised forces, all (..., n)."""
        out, status = self._dynamics(False, eta, rate, force, "force")
        return _told(out, [out], status, return_status)

    def _dynamics(self, inverse: bool, eta: Any, rate: Any, third: Any, name: str) -> tuple[Array, Statuses]:
        n = self.n
        leading, given = vectors(eta=(eta, n), rate=(rate, n), **{name: (third, n)})
        out, status = np.empty((*leading, n)), np.empty(leading, dtype=np.uint8)
        self._native.dynamics(inverse, given, out, status.reshape(-1))
        return out, status

    @overload
    def coefficients(self, theta: npt.ArrayLike, *, return_status: Literal[False] = False) -> dict[str, Any]: ...
    @overload
    def coefficients(self, theta: npt.ArrayLike, *, return_status: Literal[True]) -> tuple[dict[str, Any], Statuses]: ...
    def coefficients(self, theta: Any, *, return_status: bool = False) -> Any:
        """All coefficients at theta (..., s) and zero modal coordinates, with the names of `reduce eval`:
        `mass`, `stiffness`, `damping` (..., n, n), `gyroscopic` (..., n, n, n), `gravity` (..., n), `psi_g_theta`
        (..., loaded, s), `frequencies_hz` (..., internal modes), and `outputs`: name -> `position`, `rotation`,
        `jacobian`."""
        n, s, m = self.n, self.n_rigid, len(self.output_names)
        leading, (theta,) = vectors(theta=(theta, s))
        loaded, internal = len(self._layout["loaded"]), self._layout["n_internal"]
        shapes = {
            "mass": (n, n),
            "stiffness": (n, n),
            "damping": (n, n),
            "gyroscopic": (n, n, n),
            "gravity": (n,),
            "psi_g_theta": (loaded, s),
            "frequencies_hz": (internal,),
            "position": (m, 3),
            "rotation": (m, 3, 3),
            "jacobian": (m, 6, n),
        }
        found = {name: np.empty(leading + shape) for name, shape in shapes.items()}
        status = np.empty(leading, dtype=np.uint8)
        self._native.coefficients(theta, list(found.values()), status.reshape(-1))
        _mark(list(found.values()), status)
        axis = len(leading)
        parts = {name: found.pop(name) for name in ("position", "rotation", "jacobian")}
        document: dict[str, Any] = {"coordinates": self.coordinates, "theta": theta, **found}
        document["outputs"] = {
            name: {part: np.take(values, i, axis=axis) for part, values in parts.items()}
            for i, name in enumerate(self.output_names)
        }
        return _told(document, [], status, return_status)

    @overload
    def outputs(self, eta: npt.ArrayLike, rate: npt.ArrayLike | None = None, *, return_status: Literal[False] = False) -> dict[str, OutputMotion]: ...
    @overload
    def outputs(self, eta: npt.ArrayLike, rate: npt.ArrayLike | None = None, *, return_status: Literal[True]) -> tuple[dict[str, OutputMotion], Statuses]: ...
    def outputs(self, eta: Any, rate: Any = None, *, return_status: bool = False) -> Any:
        """Motion of every output at states (eta, rate), (..., n) each; the rate is zero where absent.

        A dictionary from names to `OutputMotion`.
        """
        n, m = self.n, len(self.output_names)
        leading, given = vectors(eta=(eta, n), rate=(np.zeros(n) if rate is None else rate, n))
        shapes = [(m, 3), (m, 3, 3), (m, 6, n), (m, 3), (m, 3)]
        found = [np.empty(leading + shape) for shape in shapes]
        status = np.empty(leading, dtype=np.uint8)
        self._native.outputs(given, found, status.reshape(-1))
        _mark(found, status)
        axis = len(leading)
        motion = {}
        for i, name in enumerate(self.output_names):
            position, rotation, jacobian, velocity, angular = (np.take(part, i, axis=axis) for part in found)
            motion[name] = OutputMotion(position, rotation, velocity, angular, jacobian)
        return _told(motion, [], status, return_status)

    @overload
    def linearize(self, eta: npt.ArrayLike, rate: npt.ArrayLike, force: npt.ArrayLike, *, return_status: Literal[False] = False) -> LinearModel: ...
    @overload
    def linearize(self, eta: npt.ArrayLike, rate: npt.ArrayLike, force: npt.ArrayLike, *, return_status: Literal[True]) -> tuple[LinearModel, Statuses]: ...
    def linearize(self, eta: Any, rate: Any, force: Any, *, return_status: bool = False) -> Any:
        """`LinearModel` around states (eta, rate) under generalised forces, (..., n) each, by exact derivatives."""
        n, m = self.n, len(self.output_names)
        leading, given = vectors(eta=(eta, n), rate=(rate, n), force=(force, n))
        shapes = [(2 * n, 2 * n), (2 * n, n), (9 * m, 2 * n), (9 * m, n)]
        found = [np.empty(leading + shape) for shape in shapes]
        status = np.empty(leading, dtype=np.uint8)
        self._native.linearize(given, found, status.reshape(-1))
        return _told(LinearModel(*found), found, status, return_status)

    @overload
    def feedforward(self, theta: npt.ArrayLike, rate: npt.ArrayLike, accel: npt.ArrayLike, *, return_status: Literal[False] = False) -> Feedforward: ...
    @overload
    def feedforward(self, theta: npt.ArrayLike, rate: npt.ArrayLike, accel: npt.ArrayLike, *, return_status: Literal[True]) -> tuple[Feedforward, Statuses]: ...
    def feedforward(self, theta: Any, rate: Any, accel: Any, *, return_status: bool = False) -> Any:
        """`Feedforward` along motions of the actuated coordinates, (..., s) each."""
        n, s = self.n, self.n_rigid
        leading, given = vectors(theta=(theta, s), rate=(rate, s), accel=(accel, s))
        found = [np.empty((*leading, s)), np.empty((*leading, n - s))]
        status = np.empty(leading, dtype=np.uint8)
        self._native.feedforward(given, found, status.reshape(-1))
        return _told(Feedforward(*found), found, status, return_status)

    @overload
    def step(self, state: npt.ArrayLike, force: npt.ArrayLike, dt: float, *, return_status: Literal[False] = False) -> Array: ...
    @overload
    def step(self, state: npt.ArrayLike, force: npt.ArrayLike, dt: float, *, return_status: Literal[True]) -> tuple[Array, Statuses]: ...
    def step(self, state: Any, force: Any, dt: Any, *, return_status: bool = False) -> Any:
        """States (..., 2n) = (eta, rate) after one step of the classical Runge-Kutta method under constant
        generalised forces (..., n): the step of generated code."""
        n = self.n
        leading, given = vectors(state=(state, 2 * n), force=(force, n))
        out, status = np.empty((*leading, 2 * n)), np.empty(leading, dtype=np.uint8)
        self._native.step(given, float(dt), out, status.reshape(-1))
        return _told(out, [out], status, return_status)

    @overload
    def derived(self, theta: npt.ArrayLike, *, return_status: Literal[False] = False) -> dict[str, Array]: ...
    @overload
    def derived(self, theta: npt.ArrayLike, *, return_status: Literal[True]) -> tuple[dict[str, Array], Statuses]: ...
    def derived(self, theta: Any, *, return_status: bool = False) -> Any:
        """The quantities of `[[derived]]` at theta (..., s): name -> matrix (..., rows, columns)."""
        leading, (theta,) = vectors(theta=(theta, self.n_rigid))
        sizes = [(d["name"], d["rows"], d["columns"]) for d in self._layout["derived"]]
        out = np.empty((*leading, sum(rows * columns for _, rows, columns in sizes)))
        status = np.empty(leading, dtype=np.uint8)
        self._native.derived(theta, out, status.reshape(-1))
        _mark([out], status)
        ends = np.cumsum([rows * columns for _, rows, columns in sizes])[:-1]
        parts = zip(sizes, np.split(out, ends, axis=-1))
        found = {name: part.reshape(*leading, rows, columns) for (name, rows, columns), part in parts}
        return _told(found, [], status, return_status)

    def check(
        self, mechanism: Mechanism, *, samples: int = 500, seed: int = 1, jobs: int | None = None
    ) -> dict[str, Any]:
        """Compares the model with the full one at random configurations: the document of `reduce check --json`."""
        text = self._native.check(mechanism._native, samples, seed, jobs)
        return dict(numeric(json.loads(text)))

    def export(
        self,
        format: str,
        path: str | PathLike[str],
        *,
        single: bool = False,
        prefix: str | None = None,
        fmi: int | None = None,
        interface: str | None = None,
        force: bool = False,
    ) -> None:
        """Writes the model as `reduce export` does: `json`, `hdf5`, `c`, `rust`, `fmu`, …, a file or a folder."""
        version = None if fmi is None else str(fmi)
        for warning in self._native.export(format, fspath(path), single, prefix, version, interface, force):
            warnings.warn(warning, ModelWarning, stacklevel=2)


def _mark(found: list[Array], status: Statuses) -> None:
    """Puts NaN where there is no value."""
    absent = status >= Status.UNDEFINED
    if absent.any():
        for array in found:
            array[absent] = np.nan


def _told(result: Any, found: list[Array], status: Statuses, return_status: bool) -> Any:
    """The result, with NaN where there is none, and what is to be told of it."""
    _mark(found, status)
    if return_status:
        return result, status
    clamped = int(np.count_nonzero(status == Status.CLAMPED))
    if clamped:
        warnings.warn(
            f"{clamped} of {status.size} configuration(s) lie outside the domain and were put to its ends",
            DomainWarning,
            stacklevel=3,
        )
    return result
