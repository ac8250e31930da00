//! The functions of a test. Their heads are read here; their bodies are cut out for `cfront`, which reads them.

use std::ops::Range;

use cyrano_cfront::ast::Stmt;
use cyrano_ir::{Diagnostic, Span};

use super::types::{self, Type};
use crate::ast::Name;
use crate::condition;
use crate::cursor::{Cursor, Parse};
use crate::token::Kind;

/// One thread: a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its parameters: pointers to the locations of the same names, with the locations' types.
    pub params: Vec<(Name, Type)>,
    /// Its body.
    pub body: Stmt,
}

/// Reads the functions up to the condition. Where a complaint leaves something to read, the functions come out all the same, so that
/// everything that is not supported is said at once.
pub(crate) fn read(cursor: &mut Cursor<'_>, source: &str, errors: &mut Vec<Diagnostic>) -> Option<Vec<Function>> {
    let (mut heads, mut ranges) = (Vec::new(), Vec::new());
    while !cursor.is_end() && !condition::starts(cursor) {
        match function(cursor, heads.len(), errors) {
            Ok((params, range)) => {
                heads.push(params);
                ranges.push(range);
            }
            Err(error) => {
                errors.push(error);
                return None;
            }
        }
    }
    if heads.is_empty() {
        errors.push(cursor.unexpected("`P0 (…) { … }`"));
        return None;
    }
    match cyrano_cfront::bodies(source, &ranges, &types::names()) {
        Ok(bodies) => Some(heads.into_iter().zip(bodies).map(|(params, body)| Function { params, body }).collect()),
        Err(mut more) => {
            errors.append(&mut more);
            None
        }
    }
}

type Head = Vec<(Name, Type)>;

fn function(cursor: &mut Cursor<'_>, number: usize, errors: &mut Vec<Diagnostic>) -> Parse<(Head, Range<usize>)> {
    while cursor.eat("static")? || cursor.eat("void")? {}
    if !cursor.is_word(&format!("P{number}")) {
        return Err(cursor.unexpected(&format!("`P{number} (…) {{ … }}` or a condition")));
    }
    cursor.take()?;
    cursor.expect("(")?;
    let mut params = Vec::new();
    while !cursor.eat(")")? {
        if cursor.eat("void")? {
            continue;
        }
        params.push(parameter(cursor, errors)?);
        if !cursor.is(")") {
            cursor.expect(",")?;
        }
    }
    Ok((params, block(cursor)?.range()))
}

fn parameter(cursor: &mut Cursor<'_>, errors: &mut Vec<Diagnostic>) -> Parse<(Name, Type)> {
    let ty = match types::read(cursor) {
        Ok(ty) => ty,
        Err(error) => {
            errors.push(error);
            return Ok((last_word(cursor)?, Type::INT));
        }
    };
    let token = cursor.word("the name of a parameter")?;
    let name = Name { text: token.text.to_owned(), span: token.span };
    let target = ty.target().unwrap_or_else(|| {
        let message = format!("the parameter `{}` is no pointer", name.text);
        let error = Diagnostic::new(name.span, message, "expected a pointer to a location");
        errors.push(error.with_help(format!("`int *{}`", name.text)));
        ty
    });
    Ok((name, target))
}

/// The name of a parameter whose type cannot be read: the last word before the comma or the end of the list.
fn last_word(cursor: &mut Cursor<'_>) -> Parse<Name> {
    let mut name = Name { text: String::new(), span: cursor.peek().span };
    while !cursor.is(")") && !cursor.is(",") {
        if cursor.is_end() || cursor.is("{") {
            return Err(cursor.unexpected("`)`"));
        }
        let token = cursor.take()?;
        if token.kind == Kind::Word {
            name = Name { text: token.text.to_owned(), span: token.span };
        }
    }
    Ok(name)
}

/// Goes behind a block `{ … }` and says where it stands.
fn block(cursor: &mut Cursor<'_>) -> Parse<Span> {
    let open = cursor.expect("{")?.span;
    while !cursor.is("}") {
        let condition = ["exists", "forall"].iter().any(|word| cursor.is_word(word));
        if condition || cursor.is_end() {
            return Err(Diagnostic::new(open, "code: this `{` is not closed", "opened here"));
        }
        if cursor.is("{") {
            cursor.nested(block)?;
        } else {
            cursor.take()?;
        }
    }
    Ok(open.to(cursor.take()?.span))
}
