//! Calls that the checker knows: fences, read-modify-writes, assertions, allocation.
//!
//! They are known by their names, however the file declares them, unless it gives them a body.

use cyrano_ir::suggest::closest;
use cyrano_ir::{BinOp, Fence, FenceSet};

use super::{Checker, Fallible, Reported};
use crate::ast::{self, Name};
use crate::atomics;
use crate::source::{Loc, Problem};
use crate::tree::{BlockMark, Expr, ExprKind, Intrinsic, ThreadCall};
use crate::types::integers::INT;
use crate::types::{MAX_WORDS, Type};

/// The intrinsics and the number of their arguments.
const INTRINSICS: [(&str, usize); 20] = [
    ("fence", 1),
    ("cas", 3),
    ("dcas", 6),
    ("exchange", 2),
    ("fetch_add", 2),
    ("assume", 1),
    ("assert", 1),
    ("choose", 2),
    ("malloc", 1),
    ("calloc", 2),
    ("realloc", 2),
    ("aligned_alloc", 2),
    ("free", 1),
    ("memset", 3),
    ("memcpy", 3),
    ("memmove", 3),
    ("atomic_begin", 0),
    ("commit_point", 0),
    ("atomic_end", 0),
    ("cyrano_progress", 0),
];

/// The largest range of `choose`.
const MAX_CHOICES: i128 = 1024;

/// Whether a function is known to the checker.
pub(super) fn is_intrinsic(name: &str) -> bool {
    INTRINSICS.iter().any(|(known, _)| *known == name) || atomics::knows(name)
}

impl Checker<'_> {
    pub(super) fn intrinsic(&mut self, callee: &Name, args: &[ast::Expr], loc: Loc) -> Fallible<Expr> {
        let expected = INTRINSICS.iter().find(|(name, _)| *name == callee.text).map_or(0, |(_, count)| *count);
        if args.len() != expected {
            let message = format!("`{}` takes {expected} arguments, not {}", callee.text, args.len());
            return Err(self.error(loc, message, "this call"));
        }
        let (what, args, ty) = match callee.text.as_str() {
            "fence" => (Intrinsic::Fence(self.fence(&args[0])?), Vec::new(), Type::Void),
            "cas" => (Intrinsic::Cas, self.cas(args, 1)?, Type::Bool),
            "dcas" => (Intrinsic::Dcas, self.cas(args, 2)?, Type::Bool),
            "exchange" | "fetch_add" => self.exchange(callee, args)?,
            "assume" => (Intrinsic::Assume, vec![self.condition(&args[0])?], Type::Void),
            "assert" => {
                let text = self.sources.text(args[0].loc).split_whitespace().collect::<Vec<_>>().join(" ");
                (Intrinsic::Assert(format!("assert({text})")), vec![self.condition(&args[0])?], Type::Void)
            }
            "atomic_begin" => (Intrinsic::Mark(BlockMark::Begin), Vec::new(), Type::Void),
            "commit_point" => (Intrinsic::Mark(BlockMark::Commit), Vec::new(), Type::Void),
            "atomic_end" => (Intrinsic::Mark(BlockMark::End), Vec::new(), Type::Void),
            "cyrano_progress" => (Intrinsic::Progress, Vec::new(), Type::Void),
            "choose" => (Intrinsic::Choose(self.choices(args, loc)?), Vec::new(), Type::Int(INT)),
            "malloc" => {
                let (ty, count) = self.amount(&args[0])?;
                (Intrinsic::Malloc(ty), count.into_iter().collect(), Type::Void.pointer())
            }
            "calloc" => {
                let (count, size) = (Box::new(args[0].clone()), Box::new(args[1].clone()));
                let (ty, count) =
                    self.amount(&ast::Expr { kind: ast::ExprKind::Binary(BinOp::Mul, count, size), loc })?;
                (Intrinsic::Calloc(ty), count.into_iter().collect(), Type::Void.pointer())
            }
            "aligned_alloc" => {
                let wrong = self.misaligned(&args[0], &args[1])?;
                let ty = self.allocated(&args[1])?;
                let (what, ty) = (Box::new(Intrinsic::Malloc(ty)), Type::Void.pointer());
                let position = self.position();
                let made = Expr::new(ExprKind::Intrinsic { what, args: Vec::new(), position }, ty.clone(), loc);
                let Some(why) = wrong else { return Ok(made) };
                let zero = Expr::new(ExprKind::Const(0), Type::Int(INT), loc);
                let must = Box::new(Intrinsic::Thread(ThreadCall::Must(why)));
                let must = Expr::new(ExprKind::Intrinsic { what: must, args: vec![zero], position }, Type::Void, loc);
                return Ok(Expr::new(ExprKind::Comma(vec![must, made]), ty, loc));
            }
            "memset" => {
                let (what, args) = self.fill(args, loc)?;
                (what, args, Type::Void)
            }
            "memcpy" | "memmove" => {
                let (what, args) = self.copy(args, loc)?;
                (what, args, Type::Void)
            }
            "realloc" => {
                let pointer = self.freed(&args[0])?;
                let ty = self.allocated(&args[1])?;
                self.out.reallocates = true;
                (Intrinsic::Realloc(ty), vec![pointer], Type::Void.pointer())
            }
            _ => (Intrinsic::Free, vec![self.freed(&args[0])?], Type::Void),
        };
        let position = self.position();
        Ok(Expr::new(ExprKind::Intrinsic { what: Box::new(what), args, position }, ty, loc))
    }

    /// A pointer to an object that is freed.
    fn freed(&mut self, arg: &ast::Expr) -> Fallible<Expr> {
        let mut pointer = self.expr(arg)?;
        if matches!(pointer.kind, ExprKind::Const(0)) {
            // A null pointer constant.
            pointer.ty = Type::Void.pointer();
        }
        if pointer.ty != Type::Void.pointer() {
            self.pointee(&pointer)?;
        }
        self.out.frees = true;
        Ok(pointer)
    }

    fn fence(&mut self, arg: &ast::Expr) -> Fallible<Fence> {
        let ast::ExprKind::Str(text) = &arg.kind else {
            let problem = Problem::new(arg.loc, "the kind of a fence is a string", "expected a string");
            return Err(self.report(problem.with_help("for example fence(\"store-store\")")));
        };
        if !self.current().atomic.is_empty() {
            return Err(self.error(arg.loc, "a fence within an atomic block", "its accesses are in order already"));
        }
        // The name of a machine's fence stands alone.
        let text = &text.written;
        if let Some(fence) = Fence::alone(text.trim()) {
            return Ok(fence);
        }
        let mut set = FenceSet::NONE;
        for word in text.split_whitespace() {
            match FenceSet::from_name(word) {
                Some(kind) => set |= kind,
                None if word == "full" => set = FenceSet::FULL,
                None => {
                    let known = FenceSet::KINDS.map(|(_, name)| name).into_iter().chain(["full"]);
                    let problem = Problem::new(arg.loc, format!("there is no fence `{word}`"), "unknown kind");
                    return Err(self.report(match closest(word, known) {
                        Some(guess) => problem.with_help(format!("did you mean `{guess}`?")),
                        None => problem.with_help("load-load, load-store, store-load, store-store, full; or the fence of a machine alone, as dmb.ish"),
                    }));
                }
            }
        }
        if set.is_empty() {
            return Err(self.error(arg.loc, "this fence orders nothing", "an empty string"));
        }
        Ok(Fence::Kinds(set))
    }

    /// A location of one word, and the values to compare and to write, as the location's type.
    fn cas(&mut self, args: &[ast::Expr], locations: usize) -> Fallible<Vec<Expr>> {
        let checked: Vec<_> = args.iter().map(|arg| self.expr(arg)).collect();
        let mut checked = checked.into_iter().collect::<Fallible<Vec<_>>>()?;
        let values = checked.split_off(locations);
        let types: Vec<_> = checked.iter().map(|pointer| self.word_pointee(pointer)).collect();
        let types = types.into_iter().collect::<Fallible<Vec<_>>>()?;
        for (index, value) in values.into_iter().enumerate() {
            checked.push(self.coerce_word(value, &types[index % locations])?);
        }
        Ok(checked)
    }

    fn exchange(&mut self, callee: &Name, args: &[ast::Expr]) -> Fallible<(Intrinsic, Vec<Expr>, Type)> {
        let args = self.cas(args, 1)?;
        let ty = self.word_pointee(&args[0])?;
        if callee.text == "exchange" {
            return Ok((Intrinsic::Exchange, args, ty));
        }
        match ty {
            Type::Int(_) => Ok((Intrinsic::FetchAdd, args, ty)),
            _ => {
                let message = format!("`fetch_add` on a `{}`", self.show(&ty));
                Err(self.error(args[0].loc, message, "expected a pointer to an integer"))
            }
        }
    }

    pub(super) fn word_pointee(&mut self, pointer: &Expr) -> Fallible<Type> {
        let ty = self.pointee(pointer)?;
        if self.out.types.is_scalar(&ty) {
            return Ok(ty);
        }
        if let Some(again) = self.as_word(&ty, false) {
            return Err(again);
        }
        let message = format!("`{}` is not one word", self.show(&ty));
        let problem = Problem::new(pointer.loc, message, "cannot be read and written at once");
        Err(self.report(problem.with_help("a word has integers and pointers of 64 bits together, where a pointer counts for 16: give integers a width, `unsigned count : 8;`")))
    }

    /// Like a conversion without a cast, but pointers and integers mix, as published code has it.
    pub(super) fn coerce_word(&mut self, value: Expr, to: &Type) -> Fallible<Expr> {
        if value.ty.is_castable() && to.is_castable() && (value.ty.is_pointer() != to.is_pointer()) {
            let loc = value.loc;
            return Ok(Expr::new(ExprKind::Convert(Box::new(value)), to.clone(), loc));
        }
        self.coerce(value, to)
    }

    fn choices(&mut self, args: &[ast::Expr], loc: Loc) -> Fallible<Vec<i128>> {
        let (lo, hi) = (self.constant(&args[0])?, self.constant(&args[1])?);
        let fits = INT.wrap(lo) == lo && INT.wrap(hi) == hi;
        match hi.checked_sub(lo) {
            Some(0..MAX_CHOICES) if fits => Ok((lo..=hi).collect()),
            _ => Err(self.error(loc, format!("no choice from {lo} to {hi}"), "an empty or too large range")),
        }
    }

    /// The type of the object that `malloc` makes; or that of its elements, and their number if that is no constant.
    fn amount(&mut self, arg: &ast::Expr) -> Fallible<(Type, Option<Expr>)> {
        if let ast::ExprKind::Binary(BinOp::Mul, a, b) = &arg.kind {
            let (size, count) = if is_size(a) { (a, b) } else { (b, a) };
            if is_size(size) {
                let count = self.integer(count)?;
                if super::fold(&count, &self.out.types, &|_| None).is_none() {
                    let ty = self.allocated(size)?;
                    return Ok((ty, Some(count)));
                }
            }
        }
        Ok((self.allocated(arg)?, None))
    }

    /// The type of the object that `malloc` makes: `sizeof(T)`, or a constant times it for an array.
    fn allocated(&mut self, arg: &ast::Expr) -> Fallible<Type> {
        let ty = match &arg.kind {
            ast::ExprKind::SizeofType(ty) => self.resolve(ty)?,
            ast::ExprKind::SizeofExpr(value) => self.type_of(value)?,
            ast::ExprKind::Binary(BinOp::Add, a, b) => {
                let ty = self.allocated(a)?;
                match self.with_elements(&ty, b)? {
                    Some(ty) => ty,
                    None => return Err(self.unclear_size(arg)),
                }
            }
            ast::ExprKind::Binary(BinOp::Mul, a, b) => {
                let (size, count) = if is_size(a) { (a, b) } else { (b, a) };
                let ty = self.allocated(size)?;
                let count = self.constant(count)?;
                match u32::try_from(count) {
                    Ok(1) => ty,
                    Ok(len @ 2..) if u64::from(len) <= MAX_WORDS => Type::Array(Box::new(ty), len),
                    _ => return Err(self.error(arg.loc, format!("{count} objects cannot be allocated"), "here")),
                }
            }
            _ => return Err(self.unclear_size(arg)),
        };
        self.complete(&ty, arg.loc)?;
        Ok(ty)
    }

    fn unclear_size(&mut self, size: &ast::Expr) -> Reported {
        let problem = Problem::new(size.loc, "the type of the new object is not clear", "a size");
        let help = "write `malloc(sizeof(T))`, `malloc(n * sizeof(T))`, or `malloc(sizeof(T) + n * sizeof(E))` for a struct that ends in `E elements[]`";
        self.report(problem.with_help(help))
    }

    /// What is wrong with an alignment: it is a power of two, and the size a multiple of it (C11, 7.22.3.1).
    fn misaligned(&mut self, alignment: &ast::Expr, size: &ast::Expr) -> Fallible<Option<String>> {
        let (value, bytes) = (self.constant(alignment)?, self.constant(size)?);
        Ok(match value {
            ..=0 => Some(format!("an alignment of {value} bytes")),
            _ if value & (value - 1) != 0 => Some(format!("an alignment of {value} bytes, which is no power of two")),
            _ if bytes % value != 0 => Some(format!("{bytes} bytes are no multiple of the alignment {value}")),
            _ => None,
        })
    }
}

fn is_size(expr: &ast::Expr) -> bool {
    matches!(expr.kind, ast::ExprKind::SizeofType(_) | ast::ExprKind::SizeofExpr(_))
}
