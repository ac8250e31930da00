//! Bad input of every kind: a message that says what is wrong, exit code 2, and never a panic.

mod cli;

use cli::{Folder, SB};

/// Runs `line` and expects exit code 2, nothing on standard output, and `parts` in the message.
fn check(place: &Folder, line: &str, parts: &[&str]) {
    let done = place.run(line);
    assert_eq!(done.code, 2, "{line}: {done:?}");
    assert_eq!(done.stdout, "", "{line}");
    for part in parts {
        assert!(done.stderr.contains(part), "{line}: no `{part}` in\n{}", done.stderr);
    }
}

fn program(source: &str, parts: &[&str]) {
    let place = Folder::new(&[("a.rml", source)]);
    check(&place, "check a.rml", &[parts, &["a.rml"]].concat());
}

#[test]
fn programs() {
    program("threads { shared x; thread p { local r; r := z } }", &["z", "1 error in"]);
    program("threads { proc f(a) { skip } thread p { f(1, 2) } }", &["f", "error"]);
    program("threads { proc f() { f() } thread p { f() } }", &["recurs"]);
    program("threads { shared x; thread p { if x = 0 { skip } } }", &["load it into a local first"]);
    program("", &["no program in this file"]);
    program("\u{feff}\n", &["error"]);
    program("}}}}((((", &["error"]);
    program("threads { shared x; thread p { x := 1 } } check never (x = 0) on foo;", &["foo", "sc", "tso"]);
    program("threads { shared x; thread p { x := 1 } } check never (x = 0) on \"no.model\";", &["no.model"]);
}

#[test]
fn transactional_memories() {
    let stm = |read: &str, write: &str, end: &str| {
        format!(
            "stm S {{ shared s; data g[vars]; local l; read(v) {{ {read} }} write(v) {{ {write} }} end {{ {end} }} }}"
        )
    };
    let read = "l := g[v]; rfin";
    program(&stm(read, "g[v] := 1", "abort"), &["commit"]);
    program(&stm(read, "g[v] := 1; rfin", "commit"), &["rfin", "read"]);
    program(&stm(read, "skip", "rollback g[0] := 0; commit"), &["rollback"]);
    program(&stm(read, "rollback s := 0; g[v] := 1", "commit"), &["rollback"]);
    program(&stm("l := g[v]", "g[v] := 1", "commit"), &["rfin"]);
    program("threads { data g; thread p { g := 1 } }", &["data"]);
}

#[test]
fn histories() {
    let place =
        Folder::new(&[("a.txt", "history memory\n1 loda x\none rfin\n"), ("b.txt", "1 load x\n"), ("c.txt", "")]);
    check(&place, "history a.txt", &["loda", "one", "2 errors in a.txt"]);
    check(&place, "history b.txt", &["history memory"]);
    check(&place, "history c.txt", &["history memory"]);
    check(&place, "history missing.txt", &["no such file"]);
    check(&place, "history a.txt --criterion serial", &["opacity"]);
    check(&place, "spec compare foil-det foil-dat", &["did you mean `foil-det`"]);
    check(&place, "spec compare foil-det opacity --threads 3", &["3"]);
    check(&place, "spec compare foil-det opacity --vars 9", &["vars"]);
    check(&place, "tables nothing", &["foil"]);
}

#[test]
fn all_errors_are_reported_at_once() {
    program("threads { shared x; thread p { local r; r := z; r := w } }", &["`z`", "`w`", "2 errors in"]);
    let place = Folder::new(&[("a.rml", "threads { thread p { r := 1 } }"), ("b.rml", "nonsense")]);
    check(&place, "check a.rml b.rml", &["error in a.rml", "in b.rml"]);
}

#[test]
fn files() {
    let place = Folder::new(&[("sb.rml", SB), ("a.c", "int main;"), ("a.txt", "text"), ("noending", "text")]);
    place.write("latin.rml", b"// caf\xe9\n");
    place.write("binary.rml", &[0, 159, 146, 150]);
    place.write("large.rml", &vec![b' '; 10 << 20]);
    std::fs::create_dir(place.path("dir.rml")).expect("a folder can be made");
    check(&place, "check missing.rml", &["missing.rml", "no such file"]);
    check(&place, "check latin.rml", &["not UTF-8", "offset 6, line 1"]);
    check(&place, "check binary.rml", &["not UTF-8"]);
    check(&place, "check large.rml", &["too large", "2 MiB"]);
    check(&place, "check dir.rml", &["folder"]);
    check(&place, "check a.c", &["a.tests: there is no such file"]);
    check(&place, "check a.txt", &["expected `.rml`"]);
    check(&place, "check noending", &["expected `.rml`"]);
    check(&place, "check lib:litmus/sbb.rml", &["did you mean `lib:litmus/sb.rml`"]);
    check(&place, "outcomes missing.rml", &["no such file"]);
    check(&place, "library show nothing", &["no such file"]);
}

#[test]
fn usage() {
    let place = Folder::new(&[("sb.rml", SB), ("bad.model", "keep nothing at all")]);
    check(&place, "check sb.rml --model foo", &["foo", "serial, sc, tso, pso, rmo, sparc-rmo, relaxed"]);
    check(&place, "check sb.rml --model tos", &["Did you mean `tso`?"]);
    check(&place, "check sb.rml --model none.model", &["none.model", "no such file"]);
    check(&place, "check sb.rml --model bad.model", &["in bad.model"]);
    check(&place, "outcomes sb.rml --model foo", &["foo"]);
    check(&place, "models foo", &["foo"]);
    check(&place, "check sb.rml --criterion opaque", &["opacity", "assertions"]);
    check(&place, "check sb.rml --engine fast", &["explore"]);
    check(&place, "check sb.rml --set N", &["NAME=VALUE"]);
    check(&place, "check sb.rml --set N=x", &["not an integer"]);
    check(&place, "check sb.rml --set N=3", &["no constant `N`", "declares none"]);
    check(&place, "check sb.rml --timeout=-1", &["--timeout"]);
    check(&place, "check sb.rml --workers 0", &["workers"]);
    check(&place, "check", &["FILE"]);
    check(&place, "frobnicate", &["frobnicate"]);
    check(&place, "man frobnicate", &["frobnicate"]);
}

#[test]
fn traces() {
    let place = Folder::new(&[("sb.rml", SB)]);
    place.run("check sb.rml --model tso --save-trace t.json");
    let good = place.read("t.json");
    place.write("bad.json", b"bug");
    place.write("cut.json", &good.as_bytes()[..good.len() / 2]);
    place.write("later.json", good.replace("cyrano.trace/2", "cyrano.trace/3").as_bytes());
    place.write("other.json", br#"{"schema":"cyrano.report/1"}"#);
    place.write("part.json", br#"{"schema":"cyrano.trace/1"}"#);
    place.write("thread.json", good.replace("\"thread\": \"p0\"", "\"thread\": \"p9\"").as_bytes());
    place.write("source.json", good.replace("shared x, y;", "shared x;").as_bytes());
    check(&place, "replay missing.json", &["no such file"]);
    check(&place, "replay bad.json", &["not JSON"]);
    check(&place, "replay cut.json", &["cut off"]);
    check(&place, "replay later.json", &["cyrano.trace/3", "cyrano.trace/2"]);
    check(&place, "replay other.json", &["cyrano.report/1", "cyrano.trace/2"]);
    check(&place, "replay part.json", &["missing field"]);
    check(&place, "replay thread.json", &["p9"]);
    check(&place, "replay source.json", &["`y`"]);
}
