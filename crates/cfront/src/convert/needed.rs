//! Which items of a whole program matter: those that `main` may mention, be it through others.
//!
//! Headers and libraries have functions with `double` and the like that a program does not call. An item without a name matters, and so does
//! every one of a file without `main`, whose tests may call any function.

use std::collections::{BTreeSet, HashMap};

use lang_c::ast as c;
use lang_c::span::Node;

use crate::preprocess::Preprocessed;

/// For each item whether it matters.
pub(super) fn needed(text: &Preprocessed, items: &[Node<c::ExternalDeclaration>]) -> Vec<bool> {
    let names: Vec<_> = items.iter().map(|item| declared(&item.node)).collect();
    let Some(main) = names.iter().position(|names| names.contains(&"main")) else { return vec![true; items.len()] };
    let mut declaring: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, names) in names.iter().enumerate() {
        names.iter().for_each(|name| declaring.entry(name).or_default().push(at));
    }
    let mut found: BTreeSet<usize> = (0..items.len()).filter(|at| names[*at].is_empty()).chain([main]).collect();
    let mut open: Vec<_> = found.iter().copied().collect();
    while let Some(at) = open.pop() {
        let words = text.words(items[at].span.start, items[at].span.end);
        let mentioned = words.filter_map(|word| declaring.get(word)).flatten();
        open.extend(mentioned.copied().filter(|other| found.insert(*other)));
    }
    (0..items.len()).map(|at| found.contains(&at)).collect()
}

/// The names that an item declares; none if it is a type that has none, or something else that may be mentioned otherwise.
fn declared(item: &c::ExternalDeclaration) -> Vec<&str> {
    match item {
        c::ExternalDeclaration::FunctionDefinition(function) => {
            name(&function.node.declarator.node).into_iter().collect()
        }
        c::ExternalDeclaration::Declaration(declaration) => {
            let names = declaration.node.declarators.iter().map(|one| name(&one.node.declarator.node));
            let names: Option<Vec<_>> = names.collect();
            let tagged = declaration.node.specifiers.iter().any(defines);
            names.filter(|_| !tagged).unwrap_or_default()
        }
        c::ExternalDeclaration::StaticAssert(_) => Vec::new(),
    }
}

fn name(declarator: &c::Declarator) -> Option<&str> {
    match &declarator.kind.node {
        c::DeclaratorKind::Identifier(name) => Some(&name.node.name),
        c::DeclaratorKind::Declarator(inner) => name(&inner.node),
        c::DeclaratorKind::Abstract => None,
    }
}

/// Whether a specifier defines a struct, a union or an enum, which others may mention by a tag or by what is in it.
fn defines(specifier: &Node<c::DeclarationSpecifier>) -> bool {
    let c::DeclarationSpecifier::TypeSpecifier(ty) = &specifier.node else { return false };
    match &ty.node {
        c::TypeSpecifier::Struct(spec) => spec.node.declarations.is_some() && spec.node.identifier.is_some(),
        c::TypeSpecifier::Enum(_) => true,
        _ => false,
    }
}
