//! What is allowed where: everything that is wrong with a file and not with its syntax.

pub(crate) mod access;
pub(crate) mod algorithm;
pub(crate) mod block;
pub(crate) mod checker;
pub(crate) mod client;
pub(crate) mod events;
pub(crate) mod executed;
pub(crate) mod flow;
pub(crate) mod labels;
pub(crate) mod method;
pub(crate) mod named;
pub(crate) mod names;
pub(crate) mod paths;
pub(crate) mod stm;
pub(crate) mod stmt;
pub(crate) mod table;
pub(crate) mod values;
