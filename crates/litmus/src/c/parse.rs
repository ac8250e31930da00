//! Functions and statements.

use cyrano_ir::Diagnostic;

use super::ast::{Expr, ExprKind, Function, Order, Stmt};
use super::calls::Called;
use super::types::{self, is_type_word};
use crate::ast::Name;
use crate::condition;
use crate::cursor::{Cursor, Parse};
use crate::token::Kind;

/// Reads the functions up to the condition; everything that is not supported is said at once.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Vec<Function>, Vec<Diagnostic>> {
    let mut parser = Parser { cursor, errors: Vec::new() };
    let mut functions = Vec::new();
    while !parser.cursor.is_end() && !condition::starts(parser.cursor) {
        match parser.function(functions.len()) {
            Ok(function) => functions.push(function),
            Err(error) => {
                parser.errors.push(error);
                return Err(parser.errors);
            }
        }
    }
    if functions.is_empty() {
        parser.errors.push(parser.cursor.unexpected("`P0 (…) { … }`"));
    }
    if parser.errors.is_empty() { Ok(functions) } else { Err(parser.errors) }
}

pub(super) struct Parser<'p, 's> {
    pub(super) cursor: &'p mut Cursor<'s>,
    /// What is not supported; reading goes on behind it.
    pub(super) errors: Vec<Diagnostic>,
}

impl Parser<'_, '_> {
    fn function(&mut self, number: usize) -> Parse<Function> {
        while self.cursor.eat("static")? || self.cursor.eat("void")? {}
        if !self.cursor.is_word(&format!("P{number}")) {
            return Err(self.cursor.unexpected(&format!("`P{number} (…) {{ … }}` or a condition")));
        }
        self.cursor.take()?;
        self.cursor.expect("(")?;
        let mut params = Vec::new();
        while !self.cursor.eat(")")? {
            if self.cursor.eat("void")? {
                continue;
            }
            let ty = match types::read(self.cursor) {
                Ok(ty) => ty,
                Err(error) => {
                    self.errors.push(error);
                    self.skip_parameter()?;
                    continue;
                }
            };
            let name = self.name("the name of a parameter")?;
            match ty.target() {
                Some(target) => params.push((name, target)),
                None => {
                    let message = format!("the parameter `{}` is no pointer", name.text);
                    let error = Diagnostic::new(name.span, message, "expected a pointer to a location");
                    self.errors.push(error.with_help(format!("`int *{}`", name.text)));
                }
            }
            if !self.cursor.is(")") {
                self.cursor.expect(",")?;
            }
        }
        Ok(Function { params, body: self.block()? })
    }

    /// Goes on behind the next comma, or at the end of the list, which has to be there.
    fn skip_parameter(&mut self) -> Parse<()> {
        while !self.cursor.is(")") {
            if self.cursor.eat(",")? {
                return Ok(());
            }
            if self.cursor.is_end() || self.cursor.is("{") {
                return Err(self.cursor.unexpected("`)`"));
            }
            self.cursor.take()?;
        }
        Ok(())
    }

    pub(super) fn name(&mut self, what: &str) -> Parse<Name> {
        let token = self.cursor.word(what)?;
        Ok(Name { text: token.text.to_owned(), span: token.span })
    }

    /// `{ … }`.
    fn block(&mut self) -> Parse<Vec<Stmt>> {
        let open = self.cursor.expect("{")?;
        let mut list = Vec::new();
        while !self.cursor.eat("}")? {
            let condition = ["exists", "forall"].iter().any(|word| self.cursor.is_word(word));
            if condition || self.cursor.is_end() {
                return Err(Diagnostic::new(open.span, "code: this `{` is not closed", "opened here"));
            }
            self.statement(&mut list)?;
        }
        Ok(list)
    }

    fn body(&mut self) -> Parse<Vec<Stmt>> {
        let mut list = Vec::new();
        self.statement(&mut list)?;
        Ok(list)
    }

    fn statement(&mut self, list: &mut Vec<Stmt>) -> Parse<()> {
        self.deeper(|parser| parser.statement_here(list))
    }

    fn statement_here(&mut self, list: &mut Vec<Stmt>) -> Parse<()> {
        let token = self.cursor.peek();
        match token.text {
            "{" => {
                list.extend(self.block()?);
                return Ok(());
            }
            ";" => {
                self.cursor.take()?;
                return Ok(());
            }
            "if" | "while" | "do" => return self.control(list),
            "for" | "goto" | "switch" | "return" | "break" | "continue" | "asm" => {
                let message = format!("`{}` is not supported", token.text);
                self.errors.push(Diagnostic::new(token.span, message, "not supported"));
                return self.skip();
            }
            _ => {}
        }
        if token.kind == Kind::Word && is_type_word(token.text) {
            return self.declaration(list);
        }
        if token.kind == Kind::Word && self.cursor.second().is_some_and(|next| next.text == "=") {
            let name = self.name("a variable")?;
            self.cursor.expect("=")?;
            let value = self.expr(0)?;
            self.cursor.expect(";")?;
            list.push(Stmt::Assign { name, value });
            return Ok(());
        }
        self.expression_statement(list)
    }

    /// Goes on behind a statement that cannot be read, so that others are looked at too.
    fn skip(&mut self) -> Parse<()> {
        let mut depth = 0usize;
        while !self.cursor.is_end() {
            match self.cursor.peek().text {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                "{" | "}" if depth == 0 => return Ok(()),
                ";" if depth == 0 => {
                    self.cursor.take()?;
                    return Ok(());
                }
                _ => {}
            }
            self.cursor.take()?;
        }
        Ok(())
    }

    fn control(&mut self, list: &mut Vec<Stmt>) -> Parse<()> {
        let word = self.cursor.take()?;
        if word.text == "do" {
            let body = self.body()?;
            self.cursor.expect("while")?;
            let cond = self.parenthesised()?;
            self.cursor.expect(";")?;
            list.push(Stmt::While { cond, body, first: true });
            return Ok(());
        }
        let cond = self.parenthesised()?;
        let then = self.body()?;
        if word.text == "while" {
            list.push(Stmt::While { cond, body: then, first: false });
            return Ok(());
        }
        let other = if self.cursor.eat("else")? { self.body()? } else { Vec::new() };
        list.push(Stmt::If { cond, then, other });
        Ok(())
    }

    fn parenthesised(&mut self) -> Parse<Expr> {
        self.cursor.expect("(")?;
        let inner = self.expr(0)?;
        self.cursor.expect(")")?;
        Ok(inner)
    }

    fn declaration(&mut self, list: &mut Vec<Stmt>) -> Parse<()> {
        let ty = types::read(self.cursor)?;
        loop {
            let mut own = ty;
            while self.cursor.eat("*")? {
                own = own.pointer();
            }
            let name = self.name("the name of a variable")?;
            if self.cursor.is("[") {
                return Err(Diagnostic::new(name.span, "arrays are not supported", "an array"));
            }
            let value = if self.cursor.eat("=")? { Some(self.expr(0)?) } else { None };
            list.push(Stmt::Declare { name, ty: own, value });
            if !self.cursor.eat(",")? {
                break;
            }
        }
        self.cursor.expect(";")?;
        Ok(())
    }

    /// `*x = …;` or a call.
    fn expression_statement(&mut self, list: &mut Vec<Stmt>) -> Parse<()> {
        let start = self.cursor.peek().span;
        if self.cursor.peek().kind == Kind::Word && self.cursor.second().is_some_and(|next| next.text == "(") {
            match self.call()? {
                Ok(Called::Stmt(stmt)) => list.push(stmt),
                Ok(Called::Value(kind)) => list.push(Stmt::Call(Expr { kind, span: start })),
                Ok(Called::Nothing) => {}
                Err(error) => self.errors.push(error),
            }
            self.cursor.expect(";")?;
            return Ok(());
        }
        let target = self.unary()?;
        if self.cursor.is("=") {
            self.cursor.take()?;
            let value = self.expr(0)?;
            let end = self.cursor.expect(";")?.span;
            return match target.kind {
                ExprKind::Load { from, order: Order::Plain } => {
                    list.push(Stmt::Store { to: *from, value, order: Order::Plain, span: start.to(end) });
                    Ok(())
                }
                _ => {
                    Err(Diagnostic::new(target.span, "expected `*x` or a variable before `=`", "cannot be assigned to"))
                }
            };
        }
        let found = self.cursor.peek();
        if found.kind == Kind::Mark && found.text.len() > 1 {
            let message = format!("`{}` is not supported; write the assignment out", found.text);
            return Err(Diagnostic::new(found.span, message, "not supported"));
        }
        Err(self.cursor.unexpected("`=` or a call"))
    }
}
