//! What only an `stm` block has: `data`, the commands `read`, `write` and `end`, and the criteria that `check` may name.
//!
//! `data`, `read`, `write` and `end` are words of the block's outermost level only, and names everywhere else.
//! An stm says nothing about its threads. [`Parser::add_client`] gives it the constants `threads` and `vars`, unless it declares them, and a
//! family of threads without statements, so that no other pass needs a second notion of a thread.

use cyrano_ir::{Progress, Span, TxCriterion, Ty};

use crate::ast::{Block, BlockKind, Claim, Command, Const, Expr, ExprKind, Name, Proc, ThreadDecl, VarDecl, VarKind};
use crate::parse::Parser;
use crate::report::Fallible;
use crate::token::Token;

/// The constants of every stm with their values.
const PREDECLARED: [(&str, i64); 2] = [("threads", 2), ("vars", 2)];
/// The name of the family of threads.
const CLIENT: &str = "t";

/// A criterion's name, and what it claims.
type Criterion = (&'static str, fn() -> Claim);

/// What may be claimed of transactions. `progress` stands for all progress properties.
const CRITERIA: [Criterion; 6] = [
    ("opacity", || Claim::Transactions(TxCriterion::Opacity)),
    ("strict-serializability", || Claim::Transactions(TxCriterion::StrictSerializability)),
    ("solo-progress", || Claim::Progress(&[Progress::Solo])),
    ("crash-free-solo-progress", || Claim::Progress(&[Progress::CrashFreeSolo])),
    ("local-progress", || Claim::Progress(&[Progress::Local])),
    ("progress", || Claim::Progress(&Progress::ALL)),
];

impl Parser<'_, '_> {
    /// Whether a member of an stm is next that does not start with a keyword.
    pub(crate) fn starts_stm_member(&self) -> bool {
        self.text(self.span()) == "data" || self.starts_command()
    }

    /// Whether a command is next.
    pub(crate) fn starts_command(&self) -> bool {
        let opens = matches!(self.peek_second(), Token::OpenParen | Token::OpenBrace);
        opens && Command::from_word(self.text(self.span())).is_some()
    }

    /// `data` or a command, which a `threads` block has not.
    pub(crate) fn stm_member(&mut self, kind: BlockKind) -> Fallible<()> {
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
        if command == Command::End {
            if self.peek() == Token::OpenParen {
                let help = "it ends a whole transaction: `end { … commit }`";
                return Err(self.complain(self.span(), "`end` has no parameter", "not here", help));
            }
        } else {
            self.expect(Token::OpenParen)?;
            let name = self.name()?;
            self.expect(Token::CloseParen)?;
            params.push(VarDecl { name, kind: VarKind::Param, data: false, len: None, ty: Ty::Int, init: None });
        }
        let body = self.block()?;
        self.file.procs.push(Proc { command: Some(command), name, params, body });
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

    /// What transactions are checked for.
    pub(crate) fn criterion(&mut self) -> Fallible<Claim> {
        let wanted =
            "`assertions`, `exists (…)`, `never (…)`, `always (…)`, `opacity`, `strict-serializability` or `progress`";
        let mut words = vec!["assertions", "exists", "never", "always", "forall", "strict"];
        let known: Vec<&str> = CRITERIA.iter().map(|(name, _)| *name).collect();
        words.extend(&known);
        // Names are read word by word, so the first one tells whether a criterion is meant.
        let first = self.text(self.span());
        if !known.iter().any(|name| name.split('-').next() == Some(first)) {
            return Err(self.unexpected_word(wanted, &words));
        }
        // `local` is a keyword elsewhere.
        let Name { text, span } = self.joined();
        let found = CRITERIA.iter().find(|(name, _)| *name == text);
        found.map(|(_, claim)| claim()).ok_or_else(|| {
            let (last, others) = known.split_last().expect("there are criteria");
            let help = format!("the criteria for transactions are `{}` and `{last}`", others.join("`, `"));
            self.complain(span, format!("unknown criterion `{text}`"), "not a criterion", &help)
        })
    }

    /// Adds the constants and the threads that every stm has.
    pub(crate) fn add_client(&mut self) {
        let Some(span) = self.file.stm() else { return };
        let missing = |file: &crate::ast::File, name: &str| file.consts.iter().all(|c| c.name.text != name);
        let added: Vec<_> = PREDECLARED.into_iter().filter(|(name, _)| missing(&self.file, name)).collect();
        let added = added.into_iter().map(|(name, value)| Const {
            name: Name { text: name.to_owned(), span },
            // It exists from the beginning of the file on, so that constants in front of the block may use it.
            value: Expr { kind: ExprKind::Int(value), span: Span::new(0, 0), depth: 1 },
        });
        let declared = std::mem::take(&mut self.file.consts);
        self.file.consts = added.chain(declared).collect();
        let threads = self.file.consts.iter().find(|constant| constant.name.text == "threads");
        let name = Name { text: "threads".to_owned(), span: threads.map_or(span, |constant| constant.name.span) };
        let count = Expr { span: name.span, kind: ExprKind::Name(name), depth: 1 };
        self.file.threads = vec![ThreadDecl {
            name: Name { text: CLIENT.to_owned(), span },
            count: Some(count),
            body: Block { stmts: Vec::new(), close: span },
        }];
    }
}
