//! Random families: locks that work and that almost work, counters with thresholds, waits, choices and loops. What is proven is compared with
//! instances of up to five members, view by view and verdict by verdict.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use super::certificates::{certified, checked, written};
use super::{Asked, Instance, compare, instance, model, views};
use crate::{End, Fault, View};

/// How many states of an instance are compared.
const MOST: usize = 4_000;

/// A source of numbers that are the same everywhere (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

const VARS: [&str; 3] = ["x", "y", "n"];

/// A program with families, for a question.
fn program(random: &mut Random, asked: Asked) -> String {
    let blocks = asked == Asked::Blocks;
    if asked == Asked::Assertions && random.one_in(6) {
        return counted(random);
    }
    if asked == Asked::Assertions && random.one_in(4) {
        return waiting(random);
    }
    let mut text = String::from("threads {\n shared lock, x, y, n, c;\n");
    if blocks {
        let _ =
            writeln!(text, " proc leave {{ local before; before := fetch_add(c, -1); if before == 1 {{ y := 1; }} }}");
    }
    for name in ["v", "w"].into_iter().skip(random.below(4).min(1) as usize) {
        let endless = random.one_in(2);
        let _ = writeln!(text, " thread {name}[*] {{ local r, s, q; {}", if endless { "loop {" } else { "" });
        for _ in 0..=random.below(2) {
            if blocks { block(random, &mut text) } else { part(random, &mut text) }
        }
        text.push_str(if endless { " } }\n" } else { " }\n" });
    }
    if random.one_in(3) {
        text.push_str(" thread main { local r, s, q;\n");
        if blocks && random.one_in(2) {
            block(random, &mut text)
        } else {
            stmts(random, &mut text, 2)
        }
        text.push_str(" }\n");
    }
    text.push_str("}\n");
    if asked == Asked::Invariant {
        invariant(random, &mut text);
    }
    text
}

/// Members that count themselves in and out, and somebody who waits until there are few.
fn counted(random: &mut Random) -> String {
    let few = random.below(2);
    let enter = random.pick(&["atomic { s := x; assume s == 0; fetch_add(c, 1); }", "fetch_add(c, 1);"]);
    let look = random.pick(&[
        "q := c; assert q != 0;",
        "s := x; assert s == 0;",
        "y := 1; y := 0;",
        "q := c; a[3] := 1; if q < 4 { assert a[q] == 0; }",
        "q := c; a[3] := 1; assert a[q] == 0;",
        "",
    ]);
    let out = random.pick(&[
        "fetch_add(c, -1);",
        "fetch_add(c, -1);",
        "q := fetch_add(c, -1); assert q > 0;",
        "atomic { s := 0; while s < 2 { fetch_add(c, -1); s := s + 1; } fetch_add(c, 1); }",
        "fetch_add(c, 1); atomic { s := 0; while s < 2 { fetch_add(c, -1); s := s + 1; } q := c; } assert q != 1;",
    ]);
    let who = random.pick(&["thread v[*]", "thread main"]);
    let claim = random.pick(&["q := c; assert q == 0;", "q := c; assert q <= 1;", "s := y; assert s == 0;", "q := c;"]);
    format!(
        "threads {{ shared x, y, c;
  thread w[*] {{ local s, q, a[8]; loop {{ {enter} {look} {out} }} }}
  {who} {{ local s, q; loop {{ atomic {{ q := c; s := x; assume q <= {few} && s == 0; x := 1; }} {claim} x := 0; }} }} }}\n"
    )
}

/// Members that hand something on and wait for each other, in one family or two, with a lock or without.
fn waiting(random: &mut Random) -> String {
    let mut text = String::from("threads {\n shared lock, x, y, n, c;\n");
    for name in ["v", "w"].into_iter().skip(random.below(2) as usize) {
        let endless = random.one_in(2);
        let _ = writeln!(text, " thread {name}[*] {{ local r, s, q; {}", if endless { "loop {" } else { "" });
        for _ in 0..=random.below(3) {
            let (var, other) = (random.pick(&["lock", "x", "y"]), random.pick(&["lock", "x", "y"]));
            let (a, b) = (random.below(2), random.below(3));
            let _ = match random.below(8) {
                0 | 1 => writeln!(text, "  atomic {{ r := {var}; assume r == {a}; {var} := 1 - r; }} {other} := {b};"),
                2 => writeln!(text, "  atomic {{ r := {var}; assume r == 0; {var} := 1; }} s := {other}; {var} := 0;"),
                3 => writeln!(
                    text,
                    "  atomic {{ r := n; assume r < 2; n := r + 1; }} s := {var}; atomic {{ r := n; n := r - 1; }}"
                ),
                4 => writeln!(text, "  fetch_add(c, 1); s := {var}; fetch_add(c, -1);"),
                5 => writeln!(text, "  atomic {{ q := c; assume q == 0; {var} := {b}; }}"),
                6 => writeln!(text, "  {var} := {b};"),
                _ => writeln!(
                    text,
                    "  atomic {{ r := {var}; s := {other}; assume r == {a} || s == 0; {other} := {b}; }}"
                ),
            };
        }
        text.push_str(if endless { " } }\n" } else { " }\n" });
    }
    text.push_str("}\n");
    text
}

/// Puts labels into a program, and claims something about them.
fn invariant(random: &mut Random, text: &mut String) {
    let own = text.find("thread w[*]").unwrap_or(0);
    let places: Vec<usize> = text[own..].match_indices("  r := ").map(|(at, _)| own + at + 2).collect();
    let main = text.find("thread main").unwrap_or(text.len());
    let mut places: Vec<usize> = places.into_iter().filter(|at| *at < main).collect();
    places.truncate(2);
    for (number, at) in places.iter().enumerate().rev() {
        text.insert_str(*at, &format!("L{number}: "));
    }
    let (bound, var, value) = (random.below(3), random.pick(&["lock", "x", "n", "c"]), random.below(2));
    let _ = match (places.len(), random.below(4)) {
        (0, _) => writeln!(text, "check invariant ({var} != {value});"),
        (2, 0) => writeln!(text, "check invariant (count(w@L0) + count(w@L1) <= {bound});"),
        (2, 1) => writeln!(text, "check invariant (count(w@L0) == 0 || count(w@L1) < {});", bound + 1),
        (_, 2) => writeln!(text, "check invariant ({var} != {value} || count(w@L0) == 0);"),
        _ => writeln!(text, "check invariant (count(w@L0) <= {bound});"),
    };
}

/// Something that is more than a statement.
fn part(random: &mut Random, text: &mut String) {
    let limit = 1 + random.below(3);
    match random.below(8) {
        0 | 1 => section(random, text),
        2 => {
            // At most `limit` at a time, or one more by accident.
            let allowed = limit + random.below(2);
            let _ = writeln!(text, "  atomic {{ r := n; assume r < {allowed}; n := r + 1; }} assert r < {limit};");
            stmts(random, text, 1);
            text.push_str("  atomic { r := n; n := r - 1; }\n");
        }
        3 => {
            // The number of those who came, up to a limit.
            let _ = writeln!(text, "  atomic {{ r := n; s := r; if r < {limit} {{ s := r + 1; }} n := s; }}");
            let _ = writeln!(text, "  assert r {} {};", random.pick(&["<", "<="]), random.below(4));
        }
        4 => {
            text.push_str("  choose { ");
            stmts(random, text, 2);
            text.push_str("  } or { ");
            stmts(random, text, 2);
            text.push_str("  }\n");
        }
        5 => {
            // Somebody who counts itself in and out, and perhaps looks who else is there.
            let look = random.pick(&["q := fetch_add(c, 1);", "fetch_add(c, 1); q := c;", "fetch_add(c, 1);"]);
            let _ = writeln!(text, "  atomic {{ s := lock; assume s == 0; }} {look}");
            let _ = writeln!(text, "  if q == {limit} {{ x := 1; }} s := x; assert s != {};", random.below(2));
            let _ = writeln!(text, "  fetch_add(c, {});", if random.one_in(6) { "1" } else { "-1" });
        }
        6 => {
            let most = random.below(2);
            let _ = writeln!(text, "  atomic {{ q := c; assume q <= {most}; x := 1; }}");
            let _ = writeln!(text, "  q := c; assert q <= {limit}; x := 0;");
        }
        _ => stmts(random, text, 3),
    }
}

/// A critical section, under a lock that may be none.
fn section(random: &mut Random, text: &mut String) {
    text.push_str(match random.below(5) {
        0 | 1 => "  loop { r := exchange(lock, 1); if r == 0 { break; } }\n",
        2 => "  atomic { r := lock; assume r == 0; lock := 1; }\n",
        3 => "  loop { r := lock; if r == 0 { r := cas(lock, 0, 1); if r == 0 { break; } } }\n",
        _ => "  r := lock; assume r == 0; lock := 1;\n",
    });
    let var = random.pick(&VARS);
    match random.below(3) {
        0 => {
            let _ = writeln!(text, "  r := {var}; {var} := 1 - r; s := {var}; assert s == 1 - r;");
        }
        1 => {
            let _ = writeln!(text, "  r := {var}; {var} := (r + 1) % 3; {var} := r;");
        }
        _ => stmts(random, text, 2),
    }
    text.push_str(if random.one_in(8) { "  x := 0;\n" } else { "  lock := 0;\n" });
}

fn stmts(random: &mut Random, text: &mut String, most: u64) {
    for _ in 0..=random.below(most) {
        let (var, other) = (random.pick(&VARS), random.pick(&VARS));
        let (a, b) = (random.below(3), random.below(3));
        let _ = match random.below(11) {
            0 => writeln!(text, "  r := {var};"),
            1 => writeln!(text, "  {var} := {a};"),
            2 => writeln!(text, "  {var} := (r + {a}) % 3;"),
            3 => writeln!(text, "  r := cas({var}, {a}, {b});"),
            4 => writeln!(text, "  r := exchange({var}, {a});"),
            5 => writeln!(text, "  atomic {{ r := {var}; assume r != {a}; {other} := {b}; }}"),
            6 => writeln!(text, "  if r == {a} {{ {var} := {b}; }} else {{ s := {other}; }}"),
            7 => writeln!(text, "  choose r in 0..2;"),
            8 => writeln!(text, "  mfence; s := {var};"),
            9 => writeln!(text, "  atomic {{ r := {var}; {var} := (r + 1) % 4; }}"),
            _ => writeln!(text, "  assert r != {a} || s != {b};"),
        };
    }
}

/// An atomic block: an update under a lock, or something that may not be atomic.
fn block(random: &mut Random, text: &mut String) {
    let (var, other) = (random.pick(&VARS), random.pick(&VARS));
    let look = random.pick(&["y", "x", "lock"]);
    let _ = match random.below(9) {
        6 | 7 => writeln!(text, "  atomic f returns s {{ fetch_add(c, 1); s := {look}; commit; leave; }}"),
        8 => writeln!(text, "  atomic g {{ {look} := 1; commit; leave; fetch_add(c, 1); }}"),
        0 => writeln!(
            text,
            "  atomic a returns s {{ loop {{ r := exchange(lock, 1); if r == 0 {{ break; }} }} commit;
    s := {var}; {var} := (s + 1) % 3; lock := 0; }}"
        ),
        1 => writeln!(
            text,
            "  atomic b {{ atomic {{ r := lock; assume r == 0; lock := 1; }} commit; s := {var}; {other} := 1 - s % 2; lock := 0; }}"
        ),
        2 => writeln!(text, "  atomic c returns s {{ s := {var}; {other} := (s + 1) % 3; commit; }}"),
        3 => writeln!(text, "  atomic d returns s {{ s := fetch_add({var}, 0); commit; }}"),
        4 => writeln!(
            text,
            "  atomic e {{ loop {{ s := {var}; r := cas({var}, s, (s + 1) % 3); if r == s {{ break; }} }} commit; }}"
        ),
        _ => writeln!(text, "  {var} := {};", random.below(2)),
    };
    if random.one_in(5) {
        let _ = writeln!(text, "  r := {other};");
    }
}

/// What a comparison came to.
#[derive(Default, Debug)]
struct Told {
    programs: usize,
    proven: usize,
    wrong: usize,
    /// Proven, and some instance has a deadlock.
    dead: usize,
    /// Proven, and deadlocks are excluded.
    free: usize,
    /// Proven, and no instance that was searched has a deadlock, though none is excluded.
    open: usize,
    views: usize,
    /// Proven, and the certificate is accepted.
    certified: usize,
}

/// Compares so many programs; `Err` is the first difference.
fn run(seed: u64, programs: usize, asked: Asked, fault: Option<Fault>) -> Result<Told, String> {
    let mut random = Random(seed);
    let mut told = Told::default();
    for _ in 0..programs {
        let source = program(&mut random, asked);
        let on = if random.one_in(2) { "tso" } else { "sc" };
        let fits = |program: cyrano_ir::Program| program.has_blocks() || asked != Asked::Blocks;
        if !cyrano_rml::compile(&source, "random", &[]).is_ok_and(fits) {
            continue;
        }
        told.programs += 1;
        one(&source, on, asked, fault, &mut told).map_err(|why| format!("{why} on {on}\n{source}"))?;
    }
    Ok(told)
}

fn one(source: &str, on: &str, asked: Asked, fault: Option<Fault>, told: &mut Told) -> Result<(), String> {
    let model = model(on);
    let families = super::compile(source, None).families.len();
    let instances = |k: usize| -> Vec<Instance> {
        (1..=5 / families).map_while(|n| instance(source, asked, &model, (n, k), MOST)).collect()
    };
    told.wrong += usize::from(instances(1).iter().any(|instance| instance.wrong));
    for k in 1..=3 {
        let (found, all) = views(source, asked, &model, k, fault);
        if found.end != End::Proven || found.noted.bounded {
            continue;
        }
        told.proven += 1;
        let all: FxHashSet<View> = all.into_iter().collect();
        let instances = instances(k);
        let dead = instances.iter().any(|instance| instance.dead);
        told.dead += usize::from(dead);
        told.free += usize::from(found.deadlock_free);
        told.open += usize::from(found.can_wait && !found.deadlock_free && !dead);
        let asks =
            std::env::var_os("CYRANO_LONG").is_some_and(|value| !value.is_empty()) || told.programs.is_multiple_of(8);
        if fault.is_none() && asks {
            told.certified += usize::from(certified(source, (asked, &model), &found, &instances)?);
        }
        for instance in instances {
            told.views += compare(&found, &all, &instance)?;
        }
        break;
    }
    Ok(())
}

fn check(asked: Asked, programs: usize, proven: usize, wrong: usize) {
    let many = if std::env::var_os("CYRANO_LONG").is_some_and(|value| !value.is_empty()) { 20 } else { 1 };
    let told = run(1, programs * many, asked, None).unwrap_or_else(|why| panic!("{why}"));
    println!("{asked:?}: {told:?}");
    let waits = asked != Asked::Assertions || told.dead >= 20 && told.free >= 20;
    let certified = told.certified >= proven / 20;
    assert!(told.proven >= proven && told.wrong >= wrong && waits && certified, "too little is compared: {told:?}");
}

#[test]
fn assertions_of_random_families() {
    check(Asked::Assertions, 400, 100, 100);
}

#[test]
fn invariants_of_random_families() {
    check(Asked::Invariant, 300, 50, 50);
}

#[test]
fn blocks_of_random_families() {
    check(Asked::Blocks, 300, 50, 50);
}

/// A number of members in blocks that counts down as if it were exact leads out of what the check expects.
#[test]
fn certificates_of_a_broken_number_are_refused() {
    let mut random = Random(1);
    let refused = (0..400).position(|_| {
        let source = program(&mut random, Asked::Blocks);
        let compiles = cyrano_rml::compile(&source, "random", &[]).is_ok_and(|program| program.has_blocks());
        let written = |k| written(&source, Asked::Blocks, &model("sc"), k, Some(Fault::ExactNumber));
        compiles && (1..=2).filter_map(written).any(|certificate| checked(&certificate).is_err())
    });
    println!("refused: {refused:?}");
    assert!(refused.is_some());
}

#[test]
fn bugs_are_noticed() {
    for fault in [Fault::NoExtraMember, Fault::NoTwins, Fault::HeavyMembers, Fault::Alone] {
        assert!(run(1, 400, Asked::Assertions, Some(fault)).is_err(), "{fault:?}");
    }
    for fault in [Fault::NoExtraMember, Fault::NoTwins, Fault::ExactNumber, Fault::NoComparison] {
        assert!(run(1, 400, Asked::Blocks, Some(fault)).is_err(), "{fault:?}");
    }
}
