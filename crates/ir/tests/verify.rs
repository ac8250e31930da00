//! The verifier: one test per invariant of its module doc, each with programs that break it and neighbours that do not.

mod random;

use cyrano_ir::{Access, AccessKind, Program, Thread, text, verify};

use random::Random;

/// Verifies a program and expects these violations, in order; none means that it is valid.
#[track_caller]
fn check_program(program: &Program, expect: &[&str]) {
    let errors = verify(program).err().unwrap_or_default();
    let found: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(found, expect);
}

#[track_caller]
fn check(source: &str, expect: &[&str]) {
    let program = text::parse(&format!("program p\n{source}")).expect("the test's program can be read");
    check_program(&program, expect);
}

/// The same for one thread with integers `a` and `b`, timestamps `s` and `t`, and locations of both types: `x`, the array
/// `xs`, `clk`, the array `clks`.
#[track_caller]
fn check_code(code: &[&str], expect: &[&str]) {
    let mut source = String::from(
        "location x = 0\nlocation x0 = 0\nlocation x1 = 0\narray xs = x0 of 2\n\
         location clk: timestamp = 0\nlocation c0: timestamp = 0\nlocation c1: timestamp = 0\narray clks = c0 of 2\n\
         thread p\nregister a = 0\nregister b = 0\nregister s: timestamp = 0\nregister t: timestamp = 0\n",
    );
    for (pc, op) in code.iter().enumerate() {
        source.push_str(&format!("@{pc}: {op}\n"));
    }
    check(&source, expect);
}

#[test]
fn accesses_have_the_parts_and_the_tags_of_their_kinds() {
    check_code(
        &["a := load x {acquire seq_cst}", "store x, 1 {release}", "a := cas x, 0, 1 {acquire release}", "halt"],
        &[],
    );
    check_code(
        &["a := load x {release}", "store x, 1 {acquire}", "fetch_add x, 1 {rollback}", "rollback x, 1", "halt"],
        &[
            "t0@0: a load cannot be `release`",
            "t0@1: a store cannot be `acquire`",
            "t0@2: a read-modify-write cannot be `rollback`",
        ],
    );
    check_code(
        &[
            "a := load x {exclusive release}",
            "a := store x, 1 {exclusive acquire}",
            "a := cas x, 0, 1 {acquire} else {seq_cst}",
            "fence synchronize_srcu at x",
            "halt",
        ],
        &[],
    );
    check_code(
        &["fetch_add x, 1 {exclusive}", "exchange x, 1 {acquire} else {atomic}", "fence smp_mb at x", "halt"],
        &[
            "t0@0: a read-modify-write cannot be `exclusive`",
            "t0@1: a read-modify-write that swaps nothing cannot fail to",
            "t0@2: a `smp_mb` is not about a location",
        ],
    );
    let parts = |spoil: &dyn Fn(&mut Access)| {
        let mut program =
            text::parse("program p\nlocation x = 0\nthread t\n@0: store x, 1\n@1: halt").expect("a program");
        spoil(program.threads[0].code[0].op.access_mut().expect("a store"));
        verify(&program).expect_err("it is spoilt")[0].message.clone()
    };
    let expected = |noun: &str| format!("the parts of this access are not those of a {noun}");
    assert_eq!(parts(&|access| access.change = None), expected("store"));
    assert_eq!(parts(&|access| access.kind = AccessKind::Load), expected("load"));
    assert_eq!(parts(&|access| access.kind = AccessKind::Mark), expected("event"));
}

#[test]
fn at_most_65535_threads() {
    let halting = text::parse("program p\nthread t\n@0: halt").expect("the test's program can be read").threads;
    let with = |count: usize| {
        let thread = |i| Thread { name: format!("t{i}"), ..halting[0].clone() };
        Program { threads: (0..count).map(thread).collect(), ..Program::default() }
    };
    check_program(&with(65_535), &[]);
    check_program(&with(65_536), &["65536 threads; at most 65535 can be run"]);
    check_program(&with(70_000), &["70000 threads; at most 65535 can be run"]);
}

#[test]
fn names_are_unique_and_not_empty() {
    check("location x = 0\nthread x\n@0: halt\nthread y\n@0: halt", &[]);
    check(
        "location x = 0\nlocation \"\" = 0\nlocation x = 1",
        &["location number 1 has no name", "two locations are named `x`"],
    );
    check(
        "thread t\n@0: halt\nthread t\n@0: halt\nthread \"\"\n@0: halt",
        &["two threads are named `t`", "thread number 2 has no name"],
    );
}

#[test]
fn arrays_lie_within_the_locations() {
    check("location x = 0\nlocation y = 0\narray a = x of 2\narray b = y of 1", &[]);
    check("location x = 0\nlocation y = 0\narray a = y of 2", &["array `a` (2 from g1) exceeds the locations"]);
    check("array a = #4294967295 of 4294967295", &["array `a` (4294967295 from g4294967295) exceeds the locations"]);
}

#[test]
fn ids_exist() {
    check_code(&["a := #4", "halt"], &["t0@0: there is no register r4"]);
    check_code(&["#9 := load #7", "halt"], &["t0@0: there is no register r9", "t0@0: there is no location g7"]);
    check_code(&["store #2[#8], 0", "halt"], &["t0@0: there is no array a2", "t0@0: there is no register r8"]);
    check_code(&["cas x, #5, #6", "halt"], &["t0@0: there is no register r5", "t0@0: there is no register r6"]);
    check_code(&["jump @2", "halt"], &["t0@0: there is no instruction @2"]);
    check_code(
        &["branch a then @7 else @8", "halt"],
        &["t0@0: there is no instruction @7", "t0@0: there is no instruction @8"],
    );
}

#[test]
fn local_arrays_lie_within_the_registers() {
    check_code(&["a[1 of 2] := b[0 of 1]", "halt"], &[]);
    check_code(&["t[0 of 2] := 1", "halt"], &["t0@0: the local array of 2 from r3 exceeds the registers"]);
    check_code(
        &["a := a[b[#9 of 1] of 4294967295]", "halt"],
        &["t0@0: the local array of 4294967295 from r0 exceeds the registers", "t0@0: there is no register r9"],
    );
}

#[test]
fn unreachable_code_needs_valid_ids_only() {
    check_code(&["halt", "atomic end", "fence none", "halt"], &[]);
    check_code(&["halt", "a := #4", "halt"], &["t0@1: there is no register r4"]);
}

#[test]
fn code_has_an_end() {
    check_code(&["halt"], &[]);
    check_code(&["jump @0"], &[]);
    check_code(&["branch a then @0 else @0"], &[]);
    check_code(&[], &["t0: the thread has no code"]);
    check_code(&["a := 1"], &["t0@0: the last instruction falls through the end of the code"]);
    check_code(&["halt", "a := 1"], &["t0@1: the last instruction falls through the end of the code"]);
}

#[test]
fn choices_are_not_empty() {
    check_code(&["a := choose 3", "halt"], &[]);
    check_code(&["a := choose", "halt"], &["t0@0: a choice from no values"]);
}

#[test]
fn sections_are_matched() {
    check_code(&["operation begin f", "atomic begin", "store x, 1", "atomic end", "operation end", "halt"], &[]);
    check_code(&["atomic end", "halt"], &["t0@0: the end of an atomic section that has no begin"]);
    check_code(&["operation end", "halt"], &["t0@0: the end of an operation that has no begin"]);
    check_code(&["atomic begin", "halt"], &["t0@1: the thread halts within an atomic section"]);
    check_code(&["operation begin f", "halt"], &["t0@1: the thread halts within an operation"]);
}

#[test]
fn sections_do_not_nest_within_their_kind() {
    let nested = ["atomic begin", "atomic begin", "atomic end", "halt"];
    check_code(&nested, &["t0@1: an atomic section within an atomic section"]);
    let nested = ["operation begin f", "operation begin g", "operation end", "halt"];
    check_code(&nested, &["t0@1: an operation within an operation"]);
}

#[test]
fn atomic_sections_contain_no_fences_and_no_operations() {
    check_code(&["operation begin f", "fence none", "operation end", "halt"], &[]);
    let fence = ["atomic begin", "fence store-load", "atomic end", "halt"];
    check_code(&fence, &["t0@1: a fence within an atomic section"]);
    let inside = ["atomic begin", "operation begin f", "operation end", "atomic end", "halt"];
    let messages =
        ["t0@1: an operation begins within an atomic section", "t0@2: an operation ends within an atomic section"];
    check_code(&inside, &messages);
}

#[test]
fn paths_agree_on_sections() {
    let both = ["branch a then @1 else @3", "atomic begin", "jump @4", "atomic begin", "atomic end", "halt"];
    check_code(&both, &[]);
    let spinning = ["atomic begin", "branch a then @1 else @2", "atomic end", "halt"];
    check_code(&spinning, &[]);
    let around = ["branch a then @2 else @1", "atomic begin", "atomic end", "halt"];
    check_code(&around, &["t0@2: paths to this instruction disagree on the sections it is in"]);
    let again = ["a := 1", "operation begin f", "branch a then @0 else @3", "operation end", "halt"];
    check_code(&again, &["t0@0: paths to this instruction disagree on the sections it is in"]);
}

#[test]
fn variables_of_final_states_exist() {
    let thread = "location x = 0\nthread p\nregister a = 0\n@0: halt\n";
    check(&format!("{thread}observe a = p:a\nobserve x = x\ncheck never (p:a == x) \"\""), &[]);
    let observed = format!("{thread}observe a = p:#1\nobserve b = #1:#0\nobserve c = #1");
    check(
        &observed,
        &[
            "observed `a`: t0 has no register r1",
            "observed `b`: there is no thread t1",
            "observed `c`: there is no location g1",
        ],
    );
    let checked = format!("{thread}check never ((p:a == #3) || (#2:#0 == 0)) \"cond\"");
    check(&checked, &["check `cond`: there is no location g3", "check `cond`: there is no thread t2"]);
}

#[test]
fn timestamps_are_copied_compared_and_incremented() {
    let fine = [
        "s := t",
        "s := 5",
        "s := (t + 1)",
        "s := (2 + (t + (3 - 3)))",
        "s := load clk",
        "s := load clks[a]",
        "store clks[1], (s + 1)",
        "s := cas clk, t, (t + 1)",
        "cas clk, 0, 1",
        "s := exchange clk, t",
        "s := fetch_add clk, 0",
        "s := choose 1, 2",
        "s[a of 2] := t",
        "a := ((s < t) && (s != 0))",
        "assume ((s + 1) >= t)",
        "halt",
    ];
    check_code(&fine, &[]);
}

#[test]
fn timestamps_are_no_integers() {
    check_code(&["s := a", "halt"], &["t0@0: an integer is used as a timestamp"]);
    check_code(&["a := s", "halt"], &["t0@0: a timestamp is used as an integer"]);
    check_code(&["a := load clk", "halt"], &["t0@0: a timestamp is used as an integer"]);
    check_code(&["s := load xs[0]", "halt"], &["t0@0: an integer is used as a timestamp"]);
    check_code(&["store x, s", "halt"], &["t0@0: a timestamp is used as an integer"]);
    check_code(&["store clk, (a + 1)", "halt"], &["t0@0: an integer is used as a timestamp"]);
    check_code(&["store clk, (s == t)", "halt"], &["t0@0: an integer is used as a timestamp"]);
    check_code(&["a := exchange clk, s", "halt"], &["t0@0: a timestamp is used as an integer"]);
    check_code(&["exchange x, s", "halt"], &["t0@0: a timestamp is used as an integer"]);
    check_code(&["cas clk, a, b", "halt"], &["t0@0: an integer is used as a timestamp"; 2]);
    check_code(&["a := (s == a)", "halt"], &["t0@0: a timestamp is compared with an integer"]);
}

#[test]
fn timestamps_are_no_operands_indices_or_conditions() {
    check_code(
        &["s := (s - 1)", "halt"],
        &["t0@0: a timestamp is used as an operand of `-`", "t0@0: an integer is used as a timestamp"],
    );
    check_code(&["s := (s + -1)", "halt"], &["t0@0: a timestamp plus -1, which is negative"]);
    check_code(&["a := (s + a)", "halt"], &["t0@0: a timestamp is used as an operand of `+`"]);
    check_code(&["a := (s + t)", "halt"], &["t0@0: a timestamp is used as an operand of `+`"; 2]);
    check_code(&["a := (1 & s)", "halt"], &["t0@0: a timestamp is used as an operand of `&`"]);
    check_code(&["a := -s", "halt"], &["t0@0: a timestamp is used as an operand of `-`"]);
    check_code(&["a := !s", "halt"], &["t0@0: a timestamp is used as an operand of `!`"]);
    check_code(&["a := (a || s)", "halt"], &["t0@0: a timestamp is used as an operand of `||`"]);
    check_code(
        &["assume s", "assert t", "branch s then @3 else @3", "halt"],
        &[
            "t0@0: a timestamp is used as a condition",
            "t0@1: a timestamp is used as a condition",
            "t0@2: a timestamp is used as a condition",
        ],
    );
    check_code(
        &["store xs[s], 0", "a := a[s of 1]", "halt"],
        &["t0@0: a timestamp is used as an index", "t0@1: a timestamp is used as an index"],
    );
}

#[test]
fn fetch_add_on_a_timestamp_adds_a_constant() {
    let wrong = "t0@0: fetch-add on a timestamp adds something other than a constant of at least 0";
    check_code(&["fetch_add clk, (1 + 1)", "fetch_add x, a", "halt"], &[]);
    check_code(&["fetch_add clk, -1", "halt"], &[wrong]);
    check_code(&["fetch_add clks[0], a", "halt"], &[wrong]);
    check_code(&["fetch_add clk, s", "halt"], &[wrong]);
    check_code(&["fetch_add x, s", "halt"], &["t0@0: a timestamp is used as an integer"]);
}

#[test]
fn arrays_are_of_one_type() {
    check("location x = 0\nlocation y: timestamp = 0\narray a = x of 2", &["array `a` mixes timestamps and integers"]);
    check_code(&["b[a of 2] := 1", "halt"], &["t0@0: a local array mixes timestamps and integers"]);
}

#[test]
fn conditions_of_checks_are_typed_too() {
    let tables = "location x = 0\nlocation clk: timestamp = 0\n";
    check(&format!("{tables}check never (clk > 2) \"\""), &[]);
    check(&format!("{tables}check never (clk > x) \"\""), &["a timestamp is compared with an integer"]);
    check(&format!("{tables}check never clk \"\""), &["a timestamp is used as a condition"]);
}

#[test]
fn the_setup_thread_exists() {
    check("thread p\n@0: halt\nsetup p", &[]);
    check("thread p\n@0: halt\nsetup #1", &["setup: there is no thread t1"]);
}

#[test]
fn allowed_outcomes_fit_the_columns() {
    let tables = "location x = 0\nlocation y = 0\nobserve x = x\nobserve y = y\n";
    check(&format!("{tables}check observations\ncheck observations (0, 1) (2, 3)"), &[]);
    let wrong = format!("{tables}check observations (0, 1) (1, 2, 3)");
    check(&wrong, &["check observations: an outcome of 3 values for 2 columns"]);
}

#[test]
fn gaps_are_hit_by_indices_only() {
    let memory = "location g: gap = 0\nlocation x = 0\nlocation h: gap = 0\narray m = g of 3\n";
    let thread = |op: &str| format!("{memory}thread p\nregister a = 0\n@0: {op}\n@1: halt");
    check(&thread("a := load m[target(a)]"), &[]);
    check(&thread("store m[a], (a + 1)"), &[]);
    check(&thread("a := load h"), &["t0@0: location g2 is a gap"]);
    check(&thread("a := 0\nregister b: gap = 0"), &["t0: register `b` is a gap"]);
    check(&format!("{memory}observe g = g"), &["observed `g`: location g0 is a gap"]);
    check(&format!("{memory}check never h \"h\""), &["check `h`: location g2 is a gap"]);
    check(&format!("{memory}transactional g"), &["transactional variable g0 is a gap"]);
    let mixed = "location g: gap = 0\nlocation t: timestamp = 0\narray m = g of 2";
    check(mixed, &["array `m` mixes timestamps and integers"]);
}

#[test]
fn integers_have_a_width() {
    check_code(&["a := wrap_u1(fit_i64(a))", "limit defined(a) \"a\"", "halt"], &[]);
    check_code(&["a := wrap_u0(1)", "halt"], &["t0@0: `wrap_u0`: integers have 1 to 64 bits"]);
    check_code(&["a := fit_i65(a)", "halt"], &["t0@0: `fit_i65`: integers have 1 to 64 bits"]);
    check_code(&["limit s \"s\"", "halt"], &["t0@0: a timestamp is used as a condition"]);
}

/// Broken ids must not keep the other checks from running, let alone make them panic.
#[test]
fn random_programs_are_judged_without_panic() {
    let mut random = Random::new(0x7e57);
    let count = |program| verify(&program).err().map_or(0, |errors| errors.len());
    let errors: usize = (0..4_000).map(|_| count(random.program())).sum();
    assert!(errors > 4_000, "only {errors} violations in thousands of random programs");
}
