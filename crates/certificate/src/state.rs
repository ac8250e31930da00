//! One state as a line of a certificate.
//!
//! ```text
//! {"m":[0,1],"t":[[4,[1,"@0","*"],[{"i":2,"x":1,"v":[1]}]],[7,[],[]]]}
//! ```
//!
//! `m` is memory; `t` has a triple for each thread: its next instruction, its registers and its queue. A value is a number, a string of digits where
//! it is beyond 64 bits, `"undefined"`, in a register also `"@N"` (what entry N of the queue will deliver) or `"*"` (forgotten). An entry of the queue is
//! a fence, `{"f":KINDS}` with the bits of `cyrano_ir::FenceSet`, or an instruction `i` that is deferred: `x` is the location of an access, `v` are its operands or `w`
//! the registers that it waits for, each with its value; `c` says that the next access belongs to the same section, `s` that its transaction has ended.
//! For commit-atomicity a triple has a `1` behind it if the access that was issued last has been performed, and a queue has marks of units: `{"k":"begin"}`,
//! `{"k":"commit","w":[[0,"@2"]]}` and `{"k":"end","i":7,"w":[[3,1]]}` with the registers that are handed on. `ser` is the serial run (`serial_run`).
//!
//! `run` is the thread whose operation is under way under a serial model, `tx` what the criterion's monitor remembers, in hexadecimal.
//!
//! **Invariant:** there is one way to write a state, so that equal states are equal lines.

use std::fmt::Write;

mod serial_run;
mod view;

use cyrano_engine::configuration::{Configuration, Deferred, Entry, Lane, Mark, Operands, Product, Value};
use cyrano_ir::{FenceSet, InstrId, LocId, RegId, ThreadId, UNDEFINED};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

pub use view::{parse_element, parse_view, print_element, print_view};

/// A state as a line.
pub fn print(state: &Product) -> String {
    let mut out = String::with_capacity(64);
    let Configuration { memory, threads, running } = &state.at;
    out.push_str("{\"m\":");
    list(&mut out, memory, |out, value| number(out, *value));
    out.push_str(",\"t\":");
    list(&mut out, threads, lane);
    if let Some(thread) = running {
        let _ = write!(out, ",\"run\":{}", thread.0);
    }
    if !state.monitor.is_empty() {
        out.push_str(",\"tx\":\"");
        state.monitor.iter().for_each(|byte| _ = write!(out, "{byte:02x}"));
        out.push('"');
    }
    state.serial.iter().for_each(|serial| serial_run::print(&mut out, serial));
    out.push('}');
    out
}

fn list<T>(out: &mut String, items: &[T], mut item: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (at, each) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        item(out, each);
    }
    out.push(']');
}

fn number(out: &mut String, value: i128) {
    let _ = match value {
        UNDEFINED => write!(out, "\"undefined\""),
        _ if i64::try_from(value).is_ok() || u64::try_from(value).is_ok() => write!(out, "{value}"),
        _ => write!(out, "\"{value}\""),
    };
}

fn value(out: &mut String, value: &Value) {
    match value {
        Value::Known(value) => number(out, *value),
        Value::Pending(at) => _ = write!(out, "\"@{at}\""),
        Value::Forgotten => out.push_str("\"*\""),
    }
}

fn lane(out: &mut String, lane: &Lane) {
    let _ = write!(out, "[{},", lane.pc.0);
    list(out, &lane.registers, value);
    out.push(',');
    list(out, &lane.queue, deferred);
    out.push_str(if lane.latest_done { ",1]" } else { "]" });
}

fn captured(out: &mut String, of: &[(RegId, Value)]) {
    out.push_str(",\"w\":");
    list(out, of, |out, (register, captured)| {
        let _ = write!(out, "[{},", register.0);
        value(out, captured);
        out.push(']');
    });
}

fn mark(out: &mut String, mark: &Mark) {
    match mark {
        Mark::Begin => out.push_str("{\"k\":\"begin\""),
        Mark::Commit(after) => {
            out.push_str("{\"k\":\"commit\"");
            captured(out, &[(RegId(0), *after)]);
        }
        Mark::End { instr, handed } => {
            let _ = write!(out, "{{\"k\":\"end\",\"i\":{}", instr.0);
            captured(out, handed);
        }
    }
    out.push('}');
}

fn deferred(out: &mut String, deferred: &Deferred) {
    let entry = match deferred {
        Deferred::Fence(kinds) => {
            let _ = write!(out, "{{\"f\":{}}}", kinds.bits());
            return;
        }
        Deferred::Mark(of) => return mark(out, of),
        Deferred::Op(entry) => entry,
    };
    let _ = write!(out, "{{\"i\":{}", entry.instr.0);
    if let Some(loc) = entry.loc {
        let _ = write!(out, ",\"x\":{}", loc.0);
    }
    match &entry.operands {
        Operands::Known(values) => {
            out.push_str(",\"v\":");
            list(out, values, |out, value| number(out, *value));
        }
        Operands::Waiting(waiting) => captured(out, waiting),
    }
    out.push_str(if entry.chained { ",\"c\":true" } else { "" });
    out.push_str(if entry.stale { ",\"s\":true}" } else { "}" });
}

/// Reads a line.
pub fn parse(line: &str) -> Result<Product, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let memory = line.m.into_iter().map(known).collect::<Result<_, _>>()?;
    let threads = line.t.into_iter().map(Triple::lane).collect::<Result<_, _>>()?;
    let monitor = line.tx.as_deref().map_or(Ok(Vec::new()), bytes)?;
    let serial = line.ser.map(serial_run::SerialLine::read).transpose()?;
    Ok(Product { at: Configuration { memory, threads, running: line.run.map(ThreadId) }, monitor, serial })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    m: Vec<Shown>,
    t: Vec<Triple>,
    run: Option<u16>,
    tx: Option<String>,
    ser: Option<serial_run::SerialLine>,
}

#[derive(Deserialize)]
struct Triple(u32, Vec<Shown>, Vec<Item>, #[serde(default)] Option<u8>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    k: Option<String>,
    f: Option<u8>,
    i: Option<u32>,
    x: Option<u32>,
    v: Option<Vec<Shown>>,
    w: Option<Vec<(u32, Shown)>>,
    #[serde(default)]
    c: bool,
    #[serde(default)]
    s: bool,
}

impl Triple {
    fn lane(self) -> Result<Lane, String> {
        let Self(pc, registers, queue, latest) = self;
        let latest_done = match latest {
            None => false,
            Some(1) => true,
            Some(_) => return Err("whether the latest access has been performed is said by a 1".into()),
        };
        let registers = registers.into_iter().map(|shown| shown.0).collect();
        let queue = queue.into_iter().map(Item::deferred).collect::<Result<_, _>>()?;
        Ok(Lane { pc: InstrId(pc), registers, queue, latest_done })
    }
}

impl Item {
    fn mark(self) -> Result<Mark, String> {
        let captured: Vec<_> = self.w.into_iter().flatten().map(|(reg, shown)| (RegId(reg), shown.0)).collect();
        match (self.k.as_deref(), self.i, &captured[..]) {
            (Some("begin"), None, []) => Ok(Mark::Begin),
            (Some("commit"), None, [(RegId(0), after)]) => Ok(Mark::Commit(*after)),
            (Some("end"), Some(instr), _) => Ok(Mark::End { instr: InstrId(instr), handed: captured }),
            _ => Err("a mark in a queue is a beginning, a commit or an end".into()),
        }
    }

    fn deferred(self) -> Result<Deferred, String> {
        if self.k.is_some() {
            return self.mark().map(Deferred::Mark);
        }
        let operands = match (self.f, self.i, self.v, self.w) {
            (Some(bits), None, None, None) if FenceSet::from_bits(bits).bits() == bits => {
                return Ok(Deferred::Fence(FenceSet::from_bits(bits)));
            }
            (None, Some(_), Some(values), None) => {
                Operands::Known(values.into_iter().map(known).collect::<Result<_, _>>()?)
            }
            (None, Some(_), None, Some(captured)) => {
                Operands::Waiting(captured.into_iter().map(|(register, shown)| (RegId(register), shown.0)).collect())
            }
            _ => return Err("an entry of a queue is a fence, or an instruction with its operands".into()),
        };
        let (instr, loc) = (InstrId(self.i.unwrap_or_default()), self.x.map(LocId));
        Ok(Deferred::Op(Entry { instr, loc, operands, chained: self.c, stale: self.s }))
    }
}

fn known(shown: Shown) -> Result<i128, String> {
    match shown.0 {
        Value::Known(value) => Ok(value),
        Value::Pending(_) | Value::Forgotten => Err("a value that is not known where one has to be".into()),
    }
}

fn bytes(hexadecimal: &str) -> Result<Vec<u8>, String> {
    let digits = hexadecimal.as_bytes();
    let byte = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(|pair| byte(pair).filter(|_| pair.len() == 2)).collect();
    bytes.ok_or_else(|| "the monitor's state is not hexadecimal".into())
}

/// A value as it is written.
struct Shown(Value);

impl<'de> Deserialize<'de> for Shown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl Visitor<'_> for Values {
    type Value = Shown;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Shown, E> {
        Ok(Shown(Value::Known(value.into())))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Shown, E> {
        Ok(Shown(Value::Known(value.into())))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Shown, E> {
        let value = match text {
            "*" => Some(Value::Forgotten),
            "undefined" => Some(Value::Known(UNDEFINED)),
            _ => match text.strip_prefix('@') {
                Some(position) => position.parse().ok().map(Value::Pending),
                None => text.parse().ok().map(Value::Known),
            },
        };
        value.map(Shown).ok_or_else(|| E::custom(format!("`{text}` is no value")))
    }
}
