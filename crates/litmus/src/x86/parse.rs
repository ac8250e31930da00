//! Instructions and their operands.

use cyrano_ir::{Diagnostic, FenceSet, Span};

use super::ast::{Alu, Cc, Instr, Line, Op, Operand, Register, Thread, Unary};
use crate::asm::cell::Cell;
use crate::asm::table;
use crate::ast::{Arch, Name};
use crate::cursor::{Cursor, Parse};
use crate::token::{Kind, Token};

/// The order of an instruction's operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// Destination first.
    Intel,
    /// Destination last.
    Att,
}

/// An instruction whose operands are still in the file's order.
struct Raw {
    lock: Option<Span>,
    mnemonic: String,
    span: Span,
    operands: Vec<(Operand, Span)>,
    /// A jump's target.
    target: Option<Name>,
}

/// Reads the columns up to the condition. Everything that is wrong with any cell is said at once.
pub(crate) fn read(cursor: &mut Cursor<'_>, arch: Arch) -> Result<Vec<Thread>, Vec<Diagnostic>> {
    let (columns, mut errors) = table::read(cursor, arch, cell)?;
    let raws = columns.iter().flatten().filter_map(|(_, raw)| raw.as_ref());
    let order = order(arch, raws);
    let mut threads = Vec::new();
    for column in columns {
        let mut thread = Thread::default();
        for (labels, raw) in column {
            let instr = raw.map(|raw| instruction(raw, order, arch)).transpose();
            match instr {
                Ok(instr) => thread.lines.push(Line { labels, instr }),
                Err(error) => errors.push(error),
            }
        }
        threads.push(thread);
    }
    if errors.is_empty() { Ok(threads) } else { Err(errors) }
}

fn cell(cell: &mut Cell<'_, '_>) -> Parse<Raw> {
    let mut lock = None;
    if let Some(first) = cell.peek().filter(|first| first.text.eq_ignore_ascii_case("lock")) {
        lock = Some(first.span);
        cell.take();
        if cell.peek().is_none() {
            return Err(Diagnostic::new(first.span, "`LOCK` stands before an instruction in the same cell", "alone"));
        }
    }
    let Some(token) = cell.take().filter(|token| token.kind == Kind::Word) else {
        return Err(cell.wrong("expected an instruction", "here"));
    };
    let span = Span { start: lock.unwrap_or(token.span).start, ..cell.whole(token) };
    let mnemonic = token.text.to_ascii_uppercase();
    refuse_early(&mnemonic, token)?;
    let mut raw = Raw { lock, mnemonic, span, operands: Vec::new(), target: None };
    if raw.mnemonic.starts_with('J') {
        raw.target = Some(cell.label()?);
        cell.end()?;
    } else {
        raw.operands = cell.operands()?;
    }
    Ok(raw)
}

/// Instructions that are known and not supported, and those that nobody knows, so that bad operands do not hide them.
fn refuse_early(mnemonic: &str, token: Token<'_>) -> Parse<()> {
    let refuse = |why: &str| {
        let message = format!("the instruction `{}` is not supported: {why}", token.text);
        Err(Diagnostic::new(token.span, message, "not supported"))
    };
    match mnemonic {
        "MOVNTI" | "MOVNTIL" | "MOVNTIQ" | "MOVNTDQA" | "MOVNTDQ" => {
            refuse("non-temporal accesses have an order of their own")
        }
        "CLFLUSH" | "CLFLUSHOPT" | "CLWB" => refuse("caches are not modelled"),
        "UXCH" | "UXCHB" | "UXCHW" | "UXCHL" | "UXCHQ" => refuse("no machine has it"),
        _ if mnemonic.starts_with("SET") => {
            refuse("it writes a single byte, and accesses of mixed sizes are not supported")
        }
        _ if decode(mnemonic).is_some() => Ok(()),
        _ => {
            let message = format!("there is no instruction `{}`, or it is not supported", token.text);
            Err(Diagnostic::new(token.span, message, "not supported"))
        }
    }
}

/// The order of operands in a file. herd reads X86_64 in AT&T's order; a constant that stands last is an error there, so a file in which
/// constants stand last (and never first) is in Intel's order beyond doubt.
fn order<'r>(arch: Arch, raws: impl Iterator<Item = &'r Raw>) -> Order {
    if arch == Arch::X86 {
        return Order::Intel;
    }
    let constant = |operand: &(Operand, Span)| matches!(operand.0, Operand::Imm(_) | Operand::Address(_));
    let (mut first, mut last) = (false, false);
    for raw in raws.filter(|raw| raw.operands.len() == 2) {
        first |= constant(&raw.operands[0]);
        last |= constant(&raw.operands[1]);
    }
    if last && !first { Order::Intel } else { Order::Att }
}

/// What a mnemonic stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Base {
    Mov,
    Xchg,
    Alu(Alu),
    Cmp,
    Test,
    Unary(Unary),
    Cmpxchg,
    Xadd,
    Cmov(Cc),
    Jmp,
    Jcc(Cc),
    Fence(FenceSet),
    Nop,
}

const BASES: [(&str, Base); 15] = [
    ("MOV", Base::Mov),
    ("XCHG", Base::Xchg),
    ("ADD", Base::Alu(Alu::Add)),
    ("SUB", Base::Alu(Alu::Sub)),
    ("AND", Base::Alu(Alu::And)),
    ("OR", Base::Alu(Alu::Or)),
    ("XOR", Base::Alu(Alu::Xor)),
    ("CMP", Base::Cmp),
    ("TEST", Base::Test),
    ("INC", Base::Unary(Unary::Inc)),
    ("DEC", Base::Unary(Unary::Dec)),
    ("NEG", Base::Unary(Unary::Neg)),
    ("NOT", Base::Unary(Unary::Not)),
    ("CMPXCHG", Base::Cmpxchg),
    ("XADD", Base::Xadd),
];

/// The names of conditions.
const CONDITIONS: [(&str, Cc); 28] = [
    ("E", Cc::E),
    ("Z", Cc::E),
    ("NE", Cc::Ne),
    ("NZ", Cc::Ne),
    ("L", Cc::L),
    ("LT", Cc::L),
    ("NGE", Cc::L),
    ("LE", Cc::Le),
    ("NG", Cc::Le),
    ("G", Cc::G),
    ("GT", Cc::G),
    ("NLE", Cc::G),
    ("GE", Cc::Ge),
    ("NL", Cc::Ge),
    ("B", Cc::B),
    ("C", Cc::B),
    ("NAE", Cc::B),
    ("BE", Cc::Be),
    ("NA", Cc::Be),
    ("A", Cc::A),
    ("NBE", Cc::A),
    ("AE", Cc::Ae),
    ("NB", Cc::Ae),
    ("NC", Cc::Ae),
    ("S", Cc::S),
    ("NS", Cc::Ns),
    ("O", Cc::O),
    ("NO", Cc::No),
];

/// The condition with this name, in capitals.
fn condition(name: &str) -> Option<Cc> {
    CONDITIONS.into_iter().find(|(known, _)| *known == name).map(|(_, cc)| cc)
}

/// The meaning of a mnemonic and the width that its suffix gives.
fn decode(mnemonic: &str) -> Option<(Base, Option<u8>)> {
    let unsized_ = match mnemonic {
        "MFENCE" => Some(Base::Fence(FenceSet::FULL)),
        "SFENCE" => Some(Base::Fence(FenceSet::SS)),
        "LFENCE" => Some(Base::Fence(FenceSet::LL | FenceSet::LS)),
        "NOP" | "PAUSE" | "ENDBR64" => Some(Base::Nop),
        "JMP" => Some(Base::Jmp),
        _ => mnemonic.strip_prefix('J').and_then(condition).map(Base::Jcc),
    };
    if let Some(base) = unsized_ {
        return Some((base, None));
    }
    let named = |name: &str| {
        let listed = BASES.iter().find(|(known, _)| *known == name).map(|(_, base)| *base);
        listed.or_else(|| name.strip_prefix("CMOV").and_then(condition).map(Base::Cmov))
    };
    if let Some(base) = named(mnemonic) {
        return Some((base, None));
    }
    let bits = match mnemonic.chars().last()? {
        'B' => 8,
        'W' => 16,
        'L' => 32,
        'Q' => 64,
        _ => return None,
    };
    let base = named(&mnemonic[..mnemonic.len() - 1])?;
    Some((base, Some(bits)))
}

fn instruction(raw: Raw, order: Order, arch: Arch) -> Parse<Instr> {
    let wrong = |message: String| Diagnostic::new(raw.span, message, "this instruction");
    let Some((base, suffix)) = decode(&raw.mnemonic) else {
        return Err(wrong(format!("there is no instruction `{}`", raw.mnemonic)));
    };
    match suffix {
        Some(8 | 16) => {
            return Err(wrong(format!(
                "`{}` accesses {} bits; accesses of mixed sizes are not supported",
                raw.mnemonic,
                suffix.unwrap_or(0)
            )));
        }
        Some(64) if arch == Arch::X86 => {
            return Err(wrong(format!("`{}` accesses 64 bits; X86 tests have words of 32 bits", raw.mnemonic)));
        }
        _ => {}
    }
    let wanted = match base {
        Base::Jmp | Base::Jcc(_) | Base::Fence(_) | Base::Nop => 0,
        Base::Unary(_) => 1,
        _ => 2,
    };
    if raw.operands.len() != wanted {
        let found = raw.operands.len();
        return Err(wrong(format!("`{}` has {wanted} operand(s), not {found}", raw.mnemonic)));
    }
    let op = operation(base, &raw, order).map_err(|error| *error)?;
    if raw.lock.is_some() && !lockable(&op) {
        return Err(wrong(format!("`{}` with these operands cannot be locked", raw.mnemonic))
            .with_help("`LOCK` needs a read-modify-write of memory"));
    }
    let bits = width(&raw, base, suffix)?;
    Ok(Instr { lock: raw.lock.is_some(), op, bits, span: raw.span })
}

fn operation(base: Base, raw: &Raw, order: Order) -> Result<Op, Box<Diagnostic>> {
    let wrong = |span: Span, message: &str| Box::new(Diagnostic::new(span, message, "this operand"));
    let mut operands = raw.operands.clone();
    let memory_first = matches!(base, Base::Cmpxchg | Base::Xadd);
    if operands.len() == 2 {
        let swapped = match base {
            // herd writes these destination first in both notations, assemblers do not; memory can only be the destination.
            Base::Cmpxchg | Base::Xadd => operands[1].0.is_mem(),
            Base::Cmov(_) if order == Order::Att => operands[0].0.is_mem(),
            _ => order == Order::Att,
        };
        if swapped {
            operands.swap(0, 1);
        }
        if matches!(base, Base::Cmov(_)) && order == Order::Att && !operands.iter().any(|(operand, _)| operand.is_mem())
        {
            return Err(wrong(
                raw.span,
                "which of these registers is moved to which differs between herd and assemblers",
            ));
        }
        if operands.iter().all(|(operand, _)| operand.is_mem()) {
            return Err(wrong(raw.span, "no instruction of x86 has two operands in memory"));
        }
    }
    let constant = |operand: &Operand| matches!(operand, Operand::Imm(_) | Operand::Address(_));
    if let Some((operand, span)) = operands.first()
        && constant(operand)
    {
        return Err(wrong(*span, "a constant cannot be the destination"));
    }
    let second = operands.get(1).cloned();
    let register = |operand: &Option<(Operand, Span)>| match operand {
        Some((Operand::Reg(register), _)) => Ok(register.clone()),
        Some((_, span)) => Err(wrong(*span, "expected a register")),
        None => Err(wrong(raw.span, "an operand is missing")),
    };
    let first = operands.first().cloned();
    if memory_first && !first.as_ref().is_some_and(|(operand, _)| operand.is_mem()) {
        return Err(wrong(raw.span, "expected an operand in memory"));
    }
    let target = || raw.target.clone().ok_or_else(|| wrong(raw.span, "a jump needs a label"));
    let pair = || match (first.clone(), second.clone()) {
        (Some((first, _)), Some((second, _))) => Ok((first, second)),
        _ => Err(wrong(raw.span, "an operand is missing")),
    };
    Ok(match base {
        Base::Mov => pair().map(|(dst, src)| Op::Mov { dst, src })?,
        Base::Xchg => {
            let (a, b) = pair()?;
            if constant(&b) {
                return Err(wrong(raw.span, "a constant cannot be exchanged"));
            }
            Op::Xchg { a, b }
        }
        Base::Alu(alu) => pair().map(|(dst, src)| Op::Alu { alu, dst, src })?,
        Base::Cmp => pair().map(|(a, b)| Op::Cmp { a, b })?,
        Base::Test => pair().map(|(a, b)| Op::Test { a, b })?,
        Base::Unary(unary) => {
            let (dst, _) = first.ok_or_else(|| wrong(raw.span, "an operand is missing"))?;
            Op::Unary { unary, dst }
        }
        Base::Cmpxchg => Op::Cmpxchg { dst: pair()?.0, src: register(&second)? },
        Base::Xadd => Op::Xadd { dst: pair()?.0, src: register(&second)? },
        Base::Cmov(cc) => {
            let (_, src) = pair()?;
            if constant(&src) {
                return Err(wrong(raw.span, "a conditional move takes a register or memory"));
            }
            Op::Cmov { cc, dst: register(&first)?, src }
        }
        Base::Jmp => Op::Jmp { to: target()? },
        Base::Jcc(cc) => Op::Jcc { cc, to: target()? },
        Base::Fence(kinds) => Op::Fence(kinds),
        Base::Nop => Op::Nop,
    })
}

fn lockable(op: &Op) -> bool {
    match op {
        Op::Alu { dst, .. } | Op::Unary { dst, .. } | Op::Cmpxchg { dst, .. } | Op::Xadd { dst, .. } => dst.is_mem(),
        Op::Xchg { a, b } => a.is_mem() || b.is_mem(),
        _ => false,
    }
}

/// The width that suffix and registers give; they have to agree.
fn width(raw: &Raw, base: Base, suffix: Option<u8>) -> Parse<Option<u8>> {
    let mut bits = suffix;
    let registers = raw.operands.iter().filter_map(|(operand, span)| match operand {
        Operand::Reg(Register { bits, .. }) => Some((*bits, *span)),
        _ => None,
    });
    for (own, span) in registers {
        if bits.is_some_and(|bits| bits != own) {
            let message = format!("a register of {own} bits in an operation on {} bits", bits.unwrap_or(0));
            return Err(Diagnostic::new(span, message, "this register"));
        }
        bits = Some(own);
    }
    if matches!(base, Base::Fence(_) | Base::Nop | Base::Jmp | Base::Jcc(_)) { Ok(None) } else { Ok(bits) }
}
