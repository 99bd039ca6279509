//! What a stage function does, and what it has in hand while it is made.

use crate::open_loops::OpenLoop;
use crate::scope::SourceCell;
use crate::stage_vector::{Slot, StageVector};
use cranelift_codegen::ir::{self, Block, StackSlot};
use cranelift_frontend::Variable;
use cranelift_module::FuncId;
use frazil_plan::pipeline::Pipeline;
use frazil_plan::{ColumnId, Expr};
use frazil_runtime::FieldPlace;
use frazil_storage::HotLayout;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What a stage function does.
pub(crate) struct StageWork<'p> {
    pub pipeline: &'p Pipeline,
    /// The operators fused in it.
    pub operators: Range<usize>,
    /// The stage it hands rows to; none: the sink is its own.
    pub next: Option<FuncId>,
    /// Columns that are computed when the sink takes them: all of a long row would not fit into registers.
    pub deferred: HashMap<ColumnId, &'p Expr>,
    /// What it hands on.
    pub output: StageVector,
    /// Rows of the output vector when it is full.
    pub output_rows: usize,
    /// Rows in the output vector.
    pub count: Option<Variable>,
    /// True if the output vector is refilled (see [`crate::refilled`]).
    pub refills: bool,
    /// True if a vector behind the output vector is refilled: it is told to drain even if there are no rows for it.
    pub passes_drain: bool,
    /// Offset of the number of rows that a refilled output vector keeps from call to call.
    pub rows_left: Option<usize>,
    /// Keys and heads of the first operator, a probe, found before the loop.
    pub heads: Option<ProbeHeads>,
    /// What was found of the rows' groups before the loop.
    pub group_heads: Option<GroupHeads>,
    /// The source's column of the cells of groups, if the sink finds them by codes.
    pub group_cells: Option<SourceCell>,
    /// Key and row of the group found last.
    pub last_group: Option<(Variable, Variable)>,
    /// Where the groups found lately are, if keys are strings.
    pub recent_groups: Option<StackSlot>,
    /// States of an aggregation without groups: in registers, or in memory where they are many.
    pub states: Option<StateCells>,
    /// How the source's rows lie.
    pub cells: Cells,
    /// Where the loop over partitions is.
    pub here: Option<InPartition>,
    /// True if the stage may pause within a vector.
    pub pauses: bool,
    /// Offset of its place in the stage memory, if it may pause.
    pub place: Option<usize>,
    /// The row with which the loop over rows begins; the first one if `None`.
    pub first_row: Option<ir::Value>,
    /// The row in hand; `None` in front of the loop over rows and behind it.
    pub row: Option<ir::Value>,
    /// The loops inside the loop over rows in whose bodies the code in hand is, the outermost one first.
    pub loops: Vec<OpenLoop>,
}

impl<'p> StageWork<'p> {
    /// This work, in a pipeline that refills its vectors before the operators `refilled` (see [`crate::refilled`]).
    /// `pauses`: whether the pipeline may pause.
    pub fn handing_on(self, refilled: &[usize], pauses: bool) -> StageWork<'p> {
        let end = self.operators.end;
        StageWork {
            pauses,
            refills: self.next.is_some() && refilled.contains(&end),
            passes_drain: refilled.last().is_some_and(|&last| last > end),
            ..self
        }
    }

    pub fn new(
        pipeline: &'p Pipeline,
        operators: Range<usize>,
        next: Option<FuncId>,
        output_rows: usize,
        cells: Cells,
    ) -> StageWork<'p> {
        StageWork {
            pipeline,
            operators,
            next,
            deferred: HashMap::new(),
            output: StageVector::default(),
            output_rows,
            count: None,
            refills: false,
            passes_drain: false,
            rows_left: None,
            heads: None,
            group_heads: None,
            group_cells: None,
            last_group: None,
            recent_groups: None,
            states: None,
            cells,
            here: None,
            pauses: false,
            place: None,
            first_row: None,
            row: None,
            loops: Vec::new(),
        }
    }
}

/// Build rows that the rows of a vector look for.
#[derive(Clone, Copy)]
pub(crate) struct ProbeHeads {
    /// Integer keys, or hashes.
    pub keys: Slot,
    /// The first row of each chain, or the row of each slot; 0 if there is none.
    pub heads: Slot,
}

/// What was found of the groups of a vector's rows.
pub(crate) struct GroupHeads {
    /// Hashes, or slots of an array.
    pub places: Slot,
    /// The first row of each chain, or the group of each slot; 0 where there was none.
    pub heads: Slot,
    /// The cells of groups, if the rows come with them.
    pub cells: Option<Slot>,
    /// Keys that were computed: number and values.
    pub keys: Vec<(usize, Slot)>,
}

/// The states of the only group.
pub(crate) struct StateCells {
    pub row: ir::Value,
    pub cells: Vec<(FieldPlace, Cell)>,
}

/// Where a state is while a row is worked on.
#[derive(Clone, Copy)]
pub(crate) enum Cell {
    Memory(ir::Value, FieldPlace),
    Registers(Variable, Option<Variable>),
}

/// How code finds the cells of a source's rows.
#[derive(Clone, Debug, Default)]
pub(crate) enum Cells {
    /// Side by side in every column.
    #[default]
    SideBySide,
    /// In partitions whose size the context tells.
    RunTime,
    /// In partitions of this layout.
    CompileTime(KnownLayout),
}

/// A layout that code was made for.
#[derive(Clone, Debug)]
pub(crate) struct KnownLayout {
    pub layout: Arc<HotLayout>,
    /// The stage for vectors of any other.
    pub otherwise: FuncId,
}

impl KnownLayout {
    /// Whether code can be made for a layout: its cells must be near enough to the first one of a partition.
    pub fn is_near(layout: &HotLayout) -> bool {
        i32::try_from(layout.partition_bytes()).is_ok()
    }
}

/// Where the row loop is.
#[derive(Debug)]
pub(crate) struct InPartition {
    /// Where what is the same for all rows of the partition is computed: at the end of this block.
    pub block: Block,
    /// Where what is the same for all columns of a row is: at the end of this one, the head of the inner loop.
    pub head: Block,
    /// Bytes from the first partition to this one.
    pub at: ir::Value,
    /// Row of the partition less row of the vector; none where a partition has a single row.
    pub bias: Option<ir::Value>,
    pub pointers: HashMap<Pointer, ir::Value>,
}

/// Something that is the same for all rows of a partition, or for columns of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pointer {
    /// Of cells of a size, to be moved by a column's place.
    Cells(usize),
    /// The same, moved to the row.
    Row(usize),
    /// Of a column's values.
    Values(usize),
    /// Of a column's validity bytes.
    Validity(usize),
}
