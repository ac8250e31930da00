//! Axiom 10: what an access finds in the header of its object.
//!
//! An access whose object may be freed gets a companion, an event that reads the header at the place of the access ([`Event::looks`]). It reads
//! whatever the value axiom lets it read, and the error holds exactly where that is not [`ALIVE`]: an execution without the error is one in
//! which the object is alive. The setup thread finds the header in the memory that it carries along.
//!
//! Headers that hold [`ALIVE`] whenever anybody looks, as far as [ranges](crate::execute::range) tell, need no companion. Walks without clauses have none: they compute
//! ranges and test symmetries, and a look writes nothing and computes nothing but a comparison of numbers that are no pointers.

use cyrano_ir::guards::ALIVE;
use cyrano_ir::{AccessKind, EvalError, InstrId, LocId};

use crate::execute::event::{Address, Event, Sources};
use crate::execute::range::Range;
use crate::execute::walk::{ThreadState, ThreadWalk};
use crate::formula::lit::{FALSE, Lit};

impl ThreadWalk<'_, '_> {
    /// Looks at the header for the access that is recorded next; whether the object is freed, and what is wrong then.
    pub(crate) fn look(
        &mut self,
        pc: InstrId,
        kind: AccessKind,
        address: &Address,
        guard: Lit,
        state: &ThreadState,
    ) -> Option<(Lit, EvalError)> {
        if self.ghost || self.gates.dry {
            return None;
        }
        let headers = self.headers(kind, address, state);
        let error = self.set.program.guard_error(LocId(address.words.first()?.0));
        let looks = self.gates.any(headers.words.iter().map(|(_, lit)| *lit));
        let looks = self.gates.and(guard, looks);
        if looks == FALSE {
            return None;
        }
        let found = self.read(&headers, state);
        let alive = self.gates.equals(&found, ALIVE);
        let freed = self.gates.and(looks, !alive);
        let freed = self.gates.and(freed, self.whole);
        if state.memory.is_none() {
            self.run.events.push(Event {
                thread: self.thread,
                instr: pc,
                kind: AccessKind::Load,
                guard: looks,
                address: headers,
                read: Some(found),
                write: None,
                whole: self.whole,
                unit: state.unit,
                ghost: false,
                looks: true,
                from: Sources::default(),
            });
        }
        if freed == FALSE {
            return None;
        }
        self.run.errors.push(freed);
        Some((freed, error))
    }

    /// The headers of what an access may touch, as far as they may say that it is freed.
    fn headers(&mut self, kind: AccessKind, address: &Address, state: &ThreadState) -> Address {
        let program = self.set.program;
        let mut words: Vec<(u32, Vec<Lit>)> = Vec::new();
        for (word, lit) in &address.words {
            let Some(header) = program.guard(LocId(*word), kind) else { continue };
            let range = match &state.memory {
                Some(memory) => &memory[header.index()].range,
                None => &self.set.words[header.index()],
            };
            if *range == Range::one(ALIVE) {
                continue;
            }
            match words.last_mut().filter(|(last, _)| *last == header.0) {
                Some((_, lits)) => lits.push(*lit),
                None => words.push((header.0, vec![*lit])),
            }
        }
        let words = words.into_iter().map(|(header, lits)| (header, self.gates.any(lits))).collect();
        Address { words, index: None }
    }
}
