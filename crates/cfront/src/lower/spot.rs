//! Places while a thread runs: registers, memory, parts of words and of values.

use cyrano_ir::{AccessKind, Addr, ArrayId, BinOp, Expr as Ir, LocalExpr, Op, Place, RegId, Tags, UnOp, WORD};

use super::Lowerer;
use crate::tree::{GlobalId, Lvalue, LvalueKind, Room};
use crate::types::arith;
use crate::types::{Bits, Store, Type};

/// The array of all words.
pub(crate) const MEMORY: ArrayId = ArrayId(0);

/// Where a value is.
#[derive(Clone, Debug)]
pub(crate) enum Spot {
    /// In the registers `base..base + total` of a variable, from `offset` on, plus a number that is computed.
    Regs { base: RegId, total: u32, offset: u32, dynamic: Option<LocalExpr> },
    /// In memory, so many words behind a pointer.
    Memory { base: LocalExpr, offset: u32 },
    /// Bits of a word.
    Bits(Box<Spot>, Bits),
    /// Nowhere: the words of a value.
    Values(Vec<LocalExpr>),
}

impl Spot {
    /// The variable in these registers.
    pub(crate) fn regs(base: RegId, total: u32) -> Self {
        Self::Regs { base, total, offset: 0, dynamic: None }
    }

    /// An object at a fixed address.
    pub(crate) fn fixed(address: i128) -> Self {
        Self::Memory { base: Ir::Const(address), offset: 0 }
    }

    /// The part from a word on.
    fn part(self, by: u32) -> Self {
        match self {
            Self::Regs { base, total, offset, dynamic } => Self::Regs { base, total, offset: offset + by, dynamic },
            Self::Memory { base, offset } => Self::Memory { base, offset: offset + by },
            Self::Values(mut words) => Self::Values(words.split_off((by as usize).min(words.len()))),
            bits @ Self::Bits(..) => bits,
        }
    }

    fn place(&self, word: u32) -> Option<Place> {
        match self {
            Self::Regs { base, offset, dynamic: None, .. } => Some(Place::Reg(RegId(base.0 + offset + word))),
            Self::Regs { base, total, offset, dynamic: Some(index) } => {
                let index = arith::binary(BinOp::Add, index.clone(), Ir::Const(i128::from(offset + word)));
                Some(Place::Elem { base: *base, len: *total, index: Box::new(index) })
            }
            _ => None,
        }
    }
}

/// The address of a word behind a pointer.
pub(crate) fn address(base: &LocalExpr, offset: u32) -> Addr {
    // `p + 16` is two words behind `p`; an error is then about `p`.
    let (base, offset) = match base {
        Ir::Binary(BinOp::Add, inner, by) => match **by {
            Ir::Const(by @ 0..) if by % WORD == 0 => (&**inner, i128::from(offset) + by / WORD),
            _ => (base, i128::from(offset)),
        },
        _ => (base, i128::from(offset)),
    };
    Addr::Indexed { array: MEMORY, index: arith::binary(BinOp::Add, target(base), Ir::Const(offset)) }
}

/// The word that a pointer points to. The check for definedness is part of finding it.
pub(super) fn target(pointer: &LocalExpr) -> LocalExpr {
    let pointer = match pointer {
        Ir::Unary(UnOp::Defined, inner) => inner,
        other => other,
    };
    arith::unary(UnOp::Target, pointer.clone())
}

impl Lowerer<'_, '_> {
    /// The place of an lvalue; what it needs is evaluated.
    pub(super) fn spot(&mut self, lvalue: &Lvalue) -> Spot {
        match &lvalue.kind {
            LvalueKind::Global(id) => Spot::fixed(self.global(*id)),
            LvalueKind::Local(id) => {
                let known = self.frames.last().and_then(|frame| frame.locals.get(id.0).cloned().flatten());
                match known {
                    Some(spot) => spot,
                    None => self.new_variable(*id),
                }
            }
            LvalueKind::Deref(pointer) => self.deref(pointer),
            LvalueKind::Field(base, field) => self.field(base, *field),
            LvalueKind::Index(base, index) => self.element(base, index, &lvalue.ty),
            LvalueKind::Value(value) => Spot::Values(self.values(value)),
        }
    }

    /// The address of a global, or of this thread's own.
    fn global(&mut self, id: GlobalId) -> i128 {
        let shared = &mut *self.shared;
        if let Some(Some(address)) = shared.addresses.get(id.0) {
            return *address;
        }
        let global = &shared.checked.globals[id.0];
        let own = (global.room == Room::Thread).then_some(shared.thread);
        if let Some(address) = shared.mentioned.get(&(id, own)) {
            return *address;
        }
        let name = match own {
            Some(thread) => format!("{}@{thread}", global.name),
            None => global.name.clone(),
        };
        let source = (shared.checked, shared.sources);
        let address = shared.memory.mention(source, id.0, &name, shared.addresses);
        shared.mentioned.insert((id, own), address);
        address
    }

    pub(super) fn deref(&mut self, pointer: &crate::tree::Expr) -> Spot {
        match self.pointed(pointer) {
            Some(spot) => spot,
            None => {
                let base = self.value(pointer);
                Spot::Memory { base, offset: 0 }
            }
        }
    }

    fn field(&mut self, base: &Lvalue, field: usize) -> Spot {
        let Type::Struct(id) = base.ty else { return Spot::Values(Vec::new()) };
        let spot = self.spot(base);
        let types = &self.shared.checked.types;
        if types.is_scalar(&base.ty) {
            let bits = types.fields(id).get(field).map(|field| field.bits).unwrap_or_default();
            return match spot {
                spot if bits.is_word() => spot,
                // A part of a part of a word is a part of the word.
                Spot::Bits(word, outer) if bits.store == Store::Whole => {
                    Spot::Bits(word, Bits { shift: outer.shift, store: outer.store, ..bits })
                }
                Spot::Bits(word, outer) => Spot::Bits(word, Bits { shift: outer.shift + bits.shift, ..bits }),
                spot => Spot::Bits(Box::new(spot), bits),
            };
        }
        spot.part(types.offset(id, field))
    }

    fn element(&mut self, array: &Lvalue, index: &crate::tree::Expr, ty: &Type) -> Spot {
        let spot = self.spot(array);
        let words = self.shared.checked.types.words(ty);
        let index = self.value(index);
        let len = match &array.ty {
            Type::Array(_, len) => *len,
            _ => 0,
        };
        if let Ir::Const(number) = index {
            return match u32::try_from(number).ok().filter(|number| *number < len) {
                Some(number) => spot.part(number.saturating_mul(words)),
                None => {
                    self.check_index(&index, len);
                    spot.part(0)
                }
            };
        }
        let index = self.saved(arith::used(index));
        // The registers of a whole array of scalars are checked by the access itself.
        let checked =
            matches!(&spot, Spot::Regs { total, offset: 0, dynamic: None, .. } if *total == len && words == 1);
        if !checked {
            self.check_index(&index, len);
        }
        let by = |unit: i128| arith::binary(BinOp::Mul, index.clone(), Ir::Const(unit));
        match spot {
            Spot::Regs { base, total, offset, dynamic } => {
                let by = if words == 1 { index.clone() } else { by(i128::from(words)) };
                let dynamic = match dynamic {
                    Some(before) => arith::binary(BinOp::Add, before, by),
                    None => by,
                };
                Spot::Regs { base, total, offset, dynamic: Some(dynamic) }
            }
            Spot::Memory { base, offset } => {
                let start = arith::move_pointer(base, Ir::Const(i128::from(offset)), 1, false);
                // The constant stands first, so that it is not taken for an offset behind a pointer.
                let base = arith::binary(BinOp::Add, arith::used(start), by(i128::from(words) * WORD));
                Spot::Memory { base, offset: 0 }
            }
            other => other,
        }
    }

    fn check_index(&mut self, index: &LocalExpr, len: u32) {
        let low = arith::binary(BinOp::Ge, index.clone(), Ir::Const(0));
        let high = arith::binary(BinOp::Lt, index.clone(), Ir::Const(i128::from(len)));
        let message = Some(format!("index outside an array of {len} elements"));
        self.emit(Op::Assert { cond: arith::binary(BinOp::And, low, high), message });
    }

    /// The words at a place. Reads of memory are loads into new registers.
    pub(crate) fn read(&mut self, spot: &Spot, words: u32) -> Vec<LocalExpr> {
        (0..words).map(|word| self.read_word(spot, word)).collect()
    }

    pub(crate) fn read_word(&mut self, spot: &Spot, word: u32) -> LocalExpr {
        self.load(spot, word, Tags::default())
    }

    /// Reads one word; of memory with these tags.
    pub(crate) fn load(&mut self, spot: &Spot, word: u32, tags: Tags) -> LocalExpr {
        match spot {
            Spot::Memory { base, offset } => {
                let temp = self.temp();
                let addr = self.addr(base, offset + word);
                self.emit(Op::load(Place::Reg(temp), addr).tagged(tags));
                Self::var(temp)
            }
            Spot::Bits(inner, bits) => {
                self.refuse_part(inner, *bits, tags);
                let value = self.load(inner, 0, tags);
                arith::extract(value, *bits)
            }
            Spot::Values(values) => values.get(word as usize).cloned().unwrap_or(Ir::Const(cyrano_ir::UNDEFINED)),
            Spot::Regs { .. } => match spot.place(word) {
                Some(place) => Ir::Var(place),
                None => Ir::Const(cyrano_ir::UNDEFINED),
            },
        }
    }

    /// Writes one word.
    pub(super) fn write_word(&mut self, spot: &Spot, word: u32, value: LocalExpr) {
        self.store(spot, word, value, Tags::default());
    }

    /// Writes one word; of memory with these tags.
    pub(crate) fn store(&mut self, spot: &Spot, word: u32, value: LocalExpr, tags: Tags) {
        match spot {
            Spot::Memory { base, offset } => {
                let addr = self.addr(base, offset + word);
                self.emit(Op::store(addr, value).tagged(tags));
            }
            Spot::Bits(inner, bits) => match (bits.store, &**inner) {
                (Store::Whole, _) => self.store(inner, 0, arith::place(value, *bits), tags),
                // Nobody sees the word between the load and the store, which a machine does not have for a field of its own bytes.
                (Store::Part, Spot::Memory { .. }) => {
                    let value = self.saved(value);
                    self.refuse_part(inner, *bits, tags);
                    self.atomically(|lowerer| lowerer.insert(inner, value, *bits));
                }
                _ => self.insert(inner, value, *bits),
            },
            Spot::Regs { .. } => {
                let Some(dst) = spot.place(word) else { return };
                self.assign(dst, value);
            }
            Spot::Values(_) => {}
        }
    }

    /// An atomic access to a part of a word would be one of another size than that of the word.
    fn refuse_part(&mut self, word: &Spot, bits: Bits, tags: Tags) {
        if tags != Tags::default() && bits.store != Store::Whole && matches!(word, Spot::Memory { .. }) {
            let why = "an atomic access to a part of what is one word elsewhere: accesses of several sizes to one place are not supported";
            self.shared.refused.push((self.span, why.to_owned()));
        }
    }

    /// Reads a word and writes it with one field replaced.
    fn insert(&mut self, word: &Spot, value: LocalExpr, bits: Bits) {
        let before = self.read_word(word, 0);
        self.write_word(word, 0, arith::insert(before, value, bits));
    }

    /// Puts a value into a register; a load that has just put it into a temporary is redirected instead.
    fn assign(&mut self, dst: Place, value: LocalExpr) {
        if let Ir::Var(Place::Reg(temp)) = &value
            && self.registers[temp.index()].name.starts_with('%')
            && self.barrier < self.code.len()
            && let Some(last) = self.code.last_mut()
            && matches!(dst, Place::Reg(_))
            && (last.op.access_kind() == Some(AccessKind::Load) || matches!(last.op, Op::Choose { .. }))
            && let Some(loaded) = last.op.dst_mut()
            && *loaded == Place::Reg(*temp)
        {
            *loaded = dst;
            return;
        }
        self.emit(Op::Assign { dst, value });
    }

    /// The address of a word behind a pointer, as a fixed location if it is one.
    pub(crate) fn addr(&self, base: &LocalExpr, offset: u32) -> Addr {
        match address(base, offset) {
            Addr::Indexed { index: Ir::Const(index), array } => match self.shared.memory.location(index) {
                Some(location) => Addr::Fixed(location),
                None => Addr::Indexed { array, index: Ir::Const(index) },
            },
            other => other,
        }
    }

    /// Whether a place is shared memory, or a part of a word there.
    pub(super) fn is_shared(spot: &Spot) -> bool {
        match spot {
            Spot::Memory { .. } => true,
            Spot::Bits(word, _) => Self::is_shared(word),
            Spot::Regs { .. } | Spot::Values(_) => false,
        }
    }

    /// The address of a place, if it is in memory.
    pub(super) fn address_of(&self, spot: &Spot) -> LocalExpr {
        match spot {
            Spot::Memory { base, offset } => {
                arith::move_pointer(base.clone(), Ir::Const(i128::from(*offset)), 1, false)
            }
            _ => Ir::Const(cyrano_ir::UNDEFINED),
        }
    }
}
