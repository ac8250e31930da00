//! Classes of names that hold the same kind of thing, by unification, for `kinds`.
//!
//! **Invariant:** what one member of a class may hold, every member may hold: whatever is copied or compared is in one class, and its
//! facts are those of all members together. So a kind that no class spoils is only ever copied and compared for equality.

/// What can be renamed. Everything else is a plain number, which no renaming changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Transaction,
    Location,
    Value,
    Reference,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Transaction, Self::Location, Self::Value, Self::Reference];
}

/// Some kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Kinds([bool; 4]);

impl Kinds {
    pub(crate) fn has(self, kind: Kind) -> bool {
        self.0[kind as usize]
    }

    pub(crate) fn add(&mut self, kind: Kind) {
        self.0[kind as usize] = true;
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.has(*kind))
    }
}

/// A class, by one of its members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Class(usize);

/// What is known about a class.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    kinds: Kinds,
    /// The records that its references refer to; each kind of records counts its own.
    record: Option<usize>,
    /// Its members are computed, or something is computed from them.
    number: bool,
    /// Its members are computed.
    computed: bool,
    /// Its references are to records of several sorts.
    mixed: bool,
    zero: bool,
    positive: bool,
}

impl Facts {
    fn join(self, other: Self) -> Self {
        let mut kinds = self.kinds;
        other.kinds.iter().for_each(|kind| kinds.add(kind));
        let mixed = matches!((self.record, other.record), (Some(one), Some(two)) if one != two);
        Self {
            kinds,
            record: self.record.or(other.record),
            number: self.number || other.number || mixed,
            computed: self.computed || other.computed,
            mixed: self.mixed || other.mixed || mixed,
            zero: self.zero || other.zero,
            positive: self.positive || other.positive,
        }
    }

    /// The kinds that may not be renamed because of this class. Renamings change no negative number, and neither 0 as a transaction (T0)
    /// nor 0 as a value (what all locations hold at the beginning).
    fn spoiled(self) -> Kinds {
        let several = self.kinds.iter().count() > 1;
        let mut spoiled = Kinds::default();
        for kind in self.kinds.iter() {
            let moved = self.positive || self.zero && matches!(kind, Kind::Location | Kind::Reference);
            if several || self.number || moved {
                spoiled.add(kind);
            }
        }
        spoiled
    }
}

/// All classes.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    parents: Vec<usize>,
    facts: Vec<Facts>,
}

impl Classes {
    fn with(&mut self, facts: Facts) -> Class {
        self.parents.push(self.parents.len());
        self.facts.push(facts);
        Class(self.parents.len() - 1)
    }

    /// A class of something that nothing is known about.
    pub(crate) fn fresh(&mut self) -> Class {
        self.with(Facts::default())
    }

    /// A class of something computed.
    pub(crate) fn number(&mut self) -> Class {
        self.with(Facts { number: true, computed: true, ..Facts::default() })
    }

    /// A class with one constant.
    pub(crate) fn constant(&mut self, value: i128) -> Class {
        self.with(Facts { zero: value == 0, positive: value > 0, ..Facts::default() })
    }

    /// A class of a kind.
    pub(crate) fn of(&mut self, kind: Kind) -> Class {
        let mut kinds = Kinds::default();
        kinds.add(kind);
        self.with(Facts { kinds, ..Facts::default() })
    }

    /// A class of references to records of one sort.
    pub(crate) fn reference(&mut self, record: usize) -> Class {
        let class = self.of(Kind::Reference);
        self.facts[class.0].record = Some(record);
        class
    }

    fn root(&mut self, class: Class) -> usize {
        let mut at = class.0;
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    /// Makes two classes one.
    pub(crate) fn unify(&mut self, one: Class, two: Class) {
        let (one, two) = (self.root(one), self.root(two));
        if one != two {
            self.facts[two] = self.facts[one].join(self.facts[two]);
            self.parents[one] = two;
        }
    }

    /// Notes that something is computed from a class, or that it is used as a truth value, or that its numbers matter otherwise.
    pub(crate) fn use_as_number(&mut self, class: Class) {
        let root = self.root(class);
        self.facts[root].number = true;
    }

    /// The kinds of a class.
    pub(crate) fn kinds(&mut self, class: Class) -> Kinds {
        let root = self.root(class);
        self.facts[root].kinds
    }

    /// What a class of references may hold that is no reference to its records, in words.
    pub(crate) fn no_reference(&mut self, class: Class) -> Option<&'static str> {
        let root = self.root(class);
        let Facts { kinds, computed, mixed, zero, positive, .. } = self.facts[root];
        let other = kinds.iter().find_map(|kind| match kind {
            Kind::Transaction => Some("the number of a transaction"),
            Kind::Location => Some("a location"),
            Kind::Value => Some("a value of a client"),
            Kind::Reference => None,
        });
        let or = |when: bool, what: &'static str| when.then_some(what);
        other
            .or(or(mixed, "a reference to another kind of record"))
            .or(or(computed, "a computed number"))
            .or(or(zero, "the number 0"))
            .or(or(positive, "a positive number"))
    }

    /// The kinds that some class spoils.
    pub(crate) fn spoiled(&self) -> Kinds {
        let mut spoiled = Kinds::default();
        for (index, facts) in self.facts.iter().enumerate() {
            if self.parents[index] == index {
                facts.spoiled().iter().for_each(|kind| spoiled.add(kind));
            }
        }
        spoiled
    }
}
