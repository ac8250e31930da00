//! Atomic blocks that did not do what they would have done one at a time, in words (Flanagan, section 4).

use cyrano_engine::{Difference, Obstacle, SerialRun, SerialUnit, Violation};
use cyrano_ir::{InstrId, ThreadId};

use crate::explain::shown;
use crate::lines::{Line, Lines};
use crate::record::Parts;
use crate::schema::{Explanation, PartedLocation, PartedRegister, SerialUnitInfo};

/// How many units of the serial run are named in the sentence; the last ones.
const NAMED: usize = 6;

/// What differs between the execution and the serial run of its blocks.
pub(crate) fn explain(parts: &Parts<'_>, lines: &Lines<'_>) -> Explanation {
    let kind = Violation::Blocks.kind().to_owned();
    let Some(serial) = &parts.replayed.serial else {
        let sentence = "The atomic blocks do not seem to happen one at a time.".to_owned();
        return Explanation { kind, sentence, ..Explanation::default() };
    };
    let told = Told { parts, lines, serial };
    let mut explanation = told.difference();
    explanation.kind = kind;
    explanation.serial_order = serial.units.iter().map(|unit| told.unit_info(unit)).collect();
    explanation
}

struct Told<'a> {
    parts: &'a Parts<'a>,
    lines: &'a Lines<'a>,
    serial: &'a SerialRun,
}

impl Told<'_> {
    fn difference(&self) -> Explanation {
        match &self.serial.difference {
            Difference::Memory { values } => {
                let name = |loc: &cyrano_ir::LocId| self.parts.program.location(*loc).name.clone();
                let parted = values.iter().map(|(loc, real, serial)| {
                    let location = name(loc);
                    PartedLocation { location, real: *real, serial: *serial }
                });
                let memory: Vec<PartedLocation> = parted.collect();
                let rows = || memory.iter().map(|at| (at.location.as_str(), at.real, at.serial));
                let (would, is) = (list(rows().map(|(n, _, v)| (n, v))), list(rows().map(|(n, v, _)| (n, v))));
                let order = self.order(&self.serial.units);
                let sentence = format!(
                    "In the order of commits, {order}, blocks that run alone would leave {would}; the execution leaves {is}."
                );
                Explanation { sentence, memory, ..Explanation::default() }
            }
            Difference::HandedOn { thread, instr, values } => self.handed_on(*thread, *instr, values),
            Difference::Stuck { thread, instr, at, why } => self.stuck(*thread, *instr, *at, *why),
        }
    }

    fn handed_on(&self, thread: ThreadId, instr: InstrId, values: &[(cyrano_ir::RegId, i128, i128)]) -> Explanation {
        let registers = &self.parts.program.thread(thread).registers;
        let mut values = values.to_vec();
        // A result may also be a register that is read later.
        values.sort_unstable();
        values.dedup();
        let parted = values.iter().map(|(reg, real, serial)| {
            let register = spoken(&registers[reg.index()].name);
            PartedRegister { register, real: *real, serial: *serial }
        });
        let handed_on: Vec<PartedRegister> = parted.collect();
        let rows = || handed_on.iter().map(|at| (at.register.as_str(), at.real, at.serial));
        let (would, is) = (list(rows().map(|(n, _, v)| (n, v))), list(rows().map(|(n, v, _)| (n, v))));
        let (order, what) = (self.order(&self.serial.units), self.subject(thread, instr));
        let sentence =
            format!("{what} hands on {is}; in the order of commits, {order}, it would alone have handed on {would}.");
        self.placed(thread, instr, Explanation { sentence, handed_on, ..Explanation::default() })
    }

    fn stuck(&self, thread: ThreadId, instr: InstrId, at: InstrId, why: Obstacle) -> Explanation {
        let span = self.parts.program.instr(thread, at).span;
        let (line, text) = (self.lines.told(span), self.lines.text(span));
        let before = self.serial.units.split_last().map_or([].as_slice(), |(_, before)| before);
        let after =
            if before.is_empty() { "before all others".to_owned() } else { format!("after {}", self.order(before)) };
        let why = match why {
            Obstacle::Loops => "never ends: it loops",
            Obstacle::Waits => "never ends: it waits",
            Obstacle::Fails => "goes wrong",
        };
        let what = self.subject(thread, instr);
        let step = self.serial.units.last().map_or(0, |unit| unit.step + 1);
        let sentence =
            format!("{what} committed (step {step}), but alone, {after}, it {why} at line {line}, `{text}`.");
        self.placed(thread, instr, Explanation { sentence, ..Explanation::default() })
    }

    fn placed(&self, thread: ThreadId, instr: InstrId, explanation: Explanation) -> Explanation {
        let name = self.parts.program.thread(thread).name.clone();
        Explanation { thread: Some(name), line: Some(self.line(thread, instr).number), ..explanation }
    }

    fn line(&self, thread: ThreadId, instr: InstrId) -> Line {
        self.lines.told(self.parts.program.instr(thread, instr).span)
    }

    fn unit_info(&self, unit: &SerialUnit) -> SerialUnitInfo {
        SerialUnitInfo {
            thread: self.parts.program.thread(unit.thread).name.clone(),
            block: unit.name.clone(),
            line: self.line(unit.thread, unit.instr).number,
            step: unit.step + 1,
        }
    }

    /// "Block `add` of w[1]".
    fn subject(&self, thread: ThreadId, instr: InstrId) -> String {
        let name = &self.parts.program.thread(thread).name;
        match &self.parts.program.instr(thread, instr).op {
            cyrano_ir::Op::BlockBegin(block) if !is_line(block) => format!("Block `{block}` of {name}"),
            cyrano_ir::Op::BlockBegin(block) => format!("The block at {block} of {name}"),
            _ => format!("Line {} of {name}", self.line(thread, instr)),
        }
    }

    /// "`add` of w[0] (step 3), `add` of w[1] (step 7)".
    fn order(&self, units: &[SerialUnit]) -> String {
        let hidden = units.len().saturating_sub(NAMED);
        let named = units[hidden..].iter().map(|unit| {
            let thread = &self.parts.program.thread(unit.thread).name;
            let what = match &unit.name {
                Some(block) if !is_line(block) => format!("`{block}`"),
                Some(block) => format!("{block}'s block"),
                None => format!("line {}", self.line(unit.thread, unit.instr)),
            };
            format!("{what} of {thread} (step {})", unit.step + 1)
        });
        let named: Vec<String> = named.collect();
        let before = if hidden > 0 { format!("{hidden} others, ") } else { String::new() };
        format!("{before}{}", named.join(", "))
    }
}

/// Whether a block has no name but its line.
fn is_line(block: &str) -> bool {
    block.strip_prefix("line ").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

/// A register as the user knows it.
fn spoken(register: &str) -> String {
    match register {
        "%exit" => "the way out".to_owned(),
        other => other.trim_start_matches('%').to_owned(),
    }
}

fn list<'a>(values: impl Iterator<Item = (&'a str, i128)>) -> String {
    let words: Vec<String> = values.map(|(name, value)| format!("{name} = {}", shown(value))).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyrano_engine::{Execution, Replayed};
    use cyrano_ir::{LocId, Op, Program, Property, RegId, Span};

    const SOURCE: &str = "begin\n  old := data\nend\n";

    /// One thread with a block over the three lines of the source.
    fn program(block: &str) -> Program {
        let text = "program p\nlocation data = 0\nthread w\n  register old = 0\n  register %exit = 0\n  @0: block begin b\n  \
             @1: old := load data\n  @2: block commit\n  @3: block end\n  @4: halt\n";
        let mut program = cyrano_ir::text::parse(text).expect("it is a program");
        program.threads[0].code[0].op = Op::BlockBegin(block.to_owned());
        let spans = [(0, 5), (8, 19), (8, 19), (20, 23), (20, 23)];
        for (instr, (start, end)) in program.threads[0].code.iter_mut().zip(spans) {
            instr.span = Span::new(start, end);
        }
        program
    }

    fn check(block: &str, difference: Difference, sentence: &str) -> Explanation {
        let program = program(block);
        let model = cyrano_memory::named("sc").expect("a model");
        let unit = |step| SerialUnit { thread: ThreadId(0), name: Some(block.into()), instr: InstrId(0), step };
        let alone = SerialUnit { thread: ThreadId(0), name: None, instr: InstrId(1), step: 4 };
        let serial = Some(SerialRun { units: vec![unit(2), alone, unit(6)], difference });
        let replayed = Replayed { serial, ..Replayed::default() };
        let explanation = explain(
            &Parts {
                version: "0",
                file: "p.rml",
                source: SOURCE,
                set: &[],
                test: None,
                program: &program,
                model: &model,
                property: &Property::CommitAtomicity,
                violation: Some(&Violation::Blocks),
                execution: &Execution::default(),
                replayed: &replayed,
            },
            &Lines::new(SOURCE),
        );
        assert_eq!(explanation.sentence, sentence);
        assert_eq!((explanation.kind.as_str(), explanation.serial_order.len()), ("atomicity", 3));
        explanation
    }

    #[test]
    fn memory() {
        let told = check(
            "add",
            Difference::Memory { values: vec![(LocId(0), 2, 1)] },
            "In the order of commits, `add` of w (step 3), line 2 of w (step 5), `add` of w (step 7), \
             blocks that run alone would leave data = 1; the execution leaves data = 2.",
        );
        assert_eq!(told.memory, [PartedLocation { location: "data".into(), real: 2, serial: 1 }]);
    }

    #[test]
    fn results() {
        let told = check(
            "line 1",
            Difference::HandedOn {
                thread: ThreadId(0),
                instr: InstrId(0),
                values: vec![(RegId(0), 0, 1), (RegId(1), 1, 0)],
            },
            "The block at line 1 of w hands on old = 0, the way out = 1; in the order of commits, line 1's block of w (step 3), \
             line 2 of w (step 5), line 1's block of w (step 7), it would alone have handed on old = 1, the way out = 0.",
        );
        assert_eq!((told.thread.as_deref(), told.line, told.handed_on.len()), (Some("w"), Some(1), 2));
    }

    #[test]
    fn divergence() {
        check(
            "add",
            Difference::Stuck { thread: ThreadId(0), instr: InstrId(0), at: InstrId(1), why: Obstacle::Loops },
            "Block `add` of w committed (step 7), but alone, after `add` of w (step 3), line 2 of w (step 5), \
             it never ends: it loops at line 2, `old := data`.",
        );
    }
}
