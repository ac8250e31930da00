//! The initial state: `{ x=1; int y; 0:EBX=x; int *p = &y; }`.

use cyrano_ir::{Diagnostic, Span};

use crate::ast::{Init, Name, TypeName, Value, Var};
use crate::cursor::{Cursor, Parse};
use crate::token::Kind;

/// Words that qualify a type without changing what it holds.
pub(crate) const QUALIFIERS: [&str; 5] = ["volatile", "const", "register", "struct", "static"];

/// Reads the initial state, braces included.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Parse<Vec<Init>> {
    let open = cursor.expect("{")?;
    let mut list = Vec::new();
    loop {
        if cursor.eat("}")? {
            return Ok(list);
        }
        if cursor.eat(";")? {
            continue;
        }
        if cursor.is_end() {
            return Err(Diagnostic::new(open.span, "initial state: this `{` is not closed", "opened here"));
        }
        list.push(entry(cursor)?);
        if !cursor.is("}") {
            cursor.expect(";")?;
        }
    }
}

/// More elements than this are not a litmus test.
const MAX_ELEMENTS: i128 = 64;

fn entry(cursor: &mut Cursor<'_>) -> Parse<Init> {
    let ty = type_name(cursor)?;
    let var = var(cursor)?;
    let len = if cursor.is("[") && matches!(var, Var::Loc(_)) { Some(length(cursor)?) } else { None };
    let mut init = Init { var, ty, value: None, len, elements: Vec::new() };
    if cursor.eat("=")? {
        match init.len {
            Some(len) => init.elements = elements(cursor, len)?,
            None => init.value = Some(value(cursor)?),
        }
    }
    Ok(init)
}

/// `[3]`.
fn length(cursor: &mut Cursor<'_>) -> Parse<usize> {
    cursor.expect("[")?;
    let (len, span) = cursor.integer("the number of elements")?;
    cursor.expect("]")?;
    let fits = usize::try_from(len).ok().filter(|_| (1..=MAX_ELEMENTS).contains(&len));
    fits.ok_or_else(|| {
        let message = format!("initial state: an array has 1 to {MAX_ELEMENTS} elements, not {len}");
        Diagnostic::new(span, message, "this length")
    })
}

/// `{1, 2}`; elements that have no value are 0.
fn elements(cursor: &mut Cursor<'_>, len: usize) -> Parse<Vec<Value>> {
    let open = cursor.expect("{")?;
    let mut list = Vec::new();
    while !cursor.eat("}")? {
        list.push(value(cursor)?);
        if !cursor.is("}") {
            cursor.expect(",")?;
        }
    }
    if list.len() > len {
        let message = format!("initial state: {} values for {len} elements", list.len());
        return Err(Diagnostic::new(open.span, message, "these values"));
    }
    Ok(list)
}

/// A type, if there is one: words in front of a name, and stars.
fn type_name(cursor: &mut Cursor<'_>) -> Parse<Option<TypeName>> {
    let mut words: Vec<&str> = Vec::new();
    let (mut atomic, mut span) = (false, cursor.peek().span);
    loop {
        let token = cursor.peek();
        let second = cursor.second();
        // The last word is the name of what is declared, unless something follows that only a name can be.
        let more = second.is_some_and(|next| match next.kind {
            Kind::Word | Kind::Number => true,
            _ => matches!(next.text, "*" | "[") && !(next.text == "[" && words.is_empty()),
        });
        // `x[2]` is an array; `int [x]` a declaration in brackets.
        let array = second.is_some_and(|next| next.text == "[") && !words.is_empty();
        if token.kind != Kind::Word || !more || array {
            break;
        }
        cursor.take()?;
        span = span.to(token.span);
        match token.text {
            "_Atomic" => atomic = true,
            word if QUALIFIERS.contains(&word) => {}
            word => words.push(word),
        }
    }
    let mut pointers = 0;
    while cursor.is("*") {
        span = span.to(cursor.take()?.span);
        pointers += 1;
        while QUALIFIERS.iter().any(|word| cursor.is_word(word)) {
            cursor.take()?;
        }
    }
    if words.is_empty() && pointers == 0 {
        return Ok(None);
    }
    Ok(Some(TypeName { base: words.join(" "), pointers, atomic, span }))
}

/// A register or location.
pub(crate) fn var(cursor: &mut Cursor<'_>) -> Parse<Var> {
    let token = cursor.peek();
    match token.kind {
        Kind::Number => {
            let (thread, start) = cursor.integer("a thread's number")?;
            cursor.expect(":")?;
            register(cursor, thread, start)
        }
        Kind::Word => {
            cursor.take()?;
            let number = token.text.strip_prefix('P').and_then(|digits| digits.parse::<i128>().ok());
            match number {
                Some(thread) if cursor.is(":") => {
                    cursor.take()?;
                    register(cursor, thread, token.span)
                }
                _ => Ok(Var::Loc(Name { text: token.text.to_owned(), span: token.span })),
            }
        }
        _ if cursor.is("[") => {
            let open = cursor.take()?;
            let name = cursor.word("the name of a location")?;
            let name = element(cursor, Name { text: name.text.to_owned(), span: name.span })?;
            let close = cursor.expect("]")?;
            Ok(Var::Loc(Name { text: name.text, span: open.span.to(close.span) }))
        }
        _ if cursor.is("%") => Err(Diagnostic::new(
            token.span,
            "a register without a thread is not supported",
            "expected `0:` or the like before it",
        )),
        _ => Err(cursor.unexpected("a location or a register such as `0:EAX`")),
    }
}

fn register(cursor: &mut Cursor<'_>, thread: i128, start: Span) -> Parse<Var> {
    let mark = cursor.eat("%")? || cursor.eat("$")?;
    let name = cursor.word("a register")?;
    let text = if mark { format!("%{}", name.text) } else { name.text.to_owned() };
    Ok(Var::Reg { thread, name: Name { text, span: start.to(name.span) } })
}

/// `x`, or `x[1]` where an index follows.
pub(crate) fn element(cursor: &mut Cursor<'_>, name: Name) -> Parse<Name> {
    if !cursor.eat("[")? {
        return Ok(name);
    }
    let (index, _) = cursor.integer("the number of an element")?;
    let close = cursor.expect("]")?;
    Ok(Name { text: format!("{}[{index}]", name.text), span: name.span.to(close.span) })
}

/// A number, or the address of a location.
pub(crate) fn value(cursor: &mut Cursor<'_>) -> Parse<Value> {
    cursor.eat("&")?;
    let token = cursor.peek();
    match token.kind {
        Kind::Word if token.text == "ATOMIC_INIT" || token.text == "ATOMIC_VAR_INIT" => {
            cursor.take()?;
            cursor.expect("(")?;
            let inner = value(cursor)?;
            cursor.expect(")")?;
            Ok(inner)
        }
        Kind::Word => {
            cursor.take()?;
            if cursor.is(":") || cursor.is("[") {
                let message = format!("`{}{}…` is not a supported value", token.text, cursor.peek().text);
                return Err(Diagnostic::new(token.span, message, "expected a number or the name of a location"));
            }
            Ok(Value::Address(Name { text: token.text.to_owned(), span: token.span }))
        }
        _ if cursor.is("{") => {
            let message = "initial state: only an array has several values";
            Err(Diagnostic::new(token.span, message, "several values").with_help("`int x[2] = {1, 2}`"))
        }
        _ => Ok(Value::Int(cursor.integer("a number or the name of a location")?.0)),
    }
}
