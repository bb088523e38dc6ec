//! Tools that compile and check generated code, with their flags, and what happens where one is
//! missing.
#![allow(dead_code)]

use std::io::Write;
use std::process::Command;

/// C99 with the warnings that generated code is free of.
pub const WARNINGS: &[&str] = &[
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wshadow",
    "-Wcast-qual",
    "-Werror",
];

/// Without it compilers may contract a product and a sum into one rounding.
pub const NO_CONTRACTION: &str = "-ffp-contract=off";

/// A part of the checks that is not done everywhere. `tests/tools` lists all of them, with what is left
/// out, where every run of the tests shows it.
pub struct Check {
    pub name: &'static str,
    /// Words for a shell that succeed where the tool is there; none: the check takes long and is done
    /// where `REDUCE_SLOW` is set.
    probe: Option<&'static str>,
    /// What is not known without it.
    without: &'static str,
    /// It takes rights that no machine is required to give.
    takes_rights: bool,
}

const fn tool(name: &'static str, probe: &'static str, without: &'static str) -> Check {
    Check {
        name,
        probe: Some(probe),
        without,
        takes_rights: false,
    }
}

const fn long(name: &'static str, without: &'static str) -> Check {
    Check {
        name,
        probe: None,
        without,
        takes_rights: false,
    }
}

const COMPILERS: [(&str, Check, Check); 2] = [
    (
        "gcc",
        tool(
            "gcc",
            "gcc --version",
            "generated C is not compiled with gcc",
        ),
        tool(
            "gcc_sanitizers",
            "echo 'int main(void) { return 0; }' | gcc -fsanitize=address,undefined -x c -o /dev/null -",
            "generated C is not run under the sanitizers of gcc",
        ),
    ),
    (
        "clang",
        tool(
            "clang",
            "clang --version",
            "generated C is not compiled with clang",
        ),
        tool(
            "clang_sanitizers",
            "echo 'int main(void) { return 0; }' | clang -fsanitize=address,undefined -x c -o /dev/null -",
            "generated C is not run under the sanitizers of clang",
        ),
    ),
];
pub const CC: Check = tool(
    "cc",
    "cc --version",
    "documents' commands with cc are not run",
);
pub const CPPCHECK: Check = tool(
    "cppcheck",
    "cppcheck --version",
    "MISRA rules are not checked",
);
pub const FRAMA_C: Check = tool(
    "frama_c",
    "frama-c --version",
    "absence of run-time errors is not proven",
);
pub const CROSS_COMPILER: Check = tool(
    "arm_none_eabi_gcc",
    "arm-none-eabi-gcc --version",
    "generated C is not compiled for a microcontroller",
);
pub const EMULATOR: Check = tool(
    "qemu_system_arm",
    "qemu-system-arm --version",
    "generated C is not run on a microcontroller",
);
pub const PYTHON: Check = tool(
    "python3",
    "python3 --version",
    "JSON models are not read by the program of the documents",
);
pub const H5PY: Check = tool(
    "h5py",
    "python3 -c 'import h5py, numpy'",
    "HDF5 files are not read elsewhere",
);
pub const MESHIO: Check = tool(
    "meshio",
    "python3 -c 'import meshio, numpy'",
    "shapes of modes are not read elsewhere",
);
pub const FMPY: Check = tool(
    "fmpy",
    "python3 -c 'import fmpy, lark, numpy' && cc --version",
    "FMUs are not simulated elsewhere",
);
pub const CASADI: Check = tool(
    "casadi",
    "python3 -c 'import casadi, numpy' && cc --version",
    "external functions and expressions of CasADi are not evaluated",
);
pub const OCTAVE: Check = tool(
    "octave",
    "octave-cli --version",
    ".mat files are not evaluated in Octave",
);
pub const SCIPY: Check = tool(
    "scipy",
    "python3 -c 'import scipy.io, control'",
    ".mat files are not read by SciPy and python-control",
);
pub const TCC: Check = tool("tcc", "tcc -v", "generated C is not compiled with tcc");
pub const GCC_32: Check = tool(
    "gcc_m32",
    "echo '#include <math.h>\nint main(void) { return 0; }' | gcc -m32 -x c -o /dev/null -",
    "generated C is not compiled for 32 bits",
);
pub const CHROMIUM: Check = tool(
    "chromium",
    "(chromium --version || chromium-browser --version) && chromedriver --version",
    "the report is not shown in a browser",
);
pub const PSEUDO_TERMINAL: Check = tool(
    "script",
    "script --version",
    "progress and colours on a terminal are not looked at",
);
pub const FULL_DEVICE: Check = tool(
    "dev_full",
    "test -e /dev/full",
    "an output that cannot be written is not tried",
);
pub const SMALL_DISK: Check = Check {
    takes_rights: true,
    ..tool(
        "small_disk",
        "d=$(mktemp -d) && mount -t tmpfs -o size=64k tmpfs $d && umount $d && rmdir $d",
        "a disk that is full is not tried",
    )
};
pub const ALL_PROOFS: Check = long(
    "proofs_of_large_models",
    "run-time errors are excluded for small models only",
);
pub const LARGEST_EQUALITY: Check = long(
    "equality_of_the_hexapod",
    "generated code of the hexapod is not compared with the evaluator",
);
pub const ALL_SANITIZED: Check = long(
    "sanitizers_on_large_models",
    "arm6, hexapod (ten million calls each) and single precision are not run under sanitizers",
);
pub const LARGEST_ON_BOARD: Check = long(
    "hexapod_on_a_microcontroller",
    "the self-test of the hexapod is not run on a microcontroller",
);
pub const ALL_FMUS: Check = long(
    "fmus_of_several_mechanisms",
    "FMUs of the four-bar alone are simulated elsewhere",
);
pub const PLANNED: Check = long(
    "optimal_plan",
    "no motion is planned with CasADi and given to the full model",
);
pub const FROM_GEOMETRY: Check = long(
    "bracket_arm_from_its_geometry",
    "gmsh and CalculiX are not run, their files in data/bracket_arm are taken",
);
pub const MANY_KILLS: Check = long(
    "kills_at_many_moments",
    "4 runs of one mechanism are killed instead of 200 of four",
);

/// All of them.
pub fn checks() -> Vec<Check> {
    let [(_, gcc, gcc_sanitizers), (_, clang, clang_sanitizers)] = COMPILERS;
    vec![
        gcc,
        gcc_sanitizers,
        clang,
        clang_sanitizers,
        CC,
        CPPCHECK,
        FRAMA_C,
        CROSS_COMPILER,
        EMULATOR,
        PYTHON,
        H5PY,
        MESHIO,
        FMPY,
        CASADI,
        OCTAVE,
        SCIPY,
        TCC,
        GCC_32,
        CHROMIUM,
        PSEUDO_TERMINAL,
        FULL_DEVICE,
        SMALL_DISK,
        ALL_PROOFS,
        LARGEST_EQUALITY,
        ALL_SANITIZED,
        LARGEST_ON_BOARD,
        ALL_FMUS,
        PLANNED,
        FROM_GEOMETRY,
        MANY_KILLS,
    ]
}

impl Check {
    /// Why it is not done here, if it is not.
    ///
    /// # Panics
    /// Where a tool is missing and `REDUCE_REQUIRE_TOOLS` is set.
    pub fn left_out(&self) -> Option<String> {
        let Some(probe) = self.probe else {
            let reason = || format!("REDUCE_SLOW is not set; {}", self.without);
            return std::env::var_os("REDUCE_SLOW").is_none().then(reason);
        };
        let tried = Command::new("sh").args(["-c", probe]).output();
        if tried.is_ok_and(|output| output.status.success()) {
            return None;
        }
        let reason = format!("missing: `{probe}` fails; {}", self.without);
        let required = std::env::var_os("REDUCE_REQUIRE_TOOLS").is_some() && !self.takes_rights;
        assert!(!required, "required here and {reason}");
        Some(reason)
    }

    /// Whether time or rights are why it is not done everywhere: it is never required.
    pub fn is_optional(&self) -> bool {
        self.probe.is_none() || self.takes_rights
    }

    /// Whether it is done here. Where not, standard error says so past the capture of output, which
    /// takes `eprintln!` away from tests that pass.
    pub fn is_done(&self) -> bool {
        let left_out = self.left_out();
        if let Some(reason) = &left_out {
            let line = format!("SKIPPED: {}: {reason}\n", self.name);
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
        left_out.is_none()
    }
}

/// C compilers of this machine.
pub fn compilers() -> Vec<&'static str> {
    let there = COMPILERS.into_iter().filter(|(_, here, _)| here.is_done());
    there.map(|(name, ..)| name).collect()
}

/// Compilers whose sanitizers have their libraries.
pub fn sanitizing_compilers() -> Vec<&'static str> {
    let there = COMPILERS
        .into_iter()
        .filter(|(_, here, sanitizers)| here.is_done() && sanitizers.is_done());
    there.map(|(name, ..)| name).collect()
}

/// Runs a program that must succeed and returns what it printed.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
