//! Who accessed something, and whether two accesses race.
//!
//! An access stands after so many events of its thread. It happens before what another thread does now if the next event of its thread does: whoever synchronises with the
//! thread after the access does so by that event or a later one. An atomic access is itself an event, and stands at it.
//!
//! Threads run in an order that happens-before is part of, so that it is enough to keep the last access of each thread and kind: if one before it races with what comes
//! now, so does the last, or an access before was in a race. Of a write that is not atomic all others are known to happen before it, and are forgotten.

use cyrano_graphs::native::Scene;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Read,
    Write,
    /// Atomic ones.
    Load,
    Store,
}

impl Kind {
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Store)
    }

    fn is_plain(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    fn races_with(self, other: Self) -> bool {
        (self.is_plain() || other.is_plain()) && (self.writes() || other.writes())
    }

    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "a read",
            Self::Write => "a write",
            Self::Load => "an atomic load",
            Self::Store => "an atomic store",
        }
    }
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) thread: usize,
    /// The first event of the thread that is not before it.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
}

/// The last accesses of each thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct History(Vec<Access>);

impl History {
    /// Made by a thread at this point.
    pub(crate) fn made((thread, at): (usize, usize)) -> Self {
        Self(vec![Access { thread, at, kind: Kind::Write }])
    }

    /// An access that was made and races with this one, which is made now by a thread that runs for the first time.
    pub(crate) fn race(&self, access: Access, scene: &Scene) -> Option<Access> {
        let races = |other: &&Access| {
            other.thread != access.thread
                && other.kind.races_with(access.kind)
                && !scene.happens_before((other.thread, other.at), access.thread)
        };
        self.0.iter().find(races).copied()
    }

    /// Notes an access.
    pub(crate) fn note(&mut self, access: Access) {
        if access.kind == Kind::Write {
            self.0.clear();
        }
        let same = |other: &&mut Access| other.thread == access.thread && other.kind == access.kind;
        match self.0.iter_mut().find(same) {
            Some(last) => *last = access,
            None => self.0.push(access),
        }
    }
}
