//! From names and paths to memory models.

use std::path::Path;

use cyrano_memory::Model;
use cyrano_session::{Failure, models};

use crate::source;

/// The models of a command line, each once.
pub fn resolve_all(names: &[String]) -> Result<Vec<Model>, Failure> {
    let mut found: Vec<Model> = Vec::new();
    for name in names {
        let named = if name == models::ALL { models::everywhere() } else { vec![resolve(name)?] };
        for model in named {
            if !found.contains(&model) {
                found.push(model);
            }
        }
    }
    Ok(found)
}

/// Whether all models are meant that fit, so that one that does not is no mistake.
pub fn are_all(names: &[String]) -> bool {
    names.iter().any(|name| name == models::ALL)
}

/// The model of this name, or in this file.
pub fn resolve(name: &str) -> Result<Model, Failure> {
    if let Some(model) = cyrano_memory::named(name) {
        return Ok(model);
    }
    let path = Path::new(name);
    if models::looks_like_path(name) || path.exists() {
        return models::parse(&source::file(path)?, &source::Disk);
    }
    Err(Failure::input(format!(
        "there is no memory model `{name}`. {}, and so will `{}`",
        models::known(name),
        models::ALL
    )))
}
