//! The beginning of a trace: what a reader sees of an execution of which only so many steps have been taken.
//!
//! It is a trace to look at. What is replayed is the whole one: out of order the steps of a call make an execution only together.

use crate::schema::{End, Relations, Step, Trace};

impl Trace {
    /// The first `n` steps.
    #[must_use]
    pub fn cut(mut self, n: usize) -> Self {
        if n >= self.steps.len() {
            return self;
        }
        let rest = self.steps.split_off(n);
        self.relations = Relations::of(&self.steps);
        self.transactions.retain(|transaction| transaction.first <= n);
        for transaction in self.transactions.iter_mut().filter(|transaction| transaction.last > n) {
            (transaction.last, transaction.status) = (n, UNFINISHED.to_owned());
        }
        self.operations.retain(|operation| operation.first <= n);
        for operation in self.operations.iter_mut().filter(|operation| operation.last > n) {
            (operation.last, operation.status, operation.result) = (n, UNFINISHED.to_owned(), None);
        }
        self.changes.retain(|change| change.n <= n);
        self.locals.retain(|change| change.n <= n);
        for call in self.steps.iter_mut().filter_map(|step| step.call.as_mut()).filter(|call| call.last > n) {
            (call.last, call.result, call.note) = (n, None, None);
        }
        self.forget_memory();
        for thread in &mut self.threads {
            if let Some(next) = rest.iter().find(|step| step.thread == thread.name) {
                let Step { line, column, text, label, .. } = next.clone();
                thread.end = End::At { line, column, text, label };
            }
        }
        self.shape = None;
        self
    }

    /// Final memory from what the steps wrote.
    fn forget_memory(&mut self) {
        for word in &mut self.memory {
            let written =
                self.steps.iter().rfind(|step| step.location.as_ref() == Some(&word.name) && step.written.is_some());
            let (value, shown) = match (written, self.initial.iter().find(|initial| initial.name == word.name)) {
                (Some(step), _) => (step.written, step.written_shown.clone()),
                (None, Some(initial)) => (initial.value, initial.shown.clone()),
                (None, None) => continue,
            };
            (word.value, word.shown) = (value, shown);
        }
    }
}

/// What has not come to its end.
const UNFINISHED: &str = "unfinished";
