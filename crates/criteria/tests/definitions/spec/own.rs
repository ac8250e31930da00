//! Specifications from files: what they say is wrong, and their language against one that is worked out move by move.

use cyrano_criteria::history::{Action, Event, Size};
use cyrano_criteria::spec::named::named;
use cyrano_criteria::spec::own::{self, parse};
use cyrano_criteria::spec::walk::{Walk, rejection};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

const SIZE: Size = Size { threads: 2, vars: 2 };

/// What is wrong with a file, each with its place.
fn errors(source: &str, expected: Expect) {
    let errors = parse(source).expect_err("the file is wrong");
    let shown = errors.iter().map(|error| format!("`{}`: {}", &source[error.span.range()], error.message));
    expected.assert_eq(&shown.collect::<Vec<_>>().join("\n"));
}

#[test]
fn everything_wrong_is_reported_at_once() {
    errors(
        "specification opacity\nfor thread t, variabel v, thread x, thread t\nstart idel\nidle: t stor v -> wrote\nidle: q store x, t commit x, t load -> idle\nwrote t -> idle\nidle: -> \n",
        expect![[r#"
            `variabel v`: neither a thread nor a variable
            `x`: `x` has a meaning of its own
            `t`: `t` stands for two things
            `wrote t -> idle`: this is no line of a specification
            `->`: these are no moves
            `opacity`: `opacity` is a built-in specification
            `idel`: there is no state `idel`
            `wrote`: there is no state `wrote`
            `stor`: `stor` is not an action
            `q`: `q` is not a thread
            `x`: this event has no variable
            `t load`: of which variable?"#]],
    );
    errors(
        "",
        expect![[r#"
        ``: this specification has no name
        ``: this specification has no states"#]],
    );
    errors(
        "specification a b\nspecification c\nspecification c\ns:\n",
        expect![[r#"
        `specification a b`: `specification` is followed by one name
        `specification c`: `specification` is given twice"#]],
    );
}

/// A random automaton for each thread (or variable, or both), as data.
#[derive(Clone, Debug)]
struct Random {
    quantified: (bool, bool),
    /// From, thread, action, variable, to.
    moves: Vec<(usize, usize, usize, usize, usize)>,
}

const ACTIONS: [&str; 7] = ["load", "store", "cas", "rollback", "rfin", "commit", "abort"];

impl Random {
    /// The words that a thread and a variable can have.
    fn threads(&self) -> [&'static str; 4] {
        [if self.quantified.0 { "t" } else { "1" }, "other", "any", "2"]
    }

    fn variables(&self) -> [&'static str; 4] {
        [if self.quantified.1 { "w" } else { "x" }, "other", "any", "y"]
    }

    fn text(&self, name: &str) -> String {
        let mut text = format!("specification {name}\n");
        match self.quantified {
            (true, true) => text += "for thread t, variable w\n",
            (true, false) => text += "for thread t\n",
            (false, true) => text += "for variable w\n",
            (false, false) => {}
        }
        text += "start s0\ns0:\ns1:\ns2:\n";
        for (from, thread, action, variable, to) in &self.moves {
            let about = if *action < 4 { format!(" {}", self.variables()[*variable]) } else { String::new() };
            text += &format!("s{from}: {} {}{about} -> s{to}\n", self.threads()[*thread], ACTIONS[*action]);
        }
        text
    }

    /// Whether a pattern is for an event, where `t` and `w` stand for these.
    fn is_for(
        &self,
        (_, thread, action, variable, _): (usize, usize, usize, usize, usize),
        event: Event,
        t: u8,
        w: u8,
    ) -> bool {
        let who = |word: &str, value: u8, chosen: u8, is_chosen: bool| match word {
            "t" | "w" => value == chosen,
            "1" | "x" => value == 0,
            "2" | "y" => value == 1,
            "other" => !is_chosen || value != chosen,
            _ => true,
        };
        let is_action = match event.action {
            Action::Load(_) => 0,
            Action::Store(_) => 1,
            Action::Cas(_) => 2,
            Action::Rollback(_) => 3,
            Action::ReadFinish => 4,
            Action::Commit => 5,
            _ => 6,
        } == action;
        let about = event.action.variable().is_none_or(|v| who(self.variables()[variable], v, w, self.quantified.1));
        is_action && who(self.threads()[thread], event.thread, t, self.quantified.0) && about
    }

    /// Whether some run of the automaton for `t` and `w` takes all events that concern it.
    fn runs(&self, state: usize, history: &[Event], t: u8, w: u8) -> bool {
        let Some((event, rest)) = history.split_first() else { return true };
        let mut for_it = self.moves.iter().filter(|step| self.is_for(**step, *event, t, w)).peekable();
        if for_it.peek().is_none() {
            return self.runs(state, rest, t, w);
        }
        for_it.any(|step| step.0 == state && self.runs(step.4, rest, t, w))
    }

    fn accepts(&self, history: &[Event]) -> bool {
        (0..SIZE.threads).all(|t| (0..SIZE.vars).all(|w| self.runs(0, history, t, w)))
    }
}

fn random() -> impl Strategy<Value = (Random, Vec<Event>)> {
    let moves = prop::collection::vec((0..3usize, 0..4usize, 0..7usize, 0..4usize, 0..3usize), 1..10);
    let random = ((any::<bool>(), any::<bool>()), moves).prop_map(|(quantified, moves)| Random { quantified, moves });
    (random, prop::collection::vec(prop::sample::select(SIZE.alphabet()), 0..8))
}

#[test]
fn the_language_is_that_of_all_automata() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut accepted, mut rejected) = (0, 0);
    for number in 0..2000 {
        let (random, history) = random().new_tree(&mut runner).expect("a case").current();
        let name = format!("random-{number}");
        let own = parse(&random.text(&name)).unwrap_or_else(|errors| panic!("{errors:?}\n{}", random.text(&name)));
        own::register(own).expect("the name is new");
        let wrong = rejection(named(&name, SIZE).expect("it is known").as_mut(), &history);
        let expected = (0..=history.len()).find(|end| !random.accepts(&history[..*end]));
        assert_eq!(wrong.as_ref().map(|wrong| wrong.at + 1), expected, "{history:?}\n{}", random.text(&name));
        assert!(wrong.is_none_or(|wrong| wrong.place.is_some_and(|place| place.starts_with("in `s"))));
        // A search walks the same way.
        let walk = Walk::new(named(&name, SIZE).expect("it is known"));
        let walked = history.iter().try_fold(0, |set, event| walk.step(set, *event));
        assert_eq!(walked.is_some(), expected.is_none());
        accepted += usize::from(expected.is_none());
        rejected += usize::from(expected.is_some());
    }
    assert!(accepted >= 200 && rejected >= 200, "{accepted} accepted, {rejected} rejected");
}

#[test]
fn a_name_means_one_thing() {
    let first = parse("specification twice\ns: any store any -> s\n").expect("a specification");
    let other = parse("specification twice\ns: any load any -> s\n").expect("a specification");
    assert!(own::register(first.clone()).is_ok() && own::register(first).is_ok());
    assert!(own::register(other).is_err());
}

#[test]
fn there_have_to_be_enough_threads() {
    let three =
        parse("specification three\nfor thread a, thread b, thread c\ns: a store any -> s\n").expect("a specification");
    own::register(three).expect("the name is new");
    let error = named("three", SIZE).err().expect("there are two threads").to_string();
    assert_eq!(error, "`three` speaks of 3 threads and 0 variables, more than there are");
    assert!(named("three", Size { threads: 3, vars: 1 }).is_ok());
}
