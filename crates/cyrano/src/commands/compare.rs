//! `cyrano compare`: the outcomes that one memory model allows and another forbids, each with an execution.

use crate::args::CompareModelsArgs;
use crate::failure::Failure;

/// Runs the command.
pub fn run(_args: &CompareModelsArgs) -> Result<u8, Failure> {
    Err(Failure::input("pending"))
}
