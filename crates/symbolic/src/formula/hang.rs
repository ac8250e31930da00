//! Executions after which nothing happens any more although somebody has not come to an end: deadlocks, and threads that spin for ever.
//!
//! **Deadlock.** Each thread has ended or waits before a section that would get stuck on final memory, and some wait.
//!
//! **Hang** (`termination`). The same, where a thread may also *spin*: it has stopped after an iteration of a loop that changed nothing
//! ([`crate::execute::idle`]), and every load of that iteration would find in final memory what it found. Then the next iteration does what this one did, and so do
//! all others: the execution goes on for ever, every thread that can take a step takes infinitely many, and nothing is deferred. It is fair, and it is a lasso.
//!
//! **Nothing is missed** where the bounds of all loops are proven sufficient. Take a fair execution in which some thread does not end. No prefix of it has, idle
//! iterations left out, more iterations than the bounds say; so from some point on every thread that has not ended or got stuck is in idle iterations, nothing is
//! written that changes memory, and, since deferred accesses are performed some day, each thread comes to an iteration whose loads all see final
//! memory. Leaving out the idle iterations before that one is an execution of the formula that stops there; it is found. A loop that
//! has no point from which iterations can be idle goes beyond its bound, and the verdict is `bounded`.

use cyrano_ir::{AccessKind, InstrId, Liveness, ThreadId};

use crate::execute::event::{Address, Event, Run, Sources, Spin, Unit};
use crate::execute::range::Range;
use crate::execute::value::Value;
use crate::execute::walk::{Setting, ThreadWalk};
use crate::formula::gates::Gates;
use crate::formula::lit::{FALSE, Lit, TRUE};

/// A look at final memory; what it finds.
pub(crate) fn look(gates: &mut Gates, run: &mut Run, thread: ThreadId, address: Address, words: &[Range]) -> Value {
    let mut ranges = address.words.iter().map(|(word, _)| words[*word as usize].clone());
    let first = ranges.next().unwrap_or_else(Range::all);
    let value = gates.unknown(ranges.fold(first, |all, range| all.join(&range)));
    let unit = run.units.len();
    run.units.push(Unit { thread, ends: vec![], is_operation: false, events: vec![run.events.len()] });
    run.events.push(Event {
        thread,
        instr: InstrId(0),
        kind: AccessKind::Load,
        guard: TRUE,
        address,
        read: Some(value.clone()),
        write: None,
        whole: TRUE,
        unit: Some(unit),
        ghost: true,
        looks: false,
        from: Sources::default(),
    });
    value
}

/// No thread can go on, and some wait. If it is asked whether threads get done, one that spins for ever does not go on, either, and is one that waits unless it passes
/// marks.
pub(crate) fn stuck(set: &Setting<'_>, gates: &mut Gates, run: &mut Run, asked: Option<Liveness>) -> Lit {
    let mut blocked = vec![Vec::new(); set.program.threads.len()];
    let mut waiting = Vec::new();
    for number in 0..run.waits.len() {
        let wait = run.waits[number].clone();
        let stuck = ThreadWalk::ghost(set, gates, run, &wait);
        run.waits[number].stuck = stuck;
        let in_vain = gates.and(wait.waits, stuck);
        blocked[wait.thread.index()].push(in_vain);
        waiting.push(in_vain);
    }
    if let Some(liveness) = asked {
        for number in 0..run.spins.len() {
            let settled = settled(set, gates, run, number);
            let passes = passes(set, gates, run, &run.spins[number], liveness);
            let spin = &mut run.spins[number];
            (spin.settled, spin.passes) = (settled, passes);
            blocked[spin.thread.index()].push(settled);
            waiting.push(gates.and(settled, !passes));
        }
    }
    let mut all = gates.any(waiting);
    for (thread, blocked) in run.threads.iter().zip(blocked) {
        let waits = gates.any(blocked);
        let quiet = gates.or(thread.halted, waits);
        all = gates.and(all, quiet);
    }
    let errors = gates.any(run.errors.iter().copied());
    gates.and(all, !errors)
}

/// Whether a thread passes one of its marks in an iteration.
fn passes(set: &Setting<'_>, gates: &mut Gates, run: &Run, spin: &Spin, liveness: Liveness) -> Lit {
    let label = liveness.label();
    let marks: Vec<InstrId> = set.program.thread(spin.thread).marks(label.map(|label| label.name())).collect();
    let reached = run.reached[spin.reached.clone()].iter();
    let passed = reached.filter(|(thread, pc, _)| *thread == spin.thread && marks.contains(pc));
    gates.any(passed.map(|(.., guard)| *guard))
}

/// Whether a thread stops after an iteration all of whose loads would find in final memory what they found.
fn settled(set: &Setting<'_>, gates: &mut Gates, run: &mut Run, number: usize) -> Lit {
    let spin = run.spins[number].clone();
    let mut settled = spin.stops;
    for at in spin.events {
        let event = &run.events[at];
        let (guard, address) = (event.guard, event.address.clone());
        let Some(read) = event.read.clone().filter(|_| event.thread == spin.thread) else { continue };
        if settled == FALSE {
            break;
        }
        let found = look(gates, run, spin.thread, address, set.words);
        let same = gates.equal(&read, &found);
        let agrees = gates.or(!guard, same);
        settled = gates.and(settled, agrees);
    }
    settled
}
