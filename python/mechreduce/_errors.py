"""Exceptions and warnings, with the texts of the command line."""

from __future__ import annotations

import json
from typing import Any


class Error(Exception):
    """A file or an argument that cannot be used.

    The text names the place, the fact and one thing to try, for every fault that was found. `faults` holds the same
    as a list of dictionaries: `message`, `help`, `file`, `line`, `column`, None where there is none.
    """

    def __init__(self, message: str, faults: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.faults: list[dict[str, Any]] = faults or []

    @classmethod
    def _of(cls, text: str) -> Error:
        faults = json.loads(text)
        return cls("\n".join(_worded(fault) for fault in faults), faults)


def _worded(fault: dict[str, Any]) -> str:
    place = ""
    if fault["file"] is not None:
        place = f"{fault['file']}:{fault['line']}:{fault['column']}: "
    advice = "" if fault["help"] is None else f"\n  help: {fault['help']}"
    return f"{place}{fault['message']}{advice}"


class ModelWarning(UserWarning):
    """What the command line warns of: a result that is there but deserves a look."""


class DomainWarning(ModelWarning):
    """Configurations outside the domain of a model; each coordinate was put to the end of its range."""
