//! Statements that invariants name: which instructions of a thread they are.
//!
//! A thread stands at a statement from the moment at which the statement is next until all of it is done. A jump is nothing that a thread
//! stands at: it belongs to wherever it leads. Only a named statement that is nothing but a jump, or nothing at all (`cs: skip`), keeps a
//! jump of its own to be stood at, a *pinned* one.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_ir::{Instr, InstrId, Op, Span};

use crate::lower::{Language, Lower};
use crate::report::Fallible;
use crate::syntax::ast::{Claim, File, Name};

/// A statement that was lowered, by the positions of its instructions.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) label: String,
    pub(crate) from: usize,
    to: usize,
    /// Whether it stands in an atomic section, where nobody sees a thread.
    inside: bool,
}

/// The places of a label in a thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Places {
    pub(crate) places: Vec<InstrId>,
    /// Whether it stands in an atomic section, wherever it was inlined.
    pub(crate) inside: bool,
}

/// The labels that the invariants of a file name.
pub(crate) fn named_labels(file: &File) -> BTreeSet<&str> {
    let mut labels = BTreeSet::new();
    let claimed = file.checks.iter().filter_map(|check| match &check.claim {
        Claim::Invariant((cond, _)) => Some(cond),
        _ => None,
    });
    for cond in file.invariants.iter().map(|invariant| &invariant.cond).chain(claimed) {
        cond.for_each_point(&mut |at| {
            labels.insert(at.label.text.as_str());
        });
    }
    labels
}

impl<'a, L: Language<'a>> Lower<'a, '_, L> {
    /// Takes note of a statement with a label that began at this position; where nothing was made of it, makes something.
    pub(crate) fn close_named(&mut self, label: &Name, from: usize, span: Span) -> Fallible<()> {
        if self.build.here() as usize == from {
            let next = self.label();
            self.jump(next, span)?;
            self.place(next);
        }
        let (to, inside) = (self.build.here() as usize, self.in_section);
        self.build.named.push(Named { label: label.text.clone(), from, to, inside });
        Ok(())
    }
}

/// The positions that compaction keeps even if they are jumps.
pub(crate) fn pins(named: &[Named]) -> BTreeSet<usize> {
    named.iter().map(|named| named.from).collect()
}

/// For each label its instructions in compacted code; `positions` has the new number of every old instruction that was kept.
pub(crate) fn places(named: &[Named], code: &[Instr], positions: &[Option<usize>]) -> BTreeMap<String, Places> {
    let pinned: BTreeSet<usize> =
        pins(named).into_iter().filter_map(|at| positions.get(at).copied().flatten()).collect();
    let mut found: BTreeMap<String, (Vec<bool>, bool)> = BTreeMap::new();
    for named in named {
        let (has, inside) = found.entry(named.label.clone()).or_insert((vec![false; code.len()], true));
        *inside &= named.inside;
        let kept = positions.iter().take(named.to).skip(named.from).flatten();
        kept.for_each(|at| has[*at] = true);
    }
    let ends: Vec<usize> = (0..code.len()).map(|at| end(code, &pinned, at)).collect();
    let places = |(label, (has, inside)): (String, (Vec<bool>, bool))| {
        let places = (0..code.len()).filter(|at| has[ends[*at]]).map(InstrId::new).collect();
        (label, Places { places, inside })
    };
    found.into_iter().map(places).collect()
}

/// Where jumps lead that nobody stands at; a circle of them leads nowhere.
fn end(code: &[Instr], pinned: &BTreeSet<usize>, from: usize) -> usize {
    let mut at = from;
    for _ in 0..code.len() {
        match code[at].op {
            Op::Jump(to) if !pinned.contains(&at) => at = to.index(),
            _ => return at,
        }
    }
    from
}
