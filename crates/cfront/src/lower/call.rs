//! Inlined calls and their variables.

use cyrano_ir::{Expr as Ir, LocalExpr, Op, Place, UNDEFINED};

use super::{Frame, Lowerer, MAX_REGISTERS, Spot};
use crate::flow::addresses::Holder;
use crate::flow::escape::strip;
use crate::tree::{Expr, ExprKind, FuncId, LocalId, Lvalue, LvalueKind};
use crate::types::Type;

/// How deeply calls may be nested.
const MAX_CALLS: usize = 100;

/// How often a function may be called within a call of itself; what goes deeper is left out, which makes a verdict `bounded`.
const MAX_RECURSION: usize = 6;

/// What begins the name of a function whose calls are atomic, by a convention of competitions in verification.
const ATOMIC_FUNCTION: &str = "__VERIFIER_atomic_";

/// An argument of a call.
pub(crate) enum Argument {
    Words(Vec<LocalExpr>),
    /// What it points to, for a parameter that is only dereferenced.
    PointsTo(Spot),
}

impl Lowerer<'_, '_> {
    /// A call; gives the words of the result.
    pub(super) fn call(&mut self, func: FuncId, args: &[Expr], position: u32) -> Vec<LocalExpr> {
        let mut given = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let later_effects = args[index + 1..].iter().any(|arg| !self.is_pure(arg));
            given.push(self.argument(func, index, arg, later_effects));
        }
        let repeated = self.is_repeated(position);
        self.repeats += u32::from(repeated);
        let result = self.inline(func, given);
        self.repeats -= u32::from(repeated);
        result
    }

    /// A call through a pointer.
    pub(super) fn call_pointer(&mut self, callee: &Expr, args: &[Expr], position: u32) -> Vec<LocalExpr> {
        let signature = match &callee.ty {
            Type::Pointer(to) => match &**to {
                Type::Function(signature) => signature,
                _ => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        let pointer = self.value(callee);
        let pointer = self.saved(pointer);
        if let Some(func) = self.function_at(&pointer)
            && self.shared.checked.functions[func.0].params.len() == args.len()
        {
            return self.call(func, args, position);
        }
        let mut given = Vec::new();
        for arg in args {
            let words = self.values(arg);
            given.push(words.into_iter().map(|word| self.saved(word)).collect());
        }
        let repeated = self.is_repeated(position);
        self.repeats += u32::from(repeated);
        let result = self.call_at(&pointer, signature, given);
        self.repeats -= u32::from(repeated);
        result
    }

    fn argument(&mut self, func: FuncId, index: usize, arg: &Expr, later_effects: bool) -> Argument {
        if self.shared.escapes.is_alias(func, index)
            && let Some(spot) = self.pointed(arg)
        {
            return Argument::PointsTo(self.frozen(spot));
        }
        if self.shared.escapes.is_order(func, LocalId(index))
            && let Some(value) = self.known(arg)
        {
            return Argument::Words(vec![Ir::Const(value)]);
        }
        let words = self.values(arg);
        Argument::Words(if later_effects { words.into_iter().map(|word| self.saved(word)).collect() } else { words })
    }

    /// A place that does not change with the registers it was computed from.
    pub(super) fn frozen(&mut self, spot: Spot) -> Spot {
        match spot {
            Spot::Memory { base, offset } => Spot::Memory { base: self.saved(base), offset },
            Spot::Regs { base, total, offset, dynamic } => {
                let dynamic = dynamic.map(|index| self.saved(index));
                Spot::Regs { base, total, offset, dynamic }
            }
            Spot::Bits(word, bits) => Spot::Bits(Box::new(self.frozen(*word)), bits),
            other => other,
        }
    }

    /// What a pointer points to, if that is known without computing an address.
    pub(super) fn pointed(&mut self, pointer: &Expr) -> Option<Spot> {
        match &strip(pointer).kind {
            ExprKind::AddrOf(lvalue) => Some(self.spot(lvalue)),
            ExprKind::Read(Lvalue { kind: LvalueKind::Local(id), .. }) => {
                self.frames.last().and_then(|frame| frame.aliases.get(id.0).cloned().flatten())
            }
            _ => None,
        }
    }

    /// The body of a function with these arguments; gives the words of the result. One with a name that says so is an atomic section.
    pub(crate) fn inline(&mut self, func: FuncId, args: Vec<Argument>) -> Vec<LocalExpr> {
        match self.shared.checked.functions[func.0].name.starts_with(ATOMIC_FUNCTION) {
            true => self.atomically(|lowerer| lowerer.body(func, args)),
            false => self.body(func, args),
        }
    }

    fn body(&mut self, func: FuncId, args: Vec<Argument>) -> Vec<LocalExpr> {
        if self.frames.len() >= MAX_CALLS || self.too_long {
            self.too_long = true;
            return Vec::new();
        }
        let checked = self.shared.checked;
        let function = &checked.functions[func.0];
        let Some(body) = &function.body else { return Vec::new() };
        if self.frames.iter().filter(|frame| frame.func == func).count() > MAX_RECURSION {
            let what = format!("calls of `{}` within calls of itself", function.name);
            self.emit(Op::Limit { cond: Ir::Const(0), what });
            let words = if function.returns == Type::Void { 0 } else { checked.types.words(&function.returns) };
            return vec![Ir::Const(UNDEFINED); words as usize];
        }
        let exit = self.new_label();
        let words = if function.returns == Type::Void { 0 } else { checked.types.words(&function.returns) };
        let result = self.variable_registers(&format!("{}.result", function.name), &function.returns, UNDEFINED);
        self.frames.push(Frame {
            func,
            locals: vec![None; function.locals.len()],
            aliases: vec![None; function.locals.len()],
            ending: Vec::new(),
            result: result.clone(),
            exit: self.target(exit),
            labels: vec![None; function.labels.len()],
            breaks: Vec::new(),
            continues: Vec::new(),
            atomic: self.atomic,
        });
        self.begin_locals(func);
        for (index, arg) in args.into_iter().enumerate() {
            self.bind_parameter(index, arg);
        }
        let span = self.span;
        self.stmt(body);
        if let (Some(result), true) = (&result, self.repeats > 0) {
            // The end of the body without a `return`: the result of an earlier round does not count.
            (0..words).for_each(|word| self.write_word(result, word, Ir::Const(UNDEFINED)));
        }
        self.bind(exit);
        self.end_locals();
        self.frames.pop();
        self.span = span;
        result.map_or(Vec::new(), |result| self.read(&result, words))
    }

    fn bind_parameter(&mut self, index: usize, arg: Argument) {
        match arg {
            Argument::PointsTo(spot) => {
                if let Some(slot) = self.frame().and_then(|frame| frame.aliases.get_mut(index)) {
                    *slot = Some(spot);
                }
            }
            Argument::Words(words) if self.keeps(LocalId(index), &words) => {}
            Argument::Words(words) => {
                let spot = self.new_or_known(LocalId(index));
                for (word, value) in words.into_iter().enumerate() {
                    self.write_word(&spot, word as u32, value);
                }
            }
        }
    }

    /// The first value of a local.
    pub(super) fn initial(&mut self, id: LocalId, value: &Expr) -> Vec<LocalExpr> {
        let order = self.frames.last().is_some_and(|frame| self.shared.escapes.is_order(frame.func, id));
        match self.known(value).filter(|_| order) {
            Some(known) => vec![Ir::Const(known)],
            None => self.values(value),
        }
    }

    /// Whether a local stands for this constant from now on, because it says how accesses are ordered.
    pub(super) fn keeps(&mut self, id: LocalId, words: &[LocalExpr]) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let constant = words.iter().all(|word| matches!(word, Ir::Const(_)));
        let keeps = constant && self.shared.escapes.is_order(frame.func, id);
        if keeps && let Some(slot) = self.frame().and_then(|frame| frame.locals.get_mut(id.0)) {
            *slot = Some(Spot::Values(words.to_vec()));
        }
        keeps
    }

    /// Registers for a variable, one per word; none for nothing.
    pub(crate) fn variable_registers(&mut self, name: &str, ty: &Type, init: i128) -> Option<Spot> {
        let mut names = Vec::new();
        if *ty != Type::Void {
            self.shared.checked.types.leaves(ty, name, &mut names);
        }
        let inits = self.shared.checked.types.initial(ty, init);
        let named = names.iter().zip(inits);
        let registers: Vec<_> = named.map(|((name, ty), init)| self.typed_register(name, *ty, init)).collect();
        Some(Spot::regs(*registers.first()?, registers.len() as u32))
    }

    /// The variable of a local in the current call, made at its first mention.
    pub(super) fn new_variable(&mut self, id: LocalId) -> Spot {
        let Some(frame) = self.frames.last() else { return Spot::Values(Vec::new()) };
        let func = frame.func;
        if self.registers.len() > MAX_REGISTERS || self.shared.memory.is_full() {
            self.too_long = true;
            return Spot::Values(Vec::new());
        }
        let checked = self.shared.checked;
        let function = &checked.functions[func.0];
        let local = &function.locals[id.0];
        let name = format!("{}.{}", function.name, local.name);
        let spot = if self.shared.escapes.in_memory(func, id) {
            Spot::fixed(self.shared.memory.variable(checked, &local.ty, &name, UNDEFINED, self.span))
        } else {
            // An integer that is an address is shown like a pointer.
            let address = checked.types.addresses.contains(&Holder::Local(func.0, id.0)) && local.ty.is_integer();
            let ty = if address { Type::Void.pointer() } else { local.ty.clone() };
            self.variable_registers(&name, &ty, UNDEFINED).unwrap_or(Spot::Values(Vec::new()))
        };
        if let Some(slot) = self.frame().and_then(|frame| frame.locals.get_mut(id.0)) {
            *slot = Some(spot.clone());
        }
        spot
    }

    /// A declaration without a value, in a loop: the value of an earlier round does not count.
    pub(super) fn forget(&mut self, id: LocalId) {
        let Some(frame) = self.frames.last() else { return };
        let func = frame.func;
        let checked = self.shared.checked;
        let inits = checked.types.initial(&checked.functions[func.0].locals[id.0].ty, UNDEFINED);
        let spot = self.new_or_known(id);
        if let Spot::Regs { base, .. } = spot {
            for (word, init) in (0..).zip(inits).filter(|(_, init)| *init == UNDEFINED) {
                let dst = Place::Reg(cyrano_ir::RegId(base.0 + word));
                self.emit(Op::Assign { dst, value: Ir::Const(init) });
            }
        }
    }

    pub(super) fn new_or_known(&mut self, id: LocalId) -> Spot {
        let known = self.frames.last().and_then(|frame| frame.locals.get(id.0).cloned().flatten());
        match known {
            Some(spot) => spot,
            None => self.new_variable(id),
        }
    }
}
