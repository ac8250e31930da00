//! The models of `benches/spin`: which small instances are compared, and along which constants they grow.
//!
//! The size that is measured is the one that both files of a model have as their own constants.

use std::path::PathBuf;

/// Values for constants of a model: `--set N=3` for Cyrano, `-DN=3` for Spin.
pub type Constants = Vec<(&'static str, u32)>;

/// A model in both languages.
#[derive(Debug)]
pub struct Model {
    pub name: &'static str,
    /// The constants that are set for small instances.
    constants: &'static [&'static str],
    small: &'static [&'static [u32]],
    /// An instance that takes one worker some seconds.
    large: &'static [u32],
}

/// All models, in the order of the tables.
pub const MODELS: &[Model] = &[
    Model { name: "acquire1", constants: &["N", "ROUNDS"], small: LOCKS, large: &[7, 6] },
    Model { name: "acquire2", constants: &["N", "ROUNDS", "LINES"], small: LINES, large: &[6, 5, 100] },
    Model { name: "transaction", constants: &["N", "ROUNDS"], small: UPDATES, large: &[4, 8] },
    Model { name: "bluetooth", constants: &["N", "ROUNDS"], small: CALLS, large: &[6, 4] },
    Model { name: "acquire1_instrumented", constants: &["N", "ROUNDS"], small: LOCKS, large: &[6, 5] },
    Model { name: "acquire2_instrumented", constants: &["N", "ROUNDS", "LINES"], small: LINES, large: &[5, 4, 100] },
    Model { name: "transaction_instrumented", constants: &["N", "ROUNDS"], small: UPDATES, large: &[4, 6] },
    Model { name: "bluetooth_instrumented", constants: &["N", "ROUNDS"], small: CALLS, large: &[5, 8] },
    Model { name: "peterson", constants: &["N"], small: &[&[2], &[3]], large: &[5] },
    Model { name: "mcs", constants: &["N"], small: &[&[1], &[2], &[3], &[4]], large: &[6] },
    Model { name: "philosophers", constants: &["N"], small: &[&[3], &[4], &[5]], large: &[11] },
    Model { name: "mcrt", constants: &["N", "VARS", "OPS"], small: MCRT, large: &[2, 4, 3] },
];

const LOCKS: &[&[u32]] = &[&[1, 1], &[1, 2], &[2, 1], &[2, 2], &[3, 1], &[3, 2], &[4, 1], &[4, 2]];
const LINES: &[&[u32]] = &[&[1, 2, 6], &[2, 2, 6], &[3, 2, 6]];
const UPDATES: &[&[u32]] = &[&[1, 1], &[1, 2], &[2, 1], &[2, 2], &[3, 1], &[3, 2]];
const CALLS: &[&[u32]] = &[&[2, 1], &[2, 2], &[3, 1], &[3, 2], &[4, 1], &[4, 2]];
const MCRT: &[&[u32]] = &[&[1, 2, 2], &[2, 1, 2], &[2, 2, 1], &[2, 2, 2], &[3, 1, 1], &[2, 3, 1], &[2, 4, 1]];

impl Model {
    /// The small instances.
    pub fn small(&self) -> impl Iterator<Item = Constants> {
        self.small.iter().map(|values| self.with(values))
    }

    /// An instance that takes one worker some seconds.
    pub fn large(&self) -> Constants {
        self.with(self.large)
    }

    fn with(&self, values: &[u32]) -> Constants {
        self.constants.iter().copied().zip(values.iter().copied()).collect()
    }
}

/// A way in which a model grows; `size` is the constant that does, `fixed` the others.
#[derive(Debug)]
pub struct Series {
    /// The name of the plot.
    pub name: &'static str,
    pub model: &'static str,
    pub size: &'static str,
    /// What the size is, for the axis.
    pub label: &'static str,
    pub sizes: std::ops::RangeInclusive<u32>,
    pub fixed: &'static [(&'static str, u32)],
}

/// What is plotted. A series ends before its last size if nobody gets there within the limits.
pub const SERIES: &[Series] = &[
    Series { name: "peterson-threads", model: "peterson", size: "N", label: "threads", sizes: 2..=5, fixed: &[] },
    Series {
        name: "philosophers-threads",
        model: "philosophers",
        size: "N",
        label: "threads",
        sizes: 3..=12,
        fixed: &[],
    },
    Series {
        name: "acquire1-threads",
        model: "acquire1",
        size: "N",
        label: "threads",
        sizes: 2..=10,
        fixed: &[("ROUNDS", 4)],
    },
    Series {
        name: "mcrt-operations",
        model: "mcrt",
        size: "OPS",
        label: "operations per transaction",
        sizes: 1..=7,
        fixed: &[("N", 2), ("VARS", 3)],
    },
    Series {
        name: "mcrt-variables",
        model: "mcrt",
        size: "VARS",
        label: "variables",
        sizes: 1..=4,
        fixed: &[("N", 2), ("OPS", 2)],
    },
];

/// Where the models are.
pub fn folder() -> PathBuf {
    crate::root().join("benches").join("spin")
}

/// How an instance is called in tables.
pub fn label(name: &str, constants: &Constants) -> String {
    let sizes = constants.iter().map(|(constant, value)| format!(" {constant}={value}"));
    name.to_owned() + &sizes.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_there_twice_and_knows_its_constants() {
        for model in MODELS {
            let read = |ending| std::fs::read_to_string(folder().join(format!("{}.{ending}", model.name)));
            let (rml, pml) = (read("rml").expect("an RML file"), read("pml").expect("a Promela file"));
            let named = model.constants.iter().copied();
            let grown = SERIES.iter().filter(|series| series.model == model.name).map(|series| series.size);
            for constant in named.chain(grown) {
                let ours = rml.lines().find_map(|line| line.strip_prefix(&format!("const {constant} = ")));
                let theirs = pml.lines().find_map(|line| line.strip_prefix(&format!("#define {constant} ")));
                let ours = ours.map(|value| value.trim_end_matches(';'));
                assert!(ours.is_some() && ours == theirs, "{} {constant}: {ours:?} {theirs:?}", model.name);
            }
            assert!(model.small().all(|instance| instance.len() == model.constants.len()));
            assert!(model.small.iter().all(|values| values.len() == model.constants.len()), "{}", model.name);
        }
        for series in SERIES {
            assert!(MODELS.iter().any(|model| model.name == series.model), "{}", series.name);
        }
    }
}
