"""Checks of one FMU by fmpy. Arguments: the FMU, then checks with their own arguments.

  valid                         no finding of validate_fmu
  derivatives                   directional and adjoint derivatives against central differences
  restored                      a restored and a deserialised state give the same trajectory, bit for bit
  sources                       the sources alone compile and give the same trajectory, bit for bit
  follows TABLE MODE MOTION     simulated (me, cs) with the forces of a table of `reduce simulate`, or with its
                                motion, a sine of this frequency or `constant:ACCELERATION`, it follows the table
                                to 1e-5 of the peak
"""
import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import fmpy
import fmpy.validation
import numpy as np
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave


class Instance:
    """Model exchange or co-simulation of either version, as one set of calls."""

    def __init__(self, folder, co_simulation=False):
        self.description = fmpy.read_model_description(folder)
        self.two = self.description.fmiVersion == "2.0"
        kind = self.description.coSimulation if co_simulation else self.description.modelExchange
        classes = {(True, True): FMU2Slave, (True, False): FMU2Model, (False, True): FMU3Slave, (False, False): FMU3Model}
        self.fmu = classes[self.two, co_simulation](
            guid=self.description.guid if self.two else self.description.instantiationToken,
            unzipDirectory=folder, modelIdentifier=kind.modelIdentifier, instanceName="test")
        self.fmu.instantiate(loggingOn=False)
        if self.two:
            self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        self.of = {v.name: v.valueReference for v in self.description.modelVariables}
        self.names = {v.valueReference: v.name for v in self.description.modelVariables}

    def get(self, references):
        references = list(references)
        return np.array(self.fmu.getReal(references) if self.two else self.fmu.getFloat64(references))

    def set(self, references, values):
        references, values = list(references), [float(v) for v in values]
        self.fmu.setReal(references, values) if self.two else self.fmu.setFloat64(references, values)

    def directional(self, unknowns, knowns, seed):
        call = self.fmu.getDirectionalDerivative
        return np.array(call(list(unknowns), list(knowns), list(seed)))

    def save(self):
        return self.fmu.getFMUstate() if self.two else self.fmu.getFMUState()

    def restore(self, state):
        self.fmu.setFMUstate(state) if self.two else self.fmu.setFMUState(state)

    def through_bytes(self, state):
        """The state after a trip through bytes."""
        if self.two:
            return self.fmu.deSerializeFMUstate(self.fmu.serializeFMUstate(state))
        return self.fmu.deserializeFMUState(self.fmu.serializeFMUState(state))

    def drop(self, state):
        self.fmu.freeFMUstate(state) if self.two else self.fmu.freeFMUState(state)

    def step(self, time, step):
        self.fmu.doStep(currentCommunicationPoint=time, communicationStepSize=step)

    def states(self):
        """References of the states, as many as there are, hold their values."""
        return self.get([d.variable.derivative.valueReference for d in self.description.derivatives])

    def begin(self):
        """Continuous time of model exchange."""
        self.fmu.exitInitializationMode()
        self.fmu.newDiscreteStates() if self.two else self.fmu.updateDiscreteStates()
        self.fmu.enterContinuousTimeMode()

    def slopes(self, time, x):
        """Derivatives of the states at a time."""
        memory, found = (np.zeros(max(len(x), 1)) for _ in range(2))
        memory[:len(x)] = x
        self.fmu.setTime(time)
        pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (memory, found)]
        self.fmu.setContinuousStates(pointers[0], len(x))
        get = self.fmu.getDerivatives if self.two else self.fmu.getContinuousStateDerivatives
        get(pointers[1], len(x))
        return found[:len(x)]

    def close(self):
        self.fmu.freeInstance()


def references(description, causality):
    return [v.valueReference for v in description.modelVariables if v.causality == causality]


def derivatives(folder):
    instance = Instance(folder)
    description = instance.description
    states = [d.variable.derivative.valueReference for d in description.derivatives]
    knowns = states + references(description, "input")
    unknowns = [u.variable.valueReference for u in description.outputs + description.derivatives]
    # A state in motion, with forces, inside the domain: start values plus numbers without a pattern.
    generator = np.random.default_rng(3)
    of = {v.valueReference: v for v in description.modelVariables}
    size = np.array([float(of[k].nominal or 0.1) for k in knowns])
    at = instance.get(knowns) + 0.3 * size * generator.uniform(-1.0, 1.0, len(knowns))
    instance.set(knowns, at)
    assert instance.get([instance.of["status"]])[0] == 0.0
    steps = 1e-3 * size
    exact, differences = [], []
    for k, h in zip(range(len(knowns)), steps):
        seed = np.zeros(len(knowns))
        seed[k] = 1.0
        exact.append(instance.directional(unknowns, knowns, seed))

        def moved(shift):
            values = at.copy()
            values[k] += shift
            instance.set(knowns, values)
            return instance.get(unknowns)

        # Fourth order, so that what is left is rounding.
        wide, near = moved(2 * h) - moved(-2 * h), moved(h) - moved(-h)
        instance.set(knowns, at)
        differences.append((8.0 * near - wide) / (12.0 * h))
    exact, differences = np.array(exact), np.array(differences)
    # Relative, with a floor of a thousandth of the largest effect on the vector or matrix of the unknown.
    group = [instance.names[u].split("[")[0] for u in unknowns]
    largest = {g: max(np.abs(exact[:, j]).max() for j, h in enumerate(group) if h == g) for g in group}
    scale = np.maximum(np.abs(exact), np.abs(differences)) + np.array([1e-3 * largest[g] + 1e-12 for g in group])
    error = np.abs(exact - differences) / scale
    worst = np.unravel_index(error.argmax(), error.shape)
    print(f"derivatives: {error.max():.1e} at {instance.names[unknowns[worst[1]]]} by {instance.names[knowns[worst[0]]]}")
    if error.max() > 1e-6:
        for i, j in np.argwhere(error > 1e-6)[:20]:
            print(instance.names[unknowns[j]], instance.names[knowns[i]], exact[i, j], differences[i, j])
    assert error.max() < 1e-6
    if not instance.two:
        seed = generator.uniform(-1.0, 1.0, len(unknowns))
        adjoint = np.array(instance.fmu.getAdjointDerivative(unknowns, knowns, list(seed), len(knowns)))
        difference = np.abs(adjoint - exact @ seed).max() / np.abs(exact @ seed).max()
        print(f"adjoint: {difference:.1e}")
        assert difference < 1e-13
    instance.close()


def trajectory(folder, after=None):
    """Outputs after each of 40 uneven steps of co-simulation; from step 20 again after `after`."""
    instance = Instance(folder, co_simulation=True)
    inputs = references(instance.description, "input")
    outputs = references(instance.description, "output")
    instance.fmu.exitInitializationMode()
    start = instance.get(inputs)
    time, rows, again = 0.0, [], []

    def run(first, last, time, into):
        for i in range(first, last):
            instance.set(inputs, start + 0.01 * np.sin(0.3 * i + np.arange(len(inputs))))
            step = 1e-3 * (1.0 + (i % 3))
            instance.step(time, step)
            time += step
            into.append(instance.get(outputs))
        return time

    time = run(0, 20, time, rows)
    saved = instance.save()
    run(20, 40, time, rows)
    if after is not None:
        state = instance.through_bytes(saved) if after == "bytes" else saved
        instance.restore(state)
        run(20, 40, time, again)
        if state is not saved:
            instance.drop(state)
    instance.drop(saved)
    instance.close()
    return np.array(rows), np.array(again)


def restored(folder):
    for way in ["copy", "bytes"]:
        rows, again = trajectory(folder, way)
        assert np.isfinite(rows).all() and np.ptp(rows, axis=0).max() > 0.0
        assert (rows[20:] == again).all(), way
    print("restored: equal")


def sources(folder):
    """Without its binary, compiled as importers do: the sources that the description names, with our options."""
    expected, _ = trajectory(folder)
    with tempfile.TemporaryDirectory() as other:
        other = Path(other) / "fmu"
        shutil.copytree(folder, other)
        shutil.rmtree(other / "binaries")
        description = fmpy.read_model_description(str(other))
        two = description.fmiVersion == "2.0"
        files = description.buildConfigurations[0].sourceFileSets[0].sourceFiles
        assert len(files) == 1, files
        target = other / "binaries" / (fmpy.platform if two else fmpy.platform_tuple)
        target.mkdir(parents=True)
        name = description.coSimulation.modelIdentifier
        warnings = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror"
        flags = f"{warnings} -O2 -ffp-contract=off -fPIC -shared -fvisibility=hidden".split()
        subprocess.run(["cc", *flags, "-o", target / f"{name}.so", other / "sources" / files[0], "-lm"], check=True)
        found, _ = trajectory(str(other))
    assert (found == expected).all()
    print("sources: compile, equal")


def column(name, data, motion):
    """The column of a table that holds a variable of an FMU; None where there is none. Accelerations and jerks are those of a
    sine of a frequency, or one number."""
    kind, _, rest = name.partition(".")
    axis = {"[1]": "x", "[2]": "y", "[3]": "z"}.get(name[-3:])
    if name in data.dtype.names:
        return data[name]
    if kind == "position" and not axis:
        return data["coordinate." + rest]
    if kind == "velocity" and not axis:
        return data["rate." + rest]
    if kind == "acceleration" and not axis:
        if motion.startswith("constant:"):
            return np.full(len(data["time"]), float(motion.partition(":")[2]))
        return -((2.0 * np.pi * float(motion)) ** 2) * data["coordinate." + rest]
    if kind == "jerk":
        if motion.startswith("constant:"):
            return np.zeros(len(data["time"]))
        return -((2.0 * np.pi * float(motion)) ** 2) * data["rate." + rest]
    for ending, prefix in [(".position", ""), (".velocity", "v")]:
        if axis and name[:-3].endswith(ending):
            name = f"{name[:-3 - len(ending)]}.{prefix}{axis}"
            return data[name] if name in data.dtype.names else None
    return None


def exchanged(fmu, time, signals, outputs, starts):
    """Outputs at the times by model exchange with the solver of fmpy."""
    table = np.zeros(len(time), dtype=[("time", float)] + [(n, float) for n in signals])
    table["time"] = time
    for name, values in signals.items():
        table[name] = values
    result = fmpy.simulate_fmu(
        fmu, fmi_type="ModelExchange", input=table, output=outputs, start_values=starts, start_time=time[0],
        stop_time=time[-1], output_interval=time[1] - time[0], relative_tolerance=1e-10, solver="CVode")
    return {n: np.interp(time, result["time"], result[n]) for n in outputs}


def integrated(fmu, time, signals, outputs, starts, frequency):
    """The same by model exchange with the classical Runge-Kutta method; inputs are sines of this frequency, which
    the solver of fmpy would hold during its steps."""
    omega = 2.0 * np.pi * frequency

    def value(name, t):
        rate = signals["velocity." + name.partition(".")[2]][0]
        kind = name.partition(".")[0]
        return {"position": rate / omega * np.sin(omega * t), "velocity": rate * np.cos(omega * t),
                "acceleration": -rate * omega * np.sin(omega * t),
                "jerk": -rate * omega**2 * np.cos(omega * t)}[kind]

    with tempfile.TemporaryDirectory() as folder:
        fmpy.extract(fmu, unzipdir=folder)
        instance = Instance(folder)
        inner = instance.get([instance.of["inner_step"]])[0]
        instance.set([instance.of[n] for n in starts], starts.values())
        x = instance.states()
        instance.begin()

        def slope(t, x):
            instance.set([instance.of[n] for n in signals], [value(n, t) for n in signals])
            return instance.slopes(t, x)

        rows = []
        for i, t in enumerate(time):
            slope(t, x)
            rows.append(instance.get([instance.of[n] for n in outputs]))
            if i + 1 < len(time):
                count = int(np.ceil((time[i + 1] - t) / inner))
                h = (time[i + 1] - t) / count
                for _ in range(count):
                    a = slope(t, x)
                    b = slope(t + h / 2, x + h / 2 * a)
                    c = slope(t + h / 2, x + h / 2 * b)
                    d = slope(t + h, x + h * c)
                    x, t = x + h / 6 * (a + 2 * b + 2 * c + d), t + h
        instance.close()
    return dict(zip(outputs, np.array(rows).T))


def stepped(fmu, time, signals, outputs, starts):
    """The same by co-simulation: inputs of the instant are set before outputs are read."""
    with tempfile.TemporaryDirectory() as folder:
        fmpy.extract(fmu, unzipdir=folder)
        instance = Instance(folder, co_simulation=True)
        instance.set([instance.of[n] for n in starts], starts.values())
        instance.fmu.exitInitializationMode()
        rows = []
        for i, t in enumerate(time):
            instance.set([instance.of[n] for n in signals], [values[i] for values in signals.values()])
            rows.append(instance.get([instance.of[n] for n in outputs]))
            if i + 1 < len(time):
                instance.step(t, time[i + 1] - t)
        instance.close()
    return dict(zip(outputs, np.array(rows).T))


def follows(fmu, table, mode, motion):
    """Simulated with the forces of a table, or with its motion, the FMU follows it."""
    data = np.genfromtxt(table, delimiter=",", names=True, deletechars="")
    description = fmpy.read_model_description(fmu)
    time = data["time"]
    inputs = [v.name for v in description.modelVariables if v.causality == "input"]
    signals = {n: column(n, data, motion) for n in inputs}
    assert all(n.startswith("load.") for n in inputs if signals[n] is None), inputs
    signals = {n: values for n, values in signals.items() if values is not None}
    outputs = [v.name for v in description.modelVariables if v.causality == "output"]
    expected = {n: column(n, data, motion) for n in outputs}
    outputs = [n for n in outputs if expected[n] is not None]
    assert any(".velocity" in n for n in outputs), outputs
    # Modal coordinates, which tables do not hold, start undeformed as in the scenario.
    starts = {n: expected[n][0] for n in outputs if n.startswith(("coordinate.", "rate."))}
    if mode == "cs":
        result = stepped(fmu, time, signals, outputs, starts)
    elif any(n.startswith("velocity.") for n in signals):
        result = integrated(fmu, time, signals, outputs, starts, float(motion))
    else:
        result = exchanged(fmu, time, signals, outputs, starts)
    worst = (0.0, "")
    for name in outputs:
        # Vectors together, as the peak of one component may be rounding.
        alike = [n for n in outputs if n.split("[")[0] == name.split("[")[0]]
        peak = max(np.abs(expected[n]).max() for n in alike)
        if peak > 0.0:
            worst = max(worst, (np.abs(result[name] - expected[name]).max() / peak, name))
    print(f"follows ({mode}): {worst[0]:.1e} of the peak of {worst[1]}")
    assert worst[0] < 1e-5


def main():
    fmu, *checks = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        fmpy.extract(fmu, unzipdir=folder)
        while checks:
            check = checks.pop(0)
            if check == "valid":
                findings = fmpy.validation.validate_fmu(fmu)
                assert not findings, findings
                print("valid")
            elif check == "follows":
                table, mode, motion = checks.pop(0), checks.pop(0), checks.pop(0)
                follows(fmu, table, mode, motion)
            else:
                {"derivatives": derivatives, "restored": restored, "sources": sources}[check](folder)


if __name__ == "__main__":
    main()
