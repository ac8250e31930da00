//! Files that a run writes besides its result: the traces of its executions, as data and as drawings.

use std::path::PathBuf;

use clap::Args;

/// Where the executions of a run go. Of several, the second goes to NAME-2, and so on.
#[derive(Args, Debug)]
#[command(next_help_heading = "Files (of several executions the second goes to NAME-2, and so on)")]
pub struct DrawingArgs {
    /// Draw the execution as a picture for papers and slides
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the execution as a graph for Graphviz
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write the execution as a Mermaid sequence diagram, for pull requests
    #[arg(long, value_name = "FILE")]
    pub mermaid: Option<PathBuf>,
}
