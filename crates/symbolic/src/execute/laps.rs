//! Rounds of spinning threads under models about relations: a thread may stop where it has come back to the head of a loop with the registers that it had there before.
//!
//! Whether it does is a choice, so nothing is left out: where it goes on, the loop is followed as any other. What is found in this way is what the reference calls a
//! round (`hang` in `cyrano-interp`): between two moments at which the thread jumps back to one place, the registers that are still used hold the same values, and nothing is
//! written but, by a read-modify-write, what it has read. A store-exclusive is a change whether it succeeds or not, for it might next time.
//!
//! Only loops are looked at whose jumps back all lead to their head, which stands first in the text, outside of sections: there the reference sees the same moments.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{AccessKind, InstrId, Op, Tags, Thread};

use crate::execute::event::Event;
use crate::execute::idle::Mark;
use crate::execute::loops::{Key, LoopId, Loops};
use crate::execute::value::Value;
use crate::execute::walk::{ThreadState, ThreadWalk};
use crate::formula::lit::{FALSE, Lit};
use crate::formula::relational::Fault;

/// A thread at the head of a loop.
pub(crate) struct Lap {
    mark: Mark,
    registers: Vec<Value>,
}

/// The heads of loops in which rounds are looked for.
pub(crate) fn heads(thread: &Thread, loops: &Loops) -> Vec<InstrId> {
    let body = |id: LoopId| (0..thread.code.len()).map(InstrId::new).filter(move |pc| loops.contains(id, *pc));
    let fits = |id: LoopId, head: InstrId| {
        body(id).all(|pc| {
            let mut targets = successors(&thread.code[pc.index()].op, pc);
            pc >= head && targets.all(|to| to > pc || to == head || !loops.contains(id, to))
        })
    };
    let all = (0u32..).map(LoopId).zip(loops.heads.iter().copied());
    all.filter(|(id, head)| fits(*id, *head)).map(|(_, head)| head).collect()
}

impl ThreadWalk<'_, '_> {
    /// The thread may stop at the head of a loop after a round that changed nothing; whether it goes on.
    pub(crate) fn unless_spinning(&mut self, key: &Key, pc: InstrId, guard: Lit, state: &ThreadState) -> Lit {
        let looks = self.set.rounds.get(self.thread.index()).is_some_and(|heads| heads.contains(&pc));
        if !looks || self.ghost || self.gates.dry || state.memory.is_some() || state.in_section {
            return guard;
        }
        // The first time it has not jumped there.
        let again = key.counts().last().is_some_and(|count| *count > 1);
        let last = self.laps.remove(&key.before()).filter(|_| again);
        let stops = last.map_or(FALSE, |last| self.comes_round(&last, pc, guard, state));
        let guard = self.gates.and(guard, !stops);
        let mark = Mark::new(guard, self.run, &self.out);
        self.laps.insert(key.clone(), Lap { mark, registers: state.registers.values.clone() });
        guard
    }

    fn comes_round(&mut self, last: &Lap, pc: InstrId, guard: Lit, state: &ThreadState) -> Lit {
        let mut all = vec![guard];
        let live = self.set.live[self.thread.index()].live_before(pc);
        for register in live.iter().filter(|_| !Fault::OtherRegisters.is_on()) {
            let (before, now) = (&last.registers[register.index()], &state.registers.values[register.index()]);
            all.push(self.gates.equal(before, now));
        }
        for number in last.mark.events(self.run) {
            let changes = self.changes(&self.run.events[number].clone());
            all.push(!changes);
        }
        let stops = self.gates.all(all);
        if stops == FALSE {
            return FALSE;
        }
        let chosen = self.gates.fresh();
        let stops = self.gates.and(stops, chosen);
        self.run.spins.push(last.mark.spin(self.thread, pc, stops, self.run, &self.out));
        stops
    }

    /// Whether an access of a round changes memory, or might.
    fn changes(&mut self, event: &Event) -> Lit {
        let access = self.set.program.instr(event.thread, event.instr).op.access();
        let exclusive = access.is_some_and(|access| access.tags.contains(Tags::EXCLUSIVE));
        let Some((written, writes)) = &event.write else { return FALSE };
        let found = match event.kind {
            AccessKind::Store if exclusive => None,
            AccessKind::Store => self.read_before(event),
            _ => event.read.clone(),
        };
        let Some(found) = found else { return event.guard };
        let same = self.gates.equal(&found, written);
        self.gates.and(*writes, !same)
    }

    /// What the section of a store has read, if that is one thing.
    fn read_before(&self, event: &Event) -> Option<Value> {
        let events = &self.run.events;
        let own = self.run.units[event.unit?].events.iter().map(|number| &events[*number]);
        let mut reads = own.filter(|other| other.read.is_some());
        let read = reads.next().filter(|_| reads.next().is_none())?;
        let before = read.instr < event.instr && self.gates.implies(event.guard, read.guard);
        read.read.clone().filter(|_| before)
    }
}

/// Whether a thread need not end, but pass a mark again and again.
pub(crate) fn has_marks(thread: &Thread) -> bool {
    thread.code.iter().any(|instr| matches!(instr.op, Op::Progress(_)))
}
