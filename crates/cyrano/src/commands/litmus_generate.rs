//! `cyrano litmus generate`.

use crate::args::GenerateArgs;
use crate::failure::Failure;

/// Runs the command.
pub fn run(_args: &GenerateArgs) -> Result<u8, Failure> {
    Err(Failure::input("pending"))
}
