//! How many threads families have, before names are looked up: what the file says, unless the user says something else.
//!
//! `--set w=3` gives the family `w` three members. `--threads` concerns families whose size is `*` or computed from a constant: a number is the
//! number of members of each, and `*` makes each of them a family of any number of threads.
//! **Invariant:** where a size becomes `*`, nothing else in the file depends on the constants that it was computed from, so that neither memory
//! nor code changes with the number of threads.

use std::collections::BTreeMap;

use cyrano_ir::{Diagnostic, Span};

use crate::report::Reports;
use crate::syntax::ast::{Count, Expr, ExprKind, File};
use crate::syntax::lexer::lex;
use crate::syntax::token::Token;
use crate::{Threads, given};

/// The families that a value may be given for: those that no constant has the name of.
pub(crate) fn settable(file: &File) -> impl Iterator<Item = &str> {
    let taken = |name: &str| file.consts.iter().any(|constant| constant.name.text == name);
    let families = file.threads.iter().filter(|thread| !matches!(thread.count, Count::One) && file.stm().is_none());
    families.map(|thread| thread.name.text.as_str()).filter(move |name| !taken(name))
}

/// Gives families the sizes that the user asks for.
pub(crate) fn resize(source: &str, file: &mut File, set: &[(String, i128)], threads: Threads, reports: &mut Reports) {
    if file.stm().is_some() {
        let open = file.threads.iter().filter_map(|thread| thread.count.is_any().then(|| thread.count.span())?);
        for span in open.collect::<Vec<_>>() {
            let help = "write a number: `thread w[2]`; `docs/reduction.md` says what carries over to more threads";
            reports.complain(span, "the client of an stm has a fixed number of threads", "any number", help);
        }
    }
    let settable: Vec<String> = settable(file).map(str::to_owned).collect();
    let mut users: BTreeMap<String, usize> = BTreeMap::new();
    for thread in &file.threads {
        constants_of(&thread.count, file).into_iter().for_each(|name| *users.entry(name).or_default() += 1);
    }
    let mut sizes: Vec<(Span, String)> = Vec::new();
    for at in 0..file.threads.len() {
        let constants = constants_of(&file.threads[at].count, file);
        let thread = &file.threads[at];
        let span = thread.count.span().unwrap_or(thread.name.span);
        let is_open = matches!(thread.count, Count::Any { .. }) || !constants.is_empty();
        let own = settable.contains(&thread.name.text).then(|| given(set, &thread.name.text)).flatten();
        let each = match threads {
            Threads::Each(number) if is_open => Some(number.into()),
            _ => None,
        };
        if let Some(number) = own.or(each) {
            file.sized.push((thread.name.text.clone(), number));
            let number = Expr { kind: ExprKind::Int(number), span, depth: 1 };
            file.threads[at].count = Count::Number(number);
        } else if threads == Threads::Any && !constants.is_empty() {
            let alone = match &thread.count {
                Count::Number(Expr { kind: ExprKind::Name(name), .. }) => users.get(&name.text) == Some(&1),
                _ => false,
            };
            let by = alone.then(|| constants[0].clone());
            sizes.extend(constants.into_iter().map(|name| (span, name)));
            file.threads[at].count = Count::Any { span, by };
        }
    }
    if !sizes.is_empty() {
        only_sizes(source, &sizes, reports);
        file.sizes.extend(sizes.into_iter().map(|(_, name)| name));
    }
}

/// The constants that a size is computed from, each once.
fn constants_of(count: &Count, file: &File) -> Vec<String> {
    let mut found = Vec::new();
    if let Count::Number(size) = count
        && file.stm().is_none()
    {
        size.for_each_name(&mut |name| {
            if !found.contains(&name.text) {
                found.push(name.text.clone());
            }
        });
    }
    found
}

/// Complains about every use of these constants other than in the sizes.
fn only_sizes(source: &str, sizes: &[(Span, String)], reports: &mut Reports) {
    let tokens = lex(source, &mut Reports::default());
    let within = |span: Span| sizes.iter().any(|(size, _)| size.start <= span.start && span.end <= size.end);
    for (at, (token, span)) in tokens.iter().enumerate() {
        let Some((size, name)) = sizes.iter().find(|(_, name)| *name == source[span.range()]) else { continue };
        let before = at.checked_sub(1).map(|before| tokens[before].0);
        let declared =
            matches!(before, Some(Token::Const | Token::Comma)) && matches!(tokens.get(at + 1), Some((Token::Eq, _)));
        let is_block = *token == Token::Threads
            && !matches!(before, Some(Token::Comma | Token::Eq))
            && matches!(tokens.get(at + 1), Some((Token::OpenBrace | Token::Ident, _)));
        if declared || is_block || within(*span) {
            continue;
        }
        let message = format!("`{name}` says more than how many threads there are");
        let diagnostic = Diagnostic::new(*span, message, "also used here").with_related(*size, "the number of threads");
        let help = "any number of threads shares what does not depend on their number; give this a constant of its own";
        reports.add(diagnostic.with_help(help));
    }
}
