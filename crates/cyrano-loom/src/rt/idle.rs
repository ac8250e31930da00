//! Threads that say that they may wait for others: when one has done the same twice and will do so for ever, unless what it reads changes.
//!
//! A thread that says so twice, and in between reads the same values of the same locations and does nothing else, may be going around in a loop. That it is in the same state
//! again is not told by what it reads: it may count how often it tries, and give up. So three things are asked, in this order.
//! - Is the stack the same, word by word, with the registers that are saved on it? Then what it does next is what it did before, as far as its stack says.
//! - Does it do the same for some more rounds, told the same ([`Idle::is_probed`])? What is counted elsewhere, in a box for example, is not on the stack.
//! - If either is not so, it goes on, up to [`rounds`](crate::rt::Settings::rounds) such rounds in a row; a thread that goes on for longer is left there, which is no
//!   violation, and the search is then said not to be complete.
//!
//! **What is on the stack** below what lives there is what earlier calls have left. It may differ from round to round, and would be part of the frames of the functions here: so it is
//! written over ([`scrub`]) before it is looked at, and where a thread asks for something.

use cyrano_graphs::native::{Asked, End, Request};

use crate::rt::{self, Place, State, fiber};

/// Reads of a thread that are tried, to see if it still does the same.
const TRIED: usize = 64;

/// What is known of a thread since it last said that it may wait for others.
#[derive(Default)]
pub(crate) struct Idle {
    /// After how many events it said so, and what was on its stack then.
    at: Option<usize>,
    stack: Vec<usize>,
    /// Rounds in a row in which it read the same.
    rounds: usize,
    /// The round that is tried again.
    probe: Option<Probe>,
}

#[derive(Clone, Copy)]
struct Probe {
    /// The reads of a round, which were last.
    reads: usize,
    /// Which of them comes next, and how many were tried.
    next: usize,
    tried: usize,
}

impl Idle {
    /// Whether a thread is told again what it was told in its last round.
    pub(crate) fn is_probed(&self) -> bool {
        self.probe.is_some()
    }

    /// Whether it has said so.
    pub(crate) fn is_known(&self) -> bool {
        self.at.is_some()
    }
}

/// What comes of it that a thread says so.
enum Then {
    GoesOn,
    Ends(End),
}

/// A thread says that it waits for others, perhaps.
pub(crate) fn idle(place: Place) {
    if std::thread::panicking() {
        return;
    }
    if !rt::with(|state| state.fibers[state.current].idle.is_probed()) {
        fiber::look();
    }
    match rt::with(|state| state.idles(place)) {
        Then::GoesOn => {}
        Then::Ends(end) => fiber::close(end, place),
    }
}

impl State {
    fn idles(&mut self, place: Place) -> Then {
        let (thread, at) = self.now();
        if let Some(probe) = self.fibers[thread].idle.probe {
            return self.goes_round(probe, place);
        }
        let reads = self.repeats();
        let fiber = &mut self.fibers[thread];
        let same = fiber.stack == fiber.idle.stack;
        std::mem::swap(&mut fiber.stack, &mut fiber.idle.stack);
        fiber.idle.at = Some(at);
        let Some(reads) = reads else {
            fiber.idle.rounds = 0;
            return Then::GoesOn;
        };
        fiber.idle.rounds += 1;
        let rounds = fiber.idle.rounds;
        let tape = &self.scene.tapes[thread];
        match tape.asked() {
            _ if at < tape.len() => Then::GoesOn,
            // What was found before holds, whatever the stack looks like now.
            Asked::Ended(end @ (End::Spins(_) | End::Drops)) => Then::Ends(*end),
            Asked::Unknown if same => {
                fiber.idle.probe = Some(Probe { reads, next: 0, tried: 0 });
                Then::GoesOn
            }
            Asked::Unknown if rounds > self.settings.rounds => {
                self.leaves_loop(place);
                Then::Ends(End::Drops)
            }
            _ => Then::GoesOn,
        }
    }

    /// A thread that is tried has come around.
    fn goes_round(&mut self, probe: Probe, place: Place) -> Then {
        let thread = self.current;
        if probe.next != probe.reads {
            self.leaves_loop(place);
            return Then::Ends(End::Drops);
        }
        if probe.tried >= TRIED.min(self.settings.steps) {
            return Then::Ends(End::Spins(probe.reads as u32));
        }
        self.fibers[thread].idle.probe = Some(Probe { next: 0, ..probe });
        Then::GoesOn
    }

    /// A thread that is tried asks: it is told what it was told in the round before, if it asks for the same. If not, it is left here.
    pub(crate) fn try_again(&mut self, request: Request, place: Place) -> Option<u64> {
        let (thread, at) = self.now();
        let probe = self.fibers[thread].idle.probe?;
        if probe.next < probe.reads {
            let step = self.scene.tapes[thread].step(at - probe.reads + probe.next);
            if matches!(step.asked, Asked::For(before) if before.is_like(&request)) {
                let value = step.value;
                self.fibers[thread].idle.probe = Some(Probe { next: probe.next + 1, tried: probe.tried + 1, ..probe });
                return Some(value);
            }
        }
        self.counts_rounds(Some(place));
        None
    }

    /// The thread that runs, told the same, does not do the same: it is left where it is.
    pub(crate) fn counts_rounds(&mut self, place: Option<Place>) {
        let thread = self.current;
        self.fibers[thread].next_place = place;
        self.leaves_loop(place.unwrap_or(std::panic::Location::caller()));
        self.scene.close(thread, End::Drops);
    }

    /// How many reads the thread that runs has made twice, with the same values, and nothing else.
    fn repeats(&mut self) -> Option<usize> {
        let (thread, at) = self.now();
        let last = self.fibers[thread].idle.at?;
        let reads = at - last;
        if reads == 0 || reads > last {
            return None;
        }
        let tape = &self.scene.tapes[thread];
        // A weak exchange may fail for nothing, and that it does not is a choice.
        let is_read = |at: usize| matches!(tape.step(at).asked, Asked::For(Request::Load(..) | Request::Choose(_)));
        let same = |at: usize| {
            let (one, other) = (tape.step(at), tape.step(at - reads));
            match (&one.asked, &other.asked) {
                (Asked::For(request), Asked::For(before)) => request.is_like(before) && one.value == other.value,
                _ => false,
            }
        };
        let repeats = (last - reads..at).all(is_read) && (last..at).all(same);
        repeats.then_some(reads)
    }
}

/// Bytes below the frame of a thread that stops: there its registers are saved.
const BELOW: usize = 768;

/// Writes over what earlier calls have left on the stack.
#[inline(never)]
pub(crate) fn scrub() {
    let mut room = [0_u64; 256];
    std::hint::black_box(&mut room);
}

/// Takes down the words of a stack from a little below here to its end.
///
/// # Safety
///
/// These are addresses of one stack that is there, whose thread does not run, and more than [`BELOW`] bytes of it are left.
pub(crate) unsafe fn take_down(stack: &mut Vec<usize>, from: usize, base: usize) {
    const WORD: usize = size_of::<usize>();
    stack.clear();
    let first = (from - BELOW) & !(WORD - 1);
    for address in (first..base).step_by(WORD) {
        // SAFETY: the memory is there, as the caller says; nobody writes to it meanwhile, and whatever it holds is a number. It is read as a debugger would.
        stack.push(unsafe { std::ptr::read_volatile(std::ptr::with_exposed_provenance::<usize>(address)) });
    }
}
