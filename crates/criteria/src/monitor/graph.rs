//! The conflict graph between events: closing it, looking for cycles, and the canonical form.
//!
//! **Invariant:** whatever is dropped here follows from what stays, now and after every continuation; so two histories with the
//! same state have the same future, and dropping changes no verdict.

use super::Rejection;
use super::state::{MAX, Node, Nodes, Pending, Phase, Running, Vars, load_node, node};
use super::step::Step;

impl Step<'_> {
    /// The nodes with an edge to the transaction, lasting or not.
    pub fn before(&self, t: usize) -> Nodes {
        let variables = &self.state.variables[..self.size.vars as usize];
        let owned = variables.iter().filter(|v| v.owner == Some(t as u8));
        owned.fold(self.state.nodes[t].into, |set, v| set | v.into)
    }

    /// Brings the state into its canonical form, or finds that it is wrong.
    pub fn settle(&mut self) -> Result<(), Rejection> {
        if self.opacity {
            self.saturate();
            if self.cyclic() {
                return Err(Rejection::Cycle);
            }
        } else {
            for t in self.threads() {
                if self.state.nodes[t].into & node(t) != 0 {
                    self.lose(t);
                }
            }
        }
        for t in self.threads() {
            if matches!(self.state.pending[t], Pending::Load { .. }) && self.unusable(t) {
                self.spoil(t);
            }
        }
        self.prune();
        Ok(())
    }

    /// Closes the graph under lasting paths through running transactions. Under opacity these stay in the graph whatever
    /// becomes of them; a pending load does not, so no path leads through one.
    fn saturate(&mut self) {
        for q in self.threads() {
            let into = self.state.nodes[q].into;
            if into != 0 {
                self.state.for_each_set(|set| {
                    if *set & node(q) != 0 {
                        *set |= into;
                    }
                });
            }
        }
        for q in self.threads() {
            let after = self.state.nodes[q];
            for i in self.nodes().filter(|i| after.into >> i & 1 == 1) {
                self.state.nodes[i].accessed |= after.accessed;
                self.state.nodes[i].stored |= after.stored;
            }
        }
    }

    /// Whether the running transactions form a cycle: take away those without a predecessor until none is left.
    fn cyclic(&self) -> bool {
        let mut left: Nodes = self.threads().fold(0, |set, t| set | node(t));
        loop {
            let free = self.threads().filter(|&t| left >> t & 1 == 1 && self.before(t) & left == 0);
            let free = free.fold(0, |set, t| set | node(t));
            if free == 0 {
                return left != 0;
            }
            left &= !free;
        }
    }

    /// Whether using the thread's pending load would close a cycle that nothing can open again.
    fn unusable(&self, t: usize) -> bool {
        let (load, into) = (node(load_node(t)), self.state.nodes[load_node(t)].into);
        if into & (load | node(t)) != 0 || self.state.nodes[t].into & load != 0 {
            return true;
        }
        // Under opacity, a use is judged before the thread can roll anything back, no other transaction disappears, and the
        // store whose value was taken either stays or makes the load unusable when it is rolled back.
        let dirty_into = match self.state.pending[t] {
            Pending::Load { variable: Some(variable), dirty: true } => self.state.variables[variable as usize].into,
            _ => 0,
        };
        self.opacity
            && (self.before(t) & load != 0
                || dirty_into & (load | node(t)) != 0
                || self.threads().any(|q| into >> q & 1 == 1 && self.state.nodes[q].into & load != 0))
    }

    /// Drops what is implied by the rest, so that equal futures are equal states as far as this is cheap.
    fn prune(&mut self) {
        let mut owned = [0u8; MAX];
        for v in 0..self.size.vars as usize {
            if let Some(owner) = self.state.variables[v].owner {
                let lasting = self.state.nodes[owner as usize].into;
                self.state.variables[v].into &= !lasting;
                owned[owner as usize] |= 1 << v;
            }
        }
        for t in self.threads() {
            let run = &mut self.state.running[t];
            let stays = run.writes & !owned[t];
            run.bound |= stays != 0;
            // A store that stays conflicts with everything that a load of the same variable does, and so does what follows.
            run.reads &= !(stays | self.state.nodes[t].accessed);
        }
        for t in self.threads() {
            self.prune_after_load(t);
        }
        for t in self.threads() {
            let first = self.is_first(t);
            if first {
                self.state.running[t].reads = 0;
                if self.opacity {
                    self.forget_stores(t, &owned);
                }
            }
            if matches!(self.state.pending[t], Pending::Load { .. }) {
                let run = &self.state.running[t];
                let implied = if first { !0 } else { run.reads | run.writes & !owned[t] };
                self.prune_load(t, implied);
            }
        }
        if self.size.threads <= 2 {
            self.threads().for_each(|t| self.unbegin(t));
        }
    }

    /// Drops the stores that stay of a transaction that comes first anyhow, except where it might store again without closing a
    /// cycle: there it still matters that the variable cannot be rolled back.
    fn forget_stores(&mut self, t: usize, owned: &[Vars; MAX]) {
        let others = self.threads().filter(|&q| q != t);
        let closing = others.fold(self.state.nodes[t].accessed, |set, q| {
            let run = &self.state.running[q];
            set | run.reads | run.writes & !owned[q]
        });
        self.state.running[t].writes &= owned[t] | !closing;
    }

    /// Drops the pending load from where its transaction is too: both are one if the load is used, and both are gone if not.
    /// This comes before any set is made smaller for other reasons, or the order of the threads would matter.
    fn prune_after_load(&mut self, t: usize) {
        let lasting = self.state.nodes;
        let drop = |set: &mut Nodes, whole: Nodes| {
            if whole & node(t) != 0 {
                *set &= !node(load_node(t));
            }
        };
        for q in self.threads() {
            drop(&mut self.state.nodes[q].into, lasting[q].into);
            drop(&mut self.state.nodes[load_node(q)].into, lasting[load_node(q)].into | lasting[q].into);
        }
        for variable in &mut self.state.variables {
            let into = variable.into;
            drop(&mut variable.into, into | variable.owner.map_or(0, |q| lasting[q as usize].into));
        }
    }

    /// Drops what holds for the pending load's transaction as well. A load of an implied variable adds no conflict of its own.
    fn prune_load(&mut self, t: usize, implied: Vars) {
        let own = self.state.nodes[t];
        let load = &mut self.state.nodes[load_node(t)];
        let implied = implied | own.accessed | load.accessed;
        load.into &= !own.into;
        load.accessed &= !own.accessed;
        load.stored &= !own.stored;
        let run = self.state.running[t];
        if let Pending::Load { variable, dirty } = &mut self.state.pending[t] {
            *dirty &= variable.is_some_and(|v| run.dirty >> v & 1 == 0);
            *variable = variable.filter(|v| *dirty || implied >> v & 1 == 0);
        }
        let nothing = Pending::Load { variable: None, dirty: false };
        if run.phase == Phase::Running
            && self.state.pending[t] == nothing
            && self.state.nodes[load_node(t)] == Node::default()
            && !self.is_before_some(load_node(t))
        {
            self.state.pending[t] = Pending::None;
        }
    }

    /// Whether every other transaction, now and later, comes after this one anyhow.
    fn is_first(&self, t: usize) -> bool {
        let followed = self.state.nodes[t].accessed != 0;
        let after = |i: usize| self.state.nodes[i].into >> t & 1 == 1;
        self.state.running[t].phase == Phase::Running
            && (followed || self.opacity)
            && self.threads().filter(|&q| q != t).all(|q| match self.state.running[q].phase {
                Phase::Idle => {
                    followed && (!matches!(self.state.pending[q], Pending::Load { .. }) || after(load_node(q)))
                }
                Phase::Running => after(q),
                Phase::Lost => true,
            })
    }

    /// Whether some set contains the node.
    fn is_before_some(&self, index: usize) -> bool {
        let lasting = self.state.nodes.iter().map(|n| n.into);
        let others = self.state.variables.iter().map(|v| v.into);
        lasting.chain(others).any(|set| set & node(index) != 0)
    }

    /// With two threads, a transaction that has rolled back all that it did might as well not have begun: only the other
    /// thread's transaction could finish before it really begins, and nothing can come before that one.
    fn unbegin(&mut self, t: usize) {
        let (run, own) = (self.state.running[t], self.state.nodes[t]);
        let empty = run == Running { phase: Phase::Running, ..Running::default() };
        if empty && own.accessed == 0 && !self.is_before_some(t) {
            self.state.running[t] = Running::default();
            self.state.nodes[t] = Node::default();
            if matches!(self.state.pending[t], Pending::Load { .. }) {
                self.state.nodes[load_node(t)].into |= own.into;
            }
        }
    }
}
