//! Threads as coroutines: each runs until it asks for something that it is not told at once, and is gone on with when it can be.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Once, PoisonError};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use cyrano_graphs::native::{Asked, End, Machine, Scene};
use cyrano_ir::LocId;
use rustc_hash::FxHashMap;

use crate::rt::idle::{self, Idle};
use crate::rt::{self, Common, Place, State, Violation};

type Stacked = Coroutine<(), (), (), DefaultStack>;

/// The bytes of a stack. They are there when they are used, not before.
const STACK: usize = 1 << 20;

/// A thread.
#[derive(Default)]
pub(crate) struct Fiber {
    coroutine: Option<Stacked>,
    yielder: Option<*const Yielder<(), ()>>,
    body: Option<Box<dyn FnOnce()>>,
    /// Whether it is there in this run, has come to its end, or went wrong.
    there: bool,
    pub(crate) done: bool,
    pub(crate) wrong: bool,
    /// How many locations and threads it has made.
    pub(crate) made: usize,
    pub(crate) spawned: usize,
    /// By event, where in the source it was asked for; and what comes next.
    pub(crate) places: Vec<Place>,
    pub(crate) next_place: Option<Place>,
    /// What is known of it since it last said that it may wait for others.
    pub(crate) idle: Idle,
    /// How many weak exchanges have failed for nothing.
    pub(crate) failures: usize,
    /// Where its stack ends, and what is on it while somebody looks.
    base: usize,
    pub(crate) looks_at: Option<usize>,
    pub(crate) stack: Vec<usize>,
    /// What it holds for itself, by the address of the key.
    pub(crate) locals: FxHashMap<usize, Rc<dyn Any>>,
    pub(crate) locals_are_gone: bool,
    pub(crate) name: Option<String>,
    /// Where others leave word that it may go on.
    pub(crate) token: Option<LocId>,
}

impl State {
    /// Leaves a run as it is: none of its threads goes on.
    fn leave(&mut self) {
        for fiber in &mut self.fibers {
            match fiber.coroutine.take() {
                Some(coroutine) if coroutine.done() => self.stacks.push(coroutine.into_stack()),
                // As if the thread waited for ever.
                Some(coroutine) if self.settings.keep_stacks => std::mem::forget(coroutine),
                Some(mut coroutine) => {
                    // SAFETY: the coroutine is never resumed. What it has borrowed from its stack was lent to other coroutines of this run only (threads of
                    // the program under test), none of which is resumed either: all are reset here, before anything runs. Values on the stack are forgotten,
                    // as `mem::forget` would, which is safe.
                    unsafe { coroutine.force_reset() };
                    self.stacks.push(coroutine.into_stack());
                }
                None => {}
            }
            // What is left in there belongs to the program under test, whose code does not run now.
            std::mem::forget(std::mem::take(&mut fiber.locals));
            std::mem::forget(fiber.body.take());
        }
        self.fibers.clear();
        self.made.iter_mut().for_each(|made| made.place = None);
        self.plain.clear();
        self.owned.clear();
        self.arcs.clear();
        self.raw.clear();
        self.memory.clear();
        std::mem::forget(std::mem::take(&mut self.lazy));
        self.making_lazy = 0;
        self.running = false;
        self.looks = false;
        self.panicked = None;
    }

    /// The end of a search.
    pub(crate) fn forget(mut self: Box<Self>) {
        self.leave();
    }

    /// Leaves the run before, and begins anew.
    fn begin(&mut self) {
        self.leave();
        self.epoch += 1;
        self.current = 0;
        let main = Arc::clone(&self.main);
        self.put_fiber(0, None, Box::new(move || main()));
        let place = std::panic::Location::caller();
        self.fibers[0].token = Some(self.make(0, place));
    }

    /// A thread that is to run.
    pub(crate) fn put_fiber(&mut self, thread: usize, name: Option<String>, body: Box<dyn FnOnce()>) {
        if self.fibers.len() <= thread {
            self.fibers.resize_with(thread + 1, Fiber::default);
        }
        self.fibers[thread] = Fiber { there: true, body: Some(body), name, ..Fiber::default() };
    }

    /// A thread that can go on, with what it is.
    fn next(&mut self) -> Option<Stacked> {
        if self.violation.is_some() {
            return None;
        }
        if self.looks {
            self.looks = false;
            self.running = true;
            return self.fibers[self.current].coroutine.take();
        }
        let goes_on = |thread: usize| {
            let fiber = &self.fibers[thread];
            let is_new = fiber.body.is_some();
            fiber.there && !fiber.done && !fiber.wrong && (is_new || self.scene.may_tell(thread))
        };
        let mut threads = 0..self.fibers.len();
        let again = threads.clone().find(|thread| goes_on(*thread) && (self.repeated || !self.scene.is_new(*thread)));
        let thread = again.or_else(|| threads.find(|thread| goes_on(*thread)))?;
        self.repeated |= again.is_none();
        self.current = thread;
        self.running = true;
        match self.fibers[thread].body.take() {
            Some(body) => Some(self.coroutine(body)),
            None => self.fibers[thread].coroutine.take(),
        }
    }

    fn coroutine(&mut self, body: Box<dyn FnOnce()>) -> Stacked {
        let stack = self.stacks.pop().unwrap_or_else(|| {
            DefaultStack::new(STACK).unwrap_or_else(|error| panic!("there is no memory for a stack: {error}"))
        });
        self.fibers[self.current].base = corosensei::stack::Stack::base(&stack).get();
        Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            rt::with(|state| {
                let current = state.current;
                state.fibers[current].yielder = Some(yielder);
            });
            run(body);
        })
    }

    /// The thread that ran has stopped.
    fn back(&mut self, coroutine: Stacked) {
        self.running = false;
        let current = self.current;
        let fiber = &mut self.fibers[current];
        if let Some(from) = fiber.looks_at.take().filter(|_| !coroutine.done()) {
            // SAFETY: the words from there to the end of the stack are those of a thread that is suspended and that said where it stands.
            unsafe { idle::take_down(&mut fiber.stack, from, fiber.base) };
            self.looks = true;
        }
        if coroutine.done() {
            self.stacks.push(coroutine.into_stack());
        } else {
            self.fibers[current].coroutine = Some(coroutine);
        }
    }
}

/// Runs a thread to its end.
fn run(body: Box<dyn FnOnce()>) {
    let ended = catch_unwind(AssertUnwindSafe(|| {
        body();
        // What the thread holds for itself goes with it.
        let locals = rt::with(|state| {
            let current = state.current;
            state.fibers[current].locals_are_gone = true;
            std::mem::take(&mut state.fibers[current].locals)
        });
        drop(locals);
    }));
    rt::with(|state| {
        let current = state.current;
        let panicked = state.panicked.take();
        if let (Some(violation), _) | (None, Some(violation)) = (panicked, ended.err().map(from_payload)) {
            state.go_wrong(violation);
            return;
        }
        if state.fibers[current].idle.is_probed() {
            // What it does in a round does not depend on what it reads alone.
            let place = state.fibers[current].next_place;
            state.fibers[current].wrong = true;
            state.counts_rounds(place);
            return;
        }
        state.fibers[current].done = true;
        if !state.scene.end(current) {
            let place = state.fibers[current].next_place;
            state.differs("comes to its end", place);
        }
    });
}

fn from_payload(payload: Box<dyn Any + Send>) -> Violation {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Violation {
        message: format!("panicked: {}", text.unwrap_or_else(|| "with a value".to_owned())),
        place: None,
        trace: None,
    }
}

/// Lets others go on, until this thread is gone on with.
#[inline]
pub(crate) fn suspend() {
    let yielder = rt::with(|state| {
        let current = state.current;
        state.fibers[current].yielder
    });
    let Some(yielder) = yielder else { unreachable!("a thread that runs") };
    // SAFETY: the yielder was put there by the coroutine that runs now (`State::current` is the thread that was resumed last, and threads resume nobody), and lives
    // on its stack until the coroutine ends.
    unsafe { (*yielder).suspend(()) };
}

/// Lets others go on for ever.
pub(crate) fn leave() -> ! {
    loop {
        suspend();
    }
}

/// Stops for a moment, so that what is on the stack of this thread can be taken down.
#[inline(never)]
pub(crate) fn look() {
    let here = 0_usize;
    let from = std::ptr::from_ref(std::hint::black_box(&here)) as usize;
    rt::with(|state| {
        let current = state.current;
        state.fibers[current].looks_at = Some(from);
    });
    idle::scrub();
    suspend();
}

/// Leaves an execution: the thread ends like this.
pub(crate) fn close(end: End, place: Place) -> ! {
    rt::with(|state| {
        let current = state.current;
        state.fibers[current].next_place = Some(place);
        if !state.scene.close(current, end) {
            state.differs("waits", Some(place));
        }
    });
    leave()
}

/// Has panics of programs under test told where they are caught, and not printed twice.
pub(crate) fn hear_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let heard = rt::try_with(|state| {
                if state.running {
                    let payload = info.payload();
                    let text = payload.downcast_ref::<&str>().copied();
                    let text =
                        text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("with a value");
                    let place = info.location().map(ToString::to_string);
                    state.panicked.get_or_insert(Violation {
                        message: format!("panicked: {text}"),
                        place,
                        trace: None,
                    });
                }
                state.running
            });
            if heard != Some(true) {
                before(info);
            }
        }));
    });
}

/// The machine that a search has run threads.
pub(crate) struct Fibers {
    scene: Scene,
    common: Arc<Common>,
    /// The state of somebody else, on whose thread of the machine the search runs.
    before: Option<Box<State>>,
}

impl Fibers {
    pub(crate) fn new(common: &Arc<Common>) -> Self {
        let before = rt::replace(Some(Box::new(State::new(Arc::clone(common)))));
        Self { scene: Scene::default(), common: Arc::clone(common), before }
    }
}

impl Drop for Fibers {
    fn drop(&mut self) {
        let Some(state) = rt::replace(self.before.take()) else { return };
        let mut found = self.common.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.wants_counts |= state.wants_counts;
        if found.violation.is_none() {
            found.violation.clone_from(&state.violation);
        }
        drop(found);
        state.forget();
    }
}

impl Machine for Fibers {
    fn scene(&mut self) -> &mut Scene {
        &mut self.scene
    }

    fn run(&mut self, anew: bool) {
        rt::with(|state| {
            std::mem::swap(&mut state.scene, &mut self.scene);
            state.repeated = true;
            if anew || state.fibers.is_empty() {
                state.repeated = false;
                state.begin();
            }
        });
        while let Some(mut coroutine) = rt::with(State::next) {
            match coroutine.resume(()) {
                CoroutineResult::Yield(()) | CoroutineResult::Return(()) => {}
            }
            rt::with(|state| state.back(coroutine));
        }
        rt::with(|state| {
            // What goes wrong ends the search; the others say nothing more.
            if state.violation.is_some() {
                for tape in &mut state.scene.tapes {
                    if matches!(tape.asked(), Asked::Unknown) {
                        tape.ask(Asked::Ended(End::Left));
                    }
                }
            }
            std::mem::swap(&mut state.scene, &mut self.scene);
        });
    }

    fn ended(&mut self, ended: cyrano_graphs::native::Ended<'_>) -> std::ops::ControlFlow<()> {
        rt::with(|state| state.judge(ended))?;
        let Some(enough) = self.common.settings.enough else { return std::ops::ControlFlow::Continue(()) };
        if self.common.shown.fetch_add(1, Ordering::Relaxed) + 1 >= enough {
            return std::ops::ControlFlow::Break(());
        }
        std::ops::ControlFlow::Continue(())
    }
}
