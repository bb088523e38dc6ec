//! Ctrl-C ends a run and keeps what was computed; a second one ends the program.

use crate::diagnostics::{CommandError, Failure};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants no more.
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens to the terminal from now on.
    pub fn listen() -> Result<Self, Failure> {
        let asked = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&asked);
        ctrlc::set_handler(move || {
            if heard.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        })
        .map_err(|e| Failure::one(CommandError::Interrupt(e.to_string())))?;
        Ok(Self(asked))
    }

    /// Ctrl-C was pressed.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
