//! The words of a cat text. Comments are `(* … *)`, nested, and `// …`.

use cyrano_ir::{Diagnostic, Span};

/// A word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Word<'s> {
    /// A name or a keyword; `_` and `0` too.
    Name(&'s str),
    /// A tag of a bell file: `'once`.
    Tag,
    /// A text in quotes, without them.
    Text(&'s str),
    /// Punctuation or an operator.
    Symbol(&'static str),
}

/// A word and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token<'s> {
    pub(super) word: Word<'s>,
    pub(super) span: Span,
}

/// All symbols; a longer one stands before its prefixes.
const SYMBOLS: [&str; 26] = [
    "^-1", "^+", "^*", "^?", "||", "&&", "++", "->", "(", ")", "[", "]", "{", "}", ",", ";", "|", "&", "\\", "~", "+",
    "*", "?", "=", ":", "<",
];

/// Splits a text, which stands at `offset` in a larger one; what is no word is reported and left out.
pub(super) fn tokens<'s>(text: &'s str, offset: usize, errors: &mut Vec<Diagnostic>) -> Vec<Token<'s>> {
    let mut lexer = Lexer { text, at: 0, offset, tokens: Vec::new(), errors };
    lexer.run();
    lexer.tokens
}

struct Lexer<'s, 'e> {
    text: &'s str,
    at: usize,
    offset: usize,
    tokens: Vec<Token<'s>>,
    errors: &'e mut Vec<Diagnostic>,
}

impl<'s> Lexer<'s, '_> {
    fn run(&mut self) {
        while let Some(first) = self.rest().chars().next() {
            let rest = self.rest();
            if first.is_whitespace() {
                self.at += first.len_utf8();
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("(*") {
                self.comment();
            } else if first == '"' {
                self.quoted();
            } else {
                self.word(first);
            }
        }
    }

    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    fn span(&self, len: usize) -> Span {
        Span::new(self.offset + self.at, self.offset + self.at + len)
    }

    fn push(&mut self, word: Word<'s>, len: usize) {
        let span = self.span(len);
        self.tokens.push(Token { word, span });
        self.at += len;
    }

    fn comment(&mut self) {
        let (rest, mut depth, mut at) = (self.rest(), 0usize, 0);
        while at < rest.len() {
            if rest[at..].starts_with("(*") {
                (depth, at) = (depth + 1, at + 2);
            } else if rest[at..].starts_with("*)") {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    self.at += at;
                    return;
                }
            } else {
                at += rest[at..].chars().next().map_or(1, char::len_utf8);
            }
        }
        let error = Diagnostic::new(self.span(2), "this comment does not end", "begins here");
        self.errors.push(error.with_help("comments end with `*)`, and may contain others"));
        self.at = self.text.len();
    }

    fn quoted(&mut self) {
        let rest = self.rest();
        match rest[1..].find(['"', '\n']).filter(|end| rest[1 + end..].starts_with('"')) {
            Some(end) => self.push(Word::Text(&rest[1..=end]), end + 2),
            None => {
                let len = rest.find('\n').unwrap_or(rest.len());
                self.errors.push(Diagnostic::new(self.span(len), "this text does not end", "no closing quote"));
                self.at += len;
            }
        }
    }

    fn word(&mut self, first: char) {
        let rest = self.rest();
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let len_from = |start: usize| rest[start..].find(|c| !part(c)).map_or(rest.len(), |len| start + len);
        if first.is_ascii_alphanumeric() || first == '_' {
            let len = len_from(0);
            self.push(Word::Name(&rest[..len]), len);
        } else if first == '\'' {
            self.push(Word::Tag, len_from(1));
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            self.push(Word::Symbol(symbol), symbol.len());
        } else {
            self.garbage();
        }
    }

    /// Reports a run of characters that are nothing, once.
    fn garbage(&mut self) {
        let rest = self.rest();
        let known = |c: char| c.is_whitespace() || c.is_ascii_graphic() && !matches!(c, '!' | '$' | '%' | '@' | '`');
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let len = rest[first..].find(known).map_or(rest.len(), |len| first + len);
        let shown: String = rest[..len].chars().take(20).collect();
        let message = format!("`{}` is no word of the language", shown.escape_debug());
        self.errors.push(Diagnostic::new(self.span(len), message, "unknown"));
        self.at += len;
    }
}
