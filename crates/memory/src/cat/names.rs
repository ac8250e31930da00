//! What names mean without a definition.
//!
//! Sets by tag, fence and kind are spelled like the word in capitals: `ACQUIRE`, `DMB.ISH`, `STORE-LOAD`; a fence's own word is the relation between what is
//! before it and what is after it. `LL`, `LS`, `SL` and `SS` are all fences that order such pairs where pairs are reordered. The rest is written in the language itself (`prelude.cat`), with the names that herd's models use.

use cyrano_ir::{FenceName, FenceSet, Tags};

use super::plan::Base;

/// What can be defined in the language.
pub(super) const PRELUDE: &str = include_str!("prelude.cat");

/// Files of herd's that say what is built in here.
const BUILT_IN_FILES: [&str; 12] = [
    "stdlib.cat",
    "basic.cat",
    "cos.cat",
    "cos-opt.cat",
    "c11_cos.cat",
    "cross.cat",
    "filters.cat",
    "fences.cat",
    "x86fences.cat",
    "aarch64fences.cat",
    "armfences.cat",
    "lock.cat",
];

/// Functions about sets of orders.
pub(super) const ORDERS: [&str; 7] =
    ["classes-loc", "cross", "map", "linearisations", "generate_cos", "generate_orders", "generate_cos_opt"];

/// Whether a file of this name says nothing that is not built in.
pub(super) fn is_built_in(file: &str) -> bool {
    BUILT_IN_FILES.contains(&file)
}

/// What a name without a definition means; a fence's own word is not among them.
pub(super) fn base(name: &str) -> Option<Base> {
    Some(match name {
        "R" => Base::Reads,
        "W" => Base::Writes,
        "F" => Base::Fences,
        "RMW" => Base::Rmws,
        "IW" => Base::Initial,
        "FINAL" => Base::Final,
        "LL" => Base::Ordering(FenceSet::LL),
        "LS" => Base::Ordering(FenceSet::LS),
        "SL" => Base::Ordering(FenceSet::SL),
        "SS" => Base::Ordering(FenceSet::SS),
        "id" => Base::Identity,
        "po" => Base::ProgramOrder,
        "addr" => Base::Address,
        "data" => Base::Data,
        "ctrl" => Base::Control,
        "direct-addr" => Base::DirectAddress,
        "direct-data" => Base::DirectData,
        "casdep" => Base::Compared,
        "rf" => Base::ReadsFrom,
        "co" => Base::Coherence,
        "loc" => Base::SameLocation,
        "int" => Base::SameThread,
        "amo" => Base::Amo,
        "lxsx" => Base::Exclusive,
        "rcu-rscs" => Base::RcuSection,
        _ => return capitals(name),
    })
}

/// A tag that means something to memory, a fence or a kind in capitals. RISC-V's fences are also spelled `Fence.r.rw`.
fn capitals(name: &str) -> Option<Base> {
    let capitals = !name.contains(|c: char| c.is_ascii_lowercase()) || name.starts_with("Fence.");
    let word = name.to_ascii_lowercase();
    if !capitals {
        return None;
    }
    let tag = Tags::from_name(&word).filter(|tag| !tag.orders().is_empty()).map(Base::Tagged);
    let kind = || FenceSet::from_name(&word).map(Base::Kinds);
    tag.or_else(kind).or_else(|| FenceName::from_name(&word).map(Base::Named))
}

/// Where a fence's name comes from: a machine, C11 or the kernel.
fn family(name: FenceName) -> &'static str {
    let name = name.name();
    match name {
        "mfence" | "sfence" | "lfence" => "x86",
        "isb" => "arm",
        "sync" | "lwsync" | "eieio" | "isync" => "power",
        _ if name.starts_with("dmb.") || name.starts_with("dsb.") => "arm",
        _ if name.starts_with("fence.") => "riscv",
        _ if name.starts_with("thread_fence.") => "c11",
        _ => "kernel",
    }
}

/// These fences and all others of their families. A model that speaks of some fence of a machine is about that machine, and a fence that it then says nothing of
/// is one that orders nothing, as it is to herd. That can only allow more executions.
pub(super) fn with_families(fences: &[FenceName]) -> Vec<FenceName> {
    FenceName::all().filter(|name| fences.iter().any(|known| family(*known) == family(*name))).collect()
}

/// The fences that are told apart by the orders they have as tags: `F & SC`.
pub(super) fn tagged_fences() -> impl Iterator<Item = FenceName> {
    FenceName::all().filter(|name| family(*name) == "c11")
}

/// The fence of which this is the relation between what is before it and what is after it.
pub(super) fn fence_relation(name: &str) -> Option<Base> {
    FenceName::from_name(name).map(Base::Named)
}

/// Names that might have been meant.
pub(super) fn all() -> Vec<String> {
    let plain = [
        "R", "W", "F", "RMW", "IW", "LL", "LS", "SL", "SS", "id", "po", "addr", "data", "ctrl", "direct-addr", "direct-data", "casdep", "rf", "co",
        "loc", "int", "amo", "lxsx", "rcu-rscs", "domain", "range",
    ];
    let tags = Tags::ALL.into_iter().filter(|(tag, _)| !tag.orders().is_empty());
    let tags = tags.map(|(_, word)| word.to_ascii_uppercase());
    let kinds = FenceSet::KINDS.into_iter().map(|(_, word)| word.to_ascii_uppercase());
    let fences = FenceName::all().flat_map(|name| [name.name().to_ascii_uppercase(), name.name().to_owned()]);
    plain.into_iter().map(str::to_owned).chain(tags).chain(kinds).chain(fences).collect()
}
