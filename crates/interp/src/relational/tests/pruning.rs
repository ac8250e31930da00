//! Executions that a coherent model rejects anyway need not be tried: with and without them the outcomes are the same.

use std::collections::BTreeSet;

use cyrano_engine::Limits;
use cyrano_memory::cat::Cat;

use super::program;
use crate::meter::Meter;
use crate::relational::goals::{Notes, Outcomes};
use crate::relational::search::{self, Pruning};
use crate::relational::traces;

fn outcomes(threads: &[&str], cat: &Cat, pruning: Pruning) -> (BTreeSet<Vec<i128>>, u64) {
    let program = program(threads, "0:a 0:b 1:a 1:b x y");
    let limits = Limits::default();
    let mut meter = Meter::new(&limits, &());
    let traces = traces::traces(&program, cat.plan(), &mut meter).expect("within limits");
    let mut goal = Outcomes { observed: &program.observed, outcomes: BTreeSet::new(), notes: Notes::default() };
    search::pursue_with(&program, cat, traces, &mut goal, &mut meter, pruning).expect("within limits");
    (goal.outcomes, meter.stats.states)
}

/// A few instructions in every order, so that reads and writes of one location meet in every way.
#[test]
fn what_is_left_out_would_be_rejected() {
    let ops = ["store x, 1", "store x, 2", "a := load x", "b := load y", "store y, 1", "b := fetch_add x, 1"];
    let mut saved = 0;
    for name in ["cat:sc", "ra", "rc11", "imm", "armv8", "riscv", "power", "lkmm"] {
        let model = cyrano_memory::named(name).expect("a model");
        let cat = model.cat().expect("a model about relations");
        assert!(cat.plan().is_coherent(), "{name}");
        for (i, first) in ops.iter().enumerate() {
            for (j, second) in ops.iter().enumerate() {
                let threads =
                    [format!("{first}; {second}; {}", ops[(i + j) % 6]), format!("{second}; {}", ops[(i * 2 + j) % 6])];
                let threads = [&*threads[0], &*threads[1]];
                let (all, tried) = outcomes(&threads, cat, Pruning::Off);
                let (some, fewer) = outcomes(&threads, cat, Pruning::On);
                assert_eq!(all, some, "{name}: {threads:?}");
                saved += tried - fewer;
            }
        }
    }
    assert!(saved > 10_000, "only {saved} executions were left out");
}

#[test]
fn a_model_without_coherence_is_taken_at_its_word() {
    let cat = Cat::parse("acyclic po | rf").expect("a model");
    assert!(!cat.plan().is_coherent());
    let (found, _) = outcomes(&["store x, 1; a := load x", "b := load y"], &cat, Pruning::On);
    assert!(found.contains(&vec![0, 0, 0, 0, 1, 0]), "the thread need not see its own store: {found:?}");
}
