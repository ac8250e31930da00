//! Histories as an orderly STM makes them, to see whether two specifications differ on those as well.

use cyrano_criteria::history::{Action, Event, Size};
use cyrano_criteria::spec::Specification;

/// What an orderly STM does. Each rule removes one reason why the paper's automata are not opacity.
#[derive(Clone, Copy, Default)]
pub struct Rules {
    /// A load is followed by its read-finish, or its transaction goes on to roll back or abort.
    pub loads_finish: bool,
    /// A read-finish follows a load.
    pub finishes_follow_loads: bool,
    /// After a rollback a transaction only rolls back and aborts (read-finishes without a load apart).
    pub rollback_ends: bool,
    /// A store that is rolled back was to a variable that the other unfinished transaction had not accessed before.
    pub rollbacks_uncontended: bool,
    /// No rollbacks.
    pub no_rollback: bool,
    /// No aborts.
    pub no_abort: bool,
}

/// A specification for two threads, restricted to orderly histories.
pub struct Orderly<S> {
    pub spec: S,
    pub rules: Rules,
}

/// What the rules need to know about a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Conduct {
    /// It is in a transaction.
    pub started: bool,
    loaded: bool,
    rolled_back: bool,
    accessed: u8,
    contended: u8,
}

impl<S: Specification> Specification for Orderly<S> {
    type State = (S::State, [Conduct; 2]);

    fn name(&self) -> &'static str {
        self.spec.name()
    }

    fn size(&self) -> Size {
        self.spec.size()
    }

    fn initial(&self) -> Vec<Self::State> {
        self.spec.initial().into_iter().map(|state| (state, Default::default())).collect()
    }

    fn step(&self, (state, conduct): &Self::State, event: Event) -> Vec<Self::State> {
        let mut conduct = *conduct;
        let [one, other] = &mut conduct;
        let (t, u) = if event.thread == 0 { (one, other) } else { (other, one) };
        if !self.rules.allow(t, event.action) {
            return Vec::new();
        }
        self.rules.record(t, u, event.action);
        self.spec.step(state, event).into_iter().map(|state| (state, conduct)).collect()
    }
}

impl Rules {
    fn allow(&self, t: &Conduct, action: Action) -> bool {
        let ends = matches!(action, Action::Rollback(_) | Action::Abort);
        let finishes = action == Action::ReadFinish;
        let rollback_allowed = |v: u8| !self.no_rollback && t.contended >> v & 1 == 0;
        (!self.loads_finish || !t.loaded || finishes || ends)
            && (!self.finishes_follow_loads || !finishes || t.loaded)
            && (!self.rollback_ends || !t.rolled_back || finishes || ends)
            && (!matches!(action, Action::Rollback(v) if !rollback_allowed(v)))
            && (!self.no_abort || action != Action::Abort)
    }

    fn record(&self, t: &mut Conduct, u: &Conduct, action: Action) {
        if matches!(action, Action::Commit | Action::Abort) {
            *t = Conduct::default();
            return;
        }
        t.started = true;
        t.loaded = matches!(action, Action::Load(_));
        t.rolled_back |= self.rollback_ends && matches!(action, Action::Rollback(_));
        if self.rollbacks_uncontended {
            t.accessed |= action.variable().map_or(0, |v| 1 << v);
            if let Action::Store(v) | Action::Cas(v) = action {
                t.contended |= u.accessed & (1 << v);
            }
        }
    }
}
