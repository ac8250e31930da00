//! All renamings that some exchanges of threads generate.
//!
//! **Invariant:** with two renamings there is the one that does both, with each the one that undoes it; and each maps the text of the program to itself, because
//! every [`Exchange`] does.

use std::collections::BTreeSet;

use super::Exchange;
use crate::expr::WORD;
use crate::ids::ThreadId;
use crate::program::Program;

/// A renaming of threads, of words, and of pointers into these.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Exchanges {
    threads: Vec<usize>,
    words: Vec<u32>,
    pointers: bool,
}

impl Exchanges {
    /// All that these generate but the one that changes nothing; none of them if there are more than `most`.
    pub fn generated(program: &Program, exchanges: &[Exchange], most: usize) -> Option<Vec<Self>> {
        let generators: Vec<Self> = exchanges.iter().map(|exchange| Self::of(program, exchange)).collect();
        let nothing = Self {
            threads: (0..program.threads.len()).collect(),
            words: (0u32..).take(program.locations.len()).collect(),
            pointers: exchanges.iter().any(|exchange| exchange.pointers),
        };
        let (mut all, mut todo) = (BTreeSet::from([nothing.clone()]), vec![nothing.clone()]);
        while let Some(one) = todo.pop() {
            for next in generators.iter().map(|generator| one.then(generator)) {
                if all.insert(next.clone()) {
                    todo.push(next);
                }
            }
            if all.len() > most + 1 {
                return None;
            }
        }
        all.remove(&nothing);
        Some(all.into_iter().collect())
    }

    fn of(program: &Program, exchange: &Exchange) -> Self {
        Self {
            threads: program.thread_ids().map(|thread| exchange.thread(thread).index()).collect(),
            words: (0u32..).take(program.locations.len()).map(|word| exchange.word(word)).collect(),
            pointers: exchange.pointers,
        }
    }

    /// This one, and then another.
    fn then(&self, other: &Self) -> Self {
        Self {
            threads: self.threads.iter().map(|to| other.threads[*to]).collect(),
            words: self.words.iter().map(|to| other.words[*to as usize]).collect(),
            pointers: self.pointers,
        }
    }

    /// Whose part a thread takes.
    pub fn thread(&self, thread: usize) -> usize {
        self.threads[thread]
    }

    /// Where a word goes.
    pub fn word(&self, word: u32) -> u32 {
        self.words[word as usize]
    }

    /// What becomes of a value.
    pub fn value(&self, value: i128) -> i128 {
        let word = u32::try_from(value.div_euclid(WORD)).ok().filter(|_| self.pointers);
        let to = word.and_then(|word| Some(i128::from(*self.words.get(word as usize)?) - i128::from(word)));
        to.map_or(value, |distance| value + distance * WORD)
    }
}

/// Exchanges of each thread with the next one that does the same, but for that of the setup thread, if the question is kept.
pub fn neighbours(program: &Program, keeps: impl Fn(&Exchange) -> bool) -> Vec<Exchange> {
    let threads: Vec<ThreadId> = program.thread_ids().filter(|thread| program.setup != Some(*thread)).collect();
    let neighbour = |(at, a): (usize, &ThreadId)| {
        let exchange = threads[at + 1..].iter().find_map(|b| Exchange::new(program, *a, *b));
        exchange.filter(|exchange| keeps(exchange))
    };
    threads.iter().enumerate().filter_map(neighbour).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three threads, each with an object of its own.
    fn program() -> Program {
        let objects = |name: &str| format!("location {name}: pointer = 0\nlocation \"gap {name}\": gap = 0\n");
        let thread = |name: &str, object: &str, at: u32| {
            format!("thread {name}\n  @0: store {object}, {at}\n  @1: store top, {at}\n  @2: halt\n")
        };
        let text = format!(
            "program test\nlocation \"gap#0\": gap = 0\nlocation top: pointer = 0\nlocation \"gap#1\": gap = 0\n{}{}{}\
             array memory = \"gap#0\" of 9\n{}{}{}",
            objects("a"),
            objects("b"),
            objects("c"),
            thread("p", "a", 24),
            thread("q", "b", 40),
            thread("r", "c", 56)
        );
        crate::text::parse(&text).expect("the program can be read")
    }

    #[test]
    fn neighbours_generate_all_permutations() {
        let program = program();
        let exchanges = neighbours(&program, |_| true);
        assert_eq!(exchanges.len(), 2);
        let all = Exchanges::generated(&program, &exchanges, 8).expect("few enough");
        assert_eq!(all.len(), 5);
        for one in &all {
            let moved = |thread: usize| (24 + 16 * thread as i128, 24 + 16 * one.thread(thread) as i128);
            assert!((0..3).map(moved).all(|(from, to)| one.value(from) == to && one.value(from + 1) == to + 1));
            assert_eq!((one.value(8), one.value(-1), one.value(1000)), (8, -1, 1000));
            let undone = |other: &Exchanges| (0..3).all(|thread| other.thread(one.thread(thread)) == thread);
            assert!(all.iter().any(undone), "what undoes {one:?} is there");
        }
        assert_eq!(Exchanges::generated(&program, &exchanges, 4), None);
    }
}
