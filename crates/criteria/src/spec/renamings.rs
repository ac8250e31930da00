//! The renamings of threads and variables of a size, as a group with its tables.
//!
//! **Invariant:** element 0 is the identity, and the tables hold for every element: two comparisons of the same size have equal groups,
//! so that a number means the same renaming in both automata.

use crate::history::{Action, Event, Size};

/// The most elements that a group may have here: one bit each in a set of renamings.
const MOST: usize = u64::BITS as usize;

/// The number of a renaming in its group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Renaming(pub(super) u8);

impl Renaming {
    pub(super) const IDENTITY: Self = Self(0);

    pub(super) fn index(self) -> usize {
        self.0.into()
    }
}

/// A set of renamings, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RenamingSet(pub(super) u64);

impl RenamingSet {
    pub(super) fn insert(&mut self, renaming: Renaming) {
        self.0 |= 1 << renaming.0;
    }

    pub(super) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// All of them, in order.
    pub fn iter(self) -> impl Iterator<Item = Renaming> {
        (0..MOST as u8).filter(move |number| self.0 >> number & 1 == 1).map(Renaming)
    }
}

/// All renamings of the threads and the variables of a size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Renamings {
    /// What each does: the new name of every thread, then of every variable.
    elements: Vec<(Vec<u8>, Vec<u8>)>,
    /// `products[a * n + b]` is first `b`, then `a`.
    products: Vec<Renaming>,
    inverses: Vec<Renaming>,
    /// `letters[g * l + e]` is the position of what letter `e` becomes.
    letters: Vec<u16>,
}

impl Renamings {
    /// The group, with the tables for an alphabet that is closed under it; none if it has too many elements.
    pub fn new(size: Size, alphabet: &[Event]) -> Option<Self> {
        let factorial = |n: u8| (1..=usize::from(n)).product::<usize>();
        if factorial(size.threads).saturating_mul(factorial(size.vars)) > MOST {
            return None;
        }
        let of_vars = permutations(size.vars);
        let pairs = permutations(size.threads)
            .into_iter()
            .flat_map(|threads| of_vars.iter().map(move |vars| (threads.clone(), vars.clone())).collect::<Vec<_>>());
        let elements: Vec<(Vec<u8>, Vec<u8>)> = pairs.collect();
        let number = |wanted: &(Vec<u8>, Vec<u8>)| {
            let at = elements.iter().position(|element| element == wanted);
            Renaming(at.expect("the product of two renamings is one") as u8)
        };
        let after = |a: &[u8], b: &[u8]| -> Vec<u8> { b.iter().map(|name| a[usize::from(*name)]).collect() };
        let product = |a: &(Vec<u8>, Vec<u8>), b: &(Vec<u8>, Vec<u8>)| number(&(after(&a.0, &b.0), after(&a.1, &b.1)));
        let products: Vec<Renaming> =
            elements.iter().flat_map(|a| elements.iter().map(|b| product(a, b)).collect::<Vec<_>>()).collect();
        let inverses = products
            .chunks(elements.len())
            .map(|row| row.iter().position(|product| *product == Renaming::IDENTITY))
            .map(|at| Renaming(at.expect("every renaming can be undone") as u8))
            .collect();
        let position = |event: Event| alphabet.iter().position(|letter| *letter == event);
        let letters: Option<Vec<u16>> = elements
            .iter()
            .flat_map(|element| {
                alphabet.iter().map(move |event| Some(position(event_renamed(*event, element))? as u16))
            })
            .collect();
        let letters = letters?;
        Some(Self { elements, products, inverses, letters })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there is nothing to rename.
    pub fn is_empty(&self) -> bool {
        self.elements.len() <= 1
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (Renaming, &[u8], &[u8])> {
        let numbered = self.elements.iter().enumerate();
        numbered.map(|(number, (threads, vars))| (Renaming(number as u8), &threads[..], &vars[..]))
    }

    /// First `b`, then `a`.
    pub(super) fn product(&self, a: Renaming, b: Renaming) -> Renaming {
        self.products[a.index() * self.elements.len() + b.index()]
    }

    pub(super) fn inverse(&self, of: Renaming) -> Renaming {
        self.inverses[of.index()]
    }

    /// What a letter becomes, by positions in the alphabet.
    pub(super) fn letter(&self, by: Renaming, letter: usize) -> usize {
        let letters = self.letters.len() / self.elements.len();
        self.letters[by.index() * letters + letter].into()
    }
}

fn event_renamed(event: Event, (threads, vars): &(Vec<u8>, Vec<u8>)) -> Event {
    let name = |v: u8| vars[usize::from(v)];
    let action = match event.action {
        Action::Load(v) => Action::Load(name(v)),
        Action::Store(v) => Action::Store(name(v)),
        Action::Cas(v) => Action::Cas(name(v)),
        Action::Rollback(v) => Action::Rollback(name(v)),
        other => other,
    };
    Event { thread: threads[usize::from(event.thread)], action }
}

/// All permutations of `0..n`, the identity first.
fn permutations(n: u8) -> Vec<Vec<u8>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let longer = |shorter: Vec<u8>| {
        (0..=shorter.len()).rev().map(move |at| [&shorter[..at], &[last], &shorter[at..]].concat()).collect::<Vec<_>>()
    };
    permutations(last).into_iter().flat_map(longer).collect()
}

/// The history with its threads and variables named in the order in which they first appear.
pub(super) fn named_in_order(history: &[Event], size: Size) -> Vec<Event> {
    let names = |seen: &mut dyn Iterator<Item = u8>, count: u8| -> Vec<u8> {
        let mut order: Vec<u8> = Vec::new();
        seen.chain(0..count).for_each(|name| {
            if !order.contains(&name) {
                order.push(name);
            }
        });
        (0..count).map(|name| order.iter().position(|other| *other == name).unwrap_or(0) as u8).collect()
    };
    let threads = names(&mut history.iter().map(|event| event.thread), size.threads);
    let vars = names(&mut history.iter().filter_map(|event| event.action.variable()), size.vars);
    let by = (threads, vars);
    history.iter().map(|event| event_renamed(*event, &by)).collect()
}
