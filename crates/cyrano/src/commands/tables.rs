//! `cyrano tables`: a paper's experiments again, our numbers beside the paper's.
//!
//! **Invariant:** whatever the paper says is a constant in the paper's own file; everything else is computed when the command runs.

mod atomicity;
mod checkfence;
mod foil;
mod mcrt;
mod samand;

use cyrano_report::{TableReport, table_text, tables_json};

use crate::args::{Format, Paper, TablesArgs};
use crate::console;
use crate::failure::Failure;
use crate::run::VERSION;

/// A table, and whether every cell of it is known.
struct Made {
    report: TableReport,
    complete: bool,
}

/// How a table is made.
struct Recipe {
    title: &'static str,
    make: fn(&TablesArgs, &'static str) -> Result<Made, Failure>,
}

/// Runs the command. Each table is printed as soon as it is there; JSON comes as one object at the end.
pub fn run(args: &TablesArgs) -> Result<u8, Failure> {
    let (paper, recipes) = match args.paper {
        Paper::Foil => ("foil", foil::RECIPES),
        Paper::Checkfence => ("checkfence", checkfence::RECIPES),
        Paper::Atomicity => ("atomicity", atomicity::RECIPES),
        Paper::Mcrt => ("mcrt", mcrt::RECIPES),
        Paper::Samand => ("samand", samand::RECIPES),
    };
    let wanted = |recipe: &&Recipe| args.only.as_ref().is_none_or(|text| recipe.title.contains(text.as_str()));
    let mut tables = Vec::new();
    let mut complete = true;
    for recipe in recipes.iter().filter(wanted) {
        let made = (recipe.make)(args, recipe.title)?;
        complete &= made.complete;
        if args.output.format == Format::Text {
            let gap = if tables.is_empty() { "" } else { "\n" };
            let text = table_text(&made.report, !args.output.quiet, console::style(&args.output));
            console::print(&format!("{gap}{text}"))?;
        }
        tables.push(made.report);
    }
    if tables.is_empty() {
        let titles: Vec<String> = recipes.iter().map(|recipe| format!("\n  {}", recipe.title)).collect();
        return Err(Failure::input(format!("no table has this in its title; the tables are{}", titles.concat())));
    }
    if args.output.format == Format::Json {
        console::print(&tables_json(paper, &tables, VERSION))?;
    }
    Ok(if complete { 0 } else { 3 })
}
