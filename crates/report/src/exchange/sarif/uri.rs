//! File names as URIs (RFC 3986): relative ones below the root of the sources, entries of the built-in library below a root of their own.

use serde::Serialize;

use crate::results::json::object;

/// The root of the sources, under the name that code hosts expect.
pub(super) const SOURCES: &str = "%SRCROOT%";

/// The root of the built-in library.
pub(super) const LIBRARY: &str = "CYRANO_LIBRARY";

/// A file as results refer to it.
#[derive(Clone, PartialEq)]
pub(super) struct File {
    uri: String,
    base: Option<&'static str>,
}

impl File {
    /// The file that the user gave this name.
    pub(super) fn named(file: &str) -> Self {
        let (uri, base) = match file.strip_prefix("lib:") {
            Some(entry) => (encode(entry), Some(LIBRARY)),
            None if file.starts_with('/') => (format!("file://{}", encode(file)), None),
            None => (encode(file.trim_start_matches("./")), Some(SOURCES)),
        };
        Self { uri, base }
    }

    /// Where it is, with its number among the artifacts.
    pub(super) fn location(&self, index: Option<usize>) -> impl Serialize + use<> {
        object! { "uri": self.uri.clone(), "uriBaseId" ?: self.base, "index" ?: index }
    }
}

/// Percent-encodes whatever may not stand in the path of a URI; a colon would make a relative one look like a scheme.
fn encode(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' | b'@' => {
                out.push(byte.into());
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_uris() {
        let check = |file: &str, uri: &str, base: Option<&str>| {
            let found = File::named(file);
            assert_eq!((found.uri.as_str(), found.base), (uri, base));
        };
        check("./src/a b.rml", "src/a%20b.rml", Some(SOURCES));
        check("lib:stm/tl2.rml", "stm/tl2.rml", Some(LIBRARY));
        check("/x/<y>&\".c", "file:///x/%3Cy%3E%26%22.c", None);
        check("a:b\n?#ü.rml", "a%3Ab%0A%3F%23%C3%BC.rml", Some(SOURCES));
    }
}
