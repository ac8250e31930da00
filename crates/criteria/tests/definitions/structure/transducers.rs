//! The decision by automata against the definitions, on random languages.

use cyrano_criteria::criterion::Structure;
use cyrano_criteria::history::{Action, Event, Size};
use cyrano_criteria::structure::images::{exchanges, images};
use cyrano_criteria::structure::language::{Language, Letters, Nfa};
use cyrano_criteria::structure::transform::flaw;
use std::collections::BTreeSet;

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// A small automaton over a few events, some steps silent.
fn random(dice: &mut Dice, letters: &Letters) -> Nfa {
    let states = 2 + dice.below(4);
    let sensible = |event: &Event| event.action != Action::Cas(1);
    let events: Vec<Event> = letters.events().iter().copied().filter(sensible).collect();
    let mut edges = vec![Vec::new(); states as usize];
    for own in &mut edges {
        for _ in 0..1 + dice.below(7) {
            let event = events[dice.below(events.len() as u64) as usize];
            let letter = (dice.below(8) > 0).then(|| letters.number(event));
            own.push((letter, dice.below(states) as u32));
        }
    }
    Nfa { initial: vec![0], edges }
}

#[test]
fn automata_find_what_the_definitions_ask_for() {
    let properties = [
        Structure::TransactionProjection,
        Structure::Completion,
        Structure::ThreadSymmetry,
        Structure::SequentialRenaming,
        Structure::VariableProjection,
        Structure::SettledProjection,
    ];
    let mut dice = Dice(1);
    let mut seen = [[0; 2]; 6];
    for round in 0..120 {
        let size = if round % 2 == 0 { Size { threads: 2, vars: 2 } } else { Size { threads: 3, vars: 1 } };
        let letters = Letters::new(size);
        let nfa = random(&mut dice, &letters);
        let language = Language::new(&nfa, &letters, false, |_| true).expect("small");
        let histories: Vec<_> = language.marked_histories(5).into_iter().map(|(history, _)| history).collect();
        if histories.len() > 2000 {
            continue;
        }
        for (number, property) in properties.into_iter().enumerate() {
            let found = flaw(property, &language, &language, &mut |_| true).expect("small");
            let missing =
                histories.iter().flat_map(|h| images(property, size, h)).filter(|image| !language.has_shorter(image));
            let shortest = missing.map(|image| image.len()).min();
            seen[number][usize::from(found.is_some())] += 1;
            match (found, shortest) {
                (Some(found), _) => {
                    assert!(
                        language.has(&found.history) && !language.has_shorter(&found.image),
                        "{property:?} {found:?}"
                    );
                    assert!(images(property, size, &found.history).contains(&found.image), "{property:?} {found:?}");
                }
                (None, shortest) => assert_eq!(shortest, None, "{property:?} is violated by {nfa:?}"),
            }
        }
    }
    assert!(seen.iter().flatten().all(|cases| *cases > 5), "languages with and without each property: {seen:?}");
}

/// Every history in which transactions begin at the same place or later and finish reads and commit there or earlier, by definition, one exchange of
/// neighbours at a time. The ends in `unsaid`, for each thread one choice of several, may have happened and not been said yet.
pub fn shorter(history: &[Event], unsaid: &[(u8, &[&[Action]])]) -> BTreeSet<Vec<Event>> {
    let mut work = vec![history.to_vec()];
    for (thread, ends) in unsaid {
        let of = |end: &[Action]| end.iter().map(|a| Event { thread: *thread, action: *a }).collect::<Vec<_>>();
        work = work.iter().flat_map(|one| ends.iter().map(|end| [&one[..], &of(end)].concat())).collect();
    }
    let mut known = BTreeSet::new();
    while let Some(history) = work.pop() {
        if !known.insert(history.clone()) {
            continue;
        }
        for at in 1..history.len() {
            let (one, other) = (history[at - 1], history[at]);
            let moves = one.action == Action::Begin || matches!(other.action, Action::ReadFinish | Action::Commit);
            if one.thread != other.thread && moves {
                let mut moved = history.clone();
                moved.swap(at - 1, at);
                work.push(moved);
            }
        }
        // Who has only said that it begins may never do so.
        if let Some((Event { action: Action::Begin, .. }, before)) = history.split_last() {
            work.push(before.to_vec());
        }
    }
    known
}

/// What a thread behind a load may have done without saying so.
pub const ENDS: [&[Action]; 4] = [&[], &[Action::ReadFinish], &[Action::Commit], &[Action::ReadFinish, Action::Commit]];

#[test]
fn transactions_may_be_shorter() {
    let letters = Letters::new(Size { threads: 2, vars: 1 });
    let mut dice = Dice(7);
    let mut moved = 0;
    for _ in 0..200 {
        let language = Language::new(&random(&mut dice, &letters), &letters, false, |_| true).expect("small");
        for _ in 0..20 {
            // Beginnings are the last letters; at most one is moved.
            let others = letters.events().len() as u64 - 2;
            let event = |dice: &mut Dice| letters.events()[dice.below(others) as usize];
            let mut history: Vec<Event> = (0..dice.below(4)).map(|_| event(&mut dice)).collect();
            if dice.below(2) == 0 {
                history.insert(0, Event { thread: dice.below(2) as u8, action: Action::Begin });
            }
            // A thread has one read-finish and one commit to say at a time.
            let often =
                |thread: u8, action: Action| history.iter().filter(|e| **e == Event { thread, action }).count() > 1;
            if [0, 1].into_iter().any(|thread| often(thread, Action::ReadFinish) || often(thread, Action::Commit)) {
                continue;
            }
            let has = shorter(&history, &[(0, &ENDS), (1, &ENDS)]).iter().any(|history| language.has(history));
            assert_eq!(language.has_shorter(&history), has, "{history:?}");
            moved += u32::from(has && !language.has(&history));
        }
    }
    assert!(moved > 20, "{moved}");
}

#[test]
fn exchanges_are_those_of_commands() {
    let letters = Letters::new(Size { threads: 2, vars: 2 });
    let mut dice = Dice(3);
    let mut seen = [0; 2];
    for _ in 0..300 {
        let mut nfa = random(&mut dice, &letters);
        let events = letters.events().len() as u16;
        for (letter, _) in nfa.edges.iter_mut().flatten() {
            *letter = letter.map(|letter| letter + if dice.below(3) == 0 { events } else { 0 });
        }
        let plain = Language::new(&nfa, &letters, false, |_| true).expect("small");
        let marked = Language::new(&nfa, &letters, true, |_| true).expect("small");
        let found = flaw(Structure::ConflictCommutativity, &marked, &plain, &mut |_| true).expect("small");
        let mut missing = false;
        for (history, firsts) in marked.marked_histories(5).into_iter().take(3000) {
            let images = exchanges(&history, Some(&firsts));
            missing |= images.iter().any(|image| !plain.has_shorter(image));
        }
        assert!(!missing || found.is_some(), "{nfa:?}");
        seen[usize::from(found.is_some())] += 1;
        if let Some(found) = found {
            assert!(plain.has(&found.history) && !plain.has_shorter(&found.image), "{found:?}");
            assert!(exchanges(&found.history, None).contains(&found.image), "{found:?}");
        }
    }
    assert!(seen.iter().all(|cases| *cases > 5), "{seen:?}");
}
