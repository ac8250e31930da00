//! Threads that may be stopped anywhere: `lock-free`, `obstruction-free`, `wait-free` and `solo-progress`, from their definitions (`docs/termination.md`,
//! `docs/progress.md`), over the graph of single steps.
//!
//! As for termination there are nested fixpoints over sets of states ([`fair`](super::fair)), with other demands: memory is treated fairly, and a
//! suspect takes steps in an operation again and again. Steps of threads that are stopped, and those in which a suspect gets done, are not there.

use cyrano_engine::client_choices;
use cyrano_ir::{InstrId, Liveness, Op, Program, ThreadId, TxEvent};
use cyrano_memory::Model;

use super::fair::{Edge, Found, Graph, Judgement, Kind, Size, is_fair};
use super::machine::is_mark;
use super::{Buffering, machine, reorder};

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// About operations: one of the criteria that stop threads.
    Operations(Liveness),
    /// Whether a thread that runs alone commits again and again.
    Solo,
}

/// What the definition says, by the machine that is made for the model; nothing if there is none.
pub fn judge(program: &Program, model: &Model, size: Size, asked: Asked) -> Option<Judgement> {
    let buffering = Buffering::ALL.into_iter().find(|buffering| buffering.name() == model.name);
    let graph = match buffering {
        Some(buffering) => Graph::of(program, &machine::Machine::new(program, buffering, size.capacity)?, size),
        None => Graph::of(program, &reorder::Machine::new(program, model, size.capacity)?, size),
    };
    let endless = if graph.is_open() { Stopped { program, graph: &graph }.found(asked) } else { None };
    Some(graph.judged(endless))
}

struct Stopped<'a> {
    program: &'a Program,
    graph: &'a Graph,
}

/// What has to happen again and again.
enum Demand {
    /// A step that the suspects have to take.
    Suspect,
    /// The oldest deferred access of this thread is performed, or it has deferred nothing.
    Performs(usize),
}

impl Stopped<'_> {
    fn found(&self, asked: Asked) -> Option<Found> {
        let everybody: Vec<usize> = (0..self.program.threads.len()).collect();
        let alone = || everybody.iter().copied();
        let spins = match asked {
            Asked::Operations(Liveness::LockFree) => {
                self.never_done(&everybody, &everybody).then_some(Found::Starves(0))
            }
            Asked::Operations(Liveness::ObstructionFree) => {
                alone().find(|thread| self.never_done(&[*thread], &[*thread])).map(Found::Starves)
            }
            Asked::Operations(_) => alone().find(|thread| self.never_done(&everybody, &[*thread])).map(Found::Starves),
            Asked::Solo => alone().find(|thread| self.never_commits(*thread)).map(Found::Starves),
        };
        spins.or_else(|| self.blocked(asked))
    }

    fn op(&self, edge: &Edge) -> Option<(usize, &Op)> {
        let at = self.graph.standings[edge.from][edge.thread].at?;
        let runs = matches!(edge.kind, Kind::Program { .. });
        runs.then(|| (at, &self.program.threads[edge.thread].code[at].op))
    }

    /// Whether movers take steps for ever, a suspect among them in an operation, and no operation of a suspect gets done.
    fn never_done(&self, movers: &[usize], suspects: &[usize]) -> bool {
        let inside: Vec<Vec<bool>> = self.program.threads.iter().map(in_operation).collect();
        let stays = |edge: &Edge| {
            let Some((_, op)) = self.op(edge) else { return true };
            let done = matches!(op, Op::OperationEnd) || is_mark(op);
            movers.contains(&edge.thread) && !(done && suspects.contains(&edge.thread))
        };
        let counts = |edge: &Edge| {
            self.op(edge).is_some_and(|(at, _)| inside[edge.thread][at]) && suspects.contains(&edge.thread)
        };
        self.goes_on(stays, counts)
    }

    /// Whether a thread runs alone for ever and does not commit, but aborts again and again or takes steps in one command.
    fn never_commits(&self, thread: usize) -> bool {
        let commands = client_choices(self.program, ThreadId::new(thread));
        let command = |at: usize| commands.contains(&InstrId::new(at));
        let ends = |edge: &Edge| match self.op(edge) {
            Some((_, Op::Transaction(event @ (TxEvent::Commit | TxEvent::Abort)))) => Some(*event),
            _ => None,
        };
        let own = |edge: &Edge| self.op(edge).is_none() || edge.thread == thread;
        let aborts = self.goes_on(
            |edge| own(edge) && ends(edge) != Some(TxEvent::Commit),
            |edge| ends(edge) == Some(TxEvent::Abort),
        );
        let chooses = |edge: &Edge| self.op(edge).is_some_and(|(at, _)| command(at));
        let waits = |edge: &Edge| own(edge) && ends(edge).is_none() && !chooses(edge);
        aborts || self.goes_on(waits, |edge| self.op(edge).is_some())
    }

    /// Whether an execution along some edges goes on for ever, fair to memory, with some edges again and again.
    fn goes_on(&self, stays: impl Fn(&Edge) -> bool, counts: impl Fn(&Edge) -> bool) -> bool {
        let edges: Vec<&Edge> = self.graph.edges.iter().filter(|edge| stays(edge)).collect();
        let threads = 0..self.program.threads.len();
        let demands: Vec<Demand> = threads.map(Demand::Performs).chain([Demand::Suspect]).collect();
        let met = |demand: &Demand, edge: &Edge| match demand {
            Demand::Suspect => counts(edge),
            Demand::Performs(thread) => {
                let oldest = edge.thread == *thread && edge.kind == Kind::Memory { oldest: true };
                oldest || !self.graph.standings[edge.from][*thread].defers
            }
        };
        is_fair(vec![true; self.graph.standings.len()], &edges, &demands, met)
    }

    /// A thread that stands before a closed section, in an operation or a command, while nothing is deferred.
    fn blocked(&self, asked: Asked) -> Option<Found> {
        let inside: Vec<Vec<bool>> = self.program.threads.iter().map(in_operation).collect();
        let quiet = self.graph.standings.iter().filter(|all| !all.iter().any(|standing| standing.defers));
        let stuck = quiet.flat_map(|all| all.iter().enumerate()).find(|(thread, standing)| {
            let Some(at) = standing.at.filter(|_| !standing.able) else { return false };
            let section = matches!(self.program.threads[*thread].code[at].op, Op::AtomicBegin);
            section && (asked == Asked::Solo || inside[*thread][at])
        });
        stuck.map(|(thread, _)| Found::Blocked(thread))
    }
}

/// For every instruction whether it stands behind the beginning of an operation and not behind its end; a thread without operations is one.
fn in_operation(thread: &cyrano_ir::Thread) -> Vec<bool> {
    let begins = |op: &Op| matches!(op, Op::OperationBegin(_));
    let mut inside = vec![!thread.code.iter().any(|instr| begins(&instr.op)); thread.code.len()];
    loop {
        let before = inside.clone();
        for (at, instr) in thread.code.iter().enumerate() {
            let within = before[at] && !matches!(instr.op, Op::OperationEnd) || begins(&instr.op);
            let next: Vec<usize> = match &instr.op {
                Op::Jump(to) => vec![to.index()],
                Op::Branch { then_to, else_to, .. } => vec![then_to.index(), else_to.index()],
                Op::Halt => Vec::new(),
                _ => vec![at + 1],
            };
            next.into_iter().filter(|_| within).for_each(|next| inside[next] = true);
        }
        if before == inside {
            return inside;
        }
    }
}
