//! Arrays of any type that is none: [`crate::array`] says how their values are held.

use std::hash::{Hash, Hasher};
use super::{Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo};
use crate::{Error, LogicalType, NativeType, SqlState, Value, array};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Array,
    oid: 2277,
    typname: "anyarray",
    name: "anyarray",
    array_oid: 0,
    array_name: "",
    sql_names: &["anyarray"],
    category: Category::Array,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: None,
    order: Order::Key,
    constant: ConstantForm::Named,
    show: |ty, f| match ty.element() {
        Some(element) => write!(f, "{element}[]"),
        None => Err(fmt::Error),
    },
    // What it is an array of stands in no number.
    of_modifiers: |_| None,
    range: |_| None,
    overflow_state: SqlState::PROGRAM_LIMIT_EXCEEDED,
    overflow: |ty| Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("{ty} out of range")),
    read: |text, ty| array::read(text, ty.element().unwrap_or(LogicalType::Text)).map(Value::Bytes),
    write: |f, value, ty| {
        let (bytes, element) = value.as_bytes().zip(ty.element()).ok_or(fmt::Error)?;
        array::write(f, bytes, element)
    },
};

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
        (ty.kind() != Kind::Array).then(|| ElementType(ty.code()))
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
