//! Statements of methods, and expressions.

use cyrano_ir::{Diagnostic, Span, UnOp};

use crate::report::Fallible;
use crate::syntax::ast::Name;
use crate::syntax::expr::{MAX_EXPR_DEPTH, binary_op};
use crate::syntax::parser::Parser;
use crate::syntax::token::Token;
use crate::syntax::tree::*;

impl Parser<'_, '_> {
    /// `{ … }`.
    pub(crate) fn statements(&mut self) -> Fallible<Vec<Stmt>> {
        let open = self.expect(Token::OpenBrace)?;
        self.nested(|p| p.statements_rest(open))
    }

    fn statements_rest(&mut self, open: Span) -> Fallible<Vec<Stmt>> {
        let mut stmts = Vec::new();
        loop {
            match self.peek() {
                Token::CloseBrace => {
                    self.bump();
                    return Ok(stmts);
                }
                Token::End => {
                    let message = "expected `}`, found the end of the file";
                    let diagnostic = Diagnostic::new(self.span(), message, "expected `}`");
                    return Err(self.syntax_error(diagnostic.with_related(open, "to close this")));
                }
                Token::Semicolon => {
                    self.bump();
                }
                _ => {
                    let before = self.span();
                    match self.labelled_and_end() {
                        Ok(stmt) => stmts.push(stmt),
                        Err(_) => {
                            if self.span() == before && !matches!(self.peek(), Token::CloseBrace | Token::End) {
                                self.bump();
                            }
                            self.skip_statement();
                        }
                    }
                }
            }
        }
    }

    fn labelled_and_end(&mut self) -> Fallible<Stmt> {
        let stmt = self.nested(Self::labelled)?;
        let ends_in_brace = self.text(self.last_span()) == "}";
        if !ends_in_brace && self.peek() != Token::CloseBrace {
            self.expect(Token::Semicolon)?;
        }
        Ok(stmt)
    }

    fn labelled(&mut self) -> Fallible<Stmt> {
        let label = if self.peek() == Token::Ident && self.peek_second() == Token::Colon {
            let label = self.name()?;
            self.bump();
            Some(label)
        } else {
            None
        };
        let start = self.span();
        let mut head = None;
        let kind = match self.peek() {
            Token::If => {
                head = Some(start);
                self.if_statement()?
            }
            Token::Foreach => {
                let (foreach, span) = self.foreach_statement()?;
                head = Some(span);
                StmtKind::Foreach(foreach)
            }
            Token::Return => {
                self.bump();
                StmtKind::Return(self.right_side()?)
            }
            Token::Skip => {
                self.bump();
                StmtKind::Skip
            }
            Token::Ident if self.peek_second() == Token::Assign => {
                let name = self.name()?;
                self.bump();
                StmtKind::Assign(name, self.right_side()?)
            }
            _ => self.action()?,
        };
        Ok(Stmt { label, kind, span: head.unwrap_or_else(|| self.since(start)) })
    }

    /// A call for its effect.
    fn action(&mut self) -> Fallible<StmtKind> {
        let start = self.span();
        match self.right_side()? {
            Rhs::Expr(_) => {
                let span = self.since(start);
                Err(self.complain(span, "a value alone does nothing", "not used", "assign it, or call a method"))
            }
            other => Ok(StmtKind::Do(other)),
        }
    }

    fn body_of(&mut self) -> Fallible<Vec<Stmt>> {
        if self.peek() == Token::OpenBrace {
            return self.statements();
        }
        let stmt = self.nested(Self::labelled)?;
        Ok(vec![stmt])
    }

    /// The body of an `if` and, if `else` follows, the `;` between the two.
    fn arm_body(&mut self) -> Fallible<Vec<Stmt>> {
        let body = self.body_of()?;
        if self.peek() == Token::Semicolon && self.peek_second() == Token::Else {
            self.bump();
        }
        Ok(body)
    }

    fn if_statement(&mut self) -> Fallible<StmtKind> {
        let (mut arms, mut otherwise) = (Vec::new(), None);
        loop {
            self.bump();
            self.expect(Token::OpenParen)?;
            let cond = self.value()?;
            self.expect(Token::CloseParen)?;
            arms.push((cond, self.arm_body()?));
            if !self.eat(Token::Else) {
                break;
            }
            if self.peek() != Token::If {
                otherwise = Some(self.body_of()?);
                break;
            }
        }
        Ok(StmtKind::If { arms, otherwise })
    }

    fn foreach_statement(&mut self) -> Fallible<(Foreach, Span)> {
        let start = self.bump();
        let order = match self.peek() {
            Token::Index => LoopOrder::Index,
            _ if self.at_word("insertion") => LoopOrder::Insertion,
            _ => LoopOrder::Any,
        };
        if order != LoopOrder::Any || self.at_word("any") {
            self.bump();
        }
        self.expect(Token::OpenParen)?;
        let mut arrow = false;
        let binders = if self.peek() == Token::OpenParen {
            self.list(Token::OpenParen, Token::CloseParen, Self::name)?
        } else {
            let mut binders = vec![self.name()?];
            if self.eat(Token::Minus) {
                self.expect(Token::Gt)?;
                arrow = true;
                binders.push(self.name()?);
            }
            binders
        };
        self.expect(Token::In)?;
        let set = self.name()?;
        self.expect(Token::CloseParen)?;
        let span = self.since(start);
        let body = self.body_of()?;
        Ok((Foreach { order, binders, arrow, set, body }, span))
    }

    /// What may stand behind `:=` and `return`.
    fn right_side(&mut self) -> Fallible<Rhs> {
        if self.at_word("new") && self.peek_second() == Token::Ident {
            self.bump();
            let record = self.name()?;
            let args = self.list(Token::OpenParen, Token::CloseParen, Self::value)?;
            return Ok(Rhs::New(record, args));
        }
        let callable = matches!(self.peek(), Token::Ident | Token::Commit | Token::Abort);
        if callable && self.peek_second() == Token::OpenParen {
            let name = self.method_name()?;
            let args = self.list(Token::OpenParen, Token::CloseParen, Self::value)?;
            return Ok(Rhs::Call(name, args));
        }
        if self.peek() == Token::Ident && matches!(self.peek_second(), Token::Dot | Token::OpenBracket) {
            return Ok(Rhs::Access(self.access()?));
        }
        Ok(Rhs::Expr(self.value()?))
    }

    fn access(&mut self) -> Fallible<Access> {
        let object = self.name()?;
        let start = object.span;
        let mut index = None;
        if self.eat(Token::OpenBracket) {
            index = Some(self.value()?);
            self.expect(Token::CloseBracket)?;
        }
        self.expect(Token::Dot)?;
        let mut method = self.method_name()?;
        let mut field = None;
        if self.eat(Token::Dot) {
            field = Some(std::mem::replace(&mut method, self.method_name()?));
        }
        let args = self.list(Token::OpenParen, Token::CloseParen, Self::element)?;
        Ok(Access { object, index, field, method, args, span: self.since(start) })
    }

    /// An expression, or `(a, b)`.
    fn element(&mut self) -> Fallible<Expr> {
        self.nested(|p| p.loose(1))
    }

    /// An expression that is a value.
    pub(crate) fn value(&mut self) -> Fallible<Expr> {
        let expr = self.element()?;
        if matches!(expr.kind, ExprKind::Tuple(_)) {
            let help = "a pair is an element of a set: `s.add((a, b))` or `(a, b) in s`";
            return Err(self.complain(expr.span, "a pair is not a value", "not here", help));
        }
        Ok(expr)
    }

    /// A value without comparisons, so that `=` may follow.
    pub(crate) fn sum(&mut self) -> Fallible<Expr> {
        self.nested(|p| p.loose(8))
    }

    fn loose(&mut self, loosest: u8) -> Fallible<Expr> {
        let start = self.span();
        let mut left = self.tight()?;
        while let Some((op, binding)) = binary_op(self.peek()) {
            if binding < loosest {
                break;
            }
            self.bump();
            let right = self.loose(binding + 1)?;
            let depth = left.depth.max(right.depth) + 1;
            left = self.grown(ExprKind::Binary(op, Box::new(left), Box::new(right)), start, depth)?;
        }
        Ok(left)
    }

    fn tight(&mut self) -> Fallible<Expr> {
        let start = self.span();
        let op = match self.peek() {
            Token::Minus => UnOp::Neg,
            Token::Bang | Token::Not => UnOp::Not,
            _ => return self.operand(),
        };
        self.bump();
        let arg = self.nested(Self::tight)?;
        let depth = arg.depth + 1;
        self.grown(ExprKind::Unary(op, Box::new(arg)), start, depth)
    }

    /// An operand, perhaps with `in set` or `not in set` behind it.
    fn operand(&mut self) -> Fallible<Expr> {
        let start = self.span();
        let inner = self.atom()?;
        let negated = self.peek() == Token::Not && self.peek_second() == Token::In;
        if negated {
            self.bump();
        }
        if !self.eat(Token::In) {
            return Ok(inner);
        }
        let set = self.name()?;
        let depth = inner.depth + 1;
        let inside = self.grown(ExprKind::In(Box::new(inner), set), start, depth)?;
        if !negated {
            return Ok(inside);
        }
        self.grown(ExprKind::Unary(UnOp::Not, Box::new(inside)), start, depth + 1)
    }

    fn atom(&mut self) -> Fallible<Expr> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Int => ExprKind::Int(self.integer()?),
            Token::True | Token::False => ExprKind::Int((self.peek() == Token::True).into()),
            Token::Ident if matches!(self.peek_second(), Token::OpenParen | Token::Dot | Token::OpenBracket) => {
                let help = "assign it to a name first: `v := …;`";
                let span = self.bump();
                return Err(self.complain(span, "a call stands alone on the right side of `:=`", "not here", help));
            }
            Token::Ident | Token::Threads => ExprKind::Name(Name { text: self.text(start).to_owned(), span: start }),
            Token::OpenParen => return self.parenthesised(),
            _ => return Err(self.unexpected("an expression")),
        };
        self.bump();
        Ok(Expr { kind, span: start, depth: 1 })
    }

    fn parenthesised(&mut self) -> Fallible<Expr> {
        let start = self.bump();
        let first = self.element()?;
        if self.eat(Token::Comma) {
            let second = self.value()?;
            self.expect(Token::CloseParen)?;
            let depth = first.depth.max(second.depth) + 1;
            return self.grown(ExprKind::Tuple(vec![first, second]), start, depth);
        }
        self.expect(Token::CloseParen)?;
        Ok(first)
    }

    fn grown(&mut self, kind: ExprKind, start: Span, depth: u32) -> Fallible<Expr> {
        let span = self.since(start);
        if depth > MAX_EXPR_DEPTH {
            let message = format!("this expression is more than {MAX_EXPR_DEPTH} operations deep");
            return Err(self.complain(start, message, "starts here", "compute it in several steps"));
        }
        Ok(Expr { kind, span, depth })
    }
}
