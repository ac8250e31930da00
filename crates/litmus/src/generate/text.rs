//! Tests as text in herd's format, and what all languages share.

use super::c;
use super::cycle::{Cycle, Event, Shape};
use super::machine::{self, Thread};
use super::target::Target;

impl Cycle {
    /// The test in a language; an error if it does not have all of the cycle's relations.
    pub fn text(&self, target: Target) -> Result<String, String> {
        match target {
            Target::Rml => self.rml(),
            Target::C | Target::Kernel => c::test(self, target),
            Target::X86 | Target::X86_64 | Target::AArch64 | Target::Riscv | Target::Ppc => self.assembly(target),
        }
    }

    /// The test in herd's format for X86; an error if the architecture does not have all of its relations.
    pub fn x86(&self) -> Result<String, String> {
        self.text(Target::X86)
    }

    fn assembly(&self, target: Target) -> Result<String, String> {
        let shape = self.shape()?;
        let mut columns: Vec<Vec<String>> = Vec::new();
        let (mut condition, mut inits) = (Vec::new(), String::new());
        for (number, events) in shape.threads.iter().enumerate() {
            let mut thread: Thread = machine::thread(target, events)?;
            let registers = thread.inits.iter().map(|(register, place)| format!("{number}:{register}={place};"));
            let registers: Vec<String> = registers.collect();
            if !registers.is_empty() {
                inits.push_str(&format!("{}\n", registers.join(" ")));
            }
            condition.extend(thread.seen.iter().map(|(register, value)| format!("{number}:{register}={value}")));
            thread.lines.insert(0, format!("P{number}"));
            columns.push(thread.lines);
        }
        let mut out = head(self, target.name(), &inits);
        out.push_str(&table(&columns));
        out.push_str(&exists(condition, &shape));
        Ok(out)
    }
}

/// The head of a test and its initial state.
pub(super) fn head(cycle: &Cycle, arch: &str, inits: &str) -> String {
    format!("{arch} {}\n\"{cycle}\"\nCycle={cycle}\n{{\n{inits}}}\n", cycle.name())
}

/// The condition: what registers hold, and the final values that matter.
pub(super) fn exists(mut condition: Vec<String>, shape: &Shape) -> String {
    condition.extend(finals(shape).map(|(place, value)| format!("{place}={value}")));
    format!("exists ({})\n", conjunction(&condition, " /\\ ", "true"))
}

pub(super) fn conjunction(parts: &[String], and: &str, none: &str) -> String {
    if parts.is_empty() { none.to_owned() } else { parts.join(and) }
}

pub(super) fn location(number: usize) -> String {
    ["x", "y", "z", "a", "b", "c", "d", "e"].get(number).map_or_else(|| format!("v{number}"), |name| (*name).to_owned())
}

/// The final values that matter.
pub(super) fn finals(shape: &Shape) -> impl Iterator<Item = (String, i128)> {
    shape.finals.iter().enumerate().filter_map(|(place, value)| Some((location(place), (*value)?)))
}

/// What a write writes.
pub(super) fn written(event: &Event) -> i128 {
    event.value.unwrap_or(1)
}

/// Columns side by side.
fn table(columns: &[Vec<String>]) -> String {
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().map(|lines| lines.iter().map(String::len).max().unwrap_or(0)).collect();
    let mut out = String::new();
    for row in 0..rows {
        let cell = |(lines, width): (&Vec<String>, &usize)| {
            let text = lines.get(row).map_or("", String::as_str);
            format!(" {text:width$} ", width = *width)
        };
        let cells: Vec<String> = columns.iter().zip(&widths).map(cell).collect();
        out.push_str(&cells.join("|"));
        out.push_str(";\n");
    }
    out
}
