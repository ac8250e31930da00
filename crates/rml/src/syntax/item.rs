//! Items: constants, the `threads` or `stm` block and what it declares, `observe`, `check`.

use cyrano_ir::{Diagnostic, Quantifier, Ty};

use crate::report::{Fallible, Reported};
use crate::syntax::ast::{BlockKind, CheckDecl, Claim, Const, File, Init, Name, Proc, ThreadDecl, VarDecl, VarKind};
use crate::syntax::lexer::unquote;
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

const ITEMS: [&str; 6] = ["const", "threads", "stm", "client", "observe", "check"];
const MEMBERS: [&str; 7] = ["const", "shared", "local", "index", "proc", "thread", "observe"];
const STM_MEMBERS: [&str; 10] = ["const", "shared", "data", "local", "index", "proc", "order", "read", "write", "end"];

impl Parser<'_, '_> {
    /// The whole file.
    pub(crate) fn items(&mut self) {
        while self.peek() != Token::End {
            let (before, first) = (self.span(), self.peek());
            let item = match self.peek() {
                Token::Const => self.constant(),
                Token::Observe => self.observe(),
                Token::Check => self.check(),
                Token::Threads => self.program(BlockKind::Threads),
                Token::Stm => self.program(BlockKind::Stm),
                Token::Ident if self.starts_client() => self.given_client(),
                Token::Semicolon => {
                    self.bump();
                    Ok(())
                }
                _ => Err(self.unexpected_word("`const`, `threads`, `stm`, `observe` or `check`", &ITEMS)),
            };
            if item.is_err() {
                if self.span() == before {
                    self.bump();
                }
                self.skip_declaration(first);
                self.eat(Token::CloseBrace);
            }
        }
    }

    fn constant(&mut self) -> Fallible<()> {
        self.bump();
        let name = self.constant_name()?;
        self.expect(Token::Eq)?;
        let value = self.expr()?;
        self.expect(Token::Semicolon)?;
        self.file.consts.push(Const { name, value });
        Ok(())
    }

    /// A second block is read, so that its syntax is checked, and dropped.
    fn program(&mut self, kind: BlockKind) -> Fallible<()> {
        let keyword = self.bump();
        let name = if self.peek() == Token::Ident { Some(self.bump()) } else { None };
        let span = name.unwrap_or(keyword);
        let first = self.file.program;
        let kept = first.map(|_| std::mem::take(&mut self.file));
        let result = self.program_body(kind);
        match (kept, first) {
            (Some(kept), Some((first_kind, first))) => {
                self.file = File { incomplete: kept.incomplete || self.file.incomplete, ..kept };
                let message = match first_kind == kind {
                    true => format!("a file has one `{}` block", kind.word()),
                    false => "a file has one program: `threads` and `stm` exclude each other".to_owned(),
                };
                let diagnostic = Diagnostic::new(span, message, "the second one");
                self.reports.add(diagnostic.with_related(first, "the first one"));
            }
            _ => self.file.program = Some((kind, span)),
        }
        result
    }

    fn program_body(&mut self, kind: BlockKind) -> Fallible<()> {
        self.expect(Token::OpenBrace)?;
        loop {
            let (before, first) = (self.span(), self.peek());
            let member = match self.peek() {
                Token::CloseBrace => {
                    self.bump();
                    return Ok(());
                }
                Token::End => return Err(self.unexpected("`}`")),
                Token::Semicolon => {
                    self.bump();
                    Ok(())
                }
                Token::Const => self.constant(),
                Token::Observe => self.observe(),
                Token::Ident if self.starts_stm_member() => self.stm_member(kind),
                Token::Thread if kind == BlockKind::Stm => self.thread_in_stm(),
                Token::Shared | Token::Local | Token::Index => self.variables(),
                Token::Proc => self.procedure(),
                Token::Thread => self.thread(),
                Token::Check => {
                    let help = format!("move it behind the `}}` that closes `{}`", kind.word());
                    let message = format!("`check` stands outside `{}`", kind.word());
                    self.complain(before, message, "not here", &help);
                    self.check()
                }
                _ => Err(self.unexpected_member(kind)),
            };
            if member.is_err() {
                if self.span() == before {
                    self.bump();
                }
                self.skip_declaration(first);
            }
        }
    }

    fn unexpected_member(&mut self, kind: BlockKind) -> Reported {
        match kind {
            BlockKind::Threads => self.unexpected_word("a declaration, a procedure or a thread", &MEMBERS),
            BlockKind::Stm => self.unexpected_word("a declaration, a procedure or a command", &STM_MEMBERS),
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
        let mut decls = Vec::new();
        loop {
            decls.push(VarDecl { data, ..self.variable(kind)? });
            if !self.eat(Token::Comma) {
                break;
            }
        }
        if self.peek() != Token::CloseBrace {
            self.expect(Token::Semicolon)?;
        }
        Ok(decls)
    }

    fn variable(&mut self, kind: VarKind) -> Fallible<VarDecl> {
        let name = self.name()?;
        let mut decl = VarDecl { name, kind, data: false, len: None, ty: Ty::Int, init: None };
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
        if self.eat(Token::OpenBracket) {
            decl.len = Some(self.expr()?);
            self.expect(Token::CloseBracket)?;
        }
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

    fn initialiser(&mut self) -> Fallible<Init> {
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
        Ok(VarDecl { name, kind: VarKind::Param, data: false, len: None, ty, init: None })
    }

    /// A thread, or a family of them.
    pub(crate) fn thread(&mut self) -> Fallible<()> {
        self.bump();
        let name = self.name()?;
        let mut count = None;
        if self.eat(Token::OpenBracket) {
            count = Some(self.expr()?);
            self.expect(Token::CloseBracket)?;
        }
        let body = self.block()?;
        self.file.threads.push(ThreadDecl { name, count, body });
        Ok(())
    }

    fn observe(&mut self) -> Fallible<()> {
        self.bump();
        loop {
            let reference = self.reference()?;
            self.file.observed.push(reference);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::Semicolon)?;
        Ok(())
    }

    fn claim(&mut self) -> Fallible<Claim> {
        if let Some(claim) = self.block_claim() {
            return Ok(claim);
        }
        let quantifier = match self.peek() {
            Token::Assertions => None,
            Token::Exists => Some(Quantifier::Exists),
            Token::Never => Some(Quantifier::Never),
            Token::Always | Token::Forall => Some(Quantifier::Always),
            _ => return self.criterion(),
        };
        self.bump();
        let Some(quantifier) = quantifier else { return Ok(Claim::Assertions) };
        self.expect(Token::OpenParen)?;
        let from = self.span();
        let cond = self.expr()?;
        let text = self.text(self.since(from));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.expect(Token::CloseParen)?;
        Ok(Claim::Final(quantifier, cond, text))
    }

    fn check(&mut self) -> Fallible<()> {
        let start = self.bump();
        let claim = self.claim()?;
        let models = if self.eat(Token::On) { self.models()? } else { Vec::new() };
        let span = self.since(start);
        self.expect(Token::Semicolon)?;
        self.file.checks.push(CheckDecl { claim, models, span });
        Ok(())
    }

    fn models(&mut self) -> Fallible<Vec<String>> {
        let mut models = vec![self.model()?];
        while self.eat(Token::Comma) {
            models.push(self.model()?);
        }
        Ok(models)
    }

    fn model(&mut self) -> Fallible<String> {
        if self.peek() == Token::Str {
            let span = self.bump();
            return Ok(unquote(self.text(span)));
        }
        Ok(self.hyphenated("a memory model")?.text)
    }

    /// Words joined by hyphens without space: `sparc-rmo`, `store-load`.
    pub(crate) fn hyphenated(&mut self, wanted: &str) -> Fallible<Name> {
        if self.peek() != Token::Ident {
            return Err(self.unexpected(wanted));
        }
        Ok(self.joined())
    }

    /// The next word, whatever it is, and those that are joined to it by hyphens.
    pub(crate) fn joined(&mut self) -> Name {
        let mut span = self.bump();
        while self.peek() == Token::Minus && self.span().start == span.end {
            span = span.to(self.bump());
            if matches!(self.peek(), Token::Ident | Token::Int) && self.span().start == span.end {
                span = span.to(self.bump());
            }
        }
        Name { text: self.text(span).to_owned(), span }
    }
}
