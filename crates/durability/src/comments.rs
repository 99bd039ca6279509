//! Comments in the manifest and in the log.

use frazil_catalog::{Commented, Comments};
use frazil_types::{ColumnNumber, ObjectId};
use serde_json::{Value as Json, json};

/// Comments as JSON: for each `[id, column, text]`, null in place of the id of the database and of no column.
pub fn write_comments(comments: &Comments) -> Json {
    let comments = comments.iter().map(|(of, text)| {
        let (id, column) = key(*of);
        json!([id, column, **text])
    });
    comments.collect()
}

/// The comments that [`write_comments`] wrote; none in directories before version 11.
pub fn read_comments(json: &Json) -> Option<Comments> {
    let Json::Array(comments) = json else {
        return json.is_null().then(Comments::new);
    };
    let comments = comments.iter();
    comments
        .map(|comment| Some((read_key(comment)?, comment[2].as_str()?.into())))
        .collect()
}

/// The objects whose comments are gone, as JSON.
pub fn write_objects(objects: &[Commented]) -> Json {
    let objects = objects.iter().map(|of| {
        let (id, column) = key(*of);
        json!([id, column])
    });
    objects.collect()
}

/// The objects that [`write_objects`] wrote.
pub fn read_objects(json: &Json) -> Option<Vec<Commented>> {
    match json {
        Json::Null => Some(Vec::new()),
        _ => json.as_array()?.iter().map(read_key).collect(),
    }
}

fn key(of: Commented) -> (Option<u32>, Option<u32>) {
    match of {
        Commented::Database => (None, None),
        Commented::Object(id) => (Some(id.0), None),
        Commented::Column(id, number) => (Some(id.0), Some(number.0)),
    }
}

/// A number of 32 bits.
pub(crate) fn read_u32(json: &Json) -> Option<u32> {
    json.as_u64()?.try_into().ok()
}

fn read_key(json: &Json) -> Option<Commented> {
    match (&json[0], &json[1]) {
        (Json::Null, Json::Null) => Some(Commented::Database),
        (id, Json::Null) => Some(Commented::Object(ObjectId(read_u32(id)?))),
        (id, column) => {
            let (id, column) = (read_u32(id)?, read_u32(column)?);
            Some(Commented::Column(ObjectId(id), ColumnNumber(column)))
        }
    }
}
