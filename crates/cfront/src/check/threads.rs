//! Calls that whole programs have: threads, how they end, and what headers need to be written in C.
//!
//! They are known by their names where the file gives them no body, like other intrinsics. What begins with `__cyrano_` is for the headers
//! that come with Cyrano: mutexes and their kin are C functions there, made of atomic sections and of loads and stores with memory orders.

use cyrano_ir::Tags;

use super::{Checker, Fallible};
use crate::ast::{self, Name};
use crate::source::Loc;
use crate::tree::{Expr, ExprKind, Intrinsic, ThreadCall};
use crate::types::integers::INT;
use crate::types::{SIZE, Type};

/// The functions whose arguments alone matter.
const IGNORED: [&str; 18] = [
    "printf",
    "fprintf",
    "puts",
    "putchar",
    "perror",
    "fflush",
    "usleep",
    "sleep",
    "nanosleep",
    "sched_yield",
    "thrd_yield",
    "srand",
    "srandom",
    "thrd_sleep",
    "__VERIFIER_loop_bound",
    "atexit",
    "setbuf",
    "fputs",
];

/// The functions that must not be called.
pub(super) const FAILURES: [&str; 2] = ["reach_error", "__VERIFIER_error"];

/// The functions that give any value of a type.
const NONDETERMINISTIC: [&str; 2] = ["__VERIFIER_nondet_", "nondet_"];

/// The types that those are named after.
const KINDS: [&str; 20] = [
    "int",
    "uint",
    "unsigned",
    "u32",
    "u16",
    "u8",
    "bool",
    "_Bool",
    "char",
    "uchar",
    "short",
    "ushort",
    "long",
    "ulong",
    "longlong",
    "ulonglong",
    "size_t",
    "unsigned_int",
    "unsigned_char",
    "pchar",
];

/// Whether a function is known although nobody declares it, as C had it before 1999: those whose name can mean nothing else.
pub(super) fn is_known_anyway(name: &str) -> bool {
    let more = ["assert", "exit", "abort", "reach_error", "__assert_fail", "rand", "random"];
    let said = name.starts_with("__VERIFIER_");
    IGNORED.contains(&name) || more.contains(&name) || said || nondeterministic(name).is_some()
}

/// The type that a function is named after that gives any value of it.
fn nondeterministic(name: &str) -> Option<&str> {
    let kind = NONDETERMINISTIC.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    (name.starts_with("__") || KINDS.contains(&kind)).then_some(kind)
}

impl Checker<'_> {
    /// A call of such a function; none if it is not one.
    pub(super) fn thread_call(&mut self, callee: &Name, args: &[ast::Expr], loc: Loc) -> Option<Fallible<Expr>> {
        let name = callee.text.as_str();
        if IGNORED.contains(&name) {
            return Some(self.ignored(args, loc));
        }
        let (what, ty) = match name {
            "pthread_create" => (ThreadCall::Create, Type::Int(INT)),
            "pthread_join" => (ThreadCall::Join, Type::Int(INT)),
            "thrd_create" if args.len() == 3 => {
                let none = ast::Expr {
                    kind: ast::ExprKind::Int { value: 0, unsigned: false, long: false, decimal: true },
                    loc,
                };
                let args = [args[0].clone(), none, args[1].clone(), args[2].clone()];
                return Some(self.known(ThreadCall::Create, Type::Int(INT), &args, loc));
            }
            "thrd_join" => (ThreadCall::Join, Type::Int(INT)),
            "thrd_current" => (ThreadCall::Own, Type::Int(SIZE)),
            "thrd_exit" => (ThreadCall::Exit, Type::Void),
            "pthread_self" => (ThreadCall::Own, Type::Int(SIZE)),
            "pthread_exit" => (ThreadCall::Exit, Type::Void),
            "exit" | "_Exit" | "_exit" | "quick_exit" => (ThreadCall::Quit, Type::Void),
            "abort" | "__assert_fail" | "__VERIFIER_error" | "reach_error" | "__VERIFIER_assert_fail" => {
                (ThreadCall::Abort(format!("{name}()")), Type::Void)
            }
            "__VERIFIER_atomic_begin" => (ThreadCall::Begin, Type::Void),
            "__VERIFIER_atomic_end" => (ThreadCall::End, Type::Void),
            "__VERIFIER_loop_begin" | "__VERIFIER_spin_start" | "__VERIFIER_spin_end" => {
                return Some(self.ignored(&[], loc));
            }
            "__VERIFIER_assume" | "__cyrano_assume" => return Some(self.assumed(args, loc)),
            "__cyrano_number" => (ThreadCall::Number, Type::Int(INT)),
            "__cyrano_any_thread" => (ThreadCall::AnyThread, Type::Int(INT)),
            "__cyrano_either" => (ThreadCall::Any(vec![0, 1]), Type::Bool),
            "__cyrano_load" => (ThreadCall::Load(Tags::ATOMIC), Type::Void),
            "__cyrano_acquire" => (ThreadCall::Load(Tags::ATOMIC | Tags::ACQUIRE), Type::Void),
            "__cyrano_store" => (ThreadCall::Store(Tags::ATOMIC), Type::Void),
            "__cyrano_release" => (ThreadCall::Store(Tags::ATOMIC | Tags::RELEASE), Type::Void),
            "__cyrano_must" => return Some(self.must(args, loc)),
            "__cyrano_mentions" => return Some(self.mentions(args, loc)),
            "__builtin_unreachable" | "__builtin_trap" => (ThreadCall::Abort(format!("{name}()")), Type::Void),
            "__builtin_prefetch" => return Some(self.ignored(args, loc)),
            "__builtin_expect" | "__builtin_assume_aligned" => {
                let Some((value, others)) = args.split_first() else {
                    return Some(Err(self.error(loc, "this takes two arguments", "this call")));
                };
                others.iter().for_each(|other| drop(self.expr(other)));
                return Some(self.expr(value));
            }
            "rand" | "random" => (ThreadCall::Any(vec![0, 1, 2, 3]), Type::Int(INT)),
            _ => {
                let kind = nondeterministic(name)?;
                let values = if matches!(kind, "bool" | "_Bool") { vec![0, 1] } else { vec![0, 1, 2, 3] };
                (ThreadCall::Any(values), Type::Int(INT))
            }
        };
        Some(self.known(what, ty, args, loc))
    }

    fn known(&mut self, what: ThreadCall, ty: Type, args: &[ast::Expr], loc: Loc) -> Fallible<Expr> {
        let expected = match &what {
            ThreadCall::Create => 4,
            ThreadCall::Join | ThreadCall::Store(_) => 2,
            ThreadCall::Exit | ThreadCall::Load(_) | ThreadCall::Quit => 1,
            _ => 0,
        };
        if args.len() != expected && !matches!(what, ThreadCall::Abort(_)) {
            return Err(self.error(loc, format!("this takes {expected} arguments, not {}", args.len()), "this call"));
        }
        let args = match &what {
            ThreadCall::Abort(_) => &[],
            _ => args,
        };
        let checked: Vec<_> = args.iter().map(|arg| self.expr(arg)).collect();
        let mut args = checked.into_iter().collect::<Fallible<Vec<_>>>()?;
        let ty = match &what {
            ThreadCall::Create => {
                self.pointee(&args[0])?;
                args[2] = self.started(args[2].clone())?;
                args[3] = self.coerce(args[3].clone(), &Type::Void.pointer())?;
                ty
            }
            ThreadCall::Join => {
                args[0] = self.coerce(args[0].clone(), &Type::Int(SIZE))?;
                args[1] = self.coerce_any_pointer(args[1].clone())?;
                ty
            }
            ThreadCall::Exit => {
                args[0] = match args[0].ty.is_integer() {
                    true => args[0].clone(),
                    false => self.coerce(args[0].clone(), &Type::Void.pointer())?,
                };
                ty
            }
            ThreadCall::Load(_) => self.pointee(&args[0])?,
            ThreadCall::Store(_) => {
                let ty = self.pointee(&args[0])?;
                args[1] = self.coerce(args[1].clone(), &ty)?;
                Type::Void
            }
            _ => ty,
        };
        Ok(self.thread_intrinsic(what, args, ty, loc))
    }

    fn thread_intrinsic(&mut self, what: ThreadCall, args: Vec<Expr>, ty: Type, loc: Loc) -> Expr {
        let position = self.position();
        Expr::new(ExprKind::Intrinsic { what: Box::new(Intrinsic::Thread(what)), args, position }, ty, loc)
    }

    /// What a thread runs: a function with at most one parameter.
    fn started(&mut self, function: Expr) -> Fallible<Expr> {
        let fits = match &function.ty {
            Type::Pointer(to) => matches!(&**to, Type::Function(signature) if signature.params.len() <= 1),
            _ => false,
        };
        if fits {
            return Ok(function);
        }
        let message = format!("a thread runs a function with one parameter, not a `{}`", self.show(&function.ty));
        Err(self.error(function.loc, message, "expected `void *(*)(void *)`"))
    }

    fn coerce_any_pointer(&mut self, value: Expr) -> Fallible<Expr> {
        if value.ty.is_pointer() { Ok(value) } else { self.coerce(value, &Type::Void.pointer()) }
    }

    /// Arguments are evaluated, strings are not.
    fn ignored(&mut self, args: &[ast::Expr], loc: Loc) -> Fallible<Expr> {
        let args = args.iter().filter(|arg| !matches!(arg.kind, ast::ExprKind::Str(_)));
        let checked: Vec<_> = args.map(|arg| self.expr(arg)).collect();
        let args = checked.into_iter().collect::<Fallible<Vec<_>>>()?;
        Ok(self.thread_intrinsic(ThreadCall::Ignore, args, Type::Int(INT), loc))
    }

    fn assumed(&mut self, args: &[ast::Expr], loc: Loc) -> Fallible<Expr> {
        let [cond] = args else { return Err(self.error(loc, "this takes one argument", "this call")) };
        let cond = self.condition(cond)?;
        let position = self.position();
        let what = Box::new(Intrinsic::Assume);
        Ok(Expr::new(ExprKind::Intrinsic { what, args: vec![cond], position }, Type::Void, loc))
    }

    fn must(&mut self, args: &[ast::Expr], loc: Loc) -> Fallible<Expr> {
        let [cond, ast::Expr { kind: ast::ExprKind::Str(text), .. }] = args else {
            return Err(self.error(loc, "this takes a condition and a string", "this call"));
        };
        let cond = self.condition(cond)?;
        Ok(self.thread_intrinsic(ThreadCall::Must(text.written.clone()), vec![cond], Type::Void, loc))
    }

    fn mentions(&mut self, args: &[ast::Expr], loc: Loc) -> Fallible<Expr> {
        let [ast::Expr { kind: ast::ExprKind::Str(text), .. }] = args else {
            return Err(self.error(loc, "this takes a string", "this call"));
        };
        Ok(self.thread_intrinsic(ThreadCall::Mentions(text.written.clone()), Vec::new(), Type::Int(INT), loc))
    }
}
