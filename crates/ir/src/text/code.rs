//! Reading instructions.

use super::lex::Token;
use super::line::{Line, Result};
use super::names::{Names, starts_instruction};
use crate::access::{Addr, Change, Tags};
use crate::fence::{Fence, FenceName, FenceSet};
use crate::ids::{ArrayId, LocId, RegId};
use crate::op::{Method, Op, TxEvent};
use crate::program::{LocalExpr, Place};

/// What the names in an instruction can refer to.
pub(super) struct Scope<'a> {
    pub(super) locations: &'a Names,
    pub(super) arrays: &'a Names,
    pub(super) registers: &'a Names,
}

impl Scope<'_> {
    /// An instruction.
    pub(super) fn op(&self, line: &mut Line) -> Result<Op> {
        if let Some(Token::Word(word)) = line.peek()
            && starts_instruction(word)
        {
            return self.statement(line);
        }
        let dst = self.place(line)?;
        line.symbol(":=")?;
        self.assignment(dst, line)
    }

    /// An instruction that starts with its word.
    fn statement(&self, line: &mut Line) -> Result<Op> {
        let word = line.any_word()?;
        Ok(match &*word {
            "store" | "rollback" => {
                let addr = self.addr(line)?;
                line.symbol(",")?;
                let store = Op::store(addr, self.expr(line)?).tagged(tags(line)?);
                if word == "rollback" { store.tagged(Tags::ROLLBACK) } else { store }
            }
            "rfin" => Op::Transaction(TxEvent::ReadFinish),
            "commit" => Op::Transaction(TxEvent::Commit),
            "abort" => Op::Transaction(TxEvent::Abort),
            "invoke" => self.invoke(line)?,
            "respond" => Op::Respond(self.expr(line)?),
            "fence" => Op::Fence(self.fence(line)?),
            "atomic" if begins(line)? => Op::AtomicBegin,
            "atomic" => Op::AtomicEnd,
            "operation" if begins(line)? => Op::OperationBegin(line.name()?),
            "operation" => Op::OperationEnd,
            "block" if line.take_word("commit") => Op::BlockCommit,
            "block" if begins(line)? => Op::BlockBegin(line.name()?),
            "block" => self.block_end(line)?,
            "assume" => Op::Assume(self.expr(line)?),
            "assert" => Op::Assert { cond: self.expr(line)?, message: line.quoted() },
            "limit" => {
                let cond = self.expr(line)?;
                Op::Limit { cond, what: line.quoted().ok_or("what is limited, in quotes, is missing")? }
            }
            "branch" => self.branch(line)?,
            "jump" => Op::Jump(line.instr_id()?),
            "progress" => Op::Progress(progress_label(line)?),
            "halt" => Op::Halt,
            word => self.rmw(word, None, line)?,
        })
    }

    /// A call with its arguments.
    fn invoke(&self, line: &mut Line) -> Result<Op> {
        let word = line.any_word()?;
        let method = Method::ALL.into_iter().find(|method| method.name() == word);
        let method = method.ok_or(format!("`{word}` is no method"))?;
        let mut args = Vec::new();
        for number in 0..method.arity() {
            if number > 0 {
                line.symbol(",")?;
            }
            args.push(self.expr(line)?);
        }
        Ok(Op::Invoke { method, args })
    }

    /// The results that a block hands on.
    fn block_end(&self, line: &mut Line) -> Result<Op> {
        let mut results = Vec::new();
        while line.peek().is_some() && !line.peek_symbol(";") {
            if !results.is_empty() {
                line.symbol(",")?;
            }
            results.push(self.expr(line)?);
        }
        Ok(Op::BlockEnd(results))
    }

    /// What follows `dst :=`.
    fn assignment(&self, dst: Place, line: &mut Line) -> Result<Op> {
        if let Some(Token::Word(word)) = line.peek()
            && starts_instruction(word)
        {
            let word = line.any_word()?;
            return match &*word {
                "load" => Ok(Op::load(dst, self.addr(line)?).tagged(tags(line)?)),
                "store" => self.store_exclusive(dst, line),
                "choose" => line.numbers().map(|from| Op::Choose { dst, from }),
                word => self.rmw(word, Some(dst), line),
            };
        }
        let value = self.expr(line)?;
        Ok(Op::Assign { dst, value })
    }

    fn store_exclusive(&self, status: Place, line: &mut Line) -> Result<Op> {
        let addr = self.addr(line)?;
        line.symbol(",")?;
        let store = Op::store_exclusive(Some(status), addr, self.expr(line)?);
        let tags = tags(line)?;
        if !tags.contains(Tags::EXCLUSIVE) {
            return Err("only a store that is `exclusive` has a result".into());
        }
        Ok(store.tagged(tags))
    }

    fn rmw(&self, word: &str, dst: Option<Place>, line: &mut Line) -> Result<Op> {
        if !matches!(word, "cas" | "exchange" | "fetch_add") {
            return Err(format!("`{word}` cannot stand here"));
        }
        let addr = self.addr(line)?;
        line.symbol(",")?;
        let first = self.expr(line)?;
        let change = match word {
            "exchange" => Change::Set(first),
            "fetch_add" => Change::Add(first),
            _ => {
                line.symbol(",")?;
                Change::Cas { expected: first, new: self.expr(line)? }
            }
        };
        let rmw = Op::rmw(dst, addr, change).tagged(tags(line)?);
        Ok(if line.take_word("else") { rmw.failing(tags(line)?) } else { rmw })
    }

    /// A name, perhaps with a location; or `none`, or at least one kind.
    fn fence(&self, line: &mut Line) -> Result<Fence> {
        let Some(name) = line.peek().and_then(|ahead| match ahead {
            Token::Word(word) => FenceName::from_name(word),
            _ => None,
        }) else {
            return fence_kinds(line).map(Fence::Kinds);
        };
        line.any_word()?;
        let at = line.take_word("at").then(|| line.reference("location", self.locations).map(LocId));
        Ok(Fence::Named { name, at: at.transpose()? })
    }

    fn branch(&self, line: &mut Line) -> Result<Op> {
        let cond = self.expr(line)?;
        line.word("then")?;
        let then_to = line.instr_id()?;
        line.word("else")?;
        let else_to = line.instr_id()?;
        Ok(Op::Branch { cond, then_to, else_to })
    }

    /// A location, or an element of an array; what follows the reference tells which.
    fn addr(&self, line: &mut Line) -> Result<Addr> {
        if !line.reference_before("[") {
            let loc = line.reference("location", self.locations)?;
            return Ok(Addr::Fixed(LocId(loc)));
        }
        let array = ArrayId(line.reference("array", self.arrays)?);
        line.symbol("[")?;
        let index = self.expr(line)?;
        line.symbol("]")?;
        Ok(Addr::Indexed { array, index })
    }

    fn expr(&self, line: &mut Line) -> Result<LocalExpr> {
        line.expr(&mut |line| self.place(line))
    }

    fn place(&self, line: &mut Line) -> Result<Place> {
        let base = RegId(line.reference("register", self.registers)?);
        if !line.take_symbol("[") {
            return Ok(Place::Reg(base));
        }
        let index = Box::new(self.expr(line)?);
        line.word("of")?;
        let len = line.number()?;
        line.symbol("]")?;
        Ok(Place::Elem { base, len, index })
    }
}

/// `begin` or `end`.
fn begins(line: &mut Line) -> Result<bool> {
    let begins = line.take_word("begin");
    if !begins {
        line.word("end")?;
    }
    Ok(begins)
}

/// The label of a mark, if it has one.
fn progress_label(line: &mut Line) -> Result<Option<String>> {
    let ends = line.peek().is_none() || line.peek_symbol(";");
    if ends { Ok(None) } else { line.name().map(Some) }
}

/// The tags of an access in braces, if it has any.
fn tags(line: &mut Line) -> Result<Tags> {
    let mut tags = Tags::default();
    if line.take_symbol("{") {
        while !line.take_symbol("}") {
            let name = line.any_word()?;
            tags |= Tags::from_name(&name).ok_or(format!("`{name}` is no tag"))?;
        }
    }
    Ok(tags)
}

/// `none`, or at least one kind.
fn fence_kinds(line: &mut Line) -> Result<FenceSet> {
    let mut kinds = FenceSet::NONE;
    if line.take_word("none") {
        return Ok(kinds);
    }
    loop {
        let first = line.any_word()?;
        line.symbol("-")?;
        let name = format!("{first}-{}", line.any_word()?);
        kinds |= FenceSet::from_name(&name).ok_or(format!("`{name}` is no kind of fence"))?;
        if !matches!(line.peek(), Some(Token::Word(_))) {
            return Ok(kinds);
        }
    }
}
