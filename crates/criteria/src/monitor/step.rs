//! One event of a monitor.
//!
//! Each function adds the edges that its event causes; `graph.rs` then closes the graph and looks for cycles.
//!
//! **Invariant:** a pending load is dirty only if its variable is known and has an owner, another thread than the load's; the
//! same holds for a transaction's dirty variables.

use super::Rejection;
use super::state::{MonitorState, Nodes, Pending, Phase, Vars, load_node, node};
use crate::criterion::TxCriterion;
use crate::history::{Action, Event, Size};

/// A state under change.
pub(super) struct Step<'a> {
    pub state: &'a mut MonitorState,
    pub opacity: bool,
    pub size: Size,
}

impl<'a> Step<'a> {
    pub fn new(state: &'a mut MonitorState, criterion: TxCriterion, size: Size) -> Self {
        Self { state, opacity: !criterion.is_about_committed(), size }
    }

    pub fn take(mut self, event: Event) -> Result<(), Rejection> {
        let t = event.thread as usize;
        if event.action != Action::ReadFinish {
            self.drop_load(t);
        }
        match event.action {
            Action::Load(v) => self.load(t, v),
            Action::Store(v) => {
                self.begin(t);
                self.store(t, v);
            }
            Action::Cas(v) => {
                self.begin(t);
                self.read_now(t, v);
                self.store(t, v);
            }
            Action::Rollback(v) => self.rollback(t, v)?,
            Action::ReadFinish => self.use_load(t)?,
            Action::Commit => self.commit(t)?,
            Action::Abort => self.abort(t)?,
            Action::Begin => self.begin(t),
        }
        self.settle()
    }

    pub fn threads(&self) -> std::ops::Range<usize> {
        0..self.size.threads as usize
    }

    /// Every node that there may be.
    pub fn nodes(&self) -> impl Iterator<Item = usize> + use<> {
        self.threads().chain(load_node(0)..load_node(self.size.threads as usize))
    }

    /// The nodes before a finished transaction for which the test holds.
    fn before_finished(&self, test: impl Fn(Vars, Vars) -> bool) -> Nodes {
        let chosen = self.nodes().filter(|&i| test(self.state.nodes[i].accessed, self.state.nodes[i].stored));
        chosen.fold(0, |set, i| set | node(i))
    }

    /// The other threads' transactions with a store of the variable; with their reads too if asked.
    fn others(&self, t: usize, v: u8, reads: bool) -> Nodes {
        let chosen = self.threads().filter(|&q| {
            let run = &self.state.running[q];
            let set = if reads { run.reads | run.writes } else { run.writes };
            q != t && run.phase == Phase::Running && set >> v & 1 == 1
        });
        chosen.fold(0, |set, q| set | node(q))
    }

    /// The transaction begins now, unless it has: it comes after everything that has finished.
    fn begin(&mut self, t: usize) {
        if self.state.running[t].phase == Phase::Idle {
            self.state.running[t].phase = Phase::Running;
            self.state.nodes[t].into = self.before_finished(|accessed, _| accessed != 0);
        }
    }

    /// Forgets a load that was not used.
    fn drop_load(&mut self, t: usize) {
        if self.state.pending[t] != Pending::None {
            self.state.pending[t] = Pending::None;
            self.remove_node(load_node(t));
        }
    }

    pub fn remove_node(&mut self, index: usize) {
        self.state.nodes[index] = Default::default();
        self.state.for_each_set(|set| *set &= !node(index));
    }

    fn load(&mut self, t: usize, v: u8) {
        if self.state.running[t].phase == Phase::Lost {
            return;
        }
        let mut into = self.before_finished(|_, stored| stored >> v & 1 == 1) | self.others(t, v, false);
        if self.state.running[t].phase == Phase::Idle {
            into |= self.before_finished(|accessed, _| accessed != 0);
        }
        let owner = self.state.variables[v as usize].owner;
        let dirty = owner.is_some_and(|q| q as usize != t);
        self.state.pending[t] = Pending::Load { variable: Some(v), dirty };
        self.state.nodes[load_node(t)].into = into;
    }

    /// The pending load turns out to be one of the transaction, at the place where it was.
    fn use_load(&mut self, t: usize) -> Result<(), Rejection> {
        let (read, dirty): (Vars, bool) = match self.state.pending[t] {
            Pending::None => return Ok(()),
            Pending::Stale if self.opacity => return Err(Rejection::Stale),
            Pending::Stale => {
                self.lose(t);
                return Ok(());
            }
            Pending::Load { variable, dirty } => (variable.map_or(0, |v| 1 << v), dirty),
        };
        self.state.pending[t] = Pending::None;
        let load = std::mem::take(&mut self.state.nodes[load_node(t)]);
        let own = &mut self.state.nodes[t];
        own.into |= load.into;
        own.accessed |= load.accessed;
        own.stored |= load.stored;
        self.state.for_each_set(|set| {
            if *set & node(load_node(t)) != 0 {
                *set = *set & !node(load_node(t)) | node(t);
            }
        });
        let run = &mut self.state.running[t];
        run.phase = Phase::Running;
        run.reads |= read;
        if dirty && self.opacity {
            self.freeze(read.trailing_zeros() as u8);
        } else if dirty {
            run.dirty |= read;
        }
        Ok(())
    }

    /// The load of a compare-and-swap. The store that follows freezes the variable.
    fn read_now(&mut self, t: usize, v: u8) {
        if self.state.running[t].phase == Phase::Running {
            let before = self.before_finished(|_, stored| stored >> v & 1 == 1);
            self.state.nodes[t].into |= before | self.others(t, v, false);
            self.state.running[t].reads |= 1 << v;
        }
    }

    fn store(&mut self, t: usize, v: u8) {
        let owner = self.state.variables[v as usize].owner;
        let mut before = 0;
        if self.state.running[t].phase == Phase::Running {
            before = self.before_finished(|accessed, _| accessed >> v & 1 == 1) | self.others(t, v, true);
            for q in self.threads() {
                if matches!(self.state.pending[q], Pending::Load { variable, .. } if variable == Some(v)) {
                    before |= node(load_node(q));
                }
            }
        }
        let own = owner == Some(t as u8);
        if owner.is_some() && !own {
            self.freeze(v);
        }
        let frozen = self.state.running[t].writes >> v & 1 == 1 && !own;
        if frozen {
            self.state.nodes[t].into |= before;
        } else {
            self.state.variables[v as usize].owner = Some(t as u8);
            self.state.variables[v as usize].into |= before;
        }
        self.state.running[t].writes |= 1 << v;
    }

    /// The owner of the variable can no longer roll it back, so what came before its store does so for good.
    fn freeze(&mut self, v: u8) {
        let variable = std::mem::take(&mut self.state.variables[v as usize]);
        if let Some(owner) = variable.owner {
            self.state.nodes[owner as usize].into |= variable.into;
        }
        self.clean(v);
    }

    /// The values of the variable that others took are there to stay.
    fn clean(&mut self, v: u8) {
        for q in self.threads() {
            self.state.running[q].dirty &= !(1 << v);
            if let Pending::Load { variable, dirty } = &mut self.state.pending[q]
                && *variable == Some(v)
            {
                *dirty = false;
            }
        }
    }

    fn rollback(&mut self, t: usize, v: u8) -> Result<(), Rejection> {
        if self.state.variables[v as usize].owner != Some(t as u8) {
            return Err(Rejection::Rollback);
        }
        self.state.variables[v as usize] = Default::default();
        self.state.running[t].writes &= !(1 << v);
        self.spoil_dirty_loads(v);
        for q in self.threads() {
            if self.state.running[q].dirty >> v & 1 == 1 {
                self.lose(q);
            }
        }
        Ok(())
    }

    fn spoil_dirty_loads(&mut self, v: u8) {
        for q in self.threads() {
            if self.state.pending[q] == (Pending::Load { variable: Some(v), dirty: true }) {
                self.spoil(q);
            }
        }
    }

    /// Using the pending load would be wrong from now on, so nothing else about it matters.
    pub fn spoil(&mut self, t: usize) {
        self.state.pending[t] = Pending::Stale;
        self.remove_node(load_node(t));
    }

    /// The transaction can no longer commit, so only its stores matter.
    pub fn lose(&mut self, t: usize) {
        self.drop_load(t);
        self.remove_node(t);
        let run = &mut self.state.running[t];
        run.phase = Phase::Lost;
        run.reads = 0;
        run.dirty = 0;
        for variable in &mut self.state.variables {
            if variable.owner == Some(t as u8) {
                variable.into = 0;
            }
        }
    }

    fn commit(&mut self, t: usize) -> Result<(), Rejection> {
        if self.state.running[t].phase == Phase::Lost {
            return Err(Rejection::Stale);
        }
        if self.before(t) & node(t) != 0 {
            return Err(Rejection::Cycle);
        }
        for v in 0..self.size.vars {
            if self.state.running[t].dirty >> v & 1 == 1 {
                self.freeze(v);
            }
        }
        self.finish(t, true);
        Ok(())
    }

    fn abort(&mut self, t: usize) -> Result<(), Rejection> {
        if self.state.running[t].writes != 0 || self.state.running[t].bound {
            return Err(Rejection::Abort);
        }
        self.finish(t, self.opacity);
        Ok(())
    }

    /// The transaction gets no more events. If it counts, what was before it is now before all that is after it.
    fn finish(&mut self, t: usize, counts: bool) {
        let before = if counts { self.before(t) } else { 0 };
        let run = std::mem::take(&mut self.state.running[t]);
        let own = std::mem::take(&mut self.state.nodes[t]);
        for i in self.nodes() {
            if before >> i & 1 == 1 {
                let other = &mut self.state.nodes[i];
                other.accessed |= run.reads | run.writes | own.accessed;
                other.stored |= run.writes | own.stored;
            }
        }
        for v in 0..self.size.vars {
            if self.state.variables[v as usize].owner == Some(t as u8) {
                self.state.variables[v as usize] = Default::default();
                self.clean(v);
            }
        }
        self.state.for_each_set(|set| {
            if *set & node(t) != 0 {
                *set = *set & !node(t) | before;
            }
        });
    }
}
