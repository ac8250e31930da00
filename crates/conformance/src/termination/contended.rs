//! Random threads that get in each other's way: retries until something is as they left it, with marks or operations.
//!
//! Most of these get done alone; whether somebody gets done when all run, or everybody, depends on what they do to each other. So they tell the criteria for
//! operations apart, which programs that wait for others rarely do.

use super::tree::{At, Cond, Stmt, Tree, Value};
use crate::stream::Stream;

/// The program of a seed.
pub fn tree(seed: u64) -> Tree {
    let mut stream = Stream::mixed(seed ^ 0x5eed);
    let (cells, threads) = (1 + stream.below(2), if stream.below(6) == 0 { 3 } else { 2 });
    // Retries that only get done when nobody else tries.
    let polite = stream.below(2) == 0;
    let twins = !polite && stream.below(3) == 0;
    let mut all: Vec<Vec<Stmt>> = Vec::new();
    for number in 0..threads {
        let again = all.first().filter(|_| twins && number == 1).cloned();
        all.push(again.unwrap_or_else(|| thread(&mut stream, cells, (number as i128 % 2 + 1, polite))));
    }
    Tree { memory: vec![0; cells], threads: all, setup: false, observed: false }
}

fn thread(stream: &mut Stream, cells: usize, (own, polite): (i128, bool)) -> Vec<Stmt> {
    let kind = if polite { 2 + stream.below(3) } else { stream.below(8) };
    let retry = retry(stream, cells, own, kind);
    match stream.below(6) {
        0 => vec![retry],
        // What comes after an operation belongs to none.
        5 => vec![Stmt::Operation(vec![retry]), Stmt::Loop(vec![Stmt::Load(0, At::Fixed(0))])],
        1 => vec![Stmt::Operation(vec![retry]), Stmt::Store(At::Fixed(0), Value::Const(0))],
        2 => vec![Stmt::Loop(vec![Stmt::Operation(vec![retry])])],
        3 => vec![Stmt::Loop(vec![retry, Stmt::Mark, Stmt::Store(At::Fixed(0), Value::Const(0))])],
        _ => vec![Stmt::Loop(vec![retry, Stmt::Mark])],
    }
}

/// Something that is tried until it succeeds.
fn retry(stream: &mut Stream, cells: usize, own: i128, kind: usize) -> Stmt {
    let mut at = || At::Fixed(stream.below(cells));
    let (first, second) = (at(), at());
    let is_not = |value: i128| Cond { reg: 0, value, is: false };
    match kind {
        // A lock: cas, then gives it back.
        0 => Stmt::If(
            Cond { reg: 2, value: 0, is: true },
            vec![Stmt::Repeat(vec![Stmt::Cas(0, first, 0, own)], is_not(0)), Stmt::Store(first, Value::Const(0))],
            Vec::new(),
        ),
        // A counter.
        1 => Stmt::Repeat(vec![Stmt::Load(1, first), Stmt::Cas(0, first, 1, 0), Stmt::Cas(0, first, 0, 1)], is_not(0)),
        // Writes its name and looks whether it is still there.
        2 => Stmt::Repeat(vec![Stmt::Store(first, Value::Const(own)), Stmt::Load(0, second)], is_not(own)),
        3 => Stmt::Repeat(
            vec![Stmt::Store(first, Value::Const(own)), Stmt::Touch(1, second), Stmt::Load(0, first)],
            is_not(own),
        ),
        // Takes it away from whoever has it, and goes on if nobody took it back.
        4 => Stmt::Repeat(vec![Stmt::Exchange(1, first, Value::Const(own)), Stmt::Cas(0, first, own, 0)], is_not(own)),
        // Waits until the location is free.
        5 => Stmt::Repeat(vec![Stmt::Load(0, first)], Cond { reg: 0, value: 3 - own, is: true }),
        // Gets done in any case.
        6 => Stmt::Exchange(0, first, Value::Const(own)),
        _ => Stmt::Atomic(vec![
            Stmt::Load(0, first),
            Stmt::Assume(Cond { reg: 0, value: 3 - own, is: false }),
            Stmt::Store(second, Value::Const(own)),
        ]),
    }
}
