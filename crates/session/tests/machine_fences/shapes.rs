//! The classical shapes in every language.

use crate::{Slot, Template, Way};

/// Names, costs and bits (load-load 1, load-store 2, store-load 4, store-store 8) of a machine's fences.
type Fences = &'static [(&'static str, u32, u32)];

const ARM: Fences = &[("dmb.ishld", 2, 3), ("dmb.ishst", 3, 8), ("dmb.ish", 8, 15)];
const POWER: Fences = &[("lwsync", 2, 11), ("sync", 8, 15)];
const RISCV: Fences = &[
    ("fence.r.r", 2, 1),
    ("fence.r.w", 2, 2),
    ("fence.w.w", 2, 8),
    ("fence.r.rw", 3, 3),
    ("fence.rw.w", 3, 10),
    ("fence.tso", 4, 11),
    ("fence.w.r", 6, 4),
    ("fence.rw.r", 7, 5),
    ("fence.w.rw", 7, 12),
    ("fence.rw.rw", 8, 15),
];
const C11: Fences = &[
    ("thread_fence.acquire", 3, 3),
    ("thread_fence.release", 3, 10),
    ("thread_fence.acq_rel", 4, 11),
    ("thread_fence.seq_cst", 8, 15),
];
const KERNEL: Fences = &[("smp_rmb", 3, 1), ("smp_wmb", 3, 8), ("smp_mb", 8, 15)];
const TSO: Fences = &[("mfence", 8, 15)];
const PSO: Fences = &[("store-store", 2, 8), ("mfence", 8, 15)];

/// A shape: the statements of each thread, and what must not come out.
type Shape = (&'static str, &'static [&'static [&'static str]], &'static str);

const SHAPES: [Shape; 8] = [
    ("MP", &[&["x := 1", "y := 1"], &["a := y", "b := x"]], "a = 1 && b = 0"),
    ("SB", &[&["x := 1", "a := y"], &["y := 1", "b := x"]], "a = 0 && b = 0"),
    ("LB", &[&["a := x", "y := 1"], &["b := y", "x := 1"]], "a = 1 && b = 1"),
    ("S", &[&["x := 2", "y := 1"], &["a := y", "x := 1"]], "a = 1 && x = 2"),
    ("R", &[&["x := 1", "y := 1"], &["y := 2", "a := x"]], "y = 2 && a = 0"),
    ("2+2W", &[&["x := 1", "y := 2"], &["y := 1", "x := 2"]], "x = 1 && y = 1"),
    ("WRC", &[&["x := 1"], &["a := x", "y := 1"], &["b := y", "c := x"]], "a = 1 && b = 1 && c = 0"),
    (
        "IRIW",
        &[&["x := 1"], &["y := 1"], &["a := x", "b := y"], &["c := y", "d := x"]],
        "a = 1 && b = 0 && c = 1 && d = 0",
    ),
];

/// A shape in RML, each statement on a line of its own, with a slot behind each but the last one of a thread.
fn rml((_, threads, outcome): &Shape, fences: Fences) -> Template {
    let mut text = "threads {\n  shared x, y;\n  local a, b, c, d;\n".to_owned();
    let mut slots = Vec::new();
    for (number, statements) in threads.iter().enumerate() {
        text.push_str(&format!("  thread p{number} {{\n"));
        for (at, statement) in statements.iter().enumerate() {
            text.push_str(&format!("    {statement};"));
            if at + 1 < statements.len() {
                let written =
                    |name: &str| if name == "mfence" { " mfence;".to_owned() } else { format!(" fence({name});") };
                slots.push(slot(&text, &format!("p{number}"), fences, &written));
            }
            text.push('\n');
        }
        text.push_str("  }\n");
    }
    text.push_str(&format!("}}\ncheck never ({outcome}) on sc;\n"));
    Template { file: "shape.rml", text, slots }
}

/// A slot for a fence at the end of a text.
fn slot(text: &str, thread: &str, fences: Fences, written: &dyn Fn(&str) -> String) -> Slot {
    let way =
        |(kind, cost, bits): &(&'static str, u32, u32)| Way { kind, text: written(kind), cost: *cost, bits: *bits };
    let line = text.matches('\n').count() + 1;
    Slot { range: text.len()..text.len(), line, thread: thread.to_owned(), ways: fences.iter().map(way).collect() }
}

/// The cheapest set of a shape on a model, as `line kind`s without the lines.
fn cheapest(shape: &str, model: &str, fences: Fences) -> Vec<String> {
    let shape = SHAPES.iter().find(|(name, ..)| *name == shape).expect("a shape");
    let report = rml(shape, fences).check(model);
    report.sets.first().into_iter().flatten().map(|info| info.kind.clone()).collect()
}

#[test]
fn arm() {
    let check = |shape: &str, expected: &[&str]| assert_eq!(cheapest(shape, "armv8", ARM), expected, "{shape}");
    check("MP", &["dmb.ishst", "dmb.ishld"]);
    check("SB", &["dmb.ish", "dmb.ish"]);
    check("LB", &["dmb.ishld", "dmb.ishld"]);
    check("S", &["dmb.ishst", "dmb.ishld"]);
    check("R", &["dmb.ishst", "dmb.ish"]);
    check("2+2W", &["dmb.ishst", "dmb.ishst"]);
    check("WRC", &["dmb.ishld", "dmb.ishld"]);
    check("IRIW", &["dmb.ishld", "dmb.ishld"]);
}

/// Where Arm's writes reach everybody at once, Power's need heavy fences.
#[test]
fn power() {
    let check = |shape: &str, expected: &[&str]| assert_eq!(cheapest(shape, "power", POWER), expected, "{shape}");
    check("MP", &["lwsync", "lwsync"]);
    check("SB", &["sync", "sync"]);
    check("LB", &["lwsync", "lwsync"]);
    check("S", &["lwsync", "lwsync"]);
    check("R", &["sync", "sync"]);
    check("2+2W", &["lwsync", "lwsync"]);
    check("WRC", &["lwsync", "lwsync"]);
    check("IRIW", &["sync", "sync"]);
}

#[test]
fn riscv() {
    let check = |shape: &str, expected: &[&str]| assert_eq!(cheapest(shape, "riscv", RISCV), expected, "{shape}");
    check("MP", &["fence.w.w", "fence.r.r"]);
    check("SB", &["fence.w.r", "fence.w.r"]);
    check("LB", &["fence.r.w", "fence.r.w"]);
    check("S", &["fence.w.w", "fence.r.w"]);
    check("R", &["fence.w.w", "fence.w.r"]);
    check("2+2W", &["fence.w.w", "fence.w.w"]);
    check("WRC", &["fence.r.w", "fence.r.r"]);
    check("IRIW", &["fence.r.r", "fence.r.r"]);
}

#[test]
fn buffers_and_languages() {
    for shape in &SHAPES {
        rml(shape, TSO).check("cat:tso");
        rml(shape, PSO).check("cat:pso");
        rml(shape, C11).check("imm");
    }
    assert_eq!(cheapest("SB", "cat:tso", TSO), ["mfence", "mfence"]);
    assert_eq!(cheapest("2+2W", "cat:pso", PSO), ["store-store", "store-store"]);
    assert_eq!(cheapest("MP", "imm", C11), ["thread_fence.release", "thread_fence.acquire"]);
}

/// Marks of slots in a text: `§` is a gap, and a word of `orders` after `@` can be stronger.
fn marked(
    file: &'static str,
    text: &str,
    fences: Fences,
    write: &dyn Fn(&str) -> String,
    orders: &[Order],
) -> Template {
    let (mut out, mut slots, mut thread) = (String::new(), Vec::new(), String::new());
    let mut rest = text;
    while let Some(at) = rest.find(['§', '@', 'P']) {
        out.push_str(&rest[..at]);
        let mark = rest[at..].chars().next().expect("found");
        rest = &rest[at + mark.len_utf8()..];
        match mark {
            '§' => slots.push(slot(&out, &thread, fences, write)),
            '@' => {
                let (word, ways) = orders.iter().find(|(word, _)| rest.starts_with(word)).expect("an order");
                let way = |(kind, text, cost, bits): &(&'static str, &str, u32, u32)| Way {
                    kind,
                    text: (*text).to_owned(),
                    cost: *cost,
                    bits: *bits,
                };
                let (line, thread) = (out.matches('\n').count() + 1, thread.clone());
                let range = out.len()..out.len() + word.len();
                slots.push(Slot { range, line, thread, ways: ways.iter().map(way).collect() });
            }
            _ => {
                out.push('P');
                thread = format!("P{}", &rest[..1]);
            }
        }
    }
    out.push_str(rest);
    Template { file, text: out, slots }
}

/// A word, and what can stand for it: what the report calls it, what is written, its cost, its bits.
type Order = (&'static str, &'static [(&'static str, &'static str, u32, u32)]);

/// A statement with a slot behind each but the last of a thread, in C11's or the kernel's C.
fn c(threads: &[&[&str]], outcome: &str, ty: &str) -> String {
    let mut text = "C shape\n{}\n".to_owned();
    for (number, statements) in threads.iter().enumerate() {
        text.push_str(&format!("P{number}({ty} *x, {ty} *y) {{\n"));
        for (at, statement) in statements.iter().enumerate() {
            text.push_str(&format!("  {statement};{}\n", if at + 1 < statements.len() { "§" } else { "" }));
        }
        text.push_str("}\n");
    }
    format!("{text}exists ({outcome})\n")
}

const LOAD: &[(&str, &str, u32, u32)] =
    &[("memory_order_acquire", "memory_order_acquire", 2, 1), ("memory_order_seq_cst", "memory_order_seq_cst", 6, 7)];
const STORE: &[(&str, &str, u32, u32)] =
    &[("memory_order_release", "memory_order_release", 2, 2), ("memory_order_seq_cst", "memory_order_seq_cst", 6, 7)];

/// Orders and fences of C11 together. The words that mark loads and stores are replaced by the order that both start with.
fn c11(threads: &[&[&str]], outcome: &str) -> Template {
    let orders: [Order; 2] = [("memory_order_relaxed/*l*/", LOAD), ("memory_order_relaxed/*s*/", STORE)];
    let written = |name: &str| {
        format!(" atomic_thread_fence(memory_order_{});", name.strip_prefix("thread_fence.").expect("a fence of C11"))
    };
    marked("shape.litmus", &c(threads, outcome, "atomic_int"), C11, &written, &orders)
}

const WX: &str = "atomic_store_explicit(x, 1, @memory_order_relaxed/*s*/)";
const WY: &str = "atomic_store_explicit(y, 1, @memory_order_relaxed/*s*/)";

#[test]
fn c11_message_passing() {
    let reader = [
        "int a = atomic_load_explicit(y, @memory_order_relaxed/*l*/)",
        "int b = atomic_load_explicit(x, @memory_order_relaxed/*l*/)",
    ];
    let report = c11(&[&[WX, WY], &reader], "1:a=1 /\\ 1:b=0").check("rc11");
    let words: Vec<&str> = report.sets[0].iter().map(|info| info.kind.as_str()).collect();
    assert_eq!(words, ["memory_order_release", "memory_order_acquire"]);
    assert!(report.sets[0].iter().all(|info| info.instead_of.as_deref() == Some("memory_order_relaxed")));
}

#[test]
fn c11_store_buffering() {
    let load = |to: &str, from: &str| format!("int {to} = atomic_load_explicit({from}, @memory_order_relaxed/*l*/)");
    let (a, b) = (load("a", "y"), load("b", "x"));
    let report = c11(&[&[WX, &a], &[WY, &b]], "0:a=0 /\\ 1:b=0").check("rc11");
    assert!(report.sets.len() > 1 && report.sets[0].iter().all(|info| info.kind == "thread_fence.seq_cst"));
}

#[test]
fn kernel() {
    const ONCE: [Order; 2] = [
        ("WRITE_ONCE(*", &[("smp_store_release", "smp_store_release(", 2, 2)]),
        ("READ_ONCE(*", &[("smp_load_acquire", "smp_load_acquire(", 2, 1)]),
    ];
    let text = c(
        &[&["@WRITE_ONCE(*x, 1)", "@WRITE_ONCE(*y, 1)"], &["int a = @READ_ONCE(*y)", "int b = @READ_ONCE(*x)"]],
        "1:a=1 /\\ 1:b=0",
        "int",
    );
    let report = marked("shape.litmus", &text, KERNEL, &|name| format!(" {name}();"), &ONCE).check("lkmm");
    assert_eq!(report.sets.len(), 4);
}

/// A table: the instructions of each thread, its fences as rows of their own behind each but the last of `from` on, and orders for words at the start of a cell.
fn table(
    head: &str,
    threads: [&[&str]; 2],
    outcome: &str,
    (fences, from): (Fences, usize),
    orders: &[Order],
) -> Template {
    let mut text = format!("{head}\n P0 | P1 ;\n");
    let mut slots = Vec::new();
    let rows = threads[0].len().max(threads[1].len());
    for row in 0..rows {
        let line = text.matches('\n').count() + 1;
        for (number, thread) in threads.iter().enumerate() {
            let cell = thread.get(row).copied().unwrap_or_default();
            text.push(' ');
            if let Some((word, ways)) = orders.iter().find(|(word, _)| cell.starts_with(word)) {
                let way = |(kind, text, cost, bits): &(&'static str, &str, u32, u32)| Way {
                    kind,
                    text: (*text).to_owned(),
                    cost: *cost,
                    bits: *bits,
                };
                let range = text.len()..text.len() + word.len();
                slots.push(Slot { range, line, thread: format!("P{number}"), ways: ways.iter().map(way).collect() });
            }
            text.push_str(&format!("{cell} {}", if number == 0 { "|" } else { ";" }));
        }
        for (number, thread) in threads.iter().enumerate().filter(|(_, thread)| row >= from && row + 1 < thread.len()) {
            let written = |name: &str| {
                let name = instruction(head, name);
                if number == 0 { format!("\n {name} | ;") } else { format!("\n | {name} ;") }
            };
            assert!(row < thread.len());
            slots.push(slot(&text, &format!("P{number}"), fences, &written));
        }
        text.push('\n');
    }
    Template { file: "shape.litmus", text: format!("{text}exists ({outcome})\n"), slots }
}

/// A fence as a machine writes it.
fn instruction(head: &str, name: &str) -> String {
    match head.split(' ').next() {
        Some("AArch64") => name.replace("dmb.", "DMB "),
        Some("RISCV") if name != "fence.tso" => {
            let (before, after) = name.trim_start_matches("fence.").split_once('.').expect("two halves");
            format!("fence {before},{after}")
        }
        _ => name.to_owned(),
    }
}

const NO_ORDERS: &[Order] = &[];

#[test]
fn arm_assembly() {
    const PLAIN: &[Order] =
        &[("LDR", &[("LDAPR", "LDAPR", 1, 1), ("LDAR", "LDAR", 2, 3)]), ("STR", &[("STLR", "STLR", 2, 4)])];
    let head = "AArch64 shape\n{ 0:X1=x; 0:X3=y; 1:X1=x; 1:X3=y; }";
    let set = "MOV W0,#1";
    let mp = [&[set, "STR W0,[X1]", "STR W0,[X3]"][..], &[set, "LDR W4,[X3]", "LDR W5,[X1]"]];
    let report = table(head, mp, "1:X4=1 /\\ 1:X5=0", (ARM, 1), PLAIN).check("armv8");
    let words: Vec<&str> = report.sets[0].iter().map(|info| info.kind.as_str()).collect();
    assert_eq!(words, ["LDAPR", "STLR"]);
    let sb = [&[set, "STR W0,[X1]", "LDR W4,[X3]"][..], &[set, "STR W0,[X3]", "LDR W5,[X1]"]];
    let report = table(head, sb, "0:X4=0 /\\ 1:X5=0", (ARM, 1), PLAIN).check("armv8");
    let words: Vec<&str> = report.sets[0].iter().map(|info| info.kind.as_str()).collect();
    assert_eq!(words, ["STLR", "STLR", "LDAR", "LDAR"]);
}

#[test]
fn other_assembly() {
    let head = "PPC shape\n{ 0:r2=x; 0:r4=y; 1:r2=x; 1:r4=y; }";
    let set = "li r1,1";
    let mp = [&[set, "stw r1,0(r2)", "stw r1,0(r4)"][..], &[set, "lwz r5,0(r4)", "lwz r6,0(r2)"]];
    table(head, mp, "1:r5=1 /\\ 1:r6=0", (POWER, 1), NO_ORDERS).check("power");
    let head = "RISCV shape\n{ 0:x6=x; 0:x7=y; 1:x6=x; 1:x7=y; }";
    let set = "ori x5,x0,1";
    let sb = [&[set, "sw x5,0(x6)", "lw x8,0(x7)"][..], &[set, "sw x5,0(x7)", "lw x8,0(x6)"]];
    table(head, sb, "0:x8=0 /\\ 1:x8=0", (RISCV, 1), NO_ORDERS).check("riscv");
    let head = "X86 shape\n{ }";
    let sb = [&["MOV [x],$1", "MOV EAX,[y]"][..], &["MOV [y],$1", "MOV EAX,[x]"]];
    let report = table(head, sb, "0:EAX=0 /\\ 1:EAX=0", (TSO, 0), NO_ORDERS).check("cat:tso");
    assert_eq!(report.sets.len(), 1);
}
