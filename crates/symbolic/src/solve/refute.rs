//! That a formula has no model, proven: another solver answers the exported formula again and writes down how, in DRAT form.
//!
//! The engine's own answers come from a solver with a theory of orders, whose lemmas no checker of propositional proofs knows. So a proof is not of that run. The
//! formula that is exported has the order as clauses (`cubic`), which leaves nothing to a theory; varisat solves it, and each clause that it learns is a line of the proof.
//!
//! **Invariant:** nothing is believed of varisat. Whoever wants to be sure has the proof checked, with the formula, by a program that is neither of the two.

use std::io::{self, Write};

use cyrano_engine::{Limits, Stop};
use varisat::{ProofFormat, Solver};

/// What another solver says of a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refutation {
    /// There is no model: the proof, a text in DRAT form.
    Proof(String),
    /// There is one.
    Satisfiable,
}

/// Solves a formula in DIMACS form within limits of time and memory. `Err` says why it is not solved.
pub fn refute(dimacs: &str, limits: &Limits) -> Result<Refutation, String> {
    let mut target = Target { text: Vec::new(), limits, stop: None };
    let solved = solve(dimacs, &mut target);
    if let Some(stop) = target.stop {
        return Err(format!("there is no proof: {}", stop.reason()));
    }
    match solved? {
        true => Ok(Refutation::Satisfiable),
        false => String::from_utf8(target.text).map(Refutation::Proof).map_err(|error| error.to_string()),
    }
}

fn solve(dimacs: &str, target: &mut Target<'_>) -> Result<bool, String> {
    let mut solver = Solver::new();
    solver.write_proof(target, ProofFormat::Drat);
    solver.add_dimacs_cnf(dimacs.as_bytes()).map_err(|error| error.to_string())?;
    let satisfiable = solver.solve().map_err(|error| error.to_string())?;
    solver.close_proof().map_err(|error| error.to_string())?;
    Ok(satisfiable)
}

/// Keeps a proof as long as it may: what it refuses to take stops the solver.
struct Target<'l> {
    text: Vec<u8>,
    limits: &'l Limits,
    stop: Option<Stop>,
}

impl Write for &mut Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stop = self.stop.or(self.limits.exceeded((self.text.len() + bytes.len()) as u64));
        match self.stop {
            Some(stop) => Err(io::Error::other(stop.reason())),
            None => {
                self.text.extend_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: &str = "p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n";

    #[test]
    fn what_has_no_model_has_a_proof() {
        let Ok(Refutation::Proof(proof)) = refute(NONE, &Limits::default()) else { panic!("there is no model") };
        assert_eq!(proof.lines().last(), Some("0"), "it ends with the empty clause: {proof}");
        let some = NONE.replace("-1 -2 0\n", "").replace("2 4", "2 3");
        assert_eq!(refute(&some, &Limits::default()), Ok(Refutation::Satisfiable));
        let tight = Limits { memory: 1, ..Limits::default() };
        assert!(refute(NONE, &tight).is_err_and(|why| why.contains("memory")));
        assert!(refute("p cnf", &Limits::default()).is_err());
    }
}
