//! FOIL's algorithms: opacity for two threads and two variables under every model, beside the paper's times; what each reduction
//! saves; and how the instances grow.
//!
//! `cargo bench -p cyrano-benches --bench foil` takes about two minutes; `-- grow` adds the larger instances, which take up to half an hour
//! and 16 GB.

use std::time::{Duration, Instant};

use cyrano_engine::{Answer, Engine, Limits, Query, Question};
use cyrano_explore::Explore;
use cyrano_ir::{Program, Property, TxCriterion};

/// File, and the paper's time for the states under sc (Table 2), in seconds.
const ALGORITHMS: [(&str, &str, f64); 3] = [
    ("TL2", include_str!("../library/stm/tl2.rml"), 581.0),
    ("DSTM", include_str!("../library/stm/dstm.rml"), 1327.0),
    ("McRT", include_str!("../library/stm/mcrt.rml"), 265.0),
];

/// The same with the fewest fences for a model.
const FENCED: [(&str, &str, &str); 5] = [
    ("TL2 + 2 fences", include_str!("../library/stm/tl2_pso.rml"), "pso"),
    ("TL2 + 5 fences", include_str!("../library/stm/tl2_rmo.rml"), "rmo"),
    ("DSTM + 2 fences", include_str!("../library/stm/dstm_rmo.rml"), "rmo"),
    ("McRT + 2 fences", include_str!("../library/stm/mcrt_pso.rml"), "pso"),
    ("McRT + 2 fences", include_str!("../library/stm/mcrt_rmo.rml"), "rmo"),
];

type Switch = fn(&mut Explore) -> &mut bool;

const REDUCTIONS: [(&str, Switch); 9] = [
    ("dead-registers", |e| &mut e.dead_registers),
    ("macro-steps", |e| &mut e.macro_steps),
    ("timestamps", |e| &mut e.timestamps),
    ("thread-symmetry", |e| &mut e.thread_symmetry),
    ("variable-symmetry", |e| &mut e.variable_symmetry),
    ("lazy-choices", |e| &mut e.lazy_choices),
    ("repeated-stores", |e| &mut e.repeated_stores),
    ("dead-loads", |e| &mut e.dead_loads),
    ("sorted-stores", |e| &mut e.sorted_stores),
];

/// Larger instances: file, threads, variables.
const GROWTH: [(usize, i128, i128); 9] =
    [(2, 2, 2), (2, 2, 3), (2, 3, 2), (2, 3, 3), (2, 4, 2), (0, 2, 3), (0, 3, 2), (1, 2, 3), (1, 3, 2)];

fn compile(source: &str, threads: i128, vars: i128) -> Program {
    let set = [("threads".to_owned(), threads), ("vars".to_owned(), vars)];
    cyrano_rml::compile(source, "stm", &set).expect("the library compiles")
}

fn ask(program: &Program, model: &str, explore: &Explore, seconds: u64) -> (Answer, f64) {
    let model = cyrano_memory::named(model).expect("a model");
    let property = Property::Transactions(TxCriterion::Opacity);
    let query = Query { program, model: &model, question: Question::Holds(&property) };
    let limits = Limits { memory: 16 << 30, ..Limits::default() }.with_timeout(Some(Duration::from_secs(seconds)));
    let started = Instant::now();
    let answer = explore.ask(query, &limits, &());
    (answer, started.elapsed().as_secs_f64())
}

fn row(name: &str, model: &str, answer: &Answer, seconds: f64, note: &str) {
    let mib = answer.stats.peak_bytes as f64 / f64::from(1 << 20);
    let (verdict, states) = (answer.verdict.name(), answer.stats.states);
    println!("{name:<22} {model:<5} {verdict:<9} {states:>12} states {seconds:>8.2} s {mib:>8.1} MiB  {note}");
}

fn main() {
    let (sources, paper): (Vec<_>, Vec<_>) =
        ALGORITHMS.map(|(name, source, paper)| ((name, source), paper)).into_iter().unzip();
    println!("Opacity, 2 threads and 2 variables");
    for ((name, source), paper) in sources.iter().zip(paper) {
        for model in ["sc", "tso", "pso", "rmo"] {
            let (answer, seconds) = ask(&compile(source, 2, 2), model, &Explore::default(), 60);
            let ratio = format!("the paper's {paper:.0} s are {:.0} times as much", paper / seconds);
            row(name, model, &answer, seconds, if model == "sc" { &ratio } else { "" });
        }
    }
    for (name, source, model) in FENCED {
        let (answer, seconds) = ask(&compile(source, 2, 2), model, &Explore::default(), 60);
        row(name, model, &answer, seconds, "the paper could not finish any product");
    }
    println!("\nWithout one reduction (at most 20 s each)");
    for (source, model) in [(sources[0].1, "sc"), (FENCED[4].1, "rmo")] {
        let program = compile(source, 2, 2);
        let (with, base) = ask(&program, model, &Explore::default(), 60);
        row("all of them", model, &with, base, "");
        for (name, switch) in REDUCTIONS {
            let mut explore = Explore::default();
            *switch(&mut explore) = false;
            let (answer, seconds) = ask(&program, model, &explore, 20);
            let ratio = answer.stats.states as f64 / with.stats.states as f64;
            row(&format!("no {name}"), model, &answer, seconds, &format!("{ratio:.1} times the states"));
        }
    }
    if std::env::args().any(|argument| argument == "grow") {
        println!("\nGrowth under sc (at most 30 minutes and 16 GB each)");
        for (file, threads, vars) in GROWTH {
            let (name, source) = sources[file];
            let (answer, seconds) = ask(&compile(source, threads, vars), "sc", &Explore::default(), 1800);
            row(&format!("{name} {threads} x {vars}"), "sc", &answer, seconds, answer.reason.as_deref().unwrap_or(""));
        }
    }
}
