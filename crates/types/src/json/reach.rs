//! What lies in a value of jsonb: PostgreSQL's `->`, `#>`, `?` and `@>`.

use super::{Json, compare};

/// The value of an object's key (`->` with a text). `None` if there is none, or `binary` is not an object.
pub fn member<'a>(binary: &'a [u8], key: &str) -> Option<&'a [u8]> {
    match Json::new(binary) {
        Json::Object(object) => object.get(key),
        _ => None,
    }
}

/// The element at `index` from 0, or from the end if negative (`->` with an integer). A value that is neither an array nor
/// an object counts as an array of one.
pub fn element(binary: &[u8], index: i64) -> Option<&[u8]> {
    match Json::new(binary) {
        Json::Array(array) => array.get(index),
        Json::Object(_) => None,
        _ => matches!(index, 0 | -1).then_some(binary),
    }
}

/// The value at the end of a path of keys and of indexes in decimal digits (`#>`).
pub fn at_path<'a>(binary: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    path.iter()
        .try_fold(binary, |binary, step| match Json::new(binary) {
            Json::Object(object) => object.get(step),
            Json::Array(array) => array.get(i64::from(step.trim_ascii_start().parse::<i32>().ok()?)),
            _ => None,
        })
}

/// Whether a text is a key of an object, a string of an array, or the string itself (`?`).
pub fn has_key(binary: &[u8], text: &str) -> bool {
    let is_text = |json| matches!(json, Json::String(string) if string == text);
    match Json::new(binary) {
        Json::Object(object) => object.get(text).is_some(),
        Json::Array(array) => array.elements().any(|element| is_text(Json::new(element))),
        scalar => is_text(scalar),
    }
}

/// Whether `whole` contains `part` (`@>`). An outermost array contains the scalars among its elements, too.
pub fn contains(whole: &[u8], part: &[u8]) -> bool {
    match (Json::new(whole), Json::new(part)) {
        (Json::Array(array), part_json) if !is_container(part_json) => {
            array.elements().any(|element| contains_inside(element, part))
        }
        _ => contains_inside(whole, part),
    }
}

/// As [`contains`], for values of which both are elements or members.
fn contains_inside(whole: &[u8], part: &[u8]) -> bool {
    match (Json::new(whole), Json::new(part)) {
        (Json::Object(whole), Json::Object(part)) => part
            .members()
            .all(|(key, value)| whole.get(key).is_some_and(|found| contains_inside(found, value))),
        (Json::Array(whole), Json::Array(part)) => part
            .elements()
            .all(|wanted| whole.elements().any(|element| contains_inside(element, wanted))),
        (a, b) => !is_container(a) && !is_container(b) && compare(whole, part).is_eq(),
    }
}

fn is_container(json: Json<'_>) -> bool {
    matches!(json, Json::Array(_) | Json::Object(_))
}
