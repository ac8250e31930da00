//! A cursor over the words of one line, and the expressions on it.

use super::MAX_DEPTH;
use super::lex::Token;
use super::names::{Names, Position};
use crate::expr::{BinOp, Expr, UnOp};
use crate::ids::{InstrId, Span};
use crate::program::Ty;

/// A result, or what is wrong with the line.
pub(super) type Result<T> = std::result::Result<T, String>;

/// The words of a line, and how many have been read.
pub(super) struct Line {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Line {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, at: 0, depth: 0 }
    }

    /// The word ahead.
    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let found = match self.peek() {
            None => "the end of the line".into(),
            Some(Token::Word(word)) => format!("`{word}`"),
            Some(Token::Quoted(text)) => format!("{text:?}"),
            Some(Token::Number(number)) => format!("`{number}`"),
            Some(Token::Symbol(symbol)) => format!("`{symbol}`"),
        };
        Err(format!("expected {what}, found {found}"))
    }

    /// Nothing may be left.
    pub(super) fn end(&self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.expected("the end of the line"),
        }
    }

    pub(super) fn peek_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Some(Token::Symbol(ahead)) if *ahead == symbol)
    }

    pub(super) fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.peek_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    pub(super) fn symbol(&mut self, symbol: &str) -> Result<()> {
        match self.take_symbol(symbol) {
            true => Ok(()),
            false => self.expected(&format!("`{symbol}`")),
        }
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(ahead)) if ahead == word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn word(&mut self, word: &str) -> Result<()> {
        match self.take_word(word) {
            true => Ok(()),
            false => self.expected(&format!("`{word}`")),
        }
    }

    /// A word of the language, whichever it is.
    pub(super) fn any_word(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => self.expected("a word"),
        }
    }

    /// A quoted text, if one is ahead.
    pub(super) fn quoted(&mut self) -> Option<String> {
        let Some(Token::Quoted(text)) = self.peek() else {
            return None;
        };
        let text = text.clone();
        self.at += 1;
        Some(text)
    }

    /// A name, bare or in quotes.
    pub(super) fn name(&mut self) -> Result<String> {
        match self.quoted() {
            Some(name) => Ok(name),
            None => match self.any_word() {
                Ok(name) => Ok(name),
                Err(_) => self.expected("a name"),
            },
        }
    }

    /// A number that fits into `T`.
    pub(super) fn number<T: TryFrom<i128>>(&mut self) -> Result<T> {
        let Some(Token::Number(number)) = self.peek() else {
            return self.expected("a number");
        };
        let number = T::try_from(*number).map_err(|_| format!("{number} is out of range"))?;
        self.at += 1;
        Ok(number)
    }

    /// Numbers separated by commas; the verifier, not the reader, objects to none at all.
    pub(super) fn numbers(&mut self) -> Result<Vec<i128>> {
        let mut numbers = Vec::new();
        if matches!(self.peek(), Some(Token::Number(_))) {
            numbers.push(self.number()?);
            while self.take_symbol(",") {
                numbers.push(self.number()?);
            }
        }
        Ok(numbers)
    }

    /// The position of an entry in its table: a name, or `#` and the position itself.
    pub(super) fn reference<T: TryFrom<i128>>(&mut self, what: &str, names: &Names) -> Result<T> {
        if self.take_symbol("#") {
            return self.number();
        }
        let name = self.name()?;
        let position = match names.position(&name) {
            Some(Position::At(position)) => i128::try_from(position).ok(),
            Some(Position::Ambiguous) => {
                return Err(format!("there are several {what}s `{name}`: use a number"));
            }
            None => return Err(format!("there is no {what} `{name}` so far")),
        };
        let id = position.and_then(|position| T::try_from(position).ok());
        id.ok_or_else(|| format!("{what} `{name}` is too far back in its table"))
    }

    /// Whether the reference ahead is followed by this symbol.
    pub(super) fn reference_before(&self, symbol: &'static str) -> bool {
        let reference = if self.peek_symbol("#") { 2 } else { 1 };
        self.tokens.get(self.at + reference) == Some(&Token::Symbol(symbol))
    }

    /// `@` and the number of an instruction.
    pub(super) fn instr_id(&mut self) -> Result<InstrId> {
        self.symbol("@")?;
        self.number().map(InstrId)
    }

    /// A type after a colon, or the default.
    pub(super) fn ty(&mut self) -> Result<Ty> {
        if !self.take_symbol(":") {
            return Ok(Ty::Int);
        }
        if self.take_word("gap") {
            return Ok(Ty::Gap);
        }
        if self.take_word("header") {
            return Ok(Ty::Header);
        }
        if self.take_word("witness") {
            return Ok(Ty::Witness);
        }
        if self.take_word("pointer") {
            return Ok(Ty::Pointer);
        }
        self.word("timestamp").map(|()| Ty::Timestamp)
    }

    /// An equals sign and a number.
    pub(super) fn assigned(&mut self) -> Result<i128> {
        self.symbol("=")?;
        self.number()
    }

    /// A span after a semicolon, or the default.
    pub(super) fn span(&mut self) -> Result<Span> {
        if !self.take_symbol(";") {
            return Ok(Span::default());
        }
        let start = self.number()?;
        self.symbol("..")?;
        let end = self.number()?;
        Ok(Span { start, end })
    }

    /// An expression; `var` reads a variable.
    pub(super) fn expr<V>(&mut self, var: &mut dyn FnMut(&mut Self) -> Result<V>) -> Result<Expr<V>> {
        // The negation of a constant is printed with parentheses: one level more than the expression has.
        if self.depth > MAX_DEPTH {
            return Err(format!("expressions nest more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let expr = self.operand(var);
        self.depth -= 1;
        expr
    }

    fn operand<V>(&mut self, var: &mut dyn FnMut(&mut Self) -> Result<V>) -> Result<Expr<V>> {
        if matches!(self.peek(), Some(Token::Number(_))) {
            self.number().map(Expr::Const)
        } else if self.take_symbol("-") {
            Ok(Expr::unary(UnOp::Neg, self.expr(var)?))
        } else if self.take_symbol("!") {
            Ok(Expr::unary(UnOp::Not, self.expr(var)?))
        } else if let Some(op) = self.named_operator() {
            self.at += 1;
            self.symbol("(")?;
            let arg = self.expr(var)?;
            self.symbol(")")?;
            Ok(Expr::unary(op, arg))
        } else if self.take_symbol("(") {
            let left = self.expr(var)?;
            if self.take_symbol(")") {
                return Ok(left);
            }
            let op = self.operator()?;
            let right = self.expr(var)?;
            self.symbol(")")?;
            Ok(Expr::binary(op, left, right))
        } else {
            var(self).map(Expr::Var)
        }
    }

    /// The unary operator ahead, if it is one that is written as a word before a parenthesis. Variables never stand there, so
    /// a variable may have an operator's name.
    fn named_operator(&self) -> Option<UnOp> {
        let Some(Token::Word(word)) = self.peek() else { return None };
        let op = UnOp::from_word(word)?;
        (self.tokens.get(self.at + 1) == Some(&Token::Symbol("("))).then_some(op)
    }

    fn operator(&mut self) -> Result<BinOp> {
        let ahead = self.peek();
        let op = BinOp::ALL.into_iter().find(|(_, symbol)| ahead == Some(&Token::Symbol(symbol)));
        let Some((op, _)) = op else {
            return self.expected("an operator or `)`");
        };
        self.at += 1;
        Ok(op)
    }
}
