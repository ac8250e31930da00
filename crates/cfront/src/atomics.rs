//! The functions that read and write atomically: C11's (`c11`), those of compilers (`builtin`) and those of the Linux kernel (`kernel`).
//!
//! One table for both front ends that have them: this crate's own and that of litmus tests. It works on trees before types are known, and says what
//! a call does: what an access orders is said by tags or by an argument that gives a memory order; what these mean is the model's to say.

pub mod builtin;
mod c11;
mod kernel;

use cyrano_ir::{BinOp, Tags};

use crate::ast::{Expr, ExprKind, Name};
use crate::source::Loc;

pub use c11::{NAMES as ORDER_NAMES, fence, number_of_order};

/// What a memory order is said about: C11 has not every order for everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read-modify-write.
    Rmw,
    /// A compare-and-swap that fails.
    Failure,
}

/// What is said about an access.
#[derive(Clone, Debug)]
pub enum Order {
    /// These tags.
    Tags(Tags),
    /// The memory order that an argument gives.
    Given(Expr, Use),
}

/// What is said about a compare-and-swap: if it writes, and if it does not.
#[derive(Clone, Debug)]
pub struct Orders {
    /// If it writes.
    pub success: Order,
    /// If it does not.
    pub failure: Order,
}

/// What comes of a read-modify-write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Result {
    /// The old value.
    Old,
    /// The new value.
    New,
    /// Whether the new value is 0.
    IsZero,
    /// Whether the new value is less than 0.
    IsNegative,
    /// Nothing.
    Nothing,
}

/// What a read-modify-write computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The old value and the operand under an operator.
    Operator(BinOp),
    /// All bits that are not in both.
    Nand,
}

/// What a fence is.
#[derive(Clone, Debug)]
pub enum Barrier {
    /// The IR's fence of this name.
    Named(&'static str),
    /// The fence of the memory order that an argument gives.
    Given(Expr),
    /// A fence for the compiler alone.
    Signal(Expr),
}

/// What a call does. Locations are given by pointers.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "`at` is the location, `order` what is said about the access")]
pub enum Called {
    Load {
        at: Expr,
        order: Order,
    },
    Store {
        at: Expr,
        value: Expr,
        order: Order,
        /// A fence behind it.
        fence: Option<&'static str>,
    },
    Exchange {
        at: Expr,
        value: Expr,
        order: Order,
    },
    /// The old value.
    Cas {
        at: Expr,
        expected: Expr,
        new: Expr,
        orders: Orders,
    },
    /// Whether it succeeded; what was found goes to where `expected` points. A weak one may fail without a reason.
    CompareExchange {
        at: Expr,
        expected: Expr,
        new: Expr,
        orders: Orders,
        weak: bool,
    },
    /// A change of a location.
    Fetch {
        at: Expr,
        change: Change,
        value: Expr,
        order: Order,
        result: Result,
    },
    /// Adds a value unless the location holds another; whether it did.
    AddUnless {
        at: Expr,
        value: Expr,
        unless: Expr,
        orders: Orders,
    },
    /// Takes a lock, waiting for it or not.
    Lock {
        at: Expr,
        wait: bool,
    },
    /// Gives a lock back.
    Unlock(Expr),
    /// Whether a lock is taken.
    IsLocked(Expr),
    Fence(Barrier),
    /// Waits for the readers of a domain of sleepable RCU.
    Synchronize(Expr),
    /// What this expression does, with calls that are in the table.
    Rewritten(Expr),
    /// A value, unchanged.
    Value(Expr),
    /// A fence that orders nothing.
    Nothing,
}

impl Called {
    /// The same with tags in place of all memory orders; `number` gives that of an order.
    pub fn ordered(mut self, number: &dyn Fn(&Expr) -> Option<i128>) -> std::result::Result<Self, Complaint> {
        if let Self::Fence(barrier) = self {
            return Ok(match barrier.ordered(number)? {
                Some(name) => Self::Fence(Barrier::Named(name)),
                None => Self::Nothing,
            });
        }
        match &mut self {
            Self::Load { order, .. }
            | Self::Store { order, .. }
            | Self::Exchange { order, .. }
            | Self::Fetch { order, .. } => order.settle(number)?,
            Self::Cas { orders, .. } | Self::CompareExchange { orders, .. } | Self::AddUnless { orders, .. } => {
                orders.success.settle(number)?;
                orders.failure.settle(number)?;
            }
            _ => {}
        }
        Ok(self)
    }

    /// Whether a call of it has a value.
    pub fn has_value(&self) -> bool {
        match self {
            Self::Store { .. } | Self::Unlock(_) | Self::Fence(_) | Self::Synchronize(_) | Self::Nothing => false,
            Self::Fetch { result, .. } => *result != Result::Nothing,
            Self::Lock { wait, .. } => !wait,
            _ => true,
        }
    }
}

impl Order {
    /// The tags of an order that is settled.
    pub fn tags(&self) -> Tags {
        match self {
            Self::Tags(tags) => *tags,
            Self::Given(..) => Tags::ATOMIC,
        }
    }

    fn settle(&mut self, number: &dyn Fn(&Expr) -> Option<i128>) -> std::result::Result<(), Complaint> {
        let Self::Given(expr, of) = self else { return Ok(()) };
        let tags = known(expr, number)?;
        *self = Self::Tags(of.tags(tags).map_err(|why| Complaint::about(expr, why, "not for this access"))?);
        Ok(())
    }
}

impl Barrier {
    /// The name of the fence, if it is one for other threads.
    fn ordered(self, number: &dyn Fn(&Expr) -> Option<i128>) -> std::result::Result<Option<&'static str>, Complaint> {
        match self {
            Self::Named(name) => Ok(Some(name)),
            Self::Given(expr) => {
                fence(known(&expr, number)?).map_err(|why| Complaint::about(&expr, why, "not an order"))
            }
            Self::Signal(expr) => known(&expr, number).map(|_| None),
        }
    }
}

fn known(expr: &Expr, number: &dyn Fn(&Expr) -> Option<i128>) -> std::result::Result<i128, Complaint> {
    number(expr).ok_or_else(|| Complaint {
        help: Some(format!("one of {}", ORDER_NAMES.join(", "))),
        ..Complaint::about(expr, "expected a memory order".to_owned(), "not an order")
    })
}

/// Who the functions belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// C11's, for objects that are atomic.
    C11,
    /// Those of compilers, for any object.
    Builtin,
    /// The kernel's, for any object.
    Kernel,
}

/// A complaint about a call.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Complaint {
    pub loc: Loc,
    pub message: String,
    pub label: String,
    pub help: Option<String>,
}

impl Complaint {
    fn about(expr: &Expr, message: String, label: &str) -> Self {
        Self { loc: expr.loc, message, label: label.to_owned(), help: None }
    }
}

type Resolved = std::result::Result<Option<Called>, Complaint>;

/// What the call of a function does, which stands at `loc`; nothing if it is none of these functions.
pub fn resolve(callee: &Name, args: &[Expr], loc: Loc) -> std::result::Result<Option<(Family, Called)>, Complaint> {
    let call = Args { name: &callee.text, args, loc };
    let families = [
        (Family::C11, c11::resolve as fn(Args<'_>) -> Resolved),
        (Family::Builtin, builtin::resolve),
        (Family::Kernel, kernel::resolve),
    ];
    for (family, resolve) in families {
        if let Some(called) = resolve(call)? {
            return Ok(Some((family, called)));
        }
    }
    Ok(None)
}

/// Whether it is one of these functions, with whatever arguments.
pub fn knows(name: &str) -> bool {
    [c11::resolve as fn(Args<'_>) -> Resolved, builtin::resolve, kernel::resolve].iter().any(|of| is_one(name, *of))
}

/// Whether `<stdatomic.h>` declares it.
pub(crate) fn is_c11(word: &str) -> bool {
    let types = word.starts_with("atomic_") && ["bool", "int", "uint", "flag"].contains(&&word[7..]);
    types || word.starts_with("memory_order") || is_one(word, c11::resolve)
}

/// Whether it is one of the kernel's functions.
pub(crate) fn is_kernels(word: &str) -> bool {
    is_one(word, kernel::resolve)
}

fn is_one(name: &str, resolve: fn(Args<'_>) -> Resolved) -> bool {
    !matches!(resolve(Args { name, args: &[], loc: Loc::default() }), Ok(None))
}

/// A call as it stands in the source.
#[derive(Clone, Copy)]
struct Args<'e> {
    name: &'e str,
    args: &'e [Expr],
    loc: Loc,
}

impl Args<'_> {
    /// So many arguments.
    fn take<const N: usize>(self) -> std::result::Result<[Expr; N], Complaint> {
        let found: std::result::Result<&[Expr; N], _> = self.args.try_into();
        found.cloned().map_err(|_| Complaint {
            loc: self.loc,
            message: format!("`{}` has {N} argument(s), not {}", self.name, self.args.len()),
            label: "this call".to_owned(),
            help: None,
        })
    }
}

/// A pointer to a place, as `*p` as an argument of `READ_ONCE` is one.
fn pointer(place: Expr) -> Expr {
    let loc = place.loc;
    match place.kind {
        ExprKind::Deref(pointer) => *pointer,
        kind => Expr { kind: ExprKind::AddrOf(Box::new(Expr { kind, loc })), loc },
    }
}

/// A small number.
fn number(value: i128, loc: Loc) -> Expr {
    Expr { kind: ExprKind::Int { value, unsigned: false, long: false, decimal: true }, loc }
}

/// The operator of `atomic_fetch_add` and its kin.
fn operator(name: &str) -> Option<Change> {
    Some(Change::Operator(match name {
        "add" => BinOp::Add,
        "sub" => BinOp::Sub,
        "and" => BinOp::BitAnd,
        "or" => BinOp::BitOr,
        "xor" => BinOp::BitXor,
        _ => return None,
    }))
}
