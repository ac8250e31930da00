//! The built-in models about relations: texts in `library/models`, which say where they come from.
//!
//! Those that have a twin among the models that reorder pairs are called `cat:sc`, `cat:tso` and `cat:pso`; the others by their plain names.

use crate::cat::Cat;
use crate::model::Model;

/// A built-in model: its name, what it is, its text.
type Entry = (&'static str, &'static str, &'static str);

macro_rules! text {
    ($file:literal) => {
        include_str!(concat!("../models/", $file))
    };
}

const ALL: [Entry; 10] = [
    ("cat:sc", "Sequential consistency, as axioms about relations; the same as sc.", text!("sc.cat")),
    ("cat:tso", "Total store order, as axioms about relations; the same as tso.", text!("tso.cat")),
    ("cat:pso", "Partial store order, as axioms about relations; the same as pso.", text!("pso.cat")),
    (
        "ra",
        "Release and acquire: every write is a release and every read an acquire, as if C11 had nothing else. A fence that orders stores before loads is sequentially consistent.",
        text!("ra.cat"),
    ),
    (
        "rc11",
        "C11 as repaired by Lahav and others (2017): relaxed, acquire, release and sequentially consistent accesses and fences; no values out of thin air, so that no load is performed before what it depends on or an earlier store's. Races of accesses that are not atomic raise the flag data-race.",
        text!("rc11.cat"),
    ),
    (
        "imm",
        "The intermediate model of Podkopaev, Lahav and Vafeiadis (2019): what a compiler from a language to Armv8, Power or RISC-V may count on, with the sequentially consistent accesses of its mechanised form. Keeps dependencies; plain accesses are relaxed.",
        text!("imm.cat"),
    ),
    (
        "armv8",
        "Armv8, multi-copy atomic: Pulte and others (2018), as in the Arm Architecture Reference Manual. Dependencies, barriers, acquire and release, exclusive accesses and atomic instructions.",
        text!("armv8.cat"),
    ),
    (
        "riscv",
        "RISC-V's weak memory order, RVWMO: the thirteen rules of preserved program order, with fences, acquire and release, load-reserved and store-conditional, and atomic instructions.",
        text!("riscv.cat"),
    ),
    (
        "power",
        "Power, not multi-copy atomic: Alglave, Maranget and Tautschnig (2014). Writes may reach other threads at different times; sync, lwsync, eieio and isync.",
        text!("power.cat"),
    ),
    (
        "lkmm",
        "The Linux kernel's model: Alglave and others (2018) and what it has gained since; marked accesses, barriers, locks, RCU and sleepable RCU. Races of plain accesses raise the flag data-race.",
        text!("lkmm.cat"),
    ),
];

/// All of them.
pub fn relational() -> Vec<Model> {
    ALL.iter().map(model).collect()
}

/// The one of this name; `cat:` may stand before each.
pub(crate) fn named(name: &str) -> Option<Model> {
    let plain = |name: &str| name.strip_prefix("cat:").map(str::to_owned);
    let entry = ALL.iter().find(|(known, ..)| *known == name || plain(name).as_deref() == Some(*known))?;
    Some(model(entry))
}

fn model((name, summary, text): &Entry) -> Model {
    let cat = Cat::parse(text).unwrap_or_else(|errors| panic!("the built-in model {name} is wrong: {errors:?}"));
    Model::from_cat(*name, *summary, cat)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_model_is_a_model() {
        for model in relational() {
            assert_eq!(named(&model.name).as_ref(), Some(&model));
            assert!(model.cat().is_some_and(|cat| cat.title().is_some()), "{}", model.name);
        }
        assert_eq!(named("cat:ra"), named("ra"));
        assert_eq!(named("tso"), None);
    }
}
