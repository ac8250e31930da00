//! An execution as a model sees it: events, and relations between them.

use cyrano_ir::{Fence, LocId, Tags, ThreadId};

use super::matrix::{Bits, Matrix};
use super::plan::Base;

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It is a fence.
    Fence(Fence),
}

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Whose; nobody's is a write that gives memory what it holds at first.
    pub thread: Option<ThreadId>,
    /// What it does.
    pub what: What,
    /// Where, if anywhere.
    pub loc: Option<LocId>,
    /// What is said about it.
    pub tags: Tags,
    /// Whether it belongs to a read-modify-write of one instruction.
    pub rmw: bool,
}

/// An execution. The events of a thread stand in program order; the relations are those of the [base](Base) of the same name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// The events.
    pub events: Vec<Event>,
    /// Program order.
    pub po: Matrix,
    /// Address dependencies.
    pub addr: Matrix,
    /// Data dependencies.
    pub data: Matrix,
    /// Control dependencies.
    pub ctrl: Matrix,
    /// Address dependencies that go through no selection.
    pub direct_addr: Matrix,
    /// Data dependencies that go through no selection.
    pub direct_data: Matrix,
    /// Dependencies of what a compare-and-swap compares with.
    pub casdep: Matrix,
    /// Read-modify-writes of one instruction.
    pub amo: Matrix,
    /// Read-modify-writes of two.
    pub lxsx: Matrix,
    /// Reads-from.
    pub rf: Matrix,
    /// Coherence.
    pub co: Matrix,
}

/// A set or a relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// A set of events.
    Set(Bits),
    /// A relation between events.
    Relation(Matrix),
}

impl Graph {
    /// Events without relations.
    pub fn new(events: Vec<Event>) -> Self {
        let none = Matrix::new(events.len());
        Self {
            events,
            po: none.clone(),
            addr: none.clone(),
            data: none.clone(),
            ctrl: none.clone(),
            direct_addr: none.clone(),
            direct_data: none.clone(),
            casdep: none.clone(),
            amo: none.clone(),
            lxsx: none.clone(),
            rf: none.clone(),
            co: none,
        }
    }

    fn set(&self, test: impl Fn(&Event) -> bool) -> Found {
        Found::Set(Bits::filter(self.events.len(), |event| test(&self.events[event])))
    }

    fn pairs(&self, test: impl Fn(&Event, &Event) -> bool) -> Found {
        let events = &self.events;
        Found::Relation(Matrix::filter(events.len(), |a, b| test(&events[a], &events[b])))
    }

    /// What the execution has for a base.
    pub fn base(&self, base: Base) -> Found {
        let fence = |event: &Event, test: &dyn Fn(Fence) -> bool| matches!(event.what, What::Fence(f) if test(f));
        match base {
            Base::Events => self.set(|_| true),
            Base::Reads => self.set(|event| event.what == What::Read),
            Base::Writes => self.set(|event| event.what == What::Write),
            Base::Fences => self.set(|event| fence(event, &|_| true)),
            Base::Rmws => self.set(|event| event.rmw),
            Base::Initial => self.set(|event| event.thread.is_none()),
            Base::Final => {
                let overwritten = self.co.domain();
                let last = |event: usize| self.events[event].what == What::Write && !overwritten.contains(event);
                Found::Set(Bits::filter(self.events.len(), last))
            }
            Base::Tagged(tags) => self.set(|event| event.tags.meets(tags)),
            Base::Named(wanted) => {
                self.set(|event| fence(event, &|f| matches!(f, Fence::Named { name, .. } if name == wanted)))
            }
            Base::Kinds(kinds) => {
                self.set(|event| fence(event, &|f| matches!(f, Fence::Kinds(set) if set.meets(kinds))))
            }
            Base::Ordering(kinds) => self.set(|event| fence(event, &|f| f.kinds().is_some_and(|set| set.meets(kinds)))),
            Base::Identity => Found::Relation(Matrix::diagonal(&Bits::full(self.events.len()))),
            Base::ProgramOrder => Found::Relation(self.po.clone()),
            Base::Address => Found::Relation(self.addr.clone()),
            Base::Data => Found::Relation(self.data.clone()),
            Base::Control => Found::Relation(self.ctrl.clone()),
            Base::DirectAddress => Found::Relation(self.direct_addr.clone()),
            Base::DirectData => Found::Relation(self.direct_data.clone()),
            Base::Compared => Found::Relation(self.casdep.clone()),
            Base::ReadsFrom => Found::Relation(self.rf.clone()),
            Base::Coherence => Found::Relation(self.co.clone()),
            Base::SameLocation => self.pairs(|a, b| a.loc.is_some() && a.loc == b.loc),
            Base::SameThread => {
                let same = |a: usize, b: usize| a == b || self.events[a].thread == self.events[b].thread;
                let real = |a: usize| self.events[a].thread.is_some();
                Found::Relation(Matrix::filter(self.events.len(), |a, b| same(a, b) && (a == b || real(a))))
            }
            Base::Amo => Found::Relation(self.amo.clone()),
            Base::Exclusive => Found::Relation(self.lxsx.clone()),
            Base::RcuSection => Found::Relation(self.rcu_sections()),
        }
    }

    /// Outermost critical sections: a thread is in one while it has begun more than it has ended.
    fn rcu_sections(&self) -> Matrix {
        let mut sections = Matrix::new(self.events.len());
        let mut open: Vec<(ThreadId, usize, usize)> = Vec::new();
        for (number, event) in self.events.iter().enumerate() {
            let (Some(thread), What::Fence(Fence::Named { name, .. })) = (event.thread, event.what) else { continue };
            let at = open.iter().position(|(of, ..)| *of == thread);
            match (name.name(), at) {
                ("rcu_read_lock", Some(at)) => open[at].2 += 1,
                ("rcu_read_lock", None) => open.push((thread, number, 1)),
                ("rcu_read_unlock", Some(at)) => {
                    open[at].2 -= 1;
                    if open[at].2 == 0 {
                        sections.insert(open[at].1, number);
                        open.swap_remove(at);
                    }
                }
                _ => {}
            }
        }
        sections
    }
}
