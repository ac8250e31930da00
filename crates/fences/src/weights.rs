//! How often the pieces of a source run, so that a fence that is passed rarely is cheaper than one that is passed often.
//!
//! A *block* is a thread, procedure, command or function. Those that a user gives a weight run that often, in whatever unit. A block without one runs
//! whenever it is called: its weight is the sum of those of its callers, once for each call in their text, and 1 if nobody calls it. So with
//! `read=10,write=5` a fence in a procedure that both call weighs 15. What loops and branches do to this is not looked at: a fence in a block counts as often as
//! the block runs.
//!
//! A weight multiplies what the kind of a fence costs ([`crate::Costs`]). Weights are positive, so that a set of least cost is minimal by inclusion still.

use std::collections::BTreeMap;
use std::ops::Range;

/// The largest weight of a block: what the search adds up stays far from overflowing.
const MOST: u32 = 100_000;

/// The largest weight that a user may give.
pub const MOST_GIVEN: u32 = 1_000;

/// A piece of a source that runs as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// Where its statements are.
    pub body: Range<usize>,
}

/// The weight of every block of a text; `Err` names what has none of its own.
pub fn weights(text: &str, blocks: &[Block], given: &[(String, u32)]) -> Result<BTreeMap<String, u32>, String> {
    if let Some((unknown, _)) = given.iter().find(|(name, _)| !blocks.iter().any(|block| block.name == *name)) {
        let names: Vec<String> = blocks.iter().map(|block| format!("`{}`", block.name)).collect();
        let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        return Err(format!("there is no `{unknown}` to give a weight to; there is {names}"));
    }
    let calls = Calls { text, blocks, given };
    let weighed = blocks.iter().map(|block| (block.name.clone(), calls.weight(&block.name, blocks.len())));
    Ok(weighed.collect())
}

struct Calls<'a> {
    text: &'a str,
    blocks: &'a [Block],
    given: &'a [(String, u32)],
}

impl Calls<'_> {
    /// The weight of a block. A chain of calls that is longer than there are blocks goes around, and ends here.
    fn weight(&self, name: &str, depth: usize) -> u32 {
        if let Some((_, weight)) = self.given.iter().find(|(given, _)| given == name) {
            return (*weight).clamp(1, MOST_GIVEN);
        }
        let sum = self.callers(name).into_iter().fold(0u32, |sum, (caller, times)| {
            let weight = if depth == 0 { 0 } else { self.weight(caller, depth - 1) };
            sum.saturating_add(weight.saturating_mul(times))
        });
        sum.clamp(1, MOST)
    }

    /// The other blocks that mention a name, and how often.
    fn callers(&self, name: &str) -> Vec<(&str, u32)> {
        let others = self.blocks.iter().filter(|block| block.name != name);
        let times = |block: &Block| words(&self.text[block.body.clone()]).filter(|word| *word == name).count() as u32;
        others.map(|block| (block.name.as_str(), times(block))).filter(|(_, times)| *times > 0).collect()
    }
}

/// The words of a text outside of comments.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{C, FenceText, Rml};

    fn check(language: &dyn FenceText, text: &str, given: &[(&str, u32)], expected: &[(&str, u32)]) {
        let given: Vec<(String, u32)> = given.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
        let found = weights(text, &language.blocks(text), &given).expect("the names are known");
        let found: Vec<(&str, u32)> = found.iter().map(|(name, weight)| (name.as_str(), *weight)).collect();
        assert_eq!(found, expected);
    }

    const MEMORY: &str = "stm s { shared a; // open
        proc pa { abort }
        proc open(v) { if a == 0 { pa } }
        read(v) { open(v); rfin }
        write(v) { open(v); open(v); }
        end { /* nothing */ pa; } }";

    #[test]
    fn a_procedure_runs_whenever_it_is_called() {
        let plain = [("end", 1), ("open", 3), ("pa", 4), ("read", 1), ("write", 1)];
        check(&Rml, MEMORY, &[], &plain);
        let given = [("read", 10), ("write", 5), ("end", 2)];
        check(&Rml, MEMORY, &given, &[("end", 2), ("open", 20), ("pa", 22), ("read", 10), ("write", 5)]);
        check(&Rml, MEMORY, &[("pa", 7)], &[("end", 1), ("open", 3), ("pa", 7), ("read", 1), ("write", 1)]);
    }

    #[test]
    fn functions_of_c_have_weights_too() {
        let text = "int f(void) { return 1; }\nvoid g(int *x) { *x = f(); { f(); } }\nvoid h(void) { h(); g(0); }";
        check(&C, text, &[("h", 3)], &[("f", 6), ("g", 3), ("h", 3)]);
        check(&C, text, &[], &[("f", 2), ("g", 1), ("h", 1)]);
    }

    #[test]
    fn an_unknown_name_is_told() {
        let error = weights(MEMORY, &Rml.blocks(MEMORY), &[("reed".to_owned(), 1)]).expect_err("a slip");
        assert!(error.contains("`reed`") && error.contains("`read`"), "{error}");
    }
}
