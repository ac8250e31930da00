//! An execution that is wrong, as a file, and the execution of such a file again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use cyrano_graphs::native::{Counts, Finish, Taken};
use cyrano_trace::{ReadFrom, Trace};

use crate::model::{Again, Builder, Explored};
use crate::rt::fiber::Fibers;
use crate::rt::{Common, Place, Violation};

/// Writes it down if that is wanted; says where.
pub(crate) fn tell(builder: &Builder, violation: &Violation) -> String {
    let (Some(folder), Some(trace)) = (&builder.trace, &violation.trace) else { return String::new() };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = trace.program.file.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    let file = folder.join(name).with_extension("json");
    match fs::create_dir_all(folder).and_then(|()| fs::write(&file, trace.to_json())) {
        Ok(()) => {
            let file = file.display();
            format!("written to {file}; `CYRANO_REPLAY={file}` and the name of the test run this execution again\n")
        }
        Err(error) => format!("not written to {}: {error}\n", file.display()),
    }
}

/// Runs the execution of a file, and no other.
#[track_caller]
pub(crate) fn again(builder: &Builder, common: &Arc<Common>, file: &Path, place: Place) -> Result<Explored, Again> {
    let shown = file.display();
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("`{shown}` cannot be read: {error}"));
    let trace = Trace::parse(&text).unwrap_or_else(|error| panic!("`{shown}` is no trace: {error}"));
    assert!(
        trace.program.file == place.to_string(),
        "`{shown}` is an execution of the test at {}, and this one is at {place}",
        trace.program.file
    );
    let Some((taken, choices)) = accesses(&trace) else { panic!("`{shown}` is no trace of a native test") };
    let replayed = builder.native().replay(Box::new(Fibers::new(common)), &taken, &choices);
    let explored = builder.judge(common, Finish::All, &Counts::default());
    if let Err(at) = replayed {
        let step = at + 1;
        panic!("`{shown}` is another execution from step {step} on: the test, or the model, is not what it was");
    }
    explored
}

/// What happens in a trace: for each access from where, and what each thread chooses.
fn accesses(trace: &Trace) -> Option<(Vec<Taken>, Vec<Vec<u64>>)> {
    let number = |name: &str| if name == "main" { Some(0) } else { name.strip_prefix('t')?.parse().ok() };
    let before: BTreeMap<usize, usize> = trace.relations.co.iter().map(|(one, other)| (*other, *one)).collect();
    let taken = trace.steps.iter().map(|step| {
        let from = match &step.source {
            Some(ReadFrom::Initial) => None,
            Some(ReadFrom::Step { n }) => Some(*n),
            Some(ReadFrom::Forwarded { .. }) => return None,
            // The last before it that is earlier in the trace.
            None => std::iter::successors(before.get(&step.n), |n| before.get(n)).copied().find(|n| *n < step.n),
        };
        Some(Taken { thread: number(&step.thread)?, from: from.map(|n| n.checked_sub(1)).unwrap_or_default() })
    });
    let mut choices = vec![Vec::new(); trace.threads.len()];
    for thread in &trace.threads {
        let chosen: Option<Vec<u64>> = thread.choices.iter().map(|value| u64::try_from(*value).ok()).collect();
        *choices.get_mut(number(&thread.name)?)? = chosen?;
    }
    Some((taken.collect::<Option<_>>()?, choices))
}
