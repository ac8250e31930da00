//! `cyrano litmus`, `cyrano litmus generate`, `cyrano compare` and `cyrano models compare`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use cyrano_session::Shard;

use super::{OutputArgs, RunArgs, seconds};

const LITMUS_EXAMPLES: &str = "\
Reads tests for X86, X86_64, AArch64, RISCV, PPC and C (C11's atomics or the Linux kernel's functions);
folders are searched for `*.litmus`.
Without --model: tso for X86 and X86_64, armv8 for AArch64, riscv for RISCV, power for PPC, sc for C
(rc11 is C11's own model, lkmm the kernel's).
`Observation` says in how many final states the proposition holds: Never, Sometimes, Always.
A test that is not supported is refused with a reason and never guessed.

Exit codes: 0 every test decided, 1 an expectation is not met, 2 some test is refused,
3 some test is undecided, 70 engines disagree (--compare).

Examples:
  cyrano litmus SB.litmus
  cyrano litmus tests/ --model sc,tso --expect verdicts.txt
  cyrano litmus tests/ --compare --model tso --quiet
  cyrano litmus lib:herd/MP.litmus -v                     the executions with po, rf, co, fr; or why there are none
  cyrano litmus lib:herd/MP.litmus --svg MP.svg           the same as a picture
  cyrano litmus generate --length 4 --arch x86 --output cycles/";

const COMPARE_EXAMPLES: &str = "\
Prints what each model allows and some other forbids, each with an execution.

Examples:
  cyrano compare --models tso,pso lib:litmus/mp.rml
  cyrano compare --models sc,tso,rmo SB.litmus";

const GENERATE_EXAMPLES: &str = "\
A test is made from a cycle of relations between accesses: communications between threads (Rfe, Fre, Wse)
and steps within a thread (program order Pod.., Pos.., fences, dependencies Dp..). Cycles that differ only by where
they start are one.

Examples:
  cyrano litmus generate --length 4 --arch x86            every cycle of up to 4 relations
  cyrano litmus generate \"PodWR Fre PodWR Fre\"            this one
  cyrano litmus generate --length 6 --relations Rfe,Fre,Wse,PodRR,PodRW,PodWR,PodWW --output tests/
  cyrano litmus generate --length 4 --fences --dependencies --arch rml --output tests/";

/// `cyrano litmus`.
#[derive(Args, Debug)]
#[command(after_help = LITMUS_EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct LitmusArgs {
    /// Make tests instead of running them.
    #[command(subcommand)]
    pub command: Option<LitmusCommand>,
    /// Tests, or folders of tests; `lib:NAME` for the built-in library, `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// Compare with this list of `name verdict` lines and print the differences
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Ask every engine that can run a test, and fail if they disagree
    #[arg(long)]
    pub compare: bool,
    /// Show each execution that the condition is about: its events, po, rf, co and fr; or one that is forbidden, and why
    #[arg(long, short)]
    pub verbose: bool,
    /// Draw these executions for Graphviz, into a file `NAME.dot` (a second one to NAME-2.dot) or into a folder
    #[arg(long, value_name = "PATH")]
    pub dot: Option<PathBuf>,
    /// Draw these executions as pictures, into a file `NAME.svg` (a second one to NAME-2.svg) or into a folder
    #[arg(long, value_name = "PATH")]
    pub svg: Option<PathBuf>,
    /// Give up on a test after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    pub test_timeout: std::time::Duration,
    /// Do only part I of N of the tests and models, to be joined by `cyrano report merge`
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What `cyrano litmus` does besides running tests.
#[derive(Subcommand, Debug)]
pub enum LitmusCommand {
    /// Make tests from cycles of relations
    Generate(GenerateArgs),
}

/// `cyrano litmus generate`.
#[derive(Args, Debug)]
#[command(after_help = GENERATE_EXAMPLES)]
pub struct GenerateArgs {
    /// Cycles, each in quotes; without any, all cycles up to a length
    #[arg(value_name = "CYCLE")]
    pub cycles: Vec<String>,
    /// The number of relations in a cycle, at most
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(2..=8))]
    pub length: u8,
    /// The number of threads, at most
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub threads: u8,
    /// The relations to build from [default: Rfe, Fre, Wse and program order to another location]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub relations: Vec<String>,
    /// Program order to the same location too
    #[arg(long)]
    pub same: bool,
    /// Fences too
    #[arg(long)]
    pub fences: bool,
    /// Dependencies too (not in X86 tests)
    #[arg(long)]
    pub dependencies: bool,
    /// The language of the tests
    #[arg(long, value_name = "LANGUAGE", default_value = "x86")]
    pub arch: Language,
    /// Write each test to a file of its own in this folder, which is created if need be
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// The language of generated tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Language {
    /// herd's format, X86
    X86,
    /// herd's format, X86_64
    #[value(name = "x86_64")]
    X86_64,
    /// herd's format, AArch64
    Aarch64,
    /// herd's format, RISCV
    Riscv,
    /// herd's format, PPC
    Ppc,
    /// herd's format, C with C11's atomics
    C,
    /// herd's format, C with the Linux kernel's functions
    Kernel,
    /// The native language
    Rml,
}

/// `cyrano compare`.
#[derive(Args, Debug)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareModelsArgs {
    /// The file: a path, or `lib:NAME` for the built-in library
    #[arg(value_name = "FILE")]
    pub file: String,
    /// The memory models to compare, at least two; `--model` means the same
    #[arg(long, value_name = "LIST", value_delimiter = ',', required_unless_present = "model")]
    pub models: Vec<String>,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

const COMPARE_MODELS_EXAMPLES: &str = "\
Makes tests from cycles of relations, shortest first, and asks both models whether they allow them. What is found in a
direction is a smallest test: it has the fewest relations, then the fewest fences, dependencies and notes.
The tests are in a language that both models understand, unless --arch names one.

Exit codes: 0 no test tells them apart, 1 some test does, 2 bad input or no common language,
3 undecided (a limit was reached).

Examples:
  cyrano models compare tso pso
  cyrano models compare sc rmo --arch rml
  cyrano models compare rc11 imm --length 4
  cyrano models compare armv8 my-model.cat --format json";

/// What `cyrano models` does besides explaining them.
#[derive(Subcommand, Debug)]
pub enum ModelsCommand {
    /// Find the smallest litmus tests that tell two models apart
    Compare(TellApartArgs),
    /// Print which of the classical litmus tests each model allows
    Table(TableArgs),
}

/// `cyrano models table`.
#[derive(Args, Debug)]
pub struct TableArgs {
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `cyrano models compare`.
#[derive(Args, Debug)]
#[command(after_help = COMPARE_MODELS_EXAMPLES)]
pub struct TellApartArgs {
    /// A model's name, or the path of a model file or a .cat file
    #[arg(value_name = "A")]
    pub left: String,
    /// Another one
    #[arg(value_name = "B")]
    pub right: String,
    /// The number of relations in a cycle, at most
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(2..=8))]
    pub length: u8,
    /// The number of threads, at most
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(2..=8))]
    pub threads: u8,
    /// The number of fences, dependencies and notes (acquire, release, …) on a cycle, at most
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u8).range(0..=16))]
    pub decorations: u8,
    /// The language of the tests [default: one that both models understand]
    #[arg(long, value_name = "LANGUAGE")]
    pub arch: Option<Language>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<std::time::Duration>,
    /// Use this many threads [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: Option<u16>,
    #[command(flatten)]
    pub output: OutputArgs,
}
