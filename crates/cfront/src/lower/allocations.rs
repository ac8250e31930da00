//! An allocation is an access to all of its object where accesses may race: whoever uses memory that was published without synchronisation does not know that it is there.
//!
//! Objects are alive from the start ([`super::heap`]), which is all the same where there is one order of all accesses: nobody comes to an object but by an address that its thread
//! wrote after it was allocated. Under a model with happens-before that is not enough (an object's lifetime begins with its allocation, C17 7.22.3, and no access comes before it). So a whole program
//! is lowered with *marks*, assignments to registers that nobody reads, and [`with_allocations`] makes stores of them: of nothing in particular to each word, so that an access that does not come
//! after the allocation races with it; or, of an object that may be freed, one to its header, which begins a life (`cyrano_ir::guards`), so that every access, and whoever frees the object, has to come after it.
//!
//! What `main` allocates before it creates a thread happens before everything else, and has no marks.

use cyrano_ir::guards::ALIVE;
use cyrano_ir::{Addr, BinOp, Expr as Ir, Instr, LocId, LocalExpr, Op, Place, Program, Thread, UNDEFINED, WORD};

use super::Lowerer;
use super::memory::OBJECTS;
use super::spot::{MEMORY, target};
use crate::types::Type;
use crate::types::arith;

/// What the names of the registers begin with that are assigned to as marks; the number of a word follows, or the header's word.
const MARK: &str = "%allocated.";
const HEADER: &str = "header";

impl Lowerer<'_, '_> {
    /// Marks that a new object is allocated, if that may have to be known.
    pub(super) fn mark_allocated(&mut self, ty: &Type, object: &LocalExpr) {
        let alone = self.shared.thread == 0 && self.shared.spawned.is_empty();
        if self.end.is_none() || alone {
            return;
        }
        let words = self.shared.checked.types.words(ty);
        let freed = !self.shared.memory.objects.is_empty();
        let marks: Vec<String> =
            if freed { vec![HEADER.to_owned()] } else { (0..words).map(|word| word.to_string()).collect() };
        for mark in marks {
            let register = self.register(&format!("{MARK}{mark}"), 0);
            self.emit(Op::Assign { dst: Place::Reg(register), value: object.clone() });
        }
    }
}

/// The program in which allocations are accesses; none if there are none that matter.
pub(crate) fn with_allocations(program: &Program) -> Option<Program> {
    let mut made = program.clone();
    let mut changed = false;
    for thread in &mut made.threads {
        let stores: Vec<Option<Op>> = thread.code.iter().map(|instr| store(thread, instr)).collect();
        for (instr, store) in thread.code.iter_mut().zip(stores) {
            if let Some(store) = store {
                (instr.op, changed) = (store, true);
            }
        }
    }
    changed.then_some(made)
}

/// What a mark stands for.
fn store(thread: &Thread, instr: &Instr) -> Option<Op> {
    let Op::Assign { dst: Place::Reg(register), value } = &instr.op else { return None };
    let word = thread.registers[register.index()].name.strip_prefix(MARK)?;
    let (array, offset, value, object) = match word {
        HEADER => (OBJECTS, -1, ALIVE, value),
        word => (MEMORY, word.parse().ok()?, UNDEFINED, value),
    };
    let index = arith::binary(BinOp::Add, target(object), Ir::Const(offset));
    let addr = match object {
        Ir::Const(object) => Addr::Fixed(LocId::new(usize::try_from(object / WORD + offset).ok()?)),
        _ => Addr::Indexed { array, index },
    };
    Some(Op::store(addr, Ir::Const(value)))
}
