//! Structural properties of a memory's language, which carry opacity from two threads and two variables to any number (FOIL, section 8).
//!
//! The paper is loose here; these are the definitions that are decided. The *language* Γ of a memory is the set of its histories for all clients, over
//! loads, stores, successful compare-and-swaps, rollbacks, read-finishes, commits and aborts, and the beginnings of transactions (their first
//! access, to whatever location). Read-finishes without a load and transactions without an access say nothing and are left out. A transaction
//! that has begun to roll back counts as aborted. An image is *in* Γ if Γ has it with some transactions
//! shorter: they begin later, finish reads or commit earlier. That adds real time and takes nothing away, so what is not opaque stays so.
//!
//! - **P1, `transaction-projection`**: a history without its aborted transactions, and without any choice of its unfinished ones, is in Γ.
//! - **`completion`**: the same, and an unfinished transaction that has rolled nothing back may also end with a commit right behind its last
//!   read-finish or store; one that has not committed may also be there without its stores, a compare-and-swap being a read, and end with a
//!   commit right behind its last read-finish (an aborted one has to). And a read that has finished may do so right behind its load. The paper has none
//!   of this; without any part of it the theorem is wrong.
//! - **P2, `thread-symmetry`**: if nothing aborts and no transactions of threads t and u overlap, the history with all of u's transactions in t is in Γ.
//!   (The paper asks this of committed transactions only; two unfinished ones in one thread would be one transaction.)
//! - **`sequential-renaming`**: the same for histories whose transactions follow one another, perhaps with one more step of a third thread: an event, or a
//!   load and its read-finish. It is what the proof uses, and all that the theorem needs.
//! - **P3, `variable-projection`**: if nothing aborts, the history without the events of a variable, and without transactions that have nothing left, is
//!   in Γ.
//! - **`settled-projection`**: the same for histories in which every transaction but perhaps that of the last event has committed, and only if that
//!   event is one that stays and no beginning. It is what the proof uses, and all that the theorem needs.
//! - **P4, `monotonicity`**: let h·s be in Γ, where in h nothing aborted and exactly one transaction is unfinished, and s is a step of that one: an event
//!   that is no abort, or a load and its read-finish if nobody stores in between. Put the transactions of h one after the other, keeping
//!   conflicts (of all loads) and real time: if there is such a row, there is one, r, with r·s in Γ. (The paper asks for every row. The proof needs one,
//!   and TL2 does not have every one.)
//! - **`conflict-commutativity`**: two neighbouring events a b of different threads, of commands such that an event of b's command stands before a
//!   conflicting one of a's command, can be exchanged. An event counts to the command that its thread has reached.
//! - **`abort-isolation`, `pending-isolation`**: in [`isolation`].
//!
//! **The theorem.** If a memory has completion, sequential renaming, settled projection and monotonicity for all sizes, if its rollbacks are in order
//! for all sizes (rules 1 to 3 of [`oracle`](crate::oracle)) and if it is opaque for two threads and two variables, it is opaque. *Idea:* take a shortest
//! history that is not opaque. Completion makes its reads uninterrupted and every transaction of the cycle but that of the
//! last step committed; monotonicity puts them in a row, which keeps all their conflicts; then all but the last step's thread can be one thread;
//! and two variables are enough for the first and last edge of a cycle of two transactions in a row. This is no proof. `tests/definitions/structure/memories.rs`
//! checks it by brute force, with exactly these premises, for histories of limited length; `theorem.rs` there shows that P1 to P4 as printed are not enough.
//!
//! - [`images`]: what each property asks for, by definition, one history at a time.
//! - [`language`]: Γ as an automaton; [`transform`]: the images of all of Γ, decided by antichains, with the transducers of [`rules`]; [`monotone`]: P4, up to a length.

pub mod images;
pub mod isolation;
pub mod language;
pub mod monotone;
pub mod rules;
pub mod transform;
