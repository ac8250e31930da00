//! What a C compiler makes of the functions: one program for many, one process for each.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use cyrano_conformance::random_c::sequential::{KEEPERS, PRELUDE, SHOWN, Style, function};

/// What a function does.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// It returns these values.
    Shows(Vec<u64>),
    /// It is undefined from this line on.
    GoesWrong(Wrong, usize),
}

/// How a function goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wrong {
    /// A signed result that does not fit, a shift that is not defined.
    Overflow,
    /// A division by zero.
    Division,
    /// An index out of bounds.
    Index,
}

/// What stands behind the functions: each runs in a process of its own, with its errors among the output.
const MAIN: &str = "
int main(void)
{
    setvbuf(stdout, 0, _IONBF, 0);
    dup2(1, 2);
    for (unsigned number = 0; number < sizeof all / sizeof all[0]; number++) {
        printf(\"@\\n\");
        if (fork() == 0) {
            shown_t shown = all[number]();
            for (unsigned at = 0; at < sizeof shown.r / sizeof shown.r[0]; at++)
                printf(\"%lu \", shown.r[at]);
            printf(\"\\n\");
            _exit(0);
        }
        wait(0);
    }
    return 0;
}
";

/// What each function of these seeds does; none if there is no compiler.
pub fn deeds(seeds: &[u64], folder: &Path) -> Option<Vec<Deed>> {
    std::fs::write(folder.join("all.c"), program(seeds)).expect("the folder can be written");
    let output = Command::new("cc")
        .args(["-w", "-O0", "-std=gnu11", "-fsanitize=undefined", "-fno-sanitize-recover", "all.c", "-o", "all"])
        .current_dir(folder)
        .output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!("cc refuses the functions:\n{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            println!("skipped: no C compiler can be run as `cc` ({error})");
            return None;
        }
    }
    let output = Command::new(folder.join("all")).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found: Vec<Deed> = text.split("@\n").skip(1).map(deed).collect();
    assert_eq!(found.len(), seeds.len(), "every function says something:\n{text}");
    Some(found)
}

/// The functions, each with the lines that it has in a file of its own.
fn program(seeds: &[u64]) -> String {
    let mut source = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n".to_owned();
    let _ = writeln!(source, "{KEEPERS}#line 1\n{PRELUDE}");
    let line = PRELUDE.lines().count() + 1;
    for seed in seeds {
        let _ = writeln!(source, "#line {line}\n{}", function(&format!("f{seed}"), *seed, Style::Kept));
    }
    let names: Vec<String> = seeds.iter().map(|seed| format!("f{seed}")).collect();
    let _ = writeln!(source, "static shown_t (*const all[])(void) = {{ {} }};{MAIN}", names.join(", "));
    source
}

/// Reads the values, or the first error: `all.c:12:5: runtime error: division by zero`.
fn deed(text: &str) -> Deed {
    let Some((place, error)) = text.split_once(": runtime error: ") else {
        let values: Vec<u64> =
            text.split_whitespace().map(|word| word.parse().unwrap_or_else(|_| panic!("{text}"))).collect();
        assert_eq!(values.len(), SHOWN, "{text:?}");
        return Deed::Shows(values);
    };
    let line = place.split(':').nth(1).and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("{text}"));
    let starts = |words: &[&str]| words.iter().any(|word| error.starts_with(word));
    let wrong = if error.starts_with("division by zero") {
        Wrong::Division
    } else if error.starts_with("index") {
        Wrong::Index
    } else if starts(&["signed integer overflow", "shift exponent", "left shift", "division of", "negation of"]) {
        Wrong::Overflow
    } else {
        panic!("not a known error: {text}")
    };
    Deed::GoesWrong(wrong, line)
}
