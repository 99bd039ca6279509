//! The columns of a pipeline's source vectors. Every source, rows in memory included, is brought into
//! this one form before generated code sees it.

use crate::breakers::PlanLayouts;
use crate::scope::SourceCell;
use frazil_plan::pipeline::{Pipeline, PipelinePlan, Source};
use frazil_plan::{ColumnId, Expr, ExprKind};
use frazil_runtime::FieldPlace;
use frazil_runtime::breakers::Shape;
use frazil_types::NativeType;

/// One column of the source vectors.
#[derive(Clone, Copy, Debug)]
pub struct SourceColumn {
    /// The column of the plan; none for a partial aggregate.
    pub id: Option<ColumnId>,
    /// How its values are held in the vector.
    pub storage: NativeType,
    /// How generated code holds them.
    pub(crate) native: NativeType,
    /// Whether its validity is looked at.
    pub nullable: bool,
    /// Whether anything reads it: if not, the vector may hold anything there.
    pub read: bool,
    /// Whether the vector has a value for every row: no scan's is sure to, as a block may hold a column as one constant.
    pub(crate) flat: bool,
    /// For a scan: the table's column; none for the row id.
    pub(crate) in_table: Option<usize>,
    /// For rows in memory: where the value lies in a row.
    pub field: Option<FieldPlace>,
}

impl SourceColumn {
    /// It as the column of that number.
    pub(crate) fn cell(&self, index: usize) -> SourceCell {
        SourceCell {
            index,
            storage: self.storage,
            native: self.native,
            nullable: self.nullable,
            flat: self.flat,
            in_table: self.in_table,
        }
    }
}

/// All columns, in order. Of a scan: its columns, then the row id if it is asked for.
#[derive(Clone, Debug, Default)]
pub struct SourceShape {
    /// The columns.
    pub columns: Vec<SourceColumn>,
}

impl SourceShape {
    pub(crate) fn of(plan: &PipelinePlan, layouts: &PlanLayouts, pipeline: &Pipeline) -> SourceShape {
        let live = crate::pipeline_function::live_at(plan, pipeline, 0);
        let in_row = |id: Option<ColumnId>, field: FieldPlace| SourceColumn {
            id,
            storage: field.native,
            native: field.native,
            nullable: field.validity.is_some(),
            read: id.is_none_or(|id| live.contains(&id)),
            flat: true,
            in_table: None,
            field: Some(field),
        };
        let stored = |id: ColumnId, nullable: bool| SourceColumn {
            id: Some(id),
            storage: plan.columns[id].ty.native(),
            native: plan.columns[id].native(),
            nullable,
            read: live.contains(&id),
            flat: !matches!(pipeline.source, Source::Scan { .. }),
            in_table: None,
            field: None,
        };
        let columns = match &pipeline.source {
            Source::Scan { columns, row_id, .. } => columns
                .iter()
                .map(|c| SourceColumn {
                    in_table: Some(c.1),
                    ..stored(c.0, plan.columns[c.0].nullable)
                })
                .chain(row_id.map(|id| stored(id, false)))
                .collect(),
            Source::Lookup(lookup) => {
                let columns = lookup.columns.iter();
                let columns = columns.map(|c| stored(c.0, plan.columns[c.0].nullable));
                columns.chain(lookup.row_id.map(|id| stored(id, false))).collect()
            }
            Source::Values { columns, .. } => columns.iter().map(|&id| stored(id, true)).collect(),
            Source::Given { columns } => columns.iter().map(|c| stored(c.0, true)).collect(),
            Source::Expansion(expansion) => {
                let made = expansion.made();
                made.map(|id| stored(id, plan.columns[id].nullable)).collect()
            }
            Source::Of {
                breaker,
                columns,
                late,
                ..
            } => {
                let layout = layouts.of_breaker(*breaker).lays();
                match layout.shape() {
                    Shape::Rows => {
                        // A partial aggregate has no column of its own.
                        let made =
                            |kept: ColumnId| columns.iter().find(|c| c.1 == kept).map_or(kept, |c| c.0);
                        let fields = layout.fields().into_iter();
                        let late = late.iter().flat_map(|late| &late.columns);
                        fields
                            .map(|(kept, field)| in_row(kept.map(made), field))
                            .chain(late.map(|c| stored(c.0, plan.columns[c.0].nullable)))
                            .collect()
                    }
                    Shape::Columns => {
                        let pairs = columns.iter();
                        let may_be_null = |id: &ColumnId| layouts.nullable(*id);
                        pairs
                            .map(|(made, kept)| stored(*made, may_be_null(made) || may_be_null(kept)))
                            .collect()
                    }
                }
            }
        };
        SourceShape { columns }
    }
}

/// Whether a cell of a VALUES list is known when the pipeline opens, without any computing.
pub fn is_bound_cell(e: &Expr) -> bool {
    matches!(
        e.kind,
        ExprKind::Constant(_) | ExprKind::Parameter(_) | ExprKind::ScalarSubquery(_)
    )
}
