//! Random programs, as native closures here and in the IR on the engine of execution graphs: as many executions, and the same outcomes; or a race in both.
//!
//! The IR's side is itself compared with the reference (`crates/graphs/tests`). What is here alone is what the comparison is about: threads that are run again, told
//! what their reads returned, in another order, and joined.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc as Shared, Mutex};

use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_graphs::Graphs;
use cyrano_ir::Property;
use cyrano_loom::cell::UnsafeCell;
use cyrano_loom::model::{Builder, MemoryModel};
use cyrano_loom::sync::Arc;
use cyrano_loom::sync::atomic::{AtomicU32, Ordering, fence};
use cyrano_loom::thread;

/// An operation on a location, or a fence; what it reads is what the thread has read last.
#[derive(Clone, Copy, Debug)]
enum Op {
    Load(usize, Ordering),
    Store(usize, u32, Ordering),
    /// Stores what was read last.
    Copy(usize, Ordering),
    Add(usize, u32, Ordering),
    Swap(usize, u32, Ordering),
    /// Stores the second number if the first is there.
    Exchange(usize, [u32; 2], Ordering, Ordering),
    /// The same, which may fail for nothing.
    Weak(usize, [u32; 2], Ordering, Ordering),
    Fence(Ordering),
    /// Writes what is not atomic, or reads it.
    Write,
    Read,
    /// Leaves out the next operation if what was read last is not 0.
    Skip,
}

const LOCATIONS: usize = 2;

/// Is added to what an exchange has read that failed.
const FAILED: u32 = 100;

/// xorshift64*: the same programs everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn op(&mut self) -> Op {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let loc = self.below(LOCATIONS);
        let value = 1 + self.below(2) as u32;
        let updates = [Relaxed, Acquire, Release, AcqRel, SeqCst];
        match self.below(13) {
            0..4 => Op::Load(loc, self.of(&[Relaxed, Acquire, SeqCst])),
            4..7 => Op::Store(loc, value, self.of(&[Relaxed, Release, SeqCst])),
            7 => Op::Add(loc, value, self.of(&updates)),
            8 => Op::Swap(loc, value, self.of(&updates)),
            9 => Op::Exchange(
                loc,
                [self.below(2) as u32, value],
                self.of(&updates),
                self.of(&[Relaxed, Acquire, SeqCst]),
            ),
            10 => Op::Weak(loc, [self.below(2) as u32, value], self.of(&updates), self.of(&[Relaxed, Acquire, SeqCst])),
            11 => self.of(&[Op::Copy(loc, Relaxed), Op::Copy(loc, Release), Op::Skip]),
            _ => Op::Fence(self.of(&[Acquire, Release, AcqRel, SeqCst])),
        }
    }

    /// A program; some of its accesses may not be atomic.
    fn program(&mut self, plain: bool) -> Vec<Vec<Op>> {
        let threads = 2 + self.below(3);
        let most = [4, 3, 2][threads - 2] + usize::from(plain);
        let mut thread = || {
            let length = 1 + self.below(most);
            let mut op = || if plain && self.below(3) == 0 { self.of(&[Op::Write, Op::Read]) } else { self.op() };
            (0..length).map(|_| op()).collect()
        };
        (0..threads).map(|_| thread()).collect()
    }
}

/// What each thread has read, and what is there in the end.
type Outcomes = BTreeSet<Vec<u32>>;

/// Words that are atomic, and one that is not.
struct Memory {
    words: [AtomicU32; LOCATIONS],
    plain: UnsafeCell<u32>,
}

// SAFETY: that accesses to the cell race is found before they are made.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Runs a thread; says what it has read.
fn run(ops: &[Op], Memory { words: memory, plain }: &Memory) -> Vec<u32> {
    let (mut read, mut last, mut skips) = (Vec::new(), 0, false);
    for op in ops {
        let value = if std::mem::take(&mut skips) {
            read.extend(is_read(op).then_some(0));
            None
        } else {
            match *op {
                Op::Load(loc, order) => Some(memory[loc].load(order)),
                Op::Add(loc, value, order) => Some(memory[loc].fetch_add(value, order)),
                Op::Swap(loc, value, order) => Some(memory[loc].swap(value, order)),
                Op::Exchange(loc, [old, new], success, failure) => {
                    Some(memory[loc].compare_exchange(old, new, success, failure).unwrap_or_else(|value| value))
                }
                Op::Weak(loc, [old, new], success, failure) => {
                    let result = memory[loc].compare_exchange_weak(old, new, success, failure);
                    // Whether it failed is observed, too.
                    Some(result.unwrap_or_else(|value| value + FAILED))
                }
                Op::Store(loc, value, order) => {
                    memory[loc].store(value, order);
                    None
                }
                Op::Copy(loc, order) => {
                    memory[loc].store(last, order);
                    None
                }
                Op::Fence(order) => {
                    fence(order);
                    None
                }
                Op::Write => {
                    // SAFETY: the pointer is used for as long as the cell is lent.
                    plain.with_mut(|plain| unsafe { *plain += 1 });
                    None
                }
                Op::Read => {
                    // SAFETY: as above.
                    plain.with(|plain| unsafe { *plain });
                    None
                }
                Op::Skip => {
                    skips = last != 0;
                    None
                }
            }
        };
        last = value.unwrap_or(last);
        read.extend(value);
    }
    read
}

fn is_read(op: &Op) -> bool {
    matches!(op, Op::Load(..) | Op::Add(..) | Op::Swap(..) | Op::Exchange(..) | Op::Weak(..))
}

/// How many executions a program has, and what is observed in them; nothing if there is a race.
fn natively(program: &[Vec<Op>], model: MemoryModel, together: bool) -> Option<(u64, Outcomes)> {
    let seen = Shared::new(Mutex::new(Outcomes::new()));
    let (put, program) = (Shared::clone(&seen), program.to_vec());
    let mut builder = Builder::new();
    builder.c11_release_sequences = true;
    builder.spurious_failures = 10;
    builder.memory_model = model;
    (builder.at_once, builder.workers) = (together, 1 + usize::from(together));
    let run = move || {
        let words = std::array::from_fn(|_| AtomicU32::new(0));
        let memory = Arc::new(Memory { words, plain: UnsafeCell::new(0) });
        let begin = |ops: &Vec<Op>| {
            let (ops, memory) = (ops.clone(), memory.clone());
            thread::spawn(move || run(&ops, &memory))
        };
        let threads: Vec<_> = program.iter().map(begin).collect();
        let mut outcome: Vec<u32> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        outcome.extend(memory.words.iter().map(|word| word.load(Ordering::Relaxed)));
        put.lock().unwrap().insert(outcome);
    };
    match catch_unwind(AssertUnwindSafe(|| builder.explore(run))) {
        Ok(explored) => {
            assert!(explored.complete);
            let seen = seen.lock().unwrap().clone();
            Some((explored.executions, seen))
        }
        Err(payload) => {
            let text = payload.downcast_ref::<String>().expect("a panic with a text");
            assert!(text.starts_with("data race: "), "{text}");
            None
        }
    }
}

fn tags(order: Ordering) -> &'static str {
    match order {
        Ordering::Acquire => "{atomic acquire}",
        Ordering::Release => "{atomic release}",
        Ordering::AcqRel => "{atomic acquire release}",
        Ordering::SeqCst => "{atomic seq_cst}",
        _ => "{atomic}",
    }
}

fn fence_name(order: Ordering) -> &'static str {
    match order {
        Ordering::Acquire => "acquire",
        Ordering::Release => "release",
        Ordering::AcqRel => "acq_rel",
        _ => "seq_cst",
    }
}

/// The instructions of an operation, whose read is the how-manieth of its thread, from this place on. Machines know no orders: what those mean is said by fences.
fn instructions(op: &Op, read: usize, at: usize, model: MemoryModel) -> Vec<String> {
    let name = |loc: usize| ["x", "y"][loc];
    let c11 = model == MemoryModel::Rc11;
    let tags = |order: Ordering| if c11 { tags(order) } else { "" };
    let exchange = |loc: usize, [old, new]: [u32; 2], success: Ordering, failure: Ordering| {
        let failed = if c11 { format!(" else {}", tags(failure)) } else { String::new() };
        format!("r{read} := cas {}, {old}, {new} {}{failed}", name(loc), tags(success))
    };
    let fenced = |order: Ordering| (!c11 && order == Ordering::SeqCst).then(|| "fence store-load".to_owned());
    let mut code = Vec::new();
    match *op {
        Op::Load(loc, order) => code.push(format!("r{read} := load {} {}", name(loc), tags(order))),
        Op::Store(loc, value, order) => {
            code.push(format!("store {}, {value} {}", name(loc), tags(order)));
            code.extend(fenced(order));
        }
        Op::Copy(loc, order) => code.push(format!("store {}, last {}", name(loc), tags(order))),
        Op::Add(loc, value, order) => code.push(format!("r{read} := fetch_add {}, {value} {}", name(loc), tags(order))),
        Op::Swap(loc, value, order) => code.push(format!("r{read} := exchange {}, {value} {}", name(loc), tags(order))),
        Op::Exchange(loc, values, success, failure) => code.push(exchange(loc, values, success, failure)),
        Op::Weak(loc, values, success, failure) => code.extend([
            "fails := choose 0, 1".to_owned(),
            format!("branch (fails == 0) then @{} else @{}", at + 2, at + 4),
            exchange(loc, values, success, failure),
            format!("branch (r{read} == {}) then @{} else @{}", values[0], at + 7, at + 6),
            format!("r{read} := load {} {}", name(loc), tags(failure)),
            format!("assume (r{read} == {})", values[0]),
            format!("r{read} := (r{read} + {FAILED})"),
        ]),
        Op::Fence(order) if c11 => code.push(format!("fence thread_fence.{}", fence_name(order))),
        Op::Fence(order) => code.extend(fenced(order)),
        Op::Write => code.push("store z, 1".to_owned()),
        Op::Read => code.push("plain := load z".to_owned()),
        Op::Skip => {}
    }
    code.extend(is_read(op).then(|| format!("last := r{read}")));
    code
}

/// The same program in the IR's text form: each read has a register of its own, and what was read last is in another one. A read that is left out is 0.
fn in_text(program: &[Vec<Op>], model: MemoryModel) -> String {
    let mut text = "program p\nlocation x = 0\nlocation y = 0\nlocation z = 0\n".to_owned();
    let mut observed = String::new();
    for (thread, ops) in program.iter().enumerate() {
        let _ = writeln!(text, "thread t{thread}\nregister last = 0\nregister plain = 0\nregister fails = 0");
        let (mut code, mut read) = (Vec::new(), 0);
        let mut skips = false;
        for op in ops {
            let own = instructions(op, read, code.len() + usize::from(skips), model);
            if std::mem::take(&mut skips) {
                let at = code.len();
                code.push(format!("branch (last == 0) then @{} else @{}", at + 1, at + 1 + own.len()));
            }
            code.extend(own);
            if is_read(op) {
                let _ = writeln!(text, "register r{read} = 0");
                let _ = writeln!(observed, "observe t{thread}r{read} = t{thread}:r{read}");
                read += 1;
            }
            skips = matches!(op, Op::Skip);
        }
        code.push("halt".to_owned());
        code.iter().enumerate().for_each(|(pc, line)| {
            let _ = writeln!(text, "@{pc}: {line}");
        });
    }
    text + &observed + "observe x = x\nobserve y = y\n"
}

fn in_ir(program: &[Vec<Op>], model: MemoryModel) -> Option<(u64, Outcomes)> {
    let text = in_text(program, model);
    let is_c11 = model == MemoryModel::Rc11;
    let parsed = cyrano_ir::text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let name = match model {
        MemoryModel::Sc => "sc",
        MemoryModel::Tso => "tso",
        _ => "rc11",
    };
    let model = cyrano_memory::named(name).unwrap();
    let graphs = Graphs { thread_symmetry: false, ..Graphs::default() };
    let races = || Query::new(&parsed, &model, Question::Holds(&Property::Races)).unwrap();
    if is_c11 && graphs.ask(races(), &Limits::default(), &()).verdict == Verdict::Violated {
        return None;
    }
    let query = Query::new(&parsed, &model, Question::Outcomes).unwrap();
    let answer = graphs.ask(query, &Limits::default(), &());
    let outcomes = answer.outcomes.iter().map(|values| values.iter().map(|value| *value as u32).collect()).collect();
    Some((answer.stats.executions.unwrap(), outcomes))
}

/// Compares programs; says how many have a race.
fn compare(programs: u64, plain: bool, model: MemoryModel, together: bool) -> u64 {
    let mut random = Random(0x5EED);
    let (mut executions, mut weak, mut races, mut failures) = (0, 0, 0, 0);
    for number in 0..programs {
        let program = random.program(plain);
        let (native, expected) = (natively(&program, model, together), in_ir(&program, model));
        assert_eq!(native, expected, "{model:?}, program {number}: {program:?}\n{}", in_text(&program, model));
        races += u64::from(native.is_none());
        let (count, outcomes) = native.unwrap_or_default();
        executions += count;
        weak += u64::from(outcomes.len() > 1);
        failures += u64::from(program.iter().flatten().any(|op| matches!(op, Op::Weak(..))));
    }
    println!(
        "{model:?}: {programs} programs with {executions} executions; {weak} have several outcomes, {failures} weak exchanges, {races} a race"
    );
    assert!(executions > 3 * programs && weak + races > programs / 2 && failures > programs / 5);
    races
}

fn programs(few: u64) -> u64 {
    match std::env::var("CYRANO_LONG") {
        Ok(long) if !long.is_empty() => 40 * few,
        _ => few,
    }
}

#[test]
fn native_programs_are_those_of_the_ir() {
    assert_eq!(compare(programs(250), false, MemoryModel::Rc11, false), 0);
    let races = compare(programs(200), true, MemoryModel::Rc11, false);
    assert!(races > programs(200) / 10 && races < programs(200) - programs(200) / 10);
}

#[test]
fn native_programs_are_those_of_the_ir_under_other_models() {
    assert_eq!(compare(programs(150), false, MemoryModel::Sc, false), 0);
    assert_eq!(compare(programs(150), false, MemoryModel::Tso, false), 0);
}

#[test]
fn several_search_as_one() {
    assert_eq!(compare(programs(40), false, MemoryModel::Rc11, true), 0);
}
