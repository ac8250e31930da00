//! The serial run of a state as part of its line: `"ser":{"c":[[],[1]],"w":[{"m":[0,1],"t":[[4,[1,"*"],[[7,[1]]]]]}]}`.
//!
//! `c` has the choices of each thread that the serial run has yet to make, `w` the ways in which it can have gone: memory, and for each thread its next instruction, its
//! registers, and what it has handed on ahead of the thread itself. Ways are written in ascending order of their text.

use cyrano_engine::configuration::{Copied, HandedOn, Serial, Way};
use cyrano_ir::InstrId;
use serde::Deserialize;

use super::{Shown, known, list, number, value};

pub(super) fn print(out: &mut String, serial: &Serial) {
    out.push_str(",\"ser\":{\"c\":");
    list(out, &serial.chosen, numbers);
    let mut ways: Vec<String> = serial.ways.iter().map(way).collect();
    ways.sort_unstable();
    ways.dedup();
    out.push_str(",\"w\":[");
    out.push_str(&ways.join(","));
    out.push_str("]}");
}

fn numbers(out: &mut String, values: &Vec<i128>) {
    list(out, values, |out, value| number(out, *value));
}

fn way(way: &Way) -> String {
    let mut out = String::from("{\"m\":");
    numbers(&mut out, &way.memory);
    out.push_str(",\"t\":");
    list(&mut out, &way.threads, copied);
    out.push('}');
    out
}

pub(super) fn copied(out: &mut String, copy: &Copied) {
    out.push('[');
    number(out, copy.pc.0.into());
    out.push(',');
    list(out, &copy.registers, value);
    out.push(',');
    list(out, &copy.owed, |out, (instr, values): &HandedOn| {
        out.push('[');
        number(out, instr.0.into());
        out.push(',');
        numbers(out, values);
        out.push(']');
    });
    out.push(']');
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SerialLine {
    c: Vec<Vec<Shown>>,
    w: Vec<WayLine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WayLine {
    m: Vec<Shown>,
    t: Vec<CopyLine>,
}

#[derive(Deserialize)]
pub(super) struct CopyLine(u32, Vec<Shown>, Vec<(u32, Vec<Shown>)>);

impl SerialLine {
    pub(super) fn read(self) -> Result<Serial, String> {
        let ways = self.w.into_iter().map(WayLine::read).collect::<Result<_, _>>()?;
        Ok(Serial { ways, chosen: self.c.into_iter().map(all_known).collect::<Result<_, _>>()? })
    }
}

impl WayLine {
    fn read(self) -> Result<Way, String> {
        let threads = self.t.into_iter().map(CopyLine::read).collect::<Result<_, _>>()?;
        Ok(Way { memory: all_known(self.m)?, threads })
    }
}

impl CopyLine {
    pub(super) fn read(self) -> Result<Copied, String> {
        let Self(pc, registers, owed) = self;
        let owed = owed.into_iter().map(|(instr, values)| Ok((InstrId(instr), all_known(values)?)));
        let registers = registers.into_iter().map(|shown| shown.0).collect();
        Ok(Copied { pc: InstrId(pc), registers, owed: owed.collect::<Result<_, String>>()? })
    }
}

fn all_known(shown: Vec<Shown>) -> Result<Vec<i128>, String> {
    shown.into_iter().map(known).collect()
}
