//! The definition of a FOREIGN KEY as data: columns by their numbers, the other table by its id.

use frazil_types::{ColumnNumber, ObjectId};

/// A foreign key: the values of some columns of a table, the child, must be a key of another one, the parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The child's columns, in the order of the definition.
    pub columns: Vec<ColumnNumber>,
    /// The parent.
    pub parent: ObjectId,
    /// The parent's columns: `parent_columns[i]` is what `columns[i]` is compared with.
    pub parent_columns: Vec<ColumnNumber>,
    /// The unique index of the parent that has these columns, in any order.
    pub index: ObjectId,
    /// True for MATCH FULL: a row with NULL in some of the columns, and not in all, is refused.
    pub match_full: bool,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// The child's columns that ON DELETE SET NULL or SET DEFAULT sets. Empty: all of `columns`.
    pub set_columns: Vec<ColumnNumber>,
    /// False for NOT VALID: rows that were there before the constraint need not satisfy it.
    pub is_valid: bool,
    /// When it is checked.
    pub deferral: Deferral,
}

/// The fate of rows whose key in the parent goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferentialAction {
    /// The statement, or the transaction, fails if they are still there when it is checked.
    #[default]
    NoAction,
    /// The statement fails.
    Restrict,
    /// The rows that refer to the parent are deleted, or get its new key.
    Cascade,
    /// The columns of these rows become NULL.
    SetNull,
    /// The columns of these rows get their defaults.
    SetDefault,
}

/// When a constraint is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deferral {
    /// NOT DEFERRABLE: at the end of each statement.
    #[default]
    Never,
    /// DEFERRABLE: at the end of each statement, unless SET CONSTRAINTS defers it.
    Immediate,
    /// DEFERRABLE INITIALLY DEFERRED: at the end of the transaction, unless SET CONSTRAINTS says otherwise.
    Deferred,
}

/// A foreign key to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewForeignKey {
    /// The names of the child's columns.
    pub columns: Vec<String>,
    /// The parent; `None`: the child itself.
    pub parent: Option<ObjectId>,
    /// The names of the parent's columns. Empty: its primary key.
    pub parent_columns: Vec<String>,
    /// MATCH FULL.
    pub match_full: bool,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// The names in the list of ON DELETE SET NULL or SET DEFAULT.
    pub set_columns: Vec<String>,
    /// False for NOT VALID.
    pub is_valid: bool,
    /// When it is checked.
    pub deferral: Deferral,
}

impl ReferentialAction {
    /// The words of the action in SQL.
    pub fn words(self) -> &'static str {
        match self {
            ReferentialAction::NoAction => "NO ACTION",
            ReferentialAction::Restrict => "RESTRICT",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET NULL",
            ReferentialAction::SetDefault => "SET DEFAULT",
        }
    }

    /// All actions.
    pub const ALL: [ReferentialAction; 5] = [
        ReferentialAction::NoAction,
        ReferentialAction::Restrict,
        ReferentialAction::Cascade,
        ReferentialAction::SetNull,
        ReferentialAction::SetDefault,
    ];
}

impl Deferral {
    /// Its words behind a constraint's definition, with a blank before them; nothing for NOT DEFERRABLE.
    pub fn words(self) -> &'static str {
        match self {
            Deferral::Never => "",
            Deferral::Immediate => " DEFERRABLE",
            Deferral::Deferred => " DEFERRABLE INITIALLY DEFERRED",
        }
    }
}
