//! Columns of a plan: every value that flows between operators has one id, unique in the plan.

use crate::{Bounds, ValueBounds};
use frazil_types::{LogicalType, NativeType, Origin, Zone};

/// The type of what counts rows or numbers them; row ids are held so, too.
pub const COUNT: LogicalType = LogicalType::BigInt;

/// The type of conditions, and of columns that say whether one holds.
pub const CONDITION: LogicalType = LogicalType::Boolean;

/// A column of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub u32);

/// What is known of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnInfo {
    /// A name for people: EXPLAIN prints it, nothing else reads it.
    pub label: String,
    /// Its type.
    pub ty: LogicalType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Value bounds, where the optimizer proved them under the plan's assumptions. `None`: those of the type.
    pub bounds: Option<Bounds>,
    /// Value bounds as statistics observed them when the statement was planned: for estimates, not for proofs.
    pub observed: Option<Bounds>,
    /// The column of a table or view whose values it shows unchanged: clients are told, nothing else reads it.
    pub origin: Option<Origin>,
}

impl ColumnInfo {
    /// How its values are held between operators: the type's native form, or `I64` where bounds prove
    /// that a wide decimal fits.
    pub fn native(&self) -> NativeType {
        native_within(
            self.ty,
            self.bounds.map_or(ValueBounds::Unknown, ValueBounds::Proved),
        )
    }
}

/// Native form of a value of `ty`: wide decimals that provably fit are held in 64 bits.
pub fn native_within(ty: LogicalType, known: ValueBounds) -> NativeType {
    match ty.decimal_digits() {
        Some(_) if known.proved().is_some_and(|b| b.fits_i64()) => NativeType::I64,
        _ => ty.native(),
    }
}

/// All columns of a plan, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    list: Vec<ColumnInfo>,
    proofs_forgotten: bool,
    /// Whose clock the columns' values are read and shown by.
    zone: Zone,
}

impl Columns {
    /// No columns yet, of a session with this zone.
    pub fn in_zone(zone: Zone) -> Columns {
        Columns {
            zone,
            ..Columns::default()
        }
    }

    /// Adds a column.
    pub fn add(&mut self, label: impl Into<String>, ty: LogicalType, nullable: bool) -> ColumnId {
        self.list.push(ColumnInfo {
            label: label.into(),
            ty: ty.in_zone(self.zone).with_all_digits(),
            nullable,
            bounds: None,
            observed: None,
            origin: None,
        });
        ColumnId(self.list.len() as u32 - 1)
    }

    /// Adds a column of row ids, which are tids ([`RowId::to_tid`](frazil_types::RowId::to_tid)).
    pub fn add_row_id(&mut self) -> ColumnId {
        self.add("row id", LogicalType::Tid, false)
    }

    /// Adds a column of counts or numbers of rows.
    pub fn add_count(&mut self, label: impl Into<String>) -> ColumnId {
        self.add(label, COUNT, false)
    }

    /// Adds a column that says whether a condition holds.
    pub fn add_mark(&mut self, label: impl Into<String>, nullable: bool) -> ColumnId {
        self.add(label, CONDITION, nullable)
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All ids.
    pub fn ids(&self) -> impl Iterator<Item = ColumnId> {
        (0..self.list.len() as u32).map(ColumnId)
    }

    /// Forgets what was proved, and lets nothing be proved from now on: every check is made, every value is held as
    /// its type needs. Answers do not depend on it.
    pub fn forget_proofs(&mut self) {
        self.proofs_forgotten = true;
        self.list.iter_mut().for_each(|column| column.bounds = None);
    }

    /// Whether nothing counts as proved.
    pub fn proofs_forgotten(&self) -> bool {
        self.proofs_forgotten
    }
}

impl std::ops::Index<ColumnId> for Columns {
    type Output = ColumnInfo;
    fn index(&self, id: ColumnId) -> &ColumnInfo {
        &self.list[id.0 as usize]
    }
}

impl std::ops::IndexMut<ColumnId> for Columns {
    fn index_mut(&mut self, id: ColumnId) -> &mut ColumnInfo {
        &mut self.list[id.0 as usize]
    }
}
