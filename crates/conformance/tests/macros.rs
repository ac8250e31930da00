//! The preprocessor is that of a C compiler: random macros leave the same tokens as `cc -E`.
//!
//! Objects and functions as macros, with any number of parameters, `#`, `##`, variable arguments, `__VA_OPT__`, macros that are taken away and defined again, calls
//! over several lines, conditions; parentheses within a body are balanced. What the compiler refuses is not compared: `##` may make no token. Where there is no compiler, the test says so and does nothing.
//! `CYRANO_MACRO_CASES` says how many files are compared, `CYRANO_MACRO_FIRST` the first seed.

use std::fmt::Write as _;
use std::process::Command;

use cyrano_conformance::stream::Stream;

/// How many files one call of the compiler gets.
const BATCH: u64 = 100;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn random_macros_leave_what_a_compiler_leaves() {
    if Command::new("cc").arg("--version").output().is_err() {
        println!("there is no compiler: nothing is compared");
        return;
    }
    let (first, cases) = (number("CYRANO_MACRO_FIRST", 0), number("CYRANO_MACRO_CASES", 300));
    let (mut compared, mut refused) = (0, 0);
    let seeds: Vec<u64> = (first..first + cases).collect();
    for batch in seeds.chunks(BATCH as usize) {
        let files: Vec<String> = batch.iter().map(|seed| file(*seed)).collect();
        for (file, expected) in files.iter().zip(by_compiler(batch[0], &files)) {
            let Some(expected) = expected else {
                refused += 1;
                continue;
            };
            let found = cyrano_cfront::preprocessed(file, "test.c", &|_| None);
            let found = found.unwrap_or_else(|errors| panic!("{errors:?}\n{file}"));
            assert_eq!(tokens(&found), tokens(&expected), "\n{file}\nby the compiler:\n{expected}\nhere:\n{found}");
            compared += 1;
        }
    }
    println!("{compared} files agree, {refused} were refused by the compiler");
    assert!(compared * 3 >= cases, "only {compared} of {cases} files were compared");
}

/// What the compiler makes of each file, if it takes it.
fn by_compiler(first: u64, files: &[String]) -> Vec<Option<String>> {
    let folder = std::env::temp_dir().join(format!("cyrano-macros-{}-{first}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let name = |at: usize| format!("m{at}.c");
    for (at, file) in files.iter().enumerate() {
        std::fs::write(folder.join(name(at)), file).expect("a file can be written");
    }
    let names: Vec<String> = (0..files.len()).map(name).collect();
    let mut compiler = Command::new("cc");
    compiler.args(["-E", "-P", "-w", "-std=gnu11"]).args(&names).current_dir(&folder);
    let done = compiler.output().expect("the compiler runs");
    std::fs::remove_dir_all(&folder).expect("it can be removed");
    let (text, complaints) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    let parts: Vec<&str> = text.split("begins_here").skip(1).collect();
    assert_eq!(parts.len(), files.len(), "{complaints}");
    let takes = |at: usize| !complaints.lines().any(|line| line.starts_with(&format!("{}:", name(at))));
    parts.into_iter().enumerate().map(|(at, part)| takes(at).then(|| part.to_owned())).collect()
}

/// The tokens of a text, without the mark.
fn tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match first {
            '"' => {
                let mut escaped = false;
                let ends = rest.char_indices().skip(1).find(|(_, c)| {
                    let ends = *c == '"' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    ends
                });
                ends.map_or(rest.len(), |(at, _)| at + 1)
            }
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ => ["<<", "++", "--", "->", "&&", "=="]
                .iter()
                .find(|long| rest.starts_with(**long))
                .map_or(1, |long| long.len()),
        };
        found.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    found.retain(|token| token != "begins_here");
    found
}

/// A macro of a random file.
struct Macro {
    name: String,
    /// The number of its parameters, and whether more may follow; none if it is no function.
    params: Option<(usize, bool)>,
}

/// A random file.
fn file(seed: u64) -> String {
    let mut random = Stream::mixed(seed);
    let mut text = "begins_here\n".to_owned();
    let mut macros: Vec<Macro> = Vec::new();
    for at in 0..3 + random.below(5) {
        let again = !macros.is_empty() && random.below(6) == 0;
        let name = if again { macros[random.below(macros.len())].name.clone() } else { format!("M{at}") };
        if again {
            let _ = writeln!(text, "#undef {name}");
            macros.retain(|known| known.name != name);
        }
        let params = (random.below(3) > 0).then(|| (random.below(3), random.below(3) == 0));
        let made = Macro { name, params };
        define(&mut random, &made, &macros, &mut text);
        macros.push(made);
        if random.below(3) == 0 {
            line(&mut random, &macros, &mut text);
        }
    }
    for _ in 0..2 + random.below(4) {
        match random.below(4) {
            0 => condition(&mut random, &macros, &mut text),
            _ => line(&mut random, &macros, &mut text),
        }
    }
    text
}

fn define(random: &mut Stream, made: &Macro, known: &[Macro], text: &mut String) {
    let mut params: Vec<String> = Vec::new();
    let _ = write!(text, "#define {}", made.name);
    if let Some((count, more)) = made.params {
        params = (0..count).map(|at| format!("p{at}")).collect();
        let rest = more.then(|| "...".to_owned());
        let shown: Vec<String> = params.iter().cloned().chain(rest).collect();
        let _ = write!(text, "({})", shown.join(", "));
        if more {
            params.push("__VA_ARGS__".into());
        }
    }
    let more = made.params.is_some_and(|(_, more)| more);
    let mut body: Vec<String> = Vec::new();
    for _ in 0..random.below(6) {
        let piece = match random.below(12) {
            0..=3 if !params.is_empty() => params[random.below(params.len())].clone(),
            4 if !params.is_empty() => format!("#{}", params[random.below(params.len())]),
            5 if !body.is_empty() => {
                let other = if params.is_empty() { "x".to_owned() } else { params[random.below(params.len())].clone() };
                body.push("##".into());
                other
            }
            6 if more => format!("__VA_OPT__( {} )", random.pick(&["x", ", y", "p", "z +"])),
            7 | 8 if !known.is_empty() => call(random, known, &params, 2),
            // The macro itself, or one that comes later.
            9 => format!("M{} ", random.below(8)),
            _ => atom(random),
        };
        body.push(piece);
    }
    let _ = writeln!(text, " {}", body.join(random.pick(&[" ", " ", ""])));
}

fn atom(random: &mut Stream) -> String {
    random.pick(&["x", "y", "1", "2", "+", "-", "\"s\"", "z3", "->", "<"]).to_owned()
}

/// A macro's name, with arguments if it is a function; sometimes without, sometimes with others than it takes are left to the compiler to refuse.
fn call(random: &mut Stream, known: &[Macro], words: &[String], depth: usize) -> String {
    let chosen = &known[random.below(known.len())];
    let Some((count, more)) = chosen.params else { return chosen.name.clone() };
    if random.below(8) == 0 {
        return chosen.name.clone();
    }
    let count = count + if more { random.below(3) } else { 0 };
    let arguments: Vec<String> = (0..count).map(|_| argument(random, known, words, depth)).collect();
    format!("{}{}({})", chosen.name, random.pick(&["", " ", ""]), arguments.join(random.pick(&[",", ", ", " , "])))
}

fn argument(random: &mut Stream, known: &[Macro], words: &[String], depth: usize) -> String {
    let mut pieces = Vec::new();
    for _ in 0..random.below(4) {
        pieces.push(match random.below(8) {
            0 | 1 if depth > 0 => call(random, known, words, depth - 1),
            2 if !words.is_empty() => words[random.below(words.len())].clone(),
            3 => "(a, b)".to_owned(),
            4 => "\"a\\n\"".to_owned(),
            _ => random.pick(&["x", "1", "+", "-", "y"]).to_owned(),
        });
    }
    pieces.join(random.pick(&[" ", "  ", ""]))
}

fn line(random: &mut Stream, macros: &[Macro], text: &mut String) {
    for _ in 0..1 + random.below(3) {
        let piece = if random.below(4) == 0 {
            random.pick(&["x", "+", "(x)", "y", ","]).to_owned()
        } else {
            call(random, macros, &[], 3)
        };
        text.push_str(&piece);
        text.push_str(random.pick(&[" ", "\n", " /* c */ ", ""]));
    }
    text.push_str(";\n");
}

fn condition(random: &mut Stream, macros: &[Macro], text: &mut String) {
    let asked = &macros[random.below(macros.len())].name;
    let what = match random.below(5) {
        0 => format!("#ifdef {asked}"),
        1 => format!("#ifndef {asked}"),
        2 => format!(
            "#if defined({asked}) && {} {} {}",
            random.below(4),
            random.pick(&["<", "==", "&", "-", "%"]),
            1 + random.below(4)
        ),
        3 => format!("#if ({} ? -1 : 1u) {} {}", random.below(2), random.pick(&["<", ">", ">>", "|"]), random.below(4)),
        _ => format!("#if !defined {asked} || M{} + 0", 90 + random.below(4)),
    };
    let _ = writeln!(text, "{what}");
    line(random, macros, text);
    text.push_str(random.pick(&["#else\n", "#elif 1\n", "#elif 0\n#else\n"]));
    line(random, macros, text);
    text.push_str("#endif\n");
}
