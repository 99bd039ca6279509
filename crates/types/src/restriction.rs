//! Restrictions: SARGable predicates on one column, with values. The scan evaluates them on codes
//! (Data Blocks, sections 3.4 and 4.2); `block` translates each into a code range for one block.

use crate::Value;

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CompareOp {
    /// The comparison with its sides exchanged.
    pub fn flip(self) -> CompareOp {
        match self {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            same => same,
        }
    }

    /// The comparison that holds exactly where this one does not (NULL apart).
    pub fn negate(self) -> CompareOp {
        match self {
            CompareOp::Eq => CompareOp::Ne,
            CompareOp::Ne => CompareOp::Eq,
            CompareOp::Lt => CompareOp::Ge,
            CompareOp::Le => CompareOp::Gt,
            CompareOp::Gt => CompareOp::Le,
            CompareOp::Ge => CompareOp::Lt,
        }
    }

    /// Whether `ordering` (of left against right) satisfies it.
    pub fn holds(self, ordering: std::cmp::Ordering) -> bool {
        use std::cmp::Ordering::*;
        match self {
            CompareOp::Eq => ordering == Equal,
            CompareOp::Ne => ordering != Equal,
            CompareOp::Lt => ordering == Less,
            CompareOp::Le => ordering != Greater,
            CompareOp::Gt => ordering == Greater,
            CompareOp::Ge => ordering != Less,
        }
    }

    /// Its SQL text.
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "=",
            CompareOp::Ne => "<>",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}

/// What a restriction asks of its column. Values are of the column's type (decimals at its scale).
/// Rows whose value is NULL satisfy only `IsNull`; a NULL operand satisfies no row.
#[derive(Clone, Debug, PartialEq)]
pub enum RestrictionKind {
    /// A comparison with one value.
    Compare(CompareOp, Value),
    /// Both bounds inclusive.
    Between(Value, Value),
    /// Any of the values.
    In(Vec<Value>),
    /// IS NULL.
    IsNull,
    /// IS NOT NULL.
    IsNotNull,
    /// LIKE 'prefix%': begins with these bytes.
    Prefix(String),
    /// LIKE with any pattern of `%` and `_` with backslash as escape; evaluated
    /// once per dictionary entry where there is a dictionary, on each string elsewhere.
    Like {
        /// The pattern.
        pattern: String,
        /// NOT LIKE.
        negated: bool,
    },
}

/// A predicate on one column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Restriction {
    /// The column's position in the table.
    pub column: usize,
    /// What is asked of it.
    pub kind: RestrictionKind,
}

/// Alternatives of which a row has to satisfy one, each a conjunction of restrictions. A row for which
/// some are NULL satisfies it where another is true, and does not where none is.
#[derive(Clone, Debug, PartialEq)]
pub struct Disjunction {
    /// Alternatives. With an empty list no row matches; an empty alternative matches every row.
    pub alternatives: Vec<Vec<Restriction>>,
}
