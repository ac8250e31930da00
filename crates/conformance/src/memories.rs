//! Random transactional memories, most of them wrong, and whether two searches find the same about them.
//!
//! What they do makes use of everything that a search does to states beside taking steps: locks that hold names of threads, clocks and versions that are
//! compared and copied, variables that are treated alike or not, sections, choices of clients, aborts and rollbacks.

use cyrano_engine::{Answer, Engine, Limits, Verdict};
use cyrano_ir::{Program, Property};
use cyrano_memory::Model;

use crate::corpus::judge;
use crate::stream::Stream;

/// What a memory may do with the variable at hand.
const LINES: [&str; 18] = [
    "l := owner[V];",
    "l := cas(owner[V], 0, self + 1);",
    "l := cas(owner[V], 0, self + 1); if l != 0 then pa;",
    "if l != 0 && l != self + 1 then pa;",
    "owner[V] := self + 1;",
    "owner[V] := 0;",
    "c := version[V];",
    "if t < c then pa;",
    "if t != c then pa;",
    "version[V] := t;",
    "t := clk;",
    "t := fetch_add(clk, 1); t := t + 1;",
    "atomic { t := clk; clk := t + 1; } t := t + 1;",
    "d := g[V];",
    "g[V] := 0;",
    "rs[V] := 1;",
    // What is added to an older timestamp may meet one that was further away before they were ranked.
    "t := t + 1;",
    "version[V] := c + 1;",
];

/// The text of the memory of a seed.
pub fn text(seed: u64) -> String {
    let mut stream = Stream::mixed(seed ^ 0x3e30);
    let mut lines = |most: usize, variable: &str| -> String {
        let count = 1 + stream.below(most);
        let line = |_| format!("        {}\n", LINES[stream.below(LINES.len())].replace('V', variable));
        (0..count).map(line).collect()
    };
    let (read, write, all) = (lines(4, "v"), lines(3, "v"), lines(4, "u"));
    let fixed = if seed.is_multiple_of(3) { lines(1, "0") } else { String::new() };
    // Whoever visits the variables in an order does not treat them alike.
    let end = if seed.is_multiple_of(2) {
        String::new()
    } else {
        format!("        foreach u in 0..vars-1 {{\n{all}        }}\n")
    };
    format!(
        "stm random {{
    shared owner[vars], version[vars]: timestamp, clk: timestamp = 1;
    data g[vars];
    local rs[vars], t: timestamp, c: timestamp, l, d;
    proc forget {{ foreach u in 0..vars-1 {{ rs[u] := 0; }} t := 0; c := 0; l := 0; d := 0; }}
    proc pa {{ forget; abort; }}
    read(v) {{\n{read}        d := g[v];\n        rfin;\n    }}
    write(v) {{\n{write}        g[v] := 0;\n    }}
    end {{\n{fixed}{end}        forget;\n        commit;\n    }}
}}
check opacity on sc;
"
    )
}

/// The memory of a seed, for so many variables.
pub fn program(seed: u64, vars: i128) -> Program {
    let text = text(seed);
    cyrano_rml::compile(&text, "random", &[("vars".to_owned(), vars)])
        .unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// What a comparison found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Same {
    /// Both searches were complete, with so many states.
    All(u64),
    /// Both found a shortest violation.
    Violated,
    /// One of them was not completed.
    Open,
}

/// Whether two searches that only differ in how steps are computed find the same: verdict, states, transitions, depth; what is shown replays. Where a violation is
/// found the depth is its length in steps. In accesses two shortest ones may differ, for a step may have several.
pub fn same(
    engines: [&dyn Engine; 2],
    program: &Program,
    model: &Model,
    property: &Property,
    limits: &Limits,
) -> Result<Same, String> {
    let [one, other] = engines.map(|engine| judge(engine, program, model, property, &limits.clone()));
    if [&one, &other].iter().any(|answer| answer.verdict == Verdict::Unknown) {
        return Ok(Same::Open);
    }
    let shows = |answer: &Answer| answer.execution.is_some();
    let counts = |answer: &Answer| (answer.stats.states, answer.stats.transitions, answer.stats.depth);
    let said = |answer: &Answer| (answer.verdict, shows(answer), answer.stats.depth, answer.reductions.clone());
    // Where something is found a search ends amid a level.
    let counted = shows(&one) || counts(&one) == counts(&other) && one.unreached == other.unreached;
    if said(&one) != said(&other) || !counted {
        let shown = |answer: &Answer| format!("{:?} {:?} {:?}", said(answer), counts(answer), answer.reason);
        return Err(format!("under {}: {}, but {}", model.name, shown(&one), shown(&other)));
    }
    Ok(if shows(&one) { Same::Violated } else { Same::All(one.stats.states) })
}
