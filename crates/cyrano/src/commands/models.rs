//! `cyrano models`, and `cyrano models compare`.

use cyrano_engine::Engine;
use cyrano_ir::{OwnOrder, Program};
use cyrano_memory::Model;
use cyrano_report::{
    ModelReport, models_compare_json, models_compare_text, models_json, models_table_json, models_table_text,
    models_text,
};
use cyrano_session::distinguish::Bounds;
use cyrano_session::{Failure, Options, Runner, VERSION};
use cyrano_trace::ModelInfo;

use crate::args::{ModelsArgs, ModelsCommand, TableArgs, TellApartArgs};
use crate::commands::litmus_generate;
use crate::outputs::Outputs;
use crate::{models, options};

/// Runs the command.
pub fn run(args: &ModelsArgs) -> Result<u8, Failure> {
    match &args.command {
        Some(ModelsCommand::Compare(args)) => return compare(args),
        Some(ModelsCommand::Table(args)) => return table(args),
        None => {}
    }
    let models = match &args.model {
        Some(name) => vec![models::resolve(name)?],
        None => cyrano_memory::all().into_iter().chain(cyrano_memory::relational()).collect(),
    };
    let runner = Runner::new(&options::options()?, usize::MAX);
    let reports: Vec<ModelReport> = models.iter().map(|model| report(&runner, model)).collect();
    let outputs = Outputs::new(&args.output);
    outputs.plain(&args.output, || models_json(&reports, VERSION), |_, style| models_text(&reports, style));
    Ok(outputs.exit(0))
}

fn compare(args: &TellApartArgs) -> Result<u8, Failure> {
    let (left, right) = (models::resolve(&args.left)?, models::resolve(&args.right)?);
    let (workers, timeout) = (args.workers.map(usize::from), args.timeout);
    let options = Options { workers, timeout, ..options::options()? };
    let bounds =
        Bounds { length: args.length.into(), threads: args.threads.into(), decorations: args.decorations.into() };
    let runner = Runner::new(&options, usize::MAX);
    let report = runner.tell_apart(&left, &right, args.arch.map(litmus_generate::target), bounds)?;
    let outputs = Outputs::new(&args.output);
    let json = || models_compare_json(&report, VERSION);
    outputs.plain(&args.output, json, |_, style| models_compare_text(&report, style));
    Ok(outputs.exit(match report.equivalent {
        Some(true) => 0,
        Some(false) => 1,
        None => 3,
    }))
}

fn table(args: &TableArgs) -> Result<u8, Failure> {
    let runner = Runner::new(&options::options()?, usize::MAX);
    let tables = [cyrano_memory::all(), cyrano_memory::relational()];
    let tables = tables.iter().map(|models| runner.classical(models)).collect::<Result<Vec<_>, Failure>>()?;
    let outputs = Outputs::new(&args.output);
    let json = || models_table_json(&tables, VERSION);
    outputs.plain(&args.output, json, |_, style| models_table_text(&tables, style));
    Ok(outputs.exit(0))
}

/// An engine that takes the empty program takes the model; whether it takes every program is asked with some that are hard.
fn report(runner: &Runner, model: &Model) -> ModelReport {
    let takes = |engine: &dyn Engine, program: Program| engine.runs(&with_order(program, model), model);
    let run = runner.engines().filter(|engine| takes(*engine, Program::default()));
    let described = run.map(|engine| {
        let hard = [(LOADED_ADDRESS, "an address depends on a loaded value"), (SETUP, "there is a setup thread")];
        let but: Vec<&str> =
            hard.into_iter().filter(|(text, _)| !takes(engine, read(text))).map(|(_, it)| it).collect();
        if but.is_empty() {
            engine.name().to_owned()
        } else {
            format!("{} (unless {})", engine.name(), but.join(" or "))
        }
    });
    let plain = model.name.strip_prefix("cat:").unwrap_or(&model.name);
    let file = crate::library::file(&format!("models/{plain}.cat"));
    let own = |entry: &crate::library::Entry| model.cat().is_some_and(|cat| cat.source() == entry.text);
    let file = file.filter(own).map(|entry| entry.name.to_owned());
    ModelReport { model: ModelInfo::from(model), engines: described.collect(), file }
}

/// The program with an order of its own that orders nothing, if the model is for such programs.
fn with_order(program: Program, model: &Model) -> Program {
    let before = program.threads.iter().map(|thread| vec![Vec::new(); thread.code.len()]).collect();
    let order = OwnOrder { model: model.name.clone(), before };
    Program { orders: model.has_own_order().then_some(order).into_iter().collect(), ..program }
}

/// A thread that runs before the others.
const SETUP: &str = "program p\nthread p\n  @0: halt\nsetup p\n";

/// The second address depends on a loaded value.
const LOADED_ADDRESS: &str = "program p
location a = 0
location b = 0
array x = a of 2
thread p
  register r = 0
  @0: r := load x[0]
  @1: r := load x[r]
  @2: halt
";

fn read(text: &str) -> Program {
    cyrano_ir::text::parse(text).unwrap_or_else(|error| unreachable!("a constant: {error}"))
}
