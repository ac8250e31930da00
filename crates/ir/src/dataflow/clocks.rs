//! Numbers that are only copied, compared, increased and divided by constants: clocks and versions.
//!
//! Registers and locations between which a value may be copied, or that are compared with one another, are in one *class*. A class is a
//! clock if something is added to one of its members and nothing else is computed from them, except remainders. Its numbers matter
//! by their order and their remainders only, whatever the numbers of other classes are.
//!
//! **Invariant:** two values that meet in a copy or a comparison are of one class, and what a clock's members hold is never used as an
//! index, a condition or an operand of anything but `+ c`, `% c` and comparisons.

use crate::access::{Addr, Change};
use crate::expr::{BinOp, Expr};
use crate::ids::{LocId, RegId, ThreadId};
use crate::op::Op;
use crate::program::{LocalExpr, Place, Program};

/// A class of registers and locations, by a number that is the same for all of its members.
pub type Class = usize;

/// The classes of a program.
#[derive(Clone, Debug)]
pub struct Clocks {
    parents: Vec<usize>,
    facts: Vec<Facts>,
    /// The first register of each thread; locations come first.
    bases: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Facts {
    /// Something is added to a member.
    grows: bool,
    /// Something else is computed from a member, or it holds something that is computed.
    number: bool,
    /// The least common multiple of what members are divided by.
    modulus: i128,
}

/// What an expression may be.
#[derive(Clone, Copy)]
enum Value {
    Const(i128),
    Of(Class),
    Number,
}

/// Larger moduli make a class no clock: states would hardly be merged any more. Declared timestamps are divided by whatever the program says.
const LARGEST_MODULUS: i128 = 64;

impl Clocks {
    /// Works out the classes.
    pub fn new(program: &Program) -> Self {
        let mut bases = Vec::new();
        let mut count = program.locations.len();
        for thread in &program.threads {
            bases.push(count);
            count += thread.registers.len();
        }
        let facts = vec![Facts { grows: false, number: false, modulus: 1 }; count];
        let mut clocks = Self { parents: (0..count).collect(), facts, bases };
        for (thread, declared) in program.threads.iter().enumerate() {
            for instr in &declared.code {
                clocks.op(program, thread, &instr.op);
            }
        }
        clocks.agree_in_orders(program);
        clocks.agree_in_arrays(program);
        for at in 0..count {
            clocks.parents[at] = clocks.root(at);
        }
        clocks
    }

    /// The class of a location.
    pub fn location(&self, loc: LocId) -> Class {
        self.parents[loc.index()]
    }

    /// The class of a register.
    pub fn register(&self, thread: ThreadId, reg: RegId) -> Class {
        self.parents[self.bases[thread.index()] + reg.index()]
    }

    /// Whether the members of a class are clocks.
    pub fn is_clock(&self, class: Class) -> bool {
        let facts = self.facts[class];
        facts.grows && !facts.number
    }

    /// What the members of a class are divided by: their remainders by it matter.
    pub fn modulus(&self, class: Class) -> i128 {
        self.facts[class].modulus
    }

    fn root(&self, mut at: usize) -> usize {
        while self.parents[at] != at {
            at = self.parents[at];
        }
        at
    }

    fn unify(&mut self, one: usize, two: usize) -> Class {
        let (one, two) = (self.root(one), self.root(two));
        if one == two {
            return one;
        }
        let (a, b) = (self.facts[one], self.facts[two]);
        self.parents[one] = two;
        self.facts[two] = Facts { grows: a.grows || b.grows, number: a.number || b.number, modulus: b.modulus };
        self.divide(two, a.modulus);
        two
    }

    fn spoil(&mut self, value: Value) {
        if let Value::Of(class) = value {
            let root = self.root(class);
            self.facts[root].number = true;
        }
    }

    fn divide(&mut self, class: Class, by: i128) {
        let root = self.root(class);
        let facts = &mut self.facts[root];
        let (mut a, mut b) = (facts.modulus, by);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        // Remainders by a number beyond all that there are keep everything.
        facts.modulus = (facts.modulus / a).checked_mul(by).unwrap_or(i128::MAX);
        facts.number |= facts.modulus > LARGEST_MODULUS;
    }

    /// The keys of transactions are compared with one another, whatever their threads.
    fn agree_in_orders(&mut self, program: &Program) {
        for order in &program.serial_orders {
            let mut first: Vec<Option<usize>> = Vec::new();
            for (thread, keys) in order.keys.iter().enumerate().flat_map(|(t, txns)| txns.iter().map(move |k| (t, k))) {
                first.resize(first.len().max(keys.len()), None);
                for (place, key) in keys.iter().enumerate() {
                    let this = self.bases[thread] + key.index();
                    let other = *first[place].get_or_insert(this);
                    self.unify(this, other);
                }
            }
        }
    }

    /// Elements of an array are clocks together or not at all, although they may be of different classes.
    fn agree_in_arrays(&mut self, program: &Program) {
        let mut changed = true;
        while changed {
            changed = false;
            for array in &program.arrays {
                let elements: Vec<usize> =
                    (0..array.len as usize).map(|at| self.root(array.base.index() + at)).collect();
                let any = |of: &dyn Fn(&Facts) -> bool| elements.iter().any(|element| of(&self.facts[*element]));
                let (grows, number) = (any(&|facts| facts.grows), any(&|facts| facts.number));
                for element in elements {
                    let facts = &mut self.facts[element];
                    changed |= (facts.grows, facts.number) != (grows, number);
                    (facts.grows, facts.number) = (grows, number);
                }
            }
        }
    }

    fn op(&mut self, program: &Program, thread: usize, op: &Op) {
        let dst = op.dst().map(|dst| self.place(thread, dst));
        let addr = op.addr().map(|addr| self.addr(program, thread, addr));
        let values: Vec<Value> = op.operands().into_iter().map(|operand| self.expr(thread, operand)).collect();
        match op {
            Op::Assign { .. } => self.copy(dst, &values),
            Op::Access(access) => {
                self.copy(addr, &dst.map(Value::Of).into_iter().collect::<Vec<_>>());
                match (&access.change, values.as_slice(), addr) {
                    (Some(Change::Add(_)), [by], Some(class)) => {
                        let sum = self.sum(Value::Of(class), *by);
                        self.copy(addr, &[sum]);
                    }
                    _ => self.copy(addr, &values),
                }
            }
            Op::Choose { .. } => {}
            _ => values.into_iter().for_each(|value| self.spoil(value)),
        }
    }

    /// Values that get into a register or location.
    fn copy(&mut self, into: Option<Class>, values: &[Value]) {
        let Some(into) = into else { return values.iter().for_each(|value| self.spoil(*value)) };
        for value in values {
            match value {
                Value::Const(_) => {}
                Value::Of(class) => {
                    self.unify(into, *class);
                }
                Value::Number => self.spoil(Value::Of(into)),
            }
        }
    }

    fn addr(&mut self, program: &Program, thread: usize, addr: &Addr) -> Class {
        match addr {
            Addr::Fixed(loc) => self.root(loc.index()),
            Addr::Indexed { array, index } => {
                let index = self.expr(thread, index);
                self.spoil(index);
                let array = &program.arrays[array.index()];
                self.run(array.base.index(), array.len as usize)
            }
        }
    }

    fn place(&mut self, thread: usize, place: &Place) -> Class {
        let base = self.bases[thread];
        match place {
            Place::Reg(reg) => self.root(base + reg.index()),
            Place::Elem { base: first, len, index } => {
                let index = self.expr(thread, index);
                self.spoil(index);
                self.run(base + first.index(), *len as usize)
            }
        }
    }

    /// Makes so many neighbours one class.
    fn run(&mut self, first: usize, len: usize) -> Class {
        (first + 1..first + len).for_each(|other| {
            self.unify(other, first);
        });
        self.root(first)
    }

    fn expr(&mut self, thread: usize, expr: &LocalExpr) -> Value {
        match expr {
            Expr::Const(value) => Value::Const(*value),
            Expr::Var(place) => Value::Of(self.place(thread, place)),
            Expr::Unary(_, arg) => {
                let arg = self.expr(thread, arg);
                self.spoil(arg);
                Value::Number
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.expr(thread, left), self.expr(thread, right));
                self.binary(*op, left, right)
            }
        }
    }

    fn binary(&mut self, op: BinOp, left: Value, right: Value) -> Value {
        use BinOp::{Add, Eq, Ge, Gt, Le, Lt, Ne, Rem};
        match (op, left, right) {
            (Add, ..) => return self.sum(left, right),
            (Rem, Value::Of(class), Value::Const(by @ 1..)) => self.divide(class, by),
            (Eq | Ne | Lt | Le | Gt | Ge, Value::Of(one), Value::Of(two)) => {
                self.unify(one, two);
            }
            (Eq | Ne | Lt | Le | Gt | Ge, Value::Of(_), Value::Const(_)) => {}
            (Eq | Ne | Lt | Le | Gt | Ge, Value::Const(_), Value::Of(_)) => {}
            _ => {
                self.spoil(left);
                self.spoil(right);
            }
        }
        Value::Number
    }

    fn sum(&mut self, left: Value, right: Value) -> Value {
        match (left, right) {
            (Value::Of(class), Value::Const(by @ 0..)) | (Value::Const(by @ 0..), Value::Of(class)) => {
                let root = self.root(class);
                self.facts[root].grows |= by > 0;
                Value::Of(root)
            }
            _ => {
                self.spoil(left);
                self.spoil(right);
                Value::Number
            }
        }
    }
}
