//! Litmus tests in herd's format.

use std::sync::Arc;

use cyrano_fences::FenceText;

use super::{Frontend, Wanted, without_tests};
use crate::case::Case;
use crate::failure::Failure;
use crate::source::{Files, Source};

/// herd's format.
#[derive(Debug)]
pub(super) struct Litmus;

impl Frontend for Litmus {
    fn cases(
        &'static self,
        source: &Source,
        set: &[(String, i128)],
        wanted: &Wanted,
        _: &dyn Files,
    ) -> Result<Vec<Case>, Failure> {
        without_tests(source, wanted)?;
        if let Some((name, _)) = set.first() {
            return Err(Failure::input(format!(
                "{}: no constant `{name}` to set; litmus tests have none",
                source.name
            )));
        }
        let test = cyrano_litmus::compile(&source.text).map_err(|errors| Failure::source(source, errors))?;
        let case = Case::new(self, source, &[], test.program.clone());
        Ok(vec![Case { litmus: Some(Arc::new(test)), ..case }])
    }

    fn fences(&self) -> Result<&'static dyn FenceText, &'static str> {
        Ok(&cyrano_fences::Litmus)
    }
}
