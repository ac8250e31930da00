//! Standard output and standard error: writing, width, colour.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use cyrano_report::{Style, ascii, terminal};

use crate::args::{ColorChoice, OutputArgs};
use cyrano_session::Failure;

/// The width of text that does not go to a terminal.
const PAPER_WIDTH: usize = 100;

/// Wider terminals are not filled: long lines are hard to read.
const MAX_WIDTH: usize = 140;

/// Writes results for people; characters that a terminal would obey are shown by their numbers.
pub fn print(text: &str) -> Result<(), Failure> {
    print_raw(&drawn(&terminal(text)))
}

/// Writes what is to be taken as it is. A reader that has gone away (`cyrano … | head`) is no error.
pub fn print_raw(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a message to standard error. If even that fails there is nobody left to tell.
pub fn error(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{}", drawn(&terminal(text.trim_end())));
}

/// Writes a remark to standard error, unless the user asked for quiet.
pub fn note(output: &OutputArgs, text: &str) {
    if !output.quiet {
        error(text);
    }
}

/// The layout of results.
pub fn style(output: &OutputArgs) -> Style {
    let stdout = std::io::stdout();
    Style { color: wants_color(output.color, stdout.is_terminal()), width: width(stdout.is_terminal()) }
}

/// Whether messages on standard error are coloured.
pub fn error_color(choice: ColorChoice) -> bool {
    wants_color(choice, std::io::stderr().is_terminal())
}

/// Text as this terminal can show it: without our own signs where there are only those of ASCII.
fn drawn(text: &str) -> Cow<'_, str> {
    if is_dumb() || has_plain_locale() { Cow::Owned(ascii(text)) } else { Cow::Borrowed(text) }
}

/// Whether the terminal moves no cursor and has no colours.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether somebody asks for the signs of ASCII only: the first of these variables that says anything counts.
fn has_plain_locale() -> bool {
    let said =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os).find(|locale| !locale.is_empty());
    said.is_some_and(|locale| locale == "C" || locale == "POSIX")
}

fn wants_color(choice: ColorChoice, terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            terminal && !is_dumb() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

fn width(terminal: bool) -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let measured = || {
        let size = if terminal { terminal_size::terminal_size() } else { None };
        size.map(|(columns, _)| usize::from(columns.0).min(MAX_WIDTH))
    };
    asked.or_else(measured).unwrap_or(PAPER_WIDTH)
}
