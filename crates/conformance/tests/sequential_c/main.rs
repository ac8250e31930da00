//! The front end's C is that of a C compiler: random functions without threads show the same, or go wrong at the same line.
//!
//! The compiler is `cc` with its sanitizer for undefined behaviour. Where there is none, the test says so and does nothing.
//! `CYRANO_SEQUENTIAL_CASES` says how many functions are compared, `CYRANO_SEQUENTIAL_FIRST` the first seed.

mod oracle;
mod words;

use cyrano_conformance::random_c::sequential::{PRELUDE, Style, function};
use cyrano_engine::{Engine, Limits, Query, Question, Verdict, Violation};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{EvalError, Program, Property};
use cyrano_symbolic::Symbolic;

use oracle::{Deed, Wrong, deeds};

/// How many functions one call of the compiler gets.
const BATCH: usize = 250;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

fn compiled(seed: u64) -> (String, Program) {
    let name = format!("f{seed}");
    let source = format!("{PRELUDE}{}", function(&name, seed, Style::Plain));
    let unit = cyrano_cfront::parse(&source, "test.c", &|_| None).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
    let tests = cyrano_cfront::tests(&format!("f = {name}()\ntest T = ( f )\n"), &unit).expect("the test is right");
    let program = unit.program(&tests.tests[0]).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
    (source, program)
}

/// What the reference says of a program with more accesses than it can hold.
const TOO_LARGE: &str = "larger than this engine can hold";

fn why(reason: Option<cyrano_engine::Cause>) -> String {
    reason.map(|reason| reason.to_string()).unwrap_or_default()
}

/// What an engine says; an error says why it says nothing.
fn by_cyrano(engine: &dyn Engine, source: &str, program: &Program) -> Result<Deed, String> {
    let model = cyrano_memory::named("sc").expect("a named model");
    let limits = Limits { memory: 1 << 30, iterations: 64, ..Limits::default() };
    let ask = |question| engine.ask(Query::new(program, &model, question).expect("a question"), &limits, &());
    let line = |thread, instr| {
        let start = program.instr(thread, instr).span.start as usize;
        source.get(..start).map_or(0, |before| before.matches('\n').count() + 1)
    };
    let answer = ask(Question::Holds(&Property::Assertions));
    match (answer.verdict, answer.violation) {
        (Verdict::Violated, Some(Violation::Error { thread, instr, error })) => {
            let wrong = match error {
                EvalError::Overflow => Wrong::Overflow,
                EvalError::DivisionByZero => Wrong::Division,
                EvalError::OutOfBounds { .. } => Wrong::Index,
                other => return Err(format!("{other} at line {}", line(thread, instr))),
            };
            return Ok(Deed::GoesWrong(wrong, line(thread, instr)));
        }
        (Verdict::Violated, Some(Violation::Assertion { thread, instr })) => {
            return Ok(Deed::GoesWrong(Wrong::Index, line(thread, instr)));
        }
        // There may be nothing to assert.
        (Verdict::Verified | Verdict::Vacuous, None) => {}
        (verdict, violation) => return Err(format!("{verdict:?} {violation:?} {}", why(answer.reason))),
    }
    let answer = ask(Question::Outcomes);
    let mut outcomes = answer.outcomes.into_iter();
    match (answer.verdict, outcomes.next(), outcomes.next()) {
        (Verdict::Verified, Some(only), None) => {
            let values = only.iter().map(|value| u64::try_from(*value).map_err(|_| format!("not a value: {value}")));
            values.collect::<Result<_, _>>().map(Deed::Shows)
        }
        (verdict, first, second) => Err(format!("{verdict:?} {} {first:?} {second:?}", why(answer.reason))),
    }
}

/// Whether a line has two faults of different kinds: C leaves open which of two operands is computed first. The front end computes the left one first, and
/// checks an index before the expression around it. How often this is the case is limited below.
fn is_other_order(found: &Result<Deed, String>, expected: &Deed) -> bool {
    match (found, expected) {
        (Ok(Deed::GoesWrong(one, line)), Deed::GoesWrong(other, expected)) => line == expected && one != other,
        _ => false,
    }
}

#[test]
fn functions_do_what_compiled_ones_do() {
    let (first, cases) = (number("CYRANO_SEQUENTIAL_FIRST", 1), number("CYRANO_SEQUENTIAL_CASES", 300));
    let seeds: Vec<u64> = (first..first + cases).collect();
    let folder = std::env::temp_dir().join(format!("cyrano-sequential-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is a folder for temporary files");
    let engines: [Box<dyn Engine>; 3] =
        [Box::new(Interp), Box::new(Explore::default()), Box::new(Symbolic { iterations: 64, ..Symbolic::default() })];
    let mut wrong = Vec::new();
    let (mut same, mut errors, mut too_large, mut reordered) = (0u64, 0u64, 0u64, 0u64);
    for batch in seeds.chunks(BATCH) {
        let Some(deeds) = deeds(batch, &folder) else { return };
        for (seed, expected) in batch.iter().zip(deeds) {
            let (source, program) = compiled(*seed);
            for engine in &engines {
                let found = by_cyrano(engine.as_ref(), &source, &program);
                if engine.name() == Interp.name() && found.as_ref().is_err_and(|reason| reason.contains(TOO_LARGE)) {
                    too_large += 1;
                } else if is_other_order(&found, &expected) {
                    reordered += 1;
                } else if found.as_ref() != Ok(&expected) {
                    let own = source.strip_prefix(PRELUDE).unwrap_or(&source);
                    let engine = engine.name();
                    wrong.push(format!("seed {seed}, {engine}: {found:?}\n          compiled: {expected:?}\n{own}"));
                }
            }
            match expected {
                Deed::Shows(_) => same += 1,
                Deed::GoesWrong(..) => errors += 1,
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    println!("{same} functions return, {errors} are undefined, {} are different", wrong.len());
    println!("{too_large} are too large for the reference; {reordered} times two faults of a line in another order");
    assert!(wrong.is_empty(), "{} differences, the first:\n{}", wrong.len(), wrong[..wrong.len().min(3)].join("\n"));
    assert_eq!(same + errors, cases);
    assert!(too_large * 50 <= cases, "{too_large} functions are too large for the reference");
    assert!(reordered <= 3 + cases / 100, "{reordered} answers have another order of faults");
    assert!(same * 3 > cases, "only {same} functions returned something");
    assert!(errors * 6 > cases, "only {errors} functions were undefined");
}
