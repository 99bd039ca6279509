//! The order of jsonb, PostgreSQL's: null, strings, numbers, booleans, arrays, objects; of two containers the one with fewer
//! members stands first, then their members decide from the first on. An empty array that lies in nothing stands before
//! all else, a quirk that PostgreSQL keeps.

use super::{Json, Stored, number};
use std::cmp::Ordering;

const EMPTY_OUTERMOST: u8 = 0;
const NULL: u8 = 1;
const STRING: u8 = 2;
const NUMBER: u8 = 3;
const BOOLEAN: u8 = 4;
const ARRAY: u8 = 5;
const OBJECT: u8 = 6;

/// Bytes whose order is that of the values; equal values have equal ones, whatever zeros their numbers end in.
pub fn order_key(binary: &[u8]) -> Vec<u8> {
    let json = Json::new(binary);
    if matches!(json, Json::Array(array) if array.is_empty()) {
        return vec![EMPTY_OUTERMOST];
    }
    let mut out = Vec::with_capacity(binary.len());
    push(json, &mut out);
    out
}

/// How two values stand to each other: as their keys of [`order_key`], which are not made.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (Stored::new(a), Stored::new(b));
    let is_empty = |json| matches!(json, Stored::Array(array) if array.is_empty());
    match (is_empty(a), is_empty(b)) {
        (false, false) => compare_inside(a, b),
        (a, b) => b.cmp(&a),
    }
}

fn compare_inside(a: Stored<'_>, b: Stored<'_>) -> Ordering {
    let of_parts = |(a, b)| compare_inside(Stored::new(a), Stored::new(b));
    match (a, b) {
        (Stored::Null, Stored::Null) => Ordering::Equal,
        (Stored::String(a), Stored::String(b)) => a.cmp(b),
        (Stored::Number(a), Stored::Number(b)) => number::compare(a, b),
        (Stored::Boolean(a), Stored::Boolean(b)) => a.cmp(&b),
        (Stored::Array(a), Stored::Array(b)) => a.len().cmp(&b.len()).then_with(|| {
            let mut parts = a.elements().zip(b.elements()).map(of_parts);
            parts.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        (Stored::Object(a), Stored::Object(b)) => a.len().cmp(&b.len()).then_with(|| {
            let both = a.members().zip(b.members());
            let mut members =
                both.map(|((a_key, a), (b_key, b))| a_key.cmp(b_key).then_with(|| of_parts((a, b))));
            members.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        (a, b) => rank(a).cmp(&rank(b)),
    }
}

/// The place of a kind in the order.
fn rank(json: Stored<'_>) -> u8 {
    match json {
        Stored::Null => NULL,
        Stored::String(_) => STRING,
        Stored::Number(_) => NUMBER,
        Stored::Boolean(_) => BOOLEAN,
        Stored::Array(_) => ARRAY,
        Stored::Object(_) => OBJECT,
    }
}

fn push(json: Json<'_>, out: &mut Vec<u8>) {
    match json {
        Json::Null => out.push(NULL),
        Json::String(text) => {
            out.push(STRING);
            push_string(text, out);
        }
        Json::Number(text) => {
            out.push(NUMBER);
            number::push_key(text, out);
        }
        Json::Boolean(value) => out.extend([BOOLEAN, u8::from(value)]),
        Json::Array(array) => {
            out.push(ARRAY);
            out.extend((array.len() as u32).to_be_bytes());
            array.elements().for_each(|element| push(Json::new(element), out));
        }
        Json::Object(object) => {
            out.push(OBJECT);
            out.extend((object.len() as u32).to_be_bytes());
            for (key, value) in object.members() {
                push_string(key, out);
                push(Json::new(value), out);
            }
        }
    }
}

/// Characters and a byte 0, which no string of jsonb has: of two strings the one that ends first stands first.
fn push_string(text: &str, out: &mut Vec<u8>) {
    out.extend(text.bytes());
    out.push(0);
}
