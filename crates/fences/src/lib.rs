//! Minimal fences that make a program correct, found by counterexamples.
//!
//! # The argument
//!
//! A fence only takes executions away (axiom 2 of `cyrano_memory`): an execution of the program with some fences is an execution of the
//! program without them, and it stays one under a set of fences exactly as long as no fence of the set stands between
//! two accesses that the execution performs out of program order and that the fence's kind orders. So every counterexample
//! gives a *clause*, the candidate fences of which a repair must have at least one (`clause`), and:
//!
//! - a set that misses a clause is refuted by that clause's counterexample, without asking an engine;
//! - a set of least cost that hits all clauses known so far (`hitting`) is either refuted by a new counterexample, whose
//!   clause it misses, or it is correct, and then no cheaper set is (`search`).
//!
//! Since costs are positive, a set of least cost is minimal by inclusion as well. The proof is part of the result: for each fence a
//! counterexample that only this fence of the set prevents ([`Repair::prevents`]).
//!
//! FOIL (section 5) puts a fence behind the last reordered statement of a counterexample and goes on; that repairs too, but
//! promises no minimum.
//!
//! # What this crate does not know
//!
//! Which language the program is written in, and which engine judges it: both are behind [`Suite`], the programs
//! that come from one source. [`source`] has what most subjects need for a program that is text: where a fence may stand, how it is written
//! there, and what the change looks like; [`c`] has the same for C. [`repair`] has suites and sets of orders for whole sources, and asks through
//! [`repair::Ask`].
//!
//! **Invariant:** whether a fence lies between two accesses is never guessed from line numbers. The program is built once with a fence
//! at every position (`places`), and the threads of a counterexample are walked through that program (`walk`).

pub mod c;
mod clause;
mod diff;
mod edits;
mod fence;
mod hitting;
pub mod litmus;
mod machines;
mod orders;
mod outcome;
mod places;
pub mod repair;
mod search;
mod shape;
pub mod source;
mod suite;
mod text;
mod turns;
mod walk;
mod weights;

pub use diff::unified_diff;
pub use edits::{EditSet, Editable, EditsOutcome, Offer, synthesise_edits};
pub use fence::{Costs, Fence, Position, merge, statement};
pub use machines::{MachineFence, language_fences, machine_fences};
pub use orders::{OrderSet, Orderable, OrdersOutcome, synthesise_orders};
pub use outcome::{Counterexample, Outcome, Repair, Undecided, Verdict};
pub use places::inserted;
pub use search::{Options, synthesise};
pub use shape::same_but_for_fences;
pub use suite::{Judgement, Ruling, Suite, Wrong};
pub use text::{AccessOrder, C, FenceText, Litmus, Rml, Stronger};
pub use weights::{Block, MOST_GIVEN, weights};

/// The positions that make a difference: of those between which no access is ever performed, the first.
///
/// This is the universe of [`synthesise`]; the error says why the program cannot be built with a fence everywhere.
pub fn distinct_positions<S: Suite>(suite: &S) -> Result<Vec<Position>, String> {
    places::Places::new(suite).map(|places| places.positions)
}
