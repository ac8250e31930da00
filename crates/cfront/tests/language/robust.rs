//! No input makes the front end panic or run on.
//!
//! `CYRANO_FUZZ_CASES` says how many mutated files of the library are read, `CYRANO_FUZZ_FIRST` the first seed.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{file, render, unit};
use proptest::prelude::*;

const SEED: &str = "#include <cyrano.h>
#include <stdlib.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
typedef struct node { struct node *next; int value; } node_t;
typedef cyrano_word struct { node_t *ptr; unsigned count : 8; } tag_t;
struct { tag_t top; lock_t l; int a[3]; } s = { { 0, 1 }, 0, { 1, 2, 3 } };
int f(int *out, int k) {
    node_t *n = malloc(sizeof(node_t));
    tag_t t = s.top, u;
    u.ptr = n; u.count = t.count + 1;
    for (int i = 0; i < 3 && s.a[i]; i++) switch (k) { case 1: *out = MAX(i, k); break; default: k -= 2; }
    do { n->next = t.ptr; if (!n) goto end; } while (!cas(&s.top, t, u));
    atomic { s.a[k & 1] ^= 0x1f; if (k) return k++; }
    lock(&s.l); fence(\"load-load\"); unlock(&s.l);
end:
    free(n);
    return n ? -1 : ~k;
}
";

/// The diagnostics of a file.
fn errors(source: &str) -> String {
    match cyrano_cfront::parse(source, "test", &|_| None) {
        Ok(_) => "no errors".into(),
        Err(errors) => render(source, &errors),
    }
}

/// Whatever comes out, a program of every test can be made of it.
fn try_all(source: &str) {
    let Ok(unit) = cyrano_cfront::parse(source, "t", &|_| None) else { return };
    for text in ["f = f(out, in {0, 1}) -> r\ntest T = f' ( f | ff )\n", "f = f()\ntest T = ( f )"] {
        let Ok(file) = cyrano_cfront::tests(text, &unit) else { continue };
        for test in &file.tests {
            if let Ok(program) = unit.program(test) {
                assert_eq!(cyrano_ir::verify(&program), Ok(()));
            }
        }
    }
}

#[test]
fn the_seed_is_fine() {
    assert_eq!(errors(SEED), "no errors");
    try_all(SEED);
}

#[test]
fn deep_nesting_is_refused() {
    let deep =
        |open: &str, close: &str, n: usize| format!("int f(void) {{ return {}1{}; }}", open.repeat(n), close.repeat(n));
    for source in [
        deep("(", ")", 20_000),
        deep("-", "", 20_000).replace("--", "- -"),
        deep("1 + ", "", 20_000),
        deep("!", "", 20_000),
        format!("int f(void) {{ {} ; }}", "if (1)".repeat(20_000)),
        format!("int f(void) {{ {} ; }}", "if (1) ; else ".repeat(20_000)),
        format!("int f(void) {{ {} ; }}", "if (1) { ; } else ".repeat(20_000)),
        format!("int {}x;", "*".repeat(20_000)),
        format!("int x{};", "[1]".repeat(20_000)),
        format!("int f(void) {{ {} {} }}", "{".repeat(20_000), "}".repeat(20_000)),
        format!("int f(int x) {{ {} ; }}", "l: ".repeat(20_000)),
    ] {
        let found = errors(&source);
        assert!(found.contains("too deeply or too long"), "{} …: {found}", &source[..60]);
    }
}

#[test]
fn growing_macros_and_calls_are_refused() {
    let mut source = String::from("#define A0 1 +\n");
    (1..40).for_each(|n| source += &format!("#define A{n} A{} A{}\n", n - 1, n - 1));
    let found = errors(&format!("{source}int x = A39 1;\n"));
    assert!(found.contains("too many tokens"), "{found}");
    let mut source = String::from("int x; void f0(void) { x = x + 1; }\n");
    (1..40).for_each(|n| source += &format!("void f{n}(void) {{ f{0}(); f{0}(); }}\n", n - 1));
    let unit = unit(&source);
    let file = file(&unit, "f = f39()\ntest T = ( f )\n");
    let found = unit.program(&file.tests[0]).expect_err("too long");
    assert!(found[0].message.contains("too long"));
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// Random numbers below a bound (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}

/// What files are made of, and what they seldom have.
const PIECES: [&str; 40] = [
    "(",
    ")",
    "{",
    "}",
    ";",
    ",",
    "*",
    "&",
    "[",
    "]",
    "=",
    "0",
    "-1",
    "#",
    "##",
    "\n#define X(a, ...) a ## __VA_ARGS__\n",
    "\n#if 0\n",
    "\n#endif\n",
    "\n#include \"it.c\"\n",
    "_Atomic",
    "_Generic(",
    "struct s",
    "union",
    "void",
    "goto l;",
    "l:",
    "switch",
    "case 1:",
    "typeof(",
    "_Alignas(8)",
    "_Thread_local",
    "\"",
    "'",
    "/*",
    "\\\n",
    "...",
    "0x",
    "é",
    "sizeof",
    "pthread_create(",
];

/// The files of the library, each cut into words and what stands between them.
fn library() -> Vec<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library");
    let files = ["c11", "datatypes"].map(|folder| std::fs::read_dir(root.join(folder)).expect("the folder is there"));
    let mut paths: Vec<_> = files.into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    paths.sort();
    let cut = |text: String| {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut cut: Vec<String> = Vec::new();
        for c in text.chars() {
            match cut.last_mut().filter(|last| word(c) && last.chars().all(word)) {
                Some(last) => last.push(c),
                None => cut.push(c.into()),
            }
        }
        cut
    };
    paths.iter().map(|path| cut(std::fs::read_to_string(path).expect("a text"))).collect()
}

fn mutated(random: &mut Random, library: &[Vec<String>]) -> String {
    let mut file = library[random.below(library.len())].clone();
    for _ in 0..1 + random.below(6) {
        let at = random.below(file.len());
        let most = 1 + random.below(12);
        let length = random.below(most).min(file.len() - at);
        let new = match random.below(4) {
            0 => Vec::new(),
            1 => vec![PIECES[random.below(PIECES.len())].to_owned()],
            _ => {
                let other = &library[random.below(library.len())];
                let from = random.below(other.len());
                other.iter().skip(from).take(random.below(12)).cloned().collect()
            }
        };
        file.splice(at..at + length, new);
    }
    file.concat()
}

#[test]
fn mutated_files_of_the_library_do_not_panic() {
    let library = library();
    let (first, cases) = (number("CYRANO_FUZZ_FIRST", 1), number("CYRANO_FUZZ_CASES", 200));
    let (mut whole, mut slowest) = (0, (Duration::ZERO, 0));
    for seed in first..first + cases {
        let source = mutated(&mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1), &library);
        let begun = Instant::now();
        let again = |name: &str| (name == "it.c").then(|| source.clone());
        let read = std::panic::catch_unwind(|| {
            let unit = cyrano_cfront::parse(&source, "t", &again).ok()?;
            let made = unit.has_main().then(|| unit.whole(cyrano_cfront::Bounds::default()));
            made?.ok().map(|program| assert_eq!(cyrano_ir::verify(&program), Ok(())))
        });
        let read = read.unwrap_or_else(|_| panic!("seed {seed}:\n{source}"));
        whole += u64::from(read.is_some());
        slowest = slowest.max((begun.elapsed(), seed));
    }
    println!("{cases} files, {whole} of them programs; the slowest took {:?} (seed {})", slowest.0, slowest.1);
    assert!(whole * 50 >= cases, "only {whole} of {cases} were programs");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_sources_do_not_panic(at in 0..SEED.len(), len in 0..40usize, from in 0..SEED.len(), take in 0..40usize) {
        let source: Vec<char> = SEED.chars().collect();
        let piece: String = source.iter().skip(from).take(take).collect();
        let text: String = source.iter().take(at).collect::<String>() + &piece + &source.iter().skip(at + len).collect::<String>();
        try_all(&text);
    }

    #[test]
    fn mutated_tests_do_not_panic(at in 0..90usize, piece in "[a-z0-9 (){}|'&=.,<>-]{0,6}") {
        let text = "type q\ninit = f(out, 1)\nf = f(out, in {0, 1}) -> r\ng = f(out, 2) -> _\ntest T = f' ( f | fg )\n";
        let text: String = text.chars().take(at).chain(piece.chars()).chain(text.chars().skip(at + 2)).collect();
        let unit = unit(SEED);
        if let Ok(file) = cyrano_cfront::tests(&text, &unit) {
            file.tests.iter().for_each(|test| drop(unit.program(test)));
        }
    }
}
