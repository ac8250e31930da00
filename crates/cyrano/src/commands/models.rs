//! `cyrano models`.

use cyrano_engine::Engine;
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::Program;
use cyrano_memory::Model;
use cyrano_report::{ModelReport, models_json, models_text};
use cyrano_trace::ModelInfo;

use crate::args::{Format, ModelsArgs};
use crate::failure::Failure;
use crate::run::VERSION;
use crate::{console, models};

/// Runs the command.
pub fn run(args: &ModelsArgs) -> Result<u8, Failure> {
    let models = match &args.model {
        Some(name) => vec![models::resolve(name, args.output.color)?],
        None => cyrano_memory::all(),
    };
    let reports: Vec<ModelReport> = models.iter().map(report).collect();
    let text = match args.output.format {
        Format::Json => models_json(&reports, VERSION),
        Format::Text => models_text(&reports, console::style(&args.output)),
    };
    console::print(&text)?;
    Ok(0)
}

/// An engine that takes the empty program takes the model; it may still refuse particular programs.
fn report(model: &Model) -> ModelReport {
    let engines: [&dyn Engine; 2] = [&Explore::default(), &Interp];
    let empty = Program::default();
    let run = engines.iter().filter(|engine| engine.supports(&empty, model).is_ok());
    ModelReport { model: ModelInfo::from(model), engines: run.map(|engine| engine.name().to_owned()).collect() }
}
