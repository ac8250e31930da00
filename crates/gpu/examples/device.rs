//! Compares searches on a device with the explorer, and measures them.
//!
//! `device compare` asks both about the models of `benches/spin` and the tests of `library/litmus`; it ends with 1 if they differ.
//! `device rate SECONDS FILE MODEL [NAME=VALUE]...` searches once without thread symmetry, `device reduced …` with it, and prints a line.
//! With `HOST_KERNELS=LIBRARY` this machine's processor is the device, with `crates/gpu/kernels/host.cpp` compiled to a library.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cyrano_engine::{Answer, Engine, Limits, Query, Question};
use cyrano_explore::Explore;
use cyrano_gpu::cuda::Cuda;
use cyrano_gpu::host::Host;
use cyrano_gpu::{Device, GpuSearch, Settings, Told};
use cyrano_ir::{Program, Property, TxCriterion};
use cyrano_memory::Model;

fn device() -> Result<Box<dyn Device + Send>, String> {
    if let Some(library) = std::env::var_os("HOST_KERNELS") {
        let library = Path::new(&library);
        return Ok(Box::new(Host::open(library, 2, 4 << 30).map_err(|trouble| trouble.to_string())?));
    }
    Ok(Box::new(Cuda::open(0).map_err(|trouble| trouble.to_string())?))
}

fn explorer() -> Explore {
    Explore { ample_sets: false, stubborn_sets: false, ..Explore::default() }
}

fn program(file: &str, set: &[(String, i128)]) -> Result<Program, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    cyrano_rml::compile(&text, file, set).map_err(|error| format!("{file}: {error:?}"))
}

fn query<'q>(program: &'q Program, model: &'q Model, property: &'q Property) -> Query<'q> {
    Query::new(program, model, Question::Holds(property)).expect("a question")
}

/// Verdict, reason, states and transitions if nothing is shown, depth, and whether something goes wrong.
type Facts = (&'static str, Option<String>, Option<(u64, u64)>, u64, bool);

/// What must be the same.
fn facts(answer: &Answer) -> Facts {
    let all = answer.execution.is_none();
    let counts = all.then_some((answer.stats.states, answer.stats.transitions));
    let reason = answer.reason.as_ref().map(ToString::to_string);
    (answer.verdict.name(), reason, counts, answer.stats.depth, answer.violation.is_some())
}

struct Compared {
    same: usize,
    violated: usize,
    refused: usize,
    different: usize,
}

fn compare_one(
    name: &str,
    program: &Program,
    model: &Model,
    property: &Property,
    settings: &Settings,
    compared: &mut Compared,
) -> Result<(), String> {
    let limits = Limits { memory: 4 << 30, ..Limits::default() };
    let query = query(program, model, property);
    if explorer().supports(&query).is_err() {
        return Ok(());
    }
    let found = GpuSearch::new(explorer(), settings.clone()).run(query, device()?, &limits, &());
    let Ok((found, _)) = found else {
        compared.refused += 1;
        return Ok(());
    };
    let expected = explorer().ask(query, &limits, &());
    let what = format!("{name} {} on {}", property.criterion(), model.name);
    if facts(&found) == facts(&expected) {
        println!("same {what}: {:?}", facts(&found));
        compared.same += 1;
        compared.violated += usize::from(found.violation.is_some());
    } else {
        println!("DIFFERENT {what}: device {:?}, explorer {:?}", facts(&found), facts(&expected));
        compared.different += 1;
    }
    Ok(())
}

const MODELS: [(&str, &[(&str, i128)]); 16] = [
    ("acquire1", &[("N", 5), ("ROUNDS", 4)]),
    ("acquire1_instrumented", &[("N", 4), ("ROUNDS", 3)]),
    ("acquire2", &[("N", 4), ("ROUNDS", 3)]),
    ("acquire2_instrumented", &[("N", 3), ("ROUNDS", 3)]),
    ("bluetooth", &[("N", 4), ("ROUNDS", 3)]),
    ("bluetooth_instrumented", &[("N", 4), ("ROUNDS", 3)]),
    ("mcrt", &[("N", 2), ("VARS", 2), ("OPS", 2)]),
    ("mcrt", &[("N", 3), ("VARS", 2), ("OPS", 2)]),
    ("mcs", &[("N", 4)]),
    ("mcs", &[("N", 5)]),
    ("peterson", &[("N", 3)]),
    ("peterson", &[("N", 4)]),
    ("philosophers", &[("N", 9)]),
    ("philosophers", &[("N", 10)]),
    ("transaction", &[("N", 4), ("ROUNDS", 4)]),
    ("transaction_instrumented", &[("N", 3), ("ROUNDS", 4)]),
];

const MEMORIES: [&str; 6] = ["tl2", "dstm", "mcrt", "dstm_bug_steal_active", "mcrt_bug_one_phase", "norec"];

fn compare() -> Result<Compared, String> {
    let mut compared = Compared { same: 0, violated: 0, refused: 0, different: 0 };
    let tiny = Settings { states: 50, growth: 2, slots: 1.05, chunk: 97, filter_bits: 3, ..Settings::default() };
    let sc = cyrano_memory::named("sc").expect("a model");
    for (name, set) in MODELS {
        let set: Vec<(String, i128)> = set.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let program = program(&format!("benches/spin/{name}.rml"), &set)?;
        compare_one(name, &program, &sc, &Property::Assertions, &Settings::default(), &mut compared)?;
    }
    for name in MEMORIES {
        let set = [("threads".to_owned(), 2), ("vars".to_owned(), 1)];
        let Ok(program) = program(&format!("library/stm/{name}.rml"), &set) else { continue };
        for (model, criterion) in [("sc", TxCriterion::Opacity), ("tso", TxCriterion::StrictSerializability)] {
            let model = cyrano_memory::named(model).expect("a model");
            let property = Property::Transactions(criterion);
            compare_one(name, &program, &model, &property, &Settings::default(), &mut compared)?;
        }
    }
    let mut files: Vec<_> = std::fs::read_dir("library/litmus")
        .map_err(|error| error.to_string())?
        .filter_map(|entry| Some(entry.ok()?.path().to_string_lossy().into_owned()))
        .filter(|file| file.ends_with(".rml"))
        .collect();
    files.sort();
    let started = Instant::now();
    for (at, file) in files.iter().enumerate() {
        if started.elapsed() > Duration::from_secs(120) {
            println!("{} of {} files, then time was up", at, files.len());
            break;
        }
        let Ok(program) = program(file, &[]) else { continue };
        let model = cyrano_memory::named(["tso", "pso", "sc", "rmo"][at % 4]).expect("a model");
        if !explorer().runs(&program, &model) {
            continue;
        }
        let settings = if at % 2 == 0 { &tiny } else { &Settings::default() };
        for check in &program.checks {
            compare_one(file, &program, &model, &check.property, settings, &mut compared)?;
        }
    }
    Ok(compared)
}

fn rate(reduced: bool, arguments: &[String]) -> Result<(), String> {
    let [seconds, file, model, set @ ..] = arguments else { return Err("SECONDS FILE MODEL [NAME=VALUE]...".into()) };
    let set = set.iter().map(|pair| {
        let (name, value) = pair.split_once('=').ok_or("NAME=VALUE")?;
        Ok((name.to_owned(), value.parse().map_err(|_| "a number")?))
    });
    let set: Vec<(String, i128)> = set.collect::<Result<_, &str>>()?;
    let program = program(file, &set)?;
    let model = cyrano_memory::named(model).ok_or("no such model")?;
    let property = program.checks.first().map(|check| check.property.clone());
    let property = property.unwrap_or(Property::Transactions(TxCriterion::Opacity));
    let seconds: f64 = seconds.parse().map_err(|_| "SECONDS")?;
    let device = device()?;
    let limits = Limits::default().with_timeout(Some(Duration::from_secs_f64(seconds)));
    let explore = Explore { thread_symmetry: reduced, ..explorer() };
    let found =
        GpuSearch::new(explore, Settings::default()).run(query(&program, &model, &property), device, &limits, &());
    let what = format!("{file} {} {set:?} {}", model.name, property.criterion());
    let (Answer { verdict, reason, stats, .. }, told): (Answer, Told) =
        found.map_err(|why| format!("{what}: {why}"))?;
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    println!(
        "{what}: {}{reason}; {} states, {} transitions, depth {}; {:.3} s, {:.3} s expanding; {:.0} M states/s, {:.0} M while expanding, \
         {:.0} M transitions/s; {} words, {:.1} bytes a state; {told:?}",
        verdict.name(),
        stats.states,
        stats.transitions,
        stats.depth,
        stats.seconds,
        told.busy,
        stats.states as f64 / stats.seconds / 1e6,
        stats.states as f64 / told.busy / 1e6,
        stats.transitions as f64 / told.busy / 1e6,
        told.words,
        stats.peak_bytes as f64 / stats.states as f64,
    );
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("compare") => compare().and_then(|compared| {
            let Compared { same, violated, refused, different } = compared;
            println!("{same} the same ({violated} with a violation), {refused} refused, {different} different");
            if different == 0 { Ok(()) } else { Err("device and explorer differ".to_owned()) }
        }),
        Some("rate") => rate(false, &arguments[1..]),
        Some("reduced") => rate(true, &arguments[1..]),
        _ => Err("compare, rate or reduced".to_owned()),
    };
    if let Err(why) = done {
        println!("{why}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
