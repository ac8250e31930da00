//! What C's memory orders are mapped to is enough: under no machine does a mapped program show what rc11 forbids.
//!
//! Generated cycles with every order on accesses and fences, in the C of litmus tests, mapped as C files are.

use std::collections::BTreeSet;

use cyrano_cfront::mapping::{Target, compiled};
use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_interp::Interp;
use cyrano_ir::{AccessKind, InstrId, Op, Program};
use cyrano_litmus::generate::{Cycle, Relation, Target as Language};
use cyrano_memory::cat::Cat;
use cyrano_memory::{Model, named};
use cyrano_symbolic::Symbolic;

/// The models with what programs are mapped to for them.
const MACHINES: [(&str, Target); 7] = [
    ("armv8", Target::Arm),
    ("power", Target::Power),
    ("riscv", Target::Riscv),
    ("tso", Target::Pairs),
    ("pso", Target::Pairs),
    ("rmo", Target::Pairs),
    ("relaxed", Target::Pairs),
];

/// What x86 needs fences for.
const STORE_BUFFERING: &str = "C SB
{ }
P0 (atomic_int *x, atomic_int *y) { atomic_store(x, 1); int r0 = atomic_load(y); }
P1 (atomic_int *x, atomic_int *y) { atomic_store(y, 1); int r0 = atomic_load(x); }
exists (0:r0=0 /\\ 1:r0=0)
";

fn model(name: &str) -> Model {
    named(name).unwrap_or_else(|| panic!("there is no model {name}"))
}

/// All outcomes, by the first engine that takes the question.
fn outcomes(program: &Program, model: &Model) -> BTreeSet<Vec<i128>> {
    let symbolic = Symbolic::default();
    let engines: [&dyn Engine; 2] = [&symbolic, &Interp];
    let engine = engines.into_iter().find(|engine| engine.runs(program, model));
    let engine = engine.unwrap_or_else(|| panic!("no engine runs this under {}", model.name));
    let query = Query::new(program, model, Question::Outcomes).expect("a question");
    let answer = engine.ask(query, &limits(60.0, 3), &());
    assert_eq!(answer.verdict, Verdict::Verified, "{} on {}: {:?}", engine.name(), model.name, answer.reason);
    answer.outcomes
}

/// rc11 where loads may be performed after later stores, as machines perform those that C calls relaxed.
fn without_thin_air() -> Model {
    let text = include_str!("../../../library/models/rc11.cat");
    let weaker = text.replace("acyclic sb | rf as no-thin-air", "");
    assert_ne!(text, weaker);
    Model::from_cat("rc11-lb", "", Cat::parse(&weaker).expect("a model"))
}

/// The first test in which a machine shows more than rc11, with what is made of programs for it; and in how many it shows less, for each machine.
fn compare(texts: &[String], made: impl Fn(&Program, Target) -> Program) -> (Vec<Option<String>>, Vec<usize>) {
    let (rc11, weaker) = (model("rc11"), without_thin_air());
    let (mut more, mut fewer) = (vec![None; MACHINES.len()], vec![0; MACHINES.len()]);
    for text in texts {
        let program = cyrano_litmus::compile(text).unwrap_or_else(|e| panic!("{e:?}\n{text}")).program;
        let allowed = [outcomes(&program, &rc11), outcomes(&program, &weaker)];
        for (number, (machine, target)) in MACHINES.into_iter().enumerate() {
            let mapped = made(&program, target);
            assert_eq!(cyrano_ir::verify(&mapped), Ok(()), "{machine}\n{text}");
            let machine = model(machine);
            if machine.cat().is_none() && !keeps_reads(&machine) && reads_again(&program) {
                continue;
            }
            let allowed = &allowed[usize::from(!["tso", "pso"].contains(&machine.name.as_str()))];
            let shown = outcomes(&mapped, &machine);
            if let Some(outcome) = shown.difference(allowed).next() {
                let listing = cyrano_ir::text::print(&mapped);
                let why = || format!("{} shows {outcome:?}, which rc11 forbids:\n{text}\n{listing}", machine.name);
                more[number].get_or_insert_with(why);
            }
            fewer[number] += usize::from(shown.len() < allowed.len());
        }
    }
    (more, fewer)
}

/// Whether loads of one address stay in order, as they do in C. Who has none of this shows more, whatever the mapping.
fn keeps_reads(model: &Model) -> bool {
    model.reordering().keeps(AccessKind::Load, AccessKind::Load, true)
}

/// Whether a thread reads a location twice.
fn reads_again(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let reads = thread.code.iter().filter_map(|instr| instr.op.access()).filter(|access| access.kind.reads());
        let places: Vec<_> = reads.map(|access| &access.addr).collect();
        places.iter().enumerate().any(|(at, place)| places[..at].contains(place))
    })
}

/// Every cycle of so many relations, with every way to write its accesses that changes so many of them.
fn cycles(length: usize, threads: usize, decorations: usize) -> Vec<String> {
    let cycles = Cycle::all(&Relation::basic(), length, threads);
    let variants = cycles.iter().flat_map(|cycle| cycle.variants(Language::C, decorations));
    variants.filter_map(|cycle| cycle.text(Language::C).ok()).collect()
}

/// Read-modify-writes of each kind between two threads.
fn updates() -> Vec<String> {
    let orders = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
    let forms = [
        "r0 = atomic_exchange_explicit(y, 1, memory_order_ORDER);",
        "r0 = atomic_fetch_add_explicit(y, 1, memory_order_ORDER);",
        "int e = 0; r0 = atomic_compare_exchange_strong_explicit(y, &e, 1, memory_order_ORDER, memory_order_relaxed);",
        "int e = 0; r0 = atomic_compare_exchange_strong_explicit(y, &e, 1, memory_order_ORDER, memory_order_acquire);",
    ];
    let mut texts = Vec::new();
    for (first, form) in orders.iter().flat_map(|order| forms.iter().map(move |form| (order, form))) {
        for second in orders {
            let one = form.replace("ORDER", first);
            let other = one.replace(&format!("memory_order_{first},"), &format!("memory_order_{second},"));
            let other = other.replace(&format!("memory_order_{first})"), &format!("memory_order_{second})"));
            // Message passing, and store buffering with a read-modify-write instead of one access or of both.
            let bodies = [
                (
                    "atomic_store_explicit(x, 1, memory_order_relaxed); ONE",
                    "OTHER r1 = atomic_load_explicit(x, memory_order_relaxed);",
                ),
                (
                    "ONE r1 = atomic_load_explicit(x, memory_order_relaxed);",
                    "atomic_store_explicit(x, 1, memory_order_seq_cst); r1 = atomic_load_explicit(y, memory_order_seq_cst);",
                ),
                (
                    "ONE atomic_store_explicit(x, 1, memory_order_relaxed);",
                    "r1 = atomic_load_explicit(x, memory_order_acquire); OTHER",
                ),
            ];
            for (left, right) in bodies {
                let thread = |number: usize, body: &str| {
                    let body = body.replace("ONE", &one).replace("OTHER", &other);
                    format!("P{number} (atomic_int *x, atomic_int *y) {{ int r0 = 7; int r1 = 7; {body} }}\n")
                };
                let right = thread(1, &right.replace("OTHER", &other));
                texts.push(format!(
                    "C update\n{{ }}\n{}\n{right}\nexists (0:r0=0 /\\ 0:r1=0 /\\ 1:r0=0 /\\ 1:r1=0)\n",
                    thread(0, left)
                ));
            }
        }
    }
    texts
}

fn sampled(texts: Vec<String>, step: usize) -> Vec<String> {
    let step = if pinned::long() { 1 } else { step };
    texts.into_iter().step_by(step).collect()
}

#[test]
fn mapped_cycles_show_no_more_than_rc11() {
    let mut texts = sampled((0..=2).flat_map(|decorations| cycles(4, 4, decorations)).collect(), 23);
    texts.push(STORE_BUFFERING.to_owned());
    let (more, fewer) = compare(&texts, compiled);
    println!("{} cycles, fewer outcomes: {fewer:?}", texts.len());
    assert!(more.iter().all(Option::is_none), "{}", more.into_iter().flatten().collect::<Vec<_>>().join("\n"));
    assert!(texts.len() >= 80, "only {} cycles", texts.len());
}

#[test]
fn mapped_updates_show_no_more_than_rc11() {
    let texts = sampled(updates(), 7);
    let (more, fewer) = compare(&texts, compiled);
    println!("{} updates, fewer outcomes: {fewer:?}", texts.len());
    assert!(more.iter().all(Option::is_none), "{}", more.into_iter().flatten().collect::<Vec<_>>().join("\n"));
}

/// The comparison notices what a mapping leaves out.
#[test]
fn without_its_fences_and_tags_a_mapping_shows_more() {
    let mut texts = sampled(cycles(4, 4, 2), 5);
    texts.push(STORE_BUFFERING.to_owned());
    let bare = |program: &Program, target: Target| {
        let mut mapped = compiled(program, target);
        for thread in &mut mapped.threads {
            for at in 0..thread.code.len() {
                if matches!(thread.code[at].op, Op::Fence(_)) {
                    thread.code[at].op = Op::Jump(InstrId::new(at + 1));
                }
            }
        }
        for instr in mapped.threads.iter_mut().flat_map(|thread| &mut thread.code) {
            if let Op::Access(access) = &mut instr.op {
                access.tags = cyrano_ir::Tags::default();
            }
        }
        mapped
    };
    let (more, _) = compare(&texts, bare);
    let silent: Vec<&str> =
        MACHINES.iter().zip(&more).filter(|(_, more)| more.is_none()).map(|((name, _), _)| *name).collect();
    assert_eq!(silent, Vec::<&str>::new(), "on these nothing is noticed");
}
