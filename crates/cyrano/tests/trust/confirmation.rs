//! What is shown has been confirmed, or says that it has not.
//!
//! `view` and `report merge` used to show whatever a file said. A file from outside is replayed; what the reference interpreter does not confirm is
//! shown as NOT CONFIRMED, in every form.

use crate::cli::{self, Done, Folder};

/// The document that a page shows.
fn document(place: &Folder, page: &str) -> serde_json::Value {
    let html = place.read(page);
    let (_, rest) = html.split_once("id=\"data\">").expect("there is data");
    let (data, _) = rest.split_once("</script>").expect("it ends");
    serde_json::from_str(data).expect("it is JSON")
}

/// A place with the trace of a violation and a report that has it.
fn place() -> Folder {
    let place = Folder::new(&[("sb.rml", cli::SB)]);
    place.run("check sb.rml --model tso --criterion never --save-trace t.json");
    let report = place.run("check sb.rml --model tso --criterion never --format json");
    place.write("r.json", report.stdout.as_bytes());
    place
}

fn view(place: &Folder, file: &str) -> (Done, serde_json::Value) {
    let done = place.run(&format!("view {file} -o page.html --no-open"));
    (done, document(place, "page.html"))
}

#[test]
fn what_fits_is_shown_as_it_was() {
    let place = place();
    let (done, shown) = view(&place, "t.json");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{done:?}");
    assert_eq!(shown["confirmed"], true);
    let saved: serde_json::Value = serde_json::from_str(&place.read("t.json")).expect("it is JSON");
    assert_eq!(shown, saved);
    let (done, shown) = view(&place, "r.json");
    assert_eq!((done.code, &shown["checks"][0]["confirmed"]), (0, &true.into()));
    assert!(!place.read("page.html").contains("<title>NOT CONFIRMED"));
    let merged = place.run("report merge r.json");
    assert!(merged.code == 1 && !merged.stdout.contains("NOT CONFIRMED"), "{merged:?}");
}

/// A change of a saved trace that makes a lie of it.
fn tampered(place: &Folder, file: &str, from: &str, to: &str) {
    let text = place.read(file);
    assert!(text.contains(from), "{text}");
    place.write("bad.json", text.replacen(from, to, 1).as_bytes());
}

#[test]
fn a_tampered_trace_is_called_out() {
    let place = place();
    let changes = [
        // The first load took its value from nowhere.
        ("\"read\": 0", "\"read\": 7"),
        // Another statement.
        ("\"line\": 3", "\"line\": 4"),
        // Another claim.
        ("\"sentence\": \"", "\"sentence\": \"It is all wrong. "),
        // A program in which this cannot happen.
        ("x := 1; r1 := y", "x := 1; fence(store-load); r1 := y"),
        // No program at all.
        ("thread p0", "threat p0"),
        // It says of itself that somebody has confirmed it.
        ("\"read\": 0", "\"confirmed\": true, \"read\": 1"),
    ];
    for (from, to) in changes {
        for file in ["t.json", "r.json"] {
            tampered(&place, file, from, to);
            let (done, shown) = view(&place, "bad.json");
            assert_eq!(done.code, 2, "{from} {file}: {done:?}");
            assert!(done.stderr.contains("NOT CONFIRMED"), "{from} {file}: {}", done.stderr);
            let told = if file == "t.json" { &shown["confirmed"] } else { &shown["checks"][0]["confirmed"] };
            assert_eq!(told, &false, "{from} {file}");
            assert!(place.read("page.html").contains("<title>NOT CONFIRMED"), "{from} {file}");
        }
        // The last one is the report.
        let merged = place.run("report merge bad.json");
        assert_eq!(merged.code, 1, "a verdict keeps its code: {merged:?}");
        assert!(
            merged.stdout.contains("NOT CONFIRMED") && merged.stderr.contains("NOT CONFIRMED"),
            "{from}: {merged:?}"
        );
        let json = cli::json(&place.run("report merge bad.json --format json"));
        assert_eq!(
            (&json["checks"][0]["confirmed"], &json["checks"][0]["trace"]["confirmed"]),
            (&false.into(), &false.into())
        );
        for format in ["sarif", "junit"] {
            let told = place.run(&format!("report merge bad.json --format {format}"));
            assert!(told.stdout.contains("NOT CONFIRMED"), "{from} {format}");
        }
        assert!(place.run("report merge bad.json --quiet").stdout.contains("NOT CONFIRMED"), "{from}");
    }
}

#[test]
fn an_execution_has_to_be_that_of_its_check() {
    let place = place();
    let changes = [
        ("\"verdict\": \"violated\"", "\"verdict\": \"verified\"", "another kind"),
        ("\"model\": \"tso\"", "\"model\": \"sc\"", "another model"),
        ("\"file\": \"sb.rml\"", "\"file\": \"other.rml\"", "another file"),
    ];
    for (from, to, part) in changes {
        tampered(&place, "r.json", from, to);
        let (done, _) = view(&place, "bad.json");
        assert!(done.code == 2 && done.stderr.contains(part), "{done:?}");
        let merged = place.run("report merge bad.json");
        assert!(merged.stderr.contains(part), "{merged:?}");
    }
}

#[test]
fn a_replay_that_fails_is_not_confirmed_in_any_form() {
    let place = place();
    tampered(&place, "t.json", "\"read\": 0", "\"read\": 7");
    let done = place.run("replay bad.json --html p.html --svg p.svg --dot p.dot --mermaid p.mmd");
    assert_eq!(done.code, 2, "{done:?}");
    assert!(document(&place, "p.html")["trace"]["confirmed"] == false);
    for file in ["p.svg", "p.dot", "p.mmd"] {
        assert!(place.read(file).contains("NOT CONFIRMED"), "{file}: {}", place.read(file));
    }
}

#[test]
fn a_violated_check_without_an_execution_is_not_confirmed() {
    let place = Folder::new(&[("sb.rml", cli::SB)]);
    let report = place.run("check sb.rml --model sc --criterion never --format json");
    place.write("r.json", report.stdout.as_bytes());
    tampered(&place, "r.json", "\"verdict\": \"verified\"", "\"verdict\": \"violated\"");
    let merged = place.run("report merge bad.json");
    assert!(merged.stdout.contains("NOT CONFIRMED: there is no execution to replay"), "{merged:?}");
}

#[test]
fn a_report_that_contradicts_itself_is_no_success() {
    let place = super::cli::Folder::new(&[]);
    let report = place.run("check lib:litmus/peterson.rml --model tso --format json").stdout;
    place.write("one.json", report.replace("\"verdict\": \"violated\"", "\"verdict\": \"verified\"").as_bytes());
    let done = place.run("report merge one.json");
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(done.stdout.contains("NOT CONFIRMED"), "{}", done.stdout);
}

/// The comparison of a compare-and-swap goes wrong before it is performed: the symbolic engine did not see it when it read its execution back, and gave an internal error.
#[test]
fn what_goes_wrong_before_an_access_is_told() {
    let (verdicts, code) = super::verdicts_in(
        &Folder::new(&[]),
        "lib:datatypes/treiber_unfenced.c --model armv8 --test S0,Si3,Spc2 --criterion assertions",
    );
    assert_eq!((verdicts, code), (vec!["violated".to_owned(); 3], 1));
}

/// Who spins under a model about relations is found by the symbolic engine, too, and the reference confirms it by its own rules.
#[test]
fn threads_that_spin_under_models_about_relations() {
    for (file, models) in [("never_released", "cat:tso,rc11,armv8,power,riscv,imm,lkmm"), ("mcs_one_fence", "armv8")] {
        let options = format!("lib:locks/{file}.rml --criterion termination --engine symbolic --model {models}");
        let (verdicts, code) = super::verdicts_in(&Folder::new(&[]), &options);
        assert_eq!((verdicts, code), (vec!["violated".to_owned(); models.split(',').count()], 1), "{file}");
    }
}
