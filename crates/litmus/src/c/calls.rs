//! The functions that a test may call: those of `cyrano_cfront`'s table. A memory order is a name here, so that every access has its tags at once.

use cyrano_cfront::ast::{Expr, ExprKind, Name};
use cyrano_cfront::atomics::{self, Called, Complaint};
use cyrano_ir::{Diagnostic, Span, Tags};

/// How an access is ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// As the type says: sequentially consistent if it is atomic, else an ordinary access.
    Plain,
    /// As these tags say.
    Tags(Tags),
}

/// Resolves a call, which stands at `span`.
pub(crate) fn resolve(callee: &Name, args: &[Expr], span: Span) -> Result<Called, Diagnostic> {
    let whole = callee.loc.in_the_same_file(span);
    let resolved = atomics::resolve(callee, args, whole).map_err(diagnostic)?;
    let called = resolved.map(|(_, called)| called).filter(|called| !matches!(called, Called::Rewritten(_)));
    let called = called.ok_or_else(|| {
        let message = format!("`{}` is not supported", callee.text);
        Diagnostic::new(callee.loc.span, message, "not supported")
    })?;
    called.ordered(&number).map_err(diagnostic)
}

/// The number of the order that an argument names.
fn number(expr: &Expr) -> Option<i128> {
    match &expr.kind {
        ExprKind::Name(name) => atomics::number_of_order(name),
        _ => None,
    }
}

fn diagnostic(Complaint { loc, message, label, help }: Complaint) -> Diagnostic {
    Diagnostic { help, ..Diagnostic::new(loc.span, message, label) }
}
