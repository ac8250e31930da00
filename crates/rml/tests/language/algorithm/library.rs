//! The library's algorithms, each with one change. What their headers promise is checked with all engines, in `crates/conformance`.

use super::*;

/// Whether a library's algorithm with one change is opaque for all clients of its size, in order.
fn changed(name: &str, from: &str, to: &str) -> Verdict {
    let path = format!("{}/../../library/tm-objects/{name}.rml", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("a file");
    assert!(source.contains(from), "{name} has no `{from}`");
    // What has no instructions any more cannot be ordered, and in order nothing depends on it.
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("order "));
    let source = lines.collect::<Vec<_>>().join("\n");
    let tests = tests(&source.replace(from, to));
    let test = tests.iter().find(|test| test.clients.is_some()).expect("a test for all clients");
    ask(&test.program, "inorder", Question::Holds(&test.program.checks[0].property)).verdict
}

#[test]
fn mutants_are_caught() {
    for (name, from, to) in [
        ("core_mcrt_repaired", "N02: ver[i].write(cver + 1);", "N02: skip;"),
        ("core_mcrt_repaired", "C09: ver[i].write(cver + 1);", "C09: skip;"),
        ("core_mcrt_repaired", "(locked && k not in uset) || seen != cver", "locked && k not in uset"),
        ("core_mcrt_repaired", "A03: r[i].write(v);", "A03: skip;"),
        ("core_dstm_fixed", "D04: state[owner].cas(running, aborted);", "D04: skip;"),
        ("core_dstm_fixed", "V10: if (v != now)", "V10: if (false)"),
        ("tl2", "C15: if ((locked && i not in held) || version > rv)", "C15: if (false)"),
        ("tl2", "C19: ver[i].write(wv);", "C19: skip;"),
        ("norec", "V08: if (now != v)", "V08: if (false)"),
        ("norec", "R09: if (time != snapshot)", "R09: if (false)"),
    ] {
        assert_eq!(changed(name, from, to), Verdict::Violated, "{name}: {from}");
    }
}
