//! The key that all processes of a cluster share, and what it proves.
//!
//! **Invariant:** the key itself never leaves this file: others see message authentication codes only, and codes are compared in
//! constant time.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::Error;

/// How many bytes a code or digest has.
pub(crate) const CODE: usize = 32;
/// The shortest key, in bytes. Keys are not passwords: they are made by a machine.
const SHORTEST: usize = 16;

/// A key that all processes of a cluster share.
#[derive(Clone)]
pub struct Key(Vec<u8>);

impl Key {
    /// A key from the content of a file; white space around it does not count.
    pub fn new(content: &[u8]) -> Result<Self, Error> {
        let key = content.trim_ascii();
        if key.len() < SHORTEST {
            let text = format!("a cluster key has at least {SHORTEST} characters; this one has {}", key.len());
            return Err(Error::new(text));
        }
        Ok(Self(key.to_vec()))
    }

    /// A new key, as text for a file.
    pub fn generate() -> Result<String, Error> {
        let bytes = random::<CODE>()?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The code of a message in a role.
    pub(crate) fn code(&self, role: &str, message: &[u8]) -> [u8; CODE] {
        self.mac(role, message).finalize().into_bytes().into()
    }

    /// Whether this is the code of a message in a role.
    pub(crate) fn verifies(&self, role: &str, message: &[u8], code: &[u8]) -> bool {
        self.mac(role, message).verify_slice(code).is_ok()
    }

    fn mac(&self, role: &str, message: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key may have any length");
        mac.update(role.as_bytes());
        mac.update(&[0]);
        mac.update(message);
        mac
    }
}

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::new(format!("no random numbers: {error}")))?;
    Ok(bytes)
}

/// The SHA-256 of some bytes.
pub(crate) fn digest(bytes: &[u8]) -> [u8; CODE] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_depend_on_key_role_and_message() {
        let key = |text: &str| Key::new(text.as_bytes()).expect("it is long enough");
        let (one, two) = (key("0123456789abcdef\n"), key("0123456789abcdeg"));
        let code = one.code("a", b"message");
        assert!(one.verifies("a", b"message", &code));
        assert!(!one.verifies("b", b"message", &code));
        assert!(!one.verifies("a", b"massage", &code));
        assert!(!two.verifies("a", b"message", &code));
        assert!(!one.verifies("a", b"message", &code[..16]));
        assert!(Key::new(b"short").is_err());
        assert_ne!(Key::generate().ok(), Key::generate().ok());
    }
}
