//! The parser's core: looking ahead, expecting, recovering.
//!
//! Recursive descent over tokens. After a syntax error a statement is skipped up to its `;` or the `}` around it, a declaration up to its `;`
//! or the next keyword that starts one, so that one mistake costs one message.
//! **Invariant:** every loop either consumes a token or ends, and nesting is limited by [`MAX_NESTING`], so parsing always ends.

use cyrano_ir::suggest::closest;
use cyrano_ir::{Diagnostic, Span};

use crate::report::{Fallible, Reported, Reports};
use crate::syntax::ast::{File, Name};
use crate::syntax::lexer::lex;
use crate::syntax::token::Token;

/// How deep statements, brackets and signs may nest.
pub(crate) const MAX_NESTING: u32 = 200;

/// The parser.
pub(crate) struct Parser<'s, 'r> {
    pub(crate) source: &'s str,
    tokens: Vec<(Token, Span)>,
    /// Whether an `algorithm` block will come, which decides what is missed where nothing fits.
    pub(crate) is_algorithm: bool,
    at: usize,
    nesting: u32,
    /// Set once the nesting limit was hit: every construct around it would only complain about its missing end.
    gave_up: bool,
    /// Set while a range is read, whose last name may be followed by a parenthesis that does not belong to it.
    pub(crate) in_range: bool,
    pub(crate) file: File,
    pub(crate) reports: &'r mut Reports,
}

/// Parses a file as far as possible.
pub(crate) fn parse(source: &str, reports: &mut Reports) -> File {
    let tokens = lex(source, reports);
    let (is_algorithm, file) = (has_algorithm(source, &tokens), File::default());
    let mut parser =
        Parser { source, tokens, is_algorithm, at: 0, nesting: 0, gave_up: false, in_range: false, file, reports };
    parser.items();
    for used in std::mem::take(&mut parser.file.uses) {
        // Whoever puts files together has done so before; see `uses`.
        let help = "give the file to a command by its name";
        parser.complain(used.span, "nobody has looked for this file", "used here", help);
        parser.file.uses.push(used);
    }
    parser.file.broken = !parser.reports.is_empty();
    parser.adopt_client();
    parser.adopt_initial();
    parser.add_client();
    parser.file
}

impl<'s> Parser<'s, '_> {
    /// The next token.
    pub(crate) fn peek(&self) -> Token {
        self.tokens[self.at].0
    }

    /// The token after the next one.
    pub(crate) fn peek_second(&self) -> Token {
        self.peek_ahead(1)
    }

    /// Where the token behind the next one stands.
    pub(crate) fn second_span(&self) -> Span {
        self.tokens.get(self.at + 1).map_or_else(|| self.span(), |(_, span)| *span)
    }

    /// Where the token after so many others is; nowhere behind the last one.
    pub(crate) fn span_ahead(&self, ahead: usize) -> Span {
        self.tokens.get(self.at + ahead).map_or(Span::default(), |(_, span)| *span)
    }

    /// The token so many tokens behind the next one.
    pub(crate) fn peek_ahead(&self, ahead: usize) -> Token {
        self.tokens.get(self.at + ahead).map_or(Token::End, |(token, _)| *token)
    }

    /// Where the next token stands.
    pub(crate) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// Where the last consumed token stands.
    pub(crate) fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    /// From `start` to the last consumed token.
    pub(crate) fn since(&self, start: Span) -> Span {
        if self.last_span().end <= start.start {
            return start;
        }
        start.to(self.last_span())
    }

    /// The source text of a span.
    pub(crate) fn text(&self, span: Span) -> &'s str {
        self.source.get(span.range()).unwrap_or_default()
    }

    /// Consumes the next token; the end of the file stays.
    pub(crate) fn bump(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    /// Consumes the next token if it is this one.
    pub(crate) fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.bump();
        }
        found
    }

    /// Consumes this token or reports that it is missing.
    pub(crate) fn expect(&mut self, token: Token) -> Fallible<Span> {
        if self.peek() == token {
            return Ok(self.bump());
        }
        Err(self.unexpected(token.describe()))
    }

    /// Consumes a name.
    pub(crate) fn name(&mut self) -> Fallible<Name> {
        if self.peek().is_word() {
            let word = self.text(self.span());
            let diagnostic = Diagnostic::new(self.span(), format!("`{word}` is a keyword"), "expected a name");
            // The keyword was meant as a name, so nothing starts here.
            self.bump();
            return Err(self.reports.add(diagnostic.with_help("keywords are reserved; choose another name")));
        }
        let span = self.expect(Token::Ident)?;
        let text = self.text(span).to_owned();
        Ok(Name { text, span })
    }

    /// Whether the next token is this word, which is a name elsewhere.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        self.peek() == Token::Ident && self.text(self.span()) == word
    }

    /// Consumes this word if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Consumes a word that is a name elsewhere.
    pub(crate) fn expect_word(&mut self, word: &'static str) -> Fallible<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected_word(&format!("`{word}`"), &[word])) }
    }

    /// Consumes the name of something that is called: `commit`, `abort` and `cas` are keywords elsewhere.
    pub(crate) fn method_name(&mut self) -> Fallible<Name> {
        if matches!(self.peek(), Token::Commit | Token::Abort | Token::Cas) {
            let span = self.bump();
            return Ok(Name { text: self.text(span).to_owned(), span });
        }
        self.name()
    }

    /// Consumes the name of a constant: `threads`, elsewhere a keyword, is one in every stm.
    pub(crate) fn constant_name(&mut self) -> Fallible<Name> {
        if self.peek() == Token::Threads {
            let span = self.bump();
            return Ok(Name { text: self.text(span).to_owned(), span });
        }
        self.name()
    }

    /// Reports the next token as not what was wanted.
    pub(crate) fn unexpected(&mut self, wanted: &str) -> Reported {
        let found = self.found();
        let diagnostic =
            Diagnostic::new(self.span(), format!("expected {wanted}, found {found}"), format!("expected {wanted}"));
        self.syntax_error(diagnostic)
    }

    /// Reports a syntax error, unless the parser has given up.
    pub(crate) fn syntax_error(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.gave_up { Reported } else { self.reports.add(diagnostic) }
    }

    /// Like [`Self::unexpected`], suggesting the keyword that may have been meant.
    pub(crate) fn unexpected_word(&mut self, wanted: &str, words: &[&'static str]) -> Reported {
        let (span, found) = (self.span(), self.found());
        let mut diagnostic =
            Diagnostic::new(span, format!("expected {wanted}, found {found}"), format!("expected {wanted}"));
        if let Some(word) = closest(self.text(span), words.iter().copied()) {
            diagnostic = diagnostic.with_help(format!("did you mean `{word}`?"));
        }
        self.syntax_error(diagnostic)
    }

    /// The next token in words.
    pub(crate) fn found(&self) -> String {
        match self.peek() {
            Token::End => Token::End.describe().to_owned(),
            _ => {
                let text: String = self.text(self.span()).chars().take(40).collect();
                format!("`{text}`")
            }
        }
    }

    /// Reports a complaint about a span.
    pub(crate) fn complain(&mut self, span: Span, message: impl Into<String>, label: &str, help: &str) -> Reported {
        self.reports.complain(span, message, label, help)
    }

    /// Runs `inner` one level deeper, or refuses.
    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Fallible<T>) -> Fallible<T> {
        if self.nesting >= MAX_NESTING {
            let message = format!("nested more than {MAX_NESTING} levels deep");
            let diagnostic = Diagnostic::new(self.span(), message, "too deep");
            let reported = self.reports.add(diagnostic.with_help("split it up"));
            self.gave_up = true;
            self.at = self.tokens.len() - 1;
            return Err(reported);
        }
        self.nesting += 1;
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    /// Skips the rest of a statement: its `;`, or everything up to the `}` around it.
    pub(crate) fn skip_statement(&mut self) {
        loop {
            match self.peek() {
                Token::End | Token::CloseBrace => return,
                Token::Semicolon => {
                    self.bump();
                    return;
                }
                Token::OpenBrace => {
                    self.skip_braces();
                    return;
                }
                _ => self.bump(),
            };
        }
    }

    /// Skips what is left of a declaration that began with `first` at `before`: its `;`, or everything up to one of the words that start one.
    pub(crate) fn skip_declaration(&mut self, (before, first): (Span, Token), words: &[&str]) {
        if self.span() == before {
            self.bump();
        }
        self.file.incomplete |= !matches!(first, Token::Check | Token::Observe);
        loop {
            match self.peek() {
                Token::End | Token::CloseBrace => return,
                Token::Semicolon => {
                    self.bump();
                    return;
                }
                _ if words.contains(&self.text(self.span())) => return,
                _ if !self.is_algorithm && self.starts_command() => return,
                Token::OpenBrace => self.skip_braces(),
                _ => {
                    self.bump();
                }
            }
        }
    }

    fn skip_braces(&mut self) {
        let mut open = 0usize;
        loop {
            match self.peek() {
                Token::End => return,
                Token::OpenBrace => open += 1,
                Token::CloseBrace => open = open.saturating_sub(1),
                _ => {}
            }
            self.bump();
            if open == 0 {
                return;
            }
        }
    }

    /// `{ member … }`; of a member that `member` cannot read the rest is skipped, up to one of `words`. The closing brace.
    pub(crate) fn members(
        &mut self,
        words: &[&str],
        mut member: impl FnMut(&mut Self) -> Fallible<()>,
    ) -> Fallible<Span> {
        self.expect(Token::OpenBrace)?;
        loop {
            let (before, first) = (self.span(), self.peek());
            match first {
                Token::CloseBrace => return Ok(self.bump()),
                Token::End => return Err(self.unexpected("`}`")),
                Token::Semicolon => {
                    self.bump();
                }
                _ if member(self).is_ok() => {}
                _ => self.skip_declaration((before, first), words),
            }
        }
    }

    /// `item, item, …`, at least one.
    pub(crate) fn several<T>(&mut self, mut item: impl FnMut(&mut Self) -> Fallible<T>) -> Fallible<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `open item, item, … close`, where the opening token is next.
    pub(crate) fn list<T>(
        &mut self,
        open: Token,
        close: Token,
        mut item: impl FnMut(&mut Self) -> Fallible<T>,
    ) -> Fallible<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        while self.peek() != close {
            items.push(item(self)?);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(close)?;
        Ok(items)
    }
}

/// Whether there is an `algorithm` block, by the tokens.
pub(crate) fn has_algorithm(source: &str, tokens: &[(Token, Span)]) -> bool {
    let mut depth = 0i128;
    for pair in tokens.windows(2) {
        let [(token, span), (next, _)] = pair else { continue };
        match token {
            Token::OpenBrace => depth += 1,
            Token::CloseBrace => depth -= 1,
            Token::Ident if depth == 0 && *next == Token::Ident && &source[span.range()] == "algorithm" => return true,
            _ => {}
        }
    }
    false
}
