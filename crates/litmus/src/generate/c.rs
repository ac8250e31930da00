//! Tests in C: with C11's atomics, or with the kernel's functions.

use super::cycle::{Cycle, Event};
use super::relation::{Dir, Link};
use super::target::{Note, Target};
use super::text::{exists, head, location, written};

/// The test of a cycle.
pub(super) fn test(cycle: &Cycle, target: Target) -> Result<String, String> {
    let shape = cycle.shape()?;
    let (mut condition, mut code) = (Vec::new(), String::new());
    for (number, events) in shape.threads.iter().enumerate() {
        let mut places: Vec<usize> = events.iter().map(|event| event.location).collect();
        places.sort_unstable();
        places.dedup();
        let ty = if target == Target::C { "atomic_int" } else { "int" };
        let params: Vec<String> = places.into_iter().map(|place| format!("{ty} *{}", location(place))).collect();
        code.push_str(&format!("\nP{number} ({}) {{\n", params.join(", ")));
        let mut reads = 0;
        let mut last = String::new();
        for event in events {
            if let Link::Barrier(barrier) = event.link {
                if barrier.target() != target {
                    return Err(format!("{} tests have no `{}`", target.name(), barrier.word()));
                }
                code.push_str(&format!("    {}\n", barrier.line()));
            }
            let guarded = event.link == Link::Ctrl;
            let access = access(event, target, &last, reads)?;
            if event.dir == Dir::R {
                last = format!("r{reads}");
                reads += 1;
                condition.extend(event.value.map(|value| format!("{number}:{last}={value}")));
            }
            let guard = |access: &str, on: &str| format!("    if ({on} >= 0) {{\n        {access}\n    }}\n");
            let on = if event.dir == Dir::R { format!("r{}", reads.saturating_sub(2)) } else { last.clone() };
            code.push_str(&if guarded { guard(&access, &on) } else { format!("    {access}\n") });
        }
        code.push_str("}\n");
    }
    Ok(format!("{}{code}\n{}", head(cycle, "C", ""), exists(condition, &shape)))
}

/// One access; `last` is what the access before it read.
fn access(event: &Event, target: Target, last: &str, reads: usize) -> Result<String, String> {
    let read = event.dir == Dir::R;
    let word = event.note.written(target, read)?;
    let place = location(event.location);
    let place = match event.link {
        Link::Addr => format!("({place} + ({last} ^ {last}))"),
        Link::None | Link::Data | Link::Ctrl | Link::Barrier(_) => place,
        other => return Err(format!("{} tests have no `{}`", target.name(), other.word())),
    };
    let value = match event.link {
        Link::Data => format!("({last} ^ {last}) + {}", written(event)),
        _ => written(event).to_string(),
    };
    let once = event.note == Note::PLAIN;
    Ok(match (target, read) {
        (Target::C, true) => format!("int r{reads} = atomic_load_explicit({place}, memory_order_{word});"),
        (Target::C, false) => format!("atomic_store_explicit({place}, {value}, memory_order_{word});"),
        (_, true) if once => format!("int r{reads} = {word}(*{place});"),
        (_, true) => format!("int r{reads} = {word}({place});"),
        (_, false) if once => format!("{word}(*{place}, {value});"),
        (_, false) => format!("{word}({place}, {value});"),
    })
}
