//! `cyrano certify`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, seconds};

const EXAMPLES: &str = "\
A certificate is the set of all states of a program under a memory model, with the program and what is claimed about it.
It is checked without a search: the initial states are in the set, every single step from every state of the set leads into the
set, and nothing in it is wrong. The steps are those of the reference interpreter, which shares no code with the engine that
found the states: that engine, its reductions and its tables need not be trusted. The source in the certificate is compiled
again and has to give the program that is proven. docs/certificates.md says what is left to trust.

Exit code 0: accepted. 1: refused; the first reason is shown, with the state and the step that leaves the set or goes wrong.
2: the file is no certificate, or damaged. 3: the time limit was reached.

Examples:
  cyrano check lib:litmus/peterson_fenced.rml --model tso --certificate peterson.cert; cyrano certify peterson.cert
  cyrano check lib:datatypes/msn.c --test T0 --model pso --certificate msn.cert; cyrano certify msn.cert --format json";

/// `cyrano certify`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CertifyArgs {
    /// A file written by `check --certificate`
    #[arg(value_name = "CERTIFICATE")]
    pub certificate: PathBuf,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<std::time::Duration>,
    #[command(flatten)]
    pub output: OutputArgs,
}
