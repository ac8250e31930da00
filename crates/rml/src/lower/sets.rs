//! Sets and maps of a transaction, or of a thread, in registers.
//!
//! A map, or a set of single values, has one slot for each of its keys: whether it is there, and its value. A set of pairs has
//! for each first component how many second components it holds, and as many slots for them as the client can fill.
//! The order of insertion is kept only where a loop asks for it, so that it makes no difference between states otherwise.
//! While code is made, [`Contents`] knows what can be in each of them at that point, so that loops (`loops`) are unrolled no further.

use std::collections::BTreeMap;

use cyrano_ir::told::SetRegisters;
use cyrano_ir::{BinOp, LocalExpr, Op, Place, RegId, Span, UnOp};

use crate::expand::fold::fold;
use crate::expand::method::Lower;
use crate::lower::build::{any, binary, element, int, var};
use crate::report::{Fallible, Reported};
use crate::resolve::constants::{MAX_KEYS, size};
use crate::syntax::ast::{Access, ExprKind, Rhs, StmtKind};
use crate::syntax::objects::{LocalKind, LoopOrder, TxLocal};

/// The most pairs that a set may have room for; conditions mention each of them.
const MAX_SLOTS: u32 = 256;

/// A set or map in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetShape {
    /// The number of keys, or of first components.
    keys: u32,
    /// The slots of a key: 1 unless it is a set of pairs.
    pub(crate) depth: u32,
    pairs: bool,
    /// Per key: whether it is there, or how many of its slots are taken.
    has: RegId,
    /// Per slot: the value. A set of single values has none.
    pub(crate) values: Option<RegId>,
    /// The slots in the order of insertion, and how many there are.
    pub(crate) order: Option<(RegId, RegId)>,
}

/// What a set or map can hold at some point: how often each key may have been added, and how often some key that is known only
/// when the program runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Contents {
    known: BTreeMap<u32, u32>,
    unknown: u32,
}

impl Contents {
    fn add(&mut self, key: &LocalExpr, keys: u32) {
        match key {
            LocalExpr::Const(key) if (0..i128::from(keys)).contains(key) => {
                *self.known.entry(*key as u32).or_default() += 1
            }
            _ => self.unknown += 1,
        }
    }

    /// What one of the two allows.
    pub(crate) fn join(&mut self, other: &Self) {
        for (key, adds) in &other.known {
            let known = self.known.entry(*key).or_default();
            *known = (*known).max(*adds);
        }
        self.unknown = self.unknown.max(other.unknown);
    }

    /// How often one key may have been added at most.
    pub(crate) fn deepest(&self) -> u32 {
        self.known.values().max().copied().unwrap_or(0) + self.unknown
    }

    /// The slots that can be taken.
    pub(crate) fn slots(&self, shape: SetShape) -> Vec<u32> {
        let of_key = |key: u32| {
            let adds = self.known.get(&key).copied().unwrap_or(0) + self.unknown;
            (0..adds.min(shape.depth)).map(move |slot| key * shape.depth + slot)
        };
        (0..shape.keys).flat_map(of_key).collect()
    }

    /// How many slots can be taken at once.
    pub(crate) fn most(&self, shape: SetShape) -> usize {
        let known: u32 = self.known.values().map(|adds| (*adds).min(shape.depth)).sum();
        self.slots(shape).len().min((known + self.unknown) as usize)
    }
}

impl SetShape {
    pub(crate) fn slots(&self) -> u32 {
        self.keys * self.depth
    }

    /// Whether a slot is taken.
    pub(crate) fn taken(&self, slot: u32) -> LocalExpr {
        let key = var(RegId(self.has.0 + slot / self.depth));
        match self.pairs {
            true => binary(BinOp::Lt, int((slot % self.depth).into()), key),
            false => key,
        }
    }

    /// All of its registers.
    fn registers(&self) -> Vec<u32> {
        let run = |base: RegId, len: u32| base.0..base.0 + len;
        let mut all: Vec<u32> = run(self.has, self.keys).collect();
        all.extend(self.values.into_iter().flat_map(|base| run(base, self.slots())));
        all.extend(self.order.into_iter().flat_map(|(base, size)| run(base, self.slots()).chain(run(size, 1))));
        all
    }
}

impl<'a> Lower<'a, '_, '_> {
    /// Gives every set, map and integer of a transaction its registers; `depths` are the slots that sets of pairs need.
    pub(crate) fn lay_out(&mut self, depths: &[u32]) -> Fallible<()> {
        for (index, local) in self.own.algorithm.locals.iter().enumerate() {
            let name = &local.name.text;
            if local.kind == LocalKind::Int {
                let init = self.initial(local)?;
                self.build.register(name, init);
                self.own.sets.push(None);
                continue;
            }
            let keys = match &local.len {
                Some(len) => size(self.own.constants.eval(len, self.reports)?, MAX_KEYS, len.span, self.reports)?,
                None => self.own.constants.locs(local.name.span, self.reports)?,
            };
            let (pairs, ordered) = self.uses(index);
            let depth = if pairs { depths[index].max(1) } else { 1 };
            if keys * depth > MAX_SLOTS {
                let message = format!("the client may add more than {MAX_SLOTS} pairs to `{name}`");
                let help = "use fewer locations or operations";
                return Err(self.reports.complain(local.name.span, message, "too large", help));
            }
            let has = self.build.registers(&format!("{name}.has"), keys, 0);
            let valued = pairs || local.kind == LocalKind::Map;
            let values = valued.then(|| self.build.registers(&format!("{name}.value"), keys * depth, 0));
            let order = ordered.then(|| {
                let base = self.build.registers(&format!("{name}.order"), keys * depth, 0);
                (base, self.build.register(&format!("{name}.size"), 0))
            });
            self.own.sets.push(Some(SetShape { keys, depth, pairs, has, values, order }));
        }
        Ok(())
    }

    fn initial(&mut self, local: &TxLocal) -> Fallible<i128> {
        local.init.as_ref().map_or(Ok(0), |init| self.own.constants.eval(init, self.reports))
    }

    /// Whether a set holds pairs, and whether a loop goes over it in the order of insertion.
    fn uses(&self, index: usize) -> (bool, bool) {
        let name = &self.own.algorithm.locals[index].name.text;
        let (mut pairs, mut ordered) = (false, false);
        self.own.algorithm.walk(&mut |stmt| match &stmt.kind {
            StmtKind::Each(each) if each.set.text == *name => {
                ordered |= each.order == LoopOrder::Insertion;
                pairs |= each.binders.len() == 2 && !each.arrow;
            }
            StmtKind::Do(Rhs::Access(access)) if access.object.text == *name => {
                pairs |= access.args.iter().any(|arg| matches!(arg.kind, ExprKind::Tuple(_)));
            }
            _ => {}
        });
        (pairs, ordered)
    }

    /// Which set or map a register belongs to.
    pub(crate) fn owners(&self) -> Vec<Option<u32>> {
        let mut owners = vec![None; self.build.thread.registers.len()];
        for (index, shape) in self.own.sets.iter().enumerate() {
            for register in shape.iter().flat_map(SetShape::registers) {
                owners[register as usize] = u32::try_from(index).ok();
            }
        }
        owners
    }

    /// The sets and maps as a reader of an execution is told about them.
    pub(crate) fn set_registers(&self) -> Vec<SetRegisters> {
        let named = self.own.algorithm.locals.iter().zip(&self.own.sets);
        let told = named.filter_map(|(local, shape)| {
            let SetShape { keys, depth, pairs, has, values, .. } = (*shape)?;
            Some(SetRegisters { name: local.name.text.clone(), keys, depth, has, values, pairs })
        });
        told.collect()
    }

    /// Empties everything at the beginning of a transaction; what the thread begins with is empty already.
    pub(crate) fn reset(&mut self, first: bool, span: Span) -> Fallible<()> {
        let of_transaction = |local: &TxLocal| !local.of_thread;
        for (contents, local) in self.contents.iter_mut().zip(&self.own.algorithm.locals) {
            if of_transaction(local) {
                *contents = Contents::default();
            }
        }
        if first {
            return Ok(());
        }
        let locals = &self.own.algorithm.locals;
        for index in (0..self.own.sets.len()).filter(|index| of_transaction(&locals[*index])) {
            let (registers, value) = match &self.own.sets[index] {
                Some(shape) => (shape.registers(), 0),
                None => {
                    let local = &self.own.algorithm.locals[index];
                    let value = self.initial(local)?;
                    (vec![self.build.register(&local.name.text, value).0], value)
                }
            };
            for register in registers {
                self.assign(Place::Reg(RegId(register)), int(value), span)?;
            }
        }
        Ok(())
    }

    /// A set or map by its name.
    pub(crate) fn shape(&self, name: &str) -> Fallible<(usize, SetShape)> {
        let index = self.own.algorithm.locals.iter().position(|local| local.name.text == name).ok_or(Reported)?;
        Ok((index, self.own.sets.get(index).copied().flatten().ok_or(Reported)?))
    }

    /// Whether an element, or a key, is there.
    pub(crate) fn contains(&mut self, name: &str, parts: Vec<LocalExpr>) -> Fallible<LocalExpr> {
        let (_, shape) = self.shape(name)?;
        let mut parts = parts.into_iter();
        let key = parts.next().ok_or(Reported)?;
        let has = LocalExpr::Var(element(shape.has, shape.keys, key.clone()));
        let (true, Some(second), Some(values)) = (shape.pairs, parts.next(), shape.values) else { return Ok(has) };
        let first = binary(BinOp::Mul, key, int(shape.depth.into()));
        Ok(any((0..shape.depth).map(|slot| {
            let taken = binary(BinOp::Lt, int(slot.into()), has.clone());
            let at = binary(BinOp::Add, first.clone(), int(slot.into()));
            let value = LocalExpr::Var(element(values, shape.slots(), at));
            binary(BinOp::And, taken, binary(BinOp::Eq, value, second.clone()))
        })))
    }

    /// `put`, `get` or `add`.
    pub(crate) fn set_access(&mut self, access: &'a Access, span: Span) -> Fallible<LocalExpr> {
        let (index, shape) = self.shape(&access.object.text)?;
        if access.method.text == "get" {
            let key = fold(access.args.first().ok_or(Reported)?, self)?;
            let cond = self.contains(&access.object.text, vec![key.clone()])?;
            let message = Some(format!("`{}` has no such key", access.object.text));
            self.emit(Op::Assert { cond, message }, span)?;
            return Ok(LocalExpr::Var(element(shape.values.ok_or(Reported)?, shape.keys, key)));
        }
        let mut parts = Vec::new();
        for arg in &access.args {
            parts.extend(self.exprs(arg.parts())?);
        }
        self.contents[index].add(parts.first().ok_or(Reported)?, shape.keys);
        self.own.most[index] = self.own.most[index].max(self.contents[index].deepest());
        if shape.pairs {
            self.add_pair(&access.object.text, shape, parts, span)?
        } else {
            self.put(shape, parts, span)?
        }
        Ok(int(0))
    }

    fn put(&mut self, shape: SetShape, parts: Vec<LocalExpr>, span: Span) -> Fallible<()> {
        let mut parts = parts.into_iter();
        let key = parts.next().ok_or(Reported)?;
        let has = element(shape.has, shape.keys, key.clone());
        if shape.order.is_some() {
            let missing = LocalExpr::unary(UnOp::Not, LocalExpr::Var(has.clone()));
            self.guarded(missing, span, |lower| lower.remember(shape, key.clone(), span))?;
        }
        self.assign(has, int(1), span)?;
        match (shape.values, parts.next()) {
            (Some(values), Some(value)) => self.assign(element(values, shape.keys, key), value, span),
            _ => Ok(()),
        }
    }

    fn add_pair(&mut self, name: &str, shape: SetShape, parts: Vec<LocalExpr>, span: Span) -> Fallible<()> {
        let [key, value] = parts.as_slice() else { return Err(Reported) };
        let there = self.contains(name, parts.clone())?;
        let has = element(shape.has, shape.keys, key.clone());
        let taken = LocalExpr::Var(has.clone());
        let slot = binary(BinOp::Mul, key.clone(), int(shape.depth.into()));
        let slot = if shape.depth == 1 { slot } else { binary(BinOp::Add, slot, taken.clone()) };
        let values = shape.values.ok_or(Reported)?;
        self.guarded(LocalExpr::unary(UnOp::Not, there), span, |lower| {
            lower.assign(element(values, shape.slots(), slot.clone()), value.clone(), span)?;
            lower.remember(shape, slot, span)?;
            lower.assign(has, binary(BinOp::Add, taken, int(1)), span)
        })
    }

    fn remember(&mut self, shape: SetShape, slot: LocalExpr, span: Span) -> Fallible<()> {
        let Some((order, size)) = shape.order else { return Ok(()) };
        self.assign(element(order, shape.slots(), var(size)), slot, span)?;
        self.assign(Place::Reg(size), binary(BinOp::Add, var(size), int(1)), span)
    }
}
