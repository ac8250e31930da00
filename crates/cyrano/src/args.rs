//! Every command and option, each defined once: parser, help, man page and completions all come from here.

mod c_tests;
mod certify;
mod cluster;
mod explore;
mod export;
mod files;
mod large;
mod litmus;
mod named;
mod output;
mod report;
mod transactions;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use cyrano_criteria::table::Claim;
use cyrano_session::{EngineName, Reduction, Shard};

pub use c_tests::TestArgs;
pub use certify::CertifyArgs;
pub use cluster::{ClusterArgs, ClusterCommand, ClusterCommandArgs, ClusterRunArgs};
pub use explore::ExploreArgs;
pub use export::ExportArgs;
pub use files::DrawingArgs;
pub use large::{CheckpointArgs, CheckpointCommand, InfoArgs, LargeArgs};
pub use litmus::{
    CompareModelsArgs, GenerateArgs, Language, LitmusArgs, LitmusCommand, ModelsCommand, TableArgs, TellApartArgs,
};
pub use output::{ColorChoice, Format, OutputArgs};
pub use report::{MergeArgs, ReportArgs, ReportCommand};
pub use transactions::{CompareArgs, FenceArgs, HistoryArgs, SpecArgs, SpecCommand, TablesArgs};

const EXAMPLES: &str = "\
Examples:
  cyrano check lib:litmus/sb.rml                 run the checks that the file declares
  cyrano check lock.rml --model sc,tso,pso       run its checks on these models
  cyrano outcomes lib:litmus/fig4.rml --model sc,tso,pso,rmo
  cyrano check lock.rml --save-trace bug.json    keep the counterexample
  cyrano replay bug.json                         and confirm it again later
  cyrano check lock.rml --certificate lock.cert  keep the proof of a verified answer
  cyrano certify lock.cert                       and check it again later, without a search
  cyrano fence lib:stm/tl2.rml --model pso       minimal fences that repair it
  cyrano litmus tests/ --model sc,tso            herd's litmus tests, a whole folder
  cyrano library list                            what is built in
  cyrano models                                  the memory models, explained
  cyrano models compare tso pso                  the smallest tests that tell them apart

Exit codes: 0 verified, 1 violated, 2 bad input or usage, 3 unknown (a limit was reached),
4 bounded (nothing wrong up to a bound), 5 vacuous (nothing was exercised).
With several checks the worst counts: 1, then 3, 4, 5, then 0.";

const CHECK_EXAMPLES: &str = "\
Which checks run:
  Without --model and --criterion: the file's own `check` declarations (without `on`: sc).
  --model M        those that name M; if none does, every property of the file on M.
  --criterion C    only the file's checks of that kind; `assertions` works on any file,
                   `opacity`, `strict-serializability`, `progress` on any `stm`,
                   `observations` on any file that observes something;
                   `spec:NAME` (see `cyrano spec list`) and `spec:FILE` on any `stm` without values.
C files:
  Every test of the tests file beside it, `observations`, on the models that its header names
  (`//@ tso: verified`; without such lines: sc).

Examples:
  cyrano check lib:litmus/peterson.rml --model tso
  cyrano check mylock.rml --criterion assertions --model sc,tso --set N=3
  cyrano check lib:stm/tl2.rml --model sc,pso --criterion opacity --set threads=2 --set vars=1
  cyrano check lib:datatypes/msn.c --test T0,Ti2 --model sc,tso,pso
  cyrano check queue.c --all-tests 3 --reference simple_queue.c
  cyrano check a.rml b.rml --format json --timeout 60 > report.json
  cyrano check mylock.rml --model my-machine.model
  cyrano check locks/ --model x86                        every program in a folder; x86 is tso
  generate | cyrano check - --language rml --model all   standard input, on every model that fits";

const OUTCOMES_EXAMPLES: &str = "\
Prints every valuation that the observed variables can have when all threads are done.
With several models, outcomes that the model before did not have are marked `new`.

Examples:
  cyrano outcomes lib:litmus/sb.rml --model sc,tso
  cyrano outcomes lib:litmus/fig4.rml --model sc,tso,pso,rmo --format json
  cyrano outcomes lib:datatypes/msn.c --test T0 --model serial,pso";

const REPLAY_EXAMPLES: &str = "\
The trace carries its program and its memory model, so no other file is needed.
With --source it is also replayed against a later version of the program: the first step that no longer fits is
named, with what was recorded and what is there now.
Exit code 0: confirmed. 1: it no longer fits the later version. 2: it is no trace, or does not fit its own program.

Examples:
  cyrano check lib:litmus/sb.rml --model tso --save-trace sb.json; cyrano replay sb.json
  cyrano replay bug.json --source lock.rml
  cyrano replay bug.json --svg bug.svg --mermaid bug.mmd";

const VIEW_EXAMPLES: &str = "\
The page is one file that needs nothing else; it can be attached to a mail or a pull request.
Standard output is the name of the page.

Examples:
  cyrano view bug.json
  cyrano check lock.rml --format json > report.json; cyrano view report.json -o report.html --no-open";

const MODELS_EXAMPLES: &str = "\
A model of your own is a small text file:
  model my-machine
  summary Stores are buffered, but a thread cannot read its own buffer.
  keep different: load-load, load-store, store-store
  keep same: all
  forward: no
  dependencies: none

Examples:
  cyrano models
  cyrano models rmo
  cyrano models my-machine.model
  cyrano models compare tso pso                  the smallest tests that tell them apart
  cyrano models table                            the classical tests under every model

A .cat file, in herd's language, is a model, too: `cyrano library show models/tso.cat` is one.";

/// Verification workbench for concurrent algorithms on relaxed memory.
#[derive(Parser, Debug)]
#[command(name = "cyrano", version = env!("CYRANO_VERSION"), arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Check whether programs are correct on memory models
    Check(CheckArgs),
    /// List every final valuation of the variables a file observes
    Outcomes(OutcomesArgs),
    /// Find minimal fences that make a program correct
    Fence(FenceArgs),
    /// Judge a recorded history of transactions
    History(HistoryArgs),
    /// Compare specifications of transactional memories
    Spec(SpecArgs),
    /// Run litmus tests in herd's format
    Litmus(LitmusArgs),
    /// List the outcomes that one memory model allows and another forbids
    Compare(CompareModelsArgs),
    /// Write checks as formulas for other SAT solvers
    Export(ExportArgs),
    /// Replay a saved trace in the reference interpreter
    Replay(ReplayArgs),
    /// Check the certificate of a verified answer
    Certify(CertifyArgs),
    /// Join the reports of several runs
    Report(ReportArgs),
    /// Say what is in the checkpoint of a large run
    Checkpoint(CheckpointArgs),
    /// Try out a search on several machines, or make a key for one
    Cluster(ClusterCommandArgs),
    /// Show a saved trace or JSON report in a browser
    View(ViewArgs),
    /// Step through a program by hand, in a browser
    Explore(ExploreArgs),
    /// Run a paper's experiments again and print our numbers beside the paper's
    Tables(TablesArgs),
    /// List, show or export the built-in algorithms
    Library(LibraryArgs),
    /// Explain the memory models, or one of them
    Models(ModelsArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or that of one command
    Man(ManArgs),
}

/// `cyrano check`.
#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Files or folders to check: paths, `lib:NAME` for the built-in library, or `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Only checks of these kinds
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = named::CriterionParser)]
    pub criterion: Vec<Claim>,
    /// Compare observations with the serial ones of this program instead, which has the same tests
    #[arg(long, value_name = "FILE")]
    pub reference: Option<String>,
    /// Check again whenever a file changes that was read, until Ctrl-C
    #[arg(long, conflicts_with_all = ["cluster", "shard", "disk"])]
    pub watch: bool,
    /// Do only part I of N of the checks, to be joined by `cyrano report merge`
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Look at part I of N of the executions of each check (graphs)
    #[arg(long, value_name = "I/N", conflicts_with_all = ["cluster", "certificate"])]
    pub part: Option<Shard>,
    /// Write the trace of a violation or witness to this file (a second one to NAME-2, and so on)
    #[arg(long, value_name = "FILE")]
    pub save_trace: Option<PathBuf>,
    /// Write the certificate of a verified answer to this file (a second one to NAME-2, and so on), for `cyrano certify`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cluster", "disk", "fingerprint"])]
    pub certificate: Option<PathBuf>,
    /// Write everything as one page for a browser to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub drawings: DrawingArgs,
    #[command(flatten)]
    pub tests: TestArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub large: LargeArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `cyrano outcomes`.
#[derive(Args, Debug)]
#[command(after_help = OUTCOMES_EXAMPLES)]
pub struct OutcomesArgs {
    /// The file: a path, or `lib:NAME` for the built-in library
    #[arg(value_name = "FILE")]
    pub file: String,
    #[command(flatten)]
    pub tests: TestArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `cyrano replay`.
#[derive(Args, Debug)]
#[command(after_help = REPLAY_EXAMPLES)]
pub struct ReplayArgs {
    /// A file written by --save-trace
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Replay against this file, a later version of the program, and say what no longer fits
    #[arg(long, value_name = "FILE")]
    pub source: Option<String>,
    /// Write the execution as a page for a browser to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub drawings: DrawingArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `cyrano view`.
#[derive(Args, Debug)]
#[command(after_help = VIEW_EXAMPLES)]
pub struct ViewArgs {
    /// A file written by --save-trace, or by --format json of `check`, `fence` or `replay`
    #[arg(value_name = "TRACE|REPORT")]
    pub file: PathBuf,
    /// Write the page to this file [default: a new file in the directory for temporary files]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only write the page and print its name
    #[arg(long)]
    pub no_open: bool,
}

/// `cyrano library`.
#[derive(Args, Debug)]
pub struct LibraryArgs {
    /// What to do with the library.
    #[command(subcommand)]
    pub command: LibraryCommand,
}

/// What to do with the library.
#[derive(Subcommand, Debug)]
pub enum LibraryCommand {
    /// List the built-in files with a sentence each
    List {
        /// Only those with this in their name or sentence (of several words, any)
        patterns: Vec<String>,
    },
    /// Print one file
    Show {
        /// The file's name, as `library list` prints it, or its last part if that says which is meant
        name: String,
    },
    /// Write all files below a directory
    Export {
        /// The directory; it is created if need be
        dir: PathBuf,
        /// Overwrite files that have other content
        #[arg(long)]
        force: bool,
    },
}

/// `cyrano models`.
#[derive(Args, Debug)]
#[command(after_help = MODELS_EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct ModelsArgs {
    /// Compare models instead.
    #[command(subcommand)]
    pub command: Option<ModelsCommand>,
    /// A model's name, or the path of a model file or a .cat file; all named models without it
    #[arg(value_name = "NAME|FILE")]
    pub model: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `cyrano completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `cyrano man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// The command whose page is wanted
    pub command: Option<String>,
}

/// Options of every run of an engine.
#[derive(Args, Debug)]
#[command(next_help_heading = "Run options")]
pub struct RunArgs {
    /// Memory models: names (see `cyrano models`), paths of model files, or `all` for those that the checks can be run on
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub model: Vec<String>,
    /// Give a constant of the file another value
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub set: Vec<(String, i128)>,
    /// The language of standard input, which is called `-`
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Option<SourceLanguage>,
    /// The engine; auto takes explore where it is exact, else symbolic, else interp
    // The path keeps clap from taking this for an argument that may be missing: no engine is `auto`.
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = named::engine())]
    pub engine: std::option::Option<EngineName>,
    /// Stop after this many seconds in all; checks not decided by then are unknown
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<std::time::Duration>,
    /// Use at most this much memory for all checks together, in MiB or like `4G` [default: 8192]
    #[arg(long, value_name = "MIB", value_parser = mebibytes)]
    pub memory: Option<u64>,
    /// Use this many threads: for several checks at a time, or for one that has many states [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: Option<u16>,
    /// Keep only 64-bit fingerprints of states (explore): less memory, but a state may be left out by accident, and the verdict says so
    #[arg(long)]
    pub fingerprint: bool,
    /// How many accesses a thread may defer at a time (explore) before the verdict is bounded; 12, and up to 96 as needed, if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub deferred: Option<u16>,
    /// How often a thread may take the same backward jump (symbolic, interp) before the verdict is bounded
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub iterations: Option<u16>,
    /// Switch a reduction off, or all of them; verdicts stay the same
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = named::reduction())]
    pub no_reduction: Vec<&'static Reduction>,
    /// Show executions as the engine found them, not made small
    #[arg(long)]
    pub no_minimise: bool,
    /// Report progress on standard error even if it is not a terminal
    #[arg(long)]
    pub progress: bool,
}

/// The language of a source that has no name to say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SourceLanguage {
    /// The native language
    Rml,
    /// C, whole programs (tests files stand beside a file)
    C,
    /// herd's format
    Litmus,
}

impl SourceLanguage {
    /// How the names of such files end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Rml => "rml",
            Self::C => "c",
            Self::Litmus => "litmus",
        }
    }
}

fn constant(text: &str) -> Result<(String, i128), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, for example N=3")?;
    let name = name.trim();
    if name.is_empty() {
        return Err("expected a name before the `=`, for example N=3".to_owned());
    }
    let value = value.trim().parse().map_err(|_| format!("`{}` is not an integer of 64 bits", value.trim()))?;
    Ok((name.to_owned(), value))
}

/// A number of MiB, or of GiB behind which `G` stands.
fn mebibytes(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.strip_suffix(['G', 'g']) {
        Some(number) => (number, 1024),
        None => (text.strip_suffix(['M', 'm']).unwrap_or(text), 1),
    };
    let expected = || "expected a number of MiB from 1 to 1073741824, or like `512M` or `4G`".to_owned();
    let mebibytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    mebibytes.filter(|mebibytes| (1..=1 << 30).contains(mebibytes)).ok_or_else(expected)
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    std::time::Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}
