//! Generated C in single precision on a microcontroller: cross-compiled for a Cortex-M4F, linked
//! without an operating system and run in an emulator.

use crate::generated::{
    CROSS_COMPILER, EMULATOR, LARGEST_ON_BOARD, NO_CONTRACTION, WARNINGS, run, write_c,
};
use crate::models::{MECHANISMS, model};
use exporters::ExportOptions;
use std::path::Path;
use std::process::Command;

const PROCESSOR: [&str; 4] = [
    "-mcpu=cortex-m4",
    "-mthumb",
    "-mfpu=fpv4-sp-d16",
    "-mfloat-abi=hard",
];

/// Memory of the board MPS2 with the processor of AN386.
const LINKER_SCRIPT: &str = "
MEMORY
{
    FLASH (rx) : ORIGIN = 0x00000000, LENGTH = 4M
    RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 4M
}
ENTRY(reset)
SECTIONS
{
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) . = ALIGN(4); } > FLASH
    .ARM.exidx : { *(.ARM.exidx*) . = ALIGN(4); } > FLASH
    .data : { data_start = .; *(.data*) . = ALIGN(4); data_end = .; } > RAM AT > FLASH
    data_load = LOADADDR(.data);
    .bss : { bss_start = .; *(.bss*) *(COMMON) . = ALIGN(4); bss_end = .; } > RAM
    stack_top = ORIGIN(RAM) + LENGTH(RAM);
}
";

/// Vector table, start of the processor with its floating-point unit, and the end by semihosting.
const START: &str = r#"
#include <stdint.h>
int @_selftest(void);
extern uint32_t data_start, data_end, data_load, bss_start, bss_end, stack_top;
static void leave(uint32_t code)
{
    /* SYS_EXIT_EXTENDED with ADP_Stopped_ApplicationExit. */
    const uint32_t block[2] = { 0x20026, code };
    register uint32_t operation __asm__("r0") = 0x20;
    register const uint32_t *argument __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : : "r"(operation), "r"(argument) : "memory");
    for (;;) { }
}
static void fault(void) { leave(99); }
void reset(void)
{
    const uint32_t *from = &data_load;
    /* Access to coprocessors 10 and 11: the floating-point unit. */
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
    __asm__ volatile("dsb\n isb");
    for (uint32_t *to = &data_start; to < &data_end; ++to) { *to = *from++; }
    for (uint32_t *to = &bss_start; to < &bss_end; ++to) { *to = 0; }
    leave((uint32_t)@_selftest());
}
__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    &stack_top, (void *)reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault, (void *)fault
};
"#;

/// Compiles, links and runs the self-test; returns the bytes of code and constants of the model.
fn run_on_microcontroller(name: &str, folder: &Path) -> usize {
    let options = ExportOptions {
        single: true,
        prefix: None,
    };
    write_c(model(name), &options, folder);
    let write = |file: &str, text: &str| std::fs::write(folder.join(file), text).expect("a folder");
    write("board.ld", LINKER_SCRIPT);
    write("start.c", &START.replace('@', name));
    let gcc = || {
        let mut gcc = Command::new("arm-none-eabi-gcc");
        gcc.current_dir(folder)
            .args(PROCESSOR)
            .args(["-O2", NO_CONTRACTION]);
        gcc
    };
    for source in [name, &format!("{name}_selftest")] {
        run(gcc().args(WARNINGS).arg("-c").arg(format!("{source}.c")));
    }
    run(gcc()
        .args([
            "-nostartfiles",
            "-T",
            "board.ld",
            "-o",
            "model.elf",
            "start.c",
        ])
        .args([format!("{name}.o"), format!("{name}_selftest.o")])
        .arg("-lm"));
    run(Command::new("timeout")
        .current_dir(folder)
        .args([
            "120",
            "qemu-system-arm",
            "-M",
            "mps2-an386",
            "-nographic",
            "-monitor",
            "none",
        ])
        .args([
            "-serial",
            "none",
            "-semihosting-config",
            "enable=on,target=native",
        ])
        .args(["-kernel", "model.elf"]));
    let sizes = run(Command::new("arm-none-eabi-size")
        .current_dir(folder)
        .arg(format!("{name}.o")));
    let text = sizes
        .lines()
        .nth(1)
        .and_then(|l| l.split_whitespace().next());
    text.and_then(|t| t.parse().ok()).expect("a size")
}

#[test]
fn self_test_passes_on_a_microcontroller() {
    if !(CROSS_COMPILER.is_done() && EMULATOR.is_done()) {
        return;
    }
    for name in MECHANISMS {
        if name == "hexapod" && !LARGEST_ON_BOARD.is_done() {
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let bytes = run_on_microcontroller(name, folder.path());
        eprintln!("{name}: self-test passed on a Cortex-M4F, {bytes} bytes of code and constants");
    }
}
