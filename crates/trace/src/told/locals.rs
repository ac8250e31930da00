//! What methods and transactions of an algorithm keep for themselves, at every step: locals, sets and maps.
//!
//! Sets and maps are rows of registers (`cyrano_ir::told`) and are told as a person would write them: `{0 ↦ 1}`, `{1}`, `{(0, 2)}`.

use cyrano_ir::told::SetRegisters;
use cyrano_ir::{Program, ThreadId};

use crate::explain;
use crate::rerun::Registers;
use crate::schema::{NamedValue, RegisterChange};
use crate::timeline::Change;

/// What a method returns, which its call says.
const RESULT: &str = ".result";

/// How locals, sets and maps change, in the order of the steps.
pub(crate) fn locals(program: &Program, changes: &[Change]) -> Vec<RegisterChange> {
    let mut told = Vec::new();
    if program.told.sets.is_empty() {
        return told;
    }
    let mut values: Vec<Registers> = program.threads.iter().map(|thread| vec![None; thread.registers.len()]).collect();
    let mut shown: Vec<Vec<String>> = program.told.sets.iter().map(|sets| vec![String::new(); sets.len()]).collect();
    for group in changes.chunk_by(|a, b| a.n == b.n && a.thread == b.thread) {
        let (n, thread) = (group[0].n, group[0].thread);
        for change in group {
            values[thread.index()][change.register] = change.value;
            told.extend(local(program, change));
        }
        let registers = &values[thread.index()];
        let sets = program.told.sets[thread.index()].iter().zip(&mut shown[thread.index()]);
        for (set, last) in sets {
            let now = contents(set, registers);
            if now != *last {
                last.clone_from(&now);
                let value = NamedValue { name: set.name.clone(), value: None, shown: Some(now) };
                told.push(RegisterChange { n, thread: name(program, thread), value });
            }
        }
    }
    told
}

fn name(program: &Program, thread: ThreadId) -> String {
    program.thread(thread).name.clone()
}

/// A local of a method: `read.rver`.
fn local(program: &Program, change: &Change) -> Option<RegisterChange> {
    let declared = &program.thread(change.thread).registers[change.register];
    let of_set = |set: &SetRegisters| declared.name.strip_prefix(&set.name).is_some_and(|rest| rest.starts_with('.'));
    let hidden = declared.name.starts_with('%') || declared.name.ends_with(RESULT) || change.n == 0;
    if hidden || !declared.name.contains('.') || program.told.sets[change.thread.index()].iter().any(of_set) {
        return None;
    }
    let value = explain::named(program, &declared.name, declared.ty, change.value);
    Some(RegisterChange { n: change.n, thread: name(program, change.thread), value })
}

/// What a set or map holds; a part that is not known yet is `?`.
fn contents(set: &SetRegisters, registers: &Registers) -> String {
    let register = |base: cyrano_ir::RegId, at: u32| registers.get(base.index() + at as usize).copied().flatten();
    let word = |value: Option<i128>| value.map_or("?".to_owned(), explain::shown);
    let mut elements = Vec::new();
    for key in 0..set.keys {
        let taken = match register(set.has, key) {
            Some(taken) => u32::try_from(taken).unwrap_or(0).min(set.depth),
            None => {
                elements.push(format!("{key}?"));
                continue;
            }
        };
        elements.extend((0..taken).map(|slot| match (set.values, set.pairs) {
            (Some(values), true) => format!("({key}, {})", word(register(values, key * set.depth + slot))),
            (Some(values), false) => format!("{key} ↦ {}", word(register(values, key))),
            (None, _) => key.to_string(),
        }));
    }
    format!("{{{}}}", elements.join(", "))
}
