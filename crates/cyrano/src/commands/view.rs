//! `cyrano view`: a saved trace or report as a page in the browser.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cyrano_report::saved_html;
use cyrano_session::Failure;
use cyrano_session::replay::replayed;

use crate::args::ViewArgs;
use crate::failure::BAD_INPUT;
use crate::outputs::Outputs;
use crate::{console, source};

/// What opens a file the way the user's desktop does.
#[cfg(target_os = "macos")]
const OPENERS: &[&str] = &["open"];
#[cfg(windows)]
const OPENERS: &[&str] = &["explorer"];
#[cfg(not(any(target_os = "macos", windows)))]
const OPENERS: &[&str] = &["xdg-open"];

/// The option for a page beside other output.
pub const HTML: &str = "--html";

/// The option for the page of this command.
const OUTPUT: &str = "--output";

/// How many pages of one name the directory for temporary files may have.
const MOST_PAGES: u32 = 10_000;

/// Runs the command.
pub fn run(args: &ViewArgs) -> Result<u8, Failure> {
    let saved = source::trace(&args.file)?;
    let unusable = |error| Failure::input(format!("{}: this cannot be shown: {error}", saved.name));
    let outputs = Outputs::quiet(true);
    outputs.claim(OUTPUT, args.output.as_deref())?;
    let page = saved_html(&saved.text, &replayed).map_err(unusable)?;
    page.doubts.iter().for_each(|doubt| console::error(&format!("{}: {doubt}", saved.name)));
    let exit = if page.doubts.is_empty() { 0 } else { BAD_INPUT };
    let path = match &args.output {
        Some(path) if !outputs.save(OUTPUT, path, "", &page.html) => return Ok(outputs.exit(exit)),
        Some(path) => path.clone(),
        None => write_temporary(&args.file, &page.html)?,
    };
    outputs.print(&format!("{}\n", path.display()));
    if !args.no_open && !open(&path) {
        console::error("no browser could be started; open the page by hand");
    }
    Ok(outputs.exit(exit))
}

/// Writes a page that was asked for beside other output, and says so.
pub fn save(outputs: &Outputs, path: Option<&Path>, html: impl FnOnce() -> String) {
    if let Some(path) = path {
        outputs.save(HTML, path, "page written to", &html());
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{}: cannot be written: {error}", path.display()))
}

/// Writes a file that was not there before, so that nobody else's is overwritten, whatever its name is.
fn write_temporary(file: &Path, html: &str) -> Result<PathBuf, Failure> {
    let mut number = 1;
    loop {
        let path = temporary(file, number);
        let created = std::fs::File::create_new(&path).and_then(|mut page| page.write_all(html.as_bytes()));
        match created {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST_PAGES => number += 1,
            Err(error) => return Err(unwritten(&path, &error)),
        }
    }
}

fn temporary(file: &Path, number: u32) -> PathBuf {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    std::env::temp_dir().join(format!("cyrano-{stem}-{number}.html"))
}

/// Shows a file in the browser; false if nothing on this machine does.
fn open(path: &Path) -> bool {
    start_browser(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).as_os_str())
}

/// Starts the browser with a file or an address; false if nothing on this machine does.
pub fn start_browser(target: &OsStr) -> bool {
    OPENERS.iter().any(|opener| {
        let mut command = Command::new(opener);
        command.arg(target).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success() || cfg!(windows))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_named_after_its_trace() {
        assert_eq!(temporary(Path::new("d/bug.json"), 3), std::env::temp_dir().join("cyrano-bug-3.html"));
    }
}
