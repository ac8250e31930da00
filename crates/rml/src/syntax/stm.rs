//! What only an `stm` block has: `data`, `order`, and the commands `read`, `write` and `end`.
//!
//! `data`, `order`, `read`, `write` and `end` are words of the block's outermost level only, and names everywhere else.
//! An stm says nothing about its threads. [`Parser::add_client`] gives it the constants `threads` and `vars`, unless it declares them, and a
//! family of threads without statements, so that no other pass needs a second notion of a thread.

use cyrano_ir::{Span, Ty};

use crate::report::Fallible;
use crate::syntax::ast::{
    Block, BlockKind, Command, Const, Count, Expr, ExprKind, Name, OrderDecl, Proc, ThreadDecl, VarDecl, VarKind,
};
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;

/// The constants of every stm with their values.
const PREDECLARED: [(&str, i128); 2] = [("threads", 2), ("vars", 2)];
/// Those of an stm with values: the transactions of a thread, the operations of a transaction, the values that are written.
const WITH_VALUES: [(&str, i128); 3] = [("txns", 1), ("ops", 2), ("values", 2)];
/// The fewest operations of a transaction; as many as `ops` unless declared.
const FEWEST: &str = "min_ops";
/// The name of the family of threads.
const CLIENT: &str = "t";

impl Parser<'_, '_> {
    /// Whether a member of an stm is next that does not start with a keyword.
    pub(crate) fn starts_stm_member(&self) -> bool {
        self.text(self.span()) == "data" || self.starts_command() || self.starts_order()
    }

    fn starts_order(&self) -> bool {
        self.text(self.span()) == "order" && self.peek_second() == Token::Ident
    }

    /// Whether a command is next.
    pub(crate) fn starts_command(&self) -> bool {
        let opens = matches!(self.peek_second(), Token::OpenParen | Token::OpenBrace);
        opens && Command::from_word(self.text(self.span())).is_some()
    }

    /// `data`, an order or a command, which a `threads` block has not.
    pub(crate) fn stm_member(&mut self, kind: BlockKind) -> Fallible<()> {
        if kind == BlockKind::Stm && self.starts_order() {
            return self.order();
        }
        let span = self.span();
        let command = Command::from_word(self.text(span));
        let (decls, procs) = (self.file.decls.len(), self.file.procs.len());
        let result = match command {
            Some(command) => self.command(command),
            None => self.variables(),
        };
        if kind == BlockKind::Threads {
            let message = format!("`{}` belongs in an `stm`, not in `threads`", self.text(span));
            let help = match command {
                Some(_) => "threads say themselves what they do: `thread p0 { … }`",
                None => "declare it as `shared`",
            };
            self.complain(span, message, "not here", help);
            self.file.decls[decls..].iter_mut().for_each(|decl| decl.data = false);
            self.file.procs.truncate(procs);
        }
        result
    }

    fn command(&mut self, command: Command) -> Fallible<()> {
        let span = self.bump();
        let name = Name { text: command.word().to_owned(), span };
        let mut params = Vec::new();
        if command != Command::End || self.peek() == Token::OpenParen {
            let open = self.span();
            let names = self.list(Token::OpenParen, Token::CloseParen, Self::name)?;
            let most = if command == Command::Write { 2 } else { 1 };
            if !(1..=most).contains(&names.len()) {
                let message = format!("`{}` cannot have {} parameters", command.word(), names.len());
                let help = "write `read(v)` and `write(v)`, or in an stm with values `read(v)` and `write(v, e)`";
                return Err(self.complain(self.since(open), message, "the parameters", help));
            }
            let kind = VarKind::Param;
            let param = |name| VarDecl { name, kind, data: false, sync: false, len: None, ty: Ty::Int, init: None };
            params.extend(names.into_iter().map(param));
        }
        let body = self.block()?;
        self.file.procs.push(Proc { command: Some(command), name, params, body });
        Ok(())
    }

    /// `order name by key, key;`.
    fn order(&mut self) -> Fallible<()> {
        self.bump();
        let name = self.name()?;
        self.expect_word("by")?;
        let keys = self.several(Self::name)?;
        self.expect(Token::Semicolon)?;
        self.file.orders.push(OrderDecl { name, keys });
        Ok(())
    }

    /// A thread is read, so that its syntax is checked, and dropped.
    pub(crate) fn thread_in_stm(&mut self) -> Fallible<()> {
        let help = "write what its clients may call: `read(v) { … }`, `write(v) { … }` and `end { … }`";
        self.complain(self.span(), "an stm has no threads of its own", "not here", help);
        let before = self.file.threads.len();
        let result = self.thread();
        self.file.threads.truncate(before);
        result
    }

    /// Adds the constants and the threads that every stm has.
    pub(crate) fn add_client(&mut self) {
        let Some(span) = self.file.stm() else { return };
        let missing = |file: &crate::syntax::ast::File, name: &str| file.consts.iter().all(|c| c.name.text != name);
        let more: &[_] = if self.file.has_values() && self.file.client.is_none() { &WITH_VALUES } else { &[] };
        let own = i128::try_from(self.file.threads.len()).ok().filter(|_| self.file.client.is_some());
        let predeclared = PREDECLARED.iter().chain(more).copied();
        let predeclared = predeclared.map(|(name, value)| (name, own.filter(|_| name == "threads").unwrap_or(value)));
        let added: Vec<_> = predeclared.filter(|(name, _)| missing(&self.file, name)).collect();
        let added = added.into_iter().map(|(name, value)| Const {
            name: Name { text: name.to_owned(), span },
            // It exists from the beginning of the file on, so that constants in front of the block may use it.
            value: Expr { kind: ExprKind::Int(value), span: Span::new(0, 0), depth: 1 },
        });
        let declared = std::mem::take(&mut self.file.consts);
        self.file.consts = added.chain(declared).collect();
        if self.file.client.is_some() {
            return;
        }
        self.add_fewest(span);
        let threads = self.file.consts.iter().find(|constant| constant.name.text == "threads");
        let name = Name { text: "threads".to_owned(), span: threads.map_or(span, |constant| constant.name.span) };
        let count = Expr { span: name.span, kind: ExprKind::Name(name), depth: 1 };
        self.file.threads = vec![ThreadDecl {
            name: Name { text: CLIENT.to_owned(), span },
            count: Count::Number(count),
            body: Block { stmts: Vec::new(), close: span },
        }];
    }

    /// Transactions have exactly as many operations as `ops` says, unless the file declares fewer.
    fn add_fewest(&mut self, span: Span) {
        let consts = &self.file.consts;
        let declared = consts.iter().any(|constant| constant.name.text == FEWEST);
        let Some(most) = consts.iter().find(|c| c.name.text == "ops").filter(|_| !declared && self.file.has_values())
        else {
            return;
        };
        // It stands right behind what it is computed from.
        let end = most.value.span.end;
        let name = Name { text: "ops".to_owned(), span: Span::new(end as usize, end as usize) };
        let value = Expr { span: name.span, kind: ExprKind::Name(name), depth: 1 };
        self.file.consts.push(Const { name: Name { text: FEWEST.to_owned(), span }, value });
    }
}
