# The part that is not Python. Arrays are contiguous; results are written into arrays that the caller gives.
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Statuses = npt.NDArray[np.uint8]
Hear = Callable[[str, str], None]
Numbers = Sequence[float]

class Mechanism:
    @staticmethod
    def load(path: str) -> Mechanism: ...
    def layout(self) -> str: ...
    def validate(self, at: Numbers | None) -> str: ...
    def local(
        self,
        theta: Sequence[Numbers],
        rate: Numbers | None,
        accel: Numbers | None,
        frequencies: int,
        anywhere: bool,
        on_path: bool,
        jobs: int | None,
    ) -> list[str]: ...
    def modes(self, theta: Numbers) -> str: ...
    def reduce(
        self,
        output: str | None,
        jobs: int | None,
        fresh: bool,
        samples_dir: str | None,
        memory: str | None,
        time: str | None,
        no_report: bool,
        force: bool,
        hear: Hear | None,
    ) -> tuple[Model, str]: ...

class Model:
    @staticmethod
    def load(path: str) -> Model: ...
    def layout(self) -> str: ...
    def with_parameters(
        self,
        payload_mass: Numbers | None,
        gravity: Numbers | None,
        rotor_inertia: Numbers | None,
        viscous: Numbers | None,
        coulomb: Numbers | None,
        coulomb_rate: Numbers | None,
    ) -> Model: ...
    def status(self, theta: Array, status: Statuses) -> None: ...
    def dynamics(self, inverse: bool, given: Sequence[Array], found: Array, status: Statuses) -> None: ...
    def coefficients(self, theta: Array, found: Sequence[Array], status: Statuses) -> None: ...
    def outputs(self, given: Sequence[Array], found: Sequence[Array], status: Statuses) -> None: ...
    def linearize(self, given: Sequence[Array], found: Sequence[Array], status: Statuses) -> None: ...
    def feedforward(self, given: Sequence[Array], found: Sequence[Array], status: Statuses) -> None: ...
    def step(self, given: Sequence[Array], dt: float, found: Array, status: Statuses) -> None: ...
    def derived(self, theta: Array, found: Array, status: Statuses) -> None: ...
    def check(self, mechanism: Mechanism, samples: int, seed: int, jobs: int | None) -> str: ...
    def export(
        self,
        format: str,
        path: str,
        single: bool,
        prefix: str | None,
        fmi: str | None,
        interface: str | None,
        force: bool,
    ) -> list[str]: ...

def simulate(
    path: str, output: str | None, jobs: int | None, force: bool, hear: Hear | None
) -> tuple[tuple[list[str], list[float]], tuple[list[str], list[float]], str]: ...
def invert(
    path: str, output: str | None, jobs: int | None, force: bool, hear: Hear | None
) -> tuple[tuple[list[str], list[float]], str]: ...
