//! `cyrano models`.

use cyrano_engine::Engine;
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{OwnOrder, Program};
use cyrano_memory::Model;
use cyrano_report::{ModelReport, models_json, models_text};
use cyrano_session::{Failure, VERSION};
use cyrano_symbolic::Symbolic;
use cyrano_trace::ModelInfo;

use crate::args::ModelsArgs;
use crate::models;
use crate::outputs::Outputs;

/// Runs the command.
pub fn run(args: &ModelsArgs) -> Result<u8, Failure> {
    let models = match &args.model {
        Some(name) => vec![models::resolve(name)?],
        None => cyrano_memory::all().into_iter().chain(cyrano_memory::relational()).collect(),
    };
    let reports: Vec<ModelReport> = models.iter().map(report).collect();
    let outputs = Outputs::new(&args.output);
    outputs.plain(&args.output, || models_json(&reports, VERSION), |_, style| models_text(&reports, style));
    Ok(outputs.exit(0))
}

/// An engine that takes the empty program takes the model; whether it takes every program is asked with some that are hard.
fn report(model: &Model) -> ModelReport {
    let engines: [&dyn Engine; 3] = [&Explore::default(), &Symbolic::default(), &Interp];
    let takes = |engine: &dyn Engine, program: Program| engine.runs(&with_order(program, model), model);
    let run = engines.into_iter().filter(|engine| takes(*engine, Program::default()));
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
    ModelReport { model: ModelInfo::from(model), engines: described.collect() }
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
