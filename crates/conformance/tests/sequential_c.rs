//! The front end's C is that of a C compiler: random functions without threads return the same, or go wrong in both.
//!
//! The compiler is `cc` with traps for undefined behaviour. Where there is none, the test says so and does nothing.

use std::path::Path;
use std::process::Command;

use cyrano_conformance::limits;
use cyrano_conformance::random_c::sequential::{Dice, PRELUDE, function};
use cyrano_engine::{Engine, Query, Question, Verdict, Violation};
use cyrano_interp::Interp;
use cyrano_ir::{EvalError, Property};

/// What a function does.
#[derive(Clone, Debug, PartialEq)]
enum Result {
    Returns(i128),
    GoesWrong(String),
    /// More than the reference interpreter can hold.
    Unknown,
}

fn functions() -> Vec<String> {
    let count = std::env::var("CYRANO_SEQUENTIAL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(250);
    (0..count).map(|seed| function(&format!("f{seed}"), &mut Dice::new(seed + 1))).collect()
}

fn by_cyrano(name: &str, text: &str) -> Result {
    let source = format!("{PRELUDE}{text}");
    let unit = cyrano_cfront::parse(&source, "test.c", &|_| None).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
    let tests = cyrano_cfront::tests(&format!("f = {name}()\ntest T = ( f )\n"), &unit).expect("the test is right");
    let program = unit.program(&tests.tests[0]).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
    let model = cyrano_memory::named("serial").expect("a named model");
    let ask = |question| Interp.ask(Query { program: &program, model: &model, question }, &limits(2.0, 64), &());
    let answer = ask(Question::Holds(&Property::Assertions));
    match (answer.verdict, answer.violation) {
        (Verdict::Violated, Some(Violation::Error { error, .. })) => Result::GoesWrong(format!("{error:?}")),
        (Verdict::Violated, other) => Result::GoesWrong(format!("{other:?}")),
        _ => match ask(Question::Outcomes) {
            answer if answer.verdict == Verdict::Verified && answer.outcomes.len() == 1 => {
                Result::Returns(answer.outcomes.iter().flatten().copied().next().expect("one column"))
            }
            answer if answer.outcomes.len() <= 1 => Result::Unknown,
            answer => panic!("a function without threads returns {:?}", answer.outcomes),
        },
    }
}

/// Compiles all functions into one program that calls the one with the given number; none if there is no compiler.
fn compile(functions: &[String], folder: &Path) -> Option<()> {
    let mut source = format!("#include <stdio.h>\n#include <stdlib.h>\n{PRELUDE}{}", functions.concat());
    let names: Vec<String> = (0..functions.len()).map(|number| format!("f{number}")).collect();
    source += &format!("static long (*const all[])(void) = {{ {} }};\n", names.join(", "));
    source += "int main(int argc, char **argv) { (void)argc; printf(\"%ld\\n\", all[atoi(argv[1])]()); return 0; }\n";
    std::fs::write(folder.join("all.c"), source).expect("the folder can be written");
    let checks = "signed-integer-overflow,shift,integer-divide-by-zero,bounds,bool";
    let output = Command::new("cc")
        .args(["-w", "-O0", "-std=c11", &format!("-fsanitize={checks}"), "-fsanitize-undefined-trap-on-error"])
        .args(["all.c", "-o", "all"])
        .current_dir(folder)
        .output();
    match output {
        Ok(output) if output.status.success() => Some(()),
        Ok(output) => panic!("cc refuses the functions:\n{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            println!("skipped: no C compiler can be run as `cc` ({error})");
            None
        }
    }
}

fn by_compiler(number: usize, folder: &Path) -> Result {
    let output = Command::new(folder.join("all")).arg(number.to_string()).output().expect("it runs");
    match String::from_utf8_lossy(&output.stdout).trim().parse() {
        Ok(value) if output.status.success() => Result::Returns(value),
        _ => Result::GoesWrong(output.status.to_string()),
    }
}

/// Cyrano may report an overflow where the compiled function returns: 64-bit unsigned arithmetic and products of 32 bits that leave the
/// range of signed 64-bit numbers are reported instead of wrapped (`docs/c.md`), and compilers narrow an operation whose upper bits
/// nobody looks at before they check it.
fn is_stricter(cyrano: &Result) -> bool {
    *cyrano == Result::GoesWrong(format!("{:?}", EvalError::Overflow))
}

#[test]
fn functions_do_what_compiled_ones_do() {
    let functions = functions();
    let folder = std::env::temp_dir().join(format!("cyrano-sequential-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is a folder for temporary files");
    let mut wrong = Vec::new();
    let (mut same, mut errors, mut skipped) = (0, 0, 0);
    if compile(&functions, &folder).is_some() {
        for (number, text) in functions.iter().enumerate() {
            let (compiled, ours) = (by_compiler(number, &folder), by_cyrano(&format!("f{number}"), text));
            match (&compiled, &ours) {
                (_, Result::Unknown) => skipped += 1,
                (Result::GoesWrong(_), Result::GoesWrong(_)) => errors += 1,
                (one, other) if one == other => same += 1,
                (Result::Returns(_), _) if is_stricter(&ours) => skipped += 1,
                _ => wrong.push(format!("compiled: {compiled:?}, Cyrano: {ours:?}\n{text}")),
            }
        }
        println!("{same} functions return the same, {errors} go wrong, {skipped} not compared");
        assert!(skipped * 8 < functions.len(), "{skipped} functions were not compared");
        assert!(same * 3 > functions.len(), "only {same} functions returned something that was compared");
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
