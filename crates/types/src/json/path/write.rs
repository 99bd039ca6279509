//! A path as PostgreSQL shows it.

use super::super::write_string;
use super::{Expression, Head, LAST_LEVEL, Path, Step};
use std::fmt;

/// Writes a path.
pub(super) fn path(path: &Path, f: &mut dyn fmt::Write) -> fmt::Result {
    if path.is_strict {
        f.write_str("strict ")?;
    }
    expression(&path.root, true, f)
}

/// How tightly a head binds in a text; the loosest is 0.
fn priority(head: &Head) -> u8 {
    use super::Arithmetic as A;
    match head {
        Head::Or(_) => 0,
        Head::And(_) => 1,
        Head::Compare(..) | Head::StartsWith(_) => 2,
        Head::Arithmetic(A::Add | A::Subtract, _) => 3,
        Head::Arithmetic(A::Multiply | A::Divide | A::Remainder, _) => 4,
        Head::Sign { .. } => 5,
        Head::Null
        | Head::Boolean(_)
        | Head::Number(_)
        | Head::String(_)
        | Head::Variable(_)
        | Head::Root
        | Head::Current
        | Head::Last
        | Head::Not(_)
        | Head::IsUnknown(_)
        | Head::LikeRegex(_)
        | Head::Exists(_) => 6,
    }
}

/// Writes an expression, in parentheses if `is_enclosed` and its head is an operator with operands on both sides or a sign.
fn expression(e: &Expression, is_enclosed: bool, f: &mut dyn fmt::Write) -> fmt::Result {
    let own = priority(&e.head);
    let inner =
        |inner: &Expression, f: &mut dyn fmt::Write| expression(inner, priority(&inner.head) <= own, f);
    let infix = |symbol: &str, [l, r]: &[Expression; 2], f: &mut dyn fmt::Write| {
        f.write_str(if is_enclosed { "(" } else { "" })?;
        inner(l, f)?;
        write!(f, " {symbol} ")?;
        inner(r, f)?;
        f.write_str(if is_enclosed { ")" } else { "" })
    };
    match &e.head {
        Head::Null => f.write_str("null")?,
        Head::Boolean(value) => write!(f, "{value}")?,
        Head::Number(digits) if e.steps.is_empty() => f.write_str(digits)?,
        Head::Number(digits) => write!(f, "({digits})")?,
        Head::String(text) => write_string(f, text)?,
        Head::Variable(name) => {
            f.write_str("$")?;
            write_string(f, name)?;
        }
        Head::Root => f.write_str("$")?,
        Head::Current => f.write_str("@")?,
        Head::Last => f.write_str("last")?,
        Head::Arithmetic(op, both) => infix(op.symbol(), both, f)?,
        Head::And(both) => infix("&&", both, f)?,
        Head::Or(both) => infix("||", both, f)?,
        Head::Compare(op, both) => infix(comparison(*op), both, f)?,
        Head::StartsWith(both) => infix("starts with", both, f)?,
        Head::Sign { is_minus, of } => {
            f.write_str(if is_enclosed { "(" } else { "" })?;
            f.write_str(if *is_minus { "-" } else { "+" })?;
            inner(of, f)?;
            f.write_str(if is_enclosed { ")" } else { "" })?;
        }
        Head::LikeRegex(like) => {
            f.write_str(if is_enclosed { "(" } else { "" })?;
            inner(&like.of, f)?;
            f.write_str(" like_regex ")?;
            write_string(f, &like.pattern)?;
            if !like.flags.is_empty() {
                write!(f, " flag \"{}\"", like.flags)?;
            }
            f.write_str(if is_enclosed { ")" } else { "" })?;
        }
        Head::Not(of) => enclosed("!(", of, ")", f)?,
        Head::IsUnknown(of) => enclosed("(", of, ") is unknown", f)?,
        Head::Exists(of) => enclosed("exists (", of, ")", f)?,
    }
    e.steps.iter().try_for_each(|s| step(s, f))
}

fn comparison(op: crate::CompareOp) -> &'static str {
    use crate::CompareOp as C;
    match op {
        C::Eq => "==",
        C::Ne => "!=",
        C::Lt => "<",
        C::Le => "<=",
        C::Gt => ">",
        C::Ge => ">=",
    }
}

fn enclosed(open: &str, of: &Expression, close: &str, f: &mut dyn fmt::Write) -> fmt::Result {
    f.write_str(open)?;
    expression(of, false, f)?;
    f.write_str(close)
}

fn step(step: &Step, f: &mut dyn fmt::Write) -> fmt::Result {
    match step {
        Step::Key(key) => {
            f.write_str(".")?;
            write_string(f, key)
        }
        Step::AnyKey => f.write_str(".*"),
        Step::AnyElement => f.write_str("[*]"),
        Step::Element(position) => write!(f, "[{position}]"),
        Step::Elements(list) => {
            f.write_str("[")?;
            for (at, (from, to)) in list.iter().enumerate() {
                f.write_str(if at == 0 { "" } else { "," })?;
                expression(from, false, f)?;
                if let Some(to) = to {
                    f.write_str(" to ")?;
                    expression(to, false, f)?;
                }
            }
            f.write_str("]")
        }
        Step::AnyBelow { first, last } => match (*first, *last) {
            (0, LAST_LEVEL) => f.write_str(".**"),
            (LAST_LEVEL, LAST_LEVEL) => f.write_str(".**{last}"),
            (first, last) if first == last => write!(f, ".**{{{first}}}"),
            (LAST_LEVEL, last) => write!(f, ".**{{last to {last}}}"),
            (first, LAST_LEVEL) => write!(f, ".**{{{first} to last}}"),
            (first, last) => write!(f, ".**{{{first} to {last}}}"),
        },
        Step::Filter(predicate) => enclosed("?(", predicate, ")", f),
        Step::Method(method) => write!(f, ".{}()", method.name()),
        Step::Datetime(template) => {
            f.write_str(".datetime(")?;
            if let Some(template) = template {
                write_string(f, template)?;
            }
            f.write_str(")")
        }
    }
}
