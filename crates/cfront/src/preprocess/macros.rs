//! Macros and their expansion (C11, 6.10.3), as Prosser's algorithm has it that the standard was written from: every token has a *hide set*, the macros
//! that are not expanded in it again, so that expansion ends. A use of a function-like macro hides what hides both its name and its closing parenthesis.
//!
//! The size of all expansions together is limited, so that they end soon. It is known before an expansion is made, so that what is refused has cost nothing.
//! Every token of an expansion has the place of the macro's use. `#` and `##` are [`crate::preprocess::paste`]'s business.

use std::collections::{BTreeMap, VecDeque};

use crate::preprocess::paste::{self, Argument};
use crate::preprocess::token::{Token, TokenKind};
use crate::source::{Loc, Problem, Problems};

/// How large all expansions together may be: tokens, each with the macros that it came out of.
const MAX_SIZE: usize = 1 << 17;

/// How deeply arguments may be expanded within arguments.
const MAX_DEPTH: usize = 64;

/// A macro.
#[derive(Clone, Debug)]
pub(crate) struct Macro {
    /// The parameters of a function-like macro; those of one with variable arguments end with what stands for them.
    pub(crate) parameters: Option<Vec<String>>,
    /// Whether the last parameter takes all arguments that are left.
    pub(crate) variadic: bool,
    pub(crate) body: Vec<Token>,
}

/// The macros that are defined.
#[derive(Default)]
pub(crate) struct Macros {
    pub(crate) table: BTreeMap<String, Macro>,
    made: usize,
    depth: usize,
    /// How often `__COUNTER__` was used.
    counter: usize,
}

/// What `__LINE__` and `__FILE__` are at a place.
pub(crate) type Where<'w> = &'w dyn Fn(Loc) -> (usize, String);

impl Macros {
    /// Whether a name is one.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.table.contains_key(name) || matches!(name, "__LINE__" | "__FILE__" | "__COUNTER__")
    }

    /// Expands all macros in these tokens.
    pub(crate) fn expand(&mut self, tokens: Vec<Token>, at: Where<'_>, problems: &mut Problems) -> Vec<Token> {
        let mut input: VecDeque<Token> = tokens.into();
        let mut output = Vec::new();
        while let Some(token) = input.pop_front() {
            if let Some(made) = self.built_in(&token, at) {
                output.push(made);
                continue;
            }
            let Some(found) = self.found(&token) else {
                output.push(token);
                continue;
            };
            let Some(Use { arguments, close }) = arguments(&found, &token, &mut input, problems) else {
                output.push(token);
                continue;
            };
            if !self.has_room(&found, &token, &arguments) {
                problems.add(Problem::new(token.loc, "macros expand to too many tokens", "while expanding this"));
                return output;
            }
            let arguments = self.expanded(&found, arguments, at, problems);
            if !self.has_room_for(&found, &token, &arguments) {
                problems.add(Problem::new(token.loc, "macros expand to too many tokens", "while expanding this"));
                return output;
            }
            let mut hidden = token.hidden.clone();
            if let Some(close) = close {
                hidden.retain(|name| close.hidden.contains(name));
            }
            hidden.push(token.text.clone());
            for mut made in paste::substitute(&found, &token, &arguments, problems).into_iter().rev() {
                hide(&mut made.hidden, &hidden);
                input.push_front(made);
            }
        }
        output
    }

    /// Arguments as they stand, and expanded where the body wants that.
    fn expanded(
        &mut self,
        found: &Macro,
        arguments: Vec<Vec<Token>>,
        at: Where<'_>,
        problems: &mut Problems,
    ) -> Vec<Argument> {
        self.depth += 1;
        let deep = self.depth > MAX_DEPTH;
        let list = arguments.into_iter().enumerate().map(|(index, plain)| {
            if deep {
                let loc = plain.first().map(|token| token.loc).unwrap_or_default();
                problems.add(Problem::new(loc, "macros are nested too deeply", "in this argument"));
            }
            let wanted = !deep && paste::wants_expanded(found, index);
            let expanded = if wanted { self.expand(plain.clone(), at, problems) } else { Vec::new() };
            Argument { plain, expanded }
        });
        let list = list.collect();
        self.depth -= 1;
        list
    }

    fn found(&self, token: &Token) -> Option<Macro> {
        let hidden = token.kind != TokenKind::Ident || token.hidden.contains(&token.text);
        self.table.get(&token.text).filter(|_| !hidden).cloned()
    }

    /// What the preprocessor itself knows.
    fn built_in(&mut self, token: &Token, at: Where<'_>) -> Option<Token> {
        let (kind, text) = match token.text.as_str() {
            "__LINE__" => (TokenKind::Number, at(token.loc).0.to_string()),
            "__FILE__" => (TokenKind::Str, paste::quoted(&at(token.loc).1)),
            "__COUNTER__" => {
                self.counter += 1;
                (TokenKind::Number, (self.counter - 1).to_string())
            }
            _ => return None,
        };
        (token.kind == TokenKind::Ident).then(|| Token { kind, text, ..token.clone() })
    }

    /// Whether there is room for the tokens as they stand in the arguments.
    fn has_room(&mut self, found: &Macro, name: &Token, arguments: &[Vec<Token>]) -> bool {
        let count = arguments.iter().map(Vec::len).sum::<usize>() + found.body.len();
        self.made = self.made.saturating_add(count.saturating_mul(name.hidden.len() + 1));
        self.made <= MAX_SIZE
    }

    /// Whether there is room for the expansion.
    fn has_room_for(&mut self, found: &Macro, name: &Token, arguments: &[Argument]) -> bool {
        let own = name.hidden.len() + 2;
        let of = |tokens: &[Token]| tokens.iter().map(|token| token.hidden.len() + own).sum::<usize>();
        let part = |token: &Token| {
            let parameter = found.parameters.iter().flatten().position(|parameter| *parameter == token.text);
            let argument = parameter.and_then(|index| arguments.get(index));
            argument.map_or(own, |argument| of(&argument.expanded).saturating_add(of(&argument.plain)))
        };
        let size = found.body.iter().map(part).fold(0, usize::saturating_add);
        self.made = self.made.saturating_add(size);
        self.made <= MAX_SIZE
    }
}

/// Adds to a hide set.
fn hide(set: &mut Vec<String>, more: &[String]) {
    let new: Vec<String> = more.iter().filter(|name| !set.contains(name)).cloned().collect();
    set.extend(new);
}

/// A use of a macro.
struct Use {
    arguments: Vec<Vec<Token>>,
    /// The parenthesis that ends it.
    close: Option<Token>,
}

/// The arguments of a use; none if this is not a use of the macro.
fn arguments(found: &Macro, name: &Token, input: &mut VecDeque<Token>, problems: &mut Problems) -> Option<Use> {
    let Some(parameters) = &found.parameters else { return Some(Use { arguments: Vec::new(), close: None }) };
    input.front().filter(|token| token.is("("))?;
    let mut last = input.pop_front().map(|open| open.loc).unwrap_or_default();
    let mut depth = 1;
    let mut list = vec![Vec::new()];
    while let Some(token) = input.pop_front() {
        last = token.loc;
        depth += i32::from(token.is("("));
        depth -= i32::from(token.is(")"));
        if depth == 0 {
            settle((found, parameters), &mut list, (name, last), problems);
            return Some(Use { arguments: list, close: Some(token) });
        }
        let rest = found.variadic && list.len() >= parameters.len();
        if depth == 1 && token.is(",") && !rest {
            list.push(Vec::new());
        } else if let Some(argument) = list.last_mut() {
            argument.push(token);
        }
    }
    let message = format!("the arguments of macro `{}` have no closing parenthesis", name.text);
    problems.add(Problem::new(name.loc.to(last), message, "used here"));
    None
}

/// As many arguments as there are parameters; variable ones may be left out.
fn settle(
    (found, parameters): (&Macro, &[String]),
    list: &mut Vec<Vec<Token>>,
    (name, last): (&Token, Loc),
    problems: &mut Problems,
) {
    let (count, expected) = (list.len(), parameters.len());
    let nothing = count == 1 && list[0].is_empty() && expected == 0;
    let left_out = found.variadic && count + 1 == expected;
    if count != expected && !nothing && !left_out {
        let message = format!("macro `{}` takes {expected} arguments, not {count}", name.text);
        problems.add(Problem::new(name.loc.to(last), message, "used here"));
    }
    list.resize(expected, Vec::new());
}
