//! Layouts: codes ↔ bytes. A layout holds unsigned codes of k bits and knows nothing of values.

pub mod byte_packed;

use crate::format::corrupted;
use frazil_types::Result;
use std::fmt;

/// How codes lie in bytes. The number is the layout's id in the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Layout {
    /// There are no codes: constants, and raw values, which lie in their native form.
    None = 0,
    /// Unsigned integers of 1, 2, 4 or 8 bytes (Data Blocks, section 3.3).
    BytePacked = 1,
}

impl Layout {
    /// The layout of an id.
    pub fn from_id(id: u8) -> Result<Layout> {
        match id {
            0 => Ok(Layout::None),
            1 => Ok(Layout::BytePacked),
            _ => Err(corrupted(format!("unknown layout {id}"))),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layout::None => "none",
            Layout::BytePacked => "byte-packed",
        })
    }
}
