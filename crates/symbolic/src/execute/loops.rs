//! The loops of a thread's code, and an order in which unrolled code can be followed.
//!
//! The control-flow graph is taken apart into strongly connected parts, each with a head; without the edges back to its head a part is taken
//! apart again. That works for any graph, also one with jumps into loops. Every cycle passes the head of the innermost loop that
//! contains it, so counting the returns to heads makes unrolled code acyclic.
//!
//! **Invariant:** if control goes from one instruction to another, the [`Key`] of the first, with its iteration counts, is less than that of
//! the second. Keys compare position, count, position, count, …, from the outermost loop inwards.

use cyrano_ir::dataflow::successors;
use cyrano_ir::{InstrId, Thread};

/// A loop of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct LoopId(pub(crate) u32);

/// Where an instruction stands.
#[derive(Clone, Debug, Default)]
struct CodePosition {
    /// The position in the code, then in each loop that contains it.
    positions: Vec<u32>,
    /// The loops that contain it, outermost first.
    loops: Vec<LoopId>,
}

/// An instruction in unrolled code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Key(Vec<u32>);

impl Key {
    /// How often each loop around the instruction has been repeated, outermost first.
    pub(crate) fn counts(&self) -> Vec<u32> {
        self.0.iter().skip(1).step_by(2).copied().collect()
    }

    /// The same point one iteration of the innermost loop before.
    pub(crate) fn before(&self) -> Self {
        let mut key = self.0.clone();
        if let Some(count) = key.len().checked_sub(2).and_then(|at| key.get_mut(at)) {
            *count = count.saturating_sub(1);
        }
        Self(key)
    }
}

/// The loops of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    places: Vec<CodePosition>,
    /// The head of each loop.
    pub(crate) heads: Vec<InstrId>,
    /// Whether control can come to the instruction from elsewhere than the instruction before it.
    pub(crate) joins: Vec<bool>,
}

impl Loops {
    /// The loops of this code.
    pub(crate) fn new(thread: &Thread) -> Self {
        let code = &thread.code;
        let next: Vec<Vec<usize>> = (0..code.len())
            .map(|pc| {
                successors(&code[pc].op, InstrId::new(pc)).map(InstrId::index).filter(|to| *to < code.len()).collect()
            })
            .collect();
        let mut joins = vec![false; code.len()];
        for (from, targets) in next.iter().enumerate() {
            let branches = targets.len() > 1;
            targets.iter().for_each(|to| joins[*to] |= branches || *to != from + 1);
        }
        let mut arranger = Arranger {
            next: &next,
            places: vec![CodePosition::default(); code.len()],
            heads: Vec::new(),
            member: vec![0; code.len()],
            parts: 0,
        };
        arranger.arrange((0..code.len()).collect(), &CodePosition::default(), None);
        Self { places: arranger.places, heads: arranger.heads, joins }
    }

    /// The start.
    pub(crate) fn start(&self) -> Key {
        self.go(&Key(Vec::new()), None, InstrId(0))
    }

    /// Where control stands after going from an instruction to another.
    pub(crate) fn go(&self, from_key: &Key, from: Option<InstrId>, to: InstrId) -> Key {
        let place = &self.places[to.index()];
        let before: &[LoopId] = from.map_or(&[], |from| &self.places[from.index()].loops);
        let mut key = Vec::with_capacity(2 * place.positions.len());
        for (depth, position) in place.positions.iter().enumerate() {
            key.push(*position);
            let Some(id) = place.loops.get(depth) else { break };
            let inside = before.get(depth) == Some(id);
            let back = inside && self.heads[id.0 as usize] == to;
            let count = if inside { from_key.0[2 * depth + 1] } else { 0 };
            key.push(count + u32::from(back));
        }
        Key(key)
    }

    /// Whether an instruction belongs to a loop.
    pub(crate) fn contains(&self, id: LoopId, pc: InstrId) -> bool {
        self.places[pc.index()].loops.contains(&id)
    }

    /// The innermost loop that an instruction belongs to.
    pub(crate) fn innermost(&self, pc: InstrId) -> Option<LoopId> {
        self.places[pc.index()].loops.last().copied()
    }

    /// The loop whose head this is.
    pub(crate) fn head_of(&self, pc: InstrId) -> Option<LoopId> {
        let id = self.innermost(pc)?;
        (self.heads[id.0 as usize] == pc).then_some(id)
    }
}

struct Arranger<'a> {
    next: &'a [Vec<usize>],
    places: Vec<CodePosition>,
    heads: Vec<InstrId>,
    /// The part that each instruction was last put into.
    member: Vec<u32>,
    parts: u32,
}

impl Arranger<'_> {
    /// Arranges the instructions of one part, whose edges to `head` do not count.
    fn arrange(&mut self, nodes: Vec<usize>, around: &CodePosition, head: Option<usize>) {
        self.parts += 1;
        let part = self.parts;
        nodes.iter().for_each(|node| self.member[*node] = part);
        let components = Components::of(
            &nodes,
            |node, to| to < self.next.len() && self.member[to] == part && Some(to) != head && node < self.next.len(),
            self.next,
        );
        for (position, component) in components.into_iter().rev().enumerate() {
            let mut place = around.clone();
            place.positions.push(u32::try_from(position + usize::from(head.is_some())).unwrap_or(u32::MAX));
            let first = component[0];
            let is_loop = component.len() > 1 || self.next[first].contains(&first);
            if is_loop {
                self.make_loop(component, &place);
            } else {
                self.places[first] = place;
            }
        }
    }

    fn make_loop(&mut self, mut component: Vec<usize>, place: &CodePosition) {
        component.sort_unstable();
        let entered = |node: &usize| {
            self.next.iter().enumerate().any(|(from, to)| to.contains(node) && component.binary_search(&from).is_err())
        };
        let head = component.iter().copied().find(|node| *node == 0 || entered(node)).unwrap_or(component[0]);
        let mut inside = place.clone();
        inside.loops.push(LoopId(u32::try_from(self.heads.len()).unwrap_or(u32::MAX)));
        self.heads.push(InstrId::new(head));
        let mut at_head = inside.clone();
        at_head.positions.push(0);
        self.places[head] = at_head;
        component.retain(|node| *node != head);
        self.arrange(component, &inside, Some(head));
    }
}

/// Tarjan's algorithm without recursion: the code of a test can be long.
struct Components {
    index: rustc_hash::FxHashMap<usize, (u32, u32)>,
    stack: Vec<usize>,
    on_stack: rustc_hash::FxHashSet<usize>,
    found: Vec<Vec<usize>>,
}

impl Components {
    /// The strongly connected components, those that are reached last first.
    fn of(nodes: &[usize], counts: impl Fn(usize, usize) -> bool, next: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let mut this =
            Self { index: Default::default(), stack: Vec::new(), on_stack: Default::default(), found: Vec::new() };
        // Going through the roots backwards leaves code that is reached from nowhere where it stands.
        for root in nodes.iter().rev() {
            if !this.index.contains_key(root) {
                this.visit(*root, &counts, next);
            }
        }
        this.found
    }

    fn visit(&mut self, root: usize, counts: &impl Fn(usize, usize) -> bool, next: &[Vec<usize>]) {
        let mut path = vec![(root, 0)];
        self.open(root);
        while let Some((node, at)) = path.pop() {
            if let Some(to) = next[node].get(at).copied() {
                path.push((node, at + 1));
                if !counts(node, to) {
                    continue;
                }
                if let Some((number, _)) = self.index.get(&to).copied() {
                    if self.on_stack.contains(&to) {
                        self.lower(node, number);
                    }
                } else {
                    self.open(to);
                    path.push((to, 0));
                }
                continue;
            }
            let (number, low) = self.index[&node];
            if let Some((parent, _)) = path.last() {
                self.lower(*parent, low);
            }
            if number == low {
                self.close(node);
            }
        }
    }

    fn open(&mut self, node: usize) {
        let number = u32::try_from(self.index.len()).unwrap_or(u32::MAX);
        self.index.insert(node, (number, number));
        self.stack.push(node);
        self.on_stack.insert(node);
    }

    fn lower(&mut self, node: usize, to: u32) {
        if let Some((_, low)) = self.index.get_mut(&node) {
            *low = (*low).min(to);
        }
    }

    fn close(&mut self, root: usize) {
        let mut component = Vec::new();
        while let Some(node) = self.stack.pop() {
            self.on_stack.remove(&node);
            component.push(node);
            if node == root {
                break;
            }
        }
        self.found.push(component);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(code: &[&str]) -> Loops {
        let mut source = String::from("program p\nlocation x = 0\nthread t\nregister a = 0\n");
        for (pc, op) in code.iter().enumerate() {
            source.push_str(&format!("@{pc}: {op}\n"));
        }
        let program = cyrano_ir::text::parse(&source).expect("the test's program can be read");
        Loops::new(&program.threads[0])
    }

    /// Follows a path and checks that keys grow.
    fn follow(loops: &Loops, path: &[u32]) -> Vec<Vec<u32>> {
        let mut key = loops.start();
        let mut counts = vec![key.counts()];
        for pair in path.windows(2) {
            let next = loops.go(&key, Some(InstrId(pair[0])), InstrId(pair[1]));
            assert!(next > key, "{pair:?}: {next:?} is not after {key:?}");
            key = next;
            counts.push(key.counts());
        }
        counts
    }

    #[test]
    fn nested_loops_count_separately() {
        let code = ["a := 1", "branch a then @2 else @5", "branch a then @3 else @1", "a := 2", "jump @2", "halt"];
        let loops = loops(&code);
        let counts = follow(&loops, &[0, 1, 2, 3, 4, 2, 1, 2, 3, 4, 2, 1, 5]);
        assert_eq!(counts[5], [0, 1]);
        assert_eq!(counts[6], [1]);
        assert_eq!(counts[7], [1, 0]);
        assert_eq!(counts[12], [] as [u32; 0]);
    }

    #[test]
    fn jumps_into_a_loop() {
        let code = ["branch a then @1 else @3", "a := 1", "jump @3", "a := 2", "branch a then @1 else @5", "halt"];
        let loops = loops(&code);
        follow(&loops, &[0, 1, 2, 3, 4, 1, 2, 3, 4, 5]);
        follow(&loops, &[0, 3, 4, 1, 2, 3, 4, 5]);
    }
}
