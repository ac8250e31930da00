//! Macros and their expansion.
//!
//! A token that came out of a macro is never expanded by that macro again, so that expansion ends; the size of all expansions together is limited, so
//! that it ends soon. It is known before an expansion is made, so that what is refused has cost nothing. Every token of an expansion has the place of
//! the macro's use.

use std::collections::{BTreeMap, VecDeque};

use crate::source::{Loc, Problem, Problems};
use crate::token::Token;

/// How large all expansions together may be: tokens, each with the macros that it came out of.
const MAX_SIZE: usize = 1 << 17;

/// A macro.
#[derive(Clone, Debug)]
pub(crate) struct Macro {
    /// The parameters of a function-like macro.
    pub(crate) parameters: Option<Vec<String>>,
    pub(crate) body: Vec<Token>,
}

/// The macros that are defined.
#[derive(Default)]
pub(crate) struct Macros {
    pub(crate) table: BTreeMap<String, Macro>,
    made: usize,
}

impl Macros {
    /// Expands all macros in these tokens.
    pub(crate) fn expand(&mut self, tokens: Vec<Token>, problems: &mut Problems) -> Vec<Token> {
        let mut input: VecDeque<Token> = tokens.into();
        let mut output = Vec::new();
        while let Some(token) = input.pop_front() {
            let Some(found) = self.found(&token) else {
                output.push(token);
                continue;
            };
            let Some(arguments) = arguments(&found, &token, &mut input, problems) else {
                output.push(token);
                continue;
            };
            let arguments: Vec<_> = arguments.into_iter().map(|argument| self.expand(argument, problems)).collect();
            self.made = self.made.saturating_add(size(&found, &token, &arguments));
            if self.made > MAX_SIZE {
                problems.add(Problem::new(token.loc, "macros expand to too many tokens", "while expanding this"));
                return output;
            }
            let made = substitute(&found, &token, arguments);
            for token in made.into_iter().rev() {
                input.push_front(token);
            }
        }
        output
    }

    fn found(&self, token: &Token) -> Option<Macro> {
        let hidden = token.hidden.contains(&token.text);
        self.table.get(&token.text).filter(|_| !hidden).cloned()
    }
}

/// The arguments of a use; none if this is not a use of the macro.
fn arguments(
    found: &Macro,
    name: &Token,
    input: &mut VecDeque<Token>,
    problems: &mut Problems,
) -> Option<Vec<Vec<Token>>> {
    let Some(parameters) = &found.parameters else { return Some(Vec::new()) };
    input.front().filter(|token| token.is("("))?;
    let mut depth = 0;
    let mut list = vec![Vec::new()];
    let mut last = name.loc;
    while let Some(token) = input.pop_front() {
        last = token.loc;
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let count = list.len();
            if parameters.is_empty() && count == 1 && list[0].is_empty() {
                return Some(Vec::new());
            }
            if count != parameters.len() {
                let expected = parameters.len();
                let message = format!("macro `{}` takes {expected} arguments, not {count}", name.text);
                problems.add(Problem::new(name.loc.to(last), message, "used here"));
                list.resize(expected, Vec::new());
            }
            return Some(list);
        }
        if depth == 1 && token.is("(") {
            continue;
        }
        if depth == 1 && token.is(",") {
            list.push(Vec::new());
        } else if let Some(argument) = list.last_mut() {
            argument.push(token);
        }
    }
    let message = format!("the arguments of macro `{}` have no closing parenthesis", name.text);
    problems.add(Problem::new(name.loc.to(last), message, "used here"));
    None
}

/// How large the expansion is going to be.
fn size(found: &Macro, name: &Token, arguments: &[Vec<Token>]) -> usize {
    let own = name.hidden.len() + 2;
    let of = |tokens: &[Token]| tokens.iter().map(|token| token.hidden.len() + own).sum::<usize>();
    let part = |token: &Token| {
        let parameter = found.parameters.iter().flatten().position(|parameter| *parameter == token.text);
        parameter.and_then(|index| arguments.get(index)).map_or(own, |argument| of(argument))
    };
    found.body.iter().map(part).fold(0, usize::saturating_add)
}

fn substitute(found: &Macro, name: &Token, arguments: Vec<Vec<Token>>) -> Vec<Token> {
    let mut made = Vec::new();
    let place = |mut token: Token, loc: Loc| {
        token.loc = loc;
        token.hidden.extend(name.hidden.iter().cloned());
        token.hidden.push(name.text.clone());
        token.starts_line = false;
        token
    };
    for token in &found.body {
        let parameter = found.parameters.iter().flatten().position(|parameter| *parameter == token.text);
        match parameter.and_then(|index| arguments.get(index)) {
            // Arguments keep their own places: that is where the user wrote them.
            Some(argument) => made.extend(argument.iter().map(|token| place(token.clone(), token.loc))),
            None => made.push(place(token.clone(), name.loc)),
        }
    }
    made
}
