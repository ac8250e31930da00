//! The statements of random C functions; `render` writes them as C.
//!
//! The locals of a function are the integers `r0` to `r2` (0 at first, `r2` the argument), the undefined integer `u`, the pointers
//! `t0` and `t1` (null at first), the word `v` (a copy of `w` once it is loaded) and the object `k`.

use proptest::prelude::*;

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// `place = value;`
    Store(MemoryWord, Value),
    /// `r = place;`
    Load(u8, MemoryWord),
    /// `r = value;`
    Compute(u8, Value),
    /// `pointer = target;`
    StorePointer(Pointer, Target),
    /// `t = pointer;`
    LoadPointer(u8, Pointer),
    /// `t = malloc(…)`, and both fields, only the value, or nothing is initialised.
    Allocate(u8, u8),
    /// `k = malloc(…)`, perhaps published, or freed.
    Cell(u8),
    /// `r = cas(&place, value, value);`
    Cas(u8, MemoryWord, Value, Value),
    /// `r = cas(&pointer, target, target);`
    CasPointer(u8, Pointer, Target, Target),
    /// `r = dcas(&x, &pointer, value, target, value, target);`
    Dcas(u8, Pointer, [Value; 2], [Target; 2]),
    /// `r = fetch_add(&place, c);`
    FetchAdd(u8, MemoryWord, i8),
    /// `r = exchange(&place, value);`
    Exchange(u8, MemoryWord, Value),
    /// What can be done with the packed word `w`: see `render`.
    Word(u8, u8, Value),
    /// What can be done with the marked pointer `m`: see `render`.
    Mark(u8, u8),
    /// A fence of the kinds whose bits are set.
    Fence(u8),
    /// `lock(&l); … unlock(&l);`
    Locked(Vec<Stmt>),
    /// `atomic { … }`
    Atomic(Vec<Stmt>),
    /// `if (condition) { … } else { … }`
    If(Condition, Vec<Stmt>, Vec<Stmt>),
    /// `for (int i = 0; i < 2; i++) { … }`, perhaps left early.
    Twice(Vec<Stmt>, Option<Condition>),
    /// `while (!cas(&x, r, value)) r = x;`
    Retry(u8, Value),
    /// `if (condition) return r;`
    Return(Condition, u8),
    /// `assert(condition);`
    Assert(Condition),
    /// `assume(condition);`
    Assume(Condition),
}

/// An integer in memory.
#[derive(Clone, Copy, Debug)]
pub enum MemoryWord {
    /// `x`, `y`, `s.a`, `s.b`, `n0.value`.
    Named(u8),
    /// `a[r & 1]`
    Element(u8),
    /// `a[r]`, which may be out of bounds.
    AnyElement(u8),
    /// `t->value`, which may be null.
    Field(u8),
    /// `p->value`: two loads.
    Far,
}

/// An integer.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A constant; large ones are as large as addresses.
    Const(i16),
    /// `r`
    Reg(u8),
    /// `r op r`, by number: see its `Display`.
    Op(u8, u8, u8),
    /// `u`: undefined.
    Undefined,
    /// `choose(0, 1)`
    Choose,
}

/// A pointer in memory: `p`, `q`, `n0.next`, `t0->next`, `t1->next`.
pub type Pointer = u8;

/// A pointer: null, `&n0`, `t0`, `t1`.
pub type Target = u8;

/// A condition.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// `r == c`
    Equals(u8, i8),
    /// `r < value`
    Less(u8, Value),
    /// `place != c`: a load within the condition.
    Read(MemoryWord, i8),
    /// `t0 != 0 && t0->value == c`
    Guarded(u8, i8),
    /// `t0 == t1`
    Same,
}

fn reg() -> impl Strategy<Value = u8> {
    0..3u8
}

fn place() -> impl Strategy<Value = MemoryWord> {
    prop_oneof![
        12 => (0..2u8).prop_map(MemoryWord::Named),
        3 => (2..5u8).prop_map(MemoryWord::Named),
        1 => reg().prop_map(MemoryWord::Element),
        1 => reg().prop_map(MemoryWord::AnyElement),
        2 => (0..2u8).prop_map(MemoryWord::Field),
        1 => Just(MemoryWord::Far),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        10 => (0..3i16).prop_map(Value::Const),
        1 => prop_oneof![Just(24), Just(100), Just(1000)].prop_map(Value::Const),
        1 => Just(Value::Const(-1)),
        8 => reg().prop_map(Value::Reg),
        4 => (0..18u8, reg(), reg()).prop_map(|(op, l, r)| Value::Op(op, l, r)),
        1 => Just(Value::Undefined),
        1 => Just(Value::Choose),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    prop_oneof![
        4 => (reg(), 0..2i8).prop_map(|(r, c)| Condition::Equals(r, c)),
        1 => (reg(), value()).prop_map(|(r, e)| Condition::Less(r, e)),
        2 => (place(), 0..2i8).prop_map(|(x, c)| Condition::Read(x, c)),
        1 => (0..2u8, 1..3i8).prop_map(|(t, c)| Condition::Guarded(t, c)),
        1 => Just(Condition::Same),
    ]
}

fn pointer() -> impl Strategy<Value = Pointer> {
    prop_oneof![3 => Just(0u8), 2 => Just(1u8), 1 => 2..5u8]
}

fn target() -> impl Strategy<Value = Target> {
    0..4u8
}

/// A statement that can stand in an atomic block.
fn access() -> BoxedStrategy<Stmt> {
    let two = || (0..2u8, reg());
    prop_oneof![
        8 => (place(), value()).prop_map(|(x, e)| Stmt::Store(x, e)),
        8 => (reg(), place()).prop_map(|(r, x)| Stmt::Load(r, x)),
        2 => (reg(), value()).prop_map(|(r, e)| Stmt::Compute(r, e)),
        3 => (pointer(), target()).prop_map(|(x, t)| Stmt::StorePointer(x, t)),
        4 => (0..2u8, pointer()).prop_map(|(t, x)| Stmt::LoadPointer(t, x)),
        1 => (0..2u8, 0..3u8).prop_map(|(t, fields)| Stmt::Allocate(t, fields)),
        1 => (reg(), place(), value(), value()).prop_map(|(r, x, e, n)| Stmt::Cas(r, x, e, n)),
        1 => (reg(), pointer(), target(), target()).prop_map(|(r, x, e, n)| Stmt::CasPointer(r, x, e, n)),
        1 => (reg(), place(), -1..3i8).prop_map(|(r, x, c)| Stmt::FetchAdd(r, x, c)),
        1 => (reg(), place(), value()).prop_map(|(r, x, e)| Stmt::Exchange(r, x, e)),
        1 => (0..5u8, reg(), value()).prop_map(|(what, r, e)| Stmt::Word(what, r, e)),
        1 => (0..4u8, two()).prop_map(|(what, (t, _))| Stmt::Mark(what, t)),
    ]
    .boxed()
}

fn simple() -> BoxedStrategy<Stmt> {
    let dcas = (reg(), pointer(), (value(), value()), (target(), target()));
    prop_oneof![
        24 => access(),
        4 => (1..16u8).prop_map(Stmt::Fence),
        1 => dcas.prop_map(|(r, x, e, t)| Stmt::Dcas(r, x, [e.0, e.1], [t.0, t.1])),
        1 => (0..5u8).prop_map(Stmt::Cell),
    ]
    .boxed()
}

/// Any statement.
pub fn stmt() -> BoxedStrategy<Stmt> {
    let some = |least: usize, most: usize| prop::collection::vec(simple(), least..most);
    let accesses = |most: usize| prop::collection::vec(access(), 1..most);
    prop_oneof![
        24 => simple(),
        3 => (condition(), some(0, 3), some(0, 2)).prop_map(|(c, then, other)| Stmt::If(c, then, other)),
        1 => some(1, 3).prop_map(Stmt::Locked),
        1 => accesses(4).prop_map(Stmt::Atomic),
        1 => (accesses(2), condition()).prop_map(|(mut all, c)| {
            all.insert(0, Stmt::Assume(c));
            Stmt::Atomic(all)
        }),
        1 => (accesses(2), accesses(2), prop::option::of(condition())).prop_map(|(mut all, body, c)| {
            all.push(Stmt::Twice(body, c));
            Stmt::Atomic(all)
        }),
        1 => (some(1, 2), prop::option::of(condition())).prop_map(|(all, c)| Stmt::Twice(all, c)),
        1 => (reg(), value()).prop_map(|(r, e)| Stmt::Retry(r, e)),
        1 => (condition(), reg()).prop_map(|(c, r)| Stmt::Return(c, r)),
        1 => condition().prop_map(Stmt::Assert),
        1 => condition().prop_map(Stmt::Assume),
    ]
    .boxed()
}

/// How many accesses the statements may perform.
pub fn accesses(stmts: &[Stmt]) -> usize {
    stmts.iter().map(Stmt::accesses).sum()
}

impl Stmt {
    fn accesses(&self) -> usize {
        match self {
            Self::Store(x, _) | Self::Load(_, x) | Self::Cas(_, x, ..) => x.accesses(),
            Self::FetchAdd(_, x, _) | Self::Exchange(_, x, _) => x.accesses(),
            Self::StorePointer(..) | Self::LoadPointer(..) | Self::CasPointer(..) => 1,
            Self::Allocate(_, fields) => usize::from(*fields),
            Self::Cell(_) | Self::Dcas(..) => 2,
            Self::Word(..) | Self::Mark(..) => 1,
            Self::Compute(..) | Self::Fence(_) => 0,
            Self::Locked(all) => 4 + accesses(all),
            Self::Atomic(all) => accesses(all),
            Self::If(c, a, b) => c.accesses() + accesses(a).max(accesses(b)),
            Self::Twice(all, c) => 2 * (accesses(all) + c.map_or(0, |c| c.accesses())),
            Self::Retry(..) => 4,
            Self::Return(c, _) | Self::Assert(c) | Self::Assume(c) => c.accesses(),
        }
    }
}

impl MemoryWord {
    fn accesses(self) -> usize {
        if matches!(self, Self::Far) { 2 } else { 1 }
    }
}

impl Condition {
    fn accesses(self) -> usize {
        match self {
            Self::Equals(..) | Self::Less(..) | Self::Same => 0,
            Self::Read(x, _) => x.accesses(),
            Self::Guarded(..) => 1,
        }
    }
}
