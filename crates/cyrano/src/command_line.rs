//! What a command line says about the checks that it asks for: parts of one whole have this in common.

use std::collections::BTreeMap;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};

use crate::args::Cli;

/// Arguments that say nothing about what is checked. A shard that ran out of time or memory can be done again with more of it.
const UNRELATED: [&str; 20] = [
    "shard",
    "watch",
    "format",
    "quiet",
    "color",
    "progress",
    "workers",
    "timeout",
    "test_timeout",
    "memory",
    "save_trace",
    "html",
    "svg",
    "dot",
    "mermaid",
    "cluster",
    "process",
    "cluster_key",
    "cluster_wait",
    "cluster_silence",
];

/// The command that this process runs and its arguments by name, as far as they matter.
pub fn now() -> (String, BTreeMap<String, Vec<String>>) {
    command_line(&Cli::command().get_matches())
}

/// The command and its arguments by name, as far as they matter.
fn command_line(matches: &ArgMatches) -> (String, BTreeMap<String, Vec<String>>) {
    let mut options = BTreeMap::new();
    let Some((name, given)) = matches.subcommand() else { return (String::new(), options) };
    let cli = Cli::command();
    let arguments = cli.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
    for argument in arguments {
        let id = argument.get_id().as_str();
        // Options of clap's own, such as --help, have no values.
        let known = given.try_contains_id(id).unwrap_or(false);
        if !known || UNRELATED.contains(&id) || given.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let values = given.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy().into_owned());
        let name = argument.get_long().map_or_else(|| id.to_owned(), |long| format!("--{long}"));
        options.insert(name, values.collect());
    }
    (name.to_owned(), options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_is_kept_of_a_command_line() {
        let line = |text: &str| {
            let words = text.split_whitespace();
            command_line(&Cli::command().try_get_matches_from(words).expect("it is a command line"))
        };
        let plain = line("cyrano check a.rml b.rml --model sc,tso --no-minimise");
        let other =
            "cyrano check --shard 2/3 --model sc a.rml --model tso b.rml --timeout 9 -q --save-trace x --no-minimise";
        assert_eq!(plain, line(other));
        assert_eq!((plain.0.as_str(), plain.1.len()), ("check", 3));
        assert_eq!(plain.1["--model"], ["sc", "tso"]);
        assert_ne!(plain, line("cyrano check a.rml b.rml --model sc,tso"));
        assert_eq!(line("cyrano litmus tests --compare").1.len(), 2);
    }

    #[test]
    fn unrelated_arguments_have_their_names() {
        let cli = Cli::command();
        let commands = ["check", "litmus"].map(|name| cli.find_subcommand(name).expect("there is a command"));
        let arguments = commands.into_iter().flat_map(clap::Command::get_arguments);
        let ids: Vec<&str> = arguments.map(|argument| argument.get_id().as_str()).collect();
        assert!(UNRELATED.iter().all(|name| ids.contains(name)), "{ids:?}");
    }
}
