//! Orders of algorithms: found, written, needed, and enough; and the tables of the paper that they come from.

mod cli;

use cli::{Done, Folder, json};
use expect_test::expect;

/// A message and a flag; `orders` stands before the brace.
fn message(orders: &str) -> Folder {
    let text = format!(
        "algorithm Message(locs = 1) {{
    shared d: AtomicRegister = 0, f: AtomicRegister = 0, e: AtomicRegister = 0;
    method write(i, v) {{ W1: d.write(v); W2: f.write(1); W3: e.write(1); W4: return ok; }}
    method read(i) {{ R1: x := f.read(); R2: y := d.read(); R3: return x * 2 + y; }}
    method commit() {{ C1: return committed; }}
{orders}}}
client MP {{
    thread {{ tx {{ write(0, 1); c1 := commit(); }} }}
    thread {{ tx {{ r := read(0); c2 := commit(); }} }}
}}
check never (r == 2) on declared, literal;
client Lost {{
    thread {{ tx {{ r := read(0); write(0, 1); c := commit(); }} }}
}}
check never (c == committed);
"
    );
    Folder::new(&[("m.rml", &text)])
}

/// An algorithm of the library.
fn library(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../library/tm-objects/");
    std::fs::read_to_string(format!("{folder}{name}")).expect("the library has it")
}

/// What a command prints, without its time.
fn timeless(done: &Done) -> String {
    let words = done.stdout.split(' ').map(|word| {
        let number = word.split_once('.').is_some_and(|(a, b)| a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok());
        if number { "0.00" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_message_needs_two_orders() {
    let done = message("    order W2 < W3;\n").run("fence m.rml --model declared --test MP --all");
    assert_eq!(done.code, 0, "{done:?}");
    expect![[r#"
        m.rml, never on declared: repaired (5 questions, 0.00 s)
          1 minimal set (all of them)
          1. order W1 < W2
               without it: MP, W2 before W1: The final state satisfies `r == 2`, which must never hold, with
                           r = 2.
             order R1 < R2
               without it: MP, R2 before R1: The final state satisfies `r == 2`, which must never hold, with
                           r = 2.
          Judged by MP.
          All declared orders can be dropped: W2 < W3

        --- m.rml
        +++ m.rml (declared)
        @@ -4,6 +4,8 @@
             method read(i) { R1: x := f.read(); R2: y := d.read(); R3: return x * 2 + y; }
             method commit() { C1: return committed; }
             order W2 < W3;
        +    order W1 < W2;
        +    order R1 < R2;
         }
         client MP {
             thread { tx { write(0, 1); c1 := commit(); } }
    "#]]
    .assert_eq(&timeless(&done));
}

#[test]
fn needed_and_superfluous_orders_are_told_apart() {
    let place = message("    order W1 < W2, W2 < W3, R1 < R2;\n");
    let done = place.run("fence m.rml --model declared --test MP --format json");
    let report = json(&done);
    let result = &report["results"][0];
    assert_eq!(
        (done.code, &result["verdict"], &result["sets"]),
        (0, &"already-correct".into(), &serde_json::json!([]))
    );
    let orders = &result["orders"];
    assert_eq!(orders["droppable"], serde_json::json!(["W2 < W3"]));
    let told: Vec<_> = orders["declared"].as_array().into_iter().flatten().collect();
    let needed: Vec<bool> = told.iter().map(|order| order["superfluous"] == false).collect();
    assert_eq!(needed, [true, false, true]);
    assert!(
        told.iter().all(|order| order["line"] == 6 && order["prevents"].is_string() == (order["superfluous"] == false))
    );
    let prevents = told[0]["prevents"].as_str().unwrap_or_default();
    assert!(prevents.starts_with("MP, W2 before W1: "), "{prevents}");
}

/// Each of two orders can go, but one has to stay.
#[test]
fn what_can_go_alone_may_not_go_together() {
    let place = message("    order W1 < W2, R1 < R2, R1 < R2;\n");
    let orders = &json(&place.run("fence m.rml --model declared --test MP --format json"))["results"][0]["orders"];
    let told = orders["declared"].as_array().expect("a list");
    let alone: Vec<bool> = told.iter().map(|order| order["superfluous"] == true).collect();
    assert_eq!((alone, orders["droppable"].as_array().map(Vec::len)), (vec![false, true, true], Some(1)));
}

#[test]
fn what_is_wrong_in_order_is_not_repaired() {
    let place = message("");
    let done = place.run("fence m.rml --model declared");
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.stdout.contains("Lost goes wrong in the order of the text as well"), "{}", done.stdout);
    assert!(done.stdout.contains("--test MP leaves out"), "{}", done.stdout);
    let done = place.run("fence m.rml --model inorder --test MP --quiet");
    assert!(done.code == 0 && done.stdout.contains("already-correct"), "{done:?}");
    let done = place.run("fence m.rml --model tso --test MP");
    assert!(
        done.code == 2
            && done.stderr.contains("orders are sought for modes of execution, and tso is a machine's model"),
        "{done:?}"
    );
    let done = place.run("fence m.rml --model declared --test MP --timeout 0.000001");
    assert!(done.code == 3 && done.stdout.contains("unknown"), "{done:?}");
}

/// The paper's fix without the orders that it declares: the search finds them again, one within each iteration of a loop.
#[test]
fn orders_of_the_library_are_found_again() {
    let text = library("core_mcrt_fixed.rml");
    let start = text.find("    order ").expect("it declares orders");
    let end = start + text[start..].find('\n').expect("the line ends") + 1;
    let plain = format!("{}{}", &text[..start], &text[end..]);
    let place = Folder::new(&[("plain.rml", &plain)]);
    let options = "--model declared --criterion never";
    let done = place.run(&format!("fence plain.rml {options} --write ordered.rml --format json"));
    assert_eq!(done.code, 0, "{done:?}");
    let report = json(&done);
    let set = report["results"][0]["sets"][0].as_array().cloned().unwrap_or_default();
    let found: Vec<&str> = set.iter().filter_map(|order| order["order"].as_str()).collect();
    // The first is weaker than the paper's R03 < R04, from which it follows.
    assert_eq!(found, ["R03 < R09", "R09 < F03", "F03 < F04", "each C03 < C04"]);
    let clients = "--test P_WS,P_WE,P_WE2 --engine symbolic --quiet";
    assert_eq!(place.run(&format!("check ordered.rml {options} {clients}")).code, 0);
    let ordered = place.read("ordered.rml");
    for (at, _) in ordered.match_indices("    order ") {
        let line = ordered[at..].find('\n').map_or(ordered.len(), |end| at + end);
        place.write("less.rml", format!("{}{}", &ordered[..at], &ordered[line..]).as_bytes());
        assert_eq!(place.run(&format!("check less.rml {options} {clients}")).code, 1, "{}", &ordered[at..line]);
    }
}

/// A criterion for histories, which the explorer judges.
#[test]
fn orders_for_opacity() {
    let text = library("core_mcrt_repaired.rml");
    let place = Folder::new(&[("m.rml", &text.replace(", R09 < F03;", ";"))]);
    let done = place.run("fence m.rml --model declared --test P_WE2 --criterion opacity --format json");
    let result = &json(&done)["results"][0];
    assert_eq!((done.code, &result["sets"][0][0]["order"]), (0, &"R09 < F03".into()), "{done:?}");
    assert_eq!(result["orders"]["droppable"], serde_json::json!(["each C03 < C04"]));
    let done = message("").run("fence m.rml --model declared --test MP --criterion opacity --quiet");
    assert!(done.code == 1 && done.stdout.contains("irreparable"), "{done:?}");
}

#[test]
fn the_patterns_of_the_paper() {
    let done = Folder::new(&[]).run("tables samand --only 'bug patterns' --format json");
    let report = json(&done);
    assert_eq!((done.code, &report["paper"]), (0, &"samand".into()), "{done:?}");
    let rows = report["tables"][0]["rows"].as_array().cloned().unwrap_or_default();
    for row in &rows {
        let cell = |at: usize| row["cells"][at].as_str().unwrap_or_default();
        // In order, every claim holds.
        let (paper, inorder) = (cell(2), cell(4));
        let expected = if paper == "seen" { "seen, " } else { "not seen, " };
        assert!(inorder.starts_with(expected), "{row}");
    }
    let fixed = rows.iter().find(|row| row["cells"][0] == "Fixed Core McRT" && row["cells"][1] == "P_WE");
    let note = fixed.map(|row| row["notes"][0].to_string()).unwrap_or_default();
    assert!(note.contains("can be seen under declared and literal"), "{note}");
}

#[test]
fn clients_of_two_operations() {
    let done = Folder::new(&[]).run("tables samand --only '2 operations, in order' --format json");
    let report = json(&done);
    assert_eq!(done.code, 0, "{done:?}");
    let rows = report["tables"][0]["rows"].as_array().cloned().unwrap_or_default();
    assert_eq!(rows.len(), 32);
    let wrong = |algorithm: &str, criterion: &str| {
        let row = rows.iter().find(|row| row["cells"][0] == algorithm && row["cells"][1] == criterion);
        row.and_then(|row| row["cells"][4].as_str()).unwrap_or_default().to_owned()
    };
    for algorithm in ["Fixed Core DSTM", "Repaired McRT", "TL2", "NOrec"] {
        assert_eq!(wrong(algorithm, "opacity"), "0", "{algorithm}");
    }
    assert_ne!(wrong("Fixed Core McRT", "opacity"), "0");
}
