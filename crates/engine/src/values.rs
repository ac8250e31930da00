//! The history of calls and responses that an execution of a program with a transactional memory performs.

use cyrano_criteria::values::{Action, Call, Event, History, Reply};
use cyrano_ir::{COMMIT_ORDER, InstrId, Method, Op, OrderName, Program, ThreadId, reply as codes};

use crate::execution::Replayed;

/// The calls that each thread of a client has made, transaction by transaction. One that was aborted early, or is under way, has made
/// the first of its calls only.
pub type Calls = Vec<Vec<Vec<Call>>>;

/// How large histories of a program can get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Transactions of one thread at most.
    pub per_thread: usize,
    /// Locations of the transactional memory.
    pub locations: usize,
}

/// How large histories of a program can get: its constants `txns` and `locs` say so, or its transactional variables.
pub fn size(program: &Program) -> Size {
    let constant = |name: &str| {
        let found = program.constants.iter().find(|(n, _)| n == name);
        found.and_then(|(_, value)| usize::try_from(*value).ok()).unwrap_or(1).max(1)
    };
    let locations = if program.transactional.is_empty() { constant("locs") } else { program.transactional.len() };
    Size { per_thread: constant("txns"), locations }
}

/// What the locations hold before the first transaction.
pub fn initial(program: &Program) -> Vec<i128> {
    match program.transactional.is_empty() {
        true if program.initial.is_empty() => vec![0; size(program).locations],
        true => program.initial.clone(),
        false => program.transactional.iter().map(|loc| program.location(*loc).init).collect(),
    }
}

/// A call with its arguments.
pub fn call(method: Method, args: &[i128]) -> Call {
    let loc = args.first().and_then(|loc| u8::try_from(*loc).ok()).unwrap_or(u8::MAX);
    match method {
        Method::Read => Call::Read(loc),
        Method::Write => Call::Write(loc, args.get(1).copied().unwrap_or(0)),
        Method::Commit => Call::Commit,
    }
}

/// A response from its code.
pub fn reply(code: i128) -> Reply {
    match code {
        codes::ABORTED => Reply::Aborted,
        codes::COMMITTED => Reply::Committed,
        codes::OK => Reply::Ok,
        value => Reply::Value(value),
    }
}

/// The events of a replayed execution, each with the number of its step and its thread, and for each transaction its thread.
pub struct Spoken {
    /// The history; nothing if it is not well-formed.
    pub history: Option<History>,
    /// The step of each event.
    pub steps: Vec<usize>,
    /// The thread of each transaction, in the order in which they begin.
    pub threads: Vec<usize>,
}

/// What the threads said in an execution.
pub fn history(program: &Program, replayed: &Replayed) -> Spoken {
    let steps = replayed.steps.iter().map(|facts| (facts.access.thread, facts.instr, facts.said.as_slice()));
    said(program, steps)
}

/// The history of these steps: each a thread, an instruction and the values that it names. Transactions are numbered in the order in which they begin.
pub fn said<'a>(program: &Program, steps: impl Iterator<Item = (ThreadId, InstrId, &'a [i128])>) -> Spoken {
    let mut running: Vec<Option<u8>> = vec![None; program.threads.len()];
    let mut spoken = Spoken { history: None, steps: Vec::new(), threads: Vec::new() };
    let mut events = Vec::new();
    for (step, (thread, instr, said)) in steps.enumerate() {
        let lane = &mut running[thread.index()];
        let action = match &program.instr(thread, instr).op {
            Op::Invoke { method, .. } => Action::Invoke(call(*method, said)),
            Op::Respond(_) => Action::Respond(reply(said.first().copied().unwrap_or(codes::NOTHING))),
            _ => continue,
        };
        let tx = *lane.get_or_insert_with(|| {
            spoken.threads.push(thread.index());
            u8::try_from(spoken.threads.len() - 1).unwrap_or(u8::MAX)
        });
        if matches!(action, Action::Respond(Reply::Aborted | Reply::Committed)) {
            *lane = None;
        }
        events.push(Event { tx, action });
        spoken.steps.push(step);
    }
    spoken.history = History::new(initial(program), events).ok();
    spoken
}

/// The keys of the transactions of a history in an order that the program names, for each transaction in the order in which they begin; those
/// of transactions that have not committed are empty. None if the program has no such order, or a key is not known.
pub fn keys(program: &Program, replayed: &Replayed, order: OrderName) -> Option<Vec<Vec<i128>>> {
    let spoken = history(program, replayed);
    let mut keys = vec![Vec::new(); spoken.threads.len()];
    let mut committed = vec![0; program.threads.len()];
    let events = spoken.history.as_ref()?.events().iter();
    let commits = events.filter(|event| event.action == Action::Respond(Reply::Committed));
    for (place, event) in commits.enumerate() {
        let tx = usize::from(event.tx);
        let thread = spoken.threads[tx];
        keys[tx] = if order.name() == COMMIT_ORDER {
            vec![i128::try_from(place).ok()?]
        } else {
            let registers = program.serial_order(order.name())?.keys.get(thread)?.get(committed[thread])?;
            let value = |register: &cyrano_ir::RegId| replayed.registers[thread][register.index()];
            registers.iter().map(value).collect::<Option<Vec<i128>>>()?
        };
        committed[thread] += 1;
    }
    Some(keys)
}
