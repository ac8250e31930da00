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
use cyrano_loom::model::Builder;
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
    Fence(Ordering),
    /// Writes what is not atomic, or reads it.
    Write,
    Read,
    /// Leaves out the next operation if what was read last is not 0.
    Skip,
}

const LOCATIONS: usize = 2;

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
        match self.below(12) {
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
            10 => self.of(&[Op::Copy(loc, Relaxed), Op::Copy(loc, Release), Op::Skip]),
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
    matches!(op, Op::Load(..) | Op::Add(..) | Op::Swap(..) | Op::Exchange(..))
}

/// How many executions a program has, and what is observed in them; nothing if there is a race.
fn natively(program: &[Vec<Op>]) -> Option<(u64, Outcomes)> {
    let seen = Shared::new(Mutex::new(Outcomes::new()));
    let (put, program) = (Shared::clone(&seen), program.to_vec());
    let mut builder = Builder::new();
    builder.c11_release_sequences = true;
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

/// The instructions of an operation, whose read is the how-manieth of its thread.
fn instructions(op: &Op, read: usize) -> Vec<String> {
    let name = |loc: usize| ["x", "y"][loc];
    let access = match *op {
        Op::Load(loc, order) => format!("r{read} := load {} {}", name(loc), tags(order)),
        Op::Store(loc, value, order) => format!("store {}, {value} {}", name(loc), tags(order)),
        Op::Copy(loc, order) => format!("store {}, last {}", name(loc), tags(order)),
        Op::Add(loc, value, order) => format!("r{read} := fetch_add {}, {value} {}", name(loc), tags(order)),
        Op::Swap(loc, value, order) => format!("r{read} := exchange {}, {value} {}", name(loc), tags(order)),
        Op::Exchange(loc, [old, new], success, failure) => {
            format!("r{read} := cas {}, {old}, {new} {} else {}", name(loc), tags(success), tags(failure))
        }
        Op::Fence(order) => format!("fence thread_fence.{}", fence_name(order)),
        Op::Write => "store z, 1".to_owned(),
        Op::Read => "plain := load z".to_owned(),
        Op::Skip => return Vec::new(),
    };
    let sees = is_read(op).then(|| format!("last := r{read}"));
    std::iter::once(access).chain(sees).collect()
}

/// The same program in the IR's text form: each read has a register of its own, and what was read last is in another one. A read that is left out is 0.
fn in_text(program: &[Vec<Op>]) -> String {
    let mut text = "program p\nlocation x = 0\nlocation y = 0\nlocation z = 0\n".to_owned();
    let mut observed = String::new();
    for (thread, ops) in program.iter().enumerate() {
        let _ = writeln!(text, "thread t{thread}\nregister last = 0\nregister plain = 0");
        let (mut code, mut read) = (Vec::new(), 0);
        let mut skips = false;
        for op in ops {
            let own = instructions(op, read);
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

fn in_ir(program: &[Vec<Op>]) -> Option<(u64, Outcomes)> {
    let text = in_text(program);
    let parsed = cyrano_ir::text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let model = cyrano_memory::named("rc11").unwrap();
    let graphs = Graphs { thread_symmetry: false, ..Graphs::default() };
    let races = Query::new(&parsed, &model, Question::Holds(&Property::Races)).unwrap();
    if graphs.ask(races, &Limits::default(), &()).verdict == Verdict::Violated {
        return None;
    }
    let query = Query::new(&parsed, &model, Question::Outcomes).unwrap();
    let answer = graphs.ask(query, &Limits::default(), &());
    let outcomes = answer.outcomes.iter().map(|values| values.iter().map(|value| *value as u32).collect()).collect();
    Some((answer.stats.executions.unwrap(), outcomes))
}

#[test]
fn native_programs_are_those_of_the_ir() {
    let programs = match std::env::var("CYRANO_LONG") {
        Ok(long) if !long.is_empty() => 20_000,
        _ => 300,
    };
    for plain in [false, true] {
        let mut random = Random(0x5EED);
        let (mut executions, mut weak, mut races) = (0, 0, 0);
        for number in 0..programs {
            let program = random.program(plain);
            let (native, expected) = (natively(&program), in_ir(&program));
            assert_eq!(native, expected, "program {number}: {program:?}\n{}", in_text(&program));
            races += u64::from(native.is_none());
            let (count, outcomes) = native.unwrap_or_default();
            executions += count;
            weak += u64::from(outcomes.len() > 1);
        }
        println!("{programs} programs with {executions} executions; {weak} have several outcomes, {races} a race");
        assert!(executions > 3 * programs && weak + races > programs / 2);
        assert_eq!(plain, races > programs / 10 && races < programs - programs / 10);
    }
}
