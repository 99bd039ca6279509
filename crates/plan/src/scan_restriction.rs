//! What a scan pushes into storage: restrictions of columns, and alternatives of them.

use crate::{ColumnId, Expr};
use frazil_types::{CompareOp, Value};

/// What a scan pushes into storage: a SARGable predicate whose operands are known when the pipeline
/// opens (constants, parameters, scalar subqueries).
#[derive(Clone, Debug, PartialEq)]
pub struct ScanRestriction {
    /// The column, one of the scan's.
    pub column: ColumnId,
    /// What is asked.
    pub kind: ScanRestrictionKind,
}

/// As [`frazil_types::RestrictionKind`], with operands still to be bound.
#[derive(Clone, Debug, PartialEq)]
pub enum ScanRestrictionKind {
    /// A comparison.
    Compare(CompareOp, Expr),
    /// Both bounds inclusive.
    Between(Expr, Expr),
    /// Any of the constants.
    In(Vec<Value>),
    /// IS NULL.
    IsNull,
    /// IS NOT NULL.
    IsNotNull,
    /// LIKE 'prefix%'.
    Prefix(String),
    /// LIKE with a pattern that has backslash as escape.
    Like {
        /// The pattern.
        pattern: String,
        /// NOT LIKE.
        negated: bool,
    },
}

impl ScanRestrictionKind {
    /// The operands still to be bound.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            ScanRestrictionKind::Compare(_, operand) => vec![operand],
            ScanRestrictionKind::Between(low, high) => vec![low, high],
            _ => vec![],
        }
    }

    /// The same, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            ScanRestrictionKind::Compare(_, operand) => vec![operand],
            ScanRestrictionKind::Between(low, high) => vec![low, high],
            _ => vec![],
        }
    }
}

/// Alternatives that a scan pushes into storage as [`frazil_types::Disjunction`]: a row has to satisfy all
/// restrictions of one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanDisjunction {
    /// The alternatives, none of them empty.
    pub alternatives: Vec<Vec<ScanRestriction>>,
}

impl ScanDisjunction {
    /// The restrictions of all alternatives.
    pub fn restrictions(&self) -> impl Iterator<Item = &ScanRestriction> {
        self.alternatives.iter().flatten()
    }

    /// The same, to be changed.
    pub fn restrictions_mut(&mut self) -> impl Iterator<Item = &mut ScanRestriction> {
        self.alternatives.iter_mut().flatten()
    }
}
