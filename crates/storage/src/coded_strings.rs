//! Strings of a block by their codes: several columns' codes of a row make one number.

use frazil_block::Block;
use frazil_types::{Result, StringRef};

/// String columns of one block whose values have codes. Each combination of their values has a number below
/// [`CodedStrings::count`].
#[derive(Clone, Debug)]
pub struct CodedStrings {
    pub(crate) block: Block,
    pub(crate) columns: Vec<CodedColumn>,
    count: usize,
}

/// A column among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodedColumn {
    /// Among the scan's columns.
    pub index: usize,
    /// In the table.
    pub column: usize,
    /// Number of its codes.
    codes: usize,
    /// A row's number is the sum of its codes, each times its scale.
    pub scale: u32,
}

/// Most numbers that combinations may have.
const MOST_NUMBERS: usize = 1 << 16;

impl CodedStrings {
    /// The columns of a block at `indices` of a scan's columns, which are positions in the table. `None` if one of
    /// them has no codes, or if they have more than 65,536 combinations. XX001 if a column is damaged.
    pub(crate) fn new(block: &Block, indices: &[usize], scanned: &[usize]) -> Result<Option<CodedStrings>> {
        let mut columns = Vec::with_capacity(indices.len());
        let mut count = 1;
        for &index in indices {
            let column = scanned[index];
            let Some(codes) = block.string_codes(column)? else {
                return Ok(None);
            };
            columns.push(CodedColumn {
                index,
                column,
                codes,
                scale: count as u32,
            });
            count *= codes;
            if count > MOST_NUMBERS {
                return Ok(None);
            }
        }
        Ok(Some(CodedStrings {
            block: block.clone(),
            columns,
            count,
        }))
    }

    /// Number of combinations.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The string of the `key`-th column in the combination of a number; `None` for NULL. It lives as long as this
    /// value.
    pub fn string(&self, key: usize, number: usize) -> Option<StringRef> {
        let column = self.columns[key];
        let code = number / column.scale as usize % column.codes;
        self.block.string_of_code(column.column, code)
    }

    /// Returns true if every number means in `other` what it means here.
    pub fn has_strings_of(&self, other: &CodedStrings) -> bool {
        let mut pairs = self.columns.iter().zip(&other.columns);
        self.columns.len() == other.columns.len()
            && pairs
                .all(|(mine, others)| (self.block).has_strings_of(mine.column, &other.block, others.column))
    }
}
