//! Items: constants, the `threads`, `stm` or `algorithm` block, what the first two declare, `observe`.

use cyrano_ir::{Diagnostic, Ty};

use crate::report::{Fallible, Reported};
use crate::syntax::ast::{BlockKind, Const, Count, File, Init, Item, Proc, ThreadDecl, Use, VarDecl, VarKind};
use crate::syntax::lexer::unquote;
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

const ITEMS: [&str; 7] = ["const", "threads", "stm", "client", "observe", "check", "use"];
const ALGORITHM_ITEMS: [&str; 4] = ["const", "algorithm", "client", "check"];
/// What starts a declaration anywhere but in an algorithm file.
pub(crate) const DECLARATIONS: [&str; 10] =
    ["check", "const", "index", "local", "observe", "proc", "shared", "stm", "thread", "threads"];
const MEMBERS: [&str; 8] = ["const", "shared", "local", "index", "proc", "thread", "observe", "invariant"];
const STM_MEMBERS: [&str; 10] = ["const", "shared", "data", "local", "index", "proc", "order", "read", "write", "end"];

impl Parser<'_, '_> {
    /// The whole file.
    pub(crate) fn items(&mut self) {
        let words = if self.is_algorithm { ALGORITHM_ITEMS.as_slice() } else { &DECLARATIONS };
        while self.peek() != Token::End {
            let (before, first) = (self.span(), self.peek());
            let (is_claim, consts) = (self.starts_claim(), self.file.consts.len());
            let item = match first {
                Token::Const => self.constants().map(|found| self.file.consts.extend(found)),
                Token::Observe => self.observe(),
                Token::Check => self.check(),
                Token::Threads => self.program(BlockKind::Threads),
                Token::Stm => self.program(BlockKind::Stm),
                Token::Ident if self.at_word("use") => self.uses(),
                Token::Ident if self.starts_invariant() => {
                    let help = "move it into `threads { … }`, or claim it: `check invariant (…);`";
                    let message = "`invariant` stands inside of `threads`";
                    Err(self.complain(self.span(), message, "not here", help))
                }
                Token::Ident if self.at_word("algorithm") => self.program(BlockKind::Algorithm),
                Token::Ident if self.starts_client() && !self.is_algorithm => self.given_client(),
                Token::Ident if self.at_word("client") => self.client().map(|client| self.file.clients.push(client)),
                Token::Semicolon => {
                    self.bump();
                    Ok(())
                }
                _ => Err(self.unexpected_item()),
            };
            if item.is_err() {
                self.skip_declaration((before, first), words);
                self.eat(Token::CloseBrace);
            }
            let names = self.file.consts.get(consts..).unwrap_or_default();
            let constants =
                if first == Token::Const { names.iter().map(|c| c.name.text.clone()).collect() } else { Vec::new() };
            let item = Item { span: self.since(before), is_claim, constants };
            self.file.items.push(item);
        }
    }

    /// Whether something is next that says what is asked about the program.
    fn starts_claim(&self) -> bool {
        matches!(self.peek(), Token::Check | Token::Observe) || self.at_word("client")
    }

    /// `use lib:stm/tl2;`, `use "mine.rml";`.
    fn uses(&mut self) -> Fallible<()> {
        let start = self.bump();
        let first = self.span();
        while !matches!(self.peek(), Token::Semicolon | Token::End) {
            self.bump();
        }
        if self.span() == first {
            let help = "write `use lib:stm/mcrt_timestamps;`";
            return Err(self.complain(first, "`use` without a file", "expected the name of a file", help));
        }
        let path = self.since(first);
        let text = self.text(path);
        let name = if text.starts_with('"') { unquote(text) } else { text.to_owned() };
        self.expect(Token::Semicolon)?;
        let span = self.since(start);
        self.file.uses.push(Use { name, path, span });
        Ok(())
    }

    fn unexpected_item(&mut self) -> Reported {
        match self.is_algorithm {
            true => self.unexpected_word("`const`, `algorithm`, `client` or `check`", &ALGORITHM_ITEMS),
            false => self.unexpected_word("`const`, `threads`, `stm`, `algorithm`, `observe` or `check`", &ITEMS),
        }
    }

    /// `const name = value, …;`.
    pub(crate) fn constants(&mut self) -> Fallible<Vec<Const>> {
        self.bump();
        let found = self.several(Self::constant)?;
        self.expect(Token::Semicolon)?;
        Ok(found)
    }

    /// `name = value`.
    pub(crate) fn constant(&mut self) -> Fallible<Const> {
        let name = self.constant_name()?;
        self.expect(Token::Eq)?;
        Ok(Const { name, value: self.expr()? })
    }

    /// A second block is read, so that its syntax is checked, and dropped.
    fn program(&mut self, kind: BlockKind) -> Fallible<()> {
        let keyword = self.bump();
        let named = kind == BlockKind::Algorithm || self.peek() == Token::Ident;
        let name = if named { Some(self.name()?) } else { None };
        let span = name.as_ref().map_or(keyword, |name| name.span);
        let first = self.file.program;
        let kept = first.map(|_| std::mem::take(&mut self.file));
        let result = match (kind, name) {
            (BlockKind::Algorithm, Some(name)) => self.algorithm(name),
            _ => self.program_body(kind),
        };
        match (kept, first) {
            (Some(kept), Some((first_kind, first))) => {
                self.file = File { incomplete: kept.incomplete || self.file.incomplete, ..kept };
                let (one, other) = (first_kind.min(kind).word(), first_kind.max(kind).word());
                let message = match first_kind == kind {
                    true => format!("a file has one `{one}` block"),
                    false => format!("a file has one program: `{one}` and `{other}` exclude each other"),
                };
                let diagnostic = Diagnostic::new(span, message, "the second one");
                self.reports.add(diagnostic.with_related(first, "the first one"));
            }
            _ => self.file.program = Some((kind, span)),
        }
        result
    }

    fn program_body(&mut self, kind: BlockKind) -> Fallible<()> {
        self.members(&DECLARATIONS, |p| match p.peek() {
            Token::Const => p.constants().map(|found| p.file.consts.extend(found)),
            Token::Observe => p.observe(),
            Token::Ident if p.starts_stm_member() => p.stm_member(kind),
            Token::Ident if p.starts_invariant() => p.invariant(kind),
            Token::Thread if kind == BlockKind::Stm => p.thread_in_stm(),
            Token::Shared | Token::Local | Token::Index => p.variables(),
            Token::Proc => p.procedure(),
            Token::Thread => p.thread(),
            Token::Check => {
                let help = format!("move it behind the `}}` that closes `{}`", kind.word());
                let message = format!("`check` stands outside `{}`", kind.word());
                p.complain(p.span(), message, "not here", &help);
                p.check()
            }
            _ => Err(p.unexpected_member(kind)),
        })?;
        Ok(())
    }

    fn unexpected_member(&mut self, kind: BlockKind) -> Reported {
        match kind {
            BlockKind::Stm => self.unexpected_word("a declaration, a procedure or a command", &STM_MEMBERS),
            _ => self.unexpected_word("a declaration, a procedure or a thread", &MEMBERS),
        }
    }

    /// Variables of the whole program.
    pub(crate) fn variables(&mut self) -> Fallible<()> {
        let decls = self.declaration()?;
        self.file.decls.extend(decls);
        Ok(())
    }

    /// `shared`, `data`, `local` or `index`, up to and including the `;`.
    pub(crate) fn declaration(&mut self) -> Fallible<Vec<VarDecl>> {
        let (kind, data) = match self.peek() {
            Token::Shared => (VarKind::Shared, false),
            Token::Ident => (VarKind::Shared, true),
            Token::Index => (VarKind::Index, false),
            _ => (VarKind::Local, false),
        };
        self.bump();
        let sync = kind == VarKind::Shared && self.peek_second() == Token::Ident && self.eat_word("sync");
        let decls = self.several(|p| Ok(VarDecl { data, sync, ..p.variable(kind)? }))?;
        if self.peek() != Token::CloseBrace {
            self.expect(Token::Semicolon)?;
        }
        Ok(decls)
    }

    fn variable(&mut self, kind: VarKind) -> Fallible<VarDecl> {
        let name = self.name()?;
        let mut decl = VarDecl { name, kind, data: false, sync: false, len: None, ty: Ty::Int, init: None };
        if kind == VarKind::Index {
            return match self.peek() {
                Token::OpenBracket | Token::Colon | Token::Eq => {
                    let help = "an index variable is one integer that starts as 0: `index i;`";
                    let message = "an index variable has no length, type or initial value";
                    Err(self.complain(self.span(), message, "not here", help))
                }
                _ => Ok(decl),
            };
        }
        decl.len = self.subscript()?;
        decl.ty = self.ty()?;
        if self.eat(Token::Eq) {
            decl.init = Some(self.initialiser()?);
        }
        Ok(decl)
    }

    fn ty(&mut self) -> Fallible<Ty> {
        if !self.eat(Token::Colon) {
            return Ok(Ty::Int);
        }
        let ty = match self.peek() {
            Token::IntType | Token::Bool => Ty::Int,
            Token::Timestamp => Ty::Timestamp,
            _ => {
                let types = ["int", "bool", "timestamp"];
                return Err(self.unexpected_word("a type (`int`, `bool` or `timestamp`)", &types));
            }
        };
        self.bump();
        Ok(ty)
    }

    pub(crate) fn initialiser(&mut self) -> Fallible<Init> {
        if self.peek() != Token::OpenBrace {
            return Ok(Init::Value(self.expr()?));
        }
        let start = self.span();
        let values = self.list(Token::OpenBrace, Token::CloseBrace, Self::expr)?;
        Ok(Init::List(values, self.since(start)))
    }

    fn procedure(&mut self) -> Fallible<()> {
        self.bump();
        let name = self.name()?;
        let params = match self.peek() {
            Token::OpenParen => self.list(Token::OpenParen, Token::CloseParen, Self::parameter)?,
            _ => Vec::new(),
        };
        let body = self.block()?;
        self.file.procs.push(Proc { command: None, name, params, body });
        Ok(())
    }

    fn parameter(&mut self) -> Fallible<VarDecl> {
        let name = self.name()?;
        let ty = self.ty()?;
        Ok(VarDecl { name, kind: VarKind::Param, data: false, sync: false, len: None, ty, init: None })
    }

    /// A thread, or a family of them.
    pub(crate) fn thread(&mut self) -> Fallible<()> {
        self.bump();
        let name = self.name()?;
        let count = self.count()?;
        let body = self.block()?;
        self.file.threads.push(ThreadDecl { name, count, body });
        Ok(())
    }

    /// `[N]`, `[*]`, or nothing.
    fn count(&mut self) -> Fallible<Count> {
        if self.peek() == Token::OpenBracket && self.peek_second() == Token::Star {
            self.bump();
            let span = self.bump();
            self.expect(Token::CloseBracket)?;
            return Ok(Count::Any { span, by: None });
        }
        Ok(self.subscript()?.map_or(Count::One, Count::Number))
    }

    fn observe(&mut self) -> Fallible<()> {
        self.bump();
        let found = self.several(Self::reference)?;
        self.expect(Token::Semicolon)?;
        self.file.observed.extend(found);
        Ok(())
    }
}
