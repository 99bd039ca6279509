//! The rows of a sorter: its columns, the keys among them.

use super::lays::{Lays, Nullable, row_counts};
use frazil_plan::breakers::SortTable;
use frazil_plan::pipeline::PipelinePlan;
use frazil_plan::{ColumnId, RowCount};
use frazil_runtime::breakers::sorter::SorterBreaker;
use frazil_runtime::breakers::{Breaker, Shape};
use frazil_runtime::{BoundValues, FieldPlace, GroupCounts, RowField, RowLayout, SortField, SortSpec};
use frazil_types::{Error, NativeType, Result};
use std::sync::Arc;

/// The rows of a sorter.
#[derive(Clone, Debug)]
pub struct SortLayout {
    /// For the runtime, without limit and offset.
    pub spec: SortSpec,
    /// The columns, one for each field.
    pub columns: Vec<ColumnId>,
    limit: Option<RowCount>,
    offset: RowCount,
}

impl SortLayout {
    /// The layout of a sorter of a plan.
    pub(super) fn of(table: &SortTable, plan: &PipelinePlan, nullable: &Nullable) -> Result<SortLayout> {
        let fields: Vec<RowField> = table.columns.iter().map(|&c| nullable.field(plan, c)).collect();
        let kept = |column: ColumnId| {
            let found = table.columns.iter().position(|c| *c == column);
            found.ok_or_else(|| Error::internal("a sort key that is not kept"))
        };
        let limit = table.limit.as_ref().and_then(RowCount::column);
        let keys = table.keys.iter().map(|k| {
            Ok(SortField {
                field: kept(k.column)?,
                descending: k.descending,
                nulls_first: k.nulls_first,
            })
        });
        Ok(SortLayout {
            spec: SortSpec {
                layout: RowLayout::of_sort(&fields),
                keys: keys.collect::<Result<_>>()?,
                groups: table.groups,
                limit: None,
                offset: 0,
                counts: GroupCounts {
                    limit: limit.map(kept).transpose()?,
                    offset: table.offset.column().map(kept).transpose()?,
                },
            },
            columns: table.columns.clone(),
            limit: table.limit.clone(),
            offset: table.offset.clone(),
        })
    }
}

impl SortLayout {
    /// The leading keys by which a row can be told to be behind another one at the price of a comparison each:
    /// integers that are never NULL. None if all rows are given out, or if each group of them has its own first ones.
    pub(crate) fn integer_keys(&self) -> &[SortField] {
        let is_integer = |key: &SortField| {
            let place = &self.spec.layout.fields[key.field];
            let is_short = matches!(place.native, NativeType::I16 | NativeType::I32 | NativeType::I64);
            is_short && place.validity.is_none()
        };
        if self.limit.is_none() || self.spec.groups > 0 {
            return &[];
        }
        let keys = &self.spec.keys;
        let count = keys.iter().position(|key| !is_integer(key));
        &keys[..count.unwrap_or(keys.len())]
    }
}

impl Lays for SortLayout {
    fn open(&self, values: BoundValues<'_>) -> Result<Arc<dyn Breaker>> {
        let (limit, offset) = row_counts(values, &self.limit, &self.offset)?;
        Ok(Arc::new(SorterBreaker::new(SortSpec {
            limit,
            offset,
            ..self.spec.clone()
        })))
    }

    fn shape(&self) -> Shape {
        Shape::Rows
    }

    fn fields(&self) -> Vec<(Option<ColumnId>, FieldPlace)> {
        let columns = self.columns.iter().map(|&id| Some(id));
        columns.zip(self.spec.layout.fields.iter().copied()).collect()
    }

    fn place(&self, _column: ColumnId) -> Option<usize> {
        None
    }
}
