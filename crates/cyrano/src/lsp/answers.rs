//! What is wrong with a text, and what its names stand for.

use cyrano_ir::Span;
use cyrano_rml::RESERVED;
use cyrano_rml::outline::{Kind, Outline, Symbol, outline};
use cyrano_session::frontend::{self, Wanted};
use cyrano_session::{Failure, Files, Source, models, select};
use lsp_types::{
    CompletionItem, CompletionItemKind, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, Range,
    SymbolKind, Uri,
};
use serde_json::{Value, json};

use super::checks::Checks;
use super::documents::{Documents, path};
use super::places::{Encoding, range};

/// What is wrong with a text that is open.
pub fn diagnostics(documents: &Documents, uri: &str, encoding: Encoding) -> Vec<Diagnostic> {
    let Some(source) = documents.source(uri) else { return Vec::new() };
    let ending = path(uri).extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
    let looked = match ending.as_str() {
        "rml" | "c" | "litmus" => program(documents, &source.name),
        "cat" | "model" => models::parse(&source, documents).map(drop),
        // Tests are read with the program that they stand beside.
        "tests" => program(documents, &path(uri).with_extension("c").display().to_string()),
        _ => Ok(()),
    };
    let mut found = Vec::new();
    if let Err(failure) = looked {
        told(&failure, &source, uri, encoding, &mut found);
    }
    found
}

/// Compiles a program and selects its checks, as a run would.
fn program(files: &dyn Files, name: &str) -> Result<(), Failure> {
    let cases = frontend::cases(files, name, &[], &Wanted::default())?;
    Failure::all(cases.iter().map(|case| select(case, &[], &[], files))).map(drop)
}

fn told(failure: &Failure, own: &Source, uri: &str, encoding: Encoding, found: &mut Vec<Diagnostic>) {
    match failure {
        Failure::Source(source, errors) => {
            found.extend(errors.iter().map(|error| one(source, error, own, uri, encoding)));
        }
        Failure::Several(all) => all.iter().for_each(|failure| told(failure, own, uri, encoding, found)),
        plain => found.push(plain_error(plain.to_string().trim_start_matches("error: ").to_owned(), Range::default())),
    }
}

/// A complaint; one about another file stands at the top, with its place.
fn one(source: &Source, error: &cyrano_ir::Diagnostic, own: &Source, uri: &str, encoding: Encoding) -> Diagnostic {
    let help = error.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
    let (file, line) = source.place(error.span);
    if file != own.name {
        let message = format!("{file}:{line}: {} ({}){help}", error.message, error.label);
        return plain_error(message, Range::default());
    }
    let place = |span: Span| range(&own.text, span, encoding);
    let inside = error.related.iter().filter(|(span, _)| source.place(*span).0 == own.name);
    let related: Vec<DiagnosticRelatedInformation> = inside
        .filter_map(|(span, text)| {
            let location = Location::new(uri.parse::<Uri>().ok()?, place(*span));
            Some(DiagnosticRelatedInformation { location, message: text.clone() })
        })
        .collect();
    Diagnostic {
        related_information: (!related.is_empty()).then_some(related),
        ..plain_error(format!("{}: {}{help}", error.message, error.label), place(error.span))
    }
}

fn plain_error(message: String, range: Range) -> Diagnostic {
    let source = Some("cyrano".to_owned());
    Diagnostic { range, severity: Some(DiagnosticSeverity::ERROR), source, message, ..Diagnostic::default() }
}

/// The names of a text.
pub struct Names<'a> {
    pub uri: &'a str,
    pub text: &'a str,
    pub encoding: Encoding,
}

impl Names<'_> {
    fn outline(&self) -> Outline {
        if self.uri.ends_with(".rml") { outline(self.text) } else { Outline::default() }
    }

    fn range(&self, span: Span) -> Value {
        json!(range(self.text, span, self.encoding))
    }

    fn location(&self, span: Span) -> Value {
        json!({ "uri": self.uri, "range": self.range(span) })
    }

    /// Every use of what stands at an offset, and its declaration.
    fn uses(&self, at: usize) -> (Vec<Span>, Option<Symbol>) {
        let outline = self.outline();
        let Some((_, number)) = outline.at(at) else { return (Vec::new(), None) };
        let spans = outline.uses.iter().filter(|(_, other)| *other == number).map(|(span, _)| *span).collect();
        (spans, outline.symbols.get(number).cloned())
    }

    /// The word around an offset.
    fn word(&self, at: usize) -> &str {
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
        let start = self.text[..at].rfind(|c| !part(c)).map_or(0, |found| found + 1);
        let start = (start..=at).find(|start| self.text.is_char_boundary(*start)).unwrap_or(at);
        let end = self.text[at..].find(|c| !part(c)).map_or(self.text.len(), |found| at + found);
        self.text[start..end].trim_matches(':')
    }

    /// What a name stands for; what a model is; what came of the checks in a line.
    pub fn hover(&self, at: usize, checks: &Checks) -> Value {
        let outline = self.outline();
        let name = outline.at(at).map(|(span, number)| {
            let symbol = &outline.symbols[number];
            (format!("```rml\n{}\n```\n{}", symbol.text, what(symbol.kind)), Some(span))
        });
        let model = || {
            cyrano_memory::named(self.word(at)).map(|model| (format!("**{}**: {}", model.name, model.summary), None))
        };
        let line = self.text[..at].matches('\n').count() + 1;
        let checked = || checks.told(self.uri, self.text, line).map(|text| (text, None));
        match name.or_else(model).or_else(checked) {
            Some((text, span)) => {
                json!({ "contents": { "kind": "markdown", "value": text }, "range": span.map(|span| self.range(span)) })
            }
            None => Value::Null,
        }
    }

    /// Where a name is declared.
    pub fn definition(&self, at: usize) -> Value {
        self.uses(at).1.map_or(Value::Null, |symbol| self.location(symbol.span))
    }

    /// Where else it stands.
    pub fn references(&self, at: usize) -> Value {
        self.uses(at).0.into_iter().map(|span| self.location(span)).collect()
    }

    /// The same, to be marked.
    pub fn highlights(&self, at: usize) -> Value {
        self.uses(at).0.into_iter().map(|span| json!({ "range": self.range(span) })).collect()
    }

    /// What the text declares, less what is of use only where it stands.
    pub fn symbols(&self) -> Value {
        let outline = self.outline();
        let shown = outline.symbols.iter().filter(|symbol| symbol.kind != Kind::Label);
        let told = |symbol: &Symbol| {
            let range = self.range(symbol.span);
            let kind = json!(kind(symbol.kind));
            json!({ "name": symbol.name, "detail": symbol.text, "kind": kind, "range": range, "selectionRange": range })
        };
        shown.map(told).collect()
    }

    /// The name that would be changed.
    pub fn can_rename(&self, at: usize) -> Value {
        self.outline().at(at).map_or(Value::Null, |(span, _)| self.range(span))
    }

    /// The changes that give a name another form; not where that would mean something else then.
    pub fn rename(&self, at: usize, new: &str) -> Result<Value, String> {
        let (spans, symbol) = self.uses(at);
        let Some(symbol) = symbol else { return Err("there is no name here that is declared in this text".to_owned()) };
        let starts = new.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts || new.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            return Err(format!("`{new}` is not a name: letters, digits and `_`, not beginning with a digit"));
        }
        if RESERVED.contains(&new) {
            return Err(format!("`{new}` is a keyword"));
        }
        let outline = self.outline();
        let known = |span: &Span| outline.known(span.start as usize).iter().any(|other| other.name == new);
        let inside = outline
            .symbols
            .iter()
            .any(|other| other.name == new && symbol.scope.contains(&(other.span.start as usize)));
        if new != symbol.name && (inside || spans.iter().any(known)) {
            return Err(format!("`{new}` stands for something else there"));
        }
        let edits: Vec<Value> =
            spans.iter().map(|span| json!({ "range": self.range(*span), "newText": new })).collect();
        Ok(json!({ "changes": { self.uri: edits } }))
    }

    /// What may be written at an offset: names, keywords, and models behind `on`.
    pub fn completion(&self, at: usize) -> Value {
        if !self.uri.ends_with(".rml") {
            return json!([]);
        }
        let line = &self.text[self.text[..at].rfind('\n').map_or(0, |found| found + 1)..at];
        let item = |label: &str, kind: CompletionItemKind, detail: String| CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            detail: Some(detail),
            ..CompletionItem::default()
        };
        if line.trim_start().starts_with("check") && line.contains(" on ") {
            let all = cyrano_memory::all().into_iter().chain(cyrano_memory::relational());
            return all
                .map(|model| json!(item(&model.name, CompletionItemKind::ENUM_MEMBER, model.summary.clone())))
                .collect();
        }
        let outline = self.outline();
        let names = outline.known(at).into_iter().map(|symbol| {
            let kind = match symbol.kind {
                Kind::Constant => CompletionItemKind::CONSTANT,
                Kind::Procedure => CompletionItemKind::FUNCTION,
                Kind::Thread | Kind::Block => CompletionItemKind::CLASS,
                Kind::Shared | Kind::Local | Kind::Label => CompletionItemKind::VARIABLE,
            };
            item(&symbol.name, kind, symbol.text.clone())
        });
        let words = RESERVED.iter().map(|word| item(word, CompletionItemKind::KEYWORD, "keyword".to_owned()));
        names.chain(words).map(|item| json!(item)).collect()
    }
}

fn what(kind: Kind) -> &'static str {
    match kind {
        Kind::Constant => "a constant; `--set` gives it another value",
        Kind::Shared => "a variable that all threads see",
        Kind::Local => "a variable of one thread",
        Kind::Procedure => "a procedure",
        Kind::Thread => "a thread",
        Kind::Block => "a block",
        Kind::Label => "a statement's label",
    }
}

fn kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Constant => SymbolKind::CONSTANT,
        Kind::Procedure => SymbolKind::FUNCTION,
        Kind::Thread | Kind::Block => SymbolKind::CLASS,
        Kind::Shared | Kind::Local | Kind::Label => SymbolKind::VARIABLE,
    }
}
