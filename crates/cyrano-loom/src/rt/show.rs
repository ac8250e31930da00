//! What an execution comes to, and how one that is wrong is shown.

use std::fmt::Write;
use std::ops::ControlFlow;

use cyrano_graphs::native::{Asked, Ended, Request, Shown, Waiting};
use cyrano_ir::Tags;

use crate::rt::{State, Violation};

impl State {
    /// Judges an execution.
    pub(crate) fn judge(&mut self, ended: Ended<'_>) -> ControlFlow<()> {
        match ended {
            Ended::Left => return ControlFlow::Continue(()),
            Ended::Done(shown) => {
                let Some(lost) = self.owned.iter().find(|owned| !owned.given_back) else {
                    return ControlFlow::Continue(());
                };
                let message = format!("leak: {} was not given back at the end", lost.what);
                let place = Some(lost.place.to_string());
                self.tell_violation(Violation { message, place, trace: None }, &shown());
            }
            Ended::Stuck(waiting, shown) => {
                let text: Vec<String> = waiting.iter().map(|thread| self.waits(thread)).collect();
                let spins = waiting.iter().any(|waiting| waiting.spins);
                let kind = if spins { "livelock" } else { "deadlock" };
                let message = format!("{kind}: {}", text.join("; "));
                self.tell_violation(Violation { message, place: None, trace: None }, shown);
            }
            Ended::Wrong(shown) => {
                if let Some(violation) = self.violation.take() {
                    self.tell_violation(violation, shown);
                }
            }
        }
        ControlFlow::Break(())
    }

    /// This went wrong, and that is how.
    fn tell_violation(&mut self, violation: Violation, shown: &Shown<'_>) {
        let trace = Some(Box::new(self.trace(&violation, shown)));
        let message = format!("{}\n{}", violation.text(), self.execution(shown));
        self.violation = Some(Violation { message, place: None, trace });
    }

    fn waits(&self, waiting: &Waiting) -> String {
        let place = self.fibers.get(waiting.thread).and_then(|fiber| fiber.next_place);
        let place = place.map(|place| format!(" at {place}")).unwrap_or_default();
        let what = match waiting.joins {
            Some(thread) => format!("waits for the end of {}", self.name(thread)),
            None if waiting.spins => "reads the same for ever".to_owned(),
            None => "waits for ever".to_owned(),
        };
        format!("{} {what}{place}", self.name(waiting.thread))
    }

    /// An execution, an event a line, each thread in a column of its own.
    fn execution(&self, shown: &Shown<'_>) -> String {
        let mut text =
            "The execution, thread by thread from left to right; `<- n` is the line whose store a read sees:\n"
                .to_owned();
        for (line, (thread, at)) in shown.order.iter().enumerate() {
            let step = shown.tapes[*thread].step(*at);
            let from = match shown.sources[line] {
                Some(from) => format!(" <- {from}"),
                None => " <- what it was made with".to_owned(),
            };
            let what = match step.asked {
                Asked::For(Request::Load(loc, tags, None)) => {
                    format!("load {} = {}{}{from}", self.location(loc.index()), step.value, order(tags))
                }
                Asked::For(Request::Load(loc, tags, Some(_))) => {
                    format!("update {}: reads {}{}{from}", self.location(loc.index()), step.value, order(tags))
                }
                Asked::For(Request::Store(loc, tags, value)) => {
                    format!("store {} = {value}{}", self.location(loc.index()), order(tags))
                }
                Asked::Half(loc, _, value) => format!("  ... writes {} = {value}", self.location(loc.index())),
                Asked::For(Request::Fence(fence)) => format!("fence{}", order(fence.tags())),
                Asked::For(Request::Choose(_)) | Asked::Bits(..) => format!("chooses {}", step.value),
                Asked::For(Request::Spawn(other)) => format!("begins {}", self.name(other)),
                Asked::For(Request::Join(other)) => format!("sees the end of {}", self.name(other)),
                Asked::Unknown | Asked::Ended(_) | Asked::Unborn => continue,
            };
            let place = self.fibers.get(*thread).and_then(|fiber| fiber.places.get(*at));
            let place = place.map(|place| format!("   {place}")).unwrap_or_default();
            let lane = "| ".repeat(*thread);
            let _ = writeln!(text, "{line:>4}  {lane}{thread}: {what}{place}");
        }
        text
    }

    pub(crate) fn location(&self, loc: usize) -> String {
        match self.made.get(loc).and_then(|made| made.place) {
            Some(place) => format!("[{}:{}]", place.file().rsplit('/').next().unwrap_or_default(), place.line()),
            None => format!("[{loc}]"),
        }
    }
}

fn order(tags: Tags) -> &'static str {
    match (tags.contains(Tags::SEQ_CST), tags.contains(Tags::ACQUIRE), tags.contains(Tags::RELEASE)) {
        (true, ..) => " (SeqCst)",
        (_, true, true) => " (AcqRel)",
        (_, true, false) => " (Acquire)",
        (_, false, true) => " (Release)",
        _ => " (Relaxed)",
    }
}
