//! Enumerations: types of statements' own, whose values are labels in an order.
//!
//! A value is held as its label's position, a 32-bit number whose order is that of the labels: so everything that knows integers
//! (blocks, SMAs, sorters, joins, keys of indexes) knows enumerations. Positions have gaps, so that a label comes between two others
//! while rows stay as they are. What labels there are is said by an [`EnumType`], which the catalog makes.

use super::{Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo, range, write_integer};
use crate::{Error, LogicalType, NativeType, SqlState, Value};
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, PoisonError, RwLock};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Enum,
    oid: 3500,
    typname: "anyenum",
    name: "anyenum",
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
        n if n > SHOWN => error.with_hint(format!("its values are {} and {} more", shown.join(", "), n - SHOWN)),
        _ => error.with_hint(format!("its values are {}", shown.join(", "))),
    }
}

/// Labels that a hint lists at most.
const SHOWN: usize = 10;

/// A label of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumLabel {
    /// The value that stands for it: greater than those of the labels before it.
    pub position: i32,
    /// What it is called.
    pub text: String,
}

/// What an enumeration is at one time.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Definition {
    id: u32,
    name: String,
    array_name: String,
    /// In ascending order of positions.
    labels: Vec<EnumLabel>,
    /// Places among the labels, in ascending order of their texts.
    by_text: Vec<u32>,
    /// Its place in [`Definitions::all`].
    place: u32,
}

/// All that were made in this process. They stay: types are copied everywhere, and few are made.
#[derive(Default)]
struct Definitions {
    all: Vec<&'static Definition>,
    /// The same without their places, to find those that were made before.
    known: HashSet<Known>,
}

/// A definition that is found by its contents.
struct Known(&'static Definition);

impl Known {
    fn contents(&self) -> (u32, &str, &[EnumLabel]) {
        (self.0.id, &self.0.name, &self.0.labels)
    }
}

impl PartialEq for Known {
    fn eq(&self, other: &Known) -> bool {
        self.contents() == other.contents()
    }
}

impl Eq for Known {}

impl Hash for Known {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.contents().hash(hasher);
    }
}

static DEFINITIONS: LazyLock<RwLock<Definitions>> = LazyLock::new(RwLock::default);

/// An enumeration with its labels, as they were when the catalog's version was made that says it. Equal to every other version
/// of the same enumeration: a label that comes changes no value.
#[derive(Clone, Copy)]
pub struct EnumType(&'static Definition);

impl EnumType {
    /// The enumeration of a number, which is its identity in its database, with its name as messages show it and its labels in
    /// ascending order of their positions.
    pub fn new(id: u32, name: &str, labels: Vec<EnumLabel>) -> EnumType {
        debug_assert!(labels.is_sorted_by(|a, b| a.position < b.position));
        let mut by_text: Vec<u32> = (0..labels.len() as u32).collect();
        by_text.sort_by(|a, b| labels[*a as usize].text.cmp(&labels[*b as usize].text));
        let mut definitions = DEFINITIONS.write().unwrap_or_else(PoisonError::into_inner);
        let definition = Box::new(Definition {
            id,
            name: name.to_owned(),
            array_name: format!("{name}[]"),
            labels,
            by_text,
            place: definitions.all.len() as u32,
        });
        let definition = Known(Box::leak(definition));
        if let Some(known) = definitions.known.get(&definition) {
            return EnumType(known.0);
        }
        definitions.all.push(definition.0);
        let made = EnumType(definition.0);
        definitions.known.insert(definition);
        made
    }

    /// The enumeration of a number of which nothing else is known: whoever reads a catalog puts the one of the catalog in its place.
    pub fn numbered(id: u32) -> EnumType {
        EnumType::new(id, &format!("enum {id}"), Vec::new())
    }

    /// The one at a place; `None` if there is none.
    pub(crate) fn at(place: u32) -> Option<EnumType> {
        let definitions = DEFINITIONS.read().unwrap_or_else(PoisonError::into_inner);
        definitions.all.get(place as usize).copied().map(EnumType)
    }

    /// Its place among those of this process.
    pub(crate) fn place(self) -> u32 {
        self.0.place
    }

    /// Its identity in its database.
    pub fn id(self) -> u32 {
        self.0.id
    }

    /// Its name as messages show it.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The name of arrays of it.
    pub(crate) fn array_name(self) -> &'static str {
        &self.0.array_name
    }

    /// Its labels in ascending order.
    pub fn labels(self) -> &'static [EnumLabel] {
        &self.0.labels
    }

    /// The label of a value; `None` for a value that it does not have.
    pub fn label(self, position: i32) -> Option<&'static str> {
        let labels = self.labels();
        let at = labels.binary_search_by_key(&position, |l| l.position).ok()?;
        Some(&labels[at].text)
    }

    /// The value of a label; `None` if it has no such label.
    pub fn position(self, text: &str) -> Option<i32> {
        let labels = self.labels();
        let by_text = &self.0.by_text;
        let at = by_text.binary_search_by(|at| labels[*at as usize].text.as_str().cmp(text));
        Some(labels[by_text[at.ok()?] as usize].position)
    }
}

impl From<EnumType> for LogicalType {
    fn from(e: EnumType) -> LogicalType {
        LogicalType::Enum(e)
    }
}

impl PartialEq for EnumType {
    fn eq(&self, other: &EnumType) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for EnumType {}

impl Hash for EnumType {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.id.hash(hasher);
    }
}

impl fmt::Debug for EnumType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.0.id, self.0.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
