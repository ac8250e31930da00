//! Random input: no text makes the front end panic, and whatever it accepts is a valid program.

use proptest::prelude::*;

use cyrano_rml::{CompileError, RESERVED, compile};

/// Programs that use every construct, to be mutated.
const SEEDS: [&str; 4] = [
    "const N = 2; threads demo { shared x = 0, flag[N] = {0, 1}, clk: timestamp = 1; local r, t: timestamp; index i;
       proc lock(k, v) { local s; s := k; while s == 0 do { s := cas(flag[k], 0, 1) } return s + v }
       thread p { r := lock(0, 1); x := x + flag[r]; t := clk; clk := t + 1; if t == 1 { return } else if r { x := 2 } else skip; }
       thread w[N] { foreach j in 0..<N { if j == self then continue; flag[j] := tid } i := self; flag[i] := 1; }
       observe r, w[0].r; }
     check exists (p.r == 0 && forall k in 0..1 (flag[k] = 0)) on sc, sparc-rmo; check assertions;",
    "threads { shared x, y; thread a { operation put { atomic { x := 1; y := x } sfence } }
       thread b { local r; loop { choose r in {0, 1}; choose { x := r } or { fence(store-load, load-load) }
         forsome k in 1..2 { y := k } assume r != 3; assert r < 2, \"small\"; if r == 1 break } } }",
    "threads { shared m; proc acquire { local o; loop { o := exchange(m, 1); if o == 0 then return } } proc release { m := 0 }
       thread w[3] { local c; acquire; c := c + 1; release(); fetch_add(m, -1); } } check never (w[0].c = 2);",
    "stm s { const vars = 1; shared l, clk: timestamp = 1; data g[vars]; local r, t: timestamp; index u;
       proc stop(k) { if k { rollback g[0] := 0; } l := 0; abort }
       read(v) { t := clk; if t > 3 then stop(v) else r := g[v]; foreach i in v..<vars { u := i } rfin }
       write(v) { local o; o := cas(l, 0, self + 1); if o != 0 then stop(o); if o == 7 { return } g[v] := 1 }
       end { loop { choose { commit } or { stop(0) } or { break } } abort } }
     check opacity on sc; check strict-serializability; check assertions;",
];

fn never_panics(source: &str) -> Result<(), TestCaseError> {
    match compile(source, "soup", &[]) {
        Ok(program) => prop_assert_eq!(cyrano_ir::verify(&program), Ok(())),
        Err(CompileError::Diagnostics(diagnostics)) => {
            prop_assert!(!diagnostics.is_empty());
            let bug = diagnostics.iter().any(|d| d.message.contains("a bug in Cyrano"));
            prop_assert!(!bug, "{}\n{:?}", source, diagnostics);
            let inside = |d: &cyrano_ir::Diagnostic| source.get(d.span.range()).is_some();
            prop_assert!(diagnostics.iter().all(inside), "a span outside of the source\n{:?}", diagnostics);
        }
        Err(other) => prop_assert!(false, "{:?}", other),
    }
    Ok(())
}

/// The pieces of a source text: words, marks and the space between them.
fn pieces(source: &str) -> Vec<&str> {
    source.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

fn word() -> impl Strategy<Value = String> {
    let marks = "{ } ( ) [ ] ; , := = .. ..< . + - ! && x r p 0 1 7 \" /* 9223372036854775807 é".split(' ');
    let words = RESERVED.iter().copied().chain(marks).map(str::to_owned).collect::<Vec<_>>();
    prop::sample::select(words)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn seeds_are_right_and_texts_are_harmless(text in "\\PC{0,80}") {
        for seed in SEEDS {
            prop_assert!(compile(seed, "seed", &[]).is_ok(), "{:?}", compile(seed, "seed", &[]));
        }
        never_panics(&text)?;
    }

    #[test]
    fn token_soup(words in prop::collection::vec(word(), 0..60)) {
        never_panics(&words.join(" "))?;
        never_panics(&format!("threads {{ shared x; thread p {{ local r; {} }} }}", words.join(" ")))?;
        never_panics(&format!("stm {{ data x[vars]; local r; read(p) {{ {} }} write(p) {{ }} end {{ commit }} }}", words.join(" ")))?;
    }

    #[test]
    fn mutated_programs(seed in prop::sample::select(&SEEDS[..]), edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4, word()), 1..6)) {
        let mut parts: Vec<String> = pieces(seed).into_iter().map(str::to_owned).collect();
        for (at, kind, word) in edits {
            let at = at.index(parts.len());
            match kind {
                0 => drop(parts.remove(at)),
                1 => parts.insert(at, format!("{word} ")),
                2 => parts[at] = format!("{word} "),
                _ => parts.insert(at, parts[at].clone()),
            }
        }
        never_panics(&parts.concat())?;
    }
}
