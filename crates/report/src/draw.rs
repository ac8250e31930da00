//! One execution as a drawing: lanes of text, pictures and graphs.

pub(crate) mod chart;
pub(crate) mod dot;
pub(crate) mod graph_dot;
pub(crate) mod graph_svg;
pub(crate) mod lanes;
pub(crate) mod lasso;
pub(crate) mod mermaid;
pub(crate) mod rows;
pub(crate) mod svg;
