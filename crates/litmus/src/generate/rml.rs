//! Tests in the native language.

use super::cycle::{Cycle, Event};
use super::relation::{Dir, Link};
use super::target::Note;
use super::text::{conjunction, finals, location, written};

impl Cycle {
    /// The test in the native language. Its check claims that the cycle does not occur.
    pub fn rml(&self) -> Result<String, String> {
        let shape = self.shape()?;
        if let Some(event) = shape.threads.iter().flatten().find(|event| event.note != Note::PLAIN) {
            return Err(format!("the native language has no `{}`", event.note.name()));
        }
        let foreign = |event: &&Event| matches!(event.link, Link::Barrier(_) | Link::CtrlFence(_));
        if let Some(event) = shape.threads.iter().flatten().find(foreign) {
            return Err(format!("the native language has no `{}`", event.link.word()));
        }
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

fn place_text(place: &str, arrays: &[bool]) -> String {
    let array = (0..arrays.len()).any(|number| arrays[number] && location(number) == place);
    if array { format!("{place}[0]") } else { place.to_owned() }
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
        let value = written(event);
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
