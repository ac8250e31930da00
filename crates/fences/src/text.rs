//! Languages that fences are written in.

use cyrano_ir::FenceSet;

use crate::fence::{Fence, Position};
use crate::source::Patched;
use crate::weights::Block;
use crate::{c, source};

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

/// RML.
pub struct Rml;

impl FenceText for Rml {
    fn insert(&self, text: &str, fences: &[Fence]) -> Patched {
        source::insert(text, fences)
    }

    fn positions(&self, text: &str, compiles: &dyn Fn(&str) -> bool, _: &dyn Fn(&Patched) -> bool) -> Vec<Position> {
        source::positions(text, compiles)
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

    fn blocks(&self, text: &str) -> Vec<Block> {
        c::blocks(text)
    }

    /// Braces are a larger change than a line. Between two read-modify-writes every kind does the same, and people write store-store
    /// (CheckFence, Fig. 9, line 44).
    fn distaste(&self, text: &str, fence: &Fence) -> u32 {
        2 * u32::from(c::needs_braces(text, &fence.position)) + u32::from(fence.kind != FenceSet::SS)
    }

    fn nowhere(&self) -> Option<&'static str> {
        Some("no fence can be inserted: the file needs `#include <cyrano.h>`, and a function that is its own")
    }
}
