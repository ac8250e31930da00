//! Commit-atomicity of random programs, compared with a machine with store buffers and a shadow that is written from the definition alone
//! (`docs/atomicity.md`) and shares nothing with IR, explorer and interpreter.
//!
//! A program is a list of units for each thread: blocks with one commit point, and accesses outside of blocks. The machine runs the
//! blocks that commit on a second memory, and compares results at the end of units and memory when nobody is in a block.
//!
//! Blocks that wait and threads that run for ever are in `looping`, where movers are compared as well.

mod certified;
mod looping;
mod looping_oracle;
mod oracle;

use std::fmt::Write;

use cyrano_conformance::{limits, pinned};
use cyrano_engine::{Engine, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_ir::{Property, text};
use oracle::{Buffer, Oracle, value};

const LOCATIONS: usize = 2;
/// Registers of a block; an access outside has a register of its own.
const REGISTERS: usize = 2;

#[derive(Clone, Copy, Debug)]
enum Value {
    Const(i128),
    /// A register plus one, modulo three.
    Next(usize),
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Load(usize, usize),
    Store(usize, Value),
    Cas(usize, usize, i128, i128),
    /// Compares and swaps until it finds 0.
    Spin(usize, usize),
}

#[derive(Clone, Debug)]
struct Unit {
    acts: Vec<Act>,
    /// The act that commits.
    commit: usize,
    block: bool,
}

type Program = Vec<Vec<Unit>>;

/// A generator of numbers: multiply and shift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    fn value(&mut self) -> Value {
        if self.below(2) == 0 { Value::Const(self.below(3) as i128) } else { Value::Next(self.below(2) as usize) }
    }

    fn act(&mut self, register: Option<usize>) -> Act {
        let reg = register.unwrap_or_else(|| self.below(REGISTERS as u64) as usize);
        let loc = self.below(LOCATIONS as u64) as usize;
        match self.below(if register.is_some() { 7 } else { 8 }) {
            0..=2 => Act::Load(reg, loc),
            3..=5 => Act::Store(loc, self.value()),
            6 => Act::Cas(reg, loc, self.below(2) as i128, self.below(3) as i128),
            _ => Act::Spin(reg, loc),
        }
    }

    fn program(&mut self) -> Program {
        let threads = 2 + usize::from(self.below(4) == 0);
        let mut outside = REGISTERS;
        let most = if threads == 2 { 3 } else { 2 };
        (0..threads)
            .map(|_| {
                let units = 1 + self.below(most - 1);
                (0..units)
                    .map(|_| {
                        if self.below(3) == 0 {
                            outside += 1;
                            return Unit { acts: vec![self.act(Some(outside - 1))], commit: 0, block: false };
                        }
                        let acts: Vec<Act> = (0..1 + self.below(most)).map(|_| self.act(None)).collect();
                        let commit = self.below(acts.len() as u64) as usize;
                        Unit { acts, commit, block: true }
                    })
                    .collect()
            })
            .collect()
    }
}

/// The program in the IR's text form; all registers are observed, so that they are all compared.
fn ir(program: &Program) -> String {
    let mut out = "program random\n".to_owned();
    (0..LOCATIONS).for_each(|loc| writeln!(out, "location x{loc} = 0").expect("a string"));
    let registers = 1 + program.iter().flatten().flat_map(|unit| &unit.acts).map(register).max().unwrap_or(0);
    let registers = registers.max(REGISTERS);
    for (t, units) in program.iter().enumerate() {
        writeln!(out, "thread t{t}").expect("a string");
        (0..registers).for_each(|reg| writeln!(out, "  register r{reg} = 0").expect("a string"));
        let mut pc = 0;
        let mut emit = |line: String| {
            writeln!(out, "  @{pc}: {line}").expect("a string");
            pc += 1;
        };
        let mut at = 0;
        for unit in units {
            let mut line = |text: String| {
                emit(text);
                at += 1;
            };
            if unit.block {
                line("block begin b".into());
            }
            let mut position = 0;
            for act in &unit.acts {
                line(written(act));
                if let Act::Spin(reg, _) = act {
                    position += 1;
                    line(format!("branch (r{reg} == 0) then @NEXT else @SELF"));
                }
                if unit.block && position == unit.commit + spins(&unit.acts[..=unit.commit]) {
                    line("block commit".into());
                }
                position += 1;
            }
            if unit.block {
                line("block end r0, r1".into());
            }
        }
        emit("halt".into());
    }
    let observed = (0..program.len()).flat_map(|t| (0..registers).map(move |reg| (t, reg)));
    observed.for_each(|(t, reg)| writeln!(out, "observe t{t}r{reg} = t{t}:r{reg}").expect("a string"));
    // Targets of the loops.
    let lines = out.lines().map(|line| match line.trim().split_once(": branch") {
        Some((at, _)) => {
            let pc: usize = at.trim_start_matches('@').parse().expect("a number");
            line.replace("@NEXT", &format!("@{}", pc + 1)).replace("@SELF", &format!("@{}", pc - 1))
        }
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn spins(acts: &[Act]) -> usize {
    acts.iter().filter(|act| matches!(act, Act::Spin(..))).count()
}

fn register(act: &Act) -> usize {
    match act {
        Act::Load(reg, _) | Act::Cas(reg, ..) | Act::Spin(reg, _) => *reg,
        Act::Store(..) => 0,
    }
}

fn written(act: &Act) -> String {
    match act {
        Act::Load(reg, loc) => format!("r{reg} := load x{loc}"),
        Act::Store(loc, Value::Const(value)) => format!("store x{loc}, {value}"),
        Act::Store(loc, Value::Next(reg)) => format!("store x{loc}, ((r{reg} + 1) % 3)"),
        Act::Cas(reg, loc, expected, new) => format!("r{reg} := cas x{loc}, {expected}, {new}"),
        Act::Spin(reg, loc) => format!("r{reg} := cas x{loc}, 0, 1"),
    }
}

fn compare(program: &Program, model: &str, buffer: Buffer) -> bool {
    let right = Oracle { program, buffer }.is_right();
    agree(&ir(program), right, model);
    right
}

/// How many blocks movers proved.
#[derive(Clone, Copy, PartialEq)]
enum ByMovers {
    None,
    Some,
    All,
}

/// Insists that every way to ask gives the right verdict.
fn agree(source: &str, right: bool, model: &str) -> ByMovers {
    let parsed = text::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    assert_eq!(cyrano_ir::verify(&parsed), Ok(()), "{source}");
    if !parsed.has_blocks() {
        // Nothing is claimed.
        return ByMovers::None;
    }
    let model = cyrano_memory::named(model).expect("a named model");
    let property = Property::CommitAtomicity;
    let variants = [
        Explore::default(),
        Explore { thread_symmetry: false, macro_steps: false, dead_registers: false, ..Explore::default() },
        Explore { movers: false, ..Explore::default() },
        Explore { movers: false, thread_symmetry: false, dead_registers: false, ..Explore::default() },
    ];
    if pinned::long() || source.len().is_multiple_of(4) {
        certified::agrees(&parsed, right, &model);
    }
    let mut by_movers = ByMovers::None;
    for explore in variants {
        let query = Query::new(&parsed, &model, Question::Holds(&property)).expect("a question");
        let answer = explore.ask(query, &limits(60.0, 6), &());
        let place = || format!("under {}, {:?}:\n{source}", model.name, answer.reason);
        if explore.movers {
            by_movers = match answer.blocks.iter().filter(|block| block.by_movers).count() {
                0 => ByMovers::None,
                proven if proven == answer.blocks.len() => ByMovers::All,
                _ => ByMovers::Some,
            };
        }
        match answer.verdict {
            Verdict::Verified => assert!(right, "wrongly verified {}", place()),
            Verdict::Violated => {
                assert!(!right, "wrongly violated {}", place());
                let execution = answer.execution.as_ref().expect("a violation has its execution");
                let violation = answer.violation.as_ref();
                let confirmed = cyrano_interp::confirm(&parsed, &model, &property, violation, execution);
                assert!(confirmed.is_ok(), "{} {}", confirmed.unwrap_err(), place());
            }
            // Nobody gets to a commit.
            Verdict::Vacuous => assert!(right || !parsed.has_blocks(), "wrongly vacuous {}", place()),
            verdict => panic!("{verdict:?} {}", place()),
        }
    }
    by_movers
}

fn run(model: &str, buffer: Buffer, programs: usize, seed: u64) {
    let mut random = Random(seed);
    let right = (0..programs).filter(|_| compare(&random.program(), model, buffer)).count();
    // The comparison means something only if both verdicts occur often.
    assert!(right * 10 > programs && right * 10 < programs * 9, "{right} of {programs} are right");
}

#[test]
fn under_sc() {
    run("sc", Buffer::None, 1500, 1);
}

#[test]
fn under_tso() {
    run("tso", Buffer::InOrder, 1500, 2);
}

#[test]
fn under_pso() {
    run("pso", Buffer::ByLocation, 1500, 3);
}

#[test]
fn blocks_that_wait() {
    let mut random = Random(5);
    let programs = 2000;
    let (mut right, mut all, mut some) = (0, 0, 0);
    for _ in 0..programs {
        let program = random.looping();
        let is_right = looping_oracle::Oracle::new(&program).is_right();
        let by_movers = agree(&looping::ir(&program), is_right, "sc");
        right += usize::from(is_right);
        all += usize::from(by_movers == ByMovers::All);
        some += usize::from(by_movers == ByMovers::Some);
    }
    assert!(right * 10 > programs && right * 10 < programs * 9, "{right} of {programs} are right");
    assert!(all * 10 > programs && some * 10 > programs, "movers proved {all} of {programs}, and parts of {some}");
}

/// A weaker model has all the executions of a stronger one, so it has their violations; those of `rmo` are confirmed like all others.
#[test]
fn violations_grow() {
    let mut random = Random(4);
    let mut violated_on_rmo = 0;
    for _ in 0..500 {
        let parsed = text::parse(&ir(&random.program())).expect("it is a program");
        if !parsed.has_blocks() {
            continue;
        }
        let verdicts = ["sc", "tso", "pso", "rmo"].map(|model| {
            let model = cyrano_memory::named(model).expect("a named model");
            let property = Property::CommitAtomicity;
            let query = Query::new(&parsed, &model, Question::Holds(&property)).expect("a question");
            let answer = Explore::default().ask(query, &limits(60.0, 6), &());
            if let (Some(violation), Some(execution)) = (&answer.violation, &answer.execution) {
                let confirmed = cyrano_interp::confirm(&parsed, &model, &property, Some(violation), execution);
                assert!(confirmed.is_ok(), "{} {}", confirmed.unwrap_err(), text::print(&parsed));
            }
            answer.verdict
        });
        let violated = verdicts.map(|verdict| verdict == Verdict::Violated);
        assert!(violated.is_sorted(), "{verdicts:?} {}", text::print(&parsed));
        violated_on_rmo += usize::from(violated[3] && !violated[2]);
    }
    assert!(violated_on_rmo > 0, "nothing is wrong on rmo alone");
}
