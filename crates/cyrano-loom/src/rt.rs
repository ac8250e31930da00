//! What runs a program under test: its threads on coroutines, what it made, and what goes wrong.
//!
//! There is one program at a time on a thread of the machine, and its state is [there](with). Operations of the program under test come in through [`ask()`](ask::ask).
//!
//! **Invariants**
//! - What was done before in an execution with the same past is done first ([`State::repeated`]): so whoever does something new finds the accesses of all others there,
//!   and two accesses that are both repeated were compared when the later one was new.
//! - Nobody holds the state while the program under test runs.
//! - What an execution made is named by who made it and as the how-manieth, which is the same in every execution with the same past; addresses are not.
//! - An execution that is left before its end is forgotten, not unwound: no code of the program under test runs then. What it had allocated is not given back.

pub(crate) mod access;
pub(crate) mod ask;
pub(crate) mod fiber;
pub(crate) mod idle;
pub(crate) mod names;
pub(crate) mod record;
pub(crate) mod show;

use std::any::Any;
use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use corosensei::stack::DefaultStack;
use cyrano_graphs::native::{Asked, End, Scene};
use cyrano_ir::LocId;
use cyrano_trace::Trace;
use rustc_hash::FxHashMap;

use access::History;
use fiber::Fiber;
use names::Names;

pub(crate) type Place = &'static Location<'static>;

/// What went wrong.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) message: String,
    pub(crate) place: Option<String>,
    /// The execution, once it is known.
    pub(crate) trace: Option<Box<Trace>>,
}

impl Violation {
    /// What went wrong, and where.
    pub(crate) fn text(&self) -> String {
        let place = self.place.as_ref().map(|place| format!("\n  at {place}")).unwrap_or_default();
        format!("{}{place}", self.message)
    }
}

/// A location that this execution made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub(crate) history: History,
    /// What was written there last, in the order in which threads run.
    pub(crate) value: u64,
    pub(crate) place: Option<Place>,
}

/// What is not atomic.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    pub(crate) history: History,
    pub(crate) place: Place,
    /// How often it is lent for reading, and whether for writing.
    pub(crate) readers: usize,
    pub(crate) writer: bool,
}

/// What must be given back by the end of an execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owned {
    pub(crate) what: &'static str,
    pub(crate) place: Place,
    pub(crate) given_back: bool,
}

/// What all who search run, and what they have found.
pub(crate) struct Common {
    pub(crate) settings: Settings,
    pub(crate) main: Main,
    /// The numbers that names stand for, which are the same for all.
    pub(crate) names: Mutex<Names>,
    pub(crate) found: Mutex<Found>,
    /// Executions that were shown.
    pub(crate) shown: AtomicUsize,
}

impl Common {
    pub(crate) fn new(settings: Settings, main: Main) -> Self {
        let (names, found, shown) = (Mutex::default(), Mutex::default(), AtomicUsize::new(0));
        Self { settings, main, names, found, shown }
    }
}

/// The program under test.
pub(crate) type Main = Arc<dyn Fn() + Send + Sync>;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) violation: Option<Violation>,
    /// Whether somebody looks at a count that nobody kept.
    pub(crate) wants_counts: bool,
    /// A loop that was left early though it may not repeat itself.
    pub(crate) left: Option<String>,
}

/// How a program is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Who called for it.
    pub(crate) place: Place,
    /// Which executions there are.
    pub(crate) model: crate::model::MemoryModel,
    /// After how many executions the search ends.
    pub(crate) enough: Option<usize>,
    /// How many weak exchanges of a thread fail for nothing.
    pub(crate) failures: usize,
    /// Whether stacks of executions that are left are not used again.
    pub(crate) keep_stacks: bool,
    /// How often a thread goes through a loop that reads the same, and may do something else in it each time.
    pub(crate) rounds: usize,
    /// No thread does more steps.
    pub(crate) steps: usize,
    /// No more threads than these, with the first.
    pub(crate) threads: usize,
    /// Whether references are counted one by one, as somebody looks at the count.
    pub(crate) counts: bool,
}

/// The state of the program that runs here.
pub(crate) struct State {
    pub(crate) settings: Settings,
    pub(crate) scene: Scene,
    pub(crate) fibers: Vec<Fiber>,
    pub(crate) stacks: Vec<DefaultStack>,
    pub(crate) current: usize,
    pub(crate) names: Names,
    pub(crate) made: Vec<Made>,
    pub(crate) plain: Vec<Plain>,
    pub(crate) owned: Vec<Owned>,
    /// The references of the [`Arc`](crate::sync::Arc)s that this execution made.
    pub(crate) arcs: Vec<crate::sync::Counted>,
    /// By address of what it points to, the [`Arc`](crate::sync::Arc) that a raw pointer came from.
    pub(crate) raw: FxHashMap<usize, u32>,
    /// By address, memory that is to be given back, by its number among what is.
    pub(crate) memory: FxHashMap<usize, usize>,
    /// What is lazily there once for an execution, by the address of its static.
    pub(crate) lazy: FxHashMap<usize, Rc<dyn Any>>,
    pub(crate) main: Main,
    common: Arc<Common>,
    /// Whether the thread that ran last goes on: it stopped to be looked at.
    pub(crate) looks: bool,
    /// The number of this run from the start.
    pub(crate) epoch: u64,
    /// Whether all have done again what they did before in executions with the same past, so that threads may do what is new.
    pub(crate) repeated: bool,
    /// Whether a thread of the program runs, and not whoever looks after it.
    pub(crate) running: bool,
    /// Whether something is made that is there lazily, and need not be given back.
    pub(crate) making_lazy: usize,
    pub(crate) violation: Option<Violation>,
    /// Whether somebody looks at a count that nobody kept.
    pub(crate) wants_counts: bool,
    /// A panic of the thread that runs, with its place, on the way to where it is caught.
    pub(crate) panicked: Option<Violation>,
}

thread_local! {
    static STATE: RefCell<Option<Box<State>>> = const { RefCell::new(None) };
}

/// Has a look at the state. Panics outside of a model.
#[inline]
pub(crate) fn with<T>(look: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(|state| match state {
        Some(state) => look(state),
        None => panic!("what stands in for `std` here works inside of `cyrano_loom::model` only"),
    })
}

/// The same, where there may be no model.
pub(crate) fn try_with<T>(look: impl FnOnce(&mut State) -> T) -> Option<T> {
    STATE.try_with(|state| state.try_borrow_mut().ok()?.as_mut().map(|state| look(state))).ok().flatten()
}

/// Puts a state there, and gives back who was there.
pub(crate) fn replace(state: Option<Box<State>>) -> Option<Box<State>> {
    STATE.replace(state)
}

impl State {
    pub(crate) fn new(common: Arc<Common>) -> Self {
        Self {
            settings: common.settings,
            scene: Scene::default(),
            fibers: Vec::new(),
            stacks: Vec::new(),
            current: 0,
            names: Names::default(),
            made: Vec::new(),
            plain: Vec::new(),
            owned: Vec::new(),
            arcs: Vec::new(),
            raw: FxHashMap::default(),
            memory: FxHashMap::default(),
            lazy: FxHashMap::default(),
            main: Arc::clone(&common.main),
            common,
            looks: false,
            epoch: 0,
            repeated: false,
            running: false,
            making_lazy: 0,
            violation: None,
            wants_counts: false,
            panicked: None,
        }
    }

    /// The thread that runs, and how many events it was told of.
    pub(crate) fn now(&self) -> (usize, usize) {
        (self.current, self.scene.position(self.current))
    }

    /// Whether the thread that runs does what it has not done before: it was told of all that is on its tape, and has not said what it asks for then.
    pub(crate) fn is_fresh(&self) -> bool {
        let (thread, at) = self.now();
        let tape = &self.scene.tapes[thread];
        tape.len() == at && matches!(tape.asked(), Asked::Unknown)
    }

    /// Makes a location that holds this; who makes it does so here, without synchronising with anybody.
    pub(crate) fn make(&mut self, value: u64, place: Place) -> LocId {
        let (thread, _) = self.now();
        let fiber = &mut self.fibers[thread];
        let number = fiber.made;
        fiber.made += 1;
        let loc = self.names.location((thread, number), &self.common.names);
        let history = History::made(self.now());
        self.put(loc, Made { history, value, place: Some(place) });
        loc
    }

    /// A location that is there for a static from the beginning.
    pub(crate) fn make_static(&mut self, address: usize, place: Place) -> LocId {
        let loc = self.names.of_static(address, &self.common.names);
        if self.made.get(loc.index()).is_none_or(|made| made.place.is_none()) {
            self.put(loc, Made { history: History::default(), value: 0, place: Some(place) });
        }
        loc
    }

    /// The thread that one begins, after so many others.
    pub(crate) fn begun(&mut self, by: usize, number: usize) -> usize {
        self.names.thread((by, number), &self.common.names)
    }

    /// A loop is left early though it may not repeat itself: the search is not complete.
    pub(crate) fn leaves_loop(&mut self, place: Place) {
        let mut found = self.common.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.left.get_or_insert_with(|| place.to_string());
    }

    fn put(&mut self, loc: LocId, made: Made) {
        if self.made.len() <= loc.index() {
            self.made.resize(loc.index() + 1, Made::default());
        }
        self.scene.make(loc, made.value);
        self.made[loc.index()] = made;
    }

    /// The thread that runs has gone wrong; it is not to be run any further.
    pub(crate) fn go_wrong(&mut self, violation: Violation) {
        self.violation.get_or_insert(violation);
        let current = self.current;
        self.scene.tapes[current].ask(Asked::Ended(End::Wrong));
        self.fibers[current].wrong = true;
    }
}

/// Ends this execution, and the search: something is wrong.
pub(crate) fn fail(message: String, place: Place) -> ! {
    if std::thread::panicking() {
        // On the way to where the panic is caught; that is what went wrong first.
        panic!("{message} (at {place})");
    }
    with(|state| state.go_wrong(Violation { message, place: Some(place.to_string()), trace: None }));
    fiber::leave()
}
