//! All clients of a size: what a `for clients` clause says.

use std::ops::RangeInclusive;

use cyrano_ir::{Diagnostic, Span, reply};

use crate::given;
use crate::report::{Fallible, Reported, Reports};
use crate::resolve::constants::Constants;
use crate::syntax::objects::{Bound, SpaceDecl};

/// All clients of a size. Each thread runs some transactions, each transaction some operations and then a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClientSpace {
    /// How many threads run.
    pub threads: u8,
    /// How many transactions each of them runs.
    pub txns: RangeInclusive<u8>,
    /// How many reads and writes each transaction does before it commits.
    pub ops: RangeInclusive<u8>,
    /// How many locations they use.
    pub locs: u8,
    /// What they write.
    pub values: Values,
    /// How often a transaction that was aborted is run again.
    pub retry: u8,
}

/// What clients write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Values {
    /// Every write of a client writes its own value: 1, 2, 3, ….
    Distinct,
    /// Every write writes one of these.
    Among(Vec<i128>),
}

/// The names that a user may set to change the clients of a file.
pub(crate) const SETTABLE: [&str; 5] = ["threads", "txns", "ops", "locs", "retry"];

impl ClientSpace {
    /// How many transactions a client has at most, those that are run again counted each time.
    pub fn transactions(&self) -> usize {
        usize::from(self.threads) * usize::from(*self.txns.end()) * (usize::from(self.retry) + 1)
    }

    /// A name: `clients-2x1x3`, with what differs from the defaults behind it.
    pub(crate) fn name(&self, locs: u32) -> String {
        let range = |range: &RangeInclusive<u8>| match range.start() == range.end() {
            true => range.start().to_string(),
            false => format!("{}..{}", range.start(), range.end()),
        };
        let mut name = format!("clients-{}x{}x{}", self.threads, range(&self.txns), range(&self.ops));
        if u32::from(self.locs) != locs {
            name += &format!("-locs{}", self.locs);
        }
        if let Values::Among(values) = &self.values {
            let values: Vec<_> = values.iter().map(i128::to_string).collect();
            name += &format!("-values{}", values.join("_"));
        }
        if self.retry > 0 {
            name += &format!("-retry{}", self.retry);
        }
        name
    }
}

/// Works out a clause. What the user sets counts more than what is written.
pub(crate) fn space(
    decl: &SpaceDecl,
    span: Span,
    constants: &Constants,
    set: &[(String, i128)],
    reports: &mut Reports,
) -> Fallible<ClientSpace> {
    let mut bound = |name: &str, written: &Option<Bound>, default: i128, least: i128| {
        let at = written.as_ref().map_or(span, |bound| bound.span);
        let (first, last) = match (given(set, name), written) {
            (Some(value), _) => (value, value),
            (None, None) => (default, default),
            (None, Some(bound)) => {
                let first = constants.eval(&bound.first, reports)?;
                (first, bound.last.as_ref().map_or(Ok(first), |last| constants.eval(last, reports))?)
            }
        };
        let narrow = |value: i128| u8::try_from(value).ok().filter(|_| (least..=64).contains(&value));
        match (narrow(first), narrow(last)) {
            (Some(first), Some(last)) if first <= last => Ok(first..=last),
            _ => {
                let message = format!("{first}..{last} is no range for `{name}`");
                let help = format!("write a number from {least} to 64, or two of them as `1..2`");
                Err(reports.complain(at, message, "out of range", help))
            }
        }
    };
    let all = constants.get("locs").unwrap_or(1);
    let threads = bound("threads", &decl.threads, 2, 1);
    let txns = bound("txns", &decl.txns, 1, 1);
    let ops = bound("ops", &decl.ops, 2, 0);
    let locs = bound("locs", &decl.locs, all, 1);
    let retry = bound("retry", &decl.retry, 0, 0);
    let (threads, txns, ops, locs, retry) = (threads?, txns?, ops?, locs?, retry?);
    for (range, written, name) in
        [(&threads, &decl.threads, "threads"), (&locs, &decl.locs, "locs"), (&retry, &decl.retry, "retry")]
    {
        if range.start() != range.end() {
            let at = written.as_ref().map_or(span, |bound| bound.span);
            let help = "write one check for each number";
            return Err(reports.complain(at, format!("`{name}` is one number"), "a range", help));
        }
    }
    if i128::from(*locs.end()) > all {
        let at = decl.locs.as_ref().map_or(span, |bound| bound.span);
        let message = format!("the clients use {} locations and the algorithm has {all}", locs.end());
        let help = format!("give the algorithm's parameter: `locs = {}`", locs.end());
        return Err(reports.complain(at, message, "too many", help));
    }
    let values = values(decl, constants, reports)?;
    Ok(ClientSpace { threads: *threads.end(), txns, ops, locs: *locs.end(), values, retry: *retry.end() })
}

fn values(decl: &SpaceDecl, constants: &Constants, reports: &mut Reports) -> Fallible<Values> {
    let Some(written) = &decl.values else { return Ok(Values::Distinct) };
    let mut values = Vec::new();
    let mut failed = false;
    for expr in written {
        match constants.eval(expr, reports) {
            Ok(value) if value >= reply::LEAST_VALUE => values.push(value),
            Ok(value) => {
                let help = format!("values are integers of at least {}", reply::LEAST_VALUE);
                reports.complain(expr.span, format!("clients cannot write {value}"), "too small", help);
                failed = true;
            }
            Err(_) => failed = true,
        }
    }
    values.sort_unstable();
    values.dedup();
    match (failed, values.is_empty()) {
        (false, false) => Ok(Values::Among(values)),
        (true, _) => Err(Reported),
        (false, true) => {
            let span = decl.ops.as_ref().map_or(Span::default(), |bound| bound.span);
            Err(reports.add(Diagnostic::new(span, "`values {}` leaves nothing to write", "no values")))
        }
    }
}
