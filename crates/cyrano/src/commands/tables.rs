//! `cyrano tables`: the papers' experiments again, our numbers beside theirs.

use cyrano_report::{chart_svg, table_text, tables_json};
use cyrano_session::{Failure, VERSION};
use cyrano_tables::{Kept, PAPERS, Paper, Recipe, Setup};

use crate::args::{Format, TablesArgs};
use crate::outputs::Outputs;
use crate::source::Disk;
use crate::{console, options};

/// Runs the command. Each table is printed as soon as it is there; JSON comes as one object at the end.
pub fn run(args: &TablesArgs) -> Result<u8, Failure> {
    let papers: Vec<&Paper> = args.paper.map_or_else(|| PAPERS.iter().collect(), |paper| vec![paper]);
    let outputs = Outputs::new(&args.output);
    outputs.claim("--svg", args.svg.as_deref())?;
    let setup = Setup { files: &Disk, options: options::options()?, timeout: args.timeout, kept: Kept::default() };
    let wanted = |recipe: &Recipe| args.only.as_ref().is_none_or(|text| recipe.title.contains(text.as_str()));
    let mut tables = Vec::new();
    let mut complete = true;
    let mut charts = Vec::new();
    let recipes = || papers.iter().flat_map(|paper| paper.recipes.iter().map(move |recipe| (*paper, recipe)));
    let mut last = None;
    for (paper, recipe) in recipes().filter(|(_, recipe)| wanted(recipe)) {
        let made = recipe.make(&setup)?;
        complete &= made.complete;
        if args.output.format == Format::Text {
            let gap = if tables.is_empty() { "" } else { "\n" };
            let text = table_text(&made.report, !args.output.quiet, console::style(&args.output));
            let heading = if papers.len() > 1 && last != Some(paper.name) {
                format!("{}\n\n", paper.what)
            } else {
                String::new()
            };
            console::print(&format!("{gap}{heading}{text}"))?;
            last = Some(paper.name);
        }
        tables.push(made.report);
        charts.extend(made.chart);
    }
    if tables.is_empty() {
        let titles: Vec<String> = recipes().map(|(_, recipe)| format!("\n  {}", recipe.title)).collect();
        return Err(Failure::input(format!("no table has this in its title; the tables are{}", titles.concat())));
    }
    if args.output.format == Format::Json {
        console::print(&tables_json(args.paper.map_or("all", |paper| paper.name), &tables, VERSION))?;
    }
    if let Some(path) = &args.svg {
        match charts.first() {
            Some(chart) => _ = outputs.save("--svg", path, "chart saved to", &chart_svg(chart)),
            None => {
                outputs.fail("--svg: none of these tables is a chart in the paper; Fig. 10b of `tables checkfence` is")
            }
        }
    }
    Ok(outputs.exit(if complete { 0 } else { 3 }))
}
