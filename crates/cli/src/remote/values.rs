//! Types and values of results: those that Frazil has come in binary form, others as text.

use frazil::{ColumnDef, Kind, LogicalType, RawValue as Value, Result, SqlState, TypeInfo};
use frazil_types::Zone;
use frazil_types::sql_type::utf8;

/// The type that PostgreSQL's number and modifier name. `None` for a type that Frazil does not have or that a statement
/// defined.
pub fn type_of(oid: u32, modifier: i32) -> Option<LogicalType> {
    if oid == 0 {
        return None;
    }
    let of_oid = frazil::types().find(|info| info.oid == oid);
    if let Some(info) = of_oid {
        return with_modifier(info, modifier);
    }
    let element = frazil::types().find(|info| info.array_oid == oid)?;
    with_modifier(element, modifier)?.array()
}

/// The type with the length or digits that a modifier holds.
fn with_modifier(info: &TypeInfo, modifier: i32) -> Option<LogicalType> {
    let plain = match info.kind {
        Kind::Numeric => Some(LogicalType::Numeric),
        _ => (info.of_modifiers)(&[]),
    };
    let Some(length) = u32::try_from(modifier).ok() else {
        return plain;
    };
    // Lengths and the digits of numeric count the 4 bytes of a header, those of times do not.
    let behind = length.wrapping_sub(4);
    let candidates: [&[u32]; 3] = [&[length], &[behind], &[behind >> 16, behind & 0x7ff]];
    let types = candidates
        .into_iter()
        .filter_map(|numbers| (info.of_modifiers)(numbers));
    types
        .into_iter()
        .find(|&ty| (info.modifier)(ty) == modifier)
        .or(plain)
}

/// The form in which a column of a result comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// In binary.
    Binary(LogicalType),
    /// As text, shown as it is.
    Text,
}

impl Form {
    /// The form for a type. `zone`: the session's time zone.
    pub fn of(oid: u32, modifier: i32, zone: Option<Zone>) -> Form {
        let ty = type_of(oid, modifier).filter(|&ty| has_binary(ty));
        match (ty, zone) {
            (Some(ty), Some(zone)) => Form::Binary(ty.in_zone(zone)),
            (Some(ty), None) => Form::Binary(ty),
            (None, _) => Form::Text,
        }
    }

    /// The number of the form in messages.
    pub fn number(self) -> i16 {
        match self {
            Form::Binary(_) => 1,
            Form::Text => 0,
        }
    }

    /// A column of this form.
    pub fn column(self, name: &str) -> ColumnDef {
        ColumnDef::new(name, self.ty())
    }

    /// The type of its values.
    pub fn ty(self) -> LogicalType {
        match self {
            Form::Binary(ty) => ty,
            Form::Text => LogicalType::Text,
        }
    }

    /// Reads a value. 22P03, 22021, or another error of the type for bytes that are none of its values.
    pub fn value(self, bytes: &[u8]) -> Result<Value> {
        match self {
            Form::Binary(ty) => (ty.info().receive)(bytes, ty),
            Form::Text => Ok(Value::Text(utf8(bytes)?.to_owned())),
        }
    }
}

/// True for a type whose binary form holds all that is shown of a value: oids that show a name have only the number.
fn has_binary(ty: LogicalType) -> bool {
    if let Some(element) = ty.element() {
        return has_binary(element);
    }
    let nothing = (ty.info().receive)(&[], ty).err();
    !ty.kind().is_named_oid() && nothing.is_none_or(|error| error.state() != SqlState::UNDEFINED_FUNCTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_number_and_modifier() {
        let mut count = 0;
        for info in frazil::types().filter(|info| info.is_stored && info.oid != 0) {
            let lists: [&[u32]; 4] = [&[], &[3], &[10], &[12, 2]];
            for ty in lists.into_iter().filter_map(|list| (info.of_modifiers)(list)) {
                let shown = |ty: LogicalType| ty.to_string();
                let found = type_of(info.oid, (info.modifier)(ty)).expect("it is known");
                assert_eq!(shown(found), shown(ty));
                count += 1;
            }
        }
        assert!(count > 20, "{count}");
        assert_eq!(type_of(1700, -1), Some(LogicalType::Numeric));
        assert_eq!(type_of(1007, -1), LogicalType::Integer.array());
        assert_eq!((type_of(600, -1), type_of(0, -1)), (None, None));
    }

    #[test]
    fn names_of_objects_come_as_text() {
        let form = |ty: LogicalType| Form::of(ty.oid(), -1, None);
        assert_eq!(form(LogicalType::Regclass), Form::Text);
        assert_eq!(form(LogicalType::Oid), Form::Binary(LogicalType::Oid));
        assert_eq!(form(LogicalType::Record), Form::Text);
    }
}
