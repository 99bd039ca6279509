//! The names of a result's columns where the statement gives none: PostgreSQL's.

use super::fold;
use sqlparser::ast::{
    AccessExpr, ArrayElemTypeDef, DataType, Expr, FunctionArguments, Query, SelectItem, SetExpr,
    TimezoneInfo, TrimWhereField, UnaryOperator,
};
use std::collections::HashMap;
use std::marker::PhantomData;

/// How much a name says: that of a type or CASE gives way to that of a column or function inside.
enum Name {
    None,
    Weak(String),
    Strong(String),
}

/// Names of columns. A subquery's name is that of its own column: it is kept by where in the statement's tree the subquery
/// stands, since each of many nested ones would otherwise be looked through by all those around it.
#[derive(Default)]
pub(super) struct ColumnNames<'a> {
    of_subqueries: HashMap<*const Query, Option<String>>,
    /// While the tree lives no other subquery stands where one of its own does.
    tree: PhantomData<&'a Query>,
}

fn strong(name: &str) -> Name {
    Name::Strong(name.to_string())
}

impl<'a> ColumnNames<'a> {
    /// The name of an expression's column.
    pub fn of(&mut self, e: &'a Expr) -> String {
        match self.name(e) {
            Name::None => "?column?".to_string(),
            Name::Weak(name) | Name::Strong(name) => name,
        }
    }

    fn name(&mut self, e: &'a Expr) -> Name {
        match e {
            Expr::Identifier(i) => Name::Strong(fold(i)),
            Expr::CompoundIdentifier(parts) => parts.last().map_or(Name::None, |p| Name::Strong(fold(p))),
            Expr::Function(f) => {
                let ident = f.name.0.last().and_then(|p| p.as_ident());
                match (ident, &f.args) {
                    (Some(i), FunctionArguments::Subquery(_)) if i.value.eq_ignore_ascii_case("array") => {
                        strong("array")
                    }
                    (Some(i), _) => Name::Strong(fold(i)),
                    (None, _) => Name::None,
                }
            }
            Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => self.name(inner),
            Expr::Cast { expr, data_type, .. } => match self.name(expr) {
                Name::Strong(name) => Name::Strong(name),
                Name::None | Name::Weak(_) => Name::Weak(of_type(data_type)),
            },
            Expr::TypedString(typed) => Name::Weak(of_type(&typed.data_type)),
            Expr::Interval(_) => Name::Weak("interval".to_string()),
            Expr::Case { else_result, .. } => match else_result.as_deref().map(|e| self.name(e)) {
                Some(Name::Strong(name)) => Name::Strong(name),
                _ => Name::Weak("case".to_string()),
            },
            Expr::Exists { negated: false, .. } => strong("exists"),
            Expr::Subquery(query) => self.of_subquery(query).map_or(Name::None, Name::Strong),
            Expr::Extract { .. } => strong("extract"),
            Expr::Position { .. } => strong("position"),
            Expr::Substring { shorthand: true, .. } => strong("substr"),
            Expr::Substring { .. } => strong("substring"),
            Expr::Overlay { .. } => strong("overlay"),
            Expr::Trim { trim_where, .. } => strong(match trim_where {
                None | Some(TrimWhereField::Both) => "btrim",
                Some(TrimWhereField::Leading) => "ltrim",
                Some(TrimWhereField::Trailing) => "rtrim",
            }),
            Expr::AtTimeZone { .. } => strong("timezone"),
            Expr::Tuple(_) => strong("row"),
            Expr::Array(_) => strong("array"),
            // Fields have names, subscripts leave a column's.
            Expr::CompoundFieldAccess { root, access_chain } => {
                let fields = access_chain.iter().rev().find_map(|access| match access {
                    AccessExpr::Dot(Expr::Identifier(field)) => Some(field),
                    AccessExpr::Dot(_) | AccessExpr::Subscript(_) => None,
                });
                fields.map_or_else(|| self.name(root), |field| Name::Strong(fold(field)))
            }
            Expr::UnaryOp {
                op: UnaryOperator::Plus,
                ..
            } => Name::None,
            _ => Name::None,
        }
    }

    /// The name of a subquery's first column.
    fn of_subquery(&mut self, query: &'a Query) -> Option<String> {
        let at = std::ptr::from_ref(query);
        if let Some(known) = self.of_subqueries.get(&at) {
            return known.clone();
        }
        let name = self.of_query(query);
        self.of_subqueries.insert(at, name.clone());
        name
    }

    fn of_query(&mut self, query: &'a Query) -> Option<String> {
        let mut body = &*query.body;
        loop {
            body = match body {
                SetExpr::Query(q) => &q.body,
                SetExpr::SetOperation { left, .. } => left,
                SetExpr::Values(_) => return Some("column1".to_string()),
                SetExpr::Select(select) => {
                    return match select.projection.first()? {
                        SelectItem::UnnamedExpr(e) => Some(self.of(e)),
                        SelectItem::ExprWithAlias { alias, .. } => Some(fold(alias)),
                        _ => None,
                    };
                }
                _ => return None,
            }
        }
    }
}

/// PostgreSQL's own name of a type.
fn of_type(ty: &DataType) -> String {
    use DataType as T;
    match ty {
        T::Bool | T::Boolean => "bool".to_string(),
        T::SmallInt(_) | T::Int2(_) => "int2".to_string(),
        T::Int(_) | T::Integer(_) | T::Int4(_) => "int4".to_string(),
        T::BigInt(_) | T::Int8(_) => "int8".to_string(),
        T::Real | T::Float4 => "float4".to_string(),
        T::Double(_) | T::DoublePrecision | T::Float8 | T::Float64 | T::Float(_) => "float8".to_string(),
        T::Decimal(_) | T::Numeric(_) | T::Dec(_) => "numeric".to_string(),
        T::Char(_) | T::Character(_) => "bpchar".to_string(),
        T::Varchar(_) | T::CharacterVarying(_) | T::CharVarying(_) => "varchar".to_string(),
        T::Timestamp(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => "timestamptz".to_string(),
        T::Timestamp(..) => "timestamp".to_string(),
        T::Interval { .. } => "interval".to_string(),
        T::Array(ArrayElemTypeDef::SquareBracket(inner, _)) => of_type(inner),
        T::Custom(name, _) => {
            let ident = name.0.last().and_then(|part| part.as_ident());
            ident.map(fold).unwrap_or_default()
        }
        other => {
            let text = other.to_string().to_lowercase();
            text.split(['(', ' ']).next().unwrap_or_default().to_string()
        }
    }
}
