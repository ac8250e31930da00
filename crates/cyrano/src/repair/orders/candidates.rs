//! Which orders could be added, what each would forbid, and how an order is written.
//!
//! Candidates are pairs of labels that some client has in one call with nothing that keeps them in order yet. Two candidates that add the same
//! to every client are one: the one whose labels stand closer together, and within one iteration of a loop rather than
//! across all.

use std::collections::{BTreeMap, BTreeSet};

use cyrano_fences::{Judgement, Orderable};
use cyrano_ir::{InstrId, OwnOrder, ThreadId};
use cyrano_rml::algorithm::{self, OrderPair, Orders};

use super::judge::{Judge, Pair, Shown};
use crate::source::Source;

/// Orders to choose from, beside some that are there in any case.
pub(super) struct Choice<'a> {
    pub(super) judge: &'a Judge<'a>,
    pub(super) fixed: Vec<OrderPair>,
    pub(super) candidates: Vec<OrderPair>,
    /// For each candidate and each client the pairs of accesses that it alone adds to the fixed ones.
    effects: Vec<Vec<BTreeSet<Pair>>>,
    /// For each candidate how many forbid less.
    rank: Vec<u32>,
}

impl<'a> Choice<'a> {
    /// A choice among these.
    pub(super) fn among(judge: &'a Judge<'a>, fixed: Vec<OrderPair>, candidates: Vec<OrderPair>) -> Self {
        let plain: Vec<BTreeSet<Pair>> =
            (0..judge.tests.len()).map(|case| pairs(&judge.order(case, &fixed)).collect()).collect();
        let effect = |candidate: &OrderPair| {
            let declared: Vec<OrderPair> = fixed.iter().chain([candidate]).cloned().collect();
            let on = |(case, plain): (usize, &BTreeSet<Pair>)| {
                pairs(&judge.order(case, &declared)).filter(|pair| !plain.contains(pair)).collect()
            };
            plain.iter().enumerate().map(on).collect()
        };
        let effects: Vec<Vec<BTreeSet<Pair>>> = candidates.iter().map(effect).collect();
        let mut sorted: Vec<usize> = (0..candidates.len()).collect();
        sorted.sort_by_key(|number| effects[*number].iter().map(BTreeSet::len).sum::<usize>());
        let mut rank = vec![0; candidates.len()];
        for (place, number) in (0..).zip(sorted) {
            rank[number] = place;
        }
        Self { judge, fixed, candidates, effects, rank }
    }

    /// A choice among all orders that the source could have and does not have yet.
    pub(super) fn all(judge: &'a Judge<'a>, source: &Source, set: &[(String, i64)], orders: &Orders) -> Self {
        let declared: Vec<OrderPair> = orders.declared.iter().map(|(pair, _)| pair.clone()).collect();
        let found = judge.mode.map(|mode| judge.tests.iter().flat_map(move |test| test.candidates(mode, &declared)));
        let found: BTreeSet<OrderPair> = found.into_iter().flatten().collect();
        let place: BTreeMap<&str, usize> =
            orders.labels.iter().enumerate().map(|(at, (label, _))| (label.as_str(), at)).collect();
        let distance = |pair: &OrderPair| {
            let at = |label: &str| place.get(label).copied().unwrap_or(usize::MAX);
            at(&pair.first).abs_diff(at(&pair.second))
        };
        let mut found: Vec<OrderPair> = found.into_iter().collect();
        found.sort_by_key(|pair| (distance(pair), !pair.each, place.get(pair.first.as_str()).copied()));
        let found = writable(source, set, orders, &found);
        let fixed = orders.declared.iter().map(|(pair, _)| pair.clone()).collect();
        let in_text = |pair: &OrderPair| {
            let at = |label: &str| place.get(label).copied();
            (at(&pair.first), at(&pair.second))
        };
        Self::among(judge, fixed, found).distinct(in_text)
    }

    /// Of those with the same effect only the first, none of those without one, sorted by this key.
    fn distinct<K: Ord>(self, key: impl Fn(&OrderPair) -> K) -> Self {
        let Self { judge, fixed, candidates, effects, .. } = self;
        let mut seen: BTreeSet<&Vec<BTreeSet<Pair>>> = BTreeSet::new();
        let useful = |effect: &&Vec<BTreeSet<Pair>>| effect.iter().any(|pairs| !pairs.is_empty());
        let kept: Vec<bool> = effects.iter().map(|effect| useful(&effect) && seen.insert(effect)).collect();
        let kept = candidates.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(candidate, _)| candidate);
        let mut kept: Vec<OrderPair> = kept.collect();
        kept.sort_by_key(key);
        Self::among(judge, fixed, kept)
    }

    /// The fixed orders with these candidates.
    pub(super) fn with(&self, set: &[usize]) -> Vec<OrderPair> {
        let chosen = set.iter().map(|number| &self.candidates[*number]);
        self.fixed.iter().chain(chosen).cloned().collect()
    }
}

impl Orderable for Choice<'_> {
    type Wrong = Shown;

    fn candidates(&self) -> usize {
        self.candidates.len()
    }

    fn strength(&self, candidate: usize) -> u32 {
        self.rank[candidate]
    }

    fn judge(&self, set: &[usize]) -> Judgement<Shown> {
        self.judge.judge(&self.with(set))
    }

    fn allows(&self, wrong: &Shown, set: &[usize]) -> bool {
        allows(self.judge, wrong, &self.with(set))
    }

    fn forbidding(&self, wrong: &Shown, among: &[usize]) -> Vec<usize> {
        let forbids =
            |number: &usize| wrong.overtaken.iter().any(|pair| self.effects[*number][wrong.case].contains(pair));
        among.iter().copied().filter(forbids).collect()
    }
}

/// Whether a counterexample stays possible with these orders.
pub(super) fn allows(judge: &Judge<'_>, wrong: &Shown, declared: &[OrderPair]) -> bool {
    let order = judge.order(wrong.case, declared);
    wrong.overtaken.iter().all(|(thread, first, second)| !order.precedes(*thread, *first, *second))
}

/// Everything that an order keeps.
fn pairs(order: &OwnOrder) -> impl Iterator<Item = Pair> + '_ {
    let threads = order.before.iter().enumerate();
    threads.flat_map(|(thread, before)| {
        let instrs = before.iter().enumerate();
        instrs.flat_map(move |(second, earlier)| {
            earlier.iter().map(move |first| (ThreadId::new(thread), *first, InstrId::new(second)))
        })
    })
}

/// Those of the candidates that the source may declare. Whether it may is told of each on its own, so halves can be tried apart.
fn writable(source: &Source, set: &[(String, i64)], orders: &Orders, candidates: &[OrderPair]) -> Vec<OrderPair> {
    let text = insert(&source.text, orders, candidates);
    if candidates.is_empty() || algorithm::tests(&source.name, &text, set).is_ok() {
        return candidates.to_vec();
    }
    if candidates.len() == 1 {
        return Vec::new();
    }
    let (first, second) = candidates.split_at(candidates.len() / 2);
    [writable(source, set, orders, first), writable(source, set, orders, second)].concat()
}

/// An order as it is written: `each C03 < C04`.
pub(super) fn written(pair: &OrderPair) -> String {
    let each = if pair.each { "each " } else { "" };
    format!("{each}{} < {}", pair.first, pair.second)
}

/// The source with further orders before the brace that closes the algorithm.
pub(super) fn insert(text: &str, orders: &Orders, more: &[OrderPair]) -> String {
    let brace = (orders.end.start as usize).min(text.len());
    let (before, after) = text.split_at(brace);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let indent = &before[start..];
    let statements: Vec<String> = more.iter().map(|pair| format!("order {};", written(pair))).collect();
    if indent.trim().is_empty() {
        let lines: String = statements.iter().map(|line| format!("{indent}    {line}\n")).collect();
        return format!("{}{lines}{indent}{after}", &before[..start]);
    }
    let words: String = statements.iter().map(|line| format!("{line} ")).collect();
    let gap = if before.ends_with(char::is_whitespace) { "" } else { " " };
    format!("{before}{gap}{words}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let start = text.find("}//").expect("the brace is marked");
        let orders = Orders { labels: Vec::new(), declared: Vec::new(), end: cyrano_ir::Span::new(start, start + 1) };
        let pair = |first: &str, second: &str, each| OrderPair { first: first.into(), second: second.into(), each };
        let more = [pair("A", "B", false), pair("C", "D", true)];
        assert_eq!(insert(text, &orders, &more), expected);
    }

    #[test]
    fn orders_stand_before_the_brace() {
        let expected = "algorithm X {\n    order Z < A;\n    order A < B;\n    order each C < D;\n}// end";
        check("algorithm X {\n    order Z < A;\n}// end", expected);
        check("algorithm X { }// end", "algorithm X { order A < B; order each C < D; }// end");
        check("algorithm X {}// end", "algorithm X { order A < B; order each C < D; }// end");
    }
}
