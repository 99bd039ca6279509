//! Paths in documents, PostgreSQL's jsonpath: the tree of one (this file), its reader (`lexer.rs`, `parser.rs`) and its text
//! (`write.rs`). What a path finds in a document is the business of the functions that take one.

mod lexer;
mod parser;
mod write;

use crate::CompareOp;
use std::fmt;

/// Operators, filters, subscripts and steps that may lie within one another. Deeper paths are refused (54001), so that
/// whatever walks a path may recurse.
pub const MAX_PATH_DEPTH: usize = 500;

/// A path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Whether what does not fit the document's structure is an error.
    pub is_strict: bool,
    /// What is found.
    pub root: Expression,
    /// Number of [`Head::LikeRegex`] in it, by whose position their compiled forms are kept.
    pub patterns: usize,
}

/// Items, and the way from each of them on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Where it begins.
    pub head: Head,
    /// What each item goes through, in order.
    pub steps: Vec<Step>,
}

/// Where an expression begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// null.
    Null,
    /// true, false.
    Boolean(bool),
    /// A number's digits, as jsonb has them.
    Number(String),
    /// A string's characters.
    String(String),
    /// `$name`: a member of the variables.
    Variable(String),
    /// `$`: the document.
    Root,
    /// `@`: the item that a filter looks at.
    Current,
    /// `last`: the position of an array's last element, in its subscripts.
    Last,
    /// `+`, `-`, `*`, `/`, `%`.
    Arithmetic(Arithmetic, Box<[Expression; 2]>),
    /// `+` or `-` before an expression, which is true if it is `-`.
    Sign {
        /// `-`, not `+`.
        is_minus: bool,
        /// Of which items.
        of: Box<Expression>,
    },
    /// `&&`.
    And(Box<[Expression; 2]>),
    /// `||`.
    Or(Box<[Expression; 2]>),
    /// `!(…)`.
    Not(Box<Expression>),
    /// `(…) is unknown`.
    IsUnknown(Box<Expression>),
    /// A comparison.
    Compare(CompareOp, Box<[Expression; 2]>),
    /// `starts with` a string or a variable.
    StartsWith(Box<[Expression; 2]>),
    /// `like_regex`.
    LikeRegex(Box<LikeRegex>),
    /// `exists (…)`.
    Exists(Box<Expression>),
}

/// A regular expression that items are held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikeRegex {
    /// The items.
    pub of: Expression,
    /// The regular expression.
    pub pattern: String,
    /// Its flags, some of `ismxq`, each once and in this order.
    pub flags: String,
    /// Its number among those of the path, from 0.
    pub slot: usize,
}

/// An operator of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
}

impl Arithmetic {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Remainder => "%",
        }
    }
}

/// A step from an item to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `.key`.
    Key(String),
    /// `.*`.
    AnyKey,
    /// `[*]`.
    AnyElement,
    /// `[n]`: the element at a position that is written as a number, from 0.
    Element(u32),
    /// `[a, b to c]`: positions, or the first and last one of several.
    Elements(Vec<(Expression, Option<Expression>)>),
    /// `.**{first to last}`: all that lies so many levels below; [`LAST_LEVEL`] is what has nothing below.
    AnyBelow {
        /// Least level, 0 for the item itself.
        first: u32,
        /// Greatest level.
        last: u32,
    },
    /// `? (…)`: the item, if a predicate is true.
    Filter(Expression),
    /// `.method()`.
    Method(Method),
    /// `.datetime()`, with a template perhaps.
    Datetime(Option<String>),
}

/// The level of what has nothing below, and a last level that is no bound.
pub const LAST_LEVEL: u32 = u32::MAX;

/// A method without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The name of the item's kind.
    Type,
    /// The number of elements of an array.
    Size,
    /// A number of a string.
    Double,
    /// The least whole number not below.
    Ceiling,
    /// The greatest whole number not above.
    Floor,
    /// Without its sign.
    Abs,
    /// The members of an object, as objects.
    KeyValue,
}

impl Method {
    const ALL: [Method; 7] = [
        Method::Type,
        Method::Size,
        Method::Double,
        Method::Ceiling,
        Method::Floor,
        Method::Abs,
        Method::KeyValue,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Type => "type",
            Method::Size => "size",
            Method::Double => "double",
            Method::Ceiling => "ceiling",
            Method::Floor => "floor",
            Method::Abs => "abs",
            Method::KeyValue => "keyvalue",
        }
    }
}

impl Head {
    /// Whether it is true, false or unknown of an item.
    pub fn is_predicate(&self) -> bool {
        match self {
            Head::And(_)
            | Head::Or(_)
            | Head::Not(_)
            | Head::IsUnknown(_)
            | Head::Compare(..)
            | Head::StartsWith(_)
            | Head::LikeRegex(_)
            | Head::Exists(_) => true,
            Head::Null
            | Head::Boolean(_)
            | Head::Number(_)
            | Head::String(_)
            | Head::Variable(_)
            | Head::Root
            | Head::Current
            | Head::Last
            | Head::Arithmetic(..)
            | Head::Sign { .. } => false,
        }
    }
}

impl Path {
    /// Reads a path. Errors 22P02 for an empty text and halves of characters, 42601 for what is no path, 22003 for numbers beyond
    /// numeric and levels beyond integer, 22P05 for U+0000, 0A000 for the flag x of like_regex, 54001 for one that nests too deeply.
    pub fn new(text: &str) -> crate::Result<Path> {
        parser::path(text)
    }
}

impl fmt::Display for Path {
    /// As PostgreSQL shows it: keys in quotes, operators in parentheses. Where a step follows parentheses inside of an operator that
    /// binds less, PostgreSQL leaves the parentheses out, and so does this: such a text is not read as the same path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write::path(self, f)
    }
}
