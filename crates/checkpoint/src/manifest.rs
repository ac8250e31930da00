//! The manifest of a checkpoint: a small text that names everything that counts.
//!
//! **Invariant:** the manifest in a directory is always a whole one. A new one is written to another file, which is put on the disk itself before it
//! takes the place of the old one; what it names must be on the disk before. Its last line is a checksum over all others.
//!
//! A line is a key, a space and a value. Keys can be repeated. A directory that has to keep several checkpoints has several manifests, with other
//! names.

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::files::{remove, sync_dir};

/// The name of the manifest in its directory.
pub const NAME: &str = "manifest";
const FIRST_LINE: &str = "cyrano checkpoint 1";

/// Keys and values, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Manifest {
    lines: Vec<(String, String)>,
    path: PathBuf,
}

impl Manifest {
    /// Adds a line.
    pub fn add(&mut self, key: &str, value: impl Display) {
        debug_assert!(!key.contains([' ', '\n']), "a key is a word");
        self.lines.push((key.to_owned(), value.to_string()));
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.lines.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// All values of a key, in order.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter(move |(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// A value that has to be there and has to be of this type.
    pub fn need<T: FromStr>(&self, key: &str) -> Result<T> {
        let value = self.get(key).and_then(|value| value.parse().ok());
        value.ok_or_else(|| Error::damaged(&self.path, format!("`{key}` is missing or makes no sense")))
    }

    /// A complaint about its content.
    pub fn wrong(&self, what: &str) -> Error {
        Error::damaged(&self.path, what)
    }

    /// A complaint about a value.
    pub fn senseless(&self, key: &str) -> Error {
        self.wrong(&format!("`{key}` makes no sense"))
    }

    /// Whether a directory has one.
    pub fn exists(dir: &Path) -> bool {
        dir.join(NAME).exists()
    }

    /// Removes that of a directory: what it names is going to change.
    pub fn remove(dir: &Path) -> Result<()> {
        remove(&dir.join(NAME))?;
        sync_dir(dir)
    }

    /// Reads that of a directory.
    pub fn load(dir: &Path) -> Result<Self> {
        Self::load_as(dir, NAME)
    }

    /// Reads the one with this name.
    pub fn load_as(dir: &Path, name: &str) -> Result<Self> {
        let path = dir.join(name);
        let bytes = std::fs::read(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::NoCheckpoint(dir.to_owned()),
            _ => Error::io(&path, error),
        })?;
        let damaged = |what: &str| Error::damaged(&path, what);
        let text = String::from_utf8(bytes).map_err(|_| damaged("it is not a text"))?;
        let body = text.strip_suffix('\n').and_then(|text| text.rsplit_once('\n'));
        let (body, last) = body.ok_or_else(|| damaged("it has no end"))?;
        let body = format!("{body}\n");
        if last != format!("checksum {:016x}", xxh3_64(body.as_bytes())) {
            return Err(damaged("its checksum is wrong"));
        }
        let mut lines = body.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err(damaged("it is of another kind of checkpoint, or of another version"));
        }
        let pair = |line: &str| {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            (key.to_owned(), unescape(value))
        };
        Ok(Self { lines: lines.map(pair).collect(), path })
    }

    /// Writes it into a directory, in place of the one that is there.
    pub fn save(&self, dir: &Path) -> Result<()> {
        self.save_as(dir, NAME)
    }

    /// Writes it with this name.
    pub fn save_as(&self, dir: &Path, name: &str) -> Result<()> {
        let mut text = format!("{FIRST_LINE}\n");
        for (key, value) in &self.lines {
            let _ = writeln!(text, "{key} {}", escape(value));
        }
        let _ = writeln!(text, "checksum {:016x}", xxh3_64(text.as_bytes()));
        let (path, new) = (dir.join(name), dir.join(format!("{name}.new")));
        let written = File::create(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(|error| Error::io(&new, error))?;
        std::fs::rename(&new, &path).map_err(|error| Error::io(&path, error))?;
        sync_dir(dir)
    }
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(value: &str) -> String {
    let mut out = String::new();
    let mut rest = value.chars();
    while let Some(c) = rest.next() {
        match (c, c == '\\') {
            (_, true) => match rest.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => {}
            },
            (c, false) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_loaded() {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let mut manifest = Manifest::default();
        manifest.add("file", "a b");
        manifest.add("file", "c\\n\nd");
        manifest.add("states", 12);
        manifest.add("empty", "");
        manifest.save(dir.path()).expect("it can be saved");
        let loaded = Manifest::load(dir.path()).expect("it can be loaded");
        assert_eq!(loaded.lines, manifest.lines);
        assert_eq!(loaded.all("file").collect::<Vec<_>>(), ["a b", "c\\n\nd"]);
        assert_eq!(loaded.need::<u64>("states").ok(), Some(12));
        assert!(loaded.need::<u64>("file").is_err());
    }

    #[test]
    fn every_flipped_bit_and_every_missing_byte_is_noticed() {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let mut manifest = Manifest::default();
        manifest.add("states", 12);
        manifest.save(dir.path()).expect("it can be saved");
        let path = dir.path().join(NAME);
        let good = std::fs::read(&path).expect("it is there");
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            std::fs::write(&path, &bad).expect("it can be written");
            assert!(Manifest::load(dir.path()).is_err(), "bit {} of byte {at}", at % 8);
            std::fs::write(&path, &good[..at]).expect("it can be written");
            assert!(Manifest::load(dir.path()).is_err(), "{at} bytes");
        }
    }
}
