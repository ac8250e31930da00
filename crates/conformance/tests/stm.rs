//! The library's software transactional memories: header verdicts, replayed counterexamples, reductions on and off.

use cyrano_conformance::compare::model;
use cyrano_conformance::{corpus, limits, pinned};
use cyrano_engine::{Answer, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{AccessKind, Addr, Change, Expr, Instr, Op, Program, Property, Structure, TxCriterion};
use cyrano_memory::Model;

/// What an instance may take here; the larger ones are for `cyrano tables`.
const WORK: f64 = 6.0;

/// The same for a search without one of the reductions.
const LESS: f64 = 1.0;

fn entries() -> Vec<(String, corpus::Entry)> {
    corpus::in_folder("stm")
}

fn compile(name: &str, entry: &corpus::Entry, vars: i128) -> Program {
    let set = [("vars".to_owned(), vars)];
    cyrano_rml::compile(&entry.source, name, &set).unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

fn check(program: &Program, model: &Model, explore: &Explore) -> Answer {
    check_within(WORK, program, model, explore)
}

fn check_within(work: f64, program: &Program, model: &Model, explore: &Explore) -> Answer {
    let property = Property::Transactions(TxCriterion::Opacity);
    let answer = corpus::judge(explore, program, model, &property, &limits(work, 1));
    assert_eq!(answer.verdict == Verdict::Violated, answer.execution.is_some(), "a violation is shown");
    answer
}

#[test]
fn headers_tell_the_truth() {
    let entries = entries();
    assert!(entries.len() >= 20, "the library has shrunk to {} memories", entries.len());
    let confirmed = corpus::for_each(&entries, |name, entry| {
        // In words DSTM has millions of states; with one variable the verdicts are the same, and a long run looks at two.
        let large = name.starts_with("dstm_words") && !name.contains("bug") && !pinned::long();
        let program = compile(name, entry, if large { 1 } else { 2 });
        corpus::kept(&entry.expectations, |promise| {
            Some(check(&program, &model(&promise.model), &Explore::default()).verdict)
        })
    });
    assert!(confirmed >= 160, "only {confirmed} verdicts");
}

/// In DSTM by words every step touches one word: a section has one access beside the stores that it stands for.
#[test]
fn a_step_of_dstm_in_words_touches_one_word() {
    let mut sections = Vec::new();
    for (name, entry) in entries().into_iter().filter(|(name, _)| name.starts_with("dstm")) {
        let program = compile(&name, &entry, 2);
        let words = program.threads.iter().flat_map(|thread| widths(&program, &thread.code)).max();
        sections.push((name, words));
    }
    let of = |name: &str| sections.iter().find(|(file, _)| file == name).and_then(|(_, words)| *words);
    assert_eq!([of("dstm_words"), of("dstm_words_rmo")], [Some(1), Some(1)]);
    assert!(of("dstm") > Some(1), "there opening a variable is a section over several words");
}

/// For each section how many accesses there are to other words than transactional variables.
fn widths(program: &Program, code: &[Instr]) -> Vec<usize> {
    let mut widths = Vec::new();
    let mut inside = false;
    for instr in code {
        match instr.op {
            Op::AtomicBegin => widths.push(0),
            _ if instr.op.access().is_some_and(|access| !data(program, &access.addr)) && inside => {
                *widths.last_mut().expect("a section has begun") += 1;
            }
            _ => {}
        }
        inside = match instr.op {
            Op::AtomicBegin => true,
            Op::AtomicEnd => false,
            _ => inside,
        };
    }
    widths
}

/// Whether it is the address of a transactional variable.
fn data(program: &Program, addr: &Addr) -> bool {
    match addr {
        Addr::Fixed(loc) => program.transactional.contains(loc),
        Addr::Indexed { array, .. } => program.transactional.contains(&program.arrays[array.index()].base),
    }
}

#[test]
fn reductions_change_nothing() {
    let on = Explore::default();
    let off = [
        Explore { dead_registers: false, ..on.clone() },
        Explore { macro_steps: false, ..on.clone() },
        Explore { thread_symmetry: false, ..on.clone() },
        Explore { lazy_choices: false, ..on.clone() },
        Explore { variable_symmetry: false, ..on.clone() },
        Explore { repeated_stores: false, ..on.clone() },
        Explore { dead_loads: false, ..on.clone() },
        Explore { sorted_stores: false, ..on.clone() },
    ];
    let mut compared = 0;
    for (at, (name, entry)) in entries().into_iter().enumerate() {
        let program = compile(&name, &entry, 1);
        // Of the models that defer stores one will do, and each memory is searched without every other reduction, but for a long run.
        let models = if pinned::long() { &["sc", "tso", "pso", "rmo"][..] } else { &["sc", "pso"] };
        for model in models.iter().map(|name| model(name)) {
            let with = check(&program, &model, &on);
            for (_, explore) in off.iter().enumerate().filter(|(number, _)| pinned::long() || (number + at) % 2 == 0) {
                let without = check_within(LESS, &program, &model, explore);
                let said = with.unreached.is_some() && without.unreached.is_some();
                assert!(!said || with.unreached == without.unreached, "{name} under {}: {explore:?}", model.name);
                let (with, without) = (with.verdict, without.verdict);
                let decided = |verdict| matches!(verdict, Verdict::Verified | Verdict::Violated);
                let agree = with == without || !decided(with) || !decided(without);
                assert!(agree, "{name} under {}: {with:?}, but {without:?} with {explore:?}", model.name);
                compared += usize::from(decided(with) && decided(without));
            }
        }
    }
    assert!(compared >= 300, "only {compared} pairs of verdicts were compared");
}

/// Every thread stores values of its own to transactional variables: what a memory with real data does. Where it compares none of them, the
/// verdict is that of the memory with one constant, with the reduction and without, and counterexamples are replayed with the values of the program.
#[test]
fn data_that_decides_nothing_is_collapsed() {
    let (on, off) = (Explore::default(), Explore { collapsed_data: false, ..Explore::default() });
    let mut collapsed = 0;
    for (name, entry) in entries() {
        let program = compile(&name, &entry, 1);
        let coloured = coloured(&program);
        for model in ["sc", "tso", "pso"].map(model) {
            let plain = check(&program, &model, &on);
            let (with, without) = (check(&coloured, &model, &on), check(&coloured, &model, &off));
            let used = with.reductions.contains(&"collapsed-data");
            collapsed += usize::from(used);
            let decided = |answer: &Answer| matches!(answer.verdict, Verdict::Verified | Verdict::Violated);
            for other in [&without, &plain] {
                let agree = with.verdict == other.verdict || !decided(&with) || !decided(other) || !used;
                assert!(agree, "{name} under {}: {:?}, but {:?}", model.name, with.verdict, other.verdict);
            }
        }
    }
    assert!(collapsed >= 30, "data was collapsed in {collapsed} cases only");
}

/// The program with another value in each thread for every store to a transactional variable.
fn coloured(program: &Program) -> Program {
    let mut coloured = program.clone();
    for (at, thread) in coloured.threads.iter_mut().enumerate() {
        for instr in &mut thread.code {
            if let Some(access) = instr.op.access_mut()
                && access.kind == AccessKind::Store
                && data(program, &access.addr)
            {
                access.change = Some(Change::Set(Expr::Const(at as i128 + 5)));
            }
        }
    }
    coloured
}

/// Memories that treat their variables alike, so that the reduction applies, and their mutants.
#[test]
fn variable_symmetry_changes_nothing() {
    let on = Explore::default();
    let off = Explore { variable_symmetry: false, ..on.clone() };
    let mut used = 0;
    for (name, entry) in
        entries().into_iter().filter(|(name, _)| name.starts_with("global_lock") || name.starts_with("tml"))
    {
        let program = compile(&name, &entry, 2);
        for model in ["sc", "tso", "pso", "rmo"].map(model) {
            let (with, without) = (check(&program, &model, &on), check(&program, &model, &off));
            assert_eq!(with.verdict, without.verdict, "{name} under {}", model.name);
            assert_eq!(with.unreached, without.unreached, "{name} under {}", model.name);
            if with.reductions.contains(&"variable-symmetry") && with.verdict == Verdict::Verified {
                used += 1;
                assert!(with.stats.states < without.stats.states, "{name} under {}: nothing saved", model.name);
            }
        }
    }
    assert!(used > 0, "the reduction is never used");
}

/// What FOIL, section 8, says of its memories, for two threads and one variable; `docs/reduction.md` tells where the paper differs.
#[test]
fn structural_properties() {
    let (yes, no) = (Verdict::Verified, Verdict::Violated);
    let asked = [
        Structure::AbortIsolation,
        Structure::PendingIsolation,
        Structure::ConflictCommutativity,
        Structure::TransactionProjection,
        Structure::Completion,
        Structure::ThreadSymmetry,
    ];
    let expected = [
        ("global_lock", "sc", [yes, no, yes, yes, yes, yes]),
        ("dstm", "sc", [no, no, yes, yes, yes, yes]),
        ("tl2", "sc", [no, no, yes, yes, yes, yes]),
        ("tl2", "pso", [no, no, no, yes, no, yes]),
        ("tl2_pso", "pso", [no, no, yes, yes, yes, yes]),
        ("mcrt", "sc", [no, no, yes, yes, yes, yes]),
    ];
    let entries = entries();
    for (file, on, verdicts) in expected {
        let (name, entry) = entries.iter().find(|(name, _)| name == file).expect("it is there");
        let program = compile(name, entry, 1);
        for (structure, verdict) in asked.into_iter().zip(verdicts) {
            let property = Property::Structure(structure);
            let answer = corpus::judge(&Explore::default(), &program, &model(on), &property, &limits(WORK, 1));
            assert_eq!(answer.verdict, verdict, "{name} on {on}: {}", structure.name());
            assert_eq!(answer.verdict == no, answer.execution.is_some(), "a violation is shown");
        }
    }
}
