//! Options of every command that prints a result: its form, its amount, its colours.

use clap::{Args, ValueEnum};
use cyrano_session::Failure;

use super::{Command, ModelsArgs, ModelsCommand, ReportArgs, ReportCommand, SpecArgs, SpecCommand};

/// Options of every command that prints a result.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output options")]
pub struct OutputArgs {
    /// The form of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Verdicts only: no executions, no progress, no remarks
    #[arg(long, short)]
    pub quiet: bool,
    /// When to colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

/// The form of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code hosts (check, fence, litmus, report)
    Sarif,
    /// JUnit XML, for CI systems (check, fence, litmus, report)
    Junit,
}

impl Format {
    /// The complaint about a form that the command does not have.
    pub fn is_for_verdicts(self) -> Failure {
        let name = self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        Failure::input(format!(
            "--format {name} is for verdicts: check, fence, litmus and report have it; this command has text and json"
        ))
    }
}

impl Command {
    /// How its result is printed; none if it has no such options.
    pub fn output(&self) -> Option<&OutputArgs> {
        match self {
            Self::Check(args) => Some(&args.output),
            Self::Outcomes(args) => Some(&args.output),
            Self::Fence(args) => Some(&args.output),
            Self::History(args) => Some(&args.output),
            Self::Spec(SpecArgs { command: SpecCommand::Compare(args) }) => Some(&args.output),
            Self::Litmus(args) => Some(&args.output),
            Self::Compare(args) => Some(&args.output),
            Self::Export(args) => Some(&args.output),
            Self::Replay(args) => Some(&args.output),
            Self::Certify(args) => Some(&args.output),
            Self::Report(ReportArgs { command: ReportCommand::Merge(args) }) => Some(&args.output),
            Self::Tables(args) => Some(&args.output),
            Self::Models(ModelsArgs { command: Some(ModelsCommand::Compare(args)), .. }) => Some(&args.output),
            Self::Models(ModelsArgs { command: Some(ModelsCommand::Table(args)), .. }) => Some(&args.output),
            Self::Models(args) => Some(&args.output),
            _ => None,
        }
    }

    /// Whether its results are verdicts, which have every form.
    pub fn has_verdicts(&self) -> bool {
        matches!(self, Self::Check(_) | Self::Fence(_) | Self::Litmus(_) | Self::Report(_))
    }
}

/// When to colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
