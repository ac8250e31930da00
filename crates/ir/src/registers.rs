//! Evaluation over the registers of one thread, of which some may not be known yet.
//!
//! **Invariant:** there is a value, or an error of the program, only if no unknown register was consulted on the way; so it does not change when the
//! missing values arrive.

use crate::access::Addr;
use crate::expr::EvalError;
use crate::ids::{LocId, RegId};
use crate::program::{LocalExpr, Place, Program};

/// The registers of a thread.
pub trait Registers {
    /// Why there may be no value.
    type Miss: From<EvalError>;

    /// The value of a register.
    fn read(&self, register: RegId) -> Result<i128, Self::Miss>;
}

/// Why there is no value where registers may be unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Miss {
    /// It takes one that is not known yet.
    Unknown,
    /// The computation goes wrong.
    Failed(EvalError),
}

impl From<EvalError> for Miss {
    #[inline]
    fn from(error: EvalError) -> Self {
        Self::Failed(error)
    }
}

impl Registers for [i128] {
    type Miss = EvalError;

    #[inline]
    fn read(&self, register: RegId) -> Result<i128, EvalError> {
        Ok(self[register.index()])
    }
}

impl Registers for [Option<i128>] {
    type Miss = Miss;

    #[inline]
    fn read(&self, register: RegId) -> Result<i128, Miss> {
        self[register.index()].ok_or(Miss::Unknown)
    }
}

impl LocalExpr {
    /// Its value.
    #[inline]
    pub fn value<R: Registers + ?Sized>(&self, registers: &R) -> Result<i128, R::Miss> {
        self.evaluate(&mut |place: &Place| registers.read(place.register(registers)?))
    }
}

impl Place {
    /// The register that it denotes now.
    #[inline]
    pub fn register<R: Registers + ?Sized>(&self, registers: &R) -> Result<RegId, R::Miss> {
        match self {
            Self::Reg(register) => Ok(*register),
            Self::Elem { base, len, index } => {
                let index = index.value(registers)?;
                let inside = u32::try_from(index).ok().filter(|inside| inside < len);
                let inside = inside.ok_or(EvalError::OutOfBounds { index, len: *len })?;
                Ok(RegId(base.0 + inside))
            }
        }
    }

    /// All registers that it may denote.
    pub fn registers(&self) -> std::ops::Range<usize> {
        match self {
            Self::Reg(register) => register.index()..register.index() + 1,
            Self::Elem { base, len, .. } => base.index()..base.index() + *len as usize,
        }
    }
}

impl Addr {
    /// The location that it denotes now.
    #[inline]
    pub fn location<R: Registers + ?Sized>(&self, program: &Program, registers: &R) -> Result<LocId, R::Miss> {
        match self {
            Self::Fixed(loc) => Ok(*loc),
            Self::Indexed { array, index } => Ok(program.element(*array, index.value(registers)?)?),
        }
    }
}
