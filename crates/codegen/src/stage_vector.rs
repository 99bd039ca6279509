//! Stage vectors: dense columns of up to [`STAGE_ROWS`] rows between two stages, and in front of sinks
//! that take whole vectors (Relaxed Operator Fusion, section 4.2).
//!
//! A stage vector carries computed values; base columns and build rows are carried by **anchors**, the
//! row's number in the source vector and pointers to build rows, and fetched by the first stage that
//! needs them.

use frazil_plan::pipeline::{PipelinePlan, Sink};
use frazil_plan::{ColumnId, RowCount};
use frazil_types::{NativeType, STAGE_ROWS};
use std::collections::HashMap;

/// Every array in the stage memory begins at such an address.
const ALIGNMENT: usize = 64;

/// Values of a vector in front of a sink: so many lie in a second-level cache.
const SINK_VALUES: usize = 1 << 17;
/// Rows that such a vector has at least.
pub(crate) const LEAST_SINK_ROWS: usize = 16;

/// Rows of the vector that a pipeline hands to its sink when it is full: no more than the sink takes, and fewer of long rows.
pub(crate) fn sink_rows(plan: &PipelinePlan, sink: &Sink) -> usize {
    let Some(buffer) = sink.breaker().and_then(|id| plan.breakers[id.0].buffer()) else {
        return STAGE_ROWS;
    };
    let in_cache = (SINK_VALUES / buffer.columns.len().max(1)).clamp(LEAST_SINK_ROWS, STAGE_ROWS);
    let limit = buffer.limit.as_ref().and_then(RowCount::constant);
    match (limit, buffer.offset.constant()) {
        (Some(limit), Some(offset)) => in_cache.min(limit.saturating_add(offset).max(1) as usize),
        _ => in_cache,
    }
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SlotContent {
    /// A column's values.
    Column(ColumnId),
    /// An anchor.
    Anchor(usize),
    /// The key of the probe that comes next: its single integer, sign-extended, or the hash of its keys.
    ProbeKey,
    /// A group key of the sink that is computed: its number.
    GroupKey(usize),
    /// The cell of the row's group; 0 if it has none.
    GroupCell,
    /// Where the row's group is looked for: the hash of its keys, or the slot of an array.
    GroupPlace,
}

/// One array of a stage vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub content: SlotContent,
    pub native: NativeType,
    /// Offset of the values in the stage memory.
    pub values: usize,
    /// Offset of the validity bytes, if there are any.
    pub validity: Option<usize>,
}

/// The arrays between two stages.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageVector {
    pub slots: Vec<Slot>,
}

impl StageVector {
    /// The slot that holds `content`.
    pub fn find(&self, content: SlotContent) -> Option<Slot> {
        self.slots.iter().copied().find(|s| s.content == content)
    }

    /// The slots that hold columns.
    pub fn columns(&self) -> HashMap<ColumnId, Slot> {
        let column = |slot: &Slot| match slot.content {
            SlotContent::Column(id) => Some((id, *slot)),
            SlotContent::Anchor(_)
            | SlotContent::ProbeKey
            | SlotContent::GroupKey(_)
            | SlotContent::GroupCell
            | SlotContent::GroupPlace => None,
        };
        self.slots.iter().filter_map(column).collect()
    }
}

/// Places arrays in a pipeline's stage memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageMemory {
    bytes: usize,
}

impl StageMemory {
    /// Room for some bytes; its offset.
    pub fn room(&mut self, bytes: usize) -> usize {
        let offset = self.bytes;
        self.bytes += bytes.next_multiple_of(ALIGNMENT);
        offset
    }

    /// A new slot of a vector of `rows` rows.
    pub fn slot(&mut self, content: SlotContent, native: NativeType, nullable: bool, rows: usize) -> Slot {
        Slot {
            content,
            native,
            values: self.room(rows * native.size()),
            validity: nullable.then(|| self.room(rows)),
        }
    }

    /// Bytes in all.
    pub fn bytes(&self) -> usize {
        self.bytes.max(ALIGNMENT)
    }
}
