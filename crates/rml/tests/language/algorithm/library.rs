//! The library's algorithms: what their headers promise.

use super::*;

/// The line `//@ TEST CRITERION MODEL: VERDICT`.
fn expectations(source: &str) -> Vec<(Vec<&str>, &str)> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("//@"));
    let split = lines.filter_map(|line| line.split_once(':'));
    split.map(|(what, verdict)| (what.split_whitespace().collect(), verdict.trim())).collect()
}

#[test]
fn headers_hold() {
    let folder = format!("{}/../../library/tm-objects", env!("CARGO_MANIFEST_DIR"));
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "rml") {
            continue;
        }
        files += 1;
        let source = std::fs::read_to_string(&path).expect("a file");
        assert!(cyrano_rml::algorithm::is_algorithm(&source), "{}", path.display());
        let tests = tests(&source);
        let expected = expectations(&source);
        assert!(!expected.is_empty(), "{} promises nothing", path.display());
        for (what, verdict) in expected {
            let [name, criterion, model] = what.as_slice() else { panic!("{}: {what:?}", path.display()) };
            let test = tests.iter().find(|test| test.name == *name).expect("a test");
            let mut checks = test.program.checks.iter();
            let check = checks.find(|check| check.property.criterion() == *criterion).expect("a check");
            assert!(check.models.iter().any(|known| known == model), "{}: {what:?}", path.display());
            let answer = ask(&test.program, model, Question::Holds(&check.property));
            // Out of order some take long; whoever runs the whole library has the patience.
            if answer.verdict == Verdict::Unknown && *model != "inorder" {
                continue;
            }
            let found = format!("{:?}", answer.verdict).to_lowercase();
            assert_eq!(found, verdict, "{}: {what:?}", path.display());
        }
    }
    assert!(files >= 8, "{files} files");
}

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
