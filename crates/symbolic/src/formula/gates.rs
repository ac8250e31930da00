//! Gates over literals, as clauses (Tseitin), with identical gates shared.
//!
//! **Invariant:** a gate's literal is equivalent to its definition in every assignment that satisfies the clauses, and two gates with
//! the same operands are the same literal. A *dry* builder computes the same literals and keeps no clauses: range analysis
//! runs the whole symbolic execution that way.

use rustc_hash::FxHashMap;

use crate::formula::lit::{FALSE, Lit, TRUE};
use crate::formula::symmetry::Exchanges;

/// How many gates are looked into to find that one implies another.
const STEPS: usize = 48;

/// Clauses in one run of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Formula {
    /// The number of variables.
    pub(crate) vars: u32,
    lits: Vec<Lit>,
    ends: Vec<u32>,
}

impl Formula {
    /// No clauses over so many variables.
    pub(crate) fn over(vars: u32) -> Self {
        Self { vars, ..Self::default() }
    }

    /// The number of clauses.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// All clauses.
    pub(crate) fn clauses(&self) -> impl Iterator<Item = &[Lit]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.lits[start as usize..*end as usize])
    }

    /// A new variable.
    pub(crate) fn fresh(&mut self) -> Lit {
        self.vars += 1;
        Lit::positive(self.vars - 1)
    }

    /// Adds a clause; literals that are constant are left out, and so is a clause that always holds.
    pub(crate) fn add(&mut self, clause: &[Lit]) {
        let holds = |(at, lit): (usize, &Lit)| *lit == TRUE || clause[..at].contains(&!*lit);
        if clause.iter().enumerate().any(holds) {
            return;
        }
        let start = self.lits.len();
        for (at, lit) in clause.iter().enumerate() {
            if *lit != FALSE && !clause[..at].contains(lit) {
                self.lits.push(*lit);
            }
        }
        if self.lits.len() == start {
            // The empty clause: nothing satisfies the formula.
            self.lits.push(FALSE);
        }
        self.ends.push(u32::try_from(self.lits.len()).unwrap_or(u32::MAX));
    }

    /// An estimate of its size.
    pub(crate) fn bytes(&self) -> u64 {
        (self.lits.len() * 4 + self.ends.len() * 4) as u64
    }

    /// The number of literals.
    pub(crate) fn literals(&self) -> usize {
        self.lits.len()
    }
}

/// Builds gates.
#[derive(Debug)]
pub(crate) struct Gates {
    pub(crate) formula: Formula,
    pub(crate) dry: bool,
    ands: FxHashMap<(Lit, Lit), Lit>,
    xors: FxHashMap<(Lit, Lit), Lit>,
    ites: FxHashMap<(Lit, Lit, Lit), Lit>,
    /// The operands of the and-gate that a variable is, if it is one.
    operands: FxHashMap<u32, (Lit, Lit)>,
    /// Symmetries that every computation is checked against.
    pub(crate) exchanges: Exchanges,
}

impl Gates {
    /// No gates; without clauses if `dry`.
    pub(crate) fn new(dry: bool) -> Self {
        let mut formula = Formula { vars: 1, ..Formula::default() };
        if !dry {
            formula.lits.push(TRUE);
            formula.ends.push(1);
        }
        Self {
            formula,
            dry,
            ands: FxHashMap::default(),
            xors: FxHashMap::default(),
            ites: FxHashMap::default(),
            operands: FxHashMap::default(),
            exchanges: Exchanges::default(),
        }
    }

    /// The same without what it takes to share gates; what implies what is still known.
    pub(crate) fn settled(self) -> Self {
        Self { operands: self.operands, dry: false, ..Self::new(true) }
    }

    /// A new variable.
    pub(crate) fn fresh(&mut self) -> Lit {
        self.formula.fresh()
    }

    /// Demands that one of these holds.
    pub(crate) fn clause(&mut self, clause: &[Lit]) {
        if !self.dry {
            self.formula.add(clause);
        }
    }

    fn conjuncts(&self, lit: Lit) -> Option<(Lit, Lit)> {
        if lit.is_negative() { None } else { self.operands.get(&lit.var()).copied() }
    }

    /// Whether `a` implies `b`, as far as the structure of the gates shows it within a few steps.
    pub(crate) fn implies(&self, a: Lit, b: Lit) -> bool {
        if a == b || b == TRUE || a == FALSE {
            return true;
        }
        // Where b is !and(x, y), it holds as soon as x or y does not.
        let excluded = self.conjuncts(!b);
        // A conjunct is never newer than its gate, so that what is older than b cannot have it as a conjunct.
        let newest = excluded.map_or(b, |(x, y)| x.max(y));
        let mut todo = Vec::new();
        let (mut next, mut steps) = (Some(a), 0);
        while let Some(lit) = next {
            if lit == b || excluded.is_some_and(|(x, y)| lit == !x || lit == !y) {
                return true;
            }
            next = match self.conjuncts(lit).filter(|_| lit.var() + 1 >= newest.var() && steps < STEPS) {
                Some((x, y)) => {
                    steps += 1;
                    todo.push(x);
                    Some(y)
                }
                None => todo.pop(),
            };
        }
        false
    }

    /// Both.
    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if let Some(simple) = self.simple_and(a, b) {
            return simple;
        }
        for (one, other) in [(a, b), (b, a)] {
            // one && !(one && y) is one && !y.
            if let Some((x, y)) = self.conjuncts(!other) {
                if x == one {
                    return self.and(one, !y);
                }
                if y == one {
                    return self.and(one, !x);
                }
            }
        }
        if let (Some((p, q)), Some((x, y))) = (self.conjuncts(!a), self.conjuncts(!b)) {
            // !(p && q) && !(p && !q) is !p.
            for (same, rest) in [(p, q), (q, p)] {
                for (other_same, other_rest) in [(x, y), (y, x)] {
                    if same == other_same && rest == !other_rest {
                        return !same;
                    }
                }
            }
        }
        if let Some(known) = self.ands.get(&(a, b)) {
            return *known;
        }
        let gate = self.fresh();
        self.clause(&[!gate, a]);
        self.clause(&[!gate, b]);
        self.clause(&[gate, !a, !b]);
        self.ands.insert((a, b), gate);
        self.operands.insert(gate.var(), (a, b));
        gate
    }

    fn simple_and(&self, a: Lit, b: Lit) -> Option<Lit> {
        if a == FALSE || b == FALSE || a == !b {
            return Some(FALSE);
        }
        if a == TRUE || a == b {
            return Some(b);
        }
        if b == TRUE {
            return Some(a);
        }
        if self.implies(a, b) {
            return Some(a);
        }
        if self.implies(b, a) {
            return Some(b);
        }
        if self.implies(a, !b) || self.implies(b, !a) {
            return Some(FALSE);
        }
        None
    }

    /// At least one.
    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// Exactly one.
    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let flip = a.is_negative() != b.is_negative();
        let (a, b) = (Lit(a.0 & !1), Lit(b.0 & !1));
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let gate = if a == b {
            FALSE
        } else if a == TRUE {
            !b
        } else if let Some(known) = self.xors.get(&(a, b)) {
            *known
        } else {
            let gate = self.fresh();
            self.clause(&[!gate, a, b]);
            self.clause(&[!gate, !a, !b]);
            self.clause(&[gate, !a, b]);
            self.clause(&[gate, a, !b]);
            self.xors.insert((a, b), gate);
            gate
        };
        if flip { !gate } else { gate }
    }

    /// `then` if `cond`, else `other`.
    pub(crate) fn ite(&mut self, cond: Lit, then: Lit, other: Lit) -> Lit {
        if cond.is_negative() {
            return self.ite(!cond, other, then);
        }
        if cond == TRUE || then == other {
            return then;
        }
        if then == TRUE || then == cond {
            return self.or(cond, other);
        }
        if then == FALSE || then == !cond {
            return self.and(!cond, other);
        }
        if other == TRUE || other == !cond {
            return self.or(!cond, then);
        }
        if other == FALSE || other == cond {
            return self.and(cond, then);
        }
        if then == !other {
            return self.xor(!cond, then);
        }
        if then.is_negative() {
            return !self.ite(cond, !then, !other);
        }
        if let Some(known) = self.ites.get(&(cond, then, other)) {
            return *known;
        }
        let gate = self.fresh();
        self.clause(&[!cond, !then, gate]);
        self.clause(&[!cond, then, !gate]);
        self.clause(&[cond, !other, gate]);
        self.clause(&[cond, other, !gate]);
        self.clause(&[!then, !other, gate]);
        self.clause(&[then, other, !gate]);
        self.ites.insert((cond, then, other), gate);
        gate
    }

    /// All of them.
    pub(crate) fn all(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        lits.into_iter().fold(TRUE, |all, lit| self.and(all, lit))
    }

    /// At least one of them.
    pub(crate) fn any(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        let mut kept: Vec<Lit> = Vec::new();
        for lit in lits {
            if lit == TRUE || kept.contains(&!lit) {
                return TRUE;
            }
            if lit != FALSE && !kept.contains(&lit) {
                kept.push(lit);
            }
        }
        if kept.len() <= 2 {
            return kept.into_iter().fold(FALSE, |any, lit| self.or(any, lit));
        }
        let gate = self.fresh();
        for lit in &kept {
            self.clause(&[!*lit, gate]);
        }
        kept.push(!gate);
        self.clause(&kept);
        gate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_repetitions_need_no_gate() {
        let mut gates = Gates::new(false);
        let (a, b) = (gates.fresh(), gates.fresh());
        let before = gates.formula.len();
        assert_eq!(gates.and(a, TRUE), a);
        assert_eq!(gates.and(a, !a), FALSE);
        assert_eq!(gates.xor(a, TRUE), !a);
        assert_eq!(gates.ite(a, TRUE, FALSE), a);
        assert_eq!(gates.formula.len(), before);
        let gate = gates.and(a, b);
        assert_eq!(gates.and(b, a), gate);
        assert_eq!(gates.and(gate, a), gate);
        assert!(gates.implies(gate, b));
    }

    #[test]
    fn the_two_sides_of_a_branch_join_to_what_was_before_it() {
        let mut gates = Gates::new(false);
        let (guard, cond) = (gates.fresh(), gates.fresh());
        let (then, other) = (gates.and(guard, cond), gates.and(guard, !cond));
        assert_eq!(gates.or(then, other), guard);
        assert_eq!(gates.and(then, other), FALSE);
    }
}
