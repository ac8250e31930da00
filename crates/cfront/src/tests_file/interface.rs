//! Calls of C functions in the preamble: the function exists, and its arguments fit.

use cyrano_ir::suggest::closest;
use cyrano_ir::{Diagnostic, Span, WORD};

use super::parse::{Parsed, Parser, Tokens, guessed, unexpected};
use super::scan::{Kind, Token};
use super::{Argument, Call};
use crate::preprocess::condition::parse_integer;
use crate::tree::FuncId;
use crate::types::Type;
use crate::types::arith;

/// The most values of an argument.
const MAX_VALUES: usize = 64;

impl Parser<'_> {
    /// `function(arguments) -> result`.
    pub(super) fn call(&mut self, rest: &mut Tokens<'_>) -> Parsed<Call> {
        let name = rest.word("the name of a C function")?;
        let func = self.function(&name.text, name.span)?;
        let function = &self.unit.checked.functions[func.0];
        let open = rest.expect("(")?;
        let mut args = Vec::new();
        let mut conditions = Vec::new();
        while !rest.eat(")") {
            if !args.is_empty() {
                rest.expect(",")?;
            }
            let start = rest.span();
            let Some(ty) = function.params.get(args.len()) else {
                return Err(wrong_count(function.params.len(), &name.text, open.to(start)));
            };
            args.push(self.argument(rest, ty, &mut conditions)?);
        }
        if args.len() != function.params.len() {
            return Err(wrong_count(function.params.len(), &name.text, name.span.to(open)));
        }
        let result = self.result(rest, &function.returns, name.span)?;
        conditions.iter().try_for_each(|named| self.condition(named, result.as_deref(), &function.returns))?;
        Ok(Call { name: name.text.clone(), func, args, result, single: false })
    }

    fn function(&self, name: &str, span: Span) -> Parsed<FuncId> {
        let functions = &self.unit.checked.functions;
        let with_body = |index: &usize| functions[*index].body.is_some();
        match (0..functions.len()).find(|index| functions[*index].name == name) {
            Some(index) if with_body(&index) => Ok(FuncId(index)),
            Some(_) => Err(Diagnostic::new(span, format!("the function `{name}` has no body"), "only declared")),
            None => {
                let names = functions.iter().filter(|function| function.loc.is_main()).map(|f| f.name.as_str());
                let message = format!("the C file has no function `{name}`");
                Err(guessed(Diagnostic::new(span, message, "unknown function"), closest(name, names)))
            }
        }
    }

    fn result(&self, rest: &mut Tokens<'_>, returns: &Type, span: Span) -> Parsed<Option<String>> {
        let named = if rest.eat("->") { Some(rest.word("a name for the result, or `_`")?) } else { None };
        match (named, returns) {
            (None, Type::Void) => Ok(None),
            (Some(name), Type::Void) => Err(Diagnostic::new(name.span, "the function returns nothing", "no result")),
            (Some(name), _) if name.text == "_" => Ok(None),
            (name, Type::Pointer(_)) => {
                let span = name.map_or(span, |name| name.span);
                let diagnostic = Diagnostic::new(span, "a result that is a pointer cannot be observed", "an address");
                Err(diagnostic.with_help("leave it out with `-> _`"))
            }
            (Some(name), _) => Ok(Some(name.text.clone())),
            (None, _) => Ok(Some("result".into())),
        }
    }

    /// `out if result` is about the result, which has to have a value that is zero or not.
    fn condition(&self, named: &Token, result: Option<&str>, returns: &Type) -> Parsed<()> {
        if !returns.is_castable() {
            let shown = self.unit.checked.types.show(returns);
            let message = format!("`out if` asks whether the result is zero; the function returns `{shown}`");
            return Err(Diagnostic::new(named.span, message, "no such result"));
        }
        let known = result.unwrap_or("result");
        if named.text != "result" && named.text != known {
            let message = format!("`{}` is not the result of this call", named.text);
            return Err(Diagnostic::new(named.span, message, format!("the result is called `{known}`")));
        }
        Ok(())
    }

    fn argument<'t>(&self, rest: &mut Tokens<'t>, ty: &Type, conditions: &mut Vec<&'t Token>) -> Parsed<Argument> {
        let start = rest.span();
        if rest.eat("out") {
            let to = self.out(ty, start)?;
            let when = rest.eat("if").then(|| !rest.eat("!"));
            if when.is_some() {
                conditions.push(rest.word("`result` or the result's name")?);
            }
            return Ok(Argument::Out(to, when));
        }
        if rest.eat("in") {
            return self.values(rest, ty);
        }
        if rest.eat("&") {
            return self.address(rest, ty);
        }
        let value = self.constant(rest)?;
        let fits = match ty {
            Type::Pointer(_) => value == 0,
            ty => self.fits(value, ty),
        };
        match fits {
            true => Ok(Argument::Fixed(value)),
            false => Err(self.mismatch(start, &value.to_string(), ty)),
        }
    }

    fn mismatch(&self, span: Span, found: &str, ty: &Type) -> Diagnostic {
        let shown = self.unit.checked.types.show(ty);
        Diagnostic::new(span, format!("the parameter is a `{shown}`, which {found} is not"), "of another type")
    }

    fn fits(&self, value: i128, ty: &Type) -> bool {
        match ty {
            Type::Bool => (0..=1).contains(&value),
            Type::Int(int) => {
                arith::convert(cyrano_ir::Expr::Const(value), &Type::Int(crate::types::SIZE), ty)
                    == cyrano_ir::Expr::Const(value)
                    && int.wrap(value) == value
            }
            _ => false,
        }
    }

    fn constant(&self, rest: &mut Tokens<'_>) -> Parsed<i128> {
        let negative = rest.eat("-");
        let token = rest.next("an argument")?;
        let value = match (token.kind, token.text.as_str()) {
            (Kind::Number, text) => parse_integer(text).map(|(value, ..)| value),
            (Kind::Word, "true") => Some(1),
            (Kind::Word, "false" | "NULL") => Some(0),
            (Kind::Word, name) => self.unit.checked.constants.get(name).copied(),
            _ => None,
        };
        let value = value.ok_or_else(|| unexpected(token, "`&variable`, a constant, `in { … }` or `out`"))?;
        Ok(if negative { value.wrapping_neg() } else { value })
    }

    fn out(&self, ty: &Type, span: Span) -> Parsed<Type> {
        match ty {
            Type::Pointer(to) if self.unit.checked.types.is_complete(to) && !to.is_pointer() => Ok((**to).clone()),
            _ => Err(self.mismatch(span, "`out`, a pointer to a variable that is observed,", ty)),
        }
    }

    /// `{0, 1}` or `{0..3}`.
    fn values(&self, rest: &mut Tokens<'_>, ty: &Type) -> Parsed<Argument> {
        let open = rest.expect("{")?;
        let mut values = Vec::new();
        loop {
            let span = rest.span();
            let low = self.constant(rest)?;
            let high = if rest.eat("..") { self.constant(rest)? } else { low };
            if high < low || high.abs_diff(low) >= MAX_VALUES as u128 || values.len() >= MAX_VALUES {
                return Err(Diagnostic::new(span, format!("no values, or more than {MAX_VALUES}"), "this range"));
            }
            if !self.fits(low, ty) || !self.fits(high, ty) {
                return Err(self.mismatch(span, &format!("{low}"), ty));
            }
            values.extend(low..=high);
            if rest.eat("}") {
                break;
            }
            rest.expect(",")?;
        }
        values.sort_unstable();
        values.dedup();
        if values.is_empty() {
            return Err(Diagnostic::new(open, "no values", "an empty set"));
        }
        Ok(Argument::In(values))
    }

    /// The address of a global or of a part of one.
    fn address(&self, rest: &mut Tokens<'_>, ty: &Type) -> Parsed<Argument> {
        let checked = &self.unit.checked;
        let name = rest.word("the name of a global variable")?;
        let Some(index) = checked.globals.iter().position(|global| global.name == name.text) else {
            let names = checked.globals.iter().map(|global| global.name.as_str());
            let diagnostic = Diagnostic::new(name.span, format!("there is no global `{}`", name.text), "unknown name");
            return Err(guessed(diagnostic, closest(&name.text, names)));
        };
        let Some(mut address) = self.unit.addresses[index] else {
            let message = format!("`{}` has an address for each thread", name.text);
            return Err(Diagnostic::new(name.span, message, "thread-local"));
        };
        let mut found = checked.globals[index].ty.clone();
        loop {
            let span = rest.span();
            if rest.eat(".") {
                let field = rest.word("a field")?;
                let known = match &found {
                    Type::Struct(id) if !checked.types.is_scalar(&found) => {
                        let fields = checked.types.fields(*id);
                        let index = fields.iter().position(|known| known.name == field.text);
                        index.map(|index| (checked.types.offset(*id, index), fields[index].ty.clone()))
                    }
                    _ => None,
                };
                let shown = checked.types.show(&found);
                let message = format!("`{shown}` has no field `{}` with an address", field.text);
                let (offset, ty) = known.ok_or_else(|| Diagnostic::new(field.span, message, "unknown field"))?;
                (address, found) = (address + i128::from(offset) * WORD, ty);
            } else if rest.eat("[") {
                let index = self.constant(rest)?;
                rest.expect("]")?;
                let element = match &found {
                    Type::Array(element, len) if (0..i128::from(*len)).contains(&index) => (**element).clone(),
                    _ => return Err(Diagnostic::new(span, format!("there is no element {index}"), "out of bounds")),
                };
                (address, found) = (address + index * checked.types.stride(&element), element);
            } else {
                break;
            }
        }
        let fits = match (ty, &found) {
            (Type::Pointer(to), _) if **to == Type::Void || **to == found => true,
            (Type::Pointer(to), Type::Array(element, _)) => to == element,
            _ => false,
        };
        let shown = format!("the address of a `{}`", checked.types.show(&found));
        if fits { Ok(Argument::Fixed(address)) } else { Err(self.mismatch(name.span, &shown, ty)) }
    }
}

fn wrong_count(expected: usize, name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(span, format!("`{name}` takes {expected} arguments"), "another number of arguments")
}
