//! The experiments of CheckFence (Burckhardt, Alur, Martin), sections 4.1 to 4.4.
//!
//! **Invariant:** every row has one deadline for all that it asks, and a limit shows as `unknown` in the row; every violation was confirmed by the
//! reference interpreter.

mod costs;
mod failures;
mod fences;
mod growth;
mod inclusion;
mod measured;
mod paper;
mod question;
mod ranges;

pub use measured::Kept;

use super::{Made, Recipe, Rows, Setup, each, made, strings};

/// All of them, in the paper's order.
pub const RECIPES: &[Recipe] = &[
    Recipe { title: "Section 4.1: bugs that no fence repairs, under sc", make: failures::bugs },
    Recipe { title: "Section 4.2: without any fence, under relaxed", make: failures::unfenced },
    Recipe { title: "Section 4.3: typical failures, each without the fences against it", make: failures::typical },
    Recipe { title: "Fences of each implementation", make: fences::counted },
    Recipe { title: "Fences found by synthesis on small tests, under relaxed", make: fences::synthesised },
    Recipe {
        title: "Fig. 10, ms2: inclusion under relaxed",
        make: |setup, title| inclusion::figure(setup, title, "ms2"),
    },
    Recipe {
        title: "Fig. 10, msn: inclusion under relaxed",
        make: |setup, title| inclusion::figure(setup, title, "msn"),
    },
    Recipe {
        title: "Fig. 10, lazylist: inclusion under relaxed",
        make: |setup, title| inclusion::figure(setup, title, "lazylist"),
    },
    Recipe {
        title: "Fig. 10, harris: inclusion under relaxed",
        make: |setup, title| inclusion::figure(setup, title, "harris"),
    },
    Recipe {
        title: "Fig. 10, snark: inclusion under relaxed",
        make: |setup, title| inclusion::figure(setup, title, "snark"),
    },
    Recipe { title: "Fig. 10b: time and memory by the number of memory accesses", make: growth::growth },
    Recipe { title: "Fig. 11a: mining the specifications", make: inclusion::mining },
    Recipe { title: "Fig. 11b: where the time goes, in percent", make: costs::breakdown },
    Recipe { title: "Fig. 11c: range analysis on and off", make: ranges::compared },
    Recipe { title: "Section 4.4: what the memory model costs, sc against relaxed", make: costs::models },
    Recipe { title: "Fig. 12: inclusion check against commit points, under sc", make: costs::commit_points },
];

/// Seconds, as a cell of a column of seconds.
fn seconds(number: f64) -> String {
    format!("{number:.2}")
}
