//! The relations of an execution as a model of the formula has them, in the order in which the reference tells them.

use cyrano_engine::Relations;
use cyrano_memory::cat::Matrix;

use crate::formula::lit::Lit;
use crate::formula::relational::{Act, Relational};

/// The relations between accesses, which are given by their numbers from 1 on; 0 stands for initial writes.
pub(crate) fn relations(found: &Relational, numbers: &[usize], value: &dyn Fn(Lit) -> bool) -> Relations {
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
    Relations { rf: told(&rf), co: direct(&co), fr: direct(&fr) }
}
