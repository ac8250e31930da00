//! From words to statements.
//!
//! Operators from the loosest to the tightest: `|`, `;`, `\`, `&`, `*` between sets, `~`, and behind an operand `+ * ? ^+ ^* ^? ^-1`. A `*` is between two
//! operands if another one follows.
//!
//! **Invariant:** whatever the text, there are statements or complaints, and no recursion deeper than [`MAX_DEPTH`] parentheses.

use cyrano_ir::{Diagnostic, Span};

use super::ast::{Axiom, Binding, Expr, ExprKind, Infix, Postfix, Stmt};
use super::plan::Test;
use super::token::{Token, Word, tokens};

/// How deeply expressions may be nested.
pub(super) const MAX_DEPTH: usize = 100;

/// After so many complaints the rest of a text is not looked at.
pub(super) const MAX_ERRORS: usize = 50;

/// What starts a statement; no name can be spelled like this.
const STATEMENTS: [&str; 29] = [
    "let",
    "include",
    "acyclic",
    "irreflexive",
    "empty",
    "flag",
    "undefined_unless",
    "show",
    "unshow",
    "showall",
    "enum",
    "instructions",
    "default",
    "with",
    "withco",
    "withoutco",
    "withinit",
    "withoutinit",
    "withsc",
    "withoutsc",
    "catdep",
    "procedure",
    "call",
    "forall",
    "assert",
    "relax",
    "scopes",
    "regions",
    "events",
];

/// Other words that are no names.
const RESERVED: [&str; 13] =
    ["and", "as", "rec", "in", "if", "then", "else", "try", "fun", "from", "match", "begin", "end"];

/// What the file is called, and its statements.
pub(super) struct Parsed {
    pub(super) title: Option<String>,
    pub(super) stmts: Vec<Stmt>,
}

/// Reads a text that stands at `offset` in a larger one.
pub(super) fn parse(text: &str, offset: usize, errors: &mut Vec<Diagnostic>) -> Parsed {
    let tokens = tokens(text, offset, errors);
    let end = Span::new(offset + text.trim_end().len(), offset + text.trim_end().len());
    let mut parser = Parser { tokens, at: 0, end, depth: 0, errors };
    let title = parser.title();
    let mut stmts = Vec::new();
    while parser.at < parser.tokens.len() && parser.errors.len() < MAX_ERRORS {
        let start = parser.at;
        match parser.stmt() {
            Ok(stmt) => stmts.extend(stmt),
            Err(error) => {
                parser.errors.push(error);
                parser.depth = 0;
                parser.at = parser.at.max(start + 1);
                parser.skip();
            }
        }
    }
    Parsed { title, stmts }
}

struct Parser<'s, 'e> {
    tokens: Vec<Token<'s>>,
    at: usize,
    end: Span,
    depth: usize,
    errors: &'e mut Vec<Diagnostic>,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'s> Parser<'s, '_> {
    fn peek(&self) -> Option<&Word<'s>> {
        self.tokens.get(self.at).map(|token| &token.word)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |token| token.span)
    }

    /// From where `start` is to the last word that was read.
    fn since(&self, start: Span) -> Span {
        self.tokens.get(self.at.wrapping_sub(1)).map_or(start, |token| start.to(token.span))
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let found = match self.peek() {
            None => "the end".into(),
            Some(Word::Name(name)) => format!("`{name}`"),
            Some(Word::Tag) => "a tag".into(),
            Some(Word::Text(_)) => "a text".into(),
            Some(Word::Symbol(symbol)) => format!("`{symbol}`"),
        };
        Err(Diagnostic::new(self.span(), format!("expected {what}, found {found}"), "here"))
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Some(Word::Symbol(ahead)) if *ahead == symbol);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, symbol: &str) -> Result<()> {
        if self.take(symbol) { Ok(()) } else { self.expected(&format!("`{symbol}`")) }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Word::Name(ahead)) if *ahead == word);
        self.at += usize::from(found);
        found
    }

    fn need_word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// The name ahead, if it is one.
    fn peek_name(&self) -> Option<&'s str> {
        match self.peek() {
            Some(Word::Name(name)) if !STATEMENTS.contains(name) && !RESERVED.contains(name) => Some(name),
            _ => None,
        }
    }

    fn name(&mut self) -> Result<String> {
        match self.peek_name() {
            Some(name) if name != "_" && !name.starts_with(|c: char| c.is_ascii_digit()) => {
                self.at += 1;
                Ok(name.to_owned())
            }
            _ => self.expected("a name"),
        }
    }

    fn text(&mut self) -> Option<&'s str> {
        let Some(Word::Text(text)) = self.peek() else { return None };
        let text = *text;
        self.at += 1;
        Some(text)
    }

    /// The title: a text, or a word in front of the first statement.
    fn title(&mut self) -> Option<String> {
        if let Some(title) = self.text() {
            return Some(title.to_owned());
        }
        let name = self.peek_name()?.to_owned();
        self.at += 1;
        // `C "C++11"`: the language, and what the model calls itself.
        Some(self.text().map_or(name, str::to_owned))
    }

    /// Goes on to the next statement.
    fn skip(&mut self) {
        let starts = |word: &Word<'_>| matches!(word, Word::Name(name) if STATEMENTS.contains(name) && *name != "with");
        while self.peek().is_some_and(|word| !starts(word)) {
            self.at += 1;
        }
    }

    /// The next statement; none if it says nothing about executions.
    fn stmt(&mut self) -> Result<Option<Stmt>> {
        let start = self.span();
        if let Some(Word::Symbol("~")) = self.peek() {
            return self.axiom(false, false, start).map(Some);
        }
        let Some(Word::Name(word)) = self.peek() else { return self.expected("a statement") };
        let word = *word;
        if !STATEMENTS.contains(&word) && word != "match" && word != "if" {
            return self.expected("a statement").map_err(|error: Diagnostic| {
                error.with_help("statements are `let`, `include`, `acyclic`, `irreflexive`, `empty`, `flag`, `show`")
            });
        }
        self.at += 1;
        match word {
            "let" => self.bindings().map(Some),
            "include" => match self.text() {
                Some(file) => Ok(Some(Stmt::Include { file: file.to_owned(), span: self.since(start) })),
                None => self.expected("the name of a file in quotes"),
            },
            "acyclic" | "irreflexive" | "empty" => {
                self.at -= 1;
                self.axiom(false, false, start).map(Some)
            }
            "flag" => self.axiom(true, false, start).map(Some),
            "undefined_unless" => self.axiom(true, true, start).map(Some),
            "with" => self.with(),
            "procedure" | "call" | "forall" | "assert" | "match" | "if" | "relax" => {
                let message = format!("`{word}` statements are not supported");
                let help = "write relations with `let`, and conditions with `acyclic`, `irreflexive` or `empty`";
                Err(Diagnostic::new(start, message, "not supported").with_help(help))
            }
            _ => {
                self.skip();
                Ok(None)
            }
        }
    }

    /// `with co from generate_cos(co0)`: the coherence order is enumerated anyway.
    fn with(&mut self) -> Result<Option<Stmt>> {
        let span = self.span();
        let name = self.name()?;
        self.need_word("from")?;
        if name != "co" {
            let error = Diagnostic::new(span, format!("`{name}` cannot be enumerated"), "only `co` is");
            return Err(error.with_help("every execution comes with one `co`; other orders have to follow from it"));
        }
        self.expr().map(|_| None)
    }

    fn bindings(&mut self) -> Result<Stmt> {
        let recursive = self.take_word("rec");
        Ok(Stmt::Let { recursive, bindings: self.binding_list()? })
    }

    fn binding_list(&mut self) -> Result<Vec<Binding>> {
        let mut bindings = vec![self.binding()?];
        while self.take_word("and") {
            bindings.push(self.binding()?);
        }
        Ok(bindings)
    }

    fn binding(&mut self) -> Result<Binding> {
        let span = self.span();
        let name = self.name()?;
        let params = self.params()?;
        self.need("=")?;
        Ok(Binding { name, span, params, body: self.expr()? })
    }

    /// `(x, y)`, or `x`; none before an `=`.
    fn params(&mut self) -> Result<Option<Vec<String>>> {
        if self.peek_name().is_some() {
            let mut params = Vec::new();
            while self.peek_name().is_some() {
                params.push(self.name()?);
            }
            return Ok(Some(params));
        }
        if !self.take("(") {
            return Ok(None);
        }
        let mut params = Vec::new();
        while !self.take(")") {
            if !params.is_empty() {
                self.need(",")?;
            }
            params.push(self.name()?);
        }
        Ok(Some(params))
    }

    fn axiom(&mut self, flag: bool, denied: bool, start: Span) -> Result<Stmt> {
        let negated = self.take("~") != denied;
        let test = match self.peek() {
            Some(Word::Name("acyclic")) => Test::Acyclic,
            Some(Word::Name("irreflexive")) => Test::Irreflexive,
            Some(Word::Name("empty")) => Test::Empty,
            _ => return self.expected("`acyclic`, `irreflexive` or `empty`"),
        };
        self.at += 1;
        let of = self.expr()?;
        let name = if self.take_word("as") { Some(self.name()?) } else { None };
        Ok(Stmt::Axiom(Axiom { flag, negated, test, of, name, span: self.since(start) }))
    }

    fn expr(&mut self) -> Result<Expr> {
        self.deeper()?;
        let expr = self.chain(0);
        self.depth -= 1;
        expr
    }

    fn deeper(&mut self) -> Result<()> {
        if self.depth >= MAX_DEPTH {
            let message = format!("expressions nest more than {MAX_DEPTH} deep");
            return Err(Diagnostic::new(self.span(), message, "too deep"));
        }
        self.depth += 1;
        Ok(())
    }

    /// Operators from this level on: 0 is the loosest.
    fn chain(&mut self, level: usize) -> Result<Expr> {
        const LEVELS: [(&str, Infix); 5] =
            [("|", Infix::Union), (";", Infix::Seq), ("\\", Infix::Diff), ("&", Infix::Inter), ("*", Infix::Product)];
        let Some((symbol, infix)) = LEVELS.get(level).copied() else { return self.prefix() };
        let start = self.span();
        let mut operands = vec![self.chain(level + 1)?];
        while self.take(symbol) {
            operands.push(self.chain(level + 1)?);
        }
        Ok(match operands.len() {
            1 => operands.remove(0),
            _ => Expr { kind: ExprKind::Chain(infix, operands), span: self.since(start) },
        })
    }

    fn prefix(&mut self) -> Result<Expr> {
        let start = self.span();
        let mut denials = 0;
        while self.take("~") {
            denials += 1;
        }
        let expr = self.postfix()?;
        if denials % 2 == 0 {
            return Ok(expr);
        }
        Ok(Expr { kind: ExprKind::Complement(Box::new(expr)), span: self.since(start) })
    }

    fn postfix(&mut self) -> Result<Expr> {
        let start = self.span();
        let operand = self.application()?;
        let mut ops = Vec::new();
        loop {
            let span = self.span();
            let op = match self.peek() {
                Some(Word::Symbol("+" | "^+")) => Postfix::Plus,
                Some(Word::Symbol("^*")) => Postfix::Star,
                Some(Word::Symbol("*")) if !self.operand_follows() => Postfix::Star,
                Some(Word::Symbol("?" | "^?")) => Postfix::Optional,
                Some(Word::Symbol("^-1")) => Postfix::Inverse,
                _ => break,
            };
            self.at += 1;
            ops.push((op, span));
        }
        if ops.is_empty() {
            return Ok(operand);
        }
        Ok(Expr { kind: ExprKind::Postfix(Box::new(operand), ops), span: self.since(start) })
    }

    /// Whether an operand stands behind the word ahead.
    fn operand_follows(&self) -> bool {
        match self.tokens.get(self.at + 1).map(|token| &token.word) {
            Some(Word::Name(name)) => !STATEMENTS.contains(name) && !RESERVED.contains(name),
            Some(Word::Symbol(symbol)) => matches!(*symbol, "(" | "[" | "{" | "~"),
            _ => false,
        }
    }

    /// An operand, or a function and its arguments: `f(x, y)` or `f x`.
    fn application(&mut self) -> Result<Expr> {
        let start = self.span();
        let operand = self.operand()?;
        if !matches!(operand.kind, ExprKind::Name(_)) {
            return Ok(operand);
        }
        let mut args = Vec::new();
        if self.take("(") {
            while !self.take(")") {
                if !args.is_empty() {
                    self.need(",")?;
                }
                args.push(self.expr()?);
            }
        } else {
            while self.peek_name().is_some() {
                args.push(self.operand()?);
            }
        }
        if args.is_empty() {
            return Ok(operand);
        }
        Ok(Expr { kind: ExprKind::Call(Box::new(operand), args), span: self.since(start) })
    }

    fn operand(&mut self) -> Result<Expr> {
        let start = self.span();
        let kind = if self.take("(") || self.take_word("begin") {
            let inner = self.expr()?;
            if !self.take(")") {
                self.need_word("end").or_else(|_| self.expected("`)`"))?;
            }
            inner.kind
        } else if self.take("[") {
            let inner = self.expr()?;
            self.need("]")?;
            ExprKind::Diagonal(Box::new(inner))
        } else if self.take("{") {
            self.need("}")?;
            ExprKind::Nothing
        } else if self.take_word("if") {
            self.condition()?
        } else if self.take_word("try") {
            let first = self.expr()?;
            self.need_word("with")?;
            ExprKind::Try(Box::new(first), Box::new(self.expr()?))
        } else if self.take_word("let") {
            let bindings = self.binding_list()?;
            self.need_word("in")?;
            ExprKind::Let(bindings, Box::new(self.expr()?))
        } else if self.take_word("fun") {
            let params = self.params()?.unwrap_or_default();
            self.need("->")?;
            ExprKind::Function(params, Box::new(self.expr()?))
        } else {
            match self.peek_name() {
                Some("0") => {
                    self.at += 1;
                    ExprKind::Nothing
                }
                Some("_") => {
                    self.at += 1;
                    ExprKind::Everything
                }
                Some(_) => ExprKind::Name(self.name()?),
                None => return self.expected("a set or a relation"),
            }
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    /// Behind `if`: variants of a tool, none of which is chosen.
    fn condition(&mut self) -> Result<ExprKind> {
        let holds = self.any_variant()?;
        self.need_word("then")?;
        let then = Box::new(self.expr()?);
        self.need_word("else")?;
        Ok(ExprKind::If { holds, then, otherwise: Box::new(self.expr()?) })
    }

    fn any_variant(&mut self) -> Result<bool> {
        let mut holds = self.all_variants()?;
        while self.take("||") {
            holds |= self.all_variants()?;
        }
        Ok(holds)
    }

    fn all_variants(&mut self) -> Result<bool> {
        let mut holds = self.variant()?;
        while self.take("&&") {
            holds &= self.variant()?;
        }
        Ok(holds)
    }

    fn variant(&mut self) -> Result<bool> {
        let mut denied = false;
        while self.take("~") || self.take_word("not") {
            denied = !denied;
        }
        if self.take("(") {
            self.deeper()?;
            let holds = self.any_variant()?;
            self.depth -= 1;
            self.need(")")?;
            return Ok(holds != denied);
        }
        match self.text() {
            Some(_) => Ok(denied),
            None => self.expected("the name of a variant in quotes"),
        }
    }
}
