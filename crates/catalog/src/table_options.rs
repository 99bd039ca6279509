//! `WITH (option = value, …)`: how the rows of a table are to be held, hot and frozen. Options have one
//! form as text, which is read from SQL and kept in a directory's manifest.

use crate::names::nearest;
use frazil_types::{CHUNK_ROWS, Error, Result, Schema, SqlState, Value};
use std::collections::BTreeMap;

/// The fate of a temporary table at the end of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnCommit {
    /// PRESERVE ROWS: the table stays as it is.
    #[default]
    Preserve,
    /// DELETE ROWS.
    Delete,
    /// DROP.
    Drop,
}

/// How a table's rows are to be held. The catalog keeps what blocks are to be like by name; storage knows the names and
/// refuses others.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// Rows `k` of a partition of a hot chunk, PAX(k) (Runtime Fragility, section 2): 1 is row layout,
    /// [`CHUNK_ROWS`] column layout.
    pub pax_rows: u32,
    /// What is asked of all columns: an encoding or layout only of those that can have it.
    pub blocks: BlockOptions,
    /// What is asked of single columns, by position: it must be so.
    pub columns: BTreeMap<usize, BlockOptions>,
}

/// What columns are to be like in Data Blocks. `None` leaves it open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockOptions {
    /// Name of what is favoured: size, scans or access to single rows.
    pub freeze_for: Option<String>,
    /// Name of the encoding.
    pub encoding: Option<String>,
    /// Name of the layout of codes.
    pub layout: Option<String>,
}

impl BlockOptions {
    /// What is asked, with the names of the options.
    pub fn named(&self) -> [(&'static str, &Option<String>); 3] {
        [
            (FREEZE_FOR, &self.freeze_for),
            (ENCODING, &self.encoding),
            (LAYOUT, &self.layout),
        ]
    }

    /// What the option of a name asks, to be changed; `None` if there is no such option.
    fn option(&mut self, name: &str) -> Option<&mut Option<String>> {
        match name {
            FREEZE_FOR => Some(&mut self.freeze_for),
            ENCODING => Some(&mut self.encoding),
            LAYOUT => Some(&mut self.layout),
            _ => None,
        }
    }
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            pax_rows: CHUNK_ROWS as u32,
            blocks: BlockOptions::default(),
            columns: BTreeMap::new(),
        }
    }
}

const PAX_ROWS: &str = "pax_rows";
/// PostgreSQL's share of a page that INSERT fills, in percent.
const FILLFACTOR: &str = "fillfactor";
/// PostgreSQL's option of tables with an oid for each row, of which it takes only that there are none.
const OIDS: &str = "oids";
/// PostgreSQL's options of vacuuming and statistics, which Frazil does by itself: they are checked and have no effect.
const ADVICE: [&str; 21] = [
    "autovacuum_analyze_scale_factor",
    "autovacuum_analyze_threshold",
    "autovacuum_enabled",
    "autovacuum_freeze_max_age",
    "autovacuum_freeze_min_age",
    "autovacuum_freeze_table_age",
    "autovacuum_multixact_freeze_max_age",
    "autovacuum_multixact_freeze_min_age",
    "autovacuum_multixact_freeze_table_age",
    "autovacuum_vacuum_cost_delay",
    "autovacuum_vacuum_cost_limit",
    "autovacuum_vacuum_insert_scale_factor",
    "autovacuum_vacuum_insert_threshold",
    "autovacuum_vacuum_scale_factor",
    "autovacuum_vacuum_threshold",
    "log_autovacuum_min_duration",
    "parallel_workers",
    "toast_tuple_target",
    "user_catalog_table",
    "vacuum_index_cleanup",
    "vacuum_truncate",
];
/// The options that are true or false.
const FLAGS: [&str; 4] = [
    "autovacuum_enabled",
    "user_catalog_table",
    "vacuum_index_cleanup",
    "vacuum_truncate",
];
const FREEZE_FOR: &str = "freeze_for";
const ENCODING: &str = "encoding";
const LAYOUT: &str = "layout";

impl TableOptions {
    /// Sets an option of a table of these columns; NULL is its default. 42704 for an unknown option, 22023
    /// for a number of rows out of range, 42703 for an unknown column. Names of encodings, layouts and what is favoured
    /// are taken as they are.
    pub fn set(&mut self, schema: &Schema, name: &str, value: &Value) -> Result<()> {
        if let Some((option, column)) = name.split_once('.') {
            return self.set_column(schema, name, option, column, value);
        }
        match (name, self.blocks.option(name)) {
            (PAX_ROWS, _) => self.pax_rows = pax_rows(value)?,
            (FILLFACTOR, _) => check_fillfactor(value)?,
            (OIDS, _) => refuse_oids(value)?,
            (advice, _) if ADVICE.contains(&advice) => check_advice(advice, value)?,
            (_, Some(asked)) => *asked = name_in(value),
            (_, None) => return Err(unknown(name)),
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
        if BlockOptions::default().option(option).is_none() {
            return Err(unknown(name));
        }
        let position = schema
            .index_of(column)
            .ok_or_else(|| no_column(schema, name, column))?;
        if let Some(asked) = self.columns.entry(position).or_default().option(option) {
            *asked = name_in(value);
        }
        self.columns.retain(|_, asked| *asked != BlockOptions::default());
        Ok(())
    }

    /// The options that are not at their defaults, as [`TableOptions::set`] takes them.
    pub fn settings(&self, schema: &Schema) -> Vec<(String, Value)> {
        let mut out = Vec::new();
        if self.pax_rows != TableOptions::default().pax_rows {
            out.push((PAX_ROWS.to_string(), Value::Int(self.pax_rows.into())));
        }
        let of_columns = self
            .columns
            .iter()
            .map(|(&c, asked)| (asked, Some(&schema.columns[c].name)));
        for (asked, column) in std::iter::once((&self.blocks, None)).chain(of_columns) {
            for (option, value) in asked.named() {
                let name = column.map_or(option.to_string(), |column| format!("{option}.{column}"));
                out.extend(value.clone().map(|v| (name, Value::Text(v))));
            }
        }
        out
    }
}

/// 22023 for a value that is not of the option's kind: true or false, or a number.
fn check_advice(name: &str, value: &Value) -> Result<()> {
    let is_flag = FLAGS.contains(&name);
    let words = ["on", "off", "true", "false", "yes", "no", "auto", "1", "0"];
    let fits = match value {
        Value::Null | Value::Bool(_) => true,
        Value::Text(text) if is_flag => words.contains(&text.to_lowercase().as_str()),
        Value::Text(text) => text.trim().parse::<f64>().is_ok_and(f64::is_finite),
        _ => !is_flag || value.as_int().is_some_and(|n| (0..=1).contains(&n)),
    };
    match fits {
        true => Ok(()),
        false => {
            let kind = if is_flag { "boolean" } else { "numeric" };
            let message = format!("invalid value for {kind} option \"{name}\"");
            Err(Error::new(SqlState::INVALID_PARAMETER, message))
        }
    }
}

/// 22023 for a share that PostgreSQL would refuse. The option has no effect: rows are not updated in their pages.
fn check_fillfactor(value: &Value) -> Result<()> {
    let given = match value {
        Value::Null => return Ok(()),
        Value::Text(text) => text.trim().parse().ok(),
        _ => value.as_int(),
    };
    let message = match given {
        Some(10..=100) => return Ok(()),
        Some(given) => format!("value {given} out of bounds for option \"{FILLFACTOR}\""),
        None => format!("invalid value for integer option \"{FILLFACTOR}\""),
    };
    Err(Error::new(SqlState::INVALID_PARAMETER, message)
        .with_detail("Valid values are between \"10\" and \"100\"."))
}

/// 0A000 unless the option is false.
fn refuse_oids(value: &Value) -> Result<()> {
    let is_false = match value {
        Value::Null => true,
        Value::Bool(given) => !given,
        Value::Text(text) => ["off", "false", "no", "0"].contains(&text.to_lowercase().as_str()),
        _ => value.as_int() == Some(0),
    };
    match is_false {
        true => Ok(()),
        false => Err(Error::unsupported("a table WITH OIDS")),
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

/// The name that a value is; `None` where the default is asked for.
fn name_in(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Text(name) => Some(name.clone()),
        Value::Int(v) => Some(v.to_string()),
        Value::Bool(v) => Some(v.to_string()),
        Value::Double(v) => Some(v.to_string()),
        Value::Interval(_) | Value::Bytes(_) => Some(String::new()),
    }
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
