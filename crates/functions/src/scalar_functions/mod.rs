//! The table of scalar functions: resolution, hints and documentation read it.

mod acl_items;
mod arrays;
mod bits;
mod bytes;
mod clock;
mod degrees;
mod enums;
mod fields;
mod formatting;
mod json;
mod json_changes;
mod json_paths;
mod math;
mod paths;
mod percent_format;
mod privileges;
mod quoting;
mod random;
mod regular;
mod settings;
mod sizes;
mod snapshots;
mod splits;
mod system;
mod text;
mod time;
mod time_of_day;
mod truncation;
mod zones;

pub(crate) use acl_items::{grantable, grantees, grantors, privileges as privileges_of_list};
pub(crate) use arrays::{array_function, elements_of};
pub(crate) use bytes::{BINARIES, OPERATORS as BYTEA_OPERATORS};
pub use clock::start_of_process;
pub(crate) use formatting::{ExactMoment, MomentKind, read_by, read_iso};
pub(crate) use json::{FUNCTIONS as JSON_FUNCTIONS, JSON, JSONB};
pub(crate) use json_changes::FUNCTIONS as JSON_CHANGES;
pub use paths::{KEYS, SHOWN, breadth_first, is_on_path, keys_of_path, text_of_path};
pub(crate) use snapshots::open_at_snapshot;
pub(crate) use text::TEXTS;
pub(crate) use time::{INTERVAL, PARTS};

use crate::build::{LENGTH, TEXT, case, constant_of, is_null, is_simple, not, once, text as text_constant};
use crate::convert::{as_text, convert};
use crate::function::{Function, Overload, Run, call_of, run, signature};
use crate::pattern::concatenation;
use crate::resolve::{CallKind, Resolution, no_function, resolve, unresolved};
use crate::type_rules::{Kind, cast_context, name_of};
use crate::typing::{HiddenParameter, Volatility};
use crate::vector::{OnNull, Output, Row, RowFn, rows, volatile};
use crate::{CastContext, Operand, Typing};
use frazil_plan::{COUNT, Columns, Expr, ExprKind};
use frazil_types::logical_type::WITHOUT_LENGTH;
use frazil_types::value_ops::CastLength;
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value};

/// Functions that take any types, or need the statement: `Typing::call` makes them itself.
const SPECIAL: &[(&str, &str, Volatility, &str)] = &[
    (
        "concat",
        "concat(any, …) → text",
        Volatility::Immutable,
        "the arguments as one text; NULLs are skipped",
    ),
    (
        "concat_ws",
        "concat_ws(text, any, …) → text",
        Volatility::Immutable,
        "the arguments with a separator between them; NULLs are skipped",
    ),
    (
        "date_part",
        "date_part(text, date | time | timestamp | interval) → double",
        Volatility::Immutable,
        "a field of a date, time, timestamp or interval, as a double",
    ),
    (
        "extract",
        "extract(field from date | time | timestamp | interval) → numeric",
        Volatility::Immutable,
        "a field of a date, time, timestamp or interval, with fractions of a second",
    ),
    (
        "now",
        "now() → timestamp",
        Volatility::Stable,
        "the transaction's start, in UTC",
    ),
    (
        "current_timestamp",
        "current_timestamp [(digits)] → timestamp",
        Volatility::Stable,
        "the transaction's start, in UTC",
    ),
    (
        "localtimestamp",
        "localtimestamp [(digits)] → timestamp",
        Volatility::Stable,
        "the transaction's start, in UTC",
    ),
    (
        "localtime",
        "localtime [(digits)] → time",
        Volatility::Stable,
        "the time of the transaction's start, in UTC",
    ),
    (
        "transaction_timestamp",
        "transaction_timestamp() → timestamp",
        Volatility::Stable,
        "the transaction's start, in UTC",
    ),
    (
        "current_date",
        "current_date → date",
        Volatility::Stable,
        "the day of the transaction's start, in UTC",
    ),
    (
        "format",
        "format(text, any, …) → text",
        Volatility::Immutable,
        "the text with `%s`, `%I` (as a name) and `%L` (as a literal) replaced by arguments; `%2$s` means the second, `%10s` and `%-10s` pad with blanks",
    ),
    (
        "hash",
        "hash(any, …) → bigint",
        Volatility::Immutable,
        "a hash: equal values of equal types have equal hashes",
    ),
    (
        "num_nonnulls",
        "num_nonnulls(any, …) → integer",
        Volatility::Immutable,
        "the number of arguments that are not NULL",
    ),
    (
        "num_nulls",
        "num_nulls(any, …) → integer",
        Volatility::Immutable,
        "the number of arguments that are NULL",
    ),
    (
        "pg_collation_for",
        "pg_collation_for(text) → text",
        Volatility::Immutable,
        "`\"default\"` for a text: the one collation",
    ),
    (
        "pg_current_snapshot",
        "pg_current_snapshot() → text",
        Volatility::Stable,
        "the snapshot of the transaction, as `xmin:xmax:` of transaction ids",
    ),
    (
        "pg_current_xact_id",
        "pg_current_xact_id() → bigint",
        Volatility::Stable,
        "the transaction's number: its start in microseconds since 1970",
    ),
    (
        "pg_current_xact_id_if_assigned",
        "pg_current_xact_id_if_assigned() → bigint",
        Volatility::Stable,
        "like `pg_current_xact_id`",
    ),
    (
        "pg_xact_status",
        "pg_xact_status(bigint) → text",
        Volatility::Stable,
        "`in progress` for the current transaction; NULL for earlier ones, whose outcome is not stored",
    ),
    (
        "txid_status",
        "txid_status(bigint) → text",
        Volatility::Stable,
        "like `pg_xact_status`",
    ),
    (
        "statement_timestamp",
        "statement_timestamp() → timestamp with time zone",
        Volatility::Stable,
        "the statement's start",
    ),
    (
        "timeofday",
        "timeofday() → text",
        Volatility::Volatile,
        "the time of the call, as a text with its weekday",
    ),
    (
        "overlaps",
        "overlaps(timestamp, timestamp | interval, timestamp, timestamp | interval) → boolean",
        Volatility::Immutable,
        "true if two periods overlap: `(a, b) OVERLAPS (c, d)`, also for dates, times and instants",
    ),
    (
        "current_query",
        "current_query() → text",
        Volatility::Stable,
        "the statement's text",
    ),
    (
        "quote_nullable",
        "quote_nullable(any) → text",
        Volatility::Immutable,
        "the value as an SQL literal; NULL as the text `NULL`",
    ),
    (
        "txid_current",
        "txid_current() → bigint",
        Volatility::Stable,
        "like `pg_current_xact_id`",
    ),
    (
        "txid_current_if_assigned",
        "txid_current_if_assigned() → bigint",
        Volatility::Stable,
        "like `pg_current_xact_id`",
    ),
    (
        "txid_current_snapshot",
        "txid_current_snapshot() → text",
        Volatility::Stable,
        "like `pg_current_snapshot`",
    ),
    (
        "pg_typeof",
        "pg_typeof(any) → text",
        Volatility::Immutable,
        "the name of the argument's type",
    ),
];

fn tables() -> impl Iterator<Item = &'static Function> {
    [
        text::FUNCTIONS,
        regular::FUNCTIONS,
        math::FUNCTIONS,
        bits::FUNCTIONS,
        bytes::FUNCTIONS,
        bytes::OPERATORS,
        clock::FUNCTIONS,
        degrees::FUNCTIONS,
        percent_format::FUNCTIONS,
        quoting::FUNCTIONS,
        random::FUNCTIONS,
        system::FUNCTIONS,
        system::OF_RELATIONS,
        privileges::FUNCTIONS,
        acl_items::FUNCTIONS,
        crate::sequences::FUNCTIONS,
        settings::FUNCTIONS,
        sizes::FUNCTIONS,
        snapshots::FUNCTIONS,
        formatting::FUNCTIONS,
        time::FUNCTIONS,
        time_of_day::FUNCTIONS,
        zones::FUNCTIONS,
        time_of_day::OPERATORS,
        json::FUNCTIONS,
        json::OPERATORS,
        json_changes::FUNCTIONS,
        json_paths::FUNCTIONS,
        json_paths::ZONED,
    ]
    .into_iter()
    .flatten()
}

/// Names behind operators, which are not called by name.
fn is_internal(name: &str) -> bool {
    let mut internal = [
        bits::FUNCTIONS,
        bytes::OPERATORS,
        time_of_day::OPERATORS,
        json::OPERATORS,
        json_paths::ZONED,
    ]
    .into_iter()
    .flatten();
    internal.any(|f| f.name == name)
}

fn find(name: &str) -> Option<&'static Function> {
    tables().find(|f| f.name == name)
}

/// Every function's documentation: name, signatures, volatility, description.
pub(crate) fn documentation() -> Vec<(&'static str, Vec<String>, Volatility, &'static str)> {
    let of_table = tables().filter(|f| !is_internal(f.name)).map(|f| {
        let signatures = f.overloads.iter().map(|o| signature(f.name, o));
        let is_volatile = |o: &Overload| matches!(o.run, Run::Volatile(..) | Run::VolatileOnNull(..));
        let volatility = match f.overloads.iter().any(is_volatile) {
            true => Volatility::Volatile,
            false if f.overloads.iter().any(|o| matches!(o.run, Run::Catalog(..))) => Volatility::Stable,
            false => Volatility::Immutable,
        };
        (f.name, signatures.collect(), volatility, f.description)
    });
    let special = SPECIAL.iter().map(|s| (s.0, vec![s.1.to_string()], s.2, s.3));
    let arrays = arrays::documentation().into_iter();
    let arrays = arrays.map(|(name, calls, description)| (name, calls, Volatility::Immutable, description));
    let of_json = json::OF_ANYTHING.iter();
    let of_json = of_json.map(|f| (f.0, vec![f.1.to_string()], Volatility::Immutable, f.2));
    let of_paths = json_paths::ZONED_CALLS.iter();
    let of_json = of_json.chain(of_paths.map(|f| (f.0, vec![f.1.to_string()], Volatility::Stable, f.2)));
    let of_enums = enums::OF_ENUMS.iter().map(|f| {
        let calls = f.1.iter().map(|call| call.to_string());
        (f.0, calls.collect(), Volatility::Immutable, f.2)
    });
    let all = of_table.chain(special).chain(arrays).chain(of_json);
    all.chain(of_enums).collect()
}

/// A call of a function whose arguments have the types of one of its overloads, as operators make.
pub(crate) fn build(name: &str, arguments: Vec<Expr>) -> Result<Expr> {
    call_of(tables(), name, arguments)
}

/// The type that a function of a type's name casts to: a type without a length or digits, by PostgreSQL's short name.
pub(crate) fn cast_function(name: &str) -> Option<LogicalType> {
    let mut plain = Kind::ALL.iter().filter(|kind| kind.info().typname == name);
    plain.next()?.plain()
}

impl Typing {
    /// What a call of a scalar function by its name computes. 42883, 42725.
    pub(crate) fn call_of(
        &self,
        name: &str,
        mut arguments: Vec<Operand>,
        columns: &mut Columns,
    ) -> Result<Expr> {
        match (name, arguments.as_slice()) {
            ("concat", [_, ..]) => return self.concat_skipping_null(arguments, columns),
            ("concat_ws", [_, _, ..]) => return self.concat_with_separator(arguments),
            ("extract" | "date_part", [_, _]) => return self.extract(name, arguments),
            ("overlaps", [_, _, _, _]) => {
                let arguments = <[Operand; 4]>::try_from(arguments);
                let ends = arguments.map_err(|_| Error::internal("spans of other ends"))?;
                let overlaps = self.overlaps(ends, Span::NONE, columns)?;
                return self.settle(overlaps);
            }
            ("format", [_, ..]) => return self.over_texts("format", quoting::format, arguments),
            ("quote_nullable", [_]) => {
                let text = as_text(self.settle(arguments.remove(0))?);
                return self.over_texts("quote_nullable", quoting::quote_nullable, vec![text.into()]);
            }
            ("quote_literal", [x]) if x.ty().is_some_and(|ty| !ty.is_text()) => {
                let text = as_text(self.settle(arguments.remove(0))?);
                return self.call_of("quote_literal", vec![text.into()], columns);
            }
            ("octet_length", [x])
                if x.ty()
                    .is_some_and(|ty| ty.is_padded() && ty.length() != Some(WITHOUT_LENGTH)) =>
            {
                let x = self.settle(arguments.remove(0))?;
                return self.padded_octets(x, columns);
            }
            ("num_nulls" | "num_nonnulls" | "hash", [_, ..]) => return self.over_values(name, arguments),
            ("pg_collation_for", [x]) => return system::collation_for(x),
            ("current_catalog", []) => return self.call_of("current_database", arguments, columns),
            ("current_role" | "user", []) => return self.call_of("current_user", arguments, columns),
            ("pg_typeof", [x]) => return Ok(text_constant(name_of(x.ty()))),
            _ => {}
        }
        if let Some(time) = self.clock_call(name, &arguments, columns)? {
            return Ok(time);
        }
        if let Some(known) = self.of_transaction(name, &mut arguments)? {
            return Ok(known);
        }
        if let Some(call) = self.json_call(name, &arguments)? {
            return Ok(call);
        }
        if let Some(call) = self.enum_call(name, &arguments)? {
            return Ok(call);
        }
        if let Some(call) = self.zoned_path_call(name, &arguments)? {
            return Ok(call);
        }
        if let Some(function) = array_function(name, arguments.len()) {
            return self.array_call(function, arguments);
        }
        let Some(function) = find(name).filter(|f| !is_internal(f.name)) else {
            return self.cast_call(name, arguments);
        };
        self.overload_call(function, arguments)
    }

    /// A call of the overload that fits the arguments. 42883, 42725.
    fn overload_call(&self, function: &Function, arguments: Vec<Operand>) -> Result<Expr> {
        let candidates: Vec<&[Kind]> = function.overloads.iter().map(|o| o.parameters).collect();
        let given: Vec<Option<Kind>> = arguments.iter().map(|a| a.ty().map(Kind::of)).collect();
        let overload = match resolve(&candidates, &given, CallKind::Function) {
            Resolution::Found(at) => &function.overloads[at],
            other => return Err(unresolved(function.name, &arguments, other)),
        };
        let typed = arguments
            .into_iter()
            .zip(overload.parameters)
            .map(|(a, kind)| self.argument(a, *kind));
        let catalog =
            matches!(overload.run, Run::Catalog(..)).then(|| Ok(self.hidden(HiddenParameter::Catalog)));
        let typed = typed.chain(catalog);
        run(
            function.name,
            overload.run,
            self.zone,
            typed.collect::<Result<_>>()?,
        )
    }

    /// A function of what time it is; `None` if it is none of them.
    fn clock_call(&self, name: &str, arguments: &[Operand], columns: &mut Columns) -> Result<Option<Expr>> {
        let start = || self.time_of_transaction(arguments.to_vec());
        Ok(Some(match (name, arguments) {
            ("now" | "transaction_timestamp", []) => self.hidden(HiddenParameter::Now),
            ("statement_timestamp", []) => self.hidden(HiddenParameter::StatementStart),
            ("timeofday", []) => {
                let now = self.call_of("clock_timestamp", Vec::new(), columns)?;
                volatile("timeofday", OnNull::Null, clock::time_of_day, vec![now], TEXT)
            }
            ("current_timestamp", [] | [_]) => start()?,
            ("localtimestamp", [] | [_]) => convert(start()?, LogicalType::TIMESTAMP, CastLength::Refuse),
            ("localtime", [] | [_]) => convert(start()?, LogicalType::TIME, CastLength::Refuse),
            ("current_date", []) => self.hidden(HiddenParameter::CurrentDate(self.zone)),
            ("age", [_]) => {
                let today = self.hidden(HiddenParameter::CurrentDate(self.zone));
                let arguments = [&[today.into()][..], arguments].concat();
                self.call_of("age", arguments, columns)?
            }
            _ => return Ok(None),
        }))
    }

    /// A function of transactions' numbers; `None` if it is none of them.
    fn of_transaction(&self, name: &str, arguments: &mut Vec<Operand>) -> Result<Option<Expr>> {
        let start = || self.hidden(HiddenParameter::Now);
        Ok(match (name, arguments.len()) {
            ("pg_current_xact_id" | "pg_current_xact_id_if_assigned", 0)
            | ("txid_current" | "txid_current_if_assigned", 0) => Some(snapshots::transaction(start())),
            ("pg_current_snapshot" | "txid_current_snapshot", 0) => Some(snapshots::snapshot(start())),
            ("pg_xact_status" | "txid_status", 1) => {
                let number = arguments.remove(0);
                let number = self.cast(number, COUNT, CastContext::Implicit, Span::NONE)?;
                Some(snapshots::status(number, start()))
            }
            _ => None,
        })
    }

    /// `float8(x)` and the like.
    fn cast_call(&self, name: &str, mut arguments: Vec<Operand>) -> Result<Expr> {
        let castable = |x: &Operand, to| {
            x.ty().is_none_or(|from| {
                cast_context(Kind::of(from), Kind::of(to)).is_some_and(|c| c <= CastContext::Assignment)
            })
        };
        match (cast_function(name), arguments.as_slice()) {
            (Some(ty), [x]) if castable(x, ty) => {
                self.cast(arguments.remove(0), ty, CastContext::Explicit, Span::NONE)
            }
            _ => Err(no_function(name, &arguments)),
        }
    }

    /// A value that the engine gives.
    pub(crate) fn hidden(&self, which: HiddenParameter) -> Expr {
        let mut hidden = self.hidden.borrow_mut();
        let index = hidden.iter().position(|h| *h == which).unwrap_or_else(|| {
            hidden.push(which);
            hidden.len() - 1
        });
        Expr::new(
            ExprKind::Parameter(crate::FIRST_HIDDEN + index),
            which.ty().in_zone(self.zone),
            false,
        )
    }

    /// The transaction's time, to a number of digits of a second.
    fn time_of_transaction(&self, mut arguments: Vec<Operand>) -> Result<Expr> {
        let now = self.hidden(HiddenParameter::Now);
        let Some(digits) = arguments.pop() else {
            return Ok(now);
        };
        let digits = self.cast(digits, LENGTH, CastContext::Implicit, Span::NONE)?;
        match constant_of(&digits) {
            Some(Value::Int(n)) if *n >= 6 => Ok(now),
            Some(Value::Int(n)) if *n >= 0 => Ok(time::round_timestamp(now, digits)),
            _ => Err(Error::new(
                SqlState::INVALID_PARAMETER,
                "the precision of a timestamp must be a constant from 0 to 6",
            )),
        }
    }

    fn concat_skipping_null(&self, arguments: Vec<Operand>, columns: &mut Columns) -> Result<Expr> {
        let mut parts = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let e = output_text(self.settle(argument)?);
            parts.push(match constant_of(&e) {
                Some(Value::Null) => continue,
                Some(_) => e,
                None => once(e, columns, |e, _| {
                    let mut filled = case(vec![(not(is_null(e.clone())), e)], text_constant(""));
                    filled.nullable = false;
                    Ok(filled)
                })?,
            });
        }
        Ok(match parts.len() {
            0 => text_constant(""),
            1 => parts.remove(0),
            _ => concatenation(parts),
        })
    }

    /// A function of values as texts, any of which may be NULL.
    fn over_texts(&self, name: &'static str, run: RowFn, arguments: Vec<Operand>) -> Result<Expr> {
        let parts = arguments.into_iter().map(|a| self.settle(a).map(output_text));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        Ok(rows(name, OnNull::Called, run, parts, TEXT))
    }

    /// A function of values of any types, any of which may be NULL.
    fn over_values(&self, name: &str, arguments: Vec<Operand>) -> Result<Expr> {
        let parts = arguments.into_iter().map(|a| self.settle(a));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let (name, run, ty): (_, RowFn, _) = match name {
            "hash" => ("hash", text::hash, COUNT),
            "num_nulls" => ("num_nulls", |r, o| o.int(count_nulls(r) as i128), LENGTH),
            _ => (
                "num_nonnulls",
                |r, o| o.int((r.arguments() - count_nulls(r)) as i128),
                LENGTH,
            ),
        };
        Ok(rows(name, OnNull::Called, run, parts, ty))
    }

    fn concat_with_separator(&self, arguments: Vec<Operand>) -> Result<Expr> {
        let parts = arguments.into_iter().map(|a| self.settle(a).map(output_text));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        Ok(rows("concat_ws", OnNull::Called, concat_ws, parts, TEXT))
    }
}

/// How many arguments are NULL.
fn count_nulls(row: &Row<'_>) -> usize {
    (0..row.arguments()).filter(|a| row.is_null(*a)).count()
}

/// A value as a result shows it: a boolean is one letter.
fn output_text(e: Expr) -> Expr {
    if !e.ty.is_condition() {
        return as_text(e);
    }
    if let Some(Value::Bool(b)) = constant_of(&e) {
        return text_constant(if *b { "t" } else { "f" });
    }
    if is_simple(&e) {
        let no = not(e.clone());
        return case(
            vec![(e, text_constant("t")), (no, text_constant("f"))],
            crate::build::null(TEXT),
        );
    }
    rows(
        "boolean output",
        OnNull::Null,
        |row, out| out.text(if row.bool(0) { "t" } else { "f" }),
        vec![e],
        TEXT,
    )
}

fn concat_ws(row: &Row<'_>, out: &mut Output) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let mut first = true;
    for argument in (1..row.arguments()).filter(|&a| !row.is_null(a)) {
        if !first {
            out.scratch.push_str(row.text(0));
        }
        first = false;
        crate::vector::check_length(out.scratch.len() + row.text(argument).len())?;
        out.scratch.push_str(row.text(argument));
    }
    out.scratch()
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::Zone;
    use frazil_types::value_ops::read;

    /// Values of a kind, odd ones among them, as constants.
    fn samples(kind: Kind) -> Vec<Expr> {
        let documents = [
            "null",
            "true",
            "-1.5e300",
            r#""a""#,
            "[]",
            r#"[1, [null, {"a": 2}], "a"]"#,
            "{}",
            r#"{"a": {"b": [1, 2]}, "": null, "0": [3]}"#,
        ];
        let (ty, texts): (LogicalType, &[&str]) = match kind {
            Kind::Json => (LogicalType::Json, &documents),
            Kind::Jsonb => (LogicalType::Jsonb, &documents),
            Kind::Integer => (
                LogicalType::Integer,
                &["0", "1", "-1", "2147483647", "-2147483648"],
            ),
            Kind::Text => (TEXT, &["", "a", "0", "-1", "é\u{10ffff}"]),
            Kind::Array => (
                LogicalType::TEXT_ARRAY,
                &["{}", "{a,b}", "{a,NULL}", "{0,-9}", "{{a},{b}}"],
            ),
            other => panic!("no samples of {other:?}"),
        };
        let constant = |text: &&str| Expr::constant(read(text, ty).unwrap(), ty);
        texts.iter().map(constant).collect()
    }

    #[test]
    fn functions_that_never_fail_give_something_for_whatever_arguments() {
        let overloads = tables().flat_map(|f| f.overloads.iter().map(|o| (f.name, o)));
        let total = overloads.filter(|(_, o)| matches!(o.run, Run::Total(..)));
        let mut calls = 0;
        for (name, overload) in total {
            let mut all: Vec<Vec<Expr>> = vec![Vec::new()];
            for kind in overload.parameters {
                let longer = |call: Vec<Expr>| {
                    let with = move |e: Expr| [call.as_slice(), &[e]].concat();
                    samples(*kind).into_iter().map(with).collect::<Vec<_>>()
                };
                all = all.into_iter().flat_map(longer).collect();
            }
            for call in all {
                let shown = format!("{name}{call:?}");
                let made = run(name, overload.run, Zone::UTC, call).unwrap();
                assert!(constant_of(&made).is_some(), "{shown}");
                calls += 1;
            }
        }
        assert!(calls > 100, "{calls}");
    }
}
