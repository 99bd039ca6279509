//! Stage vectors: dense columns of up to [`STAGE_ROWS`] rows between two stages, and in front of sinks
//! that take whole vectors (Relaxed Operator Fusion, section 3.2).
//!
//! A stage vector carries computed values; base columns and build rows are carried by **anchors**, the
//! row's number in the source vector and pointers to build rows, and fetched by the first stage that
//! needs them.

use frazil_plan::ColumnId;
use frazil_types::{NativeType, STAGE_ROWS};

/// Every array in the stage memory begins at such an address.
const ALIGNMENT: usize = 64;

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SlotContent {
    /// A column's values.
    Column(ColumnId),
    /// An anchor.
    Anchor(usize),
    /// The integer key that the next operator probes with.
    ProbeKey,
    /// The hash of the keys that the next operator probes with.
    ProbeHash,
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

    /// A new slot.
    pub fn slot(&mut self, content: SlotContent, native: NativeType, nullable: bool) -> Slot {
        Slot {
            content,
            native,
            values: self.room(STAGE_ROWS * native.size()),
            validity: nullable.then(|| self.room(STAGE_ROWS)),
        }
    }

    /// Bytes in all.
    pub fn bytes(&self) -> usize {
        self.bytes.max(ALIGNMENT)
    }
}
