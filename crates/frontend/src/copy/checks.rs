//! Which options of COPY go together.

use super::{CopyEnd, CopyExisting, CopyFormat, CopyHeader, CopyOnError, CopyOptions, invalid};
use frazil_types::{Error, Result, SqlState};

/// What is said of folders goes with PARTITION_BY, and that with a directory.
pub(super) fn check_folders(options: &CopyOptions, end: &CopyEnd, is_out: bool) -> Result<()> {
    let has_keys = !options.partition_by.is_empty();
    let wrong = match (has_keys, is_out, end) {
        (true, false, _) => "COPY FROM with PARTITION_BY",
        (true, true, CopyEnd::Client) => "COPY TO STDOUT with PARTITION_BY",
        (false, _, _) if options.existing != CopyExisting::Refused || options.write_partition_columns => {
            "WRITE_PARTITION_COLUMNS, OVERWRITE, OVERWRITE_OR_IGNORE or APPEND without PARTITION_BY"
        }
        _ => return Ok(()),
    };
    Err(Error::unsupported(wrong).with_hint("COPY t TO 'directory' (FORMAT parquet, PARTITION_BY (a, b))"))
}

/// What is said of rows that are left out goes with FROM and ON_ERROR ignore, which a table of rejects implies;
/// `given`: the options.
pub(super) fn check_rejects(options: &mut CopyOptions, is_out: bool, given: &[String]) -> Result<()> {
    let is_given = |name: &str| given.iter().any(|given| given == name);
    let names = ["on_error", "rejects_table", "reject_limit"];
    if let Some(name) = names.iter().find(|name| is_out && is_given(name)) {
        let name = name.to_uppercase();
        return Err(invalid(format!("COPY {name} cannot be used with COPY TO")));
    }
    if options.rejects_table.is_some() && !is_given("on_error") {
        options.on_error = CopyOnError::Ignore;
    }
    let skips = options.on_error == CopyOnError::Ignore;
    if let Some(name) = names[1..].iter().find(|name| !skips && is_given(name)) {
        let name = name.to_uppercase();
        return Err(invalid(format!(
            "COPY {name} requires ON_ERROR to be set to IGNORE"
        )));
    }
    if skips && options.format == CopyFormat::Parquet {
        return Err(Error::unsupported("COPY FORMAT parquet with ON_ERROR ignore")
            .with_hint("the columns of Parquet files have types: cast them, as in INSERT INTO t SELECT … FROM 'path'"));
    }
    Ok(())
}

/// 42601 and 0A000 for options that the binary format does not take.
fn check_binary(given: &[String]) -> Result<()> {
    let is_given = |name: &str| given.iter().any(|given| given == name);
    if let Some(name) = ["delimiter", "null"].iter().find(|name| is_given(name)) {
        let message = format!("cannot specify {} in BINARY mode", name.to_uppercase());
        return Err(Error::new(SqlState::SYNTAX_ERROR, message));
    }
    let of_text = [
        "header",
        "quote",
        "escape",
        "force_quote",
        "force_not_null",
        "force_null",
        "on_error",
    ];
    match of_text.iter().find(|name| is_given(name)) {
        Some(name) => {
            let name = name.replace('_', " ").to_uppercase();
            Err(Error::unsupported(format!("COPY {name} in BINARY mode")))
        }
        None => Ok(()),
    }
}

/// Checks what the marks and lists of columns may be, in PostgreSQL's order. 0A000, 22023.
pub(super) fn check(options: &CopyOptions, given: &[String], is_out: bool) -> Result<()> {
    let (is_csv, is_text) = (
        options.format == CopyFormat::Csv,
        options.format == CopyFormat::Text,
    );
    if options.format == CopyFormat::Binary {
        return check_binary(given);
    }
    if !is_csv && !is_text {
        return Ok(());
    }
    if options.null.contains(['\n', '\r']) {
        return Err(invalid(
            "COPY null representation cannot use newline or carriage return",
        ));
    }
    let delimiter = options.delimiter;
    if is_text && "\\.abcdefghijklmnopqrstuvwxyz0123456789".contains(delimiter) {
        return Err(invalid(format!("COPY delimiter cannot be \"{delimiter}\"")));
    }
    if options.header == CopyHeader::Match && is_out {
        return Err(Error::unsupported("COPY TO with HEADER match"));
    }
    let of_csv = ["quote", "escape", "force_quote", "force_not_null", "force_null"];
    if let Some(name) = of_csv
        .iter()
        .find(|name| is_text && given.iter().any(|given| given == *name))
    {
        let name = name.replace('_', " ");
        return Err(Error::unsupported(format!("COPY {name} without FORMAT csv")));
    }
    if is_csv && delimiter == options.quote {
        return Err(invalid("COPY delimiter and quote must be different"));
    }
    if options.null.contains(delimiter) {
        return Err(Error::unsupported("a COPY NULL with the delimiter in it"));
    }
    if is_csv && options.null.contains(options.quote) {
        return Err(Error::unsupported("a COPY NULL with the quote in it"));
    }
    let wrong = match is_out {
        true if !options.force_not_null.is_empty() => "COPY TO with FORCE_NOT_NULL",
        true if !options.force_null.is_empty() => "COPY TO with FORCE_NULL",
        false if !options.force_quote.is_empty() => "COPY FROM with FORCE_QUOTE",
        true | false => return Ok(()),
    };
    Err(Error::unsupported(wrong))
}
