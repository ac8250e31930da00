//! P2 for every size: whoever runs a transaction that overlaps with none of another thread, that other thread could have run it.
//!
//! **Claim.** Under a model that keeps all accesses in order: if an execution has no aborts and the transactions of threads t and u do not overlap,
//! there is the same execution with the transactions of u run by t.
//!
//! **Argument.** All accesses of a transaction lie between its beginning, which is the first of them, and its commit; what a thread does before that is
//! local and can be done later. So at most one of t and u is between a first access and a commit at any time. The other execution does the same steps at the
//! same times, those of u by t. The two agree if
//!
//! 1. what a transaction finds in its locals is what a thread starts with, as far as it looks at them: at every commit arrays have their
//!    initial values, and so have scalars, or the next transaction assigns them before it uses them ([`focus`](super::focus) shows that for any variable); and
//! 2. nothing tells t from u. The number of a thread is used as its *name* only, the same expression `±self + c` everywhere, which is stored to shared
//!    variables and, perhaps, compared; no shared variable has elements for threads, and no loop goes over threads. Either
//!    - **marks**: no name is compared with one's own. All names lie on one side of a bound. In both executions each shared word is the same or a name
//!      in both, and every condition on a word that may be a name is the same for all names, or says which one it is not: a comparison with a
//!      number on the other side of the bound; or for equality with a word that is known, from such a comparison, to be no name. What is added to a word
//!      that may be a name leads away from the bound. Or
//!    - **locks**: names are compared with one's own name and with numbers that are nobody's, and with nothing else, and only own names and such
//!      numbers are stored, or put into locals that hold names elsewhere; and at every commit no shared word holds the thread's name (`focus` again). Then at any time the names of t and u are not both
//!      in shared words, and a word is u's name in one execution while u runs exactly if it is t's in the other. What a third
//!      thread has loaded, and may still hold when that name is gone, it compares with its own name and nobody's only.

use cyrano_ir::{BinOp, Span, UnOp};

use super::Obstacle;
use super::focus::at_commit;
use super::form::{Change, Domain, Form, Index, Len, Step, StepKind, Term, TermKind, VarNo, aborts};

/// Shows P2, or says what stands in the way. What comes back is how it was shown.
pub(super) fn prove(form: &Form) -> Result<&'static str, Vec<Obstacle>> {
    let mut check = Check { form, name: None, holds: vec![false; form.vars.len()], marks: true, obstacles: Vec::new() };
    check.forms();
    check.follow_names();
    check.marks = !check.compares_own();
    for var in (0..form.vars.len()).filter(|var| check.holds[*var]) {
        if form.vars[var].init.is_none_or(|init| check.may_be_name(init)) {
            let what = format!("`{}` holds names of threads and starts with what may be one", form.name(var));
            check.obstacles.push(Obstacle { span: Span::default(), what });
        }
    }
    for (_, body) in &form.commands {
        check.block(body, &mut vec![Known::Nothing; form.vars.len()]);
    }
    let name = check.name;
    let is_name = |term: &Term| name.is_some() && linear(term) == name;
    let found = at_commit(form, &is_name);
    check.obstacles.extend(found.obstacles(form));
    for (var, span) in found.named.iter().filter(|_| !check.marks) {
        let what =
            format!("`{}` may still hold the name of the thread when a transaction commits here", form.name(*var));
        check.obstacles.push(Obstacle { span: *span, what });
    }
    match (check.obstacles.is_empty(), name, check.marks) {
        (false, ..) => Err(check.obstacles),
        (true, None, _) => Ok("no thread uses its number, and every transaction starts with the same locals"),
        (true, _, true) => {
            Ok("threads leave marks that nobody can tell apart, and every transaction starts with the same locals")
        }
        (true, _, false) => Ok(
            "threads put their names into locks that are free at every commit, and every transaction starts with the same locals",
        ),
    }
}

/// `factor * self + offset`.
type Linear = (i128, i128);

/// What an expression over the thread's number and constants is.
fn linear(term: &Term) -> Option<Linear> {
    match &term.kind {
        TermKind::Own => Some((1, 0)),
        TermKind::Number(value) => Some((0, *value)),
        TermKind::Unary(UnOp::Neg, arg) => linear(arg).and_then(|(a, b)| Some((-a, b.checked_neg()?))),
        TermKind::Binary(op @ (BinOp::Add | BinOp::Sub), left, right) => {
            let (left, right) = (linear(left)?, linear(right)?);
            let sign = if *op == BinOp::Add { 1 } else { -1 };
            Some((left.0 + sign * right.0, left.1.checked_add(sign.checked_mul(right.1)?)?))
        }
        _ => None,
    }
}

fn has_own(term: &Term) -> bool {
    term.has(|part| part.kind == TermKind::Own)
}

struct Check<'f> {
    form: &'f Form,
    /// The name that threads have, if they use one.
    name: Option<Linear>,
    /// Which variables may hold names.
    holds: Vec<bool>,
    marks: bool,
    obstacles: Vec<Obstacle>,
}

/// What is known of a local that may hold names elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Known {
    /// It may hold a name.
    Nothing,
    /// It holds no name, but perhaps a number that is one elsewhere.
    Number,
    /// It holds a number that is nobody's name.
    Nobody,
}

type Locals = Vec<Known>;

impl Check<'_> {
    fn refuse(&mut self, span: Span, what: impl Into<String>) {
        self.obstacles.push(Obstacle { span, what: what.into() });
    }

    /// What the form alone says: nothing belongs to a thread, and there is one name at most.
    fn forms(&mut self) {
        let form = self.form;
        form.for_each_step(&mut |step| {
            if matches!(step.kind, StepKind::Each(binder, _) if form.binders[binder] == Domain::Threads) {
                self.refuse(step.span, "a loop goes through the threads in the order of their numbers");
            }
            for cell in step.accessed().into_iter().chain(step.assigned()) {
                if form.vars[cell.var].len == Len::Each(Domain::Threads) {
                    let what = format!("`{}` has an element for each thread", form.name(cell.var));
                    self.refuse(cell.span, what);
                }
            }
            for term in step.terms() {
                self.names_in(term);
                let of_threads = |part: &Term| match part.kind {
                    TermKind::Quantified { binder, .. } => form.binders[binder] == Domain::Threads,
                    _ => false,
                };
                if term.has(of_threads) {
                    self.refuse(term.span, "a condition is about all threads");
                }
            }
        });
    }

    fn names_in(&mut self, term: &Term) {
        match (&term.kind, linear(term)) {
            (_, Some((0, _))) => {}
            (_, Some(name @ (1 | -1, _))) => match self.name {
                Some(known) if known != name => {
                    self.refuse(term.span, "threads have one name elsewhere and another one here")
                }
                _ => self.name = Some(name),
            },
            (_, Some(_)) | (TermKind::Own, None) => {
                self.refuse(term.span, "the number of the thread is used to compute with")
            }
            (TermKind::Unary(_, arg) | TermKind::Quantified { body: arg, .. }, None) => self.names_in(arg),
            (TermKind::Binary(op, left, right), None) => {
                let compares = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::And | BinOp::Or);
                if (has_own(left) || has_own(right)) && !compares {
                    self.refuse(term.span, "the number of the thread is used to compute with");
                }
                self.names_in(left);
                self.names_in(right);
            }
            _ => {}
        }
    }

    /// Which variables may hold names, until nothing changes.
    fn follow_names(&mut self) {
        loop {
            let before = self.holds.clone();
            self.form.for_each_step(&mut |step| {
                let give = |to: VarNo, term: &Term, holds: &mut Vec<bool>| {
                    let local = |part: &Term| matches!(&part.kind, TermKind::Local(cell) if holds[cell.var]);
                    let is = term.has(|part| part.kind == TermKind::Own || local(part));
                    holds[to] |= is;
                };
                match &step.kind {
                    StepKind::Assign(to, term) | StepKind::Store(to, term) | StepKind::Rollback(to, term) => {
                        give(to.var, term, &mut self.holds)
                    }
                    StepKind::Load(to, from) => self.holds[to.var] |= self.holds[from.var],
                    StepKind::Rmw { to, at, change } => {
                        change.terms().into_iter().for_each(|term| give(at.var, term, &mut self.holds));
                        to.iter().for_each(|to| self.holds[to.var] |= self.holds[at.var]);
                    }
                    _ => {}
                }
            });
            if before == self.holds {
                return;
            }
        }
    }

    /// Whether some condition, or an expected value, is about one's own name.
    fn compares_own(&self) -> bool {
        let mut found = false;
        self.form.for_each_step(&mut |step| {
            let asked = match &step.kind {
                StepKind::If(term, ..) | StepKind::While(term, _) | StepKind::Assume(term) => has_own(term),
                StepKind::Rmw { change: Change::Cas(expected, _), .. } => has_own(expected),
                StepKind::Assign(_, term) => has_own(term),
                _ => false,
            };
            found |= asked;
        });
        found
    }

    /// Whether a number may be the name of some thread.
    fn may_be_name(&self, number: i128) -> bool {
        match self.name {
            Some((1, offset)) => number >= offset,
            Some((_, offset)) => number <= offset,
            None => false,
        }
    }

    fn may_hold(&self, term: &Term, known: &Locals) -> bool {
        term.has(|part| match &part.kind {
            TermKind::Local(cell) => {
                self.holds[cell.var] && (cell.index != Index::None || known[cell.var] == Known::Nothing)
            }
            _ => false,
        })
    }

    /// What a local holds that is assigned an expression.
    fn known(&self, term: &Term, known: &Locals) -> Known {
        match (term.number(), term.scalar()) {
            (Some(number), _) if !self.may_be_name(number) => Known::Nobody,
            (None, Some(var)) if known[var] == Known::Nobody => Known::Nobody,
            _ if has_own(term) || self.may_hold(term, known) => Known::Nothing,
            _ => Known::Number,
        }
    }

    /// Walks a block; whether it may be left at its end.
    fn block(&mut self, block: &[Step], known: &mut Locals) -> bool {
        for step in block {
            match &step.kind {
                StepKind::If(cond, then, otherwise) => {
                    self.condition(cond, known);
                    let (mut one, mut other) = (known.clone(), known.clone());
                    self.learn(cond, true, &mut one);
                    self.learn(cond, false, &mut other);
                    let leaves = (self.block(then, &mut one), self.block(otherwise, &mut other));
                    *known = match (leaves.0 && !aborts(then), leaves.1 && !aborts(otherwise)) {
                        (true, true) => one.into_iter().zip(other).map(|(one, other)| one.min(other)).collect(),
                        (true, false) => one,
                        (false, true) => other,
                        (false, false) => return false,
                    };
                }
                StepKind::While(cond, body) => {
                    // Nothing is known at the start of an iteration but what holds before the loop and is not assigned in it.
                    self.unlearn(body, known);
                    self.condition(cond, known);
                    let mut inner = known.clone();
                    self.learn(cond, true, &mut inner);
                    self.block(body, &mut inner);
                    self.learn(cond, false, known);
                }
                StepKind::Each(_, body) => {
                    self.unlearn(body, known);
                    self.block(body, &mut known.clone());
                }
                StepKind::Event(_) => return false,
                _ => self.plain(step, known),
            }
        }
        true
    }

    fn unlearn(&self, body: &[Step], known: &mut Locals) {
        super::form::for_each_step(body, &mut |step| {
            step.assigned().into_iter().for_each(|to| known[to.var] = Known::Nothing);
        });
    }

    fn plain(&mut self, step: &Step, known: &mut Locals) {
        match &step.kind {
            StepKind::Assign(to, term) => {
                let holds = self.may_hold(term, known) || has_own(term);
                if holds && !is_cell(term) && linear(term).is_none() {
                    self.refuse(step.span, "something is computed from what may be the name of a thread");
                }
                let name = has_own(term) && linear(term) == self.name || is_cell(term) && self.may_hold(term, known);
                self.mixed(to.var, name || self.is_nobody(term, known), step.span);
                known[to.var] = self.known(term, known);
            }
            StepKind::Load(to, from) => {
                self.mixed(to.var, self.holds[from.var], step.span);
                known[to.var] = self.loaded(from.var);
            }
            StepKind::Store(to, term) | StepKind::Rollback(to, term) => self.stored(to.var, term, known),
            StepKind::Rmw { to, at, change } => {
                match change {
                    Change::Cas(expected, new) => {
                        self.expected(at.var, expected, known);
                        self.stored(at.var, new, known);
                    }
                    Change::Exchange(new) => self.stored(at.var, new, known),
                    Change::Add(by) => self.added(at.var, by, step.span),
                }
                if let Some(to) = to {
                    self.mixed(to.var, self.holds[at.var], step.span);
                    known[to.var] = self.loaded(at.var);
                }
            }
            StepKind::Assume(cond) => {
                self.condition(cond, known);
                self.learn(cond, true, known);
            }
            _ => {}
        }
    }

    /// Where names are compared with one's own, a local that holds them must hold no other number that may be one.
    fn mixed(&mut self, to: VarNo, fine: bool, span: Span) {
        if self.holds[to] && !self.marks && !fine {
            let what =
                format!("`{}` holds names of threads, and here what may be mistaken for one", self.form.name(to));
            self.refuse(span, what);
        }
    }

    fn loaded(&self, var: VarNo) -> Known {
        if self.holds[var] { Known::Nothing } else { Known::Number }
    }

    /// What is stored to a shared variable: the own name, or something that is no name.
    fn stored(&mut self, var: VarNo, term: &Term, known: &Locals) {
        if self.may_hold(term, known) {
            self.refuse(term.span, "what may be the name of another thread is stored");
        } else if has_own(term) && linear(term) != self.name {
            self.refuse(term.span, "something is computed from the number of the thread");
        } else if self.holds[var] && !has_own(term) && !self.marks && term.number().is_none_or(|n| self.may_be_name(n))
        {
            let what =
                format!("`{}` holds names of threads, and this number may be mistaken for one", self.form.name(var));
            self.refuse(term.span, what);
        }
    }

    fn expected(&mut self, var: VarNo, term: &Term, known: &Locals) {
        if self.holds[var] && linear(term) != self.name && !self.is_nobody(term, known) {
            let what = format!(
                "`{}` holds names of threads and is compared with what may be another one's",
                self.form.name(var)
            );
            self.refuse(term.span, what);
        } else if !self.holds[var] && self.may_hold(term, known) {
            self.refuse(term.span, "what may be the name of another thread is compared with a number");
        }
    }

    /// Whether it is a number that is no thread's name.
    fn is_nobody(&self, term: &Term, known: &Locals) -> bool {
        match (&term.kind, term.scalar()) {
            (TermKind::Number(value), _) => !self.may_be_name(*value),
            (_, Some(var)) => known[var] == Known::Nobody,
            _ => false,
        }
    }

    fn added(&mut self, var: VarNo, by: &Term, span: Span) {
        if !self.holds[var] {
            return;
        }
        let away = match (self.name, by.number()) {
            (Some((1, _)), Some(by)) => by >= 0,
            (Some(_), Some(by)) => by <= 0,
            _ => false,
        };
        if !(self.marks && away) {
            let what = format!("`{}` holds names of threads, and something is added to it", self.form.name(var));
            self.refuse(span, what);
        }
    }

    /// Whether a condition says the same of every name that may be in it.
    fn condition(&mut self, cond: &Term, known: &Locals) {
        match &cond.kind {
            TermKind::Unary(_, arg) | TermKind::Quantified { body: arg, .. } => self.condition(arg, known),
            TermKind::Binary(BinOp::And | BinOp::Or, left, right) => {
                self.condition(left, known);
                self.condition(right, known);
            }
            TermKind::Binary(op, left, right) => {
                let (left_holds, right_holds) = (self.may_hold(left, known), self.may_hold(right, known));
                if !(left_holds || right_holds) {
                    // The own name is compared with names only.
                    if has_own(left) || has_own(right) {
                        self.refuse(cond.span, "the number of the thread is compared with a number");
                    }
                    return;
                }
                let equality = matches!(op, BinOp::Eq | BinOp::Ne);
                let other = if left_holds { &**right } else { &**left };
                let this = if left_holds { &**left } else { &**right };
                let fine = match () {
                    () if left_holds && right_holds || !is_cell(this) => false,
                    () if self.same_for_all(*op, left, right).is_some() => true,
                    () if equality && self.is_nobody(other, known) => true,
                    () => equality && !self.marks && linear(other).is_some() && linear(other) == self.name,
                };
                if !fine {
                    self.refuse(cond.span, "this may differ from name to name");
                }
            }
            _ if self.may_hold(cond, known) => self.refuse(cond.span, "this may differ from name to name"),
            _ => {}
        }
    }

    /// What a comparison with a number says of every name, if it says the same of all.
    fn same_for_all(&self, op: BinOp, left: &Term, right: &Term) -> Option<bool> {
        let (factor, offset) = self.name?;
        let (op, number) = match (left.number(), right.number()) {
            (None, Some(number)) => (op, number),
            (Some(number), None) => (turned(op)?, number),
            _ => return None,
        };
        // Names go from `offset` to infinity, in the direction of `factor`.
        let upwards = factor == 1;
        let beyond = if upwards { number < offset } else { number > offset };
        match op {
            BinOp::Eq if beyond => Some(false),
            BinOp::Ne if beyond => Some(true),
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                let at_offset = op.apply(offset, number).ok()? != 0;
                let towards = matches!(op, BinOp::Gt | BinOp::Ge) == upwards;
                (at_offset == towards).then_some(at_offset)
            }
            _ => None,
        }
    }

    /// What is known to be no name if a condition is, or is not, true.
    fn learn(&self, cond: &Term, wanted: bool, known: &mut Locals) {
        match &cond.kind {
            TermKind::Unary(UnOp::Not, arg) => self.learn(arg, !wanted, known),
            TermKind::Binary(op @ (BinOp::And | BinOp::Or), left, right) if (*op == BinOp::And) == wanted => {
                self.learn(left, wanted, known);
                self.learn(right, wanted, known);
            }
            TermKind::Binary(op, left, right) => {
                let Some(var) = left.scalar().or(right.scalar()) else { return };
                if self.same_for_all(*op, left, right).is_some_and(|said| said != wanted) {
                    known[var] = Known::Nobody;
                }
            }
            _ => {}
        }
    }
}

fn is_cell(term: &Term) -> bool {
    matches!(term.kind, TermKind::Local(_))
}

/// The comparison with its sides exchanged.
fn turned(op: BinOp) -> Option<BinOp> {
    match op {
        BinOp::Lt => Some(BinOp::Gt),
        BinOp::Le => Some(BinOp::Ge),
        BinOp::Gt => Some(BinOp::Lt),
        BinOp::Ge => Some(BinOp::Le),
        BinOp::Eq | BinOp::Ne => Some(op),
        _ => None,
    }
}
