//! Random functions about objects have the results that compiled ones have.
//!
//! `CYRANO_OBJECTS_CASES` says how many functions are compared, `CYRANO_OBJECTS_FIRST` the first seed. Where there is no `cc` the test says so.

use std::path::Path;
use std::process::Command;

use cyrano_conformance::random_c::objects::{PRELUDE, function};
use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_ir::{Program, Property};
use cyrano_symbolic::Symbolic;

/// How many functions one call of the compiler gets.
const BATCH: usize = 250;

/// Each how manieth function the slower engines are asked about.
const SAMPLE: u64 = 10;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// What a function that is wrong prints.
const WRONG: &str = "wrong";

/// What the compiled functions of these seeds give, none for one that is wrong; none at all if there is no compiler.
fn compiled(seeds: &[u64], folder: &Path) -> Option<Vec<Option<u32>>> {
    let mut source = format!("#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n{PRELUDE}");
    seeds.iter().for_each(|seed| source.push_str(&function(&format!("f{seed}"), *seed)));
    source.push_str("int main(void)\n{\n    int how;\n");
    // Each in a process of its own, because of static variables and because it may be ended by what it does.
    let call = |seed: &u64| {
        let child = format!("    if (fork() == 0) {{ printf(\"%u\\n\", f{seed}()); return 0; }}\n");
        format!("{child}    wait(&how);\n    if (how) {{ puts(\"{WRONG}\"); fflush(stdout); }}\n")
    };
    seeds.iter().for_each(|seed| source.push_str(&call(seed)));
    source.push_str("    return 0;\n}\n");
    std::fs::write(folder.join("all.c"), &source).expect("the folder can be written");
    let flags = ["-w", "-O0", "-std=gnu11", "-fsanitize=undefined", "-fno-sanitize-recover"];
    let output = Command::new("cc").args(flags).args(["all.c", "-o", "all"]).current_dir(folder).output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!("cc refuses the functions:\n{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            println!("skipped: no C compiler can be run as `cc` ({error})");
            return None;
        }
    }
    let output = Command::new(folder.join("all")).output().expect("it runs");
    assert!(output.status.success(), "something is undefined:\n{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let read = |line: &str| (line != WRONG).then(|| line.parse().unwrap_or_else(|_| panic!("{line}")));
    Some(text.lines().map(read).collect())
}

fn source(seed: u64) -> String {
    format!("{PRELUDE}{}", function("f", seed))
}

fn program(source: &str) -> Result<Program, String> {
    let shown = |errors: Vec<cyrano_ir::Diagnostic>| {
        let told = errors.iter().map(|error| {
            let line = source[..error.span.start as usize].matches('\n').count() + 1;
            format!("line {line}: {}", error.message)
        });
        told.collect::<Vec<_>>().join("; ")
    };
    let unit = cyrano_cfront::parse(source, "test.c", &|_| None).map_err(shown)?;
    let tests = cyrano_cfront::tests("f = f()\ntest T = ( f )\n", &unit).map_err(shown)?;
    unit.program(&tests.tests[0]).map_err(shown)
}

/// The only result, or none if something goes wrong.
fn result(engine: &dyn Engine, program: &Program) -> Result<Option<i128>, String> {
    let model = cyrano_memory::named("sc").expect("a named model");
    let limits = Limits { memory: 1 << 30, iterations: 64, ..Limits::default() };
    let ask = |question| engine.ask(Query::new(program, &model, question).expect("a question"), &limits, &());
    let holds = ask(Question::Holds(&Property::Assertions));
    if holds.verdict == Verdict::Violated {
        return Ok(None);
    }
    if !matches!(holds.verdict, Verdict::Verified | Verdict::Vacuous) {
        let why = holds.reason.map(|reason| reason.to_string());
        return Err(format!("{:?} {:?} {}", holds.verdict, holds.violation, why.unwrap_or_default()));
    }
    let answer = ask(Question::Outcomes);
    let mut outcomes = answer.outcomes.into_iter();
    match (answer.verdict, outcomes.next(), outcomes.next()) {
        (Verdict::Verified, Some(only), None) => Ok(Some(only[0])),
        (verdict, ..) => Err(format!("{verdict:?} {:?}", answer.reason.map(|reason| reason.to_string()))),
    }
}

#[test]
fn objects_are_what_compilers_make_of_them() {
    let (first, cases) = (number("CYRANO_OBJECTS_FIRST", 1), number("CYRANO_OBJECTS_CASES", 100));
    let seeds: Vec<u64> = (first..first + cases).collect();
    let folder = std::env::temp_dir().join(format!("cyrano-objects-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is a folder for temporary files");
    let symbolic = Symbolic { iterations: 64, ..Symbolic::default() };
    let (mut wrong, mut by_others, mut too_large, mut undefined) = (Vec::new(), 0, 0, 0);
    for batch in seeds.chunks(BATCH) {
        let Some(results) = compiled(batch, &folder) else { return };
        assert_eq!(results.len(), batch.len(), "each function has a result");
        for (seed, expected) in batch.iter().zip(results) {
            let source = source(*seed);
            let explore = Explore::default();
            let mut engines: Vec<&dyn Engine> = vec![&explore];
            if seed % SAMPLE == 0 {
                engines.extend([&Interp as &dyn Engine, &symbolic]);
            }
            let program = match program(&source) {
                Ok(program) => program,
                Err(why) => {
                    wrong.push(format!("seed {seed} is refused: {why}"));
                    continue;
                }
            };
            for engine in engines {
                match result(engine, &program) {
                    Ok(found) if found == expected.map(i128::from) => {
                        undefined += u64::from(found.is_none());
                        by_others += u64::from(engine.name() != explore.name());
                    }
                    Err(why) if engine.name() == Interp.name() && why.contains("hold") => too_large += 1,
                    found => {
                        let own = function("f", *seed);
                        wrong.push(format!("seed {seed}, {}: {found:?}, compiled: {expected:?}\n{own}", engine.name()));
                    }
                }
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    println!(
        "{cases} functions, {by_others} answers by other engines, {too_large} too large for the reference, {undefined} that something is wrong, {} are different",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong[..wrong.len().min(3)].join("\n"));
    assert!(by_others * 10 >= cases.min(100), "only {by_others} answers by other engines");
}

/// A function in which one sign is another one has another result: the comparison would notice.
#[test]
fn results_depend_on_what_functions_do() {
    let explore = Explore::default();
    let differ = (1..20).filter(|seed| {
        let plain = source(*seed);
        let spoilt = plain
            .replace("return (a ^ (b >> 3)) * 17u", "return (a ^ (b >> 3)) * 19u")
            .replace("all * 5 + *list", "all * 7 + *list");
        let found = [plain, spoilt].map(|source| program(&source).and_then(|program| result(&explore, &program)));
        assert!(matches!(found[0], Ok(Some(_))), "seed {seed}: {found:?}");
        found[0] != found[1]
    });
    assert!(differ.count() >= 18);
}
