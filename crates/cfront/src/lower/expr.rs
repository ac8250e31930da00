//! Expressions to trees over registers.

use cyrano_ir::{BinOp, Expr as Ir, LocalExpr, Op, Place, WORD};

use super::atomic::seq_cst;
use super::{Lowerer, Spot};
use crate::tree::{Calc, Expr, ExprKind, Intrinsic, Lvalue, LvalueKind, Part};
use crate::types::arith;
use crate::types::{SIZE, Store, Type};

impl Lowerer<'_, '_> {
    /// The value of a scalar.
    pub(super) fn value(&mut self, expr: &Expr) -> LocalExpr {
        let mut words = self.values(expr);
        if words.is_empty() { Ir::Const(cyrano_ir::UNDEFINED) } else { words.swap_remove(0) }
    }

    /// The words of a value; none for `void`.
    pub(super) fn values(&mut self, expr: &Expr) -> Vec<LocalExpr> {
        match &expr.kind {
            ExprKind::Const(value) => vec![Ir::Const(*value)],
            ExprKind::Read(lvalue) => {
                let spot = self.spot(lvalue);
                if lvalue.ty.is_atomic() {
                    return vec![self.load(&spot, 0, seq_cst())];
                }
                let words = self.shared.checked.types.words(&lvalue.ty);
                self.read(&spot, words)
            }
            ExprKind::AddrOf(lvalue) => {
                let spot = self.spot(lvalue);
                vec![self.address_of(&spot)]
            }
            ExprKind::Unary(op, arg) => {
                let value = self.value(arg);
                vec![arith::negate(*op, arg.ty.promoted().unwrap_or(SIZE), value)]
            }
            ExprKind::Binary(BinOp::And | BinOp::Or, ..) | ExprKind::Cond(..) => self.branching(expr),
            ExprKind::Binary(op, a, b) => {
                let (left, right) = self.pair(a, b);
                let ty = a.ty.promoted().unwrap_or(SIZE);
                vec![arith::integer(*op, ty, left, right)]
            }
            ExprKind::PtrAdd { ptr, index, minus } => {
                let (pointer, number) = self.pair(ptr, index);
                vec![arith::move_pointer(pointer, number, self.pointed_words(&ptr.ty), *minus)]
            }
            ExprKind::PtrDiff(a, b) => {
                let (left, right) = self.pair(a, b);
                let bytes = arith::binary(BinOp::Sub, arith::used(left), arith::used(right));
                let size = Ir::Const(i128::from(self.pointed_words(&a.ty)) * WORD);
                vec![arith::binary(BinOp::Div, bytes, size)]
            }
            ExprKind::Convert(inner) => self.convert(inner, &expr.ty),
            ExprKind::Comma(list) => self.comma(list),
            ExprKind::Assign(target, value) => self.assignment(target, value),
            ExprKind::Update { target, calc, gives_old } => vec![self.update(target, calc, *gives_old)],
            ExprKind::Call { func, args, position } => self.call(*func, args, *position),
            ExprKind::CallPointer { callee, args, position } => self.call_pointer(callee, args, *position),
            ExprKind::Intrinsic { what, args, position } => self.intrinsic(what, args, *position),
            ExprKind::Statement(list, value) => {
                list.iter().for_each(|stmt| self.stmt(stmt));
                let words = value.as_ref().map_or(Vec::new(), |value| self.values(value));
                words.into_iter().map(|word| self.saved(word)).collect()
            }
            ExprKind::Aggregate(parts) => self.aggregate(parts, &expr.ty),
            ExprKind::Word(fields) => vec![self.word(fields, &expr.ty)],
        }
    }

    /// What goes wrong in the parts before the last goes wrong, though nobody looks at their values.
    fn comma(&mut self, list: &[Expr]) -> Vec<LocalExpr> {
        let Some((last, before)) = list.split_last() else { return Vec::new() };
        before.iter().for_each(|part| self.discard(part));
        self.values(last)
    }

    /// Two operands; the first is saved if the second changes something.
    pub(super) fn pair(&mut self, a: &Expr, b: &Expr) -> (LocalExpr, LocalExpr) {
        let left = self.value(a);
        let left = if has_effects(b) { self.saved(left) } else { left };
        (left, self.value(b))
    }

    fn pointed_words(&self, pointer: &Type) -> u32 {
        match pointer {
            Type::Pointer(to) => self.shared.checked.types.words(to),
            _ => 1,
        }
    }

    fn convert(&mut self, inner: &Expr, to: &Type) -> Vec<LocalExpr> {
        let words = self.values(inner);
        if *to == Type::Void {
            words.into_iter().for_each(|word| self.evaluate(word));
            return Vec::new();
        }
        words.into_iter().take(1).map(|word| arith::convert(word, &inner.ty, to)).collect()
    }

    /// Evaluates for errors only.
    pub(super) fn evaluate(&mut self, value: LocalExpr) {
        if matches!(value, Ir::Const(_) | Ir::Var(_)) {
            return;
        }
        let temp = self.temp();
        self.emit(Op::Assign { dst: Place::Reg(temp), value });
    }

    fn assignment(&mut self, target: &Lvalue, value: &Expr) -> Vec<LocalExpr> {
        // Whether the place or the value comes first matters only to programs that C leaves undefined.
        let spot = self.spot(target);
        let spot = if has_effects(value) { self.frozen(spot) } else { spot };
        let words = self.values(value);
        if target.ty.is_atomic() {
            return self.assign_atomic(&spot, words);
        }
        self.assign_words(&spot, words)
    }

    /// Writes all words and gives their values.
    pub(super) fn assign_words(&mut self, spot: &Spot, words: Vec<LocalExpr>) -> Vec<LocalExpr> {
        let several = words.len() > 1;
        let words: Vec<_> = if several { words.into_iter().map(|word| self.saved(word)).collect() } else { words };
        for (word, value) in words.iter().enumerate() {
            self.write_word(spot, word as u32, value.clone());
        }
        match spot {
            Spot::Regs { .. } => self.read(spot, words.len() as u32),
            Spot::Bits(_, bits) => words.into_iter().map(|word| arith::narrowed(word, *bits)).collect(),
            _ => words,
        }
    }

    fn update(&mut self, target: &Lvalue, calc: &Calc, gives_old: bool) -> LocalExpr {
        let spot = self.spot(target);
        let spot = self.frozen(spot);
        if target.ty.is_atomic() {
            return self.update_atomic(&spot, target.ty.plain(), calc, gives_old);
        }
        // A bit-field is read and written with its neighbours: one load and one store of all of them.
        let shared = match &spot {
            Spot::Bits(word, bits) if bits.store == Store::Shared => {
                let all = self.read_word(word, 0);
                Some((self.saved(all), *bits, (**word).clone()))
            }
            _ => None,
        };
        let before = match &shared {
            Some((all, bits, _)) => arith::extract(all.clone(), *bits),
            None => self.read_word(&spot, 0),
        };
        let keeps = gives_old || matches!(calc, Calc::Arith(_, _, value) if has_effects(value));
        let before = if keeps { self.saved(before) } else { before };
        let after = self.calculated(&before, &target.ty, calc);
        if let Some((all, bits, word)) = shared {
            let after = self.saved(after);
            self.write_word(&word, 0, arith::insert(all, after.clone(), bits));
            return if gives_old { before } else { arith::narrowed(after, bits) };
        }
        if gives_old {
            self.write_word(&spot, 0, after);
            return before;
        }
        let after = if matches!(spot, Spot::Regs { .. }) { after } else { self.saved(after) };
        let mut words = self.assign_words(&spot, vec![after]);
        words.swap_remove(0)
    }

    /// What an update makes of a value.
    pub(super) fn calculated(&mut self, before: &LocalExpr, of: &Type, calc: &Calc) -> LocalExpr {
        match calc {
            Calc::Arith(op, ty, value) => {
                let value = self.value(value);
                let common = Type::Int(*ty);
                let wide = arith::convert(before.clone(), of, &common);
                let result = arith::integer(*op, *ty, wide, value);
                arith::convert(result, &common, of)
            }
            Calc::Pointer { index, minus } => {
                let number = self.value(index);
                arith::move_pointer(before.clone(), number, self.pointed_words(of), *minus)
            }
        }
    }

    fn aggregate(&mut self, parts: &[(u32, Expr)], ty: &Type) -> Vec<LocalExpr> {
        let mut words = vec![Ir::Const(0); self.shared.checked.types.words(ty) as usize];
        for (offset, part) in parts {
            let values = self.values(part);
            for (index, value) in values.into_iter().enumerate() {
                let value = self.saved_if_variable(value);
                if let Some(slot) = words.get_mut(*offset as usize + index) {
                    *slot = value;
                }
            }
        }
        words
    }

    fn saved_if_variable(&mut self, value: LocalExpr) -> LocalExpr {
        match &value {
            Ir::Const(_) => value,
            _ => self.saved(value),
        }
    }

    fn word(&mut self, fields: &[Expr], ty: &Type) -> LocalExpr {
        let Type::Struct(id) = ty else { return Ir::Const(cyrano_ir::UNDEFINED) };
        let bits: Vec<_> = self.shared.checked.types.fields(*id).iter().map(|field| field.bits).collect();
        let mut word = Ir::Const(0);
        for (index, (field, bits)) in fields.iter().zip(bits).enumerate() {
            let value = self.value(field);
            let later_effects = fields[index + 1..].iter().any(has_effects);
            let value = if later_effects { self.saved(value) } else { value };
            let placed = arith::place(value, bits);
            word = if word == Ir::Const(0) { placed } else { arith::binary(BinOp::BitOr, word, placed) };
        }
        word
    }

    /// Whether evaluating the expression needs no instruction: no access, no effect, no branch.
    pub(super) fn is_pure(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Const(_) => true,
            ExprKind::Read(lvalue) => self.is_register(lvalue),
            ExprKind::AddrOf(lvalue) => self.is_plain_place(lvalue),
            ExprKind::Unary(_, arg) | ExprKind::Convert(arg) => self.is_pure(arg),
            ExprKind::Binary(_, a, b) => self.is_pure(a) && self.is_pure(b),
            ExprKind::PtrDiff(a, b) | ExprKind::PtrAdd { ptr: a, index: b, .. } => self.is_pure(a) && self.is_pure(b),
            ExprKind::Word(fields) => fields.iter().all(|field| self.is_pure(field)),
            _ => false,
        }
    }

    /// Whether a place is in registers and known.
    fn is_register(&self, lvalue: &Lvalue) -> bool {
        match &lvalue.kind {
            LvalueKind::Local(id) => {
                let frame = self.frames.last();
                frame.is_some_and(|frame| !self.shared.escapes.in_memory(frame.func, *id))
            }
            LvalueKind::Field(base, _) => self.is_register(base),
            LvalueKind::Index(base, index) => matches!(index.kind, ExprKind::Const(_)) && self.is_register(base),
            LvalueKind::Deref(pointer) => match &crate::flow::escape::strip(pointer).kind {
                ExprKind::Read(Lvalue { kind: LvalueKind::Local(id), .. }) => {
                    let alias = self.frames.last().and_then(|frame| frame.aliases.get(id.0));
                    matches!(alias, Some(Some(Spot::Regs { .. })))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether finding the place needs no instruction.
    fn is_plain_place(&self, lvalue: &Lvalue) -> bool {
        match &lvalue.kind {
            LvalueKind::Global(_) | LvalueKind::Local(_) => true,
            LvalueKind::Field(base, _) => self.is_plain_place(base),
            LvalueKind::Deref(pointer) => self.is_pure(pointer),
            LvalueKind::Index(base, index) => matches!(index.kind, ExprKind::Const(_)) && self.is_plain_place(base),
            LvalueKind::Value(_) => false,
        }
    }
}

/// Whether evaluating the expression may change a variable.
pub(super) fn has_effects(expr: &Expr) -> bool {
    fn within(part: Part<'_>) -> bool {
        match part {
            Part::Expr(expr) => has_effects(expr),
            Part::Place(place) => place.parts().into_iter().any(within),
            // What is not an expression may jump.
            Part::Stmt(_) => true,
        }
    }
    let changes = matches!(
        expr.kind,
        ExprKind::Assign(..) | ExprKind::Update { .. } | ExprKind::Call { .. } | ExprKind::CallPointer { .. }
    );
    // A local that is atomic may be in registers, and so may what is expected.
    let changes =
        changes || matches!(&expr.kind, ExprKind::Intrinsic { what, .. } if matches!(**what, Intrinsic::Atomic(_)));
    changes || expr.parts().into_iter().any(within)
}
