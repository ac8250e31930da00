//! What threads do in a cycle in which one of them makes no progress.
//!
//! Memory is treated fairly: who takes steps has its oldest deferred access performed, or nothing deferred, again and again, and who takes none has nothing
//! deferred, for all of it has been performed some day.

use cyrano_ir::TxEvent;

use crate::criteria::runs::cycles::{self, Cycle, Met, Want};
use crate::criteria::runs::graph::{Edge, Graph, MOST_THREADS, Threads};

/// A round is easier to read if it starts where no transaction is under way: worth so many steps for each of them.
const FOR_EACH_OPEN: usize = 4;

/// What threads do comes first, then what is performed.
const PERFORMS: u32 = Threads::BITS;

/// What a thread does in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// It ends transactions.
    Ends,
    /// It aborts and does not commit.
    Aborts,
    /// It takes steps, all within one command.
    Waits,
    /// It stands at an atomic section that is closed.
    Blocked,
    /// It takes no step.
    Still,
    /// The same, with no transaction under way.
    Idle,
}

/// A kind of cycle, by the roles of all threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Roles {
    roles: [Role; MOST_THREADS],
    /// The threads that have no transaction under way, those that are blocked, and those that have something to do.
    idle: Threads,
    blocked: Threads,
    moving: Threads,
    /// The threads of the program.
    every: Threads,
}

impl Roles {
    pub fn new(given: &[Role]) -> Self {
        let mut roles = [Role::Still; MOST_THREADS];
        roles[..given.len()].copy_from_slice(given);
        let with = |wanted: &[Role]| {
            let threads = roles.iter().enumerate().filter(|(_, role)| wanted.contains(role));
            threads.fold(0, |set: Threads, (thread, _)| set | 1 << thread)
        };
        let moving = with(&[Role::Ends, Role::Aborts, Role::Waits]);
        let every = (0..given.len()).fold(0, |set, thread| set | 1 << thread);
        Self { roles, idle: with(&[Role::Idle]), blocked: with(&[Role::Blocked]), moving, every }
    }

    /// A short cycle with these roles, if there is any. If nobody moves it has no edges.
    pub fn cycle(&self, graph: &Graph) -> Option<Cycle> {
        if self.moving == 0 {
            let start = (0..graph.len() as u32).find(|node| self.node(graph, *node))?;
            return Some(Cycle { start, edges: Vec::new() });
        }
        cycles::find(graph, self)
    }
}

impl Want for Roles {
    fn node(&self, graph: &Graph, node: u32) -> bool {
        let facts = graph.facts(node);
        let quiet = self.every & !self.moving & !facts.empty == 0;
        quiet && graph.is_possible(node) && facts.busy & self.idle == 0 && facts.stalled & self.blocked == self.blocked
    }

    fn edge(&self, edge: &Edge) -> bool {
        match self.roles[usize::from(edge.thread)] {
            Role::Ends => true,
            Role::Aborts => edge.ended != Some(TxEvent::Commit),
            Role::Waits => edge.ended.is_none() && !edge.choice,
            Role::Blocked | Role::Still | Role::Idle => false,
        }
    }

    fn at(&self, graph: &Graph, node: u32) -> Met {
        Met::from(graph.facts(node).empty & self.moving) << PERFORMS
    }

    /// The thread that does what it has to do in this step, as a set.
    fn by(&self, edge: &Edge) -> Met {
        let does = match self.roles[usize::from(edge.thread)] {
            Role::Ends => edge.ended.is_some(),
            Role::Aborts => edge.ended == Some(TxEvent::Abort),
            Role::Waits => edge.moves,
            Role::Blocked | Role::Still | Role::Idle => false,
        };
        (Met::from(does) | Met::from(edge.oldest) << PERFORMS) << edge.thread & self.all()
    }

    fn all(&self) -> Met {
        Met::from(self.moving) | Met::from(self.moving) << PERFORMS
    }

    fn cost(&self, graph: &Graph, node: u32) -> usize {
        graph.facts(node).busy.count_ones() as usize * FOR_EACH_OPEN
    }
}
