//! The text of expressions, as EXPLAIN prints them.
//!
//! A column is printed by its label, followed by `#id` where the label does not tell it from another
//! column of the plan.

use crate::{
    ArithmeticOp, ColumnId, Columns, DatePart, Expr, ExprKind, ScalarFunction, Subquery, SubqueryKind,
};
use frazil_types::sql_type::ConstantForm;
use frazil_types::{LogicalType, Value};
use std::collections::HashMap;
use std::fmt::{self, Write};

/// The names under which EXPLAIN prints the columns of a plan.
pub struct Names(Vec<String>);

impl Names {
    /// Names for all columns.
    pub fn of(columns: &Columns) -> Names {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for id in columns.ids() {
            *seen.entry(columns[id].label.as_str()).or_default() += 1;
        }
        let name = |id: ColumnId| {
            let label = columns[id].label.as_str();
            match seen[label] {
                1 if !label.is_empty() => label.to_string(),
                _ => format!("{label}#{}", id.0),
            }
        };
        Names(columns.ids().map(name).collect())
    }

    /// The name of a column.
    pub fn name(&self, id: ColumnId) -> &str {
        self.0.get(id.0 as usize).map_or("?", String::as_str)
    }

    /// Names of columns, separated by commas.
    pub fn list(&self, ids: impl IntoIterator<Item = ColumnId>) -> String {
        let names: Vec<&str> = ids.into_iter().map(|id| self.name(id)).collect();
        names.join(", ")
    }

    /// The text of an expression.
    pub fn expr<'a>(&'a self, expr: &'a Expr) -> ExprText<'a> {
        ExprText {
            names: self,
            expr,
            outer: 0,
        }
    }

    /// The texts of expressions, separated by commas.
    pub fn exprs<'a>(&self, list: impl IntoIterator<Item = &'a Expr>) -> String {
        let texts: Vec<String> = list.into_iter().map(|e| self.expr(e).to_string()).collect();
        texts.join(", ")
    }
}

/// Formats an expression.
pub struct ExprText<'a> {
    names: &'a Names,
    expr: &'a Expr,
    /// How strongly what stands around it binds: parentheses where it binds no weaker.
    outer: u8,
}

/// How strongly the outermost operator of an expression binds.
fn strength(e: &Expr) -> u8 {
    match &e.kind {
        ExprKind::Let { .. } => 0,
        ExprKind::Or(_) => 1,
        ExprKind::And(_) => 2,
        ExprKind::Not(_) => 3,
        ExprKind::Compare(..)
        | ExprKind::Distinct { .. }
        | ExprKind::IsNull(_)
        | ExprKind::Like { .. }
        | ExprKind::InList { .. }
        | ExprKind::Function(ScalarFunction::Compare(_), _) => 4,
        ExprKind::Arithmetic(ArithmeticOp::Add | ArithmeticOp::Sub, ..) | ExprKind::AddInterval(..) => 5,
        ExprKind::Arithmetic(..) => 6,
        ExprKind::Negate(_) => 7,
        ExprKind::Column(_)
        | ExprKind::Constant(_)
        | ExprKind::Parameter(_)
        | ExprKind::ScalarSubquery(_)
        | ExprKind::Subquery(_)
        | ExprKind::Cast(_)
        | ExprKind::Case { .. }
        | ExprKind::Extract(..)
        | ExprKind::Function(..)
        | ExprKind::VectorFunction(..) => 9,
    }
}

impl ExprText<'_> {
    fn part<'b>(&'b self, expr: &'b Expr, outer: u8) -> ExprText<'b> {
        ExprText {
            names: self.names,
            expr,
            outer,
        }
    }

    fn joined(&self, f: &mut fmt::Formatter<'_>, list: &[Expr], separator: &str, outer: u8) -> fmt::Result {
        for (i, e) in list.iter().enumerate() {
            if i > 0 {
                f.write_str(separator)?;
            }
            write!(f, "{}", self.part(e, outer))?;
        }
        Ok(())
    }

    fn binary(&self, f: &mut fmt::Formatter<'_>, l: &Expr, symbol: &str, r: &Expr) -> fmt::Result {
        let own = strength(self.expr);
        let left = if own == 4 { own } else { own - 1 };
        write!(f, "{} {symbol} {}", self.part(l, left), self.part(r, own))
    }

    fn case(
        &self,
        f: &mut fmt::Formatter<'_>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
    ) -> fmt::Result {
        f.write_str("case")?;
        for (condition, result) in branches {
            write!(
                f,
                " when {} then {}",
                self.part(condition, 0),
                self.part(result, 0)
            )?;
        }
        if let Some(e) = otherwise {
            write!(f, " else {}", self.part(e, 0))?;
        }
        f.write_str(" end")
    }

    fn subquery(&self, f: &mut fmt::Formatter<'_>, subquery: &Subquery) -> fmt::Result {
        match &subquery.kind {
            SubqueryKind::Scalar => write!(f, "(subquery {})", self.names.list(subquery.columns.clone())),
            SubqueryKind::Exists => f.write_str("exists (subquery)"),
            SubqueryKind::Any(condition) => write!(f, "any ({} in subquery)", self.part(condition, 0)),
        }
    }

    fn not(&self, f: &mut fmt::Formatter<'_>, e: &Expr) -> fmt::Result {
        if let ExprKind::IsNull(v) = &e.kind {
            write!(f, "{} is not null", self.part(v, 4))
        } else {
            write!(f, "not {}", self.part(e, strength(self.expr)))
        }
    }

    fn like(
        &self,
        f: &mut fmt::Formatter<'_>,
        value: &Expr,
        (pattern, escape): (&str, Option<char>),
        negated: bool,
    ) -> fmt::Result {
        let not = if negated { "not " } else { "" };
        let value = self.part(value, strength(self.expr));
        write!(f, "{value} {not}like {}", quoted(pattern))?;
        match escape {
            Some('\\') => Ok(()),
            Some(c) => write!(f, " escape {}", quoted(&c.to_string())),
            None => f.write_str(" escape ''"),
        }
    }

    fn kind(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = strength(self.expr);
        match &self.expr.kind {
            ExprKind::Column(id) => f.write_str(self.names.name(*id)),
            ExprKind::Constant(value) => write_constant(f, value, self.expr.ty),
            ExprKind::Parameter(n) => write!(f, "${}", n + 1),
            ExprKind::ScalarSubquery(id) => write!(f, "subquery {}", id.0),
            ExprKind::Subquery(subquery) => self.subquery(f, subquery),
            ExprKind::Let { column, value, body } => {
                let (value, body) = (self.part(value, 0), self.part(body, 0));
                write!(f, "let {} = {value} in {body}", self.names.name(*column))
            }
            ExprKind::Compare(op, l, r) => self.binary(f, l, op.symbol(), r),
            ExprKind::Distinct {
                left,
                right,
                negated: true,
            } => self.binary(f, left, "is not distinct from", right),
            ExprKind::Distinct { left, right, .. } => self.binary(f, left, "is distinct from", right),
            ExprKind::And(list) => self.joined(f, list, " and ", own),
            ExprKind::Or(list) => self.joined(f, list, " or ", own),
            ExprKind::Not(e) => self.not(f, e),
            ExprKind::IsNull(e) => write!(f, "{} is null", self.part(e, own)),
            ExprKind::Arithmetic(op, l, r) => self.binary(f, l, op.symbol(), r),
            ExprKind::Negate(e) => write!(f, "-{}", self.part(e, own)),
            ExprKind::Cast(e) => write!(f, "cast({} as {})", self.part(e, 0), self.expr.ty),
            ExprKind::Case { branches, otherwise } => self.case(f, branches, otherwise.as_deref()),
            ExprKind::Like {
                value,
                pattern,
                escape,
                negated,
            } => self.like(f, value, (pattern, *escape), *negated),
            ExprKind::InList { value, list, negated } => {
                let not = if *negated { "not " } else { "" };
                write!(f, "{} {not}in ", self.part(value, own))?;
                write_list(f, list, value.ty)
            }
            ExprKind::Extract(part, e) => {
                write!(f, "extract({} from {})", part_name(*part), self.part(e, 0))
            }
            ExprKind::AddInterval(e, interval) => {
                write!(f, "{} + ", self.part(e, own - 1))?;
                let interval = Value::Interval(*interval);
                write_constant(f, &interval, LogicalType::of_value(&interval))
            }
            ExprKind::Function(ScalarFunction::Compare(op), list) => {
                self.joined(f, list, &format!(" {} ", op.symbol()), own)
            }
            ExprKind::Function(function, list) => {
                write!(f, "{}(", function_name(*function))?;
                self.joined(f, list, ", ", 0)?;
                f.write_char(')')
            }
            ExprKind::VectorFunction(function, list) => {
                write!(f, "{}(", function.0.name())?;
                self.joined(f, list, ", ", 0)?;
                f.write_char(')')
            }
        }
    }
}

impl fmt::Display for ExprText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_not_null =
            matches!(&self.expr.kind, ExprKind::Not(e) if matches!(e.kind, ExprKind::IsNull(_)));
        let own = if is_not_null { 4 } else { strength(self.expr) };
        if own <= self.outer {
            f.write_char('(')?;
            self.kind(f)?;
            f.write_char(')')
        } else {
            self.kind(f)
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Writes a constant as SQL would.
pub(crate) fn write_constant(f: &mut dyn fmt::Write, value: &Value, ty: LogicalType) -> fmt::Result {
    match value {
        Value::Null => f.write_str("null"),
        Value::Bool(b) => f.write_str(if *b { "true" } else { "false" }),
        Value::Text(t) => f.write_str(&quoted(t)),
        value => {
            let mut text = String::new();
            // Empty bytes stand for NULL in a key: no numeric, array or document is held so.
            if write!(text, "{}", value.display(ty)).is_err() {
                return f.write_str("''");
            }
            match ty.info().constant {
                ConstantForm::Bare => f.write_str(&text),
                ConstantForm::Quoted => f.write_str(&quoted(&text)),
                ConstantForm::Named => write!(f, "{ty} {}", quoted(&text)),
            }
        }
    }
}

/// Writes constants in parentheses; of a long list the first eight and the number of all.
pub(crate) fn write_list(f: &mut dyn fmt::Write, list: &[Value], ty: LogicalType) -> fmt::Result {
    const SHOWN: usize = 8;
    f.write_char('(')?;
    for (i, value) in list.iter().take(SHOWN).enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write_constant(f, value, ty)?;
    }
    if list.len() > SHOWN {
        write!(f, ", … {} in all", list.len())?;
    }
    f.write_char(')')
}

fn part_name(part: DatePart) -> &'static str {
    match part {
        DatePart::Year => "year",
        DatePart::Quarter => "quarter",
        DatePart::Month => "month",
        DatePart::Week => "week",
        DatePart::Day => "day",
        DatePart::DayOfWeek => "dow",
        DatePart::DayOfYear => "doy",
        DatePart::Hour => "hour",
        DatePart::Minute => "minute",
        DatePart::Second => "second",
        DatePart::Epoch => "epoch",
    }
}

fn function_name(function: ScalarFunction) -> &'static str {
    match function {
        ScalarFunction::Substring => "substring",
        ScalarFunction::Length => "length",
        ScalarFunction::Lower => "lower",
        ScalarFunction::Upper => "upper",
        ScalarFunction::Concat => "concat",
        ScalarFunction::Trim => "btrim",
        ScalarFunction::TrimStart => "ltrim",
        ScalarFunction::TrimEnd => "rtrim",
        ScalarFunction::Replace => "replace",
        ScalarFunction::Position => "strpos",
        ScalarFunction::Abs => "abs",
        ScalarFunction::Round => "round",
        ScalarFunction::Ceil | ScalarFunction::CeilToScale => "ceil",
        ScalarFunction::Compare(op) => op.symbol(),
        ScalarFunction::Floor | ScalarFunction::FloorToScale => "floor",
        ScalarFunction::Sqrt => "sqrt",
        ScalarFunction::Power => "power",
        ScalarFunction::Ln => "ln",
        ScalarFunction::Exp => "exp",
        ScalarFunction::NumericKey => "key",
        ScalarFunction::WithScale => "with_scale",
        ScalarFunction::Single => "single",
    }
}
