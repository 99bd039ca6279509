//! Reads JSON: an array of objects, or objects one after the other. Its columns are the names that occur, in the order
//! in which they come; a value that an object lacks is NULL. The text stays as it is until a value is read: numbers
//! keep all their digits. A column with arrays or objects is `jsonb`.

use crate::compression::Compression;
use crate::csv_field::ColumnBuilder;
use crate::csv_types::wider;
use crate::csv_types::{Form, LONG_INTEGER, moment_form};
use crate::date_form::DateForm;
use crate::file_input::{FileInput, Origin};
use crate::json_arrays::array_text;
use crate::json_text::{not_json, text_of};
use crate::rejects::{OnError, Place as RejectPlace};
use crate::{BatchReader, ReadLimits};
use frazil_types::date_input::parse_date;
use frazil_types::{CHUNK_ROWS, Cancel, ColumnDef, Error, Reservation, Result, RowBatch, SqlState};
use memchr::{memchr, memchr_iter};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const PIECE_BYTES: usize = 1 << 20;
/// Rows between two looks at the cancel flag.
const POLLED_ROWS: usize = 1024;

/// The name of a member, lent by the text where it has no escapes.
struct Name<'t>(Cow<'t, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Name<'de>, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> std::result::Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> std::result::Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// An object with its members in their order.
struct Object<'t>(Vec<(Name<'t>, &'t RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Object<'de>, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object a row")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Object<'de>, A::Error> {
                let mut members = Vec::with_capacity(map.size_hint().unwrap_or(0));
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// An array of objects, each handed to a function, which says whether it wants more.
struct Array<'a, 'de>(&'a mut dyn FnMut(Object<'de>) -> Result<()>);

impl<'de> Visitor<'de> for Array<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<(), A::Error> {
        while let Some(object) = items.next_element()? {
            (self.0)(object).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// Where the JSON of a value stands in the text. Without bytes the object lacks the value.
#[derive(Clone, Copy, Default)]
struct Place {
    start: usize,
    bytes: usize,
}

/// The columns of a file, and its rows.
pub struct JsonFile {
    /// Names, folded to lower case where that keeps them apart, and types.
    pub columns: Vec<ColumnDef>,
    /// What errors call the file.
    path: PathBuf,
    /// What becomes of rows whose values are not of their columns' types.
    on_error: OnError,
    text: Vec<u8>,
    /// The values of all rows one behind the other; missing values at the end of a row are left out.
    values: Vec<Place>,
    /// `ends[r]` is where the values of row `r` end.
    ends: Vec<usize>,
    /// The memory of text and places.
    _reserved: Reservation,
}

/// Reads a file. 22P04 with line and column for what is not JSON, unless it is a line of objects one after the other
/// that is to be left out; 53200 if there is no room for the file.
pub fn read(
    origin: Origin<'_>,
    compression: Option<Compression>,
    on_error: &OnError,
    limits: &ReadLimits,
) -> Result<JsonFile> {
    let mut input = FileInput::open(origin, compression, limits)?;
    let mut reserved = limits.budget.reservation();
    let mut text = Vec::new();
    loop {
        let start = text.len();
        // The places of values take several times the text.
        reserved.grow(4 * PIECE_BYTES)?;
        text.resize(start + PIECE_BYTES, 0);
        let count = input.read(&mut text[start..], limits)?;
        text.truncate(start + count);
        if count == 0 {
            break;
        }
    }
    if text.starts_with(b"\xef\xbb\xbf") {
        text.drain(..3);
    }
    let Rows {
        names, values, ends, ..
    } = Rows::of(&text, &input.path, on_error, &limits.cancel)?;
    let folded: HashSet<String> = names.iter().map(|n| n.to_lowercase()).collect();
    let folds = folded.len() == names.len();
    let columns = names.into_iter().map(|name| {
        let name = if folds { name.to_lowercase() } else { name };
        ColumnDef::new(name, Form::Words.ty())
    });
    let mut file = JsonFile {
        columns: columns.collect(),
        path: input.path,
        on_error: on_error.clone(),
        text,
        values,
        ends,
        _reserved: reserved,
    };
    file.find_types(&limits.cancel)?;
    Ok(file)
}

/// Where an error lies in a file, of which `before` lines stand in front of what was read.
fn place_of_error(path: &Path, before: u64, error: &serde_json::Error) -> String {
    let (line, column) = (before + error.line() as u64, error.column());
    format!("file \"{}\", line {line}, column {column}", path.display())
}

/// Counts the lines of a text up to positions that ascend.
#[derive(Default)]
struct Lines {
    /// Line ends before this position were counted.
    until: usize,
    ends: u64,
}

impl Lines {
    /// The line of a position; the first one is 1.
    fn line_of(&mut self, text: &[u8], position: usize) -> u64 {
        self.ends += memchr_iter(b'\n', &text[self.until..position]).count() as u64;
        self.until = position;
        self.ends + 1
    }
}

/// The rows of a text while they are found.
#[derive(Default)]
struct Rows {
    /// The column of each name.
    places: HashMap<String, usize>,
    names: Vec<String>,
    values: Vec<Place>,
    ends: Vec<usize>,
}

impl Rows {
    fn of(text: &[u8], path: &Path, on_error: &OnError, cancel: &Cancel) -> Result<Rows> {
        let mut rows = Rows::default();
        if text.trim_ascii_start().starts_with(b"[") {
            let mut reader = serde_json::Deserializer::from_slice(text);
            let read = reader.deserialize_seq(Array(&mut |object| rows.take(text, object, cancel)));
            let read = read.and_then(|()| reader.end());
            cancel.check()?;
            read.map_err(|e| not_json(&e).in_context(place_of_error(path, 0, &e)))?;
            return Ok(rows);
        }
        let (mut from, mut lines) = (0, Lines::default());
        while let Some((at, error)) = rows.objects(text, from, cancel)? {
            // The rest of the line is no row.
            let start = at + (text[at..].len() - text[at..].trim_ascii_start().len());
            let end = memchr(b'\n', &text[start..]).map_or(text.len(), |bytes| start + bytes);
            let place = RejectPlace {
                line: lines.line_of(text, start),
                column: None,
                text: text[start..end].trim_ascii_end(),
            };
            on_error.skip(path, &place, not_json(&error)).map_err(|e| {
                let before = Lines::default().line_of(text, from) - 1;
                e.in_context(place_of_error(path, before, &error))
            })?;
            from = end;
        }
        Ok(rows)
    }

    /// Takes the objects of a text from a position on. The first error comes with the position behind the last object.
    fn objects(
        &mut self,
        text: &[u8],
        from: usize,
        cancel: &Cancel,
    ) -> Result<Option<(usize, serde_json::Error)>> {
        let mut objects = serde_json::Deserializer::from_slice(&text[from..]).into_iter::<Object<'_>>();
        while let Some(object) = objects.next() {
            match object {
                Ok(object) => self.take(text, object, cancel)?,
                Err(error) => return Ok(Some((from + objects.byte_offset(), error))),
            }
        }
        Ok(None)
    }

    /// Takes a row. 57014.
    fn take(&mut self, text: &[u8], object: Object<'_>, cancel: &Cancel) -> Result<()> {
        if self.ends.len().is_multiple_of(POLLED_ROWS) {
            cancel.check()?;
        }
        let row = self.values.len();
        for (Name(name), value) in object.0 {
            let column = match self.places.get(&*name) {
                Some(column) => *column,
                None => {
                    self.names.push(name.clone().into_owned());
                    self.places.insert(name.into_owned(), self.names.len() - 1);
                    self.names.len() - 1
                }
            };
            let place = row + column;
            if place >= self.values.len() {
                self.values.resize(place + 1, Place::default());
            }
            // The reader lends values from the text.
            self.values[place] = Place {
                start: value.get().as_ptr() as usize - text.as_ptr() as usize,
                bytes: value.get().len(),
            };
        }
        self.ends.push(self.values.len());
        Ok(())
    }
}

/// The form of a value by its JSON; `None` for null.
fn form_of(json: &[u8]) -> Option<Form> {
    Some(match json.first() {
        None | Some(b'n') => return None,
        Some(b't' | b'f') => Form::Truth,
        Some(b'[' | b'{') => Form::Nested,
        Some(b'"') => match text_of(json) {
            Ok(text) if text.len() >= 10 && text.as_bytes()[4] == b'-' => match () {
                () if text.len() == 10 && parse_date(&text).is_ok() => Form::Day,
                () => moment_form(&text).unwrap_or(Form::Words),
            },
            _ => Form::Words,
        },
        Some(_) => form_of_number(json),
    })
}

/// -0 is a double: integers have none.
fn form_of_number(json: &[u8]) -> Form {
    let digits = json.strip_prefix(b"-").unwrap_or(json);
    let long = LONG_INTEGER
        .decimal_digits()
        .map_or(0, |(precision, _)| precision.into());
    match std::str::from_utf8(json) {
        _ if json == b"-0" || !digits.iter().all(u8::is_ascii_digit) => Form::Number,
        Ok(text) if text.parse::<i64>().is_ok() => Form::Whole,
        _ if digits.len() <= long => Form::Long,
        _ => Form::Number,
    }
}

/// The text of an array of SQL that an array of JSON stands for.
fn array_text_of(json: &[u8]) -> Result<String> {
    let json = std::str::from_utf8(json).map_err(|e| {
        let message = format!(
            "invalid byte sequence for encoding UTF-8 at byte {}",
            e.valid_up_to() + 1
        );
        Error::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, message)
    })?;
    array_text(json)
}

impl JsonFile {
    /// The number of rows.
    fn rows(&self) -> usize {
        self.ends.len()
    }

    /// The JSON of a value; without bytes if there is none.
    fn value(&self, row: usize, column: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        let values = &self.values[start..self.ends[row]];
        let Place { start, bytes } = values.get(column).copied().unwrap_or_default();
        &self.text[start..start + bytes]
    }

    /// Gives each column the type that has all of its values; text if there are none.
    fn find_types(&mut self, cancel: &Cancel) -> Result<()> {
        for column in 0..self.columns.len() {
            let mut found = None;
            for row in 0..self.rows() {
                if row.is_multiple_of(POLLED_ROWS) {
                    cancel.check()?;
                }
                let ty = form_of(self.value(row, column)).map(Form::ty);
                found = found.zip(ty).map(|(a, b)| wider(a, b)).or(found).or(ty);
            }
            self.columns[column].ty = found.unwrap_or(Form::Words.ty());
        }
        Ok(())
    }

    /// Rows from `cursor` on, at most [`CHUNK_ROWS`], as columns of these names and types: of a column that the file
    /// lacks all values are NULL. Errors are those of casts of the text, and 23502 for NULL where a column has none.
    fn batch(&self, cursor: &mut Cursor, columns: &[ColumnDef], limits: &ReadLimits) -> Result<RowBatch> {
        let capacity = CHUNK_ROWS.min(self.rows() - cursor.row);
        let new = |c: &ColumnDef| ColumnBuilder::new(c.clone(), DateForm::Iso, capacity, &limits.budget);
        let mut builders: Vec<ColumnBuilder> = columns.iter().map(new).collect();
        let places: Vec<Option<usize>> = columns.iter().map(|c| self.place_of(&c.name)).collect();
        let mut rows = 0;
        while rows < CHUNK_ROWS && cursor.row < self.rows() {
            if cursor.row.is_multiple_of(POLLED_ROWS) {
                limits.cancel.check()?;
            }
            match self.push_row(cursor.row, &places, &mut builders) {
                Ok(()) => rows += 1,
                Err((at, error)) => {
                    self.skip(cursor, places[at], &columns[at].name, error)?;
                    builders.iter_mut().for_each(|builder| builder.truncate(rows));
                }
            }
            cursor.row += 1;
        }
        let columns = builders.into_iter().map(ColumnBuilder::finish).collect();
        Ok(RowBatch { columns, rows })
    }

    /// Appends a row to columns, which are at these places in the file. An error comes with the position of its column.
    fn push_row(
        &self,
        row: usize,
        places: &[Option<usize>],
        builders: &mut [ColumnBuilder],
    ) -> std::result::Result<(), (usize, Error)> {
        for (at, (builder, place)) in builders.iter_mut().zip(places).enumerate() {
            let json = place.map_or(&[][..], |column| self.value(row, column));
            let ty = builder.ty();
            let is_json = ty.document().is_some();
            let pushed = match json.first() {
                None | Some(b'n') => builder.push_null(),
                Some(b'"') if !is_json => text_of(json).and_then(|text| builder.push(text.as_bytes())),
                Some(b'[') if ty.element().is_some() => {
                    array_text_of(json).and_then(|text| builder.push(text.as_bytes()))
                }
                Some(_) => builder.push(json),
            };
            pushed.map_err(|e| (at, e))?;
        }
        Ok(())
    }

    /// Leaves out the row of a cursor, or gives its error with its place.
    #[cold]
    fn skip(&self, cursor: &mut Cursor, place: Option<usize>, name: &str, error: Error) -> Result<()> {
        let row = cursor.row;
        let json = place.map_or(&[][..], |column| self.value(row, column));
        let start = match json.is_empty() {
            // A value that is not there has no line.
            true => cursor.lines.until,
            false => json.as_ptr() as usize - self.text.as_ptr() as usize,
        };
        // Members of one row stand in any order.
        let start = start.max(cursor.lines.until);
        let place = RejectPlace {
            line: cursor.lines.line_of(&self.text, start),
            column: Some(name),
            text: json,
        };
        self.on_error.skip(&self.path, &place, error).map_err(|e| {
            let path = self.path.display();
            e.in_context(format!("file \"{path}\", row {}, \"{name}\"", row + 1))
        })
    }

    /// The column of a name; where the file has none, that of the name in another case of letters.
    fn place_of(&self, name: &str) -> Option<usize> {
        let found = |is: &dyn Fn(&str) -> bool| self.columns.iter().position(|own| is(&own.name));
        found(&|own| own == name).or_else(|| found(&|own| own.eq_ignore_ascii_case(name)))
    }

    /// The rows as batches of columns of these names and types.
    pub fn batches(&self, columns: &[ColumnDef], limits: &ReadLimits) -> Result<Vec<RowBatch>> {
        let (mut cursor, mut batches) = (Cursor::default(), Vec::new());
        while cursor.row < self.rows() {
            let batch = self.batch(&mut cursor, columns, limits)?;
            batches.extend((batch.rows > 0).then_some(batch));
        }
        Ok(batches)
    }
}

/// How far the rows of a file were read.
#[derive(Default)]
struct Cursor {
    /// The next row.
    row: usize,
    /// Counted up to the last row that was left out.
    lines: Lines,
}

/// The rows of a JSON file as those of a table.
pub struct JsonReader {
    file: JsonFile,
    columns: Vec<ColumnDef>,
    limits: ReadLimits,
    cursor: Cursor,
}

impl JsonReader {
    /// Reads a file, whose members are columns by their names. 42703 for a column that no object has; other errors as
    /// of [`read`].
    pub fn open(
        origin: Origin<'_>,
        columns: &[ColumnDef],
        compression: Option<Compression>,
        on_error: &OnError,
        limits: &ReadLimits,
    ) -> Result<JsonReader> {
        let file = read(origin, compression, on_error, limits)?;
        let missing = columns.iter().find(|c| file.place_of(&c.name).is_none());
        if let Some(missing) = missing.filter(|_| file.rows() > 0) {
            let names: Vec<&str> = file.columns.iter().map(|c| c.name.as_str()).collect();
            let message = format!(
                "no object of file \"{}\" has \"{}\"; they have {}",
                file.path.display(),
                missing.name,
                names.join(", ")
            );
            let error = Error::new(SqlState::UNDEFINED_COLUMN, message);
            return Err(error.with_hint("COPY t (columns) FROM … names the columns that the file has"));
        }
        Ok(JsonReader {
            file,
            columns: columns.to_vec(),
            limits: limits.clone(),
            cursor: Cursor::default(),
        })
    }
}

impl BatchReader for JsonReader {
    fn next_batch(&mut self) -> Result<Option<RowBatch>> {
        let batch = self.file.batch(&mut self.cursor, &self.columns, &self.limits)?;
        Ok((batch.rows > 0).then_some(batch))
    }

    fn progress(&self) -> (u64, u64) {
        (self.cursor.row as u64, self.file.rows() as u64)
    }
}
