//! Names in a source text and what they stand for, for editors.
//!
//! A text that is being written is wrong most of the time, so this looks at tokens and braces, not at the tree: what a name stands for is the innermost declaration
//! around it. Compiling is stricter, and says what is wrong; nothing here makes a program.

use std::ops::Range;

use cyrano_ir::Span;

use crate::report::Reports;
use crate::syntax::lexer::lex;
use crate::syntax::token::Token;

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A number that does not change.
    Constant,
    /// A variable that all threads see.
    Shared,
    /// A variable of one thread, a parameter, or what a loop binds.
    Local,
    /// A procedure or a method.
    Procedure,
    /// A thread or a family of threads.
    Thread,
    /// An stm, an algorithm, a client, or a named block.
    Block,
    /// A statement.
    Label,
}

/// A declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Where the name stands.
    pub span: Span,
    /// Where it is known.
    pub scope: Range<usize>,
    /// The declaration as it is written, on one line.
    pub text: String,
}

/// The names of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outline {
    /// What is declared, in the order of the text.
    pub symbols: Vec<Symbol>,
    /// Every name that stands for a declaration, that in the declaration too, and which one.
    pub uses: Vec<(Span, usize)>,
}

impl Outline {
    /// The declaration of the name at this offset.
    pub fn at(&self, offset: usize) -> Option<(Span, usize)> {
        let here = |span: &Span| span.start as usize <= offset && offset <= span.end as usize;
        self.uses.iter().find(|(span, _)| here(span)).copied()
    }

    /// What is known at this offset, inner declarations before outer ones, each name once.
    pub fn known(&self, offset: usize) -> Vec<&Symbol> {
        let mut known: Vec<&Symbol> = self.symbols.iter().filter(|symbol| reaches(symbol, offset)).collect();
        known.sort_by_key(|symbol| symbol.scope.len());
        let mut names: Vec<&str> = Vec::new();
        known.retain(|symbol| {
            let new = !names.contains(&symbol.name.as_str());
            names.push(&symbol.name);
            new
        });
        known
    }
}

fn reaches(symbol: &Symbol, offset: usize) -> bool {
    symbol.scope.start <= offset && offset <= symbol.scope.end
}

/// The names of a source text.
pub fn outline(source: &str) -> Outline {
    let tokens = lex(source, &mut Reports::default());
    let mut reader = Reader { source, tokens: &tokens, at: 0, symbols: Vec::new(), open: vec![Scope::default()] };
    while reader.peek() != Token::End {
        reader.step();
    }
    while !reader.open.is_empty() {
        reader.close(source.len());
    }
    let mut symbols = reader.symbols;
    symbols.sort_by_key(|symbol| symbol.span.start);
    let uses = uses(source, &tokens, &symbols);
    Outline { symbols, uses }
}

/// Every name with the innermost declaration around it; of two in one scope, the one that stands before it.
fn uses(source: &str, tokens: &[(Token, Span)], symbols: &[Symbol]) -> Vec<(Span, usize)> {
    let mut uses = Vec::new();
    for (at, (token, span)) in tokens.iter().enumerate() {
        let field = at > 0 && tokens[at - 1].0 == Token::Dot;
        if *token != Token::Ident || field {
            continue;
        }
        let (name, offset) = (&source[span.range()], span.start as usize);
        let fits = |symbol: &Symbol| symbol.name == name && (reaches(symbol, offset) || symbol.span == *span);
        let candidates = symbols.iter().enumerate().filter(|(_, symbol)| fits(symbol));
        let best = candidates.min_by_key(|(_, symbol)| {
            (symbol.span != *span, symbol.scope.len(), symbol.span.start > span.start, u32::MAX - symbol.span.start)
        });
        uses.extend(best.map(|(number, _)| (*span, number)));
    }
    uses
}

/// A pair of braces that is not closed yet, and the names that are known in it.
#[derive(Default)]
struct Scope {
    start: usize,
    names: Vec<usize>,
    /// Whether what is assigned to and is declared nowhere is declared by that: methods of an algorithm.
    implicit: bool,
}

struct Reader<'a> {
    source: &'a str,
    tokens: &'a [(Token, Span)],
    at: usize,
    symbols: Vec<Symbol>,
    open: Vec<Scope>,
}

impl Reader<'_> {
    fn peek(&self) -> Token {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> Token {
        self.tokens.get(self.at + by).map_or(Token::End, |(token, _)| *token)
    }

    fn text(&self, by: usize) -> &str {
        self.tokens.get(self.at + by).map_or("", |(_, span)| &self.source[span.range()])
    }

    fn step(&mut self) {
        match self.peek() {
            Token::Const => self.list(Kind::Constant),
            Token::Shared => self.list(Kind::Shared),
            Token::Local | Token::Index => self.list(Kind::Local),
            Token::Proc if self.ahead(1) == Token::Ident => self.callable(),
            Token::Thread if self.ahead(1) == Token::Ident => self.named(Kind::Thread),
            Token::Stm | Token::Atomic | Token::Operation if self.ahead(1) == Token::Ident => self.named(Kind::Block),
            Token::Foreach | Token::Forall | Token::Forsome | Token::Exists => self.binders(),
            Token::Ident => self.word(),
            Token::OpenBrace => {
                let start = self.tokens[self.at].1.start as usize;
                self.open.push(Scope { start, ..Scope::default() });
                self.at += 1;
            }
            Token::CloseBrace => {
                let end = self.tokens[self.at].1.end as usize;
                if self.open.len() > 1 {
                    self.close(end);
                }
                self.at += 1;
            }
            _ => self.at += 1,
        }
    }

    /// Words that are reserved only where they stand, labels, and first assignments in methods.
    fn word(&mut self) {
        let next = self.ahead(1);
        let first = self.at == 0
            || matches!(
                self.tokens[self.at - 1].0,
                Token::OpenBrace | Token::CloseBrace | Token::Semicolon | Token::Colon
            );
        match (self.text(0), next) {
            ("data" | "txlocal" | "threadlocal", Token::Ident) if first => {
                let kind = if self.text(0) == "data" { Kind::Shared } else { Kind::Local };
                self.list(kind);
            }
            ("method" | "read" | "write", Token::Ident | Token::OpenParen) if first => self.callable(),
            ("end", Token::OpenBrace) if first => self.callable(),
            ("algorithm" | "client", Token::Ident) if first => self.callable(),
            (_, Token::Colon) if first => self.declare_here(Kind::Label),
            (_, Token::Assign) if self.is_new() => self.declare_here(Kind::Local),
            _ => self.at += 1,
        }
    }

    /// Whether an assignment declares what it assigns to.
    fn is_new(&self) -> bool {
        let name = self.text(0);
        let known = |scope: &Scope| scope.names.iter().any(|number| self.symbols[*number].name == name);
        let method = self.open.iter().rposition(|scope| scope.implicit);
        method.is_some() && !self.open.iter().any(known)
    }

    /// Names between commas, up to the end of the declaration.
    fn list(&mut self, kind: Kind) {
        let start = self.at;
        self.at += 1;
        if self.text(0) == "sync" && self.ahead(1) == Token::Ident {
            self.at += 1;
        }
        let (mut depth, mut name) = (0usize, true);
        loop {
            match self.peek() {
                Token::End => break,
                Token::Semicolon | Token::CloseBrace if depth == 0 => break,
                Token::OpenParen | Token::OpenBracket | Token::OpenBrace => depth += 1,
                Token::CloseParen | Token::CloseBracket | Token::CloseBrace => depth -= 1,
                Token::Comma if depth == 0 => {
                    name = true;
                    self.at += 1;
                    continue;
                }
                Token::Ident if name => self.declare(kind, start, self.end_of_element()),
                _ => {}
            }
            name = false;
            self.at += 1;
        }
    }

    /// The token behind an element of a list.
    fn end_of_element(&self) -> usize {
        let (mut depth, mut at) = (0usize, self.at);
        while let Some((token, _)) = self.tokens.get(at) {
            match token {
                Token::End => break,
                Token::Comma | Token::Semicolon | Token::CloseBrace if depth == 0 => break,
                Token::OpenParen | Token::OpenBracket | Token::OpenBrace => depth += 1,
                Token::CloseParen | Token::CloseBracket | Token::CloseBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// A word, a name and parameters, which are known up to the end of the block behind them; the commands of an stm have no name of their own.
    fn callable(&mut self) {
        let start = self.at;
        let method = self.text(0) == "method";
        let kind = if matches!(self.text(0), "algorithm" | "client") { Kind::Block } else { Kind::Procedure };
        if self.ahead(1) == Token::Ident {
            self.at += 1;
        }
        if self.peek() != Token::Ident {
            return;
        }
        let heading =
            (self.at..self.tokens.len()).find(|at| matches!(self.tokens[*at].0, Token::OpenBrace | Token::End));
        let heading = heading.unwrap_or(self.at);
        self.declare(kind, start, heading);
        self.at += 1;
        let parameters = self.at;
        let mut params: Vec<usize> = Vec::new();
        while self.at < heading {
            let before = self.tokens[self.at - 1].0;
            if self.peek() == Token::Ident && matches!(before, Token::OpenParen | Token::Comma) && self.at > parameters
            {
                params.push(self.at);
            }
            self.at += 1;
        }
        if self.peek() == Token::OpenBrace {
            let from = self.tokens[start].1.start as usize;
            self.open.push(Scope { start: from, implicit: method, ..Scope::default() });
            for at in params {
                self.declare_token(at, Kind::Local, at, at + 1);
            }
            self.at += 1;
        }
    }

    /// A word and a name, in front of a block.
    fn named(&mut self, kind: Kind) {
        let start = self.at;
        self.at += 1;
        let heading = (self.at..self.tokens.len())
            .find(|at| matches!(self.tokens[*at].0, Token::OpenBrace | Token::Semicolon | Token::End));
        self.declare(kind, start, heading.unwrap_or(self.at + 1));
        self.at += 1;
    }

    /// What stands before `in` is known in what follows: here, up to the end of the block around it.
    fn binders(&mut self) {
        let start = self.at;
        self.at += 1;
        let limit = (self.at + 12).min(self.tokens.len());
        let Some(end) = (self.at..limit).find(|at| self.tokens[*at].0 == Token::In) else { return };
        while self.at < end {
            if self.peek() == Token::Ident {
                self.declare(Kind::Local, start, end);
            }
            self.at += 1;
        }
    }

    fn declare_here(&mut self, kind: Kind) {
        self.declare(kind, self.at, self.end_of_element());
        self.at += 1;
    }

    /// Declares the name that is next; its text goes from one token up to another.
    fn declare(&mut self, kind: Kind, start: usize, end: usize) {
        self.declare_token(self.at, kind, start, end);
    }

    fn declare_token(&mut self, at: usize, kind: Kind, start: usize, end: usize) {
        let Some((_, span)) = self.tokens.get(at) else { return };
        let from = |token: usize| self.tokens[token].1;
        let last = from(end.clamp(at + 1, self.tokens.len()) - 1).end as usize;
        let word = &self.source[from(start).range()];
        let own = &self.source[span.start as usize..last];
        let whole = if start == at { own.to_owned() } else { format!("{word} {own}") };
        let text = whole.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = self.source[span.range()].to_owned();
        let number = self.symbols.len();
        self.symbols.push(Symbol { name, kind, span: *span, scope: 0..0, text });
        // A label is known to the orders behind the methods, a first assignment to all of its method.
        let scope = match kind {
            Kind::Label => self.open.len().min(2) - 1,
            Kind::Local => self
                .open
                .iter()
                .rposition(|scope| scope.implicit)
                .filter(|_| start == at)
                .unwrap_or(self.open.len() - 1),
            _ => self.open.len() - 1,
        };
        self.open[scope].names.push(number);
    }

    /// Closes the innermost pair of braces: what was declared in it is known in it. What a file or its program declares is known in all of the file: claims stand behind the program.
    fn close(&mut self, end: usize) {
        let Some(scope) = self.open.pop() else { return };
        let known = if self.open.len() <= 1 { 0..self.source.len() } else { scope.start..end };
        for number in scope.names {
            self.symbols[number].scope = known.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The uses of the name at the mark `^` of a text, as `line:column`.
    fn check(text: &str, expected: &[&str]) {
        let at = text.find('^').expect("there is a mark");
        let text = text.replacen('^', "", 1);
        let outline = outline(&text);
        let found = outline.at(at).map(|(_, number)| number);
        let place = |span: &Span| {
            let before = &text[..span.start as usize];
            let line = before.matches('\n').count() + 1;
            format!("{line}:{}", before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1)
        };
        let uses: Vec<String> =
            outline.uses.iter().filter(|(_, number)| Some(*number) == found).map(|(span, _)| place(span)).collect();
        assert_eq!(uses, expected, "{outline:?}");
    }

    #[test]
    fn names_stand_for_the_innermost_declaration() {
        let text = "const N = 2;\nthreads { shared x[N], y = {1, 2}; local r;\n proc p(a) { a := x[0] }\n thread t[N] { local r; r := y; p(r) }\n thread u { ^r := x[1] } }\ncheck never (t[0].r = 1);\n";
        check(text, &["2:42", "5:13"]);
        check(&text.replace('^', "").replace("local r; r := y", "local r; ^r := y"), &["4:22", "4:25", "4:35"]);
        check(&text.replace('^', "").replacen("x[N]", "^x[N]", 1), &["2:18", "3:19", "5:18"]);
        check(&text.replace('^', "").replacen("const N", "const ^N", 1), &["1:7", "2:20", "4:11"]);
        check(&text.replace('^', "").replacen("p(a)", "p(^a)", 1), &["3:9", "3:14"]);
    }

    #[test]
    fn methods_declare_by_assigning_and_labels_are_known_to_orders() {
        let text = "algorithm A(locs = 2) {\n shared s: BasicRegister[locs];\n method read(i) { R01: v := s[i].read(); R02: return ^v; }\n order R01 < R02;\n}\n";
        check(text, &["3:24", "3:54"]);
        check(&text.replace('^', "").replacen("R01", "^R01", 1), &["3:19", "4:8"]);
        check(&text.replace('^', "").replacen("locs", "^locs", 1), &["1:13", "2:26"]);
    }

    #[test]
    fn a_text_that_is_being_written_has_names() {
        check("threads { shared ^x; thread p { x := ", &["1:18", "1:32"]);
        assert_eq!(outline("}}}{{ const").uses, []);
        assert_eq!(outline("proc").symbols.len(), 0);
        let known = outline("threads { shared x; thread p { local l;  } }");
        let names: Vec<&str> = known.known(39).iter().map(|symbol| symbol.name.as_str()).collect();
        assert_eq!(names, ["l", "x", "p"]);
    }
}
