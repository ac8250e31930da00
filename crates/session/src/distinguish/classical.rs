//! The classical tests under every built-in model, each in a language that the model understands.

use cyrano_litmus::generate::{Cycle, Target};
use cyrano_memory::Model;
use cyrano_report::ModelsTable;

use super::{Says, case, native, says};
use crate::failure::Failure;
use crate::run::Runner;

/// A test's name, and its cycle, in which `F` is the language's full fence.
const TESTS: [(&str, &str); 24] = [
    ("SB", "PodWR Fre PodWR Fre"),
    ("SB+fences", "FdWR Fre FdWR Fre"),
    ("MP", "PodWW Rfe PodRR Fre"),
    ("MP+fence+po", "FdWW Rfe PodRR Fre"),
    ("MP+fence+ctrl", "FdWW Rfe DpCtrldR Fre"),
    ("MP+fence+addr", "FdWW Rfe DpAddrdR Fre"),
    ("MP+fences", "FdWW Rfe FdRR Fre"),
    ("MP+release+acquire", "PodWWPL RfeLA PodRRAP FrePP"),
    ("LB", "PodRW Rfe PodRW Rfe"),
    ("LB+datas", "DpDatadW Rfe DpDatadW Rfe"),
    ("LB+fences", "FdRW Rfe FdRW Rfe"),
    ("WRC", "Rfe PodRW Rfe PodRR Fre"),
    ("WRC+data+addr", "Rfe DpDatadW Rfe DpAddrdR Fre"),
    ("WRC+fence+addr", "Rfe FdRW Rfe DpAddrdR Fre"),
    ("IRIW", "Rfe PodRR Fre Rfe PodRR Fre"),
    ("IRIW+addrs", "Rfe DpAddrdR Fre Rfe DpAddrdR Fre"),
    ("IRIW+fences", "Rfe FdRR Fre Rfe FdRR Fre"),
    ("2+2W", "PodWW Wse PodWW Wse"),
    ("2+2W+fences", "FdWW Wse FdWW Wse"),
    ("S", "PodWW Rfe PodRW Wse"),
    ("S+fence+data", "FdWW Rfe DpDatadW Wse"),
    ("R", "PodWW Wse PodWR Fre"),
    ("R+fences", "FdWW Wse FdWR Fre"),
    ("CoRR", "Rfe PosRR Fre"),
];

/// How a language's full fence starts a relation's name.
fn full_fence(target: Target) -> &'static str {
    match target {
        Target::X86 | Target::X86_64 | Target::Rml => "MFence",
        Target::AArch64 => "DMB.SY",
        Target::Riscv => "Fence.rw.rw",
        Target::Ppc => "Sync",
        Target::C => "FenceSc",
        Target::Kernel => "Mb",
    }
}

impl Runner {
    /// Which of the classical tests each model allows.
    pub fn classical(&self, models: &[Model]) -> Result<ModelsTable, Failure> {
        let rows = self.map(&TESTS, |_, (name, cycle)| {
            let cells = models.iter().map(|model| self.classical_cell(cycle, model));
            Ok(((*name).to_owned(), cells.collect::<Result<Vec<_>, Failure>>()?))
        })?;
        Ok(ModelsTable { models: models.iter().map(|model| model.name.clone()).collect(), rows })
    }

    /// Whether a model allows a test; nothing if the language has no such test, or the model no word for it.
    fn classical_cell(&self, cycle: &str, model: &Model) -> Result<Option<bool>, Failure> {
        let target = native(model).unwrap_or(Target::Rml);
        let dressed = |name: &str| match name.strip_prefix("Fd") {
            Some(rest) => format!("{}d{rest}", full_fence(target)),
            None => name.to_owned(),
        };
        let names: Vec<String> = cycle.split(' ').map(dressed).collect();
        let Ok((_, case)) = Cycle::parse(&names.join(" ")).and_then(|cycle| case(&cycle, target)) else {
            return Ok(None);
        };
        Ok(match says(self, &case, model)? {
            Says::Allowed => Some(true),
            Says::Forbidden => Some(false),
            Says::Nothing(_) | Says::Undecided(_) => None,
        })
    }
}
