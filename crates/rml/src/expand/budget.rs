//! What one program may cost: instructions, words of memory, and steps of unrolling.
//!
//! Nested `foreach` and inlined procedures multiply, so the source's size bounds nothing; this does, before memory runs out.
//! The limit is reported once, where it was reached; whatever is lowered afterwards gives up quietly.

use std::cell::Cell;

use cyrano_ir::{Diagnostic, Span};

/// How many instructions a program may have.
pub(crate) const MAX_INSTRUCTIONS: u64 = 200_000;
/// How many values a range may have.
pub(crate) const MAX_RANGE: u64 = 200_000;
/// How many registers all threads together, and how many shared locations, a program may have.
pub(crate) const MAX_WORDS: u64 = 200_000;
/// How many statements and operations may be visited while unrolling.
const MAX_STEPS: u64 = 4_000_000;

/// What is left.
#[derive(Debug)]
pub(crate) struct Budget {
    instructions: Cell<u64>,
    registers: Cell<u64>,
    locations: Cell<u64>,
    steps: Cell<u64>,
    exhausted: Cell<bool>,
}

/// A charge that was refused: with the diagnostic for the first time, without afterwards.
pub(crate) type Charged = Result<(), Option<Diagnostic>>;

impl Default for Budget {
    fn default() -> Self {
        Self {
            instructions: Cell::new(MAX_INSTRUCTIONS),
            registers: Cell::new(MAX_WORDS),
            locations: Cell::new(MAX_WORDS),
            steps: Cell::new(MAX_STEPS),
            exhausted: Cell::new(false),
        }
    }
}

impl Budget {
    /// Whether a limit was reached.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// One more instruction.
    pub(crate) fn charge_instruction(&self, span: Span) -> Charged {
        self.charge(&self.instructions, 1, span, (MAX_INSTRUCTIONS, "instructions"))
    }

    /// More registers.
    pub(crate) fn charge_registers(&self, count: u32, span: Span) -> Charged {
        self.charge(&self.registers, count.into(), span, (MAX_WORDS, "registers"))
    }

    /// More shared locations.
    pub(crate) fn charge_locations(&self, count: u32, span: Span) -> Charged {
        self.charge(&self.locations, count.into(), span, (MAX_WORDS, "shared locations"))
    }

    /// More steps of unrolling.
    pub(crate) fn charge_steps(&self, steps: u64, span: Span) -> Charged {
        self.charge(&self.steps, steps, span, (MAX_STEPS, "unrolled statements and operations"))
    }

    fn charge(&self, left: &Cell<u64>, amount: u64, span: Span, (limit, what): (u64, &str)) -> Charged {
        if self.exhausted.get() {
            return Err(None);
        }
        if let Some(rest) = left.get().checked_sub(amount) {
            left.set(rest);
            return Ok(());
        }
        self.exhausted.set(true);
        let message = format!("this program is too large: more than {limit} {what}");
        let diagnostic = Diagnostic::new(span, message, "the limit is reached here");
        Err(Some(diagnostic.with_help("lower the constants, or use loops instead of `foreach`")))
    }
}
