//! The columns of a pipeline's source vectors. Every source, rows in memory included, is brought into
//! this one form before generated code sees it.

use crate::breakers::PlanLayouts;
use crate::counted_texts::counted;
use crate::scope::SourceCell;
use frazil_plan::breakers::BreakerId;
use frazil_plan::pipeline::{LateColumns, Pipeline, PipelineOperator, PipelinePlan, Source};
use frazil_plan::{ColumnId, Expr, ExprKind};
use frazil_runtime::breakers::Shape;
use frazil_runtime::{CodeKeys, FieldPlace, GroupAddressing};
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
    /// Addresses of the cells of groups.
    const CELLS: SourceColumn = SourceColumn {
        id: None,
        storage: NativeType::I64,
        native: NativeType::I64,
        nullable: false,
        read: true,
        flat: false,
        in_table: None,
        field: None,
    };

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

/// All columns, in order. Of a scan: its columns, then the row id if it is asked for, then the cells of groups that
/// are found by codes.
#[derive(Clone, Debug, Default)]
pub struct SourceShape {
    /// The columns.
    pub columns: Vec<SourceColumn>,
    /// The group keys that are found by codes. The last column is one of cells if there are any.
    pub code_keys: Option<CodeKeys>,
    /// Columns that hold the numbers of characters of their strings.
    pub(crate) counted: Vec<usize>,
}

impl SourceShape {
    pub(crate) fn of(plan: &PipelinePlan, layouts: &PlanLayouts, pipeline: &Pipeline) -> SourceShape {
        let columns = Columns {
            plan,
            layouts,
            live: crate::pipeline_function::live_at(plan, pipeline, 0),
            flat: !matches!(pipeline.source, Source::Scan { .. }),
        };
        let mut columns = columns.of(&pipeline.source);
        let counted = counted(plan, pipeline);
        for &place in &counted {
            let column = &mut columns[place];
            (column.storage, column.native) = (NativeType::I64, NativeType::I64);
            column.in_table = None;
        }
        let code_keys = code_keys(plan, layouts, pipeline);
        columns.extend(code_keys.as_ref().map(|_| SourceColumn::CELLS));
        SourceShape {
            columns,
            code_keys,
            counted,
        }
    }

    /// The column of the cells of groups.
    pub(crate) fn cells(&self) -> Option<SourceCell> {
        self.code_keys.as_ref()?;
        let last = self.columns.len().checked_sub(1)?;
        Some(self.columns[last].cell(last))
    }
}

/// Group keys that are found by codes at most. The codes of more columns have too many combinations.
const MOST_CODE_KEYS: usize = 4;

/// The group keys of a pipeline that are found by codes: string columns of its scan, none of them computed, of
/// groups that are looked up by hash.
fn code_keys(plan: &PipelinePlan, layouts: &PlanLayouts, pipeline: &Pipeline) -> Option<CodeKeys> {
    let Source::Scan { columns: scanned, .. } = &pipeline.source else {
        return None;
    };
    let (id, breaker) = plan.filled(pipeline)?;
    let (layout, table) = (layouts.groups(id)?, breaker.groups()?);
    let by_hash = matches!(layout.spec.addressing, GroupAddressing::Hash { .. });
    // Rows whose groups are known overtake those that a vector is made of.
    let by_vector = pipeline.boundaries.contains(&pipeline.operators.len());
    let may_overtake = pipeline.operators.is_empty() && layout.is_any_order();
    if !by_hash || by_vector && !may_overtake || layout.groups.len() > MOST_CODE_KEYS {
        return None;
    }
    let key = |(column, e): &(ColumnId, Expr)| {
        let id = e.as_column()?;
        let strings = [*column, id].map(|id| plan.columns[id].native() == NativeType::String);
        let place = scanned.iter().position(|c| c.0 == id)?;
        (strings == [true; 2]).then_some(place)
    };
    let columns: Vec<usize> = layout.groups.iter().map(key).collect::<Option<_>>()?;
    let calls = table.aggregates.iter().flat_map(|(_, call)| call.expressions());
    let mut read: Vec<ColumnId> = calls.flat_map(Expr::columns_read).collect();
    read.extend(pipeline.operators.iter().flat_map(PipelineOperator::reads));
    let mut unread = columns.clone();
    unread.retain(|&place| !read.contains(&scanned[place].0));
    Some(CodeKeys { columns, unread })
}

/// The columns that the source of a pipeline has.
struct Columns<'a> {
    plan: &'a PipelinePlan,
    layouts: &'a PlanLayouts,
    /// Columns that the pipeline reads.
    live: Vec<ColumnId>,
    flat: bool,
}

impl Columns<'_> {
    fn of(&self, source: &Source) -> Vec<SourceColumn> {
        match source {
            Source::Scan { columns, row_id, .. } => columns
                .iter()
                .map(|c| SourceColumn {
                    in_table: Some(c.1),
                    ..self.planned(c.0)
                })
                .chain(row_id.map(|id| self.stored(id, false)))
                .collect(),
            Source::Lookup(lookup) => {
                let columns = lookup.columns.iter().map(|c| self.planned(c.0));
                columns
                    .chain(lookup.row_id.map(|id| self.stored(id, false)))
                    .collect()
            }
            Source::Values { columns, .. } => columns.iter().map(|&id| self.stored(id, true)).collect(),
            Source::Given { columns } => columns.iter().map(|c| self.stored(c.0, true)).collect(),
            Source::Expansion(expansion) => expansion.made().map(|id| self.planned(id)).collect(),
            Source::Of {
                breaker,
                columns,
                late,
                ..
            } => self.of_breaker(*breaker, columns, late.as_deref()),
        }
    }

    /// The columns of a breaker's rows: pairs of the column made and the one kept, and those that are fetched late.
    fn of_breaker(
        &self,
        breaker: BreakerId,
        columns: &[(ColumnId, ColumnId)],
        late: Option<&LateColumns>,
    ) -> Vec<SourceColumn> {
        let layout = self.layouts.of_breaker(breaker).lays();
        match layout.shape() {
            Shape::Rows => {
                // A partial aggregate has no column of its own.
                let made = |kept: ColumnId| columns.iter().find(|c| c.1 == kept).map_or(kept, |c| c.0);
                let fields = layout.fields().into_iter();
                let late = late.iter().flat_map(|late| &late.columns);
                fields
                    .map(|(kept, field)| self.in_row(kept.map(made), field))
                    .chain(late.map(|c| self.planned(c.0)))
                    .collect()
            }
            Shape::Columns => {
                let may_be_null = |id: &ColumnId| self.layouts.nullable(*id);
                let stored = |(made, kept): &(ColumnId, ColumnId)| {
                    self.stored(*made, may_be_null(made) || may_be_null(kept))
                };
                columns.iter().map(stored).collect()
            }
        }
    }

    /// A field of rows.
    fn in_row(&self, id: Option<ColumnId>, field: FieldPlace) -> SourceColumn {
        SourceColumn {
            id,
            storage: field.native,
            native: field.native,
            nullable: field.validity.is_some(),
            read: id.is_none_or(|id| self.live.contains(&id)),
            flat: true,
            in_table: None,
            field: Some(field),
        }
    }

    /// A vector of values in their stored form.
    fn stored(&self, id: ColumnId, nullable: bool) -> SourceColumn {
        SourceColumn {
            id: Some(id),
            storage: self.plan.columns[id].ty.native(),
            native: self.plan.columns[id].native(),
            nullable,
            read: self.live.contains(&id),
            flat: self.flat,
            in_table: None,
            field: None,
        }
    }

    /// A stored column that is NULL where the plan says so.
    fn planned(&self, id: ColumnId) -> SourceColumn {
        self.stored(id, self.plan.columns[id].nullable)
    }
}

/// Whether a cell of a VALUES list is known when the pipeline opens, without any computing.
pub fn is_bound_cell(e: &Expr) -> bool {
    matches!(
        e.kind,
        ExprKind::Constant(_) | ExprKind::Parameter(_) | ExprKind::ScalarSubquery(_)
    )
}
