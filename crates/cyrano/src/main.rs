//! The command line: the only crate that reads files or prints.
//!
//! **Invariants:** results go to standard output, everything else to standard error; a verdict is printed only after the reference
//! interpreter has confirmed the execution behind it; the exit code is that of the gravest verdict (0 verified, 1 violated,
//! 2 bad input, 3 unknown, 4 bounded, 5 vacuous), 70 for a fault of Cyrano itself and 130 after a second interrupt.

mod args;
mod cache;
mod cluster;
mod command_line;
mod commands;
mod console;
mod diagnostics;
mod failure;
mod inputs;
mod interrupt;
mod library;
mod litmus;
mod models;
mod options;
mod outputs;
mod progress;
mod serve;
mod source;
mod specs;
mod traces;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use args::{CheckpointCommand, Cli, ClusterCommand, ColorChoice, Command, Format, ReportCommand};
use cyrano_session::Failure;

fn main() -> ExitCode {
    interrupt::survive_size_limits();
    let cli = Cli::parse();
    std::panic::set_hook(Box::new(|panic| console::error(&cyrano_session::bug(&panic.to_string()))));
    let outcome = std::panic::catch_unwind(|| dispatch(&cli.command));
    match outcome {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(failure)) => {
            let color = cli.command.output().map_or(ColorChoice::Auto, |output| output.color);
            console::error(&failure::message(&failure, console::error_color(color)));
            ExitCode::from(failure::exit_code(&failure))
        }
        // The hook has already said what happened.
        Err(_) => ExitCode::from(failure::INTERNAL),
    }
}

/// Runs a command; its value is the process's exit code.
fn dispatch(command: &Command) -> Result<u8, Failure> {
    // Said before any work is done.
    if let Some(output) = command.output().filter(|_| !command.has_verdicts())
        && matches!(output.format, Format::Sarif | Format::Junit)
    {
        return Err(output.format.is_for_verdicts());
    }
    match command {
        Command::Check(args) if args.watch => watch::again(&args.output, || commands::check::run(args)),
        Command::Check(args) => commands::check::run(args),
        Command::Outcomes(args) => commands::outcomes::run(args),
        Command::Fence(args) => commands::fence::run(args),
        Command::History(args) => commands::history::run(args),
        Command::Spec(args) => commands::spec::run(args),
        Command::Tables(args) => commands::tables::run(args),
        Command::Litmus(args) => commands::litmus::run(args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Export(args) => commands::export::run(args),
        Command::Replay(args) => commands::replay::run(args),
        Command::Certify(args) => commands::certify::run(args),
        Command::Report(args) => {
            let ReportCommand::Merge(args) = &args.command;
            commands::merge::run(args)
        }
        Command::Checkpoint(args) => {
            let CheckpointCommand::Info(args) = &args.command;
            commands::checkpoint::info(args)
        }
        Command::Cluster(args) => match &args.command {
            ClusterCommand::Run(args) => commands::cluster::run(args),
            ClusterCommand::Key => commands::cluster::key(),
        },
        Command::View(args) => commands::view::run(args),
        Command::Explore(args) => commands::explore::run(args),
        Command::Library(args) => commands::library::run(args),
        Command::Models(args) => commands::models::run(args),
        Command::Completions(args) => commands::generate::completions(args.shell),
        Command::Man(args) => commands::generate::man(args.command.as_deref()),
    }
}
