//! What one thread has deferred on a machine that also defers loads: accesses in program order, with values that are not known yet.
//!
//! A read that is not performed has a number; a value computed from it is an expression over such numbers.

use cyrano_ir::{AccessKind, Change, EvalError, Expr, FenceSet, LocalExpr, Place, RegId};
use cyrano_memory::Reordering;

/// A value, perhaps one that waits for reads.
pub type Symbol = Expr<usize>;

/// Expressions with more variables are not followed.
const MOST_VARIABLES: usize = 8;

/// What an access writes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Write {
    /// This.
    Set(Symbol),
    /// The second one if the first one is there.
    Cas(Symbol, Symbol),
    /// So much more.
    Add(Symbol),
}

/// One access.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// What it does.
    pub kind: AccessKind,
    /// Where.
    pub loc: usize,
    /// The number of what it reads.
    pub number: Option<usize>,
    /// What it writes.
    pub write: Option<Write>,
}

/// What stands in a queue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// Accesses that are performed together.
    Unit(Vec<Part>),
    /// A fence was passed here.
    Fence(FenceSet),
}

/// The registers and the queue of a thread, oldest entry first.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Pending {
    /// The registers.
    pub registers: Vec<Symbol>,
    /// The queue.
    pub queue: Vec<Entry>,
}

/// Why something is not done now.
#[derive(Debug)]
pub enum Not {
    /// It has to wait for something in the queue.
    Yet,
    /// It goes wrong.
    Right,
}

impl From<EvalError> for Not {
    fn from(_: EvalError) -> Self {
        Self::Right
    }
}

/// The value, if it is known.
pub fn known(symbol: &Symbol) -> Option<i128> {
    match symbol {
        Expr::Const(value) => Some(*value),
        _ => None,
    }
}

/// The numbers in a value.
pub fn numbers(symbol: &Symbol) -> Vec<usize> {
    let mut all = Vec::new();
    symbol.for_each_var(&mut |number| all.push(*number));
    all
}

/// Computes what can be computed: all or nothing, for every register that an expression names counts.
fn fold(symbol: Symbol) -> Result<Symbol, EvalError> {
    match numbers(&symbol).is_empty() {
        true => Ok(Expr::Const(symbol.eval(&mut |_| unreachable!("no variable"))?)),
        false => Ok(symbol),
    }
}

fn replace<V>(expr: &Expr<V>, with: &impl Fn(&V) -> Symbol) -> Symbol {
    match expr {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Var(var) => with(var),
        Expr::Unary(op, arg) => Expr::unary(*op, replace(arg, with)),
        Expr::Binary(op, left, right) => Expr::binary(*op, replace(left, with), replace(right, with)),
    }
}

impl Write {
    fn symbols(&mut self) -> Vec<&mut Symbol> {
        match self {
            Self::Set(value) | Self::Add(value) => vec![value],
            Self::Cas(expected, new) => vec![expected, new],
        }
    }

    /// What is written over a value, if anything; all that it needs has to be known.
    pub fn over(&self, old: i128) -> Result<Option<i128>, Not> {
        let value = |symbol: &Symbol| known(symbol).ok_or(Not::Yet);
        Ok(match self {
            Self::Set(new) => Some(value(new)?),
            Self::Cas(expected, new) => {
                let (expected, new) = (value(expected)?, value(new)?);
                (old == expected).then_some(new)
            }
            Self::Add(more) => Some(old.checked_add(value(more)?).ok_or(Not::Right)?),
        })
    }
}

impl Pending {
    /// The value of an expression over registers; nothing if it has got too large.
    pub fn symbol(&self, expr: &LocalExpr) -> Result<Option<Symbol>, EvalError> {
        let register = |place: &Place| match place {
            Place::Reg(reg) => self.registers[reg.index()].clone(),
            Place::Elem { .. } => unreachable!("there are no local arrays here"),
        };
        let symbol = fold(replace(expr, &register))?;
        Ok((numbers(&symbol).len() <= MOST_VARIABLES).then_some(symbol))
    }

    /// What an access writes.
    pub fn write(&self, change: &Change) -> Result<Option<Write>, EvalError> {
        Ok(match change {
            Change::Set(value) => self.symbol(value)?.map(Write::Set),
            Change::Add(value) => self.symbol(value)?.map(Write::Add),
            Change::Cas { expected, new } => match (self.symbol(expected)?, self.symbol(new)?) {
                (Some(expected), Some(new)) => Some(Write::Cas(expected, new)),
                _ => None,
            },
        })
    }

    /// How many units are deferred.
    pub fn len(&self) -> usize {
        self.queue.iter().filter(|entry| matches!(entry, Entry::Unit(_))).count()
    }

    /// A number that no read has.
    pub fn fresh(&self, parts: &[Part]) -> usize {
        let queued = self.queue.iter().flat_map(|entry| match entry {
            Entry::Unit(parts) => &parts[..],
            Entry::Fence(_) => &[],
        });
        queued.chain(parts).filter_map(|part| part.number).max().map_or(0, |most| most + 1)
    }

    /// Passes a fence. It means something only behind an access.
    pub fn fence(&mut self, kinds: FenceSet) {
        match self.queue.last_mut() {
            Some(Entry::Fence(known)) => *known |= kinds,
            Some(Entry::Unit(_)) => self.queue.push(Entry::Fence(kinds)),
            None => {}
        }
    }

    /// Whether an access behind the first `place` entries may be performed before all of them.
    pub fn lets_pass(&self, model: &Reordering, place: usize, kind: AccessKind, loc: usize) -> bool {
        let mut fences = FenceSet::NONE;
        for entry in self.queue[..place].iter().rev() {
            match entry {
                Entry::Fence(kinds) => fences |= *kinds,
                Entry::Unit(parts) => {
                    let stays =
                        |part: &Part| model.keeps(part.kind, kind, part.loc == loc) || fences.orders(part.kind, kind);
                    if parts.iter().any(stays) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// The value that a read behind the first `place` entries takes from a store of its own thread; it has to be known.
    pub fn forwarded(&self, place: usize, loc: usize) -> Result<Option<i128>, Not> {
        let parts = self.queue[..place].iter().rev().filter_map(|entry| match entry {
            Entry::Unit(parts) => parts.iter().rev().find(|part| part.loc == loc && part.kind.writes()),
            Entry::Fence(_) => None,
        });
        match { parts }.next().map(|part| &part.write) {
            None => Ok(None),
            Some(Some(Write::Set(value))) => known(value).map(Some).ok_or(Not::Yet),
            Some(_) => Err(Not::Yet),
        }
    }

    /// The entry at a place is performed, if it may be.
    pub fn perform(&mut self, model: &Reordering, place: usize, memory: &mut [i128]) -> Result<(), Not> {
        let Entry::Unit(parts) = self.queue[place].clone() else { return Err(Not::Yet) };
        if !parts.iter().all(|part| self.lets_pass(model, place, part.kind, part.loc)) {
            return Err(Not::Yet);
        }
        for at in 0..parts.len() {
            // What earlier accesses of the unit read is known by now.
            let Entry::Unit(now) = &self.queue[place] else { unreachable!("a unit") };
            let Part { kind, loc, number, write } = now[at].clone();
            let mut old = memory[loc];
            if kind.reads() {
                old = self.forwarded(place, loc)?.unwrap_or(old);
            }
            if let Some(new) = write.map(|write| write.over(old)).transpose()?.flatten() {
                memory[loc] = new;
            }
            if let Some(number) = number {
                self.learn(number, old)?;
            }
        }
        self.queue.remove(place);
        self.tidy();
        Ok(())
    }

    /// A read has returned a value.
    fn learn(&mut self, number: usize, value: i128) -> Result<(), EvalError> {
        let with = |other: &usize| if *other == number { Expr::Const(value) } else { Expr::Var(*other) };
        self.each(|symbol| {
            *symbol = fold(replace(symbol, &with))?;
            Ok(())
        })
    }

    fn each(&mut self, mut visit: impl FnMut(&mut Symbol) -> Result<(), EvalError>) -> Result<(), EvalError> {
        self.registers.iter_mut().try_for_each(&mut visit)?;
        for part in self.queue.iter_mut().flat_map(|entry| match entry {
            Entry::Unit(parts) => &mut parts[..],
            Entry::Fence(_) => &mut [],
        }) {
            part.write.iter_mut().flat_map(Write::symbols).try_for_each(&mut visit)?;
        }
        Ok(())
    }

    /// Numbers reads in their order and drops fences that mean nothing, so that equal queues are equal.
    fn tidy(&mut self) {
        for entry in std::mem::take(&mut self.queue) {
            match entry {
                Entry::Unit(_) => self.queue.push(entry),
                Entry::Fence(kinds) => self.fence(kinds),
            }
        }
        let mut names = Vec::new();
        for part in self.queue.iter_mut().flat_map(|entry| match entry {
            Entry::Unit(parts) => &mut parts[..],
            Entry::Fence(_) => &mut [],
        }) {
            if let Some(number) = &mut part.number {
                names.push(*number);
                *number = names.len() - 1;
            }
        }
        let place = |old: &usize| Expr::Var(names.iter().position(|name| name == old).expect("a read in the queue"));
        let renamed = self.each(|symbol| {
            *symbol = replace(symbol, &place);
            Ok(())
        });
        renamed.expect("names are changed only");
    }

    /// A register gets a value.
    pub fn set(&mut self, reg: RegId, value: Symbol) {
        self.registers[reg.index()] = value;
    }
}
