//! Typed scalar expressions. Types are final: `frontend` makes every conversion an explicit cast, so
//! both sides of a comparison and all branches of a CASE have one type (decimals: one scale).

use crate::column::CONDITION;
use crate::subquery::Subquery;
use crate::vector_function::VectorFunctionRef;
use crate::{ColumnId, SubqueryId, work};
use frazil_types::value_ops::{ArithmeticOp, DatePart};
use frazil_types::{CompareOp, Interval, LogicalType, Span, Value};
use std::collections::HashSet;

/// An expression with its type. Two expressions are equal that compute the same, wherever they were written.
#[derive(Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Its type.
    pub ty: LogicalType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Where it stands in the statement's text. Errors point there.
    pub span: Span,
}

impl Clone for Expr {
    fn clone(&self) -> Expr {
        work::visit(1);
        Expr {
            kind: self.kind.clone(),
            ..*self
        }
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        work::visit(1);
        self.ty == other.ty && self.nullable == other.nullable && self.kind == other.kind
    }
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A column.
    Column(ColumnId),
    /// A constant of the expression's type.
    Constant(Value),
    /// A parameter, counted from 0: `$1` is 0. Hidden parameters (the transaction's time) follow the
    /// statement's own.
    Parameter(usize),
    /// The value of an uncorrelated scalar subquery, known before the pipeline opens. NULL if it has no row.
    ScalarSubquery(SubqueryId),
    /// A subquery as it was bound, perhaps correlated. The optimizer's unnesting turns each into a join or a
    /// [`ExprKind::ScalarSubquery`]: none is left in an optimized plan.
    Subquery(Box<Subquery>),
    /// `body`, in which `column` stands for the value of `value`: what is used several times is computed once.
    /// The column is read nowhere else.
    Let {
        /// The column made.
        column: ColumnId,
        /// Its value.
        value: Box<Expr>,
        /// What is computed with it. Its type is the expression's.
        body: Box<Expr>,
    },
    /// A comparison; both sides have one type (strings: any string types but char(1)).
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// IS [NOT] DISTINCT FROM: a comparison for which NULL equals NULL. `negated`: IS NOT DISTINCT FROM.
    Distinct {
        /// Left side.
        left: Box<Expr>,
        /// Right side.
        right: Box<Expr>,
        /// IS NOT DISTINCT FROM, i.e. null-safe equality.
        negated: bool,
    },
    /// Conjunction in Kleene logic; at least two.
    And(Vec<Expr>),
    /// Disjunction in Kleene logic; at least two.
    Or(Vec<Expr>),
    /// Negation.
    Not(Box<Expr>),
    /// IS NULL.
    IsNull(Box<Expr>),
    /// Arithmetic. Integers and doubles: both sides and the result have one type. Decimals: Add, Sub and
    /// Rem have one scale on both sides and in the result; Mul's scale is the sum of its sides'. Numerics: both sides
    /// are exact numbers of any type; so are those of Div of decimals. Checked: 22003, 22012.
    Arithmetic(ArithmeticOp, Box<Expr>, Box<Expr>),
    /// Unary minus, checked.
    Negate(Box<Expr>),
    /// Conversion to the expression's type, checked (22003, 22P02, 22008).
    Cast(Box<Expr>),
    /// CASE WHEN … THEN … ELSE … END; branches are evaluated only when reached.
    Case {
        /// Conditions with their results.
        branches: Vec<(Expr, Expr)>,
        /// Result where no condition is true; NULL if absent.
        otherwise: Option<Box<Expr>>,
    },
    /// LIKE with a constant pattern.
    Like {
        /// The text.
        value: Box<Expr>,
        /// The pattern.
        pattern: String,
        /// The escape character; backslash unless the statement says otherwise.
        escape: Option<char>,
        /// NOT LIKE.
        negated: bool,
    },
    /// IN a list of constants of the value's type, none of them NULL.
    InList {
        /// The value.
        value: Box<Expr>,
        /// The list.
        list: Vec<Value>,
        /// NOT IN.
        negated: bool,
    },
    /// EXTRACT / date_part of a date or timestamp: a decimal in 64 bits, at the scale of `value_ops::extract`.
    Extract(DatePart, Box<Expr>),
    /// Date or timestamp plus a constant interval; of the value's type, or timestamp where the interval
    /// has a time of day.
    AddInterval(Box<Expr>, Interval),
    /// A function that generated code knows.
    Function(ScalarFunction, Vec<Expr>),
    /// A function that runs as a vector kernel across a stage boundary.
    VectorFunction(VectorFunctionRef, Vec<Expr>),
}

/// What an expression names beside its direct parts ([`Expr::own`]). A walk that renames or collects columns asks this.
#[derive(Clone, Copy, Debug)]
pub enum Own<'e> {
    /// Nothing.
    Nothing,
    /// The column that it is.
    Reads(ColumnId),
    /// A column that it makes for itself.
    Makes(ColumnId),
    /// A subquery, whose condition is a direct part.
    Asks(&'e Subquery),
}

/// As [`Own`], to be changed.
#[derive(Debug)]
pub enum OwnMut<'e> {
    /// Nothing.
    Nothing,
    /// The column that it is.
    Reads(&'e mut ColumnId),
    /// A column that it makes for itself.
    Makes(&'e mut ColumnId),
    /// A subquery, whose condition is a direct part.
    Asks(&'e mut Subquery),
}

/// Functions that generated code, or the runtime on its behalf, computes row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarFunction {
    /// substring(text, start [, length]): characters, from 1.
    Substring,
    /// Characters of a text: integer.
    Length,
    /// Lower case.
    Lower,
    /// Upper case.
    Upper,
    /// Concatenation; NULL if any argument is.
    Concat,
    /// Trim blanks (or the second argument's characters) at both ends.
    Trim,
    /// At the start.
    TrimStart,
    /// At the end.
    TrimEnd,
    /// replace(text, from, to).
    Replace,
    /// position of a substring from 1, 0 if absent: integer.
    Position,
    /// Absolute value, checked.
    Abs,
    /// round(decimal or double [, constant digits]).
    Round,
    /// Next whole number up.
    Ceil,
    /// Next whole number down.
    Floor,
    /// Compares two exact numbers of different scales, each as it is: for types of which no decimal has the digits of both.
    Compare(CompareOp),
    /// The greatest number of the result's scale, which is not above the argument's, up to an exact number; of a
    /// numeric of more than 38 digits at that scale, a number beyond all decimals of the scale.
    FloorToScale,
    /// The least number of the result's scale, which is not above the argument's, from an exact number on; of a numeric
    /// as with [`ScalarFunction::FloorToScale`].
    CeilToScale,
    /// The bytes by which numerics are ordered and equal: bytea.
    NumericKey,
    /// An exact number as a numeric with as many digits after the point as the second argument says, rounded half away
    /// from zero.
    WithScale,
    /// Square root of a double.
    Sqrt,
    /// power(double, double).
    Power,
    /// Natural logarithm.
    Ln,
    /// e^x.
    Exp,
    /// The value of a scalar subquery: the first argument, or error 21000 where the second, the number of its rows, is
    /// more than one.
    Single,
}

impl ScalarFunction {
    /// The type that it gives, where that does not depend on its arguments.
    pub fn result(self) -> Option<LogicalType> {
        match self {
            ScalarFunction::Substring
            | ScalarFunction::Lower
            | ScalarFunction::Upper
            | ScalarFunction::Concat
            | ScalarFunction::Trim
            | ScalarFunction::TrimStart
            | ScalarFunction::TrimEnd
            | ScalarFunction::Replace => Some(LogicalType::Text),
            ScalarFunction::Length | ScalarFunction::Position => Some(LogicalType::Integer),
            ScalarFunction::Sqrt | ScalarFunction::Power | ScalarFunction::Ln | ScalarFunction::Exp => {
                Some(LogicalType::Double)
            }
            ScalarFunction::Compare(_) => Some(CONDITION),
            ScalarFunction::NumericKey => Some(LogicalType::Bytea),
            ScalarFunction::WithScale => Some(LogicalType::Numeric),
            ScalarFunction::Abs
            | ScalarFunction::Round
            | ScalarFunction::Ceil
            | ScalarFunction::Floor
            | ScalarFunction::FloorToScale
            | ScalarFunction::CeilToScale
            | ScalarFunction::Single => None,
        }
    }

    /// Whether it can raise an error, whatever its arguments.
    pub fn can_fail(self) -> bool {
        !matches!(
            self,
            ScalarFunction::Length
                | ScalarFunction::Lower
                | ScalarFunction::Upper
                | ScalarFunction::Trim
                | ScalarFunction::TrimStart
                | ScalarFunction::TrimEnd
                | ScalarFunction::Position
                | ScalarFunction::Compare(_)
                | ScalarFunction::FloorToScale
                | ScalarFunction::CeilToScale
                | ScalarFunction::NumericKey
                | ScalarFunction::WithScale
        )
    }
}

/// Columns in order of first use, each once. Few are looked up in the list, many in a set.
#[derive(Default)]
struct OnceEach {
    ids: Vec<ColumnId>,
    known: HashSet<ColumnId>,
}

impl OnceEach {
    /// Up to so many columns are searched one by one.
    const FEW: usize = 16;

    fn add(&mut self, id: ColumnId) {
        let new = if self.ids.len() < Self::FEW {
            !self.ids.contains(&id)
        } else {
            if self.known.is_empty() {
                self.known.extend(&self.ids);
            }
            self.known.insert(id)
        };
        if new {
            self.ids.push(id);
        }
    }
}

impl Expr {
    /// An expression that stands nowhere in the text.
    pub fn new(kind: ExprKind, ty: LogicalType, nullable: bool) -> Expr {
        Expr {
            kind,
            ty,
            nullable,
            span: Span::NONE,
        }
    }

    /// The same expression, written at `span`.
    pub fn at(self, span: Span) -> Expr {
        Expr { span, ..self }
    }

    /// A column as an expression.
    pub fn column(id: ColumnId, columns: &crate::Columns) -> Expr {
        Expr::new(ExprKind::Column(id), columns[id].ty, columns[id].nullable)
    }

    /// A constant.
    pub fn constant(value: Value, ty: LogicalType) -> Expr {
        let nullable = value.is_null();
        Expr::new(ExprKind::Constant(value), ty, nullable)
    }

    /// A constant of the type that its value has by itself.
    pub fn literal(value: Value) -> Expr {
        let ty = LogicalType::of_value(&value);
        Expr::constant(value, ty)
    }

    /// A condition that always holds, or never.
    pub fn truth(holds: bool) -> Expr {
        Expr::boolean(ExprKind::Constant(Value::Bool(holds)), false)
    }

    /// A condition of which nobody knows whether it holds: NULL.
    pub fn unknown() -> Expr {
        Expr::boolean(ExprKind::Constant(Value::Null), true)
    }

    /// A boolean expression.
    pub fn boolean(kind: ExprKind, nullable: bool) -> Expr {
        Expr::new(kind, CONDITION, nullable)
    }

    /// Conjunction of any number of predicates; `None` for none.
    pub fn conjunction(mut predicates: Vec<Expr>) -> Option<Expr> {
        match predicates.len() {
            0 => None,
            1 => predicates.pop(),
            _ => {
                let nullable = predicates.iter().any(|p| p.nullable);
                Some(Expr::boolean(ExprKind::And(predicates), nullable))
            }
        }
    }

    /// The conjuncts of a predicate, nested conjunctions flattened.
    pub fn into_conjuncts(self) -> Vec<Expr> {
        fn gather(e: Expr, into: &mut Vec<Expr>) {
            if let ExprKind::And(parts) = e.kind {
                parts.into_iter().for_each(|part| gather(part, into));
            } else {
                into.push(e);
            }
        }
        let mut conjuncts = Vec::new();
        gather(self, &mut conjuncts);
        conjuncts
    }

    /// The column that it is.
    pub fn as_column(&self) -> Option<ColumnId> {
        if let ExprKind::Column(id) = self.kind {
            Some(id)
        } else {
            None
        }
    }

    /// The constant that it is.
    pub fn as_constant(&self) -> Option<&Value> {
        if let ExprKind::Constant(value) = &self.kind {
            Some(value)
        } else {
            None
        }
    }

    /// The label of a column that is made of it: that of the column that it is, or `otherwise`.
    pub fn label(&self, columns: &crate::Columns, otherwise: &str) -> String {
        let column = self.as_column();
        column.map_or_else(|| otherwise.to_string(), |id| columns[id].label.clone())
    }

    /// What it names beside its direct parts.
    pub fn own(&self) -> Own<'_> {
        match &self.kind {
            ExprKind::Column(id) => Own::Reads(*id),
            ExprKind::Let { column, .. } => Own::Makes(*column),
            ExprKind::Subquery(subquery) => Own::Asks(subquery),
            ExprKind::Constant(_)
            | ExprKind::Parameter(_)
            | ExprKind::ScalarSubquery(_)
            | ExprKind::Compare(..)
            | ExprKind::Distinct { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Not(_)
            | ExprKind::IsNull(_)
            | ExprKind::Arithmetic(..)
            | ExprKind::Negate(_)
            | ExprKind::Cast(_)
            | ExprKind::Case { .. }
            | ExprKind::Like { .. }
            | ExprKind::InList { .. }
            | ExprKind::Extract(..)
            | ExprKind::AddInterval(..)
            | ExprKind::Function(..)
            | ExprKind::VectorFunction(..) => Own::Nothing,
        }
    }

    /// The same, to be changed.
    pub fn own_mut(&mut self) -> OwnMut<'_> {
        match &mut self.kind {
            ExprKind::Column(id) => OwnMut::Reads(id),
            ExprKind::Let { column, .. } => OwnMut::Makes(column),
            ExprKind::Subquery(subquery) => OwnMut::Asks(subquery),
            ExprKind::Constant(_)
            | ExprKind::Parameter(_)
            | ExprKind::ScalarSubquery(_)
            | ExprKind::Compare(..)
            | ExprKind::Distinct { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Not(_)
            | ExprKind::IsNull(_)
            | ExprKind::Arithmetic(..)
            | ExprKind::Negate(_)
            | ExprKind::Cast(_)
            | ExprKind::Case { .. }
            | ExprKind::Like { .. }
            | ExprKind::InList { .. }
            | ExprKind::Extract(..)
            | ExprKind::AddInterval(..)
            | ExprKind::Function(..)
            | ExprKind::VectorFunction(..) => OwnMut::Nothing,
        }
    }

    /// Its direct parts.
    pub fn children(&self) -> Vec<&Expr> {
        use ExprKind::*;
        let children: Vec<&Expr> = match &self.kind {
            Column(_) | Constant(_) | Parameter(_) | ScalarSubquery(_) => vec![],
            Compare(_, l, r)
            | Arithmetic(_, l, r)
            | Distinct {
                left: l, right: r, ..
            } => vec![l, r],
            And(list) | Or(list) | Function(_, list) | VectorFunction(_, list) => list.iter().collect(),
            Not(e) | IsNull(e) | Negate(e) | Cast(e) | Extract(_, e) | AddInterval(e, _) => vec![e],
            Like { value, .. } | InList { value, .. } => vec![value],
            Let { value, body, .. } => vec![value, body],
            Subquery(subquery) => subquery.condition().into_iter().collect(),
            Case { branches, otherwise } => branches
                .iter()
                .flat_map(|(c, r)| [c, r])
                .chain(otherwise.as_deref())
                .collect(),
        };
        work::visit(1 + children.len());
        children
    }

    /// Its direct parts, to be changed.
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        use ExprKind::*;
        let children: Vec<&mut Expr> = match &mut self.kind {
            Column(_) | Constant(_) | Parameter(_) | ScalarSubquery(_) => vec![],
            Compare(_, l, r)
            | Arithmetic(_, l, r)
            | Distinct {
                left: l, right: r, ..
            } => vec![l, r],
            And(list) | Or(list) | Function(_, list) | VectorFunction(_, list) => list.iter_mut().collect(),
            Not(e) | IsNull(e) | Negate(e) | Cast(e) | Extract(_, e) | AddInterval(e, _) => vec![e],
            Like { value, .. } | InList { value, .. } => vec![value],
            Let { value, body, .. } => vec![value, body],
            Subquery(subquery) => subquery.condition_mut().into_iter().collect(),
            Case { branches, otherwise } => branches
                .iter_mut()
                .flat_map(|(c, r)| [c, r])
                .chain(otherwise.as_deref_mut())
                .collect(),
        };
        work::visit(1 + children.len());
        children
    }

    /// Calls `visit` on it and all its parts, parents first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }

    /// Columns it reads of the rows it is computed for, each once, in order of first use: not those that a
    /// [`ExprKind::Let`] makes, nor those that a subquery makes for itself.
    pub fn columns_read(&self) -> Vec<ColumnId> {
        let (mut read, mut own) = (OnceEach::default(), HashSet::new());
        self.walk(&mut |e| match e.own() {
            Own::Reads(id) => read.add(id),
            Own::Makes(id) => {
                own.insert(id);
            }
            Own::Asks(subquery) => {
                own.extend(subquery.columns_made());
                subquery.outer_columns().into_iter().for_each(|id| read.add(id));
            }
            Own::Nothing => {}
        });
        let mut ids = read.ids;
        if !own.is_empty() {
            ids.retain(|id| !own.contains(id));
        }
        ids
    }

    /// Replaces columns: where `f` gives an expression for an id, it stands in for the column.
    pub fn replace_columns(&mut self, f: &dyn Fn(ColumnId) -> Option<Expr>) {
        if let ExprKind::Column(id) = self.kind {
            if let Some(with) = f(id) {
                *self = with;
            }
            return;
        }
        for child in self.children_mut() {
            child.replace_columns(f);
        }
    }

    /// Whether evaluating it can raise an error: such an expression is never moved before a filter
    /// that guards it.
    pub fn can_fail(&self) -> bool {
        let mut fails = false;
        self.walk(&mut |e| {
            fails |= match &e.kind {
                ExprKind::Arithmetic(..)
                | ExprKind::Negate(_)
                | ExprKind::Cast(_)
                | ExprKind::AddInterval(..) => true,
                ExprKind::Subquery(_) => true,
                ExprKind::VectorFunction(f, _) => f.0.can_fail(),
                ExprKind::Function(f, _) => f.can_fail(),
                ExprKind::Column(_)
                | ExprKind::Constant(_)
                | ExprKind::Parameter(_)
                | ExprKind::ScalarSubquery(_)
                | ExprKind::Let { .. }
                | ExprKind::Compare(..)
                | ExprKind::Distinct { .. }
                | ExprKind::And(_)
                | ExprKind::Or(_)
                | ExprKind::Not(_)
                | ExprKind::IsNull(_)
                | ExprKind::Case { .. }
                | ExprKind::Like { .. }
                | ExprKind::InList { .. }
                | ExprKind::Extract(..) => false,
            };
        });
        fails
    }
}
