//! Options of `cyrano explore`.

use clap::Args;

use super::{TestArgs, constant};

const EXAMPLES: &str = "\
Serves a page on 127.0.0.1 that offers, at every state, each step that the memory model allows: which thread, which
access, which choice; back and forth, and whatever goes wrong. Standard output is its address, which has a random
token in it. Ctrl-C ends it.

Examples:
  cyrano explore lib:litmus/sb.rml --model tso
  cyrano explore lock.rml --model pso --set N=2
  cyrano explore lib:datatypes/msn_unfenced.c --test T0 --model pso --port 8080 --no-open";

/// `cyrano explore`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ExploreArgs {
    /// The file: a path, or `lib:NAME` for the built-in library
    #[arg(value_name = "FILE")]
    pub file: String,
    /// The memory model: a name (see `cyrano models`) or the path of a model file
    #[arg(long, value_name = "MODEL", default_value = "sc")]
    pub model: String,
    /// Give a constant of the file another value
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub set: Vec<(String, i128)>,
    /// The port on 127.0.0.1; 0 is any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Only print the address, start no browser
    #[arg(long)]
    pub no_open: bool,
    #[command(flatten)]
    pub tests: TestArgs,
}
