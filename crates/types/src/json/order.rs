//! The order of jsonb, PostgreSQL's: null, strings, numbers, booleans, arrays, objects; of two containers the one with fewer
//! members stands first, then their members decide from the first on. An empty array that lies in nothing stands before
//! all else, a quirk that PostgreSQL keeps.

use super::{Json, number};

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
