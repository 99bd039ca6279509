//! Files in FROM: `'x.csv'`, `read_csv('x', header => true)` and the like.

use super::{file_types, fold};
use crate::CopyCompression;
use crate::file_source::{FileEncoding, FileForm, FileSource};
use frazil_catalog::{PUBLIC, QualifiedName};
use frazil_types::{Error, Result, SqlState};
use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, ObjectName, ObjectNamePart, TableFunctionArgs, Value,
};

/// Functions that read files. Those behind the first four are names that DuckDB's users type.
const FUNCTIONS: [(&str, FileForm); 9] = [
    ("read_csv", FileForm::Csv),
    ("read_parquet", FileForm::Parquet),
    ("read_json", FileForm::Json),
    ("published", FileForm::Published),
    ("read_csv_auto", FileForm::Csv),
    ("parquet_scan", FileForm::Parquet),
    ("read_json_auto", FileForm::Json),
    ("read_ndjson", FileForm::Json),
    ("read_ndjson_auto", FileForm::Json),
];

/// The files that a factor of FROM names; `None` for a table. 22023 for an option that there is not; errors have no
/// place.
pub(super) fn source(name: &ObjectName, args: Option<&TableFunctionArgs>) -> Result<Option<FileSource>> {
    let [ObjectNamePart::Identifier(ident)] = &name.0[..] else {
        return Ok(None);
    };
    let Some(args) = args else {
        if ident.quote_style != Some('\'') {
            return Ok(None);
        }
        let source = FileSource::of_pattern(&ident.value).ok_or_else(|| {
            let message = format!("nothing tells the form of file \"{}\"", ident.value);
            Error::new(SqlState::INVALID_PARAMETER, message).with_hint(
                "read it with read_csv('path'), read_json('path') or read_parquet('path'); \
                 files of a folder are 'path/*.csv'",
            )
        })?;
        return Ok(Some(source));
    };
    let function = fold(ident);
    let Some((_, form)) = FUNCTIONS.iter().find(|f| f.0 == function) else {
        return Ok(None);
    };
    if *form == FileForm::Published {
        return published(&args.args).map(Some);
    }
    let mut given = args.args.iter();
    let pattern = given.next().and_then(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(path)) => texts(path),
        _ => None,
    });
    let patterns = pattern.filter(|patterns| !patterns.is_empty()).ok_or_else(|| {
        let message =
            format!("{function} takes the path of a file, or an array of paths, as its first argument");
        Error::new(SqlState::INVALID_PARAMETER, message)
    })?;
    let mut source = FileSource::new(&patterns[0], *form);
    source.patterns = patterns;
    for arg in given {
        let (name, value) = named(arg).ok_or_else(|| {
            let message = format!("{function} takes options by name, such as header => true");
            Error::new(SqlState::INVALID_PARAMETER, message)
        })?;
        option(&mut source, &name, value)?;
    }
    Ok(Some(source))
}

/// `published('folder', 'table' [, schema => 'name'])`. 22023 for other arguments.
fn published(args: &[FunctionArg]) -> Result<FileSource> {
    let texts: Vec<Option<String>> = (args.iter())
        .map(|arg| match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(given)) => text(given),
            _ => None,
        })
        .collect();
    let (folder, table, schema) = match (&texts[..], args.get(2)) {
        ([Some(folder), Some(table)], None) => (folder, table, Some(PUBLIC.to_owned())),
        ([Some(folder), Some(table), _], Some(given)) => {
            let schema = named(given).filter(|(name, _)| name == "schema");
            (folder, table, schema.and_then(|(_, value)| text(value)))
        }
        _ => return Err(wrong_published()),
    };
    let schema = schema.ok_or_else(wrong_published)?;
    Ok(FileSource {
        table: Some(QualifiedName::new(schema, table)),
        ..FileSource::new(folder, FileForm::Published)
    })
}

fn wrong_published() -> Error {
    let message = "published takes a folder, a table and perhaps a schema, as constant texts";
    Error::new(SqlState::INVALID_PARAMETER, message)
        .with_hint("published('folder', 'table') or published('folder', 'table', schema => 'name')")
}

/// Whether a table function reads files.
pub(super) fn is_function(name: &ObjectName) -> bool {
    let [ObjectNamePart::Identifier(ident)] = &name.0[..] else {
        return false;
    };
    FUNCTIONS.iter().any(|f| f.0 == fold(ident))
}

/// Name and value of `name => value`, `name := value` and `name = value`.
fn named(arg: &FunctionArg) -> Option<(String, &Expr)> {
    match arg {
        FunctionArg::Named {
            name,
            arg: FunctionArgExpr::Expr(value),
            ..
        } => Some((fold(name), value)),
        FunctionArg::ExprNamed {
            name: Expr::Identifier(name),
            arg: FunctionArgExpr::Expr(value),
            ..
        } => Some((fold(name), value)),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::BinaryOp {
            left,
            op: BinaryOperator::Eq,
            right,
        })) => match &**left {
            Expr::Identifier(name) => Some((fold(name), right)),
            _ => None,
        },
        _ => None,
    }
}

fn option(source: &mut FileSource, name: &str, value: &Expr) -> Result<()> {
    let is_csv = source.form == FileForm::Csv;
    match name {
        "header" if is_csv => source.header = Some(flag(name, value)?),
        "delim" | "delimiter" | "sep" if is_csv => source.delimiter = Some(mark(name, value)?),
        "quote" if is_csv => source.quote = Some(mark(name, value)?),
        "escape" if is_csv => source.escape = Some(mark(name, value)?),
        "nullstr" | "null" if is_csv => {
            source.nulls = texts(value).ok_or_else(|| wrong(name, "a text or an array of texts"))?;
        }
        "encoding" if is_csv => source.encoding = encoding(name, value)?,
        "skip" if is_csv => source.skip = Some(count(name, value)?),
        "types" | "dtypes" | "column_types" if is_csv => source.types = file_types::types(name, value)?,
        "dateformat" | "date_format" if is_csv => {
            source.date_format = Some(text(value).ok_or_else(|| wrong(name, "a format such as '%d.%m.%Y'"))?);
        }
        "timestampformat" | "timestamp_format" if is_csv => {
            source.timestamp_format =
                Some(text(value).ok_or_else(|| wrong(name, "a format such as '%d.%m.%Y %H:%M'"))?);
        }
        "columns" if is_csv => source.types = file_types::columns(name, value)?,
        "filename" => {
            source.filename = match text(value) {
                Some(name) => Some(name),
                None => flag(name, value)?.then(|| "filename".to_owned()),
            }
        }
        "all_varchar" | "all_text" if is_csv => source.all_text = flag(name, value)?,
        "hive_partitioning" => source.hive_partitioning = Some(flag(name, value)?),
        // JSON needs no flag: names that no object of a file has are NULL in any case.
        "union_by_name" => source.union_by_name = flag(name, value)?,
        "ignore_errors" if source.form != FileForm::Parquet => source.skips_errors = flag(name, value)?,
        "on_error" if source.form != FileForm::Parquet => {
            let given = text(value).unwrap_or_default().to_lowercase();
            source.skips_errors = match given.as_str() {
                "ignore" => true,
                "stop" => false,
                _ => return Err(wrong(name, "'ignore' or 'stop'")),
            };
        }
        "rejects_table" if source.form != FileForm::Parquet => {
            return Err(Error::unsupported("rejects_table where a query reads a file")
                .with_hint("COPY t FROM 'path' (ON_ERROR ignore, REJECTS_TABLE 'name')"));
        }
        "compression" if source.form != FileForm::Parquet => {
            let given = text(value).unwrap_or_default();
            source.compression =
                CopyCompression::named(&given).ok_or_else(|| wrong(name, "none, gzip or zstd"))?;
        }
        _ => {
            let message = format!("there is no option \"{name}\" for these files");
            return Err(
                Error::new(SqlState::INVALID_PARAMETER, message).with_hint(match source.form {
                    FileForm::Csv => {
                        "there are header, delimiter, quote, escape, null, skip, types, columns, dateformat, \
                         timestampformat, encoding, all_text, union_by_name, filename, compression, on_error and \
                         hive_partitioning"
                    }
                    FileForm::Json => "there are filename, compression, on_error and hive_partitioning",
                    FileForm::Parquet => "there are union_by_name, filename and hive_partitioning",
                    FileForm::Published => "there is schema",
                }),
            );
        }
    }
    Ok(())
}

fn encoding(name: &str, value: &Expr) -> Result<FileEncoding> {
    match text(value).unwrap_or_default().to_lowercase().as_str() {
        "utf-8" | "utf8" => Ok(FileEncoding::Utf8),
        "utf-16" | "utf16" => Ok(FileEncoding::Utf16),
        "latin-1" | "latin1" | "iso-8859-1" => Ok(FileEncoding::Latin1),
        _ => Err(wrong(name, "'utf-8', 'utf-16' or 'latin-1'")),
    }
}

pub(super) fn wrong(name: &str, wanted: &str) -> Error {
    Error::new(
        SqlState::INVALID_PARAMETER,
        format!("option {name} takes {wanted}"),
    )
}

/// The texts of an array of constants, or the one of a constant.
pub(super) fn texts(value: &Expr) -> Option<Vec<String>> {
    match value {
        Expr::Array(array) => array.elem.iter().map(text).collect(),
        other => text(other).map(|text| vec![text]),
    }
}

pub(super) fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn flag(name: &str, value: &Expr) -> Result<bool> {
    let said = match value {
        Expr::Value(value) => match &value.value {
            Value::Boolean(b) => Some(*b),
            Value::Number(n, _) => Some(n != "0"),
            _ => None,
        },
        _ => None,
    };
    said.ok_or_else(|| wrong(name, "true or false"))
}

fn count(name: &str, value: &Expr) -> Result<usize> {
    let said = match value {
        Expr::Value(value) => match &value.value {
            Value::Number(n, _) => n.parse().ok(),
            _ => None,
        },
        _ => None,
    };
    said.ok_or_else(|| wrong(name, "a number of lines"))
}

fn mark(name: &str, value: &Expr) -> Result<char> {
    let given = text(value).ok_or_else(|| wrong(name, "one ASCII character"))?;
    let given = if given == "\\t" { "\t" } else { &given };
    let mut chars = given.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if c.is_ascii() && c != '\n' && c != '\r' => Ok(c),
        _ => Err(wrong(name, "one ASCII character")),
    }
}
