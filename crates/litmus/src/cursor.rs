//! A place among the tokens of a section, one token ahead.

use cyrano_ir::{Diagnostic, Span};

use crate::token::{Kind, Mode, Scanner, Token, number};

/// The result of reading something.
pub(crate) type Parse<T> = Result<T, Diagnostic>;

/// No expression or statement needs to be nested deeper; recursion stops here.
pub(crate) const MAX_DEPTH: usize = 128;

/// No section needs more operators; trees are walked recursively, so their size is limited as well.
const MAX_TERMS: usize = 2_000;

/// Reads tokens.
#[derive(Clone)]
pub(crate) struct Cursor<'s> {
    scanner: Scanner<'s>,
    next: Token<'s>,
    /// The section's name, for messages.
    section: &'static str,
    depth: usize,
    terms: usize,
}

impl<'s> Cursor<'s> {
    /// A cursor at this offset.
    pub(crate) fn new(source: &'s str, at: usize, mode: Mode, section: &'static str) -> Parse<Self> {
        let mut scanner = Scanner::new(source, at, mode);
        let next = scanner.next()?;
        Ok(Self { scanner, next, section, depth: 0, terms: 0 })
    }

    /// The next token, which stays.
    pub(crate) fn peek(&self) -> Token<'s> {
        self.next
    }

    /// The token after the next, as far as there is one.
    pub(crate) fn second(&self) -> Option<Token<'s>> {
        self.scanner.clone().next().ok()
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self) -> Parse<Token<'s>> {
        let token = self.next;
        self.next = self.scanner.next()?;
        Ok(token)
    }

    /// Where the next token starts.
    pub(crate) fn at(&self) -> usize {
        self.next.span.start as usize
    }

    /// Goes on in another section.
    pub(crate) fn enter(&mut self, section: &'static str) {
        self.section = section;
    }

    /// Whether the next token is this mark.
    pub(crate) fn is(&self, mark: &str) -> bool {
        self.next.kind == Kind::Mark && self.next.text == mark
    }

    /// Whether the next token is this word.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.next.kind == Kind::Word && self.next.text == word
    }

    /// Whether the text is at its end.
    pub(crate) fn is_end(&self) -> bool {
        self.next.kind == Kind::End
    }

    /// Takes the next token if it is this mark or word.
    pub(crate) fn eat(&mut self, text: &str) -> Parse<bool> {
        let found = matches!(self.next.kind, Kind::Mark | Kind::Word) && self.next.text == text;
        if found {
            self.take()?;
        }
        Ok(found)
    }

    /// Takes this mark or word, which has to be there.
    pub(crate) fn expect(&mut self, text: &str) -> Parse<Token<'s>> {
        if matches!(self.next.kind, Kind::Mark | Kind::Word) && self.next.text == text {
            return self.take();
        }
        Err(self.unexpected(&format!("`{text}`")))
    }

    /// Takes a word, which has to be there.
    pub(crate) fn word(&mut self, what: &str) -> Parse<Token<'s>> {
        if self.next.kind == Kind::Word { self.take() } else { Err(self.unexpected(what)) }
    }

    /// Takes a number with an optional sign.
    pub(crate) fn integer(&mut self, what: &str) -> Parse<(i128, Span)> {
        let start = self.next.span;
        let negative = self.eat("-")?;
        if self.next.kind != Kind::Number {
            return Err(self.unexpected(what));
        }
        let token = self.take()?;
        let span = start.to(token.span);
        let value = number(token.text).and_then(|value| if negative { value.checked_neg() } else { Some(value) });
        match value {
            Some(value) => Ok((value, span)),
            None => Err(Diagnostic::new(span, format!("`{}` is not a number of 64 bits", token.text), "this number")),
        }
    }

    /// The complaint that something else should stand here.
    pub(crate) fn unexpected(&self, expected: &str) -> Diagnostic {
        let section = self.section;
        let found = match self.next.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.next.text),
        };
        let span = match self.next.kind {
            Kind::End => Span::new(self.at().saturating_sub(1), self.at()),
            _ => self.next.span,
        };
        Diagnostic::new(span, format!("{section}: expected {expected}, found {found}"), "unexpected")
    }

    /// Counts an operator.
    pub(crate) fn term(&mut self) -> Parse<()> {
        self.terms += 1;
        if self.terms > MAX_TERMS {
            let message = format!("{}: more than {MAX_TERMS} operators", self.section);
            return Err(Diagnostic::new(self.next.span, message, "from here on"));
        }
        Ok(())
    }

    /// Reads something that may contain itself.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            let section = self.section;
            return Err(Diagnostic::new(self.next.span, format!("{section}: nested too deeply"), "from here on"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
