//! The bytes of regclass, regtype and their like: four of an oid, most significant first, then the text that shows it.
//!
//! Only a statement knows the names of its catalog, so it looks them up when it makes such a value. From then on the
//! value shows itself, wherever it goes; it compares and groups by its oid alone.

use crate::{Error, LogicalType, Result, Value};
use std::fmt;

/// Bytes of the oid.
const OID_BYTES: usize = 4;

/// A value that shows `oid` as `name`.
pub fn named_oid(oid: u32, name: &str) -> Vec<u8> {
    [&oid.to_be_bytes(), name.as_bytes()].concat()
}

/// The oid of such a value; 0 of bytes that are not one.
pub fn oid_of(bytes: &[u8]) -> u32 {
    bytes
        .first_chunk::<OID_BYTES>()
        .map_or(0, |oid| u32::from_be_bytes(*oid))
}

/// The bytes that such values are compared by.
pub(crate) fn oid_bytes(bytes: &[u8]) -> &[u8] {
    &bytes[..OID_BYTES.min(bytes.len())]
}

/// Reads `-`, which names nothing. Error 0A000 for other texts: a name is looked up by the statement that has it.
pub(super) fn read(text: &str, ty: LogicalType) -> Result<Value> {
    match text {
        "-" => Ok(Value::Bytes(named_oid(0, "-"))),
        _ => Err(Error::unsupported(format!("reading type {ty} from data"))),
    }
}

pub(super) fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let name = value.as_bytes().and_then(|bytes| bytes.get(OID_BYTES..));
    f.write_str(
        name.and_then(|name| std::str::from_utf8(name).ok())
            .ok_or(fmt::Error)?,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_shows_its_name_and_compares_by_its_oid() {
        let value = named_oid(16_400, "größe");
        assert_eq!(oid_of(&value), 16_400);
        assert_eq!(oid_bytes(&value), oid_bytes(&named_oid(16_400, "another")));
        assert!(oid_bytes(&named_oid(255, "z")) < oid_bytes(&named_oid(256, "a")));
        assert_eq!(
            Value::Bytes(value).display(LogicalType::Regclass).to_string(),
            "größe"
        );
        assert_eq!(oid_of(b"abc"), 0);
    }
}
