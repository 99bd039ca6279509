//! Sequences in the texts of defaults, which name them by their numbers: a text keeps its meaning when a sequence gets
//! another name.

use frazil_types::{ColumnDef, ColumnDefault, FIRST_USER_OID, ObjectId};

/// The sequence that gives a column that no INSERT names its value, if that is all that the default does.
pub fn default_sequence(column: &ColumnDef) -> Option<ObjectId> {
    match column.default.as_ref()? {
        ColumnDefault::Identity { sequence, .. } => Some(*sequence),
        ColumnDefault::Expression(text) => {
            let used = sequences_in(text);
            let first = *used.first()?;
            (*text == next_value_text(first)).then_some(first)
        }
        ColumnDefault::Value(_) | ColumnDefault::Generated { .. } => None,
    }
}

/// Around the number of a sequence in the text of a default, so that the text keeps its meaning when the sequence gets
/// another name.
const AROUND: (&str, &str) = ("'", "'::regclass");

/// A sequence as the texts of defaults name it: by its number.
pub fn sequence_text(sequence: ObjectId) -> String {
    format!("{}{}{}", AROUND.0, sequence.oid(), AROUND.1)
}

/// The default of a serial column.
pub fn next_value_text(sequence: ObjectId) -> String {
    format!("nextval({})", sequence_text(sequence))
}

/// The text of a default with other names in the places of sequences; numbers without a name stay.
pub(crate) fn replace_sequences(text: &str, name: impl Fn(ObjectId) -> Option<String>) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(end) = rest.find(AROUND.1) {
        let before = &rest[..end];
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let start = end - digits;
        let number = before[start..]
            .parse::<u32>()
            .ok()
            .filter(|oid| *oid >= FIRST_USER_OID);
        let id = number.and_then(ObjectId::of_oid);
        let named = id.filter(|_| before[..start].ends_with(AROUND.0)).and_then(&name);
        out.push_str(&before[..start]);
        match named {
            Some(named) => out.push_str(&named),
            None => out.push_str(&before[start..]),
        }
        out.push_str(AROUND.1);
        rest = &rest[end + AROUND.1.len()..];
    }
    out.push_str(rest);
    out
}

/// The sequences that the text of a default names.
pub(crate) fn sequences_in(text: &str) -> Vec<ObjectId> {
    let found = std::cell::RefCell::new(Vec::new());
    replace_sequences(text, |id| {
        found.borrow_mut().push(id);
        None
    });
    found.into_inner()
}

/// The sequences whose numbers a default names: the identity's, or those in its text.
pub fn sequences_of_default(default: &ColumnDefault) -> Vec<ObjectId> {
    match default {
        ColumnDefault::Identity { sequence, .. } => vec![*sequence],
        ColumnDefault::Expression(text) | ColumnDefault::Generated { text, .. } => sequences_in(text),
        ColumnDefault::Value(_) => Vec::new(),
    }
}
