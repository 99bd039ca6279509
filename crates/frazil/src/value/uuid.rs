//! UUIDs.

use frazil_types::sql_type::{uuid_of_bytes, uuid_to_bytes};
use frazil_types::value_ops::{CastLength, cast};
use frazil_types::{Error, LogicalType, Result, Value as RawValue};
use std::fmt;
use std::str::FromStr;

/// 128 bits that name something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid([u8; 16]);

impl Uuid {
    /// The UUID of 16 bytes, in the order in which they are written.
    pub fn from_bytes(bytes: [u8; 16]) -> Uuid {
        Uuid(bytes)
    }

    /// Its 16 bytes, in the order in which they are written.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    pub(super) fn of_native(native: i128) -> Uuid {
        Uuid(uuid_to_bytes(native))
    }

    pub(super) fn native(self) -> i128 {
        uuid_of_bytes(self.0)
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", RawValue::Int(self.native()).display(LogicalType::Uuid))
    }
}

impl FromStr for Uuid {
    type Err = Error;

    /// Reads every form that SQL reads: 22P02.
    fn from_str(text: &str) -> Result<Uuid> {
        let text = RawValue::Text(text.to_owned());
        let native = cast(&text, LogicalType::Text, LogicalType::Uuid, CastLength::Refuse)?;
        native
            .as_int()
            .map(Uuid::of_native)
            .ok_or_else(|| Error::internal("a uuid that is not one"))
    }
}
