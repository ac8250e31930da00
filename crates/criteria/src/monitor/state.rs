//! The monitor's state: plain data, its compact encoding, and its renaming.
//!
//! **Invariant:** nothing in a state depends on when something happened or on how it is numbered, except by the numbers of
//! threads and variables. So renaming is pointwise, and equal graphs are equal states.

use crate::history::Size;

/// The most threads and the most variables that a monitor can have.
pub const LIMIT: u8 = 8;

pub(super) const MAX: usize = LIMIT as usize;

/// A set of variables.
pub(super) type Vars = u8;

/// A set of nodes: bit `t` is the running transaction of thread `t`, bit `8 + t` its pending load.
pub(super) type Nodes = u16;

/// The number of the node of a thread's pending load.
pub(super) const fn load_node(thread: usize) -> usize {
    MAX + thread
}

/// The set of one node.
pub(super) const fn node(index: usize) -> Nodes {
    1 << index
}

/// A state of a monitor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MonitorState {
    /// First the running transactions, then the pending loads.
    pub(super) nodes: [Node; 2 * MAX],
    pub(super) running: [Running; MAX],
    pub(super) pending: [Pending; MAX],
    pub(super) variables: [Variable; MAX],
}

/// A node of the conflict graph that can still get edges.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) struct Node {
    /// The nodes with a lasting path to this one.
    pub into: Nodes,
    /// What the finished transactions after this node have read or stored.
    pub accessed: Vars,
    /// What they have stored.
    pub stored: Vars,
}

/// What a thread's transaction has done so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) struct Running {
    pub phase: Phase,
    /// Variables with a used load.
    pub reads: Vars,
    /// Variables with a store that has not been rolled back.
    pub writes: Vars,
    /// It has a store that can no longer be rolled back.
    pub bound: bool,
    /// Variables with a used load that took the value of a store which its owner may still roll back. Strict
    /// serializability only: under opacity such a use commits the owner to its store.
    pub dirty: Vars,
}

/// Where a thread's transaction stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) enum Phase {
    /// It has not begun.
    #[default]
    Idle,
    /// It has begun.
    Running,
    /// It has begun and can no longer commit (strict serializability only).
    Lost,
}

/// A thread's last load, as long as the thread has done nothing since.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) enum Pending {
    /// There is none.
    #[default]
    None,
    /// It may be used.
    Load {
        /// Of this variable; `None` if that no longer matters, because what follows the load has accessed it too.
        variable: Option<u8>,
        /// It took the value of a store that its owner may still roll back.
        dirty: bool,
    },
    /// Using it would be wrong.
    Stale,
}

/// The store of a variable that can still be rolled back; there is at most one, because an overwritten one cannot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) struct Variable {
    /// The thread whose store it is.
    pub owner: Option<u8>,
    /// The nodes with a path to the owner that lasts only as long as the store does.
    pub into: Nodes,
}

impl MonitorState {
    /// Whether the thread has no transaction that has begun or may begin with a load.
    pub(super) fn is_idle(&self, thread: u8) -> bool {
        self.running[thread as usize].phase == Phase::Idle && self.pending[thread as usize] == Pending::None
    }

    pub(super) fn initial() -> Self {
        Self {
            nodes: [Node::default(); 2 * MAX],
            running: [Running::default(); MAX],
            pending: [Pending::None; MAX],
            variables: [Variable::default(); MAX],
        }
    }

    /// Applies a change to every set of nodes.
    pub(super) fn for_each_set(&mut self, mut change: impl FnMut(&mut Nodes)) {
        self.nodes.iter_mut().for_each(|n| change(&mut n.into));
        self.variables.iter_mut().for_each(|v| change(&mut v.into));
    }

    /// The state with thread `t` named `threads[t]` and variable `v` named `vars[v]`.
    pub(super) fn renamed(&self, threads: &[u8], vars: &[u8]) -> Self {
        let to_nodes = |set: Nodes| {
            let each = threads.iter().enumerate();
            each.fold(0, |acc, (t, &to)| {
                let to = to as usize;
                acc | ((set >> t) & 1) << to | ((set >> load_node(t)) & 1) << load_node(to)
            })
        };
        let to_vars = |set: Vars| vars.iter().enumerate().fold(0, |acc, (v, &to)| acc | ((set >> v) & 1) << to);
        let to_node =
            |n: Node| Node { into: to_nodes(n.into), accessed: to_vars(n.accessed), stored: to_vars(n.stored) };
        let mut out = Self::initial();
        for (t, &to) in threads.iter().enumerate() {
            let (to, was) = (to as usize, self.running[t]);
            out.nodes[to] = to_node(self.nodes[t]);
            out.nodes[load_node(to)] = to_node(self.nodes[load_node(t)]);
            out.running[to] = Running {
                phase: was.phase,
                bound: was.bound,
                reads: to_vars(was.reads),
                writes: to_vars(was.writes),
                dirty: to_vars(was.dirty),
            };
            out.pending[to] = match self.pending[t] {
                Pending::Load { variable, dirty } => {
                    Pending::Load { variable: variable.map(|v| vars[v as usize]), dirty }
                }
                other => other,
            };
        }
        for (v, &to) in vars.iter().enumerate() {
            let was = self.variables[v];
            out.variables[to as usize] =
                Variable { owner: was.owner.map(|t| threads[t as usize]), into: to_nodes(was.into) };
        }
        out
    }
}

impl MonitorState {
    /// A number for each thread and each variable, computed from how many of what they have to do with, never from their own numbers: so a renamed state has the
    /// renamed colours. Threads come first, then variables by the colours of their threads, then threads by those of their variables.
    pub(super) fn colours(&self, size: Size) -> ([u32; MAX], [u32; MAX]) {
        let (mut threads, mut vars) = ([0; MAX], [0; MAX]);
        for (t, colour) in threads[..size.threads.into()].iter_mut().enumerate() {
            let (run, load) = (self.running[t], load_node(t));
            let pending = match self.pending[t] {
                Pending::None => 0,
                Pending::Stale => 1,
                Pending::Load { variable, dirty } => 2 + u32::from(dirty) + 2 * u32::from(variable.is_some()),
            };
            *colour = [self.nodes[t], self.nodes[load]].iter().fold(run.phase as u32 * 8 + pending, |colour, node| {
                mix(mix(mix(colour, node.into.count_ones()), node.accessed.count_ones()), node.stored.count_ones())
            });
            for set in [run.reads, run.writes, run.dirty] {
                *colour = mix(*colour, set.count_ones());
            }
        }
        for (v, colour) in vars[..size.vars.into()].iter_mut().enumerate() {
            let each = (0..size.threads.into()).map(|t| mix(threads[t], self.relation(t, v)));
            *colour = each.fold(self.variables[v].into.count_ones(), u32::wrapping_add);
        }
        for (t, colour) in threads[..size.threads.into()].iter_mut().enumerate() {
            let each = (0..size.vars.into()).map(|v| mix(vars[v], self.relation(t, v)));
            *colour = each.fold(*colour, u32::wrapping_add);
        }
        (threads, vars)
    }

    /// What a thread has to do with a variable.
    fn relation(&self, t: usize, v: usize) -> u32 {
        let (run, own, load) = (self.running[t], self.nodes[t], self.nodes[load_node(t)]);
        let sets = [run.reads, run.writes, run.dirty, own.accessed, own.stored, load.accessed, load.stored];
        let bits = sets.iter().fold(1, |bits, set| bits << 1 | u32::from(set >> v & 1));
        let pending = matches!(self.pending[t], Pending::Load { variable: Some(of), .. } if usize::from(of) == v);
        bits << 2 | u32::from(pending) << 1 | u32::from(self.variables[v].owner == Some(t as u8))
    }
}

/// A number made of two.
fn mix(colour: u32, more: u32) -> u32 {
    (colour ^ colour >> 15).wrapping_mul(0x9e37_79b1).wrapping_add(more).wrapping_mul(0x85eb_ca6b)
}

/// Writes a state as bits, leaving out what must be zero.
pub(super) fn encode(state: &MonitorState, size: Size, out: &mut Vec<u8>) {
    let mut bits = BitWriter { out, word: 0, used: 0 };
    let (n, k) = (u32::from(size.threads), u32::from(size.vars));
    let put_node = |bits: &mut BitWriter<'_>, node: Node| {
        bits.put(narrow(node.into, n), 2 * n);
        bits.put(node.accessed.into(), k);
        bits.put(node.stored.into(), k);
    };
    for t in 0..size.threads as usize {
        let was = state.running[t];
        bits.put(was.phase as u32, 2);
        if was.phase != Phase::Idle {
            bits.put(was.bound.into(), 1);
            for set in [was.reads, was.writes, was.dirty] {
                bits.put(set.into(), k);
            }
            put_node(&mut bits, state.nodes[t]);
        }
        match state.pending[t] {
            Pending::None => bits.put(0, 2),
            Pending::Stale => bits.put(1, 2),
            Pending::Load { variable, dirty } => {
                bits.put(2 | u32::from(dirty), 2);
                bits.put(variable.unwrap_or(LIMIT).into(), 4);
                put_node(&mut bits, state.nodes[load_node(t)]);
            }
        }
    }
    for variable in &state.variables[..size.vars as usize] {
        bits.put(u32::from(variable.owner.is_some()), 1);
        if let Some(owner) = variable.owner {
            bits.put(owner.into(), 3);
            bits.put(narrow(variable.into, n), 2 * n);
        }
    }
    bits.finish();
}

/// Reads what [`encode`] wrote, from the front of the bytes; gives the number of bytes read too.
pub(super) fn decode(bytes: &[u8], size: Size) -> Option<(MonitorState, usize)> {
    let mut bits = BitReader { bytes, at: 0 };
    let (n, k) = (u32::from(size.threads), u32::from(size.vars));
    let get_node = |bits: &mut BitReader<'_>| {
        Some(Node { into: widen(bits.get(2 * n)?, n), accessed: bits.get(k)? as u8, stored: bits.get(k)? as u8 })
    };
    let mut state = MonitorState::initial();
    for t in 0..size.threads as usize {
        let phase = match bits.get(2)? {
            0 => Phase::Idle,
            1 => Phase::Running,
            _ => Phase::Lost,
        };
        if phase != Phase::Idle {
            let bound = bits.get(1)? == 1;
            let mut set = || Some(bits.get(k)? as u8);
            state.running[t] = Running { phase, bound, reads: set()?, writes: set()?, dirty: set()? };
            state.nodes[t] = get_node(&mut bits)?;
        }
        state.pending[t] = match bits.get(2)? {
            0 => Pending::None,
            1 => Pending::Stale,
            kind => {
                let variable = Some(bits.get(4)? as u8).filter(|v| *v < LIMIT);
                state.nodes[load_node(t)] = get_node(&mut bits)?;
                Pending::Load { variable, dirty: kind == 3 }
            }
        };
    }
    for v in 0..size.vars as usize {
        if bits.get(1)? == 1 {
            state.variables[v] = Variable { owner: Some(bits.get(3)? as u8), into: widen(bits.get(2 * n)?, n) };
        }
    }
    Some((state, bits.at.div_ceil(8)))
}

/// A set of nodes in `2 * n` bits.
fn narrow(set: Nodes, n: u32) -> u32 {
    let (low, high) = (u32::from(set & 0xff), u32::from(set >> MAX));
    low | high << n
}

fn widen(bits: u32, n: u32) -> Nodes {
    let low = bits & ((1 << n) - 1);
    (low | (bits >> n) << MAX) as Nodes
}

struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    word: u64,
    used: u32,
}

impl BitWriter<'_> {
    fn put(&mut self, value: u32, width: u32) {
        self.word |= u64::from(value) << self.used;
        self.used += width;
        while self.used >= 8 {
            self.out.push(self.word as u8);
            self.word >>= 8;
            self.used -= 8;
        }
    }

    fn finish(self) {
        if self.used > 0 {
            self.out.push(self.word as u8);
        }
    }
}

struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl BitReader<'_> {
    fn get(&mut self, width: u32) -> Option<u32> {
        let mut value = 0;
        for i in 0..width {
            let byte = self.bytes.get(self.at / 8)?;
            value |= u32::from(byte >> (self.at % 8) & 1) << i;
            self.at += 1;
        }
        Some(value)
    }
}
