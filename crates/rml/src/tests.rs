//! Units that need the tokens; all other tests are in `tests/`.

mod soup;

use crate::syntax::token::Token;

#[test]
fn every_keyword_is_explained() {
    const REFERENCE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rml.md"));
    let known: Vec<_> = REFERENCE.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let missing: Vec<_> = Token::WORDS.iter().filter(|word| !known.contains(word)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
