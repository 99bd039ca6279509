//! The text that people type: pieces of SQL, statements, arguments of commands, variables.

mod statement_reader;
mod variables;
mod words;

pub use frazil::sql_text::{Token, TokenKind, tokens};
pub use statement_reader::{Piece, StatementReader};
pub use variables::Variables;
pub use words::{split, unquoted};
