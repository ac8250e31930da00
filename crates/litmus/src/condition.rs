//! The end of a test: `locations […]`, `filter …`, and the quantified condition.
//!
//! Precedence is herd's: `~` binds tightest, then `=>`, then `/\`, then `\/`.

use cyrano_ir::{Diagnostic, Span};

use crate::ast::{Condition, Prop, Quantifier, Right, Var};
use crate::cursor::{Cursor, Parse};
use crate::init;
use crate::token::Kind;

/// Words that start this part of a test.
pub(crate) const STARTS: [&str; 9] =
    ["exists", "forall", "locations", "filter", "final", "observed", "Observed", "forbidden", "with"];

/// Whether this part of a test starts here.
pub(crate) fn starts(cursor: &Cursor<'_>) -> bool {
    cursor.is("~") || cursor.is("(") || STARTS.iter().any(|word| cursor.is_word(word))
}

/// Reads everything from here to the end of the file.
pub(crate) fn read(cursor: &mut Cursor<'_>, source: &str) -> Parse<Condition> {
    cursor.enter("locations");
    let locations = if cursor.eat("locations")? { list(cursor)? } else { Vec::new() };
    cursor.enter("filter");
    let filter = if cursor.eat("filter")? { Some(prop(cursor)?) } else { None };
    cursor.enter("condition");
    let start = cursor.at();
    let (quantifier, prop) = quantified(cursor)?;
    let end = cursor.at();
    cursor.eat(";")?;
    configurations(cursor)?;
    let blocks = source.get(cursor.at()..).is_some_and(|rest| rest.starts_with("<<"));
    if !blocks && !cursor.is_end() {
        return Err(cursor.unexpected("the end of the file, `/\\` or `\\/`"));
    }
    let written = source.get(start..end).unwrap_or_default();
    let text = squeeze(written);
    let span = Span::new(start, start + written.trim_end().len());
    Ok(Condition { locations, filter, quantifier, prop, text, span })
}

/// `with tso: ~exists; default: exists;`, what the author expects of configurations. It asks nothing. Blocks `<< … >>` behind it are
/// for other tools.
fn configurations(cursor: &mut Cursor<'_>) -> Parse<()> {
    if !cursor.eat("with")? {
        return Ok(());
    }
    while cursor.peek().kind == Kind::Word {
        cursor.take()?;
        cursor.expect(":")?;
        cursor.eat("~")?;
        if !(cursor.eat("exists")? || cursor.eat("forall")?) {
            return Err(cursor.unexpected("`exists`, `~exists` or `forall`"));
        }
        cursor.eat(";")?;
    }
    Ok(())
}

/// The text with comments dropped and blanks squeezed.
fn squeeze(written: &str) -> String {
    let mut plain = String::new();
    let mut at = 0;
    while at < written.len() {
        if written[at..].starts_with("(*") {
            at = crate::token::comment_end(written, at).unwrap_or(written.len());
            plain.push(' ');
            continue;
        }
        let Some(letter) = written[at..].chars().next() else { break };
        plain.push(letter);
        at += letter.len_utf8();
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn quantified(cursor: &mut Cursor<'_>) -> Parse<(Quantifier, Prop)> {
    if cursor.is_end() {
        // herd's reading of a test without a condition.
        return Ok((Quantifier::Forall, Prop::Const(true)));
    }
    if cursor.eat("exists")? || cursor.eat("final")? {
        Ok((Quantifier::Exists, prop(cursor)?))
    } else if cursor.eat("forall")? {
        Ok((Quantifier::Forall, prop(cursor)?))
    } else if cursor.is("~") {
        cursor.take()?;
        cursor.expect("exists")?;
        Ok((Quantifier::NotExists, prop(cursor)?))
    } else if cursor.is("(") {
        Ok((Quantifier::Exists, prop(cursor)?))
    } else {
        Err(cursor.unexpected("`exists`, `~exists` or `forall`"))
    }
}

/// `[x; 0:EAX; y]`, where types may stand behind names.
fn list(cursor: &mut Cursor<'_>) -> Parse<Vec<Var>> {
    cursor.expect("[")?;
    let mut vars = Vec::new();
    while !cursor.eat("]")? {
        if cursor.eat(";")? {
            continue;
        }
        vars.push(variable(cursor)?);
        while cursor.peek().kind == Kind::Word || cursor.is("*") {
            cursor.take()?;
        }
        if !cursor.is("]") {
            cursor.expect(";")?;
        }
    }
    Ok(vars)
}

/// A proposition: disjunctions of conjunctions of implications.
pub(crate) fn prop(cursor: &mut Cursor<'_>) -> Parse<Prop> {
    cursor.nested(|cursor| {
        let mut left = conjunction(cursor)?;
        while either(cursor, "\\/", "|")? {
            cursor.term()?;
            left = Prop::Or(Box::new(left), Box::new(conjunction(cursor)?));
        }
        Ok(left)
    })
}

fn conjunction(cursor: &mut Cursor<'_>) -> Parse<Prop> {
    let mut left = implication(cursor)?;
    while either(cursor, "/\\", "&")? {
        cursor.term()?;
        left = Prop::And(Box::new(left), Box::new(implication(cursor)?));
    }
    Ok(left)
}

fn implication(cursor: &mut Cursor<'_>) -> Parse<Prop> {
    cursor.nested(|cursor| {
        let left = unary(cursor)?;
        Ok(match cursor.eat("=>")? {
            true => Prop::Implies(Box::new(left), Box::new(implication(cursor)?)),
            false => left,
        })
    })
}

/// Takes `mark`, or `half` twice.
fn either(cursor: &mut Cursor<'_>, mark: &str, half: &str) -> Parse<bool> {
    if cursor.eat(mark)? {
        return Ok(true);
    }
    let twice = cursor.is(half) && cursor.second().is_some_and(|next| next.text == half);
    if twice {
        cursor.take()?;
        cursor.take()?;
    }
    Ok(twice)
}

fn unary(cursor: &mut Cursor<'_>) -> Parse<Prop> {
    cursor.nested(|cursor| {
        if cursor.eat("~")? || cursor.eat("not")? {
            return Ok(Prop::Not(Box::new(unary(cursor)?)));
        }
        if cursor.is("(") {
            let open = cursor.take()?;
            let inner = prop(cursor)?;
            if cursor.is_end() {
                return Err(Diagnostic::new(open.span, "condition: this `(` is not closed", "opened here"));
            }
            cursor.expect(")")?;
            return Ok(inner);
        }
        if cursor.eat("true")? {
            return Ok(Prop::Const(true));
        }
        if cursor.eat("false")? {
            return Ok(Prop::Const(false));
        }
        equation(cursor)
    })
}

/// A register, a location or an element of an array.
fn variable(cursor: &mut Cursor<'_>) -> Parse<Var> {
    Ok(match init::var(cursor)? {
        Var::Loc(name) => Var::Loc(init::element(cursor, name)?),
        register => register,
    })
}

fn equation(cursor: &mut Cursor<'_>) -> Parse<Prop> {
    cursor.eat("*")?;
    let left = variable(cursor)?;
    if cursor.is("(") {
        let message = "only registers and locations can be compared";
        return Err(Diagnostic::new(left.span(), message, "not supported"));
    }
    let equal = if cursor.eat("=")? || cursor.eat("==")? {
        true
    } else if cursor.eat("<>")? || cursor.eat("!=")? {
        false
    } else {
        return Err(cursor.unexpected("`=` or `<>`"));
    };
    let right = right(cursor)?;
    let equation = Prop::Eq(left, right);
    Ok(if equal { equation } else { Prop::Not(Box::new(equation)) })
}

/// A bare name is an address; `*x`, `[x]` and `1:EAX` are contents.
fn right(cursor: &mut Cursor<'_>) -> Parse<Right> {
    if cursor.eat("*")? || cursor.is("[") {
        return variable(cursor).map(Right::Var);
    }
    let token = cursor.peek();
    let register = cursor.second().is_some_and(|next| next.text == ":");
    if register && matches!(token.kind, Kind::Number | Kind::Word) {
        return variable(cursor).map(Right::Var);
    }
    init::value(cursor).map(Right::Value)
}
