//! `cyrano view`: a saved trace or report as a page in the browser.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cyrano_report::saved_html;

use crate::args::{OutputArgs, ViewArgs};
use crate::failure::Failure;
use crate::{console, source};

/// What opens a file the way the user's desktop does.
#[cfg(target_os = "macos")]
const OPENERS: &[&str] = &["open"];
#[cfg(windows)]
const OPENERS: &[&str] = &["explorer"];
#[cfg(not(any(target_os = "macos", windows)))]
const OPENERS: &[&str] = &["xdg-open"];

/// How many pages of one name the directory for temporary files may have.
const MOST_PAGES: u32 = 10_000;

/// Runs the command.
pub fn run(args: &ViewArgs) -> Result<u8, Failure> {
    let saved = source::trace(&args.file)?;
    let unusable = |error| Failure::input(format!("{}: this cannot be shown: {error}", saved.name));
    let html = saved_html(&saved.text).map_err(unusable)?;
    let path = match &args.output {
        Some(path) => write(path, &html).map(|()| path.clone()),
        None => write_temporary(&args.file, &html),
    }?;
    console::print(&format!("{}\n", path.display()))?;
    if !args.no_open && !open(&path) {
        console::error("no browser could be started; open the page by hand");
    }
    Ok(0)
}

/// Writes a page that was asked for beside other output, and says so.
pub fn save(path: Option<&Path>, output: &OutputArgs, html: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    write(path, &html())?;
    console::note(output, &format!("page written to {}", path.display()));
    Ok(())
}

fn write(path: &Path, html: &str) -> Result<(), Failure> {
    std::fs::write(path, html).map_err(|error| unwritten(path, &error))
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
