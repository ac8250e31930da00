//! The functions of a test. They are found here and read by `cfront`.

use std::ops::Range;

use cyrano_cfront::ast::{self, Stmt};
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

/// The text with another name for variables that are called `continue`, which is no keyword of herd's; nothing if there are none. A name
/// of the same length, so that places stay.
pub(crate) fn variables(source: &str) -> Option<String> {
    const WORD: &str = "continue";
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let used = |(at, _): &(usize, &str)| {
        let (before, behind) = (&source[..*at], &source[at + WORD.len()..]);
        let whole = !before.ends_with(is_name) && !behind.starts_with(is_name);
        whole && !behind.trim_start().starts_with(';')
    };
    let places: Vec<usize> = source.match_indices(WORD).filter(used).map(|(at, _)| at).collect();
    let mut text = (!places.is_empty()).then(|| source.to_owned())?;
    places.into_iter().for_each(|at| text.replace_range(at..at + WORD.len(), "continu_"));
    Some(text)
}

/// Reads the functions up to the condition. Where a complaint leaves something to read, the functions come out all the same, so that
/// everything that is not supported is said at once.
pub(crate) fn read(cursor: &mut Cursor<'_>, source: &str, errors: &mut Vec<Diagnostic>) -> Option<Vec<Function>> {
    let (mut ranges, mut types) = (Vec::new(), Vec::new());
    while !cursor.is_end() && !condition::starts(cursor) {
        match function(cursor, ranges.len(), &mut types) {
            Ok(range) => ranges.push(range),
            Err(error) => {
                errors.push(error);
                return None;
            }
        }
    }
    if ranges.is_empty() {
        errors.push(cursor.unexpected("`P0 (…) { … }`"));
        return None;
    }
    match cyrano_cfront::functions(source, &ranges, &types::names(&types)) {
        Ok(functions) => Some(functions.into_iter().map(|function| resolved(function, errors)).collect()),
        Err(mut more) => {
            errors.append(&mut more);
            None
        }
    }
}

fn resolved(function: ast::Function, errors: &mut Vec<Diagnostic>) -> Function {
    let params = function.params.into_iter().filter_map(|param| match parameter(&param) {
        Ok(param) => Some(param),
        Err(error) => {
            errors.push(error);
            // Uses of it are no errors of their own.
            let name = param.name?;
            Some((Name { text: name.text, span: name.loc.span }, Type::INT))
        }
    });
    Function { params: params.collect(), body: function.body }
}

fn parameter(param: &ast::Param) -> Result<(Name, Type), Diagnostic> {
    let ty = types::of(&param.ty, param.loc.span)?;
    let Some(name) = &param.name else {
        return Err(Diagnostic::new(param.loc.span, "this parameter has no name", "expected the name of a location"));
    };
    let span = name.loc.span;
    let target = ty.target().ok_or_else(|| {
        let message = format!("the parameter `{}` is no pointer", name.text);
        let error = Diagnostic::new(span, message, "expected a pointer to a location");
        error.with_help(format!("`int *{}`", name.text))
    })?;
    Ok((Name { text: name.text.clone(), span }, target))
}

/// Goes behind a function and says where its parameters and its body stand. The words of the parameters' types are added to `types`.
fn function<'s>(cursor: &mut Cursor<'s>, number: usize, types: &mut Vec<&'s str>) -> Parse<Range<usize>> {
    while cursor.eat("static")? || cursor.eat("void")? {}
    if !cursor.is_word(&format!("P{number}")) {
        return Err(cursor.unexpected(&format!("`P{number} (…) {{ … }}` or a condition")));
    }
    cursor.take()?;
    let open = cursor.expect("(")?.span;
    // The last word of a parameter is its name.
    let mut last = None;
    let mut depth = 1usize;
    while depth > 0 {
        if cursor.is_end() || cursor.is("{") {
            return Err(cursor.unexpected("`)`"));
        }
        let token = cursor.take()?;
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," => last = None,
            word if token.kind == Kind::Word => types.extend(last.replace(word)),
            _ => {}
        }
    }
    Ok(open.to(block(cursor)?).range())
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
