//! What users and their scripts see: text for people, JSON (`cyrano.report/1`, `cyrano.outcomes/1`, …) for programs.
//!
//! **Invariant:** everything here is a function from data to a string; colour is never the only carrier of a fact, and every line of
//! text keeps to [`Style::width`] as far as single words allow.
//!
//! This crate does not know how a verdict was reached, and it neither reads files nor prints.

mod case;
mod checks;
mod compare;
mod dot;
mod exports;
mod fences;
mod history;
mod html;
mod json;
mod junit;
mod lanes;
mod lasso;
mod litmus;
mod merge;
mod mermaid;
mod models;
mod orders;
mod outcomes;
mod outside;
mod plain;
mod replay;
mod rows;
mod run;
mod sarif;
mod saved;
mod shard;
mod spec;
mod stepping;
mod style;
mod svg;
mod table;
mod tables;
mod xml;

pub use checks::{
    BlockReport, CheckReport, ClientsReport, MinimisedReport, SpecificationReport, UnreachedKind, UnreachedReport,
    checks_text,
};
pub use compare::{CompareReport, ComparedModel, ComparedOutcome, compare_json, compare_text};
pub use dot::trace_dot;
pub use exports::{ExportReport, FormulaReport, exports_json, exports_text};
pub use fences::{CandidateInfo, FenceInfo, FencesReport, fences_json, fences_text};
pub use history::{Attempt, HistoryReport, Read, Reason, Rejected, Unjustified, history_json, history_text};
pub use html::{SavedPage, checks_html, fences_html, replay_html, saved_html};
pub use json::checks_json;
pub use junit::{checks_junit, fences_junit, litmus_junit};
pub use lanes::trace_text;
pub use litmus::{LitmusReport, LitmusValue, litmus_json, litmus_text};
pub use merge::{Merged, merge};
pub use mermaid::trace_mermaid;
pub use models::{ModelReport, models_json, models_text};
pub use orders::{DeclaredOrder, OrdersReport};
pub use outcomes::{OutcomesReport, outcomes_json, outcomes_text};
pub use outside::Replays;
pub use plain::{by_number, is_hidden, json as plain_json, mark, terminal, visible};
pub use replay::{ReplayReport, replay_json, replay_text};
pub use run::{Results, RunReport};
pub use sarif::{checks_sarif, fences_sarif, litmus_sarif};
pub use saved::{Saved, SavedReport};
pub use shard::ShardReport;
pub use spec::{SpecReport, spec_json, spec_text};
pub use stepping::{EnabledReport, SteppingReport, SteppingState, ThreadRegisters, stepping_html, stepping_json};
pub use style::{Style, count, wrap};
pub use svg::trace_svg;
pub use tables::{TableReport, TableRow, table_text, tables_json};
