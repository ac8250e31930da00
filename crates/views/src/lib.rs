//! Any number of threads: view abstraction (Abdulla, Haziza, Holík: "All for the price of few", VMCAI 2013) on the explorer's own steps.
//!
//! A *configuration* is a global part and a multiset of members, each the state of a thread of some family ([`cyrano_explore::members`]). A *view of
//! size k* of a configuration is its global part with k of its members. A set `V` of views of size k stands for all configurations whose
//! views of size k are all in `V`. [`Crowd::saturate`] computes the least such set that contains the views of the initial configurations of every
//! size, and is closed: for every configuration of k + 1 members that `V` stands for, the views of its successors are in `V`. If nothing goes wrong in any
//! of these configurations, nothing does in a configuration of any size. If something does, that may be because views forget too much: then larger
//! ones may tell, or an instance shows that it is real. Neither is decided here.
//!
//! **Argument.** Let `c` be a configuration with n > k members all of whose views of size k are in a closed `V`, and let `c'` follow by a step of a
//! member `m` or of a thread in no family. The step depends on nothing but the global part and the mover ([`cyrano_explore::members`] has the argument), so
//! it is a step of every part of `c` that has the mover in it, with the same global part after it. A view of size k of `c'` has k members; together with
//! the mover these are at most k + 1 members of `c`, and since n > k there are k + 1 members of `c` that contain them. The configuration `d` of these
//! is one that `V` stands for, since its views are views of `c`. Its successor by the same step has that view, so the view is in `V`. What goes wrong in
//! the step goes wrong in the step from `d`. So by induction `V` has the views of all that is reachable with n > k members, and everything that
//! goes wrong there goes wrong in a configuration that was looked at.
//!
//! *Fewer members.* With n ≤ k members add members that never take a step: they stay at their first rest. Every execution of n threads is one of more
//! threads, and nothing that is judged here looks at whether a thread has ended, so what goes wrong with few goes wrong with many. A deadlock is not
//! preserved in this way: `deadlocks` excludes it for more than k members ([`Found::deadlock_free`]), and instances of up to k members are to be searched.
//!
//! *Initial configurations.* Every thread runs to its first rest on its own, without touching memory; where it has several ways, each member takes
//! any of them. So the initial views are all combinations of initial members with the initial global parts.
//!
//! *Store queues* are part of members: a deferred store becomes visible by a step of its thread. If a queue is full, executions are missing; that is noted
//! ([`Found::noted`]) and nothing is proven. The same holds for a `limit` that fails.
//!
//! **Commit-atomicity.** Memory is compared with the shadow's when no thread is in a block, which a view cannot see. So the global part gets one number more:
//! how many members are in a block, exactly below [`Crowd::saturate`]'s `cap` and otherwise "at least `cap`". It is a variable that every step
//! updates, from "at least `cap`" downwards in both possible ways, so that the steps with it are an abstraction of those without, again depending on
//! the mover and the global part alone; and it is 0 only if really nobody is in a block, or in addition to the right number. Configurations whose
//! members in blocks are more than an exact number says do not exist, and are left out.
//!
//! This crate knows the explorer's steps and no other engine, does no IO and prints nothing.

mod closed;
mod deadlocks;
mod fixpoint;
mod parts;
#[cfg(test)]
mod tests;

use cyrano_engine::configuration::{self, Forgets, SharedRun, Single};
use cyrano_engine::{Limits, Query, Refusal, Stop, Watch};
use cyrano_explore::members::{self, Members, Noted};
use cyrano_ir::{Family, InstrId, LocId, Program, Property, ThreadId};

pub use closed::Refuted;
pub use fixpoint::CHECK_EVERY;
pub use parts::View;

use deadlocks::Element;
use fixpoint::Saturation;
use parts::Parts;
use rustc_hash::FxHashSet;

/// A question about a program some of whose threads stand for any number of threads.
pub struct Crowd<'a> {
    members: Members<'a>,
    /// Whether the number of members in blocks is kept.
    blocks: bool,
    /// The number of families.
    families: usize,
    /// Whether deadlocks are judged.
    deadlocks: bool,
    fault: Option<Fault>,
}

/// What came of a saturation.
#[derive(Clone, Debug)]
pub struct Found {
    /// The size of views.
    pub k: usize,
    /// How it ended.
    pub end: End,
    /// How many views there are.
    pub views: u64,
    /// How many configurations of k + 1 members were looked at.
    pub configurations: u64,
    /// How many bytes they took.
    pub bytes: u64,
    /// What was left out.
    pub noted: Noted,
    /// The instructions that no thread comes to, if it was proven.
    pub unreached: Vec<(ThreadId, InstrId)>,
    /// Whether no instance with more than `k` members, one of each family at least, has a deadlock; said only if it was asked for and all was proven.
    pub deadlock_free: bool,
    /// Whether threads can wait for others at all, and that is judged.
    pub can_wait: bool,
}

/// Closed views in the words of the axioms, for a certificate.
#[derive(Clone, Debug)]
pub struct Written {
    /// The size of views.
    pub k: usize,
    /// The views.
    pub views: Vec<configuration::View>,
    /// What shows that there are no deadlocks with more members, if there can be any: one member of each family with others beside them.
    pub elements: Vec<(configuration::View, Vec<(usize, Single)>)>,
    /// What is forgotten in them.
    pub forgets: Forgets,
    /// The shared variables that only count, and from where on their values are not told apart.
    pub counters: Vec<(LocId, i128)>,
}

/// How a saturation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It holds for every number of threads, unless something was left out.
    Proven,
    /// Something of this kind goes wrong in a configuration that the views allow.
    Suspected(&'static str),
    /// Something may go wrong with more members than were looked at.
    TooFew,
    /// A limit was reached.
    Stopped(Stop),
}

/// Deliberate bugs, for the tests of this crate; elsewhere they have no effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Only members of the view take steps.
    NoExtraMember,
    /// Two members never look the same.
    NoTwins,
    /// A number that may be larger counts down as if it were not.
    ExactNumber,
    /// Memory is never compared with the serial run's.
    NoComparison,
    /// Members add one more to a counter than they do.
    HeavyMembers,
    /// Where deadlocks are sought, there is nobody but the members that are followed.
    Alone,
}

/// The program that stands for an instance with one member of each family, to be asked about.
pub fn one_of_each(program: &Program) -> Program {
    Program { families: Vec::new(), ..program.clone() }
}

/// The threads that stand for families.
pub fn threads(families: &[Family]) -> Vec<ThreadId> {
    families.iter().map(|family| family.thread).collect()
}

impl<'a> Crowd<'a> {
    /// Prepares a question about [`one_of_each`] of a program with these families.
    pub fn new(query: Query<'a>, families: &[Family], limits: &Limits) -> Result<Self, Refusal> {
        Self::with(query, families, limits, Members::new)
    }

    /// The same, for views that can be written down.
    pub fn certifying(query: Query<'a>, families: &[Family], limits: &Limits) -> Result<Self, Refusal> {
        Self::with(query, families, limits, Members::certifying)
    }

    fn with(
        query: Query<'a>,
        families: &[Family],
        limits: &Limits,
        members: impl FnOnce(Query<'a>, Vec<Option<usize>>, &Limits) -> Members<'a>,
    ) -> Result<Self, Refusal> {
        members::supports(&query, &threads(families))?;
        let of = |thread: ThreadId| families.iter().position(|family| family.thread == thread);
        let family = query.program().thread_ids().map(of).collect();
        let blocks = query.property() == Some(&Property::CommitAtomicity);
        let deadlocks = query.property() == Some(&Property::Assertions) && members::can_wait(query.program());
        let members = members(query, family, limits);
        Ok(Self { members, blocks, families: families.len(), deadlocks, fault: None })
    }

    /// The same with a deliberate bug.
    #[must_use]
    pub fn with_fault(self, fault: Fault) -> Self {
        Self { fault: Some(fault), ..self }
    }

    /// Saturates views of size `k`, at least 1.
    pub fn saturate(&self, k: usize, limits: &Limits, watch: &dyn Watch) -> Found {
        self.saturation(k, limits, watch).0
    }

    /// The same, and the views.
    pub fn views(&self, k: usize, limits: &Limits, watch: &dyn Watch) -> (Found, Vec<View>) {
        let (found, saturation, _) = self.saturation(k, limits, watch);
        (found, saturation.views())
    }

    /// Views of size `k` in the words of the axioms, if they are closed and nothing is wrong or left out in them; a sentence says why not.
    pub fn written(&self, k: usize, limits: &Limits, watch: &dyn Watch) -> Result<Written, String> {
        let (found, saturation, elements) = self.saturation(k, limits, watch);
        match found.end {
            End::Proven if found.noted == Noted::default() => {}
            End::Stopped(stop) => return Err(stop.reason().to_owned()),
            _ => return Err(format!("views of k = {k} that can be written down do not prove it")),
        }
        let mut walker = self.members.walker(k - 1);
        let mut shown = |(global, members): &View| {
            let (inside, shared) = global.split_last().expect("a global part ends with a number");
            let (memory, fixed, run) = walker.shown(shared);
            let member = |(family, bytes): &(usize, Vec<u8>)| (*family, walker.shown_member(*family, bytes));
            let serial = run.map(|memory| SharedRun { memory, inside: usize::from(*inside) });
            configuration::View { memory, fixed, members: members.iter().map(member).collect(), serial }
        };
        let views = saturation.views().iter().map(&mut shown).collect();
        let mut element = |element: &Element| {
            let followed = shown(&saturation.parts.view(element.global, &element.followed));
            (followed, shown(&saturation.parts.view(element.global, &element.others)).members)
        };
        let elements = elements.iter().map(&mut element).collect();
        Ok(Written { k, views, elements, forgets: walker.forgets(), counters: walker.bounds() })
    }

    /// Whether views of size `k`, whoever says so, are closed and nothing goes wrong in what they stand for, by other means than those that find them; how many
    /// configurations were looked at. Of deadlocks nothing is said.
    pub fn check(&self, k: usize, views: &[View], limits: &Limits) -> Result<u64, Refuted> {
        let cap = if self.blocks { k + 1 } else { 0 };
        closed::Checker::new(self.members.walker(k - 1), k, cap).check(views, limits)
    }

    fn saturation(&self, k: usize, limits: &Limits, watch: &dyn Watch) -> (Found, Saturation<'_>, FxHashSet<Element>) {
        let fault = self.fault.filter(|_| cfg!(test));
        let cap = if self.blocks { k as u8 + 1 } else { 0 };
        let mut saturation = Saturation::new(Parts::new(self.members.walker(k - 1), cap, fault), k, fault);
        let end = saturation.run(limits, watch);
        let mut found = Found { can_wait: self.deadlocks, ..saturation.found(end) };
        let mut elements = None;
        if end == End::Proven && self.deadlocks {
            elements = deadlocks::exclude(&mut saturation, self.families, limits, watch);
            found.deadlock_free = elements.is_some();
        }
        (found, saturation, elements.unwrap_or_default())
    }
}
