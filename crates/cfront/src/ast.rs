//! The syntax tree of a C file, before names are resolved and types are checked.
//!
//! It is made by `convert` alone, so that nothing else knows the parser library. The fields and variants are those of C's grammar.
//! [`crate::functions()`] hands it out to front ends that give the same language another meaning.

#![allow(missing_docs)]

use cyrano_ir::{BinOp, IntType};

use crate::source::Loc;

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    pub text: String,
    pub loc: Loc,
}

/// A top-level item.
#[derive(Clone, Debug)]
pub enum Item {
    /// Declarations: types, globals, functions without a body.
    Decls(Vec<Decl>),
    Function(Box<Function>),
    /// A condition that must hold when the file is read, with what is said if it does not.
    StaticAssert(Expr, String),
}

/// What a declaration declares.
#[derive(Clone, Debug)]
pub struct Decl {
    pub storage: Storage,
    /// Whether each thread has one of its own.
    pub thread_local: bool,
    /// None for a declaration of a struct or enum alone.
    pub name: Option<Name>,
    pub ty: TypeExpr,
    pub init: Option<Init>,
    pub loc: Loc,
}

/// Storage classes that matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    Plain,
    Typedef,
    Extern,
    Static,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: Name,
    pub returns: TypeExpr,
    pub params: Vec<Param>,
    pub body: Stmt,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: Option<Name>,
    pub ty: TypeExpr,
    pub loc: Loc,
}

/// A type as written.
#[derive(Clone, Debug)]
pub enum TypeExpr {
    Void,
    Bool,
    Int(IntType),
    Named(Name),
    Struct(Box<StructSpec>),
    Enum(Box<EnumSpec>),
    Pointer(Box<TypeExpr>),
    /// `_Atomic`, as far as the front end has it.
    Atomic(Box<TypeExpr>),
    Array(Box<TypeExpr>, Option<Box<Expr>>),
    Function {
        returns: Box<TypeExpr>,
        params: Vec<Param>,
    },
    /// `typeof` of an expression.
    TypeOf(Box<Expr>),
    /// Something that was reported.
    Error,
}

/// `struct tag { … }` or `union tag { … }`.
#[derive(Clone, Debug)]
pub struct StructSpec {
    /// Its number in the file: every declarator of a declaration mentions the same one.
    pub id: usize,
    pub tag: Option<Name>,
    pub fields: Option<Vec<Field>>,
    /// Whether `cyrano_word` stands before it.
    pub word: bool,
    pub union: bool,
    pub loc: Loc,
}

/// A field as written; a struct or union without a name, whose fields are the outer one's, has an empty name.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: Name,
    pub ty: TypeExpr,
    pub bits: Option<Expr>,
}

/// `enum tag { … }`.
#[derive(Clone, Debug)]
pub struct EnumSpec {
    /// Its number in the file.
    pub id: usize,
    pub tag: Option<Name>,
    /// None at all where it is only mentioned.
    pub enumerators: Vec<(Name, Option<Expr>)>,
    pub loc: Loc,
}

/// An initialiser.
#[derive(Clone, Debug)]
pub enum Init {
    Expr(Expr),
    List(Vec<InitItem>, Loc),
}

/// One element of an initialiser list.
#[derive(Clone, Debug)]
pub struct InitItem {
    /// From the outside in; none for the next in order.
    pub designators: Vec<Designator>,
    pub init: Init,
}

/// `.name`, `[index]` or `[first ... last]`.
#[derive(Clone, Debug)]
pub enum Designator {
    Field(Name),
    Index(Expr),
    Range(Expr, Expr),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub loc: Loc,
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    Int {
        value: i128,
        unsigned: bool,
        long: bool,
        decimal: bool,
    },
    Str(Text),
    Name(String),
    Member {
        base: Box<Expr>,
        arrow: bool,
        field: Name,
    },
    Call {
        callee: Name,
        args: Vec<Expr>,
    },
    /// A call through a pointer.
    CallPointer {
        callee: Box<Expr>,
        args: Vec<Expr>,
    },
    Index(Box<Expr>, Box<Expr>),
    AddrOf(Box<Expr>),
    Deref(Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    Assign(Option<BinOp>, Box<Expr>, Box<Expr>),
    Step {
        by: i128,
        prefix: bool,
        target: Box<Expr>,
    },
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Vec<Expr>),
    Cast(TypeExpr, Box<Expr>),
    SizeofType(TypeExpr),
    Alignof(TypeExpr),
    SizeofExpr(Box<Expr>),
    Compound(TypeExpr, Vec<InitItem>),
    /// `({ … })`.
    Statement(Vec<Stmt>),
    /// `_Generic`: the value whose type decides, and for each type, or else, a value.
    Generic(Box<Expr>, Vec<(Option<TypeExpr>, Expr)>),
    /// `offsetof(type, member.member[index])`.
    Offsetof(TypeExpr, Vec<Designator>),
    /// Something that was reported.
    Error,
}

/// A string.
#[derive(Clone, Debug)]
pub struct Text {
    /// As it is written, without quotes.
    pub written: String,
    /// Its characters, as values of `char`, without the 0 behind them.
    pub chars: Vec<i128>,
}

/// Unary operators without side effects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    Plus,
    Minus,
    Complement,
    Not,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub loc: Loc,
}

/// Kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    Empty,
    Block(Vec<Stmt>),
    Decls(Vec<Decl>),
    Expr(Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    For { init: Option<Box<Stmt>>, cond: Option<Expr>, step: Option<Expr>, body: Box<Stmt> },
    Switch(Expr, Box<Stmt>),
    Case(Expr, Box<Stmt>),
    Default(Box<Stmt>),
    Label(Name, Box<Stmt>),
    Goto(Name),
    Break,
    Continue,
    Return(Option<Expr>),
    Atomic(Box<Stmt>),
    StaticAssert(Expr, String),
}
