//! Executions as users meet them: those that a counterexample stands for, and those that somebody steps through by hand.

mod shapes;
mod stepping;
