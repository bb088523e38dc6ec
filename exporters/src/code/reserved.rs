//! Names that generated source cannot start with.

/// Headers of C, POSIX and compilers: a file of this name beside the source hides them.
const HEADERS: &[&str] = &[
    "alloca",
    "arm_math",
    "assert",
    "complex",
    "ctype",
    "dirent",
    "dlfcn",
    "errno",
    "fcntl",
    "features",
    "fenv",
    "float",
    "getopt",
    "inttypes",
    "iso646",
    "libgen",
    "limits",
    "locale",
    "malloc",
    "math",
    "memory",
    "poll",
    "pthread",
    "sched",
    "semaphore",
    "setjmp",
    "signal",
    "stdalign",
    "stdarg",
    "stdatomic",
    "stdbit",
    "stdbool",
    "stdckdint",
    "stddef",
    "stdint",
    "stdio",
    "stdlib",
    "stdnoreturn",
    "string",
    "strings",
    "syslog",
    "termios",
    "tgmath",
    "threads",
    "time",
    "uchar",
    "unistd",
    "values",
    "wchar",
    "wctype",
];

/// Keywords of C and C++, which name a CMake project no better than a variable.
const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Targets that CMake keeps for itself, and the library of mathematics.
const TARGETS: &[&str] = &[
    "all",
    "all_build",
    "clean",
    "depend",
    "edit_cache",
    "help",
    "install",
    "list_install_components",
    "m",
    "package",
    "package_source",
    "preinstall",
    "rebuild_cache",
    "run_tests",
    "test",
    "zero_check",
];

/// The library in CMake: the prefix, or what resembles it where that is taken.
pub(super) fn target(prefix: &str) -> String {
    if TARGETS.contains(&prefix.to_ascii_lowercase().as_str()) {
        format!("{prefix}_model")
    } else {
        prefix.to_owned()
    }
}

/// What has this name already, whatever the case: not all file systems tell cases apart.
pub(super) fn reserved(prefix: &str) -> Option<&'static str> {
    let name = prefix.to_ascii_lowercase();
    let name = name.as_str();
    if name == "example_main" {
        Some("the name of another generated file")
    } else if HEADERS.contains(&name) {
        Some("the name of a system header")
    } else if KEYWORDS.contains(&name) {
        Some("a keyword of C or C++")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_headers_keywords_and_generated_files_are_taken() {
        for name in ["math", "Float", "STDIO", "int", "template", "example_main"] {
            assert!(reserved(name).is_some(), "{name}");
        }
        for name in ["arm", "math_model", "test", "m", "four_bar"] {
            assert_eq!(reserved(name), None, "{name}");
        }
    }

    #[test]
    fn cmake_gets_a_target_of_its_own() {
        assert_eq!(target("arm"), "arm");
        assert_eq!(target("test"), "test_model");
        assert_eq!(target("m"), "m_model");
    }
}
