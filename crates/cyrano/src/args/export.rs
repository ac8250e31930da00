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
--proof: the formula is solved once more, by varisat, which writes down a proof that checkers of DRAT accept (`rate`, `drat-trim`):
`rate NAME.cnf NAME.drat`.
--smt2: SMT-LIB 2, for Z3, cvc5 and others. The place of an access in the memory order is an integer; comments say which names
stand for which access, so that a model can be read.
Without --bound the question is answered first; its loops have the bounds that were found sufficient.

With --aut: the transition system instead, for CADP, mCRL2 and other tools that read Aldebaran's `des (initial, transitions, states)`. The labels are
the events of transactions (`1 load g[0]`, `1 rfin`, `2 commit`), or the accesses of a program without transactions; everything else is `i`.

Exit code 0: all formulas, or the system, were written. 3: some check has none, or a limit was reached.

Examples:
  cyrano export lib:datatypes/msn.c --test T0 --model relaxed --dimacs formulas/
  cyrano export lib:litmus/peterson_fenced.rml --model tso --dimacs formulas/ --proof
  cyrano export lib:datatypes/snark.c --test Dq --model relaxed --bound 2 --dimacs formulas/
  cyrano export lib:tm-objects/core_mcrt.rml --test P_WE --model declared --smt2 formulas/
  cyrano export lib:stm/global_lock.rml --aut global_lock.aut";

/// `cyrano export`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// Files whose checks are wanted: paths, or `lib:NAME` for the built-in library
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// The directory for the formulas, one `.cnf` file for each check; it is created if need be
    #[arg(long, value_name = "DIR", required_unless_present_any = ["smt2", "aut"], conflicts_with = "smt2")]
    pub dimacs: Option<PathBuf>,
    /// Beside each formula that is unsatisfiable a proof of that, in DRAT form: NAME.drat beside NAME.cnf
    #[arg(long, requires = "dimacs", conflicts_with_all = ["smt2", "aut"])]
    pub proof: bool,
    /// The same as SMT-LIB 2 scripts, one `.smt2` file for each check
    #[arg(long, value_name = "DIR")]
    pub smt2: Option<PathBuf>,
    /// The file for the transition system of a program under a single model, in the Aldebaran format
    #[arg(long, value_name = "OUT", conflicts_with_all = ["dimacs", "smt2", "bound", "criterion", "reference"])]
    pub aut: Option<PathBuf>,
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
