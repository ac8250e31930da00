//! `cyrano models`.

use cyrano_engine::Engine;
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{
    Addr, ArrayId, Expr, Instr, LocId, LocalExpr, Location, Op, OwnOrder, Place, Program, RegId, Register, SharedArray,
    Span, Thread, ThreadId, Ty,
};
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
        None => cyrano_memory::all(),
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
        let hard = [(loaded_address(), "an address depends on a loaded value"), (setup(), "there is a setup thread")];
        let but: Vec<&str> =
            hard.into_iter().filter(|(program, _)| !takes(engine, program.clone())).map(|(_, it)| it).collect();
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
    Program { orders: model.own_order.then_some(order).into_iter().collect(), ..program }
}

/// A thread that runs before the others.
fn setup() -> Program {
    let halt = Instr { op: Op::Halt, span: Span::default() };
    let thread = Thread { name: "p".into(), registers: Vec::new(), code: vec![halt] };
    Program { threads: vec![thread], setup: Some(ThreadId(0)), ..Program::default() }
}

/// `r := x[0]; r := x[r]`: the second address depends on a loaded value.
fn loaded_address() -> Program {
    let location = |name: &str| Location { name: name.into(), init: 0, ty: Ty::Int, span: Span::default() };
    let load = |index: LocalExpr| Instr {
        op: Op::Load { dst: Place::Reg(RegId(0)), addr: Addr::Indexed { array: ArrayId(0), index } },
        span: Span::default(),
    };
    let halt = Instr { op: Op::Halt, span: Span::default() };
    Program {
        locations: vec![location("x[0]"), location("x[1]")],
        arrays: vec![SharedArray { name: "x".into(), base: LocId(0), len: 2, headers: false }],
        threads: vec![Thread {
            name: "p".into(),
            registers: vec![Register { name: "r".into(), init: 0, ty: Ty::Int }],
            code: vec![load(Expr::Const(0)), load(Expr::Var(Place::Reg(RegId(0)))), halt],
        }],
        ..Program::default()
    }
}
