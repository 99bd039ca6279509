//! Rows as values. A row value is the expressions of its columns with their names; a call makes one value of it only
//! where a result, a text or a JSON document asks for that.

use crate::build::{LENGTH, TEXT};
use crate::json::{LINE, bytes_of_text, push_json, refuse_records, shown_text};
use crate::vector::{OnNull, Output, Row, rows};
use crate::{CastContext, Operand, Typing};
use frazil_plan::{CONDITION, Columns, Expr};
use frazil_types::sql_type::push_field_of_record;
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value, json};

/// Type of the parameters that stand for the result of a call whose first argument they are, as JDBC writes
/// `{? = call f(?)}`: void in PostgreSQL's protocol. No client declares a record.
pub const RESULT_PARAMETER: LogicalType = LogicalType::Record;

/// A row value: its columns, and what tells whether there is a row.
pub struct Record {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Values of the columns, as many as `names`.
    pub values: Vec<Expr>,
    /// True for each column that is a literal without a type, which compares only with its like. Empty if none is.
    pub open: Vec<bool>,
    /// NULL where the row itself is: an outer join found no partner. `None` if there always is a row.
    pub mark: Option<Expr>,
}

impl Record {
    /// The row as a `record`, which shows as PostgreSQL shows a composite value.
    pub fn value(self) -> Expr {
        let arguments = [self.there()].into_iter().chain(self.values).collect();
        rows("row", OnNull::Called, shown, arguments, LogicalType::Record)
    }

    /// The row as a json object, as `row_to_json` gives it. `in_lines`: whether each column begins a line. 0A000 if a
    /// column is a row whose own columns are not known any more.
    pub fn json(self, in_lines: Expr) -> Result<Expr> {
        refuse_records(&self.values)?;
        let mut arguments = vec![self.there(), in_lines];
        for (name, value) in self.names.into_iter().zip(self.values) {
            arguments.extend([Expr::constant(Value::Text(name), TEXT), value]);
        }
        let ty = LogicalType::Json;
        Ok(rows("row_to_json", OnNull::Called, object, arguments, ty))
    }

    /// The row as an element of `json_agg`: a json object that begins a line.
    pub fn json_element(self) -> Result<Expr> {
        let object = self.json(Expr::truth(false))?;
        let ty = LogicalType::Json;
        Ok(rows("row of json_agg", OnNull::Null, in_a_line, vec![object], ty))
    }

    fn there(&self) -> Expr {
        self.mark.clone().unwrap_or_else(|| Expr::truth(true))
    }
}

fn shown(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let mut text = String::from("(");
    for at in 1..row.arguments() {
        text.push_str(if at == 1 { "" } else { "," });
        let field = (!row.is_null(at)).then(|| shown_text(&row.value(at), row.ty(at)));
        push_field_of_record(&mut text, field.transpose()?.as_deref());
    }
    text.push(')');
    out.bytes(text.as_bytes())
}

/// The field at a position of a row value as a text; NULL if the row or the field is.
fn field(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match field_of_record(
        std::str::from_utf8(row.bytes(0)).unwrap_or(""),
        row.int(1) as usize,
    ) {
        Some(text) => out.text(&text),
        None => out.null(),
    }
}

/// Reads a field of a row value's text, which [`push_field_of_record`] wrote; `None` for NULL and beyond the last one.
fn field_of_record(text: &str, position: usize) -> Option<String> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    let (mut at, mut is_quoted, mut is_null) = (0, false, true);
    let mut field = String::new();
    let mut rest = inside.chars().peekable();
    while let Some(c) = rest.next() {
        let is_doubled = rest.peek() == Some(&c);
        match c {
            ',' if !is_quoted => {
                if at == position {
                    break;
                }
                (at, is_null) = (at + 1, true);
                field.clear();
                continue;
            }
            '"' if !is_quoted => is_quoted = true,
            '"' | '\\' if is_doubled => field.extend(rest.next()),
            '"' => is_quoted = false,
            c => field.push(c),
        }
        is_null = false;
    }
    (at == position && !is_null).then_some(field)
}

fn object(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let in_lines = !row.is_null(1) && row.bool(1);
    let mut text = String::from("{");
    for at in (2..row.arguments()).step_by(2) {
        text.push_str(match at {
            2 => "",
            _ if in_lines => ",\n ",
            _ => ",",
        });
        let _ = json::write_string(&mut text, row.text(at));
        text.push(':');
        push_json(&mut text, &row.value(at + 1), row.ty(at + 1))?;
    }
    text.push('}');
    out.bytes(&bytes_of_text(text, LogicalType::Json)?)
}

fn in_a_line(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let line = LINE.as_bytes();
    out.bytes(&[line, row.bytes(0)].concat())
}

impl Typing {
    /// Two rows compared as values: NULLs are equal to each other and greater than all other values, as in PostgreSQL's
    /// operators of records. NULL if either row is. 42804 for rows of other columns, 0A000 for another operator.
    pub fn compare_records(
        &self,
        op: &str,
        (l, r): (Record, Record),
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        comparable(&l, &r, span)?;
        let marks: Vec<Operand> = [&l.mark, &r.mark]
            .into_iter()
            .flatten()
            .cloned()
            .map(Operand::from)
            .collect();
        let is_distinct = op.ends_with("distinct from");
        let mut sides = [l, r].map(|side| {
            let mut values: Vec<Operand> = side.values.into_iter().map(Operand::from).collect();
            if is_distinct && !marks.is_empty() {
                values.push(side.mark.unwrap_or_else(|| Expr::truth(true)).into());
            }
            values
        });
        let [l, r] = [std::mem::take(&mut sides[0]), std::mem::take(&mut sides[1])];
        let (lets_of_l, l) = self.named(l, columns);
        let (lets_of_r, r) = self.named(r, columns);
        let compared = match op {
            "=" => self.row_compare("is not distinct from", l, r, span, columns)?,
            "<>" | "!=" => self.row_compare("is distinct from", l, r, span, columns)?,
            "is distinct from" | "is not distinct from" => self.row_compare(op, l, r, span, columns)?,
            "<" | ">" | "<=" | ">=" => self.record_order(op, l, r, span, columns)?,
            other => {
                return Err(Error::unsupported(format!("the operator {other} of row values")).at_span(span));
            }
        };
        let compared = match is_distinct {
            true => compared,
            false => self.unless_null(marks, compared, span, columns)?,
        };
        let compared = self.with_named(lets_of_r, compared)?;
        self.with_named(lets_of_l, compared)
    }

    /// The first columns that differ decide; equal rows are in order for `<=` and `>=` only.
    fn record_order(
        &self,
        op: &str,
        l: Vec<Operand>,
        r: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        // The smaller one first: `a > b` is `b < a`.
        let (l, r) = if op.starts_with('>') { (r, l) } else { (l, r) };
        let mut rest = Operand::from(Expr::truth(op.ends_with('=')));
        for (l, r) in l.into_iter().zip(r).rev() {
            let equal = self.infix("is not distinct from", l.clone(), r.clone(), span, columns)?;
            let less = self.infix("<", l, r.clone(), span, columns)?;
            let is_last = self.is_null(r, span)?;
            let less = self.coalesce(vec![less, is_last], span, columns)?;
            rest = self.case(None, vec![(equal, rest)], Some(less), span, columns)?;
        }
        Ok(rest)
    }

    fn unless_null(
        &self,
        marks: Vec<Operand>,
        compared: Operand,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        if marks.is_empty() {
            return Ok(compared);
        }
        let missing = marks.into_iter().map(|mark| self.is_null(mark, span));
        let missing = self.or(missing.collect::<Result<_>>()?, span)?;
        self.case(
            None,
            vec![(missing, Operand::null(span))],
            Some(compared),
            span,
            columns,
        )
    }

    /// The field of a type at a position from 0 of a row value.
    pub fn field_of_row(&self, record: Expr, position: usize, ty: LogicalType) -> Result<Expr> {
        let span = record.span;
        let position = Expr::constant(Value::Int(position as i128), LENGTH);
        let text = rows("field", OnNull::Null, field, vec![record, position], TEXT);
        Ok(self
            .cast(text.into(), ty, CastContext::Explicit, Span::NONE)?
            .at(span))
    }

    /// `row_to_json` of a row, and of whether its columns begin lines. 42883 for another argument.
    pub fn row_to_json(&self, record: Record, in_lines: Option<Operand>, span: Span) -> Result<Expr> {
        let in_lines = match in_lines {
            Some(x) => self.cast(x, CONDITION, CastContext::Implicit, span)?,
            None => Expr::truth(false),
        };
        Ok(record.json(in_lines)?.at(span))
    }
}

/// 42804 for rows whose columns are not of the same number and types.
fn comparable(l: &Record, r: &Record, span: Span) -> Result<()> {
    let refuse = |message: String| Err(Error::new(SqlState::DATATYPE_MISMATCH, message).at_span(span));
    let is_open = |record: &Record, at: usize| record.open.get(at).copied().unwrap_or(false);
    let name = |record: &Record, at: usize| match is_open(record, at) {
        true => "unknown",
        false => record.values[at].ty.kind().name(),
    };
    for (at, (a, b)) in l.values.iter().zip(&r.values).enumerate() {
        if a.ty.kind() != b.ty.kind() || is_open(l, at) != is_open(r, at) {
            let (a, b) = (name(l, at), name(r, at));
            return refuse(format!(
                "cannot compare dissimilar column types {a} and {b} at record column {}",
                at + 1
            ));
        }
    }
    if l.values.len() != r.values.len() {
        return refuse("cannot compare record types with different numbers of columns".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes rows of all texts of up to two of these characters, and NULL, and reads each field.
    #[test]
    fn fields_that_were_written_are_read() {
        let characters = ["", "a", "\"", "\\", ",", "(", ")", " ", "é"];
        let mut fields = vec![None];
        for first in characters {
            fields.extend(characters.map(|second| Some(format!("{first}{second}"))));
        }
        for first in &fields {
            for second in &fields {
                let mut text = String::from("(");
                push_field_of_record(&mut text, first.as_deref());
                text.push(',');
                push_field_of_record(&mut text, second.as_deref());
                text.push(')');
                assert_eq!(&field_of_record(&text, 0), first, "{text}");
                assert_eq!(&field_of_record(&text, 1), second, "{text}");
                assert_eq!(field_of_record(&text, 2), None, "{text}");
            }
        }
    }
}
