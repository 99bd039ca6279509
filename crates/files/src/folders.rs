//! Columns that folders say: `sales/year=2024/region=north/x.csv` has the columns `year` and `region` (as Hive lays out
//! partitions).
//!
//! Every file must say the same keys. The columns stand behind those of the files, by name; one that the files have too
//! keeps its place there and takes the folder's value. `%20` and the like stand for bytes, `__HIVE_DEFAULT_PARTITION__`
//! for NULL.

use crate::csv_types::type_of_folders;
use crate::parquet_statistics::Known;
use frazil_types::{
    ColumnDef, ColumnVector, CompareOp, Disjunction, Error, LogicalType, Restriction, RestrictionKind,
    Result, RowBatch, SqlState, Value, value_ops,
};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

/// The folder of rows whose value is NULL.
pub const NULL_FOLDER: &str = "__HIVE_DEFAULT_PARTITION__";

/// What the folders of some files say.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    columns: Vec<ColumnDef>,
    /// `values[file][i]`: the value of `columns[i]` in all rows of a file.
    values: Vec<Vec<Value>>,
}

/// Where a column of a table of files comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnSource {
    /// The files: position of their column.
    File(usize),
    /// The folders: position in [`Folders::columns`].
    Folder(usize),
}

/// The columns of a table of files.
#[derive(Clone, Debug)]
pub struct TableColumns {
    /// Names and types.
    pub columns: Vec<ColumnDef>,
    /// Where each comes from.
    pub sources: Vec<ColumnSource>,
}

/// Asks for columns that the paths of files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathColumns {
    /// True if folders such as `year=2024` are columns; `None`: if all files have the same keys.
    pub folders: Option<bool>,
    /// The name of a column that has the path of the file of each row.
    pub filename: Option<String>,
}

impl Folders {
    /// The columns that the paths of files say. 22023 as of [`Folders::of_keys`].
    pub fn of(files: &[PathBuf], wanted: &PathColumns) -> Result<Folders> {
        let mut folders = Folders::of_keys(files, wanted.folders)?;
        if let Some(name) = &wanted.filename {
            folders
                .columns
                .push(ColumnDef::new(name.clone(), LogicalType::Text));
            folders.values.resize(files.len(), Vec::new());
            for (values, file) in folders.values.iter_mut().zip(files) {
                values.push(Value::Text(file.display().to_string()));
            }
        }
        Ok(folders)
    }

    /// Reads keys and values from the folders of files. `wanted`: true reads them, false does not, and `None` reads
    /// them if all files have the same keys. 22023 if `wanted` is true and the keys differ.
    pub fn of_keys(files: &[PathBuf], wanted: Option<bool>) -> Result<Folders> {
        if wanted == Some(false) {
            return Ok(Folders::default());
        }
        let said: Vec<BTreeMap<String, Option<String>>> = files.iter().map(|file| keys(file)).collect();
        let Some(first) = said.first() else {
            return Ok(Folders::default());
        };
        let other = said.iter().position(|keys| !keys.keys().eq(first.keys()));
        match other {
            Some(other) if wanted == Some(true) => return Err(differ(files, other, first, &said[other])),
            Some(_) => return Ok(Folders::default()),
            None => {}
        }
        let folded: HashSet<String> = first.keys().map(|key| key.to_lowercase()).collect();
        let folds = folded.len() == first.len();
        let name = |key: &String| if folds { key.to_lowercase() } else { key.clone() };
        let types = first
            .keys()
            .map(|key| type_of_folders(said.iter().filter_map(|keys| keys[key].as_deref())));
        let columns: Vec<ColumnDef> = first
            .keys()
            .zip(types)
            .map(|(key, ty)| ColumnDef::new(name(key), ty))
            .collect();
        let row = |keys: &BTreeMap<String, Option<String>>| {
            let values = keys.values().zip(&columns);
            values
                .map(|(text, column)| match text {
                    Some(text) => value_ops::read(text, column.ty),
                    None => Ok(Value::Null),
                })
                .collect::<Result<Vec<Value>>>()
        };
        let values = said.iter().map(row).collect::<Result<Vec<_>>>()?;
        Ok(Folders { columns, values })
    }

    /// True if the folders name no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The columns of a table whose files have the columns `own`.
    pub fn with(&self, own: &[ColumnDef]) -> TableColumns {
        let mut columns = own.to_vec();
        let mut sources: Vec<ColumnSource> = (0..own.len()).map(ColumnSource::File).collect();
        for (i, column) in self.columns.iter().enumerate() {
            match (own.iter()).position(|c| c.name.eq_ignore_ascii_case(&column.name)) {
                Some(place) => {
                    columns[place].ty = column.ty;
                    sources[place] = ColumnSource::Folder(i);
                }
                None => {
                    columns.push(column.clone());
                    sources.push(ColumnSource::Folder(i));
                }
            }
        }
        TableColumns { columns, sources }
    }

    /// Rows of a file's column `column` (of [`Folders`]): one value, again and again.
    pub fn column(&self, file: usize, column: usize, rows: usize) -> ColumnVector {
        let value = self.values[file][column].clone();
        ColumnVector::from_values(self.columns[column].ty, &vec![value; rows])
    }

    /// Least and greatest value of an integer-like column; `None` if all are NULL or it is text.
    pub fn range(&self, column: usize) -> Option<(i128, i128)> {
        let values = self.values.iter().filter_map(|values| values[column].as_int());
        let ranges = values.map(|value| (value, value));
        ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Whether no row of a file satisfies a restriction of a column of the folders.
    pub fn excludes(&self, file: usize, column: usize, kind: &RestrictionKind) -> bool {
        excludes(&self.values[file][column], kind)
    }

    /// Whether no row of a file satisfies all restrictions and disjunctions, whose columns are those of a table.
    pub fn rule_out(
        &self,
        file: usize,
        table: &TableColumns,
        restrictions: &[Restriction],
        disjunctions: &[Disjunction],
    ) -> bool {
        let excluded = |r: &Restriction| match table.sources[r.column] {
            ColumnSource::Folder(column) => self.excludes(file, column, &r.kind),
            ColumnSource::File(_) => false,
        };
        leave_none(restrictions, disjunctions, &excluded)
    }

    /// Rows of a file as rows of a table. `own`: the columns of all files; those that this one lacks become NULL.
    pub fn widened(
        &self,
        file: usize,
        table: &TableColumns,
        mut own: Vec<Option<ColumnVector>>,
        rows: usize,
    ) -> RowBatch {
        let column = |(source, definition): (&ColumnSource, &ColumnDef)| match *source {
            ColumnSource::Folder(column) => self.column(file, column, rows),
            ColumnSource::File(column) => {
                let given = own.get_mut(column).and_then(Option::take);
                given.unwrap_or_else(|| ColumnVector::from_values(definition.ty, &vec![Value::Null; rows]))
            }
        };
        let columns = table.sources.iter().zip(&table.columns).map(column).collect();
        RowBatch { columns, rows }
    }
}

/// Whether no row satisfies all restrictions and disjunctions, where `excluded` tells that no row satisfies one of
/// them.
pub fn leave_none(
    restrictions: &[Restriction],
    disjunctions: &[Disjunction],
    excluded: &dyn Fn(&Restriction) -> bool,
) -> bool {
    let without_rows = |d: &Disjunction| d.alternatives.iter().all(|all| all.iter().any(excluded));
    restrictions.iter().any(excluded) || disjunctions.iter().any(without_rows)
}

/// Whether a value does not satisfy a restriction, as far as that is told here.
fn excludes(value: &Value, kind: &RestrictionKind) -> bool {
    match (value, kind) {
        (Value::Null, kind) => *kind != RestrictionKind::IsNull,
        (value, RestrictionKind::Compare(CompareOp::Ne, other)) => value == other,
        (value, kind) => Known::of_value(value).is_some_and(|known| known.excludes(kind)),
    }
}

/// The keys of a file's folders with their values; `None`: NULL. Of a key that stands there twice the first counts.
fn keys(file: &Path) -> BTreeMap<String, Option<String>> {
    let mut keys = BTreeMap::new();
    let folders = file.parent().into_iter().flat_map(Path::components);
    for folder in folders {
        let Component::Normal(folder) = folder else {
            continue;
        };
        let folder = folder.to_string_lossy();
        let Some((key, value)) = folder.split_once('=') else {
            continue;
        };
        if key.is_empty() || value.contains('=') {
            continue;
        }
        let value = (value != NULL_FOLDER).then(|| unescaped(value));
        keys.entry(unescaped(key)).or_insert(value);
    }
    keys
}

/// A text as part of a folder's name: letters, digits, `-`, `_`, `.` and `~` of ASCII stand for themselves.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            // A String takes all that is written.
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}

/// A text whose `%20` and the like are bytes. What is then no text of SQL stays as it is.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let code = match (first, behind) {
            (b'%', [high, low, ..]) => {
                let digit = |b: &u8| char::from(*b).to_digit(16);
                digit(high).zip(digit(low)).map(|(h, l)| (h * 16 + l) as u8)
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &behind[2..] } else { behind };
    }
    match String::from_utf8(bytes) {
        Ok(unescaped) if !unescaped.contains('\0') => unescaped,
        _ => text.to_owned(),
    }
}

fn differ(
    files: &[PathBuf],
    other: usize,
    first: &BTreeMap<String, Option<String>>,
    said: &BTreeMap<String, Option<String>>,
) -> Error {
    let shown = |keys: &BTreeMap<String, Option<String>>| match keys.is_empty() {
        true => "none".to_owned(),
        false => keys.keys().cloned().collect::<Vec<_>>().join(", "),
    };
    let message = format!(
        "the folders of file \"{}\" have the columns {}, those of file \"{}\" have {}",
        files[other].display(),
        shown(said),
        files[0].display(),
        shown(first)
    );
    Error::new(SqlState::INVALID_PARAMETER, message).with_hint(
        "omit them by hive_partitioning => false, or name files whose folders have the same columns",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(files: &[&str], wanted: Option<bool>) -> Result<String> {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let found = Folders::of_keys(&files, wanted)?;
        let columns = found.columns.iter().map(|c| format!("{} {}", c.name, c.ty));
        let row = |row: &Vec<Value>| {
            let values = row.iter().zip(&found.columns);
            let values = values.map(|(value, column)| value.display(column.ty).to_string());
            values.collect::<Vec<_>>().join("|")
        };
        let shown = columns.collect::<Vec<_>>().join(", ");
        let rows = found.values.iter().map(row);
        Ok(format!("{shown}: {}", rows.collect::<Vec<_>>().join("; ")))
    }

    #[test]
    fn what_folders_say() {
        for (files, expected) in [
            (&["a/y=1/m=02/f"][..], "m text, y bigint: 02|1"),
            (&["a/Y=1/f", "a/Y=-7/g"], "y bigint: 1; -7"),
            (
                &["d=2024-02-29/f", "d=__HIVE_DEFAULT_PARTITION__/f"],
                "d date: 2024-02-29; NULL",
            ),
            (
                &["d=2024-02-29 10%3A00%3A00/f"],
                "d timestamp: 2024-02-29 10:00:00",
            ),
            (&["s=a%20b%2Fc/f", "s=/f", "s=%zz%f/f"], "s text: a b/c; ; %zz%f"),
            (&["n%61me=x/f"], "name text: x"),
            (&["a=%00/f", "a=%ff/f"], "a text: %00; %ff"),
            (&["s=1.5/f", "s=true/f"], "s text: 1.5; true"),
            (&["a=1/b=2/f", "b=3/a=4/f"], "a bigint, b bigint: 1|2; 4|3"),
            (&["a=1/a=2/f"], "a bigint: 1"),
            (&["a=1/A=2/f"], "A bigint, a bigint: 2|1"),
            (&["a=1=2/f", "=1/f", "f"], ": ; ; "),
            // The keys differ.
            (&["a=1/f", "b=1/f"], ": "),
            (&["a=1/f", "f"], ": "),
        ] {
            let expected = expected.replace("NULL", &Value::Null.display(LogicalType::Date).to_string());
            assert_eq!(folders(files, None).expect("keys"), expected, "{files:?}");
        }
        assert_eq!(folders(&["a=1/f"], Some(false)).expect("none"), ": ");
        let error = folders(&["a=1/f", "b=1/f"], Some(true)).expect_err("the keys differ");
        assert_eq!(error.state(), SqlState::INVALID_PARAMETER);
        assert!(error.message().contains("b=1/f"), "{}", error.message());
    }

    #[test]
    fn values_rule_files_out() {
        let files = ["y=1/t=a/f", "y=3/t=b/f", "y=__HIVE_DEFAULT_PARTITION__/t=c/f"];
        let folders = Folders::of_keys(&files.map(PathBuf::from), None).expect("keys");
        let own = [ColumnDef::new("x", LogicalType::BigInt)];
        let table = folders.with(&own);
        let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["x", "t", "y"]);
        let of = |column, kind: &RestrictionKind| Restriction {
            column,
            kind: kind.clone(),
        };
        let left = |restrictions: &[Restriction], disjunctions: &[Disjunction]| {
            let left = (0..3).filter(|&file| !folders.rule_out(file, &table, restrictions, disjunctions));
            left.collect::<Vec<_>>()
        };
        let int = Value::Int;
        for (kind, expected) in [
            (RestrictionKind::Compare(CompareOp::Eq, int(1)), &[0][..]),
            (RestrictionKind::Compare(CompareOp::Ne, int(1)), &[1]),
            (RestrictionKind::Compare(CompareOp::Gt, int(1)), &[1]),
            (RestrictionKind::Compare(CompareOp::Le, int(3)), &[0, 1]),
            (RestrictionKind::Between(int(2), int(5)), &[1]),
            (RestrictionKind::In(vec![int(3), int(4)]), &[1]),
            (RestrictionKind::IsNull, &[2]),
            (RestrictionKind::IsNotNull, &[0, 1]),
        ] {
            assert_eq!(left(&[of(2, &kind)], &[]), expected, "{kind:?}");
        }
        let prefix = RestrictionKind::Prefix("b".to_owned());
        assert_eq!(left(&[of(1, &prefix)], &[]), [1]);
        assert_eq!(left(&[of(0, &RestrictionKind::IsNull)], &[]), [0, 1, 2]);
        let one = RestrictionKind::Compare(CompareOp::Eq, int(1));
        let either = Disjunction {
            alternatives: vec![
                vec![of(2, &one)],
                vec![of(1, &prefix), of(0, &RestrictionKind::IsNull)],
            ],
        };
        assert_eq!(left(&[], &[either]), [0, 1]);
    }
}
