//! The relations of an execution as a model of the formula has them, in the order in which the reference tells them.

use cyrano_engine::{Racing, Relations, Violation};
use cyrano_memory::cat::Matrix;

use crate::execute::event::Event;
use crate::formula::encode::Encoding;
use crate::formula::lit::Lit;
use crate::formula::relational::{Act, Relational};

/// The relations between accesses, which are given by their numbers from 1 on; 0 stands for initial writes.
pub(crate) fn relations(
    found: &Relational,
    events: &[Event],
    numbers: &[usize],
    value: &dyn Fn(Lit) -> bool,
) -> Relations {
    let count = found.parts.len();
    let there = |part: usize| value(found.parts[part].guard);
    let matrix = |pairs: &[(usize, usize, Lit)]| {
        let mut matrix = Matrix::new(count);
        for (from, to, lit) in pairs {
            if there(*from) && there(*to) && value(*lit) {
                matrix.insert(*from, *to);
            }
        }
        matrix
    };
    let (rf, co) = (matrix(&found.rf), matrix(&found.co));
    let number = |part: usize| found.parts[part].event.map_or(0, |event| numbers[event]);
    let told = |relation: &Matrix| relation.iter().map(|(from, to)| (number(from), number(to))).collect::<Vec<_>>();
    let direct = |relation: &Matrix| told(&relation.diff(&relation.seq(&co)));
    let same = |from: usize, to: usize| {
        let (a, b) = (&found.parts[from], &found.parts[to]);
        a.act == Act::Read && b.act == Act::Write && found.amo.contains(&(from, to)) && there(from) && there(to)
    };
    let fr = rf.inverse().seq(&co).diff(&Matrix::filter(count, same));
    let keeps = |(event, number): (&Event, &usize)| event.from.kept.filter(|lit| value(*lit)).map(|_| *number);
    let mut kept: Vec<usize> = events.iter().zip(numbers).filter_map(keeps).filter(|number| *number > 0).collect();
    kept.sort_unstable();
    Relations { rf: told(&rf), co: direct(&co), fr: direct(&fr), kept }
}

/// The two accesses that a model of the formula says race; events are given by their places from 1 on.
pub(crate) fn race(encoding: &Encoding, numbers: &[usize], value: &dyn Fn(Lit) -> bool) -> Option<Violation> {
    let found = encoding.relational.as_deref()?;
    let (first, second, _) = found.races.iter().find(|(.., lit)| value(*lit))?;
    let racing = |part: usize| {
        let part = &found.parts[part];
        Some(Racing { thread: part.thread?, instr: part.instr, step: numbers[part.event?].checked_sub(1)? })
    };
    Some(Violation::Race { first: racing(*first)?, second: racing(*second)? })
}
