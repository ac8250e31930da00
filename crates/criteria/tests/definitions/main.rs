//! The monitors, specifications and fast decisions against the definitions, on all short histories and on random long ones.

mod history;
mod monitor;
mod oracle;
mod spec;
mod structure;
mod table;
mod values;
