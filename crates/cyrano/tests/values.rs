//! `cyrano history` on histories of values: the library, JSON, and what is said about bad files.

mod cli;

use cli::Folder;
use serde_json::Value;

fn json(place: &Folder, line: &str) -> (i32, Value) {
    let done = place.run(&format!("{line} --format json"));
    (done.code, serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}")))
}

#[test]
fn write_skew_is_told_in_full() {
    let done = Folder::new(&[]).run("history lib:histories/h_ws");
    assert_eq!(done.code, 1, "{done:?}");
    expect_test::expect![[r#"
        lib:histories/h_ws.history (16 events)
          opacity: rejected at event 16, line 23: T2 ret C
            Why: No serial order explains that T1 read 1 from y and T2 read 1 from x.
                 T1, T2: T2 read 1 from x, which is -1 (T1 wrote it)
                 T2, T1: T1 read 1 from y, which is -1 (T2 wrote it)
          final-state-opacity: rejected at event 16, line 23: T2 ret C
            Why: No serial order explains that T1 read 1 from y and T2 read 1 from x.
                 T1, T2: T2 read 1 from x, which is -1 (T1 wrote it)
                 T2, T1: T1 read 1 from y, which is -1 (T2 wrote it)
          strict-serializability: rejected at event 16, line 23: T2 ret C
            Why: No serial order explains that T1 read 1 from y and T2 read 1 from x.
                 T1, T2: T2 read 1 from x, which is -1 (T1 wrote it)
                 T2, T1: T1 read 1 from y, which is -1 (T2 wrote it)
          serializability: rejected at event 16, line 23: T2 ret C
            Why: No serial order explains that T1 read 1 from y and T2 read 1 from x.
                 T1, T2: T2 read 1 from x, which is -1 (T1 wrote it)
                 T2, T1: T1 read 1 from y, which is -1 (T2 wrote it)
          snapshot-isolation: accepted
            Order: T1 snapshot, T2 snapshot, T1 commit, T2 commit
    "#]]
    .assert_eq(&done.stdout);
}

#[test]
fn lost_updates_are_told_with_instants() {
    let done = Folder::new(&[]).run("history lib:histories/lost_update --criterion snapshot-isolation");
    assert_eq!(done.code, 1, "{done:?}");
    expect_test::expect![[r#"
        lib:histories/lost_update.history (12 events)
          snapshot-isolation: rejected at event 12, line 15: T2 commit C
            Why: No order of snapshots and commits explains that T1 read 0 from x, T2 read 0 from x and T1
                 and T2 both wrote x.
                 T1 snapshot, T1 commit, T2 snapshot, T2 commit: T2 read 0 from x, which is 1 (T1 wrote it)
                 T1 snapshot, T2 snapshot, T1 commit, T2 commit: T1 commits between the snapshot and the
                 commit of T2, and T1 and T2 both wrote x (one other order too)
                 T1 snapshot, T2 snapshot, T2 commit, T1 commit: T2 commits between the snapshot and the
                 commit of T1, and T1 and T2 both wrote x (one other order too)
                 T2 snapshot, T2 commit, T1 snapshot, T1 commit: T1 read 0 from x, which is 1 (T2 wrote it)
    "#]]
    .assert_eq(&done.stdout);
}

#[test]
fn every_history_of_the_library_does_what_its_header_says() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/histories");
    let place = Folder::new(&[]);
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_none_or(|ending| ending != "history") {
            continue;
        }
        seen += 1;
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
        let (code, report) = json(&place, &format!("history lib:histories/{name}"));
        assert_eq!(report["schema"], "cyrano.history/1");
        let results = report["results"].as_array().expect("there are results");
        assert_eq!(results.len(), 5, "{name}");
        for result in results {
            let criterion = result["criterion"].as_str().expect("it has a name");
            let verdict = match result["at"].as_u64() {
                None => "accepted".to_owned(),
                Some(at) => format!("rejected at {at}"),
            };
            assert!(text.contains(&format!("#@ {criterion}: {verdict}\n")), "{name}: {criterion}: {verdict}");
            assert_eq!(result["order"].is_array(), result["verdict"] == "accepted", "{name}");
            assert_eq!(result["explanation"].is_object(), result["verdict"] == "rejected", "{name}");
        }
        assert_eq!(code, i32::from(text.contains(": rejected")), "{name}");
    }
    assert!(seen >= 15, "{seen}");
}

#[test]
fn an_explanation_names_its_reads() {
    let place = Folder::new(&[("a.txt", "history values\nA write x 1\nA commit C\nB read x 0\nB commit C\n")]);
    let (code, report) = json(&place, "history a.txt --criterion strict-serializability,serializability");
    assert_eq!(code, 1);
    let why = &report["results"][0]["explanation"];
    assert_eq!((&why["kind"], report["results"][0]["at"].as_u64()), (&"no-order".into(), Some(8)));
    assert_eq!(why["reads"], serde_json::json!([{"transaction": "B", "location": "x", "value": 0}]));
    assert_eq!(why["real_time"], serde_json::json!([["A", "B"]]));
    assert_eq!(why["attempts"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["results"][1]["order"], serde_json::json!(["B", "A"]));
}

#[test]
fn bad_files_and_bad_usage() {
    let place = Folder::new(&[
        ("bad.txt", "history values\nT1 read x\nT2 ret 1\nT3 commit maybe\n"),
        ("memory.txt", "history memory\n1 load x\n"),
        ("other.txt", "history things\n"),
    ]);
    for (line, parts) in [
        (
            "history bad.txt",
            &["what does the read return?", "a reply without a call", "`maybe` is not a reply", "3 errors"][..],
        ),
        ("history memory.txt --criterion serializability,snapshot-isolation", &["serializability, snapshot-isolation"]),
        ("history other.txt", &["`memory` and `values`"]),
        ("history lib:histories/lost_updat.history", &["did you mean `lib:histories/lost_update.history`"]),
        ("check lib:histories/h_ws", &["expected `.rml`"]),
    ] {
        let done = place.run(line);
        assert_eq!(done.code, 2, "{line}: {done:?}");
        assert!(parts.iter().all(|part| done.stderr.contains(part)), "{line}: {}", done.stderr);
    }
}

#[test]
fn the_library_lists_histories_with_a_sentence() {
    let done = Folder::new(&[]).run("library list");
    let line = done.stdout.lines().find(|line| line.contains("histories/h_ws.history")).expect("it is listed");
    assert!(line.contains("write skew"), "{line}");
}

/// Writes go to memory at once, and every commit succeeds: what is read early is right in the end, unless its writer writes again.
#[test]
fn final_state_opacity_is_claimed_asked_for_and_replayed() {
    let direct = "algorithm Direct(locs = 1) {
        shared r: AtomicRegister[locs] = 0;
        method read(i) { R01: v := r[i].read(); R02: return v; }
        method write(i, v) { W01: r[i].write(v); W02: return ok; }
        method commit() { C01: return committed; }
        method abort() { A01: return aborted; }
    }
    client Late { thread { tx { write(0, 1); a := commit(); } } thread { tx { b := read(0); c := commit(); } } }
    check final-state-opacity for Late on inorder;
    client Again { thread { tx { write(0, 1); write(0, 2); a := commit(); } } thread { tx { b := read(0); c := commit(); } } }
    check opacity for Again on inorder;
    ";
    let place = Folder::new(&[("direct.rml", direct)]);
    let done = place.run("check direct.rml --criterion final-state-opacity --test Late");
    assert_eq!(done.code, 0, "{done:?}");
    let done = place.run("check direct.rml --criterion opacity --model inorder --test Late");
    assert_eq!(done.code, 1, "{done:?}");
    let asked = "check direct.rml --criterion final-state-opacity --model inorder --test Again --save-trace bug.json";
    let done = place.run(asked);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.stdout.contains("but T1, which wrote it, wrote 2 over it"), "{done:?}");
    let done = place.run("replay bug.json");
    assert_eq!(done.code, 0, "{done:?}");
}
