//! Random programs that wait, spin, toggle and go round in circles, with and without a chance to get out.
//!
//! A thread is a few pieces in a row or in an endless loop. A piece is what somebody would write who waits for something or lets others wait: spins on one or two
//! locations, with and without stores in the loop, compare-and-swaps until one succeeds, sections that wait or loop, nested loops, choices; or anything.
//! What one thread waits for another one often stores, somewhere, so that waiting is not always in vain.

use cyrano_ir::FenceSet;

use super::tree::{At, Cond, REGISTERS, Stmt, Tree, Value};
use crate::stream::Stream;

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Inside {
    section: bool,
    operation: bool,
    /// Whether there is a loop that can be left from here.
    within: bool,
    /// How much deeper statements may be nested.
    depth: usize,
}

/// Makes programs.
struct Maker {
    stream: Stream,
    cells: usize,
    /// Whether addresses may be computed.
    indexed: bool,
    marks: bool,
    /// What the current thread waits for: a location and a value.
    wanted: Vec<(At, i128)>,
}

/// The program of a seed.
pub fn tree(seed: u64) -> Tree {
    let mut stream = Stream::mixed(seed);
    let three = stream.below(4) == 0;
    let cells = 2 + stream.below(8) / 7;
    let (indexed, marks) = (stream.below(8) == 0, stream.below(3) == 0);
    let twins = stream.below(5) == 0;
    let mut maker = Maker { stream, cells, indexed, marks, wanted: Vec::new() };
    let mut threads: Vec<Vec<Stmt>> = Vec::new();
    let mut wishes = Vec::new();
    for number in 0..if three { 3 } else { 2 } {
        threads.push(match threads.first() {
            Some(first) if twins && number == 1 => first.clone(),
            _ => maker.thread(three),
        });
        wishes.extend(std::mem::take(&mut maker.wanted).into_iter().map(|wish| (number, wish)));
    }
    for (number, (at, value)) in wishes {
        maker.grant(&mut threads, number, at, value);
    }
    let memory = (0..cells).map(|_| maker.below(3) as i128 / 2).collect();
    let setup = maker.below(30) == 0;
    Tree { memory, threads, setup, observed: maker.below(4) == 0 }
}

impl Maker {
    fn below(&mut self, bound: usize) -> usize {
        self.stream.below(bound)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    /// Lets another thread store what this one waits for, mostly.
    fn grant(&mut self, threads: &mut [Vec<Stmt>], number: usize, at: At, value: i128) {
        if self.chance(4) {
            return;
        }
        let other = (number + 1 + self.below(threads.len() - 1)) % threads.len();
        let body = match threads[other].last_mut() {
            Some(Stmt::Loop(body) | Stmt::Repeat(body, _)) if self.chance(2) => body,
            _ => &mut threads[other],
        };
        let place = if self.chance(2) { body.len() } else { self.below(body.len() + 1) };
        body.insert(place, Stmt::Store(at, Value::Const(value)));
    }

    fn thread(&mut self, small: bool) -> Vec<Stmt> {
        let outside = Inside { section: false, operation: false, within: false, depth: if small { 1 } else { 2 } };
        let pieces = 1 + self.below(if small { 2 } else { 3 });
        match self.below(6) {
            // Again and again, mostly with marks.
            0 if self.marks || self.chance(6) => {
                let inside = Inside { within: true, ..outside };
                let mut body: Vec<Stmt> = (0..pieces).flat_map(|_| self.piece(inside)).collect();
                if self.marks {
                    let place = self.below(body.len() + 1);
                    body.insert(place, Stmt::Mark);
                }
                let mut list = if self.chance(4) { self.piece(outside) } else { Vec::new() };
                list.push(Stmt::Loop(body));
                list
            }
            // Perhaps again and again: somebody chooses.
            1 => {
                let inside = Inside { within: true, ..outside };
                let mut body: Vec<Stmt> = (0..pieces).flat_map(|_| self.piece(inside)).collect();
                if self.marks && self.chance(2) {
                    body.push(Stmt::Mark);
                }
                let reg = self.reg();
                body.push(Stmt::Choose(reg, vec![0, 1]));
                vec![Stmt::Repeat(body, Cond { reg, value: 1, is: true })]
            }
            _ => (0..pieces).flat_map(|_| self.piece(outside)).collect(),
        }
    }

    /// A few statements that belong together.
    fn piece(&mut self, inside: Inside) -> Vec<Stmt> {
        let deeper = Inside { within: true, depth: inside.depth.saturating_sub(1), ..inside };
        match self.below(20) {
            0 | 1 => vec![self.spin()],
            2 => vec![self.spin_on_two()],
            3 | 4 => vec![self.busy_spin(deeper)],
            5 => vec![self.try_until()],
            6 | 7 => vec![self.section()],
            8 if inside.depth > 0 => vec![self.nested(deeper)],
            9 => vec![self.undecided(deeper)],
            10 | 11 => self.toggle(),
            12 if inside.depth > 0 && !inside.operation => {
                let inner = Inside { operation: true, within: false, ..deeper };
                vec![Stmt::Operation(self.piece(inner))]
            }
            13 => vec![self.local_loop()],
            _ => (0..1 + self.below(2)).map(|_| self.statement(inside)).collect(),
        }
    }

    /// Looks at a location until it has a value.
    fn spin(&mut self) -> Stmt {
        let (reg, at) = (self.reg(), self.at());
        let cond = self.wants(reg, at);
        let mut body = vec![Stmt::Load(reg, at)];
        if self.chance(6) {
            body.push(self.fence());
        }
        if self.chance(8) {
            body.push(Stmt::Mark);
        }
        if self.chance(4) {
            // The first look stands before the loop.
            return Stmt::If(self.cond(reg, false), vec![Stmt::Repeat(body, cond)], Vec::new());
        }
        Stmt::Repeat(body, cond)
    }

    /// Looks at two locations until one of them, or each, has a value.
    fn spin_on_two(&mut self) -> Stmt {
        let (one, other) = (self.reg(), self.reg());
        let (first, second) = (self.at(), self.at());
        let (leave, last) = (self.wants(one, first), self.wants(other, second));
        let (leave, last) = (Cond { is: !leave.is, ..leave }, Cond { is: !last.is, ..last });
        let mut body = vec![Stmt::Load(one, first), Stmt::Break(leave), Stmt::Load(other, second)];
        match self.below(3) {
            0 => body.push(Stmt::Break(last)),
            1 => body[1] = Stmt::Continue(Cond { is: false, ..leave }),
            _ => {}
        }
        match self.below(2) {
            0 => Stmt::Repeat(body, Cond { is: false, ..last }),
            _ => Stmt::Loop(body),
        }
    }

    /// Does something in each round of a spin.
    fn busy_spin(&mut self, inside: Inside) -> Stmt {
        let (reg, at) = (self.reg(), self.at());
        let mut body = vec![self.store()];
        if self.chance(3) {
            body.push(self.store());
        }
        if self.chance(2) {
            body.push(self.fence());
        }
        if self.chance(4) && !inside.section {
            body.push(self.statement(Inside { depth: 0, ..inside }));
        }
        body.push(if self.chance(5) { Stmt::Touch(reg, at) } else { Stmt::Load(reg, at) });
        if self.chance(3) {
            body.swap(0, 1);
        }
        Stmt::Repeat(body, self.wants(reg, at))
    }

    /// Tries a read-modify-write until it succeeds.
    fn try_until(&mut self) -> Stmt {
        let (reg, at) = (self.reg(), self.at());
        let (old, new) = (self.below(2) as i128, self.below(3) as i128);
        self.wanted.push((at, old));
        let attempt = match self.below(3) {
            0 => Stmt::Exchange(reg, at, Value::Const(new)),
            _ => Stmt::Cas(reg, at, old, new),
        };
        let mut body = vec![attempt];
        if self.chance(5) {
            body.push(Stmt::Mark);
        }
        Stmt::Repeat(body, Cond { reg, value: old, is: false })
    }

    /// A section: it waits, counts, or loops.
    fn section(&mut self) -> Stmt {
        let inside = Inside { section: true, operation: true, within: false, depth: 1 };
        let (reg, at) = (self.reg(), self.at());
        let body = match self.below(7) {
            0 | 1 => {
                let wish = self.wants(reg, at);
                let mut body = vec![Stmt::Load(reg, at), Stmt::Assume(Cond { is: !wish.is, ..wish })];
                if self.chance(2) {
                    body.push(self.store());
                }
                body
            }
            2 => vec![Stmt::Load(reg, at), Stmt::Store(at, Value::Next(reg, 2 + self.below(2) as i128))],
            // A loop that may end or not, by what memory holds; and one that counts.
            3 => vec![Stmt::Repeat(vec![Stmt::Load(reg, at)], self.cond(reg, false))],
            4 => {
                let count = Stmt::Store(at, Value::Next(reg, 3));
                vec![Stmt::Repeat(vec![Stmt::Load(reg, at), count], self.cond(reg, false))]
            }
            5 => {
                let mut body = vec![self.store()];
                body.push(self.statement(inside));
                body.push(self.store());
                body
            }
            _ => (0..1 + self.below(3)).map(|_| self.statement(inside)).collect(),
        };
        Stmt::Atomic(body)
    }

    /// A loop in a loop.
    fn nested(&mut self, inside: Inside) -> Stmt {
        let (reg, at) = (self.reg(), self.at());
        let mut body = self.piece(inside);
        body.push(Stmt::Load(reg, at));
        let cond = self.wants(reg, at);
        match self.below(3) {
            0 => Stmt::While(cond, body),
            _ => Stmt::Repeat(body, cond),
        }
    }

    /// A loop that somebody chooses to leave, or that may end by what it finds.
    fn undecided(&mut self, inside: Inside) -> Stmt {
        let (reg, choice) = (self.reg(), self.reg());
        let mut body = vec![Stmt::Choose(choice, vec![0, 1])];
        let next = self.statement(Inside { depth: 0, ..inside });
        match self.below(3) {
            0 => body.push(Stmt::If(self.cond(choice, true), vec![next], vec![Stmt::Load(reg, self.at())])),
            1 => body.insert(0, next),
            _ => body.push(next),
        }
        let cond = if self.chance(2) { self.cond(choice, false) } else { self.cond(reg, false) };
        Stmt::Repeat(body, cond)
    }

    /// Up and down.
    fn toggle(&mut self) -> Vec<Stmt> {
        let at = self.at();
        let mut list = vec![Stmt::Store(at, Value::Const(1)), Stmt::Store(at, Value::Const(0))];
        if self.chance(3) {
            list.insert(1, self.fence());
        }
        if self.chance(4) {
            list.insert(1, self.spin());
        }
        list
    }

    /// A loop that touches registers only; it may never end.
    fn local_loop(&mut self) -> Stmt {
        let reg = self.reg();
        let step = Stmt::Set(reg, Value::Next(reg, 2 + self.below(2) as i128));
        match self.below(12) {
            0 => Stmt::Loop(Vec::new()),
            1 => Stmt::Loop(vec![step, Stmt::Break(self.cond(reg, true))]),
            2 => Stmt::While(self.cond(reg, false), Vec::new()),
            _ => Stmt::Repeat(vec![step], Cond { reg, value: self.below(2) as i128, is: false }),
        }
    }

    fn statement(&mut self, inside: Inside) -> Stmt {
        let reg = self.reg();
        match self.below(20) {
            0..=3 => Stmt::Load(reg, self.at()),
            4..=8 => self.store(),
            9 => Stmt::Cas(reg, self.at(), self.below(2) as i128, self.below(3) as i128),
            10 => Stmt::Exchange(reg, self.at(), self.value()),
            11 if !inside.section => self.fence(),
            12 => Stmt::Set(reg, self.value()),
            13 => Stmt::Choose(reg, if self.chance(3) { vec![0, 1, 2] } else { vec![0, 1] }),
            14 if self.chance(2) => Stmt::Assume(self.cond(reg, true)),
            14 if self.chance(3) => Stmt::Limit(self.cond(reg, true)),
            15 if inside.depth > 0 => {
                let deeper = Inside { depth: inside.depth - 1, ..inside };
                let yes = vec![self.statement(deeper)];
                let no = if self.chance(2) { vec![self.statement(deeper)] } else { Vec::new() };
                Stmt::If(self.cond(reg, true), yes, no)
            }
            16 if inside.within => Stmt::Break(self.cond(reg, true)),
            16 if inside.section => Stmt::Repeat(vec![Stmt::Load(reg, self.at())], self.cond(reg, false)),
            17 if inside.within => Stmt::Continue(self.cond(reg, true)),
            18 if !inside.operation => Stmt::Return(self.cond(reg, true)),
            19 if !inside.section && self.marks => Stmt::Mark,
            _ => self.store(),
        }
    }

    fn store(&mut self) -> Stmt {
        Stmt::Store(self.at(), self.value())
    }

    fn value(&mut self) -> Value {
        match self.below(6) {
            0 => Value::Reg(self.reg()),
            1 | 2 => Value::Next(self.reg(), 2 + self.below(2) as i128),
            _ => Value::Const(self.below(5) as i128 / 2),
        }
    }

    fn at(&mut self) -> At {
        match self.indexed && self.chance(4) {
            true => At::Indexed(self.reg()),
            false => At::Fixed(self.below(self.cells)),
        }
    }

    fn cond(&mut self, reg: usize, is: bool) -> Cond {
        let is = is != self.chance(6);
        Cond { reg, value: self.below(5) as i128 / 2, is }
    }

    /// To go on waiting for what this location shall hold.
    fn wants(&mut self, reg: usize, at: At) -> Cond {
        let cond = self.cond(reg, false);
        self.wanted.push((at, if cond.is { (cond.value + 1) % 2 } else { cond.value }));
        cond
    }

    fn reg(&mut self) -> usize {
        // Mostly the first ones, so that what one statement leaves behind matters to another.
        [0, 0, 0, 1, 1, 2][self.below(6)] % REGISTERS
    }

    fn fence(&mut self) -> Stmt {
        let kinds = [FenceSet::FULL, FenceSet::SL, FenceSet::SS, FenceSet::SL | FenceSet::SS, FenceSet::LL];
        Stmt::Fence(kinds[self.below(kinds.len())])
    }
}
