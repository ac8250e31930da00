//! Tokens and their spelling.

use logos::{FilterResult, Lexer, Logos};

macro_rules! tokens {
    (words { $($word:ident = $word_text:tt,)* } marks { $($mark:ident = $mark_text:tt,)* }) => {
        /// A token without its text.
        #[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
        #[logos(skip "[ \t\r\n\u{c}\u{feff}]+")]
        pub(crate) enum Token {
            $(#[token($word_text)] $word,)*
            $(#[token($mark_text)] $mark,)*
            #[regex("[A-Za-z_][A-Za-z0-9_]*")]
            Ident,
            #[regex("[0-9][A-Za-z0-9_]*")]
            Int,
            #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
            Str,
            /// A quotation mark without its partner on the same line.
            #[token("\"", rest_of_line)]
            OpenStr,
            #[token("//", line_comment)]
            #[token("/*", block_comment)]
            OpenComment,
            /// The end of the file; the lexer itself never produces it.
            End,
        }

        impl Token {
            /// The reserved words.
            pub(crate) const WORDS: &'static [&'static str] = &[$($word_text),*];

            /// How messages name the token.
            pub(crate) fn describe(self) -> &'static str {
                match self {
                    $(Self::$word => concat!("`", $word_text, "`"),)*
                    $(Self::$mark => concat!("`", $mark_text, "`"),)*
                    Self::Ident => "a name",
                    Self::Int => "an integer",
                    Self::Str | Self::OpenStr => "a string",
                    Self::OpenComment => "a comment",
                    Self::End => "the end of the file",
                }
            }

            /// Whether it is a reserved word.
            pub(crate) fn is_word(self) -> bool {
                matches!(self, $(Self::$word)|*)
            }
        }
    };
}

tokens! {
    words {
    Abort = "abort", Always = "always", And = "and", Assert = "assert", Assertions = "assertions", Assume = "assume", Atomic = "atomic",
    Bool = "bool", Break = "break", Cas = "cas", Check = "check", Choose = "choose", Commit = "commit", Const = "const",
    Continue = "continue", Do = "do", Else = "else", Exchange = "exchange", Exists = "exists", False = "false",
    Fence = "fence", FetchAdd = "fetch_add", Forall = "forall", Foreach = "foreach", Forsome = "forsome", If = "if",
    In = "in", Index = "index", IntType = "int", Ldfence = "ldfence", Lfence = "lfence", Local = "local",
    Loop = "loop", Mfence = "mfence", Never = "never", Not = "not", Observe = "observe", On = "on",
    Operation = "operation", Or = "or", Proc = "proc", Return = "return", Rfin = "rfin",
    Rollback = "rollback", SelfWord = "self", Sfence = "sfence",
    Shared = "shared", Skip = "skip", Stm = "stm", Then = "then", Thread = "thread", Threads = "threads", Tid = "tid",
    Timestamp = "timestamp", True = "true", While = "while",
    }
    marks {
    Assign = ":=", DotsBelow = "..<", Dots = "..", Dot = ".", OrOr = "||", AndAnd = "&&", Pipe = "|", Caret = "^",
    Amp = "&", EqEq = "==", Eq = "=", Ne = "!=", Shl = "<<", Shr = ">>", Le = "<=", Ge = ">=", Lt = "<", Gt = ">",
    Plus = "+", Minus = "-", Star = "*", Slash = "/", Percent = "%", Bang = "!", OpenParen = "(", CloseParen = ")",
    OpenBrace = "{", CloseBrace = "}", OpenBracket = "[", CloseBracket = "]", Comma = ",", Semicolon = ";", Colon = ":", At = "@",
    }
}

fn line_comment(lexer: &mut Lexer<'_, Token>) -> FilterResult<(), ()> {
    let rest = lexer.remainder();
    lexer.bump(rest.find('\n').unwrap_or(rest.len()));
    FilterResult::Skip
}

/// Block comments do not nest, as in C.
fn block_comment(lexer: &mut Lexer<'_, Token>) -> FilterResult<(), ()> {
    let rest = lexer.remainder();
    match rest.find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            FilterResult::Skip
        }
        None => {
            lexer.bump(rest.len());
            FilterResult::Emit(())
        }
    }
}

fn rest_of_line(lexer: &mut Lexer<'_, Token>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find('\n').unwrap_or(rest.len()));
}
