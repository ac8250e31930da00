//! Which statement may stand in which kind of block, and which expression.
//!
//! One language has one parser, which reads every statement everywhere; what a block cannot have is refused here, and nowhere else.

use cyrano_ir::{Diagnostic, Span, TxEvent};

use crate::syntax::ast::{Expr, ExprKind, Rhs, RmwArgs, Stmt, StmtKind};

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
        (StmtKind::Tx(_), Threads | Stm) => (
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
        StmtKind::Atomic(_) | StmtKind::AtomicBlock(_) => "atomic",
        StmtKind::Tx(_) => "tx",
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
        ExprKind::SelfIndex | ExprKind::Tid => {
            ("an algorithm does not know its threads", "transactions have numbers: `tx`")
        }
        ExprKind::Quantified { .. } => ("an algorithm has no quantifiers", "spell it out with `&&` and `||`"),
        ExprKind::Element(..) | ExprKind::Member(_) => {
            ("a base object is not a value", "call it on the right side of `:=`: `v := x[i].read();`")
        }
        _ => return None,
    };
    Some(Diagnostic::new(expr.span, message, "not here").with_help(help))
}
