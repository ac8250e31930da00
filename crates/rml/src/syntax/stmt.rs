//! Statements and blocks.

use cyrano_ir::suggest::closest;
use cyrano_ir::{Diagnostic, Fence, FenceName, FenceSet, Span, TxEvent};

use crate::report::{Fallible, Reported};
use crate::syntax::ast::{AtomicBlock, Block, Call, Name, Rhs, Stmt, StmtKind};
use crate::syntax::expr::binary_op;
use crate::syntax::lexer::unquote;
use crate::syntax::objects::{Each, LoopOrder};
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

impl Parser<'_, '_> {
    /// `{ … }`.
    pub(crate) fn block(&mut self) -> Fallible<Block> {
        let open = self.expect(Token::OpenBrace)?;
        self.nested(|p| p.block_rest(open))
    }

    fn block_rest(&mut self, open: Span) -> Fallible<Block> {
        let mut stmts = Vec::new();
        loop {
            match self.peek() {
                Token::CloseBrace => {
                    let close = self.bump();
                    return Ok(Block { stmts, close });
                }
                Token::End => {
                    let diagnostic =
                        Diagnostic::new(self.span(), "expected `}`, found the end of the file", "expected `}`");
                    return Err(self.syntax_error(diagnostic.with_related(open, "to close this")));
                }
                Token::Semicolon => {
                    self.bump();
                }
                _ => {
                    let before = self.span();
                    let stmt = self.statement_and_end();
                    if let Ok(stmt) = stmt {
                        stmts.push(stmt);
                        continue;
                    }
                    if self.span() == before && !matches!(self.peek(), Token::CloseBrace | Token::End) {
                        self.bump();
                    }
                    self.skip_statement();
                }
            }
        }
    }

    /// A statement and the `;` behind it, which a block and the last statement of a block do without.
    fn statement_and_end(&mut self) -> Fallible<Stmt> {
        let stmt = self.statement()?;
        let ends_in_brace = self.text(self.last_span()) == "}";
        let declared = matches!(stmt.kind, StmtKind::Declare(_));
        if ends_in_brace || declared || self.eat(Token::Semicolon) || self.peek() == Token::CloseBrace {
            return Ok(stmt);
        }
        let (found, span) = (self.found(), self.span());
        let mut diagnostic = Diagnostic::new(span, format!("expected `;`, found {found}"), "expected `;` before this");
        let mut starts = self.peek() == Token::Ident || self.peek().is_word() && binary_op(self.peek()).is_none();
        if let StmtKind::Do(Rhs::Call(call)) = &stmt.kind
            && let Some(word) = closest(&call.name.text, Token::WORDS.iter().copied())
        {
            diagnostic.help = Some(format!("did you mean `{word}` instead of `{}`?", call.name.text));
            starts = false;
        }
        self.reports.add(diagnostic);
        if !starts {
            return Err(Reported);
        }
        // What follows is most likely the next statement, so the parser goes on as if the `;` were there.
        Ok(stmt)
    }

    fn statement(&mut self) -> Fallible<Stmt> {
        let label = match (self.peek(), self.peek_second()) {
            (Token::Ident, Token::Colon) => Some(self.name()?),
            _ => None,
        };
        if label.is_some() {
            self.bump();
        }
        let start = self.span();
        let kind = self.nested(Self::statement_kind)?;
        let whole = self.since(start);
        let span = match &kind {
            StmtKind::If { .. } | StmtKind::While(..) | StmtKind::Loop(_) | StmtKind::Atomic(_) => start,
            StmtKind::ChooseBlock(_) | StmtKind::Tx(..) => start,
            StmtKind::Operation(name, _) => start.to(name.span),
            StmtKind::AtomicBlock(block) => block.name.as_ref().map_or(start, |name| start.to(name.span)),
            StmtKind::Foreach(_, range, _) | StmtKind::Forsome(_, range, _) => start.to(range.span),
            StmtKind::Each(each) => each.head,
            _ => whole,
        };
        Ok(Stmt { label, kind, span })
    }

    fn statement_kind(&mut self) -> Fallible<StmtKind> {
        let token = self.peek();
        match token {
            Token::Ident if self.declares_data() => return self.local_declaration(),
            Token::Ident if self.starts_tx() => return self.tx(),
            Token::Ident if self.is_mark() => {
                self.bump();
                return Ok(StmtKind::Progress);
            }
            Token::Ident => return self.name_first(),
            Token::Commit | Token::Abort if self.starts_call() => return self.name_first(),
            Token::Cas | Token::Exchange | Token::FetchAdd => return Ok(StmtKind::Do(self.rhs()?)),
            Token::Local | Token::Index | Token::Shared => return self.local_declaration(),
            Token::If => return self.conditional(),
            Token::Choose => return self.choose(),
            Token::Fence => return self.fence(),
            _ => {}
        }
        let start = self.bump();
        Ok(match token {
            Token::While => {
                let cond = self.expr()?;
                self.eat(Token::Do);
                StmtKind::While(cond, self.body()?)
            }
            Token::Loop => StmtKind::Loop(self.body()?),
            Token::Break => StmtKind::Break,
            Token::Continue => StmtKind::Continue,
            Token::Skip => StmtKind::Skip,
            Token::Rfin => StmtKind::Transaction(TxEvent::ReadFinish),
            Token::Commit => StmtKind::Transaction(TxEvent::Commit),
            Token::Abort => StmtKind::Transaction(TxEvent::Abort),
            Token::Rollback => {
                let place = self.place()?;
                self.expect(Token::Assign)?;
                StmtKind::Rollback(place, self.expr()?)
            }
            Token::Sfence => StmtKind::Fence(Fence::Kinds(FenceSet::SL | FenceSet::SS)),
            Token::Ldfence | Token::Lfence => StmtKind::Fence(Fence::Kinds(FenceSet::LL | FenceSet::LS)),
            Token::Mfence => StmtKind::Fence(Fence::Kinds(FenceSet::FULL)),
            Token::Atomic => self.atomic()?,
            Token::Operation => StmtKind::Operation(self.name()?, self.block()?),
            Token::Assume => StmtKind::Assume(self.expr()?),
            Token::Assert => self.assertion()?,
            Token::Return => StmtKind::Return(self.returned()?),
            Token::Foreach if self.goes_over_set() => StmtKind::Each(self.each(start)?),
            Token::Foreach => {
                let (name, range) = self.binder()?;
                StmtKind::Foreach(name, range, self.body()?)
            }
            Token::Forsome => {
                let (name, range) = self.binder()?;
                StmtKind::Forsome(name, range, self.body()?)
            }
            _ => return Err(self.no_statement(start)),
        })
    }

    fn no_statement(&mut self, span: Span) -> Reported {
        let text: String = self.text(span).chars().take(40).collect();
        let diagnostic = Diagnostic::new(span, format!("expected a statement, found `{text}`"), "expected a statement");
        self.reports.add(diagnostic)
    }

    /// A block, or a single statement without its `;`.
    fn body(&mut self) -> Fallible<Block> {
        if self.peek() == Token::OpenBrace {
            return self.block();
        }
        let stmt = self.statement()?;
        let close = stmt.span;
        Ok(Block { stmts: vec![stmt], close })
    }

    /// Whether `data` and a name are next, which is neither an assignment nor a call.
    fn declares_data(&self) -> bool {
        self.peek_second() == Token::Ident && self.text(self.span()) == "data"
    }

    fn local_declaration(&mut self) -> Fallible<StmtKind> {
        let place = match self.peek() {
            Token::Shared => Some(("a shared variable is declared outside threads", "the thread or procedure")),
            Token::Ident => Some(("`data` is declared outside commands", "the command or procedure")),
            _ => None,
        };
        if let Some((message, body)) = place {
            self.complain(self.span(), message, "not here", &format!("move it out of {body}"));
        }
        let before = std::mem::replace(&mut self.file.incomplete, true);
        let decls = self.declaration()?;
        self.file.incomplete = before;
        Ok(StmtKind::Declare(decls))
    }

    /// The arms are collected in a loop: a chain of a thousand `else if` is long, not deep.
    fn conditional(&mut self) -> Fallible<StmtKind> {
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            self.expect(Token::If)?;
            let cond = self.expr()?;
            self.eat(Token::Then);
            arms.push((cond, self.body()?));
            if self.peek() == Token::Semicolon && self.peek_second() == Token::Else {
                self.bump();
            }
            if !self.eat(Token::Else) {
                break;
            }
            if self.peek() != Token::If {
                otherwise = Some(self.body()?);
                break;
            }
        }
        Ok(StmtKind::If { arms, otherwise })
    }

    fn choose(&mut self) -> Fallible<StmtKind> {
        self.bump();
        if self.peek() != Token::OpenBrace {
            let place = self.place()?;
            self.expect(Token::In)?;
            return Ok(StmtKind::ChooseValue(place, self.range()?));
        }
        let mut blocks = vec![self.block()?];
        while self.eat(Token::Or) {
            blocks.push(self.block()?);
        }
        if blocks.len() < 2 {
            // What follows is most likely the next statement, so nothing is skipped.
            self.unexpected("`or` and another block");
        }
        Ok(StmtKind::ChooseBlock(blocks))
    }

    fn fence(&mut self) -> Fallible<StmtKind> {
        self.bump();
        if self.peek() != Token::OpenParen {
            return Ok(StmtKind::Fence(Fence::Kinds(FenceSet::FULL)));
        }
        if let Some(fence) = self.machine_fence() {
            return Ok(StmtKind::Fence(fence));
        }
        let kinds = self.list(Token::OpenParen, Token::CloseParen, Self::fence_kind)?;
        if kinds.is_empty() {
            let help = "`fence` alone is a full fence";
            return Err(self.complain(self.last_span(), "a fence needs at least one kind", "no kind", help));
        }
        let union = kinds.into_iter().fold(FenceSet::NONE, |a, b| a | b);
        Ok(StmtKind::Fence(Fence::Kinds(union)))
    }

    /// The name of a machine's fence in parentheses, as `(dmb.ish)`; if it looks like none, nothing is taken. Such a name is one word of the text, whatever tokens it has.
    fn machine_fence(&mut self) -> Option<Fence> {
        let is_close = |ahead: &usize| matches!(self.peek_ahead(*ahead), Token::CloseParen | Token::End);
        let close = (1..8).find(is_close)?;
        let inside = self.span_ahead(1).to(self.span_ahead(close - 1));
        let name = self.text(inside);
        let fence = Fence::alone(name);
        if fence.is_none() && !name.contains('.') {
            return None;
        }
        if fence.is_none() {
            let known = FenceName::all().map(FenceName::name).filter(|name| Fence::alone(name).is_some());
            let help = match closest(name, known) {
                Some(known) => format!("did you mean `{known}`?"),
                None => "for example `fence(dmb.ish)`, `fence(lwsync)`, `fence(fence.rw.w)`".to_owned(),
            };
            self.complain(inside, format!("unknown fence `{name}`"), "no machine has it", &help);
        }
        (0..=close).for_each(|_| _ = self.bump());
        Some(fence.unwrap_or(Fence::Kinds(FenceSet::FULL)))
    }

    fn fence_kind(&mut self) -> Fallible<FenceSet> {
        let Name { text, span } = self.hyphenated("a fence kind")?;
        if let Some(kind) = FenceSet::from_name(&text) {
            return Ok(kind);
        }
        let kinds = FenceSet::KINDS.map(|(_, name)| name);
        let list = "the kinds are `load-load`, `load-store`, `store-load` and `store-store`; or a machine's fence alone, as `fence(dmb.ish)`";
        let help = match closest(&text, kinds) {
            Some(kind) => format!("did you mean `{kind}`? {list}"),
            None => list.to_owned(),
        };
        self.complain(span, format!("unknown fence kind `{text}`"), "not a fence kind", &help);
        // The word is consumed, so the rest of the statement can still be checked.
        Ok(FenceSet::FULL)
    }

    fn assertion(&mut self) -> Fallible<StmtKind> {
        let cond = self.expr()?;
        let mut message = None;
        if self.eat(Token::Comma) {
            let span = self.expect(Token::Str)?;
            message = Some(unquote(self.text(span)));
        }
        Ok(StmtKind::Assert(cond, message))
    }

    fn returned(&mut self) -> Fallible<Option<Rhs>> {
        match self.peek() {
            Token::Semicolon | Token::CloseBrace | Token::Else => Ok(None),
            _ => self.rhs().map(Some),
        }
    }

    /// A statement that starts with a name: an assignment, a call or an access.
    /// Whether the word `progress` stands alone.
    fn is_mark(&self) -> bool {
        let alone = matches!(self.peek_second(), Token::Semicolon | Token::CloseBrace);
        alone && self.text(self.span()) == "progress"
    }

    fn name_first(&mut self) -> Fallible<StmtKind> {
        let start = self.span();
        if self.starts_call() || self.starts_new() || self.starts_access() {
            return Ok(StmtKind::Do(self.rhs()?));
        }
        let place = self.place()?;
        if matches!(self.peek(), Token::Eq | Token::EqEq) {
            let help = "write `:=` to assign; `=` compares";
            self.complain(self.span(), format!("expected `:=`, found {}", self.found()), "not an assignment", help);
            self.bump();
            return Ok(StmtKind::Assign(place, self.rhs()?));
        }
        if self.eat(Token::Assign) {
            return Ok(StmtKind::Assign(place, self.rhs()?));
        }
        if place.index.is_some() {
            return Err(self.unexpected("`:=`"));
        }
        let call = Call { name: place.name, args: Vec::new(), span: self.since(start) };
        Ok(StmtKind::Do(Rhs::Call(call)))
    }

    /// Whether the `foreach` that was read goes over a set or map: its head has parentheses.
    fn goes_over_set(&self) -> bool {
        match self.peek() {
            Token::OpenParen => true,
            _ => self.peek_second() == Token::OpenParen,
        }
    }

    /// What follows `foreach`: `[order] (binders in set) { … }`.
    fn each(&mut self, start: Span) -> Fallible<Each> {
        let order = match self.peek() {
            Token::Index => LoopOrder::Index,
            _ if self.at_word("insertion") => LoopOrder::Insertion,
            _ => LoopOrder::Any,
        };
        if order != LoopOrder::Any || self.at_word("any") {
            self.bump();
        }
        self.expect(Token::OpenParen)?;
        let mut arrow = false;
        let binders = if self.peek() == Token::OpenParen {
            self.list(Token::OpenParen, Token::CloseParen, Self::name)?
        } else {
            let mut binders = vec![self.name()?];
            if self.eat(Token::Minus) {
                self.expect(Token::Gt)?;
                arrow = true;
                binders.push(self.name()?);
            }
            binders
        };
        self.expect(Token::In)?;
        let set = self.name()?;
        self.expect(Token::CloseParen)?;
        let head = self.since(start);
        Ok(Each { order, binders, arrow, set, head, body: self.body()? })
    }

    /// What follows `atomic`: a section, or a block that has a name or results. A section with a commit point is a block too, but the
    /// commit point may stand in a procedure (Flanagan, section 3.2).
    fn atomic(&mut self) -> Fallible<StmtKind> {
        if self.peek() == Token::OpenBrace {
            return Ok(StmtKind::Atomic(self.block()?));
        }
        let unnamed = self.lists_results() && self.peek_second() != Token::OpenBrace;
        let name = if unnamed { None } else { Some(self.name()?) };
        let mut results = Vec::new();
        if self.lists_results() {
            self.bump();
            results = self.several(Self::expr)?;
        }
        Ok(StmtKind::AtomicBlock(AtomicBlock { name, results, body: self.block()? }))
    }

    fn lists_results(&self) -> bool {
        self.at_word("returns")
    }
}
