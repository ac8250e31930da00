//! Transition systems in the Aldebaran format, which CADP, mCRL2 and others read: `des (initial, transitions, states)`, and a line
//! `(from,"label",to)` for each transition. What is silent is `i`.

use std::fmt::Write;

use cyrano_criteria::history::Names;
use cyrano_engine::lts::{Label, TransitionSystem};
use cyrano_ir::{AccessKind, Program};

/// The text of a system.
pub fn aut(program: &Program, system: &TransitionSystem) -> String {
    let variables = program.transactional.iter().map(|loc| program.location(*loc).name.clone()).collect();
    let names = Names { threads: Vec::new(), variables };
    let labels: Vec<String> = system.labels.iter().map(|label| spelled(program, &names, label)).collect();
    let mut out = format!("des (0, {}, {})\n", system.transitions.len(), system.states);
    for (from, label, to) in &system.transitions {
        let _ = writeln!(out, "({from},\"{}\",{to})", labels[*label as usize]);
    }
    out
}

fn spelled(program: &Program, names: &Names, label: &Label) -> String {
    match label {
        Label::Silent => "i".to_owned(),
        Label::Event(event) => names.event(event),
        Label::Access { thread, kind, loc, read, written } => {
            let word = match kind {
                AccessKind::Rmw => "rmw",
                kind => kind.noun(),
            };
            let values = [read, written].into_iter().flatten().map(|value| format!(" {value}"));
            let (thread, location) = (&program.thread(*thread).name, &program.location(*loc).name);
            format!("{thread} {word} {location}{}", values.collect::<String>())
        }
        Label::Wrong => "wrong".to_owned(),
    }
}
