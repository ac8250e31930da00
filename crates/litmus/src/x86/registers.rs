//! The names of registers.

use super::ast::Register;
use crate::ast::Arch;

/// The eight registers that x86 has always had.
const OLD: [&str; 8] = ["AX", "BX", "CX", "DX", "SI", "DI", "SP", "BP"];

/// Whether it is one of the registers that x86 has always had.
pub(crate) fn is_old(name: &str) -> bool {
    OLD.contains(&name)
}

/// What a word is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// A register that can be used.
    Register(Register),
    /// A register of the machine that cannot, and why.
    Refused(String),
    /// No register at all.
    Other,
}

/// What a word means as a register, in capitals or not.
pub(crate) fn lookup(arch: Arch, word: &str) -> Word {
    let upper = word.to_ascii_uppercase();
    let Some((name, bits)) = machine(&upper) else { return Word::Other };
    let new = name.starts_with('R');
    match (arch, bits) {
        (Arch::X86, _) if new && bits != 64 => Word::Other,
        (Arch::X86, 64) => Word::Refused(format!("`{word}` has 64 bits, and X86 tests have registers of 32 bits")),
        (_, 32 | 64) => Word::Register(Register { name, bits }),
        (_, bits) => Word::Refused(format!(
            "`{word}` is a part of {bits} bits of a register; accesses of mixed sizes are not supported"
        )),
    }
}

/// The machine's register and the number of bits.
fn machine(upper: &str) -> Option<(String, u8)> {
    let old = |name: &str| OLD.contains(&name).then(|| name.to_owned());
    if let Some(rest) = upper.strip_prefix('E').and_then(old) {
        return Some((rest, 32));
    }
    if let Some(rest) = upper.strip_prefix('R') {
        if let Some(name) = old(rest) {
            return Some((name, 64));
        }
        let digits = rest.trim_end_matches(['D', 'W', 'B']);
        if matches!(digits.parse::<u8>(), Ok(8..=15)) && rest.len() <= digits.len() + 1 && !digits.starts_with('0') {
            let bits = match &rest[digits.len()..] {
                "D" => 32,
                "W" => 16,
                "B" => 8,
                _ => 64,
            };
            return Some((format!("R{digits}"), bits));
        }
        return None;
    }
    if let Some(name) = old(upper) {
        return Some((name, 16));
    }
    let byte = ["AL", "AH", "BL", "BH", "CL", "CH", "DL", "DH", "SIL", "DIL", "SPL", "BPL"];
    byte.contains(&upper).then(|| (upper.to_owned(), 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_bits() {
        let check = |arch, word: &str, expected: Option<(&str, u8)>| {
            let found = match lookup(arch, word) {
                Word::Register(register) => Some((register.name, register.bits)),
                Word::Refused(_) => Some(("refused".to_owned(), 0)),
                Word::Other => None,
            };
            assert_eq!(found, expected.map(|(name, bits)| (name.to_owned(), bits)), "{word}");
        };
        check(Arch::X86, "EAX", Some(("AX", 32)));
        check(Arch::X86, "ebp", Some(("BP", 32)));
        check(Arch::X86, "RAX", Some(("refused", 0)));
        check(Arch::X86, "AL", Some(("refused", 0)));
        check(Arch::X86, "r8d", None);
        check(Arch::X86_64, "rax", Some(("AX", 64)));
        check(Arch::X86_64, "eax", Some(("AX", 32)));
        check(Arch::X86_64, "R8", Some(("R8", 64)));
        check(Arch::X86_64, "r15d", Some(("R15", 32)));
        check(Arch::X86_64, "r9b", Some(("refused", 0)));
        check(Arch::X86_64, "r16", None);
        check(Arch::X86_64, "x", None);
        check(Arch::X86_64, "reg", None);
    }
}
