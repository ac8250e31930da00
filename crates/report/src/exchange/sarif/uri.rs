//! File names as URIs (RFC 3986): relative ones below the root of the sources, entries of the built-in library below a root of their own.

use super::schema::ArtifactLocation;

/// The root of the sources, under the name that code hosts expect.
pub(super) const SOURCES: &str = "%SRCROOT%";

/// The root of the built-in library.
pub(super) const LIBRARY: &str = "CYRANO_LIBRARY";

/// The location of a file by the name that the user gave it.
pub(super) fn location(file: &str) -> ArtifactLocation {
    let (uri, base) = match file.strip_prefix("lib:") {
        Some(entry) => (encode(entry), Some(LIBRARY)),
        None if file.starts_with('/') => (format!("file://{}", encode(file)), None),
        None => (encode(file.trim_start_matches("./")), Some(SOURCES)),
    };
    ArtifactLocation { uri, uri_base_id: base, index: None }
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
            let found = location(file);
            assert_eq!((found.uri.as_str(), found.uri_base_id), (uri, base));
        };
        check("./src/a b.rml", "src/a%20b.rml", Some(SOURCES));
        check("lib:stm/tl2.rml", "stm/tl2.rml", Some(LIBRARY));
        check("/x/<y>&\".c", "file:///x/%3Cy%3E%26%22.c", None);
        check("a:b\n?#ü.rml", "a%3Ab%0A%3F%23%C3%BC.rml", Some(SOURCES));
    }
}
