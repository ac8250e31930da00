//! Signals. Ctrl-C: the first one asks the engines to stop, the second one ends the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use cyrano_session::Failure;

use crate::progress;

/// The exit code after a second interrupt, as shells expect it.
const INTERRUPTED: i32 = 130;

/// Lets a write beyond the limit on the size of files (`ulimit -f`) fail like any other, instead of ending the process without a word.
pub fn survive_size_limits() {
    #[cfg(unix)]
    // SAFETY: no handler is installed, only the default action is switched off, before there are any threads.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// The flag that the first interrupt sets. Its handler is installed when somebody asks for it first.
pub fn install() -> Result<Arc<AtomicBool>, Failure> {
    static FLAG: OnceLock<Result<Arc<AtomicBool>, Failure>> = OnceLock::new();
    FLAG.get_or_init(handle).clone()
}

fn handle() -> Result<Arc<AtomicBool>, Failure> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let handler = move || {
        progress::clear();
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
        crate::console::error("\ninterrupted: stopping with what is known so far (again to stop at once)");
    };
    let installed = ctrlc::set_handler(handler);
    installed.map_err(|error| Failure::input(format!("cannot handle interrupts: {error}")))?;
    Ok(cancel)
}
