//! Items: what a path finds on its way.

use super::datetime;
use crate::catalog::ExactMoment;
use frazil_types::json::{self, Array, Json, Object};
use std::borrow::Cow;
use std::rc::Rc;

/// A value of a document, or one that a path made.
#[derive(Clone, Debug)]
pub(super) enum Item<'a> {
    Null,
    Boolean(bool),
    Number(Cow<'a, str>),
    String(Cow<'a, str>),
    /// An array's binary form.
    Array(&'a [u8]),
    /// An object's binary form.
    Object(&'a [u8]),
    /// What `keyvalue()` makes of a member.
    Pair(Rc<Pair<'a>>),
    Datetime(ExactMoment),
}

/// The object of a member: its members are `id`, `key` and `value`.
#[derive(Debug)]
pub(super) struct Pair<'a> {
    /// A number that is the same for the members of one object.
    pub id: i64,
    pub key: &'a str,
    pub value: Item<'a>,
    /// The number of this object, from which ids of its own members come.
    pub own: i64,
}

impl<'a> Pair<'a> {
    /// Its members in jsonb's order of keys.
    pub fn members(&self) -> [(&'static str, Item<'a>); 3] {
        [
            ("id", Item::Number(self.id.to_string().into())),
            ("key", Item::String(self.key.into())),
            ("value", self.value.clone()),
        ]
    }
}

impl<'a> Item<'a> {
    /// A value in its binary form.
    pub fn of(binary: &'a [u8]) -> Item<'a> {
        match Json::new(binary) {
            Json::Null => Item::Null,
            Json::Boolean(value) => Item::Boolean(value),
            Json::Number(digits) => Item::Number(digits.into()),
            Json::String(text) => Item::String(text.into()),
            Json::Array(_) => Item::Array(binary),
            Json::Object(_) => Item::Object(binary),
        }
    }

    /// The name of its kind, as the method `type` gives it.
    pub fn kind(&self) -> &'static str {
        match self {
            Item::Null => "null",
            Item::Boolean(_) => "boolean",
            Item::Number(_) => "number",
            Item::String(_) => "string",
            Item::Array(_) => "array",
            Item::Object(_) | Item::Pair(_) => "object",
            Item::Datetime(moment) => datetime::type_name(moment.kind),
        }
    }

    pub fn is_array(&self) -> bool {
        matches!(self, Item::Array(_))
    }

    /// The elements, if it is an array.
    pub fn array(&self) -> Option<Array<'a>> {
        match self {
            Item::Array(binary) => match Json::new(binary) {
                Json::Array(array) => Some(array),
                _ => None,
            },
            _ => None,
        }
    }

    /// The members, if it is an object of a document.
    pub fn object(&self) -> Option<Object<'a>> {
        match self {
            Item::Object(binary) => match Json::new(binary) {
                Json::Object(object) => Some(object),
                _ => None,
            },
            _ => None,
        }
    }

    /// Its binary form.
    pub fn to_binary(&self) -> Cow<'a, [u8]> {
        Cow::Owned(match self {
            Item::Array(binary) | Item::Object(binary) => return Cow::Borrowed(binary),
            Item::Null => json::scalar_of(None),
            Item::Boolean(value) => json::scalar_of(Some(*value)),
            Item::Number(digits) => json::number_of(digits),
            Item::String(text) => json::string_of(text),
            Item::Datetime(moment) => json::string_of(&datetime::shown(*moment)),
            Item::Pair(pair) => {
                let member = |(key, item): (&str, Item<'a>)| (key.to_owned(), item.to_binary().into_owned());
                json::object_of(pair.members().map(member).into())
            }
        })
    }
}

/// Items in order. One alone takes no memory of its own.
#[derive(Debug, Default)]
pub(super) enum List<'a> {
    #[default]
    None,
    One(Item<'a>),
    Several(Vec<Item<'a>>),
}

impl<'a> List<'a> {
    pub fn push(&mut self, item: Item<'a>) {
        *self = match std::mem::take(self) {
            List::None => List::One(item),
            List::One(first) => List::Several(vec![first, item]),
            List::Several(mut items) => {
                items.push(item);
                List::Several(items)
            }
        };
    }

    pub fn items(&self) -> &[Item<'a>] {
        match self {
            List::None => &[],
            List::One(item) => std::slice::from_ref(item),
            List::Several(items) => items,
        }
    }
}
