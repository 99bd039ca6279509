//! Every operator, function and cast on edge values of every type, compared with PostgreSQL's recorded answers.
//!
//! `answers.tsv` holds one call a line. Arguments are constants, so that calls fold; what does not is computed here
//! by the same rules. Functions that generated code computes are compared by type alone. Each tolerated difference
//! is a rule of [`tolerated`] with its reason. Calls with numbers are made twice: of decimals, and of numerics without
//! precision, whose results have PostgreSQL's digits after the point to the last zero.

use frazil_functions::{CastContext, Operand, Typing};
use frazil_plan::vector_function::CallContext;
use frazil_plan::{Columns, Expr, ExprKind};
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{Cancel, ColumnVector, Error, LogicalType, MemoryBudget, Result, Span, Value};

const NUMERIC: LogicalType = LogicalType::Decimal {
    precision: 38,
    scale: 10,
};

fn type_of(name: &str) -> Option<LogicalType> {
    Some(match name {
        "boolean" => LogicalType::Boolean,
        "smallint" => LogicalType::SmallInt,
        "integer" => LogicalType::Integer,
        "bigint" => LogicalType::BigInt,
        "numeric(38,10)" => NUMERIC,
        "double precision" => LogicalType::Double,
        "date" => LogicalType::Date,
        "timestamp without time zone" => LogicalType::TIMESTAMP,
        "interval" => LogicalType::Interval,
        "text" => LogicalType::Text,
        "varchar(10)" => LogicalType::Varchar(10),
        "character(4)" => LogicalType::Char(4),
        _ => return None,
    })
}

/// PostgreSQL's name of a type.
fn name_of(ty: LogicalType) -> &'static str {
    ty.name()
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('t') => out.push('\t'),
                Some('n') => out.push('\n'),
                Some(c) => out.push(c),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}

/// The type of arguments that are `numeric` in PostgreSQL.
#[derive(Clone, Copy, PartialEq)]
enum Numbers {
    /// Decimals, as literals are.
    Decimals,
    /// Numerics without precision.
    Unscaled,
}

/// An argument; `None` for a number that a numeric does not hold.
fn argument(text: &str, numbers: Numbers) -> Option<Operand> {
    let (ty, value) = text.split_once('=').unwrap();
    if (ty, numbers) == ("numeric", Numbers::Unscaled) {
        let open = match value {
            "\\N" => Operand::null(Span::NONE),
            text => Operand::literal(unescaped(text), Span::NONE),
        };
        let cast = Typing::new(&[]).cast(open, LogicalType::Numeric, CastContext::Explicit, Span::NONE);
        return cast.ok().map(Operand::from);
    }
    Some(decimal_argument(ty, value))
}

fn decimal_argument(ty: &str, value: &str) -> Operand {
    let open = match value {
        "\\N" => Operand::null(Span::NONE),
        text => Operand::literal(unescaped(text), Span::NONE),
    };
    match (ty, value) {
        ("unknown", _) => open,
        // The narrowest decimal that holds the value, as a literal has.
        ("numeric", "\\N") => typed(open, NUMERIC),
        ("numeric", text) => match text.strip_prefix('-') {
            Some(text) => {
                let positive = Typing::number_literal(text, Span::NONE).unwrap();
                let negative = Typing::new(&[]).prefix("-", positive, Span::NONE, &mut Columns::default());
                decimal(negative.unwrap())
            }
            None => decimal(Typing::number_literal(text, Span::NONE).unwrap()),
        },
        _ => typed(open, type_of(ty).unwrap()),
    }
}

fn decimal(x: Operand) -> Operand {
    match x.ty() {
        Some(LogicalType::Decimal { .. }) => x,
        _ => typed(
            x,
            LogicalType::Decimal {
                precision: 20,
                scale: 0,
            },
        ),
    }
}

fn typed(x: Operand, ty: LogicalType) -> Operand {
    let cast = Typing::new(&[]).cast(x, ty, CastContext::Explicit, Span::NONE);
    cast.unwrap().into()
}

fn bound(kind: &str, name: &str, mut arguments: Vec<Operand>) -> Result<Expr> {
    let (typing, at) = (Typing::new(&[]), Span::NONE);
    let columns = &mut Columns::default();
    let x = match kind {
        "call" => typing.call(name, arguments, at, columns)?,
        "coalesce" => typing.coalesce(arguments, at, columns)?,
        "greatest" => typing.greatest(arguments, at, columns)?,
        "least" => typing.least(arguments, at, columns)?,
        "nullif" => {
            let second = arguments.pop().unwrap();
            typing.nullif(arguments.pop().unwrap(), second, at, columns)?
        }
        "prefix" => typing.prefix(name, arguments.pop().unwrap(), at, columns)?,
        "infix" => {
            let second = arguments.pop().unwrap();
            typing.infix(name, arguments.pop().unwrap(), second, at, columns)?
        }
        "cast" => {
            let ty = type_of(name).unwrap();
            typing
                .cast(arguments.pop().unwrap(), ty, CastContext::Explicit, at)?
                .into()
        }
        other => panic!("{other}"),
    };
    typing.settle(x)
}

/// The value of an expression of constants; `None` for what only generated code computes.
fn computed(e: &Expr) -> Result<Option<Value>> {
    let mut parts = Vec::new();
    for child in e.children() {
        match computed(child)? {
            Some(value) => parts.push(value),
            None => return Ok(None),
        }
    }
    let operand = |i: usize| (&parts[i], e.children()[i].ty);
    Ok(Some(match &e.kind {
        ExprKind::Constant(value) => value.clone(),
        ExprKind::Cast(inner) => value_ops::cast(&parts[0], inner.ty, e.ty, CastLength::Refuse)?,
        ExprKind::Negate(_) => value_ops::negate(&parts[0], e.ty)?,
        ExprKind::Arithmetic(op, ..) => value_ops::arithmetic(*op, operand(0), operand(1), e.ty)?,
        ExprKind::VectorFunction(f, arguments) => {
            let vectors: Vec<ColumnVector> = arguments
                .iter()
                .zip(&parts)
                .map(|(a, v)| ColumnVector::from_values(a.ty, std::slice::from_ref(v)))
                .collect();
            f.0.evaluate(
                &vectors,
                1,
                e.ty,
                &CallContext::new(&Cancel::new(), &MemoryBudget::unlimited()),
            )?
            .value(0)
        }
        _ => return Ok(None),
    }))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// Whether two texts are one answer: numbers by value, to the sixteenth digit; timestamps that are dates.
fn same(ours: &str, theirs: &str) -> bool {
    if ours == theirs {
        return true;
    }
    match (number(ours), number(theirs)) {
        (Some(a), Some(b)) => {
            a == b || (a - b).abs() <= a.abs().max(b.abs()) * 1e-14 || a.is_nan() && b.is_nan()
        }
        _ => theirs.strip_suffix(" 00:00:00") == Some(ours),
    }
}

struct Line<'a> {
    kind: &'a str,
    name: &'a str,
    ty: &'a str,
    answer: String,
    arguments: Vec<&'a str>,
}

/// Why an answer may differ.
fn tolerated(line: &Line<'_>, ours: &Result<(LogicalType, Option<Value>)>) -> Option<&'static str> {
    let name = line.name;
    let state = ours.as_ref().err().map(|e| e.state().0);
    let takes = |ty: &str| line.arguments.iter().any(|a| a.starts_with(ty));
    match name {
        "extract" if line.answer.ends_with("Infinity") => Some("decimals have no infinity"),
        "sqrt" | "ln" | "exp" | "power" | "pow" | "log" | "log10" | "^" | "|/" if takes("numeric") => {
            Some("computed as doubles")
        }
        "round" | "ceil" | "ceiling" | "floor" if !takes("numeric") && !takes("double") => {
            Some("integers stay integers")
        }
        _ if state == Some("22003") && line.ty == "numeric" => Some("at most 38 digits"),
        _ if state == Some("0A000")
            && line
                .arguments
                .iter()
                .any(|a| a.contains("NaN") || a.contains("Infinity")) =>
        {
            Some("decimals have no NaN and no infinity")
        }
        "/" if line.ty == "numeric" => Some("a quotient has a fixed number of digits"),
        "initcap" => Some("the judge's locale knows no ß"),
        "to_timestamp" => Some("timestamps have no zone and no infinity"),
        "-" if line.answer.starts_with("22") || line.ty == "jsonb" => {
            Some("there is no jsonb to subtract a key from")
        }
        _ if takes("character(4)") && (name.starts_with("concat") || name == "~*") => {
            Some("char(n) is not padded")
        }
        _ => None,
    }
}

#[test]
fn answers_are_postgresqls() {
    let mut wrong = Vec::new();
    let (mut right, mut by_type, mut differing) = (0, 0, 0);
    for text in include_str!("answers.tsv")
        .lines()
        .filter(|l| !l.starts_with('#'))
    {
        let fields: Vec<&str> = text.split('\t').collect();
        let line = Line {
            kind: fields[0],
            name: fields[1],
            ty: fields[2],
            answer: fields[3].to_string(),
            arguments: fields[4..].to_vec(),
        };
        for numbers in [Numbers::Decimals, Numbers::Unscaled] {
            let has_numbers = line.arguments.iter().any(|a| a.starts_with("numeric="));
            let arguments = line.arguments.iter().map(|a| argument(a, numbers));
            let arguments: Option<Vec<Operand>> = arguments.collect();
            let Some(arguments) = arguments.filter(|_| has_numbers || numbers == Numbers::Decimals) else {
                continue;
            };
            let ours = bound(line.kind, line.name, arguments).and_then(|e| Ok((e.ty, computed(&e)?)));
            let reason = tolerated(&line, &ours).filter(|reason| {
                numbers == Numbers::Decimals || *reason != "a quotient has a fixed number of digits"
            });
            match judge(&line, &ours) {
                Judgement::Right => right += 1,
                Judgement::ByType => by_type += 1,
                Judgement::Wrong(_) if reason.is_some() => differing += 1,
                Judgement::Wrong(ours) => wrong.push(format!("{text}\n    ours: {ours}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong, {right} right, {by_type} by type, {differing} tolerated:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

enum Judgement {
    Right,
    ByType,
    Wrong(String),
}

fn judge(line: &Line<'_>, ours: &Result<(LogicalType, Option<Value>), Error>) -> Judgement {
    let (ty, value) = match ours {
        Err(e) if line.ty == "error" && e.state().0 == line.answer => return Judgement::Right,
        Err(e) => return Judgement::Wrong(format!("{} {e}", e.state())),
        Ok((ty, None)) if name_of(*ty) == line.ty || line.ty == "error" => return Judgement::ByType,
        Ok((ty, None)) => return Judgement::Wrong(format!("{ty}, not computed")),
        Ok((ty, Some(value))) => (*ty, value),
    };
    let shown = match value {
        Value::Null => "\\N".to_string(),
        Value::Bool(b) => b.to_string(),
        value => value.display(ty).to_string(),
    };
    let theirs = if line.answer == "\\N" {
        line.answer.clone()
    } else {
        unescaped(&line.answer)
    };
    // A varchar or char of unlimited length is a text here.
    let same_type = name_of(ty) == line.ty
        || ty.is_string() && line.ty == "text"
        || ty == LogicalType::Text && line.ty.starts_with("character")
        || ty == LogicalType::Text && line.ty == "unknown";
    // Beyond 38 digits a numeric is rounded.
    let is_exact = ty.is_unscaled() && theirs.bytes().filter(u8::is_ascii_digit).count() <= 38;
    if same_type && (shown == theirs || !is_exact && same(&shown, &theirs)) {
        return Judgement::Right;
    }
    Judgement::Wrong(format!("{ty} {shown}"))
}
