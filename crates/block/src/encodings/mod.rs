//! Encodings: value ↔ code, one file each, order-preserving where values have an order. An encoder
//! turns a column into ordinals and hands the codes to a layout; it never writes bits itself.
//!
//! **Ordinals** are what all encodings have in common: unsigned 64-bit numbers in the order of the
//! values. A delta to the minimum for integers and decimals, an index for dictionaries, the ordered bits for
//! doubles. Restrictions are translated into ranges of ordinals, PSMAs are built over them, and a code is an
//! ordinal, plus one where code 0 stands for NULL.

pub mod constant;
pub mod decimal;
pub mod dictionary;
pub mod frame_of_reference;
pub mod frames;
pub mod fsst;
pub mod numbers;
pub mod patched;
pub mod raw;
pub mod string_dictionary;
pub mod strings;

use crate::format::{ColumnEntry, corrupted};
use frazil_types::{NativeType, Result};
use std::fmt;

/// How values become codes. The number is the encoding's id in the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Encoding {
    /// All values are equal, or all are NULL (Data Blocks, section 3.3: single value).
    Constant = 0,
    /// A code is the index of the value among the sorted distinct values.
    Dictionary = 1,
    /// A code is the distance to the smallest value (Data Blocks: truncation).
    FrameOfReference = 2,
    /// Values as they are.
    Raw = 3,
    /// Frame of reference with exceptions (Integer Compression: PFOR).
    Patched = 4,
    /// Frame of reference whose smallest value is that of 128 values.
    Frames = 5,
    /// Doubles that are decimals, as integers by frame of reference.
    Decimal = 6,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Encoding; 7] = [
        Encoding::Constant,
        Encoding::Dictionary,
        Encoding::FrameOfReference,
        Encoding::Patched,
        Encoding::Frames,
        Encoding::Decimal,
        Encoding::Raw,
    ];

    /// The encoding of an id.
    pub fn from_id(id: u8) -> Result<Encoding> {
        match id {
            0 => Ok(Encoding::Constant),
            1 => Ok(Encoding::Dictionary),
            2 => Ok(Encoding::FrameOfReference),
            3 => Ok(Encoding::Raw),
            4 => Ok(Encoding::Patched),
            5 => Ok(Encoding::Frames),
            6 => Ok(Encoding::Decimal),
            _ => Err(corrupted(format!("unknown encoding {id}"))),
        }
    }

    /// The first version of the format that has it.
    pub(crate) fn since(self) -> u16 {
        match self {
            Encoding::Constant | Encoding::Dictionary | Encoding::FrameOfReference | Encoding::Raw => 1,
            Encoding::Patched | Encoding::Frames | Encoding::Decimal => 2,
        }
    }

    /// Its name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Constant => "constant",
            Encoding::Dictionary => "dictionary",
            Encoding::FrameOfReference => "frame of reference",
            Encoding::Raw => "raw",
            Encoding::Patched => "patched frame of reference",
            Encoding::Frames => "frames of reference",
            Encoding::Decimal => "decimal",
        }
    }

    /// Whether it has codes, which lie in a layout.
    pub const fn has_codes(self) -> bool {
        !matches!(self, Encoding::Constant | Encoding::Raw)
    }

    /// Whether there are values of a type that it can hold. Whether it can hold all of a block is another matter.
    pub const fn can_hold(self, native: NativeType) -> bool {
        let is_integer = !matches!(native, NativeType::F64 | NativeType::String);
        match self {
            Encoding::Constant | Encoding::Raw => true,
            Encoding::Dictionary => !matches!(native, NativeType::Bool),
            Encoding::FrameOfReference => is_integer,
            Encoding::Patched | Encoding::Frames => is_integer && !matches!(native, NativeType::Bool),
            Encoding::Decimal => matches!(native, NativeType::F64),
        }
    }

    /// The encoding of a name; an error names those there are.
    pub fn parse(name: &str) -> Result<Encoding> {
        crate::build_options::parse("encoding", name, &Encoding::ALL)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A column as its encoder leaves it: an entry whose sections have no place yet, and their bytes.
#[derive(Debug)]
pub struct EncodedColumn {
    /// The directory entry; the builder fills in the sections.
    pub entry: ColumnEntry,
    /// Bytes of each section, as in [`crate::format::Sections`].
    pub sma: Vec<u8>,
    /// The positional SMA.
    pub psma: Vec<u8>,
    /// Dictionary values or offsets.
    pub dictionary: Vec<u8>,
    /// Codes, raw values or offsets.
    pub codes: Vec<u8>,
    /// String bytes.
    pub heap: Vec<u8>,
    /// Validity bits.
    pub bitmap: Vec<u8>,
    /// FSST symbols.
    pub symbols: Vec<u8>,
}

impl EncodedColumn {
    /// A column without sections.
    pub fn new(entry: ColumnEntry) -> EncodedColumn {
        EncodedColumn {
            entry,
            sma: Vec::new(),
            psma: Vec::new(),
            dictionary: Vec::new(),
            codes: Vec::new(),
            heap: Vec::new(),
            bitmap: Vec::new(),
            symbols: Vec::new(),
        }
    }
}
