//! Gaps between statements of RML, and what the text looks like with fences in them.

use cyrano_fences::source::*;
use cyrano_fences::{Fence, Position};
use cyrano_ir::{FenceSet, Span};

/// All places where a compiler that accepts everything lets a fence stand.
fn gaps(text: &str) -> Vec<Position> {
    positions(text, &|_| true)
}

/// Puts a fence into every gap that is `accepted` and shows the text; `§` in the input marks where a fence may be accepted.
fn check(marked: &str, expected: &str) {
    let text = marked.replace('§', "");
    let mut allowed = Vec::new();
    let mut before = 0;
    for part in marked.split('§') {
        before += part.len();
        allowed.push(before);
    }
    allowed.pop();
    let found: Vec<Position> = gaps(&text).into_iter().filter(|gap| allowed.contains(&gap.at)).collect();
    assert_eq!(found.len(), allowed.len(), "not every mark is a gap: {found:?}");
    let fences = found.into_iter().map(|position| Fence { position, kind: FenceSet::SS });
    let patched = insert(&text, &fences.collect::<Vec<_>>());
    assert_eq!(patched.text, expected.replace('§', "fence(store-store)"));
}

#[test]
fn statements_stand_before_the_brace() {
    let check = |text: &str, expected: &str| {
        let brace = text.find("}//").expect("the brace is marked");
        let more = ["order A < B;", "order each C < D;"].map(str::to_owned);
        assert_eq!(before_brace(text, brace, &more), expected);
    };
    let expected = "algorithm X {\n    order Z < A;\n    order A < B;\n    order each C < D;\n}// end";
    check("algorithm X {\n    order Z < A;\n}// end", expected);
    check("algorithm X { }// end", "algorithm X { order A < B; order each C < D; }// end");
    check("algorithm X {}// end", "algorithm X { order A < B; order each C < D; }// end");
}

#[test]
fn on_a_line_of_its_own() {
    check("p {\n  x := 1;§\n  y := 1;\n}\n", "p {\n  x := 1;\n  §;\n  y := 1;\n}\n");
    check("p {\n\tx := 1;§ // why\n}\n", "p {\n\tx := 1; // why\n\t§;\n}\n");
    check("p {§\n}\n", "p {\n    §;\n}\n");
    check("p {§\n\n  x := 1;\n}\n", "p {\n  §;\n\n  x := 1;\n}\n");
    check("p {\r\n  x;§\r\n  y;\r\n}", "p {\r\n  x;\r\n  §;\r\n  y;\r\n}");
    check("  if a {\n    x;\n  }§\n  y;", "  if a {\n    x;\n  }\n  §;\n  y;");
}

#[test]
fn within_a_line() {
    check("p { x := 1;§ r := y; }", "p { x := 1; §; r := y; }");
    check("p {§ x := 1§ }", "p { §; x := 1; § }");
    check("p { x /* ; */ ;§ /* a */ y }", "p { x /* ; */ ; §; /* a */ y }");
}

#[test]
fn gaps_are_between_statements() {
    let count = |text: &str| gaps(text).len();
    assert_eq!(count("// a; b;\n/* { } */ \"{;}\" \"\\\";\""), 0);
    assert_eq!(count("p { a; }"), 3);
    assert_eq!(count("choose r in {1, 2};"), 3);
    assert_eq!(count("\"open;\n;"), 1);
}

#[test]
fn positions_are_what_the_compiler_accepts() {
    let text = "threads {\n thread p[2] {\n  x := 1;\n }\n proc q { y; }\n read(v) { }\n}";
    let accepted = |text: &str| !text.contains("} fence") && !text.contains("}\n");
    assert_eq!(positions(text, &accepted), []);
    let found = positions(text, &|text| text.contains("1;\n  fence") || text.contains("{ fence"));
    let found: Vec<_> = found.iter().map(|p| (p.line, p.program.as_deref().unwrap_or("none"))).collect();
    assert_eq!(found, [(3, "p"), (5, "q"), (6, "read")]);
}

#[test]
fn spans_find_their_way_back() {
    let text = "p { q; w; // end\n z }";
    let fence = |at| Fence { position: Position { at, line: 1, program: None }, kind: FenceSet::FULL };
    let fences = [6, 9, text.len() - 2].map(fence);
    let patched = insert(text, &fences);
    for word in ["p {", "q", "w;", "z", "}"] {
        let span = |text: &str| text.find(word).map(|start| Span::new(start, start + word.len()));
        let back = span(&patched.text).map(|span| patched.original(span));
        assert_eq!(back, span(text), "{word}");
    }
    let inserted = patched.text.match_indices("fence(");
    let back = inserted.map(|(start, _)| {
        let len = patched.text[start..].find(')').expect("it is closed") + 1;
        patched.original(Span::new(start, start + len))
    });
    let expected = fences.each_ref().map(|fence| Span::new(fence.position.at, fence.position.at));
    assert_eq!(back.collect::<Vec<_>>(), expected);
}
