//! Values as a person would write them: a pointer by what it points to.

use cyrano_ir::{Program, Ty, UNDEFINED, WORD, reply};

/// How to write a value of this type, where it is not a number: `&node#1`, `&queue.tail`, `&node#2 | 1`, `null`.
pub(crate) fn shown(program: &Program, ty: Ty, value: i128) -> Option<String> {
    match (ty, value) {
        // What the calls of an algorithm return: no value is as small.
        (Ty::Int, _) if !program.orders.is_empty() => reply::word(value).map(str::to_owned),
        (Ty::Pointer, 0) => Some("null".to_owned()),
        (Ty::Pointer, UNDEFINED) => None,
        (Ty::Pointer, address) => {
            let (word, bits) = (address.div_euclid(WORD), address.rem_euclid(WORD));
            let name = target(program, usize::try_from(word).ok()?)?;
            Some(if bits == 0 { format!("&{name}") } else { format!("&{name} | {bits}") })
        }
        _ => None,
    }
}

/// The name of the largest object that starts at a word: of the whole, of a part, or of the word itself.
fn target(program: &Program, word: usize) -> Option<&str> {
    // Memory is one array, and its elements are the program's locations from the array's base on.
    let at = program.arrays.first()?.base.index() + word;
    let location = program.locations.get(at).filter(|location| location.ty != Ty::Gap)?;
    let before = at.checked_sub(1).and_then(|before| program.locations.get(before)).filter(|l| l.ty != Ty::Gap);
    let mut name = location.name.as_str();
    while let Some(end) = name.rfind(['.', '[']) {
        let whole = &name[..end];
        let inside = |other: &str| other.strip_prefix(whole).is_some_and(|rest| rest.starts_with(['.', '[']));
        if before.is_some_and(|before| inside(&before.name)) {
            break;
        }
        name = whole;
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyrano_ir::{LocId, Location, SharedArray, Span};

    #[test]
    fn pointers_are_named_by_their_targets() {
        let word = |name: &str, ty| Location { name: name.to_owned(), init: 0, ty, span: Span::default() };
        let locations = vec![
            word("gap#0", Ty::Gap),
            word("queue.head", Ty::Pointer),
            word("queue.tail", Ty::Pointer),
            word("gap#1", Ty::Gap),
            word("node#1.value", Ty::Int),
            word("node#1.ends[0].key", Ty::Int),
            word("node#1.ends[0].next", Ty::Pointer),
            word("node#1.ends[1].key", Ty::Int),
        ];
        let memory = SharedArray { name: "memory".to_owned(), base: LocId(0), len: 8, headers: false };
        let program = Program { locations, arrays: vec![memory], ..Program::default() };
        let shown = |value| shown(&program, Ty::Pointer, value);
        let expect = [
            (0, "null"),
            (8, "&queue"),
            (16, "&queue.tail"),
            (32, "&node#1"),
            (33, "&node#1 | 1"),
            (40, "&node#1.ends"),
            (48, "&node#1.ends[0].next"),
            (56, "&node#1.ends[1]"),
        ];
        for (value, text) in expect {
            assert_eq!(shown(value).as_deref(), Some(text));
        }
        for nothing in [24, 64, -8, UNDEFINED] {
            assert_eq!(shown(nothing), None, "{nothing}");
        }
        assert_eq!(super::shown(&program, Ty::Int, 8), None);
    }
}
