//! Statements.

use cyrano_cfront::ast::{self, Decl, ExprKind, Init, Stmt, StmtKind, Storage};
use cyrano_ir::{Addr, Expr, Fence, FenceName, Op, Span, Tags, Ty};

use cyrano_cfront::atomics::{Barrier, Called};

use super::calls::{Order, resolve};
use super::convert::convert;
use super::lower::{Lower, Target};
use super::types::{self, Type};

impl Lower<'_> {
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        self.temporaries = 0;
        let span = stmt.loc.span;
        match &stmt.kind {
            StmtKind::Empty => {}
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.stmt(stmt)),
            StmtKind::Decls(list) => list.iter().for_each(|decl| self.declaration(decl)),
            StmtKind::Expr(expr) => self.expression(expr, span),
            StmtKind::If(cond, then, other) => self.branches(cond, then, other.as_deref()),
            StmtKind::While(cond, body) => {
                let (start, again, end) = (self.code.label(), self.code.label(), self.code.label());
                self.code.place(start);
                self.condition(cond, again, end);
                self.code.place(again);
                self.stmt(body);
                self.code.jump(start);
                self.code.place(end);
            }
            StmtKind::DoWhile(body, cond) => {
                let (again, end) = (self.code.label(), self.code.label());
                self.code.place(again);
                self.stmt(body);
                self.temporaries = 0;
                self.condition(cond, again, end);
                self.code.place(end);
            }
            StmtKind::For { body, .. } => self.refuse_around(span, "`for`", body),
            StmtKind::Switch(_, body) => self.refuse_around(span, "`switch`", body),
            StmtKind::Case(_, body) => self.refuse_around(span, "`case`", body),
            StmtKind::Default(body) => self.refuse_around(span, "`default`", body),
            StmtKind::Label(_, body) | StmtKind::Atomic(body) => self.refuse_around(span, "a label", body),
            StmtKind::Goto(_) => self.refuse(span, "`goto`"),
            StmtKind::Break => self.refuse(span, "`break`"),
            StmtKind::Continue => self.refuse(span, "`continue`"),
            StmtKind::Return(_) => self.refuse(span, "`return`"),
            StmtKind::StaticAssert(..) => self.refuse(span, "a static assertion"),
        }
    }

    /// Refuses a statement, and looks at what it contains.
    fn refuse_around(&mut self, span: Span, what: &str, body: &Stmt) {
        self.refuse(span, what);
        self.stmt(body);
    }

    fn branches(&mut self, cond: &ast::Expr, then: &Stmt, other: Option<&Stmt>) {
        let (yes, no, end) = (self.code.label(), self.code.label(), self.code.label());
        self.condition(cond, yes, no);
        self.code.place(yes);
        self.stmt(then);
        if let Some(other) = other {
            self.code.jump(end);
            self.code.place(no);
            self.stmt(other);
        } else {
            self.code.place(no);
        }
        self.code.place(end);
    }

    /// An assignment or a call.
    fn expression(&mut self, expr: &ast::Expr, span: Span) {
        match &expr.kind {
            ExprKind::Assign(None, target, value) => match &target.kind {
                ExprKind::Name(name) => self.assign(name, target.loc.span, value),
                ExprKind::Deref(to) => self.store(to, value, Order::Plain, span),
                ExprKind::Index(base, index) if matches!(base.kind, ExprKind::Name(_)) => {
                    self.code.span = span;
                    self.sequenced(&[target, value]);
                    let found = self.element(base, index);
                    self.stored(found, value, Order::Plain);
                }
                _ => {
                    let message = "expected `*x` or a variable before `=`";
                    self.wrong(target.loc.span, message, "cannot be assigned to");
                }
            },
            ExprKind::Assign(Some(op), ..) => self.written_out(expr, &format!("{}=", op.symbol())),
            ExprKind::Step { by, .. } => self.written_out(expr, if *by > 0 { "++" } else { "--" }),
            ExprKind::Call { callee, args } => match resolve(callee, args, expr.loc.span) {
                Ok(called) => {
                    self.code.span = expr.loc.span;
                    self.call(called);
                }
                Err(error) => self.errors.push(error),
            },
            _ => self.wrong(expr.loc.span, "code: expected an assignment or a call", "has no effect"),
        }
    }

    /// A call whose value nobody wants.
    fn call(&mut self, called: Called) {
        match &called {
            Called::Nothing => {}
            Called::Store { at, value, order, fence } => {
                self.store(at, value, Order::Tags(order.tags()), self.code.span);
                if let Some(fence) = fence {
                    self.code.named_fence(fence);
                }
            }
            Called::Unlock(at) => {
                if let Some(target) = self.target(at) {
                    let tags = Tags::ATOMIC | Tags::RELEASE | Tags::LOCK;
                    self.code.push(Op::store(target.addr, Expr::Const(0)).tagged(tags));
                }
            }
            Called::Fence(Barrier::Named(name)) => self.code.named_fence(name),
            Called::Synchronize(domain) => self.synchronize(domain),
            Called::Load { at, order } => _ = self.load(at, Order::Tags(order.tags()), None),
            Called::Value(value) => _ = self.value(value, None),
            called => _ = self.update(called),
        }
    }

    /// The domain is a parameter: a grace period is about the readers of one.
    fn synchronize(&mut self, domain: &ast::Expr) {
        let Some(target) = self.target(domain) else { return };
        match target.addr {
            Addr::Fixed(loc) => {
                let name = FenceName::from_name("synchronize_srcu").expect("it is a fence of the IR's");
                self.code.push(Op::Fence(Fence::Named { name, at: Some(loc) }));
            }
            Addr::Indexed { .. } => self.refuse(domain.loc.span, "a domain that only an execution knows"),
        }
    }

    fn written_out(&mut self, expr: &ast::Expr, operator: &str) {
        let message = format!("`{operator}` is not supported; write the assignment out");
        self.wrong(expr.loc.span, message, "not supported");
    }

    fn declaration(&mut self, decl: &Decl) {
        let Some(name) = &decl.name else {
            return self.refuse(decl.loc.span, "a declaration of a type");
        };
        if matches!(decl.storage, Storage::Typedef | Storage::Extern) {
            return self.refuse(decl.loc.span, "a declaration of this kind");
        }
        let ty = match types::of(&decl.ty, decl.loc.span) {
            Ok(ty) => ty,
            Err(error) => return self.errors.push(error),
        };
        self.temporaries = 0;
        self.code.span = name.loc.span;
        self.declare(&name.text, name.loc.span, ty);
        match &decl.init {
            Some(Init::Expr(value)) => self.assign(&name.text, name.loc.span, value),
            Some(Init::List(_, loc)) => self.refuse(loc.span, "a list of values"),
            None => {}
        }
    }

    /// Variables live in one name space per thread, as conditions see them.
    pub(super) fn declare(&mut self, name: &str, span: Span, ty: Type) {
        if self.params.contains_key(name) {
            return self.wrong(span, format!("`{name}` is a parameter already"), "declared again");
        }
        match self.locals.get(name) {
            Some((_, known)) if *known != ty => {
                self.wrong(span, format!("`{name}` has another type elsewhere in this thread"), "declared again");
            }
            Some(_) => {}
            None => {
                let reg = self.code.register(name);
                if ty.pointers > 0 {
                    self.code.registers[reg.index()].ty = Ty::Pointer;
                }
                self.locals.insert(name.to_owned(), (reg, ty));
            }
        }
    }

    fn assign(&mut self, name: &str, span: Span, value: &ast::Expr) {
        self.code.span = span.to(value.loc.span);
        if self.params.contains_key(name) {
            return self.wrong(span, format!("`{name}` is a parameter"), "cannot be assigned to");
        }
        let Some((reg, ty)) = self.locals.get(name).copied() else {
            // The first assignment declares it.
            let Some(value) = self.value(value, None) else { return };
            let ty = if value.ty.pointers > 0 { value.ty } else { Type::INT };
            self.declare(name, span, ty);
            let (reg, _) = self.locals[name];
            return self.code.assign(reg, convert(&value, ty));
        };
        if let Some(value) = self.value(value, Some((reg, ty))) {
            self.code.assign(reg, convert(&value, ty));
        }
    }

    fn store(&mut self, to: &ast::Expr, value: &ast::Expr, order: Order, span: Span) {
        self.code.span = span;
        self.sequenced(&[to, value]);
        let target = self.target(to);
        self.stored(target, value, order);
    }

    fn stored(&mut self, target: Option<Target>, value: &ast::Expr, order: Order) {
        let Some(target) = target else { return };
        let Some(value) = self.converted(value, target.ty) else { return };
        let tags = Self::tags(order, target.ty);
        self.code.push(Op::store(target.addr, value).tagged(tags));
    }
}
