//! Items: what a path finds on its way.

use super::datetime;
use crate::scalar_functions::ExactMoment;
use frazil_types::json::{self, Array, Head, Object, Stored};
use std::borrow::Cow;
use std::rc::Rc;

/// A value of a document, or one that a path made.
#[derive(Clone, Debug)]
pub(super) enum Item<'a> {
    /// A value of the document, or of the variables, in its binary form: nothing of it is read before someone asks.
    Stored(&'a [u8]),
    Null,
    False,
    True,
    Number(Cow<'a, str>),
    String(Cow<'a, str>),
    /// What `keyvalue()` makes of a member.
    Pair(Rc<Pair<'a>>),
    Datetime(ExactMoment),
}

/// What an item is.
#[derive(Clone, Copy, Debug)]
pub(super) enum View<'i, 'a> {
    Null,
    Boolean(bool),
    /// A number's digits.
    Number(&'i [u8]),
    /// A string's characters.
    String(&'i [u8]),
    Array(Array<'a>),
    Object(Object<'a>),
    Pair(&'i Rc<Pair<'a>>),
    Datetime(ExactMoment),
}

impl<'a> View<'a, 'a> {
    /// A value in its binary form.
    #[inline]
    pub fn of_stored(binary: &'a [u8]) -> View<'a, 'a> {
        match Stored::new(binary) {
            Stored::Null => View::Null,
            Stored::Boolean(value) => View::Boolean(value),
            Stored::Number(digits) => View::Number(digits),
            Stored::String(text) => View::String(text),
            Stored::Array(array) => View::Array(array),
            Stored::Object(object) => View::Object(object),
        }
    }
}

/// At most one item, which was not made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Single<'a> {
    Nothing,
    /// A value of the document in its binary form.
    Stored(&'a [u8]),
    /// A constant of the path.
    Constant(&'a Head),
}

impl<'a> Single<'a> {
    /// What the item is; `None` if there is none.
    #[inline]
    pub fn view(self) -> Option<View<'a, 'a>> {
        match self {
            Single::Nothing => None,
            Single::Stored(binary) => Some(View::of_stored(binary)),
            Single::Constant(head) => match head {
                Head::Number(digits) => Some(View::Number(digits.as_bytes())),
                Head::String(text) => Some(View::String(text.as_bytes())),
                Head::Boolean(value) => Some(View::Boolean(*value)),
                // null, the one that is left.
                _ => Some(View::Null),
            },
        }
    }

    /// The item; `None` if there is none.
    #[inline]
    pub fn item(self) -> Option<Item<'a>> {
        match self {
            Single::Nothing => None,
            Single::Stored(binary) => Some(Item::Stored(binary)),
            Single::Constant(head) => Some(Item::constant(head)),
        }
    }
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
    /// A constant of a path.
    pub fn constant(head: &'a Head) -> Item<'a> {
        match head {
            Head::Number(digits) => Item::Number(digits.as_str().into()),
            Head::String(text) => Item::String(text.as_str().into()),
            Head::Boolean(value) => Item::of_truth(Some(*value)),
            // null, the one that is left.
            _ => Item::Null,
        }
    }

    /// True, false or, unknown, null.
    pub fn of_truth(truth: Option<bool>) -> Item<'a> {
        match truth {
            None => Item::Null,
            Some(false) => Item::False,
            Some(true) => Item::True,
        }
    }

    /// What it is.
    #[inline]
    pub fn view(&self) -> View<'_, 'a> {
        match self {
            Item::Stored(binary) => View::of_stored(binary),
            Item::Null => View::Null,
            Item::False => View::Boolean(false),
            Item::True => View::Boolean(true),
            Item::Number(digits) => View::Number(digits.as_bytes()),
            Item::String(text) => View::String(text.as_bytes()),
            Item::Pair(pair) => View::Pair(pair),
            Item::Datetime(moment) => View::Datetime(*moment),
        }
    }

    /// The name of its kind, as the method `type` gives it.
    pub fn kind(&self) -> &'static str {
        match self.view() {
            View::Null => "null",
            View::Boolean(_) => "boolean",
            View::Number(_) => "number",
            View::String(_) => "string",
            View::Array(_) => "array",
            View::Object(_) | View::Pair(_) => "object",
            View::Datetime(moment) => datetime::type_name(moment.kind),
        }
    }

    /// Whether it is an array.
    #[inline]
    pub fn is_array(&self) -> bool {
        self.array().is_some()
    }

    /// Whether values lie in it.
    pub fn is_container(&self) -> bool {
        matches!(self.view(), View::Array(_) | View::Object(_) | View::Pair(_))
    }

    /// The elements, if it is an array.
    #[inline]
    pub fn array(&self) -> Option<Array<'a>> {
        match self.view() {
            View::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The digits, if it is a number.
    pub fn number(&self) -> Option<&str> {
        match self.view() {
            View::Number(digits) => Some(json::characters(digits)),
            _ => None,
        }
    }

    /// The characters, if it is a string.
    pub fn string(&self) -> Option<&str> {
        match self.view() {
            View::String(text) => Some(json::characters(text)),
            _ => None,
        }
    }

    /// Its binary form.
    pub fn to_binary(&self) -> Cow<'a, [u8]> {
        Cow::Owned(match self {
            Item::Stored(binary) => return Cow::Borrowed(binary),
            Item::Null => json::scalar_of(None),
            Item::False => json::scalar_of(Some(false)),
            Item::True => json::scalar_of(Some(true)),
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
    /// The list of an item, or none.
    pub fn of(item: Option<Item<'a>>) -> List<'a> {
        item.map_or(List::None, List::One)
    }

    #[inline]
    pub fn push(&mut self, item: Item<'a>) {
        match self {
            List::None => *self = List::One(item),
            List::One(_) | List::Several(_) => self.push_behind(item),
        }
    }

    fn push_behind(&mut self, item: Item<'a>) {
        match self {
            List::Several(items) => items.push(item),
            List::One(_) | List::None => {
                let first = match std::mem::take(self) {
                    List::One(first) => Some(first),
                    List::None | List::Several(_) => None,
                };
                *self = List::Several(first.into_iter().chain([item]).collect());
            }
        }
    }

    /// The digits of the one item, if it is one, and a number.
    pub fn number(&self) -> Option<&str> {
        match self.items() {
            [only] => only.number(),
            _ => None,
        }
    }

    #[inline]
    pub fn items(&self) -> &[Item<'a>] {
        match self {
            List::None => &[],
            List::One(item) => std::slice::from_ref(item),
            List::Several(items) => items,
        }
    }
}
