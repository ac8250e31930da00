//! Memory models as data.
//!
//! Every model is one [`Model`], of one of two families. Most of this page is about the first one, of models that reorder pairs: a choice of parameters for one
//! axiomatic form, which generalises section 2.3.2 of CheckFence. A model of the other one is a text in [cat](mod@cat).
//!
//! # The axioms of models that reorder pairs
//!
//! An execution gives each thread a sequence of accesses in program order (`po`), as its code says for the values that its
//! loads returned. A read-modify-write is *one* access that is both a load and a store; it counts as both whether or not
//! a compare-and-swap succeeds. The execution is allowed when there is a total order `<M` (the memory order) over all accesses with:
//!
//! 1. **Kept pairs.** If `x po y` and the model keeps the pair, by the kinds of the two and by whether their addresses are
//!    the same ([`Reordering::keeps`]), then `x <M y`. A read-modify-write is in a kept pair when its load or its store would be,
//!    unless the model lists its pairs with accesses to different addresses ([`CasPairs`], FOIL's function N/E/Y of two instructions).
//!    Every model keeps load-store and store-store to the same address, and a read-modify-write before every later access to
//!    its address: what it writes is known only once it is performed, so there is nothing to forward.
//!    A location that only tells of the order of accesses (`cyrano_ir::Ty::Witness`) is never the same address here.
//! 2. **Fences.** If an X-Y fence stands between `x` of kind X and `y` of kind Y, then `x <M y`.
//! 3. **Dependencies.** A load (or read-modify-write) `x` precedes `y` in `<M` when `x po y` and, as far as the model keeps that kind:
//!    - *data*: the value that `y` writes (or compares with) was computed from what `x` read,
//!    - *address*: so was the address of `y`,
//!    - *control*: a branch, an `assume` or a `limit` between the two was decided by what `x` read; with [`Control::All`] this orders every
//!      later access, with [`Control::Stores`] every later access that writes.
//!
//!    Values flow through registers only; an `assert` is not a dependency, for a check must not change what it checks.
//! 4. **Values.** A load sees the `<M`-latest of the stores to its address that are visible to it, or else the initial value.
//!    Visible are the stores before it in `<M` and, with *forwarding*, all earlier stores of its own thread, performed or not.
//! 5. **Forwarded values are known.** If a load takes its value from a store of its own thread that follows it in `<M`, then every
//!    load that this store depends on (by rule 3, as far as the model keeps that kind) precedes the load in `<M`.
//!    This is rule 3 of dependence order in the SPARC V9 manual (D.3.3), for the store that is forwarded.
//! 6. **Atomic sections.** The accesses of an atomic section are consecutive in `<M`, in program order.
//!    With [`Reordering::serial`] the same holds for each operation, and for a whole thread that declares none; an operation that
//!    an execution leaves unfinished is the last thing in it.
//! 7. **No value out of thin air.** Following each load to the store it took its value from, and each store to the loads that its value
//!    and address were computed from, never leads back to the start. Models that keep data and address dependencies, or
//!    that keep every load before later stores, have this already; for the others it is an axiom of its own.
//! 8. **Setup.** In a program with a setup thread every access of that thread precedes every access of any other thread in `<M`,
//!    and the others have started only if it has run to its end.
//! 9. **Own orders.** With [`Reordering::own_order`] axiom 3 keeps nothing, and instead `x <M y` for accesses of one thread if *y follows x*
//!    in the execution. An executed instruction follows every executed instruction that the program's own order for the
//!    model lists for it (`Program::orders`), and whatever the registers that it names were computed from. If it follows an access,
//!    that is `x`; if it follows an instruction that assigns, chooses or decides, it follows all that this one follows. Jumps, brackets and
//!    assertions pass nothing on. What the beginning of an atomic section follows, or an instruction in it, the accesses of the section
//!    that come after that follow, too. So the order depends on the path and the values of the execution, never on what could
//!    be known about them beforehand. Axiom 1 has its say about accesses of one address, and every call of a
//!    transactional memory, every response, and every end of a transaction is ordered with every access of its thread.
//!    Without an order for the model the program cannot be run under it.
//! 10. **Freed memory.** The words behind a header, up to the next gap, are one object (`cyrano_ir::guards`). An access to the header and an access to the
//!     object, of one thread, are in `<M` as in `po`, under every model: freeing is not overtaken by accesses to what is freed, nor do they
//!     overtake it. With any other access a store to a header, which frees, is ordered like any other store; it is no fence.
//!     An access to a word of the object, and a store to its header, also *looks* at the header, at its own place in `<M`: if the `<M`-latest store to the header before that
//!     place (or else the initial value) is not `ALIVE`, the execution goes wrong there, with `EvalError::Freed` or `EvalError::DoubleFree`. The look is part of the
//!     access: it is not in `po`, orders nothing, depends on nothing, and happens whether or not anybody wants what the access reads.
//!
//! The models differ in parameters only, so a user can write one down ([`mod@file`]), and each engine asks the same questions.
//!
//! This crate knows neither source languages nor the data structures of engines.

mod cas;
pub mod cat;
pub mod file;
mod machines;
mod model;
mod own;
mod relational;

pub use cas::CasPairs;
pub use machines::all;
pub use model::{Control, Definition, Dependencies, Model, Reordering};
pub use own::for_algorithms;
pub use relational::relational;

/// Names that people use for a model that has another one here.
const ALSO: [(&str, &str); 1] = [("x86", "tso")];

/// The model with this name.
pub fn named(name: &str) -> Option<Model> {
    let name = ALSO.iter().find(|(also, _)| *also == name).map_or(name, |(_, name)| name);
    let found = all().into_iter().chain(for_algorithms()).find(|model| model.name == name);
    found.or_else(|| relational::named(name))
}
