//! Memory models by name, and those that a program names.

use std::path::Path;

use cyrano_ir::suggest;
use cyrano_memory::Model;

use crate::failure::Failure;
use crate::source::{Files, Source};

/// Why a name inside a program is no model.
pub(crate) enum ModelError {
    /// Nothing is called that; this would be right.
    Unknown(String),
    /// The file it names is unusable.
    File(Failure),
}

/// The model that a program's `check … on NAME` means; what is wrong with the name otherwise.
pub(crate) fn in_program(name: &str, program: &Source, files: &dyn Files) -> Result<Model, ModelError> {
    if let Some(model) = cyrano_memory::named(name) {
        return Ok(model);
    }
    if program.dir.is_none() || !looks_like_path(name) {
        return Err(ModelError::Unknown(known(name)));
    }
    files.beside(program, name).and_then(|file| parse(&file)).map_err(ModelError::File)
}

/// Whether a name is that of a file.
pub fn looks_like_path(name: &str) -> bool {
    name.contains(['/', '\\', '.'])
}

/// The model in a file.
pub fn parse(source: &Source) -> Result<Model, Failure> {
    let stem = Path::new(&source.name).file_stem();
    let stem = stem.map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned());
    cyrano_memory::file::parse(&source.text, &stem).map_err(|errors| Failure::source(source, errors))
}

/// What to say about a name that is no model's.
pub fn known(wrong: &str) -> String {
    let all = cyrano_memory::all();
    let names: Vec<&str> = all.iter().map(|model| model.name.as_str()).collect();
    let near = suggest::closest(wrong, names.iter().copied());
    let near = near.map(|near| format!("Did you mean `{near}`? ")).unwrap_or_default();
    format!("{near}The models are {}; a path to a model file will do too", names.join(", "))
}
