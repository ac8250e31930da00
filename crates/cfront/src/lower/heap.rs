//! `malloc`, `calloc`, `realloc` and `free`.
//!
//! Every `malloc` has objects of its own, made when the program is lowered: one, or a pool if the call may be reached again. They are alive from the start,
//! for nobody knows their addresses before. So a new object costs nothing at run time.
//!
//! `free` is one store to the object's header. That it is alive is part of that store (axiom 10 of `cyrano_memory`), and so is that it is a header: freeing
//! what was not allocated fails as an address. It is no fence.
//!
//! **Memory that is used again.** `malloc` chooses: a new object, or any object of as many words that may have been freed before. The latter is an
//! atomic section: a read-modify-write that turns the header from freed to alive, and stores that make all words undefined. If the header does not say
//! freed the execution is dropped; nothing is lost, since the choice of a new object leads on from there. Real allocators hand memory on through a lock
//! or an atomic access, so this read-modify-write may order what a read-modify-write orders; with a new object there is no order at all.
//!
//! Which objects may have been freed before: those of other threads (not for the setup thread, which is alone), and of its own
//! those that it allocated before, or all of them if the call may be reached again.
//!
//! **Leaks.** If they are asked for, every object has a word in front of its header that `malloc` sets and `free` clears, and the end of the program looks at all
//! of them. The words are atomic and nobody else's. What other threads would free later they do not free any more.
//!
//! `calloc` is a `malloc` and a store of 0 to each word. `realloc` makes another object, copies what both have room for, and frees the old one: it always
//! moves. An object that stays where it is would only keep old pointers to it valid; to compare or to use one after `realloc` is undefined in C.

use cyrano_ir::guards::{ALIVE, FREED};
use cyrano_ir::{Addr, BinOp, Change, Expr as Ir, LocalExpr, Op, Place, Tags, UNDEFINED, WORD};

use super::spot::{MEMORY, target};
use super::{Lowerer, Spot};
use crate::lower::memory::{Memory, OBJECTS, Object};
use crate::tree::Expr;
use crate::types::{MAX_WORDS, Type, arith};

/// How many elements an object may have whose number of elements is not known before the program runs.
const MAX_ELEMENTS: u32 = 8;

impl Lowerer<'_, '_> {
    /// An object of a type, or of so many elements of it: each number that is possible has objects of its own.
    pub(super) fn allocate(
        &mut self,
        ty: &Type,
        count: &[Expr],
        position: u32,
        make: fn(&mut Self, &Type, u32) -> LocalExpr,
    ) -> LocalExpr {
        let Some(count) = count.first() else { return make(self, ty, position) };
        let array = |len| Type::Array(Box::new(ty.clone()), len);
        let count = self.value(count);
        if let Ir::Const(len) = count
            && let Some(len) = u32::try_from(len).ok().filter(|len| (1..=MAX_WORDS).contains(&u64::from(*len)))
        {
            return make(self, &array(len), position);
        }
        let count = self.saved(arith::used(count));
        let (object, end) = (self.temp(), self.new_label());
        for len in 1..=MAX_ELEMENTS {
            let (this, next) = (self.new_label(), self.new_label());
            self.branch(arith::binary(BinOp::Eq, count.clone(), Ir::Const(i128::from(len))), this, next);
            self.bind(this);
            let value = make(self, &array(len), position);
            self.emit(Op::Assign { dst: Place::Reg(object), value });
            self.jump(end);
            self.bind(next);
        }
        let line = self.shared.sources.line(crate::source::Loc { file: 0, span: self.span });
        let what = format!("objects of no or more than {MAX_ELEMENTS} elements allocated at line {line}");
        self.emit(Op::Limit { cond: Ir::Const(0), what });
        self.bind(end);
        Self::var(object)
    }

    /// An object: a new one, or one that was freed.
    pub(super) fn malloc(&mut self, ty: &Type, position: u32) -> LocalExpr {
        let object = self.any_object(ty, position);
        self.tell_allocated(&object, true);
        object
    }

    /// Tells that an object is allocated, or not, if leaks are looked for.
    fn tell_allocated(&mut self, object: &LocalExpr, is: bool) {
        if self.shared.memory.leaks {
            let store = Op::store(allocated(object), Ir::Const(i128::from(is)));
            self.emit(store.tagged(Tags::ATOMIC));
        }
    }

    /// At the end of a program: nothing is allocated.
    pub(crate) fn check_leaks(&mut self) {
        if !self.shared.memory.leaks {
            return;
        }
        for object in self.shared.known.clone() {
            let address = Ir::Const(object.address);
            let word = usize::try_from(object.address / WORD).unwrap_or_default();
            let span = self.shared.memory.words.get(word).map(|word| word.span).unwrap_or_default();
            let line = self.shared.sources.line(crate::source::Loc { file: 0, span });
            let found = self.temp();
            self.emit(Op::load(Place::Reg(found), allocated(&address)).tagged(Tags::ATOMIC));
            let cond = arith::binary(BinOp::Eq, Self::var(found), Ir::Const(0));
            let message = Some(format!("what line {line} allocates is not freed when the program ends"));
            self.emit(Op::Assert { cond, message });
        }
    }

    fn any_object(&mut self, ty: &Type, position: u32) -> LocalExpr {
        let (checked, span, thread) = (self.shared.checked, self.span, self.shared.thread);
        let first = self.shared.memory.allocate(checked, ty, thread, UNDEFINED, span);
        let again = self.may_be_freed(first, position);
        if again.is_empty() {
            return self.new_object(ty, first, position);
        }
        let inits = self.shared.checked.types.initial(ty, UNDEFINED);
        let (fresh, reuse, end) = (self.new_label(), self.new_label(), self.new_label());
        let (chosen, object) = (self.temp(), self.temp());
        let from = std::iter::once(0).chain(again.iter().map(|object| object.address)).collect();
        self.emit(Op::Choose { dst: Place::Reg(chosen), from });
        self.branch(arith::binary(BinOp::Eq, Self::var(chosen), Ir::Const(0)), fresh, reuse);
        self.bind(fresh);
        let value = self.new_object(ty, first, position);
        self.emit(Op::Assign { dst: Place::Reg(object), value });
        self.jump(end);
        self.bind(reuse);
        self.revive(&Self::var(chosen), &inits);
        self.emit(Op::Assign { dst: Place::Reg(object), value: Self::var(chosen) });
        self.bind(end);
        Self::var(object)
    }

    /// The objects of the size of a new one that may have been freed when it is allocated.
    fn may_be_freed(&self, new: i128, position: u32) -> Vec<Object> {
        let shared = &*self.shared;
        let Some(size) = shared.memory.objects.last().map(|object| object.words) else { return Vec::new() };
        let alone = shared.setup && shared.thread == 0;
        let repeated = self.is_repeated(position);
        let before = |object: &&Object| match object.thread == shared.thread {
            true => repeated || object.address < new,
            false => !alone,
        };
        shared.reused.iter().filter(|object| object.words == size).filter(before).copied().collect()
    }

    /// An object of the call's own: the only one, or the next of a pool if the call may be reached again.
    fn new_object(&mut self, ty: &Type, first: i128, position: u32) -> LocalExpr {
        let (checked, span, thread) = (self.shared.checked, self.span, self.shared.thread);
        if !self.is_repeated(position) || self.shared.memory.is_full() {
            return Ir::Const(first);
        }
        let line = self.shared.sources.line(crate::source::Loc { file: 0, span });
        let what = format!("objects allocated in the loop at line {line}");
        self.next_of_pool(first, what, |memory| memory.allocate(checked, ty, thread, UNDEFINED, span))
    }

    /// The next object of a pool that begins with this one; `what` there may be too few of.
    pub(super) fn next_of_pool(
        &mut self,
        first: i128,
        what: String,
        mut allocate: impl FnMut(&mut Memory) -> i128,
    ) -> LocalExpr {
        let mut second = first;
        for number in 1..self.shared.objects {
            if self.shared.memory.is_full() {
                break;
            }
            let next = allocate(&mut self.shared.memory);
            if number == 1 {
                second = next;
            }
        }
        let counter = self.register(&format!("%objects.{}", first / WORD), 0);
        let count = Self::var(counter);
        let cond = arith::binary(BinOp::Lt, count.clone(), Ir::Const(i128::from(self.shared.objects)));
        self.emit(Op::Limit { cond, what });
        let step = Ir::Const(second - first);
        let offset = arith::binary(BinOp::Mul, count.clone(), step);
        let object = self.saved(arith::binary(BinOp::Add, Ir::Const(first), offset));
        let value = arith::binary(BinOp::Add, count, Ir::Const(1));
        self.emit(Op::Assign { dst: Place::Reg(counter), value });
        object
    }

    /// Makes a freed object alive, with undefined content; drops the execution if it is not freed.
    fn revive(&mut self, object: &LocalExpr, inits: &[i128]) {
        let (clear, end) = (self.new_label(), self.new_label());
        let found = self.temp();
        let freed = arith::binary(BinOp::Eq, Self::var(found), Ir::Const(FREED));
        self.atomically(|lowerer| {
            let change = Change::Cas { expected: Ir::Const(FREED), new: Ir::Const(ALIVE) };
            lowerer.emit(Op::rmw(Some(Place::Reg(found)), header(object), change));
            lowerer.branch(freed.clone(), clear, end);
            lowerer.bind(clear);
            lowerer.fill(object, inits);
            lowerer.bind(end);
        });
        self.emit(Op::Assume(freed));
    }

    /// Writes constants to all words of an object.
    fn fill(&mut self, object: &LocalExpr, values: &[i128]) {
        let place = Spot::Memory { base: object.clone(), offset: 0 };
        (0..).zip(values).for_each(|(word, value)| self.write_word(&place, word, Ir::Const(*value)));
    }

    /// An object whose words are 0.
    pub(super) fn calloc(&mut self, ty: &Type, position: u32) -> LocalExpr {
        let object = self.malloc(ty, position);
        let object = self.saved(object);
        self.fill(&object, &vec![0; self.shared.checked.types.words(ty) as usize]);
        object
    }

    /// Another object with the content of an old one, which is freed.
    pub(super) fn realloc(&mut self, pointer: &Expr, ty: &Type, position: u32) -> LocalExpr {
        let old = self.value(pointer);
        let old = self.saved(arith::used(old));
        let new = self.malloc(ty, position);
        let new = self.saved(new);
        let words = self.shared.checked.types.words(ty);
        for object in self.shared.known.clone() {
            let (copy, next) = (self.new_label(), self.new_label());
            self.branch(arith::binary(BinOp::Eq, old.clone(), Ir::Const(object.address)), copy, next);
            self.bind(copy);
            let [from, to] = [&old, &new].map(|base| Spot::Memory { base: base.clone(), offset: 0 });
            for word in 0..words.min(u32::try_from(object.words).unwrap_or(u32::MAX)) {
                let value = self.read_word(&from, word);
                self.write_word(&to, word, value);
            }
            self.bind(next);
        }
        self.free_object(old);
        new
    }

    pub(super) fn free(&mut self, pointer: &Expr) {
        let value = self.value(pointer);
        let value = self.simple(arith::used(value));
        self.free_object(value);
    }

    /// Marks the header in front of the object; a null pointer is left alone.
    fn free_object(&mut self, value: LocalExpr) {
        let (mark, end) = (self.new_label(), self.new_label());
        self.branch(arith::binary(BinOp::Ne, value.clone(), Ir::Const(0)), mark, end);
        self.bind(mark);
        self.emit(Op::store(header(&value), Ir::Const(FREED)));
        self.tell_allocated(&value, false);
        self.bind(end);
    }
}

/// The word that says whether an object is allocated, where leaks are looked for.
fn allocated(object: &LocalExpr) -> Addr {
    Addr::Indexed { array: MEMORY, index: arith::binary(BinOp::Add, target(object), Ir::Const(-2)) }
}

/// The header of the object that a pointer points to.
pub(super) fn header(object: &LocalExpr) -> Addr {
    Addr::Indexed { array: OBJECTS, index: arith::binary(BinOp::Add, target(object), Ir::Const(-1)) }
}
