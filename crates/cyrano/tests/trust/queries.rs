//! A question that makes no sense is refused, by every command.
