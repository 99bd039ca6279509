//! The types that functions of texts, bytes, numbers and times give.

use frazil_types::LogicalType;

pub(super) const BIGINT: LogicalType = LogicalType::BigInt;
pub(super) const BOOLEAN: LogicalType = LogicalType::Boolean;
pub(super) const BYTES: LogicalType = LogicalType::Bytea;
pub(super) const DOUBLE: LogicalType = LogicalType::Double;
pub(super) const INTEGER: LogicalType = LogicalType::Integer;
pub(super) const TEXT: LogicalType = LogicalType::Text;
pub(super) const TIMESTAMP: LogicalType = LogicalType::TIMESTAMP;
pub(super) const UUID: LogicalType = LogicalType::Uuid;
