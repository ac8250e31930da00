//! The histories of a program under sequential consistency, by brute force: an interpreter that shares nothing with the engines but the IR.
//!
//! A step performs one access, one atomic section or one event of a transaction; what a thread does between them nobody sees, and it is done at once.
//! All interleavings are walked, so this is for programs with few of them, or for short histories.

use std::collections::{BTreeSet, HashSet};

use cyrano_criteria::history::{Action, Event, History};
use cyrano_ir::{Op, Program, TxEvent};

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    memory: Vec<i128>,
    regs: Vec<Vec<i128>>,
    pcs: Vec<usize>,
    /// Whether a transaction of the thread has begun.
    begun: Vec<bool>,
}

/// What follows a state, with the events on the way.
type Next = Vec<(State, History)>;

/// Every history of at most so many events, each with the beginnings of its transactions, which do not count.
///
/// # Panics
/// If the program computes something that has no value.
pub fn histories(program: &Program, most: usize) -> BTreeSet<History> {
    let registers =
        program.threads.iter().map(|thread| thread.registers.iter().map(|register| register.init).collect());
    let threads = program.threads.len();
    let start = State {
        memory: program.initial_memory(),
        regs: registers.collect(),
        pcs: vec![0; threads],
        begun: vec![false; threads],
    };
    let mut found = BTreeSet::new();
    let mut seen: HashSet<(State, History)> = HashSet::new();
    let starts = (0..threads)
        .fold(vec![start], |all, thread| all.into_iter().flat_map(|s| run_on(program, s, thread)).collect());
    let mut work: Vec<(State, History)> = starts.into_iter().map(|state| (state, History::new())).collect();
    while let Some((state, word)) = work.pop() {
        if counted(&word) > most || !seen.insert((state.clone(), word.clone())) {
            continue;
        }
        found.insert(word.clone());
        for thread in 0..threads {
            for (next, events) in steps(program, &state, thread) {
                let word: History = word.iter().copied().chain(events).collect();
                work.extend(run_on(program, next, thread).into_iter().map(|state| (state, word.clone())));
            }
        }
    }
    found
}

/// The same without the beginnings.
pub fn words(program: &Program, most: usize) -> BTreeSet<History> {
    let plain = |history: History| history.into_iter().filter(|event| event.action != Action::Begin).collect();
    histories(program, most).into_iter().map(plain).collect()
}

fn counted(word: &History) -> usize {
    word.iter().filter(|event| event.action != Action::Begin).count()
}

fn op<'p>(program: &'p Program, state: &State, thread: usize) -> &'p Op {
    &program.threads[thread].code[state.pcs[thread]].op
}

/// Runs a thread on to what others can see. A client may go round without that, as with writes that are kept local, so states are looked at once.
fn run_on(program: &Program, state: State, thread: usize) -> Vec<State> {
    let (mut done, mut work) = (Vec::new(), vec![state]);
    let mut seen = HashSet::new();
    while let Some(state) = work.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        match op(program, &state, thread) {
            Op::Access(_) | Op::AtomicBegin | Op::Transaction(_) | Op::Halt => done.push(state),
            op => work.extend(local(op, state, thread)),
        }
    }
    done
}

/// What follows a local instruction; nothing if the execution is dropped there.
fn local(op: &Op, mut state: State, thread: usize) -> Vec<State> {
    let pc = state.pcs[thread];
    let value =
        |state: &State, expr: &cyrano_ir::LocalExpr| expr.value(state.regs[thread].as_slice()).expect("it has a value");
    state.pcs[thread] = pc + 1;
    match op {
        Op::Assign { dst, value: expr } => {
            let (new, register) =
                (value(&state, expr), dst.register(state.regs[thread].as_slice()).expect("it is in range"));
            state.regs[thread][register.index()] = new;
        }
        Op::Choose { dst, from } => {
            let register = dst.register(state.regs[thread].as_slice()).expect("it is in range");
            let chosen = |value: &i128| {
                let mut state = state.clone();
                state.regs[thread][register.index()] = *value;
                state
            };
            return from.iter().map(chosen).collect();
        }
        Op::Branch { cond, then_to, else_to } => {
            state.pcs[thread] = if value(&state, cond) != 0 { then_to } else { else_to }.index();
        }
        Op::Jump(to) => state.pcs[thread] = to.index(),
        Op::Assume(cond) if value(&state, cond) == 0 => return Vec::new(),
        Op::Assume(_) | Op::Fence(_) => {}
        other => panic!("no instruction of a transactional memory: {other:?}"),
    }
    vec![state]
}

/// The steps of a thread that stands before something that others can see.
fn steps(program: &Program, state: &State, thread: usize) -> Next {
    match op(program, state, thread) {
        Op::Halt => Vec::new(),
        Op::Transaction(event) => {
            let mut next = state.clone();
            next.pcs[thread] += 1;
            let action = match event {
                TxEvent::ReadFinish => Action::ReadFinish,
                TxEvent::Commit => Action::Commit,
                TxEvent::Abort => Action::Abort,
            };
            next.begun[thread] &= *event == TxEvent::ReadFinish;
            vec![(next, vec![Event { thread: thread as u8, action }])]
        }
        Op::AtomicBegin => section(program, state, thread),
        _ => vec![access(program, state, thread)],
    }
}

fn access(program: &Program, state: &State, thread: usize) -> (State, History) {
    let instr = op(program, state, thread);
    let access = instr.access().expect("it stands before an access");
    let mut next = state.clone();
    let regs = state.regs[thread].as_slice();
    let loc = access.addr.location(program, regs).expect("it is in range");
    let old = state.memory[loc.index()];
    let change = access.change.as_ref();
    let written = change.and_then(|change| change.apply(old, |expr| expr.value(regs)).expect("it has a value"));
    if let Some(written) = written {
        next.memory[loc.index()] = written;
    }
    if let Some(dst) = &access.dst {
        next.regs[thread][dst.register(regs).expect("it is in range").index()] = old;
    }
    next.pcs[thread] += 1;
    let begins = !std::mem::replace(&mut next.begun[thread], true);
    let var = program.transactional.iter().position(|data| *data == loc);
    let meant = var.and_then(|var| cyrano_engine::history::access(access.kind, instr, written.is_some(), var as u8));
    let actions = begins.then_some(Action::Begin).into_iter().chain(meant);
    (next, actions.map(|action| Event { thread: thread as u8, action }).collect())
}

/// All ways through an atomic section; none if it waits.
fn section(program: &Program, state: &State, thread: usize) -> Next {
    let mut first = state.clone();
    first.pcs[thread] += 1;
    let (mut done, mut work) = (Vec::new(), vec![(first, History::new())]);
    while let Some((mut state, events)) = work.pop() {
        match op(program, &state, thread) {
            Op::AtomicEnd => {
                state.pcs[thread] += 1;
                done.push((state, events));
            }
            Op::Access(_) => {
                let (next, more) = access(program, &state, thread);
                work.push((next, events.into_iter().chain(more).collect()));
            }
            op => work.extend(local(op, state, thread).into_iter().map(|state| (state, events.clone()))),
        }
    }
    done
}
