//! Litmus tests: from paths and folders to files.

use cyrano_session::{Failure, Source};

use crate::args::SourceLanguage;
use crate::inputs;
use crate::source;

/// How the names of litmus tests end.
const ENDINGS: [&str; 1] = ["litmus"];

/// The tests that these paths name, in order, each once; whatever is wrong with any path is said at once. A path that is a file is a test, whatever it is called.
pub fn gather(paths: &[String]) -> Result<Vec<Source>, Failure> {
    let names = inputs::files(paths, Some(SourceLanguage::Litmus), &ENDINGS)?;
    Failure::all(names.iter().map(|name| source::history(name)))
}
