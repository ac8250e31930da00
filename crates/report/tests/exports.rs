//! Drawings of traces: well formed whatever the names in the program are, and complete.

mod data;
mod hostile;

use cyrano_report::{trace_dot, trace_mermaid, trace_svg};
use cyrano_trace::Trace;
use data::{crowded, trace, transactional};
use hostile::{NASTY, hostile};

fn all() -> Vec<Trace> {
    vec![trace(), transactional(), crowded(), hostile(), Trace { steps: vec![], ..trace() }]
}

#[test]
fn pictures_are_plain_svg() {
    for trace in all() {
        let svg = trace_svg(&trace);
        let document = roxmltree::Document::parse(&svg).expect("the picture is well-formed XML");
        let root = document.root_element();
        assert_eq!((root.tag_name().name(), root.tag_name().namespace()), ("svg", Some("http://www.w3.org/2000/svg")));
        let known = ["svg", "title", "desc", "defs", "marker", "path", "rect", "line", "text"];
        for node in root.descendants().filter(roxmltree::Node::is_element) {
            assert!(known.contains(&node.tag_name().name()), "{node:?}");
            for attribute in node.attributes() {
                let (name, value) = (attribute.name(), attribute.value());
                assert!(!name.starts_with("on") && name != "href" && name != "style", "{name}");
                assert!(!value.contains("url(") || value.starts_with("url(#"), "{value}");
                assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
            }
        }
        let texts = || root.descendants().filter(|node| node.has_tag_name("text"));
        for text in texts() {
            // The layout does not depend on the font.
            assert!(text.attribute("textLength").is_some() && text.text().is_some_and(|text| !text.contains('\n')));
        }
        let numbers = texts().filter(|text| text.text().is_some_and(|text| text.parse::<usize>().is_ok())).count();
        assert_eq!(numbers, trace.steps.len());
    }
}

#[test]
fn pictures_show_reads_and_reorderings() {
    let count = |svg: &str, what: &str| svg.matches(what).count();
    let simple = trace_svg(&trace());
    assert_eq!((count(&simple, "marker-end=\"url(#read)\""), count(&simple, "marker-end=\"url(#late)\"")), (0, 1));
    assert!(simple.contains("6: x := 1 … until 4"));
    let blocks = trace_svg(&transactional());
    assert_eq!(count(&blocks, "marker-end=\"url(#read)\""), 1);
    for label in ["T1 unfinished", "T2 committed", "T3 unfinished"] {
        assert!(blocks.contains(label), "{label}");
    }
}

/// A quoted string of DOT, and what follows it.
fn string(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('"')?.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => return Some(&text[at + 2..]),
            '\\' => {
                rest.next()?;
            }
            '\n' => return None,
            _ => {}
        }
    }
    None
}

/// The tokens of DOT that we use: words, strings, `->` and punctuation.
fn tokens(mut text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    loop {
        text = text.trim_start();
        let Some(first) = text.chars().next() else { return tokens };
        let rest = match first {
            '"' => string(text).expect("every string ends on its line"),
            '{' | '}' | '[' | ']' | ';' | ',' | '=' => &text[1..],
            '-' => text.strip_prefix("->").expect("an edge"),
            c if c.is_ascii_alphanumeric() || c == '_' => {
                text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.')
            }
            other => panic!("{other:?} is no token: {text}"),
        };
        tokens.push(text[..text.len() - rest.len()].to_owned());
        text = rest;
    }
}

/// `digraph ID { statements }`, by recursive descent.
struct Dot {
    tokens: std::iter::Peekable<std::vec::IntoIter<String>>,
    nodes: Vec<String>,
    edges: Vec<(String, String)>,
}

impl Dot {
    fn parse(text: &str) -> Self {
        let tokens = tokens(text).into_iter().peekable();
        let mut dot = Self { tokens, nodes: vec![], edges: vec![] };
        dot.expect("digraph");
        dot.id();
        dot.block();
        assert_eq!(dot.tokens.next(), None);
        dot
    }

    fn expect(&mut self, wanted: &str) {
        assert_eq!(self.tokens.next().as_deref(), Some(wanted));
    }

    fn id(&mut self) -> String {
        let id = self.tokens.next().expect("an identifier");
        assert!(id.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '"' || c == '_'), "{id}");
        id
    }

    fn block(&mut self) {
        self.expect("{");
        while self.tokens.peek().is_some_and(|token| token != "}") {
            let first = self.id();
            match self.tokens.peek().map(String::as_str) {
                Some("=") => {
                    self.expect("=");
                    self.id();
                    self.expect(";");
                }
                Some("->") => {
                    self.expect("->");
                    let to = self.id();
                    self.attributes();
                    self.edges.push((first, to));
                }
                Some("[") => {
                    self.attributes();
                    if !["graph", "node", "edge"].contains(&first.as_str()) {
                        self.nodes.push(first);
                    }
                }
                _ => {
                    assert_eq!(first, "subgraph");
                    self.id();
                    self.block();
                }
            }
        }
        self.expect("}");
    }

    fn attributes(&mut self) {
        self.expect("[");
        loop {
            self.id();
            self.expect("=");
            self.id();
            match self.tokens.next().as_deref() {
                Some(",") => {}
                Some("]") => break,
                other => panic!("{other:?} in attributes"),
            }
        }
        self.expect(";");
    }
}

#[test]
fn graphs_are_valid_dot() {
    for trace in all() {
        let dot = Dot::parse(&trace_dot(&trace));
        let steps = dot.nodes.iter().filter(|node| node.starts_with('s')).count();
        assert_eq!(steps, trace.steps.len());
        for (from, to) in &dot.edges {
            assert!(dot.nodes.contains(from) && dot.nodes.contains(to), "{from} -> {to}");
        }
    }
    let text = trace_dot(&trace());
    assert!(text.contains("s4 -> s1 [label=\"po\", constraint=false, style=dashed, color=red3]"), "{text}");
    assert!(trace_dot(&transactional()).contains("s4 -> s6 [label=\"rf\""));
}

#[test]
fn an_unfinished_string_is_noticed() {
    assert_eq!(string("\"a\\\"b\" c"), Some(" c"));
    assert_eq!(string("\"a\\\""), None);
    assert_eq!(string("\"a\nb\""), None);
}

#[test]
fn diagrams_have_one_statement_a_line() {
    for trace in all() {
        let text = trace_mermaid(&trace);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("sequenceDiagram"));
        let mut messages = 0;
        for line in lines {
            let line = line.trim_start();
            let said = if let Some(rest) = line.strip_prefix("participant ") {
                rest.split_once(" as ").expect("participants have names").1
            } else {
                let (head, said) = line.split_once(": ").expect("a statement has a text");
                assert!(head.starts_with("Note over ") || head.contains("->>") || head.contains("-->>"), "{line}");
                messages += usize::from(said.starts_with(|c: char| c.is_ascii_digit()));
                said
            };
            let mut rest = said;
            while let Some((_, entity)) = rest.split_once('#') {
                let (code, after) = entity.split_once(';').expect("every # starts an entity");
                assert!(code.parse::<u32>().is_ok(), "{line}");
                rest = after;
            }
            let plain: String = said.chars().filter(|c| !c.is_ascii_digit() && !"#;".contains(*c)).collect();
            assert!(!plain.contains(['<', '>', '"', '&', '`', '|', '*', '_', '\\', ':', '{']), "{line}");
        }
        assert_eq!(messages, trace.steps.len(), "{text}");
    }
}

#[test]
fn nasty_names_survive_as_text() {
    let svg = trace_svg(&hostile());
    let document = roxmltree::Document::parse(&svg).expect("the picture is well-formed XML");
    let one_line = NASTY.replace('\n', " ").replace('\u{1b}', "\\x1b");
    assert!(document.descendants().any(|node| node.text().is_some_and(|text| text.contains(&one_line))), "{svg}");
    let dot = trace_dot(&hostile());
    assert!(dot.contains(&one_line.replace('\\', "\\\\").replace('"', "\\\"")), "{dot}");
}
