//! Values of which some are not there: what an expression names, and what it comes to.
//!
//! An expression has a value once every register that it names has one, also on the side of `&&` or `||` that is not evaluated: dependencies are those
//! of the text (axiom 3).

use cyrano_engine::configuration::{Operands, Value};
use cyrano_ir::{Addr, EvalError, InstrId, LocId, LocalExpr, Op, Place, Program, RegId, Registers, ThreadId};

use super::{Beyond, Why};

/// Why there is no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lack {
    /// It is pending.
    Pending,
    /// It was forgotten.
    Forgotten(RegId),
    /// The computation goes wrong.
    Failed(EvalError),
}

impl From<EvalError> for Lack {
    fn from(error: EvalError) -> Self {
        Self::Failed(error)
    }
}

/// Registers as a thread has them.
struct Known<'a>(&'a [Value]);

impl Registers for Known<'_> {
    type Miss = Lack;

    fn read(&self, register: RegId) -> Result<i128, Lack> {
        match self.0[register.index()] {
            Value::Known(value) => Ok(value),
            Value::Pending(_) => Err(Lack::Pending),
            Value::Forgotten => Err(Lack::Forgotten(register)),
        }
    }
}

/// Registers as an entry has captured them.
struct Captured<'a>(&'a [(RegId, Value)]);

impl Registers for Captured<'_> {
    type Miss = Lack;

    fn read(&self, register: RegId) -> Result<i128, Lack> {
        match self.0.binary_search_by_key(&register, |(captured, _)| *captured).map(|at| self.0[at].1) {
            Ok(Value::Known(value)) => Ok(value),
            Ok(Value::Pending(_)) => Err(Lack::Pending),
            Ok(Value::Forgotten) | Err(_) => Err(Lack::Forgotten(register)),
        }
    }
}

/// A thread that looks at its registers, at an instruction.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) thread: ThreadId,
    pub(super) instr: InstrId,
    pub(super) registers: &'a [Value],
}

impl Look<'_> {
    fn beyond(self, why: Why) -> Beyond {
        Beyond { thread: self.thread, instr: self.instr, why }
    }

    /// The registers that expressions name, with their values, ascending.
    fn named(self, expressions: &[&LocalExpr]) -> Result<Vec<(RegId, Value)>, Beyond> {
        let mut places: Vec<&Place> = Vec::new();
        expressions.iter().for_each(|expression| expression.for_each_var(&mut |place| places.push(place)));
        let mut named = Vec::new();
        while let Some(place) = places.pop() {
            if let Place::Elem { index, .. } = place {
                index.for_each_var(&mut |inner| places.push(inner));
            }
            match place.register(&Known(self.registers)) {
                Ok(register) => named.push((register, self.registers[register.index()])),
                Err(Lack::Pending) => return Err(self.beyond(Why::Index)),
                Err(Lack::Forgotten(register)) => return Err(self.beyond(Why::Forgotten(register))),
                // An index out of range is left to the evaluation.
                Err(Lack::Failed(_)) => {}
            }
        }
        named.sort_unstable_by_key(|(register, _)| *register);
        named.dedup_by_key(|(register, _)| *register);
        match named.iter().find(|(_, value)| *value == Value::Forgotten) {
            Some((register, _)) => Err(self.beyond(Why::Forgotten(*register))),
            None => Ok(named),
        }
    }

    /// The positions in the queue that an expression waits for; nothing if its value is there.
    pub(super) fn waits_for(self, expression: &LocalExpr) -> Result<Vec<u32>, Beyond> {
        let pending = |(_, value): (RegId, Value)| match value {
            Value::Pending(at) => Some(at),
            _ => None,
        };
        Ok(self.named(&[expression])?.into_iter().filter_map(pending).collect())
    }

    /// The value of an expression that waits for nothing.
    pub(super) fn value(self, expression: &LocalExpr) -> Result<Result<i128, EvalError>, Beyond> {
        match expression.value(&Known(self.registers)) {
            Ok(value) => Ok(Ok(value)),
            Err(Lack::Failed(error)) => Ok(Err(error)),
            Err(Lack::Forgotten(register)) => Err(self.beyond(Why::Forgotten(register))),
            Err(Lack::Pending) => unreachable!("it waits for nothing"),
        }
    }

    /// The register that a place denotes.
    pub(super) fn register(self, place: &Place) -> Result<Result<RegId, EvalError>, Beyond> {
        self.settled(place.register(&Known(self.registers)), Why::Index)
    }

    /// The location that an address denotes.
    pub(super) fn location(self, program: &Program, addr: &Addr) -> Result<Result<LocId, EvalError>, Beyond> {
        if let Addr::Indexed { index, .. } = addr
            && !self.waits_for(index)?.is_empty()
        {
            return Err(self.beyond(Why::Address));
        }
        self.settled(addr.location(program, &Known(self.registers)), Why::Address)
    }

    fn settled<T>(self, found: Result<T, Lack>, pending: Why) -> Result<Result<T, EvalError>, Beyond> {
        match found {
            Ok(found) => Ok(Ok(found)),
            Err(Lack::Failed(error)) => Ok(Err(error)),
            Err(Lack::Forgotten(register)) => Err(self.beyond(Why::Forgotten(register))),
            Err(Lack::Pending) => Err(self.beyond(pending)),
        }
    }

    /// What an instruction computes with. An operand that cannot be computed is 0, and the first error stands beside.
    pub(super) fn operands(self, op: &Op) -> Result<(Operands, Option<EvalError>), Beyond> {
        let captured = self.named(&op.operands())?;
        if captured.iter().any(|(_, value)| matches!(value, Value::Pending(_))) {
            return Ok((Operands::Waiting(captured), None));
        }
        let (values, error) = evaluate(op, &captured);
        Ok((Operands::Known(values), error))
    }
}

/// The operands of an instruction whose registers are all known.
pub(super) fn evaluate(op: &Op, captured: &[(RegId, Value)]) -> (Vec<i128>, Option<EvalError>) {
    let mut error = None;
    let value = |expression: &LocalExpr| match expression.value(&Captured(captured)) {
        Ok(value) => value,
        Err(Lack::Failed(wrong)) => {
            error.get_or_insert(wrong);
            0
        }
        // Only a certificate that nobody wrote in earnest has such an entry; whatever comes of it is no harm.
        Err(Lack::Pending | Lack::Forgotten(_)) => 0,
    };
    let values = op.operands().into_iter().map(value).collect();
    (values, error)
}
