//! Columns of a plan: every value that flows between operators has one id, unique in the plan.

use crate::Bounds;
use frazil_types::{LogicalType, NativeType};

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
    /// Value bounds, where the optimizer proved them (DESIGN: Exactness).
    pub bounds: Option<Bounds>,
}

impl ColumnInfo {
    /// How its values are held between operators: the type's native form, or `I64` where bounds prove
    /// that a wide decimal fits.
    pub fn native(&self) -> NativeType {
        native_within(self.ty, self.bounds)
    }
}

/// Native form of a value of `ty` within `bounds`: wide decimals that provably fit are held in 64 bits.
pub fn native_within(ty: LogicalType, bounds: Option<Bounds>) -> NativeType {
    match ty {
        LogicalType::Decimal { .. } if bounds.is_some_and(|b| b.fits_i64()) => NativeType::I64,
        other => other.native(),
    }
}

/// All columns of a plan, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns(Vec<ColumnInfo>);

impl Columns {
    /// Adds a column.
    pub fn add(&mut self, label: impl Into<String>, ty: LogicalType, nullable: bool) -> ColumnId {
        self.0.push(ColumnInfo {
            label: label.into(),
            ty,
            nullable,
            bounds: None,
        });
        ColumnId(self.0.len() as u32 - 1)
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All ids.
    pub fn ids(&self) -> impl Iterator<Item = ColumnId> {
        (0..self.0.len() as u32).map(ColumnId)
    }
}

impl std::ops::Index<ColumnId> for Columns {
    type Output = ColumnInfo;
    fn index(&self, id: ColumnId) -> &ColumnInfo {
        &self.0[id.0 as usize]
    }
}

impl std::ops::IndexMut<ColumnId> for Columns {
    fn index_mut(&mut self, id: ColumnId) -> &mut ColumnInfo {
        &mut self.0[id.0 as usize]
    }
}
