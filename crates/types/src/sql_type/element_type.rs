//! The type of an array's elements, as small as a type is.

use super::Kind;
use crate::LogicalType;
use std::hash::{Hash, Hasher};

/// The type of an array's elements: any [`LogicalType`] but an array, by its [code](LogicalType::code).
#[derive(Clone, Copy, Debug)]
pub struct ElementType(u64);

/// Equal where the types are: an enumeration has several codes, one for each state that it was in.
impl PartialEq for ElementType {
    fn eq(&self, other: &ElementType) -> bool {
        self.0 == other.0 || self.get() == other.get()
    }
}

impl Eq for ElementType {}

impl Hash for ElementType {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.get().hash(hasher);
    }
}

impl ElementType {
    /// Text.
    pub const TEXT: ElementType = ElementType(Kind::Text as u64);
    /// Double precision.
    pub const DOUBLE: ElementType = ElementType(Kind::Double as u64);
    /// Integer.
    pub const INTEGER: ElementType = ElementType(Kind::Integer as u64);
    /// json.
    pub const JSON: ElementType = ElementType(Kind::Json as u64);
    /// jsonb.
    pub const JSONB: ElementType = ElementType(Kind::Jsonb as u64);

    /// Elements of a kind that has neither a length nor digits, and is not an array.
    pub const fn of_kind(kind: Kind) -> ElementType {
        ElementType(kind as u64)
    }

    /// Elements of a type; `None` for an array, whose dimensions are its own.
    pub fn new(ty: LogicalType) -> Option<ElementType> {
        ty.element().is_none().then(|| ElementType(ty.code()))
    }

    /// The type.
    #[inline]
    pub fn get(self) -> LogicalType {
        LogicalType::of_code(self.0).unwrap_or(LogicalType::Text)
    }

    /// Its code.
    pub(crate) fn code(self) -> u64 {
        self.0
    }
}
