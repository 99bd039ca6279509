//! `WITH (option = value, …)`: how the rows of a table are to be held, hot and frozen. Options have one
//! form as text, which is read from SQL and kept in a directory's manifest.

use crate::nearest;
use frazil_block::{BuildOptions, ColumnOptions, Encoding, Layout, Purpose};
use frazil_types::{CHUNK_ROWS, Error, Result, Schema, SqlState, Value};
use std::collections::BTreeMap;
use std::fmt::Display;

/// How a table's rows are to be held.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// Rows `k` of a partition of a hot chunk, PAX(k) (Runtime Fragility, section 2): 1 is row layout,
    /// [`CHUNK_ROWS`] column layout.
    pub pax_rows: u32,
    /// What blocks are to favour.
    pub freeze_for: Purpose,
    /// The encoding of all columns that can have it.
    pub encoding: Option<Encoding>,
    /// The layout of the codes of all columns that can have it.
    pub layout: Option<Layout>,
    /// What is asked of single columns, by position: it must be so.
    pub columns: BTreeMap<usize, ColumnOptions>,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            pax_rows: CHUNK_ROWS as u32,
            freeze_for: Purpose::default(),
            encoding: None,
            layout: None,
            columns: BTreeMap::new(),
        }
    }
}

const PAX_ROWS: &str = "pax_rows";
const FREEZE_FOR: &str = "freeze_for";
const ENCODING: &str = "encoding";
const LAYOUT: &str = "layout";

impl TableOptions {
    /// Sets an option of a table of these columns; NULL is its default. 42704 for an unknown option, 22023
    /// for a value it does not take, 42703 for an unknown column.
    pub fn set(&mut self, schema: &Schema, name: &str, value: &Value) -> Result<()> {
        if let Some((option, column)) = name.split_once('.') {
            return self.set_column(schema, name, option, column, value);
        }
        match name {
            PAX_ROWS => self.pax_rows = pax_rows(value)?,
            FREEZE_FOR => self.freeze_for = read(name, value, Purpose::parse)?.unwrap_or_default(),
            ENCODING => self.encoding = read(name, value, Encoding::parse)?,
            LAYOUT => self.layout = read(name, value, Layout::parse)?,
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    fn set_column(
        &mut self,
        schema: &Schema,
        name: &str,
        option: &str,
        column: &str,
        value: &Value,
    ) -> Result<()> {
        if ![ENCODING, LAYOUT, FREEZE_FOR].contains(&option) {
            return Err(unknown(name));
        }
        let position = schema
            .index_of(column)
            .ok_or_else(|| no_column(schema, name, column))?;
        let asked = self.columns.entry(position).or_default();
        let result = match option {
            ENCODING => read(name, value, Encoding::parse).map(|e| asked.encoding = e),
            LAYOUT => read(name, value, Layout::parse).map(|l| asked.layout = l),
            _ => read(name, value, Purpose::parse).map(|p| asked.purpose = p),
        };
        self.columns.retain(|_, asked| *asked != ColumnOptions::default());
        result
    }

    /// Refuses what is asked of a column and no values of its type can have: 22023, with what would fit. What depends
    /// on the values is seen when they are frozen.
    pub fn check(&self, schema: &Schema) -> Result<()> {
        for (&position, asked) in &self.columns {
            let Some(encoding) = asked.encoding else {
                continue;
            };
            let column = &schema.columns[position];
            let native = column.ty.native();
            if !encoding.can_hold(native) {
                let fitting = Encoding::ALL.into_iter().filter(|e| e.can_hold(native));
                let fitting: Vec<String> = fitting.map(|e| e.to_string()).collect();
                return Err(Error::new(
                    SqlState::INVALID_PARAMETER,
                    format!(
                        "table option {ENCODING}.{}: values of type {} cannot be held as {encoding}",
                        column.name, column.ty
                    ),
                )
                .with_hint(format!("they can be held as: {}", fitting.join(", "))));
            }
            if let (Some(layout), Encoding::Raw) = (asked.layout, encoding) {
                let coded = Encoding::ALL.into_iter();
                let coded = coded.filter(|e| e.has_codes() && e.can_hold(native));
                let coded: Vec<String> = coded.map(|e| e.to_string()).collect();
                return Err(Error::new(
                    SqlState::INVALID_PARAMETER,
                    format!(
                        "table option {LAYOUT}.{}: raw values have no codes to be {layout}",
                        column.name
                    ),
                )
                .with_hint(format!(
                    "leave {LAYOUT}.{0} out, or set {ENCODING}.{0} to one of: {1}",
                    column.name,
                    coded.join(", ")
                )));
            }
        }
        Ok(())
    }

    /// The options that are not at their defaults, as [`TableOptions::set`] takes them.
    pub fn settings(&self, schema: &Schema) -> Vec<(String, Value)> {
        fn add<T: Display>(out: &mut Vec<(String, Value)>, name: String, value: Option<T>) {
            out.extend(value.map(|v| (name, Value::Text(v.to_string()))));
        }
        let mut out = Vec::new();
        let default = TableOptions::default();
        if self.pax_rows != default.pax_rows {
            out.push((PAX_ROWS.to_string(), Value::Int(self.pax_rows.into())));
        }
        let purpose = Some(self.freeze_for).filter(|&p| p != default.freeze_for);
        add(&mut out, FREEZE_FOR.to_string(), purpose);
        add(&mut out, ENCODING.to_string(), self.encoding);
        add(&mut out, LAYOUT.to_string(), self.layout);
        for (&position, asked) in &self.columns {
            let of = |option: &str| format!("{option}.{}", schema.columns[position].name);
            add(&mut out, of(ENCODING), asked.encoding);
            add(&mut out, of(LAYOUT), asked.layout);
            add(&mut out, of(FREEZE_FOR), asked.purpose);
        }
        out
    }

    /// What the table's blocks are to be built by.
    pub fn build_options(&self) -> BuildOptions {
        let last = self.columns.keys().last();
        let columns =
            (0..last.map_or(0, |last| last + 1)).map(|i| self.columns.get(&i).copied().unwrap_or_default());
        BuildOptions {
            purpose: self.freeze_for,
            columns: columns.collect(),
            wherever_possible: ColumnOptions {
                encoding: self.encoding,
                layout: self.layout,
                purpose: None,
            },
            ..BuildOptions::default()
        }
    }
}

fn pax_rows(value: &Value) -> Result<u32> {
    if *value == Value::Null {
        return Ok(TableOptions::default().pax_rows);
    }
    let given = match value {
        Value::Text(text) => text.trim().parse().ok(),
        _ => value.as_int(),
    };
    let rows = given.filter(|r: &i128| (1..=CHUNK_ROWS as i128).contains(r));
    rows.map(|r| r as u32).ok_or_else(|| {
        Error::new(
            SqlState::INVALID_PARAMETER,
            format!("the table option pax_rows takes a number of rows from 1 to {CHUNK_ROWS}"),
        )
    })
}

/// A value by its name; `None` where the default is asked for. The error of what is none names those there are.
fn read<T>(option: &str, value: &Value, parse: fn(&str) -> Result<T>) -> Result<Option<T>> {
    let name = match value {
        Value::Null => return Ok(None),
        Value::Text(name) => name.clone(),
        Value::Int(v) => v.to_string(),
        Value::Bool(v) => v.to_string(),
        Value::Double(v) => v.to_string(),
        Value::Interval(_) => String::new(),
    };
    let read = parse(&name).map(Some);
    read.map_err(|e| e.in_context(format!("table option {option}")))
}

fn unknown(name: &str) -> Error {
    let known = format!(
        "known are {PAX_ROWS}, {FREEZE_FOR}, {ENCODING}, {LAYOUT}, and for one column {ENCODING}.column, \
         {LAYOUT}.column, {FREEZE_FOR}.column"
    );
    Error::new(
        SqlState::UNDEFINED_OBJECT,
        format!("there is no table option \"{name}\""),
    )
    .with_hint(known)
}

fn no_column(schema: &Schema, option: &str, column: &str) -> Error {
    let error = Error::new(
        SqlState::UNDEFINED_COLUMN,
        format!("table option {option}: column \"{column}\" does not exist"),
    );
    let names = schema.columns.iter().map(|c| c.name.as_str());
    match nearest(column, names) {
        Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{ColumnDef, LogicalType};

    fn schema() -> Schema {
        let columns = ["l_orderkey", "l_shipdate", "a.b"];
        Schema::new(columns.map(|n| ColumnDef::new(n, LogicalType::Integer)).to_vec())
    }

    fn set(options: &mut TableOptions, name: &str, value: &str) -> Result<()> {
        let value = match value.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Text(value.to_string()),
        };
        options.set(&schema(), name, &value)
    }

    #[test]
    fn options_are_read_back_from_what_they_write() {
        let mut options = TableOptions::default();
        assert!(options.settings(&schema()).is_empty());
        for (name, value) in [
            ("pax_rows", "3"),
            ("freeze_for", "size"),
            ("encoding", "frame of reference"),
            ("layout", "byteslice"),
            ("encoding.l_shipdate", "dictionary"),
            ("layout.l_shipdate", "bit-packed"),
            ("freeze_for.a.b", "point"),
        ] {
            set(&mut options, name, value).unwrap();
        }
        let written = options.settings(&schema());
        assert_eq!(written.len(), 7);
        let mut again = TableOptions::default();
        for (name, value) in &written {
            again.set(&schema(), name, value).unwrap();
        }
        assert_eq!(again, options);
        for (name, _) in &written {
            again.set(&schema(), name, &Value::Null).unwrap();
        }
        assert_eq!(again, TableOptions::default());
    }

    #[test]
    fn blocks_are_built_as_the_options_say() {
        let mut options = TableOptions::default();
        assert_eq!(options.build_options(), BuildOptions::default());
        set(&mut options, "freeze_for", "scan").unwrap();
        set(&mut options, "layout.l_shipdate", "vbp").unwrap();
        set(&mut options, "layout", "hbp").unwrap();
        let built = options.build_options();
        assert_eq!(built.purpose, Purpose::Scan);
        let layouts = [0, 1, 2].map(|c| built.column(c).layout);
        assert_eq!(layouts, [Some(Layout::Hbp), Some(Layout::Vbp), Some(Layout::Hbp)]);
        assert_eq!([0, 1, 2].map(|c| built.must(c)), [false, true, false]);
    }

    #[test]
    fn what_a_type_can_never_hold_is_refused_with_what_would_fit() {
        let columns = [
            ("b", LogicalType::Boolean),
            ("i", LogicalType::Integer),
            ("x", LogicalType::Double),
            ("t", LogicalType::Text),
        ];
        let schema = Schema::new(columns.map(|(n, t)| ColumnDef::new(n, t)).to_vec());
        let check = |asked: &[(&str, &str)]| {
            let mut options = TableOptions::default();
            for (name, value) in asked {
                let value = Value::Text(value.to_string());
                options.set(&schema, name, &value).unwrap();
            }
            options.check(&schema)
        };
        for (name, encoding, fits) in [
            ("encoding.t", "decimal", "constant, dictionary, raw"),
            ("encoding.t", "frame of reference", "constant, dictionary, raw"),
            (
                "encoding.x",
                "frames of reference",
                "constant, dictionary, decimal, raw",
            ),
            ("encoding.b", "dictionary", "constant, frame of reference, raw"),
            ("encoding.i", "decimal", "patched frame of reference"),
        ] {
            let error = check(&[(name, encoding)]).unwrap_err();
            assert_eq!(error.state(), SqlState::INVALID_PARAMETER);
            assert!(
                error.message().contains(name) && error.message().contains(encoding),
                "{error:?}"
            );
            assert!(error.hint().unwrap_or_default().contains(fits), "{error:?}");
        }
        let error = check(&[("layout.t", "vbp"), ("encoding.t", "raw")]).unwrap_err();
        assert_eq!(
            error.message(),
            "table option layout.t: raw values have no codes to be vbp"
        );
        assert!(
            error.hint().unwrap_or_default().ends_with("one of: dictionary"),
            "{error:?}"
        );
        // What depends on the values is let pass, and so is what gives way.
        check(&[
            ("encoding.x", "decimal"),
            ("layout.t", "vbp"),
            ("encoding", "decimal"),
        ])
        .unwrap();
        check(&[("encoding.t", "constant"), ("layout.b", "hbp")]).unwrap();
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_is() {
        let mut options = TableOptions::default();
        for (name, value, state, hint) in [
            (
                "mempax",
                "4",
                SqlState::UNDEFINED_OBJECT,
                "known are pax_rows, freeze_for",
            ),
            (
                "color.l_shipdate",
                "red",
                SqlState::UNDEFINED_OBJECT,
                "known are pax_rows",
            ),
            ("pax_rows", "0", SqlState::INVALID_PARAMETER, ""),
            ("pax_rows", "65537", SqlState::INVALID_PARAMETER, ""),
            ("pax_rows", "many", SqlState::INVALID_PARAMETER, ""),
            (
                "freeze_for",
                "speed",
                SqlState::INVALID_PARAMETER,
                "balanced, scan, point, size",
            ),
            (
                "encoding",
                "zip",
                SqlState::INVALID_PARAMETER,
                "known are constant, dictionary",
            ),
            (
                "layout.l_shipdate",
                "7",
                SqlState::INVALID_PARAMETER,
                "known are byte-packed",
            ),
            (
                "layout.l_shipdat",
                "vbp",
                SqlState::UNDEFINED_COLUMN,
                "did you mean \"l_shipdate\"?",
            ),
        ] {
            let error = set(&mut options, name, value).unwrap_err();
            assert_eq!(error.state(), state, "{name}: {error:?}");
            assert!(
                error.hint().unwrap_or_default().contains(hint),
                "{name}: {error:?}"
            );
        }
        assert_eq!(options, TableOptions::default());
    }
}
