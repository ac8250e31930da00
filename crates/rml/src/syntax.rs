//! Text to tree: tokens, the syntax tree, and the parser.

pub(crate) mod algorithm;
pub(crate) mod ast;
pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod expr;
pub(crate) mod item;
pub(crate) mod lexer;
pub(crate) mod objects;
pub(crate) mod parser;
pub(crate) mod rhs;
pub(crate) mod stm;
pub(crate) mod stmt;
pub(crate) mod token;
