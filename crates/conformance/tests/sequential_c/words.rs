//! Bit-fields, words and unions: random assignments to their members give what the machine's compiler makes of them.
//!
//! Every function assigns to members of one variable, a global, a local or an object, and returns a mixture of all of them.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use cyrano_engine::{Engine, Limits, Query, Question, Verdict};
use cyrano_explore::Explore;
use cyrano_interp::Interp;
use cyrano_symbolic::Symbolic;

/// How many functions are compared.
const FUNCTIONS: u64 = 60;

/// Types, and the members that are assigned and read.
const TYPES: [(&str, &[&str]); 6] = [
    ("struct { unsigned a : 5; int b : 7; unsigned c : 20; }", &["a", "b", "c"]),
    ("struct { char x; unsigned f : 4; int g : 9; short y; long h : 33; int z; }", &["x", "f", "g", "y", "h", "z"]),
    ("union { int i; unsigned u; signed char c; uint64_t w; }", &["i", "u", "c", "w"]),
    ("union { uint32_t w; struct { uint16_t lo; int8_t mid; uint8_t hi; } p; }", &["w", "p.lo", "p.mid", "p.hi"]),
    ("union { struct { unsigned a : 20, b : 20; }; int64_t w; int low; }", &["a", "b", "w", "low"]),
    (
        "struct { int k; union { short s; struct { uint8_t a, b; }; }; union { int n; unsigned m; } t; }",
        &["k", "s", "a", "b", "t.n", "t.m"],
    ),
];

/// A sequence of numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// The function of a seed, and what has to stand before it.
fn function(seed: u64) -> String {
    let mut dice = Dice(seed);
    let (ty, members) = TYPES[dice.below(TYPES.len())];
    let mut text = format!("typedef {ty} t{seed}_t;\nstatic t{seed}_t g{seed};\nint64_t f{seed}(void)\n{{\n");
    let access = ["g.", "l.", "p->"][dice.below(3)].replace('g', &format!("g{seed}"));
    let _ = writeln!(text, "    t{seed}_t zero = {{ 0 }};");
    match access.as_str() {
        "l." => text.push_str(&format!("    t{seed}_t l = zero;\n")),
        "p->" => text.push_str(&format!("    t{seed}_t *p = malloc(sizeof(t{seed}_t));\n    *p = zero;\n")),
        _ => {}
    }
    for _ in 0..5 {
        let (member, operator) = (dice.of(members), dice.of(&["=", "=", "=", "^=", "|=", "&="]));
        let value = dice.of(&["-1", "1", "5", "-3", "300", "70000", "0x12345678", "-200", "other"]);
        let other = format!("{access}{}", dice.of(members));
        let _ = writeln!(text, "    {access}{member} {operator} {};", if value == "other" { &other } else { value });
        if dice.below(4) == 0 {
            let member = dice.of(members);
            let _ = writeln!(
                text,
                "    if ({access}{member} < 100 && {access}{member} > -100)\n        {access}{member}++;"
            );
        }
    }
    text.push_str("    uint64_t all = sizeof(zero);\n");
    for member in members {
        let _ = writeln!(text, "    all = all * 31 + (uint64_t)(int64_t){access}{member};");
    }
    text.push_str("    return (int64_t)(all & 0xffffffffffff);\n}\n");
    text
}

/// What the compiler makes of the functions; none if there is none.
fn by_compiler(folder: &Path) -> Option<Vec<i128>> {
    let mut source = "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n".to_owned();
    (0..FUNCTIONS).for_each(|seed| source.push_str(&function(seed)));
    source.push_str("int main(void)\n{\n");
    (0..FUNCTIONS).for_each(|seed| source.push_str(&format!("    printf(\"%lld\\n\", (long long)f{seed}());\n")));
    source.push_str("    return 0;\n}\n");
    std::fs::write(folder.join("words.c"), source).expect("the folder can be written");
    let made =
        Command::new("cc").args(["-w", "-O0", "-std=gnu11", "words.c", "-o", "words"]).current_dir(folder).output();
    match made {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!("cc refuses the functions:\n{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            println!("skipped: no C compiler can be run as `cc` ({error})");
            return None;
        }
    }
    let output = Command::new(folder.join("words")).output().expect("it runs");
    Some(String::from_utf8_lossy(&output.stdout).lines().map(|line| line.parse().expect("a number")).collect())
}

#[test]
fn members_of_words_are_those_of_the_compiler() {
    let folder = std::env::temp_dir().join(format!("cyrano-words-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the compiler");
    let expected = by_compiler(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    for (seed, expected) in (0..).zip(expected.into_iter().flatten()) {
        let source = format!("#include <stdint.h>\n#include <stdlib.h>\n{}", function(seed));
        let unit = cyrano_cfront::parse(&source, "test.c", &|_| None).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
        let tests = cyrano_cfront::tests(&format!("f = f{seed}()\ntest T = ( f )\n"), &unit).expect("a test");
        let program = unit.program(&tests.tests[0]).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
        let model = cyrano_memory::named("sc").expect("a named model");
        for engine in [&Explore::default() as &dyn Engine, &Symbolic::default(), &Interp] {
            let query = Query::new(&program, &model, Question::Outcomes).expect("a question");
            let answer = engine.ask(query, &Limits::default(), &());
            let found: Vec<_> = answer.outcomes.into_iter().collect();
            assert_eq!(
                (answer.verdict, found),
                (Verdict::Verified, vec![vec![expected]]),
                "{}\n{source}",
                engine.name()
            );
        }
    }
}
