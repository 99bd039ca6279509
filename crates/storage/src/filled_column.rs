//! The values of a column for the rows of a chunk, computed after the rows were written and kept beside their cells
//! or their block.

use crate::bounds::ColumnBounds;
use crate::lent_cells::LentCells;
use crate::string_arena::StringArena;
use frazil_block::{Block, ColumnBuffer, ColumnInput};
use frazil_kernels::{Isa, Selection};
use frazil_types::{ColumnVector, Error, LogicalType, NativeType, Result, StringRef, dispatch_native};
use std::sync::Arc;

/// The cells of a column beside those of a hot chunk, side by side.
#[derive(Debug)]
pub(crate) struct FilledCells {
    cells: LentCells,
    native: NativeType,
    bounds: ColumnBounds,
    bytes: usize,
}

impl FilledCells {
    /// The values of a column. It keeps its strings alive, which have `heap` bytes.
    pub fn new(column: ColumnVector, heap: usize) -> FilledCells {
        FilledCells {
            native: column.native(),
            bounds: ColumnBounds::of(&column, 0, column.len()),
            bytes: column.bytes() + heap,
            cells: LentCells::of_column(column, None),
        }
    }

    /// The cells.
    pub fn cells(&self) -> &LentCells {
        &self.cells
    }

    /// Their native type.
    pub fn native(&self) -> NativeType {
        self.native
    }

    /// Bounds over all rows, deleted ones included.
    pub fn bounds(&self) -> ColumnBounds {
        self.bounds
    }

    /// The values, of a column of type `ty`, for the builder of a block. An internal error for a type of other cells.
    pub fn input(&self, ty: LogicalType) -> Result<ColumnInput<'_>> {
        if ty.native() != self.native {
            return Err(Error::internal("a column's cells are of another type"));
        }
        // SAFETY: the cells are as many values of the native type, aligned; the vector that keeps the cells keeps
        // their strings, which are UTF-8 if the type's are.
        Ok(unsafe {
            let validity = self.cells.validity();
            ColumnInput::of_memory(ty, self.cells.value_ptr(0), self.cells.rows(), validity)
        })
    }

    /// Bytes of the cells and their strings.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The values of a column for the rows that a chunk shows, in the form that suits the chunk.
#[derive(Clone, Debug)]
pub(crate) enum FilledColumn {
    /// Cells, for a hot chunk.
    Cells(Arc<FilledCells>),
    /// A block, for a frozen chunk.
    Block(Block),
}

impl FilledColumn {
    /// Bytes of the column.
    pub fn bytes(&self) -> usize {
        match self {
            FilledColumn::Cells(cells) => cells.bytes(),
            FilledColumn::Block(block) => block.bytes().len(),
        }
    }
}

/// The values of a block of one column.
pub(crate) fn cells_of(block: &Block, ty: LogicalType) -> Result<FilledCells> {
    let rows = block.rows();
    let mut buffer = ColumnBuffer::new();
    block.unpack(Isa::detect(), 0, Selection::all(0..rows), &mut buffer)?;
    buffer.flatten();
    let mut column = ColumnVector::zeroed(ty, rows as usize);
    dispatch_native!(ty.native(), T => {
        column.values_mut::<T>().copy_from_slice(buffer.values::<T>());
    });
    let nulls = buffer.validity().into_iter().flatten().enumerate();
    for (row, _) in nulls.filter(|(_, valid)| **valid == 0) {
        column.set_null(row);
    }
    // SAFETY: the strings live in the block and in the buffer.
    let heap = unsafe { own_strings(&mut column) };
    Ok(FilledCells::new(column, heap))
}

/// Copies the strings of a column into memory that the column keeps. Returns their bytes.
///
/// # Safety
/// The strings are alive.
unsafe fn own_strings(column: &mut ColumnVector) -> usize {
    if column.native() != NativeType::String {
        return 0;
    }
    let arena = StringArena::default();
    let strings = column.values::<StringRef>().to_vec();
    let cells = column.values_mut::<StringRef>();
    // SAFETY: alive by contract.
    unsafe {
        arena
            .writer()
            .copy_all(&strings, |row, string| cells[row] = string)
    };
    let bytes = arena.bytes();
    column.keep(Arc::new(arena));
    bytes
}
