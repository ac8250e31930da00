//! Views and elements as lines: `{"m":[0,0],"t":[],"v":[[0,2,[0],[]],[0,2,[0],[]]]}`.
//!
//! Like a state, but `t` has the threads that are in no family and `v` the members, each behind the number of its family; an element has others beside them in `o`.
//! For commit-atomicity a thread has behind its queue always whether its latest access is done, its copy in the serial run and its choices, and `ser` has
//! what threads share of that run: its memory and the number of members in blocks.

use std::fmt::Write;

use cyrano_engine::configuration::{SharedRun, Single, View};
use serde::Deserialize;

use super::{Item, Shown, Triple, known, lane, list, number, serial_run};

/// A thread of a view: a triple, and for commit-atomicity behind it always whether the latest access is done, its copy in the serial run, and its choices.
fn single(out: &mut String, of: &Single) {
    lane(out, &of.lane);
    if let Some((copied, chosen)) = &of.serial {
        out.pop();
        out.push_str(if of.lane.latest_done { "," } else { ",0," });
        serial_run::copied(out, copied);
        out.push(',');
        list(out, chosen, |out, value| number(out, *value));
        out.push(']');
    }
}

/// A member as a quadruple.
fn members(of: &[(usize, Single)]) -> String {
    let member = |(family, member): &(usize, Single)| {
        let mut out = String::new();
        single(&mut out, member);
        format!("[{family},{}", &out[1..])
    };
    let mut members: Vec<String> = of.iter().map(member).collect();
    members.sort_unstable();
    members.join(",")
}

/// An element as a line: like a view, and `o` has the others beside those members that are followed.
pub fn print_element(followed: &View, others: &[(usize, Single)]) -> String {
    let view = print_view(followed);
    format!("{},\"o\":[{}]}}", &view[..view.len() - 1], members(others))
}

/// A view as a line: `v` has its members, each behind the number of its family, and `t` the threads that are in no family. For commit-atomicity `ser` has the memory of the
/// serial run, and how many members are in a block.
pub fn print_view(view: &View) -> String {
    let mut out = String::with_capacity(64);
    out.push_str("{\"m\":");
    list(&mut out, &view.memory, |out, value| number(out, *value));
    out.push_str(",\"t\":");
    list(&mut out, &view.fixed, single);
    let _ = write!(out, ",\"v\":[{}]", members(&view.members));
    if let Some(SharedRun { memory, inside }) = &view.serial {
        out.push_str(",\"ser\":{\"m\":");
        list(&mut out, memory, |out, value| number(out, *value));
        let _ = write!(out, ",\"in\":{inside}}}");
    }
    out.push('}');
    out
}

/// Reads the line of a view.
pub fn parse_view(line: &str) -> Result<View, String> {
    match parse_element(line)? {
        (view, others) if others.is_empty() && !line.contains("\"o\"") => Ok(view),
        _ => Err("a view has nobody beside it".into()),
    }
}

/// Reads the line of an element; the members that are followed are in the order of their families.
pub fn parse_element(line: &str) -> Result<(View, Vec<(usize, Single)>), String> {
    let line: ViewLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let memory = line.m.into_iter().map(known).collect::<Result<_, _>>()?;
    let fixed = line.t.into_iter().map(SingleLine::single).collect::<Result<_, _>>()?;
    let member = |MemberLine(family, pc, registers, queue, latest, copied, chosen)| {
        Ok((family, SingleLine(pc, registers, queue, latest, copied, chosen).single()?))
    };
    let mut members = line.v.into_iter().map(member).collect::<Result<Vec<_>, String>>()?;
    members.sort_by_key(|(family, _)| *family);
    let others = line.o.into_iter().map(member).collect::<Result<_, String>>()?;
    let serial = line.ser.map(SharedLine::read).transpose()?;
    Ok((View { memory, fixed, members, serial }, others))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewLine {
    m: Vec<Shown>,
    t: Vec<SingleLine>,
    v: Vec<MemberLine>,
    #[serde(default)]
    o: Vec<MemberLine>,
    ser: Option<SharedLine>,
}

#[derive(Deserialize)]
struct MemberLine(
    usize,
    u32,
    Vec<Shown>,
    Vec<Item>,
    #[serde(default)] Option<u8>,
    #[serde(default)] Option<serial_run::CopyLine>,
    #[serde(default)] Option<Vec<Shown>>,
);

#[derive(Deserialize)]
struct SingleLine(
    u32,
    Vec<Shown>,
    Vec<Item>,
    #[serde(default)] Option<u8>,
    #[serde(default)] Option<serial_run::CopyLine>,
    #[serde(default)] Option<Vec<Shown>>,
);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedLine {
    m: Vec<Shown>,
    r#in: usize,
}

impl SharedLine {
    fn read(self) -> Result<SharedRun, String> {
        let memory = self.m.into_iter().map(known).collect::<Result<_, _>>()?;
        Ok(SharedRun { memory, inside: self.r#in })
    }
}

impl SingleLine {
    fn single(self) -> Result<Single, String> {
        let Self(pc, registers, queue, latest, copied, chosen) = self;
        let serial = match (copied, chosen) {
            (Some(copied), Some(chosen)) => {
                Some((copied.read()?, chosen.into_iter().map(known).collect::<Result<_, _>>()?))
            }
            (None, None) => None,
            _ => return Err("a copy in the serial run has choices beside it".into()),
        };
        let latest = latest.filter(|latest| *latest != 0 || serial.is_none());
        Ok(Single { lane: Triple(pc, registers, queue, latest).lane()?, serial })
    }
}
