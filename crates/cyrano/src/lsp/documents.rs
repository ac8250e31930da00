//! The texts that are open in an editor, over the files of this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cyrano_session::{Failure, Files, Source};

use crate::source::Disk;

/// What is open, by its URI.
#[derive(Clone, Default)]
pub struct Documents {
    texts: BTreeMap<String, String>,
}

impl Documents {
    /// The text of something that is open.
    pub fn text(&self, uri: &str) -> Option<&str> {
        self.texts.get(uri).map(String::as_str)
    }

    /// What is open.
    pub fn open(&self) -> Vec<String> {
        self.texts.keys().cloned().collect()
    }

    /// A text is this now.
    pub fn put(&mut self, uri: &str, text: String) {
        self.texts.insert(uri.to_owned(), text);
    }

    /// A text is what its file holds again.
    pub fn remove(&mut self, uri: &str) {
        self.texts.remove(uri);
    }

    /// A text as a source, named by its path.
    pub fn source(&self, uri: &str) -> Option<Source> {
        let path = path(uri);
        let dir = path.parent().unwrap_or(Path::new("")).to_owned();
        Some(Source { name: path.display().to_string(), text: self.text(uri)?.to_owned(), dir: Some(dir) })
    }

    fn opened(&self, name: &Path) -> Option<Source> {
        let uri = self.texts.keys().find(|uri| path(uri) == name)?;
        self.source(uri)
    }
}

impl Files for Documents {
    fn open(&self, name: &str) -> Result<Source, Failure> {
        self.opened(Path::new(name)).map_or_else(|| Disk.open(name), Ok)
    }

    fn beside(&self, source: &Source, name: &str) -> Result<Source, Failure> {
        let opened = source.dir.as_ref().and_then(|dir| self.opened(&dir.join(name)));
        opened.map_or_else(|| Disk.beside(source, name), Ok)
    }
}

/// The path of a URI; a text that was never saved has its URI for a path.
pub fn path(uri: &str) -> PathBuf {
    let Some(rest) = uri.strip_prefix("file://") else { return PathBuf::from(uri) };
    let (mut bytes, mut at) = (Vec::with_capacity(rest.len()), 0);
    while at < rest.len() {
        let digits = rest.as_bytes()[at] == b'%';
        let decoded =
            rest.get(at + 1..at + 3).filter(|_| digits).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(rest.as_bytes()[at]));
        at += if decoded.is_some() { 3 } else { 1 };
    }
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_paths() {
        assert_eq!(path("file:///a/b%20c/%C3%A9.rml"), PathBuf::from("/a/b c/é.rml"));
        assert_eq!(path("file:///100%"), PathBuf::from("/100%"));
        assert_eq!(path("untitled:one.rml"), PathBuf::from("untitled:one.rml"));
    }
}
