//! `use FILE;`: the program of another file instead of a copy of it.
//!
//! The used file's text is put behind the text of the file that uses it, after a line that says where it comes from ([`origin`]): places in it stay what they are,
//! and the result is one text that can be compiled, saved and replayed by itself. What the used file claims and with which client, its `check`, `client` and
//! `observe` declarations, is left out, and so are constants that the using file declares itself; what is left out is replaced by spaces.
//!
//! **Invariant:** a text without `use` comes back unchanged, and what comes back has none.

use cyrano_ir::{Diagnostic, Span, origin};

use crate::report::Reports;
use crate::syntax::ast::File;
use crate::syntax::parser::parse;

/// How many files may use one another.
const MOST_FILES: usize = 16;

/// A file that cannot be put together, and why.
#[derive(Debug)]
pub struct Unusable<S> {
    /// The file.
    pub source: S,
    /// What is wrong with it.
    pub errors: Vec<Diagnostic>,
}

/// Where used files come from.
pub trait Resolver {
    /// A file with what is needed to find others beside it.
    type Source: Clone;

    /// The name and the text of a file.
    fn text<'s>(&self, source: &'s Self::Source) -> (&'s str, &'s str);

    /// The file that another one calls by this name; or why there is none.
    fn open(&self, from: &Self::Source, name: &str) -> Result<Self::Source, String>;
}

/// The text of a file with the files that it uses; none if it uses none.
pub fn together<R: Resolver>(source: &R::Source, files: &R) -> Result<Option<String>, Unusable<R::Source>> {
    let (name, text) = files.text(source);
    let file = parse(text, &mut Reports::default());
    if file.uses.is_empty() {
        return Ok(None);
    }
    let mut joined = Joined { files, names: vec![name.to_owned()], constants: constants(&file), text: String::new() };
    joined.text = blanked(text, file.uses.iter().map(|used| used.span));
    joined.add_used(source, &file)?;
    Ok(Some(joined.text))
}

fn constants(file: &File) -> Vec<String> {
    file.consts.iter().map(|constant| constant.name.text.clone()).collect()
}

struct Joined<'r, R> {
    files: &'r R,
    names: Vec<String>,
    /// The constants that are declared so far.
    constants: Vec<String>,
    text: String,
}

impl<R: Resolver> Joined<'_, R> {
    fn add_used(&mut self, source: &R::Source, file: &File) -> Result<(), Unusable<R::Source>> {
        for used in &file.uses {
            let wrong = |message: String, label: &str, help: &str| {
                let diagnostic = Diagnostic::new(used.path, message, label).with_help(help);
                Unusable { source: source.clone(), errors: vec![diagnostic] }
            };
            let help = "write `use lib:stm/mcrt_timestamps;`, or the path of a file beside this one: `use mine;`, `use \"../mine.rml\";`";
            let opened = self.files.open(source, &ending(&used.name));
            let opened =
                opened.map_err(|why| wrong(format!("`{}` cannot be used: {why}", used.name), "used here", help))?;
            let (name, _) = self.files.text(&opened);
            if self.names.iter().any(|known| known == name) {
                let message = format!("`{name}` is used twice, or uses itself");
                return Err(wrong(message, "used here once more", "a file is used once, and not by what it uses"));
            }
            if self.names.len() >= MOST_FILES {
                return Err(wrong(format!("more than {MOST_FILES} files"), "one too many", "put them into one file"));
            }
            self.names.push(name.to_owned());
            self.add(&opened)?;
        }
        Ok(())
    }

    fn add(&mut self, source: &R::Source) -> Result<(), Unusable<R::Source>> {
        let (name, text) = self.files.text(source);
        let file = parse(text, &mut Reports::default());
        let known = |names: &[String]| names.iter().all(|name| self.constants.contains(name));
        let dropped = file.items.iter().filter(|item| match item.constants.as_slice() {
            [] => item.is_claim,
            names => known(names),
        });
        let dropped = dropped.map(|item| item.span).chain(file.uses.iter().map(|used| used.span));
        let kept = blanked(text, dropped);
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(&format!("{}{}\n{kept}", origin::MARK, name.replace('\n', " ")));
        self.constants.extend(constants(&file));
        self.add_used(source, &file)
    }
}

/// The name with the ending of the language, if it has none.
fn ending(name: &str) -> String {
    if name.ends_with(".rml") { name.to_owned() } else { format!("{name}.rml") }
}

/// The text with spaces in these places; lines stay.
fn blanked(text: &str, places: impl Iterator<Item = Span>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for place in places {
        let range = place.range();
        bytes[range].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).expect("whole declarations became spaces")
}
