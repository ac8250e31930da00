//! Who says whether a graph is allowed: one question for all models ([`consistency`]), what is written for `sc`, `tso` and `pso` ([`total`]) and for `ra` and `rc11` ([`views`]), and what a
//! model of a user has to promise ([`promises`]).

pub(crate) mod consistency;
pub(crate) mod promises;
pub(crate) mod total;
pub(crate) mod views;
