//! What is asked to repair a source, and how that is cut into questions; who answers is behind [`Ask`].
//!
//! [`Text`] is a source text that can have fences, [`Machine`] one that can have the fences of a machine and stronger accesses, [`Clients`] an algorithm that can have orders. All judge the programs of one source
//! together, by all that has to hold of each.
//!
//! **Invariant:** every counterexample that a search learns from was confirmed on the program that it is of ([`Ask::shown`]); one that is not
//! ends the search, and whoever asked is told so by `finish`.

mod candidates;
mod clients;
mod machine;
mod retag;
mod text;

use std::borrow::Cow;
use std::cell::RefCell;
use std::time::Instant;

use cyrano_engine::{Answer, Cause, Execution, Query, Question, Replayed, Verdict, Violation};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

use crate::fence::{Fence, Position};
use crate::suite::{Judgement, Wrong};
pub use candidates::{Choice, insert, written};
pub use clients::{Clients, Shown};
pub use machine::{Edit, Machine, Seen};
pub use text::Text;

/// Who answers questions about the programs of a source, by their numbers, and vouches for what is shown.
pub trait Ask {
    /// What is told about a counterexample.
    type Trace: Clone;

    /// The programs as they are; there is at least one.
    fn programs(&self) -> Vec<&Program>;

    /// The programs of another text of the source; none if it is not one.
    fn compile(&self, text: &str) -> Option<Vec<Program>>;

    /// The name of a program, if it is one of several tests.
    fn name(&self, number: usize) -> Option<String>;

    /// How many things have to hold of a program.
    fn goals(&self, number: usize) -> usize;

    /// One of them; `Err` says why it is not known what it allows.
    fn property(&self, number: usize, goal: usize) -> Result<Property, String>;

    /// A program as the model has it: what its language says about order may be mapped to what a machine has.
    fn compiled<'p>(&self, program: &'p Program) -> Cow<'p, Program> {
        Cow::Borrowed(program)
    }

    /// Whether [`Ask::compiled`] maps the orders of a language, so that fences and accesses are the language's and not the model's.
    fn maps_orders(&self) -> bool {
        false
    }

    /// Asks about a program, until then if there is a limit of its own.
    fn ask(&self, number: usize, query: Query<'_>, until: Option<Instant>) -> Answer;

    /// The same with what was learnt from other candidates: the answer, and which of the fences were enough for it if that is known. None if it
    /// has to be asked in the usual way.
    fn ask_among<'a>(
        &self,
        _: &Candidate<'_>,
        _: Option<Instant>,
        _: &dyn Fn() -> Option<&'a Chart>,
    ) -> Option<(Answer, Option<Vec<Fence>>)> {
        None
    }

    /// The confirmed execution behind a violation, if there is one; `Err` says why the answer cannot be trusted.
    fn shown(&self, number: usize, query: Query<'_>, answer: &Answer)
    -> Result<Option<Confirmed<Self::Trace>>, String>;

    /// Whether an execution is one of this program that shows the violation.
    fn confirms(&self, query: Query<'_>, violation: Option<&Violation>, execution: &Execution) -> bool;
}

/// A confirmed execution.
pub struct Confirmed<T> {
    /// The execution.
    pub execution: Execution,
    /// What replaying it brought to light.
    pub replayed: Replayed,
    /// What is told about it.
    pub trace: T,
}

/// A program with some fences, and what is asked about it.
pub struct Candidate<'a> {
    /// The number of the program.
    pub program: usize,
    /// The number of what it has to satisfy.
    pub goal: usize,
    /// The fences.
    pub fences: &'a [Fence],
    /// The program that has them, with the question.
    pub query: Query<'a>,
}

/// Where fences may stand, and the programs with a fence everywhere.
pub struct Chart {
    /// The positions that make a difference.
    pub positions: Vec<Position>,
    /// The programs.
    pub programs: Vec<Program>,
}

/// Why a search cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// There is nothing to insert fences into.
    Nowhere(&'static str),
    /// An answer cannot be trusted.
    Untrusted(String),
}

/// What a program goes wrong by. A condition that no execution satisfies has none to show.
struct Fault<T> {
    property: Property,
    violation: Option<Violation>,
    trace: Option<T>,
}

/// Judges a program by all that has to hold of it; that an answer cannot be trusted is `trouble`. `form` is the program as a property looks at it,
/// `what` names a check, and `put` puts the question of a goal.
fn judge<'p, A: Ask>(
    asker: &A,
    number: usize,
    model: &Model,
    form: impl Fn(&Property) -> Cow<'p, Program>,
    what: impl Fn(&Property) -> String,
    mut put: impl FnMut(usize, Query<'_>) -> Answer,
    trouble: &RefCell<Option<Trouble>>,
) -> Judgement<Fault<A::Trace>> {
    for goal in 0..asker.goals(number) {
        let property = match asker.property(number, goal) {
            Ok(property) => property,
            Err(reason) => return Judgement::Unknown(reason),
        };
        let program = form(&property);
        let query = match Query::new(&program, model, Question::Holds(&property)) {
            Ok(query) => query,
            Err(why) => return Judgement::Unknown(why.to_string()),
        };
        let answer = put(goal, query);
        match answer.verdict {
            Verdict::Verified => continue,
            // Nobody looks for deadlocks under models about relations; whoever asks for fences is told so.
            Verdict::Bounded if matches!(answer.reason, Some(Cause::NoDeadlocksUnder(_))) => continue,
            Verdict::Violated => {}
            other => {
                let reason = answer.reason.as_ref().map(ToString::to_string).unwrap_or_default();
                return Judgement::Unknown(format!("{} is {}: {reason}", what(&property), other.name()));
            }
        }
        let shown = asker.shown(number, query, &answer).and_then(|shown| match shown {
            Some(Confirmed { execution, replayed, trace }) => Ok((execution, replayed, Some(trace))),
            None if answer.violation == Some(Violation::NoWitness) => Ok(Default::default()),
            None => Err("the violation came without an execution".to_owned()),
        });
        let (execution, replayed, trace) = match shown {
            Ok(shown) => shown,
            Err(why) => {
                *trouble.borrow_mut() = Some(Trouble::Untrusted(why.clone()));
                return Judgement::Unknown(why);
            }
        };
        let evidence = Fault { property: property.clone(), violation: answer.violation, trace };
        return Judgement::Wrong(Wrong { execution, replayed, evidence });
    }
    Judgement::Correct
}
