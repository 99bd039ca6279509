//! Columns of a table or of a result.

use crate::{LogicalType, Value};

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDef {
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// Its type.
    pub ty: LogicalType,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// What an INSERT that does not name the column writes; `None` stands for NULL.
    pub default: Option<ColumnDefault>,
}

/// What a column gets that an INSERT does not name.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnDefault {
    /// A value of the column's type, not NULL.
    Value(Value),
    /// An expression as SQL text: bound and computed for each row of a statement that needs it, cast to the column's type
    /// as an assignment.
    Expression(String),
}

impl ColumnDef {
    /// A nullable column without a default.
    pub fn new(name: impl Into<String>, ty: LogicalType) -> ColumnDef {
        ColumnDef {
            name: name.into(),
            ty,
            nullable: true,
            default: None,
        }
    }

    /// Its default where that is a constant or nothing: NULL is a constant, too.
    pub fn constant_default(&self) -> Option<Value> {
        match &self.default {
            None => Some(Value::Null),
            Some(ColumnDefault::Value(value)) => Some(value.clone()),
            Some(ColumnDefault::Expression(_)) => None,
        }
    }

    /// The same column, NOT NULL.
    pub fn not_null(mut self) -> ColumnDef {
        self.nullable = false;
        self
    }
}

/// The columns of a table or result, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// The columns.
    pub columns: Vec<ColumnDef>,
}

impl Schema {
    /// A schema of these columns.
    pub fn new(columns: Vec<ColumnDef>) -> Schema {
        Schema { columns }
    }

    /// Position of a column.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }
}
