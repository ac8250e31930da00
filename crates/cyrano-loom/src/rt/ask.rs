//! What a program under test asks for, and is told.

use cyrano_graphs::native::{Asked, End, MAX_THREADS, Request, Tape, Told, Update, Written};
use cyrano_ir::{Fence, LocId, Tags};

use crate::rt::access::{Access, Kind};
use crate::rt::{self, Place, State, Violation, fiber, idle};

/// Asks, and waits until it is told: what was read or chosen.
pub(crate) fn ask(request: Request, place: Place) -> u64 {
    loop {
        match rt::with(|state| state.tell(request, place)) {
            Some(value) => {
                if rt::with(|state| state.fibers[state.current].idle.is_known()) {
                    idle::scrub();
                }
                return value;
            }
            None => fiber::suspend(),
        }
    }
}

/// Whether a weak exchange fails for nothing here.
pub(crate) fn fails_for_nothing(place: Place) -> bool {
    let may = |state: &mut State| state.fibers[state.current].failures < state.settings.failures;
    if std::thread::panicking() || !rt::with(may) || ask(Request::Choose(2), place) == 0 {
        return false;
    }
    rt::with(|state| {
        let current = state.current;
        state.fibers[current].failures += 1;
    });
    true
}

impl State {
    /// Tells the thread that runs, if it can be told.
    fn tell(&mut self, request: Request, place: Place) -> Option<u64> {
        if std::thread::panicking() {
            return Some(self.while_panicking(&request));
        }
        if let Some(violation) = self.panicked.take() {
            // It was caught by the program under test; a model has no such thing.
            self.go_wrong(violation);
            return None;
        }
        let (thread, at) = self.now();
        let fiber = &mut self.fibers[thread];
        fiber.next_place = Some(place);
        if fiber.idle.is_probed() {
            return self.try_again(request, place);
        }
        if at >= self.settings.steps {
            let message = format!(
                "a thread does more than {at} steps; a loop that waits for others has to say so by `thread::yield_now` or \
                 `hint::spin_loop`, and `Builder::max_branches` allows more"
            );
            self.go_wrong(Violation { message, place: Some(place.to_string()), trace: None });
            return None;
        }
        if let Request::Spawn(other) = request {
            if other >= MAX_THREADS.min(self.settings.threads) {
                let message = format!("there are more than {} threads", MAX_THREADS.min(self.settings.threads));
                self.go_wrong(Violation { message, place: Some(place.to_string()), trace: None });
                return None;
            }
            while self.scene.tapes.len() <= other {
                self.scene.tapes.push(Tape::unborn());
            }
        }
        if !self.repeated && at < self.scene.tapes[thread].len() && self.scene.is_new(thread) {
            return None;
        }
        match self.scene.tell(thread, request) {
            Told::Wait => None,
            Told::Differs => {
                self.differs(&words(&request), Some(place));
                None
            }
            Told::Value(value, events) => {
                let fiber = &mut self.fibers[thread];
                fiber.places.resize(at + events, place);
                self.note(&request, (thread, at, events), value, place).then_some(value)
            }
        }
    }

    /// Notes an access; says whether it is in no race.
    fn note(
        &mut self,
        request: &Request,
        (thread, at, events): (usize, usize, usize),
        value: u64,
        place: Place,
    ) -> bool {
        let (loc, written) = match *request {
            Request::Load(loc, ..) => match self.scene.tapes[thread].step(at + events - 1).asked {
                Asked::Half(.., written) => (loc, Some(written)),
                _ => (loc, None),
            },
            Request::Store(loc, _, value) => (loc, Some(value)),
            _ => return true,
        };
        let kind = if written.is_some() { Kind::Store } else { Kind::Load };
        self.made[loc.index()].value = written.unwrap_or(value);
        self.access(loc, Access { thread, at, kind }, place)
    }

    /// Notes an access to a location; says whether it is in no race.
    pub(crate) fn access(&mut self, loc: LocId, access: Access, place: Place) -> bool {
        let fresh = self.is_fresh();
        let made = &mut self.made[loc.index()];
        if fresh && let Some(other) = made.history.race(access, &self.scene) {
            let at = made.place;
            self.race((other, access), at, place);
            return false;
        }
        made.history.note(access);
        true
    }

    pub(crate) fn race(&mut self, (other, access): (Access, Access), made: Option<Place>, place: Place) {
        let made = made.map(|made| format!(", which was made at {made}")).unwrap_or_default();
        let before = self.fibers[other.thread].places.get(other.at.saturating_sub(1));
        let before = before.map(|place| format!(", after {place}")).unwrap_or_default();
        let message = format!(
            "data race: {} by {} and {} by {}{before}, neither of which happens before the other{made}",
            access.kind.name(),
            self.name(access.thread),
            other.kind.name(),
            self.name(other.thread),
        );
        self.go_wrong(Violation { message, place: Some(place.to_string()), trace: None });
    }

    /// The thread that runs asks for something else than it did with the same past.
    pub(crate) fn differs(&mut self, what: &str, place: Option<Place>) {
        let (thread, at) = self.now();
        let tape = &self.scene.tapes[thread];
        let asked = if at < tape.len() { &tape.step(at).asked } else { tape.asked() };
        let before = match asked {
            Asked::For(request) => words(request),
            other => format!("was at {other:?}"),
        };
        let message = format!(
            "the code under test is not deterministic: with the same past, {} {what} here and {before} in another execution; time, random \
             numbers, hash maps with random keys, addresses, statics and threads of the system do that",
            self.name(thread)
        );
        self.go_wrong(Violation { message, place: place.map(ToString::to_string), trace: None });
    }

    /// What a thread is told that is on the way to where its panic is caught: nobody else runs any more, and it is alone with what was written last.
    fn while_panicking(&mut self, request: &Request) -> u64 {
        match *request {
            Request::Load(loc, _, update) => {
                let Some(made) = self.made.get_mut(loc.index()) else { return 0 };
                let value = made.value;
                if let Some(Written::Value(written)) = update.map(|update| (update.apply)(value, update.operands)) {
                    made.value = written;
                }
                value
            }
            Request::Store(loc, _, value) => {
                if let Some(made) = self.made.get_mut(loc.index()) {
                    made.value = value;
                }
                0
            }
            _ => 0,
        }
    }

    pub(crate) fn name(&self, thread: usize) -> String {
        match self.fibers.get(thread).and_then(|fiber| fiber.name.as_ref()) {
            Some(name) => format!("thread {thread} ({name})"),
            None if thread == 0 => "the main thread".to_owned(),
            None => format!("thread {thread}"),
        }
    }
}

/// Leaves this execution: what comes of it is in others.
pub(crate) fn drops(place: Place) {
    if !std::thread::panicking() {
        fiber::close(End::Drops, place);
    }
}

/// A request in words.
fn words(request: &Request) -> String {
    match request {
        Request::Load(loc, _, None) => format!("loads location {}", loc.index()),
        Request::Load(loc, ..) => format!("updates location {}", loc.index()),
        Request::Store(loc, _, value) => format!("stores {value} to location {}", loc.index()),
        Request::Fence(_) => "passes a fence".to_owned(),
        Request::Choose(_) => "chooses".to_owned(),
        Request::Spawn(_) => "begins a thread".to_owned(),
        Request::Join(_) => "waits for a thread's end".to_owned(),
    }
}

/// Loads.
pub(crate) fn load(loc: LocId, tags: Tags, place: Place) -> u64 {
    ask(Request::Load(loc, tags, None), place)
}

/// Stores.
pub(crate) fn store(loc: LocId, tags: Tags, value: u64, place: Place) {
    ask(Request::Store(loc, tags, value), place);
}

/// Reads, and writes what comes of it.
pub(crate) fn update(loc: LocId, tags: Tags, update: Update, place: Place) -> u64 {
    ask(Request::Load(loc, tags, Some(update)), place)
}

/// Passes a fence.
pub(crate) fn fence(fence: Fence, place: Place) {
    ask(Request::Fence(fence), place);
}
