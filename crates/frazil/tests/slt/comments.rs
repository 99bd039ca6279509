//! What comments of a script ask for: freezing, tags, names in errors, and which faults are known.

use crate::session::Told;
use sqllogictest::DefaultColumnType;
use sqllogictest::Record;

/// What a comment above a record says of it.
#[derive(Clone, Copy, PartialEq)]
pub enum Mark {
    Sound,
    Fault,
    /// A fault that may end the process.
    Kills,
}

/// The line a statement or query begins in, from 1; `None` for comments and blank lines.
pub fn line_of(record: &Record<DefaultColumnType>) -> Option<u32> {
    match record {
        Record::Statement { loc, .. } | Record::Query { loc, .. } => Some(loc.line()),
        _ => None,
    }
}

/// The lines of comment right above line `line`, from the lowest, with their indices in `lines`.
pub fn comments_above<'a>(lines: &'a [&'a str], line: u32) -> impl Iterator<Item = (usize, &'a str)> {
    let above = lines[..line as usize - 1].iter().enumerate().rev();
    above
        .map(|(at, text)| (at, *text))
        .take_while(|(_, text)| text.starts_with('#'))
}

/// The mark of the record in line `line`.
pub fn mark(lines: &[&str], line: u32) -> Mark {
    let fault = comments_above(lines, line).find(|(_, text)| text.starts_with("# fault "));
    match fault {
        None => Mark::Sound,
        Some((_, text)) if text.ends_with(", kills") => Mark::Kills,
        Some(_) => Mark::Fault,
    }
}

/// Whether the comment says that a table may freeze here.
pub fn says_freeze(line: &str) -> bool {
    line.trim_start().starts_with("freeze ")
}

/// Compares what a record's statement told with the comments `# tag:` and `# constraint:` above the record. What the
/// statement did not tell is not judged.
pub fn judge(lines: &[&str], line: u32, told: &Told) -> Result<(), String> {
    let expected = |key: &str| comments_above(lines, line).find_map(|(_, text)| text.strip_prefix(key));
    let pairs = [
        (expected("# tag: "), &told.tag),
        (expected("# constraint: "), &told.named),
    ];
    for (expected, told) in pairs {
        if let (Some(expected), Some(told)) = (expected, told)
            && expected != told
        {
            return Err(format!("line {line}: \"{expected}\" expected, \"{told}\" came"));
        }
    }
    Ok(())
}
