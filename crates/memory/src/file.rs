//! Model files: a user's own memory model, in a few lines.
//!
//! ```text
//! model ibm370                 # the name in reports
//! summary Stores are buffered, but a thread cannot read its own buffer.
//! keep different: load-load, load-store, store-store
//! keep same: all
//! keep cas: store-cas, cas-load # pairs with a read-modify-write, to different addresses
//! forward: no
//! dependencies: none           # or some of: data, address, control, control-stores
//! ```
//!
//! Every line is optional. Left out, `keep different` is `none`, `keep same` is `load-store, store-store`, `forward` is `yes`,
//! `dependencies` is `none` and `serial` is `no`: that is CheckFence's Relaxed. Without `keep cas` a read-modify-write is kept where its load or its
//! store would be; with it, exactly the pairs that it lists are. These are the rows of FOIL's function of two instructions (section 4).
//!
//! **Invariant:** a model that parses makes sense: each thread, run alone, sees its own stores.

use cyrano_ir::{Diagnostic, FenceSet, Span};

use crate::{CasPairs, Control, Dependencies, Model, Reordering};

const EXAMPLE: &str = "lines look like `keep different: load-load, store-store`, `keep same: all`, `keep cas: cas-load`, \
                       `forward: yes`, `dependencies: data, address, control`, `serial: no`, `model NAME`, `summary TEXT`";

/// Reads a model file; reports everything that is wrong with it.
pub fn parse(source: &str, fallback_name: &str) -> Result<Model, Vec<Diagnostic>> {
    let mut reader = Reader {
        name: fallback_name.into(),
        summary: format!("A model read from the file of `{fallback_name}`."),
        model: Reordering::RELAXED,
        seen: Vec::new(),
        errors: Vec::new(),
    };
    let mut offset = 0;
    for line in source.split_inclusive('\n') {
        reader.line(line, offset);
        offset += line.len();
    }
    if reader.seen.is_empty() && reader.errors.is_empty() {
        let whole = Span::new(0, source.len());
        let empty = Diagnostic::new(whole, "this model file says nothing", "no line of a model");
        reader.errors.push(empty.with_help(EXAMPLE));
    }
    reader.sanity(Span::new(0, source.len().min(1)));
    if reader.errors.is_empty() {
        Ok(Model::new(reader.name, reader.summary, reader.model))
    } else {
        Err(reader.errors)
    }
}

struct Reader {
    name: String,
    summary: String,
    model: Reordering,
    seen: Vec<(&'static str, Span)>,
    errors: Vec<Diagnostic>,
}

impl Reader {
    fn line(&mut self, line: &str, offset: usize) {
        let text = line.split('#').next().unwrap_or_default();
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        let start = offset + (text.len() - text.trim_start().len());
        let span = Span::new(start, start + trimmed.len());
        let (key, value) = split_key(trimmed);
        let value_start = start + (value.as_ptr() as usize - trimmed.as_ptr() as usize);
        let value_span = Span::new(value_start, value_start + value.len());
        match key {
            "model" => self.name(value, value_span, span),
            "summary" => self.summary(value, span),
            "keep different" => self.pairs("keep different", value, value_span, span),
            "keep same" => self.pairs("keep same", value, value_span, span),
            "keep cas" => self.cas(value, value_span, span),
            "forward" => self.yes_no("forward", value, value_span, span),
            "serial" => self.yes_no("serial", value, value_span, span),
            "dependencies" => self.dependencies(value, value_span, span),
            _ => self.error(span, format!("`{key}` is not a line of a model file"), "unknown", EXAMPLE),
        }
    }

    fn error(&mut self, span: Span, message: String, label: &str, help: &str) {
        let error = Diagnostic::new(span, message, label);
        self.errors.push(error.with_help(help));
    }

    /// Notes that the key occurred; a second time is an error.
    fn first(&mut self, key: &'static str, span: Span) -> bool {
        if let Some((_, before)) = self.seen.iter().find(|(k, _)| *k == key) {
            let again = Diagnostic::new(span, format!("`{key}` is given twice"), "the second time");
            self.errors.push(again.with_related(*before, "the first time"));
            return false;
        }
        self.seen.push((key, span));
        true
    }

    fn name(&mut self, value: &str, value_span: Span, span: Span) {
        if !self.first("model", span) {
            return;
        }
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if value.is_empty() || !value.chars().all(good) {
            let help = "use letters, digits, `-` and `_`";
            self.error(value_span, "a model needs a plain name".into(), "not a name", help);
        } else if crate::named(value).is_some() {
            let help = "choose a name of your own, so that reports cannot be misread";
            self.error(value_span, format!("`{value}` is a built-in model"), "taken", help);
        } else {
            self.name = value.into();
        }
    }

    fn summary(&mut self, value: &str, span: Span) {
        if self.first("summary", span) {
            self.summary = value.into();
        }
    }

    fn pairs(&mut self, key: &'static str, value: &str, value_span: Span, span: Span) {
        if !self.first(key, span) {
            return;
        }
        let mut set = FenceSet::NONE;
        for (item, item_span) in items(value, value_span) {
            match item {
                "all" => set = FenceSet::FULL,
                "none" => {}
                _ => match FenceSet::from_name(item) {
                    Some(pair) => set |= pair,
                    None => {
                        let help = match CasPairs::from_names([item]) {
                            Ok(_) => {
                                "pairs with a `cas` stand in a line of their own, `keep cas: …`; to one address all of them are kept"
                            }
                            Err(_) => "the pairs are load-load, load-store, store-load, store-store; or `all`, `none`",
                        };
                        self.error(item_span, format!("`{item}` is not a pair of accesses"), "unknown", help);
                    }
                },
            }
        }
        if key == "keep same" {
            self.model.same = set;
        } else {
            self.model.different = set;
        }
    }

    fn cas(&mut self, value: &str, value_span: Span, span: Span) {
        if !self.first("keep cas", span) {
            return;
        }
        let mut names = Vec::new();
        for (item, item_span) in items(value, value_span) {
            match item {
                "all" => names.extend(CasPairs::ALL.names()),
                "none" => {}
                _ if CasPairs::from_names([item]).is_ok() => names.push(item),
                _ => {
                    let help = "the pairs are load-cas, store-cas, cas-load, cas-store, cas-cas; or `all`, `none`";
                    self.error(item_span, format!("`{item}` is not a pair with a `cas`"), "unknown", help);
                }
            }
        }
        self.model.cas = CasPairs::from_names(names).ok();
    }

    fn yes_no(&mut self, key: &'static str, value: &str, value_span: Span, span: Span) {
        if !self.first(key, span) {
            return;
        }
        let flag = match value {
            "yes" => true,
            "no" => false,
            _ => {
                let message = format!("`{key}` is `yes` or `no`");
                return self.error(value_span, message, "neither", "write `yes` or `no`");
            }
        };
        if key == "serial" {
            self.model.serial = flag;
        } else {
            self.model.forwarding = flag;
        }
    }

    fn dependencies(&mut self, value: &str, value_span: Span, span: Span) {
        if !self.first("dependencies", span) {
            return;
        }
        let kept = &mut self.model.dependencies;
        for (item, item_span) in items(value, value_span) {
            match item {
                "none" => {}
                "all" => *kept = Dependencies::ALL,
                "data" => kept.data = true,
                "address" => kept.address = true,
                "control" => kept.control = Control::All,
                "control-stores" => kept.control = Control::Stores,
                _ => {
                    let message = format!("`{item}` is not a kind of dependency");
                    let error = Diagnostic::new(item_span, message, "unknown");
                    let help = "the kinds are data, address, control, control-stores; or `all`, `none`";
                    self.errors.push(error.with_help(help));
                }
            }
        }
    }

    /// A thread that runs alone must see its own stores, whatever else is relaxed.
    fn sanity(&mut self, fallback: Span) {
        let at = |key| self.seen.iter().find(|(k, _)| *k == key).map_or(fallback, |(_, span)| *span);
        let (same, forward) = (at("keep same"), at("forward"));
        for pair in [FenceSet::LS, FenceSet::SS] {
            if !self.model.same.contains(pair) {
                let message = format!("every model keeps {pair} to the same address");
                let help = format!("add {pair} to `keep same`, or leave the line out");
                self.error(same, message, "relaxes it", &help);
            }
        }
        if !self.model.forwarding && !self.model.same.contains(FenceSet::SL) {
            let message = "without forwarding a load could miss its own thread's earlier store".into();
            let help = "add store-load to `keep same`, or set `forward: yes`";
            self.error(forward, message, "no forwarding", help);
        }
    }
}

/// `keep different: a, b` is the key `keep different` and the value `a, b`; `model x` and `summary x` need no colon.
fn split_key(line: &str) -> (&str, &str) {
    for word in ["model", "summary"] {
        if let Some(rest) = line.strip_prefix(word)
            && (rest.is_empty() || rest.starts_with([' ', '\t', ':']))
        {
            return (word, rest.trim_start_matches([' ', '\t', ':']));
        }
    }
    match line.split_once(':') {
        Some((key, value)) => (key.trim(), value.trim()),
        None => (line, &line[line.len()..]),
    }
}

/// The items of a comma separated list with their spans.
fn items(value: &str, span: Span) -> Vec<(&str, Span)> {
    let trimmed = value.split(',').map(str::trim).filter(|item| !item.is_empty());
    trimmed
        .map(|item| {
            let start = span.start as usize + (item.as_ptr() as usize - value.as_ptr() as usize);
            (item, Span::new(start, start + item.len()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(source: &str, expect: Expect) {
        let shown = match parse(source, "mine") {
            Ok(model) => {
                let (name, kept) = (&model.name, model.reordering());
                let (different, same) = (kept.different, kept.same);
                let cas = kept.cas.map(|pairs| format!("; cas {pairs}")).unwrap_or_default();
                let (forward, dependencies, serial) = (kept.forwarding, kept.dependencies, kept.serial);
                format!(
                    "{name}: different {different}; same {same}{cas}; forward {forward}; {dependencies:?}; serial {serial}"
                )
            }
            Err(errors) => {
                let lines = errors.iter().map(|e| format!("{:?} `{}`: {}", e.span, &source[e.span.range()], e.message));
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn a_model_without_forwarding() {
        check(
            "# IBM 370\nmodel ibm370\nkeep different: load-load, load-store, store-store\nkeep same: all\nforward: no\n",
            expect![
                "ibm370: different load-load load-store store-store; same load-load load-store store-load store-store; forward false; Dependencies { data: false, address: false, control: None }; serial false"
            ],
        );
    }

    #[test]
    fn the_defaults_are_relaxed() {
        let model = parse("model weak\n", "mine").expect("a model");
        let relaxed = crate::named("relaxed").expect("relaxed exists");
        assert_eq!(model.definition, relaxed.definition);
    }

    #[test]
    fn everything_wrong_is_reported_at_once() {
        check(
            "model tso\nkeep same: load-laod\nforward: maybe\nfrobnicate: 3\nforward: no\ndependencies: date\n",
            expect![[r#"
                6..9 `tso`: `tso` is a built-in model
                21..30 `load-laod`: `load-laod` is not a pair of accesses
                40..45 `maybe`: `forward` is `yes` or `no`
                46..59 `frobnicate: 3`: `frobnicate` is not a line of a model file
                60..71 `forward: no`: `forward` is given twice
                86..90 `date`: `date` is not a kind of dependency
                10..30 `keep same: load-laod`: every model keeps load-store to the same address
                10..30 `keep same: load-laod`: every model keeps store-store to the same address"#]],
        );
    }

    #[test]
    fn a_thread_must_see_its_own_stores() {
        check(
            "forward: no",
            expect!["0..11 `forward: no`: without forwarding a load could miss its own thread's earlier store"],
        );
        check("", expect!["0..0 ``: this model file says nothing"]);
    }

    #[test]
    fn a_cas_has_rows_of_its_own() {
        check(
            "keep different: load-load\nkeep cas: cas-load, store-cas\n",
            expect![
                "mine: different load-load; same load-store store-store; cas store-cas cas-load; forward true; Dependencies { data: false, address: false, control: None }; serial false"
            ],
        );
        check(
            "keep cas: none",
            expect![
                "mine: different none; same load-store store-store; cas none; forward true; Dependencies { data: false, address: false, control: None }; serial false"
            ],
        );
        check(
            "keep cas: cas-loda\nkeep same: load-store, store-store, cas-load\nkeep cas: all\n",
            expect![[r#"
            10..18 `cas-loda`: `cas-loda` is not a pair with a `cas`
            55..63 `cas-load`: `cas-load` is not a pair of accesses
            64..77 `keep cas: all`: `keep cas` is given twice"#]],
        );
    }

    /// Section 4 of FOIL, as printed: which of two instructions to different addresses keep their order.
    #[test]
    fn the_papers_models_are_expressed() {
        use cyrano_ir::AccessKind::{self, Load, Rmw, Store};
        type Relaxes = fn(AccessKind, AccessKind) -> bool;
        let papers: [(&str, Relaxes); 4] = [
            ("sc", |_, _| false),
            ("tso", |first, second| first == Store && second == Load),
            ("pso", |first, _| first == Store),
            ("rmo", |_, _| true),
        ];
        for (name, relaxes) in papers {
            let built_in = crate::named(name).expect("a built-in model");
            let pairs = [Load, Store, Rmw].map(|first| [Load, Store, Rmw].map(|second| (first, second)));
            for (first, second) in pairs.into_iter().flatten() {
                let kept = built_in.reordering().keeps(first, second, false);
                assert_eq!(kept, !relaxes(first, second), "{name}: {first:?} {second:?}");
                // To one address only a load that follows a store, or a load under rmo, is not held back.
                let same = built_in.reordering().keeps(first, second, true);
                let free = second == Load && (name != "sc" && first == Store || name == "rmo" && first == Load);
                assert_eq!(same, !free, "{name}: {first:?} {second:?} to one address");
            }
        }
    }
}
