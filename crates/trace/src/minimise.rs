//! Smaller executions that show the same thing.
//!
//! A reader's effort grows with three things, in this order: accesses that overtook one another, switches from one thread to another,
//! steps. Three kinds of small changes are tried until none helps: leaving a step out, moving one step, moving
//! a run of steps of one thread. A change is looked at only if it lowers the effort and is made only if the callback, which replays
//! and confirms, accepts the result; so every intermediate execution is a valid one, and the result depends on the input alone.
//!
//! Leaving out a step in the middle of a thread makes it overtaken by what follows, which counts as effort;
//! this is why only what nobody needs at the end of a thread disappears. Choices at a thread's end that lead nowhere go last.

use cyrano_engine::{Access, Execution};

/// How often the callback may be asked. Replays of litmus-sized executions take microseconds, so this stays well below a second.
const MAX_TRIALS: usize = 4_000;

/// Executions longer than this are returned as they are: the number of candidates grows with the square of the length.
const MAX_STEPS: usize = 400;

/// The smallest execution reachable by small changes that `accept` all agrees to.
pub fn minimise(execution: &Execution, accept: &dyn Fn(&Execution) -> bool) -> Execution {
    let mut search = Search { best: execution.clone(), trials: 0, accept };
    if execution.order.len() <= MAX_STEPS {
        while search.drop_steps() || search.move_runs() || search.move_steps() {}
        search.drop_choices();
    }
    search.best
}

/// What an execution asks of its reader; smaller is better.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Effort {
    overtakings: usize,
    switches: usize,
    steps: usize,
}

impl Effort {
    fn of(order: &[Access]) -> Self {
        Self {
            overtakings: overtakings(order),
            switches: order.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count(),
            steps: order.len(),
        }
    }
}

/// How many pairs of a performed access and a program-earlier one that was performed later or not at all there are.
fn overtakings(order: &[Access]) -> usize {
    let before = |at: usize| {
        let earlier = order[..at].iter().filter(|a| a.thread == order[at].thread);
        earlier.filter(|a| a.index < order[at].index).count()
    };
    let missing = |at: usize| (order[at].index as usize).saturating_sub(before(at));
    (0..order.len()).map(missing).sum()
}

struct Search<'a> {
    best: Execution,
    trials: usize,
    accept: &'a dyn Fn(&Execution) -> bool,
}

impl Search<'_> {
    /// Takes the candidate if it is better and still valid.
    fn consider(&mut self, order: Vec<Access>) -> bool {
        if self.trials >= MAX_TRIALS || Effort::of(&order) >= Effort::of(&self.best.order) {
            return false;
        }
        self.trials += 1;
        let candidate = Execution { order, choices: self.best.choices.clone() };
        let accepted = (self.accept)(&candidate);
        if accepted {
            self.best = candidate;
        }
        accepted
    }

    /// Forgets the last choices of each thread that lead to nothing that is performed.
    fn drop_choices(&mut self) {
        for thread in 0..self.best.choices.len() {
            loop {
                let mut candidate = self.best.clone();
                let shorter = candidate.choices[thread].pop().is_some();
                if !shorter || self.trials >= MAX_TRIALS || !(self.accept)(&candidate) {
                    break;
                }
                self.trials += 1;
                self.best = candidate;
            }
        }
    }

    fn drop_steps(&mut self) -> bool {
        let mut any = false;
        for at in (0..self.best.order.len()).rev() {
            let mut order = self.best.order.clone();
            order.remove(at);
            any |= self.consider(order);
        }
        any
    }

    fn move_steps(&mut self) -> bool {
        let len = self.best.order.len();
        let mut any = false;
        for from in 0..len {
            for to in (0..len).filter(|to| *to != from) {
                let mut order = self.best.order.clone();
                let step = order.remove(from);
                order.insert(to, step);
                any |= self.consider(order);
            }
        }
        any
    }

    /// Moves each run of one thread's steps behind another run of that thread, or in front of it.
    fn move_runs(&mut self) -> bool {
        let runs = runs(&self.best.order);
        for (i, from) in runs.iter().enumerate() {
            for (j, to) in runs.iter().enumerate() {
                let same_thread = self.best.order[from.start].thread == self.best.order[to.start].thread;
                if i == j || !same_thread {
                    continue;
                }
                let mut order = self.best.order.clone();
                let moved: Vec<Access> = order.drain(from.clone()).collect();
                let at = if i < j { to.start - moved.len() } else { to.end };
                order.splice(at..at, moved);
                if self.consider(order) {
                    return true;
                }
            }
        }
        false
    }
}

/// The maximal runs of steps of one thread.
fn runs(order: &[Access]) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    let chunks = order.chunk_by(|a, b| a.thread == b.thread);
    let lengths = chunks.map(<[Access]>::len);
    lengths
        .map(|len| {
            let run = start..start + len;
            start = run.end;
            run
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyrano_ir::ThreadId;

    /// Executions are written as `a0 b0 a1`: thread letter and program-order number.
    fn parse(text: &str) -> Execution {
        let order = text.split_whitespace().map(|word| Access {
            thread: ThreadId::new((word.as_bytes()[0] - b'a').into()),
            index: word[1..].parse().expect("a number follows the letter"),
            read: None,
            written: Some(1),
        });
        Execution { order: order.collect(), choices: vec![vec![]; 3] }
    }

    fn print(execution: &Execution) -> String {
        let name = |a: &Access| format!("{}{}", (b'a' + a.thread.0 as u8) as char, a.index);
        execution.order.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// `keep` lists pairs that have to stay in this order; a single name has to stay.
    fn check(input: &str, keep: &[&str], expected: &str) {
        let accept = |execution: &Execution| {
            let text = print(execution);
            let position = |name: &str| text.split(' ').position(|n| n == name);
            keep.iter().all(|rule| match rule.split_once('<') {
                Some((a, b)) => position(a).is_some() && position(a) < position(b),
                None => position(rule).is_some(),
            })
        };
        let result = minimise(&parse(input), &accept);
        assert!(accept(&result));
        assert_eq!(print(&result), expected);
    }

    #[test]
    fn switches_disappear() {
        check("a0 b0 a1 b1", &["a0", "a1", "b0", "b1"], "a0 a1 b0 b1");
        check("a0 b0 a1 b1", &["a0", "a1", "b0<a1", "b1"], "b0 b1 a0 a1");
        check("a0 b0 c0 a1 b1 c1", &["a0<b0", "b0<a1", "a1<b1", "c0", "c1"], "a0 b0 a1 b1 c0 c1");
    }

    #[test]
    fn needless_reorderings_disappear() {
        check("a1 b1 a0 b0", &["a1<b0", "b1<a0"], "b1 a0 a1 b0");
        check("a1 a0", &["a0", "a1"], "a0 a1");
    }

    #[test]
    fn steps_that_nobody_needs_disappear() {
        check("a0 b0 a1 b1", &["b0<a1"], "b0 a0 a1");
        check("a0 b0 a1 c0", &["a1"], "a0 a1");
    }

    #[test]
    fn choices_that_nobody_needs_disappear() {
        let execution = Execution { choices: vec![vec![1, 2, 3], vec![4], vec![]], ..parse("a0") };
        let needed = |execution: &Execution| execution.choices[0].first() == Some(&1);
        let result = minimise(&execution, &needed);
        assert_eq!(result.choices, [vec![1], vec![], vec![]]);
    }

    #[test]
    fn nothing_is_accepted_unasked() {
        check("a1 b1 a0 b0", &["a1<b1", "b1<a0", "a0<b0"], "a1 b1 a0 b0");
    }
}
