//! The threads of an assembly test: one column each, rows ended by `;`.

use cyrano_ir::{Diagnostic, Span};

use super::cell::Cell;
use crate::ast::{Arch, Name};
use crate::condition;
use crate::cursor::{Cursor, Parse};
use crate::token::{Kind, Token};

/// A column: for each row the labels and what the cell holds behind them, if anything.
pub(crate) type Column<T> = Vec<(Vec<Name>, Option<T>)>;

/// The columns, and what is wrong with cells; or why there is no table.
type Read<T> = Result<(Vec<Column<T>>, Vec<Diagnostic>), Vec<Diagnostic>>;

/// Reads the columns up to the condition; `read` makes something of a cell that is not empty. Everything that is wrong with any
/// cell is said at once.
pub(crate) fn read<T>(
    cursor: &mut Cursor<'_>,
    arch: Arch,
    mut read: impl FnMut(&mut Cell<'_, '_>) -> Parse<T>,
) -> Read<T> {
    let one = |error| vec![error];
    let count = heads(cursor).map_err(one)?;
    let mut errors = Vec::new();
    let mut columns: Vec<Column<T>> = (0..count).map(|_| Vec::new()).collect();
    while !cursor.is_end() && !condition::starts(cursor) {
        let row = row(cursor).map_err(one)?;
        if row.len() != count {
            let span = row.iter().flatten().map(|token| token.span).reduce(Span::to).unwrap_or(cursor.peek().span);
            let message = format!("code: this row has {} columns, the first one {count}", row.len());
            errors.push(Diagnostic::new(span, message, "this row"));
            continue;
        }
        for (column, tokens) in columns.iter_mut().zip(&row) {
            let mut cell = Cell { tokens, at: 0, arch };
            let labels = labels(&mut cell);
            let content = cell.peek().map(|_| read(&mut cell)).transpose();
            match content {
                Ok(content) => column.push((labels, content)),
                Err(error) => errors.push(error),
            }
        }
    }
    Ok((columns, errors))
}

/// The first row: `P0 | P1 ;`.
fn heads(cursor: &mut Cursor<'_>) -> Parse<usize> {
    cursor.eat(";")?;
    let mut count = 0;
    loop {
        let token = cursor.peek();
        let number = token.text.strip_prefix('P').and_then(|digits| digits.parse::<usize>().ok());
        if number != Some(count) {
            return Err(cursor.unexpected(&format!("`P{count}`, the head of column {}", count + 1)));
        }
        cursor.take()?;
        count += 1;
        if cursor.eat(";")? {
            return Ok(count);
        }
        if cursor.is(":") {
            return Err(cursor.unexpected("`|` or `;` (handlers and scopes are not supported)"));
        }
        cursor.expect("|")?;
    }
}

/// The cells of the next row.
fn row<'s>(cursor: &mut Cursor<'s>) -> Parse<Vec<Vec<Token<'s>>>> {
    let mut cells = vec![Vec::new()];
    loop {
        if cursor.is_end() {
            return Err(cursor.unexpected("`;` at the end of a row"));
        }
        let token = cursor.take()?;
        match token.text {
            ";" => return Ok(cells),
            "|" => cells.push(Vec::new()),
            _ => cells.last_mut().expect("there is always a cell").push(token),
        }
    }
}

/// The labels at the start of a cell.
fn labels(cell: &mut Cell<'_, '_>) -> Vec<Name> {
    let mut labels = Vec::new();
    while let [name, colon, ..] = &cell.tokens[cell.at..]
        && name.kind == Kind::Word
        && colon.text == ":"
    {
        labels.push(Name { text: name.text.to_owned(), span: name.span });
        cell.at += 2;
    }
    labels
}
