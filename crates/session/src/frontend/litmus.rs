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

    /// What a litmus test observes it observes by design; a table of instructions is no place for RML's fences.
    fn fences(&self) -> Result<&'static dyn FenceText, &'static str> {
        Err("fences are sought for `.rml` and `.c` files, not for litmus tests; \
             write the fence (`MFENCE`, `atomic_thread_fence`) into the test and run `cyrano litmus` on it")
    }
}
