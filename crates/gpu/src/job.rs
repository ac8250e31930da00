//! What a launch works with, and what it counts: the same as in `kernels/search.cu`.

use cyrano_explore::Field;

/// How many threads a program may have.
pub const MOST_THREADS: usize = 64;
/// How many parts may have timestamps.
pub(crate) const MOST_TIMED: usize = 64;
/// The most words of a state.
pub const MOST_WORDS: usize = 16;

/// States are judged by what an invariant sees.
pub(crate) const OPTION_MOMENTS: u32 = 1;
/// States with all threads done are looked at.
pub(crate) const OPTION_LOOK_DONE: u32 = 2;

/// A number that the slots of the table can hold.
pub(crate) const MOST_STATES: u64 = (1 << 40) - 2;
/// Slots of a bucket.
pub(crate) const BUCKET: u64 = 16;

/// Bits of one part.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Bits {
    word: u32,
    shift: u32,
    low: u32,
}

impl From<Field> for Bits {
    fn from(Field { word, shift, low }: Field) -> Self {
        Self { word, shift, low }
    }
}

/// What a launch counts, and whether it can go on.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counters {
    pub states: u64,
    pub transitions: u64,
    pub again: u64,
    pub asks: u64,
    pub looks: u64,
    pub ended: u64,
    pub full: u64,
    pub stalled: u64,
    pub found: u64,
    pub bad: u64,
}

impl Counters {
    /// How many there are.
    pub const LEN: usize = 10;

    pub fn to_words(self) -> [u64; Self::LEN] {
        let Self { states, transitions, again, asks, looks, ended, full, stalled, found, bad } = self;
        [states, transitions, again, asks, looks, ended, full, stalled, found, bad]
    }

    pub fn from_words(words: [u64; Self::LEN]) -> Self {
        let [states, transitions, again, asks, looks, ended, full, stalled, found, bad] = words;
        Self { states, transitions, again, asks, looks, ended, full, stalled, found, bad }
    }
}

/// What a launch works with. Addresses are the device's.
#[repr(C)]
#[derive(Clone)]
pub struct Job {
    pub(crate) arena: u64,
    pub(crate) slots: u64,
    pub(crate) counters: u64,
    pub(crate) memo: u64,
    pub(crate) changes: u64,
    pub(crate) facts: u64,
    pub(crate) times: u64,
    pub(crate) images: u64,
    pub(crate) renamings: u64,
    pub(crate) order: u64,
    pub(crate) all: u64,
    pub(crate) places: u64,
    pub(crate) list: u64,
    pub(crate) again: u64,
    pub(crate) asks: u64,
    pub(crate) looks: u64,
    pub(crate) filter: u64,
    pub(crate) target: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) moved: u64,
    pub(crate) capacity: u64,
    pub(crate) buckets: u64,
    pub(crate) memo_mask: u64,
    pub(crate) facts_mask: u64,
    pub(crate) filter_mask: u64,
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) history: [u64; MOST_WORDS],
    pub(crate) seen: [u64; MOST_WORDS],
    pub(crate) words: u32,
    pub(crate) words_to: u32,
    pub(crate) parts: u32,
    pub(crate) threads: u32,
    pub(crate) groups: u32,
    pub(crate) options: u32,
    pub(crate) patience: u32,
    pub(crate) asks_room: u32,
    pub(crate) timed: u32,
    pub(crate) renamed: u32,
    pub(crate) criterion: u32,
    pub(crate) unused: u32,
    pub(crate) timed_part: [u32; MOST_TIMED],
    pub(crate) timed_base: [u32; MOST_TIMED],
    pub(crate) timed_count: [u32; MOST_TIMED],
    pub(crate) place_base: [u32; MOST_THREADS],
    pub(crate) place_count: [u32; MOST_THREADS],
    pub(crate) group_end: [u32; MOST_THREADS],
    pub(crate) field: [Bits; MOST_THREADS],
    pub(crate) member: [Bits; MOST_THREADS],
}

impl Default for Job {
    fn default() -> Self {
        Self {
            arena: 0,
            slots: 0,
            counters: 0,
            memo: 0,
            changes: 0,
            facts: 0,
            times: 0,
            images: 0,
            renamings: 0,
            order: 0,
            all: 0,
            places: 0,
            list: 0,
            again: 0,
            asks: 0,
            looks: 0,
            filter: 0,
            target: 0,
            from: 0,
            to: 0,
            moved: 0,
            capacity: 0,
            buckets: 0,
            memo_mask: 0,
            facts_mask: 0,
            filter_mask: 0,
            first: 0,
            count: 0,
            history: [0; MOST_WORDS],
            seen: [0; MOST_WORDS],
            words: 0,
            words_to: 0,
            parts: 0,
            threads: 0,
            groups: 0,
            options: 0,
            patience: 0,
            asks_room: 0,
            timed: 0,
            renamed: 0,
            criterion: 0,
            unused: 0,
            timed_part: [0; MOST_TIMED],
            timed_base: [0; MOST_TIMED],
            timed_count: [0; MOST_TIMED],
            place_base: [0; MOST_THREADS],
            place_count: [0; MOST_THREADS],
            group_end: [0; MOST_THREADS],
            field: [Bits::default(); MOST_THREADS],
            member: [Bits::default(); MOST_THREADS],
        }
    }
}
