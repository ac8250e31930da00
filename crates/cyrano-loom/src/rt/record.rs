//! An execution as a document (`cyrano.trace/2`): each access is a step, and what else a thread did follows from these and from its choices.

use cyrano_graphs::native::{Asked, Request, Shown};
use cyrano_memory::named;
use cyrano_trace::{
    End, Explanation, ModelInfo, NamedValue, ProgramInfo, PropertyInfo, ReadFrom, Relations, SCHEMA, Step, ThreadInfo,
    Tool, Trace,
};

use crate::model::MemoryModel;
use crate::rt::{Place, State, Violation};

/// What a thread is called in a trace.
pub(crate) fn thread(number: usize) -> String {
    if number == 0 { "main".to_owned() } else { format!("t{number}") }
}

/// The text of a model that stands in a trace.
fn model(model: MemoryModel) -> ModelInfo {
    let name = match model {
        MemoryModel::Rc11 => "rc11",
        MemoryModel::Sc => "cat:sc",
        MemoryModel::Tso => "cat:tso",
    };
    let Some(model) = named(name) else { unreachable!("a built-in model") };
    ModelInfo::from(&model)
}

impl State {
    /// An execution that is wrong.
    pub(crate) fn trace(&self, violation: &Violation, shown: &Shown<'_>) -> Trace {
        let place = self.settings.place;
        let (steps, relations) = self.steps(shown);
        let line = violation.place.is_none().then_some(place.line() as usize);
        Trace {
            schema: SCHEMA.to_owned(),
            confirmed: false,
            unconfirmed: None,
            tool: Tool { name: "cyrano-loom".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            model: model(self.settings.model),
            program: ProgramInfo {
                file: place.to_string(),
                // Paths of places are relative to the workspace, where a test need not run.
                source: std::fs::read_to_string(place.file()).unwrap_or_default(),
                set: std::collections::BTreeMap::new(),
                test: None,
            },
            property: PropertyInfo {
                criterion: "assertions".to_owned(),
                condition: None,
                allowed: None,
                specification: None,
            },
            violation: None,
            relations,
            threads: (0..shown.tapes.len()).map(|number| self.thread_info(number, shown)).collect(),
            transactions: Vec::new(),
            history: Vec::new(),
            operations: Vec::new(),
            initial: Vec::new(),
            changes: Vec::new(),
            locals: Vec::new(),
            helpers: Vec::new(),
            shape: None,
            memory: memory(&steps),
            steps,
            explanation: Explanation {
                kind: "undefined".to_owned(),
                sentence: violation.text(),
                line,
                ..Explanation::default()
            },
        }
    }

    fn thread_info(&self, number: usize, shown: &Shown<'_>) -> ThreadInfo {
        let tape = &shown.tapes[number];
        let is_choice = |asked: &Asked| matches!(asked, Asked::For(Request::Choose(_)) | Asked::Bits(..));
        let chosen = (0..tape.len()).map(|at| tape.step(at)).filter(|step| is_choice(&step.asked));
        let place = self.fibers.get(number).and_then(|fiber| fiber.next_place);
        let end = match (tape.asked(), place) {
            (Asked::Ended(cyrano_graphs::native::End::Done) | Asked::Unborn, _) | (_, None) => End::Done,
            (_, Some(place)) => {
                let (line, column) = (place.line() as usize, place.column() as usize);
                End::At { line, column, text: text(place), label: None }
            }
        };
        let choices = chosen.map(|step| i128::from(step.value)).collect();
        ThreadInfo { name: thread(number), choices, commands: Vec::new(), end, registers: Vec::new() }
    }

    /// The accesses, and how they relate.
    fn steps(&self, shown: &Shown<'_>) -> (Vec<Step>, Relations) {
        let mut steps: Vec<Step> = Vec::new();
        // By place in the order of events, the number of the step that the event belongs to.
        let mut numbers: Vec<usize> = Vec::new();
        let mut before: Vec<Option<usize>> = Vec::new();
        for (line, (number, at)) in shown.order.iter().enumerate() {
            let source = shown.sources[line].map_or(0, |source| numbers[source]);
            let step = shown.tapes[*number].step(*at);
            match step.asked {
                Asked::For(Request::Load(loc, ..)) => {
                    let from = if source == 0 { ReadFrom::Initial } else { ReadFrom::Step { n: source } };
                    let mut new = self.step((*number, *at), loc.index(), &steps);
                    (new.read, new.source) = (Some(i128::from(step.value)), Some(from));
                    steps.push(new);
                    before.push(None);
                }
                Asked::For(Request::Store(loc, _, value)) => {
                    let mut new = self.step((*number, *at), loc.index(), &steps);
                    (new.written, new.kind) = (Some(i128::from(value)), "store".to_owned());
                    steps.push(new);
                    before.push(Some(source));
                }
                Asked::Half(_, _, value) => {
                    let own = steps.iter_mut().rfind(|step| step.thread == thread(*number));
                    if let Some(own) = own {
                        (own.written, own.kind) = (Some(i128::from(value)), "read-modify-write".to_owned());
                        numbers.push(own.n);
                        continue;
                    }
                }
                _ => {
                    numbers.push(0);
                    continue;
                }
            }
            numbers.push(steps.len());
        }
        let mut relations = Relations::of(&steps);
        relations.co = co(&steps, &before);
        (steps, relations)
    }

    fn step(&self, (number, at): (usize, usize), loc: usize, steps: &[Step]) -> Step {
        let name = thread(number);
        let po = steps.iter().filter(|step| step.thread == name).count() as u32;
        let place = self.fibers.get(number).and_then(|fiber| fiber.places.get(at)).copied();
        Step {
            n: steps.len() + 1,
            thread: name,
            po,
            kind: "load".to_owned(),
            location: Some(self.location_name(loc)),
            event: None,
            rollback: false,
            transaction: None,
            read: None,
            written: None,
            read_shown: None,
            written_shown: None,
            source: None,
            line: place.map_or(0, |place| place.line() as usize),
            used: None,
            column: place.map_or(0, |place| place.column() as usize),
            text: place.map(text).unwrap_or_default(),
            label: None,
            call: None,
            within: None,
            overtook: Vec::new(),
            words: Vec::new(),
        }
    }

    /// A location by its number and where it was made: two may be made at one place.
    fn location_name(&self, loc: usize) -> String {
        format!("{}#{loc}", self.location(loc))
    }
}

/// A place, and its line where the file can be read.
fn text(place: Place) -> String {
    let source = std::fs::read_to_string(place.file()).unwrap_or_default();
    let line = source.lines().nth(place.line() as usize - 1).map(str::trim).unwrap_or_default();
    format!("{}:{} {line}", place.file(), place.line()).trim_end().to_owned()
}

/// From each write to the next one to its location. Of a store the last write before it is told, of those that are earlier in the order; a read-modify-write stands right after what
/// it reads.
fn co(steps: &[Step], before: &[Option<usize>]) -> Vec<(usize, usize)> {
    let mut orders: std::collections::BTreeMap<&str, Vec<usize>> = std::collections::BTreeMap::new();
    for (step, before) in steps.iter().zip(before).filter(|(step, _)| step.written.is_some()) {
        let after = match (&step.source, before) {
            (Some(ReadFrom::Step { n }), _) => *n,
            (_, Some(before)) => *before,
            _ => 0,
        };
        let order = orders.entry(step.location.as_deref().unwrap_or_default()).or_default();
        let at = order.iter().position(|other| *other == after).map_or(0, |at| at + 1);
        order.insert(at, step.n);
    }
    let pairs = |order: &Vec<usize>| order.windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>();
    orders.values().flat_map(pairs).collect()
}

/// What is written last, of each location.
fn memory(steps: &[Step]) -> Vec<NamedValue> {
    let mut last = std::collections::BTreeMap::new();
    for step in steps.iter().filter(|step| step.written.is_some()) {
        last.insert(step.location.clone().unwrap_or_default(), step.written);
    }
    last.into_iter().map(|(name, value)| NamedValue { name, value, shown: None }).collect()
}
