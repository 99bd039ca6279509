//! memPAX(k) (Runtime Fragility, section 2): k rows at a time are laid out in columns. memPAX(1) is
//! row layout; with k of a whole chunk or more it is column layout.

use frazil_block::ShownColumn;
use frazil_types::{CHUNK_ROWS, NativeType, READ_PADDING, Schema};

/// Where the cells of a hot chunk lie.
#[derive(Clone, Debug)]
pub struct HotLayout {
    rows_per_partition: usize,
    /// log2 of the rows, where they are a power of two: cells are then found without a division.
    shift: Option<u32>,
    partition_bytes: usize,
    columns: Vec<ColumnPlace>,
    is_whole: bool,
    fingerprint: u64,
}

/// Where a column lies within a partition.
#[derive(Clone, Copy, Debug)]
pub struct ColumnPlace {
    /// Native type of its cells.
    pub native: NativeType,
    /// Bytes from the start of a partition to its first cell; 0 for a column without cells.
    pub values: usize,
    /// Bytes to its first validity byte; `None` for NOT NULL columns.
    pub validity: Option<usize>,
}

impl HotLayout {
    /// The layout of a table's hot chunks.
    pub fn new(schema: &Schema, pax_rows: u32) -> HotLayout {
        let rows = (pax_rows as usize).clamp(1, CHUNK_ROWS);
        let mut end = 0;
        let mut place = |cell: usize| {
            // A long run of cells starts a cache line, a short one is aligned to its cells.
            let align = if rows * cell >= 64 { 64 } else { cell };
            let start = usize::next_multiple_of(end, align);
            end = start + rows * cell;
            start
        };
        let columns = (schema.columns.iter())
            .map(|c| ColumnPlace {
                native: c.ty.native(),
                values: place(c.ty.native().size()),
                validity: c.nullable.then(|| place(1)),
            })
            .collect();
        HotLayout {
            rows_per_partition: rows,
            shift: rows.is_power_of_two().then(|| rows.trailing_zeros()),
            partition_bytes: end.next_multiple_of(if end >= 64 { 64 } else { 16 }).max(16),
            columns,
            is_whole: true,
            fingerprint: 0,
        }
        .with_fingerprint()
    }

    /// The same cells as those of other columns; a constant has none. `None` if a position is not there.
    pub(crate) fn showing(&self, shown: &[ShownColumn]) -> Option<HotLayout> {
        let mut is_whole = self.is_whole;
        let mut columns = Vec::with_capacity(shown.len());
        for column in shown {
            columns.push(match column {
                ShownColumn::Stored(position) => *self.columns.get(*position)?,
                ShownColumn::Constant(constant) => {
                    is_whole = false;
                    ColumnPlace {
                        native: constant.native(),
                        values: 0,
                        validity: None,
                    }
                }
            });
        }
        let layout = HotLayout {
            columns,
            is_whole,
            ..self.clone()
        };
        Some(layout.with_fingerprint())
    }

    /// Mixes where everything lies.
    fn with_fingerprint(mut self) -> HotLayout {
        let places = self.columns.iter().flat_map(|c| {
            let validity = c.validity.map_or(0, |v| v as u64 + 1);
            [c.native as u64, c.values as u64, validity]
        });
        let shape = [
            self.rows_per_partition as u64,
            self.partition_bytes as u64,
            self.is_whole.into(),
        ];
        let mix = |hash: u64, word: u64| {
            let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^ hash >> 32
        };
        self.fingerprint = shape.into_iter().chain(places).fold(1, mix).max(1);
        self
    }

    /// Layouts in which the cells of all columns lie alike have the same number, others differ in it. Never 0.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Whether every column has cells.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Rows of a partition: k.
    pub fn rows_per_partition(&self) -> usize {
        self.rows_per_partition
    }

    /// Bytes a chunk reserves, readable padding included.
    pub fn chunk_bytes(&self) -> usize {
        CHUNK_ROWS.div_ceil(self.rows_per_partition) * self.partition_bytes + READ_PADDING
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Place of a column.
    #[inline]
    pub fn column(&self, column: usize) -> ColumnPlace {
        self.columns[column]
    }

    /// Bytes from one partition to the next.
    #[inline]
    pub fn partition_bytes(&self) -> usize {
        self.partition_bytes
    }

    /// Number of a row's partition, and its place in it.
    #[inline]
    pub fn place(&self, row: usize) -> (usize, usize) {
        match self.shift {
            Some(shift) => (row >> shift, row & (self.rows_per_partition - 1)),
            None => (row / self.rows_per_partition, row % self.rows_per_partition),
        }
    }

    /// Bytes from the start of the chunk to the cell of `row` in `column`.
    #[inline]
    pub fn value_offset(&self, column: usize, row: usize) -> usize {
        let place = self.columns[column];
        let (partition, within) = self.place(row);
        partition * self.partition_bytes + place.values + within * place.native.size()
    }

    /// Bytes to the validity byte of `row` in `column`, if the column may hold NULL.
    pub fn validity_offset(&self, column: usize, row: usize) -> Option<usize> {
        self.columns[column].validity.map(|start| {
            let (partition, within) = self.place(row);
            partition * self.partition_bytes + start + within
        })
    }

    /// End of the longest run of rows from `row` on, up to `end`, whose cells lie side by side.
    pub fn run_end(&self, row: usize, end: usize) -> usize {
        end.min((self.place(row).0 + 1) * self.rows_per_partition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{ColumnDef, LogicalType};

    /// Figure 1 of the paper: every cell has its own bytes, aligned, in all layouts.
    #[test]
    fn cells_never_overlap() {
        let schema = Schema::new(vec![
            ColumnDef::new("a", LogicalType::SmallInt),
            ColumnDef::new("b", LogicalType::Text),
            ColumnDef::new("c", LogicalType::BigInt).not_null(),
        ]);
        for k in [1, 2, 3, 4, 7, 512, 65_536, 1 << 20] {
            let layout = HotLayout::new(&schema, k);
            let mut used = vec![false; layout.chunk_bytes()];
            for row in 0..2000 {
                for column in 0..3 {
                    let size = layout.column(column).native.size();
                    let at = layout.value_offset(column, row);
                    assert_eq!(at % size, 0);
                    let validity = layout.validity_offset(column, row).map(|v| v..v + 1);
                    for byte in (at..at + size).chain(validity.into_iter().flatten()) {
                        assert!(!std::mem::replace(&mut used[byte], true), "k {k} row {row}");
                    }
                }
            }
        }
    }
}
