//! The query of a part of a table as text: so it is bound, checked for privileges, optimized and run as any query.

use crate::partitions::PartRequest;
use crate::value::Value;
use frazil_catalog::{QualifiedName, identifier};
use frazil_types::{Error, Result, RowId, SqlState};
use std::fmt::Write;
use std::ops::RangeInclusive;

/// A condition that all rows of the parts satisfy, with SQL's meaning of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PartFilter {
    /// Name of the column.
    pub column: String,
    /// The test of its values.
    pub test: FilterTest,
}

/// The test of a column's values. Texts are read as literals of the column's type.
#[derive(Clone, Debug, PartialEq)]
pub enum FilterTest {
    /// `=`.
    Equal(Value),
    /// `<`.
    Less(Value),
    /// `<=`.
    LessOrEqual(Value),
    /// `>`.
    Greater(Value),
    /// `>=`.
    GreaterOrEqual(Value),
    /// `IN`: with an empty list no row satisfies it.
    In(Vec<Value>),
    /// `IS NULL`.
    IsNull,
    /// `IS NOT NULL`.
    IsNotNull,
}

/// The query of a request, for all rows of its table or for those of some chunks (by their numbers). 22004 for NULL as
/// the operand of a comparison, which no row would satisfy.
pub fn query_text(
    request: &PartRequest,
    (table, columns): (&QualifiedName, &[String]),
    chunks: Option<&RangeInclusive<u32>>,
) -> Result<String> {
    let shown = |column: &String| match request.texts.contains(column) {
        true => format!("{0}::text as {0}", identifier(column)),
        false => identifier(column),
    };
    let columns: Vec<String> = columns.iter().map(shown).collect();
    let (schema, name) = (identifier(&table.schema), identifier(&table.name));
    let mut text = format!("select {} from {schema}.{name}", columns.join(", "));
    let mut conditions = chunks.map(within).into_iter().collect::<Vec<String>>();
    for filter in &request.filters {
        conditions.push(condition(filter)?);
    }
    if !conditions.is_empty() {
        write!(text, " where {}", conditions.join(" and ")).expect("a string takes it");
    }
    Ok(text)
}

/// The condition that rows are in some chunks.
fn within(chunks: &RangeInclusive<u32>) -> String {
    let tid = |row: RowId| {
        let tid = row.to_tid();
        format!("({},{})", tid >> 16, tid & 0xFFFF)
    };
    let first = tid(RowId::new(*chunks.start(), 0));
    let last = tid(RowId::new(*chunks.end(), u16::MAX));
    format!("ctid between '{first}'::tid and '{last}'::tid")
}

fn condition(filter: &PartFilter) -> Result<String> {
    let column = identifier(&filter.column);
    let compare = |sign: &str, value: &Value| match value.is_null() {
        true => Err(Error::new(
            SqlState::NULL_VALUE_NOT_ALLOWED,
            format!(
                "a filter compares column \"{}\" with NULL, which is true for no row",
                filter.column
            ),
        )
        .with_hint("\"is null\" and \"is not null\" test for NULL")),
        false => Ok(format!("{column} {sign} {}", literal(value)?)),
    };
    match &filter.test {
        FilterTest::Equal(value) => compare("=", value),
        FilterTest::Less(value) => compare("<", value),
        FilterTest::LessOrEqual(value) => compare("<=", value),
        FilterTest::Greater(value) => compare(">", value),
        FilterTest::GreaterOrEqual(value) => compare(">=", value),
        FilterTest::In(values) if values.is_empty() => Ok("false".to_owned()),
        FilterTest::In(values) => {
            let values = values.iter().map(literal).collect::<Result<Vec<String>>>()?;
            Ok(format!("{column} in ({})", values.join(", ")))
        }
        FilterTest::IsNull => Ok(format!("{column} is null")),
        FilterTest::IsNotNull => Ok(format!("{column} is not null")),
    }
}

/// A value as a literal: texts in quotes alone, so that the column says their type.
fn literal(value: &Value) -> Result<String> {
    let text = match (value, value.ty()) {
        (Value::Null, _) => return Ok("null".to_owned()),
        (Value::Text(text), _) => text.clone(),
        (value, Some(ty)) => value.to_raw()?.display(ty).to_string(),
        (_, None) => return Err(Error::internal("a value without a type")),
    };
    let mark = if text.contains('\\') { "E" } else { "" };
    let text = text.replace('\\', "\\\\").replace('\'', "''");
    Ok(match value.ty() {
        Some(ty) => format!("{mark}'{text}'::{ty}"),
        None => format!("{mark}'{text}'"),
    })
}
