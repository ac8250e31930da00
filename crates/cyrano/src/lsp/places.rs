//! Places in a text as editors count them: lines and columns from 0, columns in UTF-16 units unless both sides agree on bytes.

use lsp_types::{InitializeParams, Position, PositionEncodingKind, Range};
use serde_json::Value;

use cyrano_ir::Span;

/// What columns count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// What the protocol counts unless something else is agreed on.
    Utf16,
}

impl Encoding {
    /// The one that both sides can do.
    pub fn of(params: &InitializeParams) -> Self {
        let offered = params.capabilities.general.as_ref().and_then(|general| general.position_encodings.as_ref());
        if offered.is_some_and(|offered| offered.contains(&PositionEncodingKind::UTF8)) {
            Self::Utf8
        } else {
            Self::Utf16
        }
    }

    fn units(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.encode_utf16().count(),
        }
    }
}

/// The offset of a position; behind the end of a line it is the line's end.
pub fn offset(text: &str, position: &Value, encoding: Encoding) -> usize {
    let number = |name: &str| position[name].as_u64().unwrap_or(0) as usize;
    let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
    let line = text[start..].split('\n').next().unwrap_or("");
    let mut units = number("character");
    for (at, c) in line.char_indices() {
        let width = encoding.units(&line[at..at + c.len_utf8()]);
        if units < width {
            return start + at;
        }
        units -= width;
    }
    start + line.len()
}

/// The position of an offset.
pub fn position(text: &str, offset: usize, encoding: Encoding) -> Position {
    let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Position::new(before.matches('\n').count() as u32, encoding.units(&before[start..]) as u32)
}

/// The range of a span.
pub fn range(text: &str, span: Span, encoding: Encoding) -> Range {
    let span = span.range();
    Range::new(position(text, span.start, encoding), position(text, span.end.max(span.start), encoding))
}

/// Where a line ends, counted from 1.
pub fn end_of_line(text: &str, line: usize, encoding: Encoding) -> Position {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    position(text, end, encoding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_are_those_of_the_editor() {
        let text = "a\né𝄞x\n";
        for (encoding, column) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3)] {
            let at = text.find('x').expect("it is there");
            assert_eq!(position(text, at, encoding), Position::new(1, column));
            assert_eq!(offset(text, &json!({ "line": 1, "character": column }), encoding), at);
        }
        assert_eq!(offset(text, &json!({ "line": 0, "character": 99 }), Encoding::Utf8), 1);
        assert_eq!(offset(text, &json!({ "line": 99, "character": 9 }), Encoding::Utf8), text.len());
    }
}
