//! Languages that fences are written in.

use std::ops::Range;

use cyrano_ir::{Fence as Barrier, FenceSet};

use crate::fence::{Fence, Position, statement};
use crate::source::Patched;
use crate::weights::Block;
use crate::{c, litmus, source};

/// How fences are written into a source text.
pub trait FenceText: Sync {
    /// The text with fences.
    fn insert(&self, text: &str, fences: &[Fence]) -> Patched;

    /// The positions at which a fence may stand: the text with it `compiles`, and where that says too little it is `faithful`, the same but for
    /// the fence.
    fn positions(
        &self,
        text: &str,
        compiles: &dyn Fn(&str) -> bool,
        faithful: &dyn Fn(&Patched) -> bool,
    ) -> Vec<Position>;

    /// The statement for a fence, as [`FenceText::write`] takes it; none if the language of this text does not have it.
    fn statement(&self, text: &str, fence: Barrier) -> Option<String>;

    /// The text with statements at different positions, in order.
    fn write(&self, text: &str, placed: &[(Position, String)]) -> Patched;

    /// The positions at which this statement may stand; see [`FenceText::positions`].
    fn positions_for(
        &self,
        text: &str,
        _statement: &str,
        compiles: &dyn Fn(&str) -> bool,
        faithful: &dyn Fn(&Patched) -> bool,
    ) -> Vec<Position> {
        self.positions(text, compiles, faithful)
    }

    /// Stronger ways to write the access that stands here, as far as it looks like one.
    fn stronger(&self, _text: &str, _access: Range<usize>) -> Vec<Stronger> {
        Vec::new()
    }

    /// The threads, procedures, commands or functions of a text.
    fn blocks(&self, text: &str) -> Vec<Block>;

    /// How much people would rather have another fence that costs the same.
    fn distaste(&self, _text: &str, _fence: &Fence) -> u32 {
        0
    }

    /// What is wrong with a source that has no position; nothing if that may be.
    fn nowhere(&self) -> Option<&'static str> {
        None
    }
}

/// A stronger way to write an access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stronger {
    /// What is replaced.
    pub range: Range<usize>,
    /// By what.
    pub text: String,
    /// What the access is asked to do then.
    pub order: AccessOrder,
}

/// What an access is asked to do beside its own business, and what that costs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessOrder {
    /// Arm's `LDAPR`: later accesses stay behind it, but an earlier release may.
    AcquirePc,
    /// Later accesses stay behind it.
    Acquire,
    /// Earlier accesses stay before it.
    Release,
    /// Both.
    AcquireRelease,
    /// Both, and all such accesses are in one order.
    SequentiallyConsistent,
}

impl AccessOrder {
    /// What it costs beside the fences of [`crate::machine_fences`].
    pub fn cost(self) -> u32 {
        match self {
            Self::AcquirePc => 1,
            Self::Acquire | Self::Release => 2,
            Self::AcquireRelease => 3,
            Self::SequentiallyConsistent => 6,
        }
    }

    /// Whether it asks for all that another one asks for.
    pub fn is_at_least(self, other: Self) -> bool {
        let bits = |order: Self| match order {
            Self::AcquirePc => 1u8,
            Self::Acquire => 3,
            Self::Release => 4,
            Self::AcquireRelease => 7,
            Self::SequentiallyConsistent => 15,
        };
        bits(self) & bits(other) == bits(other)
    }
}

/// RML.
pub struct Rml;

impl FenceText for Rml {
    fn insert(&self, text: &str, fences: &[Fence]) -> Patched {
        source::insert(text, fences)
    }

    fn positions(&self, text: &str, compiles: &dyn Fn(&str) -> bool, _: &dyn Fn(&Patched) -> bool) -> Vec<Position> {
        source::positions(text, compiles)
    }

    /// `mfence` is a word of the language.
    fn statement(&self, _: &str, fence: Barrier) -> Option<String> {
        Some(match fence {
            Barrier::Kinds(kinds) => statement(kinds),
            Barrier::Named { name, .. } if name.name() == "mfence" => "mfence".to_owned(),
            Barrier::Named { name, .. } => format!("fence({name})"),
        })
    }

    fn write(&self, text: &str, placed: &[(Position, String)]) -> Patched {
        source::write(text, placed)
    }

    fn blocks(&self, text: &str) -> Vec<Block> {
        source::blocks(text)
    }
}

/// C, where a macro may be more than it seems.
pub struct C;

impl FenceText for C {
    fn insert(&self, text: &str, fences: &[Fence]) -> Patched {
        c::insert(text, fences)
    }

    fn positions(&self, text: &str, _: &dyn Fn(&str) -> bool, faithful: &dyn Fn(&Patched) -> bool) -> Vec<Position> {
        c::positions(text, faithful)
    }

    fn positions_for(
        &self,
        text: &str,
        statement: &str,
        _: &dyn Fn(&str) -> bool,
        faithful: &dyn Fn(&Patched) -> bool,
    ) -> Vec<Position> {
        c::positions_for(text, statement, faithful)
    }

    /// A fence of C11 or of the kernel where the file has these, else one of `cyrano.h`.
    fn statement(&self, text: &str, fence: Barrier) -> Option<String> {
        let own = |name: &str| match name.strip_prefix("thread_fence.") {
            Some(order) if text.contains("stdatomic.h") => Some(format!("atomic_thread_fence(memory_order_{order});")),
            None if name.starts_with("smp_") && text.contains("linux") => Some(format!("{name}();")),
            _ => None,
        };
        Some(match fence {
            Barrier::Kinds(kinds) => c::statement(kinds),
            Barrier::Named { name, .. } => own(name.name()).unwrap_or_else(|| format!("fence(\"{name}\");")),
        })
    }

    fn stronger(&self, text: &str, access: Range<usize>) -> Vec<Stronger> {
        litmus::stronger_in_c(text, access)
    }

    fn write(&self, text: &str, placed: &[(Position, String)]) -> Patched {
        c::write(text, placed)
    }

    fn blocks(&self, text: &str) -> Vec<Block> {
        c::blocks(text)
    }

    /// Braces are a larger change than a line. Between two read-modify-writes every kind does the same, and people write store-store
    /// (CheckFence, Fig. 9, line 44).
    fn distaste(&self, text: &str, fence: &Fence) -> u32 {
        2 * u32::from(c::needs_braces(text, &fence.position)) + u32::from(fence.kind != FenceSet::SS)
    }

    fn nowhere(&self) -> Option<&'static str> {
        Some(
            "no fence can be inserted: the file needs `#include <cyrano.h>` or `<stdatomic.h>`, and a function that is its own",
        )
    }
}

/// Litmus tests, whose language is their first word.
pub struct Litmus;

impl FenceText for Litmus {
    /// Only fences that a test's own machine has can be written; see [`FenceText::statement`].
    fn insert(&self, text: &str, fences: &[Fence]) -> Patched {
        let placed = fences.iter().filter_map(|Fence { position, kind }| {
            Some((position.clone(), self.statement(text, Barrier::Kinds(*kind))?))
        });
        self.write(text, &placed.collect::<Vec<_>>())
    }

    fn positions(&self, _: &str, _: &dyn Fn(&str) -> bool, _: &dyn Fn(&Patched) -> bool) -> Vec<Position> {
        Vec::new()
    }

    fn positions_for(
        &self,
        text: &str,
        statement: &str,
        _: &dyn Fn(&str) -> bool,
        faithful: &dyn Fn(&Patched) -> bool,
    ) -> Vec<Position> {
        if !litmus::is_table(text) {
            return c::positions_for(text, statement, faithful);
        }
        c::fitting(&litmus::gaps(text), &|some| {
            let placed: Vec<_> = some.iter().map(|position| (position.clone(), statement.to_owned())).collect();
            faithful(&litmus::write(text, &placed))
        })
    }

    fn statement(&self, text: &str, fence: Barrier) -> Option<String> {
        litmus::statement(text, fence)
    }

    fn write(&self, text: &str, placed: &[(Position, String)]) -> Patched {
        if litmus::is_table(text) { litmus::write(text, placed) } else { c::write(text, placed) }
    }

    fn stronger(&self, text: &str, access: Range<usize>) -> Vec<Stronger> {
        litmus::stronger(text, access)
    }

    fn blocks(&self, text: &str) -> Vec<Block> {
        if litmus::is_table(text) { Vec::new() } else { c::blocks(text) }
    }
}
