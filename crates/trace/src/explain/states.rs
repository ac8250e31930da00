//! Invariants that do not hold and races, in words.

use cyrano_engine::{Racing, ThreadEnd};
use cyrano_ir::{AccessKind, InstrId, Invariant, Op, Program, Tags, ThreadId};

use crate::explain::{access, join, listed, values_of};
use crate::lines::Lines;
use crate::record::Parts;
use crate::schema::{Explanation, RacingInfo, StandingInfo};

/// Who stands where and what memory holds when the invariant does not hold.
pub(crate) fn invariant(parts: &Parts<'_>, lines: &Lines<'_>, invariant: &Invariant) -> Explanation {
    let mut vars = Vec::new();
    invariant.cond.for_each_var(&mut |var| vars.extend(var.value()));
    let values = values_of(parts.program, vars, parts.replayed);
    let standing = standing(parts, lines, invariant);
    let places = standing.iter().map(|at| format!("{} stands at {} (line {})", at.thread, at.label, at.line));
    let mut facts: Vec<String> = places.collect();
    if !values.is_empty() {
        facts.push(listed(&values));
    }
    let nobody = standing.is_empty() && !invariant.points().is_empty();
    facts.extend(nobody.then(|| "no thread stands at a statement that it names".to_owned()));
    let (text, with) = (&invariant.text, join(&facts));
    let sentence = match facts.is_empty() {
        true => format!("The invariant `{text}` does not hold."),
        false => format!("The invariant `{text}` does not hold: {with}."),
    };
    let condition = Some(text.clone());
    Explanation { kind: "invariant".to_owned(), sentence, condition, values, standing, ..Explanation::default() }
}

/// The threads that stand at points which the invariant names.
fn standing(parts: &Parts<'_>, lines: &Lines<'_>, invariant: &Invariant) -> Vec<StandingInfo> {
    let program = parts.program;
    let mut found = Vec::new();
    for point in invariant.points().into_iter().map(|point| program.point(point)) {
        let ThreadEnd::At(instr) = parts.replayed.ends[point.thread.index()] else { continue };
        if point.has(instr) {
            let line = lines.line(program.instr(point.thread, instr).span);
            let (thread, label) = (program.thread(point.thread).name.clone(), point.label.clone());
            found.push(StandingInfo { thread, label, line });
        }
    }
    found
}

/// Both places of a race.
pub(crate) fn race(parts: &Parts<'_>, lines: &Lines<'_>, racing: [Racing; 2]) -> Explanation {
    let [first, second] = racing.map(|racing| place(parts, lines, racing));
    let location = parts.replayed.steps.get(racing[0].step).map(|step| parts.program.location(step.loc).name.clone());
    let location = location.unwrap_or_default();
    let told = |racing: &RacingInfo| format!("{} of {} (step {})", racing.access, racing.thread, racing.step);
    let plain = match (first.plain, second.plain) {
        (true, true) => "neither of them synchronises".to_owned(),
        (true, false) => format!("the one of {} does not synchronise", first.thread),
        (false, _) => format!("the one of {} does not synchronise", second.thread),
    };
    let (one, other) = (told(&first), told(&second));
    let sentence = format!("Data race on {location}: nothing orders {one} and {other}, and {plain}.");
    let (thread, line) = (Some(second.thread.clone()), Some(second.line));
    let racing = vec![first, second];
    Explanation { kind: "race".to_owned(), sentence, thread, line, racing, ..Explanation::default() }
}

fn place(parts: &Parts<'_>, lines: &Lines<'_>, racing: Racing) -> RacingInfo {
    let program = parts.program;
    let instr = program.instr(racing.thread, racing.instr);
    let line = lines.told(instr.span);
    let kind = instr.op.access_kind().unwrap_or(AccessKind::Load);
    let location = parts.replayed.steps.get(racing.step).map(|step| program.location(step.loc).name.as_str());
    let synchronises = kind == AccessKind::Rmw
        || instr.op.has_tag(Tags::SYNC)
        || instr.op.has_tag(Tags::ATOMIC)
        || in_section(program, racing.thread, racing.instr.index());
    RacingInfo {
        thread: program.thread(racing.thread).name.clone(),
        line: line.number,
        step: racing.step + 1,
        access: access(&line, kind, &instr.op, location),
        plain: !synchronises,
    }
}

/// Whether an instruction stands in an atomic section.
fn in_section(program: &Program, thread: ThreadId, at: usize) -> bool {
    let thread = program.thread(thread);
    let begins = thread.code.iter().enumerate().filter(|(_, instr)| matches!(instr.op, Op::AtomicBegin));
    begins.into_iter().any(|(begin, _)| thread.section_has(InstrId::new(begin), |pc, _| pc.index() == at))
}
