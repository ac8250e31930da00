//! How many random programs both engines were compared on, under each model and with each feature.

use std::fmt;

use cyrano_engine::Limits;
use cyrano_ir::Program;
use cyrano_memory::Model;

use super::features::{FEATURES, features};
use crate::compare::Disagreement;
use crate::relations::{Compared, compare};

/// What came of the programs of one model.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// How many programs there were.
    pub programs: usize,
    /// How many of them both engines gave all outcomes of.
    pub compared: usize,
    /// How many other questions both answered.
    pub checks: usize,
    /// Of those compared, how many have each feature.
    pub features: [usize; FEATURES.len()],
    /// Why the others were not, and how many.
    pub others: Vec<(String, usize)>,
}

/// A row for each model.
#[derive(Clone, Debug)]
pub struct Table {
    models: Vec<Model>,
    rows: Vec<Row>,
}

impl Table {
    /// Nothing yet, about all models that are about relations.
    pub fn new() -> Self {
        let models = cyrano_memory::relational();
        let rows = vec![Row::default(); models.len()];
        Self { models, rows }
    }

    /// The models.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The rows, in their order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How many programs were compared, and under the model with the fewest.
    pub fn compared(&self) -> (usize, usize) {
        let counts = || self.rows.iter().map(|row| row.compared);
        (counts().sum(), counts().min().unwrap_or(0))
    }

    /// Compares the engines on one more program.
    pub fn add(&mut self, program: &Program, model: usize, limits: &dyn Fn() -> Limits) -> Result<(), Disagreement> {
        let found = compare(program, &self.models[model], limits)?;
        let row = &mut self.rows[model];
        row.programs += 1;
        match found {
            Compared::Fully { checks } => {
                row.compared += 1;
                row.checks += checks;
                let own = features(program);
                row.features.iter_mut().zip(own).for_each(|(count, has)| *count += usize::from(has));
            }
            Compared::Not(why) => match row.others.iter_mut().find(|(known, _)| *known == why) {
                Some((_, count)) => *count += 1,
                None => row.others.push((why, 1)),
            },
        }
        Ok(())
    }
}

impl Default for Table {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:8}{:>9}{:>9}{:>8}", "model", "programs", "compared", "checks")?;
        FEATURES.iter().try_for_each(|name| write!(f, "{name:>9}"))?;
        let mut sum = Row::default();
        for (name, row) in self.models.iter().map(|model| &*model.name).zip(&self.rows) {
            line(f, name, row)?;
            sum.programs += row.programs;
            sum.compared += row.compared;
            sum.checks += row.checks;
            sum.features.iter_mut().zip(row.features).for_each(|(sum, count)| *sum += count);
        }
        line(f, "all", &sum)?;
        for (name, row) in self.models.iter().map(|model| &*model.name).zip(&self.rows) {
            for (why, count) in &row.others {
                write!(f, "\nnot compared under {name}: {count}, {why}")?;
            }
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, row: &Row) -> fmt::Result {
    write!(f, "\n{name:8}{:>9}{:>9}{:>8}", row.programs, row.compared, row.checks)?;
    row.features.iter().try_for_each(|count| write!(f, "{count:>9}"))
}
