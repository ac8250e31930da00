//! The syntax tree: what was written, with spans everywhere and no names resolved. What only an `algorithm` declares is in `objects`.
//!
//! The one `threads` or `stm` block is flattened into [`File`], for nothing outside it declares variables. One kind of statements and one
//! of expressions serve all blocks; which of them may stand where is up to the rules.
//! `else if` chains are flat lists and expressions carry their depth, so that no pass recurses deeper than the parser allowed.

mod expr;

use cyrano_ir::{Fence, Span, TxEvent, Ty};

pub(crate) use expr::{At, Executed, Expr, ExprKind, LabelRef, Member};

use crate::syntax::objects::{About, Algorithm, Client, Each};

/// A name where it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A whole file.
#[derive(Default, Debug)]
pub(crate) struct File {
    /// The block that is the program: which one, and its name or keyword.
    pub(crate) program: Option<(BlockKind, Span)>,
    /// The files that it uses.
    pub(crate) uses: Vec<Use>,
    /// What stands at the outermost level.
    pub(crate) items: Vec<Item>,
    pub(crate) consts: Vec<Const>,
    pub(crate) decls: Vec<VarDecl>,
    pub(crate) procs: Vec<Proc>,
    pub(crate) threads: Vec<ThreadDecl>,
    /// The families that were given a number of members, and how many.
    pub(crate) sized: Vec<(String, i128)>,
    /// The constants that were nothing but the number of threads, and now mean nothing.
    pub(crate) sizes: Vec<String>,
    /// The word `client`, if the stm is run with a client of the file's own.
    pub(crate) client: Option<Span>,
    /// What `data` starts with for the client, until its declarations say it.
    pub(crate) initial: Vec<(Name, Init)>,
    /// The client's threads, until they are those of the program.
    pub(crate) client_threads: Vec<ThreadDecl>,
    pub(crate) algorithm: Option<Algorithm>,
    /// The clients with names, which an algorithm has.
    pub(crate) clients: Vec<Client>,
    /// The orders in which an stm says that its transactions seem to run.
    pub(crate) orders: Vec<OrderDecl>,
    pub(crate) observed: Vec<Expr>,
    pub(crate) checks: Vec<CheckDecl>,
    /// The invariants that the program declares.
    pub(crate) invariants: Vec<InvariantDecl>,
    /// Where `check invariant` asks for them, and on which models.
    pub(crate) invariant_checks: Vec<(Vec<String>, Span)>,
    /// Whether a declaration was lost to a syntax error, so that an unknown name proves nothing.
    pub(crate) incomplete: bool,
    /// Whether there were syntax errors, so that a missing statement proves nothing.
    pub(crate) broken: bool,
}

impl File {
    /// The name, or the keyword, of the `stm` block, if the program is one.
    pub(crate) fn stm(&self) -> Option<Span> {
        self.program.filter(|(kind, _)| *kind == BlockKind::Stm).map(|(_, span)| span)
    }

    /// Whether it is an stm with values: one whose `write` is told what to write.
    pub(crate) fn has_values(&self) -> bool {
        let write = self.command(Command::Write);
        self.stm().is_some() && write.is_some_and(|write| self.procs[write].params.len() == 2)
    }

    /// Whether calls and responses of a given client are told: something is claimed about its history.
    pub(crate) fn tells_calls(&self) -> bool {
        let about_history = |check: &CheckDecl| matches!(check.claim, Claim::Transactions(_));
        self.client.is_some() && self.has_values() && self.checks.iter().any(about_history)
    }

    /// Whether a check has the statements of this label as marks.
    pub(crate) fn asks_for(&self, label: &str) -> bool {
        let asks = |check: &CheckDecl| match &check.claim {
            Claim::Live(liveness) => liveness.label().is_some_and(|asked| asked.name() == label),
            _ => false,
        };
        self.checks.iter().any(asks)
    }

    /// The procedure that a command is.
    pub(crate) fn command(&self, command: Command) -> Option<usize> {
        self.procs.iter().position(|procedure| procedure.command == Some(command))
    }
}

/// `use name;`.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) name: String,
    /// Where the name stands.
    pub(crate) path: Span,
    /// The whole declaration.
    pub(crate) span: Span,
}

/// A declaration of the outermost level.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) span: Span,
    /// Whether it says what is asked about the program: `check`, `observe` or `client`.
    pub(crate) is_claim: bool,
    /// The constants that it declares.
    pub(crate) constants: Vec<String>,
}

/// The kinds of programs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum BlockKind {
    Threads,
    Stm,
    Algorithm,
}

impl BlockKind {
    /// The keyword.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Stm => "stm",
            Self::Algorithm => "algorithm",
        }
    }
}

/// `const name = value`.
#[derive(Debug)]
pub(crate) struct Const {
    pub(crate) name: Name,
    pub(crate) value: Expr,
}

/// Which keyword declared a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum VarKind {
    Shared,
    Local,
    Index,
    Param,
}

/// One variable of a declaration.
#[derive(Debug)]
pub(crate) struct VarDecl {
    pub(crate) name: Name,
    pub(crate) kind: VarKind,
    /// Whether it was declared as `data`: shared, and a transactional variable.
    pub(crate) data: bool,
    /// Whether all accesses to it synchronise threads.
    pub(crate) sync: bool,
    pub(crate) len: Option<Expr>,
    pub(crate) ty: Ty,
    pub(crate) init: Option<Init>,
}

/// An initialiser.
#[derive(Debug)]
pub(crate) enum Init {
    /// One value, for every element of an array.
    Value(Expr),
    /// One value per element.
    List(Vec<Expr>, Span),
}

/// A command of an stm, which its clients call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    Read,
    Write,
    End,
}

impl Command {
    /// All of them, in the order in which the client numbers them.
    pub(crate) const ALL: [Self; 3] = [Self::Read, Self::Write, Self::End];

    /// What it is called in the source.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::End => "end",
        }
    }

    /// The command of this name.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.word() == word)
    }

    /// The event that ends it where it succeeds; a write ends without one.
    pub(crate) fn success(self) -> Option<TxEvent> {
        match self {
            Self::Read => Some(TxEvent::ReadFinish),
            Self::Write => None,
            Self::End => Some(TxEvent::Commit),
        }
    }
}

/// A procedure, or a command, which is one that only the client calls.
#[derive(Debug)]
pub(crate) struct Proc {
    pub(crate) command: Option<Command>,
    pub(crate) name: Name,
    pub(crate) params: Vec<VarDecl>,
    pub(crate) body: Block,
}

/// `order name by key, key`.
#[derive(Debug)]
pub(crate) struct OrderDecl {
    pub(crate) name: Name,
    pub(crate) keys: Vec<Name>,
}

/// A thread, or a family of them.
#[derive(Debug)]
pub(crate) struct ThreadDecl {
    pub(crate) name: Name,
    pub(crate) count: Count,
    pub(crate) body: Block,
}

/// How many threads a declaration stands for.
#[derive(Debug)]
pub(crate) enum Count {
    /// One, which is no family.
    One,
    /// So many.
    Number(Expr),
    /// Any number.
    Any {
        /// Where that is said.
        span: Span,
        /// The constant that was the number, if it was nothing but one.
        by: Option<String>,
    },
}

impl Count {
    /// Whether it is any number.
    pub(crate) fn is_any(&self) -> bool {
        matches!(self, Self::Any { .. })
    }

    /// Where it is said.
    pub(crate) fn span(&self) -> Option<Span> {
        match self {
            Self::One => None,
            Self::Number(number) => Some(number.span),
            Self::Any { span, .. } => Some(*span),
        }
    }
}

/// Statements in braces, or a single one without.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) stmts: Vec<Stmt>,
    /// The closing brace, or the single statement.
    pub(crate) close: Span,
}

/// A statement.
#[derive(Debug)]
pub(crate) struct Stmt {
    /// The name in front of it.
    pub(crate) label: Option<Name>,
    pub(crate) kind: StmtKind,
    /// The statement; of one with a body its first line only: keyword, name, range.
    pub(crate) span: Span,
}

impl Stmt {
    /// What it assigns, returns or does.
    pub(crate) fn rhs(&self) -> Option<&Rhs> {
        match &self.kind {
            StmtKind::Assign(_, rhs) | StmtKind::Do(rhs) | StmtKind::Return(Some(rhs)) => Some(rhs),
            _ => None,
        }
    }

    /// The procedure or method that it calls.
    pub(crate) fn call(&self) -> Option<&Call> {
        match self.rhs() {
            Some(Rhs::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// The base object, set or map that it calls.
    pub(crate) fn access(&self) -> Option<&Access> {
        match self.rhs() {
            Some(Rhs::Access(access)) => Some(access),
            _ => None,
        }
    }
}

/// The kinds of statements.
#[derive(Debug)]
pub(crate) enum StmtKind {
    Declare(Vec<VarDecl>),
    Assign(Place, Rhs),
    Rollback(Place, Expr),
    Transaction(TxEvent),
    /// A call, or an access, whose result is not used.
    Do(Rhs),
    If {
        arms: Vec<(Expr, Block)>,
        otherwise: Option<Block>,
    },
    While(Expr, Block),
    Loop(Block),
    Break,
    Continue,
    Fence(Fence),
    Atomic(Block),
    AtomicBlock(AtomicBlock),
    /// `tx { … }`, a transaction of a client, and what it does instead if that aborts.
    Tx(Block, Option<Block>),
    Operation(Name, Block),
    ChooseValue(Place, Range),
    ChooseBlock(Vec<Block>),
    Assume(Expr),
    Assert(Expr, Option<String>),
    Return(Option<Rhs>),
    Foreach(Name, Range, Block),
    /// `foreach` over a set or map.
    Each(Each),
    Forsome(Name, Range, Block),
    /// `progress;`, a mark that a thread passes.
    Progress,
    Skip,
}

/// `atomic name returns results { … commit; … }`.
#[derive(Debug)]
pub(crate) struct AtomicBlock {
    pub(crate) name: Option<Name>,
    pub(crate) results: Vec<Expr>,
    pub(crate) body: Block,
}

/// What can be assigned.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: Name,
    pub(crate) index: Option<Expr>,
    pub(crate) span: Span,
}

/// What is assigned, returned or just done.
#[derive(Debug)]
pub(crate) enum Rhs {
    Expr(Expr),
    Rmw(Box<Rmw>),
    /// A call of a procedure or method.
    Call(Call),
    /// A call of an object's method, of a set or of a map.
    Access(Box<Access>),
    /// `new Record(…)`.
    New(Call),
}

impl Rhs {
    /// The expressions in it; those of a read-modify-write are its own affair.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (index, exprs) = match self {
            Self::Expr(expr) => (None, std::slice::from_ref(expr)),
            Self::Call(call) | Self::New(call) => (None, call.args.as_slice()),
            Self::Access(access) => (access.index.as_ref(), access.args.as_slice()),
            Self::Rmw(_) => (None, [].as_slice()),
        };
        index.into_iter().chain(exprs)
    }
}

/// `object[index].field.method(args)`.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) object: Name,
    pub(crate) index: Option<Expr>,
    pub(crate) field: Option<Name>,
    pub(crate) method: Name,
    pub(crate) args: Vec<Expr>,
    pub(crate) span: Span,
}

/// A call of a procedure.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: Name,
    pub(crate) args: Vec<Expr>,
    pub(crate) span: Span,
}

/// A read-modify-write.
#[derive(Debug)]
pub(crate) struct Rmw {
    pub(crate) target: Place,
    pub(crate) op: RmwArgs,
}

/// Which modification.
#[derive(Debug)]
pub(crate) enum RmwArgs {
    Cas(Expr, Expr),
    Exchange(Expr),
    FetchAdd(Expr),
}

/// A finite set of constants, in order.
#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) kind: RangeKind,
    pub(crate) span: Span,
}

/// How a range was written.
#[derive(Debug)]
pub(crate) enum RangeKind {
    /// `first..last`.
    Inclusive(Box<Expr>, Box<Expr>),
    /// `first..<end`.
    Exclusive(Box<Expr>, Box<Expr>),
    /// `{a, b, c}`.
    List(Vec<Expr>),
}

/// `invariant name (condition);`.
#[derive(Debug)]
pub(crate) struct InvariantDecl {
    pub(crate) cond: Expr,
    /// What was written, the name included.
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A `check` declaration.
#[derive(Debug)]
pub(crate) struct CheckDecl {
    pub(crate) claim: Claim,
    pub(crate) about: About,
    /// Where it says what it is about.
    pub(crate) about_span: Option<Span>,
    pub(crate) models: Vec<String>,
    pub(crate) span: Span,
}

/// What a `check` claims; a condition comes with its text.
pub(crate) type Claim = cyrano_criteria::table::Claim<(Expr, String), (Expr, String)>;
