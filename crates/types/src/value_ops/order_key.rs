//! Keys of values that are not compared by their own bytes.

use crate::array::ArrayRef;
use crate::numeric::Numeric;
use crate::sql_type::oid_bytes;
use crate::{DocumentForm, LogicalType, json};
use std::borrow::Cow;

/// Bytes whose order and equality are those of the values of a type [that has such keys](LogicalType::has_order_key); of other types,
/// and of bytes that are damaged, the bytes themselves.
pub fn order_key(bytes: &[u8], ty: LogicalType) -> Cow<'_, [u8]> {
    if ty.is_unscaled() {
        return Cow::Borrowed(Numeric::key(bytes));
    }
    if ty.document() == Some(DocumentForm::Binary) {
        return Cow::Owned(json::order_key(bytes));
    }
    if ty.kind().is_named_oid() {
        return Cow::Borrowed(oid_bytes(bytes));
    }
    let array = ty
        .element()
        .and_then(|element| ArrayRef::new(bytes, element).ok());
    let key = array.and_then(|array| array.order_key().ok());
    key.map_or(Cow::Borrowed(bytes), Cow::Owned)
}
