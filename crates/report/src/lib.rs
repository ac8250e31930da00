//! What users and their scripts see: text for people, JSON (`cyrano.report/1`, `cyrano.outcomes/1`, …) for programs.
//!
//! **Invariant:** everything here is a function from data to a string; colour is never the only carrier of a fact, and every line of
//! text keeps to [`Style::width`] as far as single words allow.
//!
//! This crate does not know how a verdict was reached, and it neither reads files nor prints.

mod draw;
mod exchange;
mod plain;
mod results;
mod style;
mod table;

pub use draw::chart::{Chart, Panel, Series, chart_svg};
pub use draw::dot::trace_dot;
pub use draw::graph_dot::graph_dot;
pub use draw::graph_svg::graph_svg;
pub use draw::lanes::trace_text;
pub use draw::mermaid::trace_mermaid;
pub use draw::svg::trace_svg;
pub use exchange::aut::aut;
pub use exchange::html::{SavedPage, checks_html, fences_html, replay_html, saved_html};
pub use exchange::junit::fences_junit;
pub use exchange::merge::{Merged, merge};
pub use exchange::outside::Replays;
pub use exchange::sarif::fences_sarif;
pub use exchange::saved::{Saved, SavedReport};
pub use exchange::shard::ShardReport;
pub use plain::{ascii, by_number, is_hidden, json as plain_json, mark, terminal, visible};
pub use results::certify::{CertifyReport, certify_json, certify_text};
pub use results::checks::{
    BlockReport, CheckReport, ClientsReport, MinimisedReport, SpecificationReport, UnreachedKind, UnreachedReport,
};
pub use results::compare::{CompareReport, ComparedModel, ComparedOutcome, compare_json, compare_text};
pub use results::every_number::{EveryNumberReport, Size};
pub use results::exports::{
    ExportReport, FormulaReport, ProofReport, SystemReport, exports_json, exports_text, systems_json, systems_text,
};
pub use results::fences::{CandidateInfo, FenceInfo, FencesReport, fences_json, fences_text};
pub use results::graphs::{GraphEdge, GraphEvent, GraphObjection, GraphReport};
pub use results::history::{Attempt, HistoryReport, Read, Reason, Rejected, Unjustified, history_json, history_text};
pub use results::litmus::{LitmusReport, LitmusValue};
pub use results::models::{ModelReport, models_json, models_text};
pub use results::models_compare::{
    ModelsCompareReport, ModelsTable, ToldApart, models_compare_json, models_compare_text, models_table_json,
    models_table_text,
};
pub use results::orders::{DeclaredOrder, OrdersReport};
pub use results::outcomes::{OutcomesReport, outcomes_json, outcomes_text};
pub use results::replay::{ReplayReport, replay_json, replay_text};
pub use results::run::{Results, RunReport};
pub use results::spec::{SpecReport, spec_json, spec_text};
pub use results::stepping::{
    EnabledReport, SteppingReport, SteppingState, ThreadRegisters, stepping_html, stepping_json,
};
pub use results::tables::{TableReport, TableRow, table_text, tables_json};
pub use style::{Style, count, wrap};
