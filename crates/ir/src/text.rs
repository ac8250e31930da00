//! The text form: a program as something one can read, write by hand and read back.
//!
//! ```
//! let source = "\
//! program sb
//! location x = 0
//! thread p0
//!   register r = 0
//!   @0: store x, 1 ; 12..20
//!   @1: r := load x
//!   @2: branch (r == 1) then @3 else @1
//!   @3: halt
//! observe r = p0:r
//! check never (p0:r == 0) \"r = 0\" on sc, tso
//! ";
//! let program = cyrano_ir::text::parse(source).unwrap();
//! assert_eq!(cyrano_ir::text::print(&program), source);
//! ```
//!
//! One item per line, one of
//!
//! ```text
//! program NAME                                   the first line
//! const NAME = INT
//! location NAME [: timestamp|: gap] = INT
//! array NAME = LOCATION of LENGTH                LOCATION is element 0
//! thread NAME                                    the next lines are its registers and instructions
//! register NAME [: timestamp] = INT
//! @NUMBER: INSTRUCTION                           numbered from 0
//! setup THREAD                                   the thread that runs before all others
//! family NAME THREAD by CONSTANT                 the thread stands for any number of threads like it
//! inorder                                        nothing but its own orders may reorder its accesses
//! scoped                                         a branch decides only what stands before its ways meet
//! interchangeable threads|locations|values INT, …  what clients may exchange
//! ordered MODEL                                  the program has its own order under a model
//! order MODEL THREAD @N after @N, …              in which an instruction of a thread comes after these
//! observe NAME = VARIABLE
//! point LABEL = THREAD @N, …                     a statement that invariants name, and its instructions
//! settled                                        an assertion of the source that is not in the code
//! routine NAME                                   a command, procedure or method of the source
//! check assertions|observations (INT, …) …|exists E TEXT|never E TEXT|always E TEXT|invariant E TEXT|races|live NAME [on MODEL, …]
//! ```
//!
//! with the instructions
//!
//! ```text
//! PLACE := E        PLACE := load ADDRESS        store ADDRESS, E        PLACE := choose INT, …
//! [PLACE :=] cas ADDRESS, E, E     [PLACE :=] exchange ADDRESS, E     [PLACE :=] fetch_add ADDRESS, E
//! fence none|load-load …    fence NAME [at LOCATION]    atomic begin|end    operation begin NAME    operation end
//! assume E    assert E [TEXT]    limit E TEXT    branch E then @N else @N    jump @N    progress [LABEL]    halt
//! invoke read E    invoke write E, E    invoke commit    respond E
//! ```
//!
//! The [tags](crate::Tags) of an access stand in braces behind it: `r := load x {acquire}`; but a store that undoes others is a `rollback`.
//! A store that is exclusive may have a result: `ok := store x, 1 {exclusive}`. Behind `else` stand the tags of a compare-and-swap that fails.
//!
//! A PLACE is a register or, with the register of element 0, an element of a local array: `"buf[0]"[i of 3]`.
//! An ADDRESS is a location or an element of an array: `flag[i]`.
//! A VARIABLE of a final state is a location or `thread:register`; an invariant may also ask whether a thread stands at a point: `@cs`.
//! Compound expressions stand in parentheses: `(a + (b * -2))`, `!(a == b)`; a sign right before a digit belongs to the
//! number. Operators that no source language has are words: `defined(a)`, `target(p)`, `wrap_u32(a)`, `fit_i8(a)`.
//!
//! Names are bare when they are made of ASCII letters, digits, `_` and `.`, do not start with a digit or a dot (a leading
//! `%` is fine) and do not start an instruction (`load`, `halt`); other names stand in quotes. Whatever cannot be
//! referred to by name, because the name is taken twice or there is no such thing, is referred to by its number: `#3`.
//! A span follows a semicolon; none stands for `0..0`. `//` starts a comment.
//!
//! **Invariant:** [`parse`] gives back exactly what [`print()`] was given, for every program, valid or not, whose
//! accesses have the parts of their kinds and whose expressions are nested at most [`MAX_DEPTH`] deep; any other text is an error, never a panic. Ids are not checked
//! here: that is the task of [`verify`](mod@crate::verify), whose own tests are written in this form.

mod code;
mod lex;
mod line;
mod names;
mod parse;
mod print;

use std::fmt;

pub use parse::parse;
pub use print::print;

/// How deeply expressions may be nested in the text form, so that reading them cannot exhaust the stack.
pub const MAX_DEPTH: usize = 500;

/// Why a text is not a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TextError {}
