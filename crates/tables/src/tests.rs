//! The library, as tests read it.

use std::path::Path;
use std::time::Duration;

use cyrano_session::{Failure, Files, Options, Source};

use crate::{Kept, Setup};

struct Library;

impl Files for Library {
    fn open(&self, name: &str) -> Result<Source, Failure> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library");
        let text = std::fs::read_to_string(path.join(name.trim_start_matches("lib:")));
        let text = text.map_err(|error| Failure::input(format!("{name}: {error}")))?;
        Ok(Source { name: name.to_owned(), text, dir: None })
    }

    fn beside(&self, source: &Source, name: &str) -> Result<Source, Failure> {
        self.open(&Path::new(&source.name).with_file_name(name).to_string_lossy())
    }
}

/// So many seconds for a cell.
pub(crate) fn setup(seconds: u64) -> Setup<'static> {
    Setup { files: &Library, options: Options::default(), timeout: Duration::from_secs(seconds), kept: Kept::default() }
}
