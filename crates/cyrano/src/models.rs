//! From names and paths to memory models.

use std::path::Path;

use cyrano_ir::suggest;
use cyrano_memory::Model;

use crate::args::ColorChoice;
use crate::console;
use crate::diagnostics;
use crate::failure::Failure;
use crate::source::{self, Source};

/// The models of a command line, each once.
pub fn resolve_all(names: &[String], color: ColorChoice) -> Result<Vec<Model>, Failure> {
    let mut models: Vec<Model> = Vec::new();
    for name in names {
        let model = resolve(name, color)?;
        if !models.contains(&model) {
            models.push(model);
        }
    }
    Ok(models)
}

/// The model of this name, or in this file.
pub fn resolve(name: &str, color: ColorChoice) -> Result<Model, Failure> {
    if let Some(model) = cyrano_memory::named(name) {
        return Ok(model);
    }
    let path = Path::new(name);
    if looks_like_path(name) || path.exists() {
        return from_file(path, color);
    }
    Err(Failure::input(format!("there is no memory model `{name}`. {}", known(name))))
}

/// The model that a program's `check … on NAME` means; what is wrong with the name otherwise.
pub fn in_program(name: &str, program: &Source, color: ColorChoice) -> Result<Model, ModelError> {
    if let Some(model) = cyrano_memory::named(name) {
        return Ok(model);
    }
    match &program.dir {
        Some(dir) if looks_like_path(name) => from_file(&dir.join(name), color).map_err(ModelError::File),
        _ => Err(ModelError::Unknown(known(name))),
    }
}

/// Why a name inside a program is no model.
pub enum ModelError {
    /// Nothing is called that; this would be right.
    Unknown(String),
    /// The file it names is unusable.
    File(Failure),
}

fn looks_like_path(name: &str) -> bool {
    name.contains(['/', '\\', '.'])
}

fn from_file(path: &Path, color: ColorChoice) -> Result<Model, Failure> {
    let source = source::file(path)?;
    let stem = path.file_stem().map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned());
    cyrano_memory::file::parse(&source.text, &stem)
        .map_err(|errors| Failure::Input(diagnostics::render(&source, &errors, console::error_color(color))))
}

fn known(wrong: &str) -> String {
    let all = cyrano_memory::all();
    let names: Vec<&str> = all.iter().map(|model| model.name.as_str()).collect();
    let near = suggest::closest(wrong, names.iter().copied());
    let near = near.map(|near| format!("Did you mean `{near}`? ")).unwrap_or_default();
    format!("{near}The models are {}; a path to a model file will do too", names.join(", "))
}
