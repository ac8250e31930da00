//! Random programs for models about relations, in the words of the machine or language that a model is about.
//!
//! Tags are those that go together there, fences are that machine's, and values, addresses and branches depend on what was read; read-modify-writes are one
//! instruction, an atomic section or an exclusive pair; loops are bounded; the kernel has critical sections of RCU. So both engines take almost all of them, and
//! [`count`] says how many, under which model and with which features.

pub mod count;
pub mod features;
mod lives;
mod spins;
mod words;

use std::fmt::Write;

use cyrano_ir::{Program, text};
use cyrano_memory::Model;
use proptest::prelude::*;

pub use lives::lives;
pub use spins::{Round, locking, spinning};
use words::Words;

use crate::generate::Value;

/// A statement. Registers are `r0` to `r2`; a number picks tags or a fence among those that fit.
#[derive(Clone, Debug)]
pub enum Step {
    /// A load.
    Load(u8, Place, u8),
    /// A store.
    Store(Place, Value, u8),
    /// A load, and an access that depends on it: by its value, by its address, by a branch, by a branch and a fence.
    Chain(u8, Place, u8, Depends, Place, Value),
    /// An exchange, an addition or a compare-and-swap.
    Update(u8, Place, Change, u8),
    /// A load-exclusive and a store-exclusive, or an atomic section where a model has no such pairs.
    Pair(u8, Place, Value, u8),
    /// An atomic section: a load, and a store that depends on a condition or not.
    Section(u8, Place, Option<i128>, Value, u8),
    /// A fence.
    Fence(u8),
    /// A critical section of RCU, where there is such a thing.
    Rcu(Vec<Step>),
    /// `r := e`
    Assign(u8, Value),
    /// `r := c ? e : f`, where `c` looks at a register.
    Select(u8, u8, Value, Value),
    /// `if r = c { … } else { … }`
    If(u8, i128, Vec<Step>, Vec<Step>),
    /// So many rounds; left before if a register has a value.
    Rounds(i128, Option<(u8, i128)>, Vec<Step>),
    /// A loop without an end but a register's value: goes round while it is this, with a fence or not.
    Spin(u8, Place, Round, i128, u8, Option<u8>),
    /// `choose r in 0, 1`
    Choose(u8),
    /// `assume r != c`
    Assume(u8, i128),
    /// `assert r != c`
    Assert(u8, i128),
}

/// A word of memory.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// `x`, `y`, `z`, and `l` for a lock.
    Named(u8),
    /// An element of `a`, chosen by a register.
    Element(u8),
    /// One of `x`, `y`, `z` always, and yet its address depends on a register.
    Through(u8, u8),
}

/// How the second access of a chain depends on the first; it is a load or, if it is told, a store.
#[derive(Clone, Copy, Debug)]
pub enum Depends {
    /// The value of a store.
    Data,
    /// The address.
    Address(bool),
    /// A branch, both ways of which lead to it.
    Control(bool),
    /// The same with a fence in between.
    Fenced(bool, u8),
}

/// What a read-modify-write does.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// An exchange.
    Set(Value),
    /// Adds one.
    Add,
    /// Compares and swaps; the number picks tags for failure.
    Cas(Value, Value, u8),
}

/// A random program for the model with a number, among all that are about relations.
#[derive(Clone, Debug)]
pub struct Related {
    /// The number of the model.
    pub model: usize,
    /// What each thread does.
    pub threads: Vec<Vec<Step>>,
}

fn reg() -> impl Strategy<Value = u8> {
    0..3u8
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        12 => (0..2u8).prop_map(Place::Named),
        1 => Just(Place::Named(2)),
        1 => reg().prop_map(Place::Element),
        2 => (0..2u8, reg()).prop_map(|(x, r)| Place::Through(x, r)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (1..3i128).prop_map(Value::Const),
        1 => reg().prop_map(Value::Reg),
        1 => reg().prop_map(Value::Next),
        2 => (reg(), 1..3i128).prop_map(|(r, c)| Value::Same(r, c)),
    ]
}

fn depends() -> impl Strategy<Value = Depends> {
    prop_oneof![
        2 => Just(Depends::Data),
        2 => any::<bool>().prop_map(Depends::Address),
        3 => any::<bool>().prop_map(Depends::Control),
        1 => (any::<bool>(), any::<u8>()).prop_map(|(stores, fence)| Depends::Fenced(stores, fence)),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        2 => value().prop_map(Change::Set),
        1 => Just(Change::Add),
        2 => (prop_oneof![Just(Value::Const(0)), value()], value(), any::<u8>()).prop_map(|(e, n, t)| Change::Cas(e, n, t)),
    ]
}

fn simple() -> BoxedStrategy<Step> {
    prop_oneof![
        8 => (reg(), place(), any::<u8>()).prop_map(|(r, x, t)| Step::Load(r, x, t)),
        8 => (place(), value(), any::<u8>()).prop_map(|(x, e, t)| Step::Store(x, e, t)),
        3 => (reg(), place(), change(), any::<u8>()).prop_map(|(r, x, c, t)| Step::Update(r, x, c, t)),
        4 => any::<u8>().prop_map(Step::Fence),
        1 => (reg(), value()).prop_map(|(r, e)| Step::Assign(r, e)),
    ]
    .boxed()
}

fn step() -> BoxedStrategy<Step> {
    let some = |most| prop::collection::vec(simple(), 0..most);
    let leave = prop::option::weighted(0.5, (reg(), 0..2i128));
    prop_oneof![
        16 => simple(),
        6 => (reg(), place(), any::<u8>(), depends(), place(), value())
            .prop_map(|(r, x, t, d, y, e)| Step::Chain(r, x, t, d, y, e)),
        2 => (reg(), place(), value(), any::<u8>()).prop_map(|(r, x, e, t)| Step::Pair(r, x, e, t)),
        1 => (reg(), place(), prop::option::of(0..2i128), value(), any::<u8>())
            .prop_map(|(r, x, c, e, t)| Step::Section(r, x, c, e, t)),
        2 => prop::collection::vec(simple(), 1..3).prop_map(Step::Rcu),
        1 => (reg(), reg(), value(), value()).prop_map(|(r, c, e, f)| Step::Select(r, c, e, f)),
        3 => (reg(), 0..2i128, some(3), some(2)).prop_map(|(r, c, a, b)| Step::If(r, c, a, b)),
        1 => (1..3i128, leave, prop::collection::vec(simple(), 1..2)).prop_map(|(n, out, all)| Step::Rounds(n, out, all)),
        1 => reg().prop_map(Step::Choose),
        1 => (reg(), 0..3i128).prop_map(|(r, c)| Step::Assume(r, c)),
        1 => (reg(), 0..3i128).prop_map(|(r, c)| Step::Assert(r, c)),
    ]
    .boxed()
}

/// Programs of two or three threads with at most so many accesses, for one of so many models.
pub fn related(most: usize, models: usize) -> impl Strategy<Value = Related> {
    let two = prop::collection::vec(prop::collection::vec(step(), 1..5), 2);
    let three = prop::collection::vec(prop::collection::vec(step(), 1..4), 3);
    let all = (0..models, prop_oneof![3 => two, 2 => three]).prop_map(|(model, threads)| Related { model, threads });
    all.prop_filter("small enough to enumerate", move |random| (2..=most).contains(&random.accesses()))
}

impl Step {
    fn accesses(&self) -> usize {
        let sum = |steps: &[Self]| steps.iter().map(Self::accesses).sum::<usize>();
        match self {
            Self::Load(..) | Self::Store(..) => 1,
            Self::Spin(_, _, round, ..) => round.accesses(),
            Self::Chain(..) | Self::Update(..) | Self::Pair(..) | Self::Section(..) => 2,
            Self::Rcu(all) => sum(all),
            Self::If(_, _, a, b) => sum(a).max(sum(b)),
            Self::Rounds(times, _, all) => usize::try_from(*times).unwrap_or(0) * sum(all),
            Self::Fence(_) | Self::Assign(..) | Self::Select(..) => 0,
            Self::Choose(_) | Self::Assume(..) | Self::Assert(..) => 0,
        }
    }
}

impl Related {
    /// How many reads and writes it may perform.
    pub fn accesses(&self) -> usize {
        self.threads.iter().flatten().map(Step::accesses).sum()
    }

    /// The program, in the words of its model; what does not parse is a fault of this file.
    pub fn program(&self, model: &Model) -> Program {
        let text = self.text(model);
        let program = text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(cyrano_ir::verify(&program), Ok(()), "{text}");
        program
    }

    /// Its text.
    pub fn text(&self, model: &Model) -> String {
        let words = Words::of(model);
        let mut out = String::from("program random\nlocation x = 0\nlocation y = 0\nlocation z = 0\nlocation l = 0\n");
        out.push_str("location \"a[0]\" = 0\nlocation \"a[1]\" = 0\narray a = \"a[0]\" of 2\narray m0 = x of 1\narray m1 = y of 1\n");
        let mut observed = Vec::new();
        for (number, steps) in self.threads.iter().enumerate() {
            let mut code = Code { words: &words, lines: Vec::new() };
            steps.iter().for_each(|step| code.step(step));
            code.lines.push("halt".into());
            let _ = writeln!(out, "thread p{number}");
            for register in ["r0", "r1", "r2", "ok", "i"] {
                let _ = writeln!(out, "register {register} = 0");
                if code.lines.iter().any(|line| line.contains(register)) && register != "i" {
                    observed.push(format!("observe p{number}_{register} = p{number}:{register}\n"));
                }
            }
            for (at, line) in code.lines.iter().enumerate() {
                let _ = writeln!(out, "@{at}: {line}");
            }
        }
        observed.extend(["observe x = x\n".into(), "observe y = y\n".into(), "check assertions\n".into()]);
        observed.push("check exists (p0:r0 == 1) \"one\"\n".into());
        out + &observed.concat()
    }
}

/// Code as it is written, one instruction to a line.
struct Code<'a> {
    words: &'a Words,
    lines: Vec<String>,
}

impl Code<'_> {
    fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Load(r, x, tags) => self.push(format!("r{r} := load {}{}", place_text(*x), self.words.load(*tags))),
            Step::Store(x, e, tags) => {
                self.push(format!("store {}, {}{}", place_text(*x), value_text(*e), self.words.store(*tags)));
            }
            Step::Chain(r, x, tags, depends, y, e) => self.chain(*r, *x, *tags, *depends, *y, *e),
            Step::Update(r, x, change, tags) => self.update(*r, *x, *change, *tags),
            Step::Pair(r, x, e, tags) if self.words.exclusive => {
                let status = tags % 3 > 0;
                let (load, store) = self.words.pair(*tags, status);
                // A pair is to one address, whatever is loaded into the register that the address names.
                let x = steady(*x, *r);
                self.push(format!("r{r} := load {}{load}", place_text(x)));
                let ok = if status { "ok := " } else { "" };
                self.push(format!("{ok}store {}, {}{store}", place_text(x), value_text(*e)));
            }
            Step::Pair(r, x, e, tags) => self.section(*r, *x, None, *e, *tags),
            Step::Section(r, x, cond, e, tags) => self.section(*r, *x, *cond, *e, *tags),
            Step::Fence(pick) => {
                let fence = self.words.fence(*pick);
                self.push(format!("fence {fence}"));
            }
            Step::Rcu(steps) => {
                if self.words.rcu {
                    self.push("fence rcu_read_lock".into());
                }
                steps.iter().for_each(|step| self.step(step));
                if self.words.rcu {
                    self.push("fence rcu_read_unlock".into());
                }
            }
            Step::Assign(r, e) => self.push(format!("r{r} := {}", value_text(*e))),
            Step::Select(r, c, e, f) => {
                let cond = format!("(r{c} == 1)");
                let [e, f] = [e, f].map(|value| value_text(*value));
                self.push(format!("r{r} := ((wrap_u1({cond}) * {e}) + (wrap_u1(!{cond}) * {f}))"));
            }
            Step::If(r, c, then, other) => self.branch(&format!("(r{r} == {c})"), then, other),
            Step::Rounds(times, leave, body) => self.rounds(*times, *leave, body),
            Step::Spin(r, x, round, c, tags, fence) => self.spin(*r, steady(*x, *r), round, *c, (*tags, *fence)),
            Step::Choose(r) => self.push(format!("r{r} := choose 0, 1")),
            Step::Assume(r, c) => self.push(format!("assume (r{r} != {c})")),
            Step::Assert(r, c) => self.push(format!("assert (r{r} != {c})")),
        }
    }

    fn chain(&mut self, r: u8, x: Place, tags: u8, depends: Depends, y: Place, e: Value) {
        self.step(&Step::Load(r, x, tags));
        let (stores, y, e) = match depends {
            Depends::Data => (true, y, if let Value::Const(c) = e { Value::Same(r, c) } else { Value::Reg(r) }),
            Depends::Address(stores) => {
                (stores, if let Place::Named(y @ 0..=1) = y { Place::Through(y, r) } else { y }, e)
            }
            Depends::Control(stores) | Depends::Fenced(stores, _) => {
                let next = self.lines.len() + 1;
                self.push(format!("branch (r{r} == 1) then @{next} else @{next}"));
                (stores, y, e)
            }
        };
        if let Depends::Fenced(_, fence) = depends {
            self.step(&Step::Fence(fence));
        }
        match stores {
            true => self.step(&Step::Store(y, e, tags / 16)),
            false => self.step(&Step::Load((r + 1) % 3, y, tags / 16)),
        }
    }

    fn update(&mut self, r: u8, x: Place, change: Change, tags: u8) {
        let (place, of_tags) = (place_text(x), self.words.update(tags));
        let dst = if self.words.forgets(tags) { String::new() } else { format!("r{r} := ") };
        self.push(match change {
            Change::Set(e) => format!("{dst}exchange {place}, {}{of_tags}", value_text(e)),
            Change::Add => format!("{dst}fetch_add {place}, 1{of_tags}"),
            Change::Cas(e, n, failed) => {
                let failed = self.words.failed(failed);
                format!("{dst}cas {place}, {}, {}{of_tags}{failed}", value_text(e), value_text(n))
            }
        });
    }

    fn section(&mut self, r: u8, x: Place, cond: Option<i128>, e: Value, tags: u8) {
        let place = place_text(steady(x, r));
        self.push("atomic begin".into());
        self.push(format!("r{r} := load {place}{}", self.words.load(tags)));
        let store = format!("store {place}, {}{}", value_text(e), self.words.store(tags / 16));
        if let Some(cond) = cond {
            let at = self.lines.len();
            self.push(format!("branch (r{r} == {cond}) then @{} else @{}", at + 1, at + 2));
        }
        self.push(store);
        self.push("atomic end".into());
    }

    fn branch(&mut self, cond: &str, then: &[Step], other: &[Step]) {
        let head = self.lines.len();
        self.push(String::new());
        then.iter().for_each(|step| self.step(step));
        let jump = self.lines.len();
        self.push(String::new());
        other.iter().for_each(|step| self.step(step));
        self.lines[jump] = format!("jump @{}", self.lines.len());
        self.lines[head] = format!("branch {cond} then @{} else @{}", head + 1, jump + 1);
    }

    fn rounds(&mut self, times: i128, leave: Option<(u8, i128)>, body: &[Step]) {
        self.push("i := 0".into());
        let head = self.lines.len();
        body.iter().for_each(|step| self.step(step));
        self.push("i := (i + 1)".into());
        if let Some((r, c)) = leave {
            let at = self.lines.len();
            self.push(format!("branch (r{r} == {c}) then @{} else @{}", at + 2, at + 1));
        }
        let at = self.lines.len();
        self.push(format!("branch (i < {times}) then @{head} else @{}", at + 1));
    }
}

/// The same place, unless loading into this register would change it.
fn steady(place: Place, register: u8) -> Place {
    match place {
        Place::Element(r) if r == register => Place::Named(0),
        Place::Through(x, r) if r == register => Place::Named(x),
        place => place,
    }
}

fn place_text(place: Place) -> String {
    match place {
        Place::Named(x) => ["x", "y", "z", "l"][usize::from(x)].into(),
        Place::Element(r) => format!("a[(r{r} % 2)]"),
        Place::Through(x, r) => format!("m{x}[(r{r} - r{r})]"),
    }
}

fn value_text(value: Value) -> String {
    match value {
        Value::Const(c) => c.to_string(),
        Value::Reg(r) => format!("r{r}"),
        Value::Next(r) => format!("(r{r} + 1)"),
        Value::Same(r, c) => format!("((r{r} - r{r}) + {c})"),
    }
}
