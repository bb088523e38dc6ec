"""Flexible mechanisms as compact, explicit models for controllers.

    >>> import mechreduce
    >>> mechanism = mechreduce.Mechanism.load("four_bar.toml")
    >>> model = mechanism.reduce()
    >>> force = model.inverse_dynamics(eta, rate, accel)

`Mechanism` is a mechanism file and its exact, full model; `Model` a reduced one; `simulate` runs both side by side,
`invert` finds forces for paths of outputs.
Numbers are those of the command line, bit for bit: SI units and radians, coordinates in the order of the model
(actuated ones first), matrices as nested axes. Functions of `Model` take arrays with any leading axes, broadcast
against one another, and release Python's lock while they compute.
"""

from ._errors import DomainWarning, Error, ModelWarning
from ._mechanism import Mechanism
from ._model import Feedforward, LinearModel, Model, OutputMotion, Status
from ._simulation import Inversion, Simulation, invert, simulate

__all__ = [
    "DomainWarning",
    "Error",
    "Feedforward",
    "Inversion",
    "LinearModel",
    "Mechanism",
    "Model",
    "ModelWarning",
    "OutputMotion",
    "Simulation",
    "Status",
    "invert",
    "simulate",
]
