//! What other programs read, and what comes back from files: CI systems, pages, saved reports, parts of campaigns.

pub(crate) mod aut;
pub(crate) mod case;
pub(crate) mod html;
pub(crate) mod junit;
pub(crate) mod merge;
pub(crate) mod outside;
pub(crate) mod sarif;
pub(crate) mod saved;
pub(crate) mod shard;
pub(crate) mod xml;
