//! Enumerations: types of statements' own, whose values are labels in an order.
//!
//! A value is held as its label's position, a 32-bit number whose order is that of the labels: so everything that knows integers
//! (blocks, SMAs, sorters, joins, keys of indexes) knows enumerations. Positions have gaps, so that a label comes between two others
//! while rows stay as they are. What labels there are is said by an [`EnumType`], which the catalog makes.

use super::{
    CatalogRow, Category, ConstantForm, Counts, EnumType, Kind, Measures, NativeOf, Order, SentText, TypeInfo, range,
    write_integer,
};
use super::wire;
use crate::{Error, LogicalType, NativeType, SqlState, Value};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Enum,
    oid: 3500,
    typname: "anyenum",
    name: "anyenum",
    typlen: 4,
    catalog: CatalogRow {
        form: "e",
        ..CatalogRow::base(
        "E",
        ["i", "p"],
        [(3506, "enum_in"), (3507, "enum_out"), (3532, "enum_recv"), (3533, "enum_send")],
    )
    },
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 0,
    array_name: "anyarray",
    sql_names: &["anyenum"],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| None,
    native: NativeOf::Always(NativeType::I32),
    counts: Counts::Nothing,
    document: None,
    sent_text: Some(SentText::Whole),
    order: Order::Native,
    constant: ConstantForm::Named,
    show: |ty, f| f.write_str(ty.name()),
    // Which one it is stands in no number.
    of_modifiers: |_| None,
    range: |_| range(i32::MIN as i128, i32::MAX as i128),
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: |ty| Error::new(SqlState::NUMERIC_OUT_OF_RANGE, format!("{ty} out of range")),
    read: |text, ty| match ty.enumeration().and_then(|e| e.position(text)) {
        Some(position) => Ok(Value::Int(position.into())),
        None => Err(unknown(ty, text)),
    },
    write: |f, value, ty| {
        let label = |v: i128| ty.enumeration()?.label(v.try_into().ok()?);
        write_integer(value, |v| match label(v) {
            Some(label) => f.write_str(label),
            // Between two labels, as bounds in plans are.
            None => write!(f, "#{v}"),
        })
    },
    send: wire::send_text,
    receive: wire::receive_text,
};

/// 22P02.
fn unknown(ty: LogicalType, text: &str) -> Error {
    let message = format!("invalid input value for enum {}: \"{text}\"", ty.name());
    let error = Error::new(SqlState::INVALID_TEXT, message);
    let labels = ty.enumeration().map_or(&[][..], EnumType::labels);
    let shown: Vec<String> = labels
        .iter()
        .take(SHOWN)
        .map(|l| format!("'{}'", l.text))
        .collect();
    match labels.len() {
        0 => error,
        n if n > SHOWN => error.with_hint(format!(
            "its values are {} and {} more",
            shown.join(", "),
            n - SHOWN
        )),
        _ => error.with_hint(format!("its values are {}", shown.join(", "))),
    }
}

/// Labels that a hint lists at most.
const SHOWN: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql_type::EnumLabel;

    fn size(labels: &[&str]) -> EnumType {
        let labels = labels.iter().zip(1..).map(|(text, at)| EnumLabel {
            position: at * 10,
            text: text.to_string(),
        });
        EnumType::new(71, "size", labels.collect())
    }

    #[test]
    fn labels_are_values_in_their_order() {
        let ty = LogicalType::Enum(size(&["small", "large", "huge"]));
        let read = |text: &str| crate::value_ops::read(text, ty);
        assert_eq!(read("large").unwrap(), Value::Int(20));
        assert_eq!(Value::Int(30).display(ty).to_string(), "huge");
        assert_eq!(Value::Int(31).display(ty).to_string(), "#31");
        let error = read("Large").unwrap_err();
        assert_eq!(error.state(), SqlState::INVALID_TEXT);
        assert_eq!(error.message(), "invalid input value for enum size: \"Large\"");
        assert_eq!(error.hint(), Some("its values are 'small', 'large', 'huge'"));
        assert_eq!(ty.to_string(), "size");
        assert_eq!(ty.array().map(LogicalType::name), Some("size[]"));
    }

    #[test]
    fn one_with_more_labels_is_the_same_type() {
        let (old, new) = (size(&["a"]), size(&["a", "b"]));
        assert_eq!(LogicalType::Enum(old), LogicalType::Enum(new));
        assert!(new.position("b").is_some() && old.position("b").is_none());
        assert_eq!(size(&["a"]).place(), old.place());
        assert_ne!(new.place(), old.place());
        let other = EnumType::new(72, "size", old.labels().to_vec());
        assert_ne!(LogicalType::Enum(old), LogicalType::Enum(other));
    }

    #[test]
    fn codes_and_stored_names_come_back() {
        // A number of its own: other tests define the other one anew.
        let labels = ["a", "b"].iter().zip(1..).map(|(text, position)| EnumLabel {
            position,
            text: text.to_string(),
        });
        let ty = LogicalType::Enum(EnumType::new(72, "pair", labels.collect()));
        for ty in [ty, ty.array().unwrap()] {
            let back = LogicalType::of_code(ty.code()).unwrap();
            assert_eq!(back, ty);
            assert_eq!(LogicalType::parse(&ty.stored_name()), Some(ty));
        }
        let back = LogicalType::of_code(ty.code()).unwrap();
        assert_eq!(back.enumeration().map(|e| e.labels().len()), Some(2));
        assert_eq!(ty.stored_name(), "enum 72");
        assert_eq!(LogicalType::Text.stored_name(), "text");
        assert_eq!(LogicalType::parse("enum x"), None);
    }
}
