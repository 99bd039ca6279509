//! An enumeration with its labels: the enumerations that this process has seen, by number.

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, PoisonError, RwLock};

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
