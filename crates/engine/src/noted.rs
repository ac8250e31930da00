//! From what was noted about executions to an answer: the rules of all engines that look at one execution after the other.
//!
//! **Invariant:** a claim is `Verified` only if every execution was looked at, none was cut off, no flag was raised, and something was exercised ([`vacuity`]).

use std::collections::BTreeSet;

use cyrano_ir::{InstrId, Program, Property, Quantifier, ThreadId};

use crate::answer::{Answer, Verdict, Violation};
use crate::cause::{Cause, limit_reason};
use crate::execution::Execution;
use crate::limits::Stop;
use crate::query::{Query, Question};
use crate::vacuity;

/// Why an execution was not followed to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// A loop was unrolled only so often.
    Loops,
    /// This `limit` does not hold.
    Limit(ThreadId, InstrId),
}

impl Cut {
    /// Why nothing more is known, if loops were unrolled so often.
    pub fn cause(self, program: &Program, times: usize) -> Cause {
        match self {
            Self::Loops => Cause::Unrolled { threads: Vec::new(), times },
            Self::Limit(thread, instr) => limit_reason(program, thread, instr),
        }
    }
}

/// What was noted about the executions of a program.
#[derive(Clone, Debug, Default)]
pub struct Noted {
    /// Flags that were raised.
    pub flags: BTreeSet<String>,
    /// Why some execution was not followed to its end.
    pub cut: Option<Cut>,
    /// What else was not looked at.
    pub left_out: Option<Cause>,
    /// Whether the model allows some execution, be it one that never ends.
    pub allowed: bool,
    /// Whether some execution ends.
    pub ended: bool,
    /// Whether some execution evaluates an assertion.
    pub asserted: bool,
    /// If some section may wait, why deadlocks may have been missed.
    pub deadlocks: Option<Cause>,
}

impl Noted {
    /// The answer where no execution decided the question and the search ended like this. Outcomes are for who knows them to add.
    pub fn answer(self, query: &Query<'_>, stopped: Result<(), Stop>, iterations: usize) -> Answer {
        let bound = self.cut.map(|cut| cut.cause(query.program(), iterations)).or_else(|| self.left_out.clone());
        let settled = match (stopped, bound) {
            (Err(stop), _) => Answer::new(Verdict::Unknown, Some(stop.into())),
            (Ok(()), Some(bound)) => Answer::new(Verdict::Bounded, Some(bound)),
            (Ok(()), None) => Answer::new(Verdict::Verified, None),
        };
        let settled = Answer { flags: self.flags.clone(), ..settled };
        match query.question() {
            Question::Outcomes => settled,
            Question::Holds(property) => self.claimed(query, property, settled),
        }
    }

    /// The answer about a claim that nothing was found against.
    fn claimed(&self, query: &Query<'_>, property: &Property, settled: Answer) -> Answer {
        if settled.verdict == Verdict::Unknown {
            return settled;
        }
        // Nothing can be claimed of a program whose executions raise a flag.
        if !settled.flags.is_empty() {
            let reason = Cause::Flagged(settled.flags.iter().cloned().collect());
            return Answer { flags: settled.flags, ..Answer::new(Verdict::Unknown, Some(reason)) };
        }
        if settled.verdict != Verdict::Verified {
            return settled;
        }
        let program = query.program();
        let waits = program.may_wait();
        let judges_waits = matches!(property, Property::Assertions | Property::Observations(_) | Property::Live(_));
        if let Some(nothing) = self.nothing(program, property) {
            return Answer::new(Verdict::Vacuous, Some(Cause::Nothing(nothing)));
        }
        match (property, &self.deadlocks) {
            (Property::Final { quantifier: Quantifier::Exists, .. }, _) => {
                Answer { violation: Some(Violation::NoWitness), ..Answer::new(Verdict::Violated, None) }
            }
            (_, Some(missed)) if waits && judges_waits => Answer::new(Verdict::Bounded, Some(missed.clone())),
            _ => settled,
        }
    }

    /// Why nothing was exercised.
    fn nothing(&self, program: &Program, property: &Property) -> Option<&'static str> {
        match property {
            Property::Assertions if program.may_wait() => None,
            Property::Assertions if !vacuity::can_go_wrong(program) => Some(vacuity::NO_ASSERTION),
            Property::Assertions => (!self.asserted && !self.ended).then_some(vacuity::NO_ASSERTION_REACHED),
            // They are looked for in executions that never end, too.
            Property::Races if !self.allowed => Some(vacuity::NONE_ALLOWED),
            Property::Races => (!self.ended && !vacuity::can_conflict(program)).then_some(vacuity::NO_CONFLICT),
            _ if !self.ended => Some(vacuity::NO_END),
            Property::Observations(_) if program.observed.is_empty() => Some(vacuity::NOTHING_OBSERVED),
            _ => None,
        }
    }
}

/// The answer where an execution decides the question: it violates it, or is what was looked for.
pub fn decided(violation: Option<Violation>, reason: Option<Cause>, execution: Execution) -> Answer {
    let verdict = if violation.is_some() { Verdict::Violated } else { Verdict::Verified };
    Answer { violation, execution: Some(execution), ..Answer::new(verdict, reason) }
}
