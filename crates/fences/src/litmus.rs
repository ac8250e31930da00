//! Fences and orders in litmus tests: an instruction in a column of the table, a statement of a test in C, a stronger form of an access. The counterpart of
//! [`crate::source`] for herd's format.
//!
//! A fence in a column gets a row of its own, in which the other columns are empty.
//!
//! **Invariant:** as in [`crate::source`], an inserted fence's span is empty in the original and starts at its position. What looks like a place or an access here is only a
//! guess: whoever uses it compiles the text and looks whether it is the same program but for what was meant.

use std::ops::Range;

use cyrano_ir::{Fence, FenceSet};

use crate::fence::Position;
use crate::source::{Patched, Piece};
use crate::text::{AccessOrder, Stronger};

/// The language of a test: its first word.
pub fn arch(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// Whether a test is a table of instructions.
pub fn is_table(text: &str) -> bool {
    arch(text) != "C"
}

/// A fence as the language of a test writes it.
pub fn statement(text: &str, fence: Fence) -> Option<String> {
    let name = match fence {
        Fence::Named { name, at: None } => name.name(),
        Fence::Kinds(FenceSet::SS) => "sfence",
        _ => return None,
    };
    let written = match arch(text) {
        "X86" | "X86_64" if matches!(name, "mfence" | "sfence" | "lfence") => name.to_uppercase(),
        "AArch64" if name.starts_with("dmb.") => name.to_uppercase().replace('.', " "),
        "RISCV" if name == "fence.tso" => name.to_owned(),
        "RISCV" => {
            let (before, after) = name.strip_prefix("fence.")?.split_once('.')?;
            format!("fence {before},{after}")
        }
        "PPC" if matches!(name, "sync" | "lwsync" | "eieio") => name.to_owned(),
        "C" => match name.strip_prefix("thread_fence.") {
            Some(order) => format!("atomic_thread_fence(memory_order_{order});"),
            None if name.starts_with("smp_") => format!("{name}();"),
            None => return None,
        },
        _ => return None,
    };
    Some(written)
}

/// A row of the table: where it ends, behind its semicolon, and where its cells are.
struct Row {
    end: usize,
    cells: Vec<Range<usize>>,
}

/// The rows below the heads of the columns.
fn rows(text: &str) -> Vec<Row> {
    let Some(mut at) = head(text) else { return Vec::new() };
    let mut rows = Vec::new();
    while let Some(len) = text[at..].find(';') {
        let end = at + len + 1;
        let start = at + text[at..].len() - text[at..].trim_start().len();
        let ends = ["exists", "~exists", "forall", "locations", "filter", "observed", "<<", "(*"];
        if ends.iter().any(|word| text[start.min(end)..].starts_with(word)) {
            break;
        }
        rows.push(Row { end, cells: cells(text, at..end - 1) });
        at = end;
    }
    rows
}

/// The end of the row of heads, `P0 | P1 ;`.
fn head(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let rest = line.trim_start().strip_prefix("P0").map(str::trim_start);
        if rest.is_some_and(|rest| rest.starts_with(['|', ';'])) {
            return line.find(';').map(|end| at + end + 1);
        }
        at += line.len();
    }
    None
}

fn cells(text: &str, row: Range<usize>) -> Vec<Range<usize>> {
    let mut start = row.start;
    let mut cells = Vec::new();
    for cell in text[row].split('|') {
        cells.push(start..start + cell.len());
        start += cell.len() + 1;
    }
    cells
}

/// Behind each instruction of each column but the last one.
pub fn gaps(text: &str) -> Vec<Position> {
    let rows = rows(text);
    let mut found = Vec::new();
    for column in 0..rows.iter().map(|row| row.cells.len()).max().unwrap_or(0) {
        let own =
            rows.iter().filter_map(|row| row.cells.get(column)).filter(|cell| !text[(*cell).clone()].trim().is_empty());
        let mut ends: Vec<usize> = own.map(|cell| cell.start + text[cell.clone()].trim_end().len()).collect();
        ends.pop();
        let line = |at: usize| 1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        let program = || Some(format!("P{column}"));
        found.extend(ends.into_iter().map(|at| Position { at, line: line(at), program: program() }));
    }
    found.sort();
    found
}

/// Inserts instructions at different gaps; one that is at no gap is left out.
pub fn write(text: &str, placed: &[(Position, String)]) -> Patched {
    let mut patched = Patched { text: String::with_capacity(text.len() + 80 * placed.len()), pieces: Vec::new() };
    let mut done = 0;
    for row in rows(text) {
        for (column, cell) in row.cells.iter().enumerate() {
            let here = |position: &Position| cell.contains(&position.at) || position.at == cell.end;
            for (position, statement) in placed.iter().filter(|(position, _)| here(position)) {
                patched.text.push_str(&text[done..row.end]);
                done = row.end;
                let piece = new_row(text, &row, column, statement);
                patched.pieces.push(Piece { start: patched.text.len(), len: piece.len(), at: position.at });
                patched.text.push_str(&piece);
            }
        }
    }
    patched.text.push_str(&text[done..]);
    patched
}

/// A row with one instruction, laid out like another one.
fn new_row(text: &str, row: &Row, column: usize, statement: &str) -> String {
    let cell = |(number, like): (usize, &Range<usize>)| {
        let like = text[like.clone()].trim_start_matches('\n');
        let lead = like.len() - like.trim_start().len();
        let own = if number == column { format!("{}{statement} ", &like[..lead.min(1)]) } else { String::new() };
        format!("{own:width$}", width = like.chars().count())
    };
    let cells: Vec<String> = row.cells.iter().enumerate().map(cell).collect();
    format!("\n{};", cells.join("|"))
}

/// Stronger ways to write the access that stands here.
pub fn stronger(text: &str, access: Range<usize>) -> Vec<Stronger> {
    let Some(written) = text.get(access.clone()) else { return Vec::new() };
    let word = written.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_').next().unwrap_or_default();
    let first = access.start..access.start + word.len();
    let instead = |found: Vec<(String, AccessOrder)>| {
        let way = |(text, order)| Stronger { range: first.clone(), text, order };
        found.into_iter().map(way).collect()
    };
    match arch(text) {
        "AArch64" => instead(arm(word)),
        "RISCV" => instead(riscv(word)),
        "C" => stronger_in_c(text, access),
        _ => Vec::new(),
    }
}

/// Arm's instructions with `A` and `L`.
fn arm(word: &str) -> Vec<(String, AccessOrder)> {
    let ways = |ways: &[(&str, AccessOrder)]| ways.iter().map(|(word, order)| ((*word).to_owned(), *order)).collect();
    use AccessOrder::{Acquire, AcquirePc, AcquireRelease, Release};
    match word.to_uppercase().as_str() {
        "LDR" => ways(&[("LDAPR", AcquirePc), ("LDAR", Acquire)]),
        "LDAPR" => ways(&[("LDAR", Acquire)]),
        "STR" => ways(&[("STLR", Release)]),
        "LDXR" => ways(&[("LDAXR", Acquire)]),
        "STXR" => ways(&[("STLXR", Release)]),
        plain if plain == "SWP" || plain == "CAS" || plain.starts_with("LD") && plain.len() >= 5 => {
            let with = |end: &str, order| (format!("{plain}{end}"), order);
            vec![with("A", Acquire), with("L", Release), with("AL", AcquireRelease)]
        }
        _ => Vec::new(),
    }
}

/// RISC-V's atomic instructions with `.aq` and `.rl`; plain loads and stores do not have them.
fn riscv(word: &str) -> Vec<(String, AccessOrder)> {
    let lower = word.to_lowercase();
    let atomic = lower.starts_with("amo") || lower.starts_with("lr.") || lower.starts_with("sc.");
    if !atomic || lower.matches('.').count() != 1 {
        return Vec::new();
    }
    let with = |end: &str, order| (format!("{word}.{end}"), order);
    use AccessOrder::{Acquire, AcquireRelease, Release};
    vec![with("aq", Acquire), with("rl", Release), with("aqrl", AcquireRelease)]
}

/// C11's orders and the kernel's functions, wherever they stand in this range.
pub fn stronger_in_c(text: &str, access: Range<usize>) -> Vec<Stronger> {
    use AccessOrder::{Acquire, AcquireRelease, Release, SequentiallyConsistent};
    const C11: [(&str, AccessOrder); 4] =
        [("acquire", Acquire), ("release", Release), ("acq_rel", AcquireRelease), ("seq_cst", SequentiallyConsistent)];
    const KERNEL: [(&str, &str, AccessOrder); 2] =
        [("READ_ONCE(", "smp_load_acquire(", Acquire), ("WRITE_ONCE(", "smp_store_release(", Release)];
    let Some(written) = text.get(access.clone()) else { return Vec::new() };
    let orders = written.match_indices("memory_order_").flat_map(|(at, _)| {
        let start = access.start + at;
        let order =
            text[start..access.end].split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let now = C11.iter().find(|(name, _)| order.ends_with(name)).map(|(_, now)| *now);
        let more = C11.iter().filter(move |(_, more)| now.is_none_or(|now| now != *more && more.is_at_least(now)));
        let range = start..start + order.len();
        more.map(move |(name, order)| {
            let text = format!("memory_order_{name}");
            Stronger { range: range.clone(), text, order: *order }
        })
    });
    let orders: Vec<Stronger> = orders.collect();
    if !orders.is_empty() {
        return orders;
    }
    let way = |(plain, ordered, order): &(&str, &str, AccessOrder)| {
        let start = access.start + written.find(plain)?;
        let inside = start + plain.len();
        // `READ_ONCE(*x)` names the location, `smp_load_acquire(x)` its address.
        let (end, address) = if text[inside..].starts_with('*') { (inside + 1, "") } else { (inside, "&") };
        Some(Stronger { range: start..end, text: format!("{ordered}{address}"), order: *order })
    };
    KERNEL.iter().filter_map(way).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MP: &str = "AArch64 MP\n{ 0:X1=x; }\n P0          | P1          ;\n MOV W0,#1   | LDR W0,[X3] ;\n STR W0,[X1] |             ;\n STR W0,[X3] | LDR W2,[X1] ;\nexists (1:X0=1 /\\ 1:X2=0)\n";

    #[test]
    fn a_fence_gets_a_row() {
        let gaps = gaps(MP);
        let told: Vec<(usize, Option<&str>)> = gaps.iter().map(|gap| (gap.line, gap.program.as_deref())).collect();
        assert_eq!(told, [(4, Some("P0")), (4, Some("P1")), (5, Some("P0"))]);
        let fence = Fence::named("dmb.ishst").expect("a fence");
        let statement = statement(MP, fence).expect("Arm has it");
        let patched = write(MP, &[(gaps[2].clone(), statement)]);
        let expected =
            MP.replace("STR W0,[X1] |             ;\n", "STR W0,[X1] |             ;\n DMB ISHST   |             ;\n");
        assert_eq!(patched.text, expected);
    }

    #[test]
    fn statements_of_every_language() {
        let check = |arch: &str, name: &str, expected: Option<&str>| {
            let fence = Fence::named(name).expect("a fence");
            assert_eq!(statement(arch, fence).as_deref(), expected, "{arch} {name}");
        };
        check("RISCV X", "fence.r.rw", Some("fence r,rw"));
        check("RISCV X", "fence.tso", Some("fence.tso"));
        check("PPC X", "lwsync", Some("lwsync"));
        check("PPC X", "dmb.ish", None);
        check("X86 X", "mfence", Some("MFENCE"));
        check("C X", "thread_fence.acq_rel", Some("atomic_thread_fence(memory_order_acq_rel);"));
        check("C X", "smp_wmb", Some("smp_wmb();"));
    }

    fn check(text: &str, access: &str, expected: &[&str]) {
        let at = text.find(access).expect("it is there");
        let found = stronger(text, at..at + access.len());
        let told = |way: &Stronger| {
            format!("{}{}{}", &text[at..way.range.start], way.text, &text[way.range.end..at + access.len()])
        };
        assert_eq!(found.iter().map(told).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn stronger_accesses() {
        check(MP, "LDR W0,[X3]", &["LDAPR W0,[X3]", "LDAR W0,[X3]"]);
        check(MP, "STR W0,[X1]", &["STLR W0,[X1]"]);
        check("RISCV X\n lw x5,0(x6) ;", "lw x5,0(x6)", &[]);
        check("RISCV X\n lr.w x5,(x6) ;", "lr.w x5,(x6)", &["lr.w.aq x5,(x6)", "lr.w.rl x5,(x6)", "lr.w.aqrl x5,(x6)"]);
        let load = "atomic_load_explicit(x, memory_order_acquire)";
        let acq_rel = load.replace("acquire", "acq_rel");
        check(&format!("C X {load};"), load, &[&acq_rel, &load.replace("acquire", "seq_cst")]);
        check("C X WRITE_ONCE(*x, 1);", "WRITE_ONCE(*x, 1)", &["smp_store_release(x, 1)"]);
        check("C X r = READ_ONCE(y);", "READ_ONCE(y)", &["smp_load_acquire(&y)"]);
    }
}
