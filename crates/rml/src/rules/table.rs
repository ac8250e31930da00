//! Which statement may stand in which kind of block, which expression, and which unit in which other one.
//!
//! One language has one parser, which reads every statement everywhere; what a block cannot have is refused here, and nowhere else.

use cyrano_ir::{Diagnostic, Span, TxEvent};

use crate::syntax::ast::{Call, Expr, ExprKind, Rhs, RmwArgs, Stmt, StmtKind};

/// The kinds of blocks that statements stand in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Home {
    /// A thread of `threads`, or a procedure of it.
    Threads,
    /// A command of an `stm`, or a procedure of it.
    Stm,
    /// A thread of a client, outside of its transactions.
    Client,
    /// A transaction of a client.
    Transaction,
    /// A method of an `algorithm`.
    Method,
}

/// Why something cannot stand where it does: message, label and help.
type Refusal = (String, &'static str, &'static str);

const UNITS: &str = "its units are transactions: `tx { … }`";

/// The diagnostic for a statement that the block around it cannot have.
pub(crate) fn refuse(stmt: &Stmt, home: Home) -> Option<Diagnostic> {
    let (message, label, help) = row(stmt, home).or_else(|| right_side(stmt.rhs()?, home))?;
    Some(Diagnostic::new(stmt.span, message, label).with_help(help))
}

/// The table.
fn row(stmt: &Stmt, home: Home) -> Option<Refusal> {
    use Home::{Client, Method, Stm, Threads, Transaction};
    let (message, help) = match (&stmt.kind, home) {
        (StmtKind::Assign(..) | StmtKind::Do(_) | StmtKind::If { .. } | StmtKind::Skip, _) => return None,
        (StmtKind::Return(None), Method) => ("a method returns something", "write `return ok;` or another result"),
        (StmtKind::Return(_), Transaction) => {
            ("`return` cannot leave a transaction", "remember the decision in a local and act on it behind the `}`")
        }
        (StmtKind::Return(_), _) | (StmtKind::Each(_), Method) => return None,
        (StmtKind::Progress, Stm | Client | Transaction) => (
            "`progress` marks what `threads` get done",
            "what a transactional memory gets done are commits: `check progress;`",
        ),
        (StmtKind::Each(_), _) => {
            ("sets are known inside methods only", "write `foreach i in 0..<n { … }`, or `while`")
        }
        (StmtKind::Declare(_), Method) => {
            ("a method declares nothing", "what a method assigns is its local; what a transaction keeps is a `txlocal`")
        }
        (_, Method) => return Some((format!("`{}` cannot stand in a method", word(stmt)), "not here", IN_METHODS)),
        (StmtKind::Transaction(TxEvent::Commit), Threads)
        | (StmtKind::Transaction(_) | StmtKind::Rollback(..), Stm) => {
            return None;
        }
        (StmtKind::Transaction(_) | StmtKind::Rollback(..), Threads) => {
            let message = format!("`{}` belongs in an `stm`", word(stmt));
            return Some((message, "not in `threads`", "a `threads` program has no transactions"));
        }
        (StmtKind::Transaction(_) | StmtKind::Rollback(..), Client | Transaction) => {
            ("a client cannot end or undo a transaction", "it ends with its `}`; whether it aborts is up to the stm")
        }
        (StmtKind::Operation(..), Client | Transaction) => ("a client has no operations", UNITS),
        (StmtKind::AtomicBlock(_), Client | Transaction) => ("a client has no atomic blocks", UNITS),
        (StmtKind::Atomic(_), Transaction) => (
            "an atomic section cannot stand in a transaction",
            "a transaction is meant to be atomic; drop the inner one",
        ),
        (StmtKind::Tx(..), Threads | Stm) => (
            "`tx` belongs in a `client`",
            "transactions are what the threads of a `client` run: `client { thread a { tx { … } } }`",
        ),
        _ => return None,
    };
    Some((message.to_owned(), "not here", help))
}

const IN_METHODS: &str = "methods have assignments, calls, `if`, `foreach (…)`, `return` and `skip`";

/// The table for what is assigned, returned or done.
fn right_side(rhs: &Rhs, home: Home) -> Option<Refusal> {
    let (message, help) = match (rhs, home) {
        (Rhs::Rmw(rmw), Home::Method) => {
            let word = match rmw.op {
                RmwArgs::Cas(..) => "cas",
                RmwArgs::Exchange(_) => "exchange",
                RmwArgs::FetchAdd(_) => "fetch_add",
            };
            (format!("`{word}` cannot stand in a method"), "call a base object: `x.cas(expected, new)`")
        }
        (Rhs::Access(_), home) if home != Home::Method => {
            let message = "base objects are called in the methods of an `algorithm` only";
            (message.to_owned(), "shared variables are read and assigned: `r := x; x := r + 1`")
        }
        (Rhs::New(_), home) if home != Home::Method => {
            ("records are known inside methods only".to_owned(), "use an array of shared variables")
        }
        _ => return None,
    };
    Some((message, "not here", help))
}

/// The word that a statement starts with.
fn word(stmt: &Stmt) -> &'static str {
    match &stmt.kind {
        StmtKind::Transaction(event) => event.name(),
        StmtKind::Rollback(..) => "rollback",
        StmtKind::While(..) => "while",
        StmtKind::Loop(_) => "loop",
        StmtKind::Break => "break",
        StmtKind::Continue => "continue",
        StmtKind::Fence(_) => "fence",
        StmtKind::Progress => "progress",
        StmtKind::Atomic(_) | StmtKind::AtomicBlock(_) => "atomic",
        StmtKind::Tx(..) => "tx",
        StmtKind::Operation(..) => "operation",
        StmtKind::ChooseValue(..) | StmtKind::ChooseBlock(_) => "choose",
        StmtKind::Assume(_) => "assume",
        StmtKind::Assert(..) => "assert",
        StmtKind::Foreach(..) => "foreach … in …",
        StmtKind::Forsome(..) => "forsome",
        _ => "this",
    }
}

/// The diagnostic for a pair, or for a question about a set, outside of methods.
pub(crate) fn no_sets(span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, "sets are known inside methods only", "not here");
    diagnostic.with_help("compare results and constants")
}

/// The diagnostic for an expression that no part of an `algorithm` can have.
pub(crate) fn refuse_in_algorithm(expr: &Expr) -> Option<Diagnostic> {
    let (message, help) = match &expr.kind {
        ExprKind::SelfIndex => ("an algorithm has no families of threads", "the thread's number is `tid`"),
        ExprKind::Tid => {
            ("`tid` is known inside methods only", "a client's thread stands where it is: write its number")
        }
        ExprKind::Executed(_) => (
            "what was executed is known at the end only",
            "say it in the condition of a `check`: `check never (exec(R06))`",
        ),
        ExprKind::Quantified { .. } => ("an algorithm has no quantifiers", "spell it out with `&&` and `||`"),
        ExprKind::Element(..) | ExprKind::Member(_) => {
            ("a base object is not a value", "call it on the right side of `:=`: `v := x[i].read();`")
        }
        _ => return None,
    };
    Some(Diagnostic::new(expr.span, message, "not here").with_help(help))
}

/// What stands around statements, or in procedures, and cannot be mixed at will.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Fence,
    Section,
    Operation,
    Block,
    Transaction,
    Mark,
}

impl Unit {
    const ALL: [Self; 6] = [Self::Fence, Self::Section, Self::Operation, Self::Block, Self::Transaction, Self::Mark];

    /// With its article, for messages.
    fn noun(self) -> &'static str {
        match self {
            Self::Fence => "a fence",
            Self::Section => "an atomic section",
            Self::Operation => "an operation",
            Self::Block => "an atomic block",
            Self::Transaction => "a transaction",
            Self::Mark => "a progress mark",
        }
    }
}

/// For each unit where one is, if there is one.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Units([Option<Span>; Unit::ALL.len()]);

impl Units {
    /// Where a unit is.
    pub(crate) fn at(&self, unit: Unit) -> Option<Span> {
        self.0[unit as usize]
    }

    /// Notes a unit; the first one of its kind counts.
    pub(crate) fn note(&mut self, unit: Unit, span: Span) {
        self.0[unit as usize].get_or_insert(span);
    }

    /// Notes all units of another one.
    pub(crate) fn join(&mut self, other: &Self) {
        Unit::ALL.iter().for_each(|unit| self.0[*unit as usize] = self.at(*unit).or(other.at(*unit)));
    }
}

const APART: &str = "end one before the other starts";
const IN_ORDER: &str = "the accesses of a section are in order anyway; move the fence before or behind it";
const ONE_SECTION: &str = "the outer section makes everything inside it atomic; drop the inner one";
const ONE_BLOCK: &str =
    "the outer block makes everything in it atomic; drop the inner one, or put its `commit` behind it";

/// Which unit cannot stand in which other one: what to call the two, and help.
const NESTING: [(Unit, Unit, &str, &str, &str); 11] = {
    use Unit::{Block, Fence, Mark, Operation, Section, Transaction};
    [
        (Fence, Section, "a fence", "the section", IN_ORDER),
        (Mark, Section, "the mark", "the section", "put it before or behind the section"),
        (Section, Section, "the inner section", "the outer section", ONE_SECTION),
        (Operation, Section, "the operation", "an atomic section", APART),
        (Operation, Operation, "the operation", "an operation", APART),
        (Operation, Block, "the operation", "an atomic block", APART),
        (Block, Section, "the block", "the section", APART),
        (Block, Block, "the block", "the outer block", ONE_BLOCK),
        (Block, Operation, "the block", "the operation", APART),
        (Transaction, Section, "the transaction", "the section", APART),
        (Transaction, Transaction, "the transaction", "the outer one", APART),
    ]
};

/// The diagnostics for a unit in those around it.
pub(crate) fn refuse_nesting(unit: Unit, span: Span, around: Units) -> impl Iterator<Item = Diagnostic> {
    NESTING.iter().filter(move |row| row.0 == unit).filter_map(move |(_, outer, label, what, help)| {
        let message = match unit {
            Unit::Section if *outer == unit => "atomic sections do not nest".to_owned(),
            Unit::Block if *outer == unit => "atomic blocks do not nest".to_owned(),
            Unit::Transaction if *outer == unit => "transactions do not nest".to_owned(),
            _ => format!("{} cannot stand in {}", unit.noun(), outer.noun()),
        };
        let diagnostic = Diagnostic::new(span, message, *label);
        Some(diagnostic.with_related(around.at(*outer)?, *what).with_help(*help))
    })
}

/// The diagnostics for a call of a procedure with these units inside in those around it.
pub(crate) fn refuse_call(call: &Call, inside: Units, around: Units) -> impl Iterator<Item = Diagnostic> {
    NESTING.iter().filter_map(move |(inner, outer, ..)| {
        let (what, place) = (inner.noun(), outer.noun());
        let (inside, around) = (inside.at(*inner)?, around.at(*outer)?);
        let message = format!("`{}` contains {what} and cannot be called in {place}", call.name.text);
        let diagnostic = Diagnostic::new(call.span, message, "called here");
        Some(diagnostic.with_related(inside, what).with_related(around, place))
    })
}
