//! Widths and colours.

/// How text is to be laid out.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether to colour.
    pub color: bool,
    /// How many columns there are; at least [`Style::MIN_WIDTH`] are used.
    pub width: usize,
}

/// Wrapped text is never squeezed below this; it rather sticks out.
const MIN_TEXT: usize = 8;

/// What a piece of text is, for colouring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Paint {
    Good,
    Bad,
    Unsure,
    Strong,
    Faint,
}

impl Style {
    /// Narrower terminals get lines of this width all the same.
    pub const MIN_WIDTH: usize = 60;

    pub(crate) fn columns(self) -> usize {
        self.width.max(Self::MIN_WIDTH)
    }

    /// Appends a coloured line.
    pub(crate) fn line(self, out: &mut String, paint: Paint, text: &str) {
        out.push_str(&self.paint(paint, text));
        out.push('\n');
    }

    /// Colours a text that has already been padded, with a mark that [`crate::terminal`] knows.
    pub(crate) fn paint(self, paint: Paint, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Good => "32",
            Paint::Bad => "1;31",
            Paint::Unsure => "33",
            Paint::Strong => "1",
            Paint::Faint => "2",
        };
        let mark = crate::plain::mark();
        format!("{mark}[{code}m{text}{mark}[0m")
    }
}

/// The number of columns a text takes. Source text is mostly ASCII, so one column per character is near enough.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// The text, filled with spaces on the right.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text, filled with spaces on the left.
pub(crate) fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Breaks a text into lines at spaces; a word that is longer than a line is broken where it must be.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        let line = lines.last().expect("there is always a line");
        if !line.is_empty() && width(line) + 1 + rest.len() > columns {
            lines.push(String::new());
        } else if !line.is_empty() {
            lines.last_mut().expect("there is always a line").push(' ');
        }
        while rest.len() > columns {
            lines.last_mut().expect("there is always a line").extend(rest.drain(..columns));
            lines.push(String::new());
        }
        lines.last_mut().expect("there is always a line").extend(rest);
    }
    lines
}

/// Appends the text, wrapped, with `first` before its first line and as many spaces before the others.
pub(crate) fn hang(out: &mut String, first: &str, text: &str, style: Style) {
    let indent = width(first);
    for (at, line) in wrap(text, style.columns().saturating_sub(indent).max(MIN_TEXT)).iter().enumerate() {
        let lead = if at == 0 { first.to_owned() } else { " ".repeat(indent) };
        out.push_str(format!("{lead}{line}").trim_end());
        out.push('\n');
    }
}

/// The same, coloured as a whole.
pub(crate) fn hang_painted(out: &mut String, paint: Paint, first: &str, text: &str, style: Style) {
    let mut lines = String::new();
    hang(&mut lines, first, text, style);
    style.line(out, paint, lines.trim_end());
}

/// A number with thousands separated: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes in the unit that fits.
pub(crate) fn bytes(number: u64) -> String {
    const KIB: f64 = 1024.0;
    let number = number as f64;
    if number < KIB * KIB {
        format!("{:.0} KiB", (number / KIB).ceil())
    } else if number < KIB * KIB * KIB {
        format!("{:.1} MiB", number / KIB / KIB)
    } else {
        format!("{:.1} GiB", number / KIB / KIB / KIB)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces() {
        let check = |text: &str, columns: usize, expected: &[&str]| assert_eq!(wrap(text, columns), expected);
        check("a bb ccc", 4, &["a bb", "ccc"]);
        check("a bb ccc", 80, &["a bb ccc"]);
        check("abcdefgh i", 3, &["abc", "def", "gh", "i"]);
        check("x abcdef", 3, &["x", "abc", "def"]);
        check("", 3, &[""]);
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(0), "0 KiB");
        assert_eq!(bytes(1), "1 KiB");
        assert_eq!(bytes(3 << 20), "3.0 MiB");
        assert_eq!(bytes(5 << 30), "5.0 GiB");
    }

    #[test]
    fn colour_is_optional() {
        let style = |color| Style { color, width: 80 };
        assert_eq!(style(false).paint(Paint::Bad, "violated"), "violated");
        let painted = crate::plain::terminal(&style(true).paint(Paint::Bad, "violated"));
        assert_eq!(painted, "\u{1b}[1;31mviolated\u{1b}[0m");
    }
}
