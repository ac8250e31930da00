//! The acyclicity theory: keeps the edges that hold free of cycles while the solver searches.
//!
//! The transitive closure of the present edges is kept as bit sets, one row of successors and one of predecessors for each node, and
//! undone on backtracking. When an edge closes new pairs, every literal whose edge would close a cycle is made false at once, so that the solver
//! never has to guess an order that is already decided.
//!
//! **Explanations** are paths: a literal is made false because of the present edges that lead from the end of its edge to the start. Only edges that
//! were there when the literal was made false count, which their numbers tell; the path with the fewest literals is taken.
//! A conflict is the same with a literal that is true.
//!
//! **Invariant:** a lemma is always the negation of literals whose edges, with the fixed ones, form a cycle; with
//! [`Acyclic::check`] each is checked again by code that shares nothing with the search for paths.

use std::collections::VecDeque;

use batsat::{Lit as BatLit, Theory, TheoryArg, lbool};
use rustc_hash::FxHashMap;

use crate::formula::graph::{Edge, Graph};
use crate::formula::lit::{Lit, TRUE};

/// The number of an edge that is always there.
const FIXED: u32 = u32::MAX;

/// Where the theory stood when a decision was made.
#[derive(Clone, Copy, Debug)]
struct Level {
    processed: usize,
    present: usize,
    saved: usize,
}

/// A row of bits as it was.
#[derive(Clone, Copy, Debug)]
struct Saved {
    row: u32,
    forward: bool,
}

/// Why a literal was made false: there was a path.
#[derive(Clone, Copy, Debug, Default)]
struct Reason {
    from: u32,
    to: u32,
    number: u32,
}

/// The theory.
#[derive(Debug, Default)]
pub(crate) struct Acyclic {
    nodes: usize,
    words: usize,
    edges: Vec<Edge>,
    /// For each literal the first of its edges in `edges`, which are sorted.
    first: Vec<u32>,
    forward: Vec<u64>,
    backward: Vec<u64>,
    /// For each node the nodes to which a path would make some literal false.
    wanted: Vec<u64>,
    closing: FxHashMap<(u32, u32), Vec<Lit>>,
    /// The present edges at each node: target, edge, number in the order of insertion.
    present: Vec<Vec<(u32, u32, u32)>>,
    inserted: Vec<u32>,
    saved: Vec<Saved>,
    saved_bits: Vec<u64>,
    processed: usize,
    levels: Vec<Level>,
    reasons: Vec<Reason>,
    explanation: Vec<BatLit>,
    /// What leads to the start of an edge and what its end leads to, while it is added.
    ends: [Vec<u64>; 2],
    /// Pairs that have just been closed.
    news: Vec<(u32, u32)>,
    search: PathFinder,
    /// Whether to check every lemma again.
    pub(crate) check: bool,
    /// Lemmas given, and lemmas that were not cycles.
    pub(crate) lemmas: u64,
    pub(crate) wrong_lemmas: u64,
}

/// Buffers for the search for paths.
#[derive(Debug, Default)]
struct PathFinder {
    /// For each node the round it was reached in, the node before it and the edge.
    reached: Vec<(u32, u32, u32)>,
    round: u32,
    queue: VecDeque<(u32, u32)>,
    distance: Vec<u32>,
}

/// What loading a graph shows before any search.
pub(crate) struct Loaded {
    pub(crate) theory: Acyclic,
    /// Clauses that the fixed edges imply.
    pub(crate) clauses: Vec<Vec<Lit>>,
}

impl Acyclic {
    /// The theory of a graph over so many variables.
    pub(crate) fn load(graph: &Graph, vars: u32) -> Loaded {
        let nodes = graph.nodes as usize;
        let words = nodes.div_ceil(64);
        let mut theory = Self {
            nodes,
            words,
            forward: vec![0; nodes * words],
            backward: vec![0; nodes * words],
            wanted: vec![0; nodes * words],
            present: vec![Vec::new(); nodes],
            reasons: vec![Reason::default(); 2 * vars as usize],
            ..Self::default()
        };
        theory.search.reached = vec![(0, 0, 0); nodes];
        theory.search.distance = vec![0; nodes];
        let mut clauses = Vec::new();
        for edge in graph.edges.iter().filter(|edge| edge.lit == TRUE) {
            if theory.reaches(edge.to.0, edge.from.0) {
                clauses.push(Vec::new());
                continue;
            }
            theory.present[edge.from.index()].push((edge.to.0, FIXED, 0));
            theory.close(edge.from.0, edge.to.0, &mut |_, _| {});
        }
        theory.saved.clear();
        theory.saved_bits.clear();
        let mut edges: Vec<Edge> = graph.edges.iter().copied().filter(|edge| edge.lit != TRUE).collect();
        edges.retain(|edge| {
            let closes = theory.reaches(edge.to.0, edge.from.0);
            if closes {
                clauses.push(vec![!edge.lit]);
            }
            !closes && !theory.reaches(edge.from.0, edge.to.0)
        });
        edges.sort_by_key(|edge| (edge.lit, edge.from, edge.to));
        edges.dedup();
        for edge in &edges {
            let key = (edge.to.0, edge.from.0);
            theory.closing.entry(key).or_default().push(edge.lit);
            theory.wanted[key.0 as usize * words + key.1 as usize / 64] |= 1 << (key.1 % 64);
        }
        theory.first = vec![0; 2 * vars as usize + 1];
        let mut at = 0;
        for index in 0..theory.first.len() {
            while at < edges.len() && edges[at].lit.index() < index {
                at += 1;
            }
            theory.first[index] = u32::try_from(at).unwrap_or(u32::MAX);
        }
        theory.edges = edges;
        Loaded { theory, clauses }
    }

    /// One more variable, without edges.
    pub(crate) fn grow(&mut self) {
        let last = self.first.last().copied().unwrap_or(0);
        self.first.extend([last, last]);
        self.reasons.extend([Reason::default(); 2]);
    }

    /// Bytes of its tables.
    pub(crate) fn bytes(&self) -> u64 {
        (self.nodes * self.words * 24 + self.edges.len() * 40) as u64
    }

    fn reaches(&self, from: u32, to: u32) -> bool {
        self.forward[from as usize * self.words + to as usize / 64] >> (to % 64) & 1 == 1
    }

    /// Adds all pairs that an edge closes; `news` hears of those that some literal waits for.
    fn close(&mut self, from: u32, to: u32, news: &mut impl FnMut(u32, u32)) {
        if self.reaches(from, to) {
            return;
        }
        let words = self.words;
        // Edges come by the million, so their rows are copied into the same buffers each time.
        let [mut sources, mut targets] = std::mem::take(&mut self.ends);
        let copy = |row: &[u64], node: u32, to: &mut Vec<u64>| {
            to.clear();
            to.extend_from_slice(row);
            to[node as usize / 64] |= 1 << (node % 64);
        };
        copy(&self.backward[from as usize * words..][..words], from, &mut sources);
        copy(&self.forward[to as usize * words..][..words], to, &mut targets);
        for_each_one(&sources, |source| self.spread(source, true, &targets, news));
        for_each_one(&targets, |target| self.spread(target, false, &sources, news));
        self.ends = [sources, targets];
    }

    /// Adds nodes to a row.
    fn spread(&mut self, row: u32, forward: bool, more: &[u64], news: &mut impl FnMut(u32, u32)) {
        let words = self.words;
        let range = row as usize * words..(row as usize + 1) * words;
        let bits = if forward { &mut self.forward[range.clone()] } else { &mut self.backward[range.clone()] };
        if bits.iter().zip(more).all(|(old, more)| more & !old == 0) {
            return;
        }
        self.saved.push(Saved { row, forward });
        self.saved_bits.extend_from_slice(bits);
        for (word, (old, more)) in bits.iter_mut().zip(more).enumerate() {
            let new = more & !*old;
            *old |= more;
            if forward {
                let mut wanted = new & self.wanted[range.start + word];
                while wanted != 0 {
                    news(row, word as u32 * 64 + wanted.trailing_zeros());
                    wanted &= wanted - 1;
                }
            }
        }
    }

    /// Looks at the literals that have become true.
    fn advance(&mut self, acts: &mut TheoryArg<'_>) {
        let mut news = std::mem::take(&mut self.news);
        news.clear();
        self.insert_all(acts, &mut news);
        self.news = news;
    }

    fn insert_all(&mut self, acts: &mut TheoryArg<'_>, news: &mut Vec<(u32, u32)>) {
        while self.processed < acts.model().len() {
            let lit = Lit(acts.model()[self.processed].idx());
            self.processed += 1;
            let range = self.first[lit.index()]..self.first[lit.index() + 1];
            for number in range {
                let edge = self.edges[number as usize];
                if self.reaches(edge.to.0, edge.from.0) {
                    self.conflict(acts, number);
                    return;
                }
                let inserted = u32::try_from(self.inserted.len()).unwrap_or(u32::MAX) + 1;
                self.present[edge.from.index()].push((edge.to.0, number, inserted));
                self.inserted.push(edge.from.0);
                self.close(edge.from.0, edge.to.0, &mut |from, to| news.push((from, to)));
                if !self.announce(acts, news) {
                    return;
                }
            }
        }
    }

    /// Makes the literals false whose edges would close a cycle; false if one of them is true.
    fn announce(&mut self, acts: &mut TheoryArg<'_>, news: &mut Vec<(u32, u32)>) -> bool {
        let number = u32::try_from(self.inserted.len()).unwrap_or(u32::MAX) + 1;
        for (from, to) in news.drain(..) {
            let Some(lits) = self.closing.get(&(from, to)) else { continue };
            for lit in lits {
                let implied = !*lit;
                let value = acts.value(bat(implied).var()) ^ !bat(implied).sign();
                if value == lbool::TRUE {
                    continue;
                }
                self.reasons[implied.index()] = Reason { from, to, number };
                if !acts.propagate(bat(implied)) {
                    return false;
                }
            }
        }
        true
    }

    fn conflict(&mut self, acts: &mut TheoryArg<'_>, number: u32) {
        let edge = self.edges[number as usize];
        let reason = Reason { from: edge.to.0, to: edge.from.0, number: u32::MAX };
        let mut lemma = self.path(reason);
        lemma.push(edge.lit);
        lemma.sort_unstable();
        lemma.dedup();
        self.verify(&lemma);
        let lemma: Vec<BatLit> = lemma.into_iter().map(|lit| bat(!lit)).collect();
        acts.raise_conflict(&lemma, false);
    }

    /// The literals of a path, fixed edges for free (a breadth-first search with weights 0 and 1).
    fn path(&mut self, reason: Reason) -> Vec<Lit> {
        let PathFinder { reached, round, queue, distance } = &mut self.search;
        *round += 1;
        queue.clear();
        queue.push_back((reason.from, 0));
        reached[reason.from as usize] = (*round, reason.from, FIXED);
        distance[reason.from as usize] = 0;
        while let Some((node, far)) = queue.pop_front() {
            if node == reason.to {
                break;
            }
            if distance[node as usize] < far {
                continue;
            }
            for (to, edge, number) in &self.present[node as usize] {
                let leads = *to == reason.to
                    || self.forward[*to as usize * self.words + reason.to as usize / 64] >> (reason.to % 64) & 1 == 1;
                if *number >= reason.number || !leads {
                    continue;
                }
                let step = u32::from(*edge != FIXED);
                let known = reached[*to as usize].0 == *round && distance[*to as usize] <= far + step;
                if known {
                    continue;
                }
                reached[*to as usize] = (*round, node, *edge);
                distance[*to as usize] = far + step;
                if step == 0 { queue.push_front((*to, far)) } else { queue.push_back((*to, far + step)) }
            }
        }
        let mut lits = Vec::new();
        let mut node = reason.to;
        while node != reason.from {
            let (_, before, edge) = reached[node as usize];
            if edge != FIXED {
                lits.push(self.edges[edge as usize].lit);
            }
            node = before;
        }
        lits.sort_unstable();
        lits.dedup();
        lits
    }

    /// Checks that the edges of these literals and the fixed ones have a cycle: takes away what has no edge into it until nothing is left.
    fn verify(&mut self, lits: &[Lit]) {
        self.lemmas += 1;
        if !self.check {
            return;
        }
        let fixed = self.present.iter().enumerate().flat_map(|(from, edges)| {
            edges.iter().filter(|(_, edge, _)| *edge == FIXED).map(move |(to, ..)| (from as u32, *to))
        });
        let chosen = self.edges.iter().filter(|edge| lits.contains(&edge.lit)).map(|edge| (edge.from.0, edge.to.0));
        let mut edges: Vec<(u32, u32)> = fixed.chain(chosen).collect();
        loop {
            let before = edges.len();
            let targets: rustc_hash::FxHashSet<u32> = edges.iter().map(|(_, to)| *to).collect();
            edges.retain(|(from, _)| targets.contains(from));
            if edges.len() == before {
                break;
            }
        }
        self.wrong_lemmas += u64::from(edges.is_empty());
    }
}

/// The solver's form of a literal.
pub(crate) fn bat(lit: Lit) -> BatLit {
    BatLit::new(batsat::Var::unsafe_from_idx(lit.var()), !lit.is_negative())
}

/// Calls for the position of each one.
fn for_each_one(row: &[u64], mut call: impl FnMut(u32)) {
    for (word, bits) in row.iter().enumerate() {
        let mut bits = *bits;
        while bits != 0 {
            call(word as u32 * 64 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
}

impl Theory for Acyclic {
    fn final_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.advance(acts);
    }

    fn partial_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.advance(acts);
    }

    fn create_level(&mut self) {
        let level = Level { processed: self.processed, present: self.inserted.len(), saved: self.saved.len() };
        self.levels.push(level);
    }

    fn pop_levels(&mut self, count: usize) {
        let Some(at) = self.levels.len().checked_sub(count).filter(|_| count > 0) else { return };
        let level = self.levels[at];
        self.levels.truncate(at);
        self.processed = level.processed;
        for from in self.inserted.drain(level.present..).rev() {
            self.present[from as usize].pop();
        }
        let words = self.words;
        for saved in self.saved.drain(level.saved..).rev() {
            let start = self.saved_bits.len() - words;
            let table = if saved.forward { &mut self.forward } else { &mut self.backward };
            table[saved.row as usize * words..][..words].copy_from_slice(&self.saved_bits[start..]);
            self.saved_bits.truncate(start);
        }
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn explain_propagation(&mut self, implied: BatLit) -> &[BatLit] {
        let implied = Lit(implied.idx());
        let mut lits = self.path(self.reasons[implied.index()]);
        let explanation = lits.iter().map(|lit| bat(*lit)).collect();
        lits.push(!implied);
        self.verify(&lits);
        self.explanation = explanation;
        &self.explanation
    }
}
