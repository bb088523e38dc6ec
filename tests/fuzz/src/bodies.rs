//! Files of finite-element programs: refused, or put together and condensed without a panic. An input is up to four
//! files with a line of dashes between them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reducer::finite_elements::{FeBody, Modes, Role, SourceFile, Units, read};

/// Bodies above this are legitimate but slow under instrumentation.
const MOST_DOFS: usize = 300;

fuzz_target!(|text: &str| {
    let mut contents = Vec::new();
    for part in text.splitn(4, fuzz::BETWEEN_FILES) {
        let bytes = part.as_bytes();
        let Ok(content) = read(SourceFile { name: "f", bytes }) else {
            return;
        };
        contents.push((Role::Any, content));
    }
    let Ok(body) = FeBody::new(contents, &[], Units::default()) else {
        return;
    };
    if body.dofs.len() > MOST_DOFS {
        return;
    }
    let interfaces = body.interfaces();
    if !interfaces.is_empty() {
        let _ = body.condense(&interfaces, Modes::Count(2));
    }
});
