//! What a program tells about its own code, brought to the steps of an execution: transactions, calls with their results, and calls of base
//! objects (the trace as Lesani and Palsberg draw it, section 5).
//!
//! Each thread is run again on its own (`rerun`) with the values that the replay established, so nothing is decided here.
//!
//! **Invariant:** the parts of a thread are told by the numbers of its accesses in program order, as in `timeline`.

pub(crate) mod locals;
pub(crate) mod objects;

use std::collections::BTreeMap;

use cyrano_ir::told::{Answer, Part, What};
use cyrano_ir::{LocalExpr, Op, Program, ThreadId, Ty, reply};

use crate::explain::shown;
use crate::pointers;
use crate::record::Parts;
use crate::rerun::{self, Registers};

/// A call of a transactional memory.
#[derive(Clone, Debug)]
pub(crate) struct ToldCall {
    /// `read(1)`.
    pub(crate) name: String,
    /// `1`, `ok`, `A`, `C`.
    pub(crate) result: Option<String>,
    /// Its accesses: the first one, and behind the last one.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) ended: bool,
}

/// A transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToldTransaction {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Whether it committed; `None` if it has not ended.
    pub(crate) ended: Option<bool>,
    /// Whether it runs again what was aborted before.
    pub(crate) again: bool,
}

/// A call of a base object.
#[derive(Clone, Debug)]
pub(crate) struct ToldObject {
    method: String,
    args: Vec<Option<i128>>,
    answer: Answer,
    /// Its accesses, each with the part that it belongs to.
    accesses: Vec<(u32, Part)>,
    /// What was chosen for it: any value.
    pub(crate) chosen: Option<i128>,
    made: Option<i128>,
}

/// What is told about one thread.
#[derive(Default)]
pub(crate) struct ToldThread {
    pub(crate) transactions: Vec<ToldTransaction>,
    pub(crate) calls: Vec<ToldCall>,
    objects: Vec<ToldObject>,
    /// For each access the number of its call of a base object, and the part.
    of: BTreeMap<u32, (usize, Part)>,
}

impl ToldThread {
    /// The call of a base object that an access belongs to.
    pub(crate) fn object(&self, po: u32) -> Option<(&ToldObject, Part)> {
        let (number, part) = self.of.get(&po)?;
        Some((&self.objects[*number], *part))
    }

    /// The calls of base objects, in program order.
    pub(crate) fn objects(&self) -> &[ToldObject] {
        &self.objects
    }

    /// The transaction that an access belongs to.
    pub(crate) fn transaction(&self, po: u32) -> Option<usize> {
        let po = po as usize;
        self.transactions.iter().position(|transaction| (transaction.from..transaction.to).contains(&po))
    }
}

impl ToldObject {
    /// Its accesses in program order.
    pub(crate) fn accesses(&self) -> &[(u32, Part)] {
        &self.accesses
    }

    /// Whether it writes the object.
    pub(crate) fn writes(&self) -> bool {
        self.method == "write"
    }

    /// What it returned, if it read something else.
    pub(crate) fn other_than(&self, read: Option<i128>) -> Option<i128> {
        self.made.filter(|made| self.method == "read" && Some(*made) != read)
    }

    /// `r[1].read()`, `new Loc(1, 0, 2)`.
    pub(crate) fn text(&self, program: &Program, object: &str) -> String {
        let word = |value| word(program, value);
        let args: Vec<String> = self.args.iter().map(|arg| arg.map_or("?".to_owned(), word)).collect();
        let args = args.join(", ");
        match self.method.starts_with("new ") {
            true => format!("{}({args})", self.method),
            false => format!("{object}.{}({args})", self.method),
        }
    }

    /// What it returned, given what its access to the object read and wrote.
    pub(crate) fn result(&self, program: &Program, read: Option<i128>, written: Option<i128>) -> Option<String> {
        let word = |value| word(program, value);
        match &self.answer {
            Answer::Nothing => None,
            Answer::Value => self.chosen.or(read).map(word),
            Answer::Truth => read.map(|value| i128::from(value != 0).to_string()),
            Answer::Success => Some(i128::from(written.is_some()).to_string()),
            Answer::Is(_) => self.made.map(word),
        }
    }
}

/// A value as the program would write it.
fn word(program: &Program, value: i128) -> String {
    pointers::shown(program, Ty::Int, value).unwrap_or_else(|| shown(value))
}

/// What a call returned, in the letters of Guerraoui and Kapalka.
pub(crate) fn returned(value: i128) -> String {
    match value {
        reply::ABORTED => "A".to_owned(),
        reply::COMMITTED => "C".to_owned(),
        value => reply::word(value).map_or_else(|| shown(value), str::to_owned),
    }
}

/// What is told about all threads; empty for a program that tells nothing.
pub(crate) fn told(parts: &Parts<'_>) -> Vec<ToldThread> {
    parts.program.thread_ids().map(|thread| told_thread(parts, thread)).collect()
}

fn told_thread(parts: &Parts<'_>, thread: ThreadId) -> ToldThread {
    let (program, tells) = (parts.program, &parts.program.told);
    if tells.notes.is_empty() && tells.marks.iter().all(Vec::is_empty) && !program.has_calls() {
        return ToldThread::default();
    }
    let mut choices = parts.execution.choices.get(thread.index()).into_iter().flatten();
    let mut walk = Walk { program, thread, told: ToldThread::default(), numbers: BTreeMap::new(), section: false };
    let issued = rerun::visit(program, parts.execution, thread, &mut |instr, op, registers, issued| {
        let chosen = if matches!(op, Op::Choose { .. }) { choices.next().copied() } else { None };
        let what = tells.what(program, thread, instr).cloned().or_else(|| spoken(op));
        if let Some(what) = what {
            walk.see(&what, op, registers, (issued, chosen));
        }
    });
    let mut told = walk.told;
    told.calls.iter_mut().filter(|call| !call.ended).for_each(|call| call.to = issued);
    told.transactions.iter_mut().filter(|tx| tx.ended.is_none()).for_each(|tx| tx.to = issued);
    told
}

/// A call or a response that is an event tells of itself.
fn spoken(op: &Op) -> Option<What> {
    match op {
        Op::Invoke { method, args } => {
            Some(What::Call { name: method.name().to_owned(), args: args.clone(), again: false })
        }
        Op::Respond(value) => Some(What::Return(Some(value.clone()))),
        _ => None,
    }
}

struct Walk<'p> {
    program: &'p Program,
    thread: ThreadId,
    told: ToldThread,
    /// Where the calls of base objects are that are under way, by their numbers in the program.
    numbers: BTreeMap<u32, usize>,
    /// Whether the call is in an atomic section.
    section: bool,
}

impl Walk<'_> {
    fn see(&mut self, what: &What, op: &Op, registers: &Registers, (issued, chosen): (usize, Option<i128>)) {
        let value = |expr: &LocalExpr| rerun::eval(expr, registers).and_then(Result::ok);
        // A call or a response may be an event, and then counts among the accesses.
        let after = issued + usize::from(op.event_kind().is_some());
        match what {
            What::Begin => self.begin(issued, self.told.transactions.last().is_some_and(|tx| tx.ended == Some(false))),
            What::Call { name, args, again } => {
                let args: Vec<String> = args.iter().map(|arg| value(arg).map_or("?".to_owned(), shown)).collect();
                if self.told.transactions.last().is_none_or(|tx| tx.ended.is_some()) {
                    self.begin(issued, *again);
                }
                let name = format!("{name}({})", args.join(", "));
                self.told.calls.push(ToldCall { name, result: None, from: issued, to: issued, ended: false });
            }
            What::Return(result) => {
                let result = result.as_ref().and_then(value);
                // Whoever returns nothing has done what it was asked to.
                self.end_call(after, Some(result.map_or("ok".to_owned(), returned)));
                match result {
                    Some(reply::ABORTED) => self.end(after, false),
                    Some(reply::COMMITTED) => self.end(after, true),
                    _ => {}
                }
            }
            What::Commit => self.end(issued, true),
            What::Abort => self.end(issued, false),
            What::Object(number, part) => self.object(*number, *part, op, registers, (issued, chosen)),
        }
    }

    fn begin(&mut self, from: usize, again: bool) {
        self.told.transactions.push(ToldTransaction { from, to: from, ended: None, again });
    }

    fn end_call(&mut self, to: usize, result: Option<String>) {
        if let Some(call) = self.told.calls.last_mut().filter(|call| !call.ended) {
            (call.to, call.result, call.ended) = (to, result, true);
        }
    }

    fn end(&mut self, to: usize, committed: bool) {
        // A call that is under way ends with its transaction.
        self.end_call(to, Some(returned(if committed { reply::COMMITTED } else { reply::ABORTED })));
        if let Some(transaction) = self.told.transactions.last_mut().filter(|tx| tx.ended.is_none()) {
            (transaction.to, transaction.ended) = (to, Some(committed));
        }
    }

    fn object(
        &mut self,
        number: u32,
        part: Part,
        op: &Op,
        registers: &Registers,
        (issued, chosen): (usize, Option<i128>),
    ) {
        let Some(called) = self.program.told.objects.get(self.thread.index()).and_then(|all| all.get(number as usize))
        else {
            return;
        };
        let value = |expr: &LocalExpr| rerun::eval(expr, registers).and_then(Result::ok);
        let starts = matches!(op, Op::AtomicBegin) || !self.section && op.access_kind().is_some();
        let opens = starts && matches!(part, Part::Whole | Part::Begin);
        self.section = (self.section || matches!(op, Op::AtomicBegin)) && !matches!(op, Op::AtomicEnd);
        let known = self.numbers.get(&number).copied();
        let place = match known {
            Some(place) if !opens => place,
            _ if opens => {
                self.told.objects.push(ToldObject {
                    method: called.method.clone(),
                    args: called.args.iter().map(value).collect(),
                    answer: called.answer.clone(),
                    accesses: Vec::new(),
                    chosen: None,
                    made: None,
                });
                let place = self.told.objects.len() - 1;
                self.numbers.insert(number, place);
                place
            }
            _ => return,
        };
        let object = &mut self.told.objects[place];
        object.chosen = chosen.or(object.chosen);
        if let Answer::Is(made) = &called.answer {
            object.made = value(made);
        }
        if let Some(po) = u32::try_from(issued).ok().filter(|_| op.access_kind().is_some()) {
            object.accesses.push((po, part));
            self.told.of.insert(po, (place, part));
        }
    }
}
