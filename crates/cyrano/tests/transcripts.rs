//! What a user sees, word for word. `UPDATE_EXPECT=1 cargo test -p cyrano --test transcripts` blesses new output.

mod cli;

use cli::{COUNTER, DEADLOCK, Folder, LOCKED, NOTHING, SB, TORN};
use expect_test::{ExpectFile, expect_file};

fn check(lines: &[&str], expected: ExpectFile) {
    let place = Folder::new(&[
        ("sb.rml", SB),
        ("counter.rml", COUNTER),
        ("deadlock.rml", DEADLOCK),
        ("nothing.rml", NOTHING),
        ("locked.rml", LOCKED),
        ("torn.txt", TORN),
        ("serial.txt", "history memory\n1 load x\n1 rfin\n1 commit\n2 store x\n2 commit\n"),
        ("bad.txt", "history memory\n1 loda x\none rfin\n"),
        ("bad.rml", "threads {\n    shared x;\n    thread p { local r; if x = 1 { r := y } }\n}\n"),
        ("on.rml", "threads {\n    shared x;\n    thread p { x := 1 }\n}\ncheck never (x = 0) on tos;\n"),
        (
            "ibm.model",
            "model ibm370\nsummary No forwarding.\nkeep different: load-load, load-store, store-store\nkeep same: all\nforward: no\n",
        ),
        ("bad.model", "keep different: load-laod\n"),
    ]);
    let mut transcript = String::new();
    for line in lines {
        let done = place.run(line);
        transcript.push_str(&format!("$ cyrano {line}\n{}", without_times(&done.stdout)));
        for line in done.stderr.lines() {
            transcript.push_str(format!("! {line}").trim_end());
            transcript.push('\n');
        }
        transcript.push_str(&format!("exit code {}\n\n", done.code));
    }
    expected.assert_eq(&transcript);
}

/// `0.03 s` becomes `0.00 s`; nothing here takes ten seconds, so columns stay where they are.
fn without_times(text: &str) -> String {
    let mut out: Vec<char> = text.chars().collect();
    for at in 0..out.len().saturating_sub(5) {
        let digit = |offset: usize| out[at + offset].is_ascii_digit();
        if digit(0) && out[at + 1] == '.' && digit(2) && digit(3) && out[at + 4] == ' ' && out[at + 5] == 's' {
            out[at] = '0';
            out[at + 2] = '0';
            out[at + 3] = '0';
        }
    }
    out.into_iter().collect()
}

#[test]
fn checks() {
    check(&["check sb.rml", "check sb.rml --model pso --quiet"], expect_file!["transcripts/checks.txt"]);
}

#[test]
fn assertions() {
    check(&["check counter.rml", "check counter.rml --set N=1"], expect_file!["transcripts/assertions.txt"]);
}

#[test]
fn deadlocks() {
    check(&["check deadlock.rml --model sc"], expect_file!["transcripts/deadlocks.txt"]);
}

#[test]
fn algorithms() {
    check(
        &[
            "check lib:tm-objects/core_mcrt.rml --test P_WE --criterion never,opacity --model declared",
            "check lib:tm-objects/core_mcrt.rml --test P_WE2 --criterion never --model literal",
            "check lib:stm/privatization_no_quiesce.rml --criterion never",
        ],
        expect_file!["transcripts/algorithms.txt"],
    );
}

#[test]
fn nothing_to_check() {
    check(
        &["check nothing.rml", "check nothing.rml --criterion assertions", "check sb.rml --criterion always"],
        expect_file!["transcripts/nothing.txt"],
    );
}

#[test]
fn outcomes() {
    check(
        &["outcomes sb.rml --model sc,tso", "outcomes lib:litmus/fig4.rml --model sc,tso,pso,rmo --quiet"],
        expect_file!["transcripts/outcomes.txt"],
    );
}

#[test]
fn models() {
    check(&["models", "models ./ibm.model", "models bad.model"], expect_file!["transcripts/models.txt"]);
}

#[test]
fn diagnostics() {
    check(
        &["check bad.rml", "check on.rml", "check sb.rml --model tos", "check counter.rml --set M=3"],
        expect_file!["transcripts/diagnostics.txt"],
    );
}

#[test]
fn replays() {
    check(
        &["check sb.rml --model tso --quiet --save-trace t.json", "replay t.json", "replay t.json --quiet"],
        expect_file!["transcripts/replays.txt"],
    );
}

#[test]
fn transactions() {
    check(
        &["check locked.rml --set vars=1", "check locked.rml --set vars=1 --criterion strict-serializability --quiet"],
        expect_file!["transcripts/transactions.txt"],
    );
}

#[test]
fn histories() {
    check(
        &[
            "history torn.txt",
            "history torn.txt --criterion opacity --quiet",
            "history serial.txt",
            "history bad.txt",
            "history torn.txt --format json --criterion opacity",
        ],
        expect_file!["transcripts/histories.txt"],
    );
}

#[test]
fn specifications() {
    check(
        &[
            "spec list",
            "spec compare foil-nondet foil-det --vars 1",
            "spec compare foil-det opacity --vars 1",
            "spec compare foil-det opacty",
            "spec compare foil-det opacity --threads 3",
        ],
        expect_file!["transcripts/specifications.txt"],
    );
}

#[test]
fn fences() {
    check(
        &[
            "fence locked.rml --set vars=1",
            "fence lib:litmus/mp.rml --model rmo --all",
            "fence sb.rml --model tso --criterion never --quiet",
            "fence counter.rml --quiet",
            "fence sb.rml --criterion always",
            "fence lib:litmus/mp.rml --model armv8,power --quiet",
            "fence lib:herd/C-SB+relaxed.litmus --model rc11 --quiet --all",
            "fence lib:herd/SB.litmus --model cat:tso",
            "fence lib:herd/SB.litmus --model tso",
            "fence lib:herd/SB.litmus --model armv8",
        ],
        expect_file!["transcripts/fences.txt"],
    );
}

#[test]
fn tables() {
    check(
        &["tables foil --only 'Section 4.2'", "tables foil --only 'Table 9'"],
        expect_file!["transcripts/tables.txt"],
    );
}

#[test]
fn help() {
    check(&["--help", "check --help", "fence --help"], expect_file!["transcripts/help.txt"]);
}
