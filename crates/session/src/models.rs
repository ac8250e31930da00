//! Memory models by name, and those that a program names.

use std::path::Path;

use cyrano_ir::{origin, suggest};
use cyrano_memory::Model;
use cyrano_memory::cat::{self, Cat};

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
    files.beside(program, name).and_then(|file| parse(&file, files)).map_err(ModelError::File)
}

/// Whether a name is that of a file.
pub fn looks_like_path(name: &str) -> bool {
    name.contains(['/', '\\', '.'])
}

/// The model in a file, which is in cat if it is called so.
pub fn parse(source: &Source, files: &dyn Files) -> Result<Model, Failure> {
    let path = Path::new(&source.name);
    if path.extension().is_some_and(|ending| ending == "cat") {
        return parse_cat(source, files);
    }
    let stem = path.file_stem();
    let stem = stem.map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned());
    cyrano_memory::file::parse(&source.text, &stem).map_err(|errors| Failure::source(source, errors))
}

/// The model in a cat file, with all files that it includes put behind it.
fn parse_cat(source: &Source, files: &dyn Files) -> Result<Model, Failure> {
    let mut text = source.text.clone();
    let mut known: Vec<String> = Vec::new();
    let mut wanted = cat::includes(&text);
    while let Some(name) = wanted.pop() {
        // A file that is not there is complained about where it is included.
        if !known.contains(&name)
            && let Ok(file) = files.beside(source, &name)
        {
            wanted.extend(cat::includes(&file.text));
            text.push_str(&format!("\n{}{name}\n{}", origin::MARK, file.text));
            known.push(name);
        }
    }
    let whole = Source { text, ..source.clone() };
    let cat = Cat::parse(&whole.text).map_err(|errors| Failure::source(&whole, errors))?;
    let name = Path::new(&source.name).file_name().map_or_else(Default::default, |name| name.to_string_lossy());
    let summary = cat.title().map_or_else(|| format!("A model read from `{name}`."), |title| format!("{title}."));
    Ok(Model::from_cat(name, summary, cat))
}

/// The name for [`everywhere`].
pub const ALL: &str = "all";

/// The built-in models that a check may be asked on where nobody says which: those of machines and languages, without twins and without the model that
/// specifications are mined under.
pub fn everywhere() -> Vec<Model> {
    let serial = |model: &Model| cyrano_memory::named("serial").is_some_and(|serial| serial == *model);
    let twin = |model: &Model| model.name.starts_with("cat:");
    let all = cyrano_memory::all().into_iter().chain(cyrano_memory::relational());
    all.filter(|model| !serial(model) && !twin(model)).collect()
}

/// What to say about a name that is no model's.
pub fn known(wrong: &str) -> String {
    let all: Vec<Model> = cyrano_memory::all().into_iter().chain(cyrano_memory::relational()).collect();
    let names: Vec<&str> = all.iter().map(|model| model.name.as_str()).collect();
    let near = suggest::closest(wrong, names.iter().copied());
    let near = near.map(|near| format!("Did you mean `{near}`? ")).unwrap_or_default();
    format!("{near}The models are {}; a path to a model file or a .cat file will do too", names.join(", "))
}
