//! What each command found, as text for people and as JSON for programs.

pub(crate) mod certify;
pub(crate) mod checks;
pub(crate) mod compare;
pub(crate) mod every_number;
pub(crate) mod exports;
pub(crate) mod fences;
pub(crate) mod graphs;
pub(crate) mod history;
pub(crate) mod json;
pub(crate) mod litmus;
pub(crate) mod models;
pub(crate) mod models_compare;
pub(crate) mod orders;
pub(crate) mod outcomes;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod spec;
pub(crate) mod stepping;
pub(crate) mod tables;
