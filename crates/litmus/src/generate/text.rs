//! Tests as text: herd's format for X86, and the native language.

use super::cycle::{Cycle, Event, Shape};
use super::relation::{Dir, Link};

const REGISTERS: [&str; 6] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI"];

impl Cycle {
    /// The test in herd's format for X86; an error if the architecture does not have all of its relations.
    pub fn x86(&self) -> Result<String, String> {
        let shape = self.shape()?;
        let mut columns: Vec<Vec<String>> = Vec::new();
        let mut condition = Vec::new();
        for (number, thread) in shape.threads.iter().enumerate() {
            let mut lines = vec![format!("P{number}")];
            let mut registers = REGISTERS.iter();
            for event in thread {
                lines.extend(x86_fence(event.link)?.map(str::to_owned));
                let place = location(event.location);
                if event.dir == Dir::W {
                    lines.push(format!("MOV [{place}],${}", event.value.unwrap_or(1)));
                    continue;
                }
                let register = registers.next().ok_or("more reads in a thread than registers")?;
                lines.push(format!("MOV {register},[{place}]"));
                condition.extend(event.value.map(|value| format!("{number}:{register}={value}")));
            }
            columns.push(lines);
        }
        let mut out = format!("X86 {}\n\"{self}\"\nCycle={self}\n{{\n}}\n", self.name());
        out.push_str(&table(&columns));
        condition.extend(finals(&shape).map(|(place, value)| format!("{place}={value}")));
        out.push_str(&format!("exists ({})\n", conjunction(&condition, " /\\ ", "true")));
        Ok(out)
    }

    /// The test in the native language. Its check claims that the cycle does not occur.
    pub fn rml(&self) -> Result<String, String> {
        let shape = self.shape()?;
        let array = |place: usize| {
            let by_address = |event: &&Event| event.location == place && event.link == Link::Addr;
            shape.threads.iter().flatten().any(|event| by_address(&event))
        };
        let arrays: Vec<bool> = (0..shape.finals.len()).map(array).collect();
        let places: Vec<String> = arrays
            .iter()
            .enumerate()
            .map(|(place, array)| format!("{}{}", location(place), if *array { "[1]" } else { "" }))
            .collect();
        let mut code = String::new();
        let (mut registers, mut condition) = (Vec::new(), Vec::new());
        for (number, thread) in shape.threads.iter().enumerate() {
            code.push_str(&format!("\n    thread p{number} {{\n"));
            let mut last = String::new();
            for event in thread {
                let line = rml_access(event, &last, &arrays, &mut registers, &mut condition);
                last = if event.dir == Dir::R { registers[registers.len() - 1].clone() } else { String::new() };
                code.push_str(&line);
            }
            code.push_str("    }\n");
        }
        let seen = finals(&shape).map(|(place, value)| (place_text(&place, &arrays), value));
        let mut observed = registers.clone();
        for (place, value) in seen {
            condition.push(format!("{place} = {value}"));
            observed.push(place);
        }
        let mut out = format!("// {}: the cycle {self}.\n\nthreads {{\n", self.name());
        out.push_str(&format!("    shared {};\n", places.join(", ")));
        if !registers.is_empty() {
            out.push_str(&format!("    local {};\n", registers.join(", ")));
        }
        out.push_str(&format!("{code}}}\n\nobserve {};\n", observed.join(", ")));
        out.push_str(&format!("check never ({});\n", conjunction(&condition, " && ", "1 = 1")));
        Ok(out)
    }
}

fn conjunction(parts: &[String], and: &str, none: &str) -> String {
    if parts.is_empty() { none.to_owned() } else { parts.join(and) }
}

fn location(number: usize) -> String {
    ["x", "y", "z", "a", "b", "c", "d", "e"].get(number).map_or_else(|| format!("v{number}"), |name| (*name).to_owned())
}

/// The final values that matter.
fn finals(shape: &Shape) -> impl Iterator<Item = (String, i128)> {
    shape.finals.iter().enumerate().filter_map(|(place, value)| Some((location(place), (*value)?)))
}

fn place_text(place: &str, arrays: &[bool]) -> String {
    let array = (0..arrays.len()).any(|number| arrays[number] && location(number) == place);
    if array { format!("{place}[0]") } else { place.to_owned() }
}

fn x86_fence(link: Link) -> Result<Option<&'static str>, String> {
    Ok(match link {
        Link::None => None,
        Link::MFence => Some("MFENCE"),
        Link::SFence => Some("SFENCE"),
        Link::LFence => Some("LFENCE"),
        other => return Err(format!("X86 tests have no `{}`", other.word())),
    })
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

/// One access, with the fence or dependency before it; `last` is the register that the access before it read.
fn rml_access(
    event: &Event,
    last: &str,
    arrays: &[bool],
    registers: &mut Vec<String>,
    condition: &mut Vec<String>,
) -> String {
    let name = location(event.location);
    let place = match (event.link, arrays.get(event.location)) {
        (Link::Addr, _) => format!("{name}[{last} - {last}]"),
        (_, Some(true)) => format!("{name}[0]"),
        _ => name,
    };
    let access = if event.dir == Dir::W {
        let value = event.value.unwrap_or(1);
        match event.link {
            Link::Data => format!("{place} := {last} - {last} + {value};"),
            _ => format!("{place} := {value};"),
        }
    } else {
        registers.push(format!("r{}", registers.len() + 1));
        let register = &registers[registers.len() - 1];
        condition.extend(event.value.map(|value| format!("{register} = {value}")));
        format!("{register} := {place};")
    };
    match event.link {
        Link::Ctrl => format!("        if {last} >= 0 {{\n            {access}\n        }}\n"),
        link => {
            let fence = match link {
                Link::MFence => Some("mfence"),
                Link::SFence | Link::StoreStore => Some("fence(store-store)"),
                Link::LFence => Some("fence(load-load, load-store)"),
                Link::LoadLoad => Some("fence(load-load)"),
                Link::LoadStore => Some("fence(load-store)"),
                Link::StoreLoad => Some("fence(store-load)"),
                _ => None,
            };
            let fence = fence.map(|fence| format!("        {fence};\n")).unwrap_or_default();
            format!("{fence}        {access}\n")
        }
    }
}
