//! `cyrano export`.

use std::path::PathBuf;

use clap::Args;
use cyrano_criteria::table::Claim;
use cyrano_symbolic::Form;

use super::{OutputArgs, RunArgs, TestArgs, named};

const EXAMPLES: &str = "\
Writes each check as a formula, so that another solver can confirm a verdict or try what takes too long here. Comments in the
file say what satisfiable and unsatisfiable mean.
--dimacs: for SAT solvers. The order of accesses is encoded by clauses (transitivity for every triple), so that files grow
with the cube of the number of accesses.
--smt2: SMT-LIB 2, for Z3, cvc5 and others. The place of an access in the memory order is an integer; comments say which names
stand for which access, so that a model can be read.
Without --bound the question is answered first; its loops have the bounds that were found sufficient.

Exit code 0: all formulas were written. 3: some check has none.

Examples:
  cyrano export lib:datatypes/msn.c --test T0 --model relaxed --dimacs formulas/
  cyrano export lib:datatypes/snark.c --test Dq --model relaxed --bound 2 --dimacs formulas/
  cyrano export lib:tm-objects/core_mcrt.rml --test P_WE --model declared --smt2 formulas/";

/// `cyrano export`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// Files whose checks are wanted: paths, or `lib:NAME` for the built-in library
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// The directory for the formulas, one `.cnf` file for each check; it is created if need be
    #[arg(long, value_name = "DIR", required_unless_present = "smt2", conflicts_with = "smt2")]
    pub dimacs: Option<PathBuf>,
    /// The same as SMT-LIB 2 scripts, one `.smt2` file for each check
    #[arg(long, value_name = "DIR")]
    pub smt2: Option<PathBuf>,
    /// Repeat every loop at most this often and solve nothing
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub bound: Option<u16>,
    /// Only checks of these kinds
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = named::criterion())]
    pub criterion: Vec<Claim>,
    /// Compare observations with the serial ones of this program instead, which has the same tests
    #[arg(long, value_name = "FILE")]
    pub reference: Option<String>,
    #[command(flatten)]
    pub tests: TestArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl ExportArgs {
    /// How formulas are written, the option that says so, and the directory for them.
    pub fn form(&self) -> (Form, &'static str, PathBuf) {
        match (&self.smt2, &self.dimacs) {
            (Some(folder), _) => (Form::Smt2, "--smt2", folder.clone()),
            (None, folder) => (Form::Dimacs, "--dimacs", folder.clone().unwrap_or_default()),
        }
    }
}
