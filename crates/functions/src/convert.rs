//! Casts, and one type for several parts.

use crate::build::{LENGTH, TEXT, call, constant_of, null};
use crate::fixed_numeric::Fixed;
use crate::named_oids::{make_named_oid, make_named_oids};
use crate::type_rules::{Category, Kind, cast_context_of, is_implicit, name_of};
use crate::vector::{OnNull, Output, Row, RowFn, rows};
use crate::{CastContext, HiddenParameter, Operand, Typing, Unknown, UnknownKind};
use frazil_plan::{CONDITION, Expr, ExprKind, ScalarFunction};
use frazil_types::logical_type::WITHOUT_LENGTH;
use frazil_types::value_ops::{self, CastLength, cannot_cast};
use frazil_types::{Counts, Error, LogicalType, NativeType, Result, Span, SqlState, Value, date};

/// Digits of the widest integers.
const BIGGEST_INTEGER: u8 = 19;

/// Most digits of a decimal.
pub(crate) const WIDEST: u8 = frazil_types::logical_type::DECIMAL_MAX_DIGITS;

/// Precision and scale of an exact type, integers as decimals of all their digits.
pub(crate) fn digits(ty: LogicalType) -> (u8, u8) {
    ty.exact_digits().unwrap_or((BIGGEST_INTEGER, 0))
}

/// A decimal type of at least one and at most 38 digits.
pub(crate) fn decimal(precision: u8, scale: u8) -> LogicalType {
    LogicalType::Decimal {
        precision: precision.clamp(scale.max(1), WIDEST),
        scale,
    }
}

/// The narrowest type of the kind [`Kind::Numeric`] that holds all values of exact types.
pub(crate) fn wider_decimal(a: LogicalType, b: LogicalType) -> LogicalType {
    let ((pa, sa), (pb, sb)) = (digits(a), digits(b));
    let scale = sa.max(sb);
    decimal((pa - sa).max(pb - sb) + scale, scale)
}

/// The type of exact numbers that keep their digits after the point: a decimal if all have as many, else numeric.
fn common_decimal(a: LogicalType, b: LogicalType) -> LogicalType {
    match a.scale() == b.scale() {
        true => wider_decimal(a, b),
        false => LogicalType::Numeric,
    }
}

/// The type of a kind that an operand of type `ty` is converted to.
pub(crate) fn type_of_kind(kind: Kind, ty: Option<LogicalType>) -> LogicalType {
    match kind {
        kind if kind.category() == Category::String => TEXT,
        kind if kind.category() == Category::Array => ty
            .filter(|ty| ty.element().is_some())
            .unwrap_or(LogicalType::TEXT_ARRAY),
        kind => match ty {
            Some(ty) if kind == Kind::Numeric && ty.scale().is_some() => {
                let (precision, scale) = digits(ty);
                decimal(precision, scale)
            }
            _ => kind.plain().unwrap_or(TEXT),
        },
    }
}

impl Typing {
    /// The type that an operand comes to that nothing types.
    pub const OPEN: LogicalType = TEXT;

    /// The operand as `ty`. 42846 where no cast does that, 42804 where one would have to be written, 42P08 for a
    /// parameter of another type; 22P02, 22003, 22007, 22008 and 22001 for literals.
    pub fn cast(&self, x: Operand, ty: LogicalType, context: CastContext, span: Span) -> Result<Expr> {
        let (at, ty) = (x.span(), ty.in_zone(self.zone));
        if ty.kind().is_named_oid() && x.ty() != Some(ty) {
            return Ok(self.named_oid(x, ty)?.at(at));
        }
        if let Some(element) = ty.element().filter(|element| element.kind().is_named_oid())
            && x.ty() != Some(ty)
        {
            return Ok(self.named_oids(x, ty, element)?.at(at));
        }
        match x {
            Operand::Unknown(u) => self.type_unknown(u, ty, context),
            // Only what is stored and what a cast rounds to has fewer digits of a second: values in hand have all.
            Operand::Typed(e) => {
                self.check_cast(e.ty, ty, context)
                    .map_err(|error| error.at_span(at).at_span(span))?;
                Ok(convert(with_time(e, ty), ty, length_of(context)))
            }
        }
        .map(|e| convert(e, ty.with_all_digits(), CastLength::Refuse))
        .map(|e| if span.is_some() { e.at(span) } else { e })
    }

    /// A regclass or its like of a text or an oid, a regprocedure of a regproc, or the reverse: the catalog of the
    /// statement that runs knows its name. 42846 of other types.
    fn named_oid(&self, x: Operand, ty: LogicalType) -> Result<Expr> {
        let e = match x.ty() {
            Some(from) if !from.is_string() => {
                let oid = LogicalType::Oid;
                let are_functions = matches!(
                    (from.kind(), ty.kind()),
                    (Kind::Regproc, Kind::Regprocedure) | (Kind::Regprocedure, Kind::Regproc)
                );
                if cast_context_of(from, oid) != Some(CastContext::Implicit)
                    || from.kind().is_named_oid() && !are_functions
                {
                    return Err(cannot_cast(from, ty));
                }
                self.cast(x, oid, CastContext::Implicit, Span::NONE)?
            }
            Some(_) => as_text(self.settle(x)?),
            None => self.cast(x, TEXT, CastContext::Explicit, Span::NONE)?,
        };
        let arguments = vec![e, self.hidden(HiddenParameter::Catalog)];
        Ok(rows(ty.name(), OnNull::Null, make_named_oid, arguments, ty))
    }

    /// An array of regclass or its like, `element`, of a text that shows one, or an array of texts or oids. 42846 of
    /// other types.
    fn named_oids(&self, x: Operand, ty: LogicalType, element: LogicalType) -> Result<Expr> {
        let oids = LogicalType::array_of(Kind::Oid);
        let from = match (x.ty(), x.ty().and_then(LogicalType::element)) {
            (None, _) => LogicalType::TEXT_ARRAY,
            (Some(text), None) if text.is_string() => LogicalType::TEXT_ARRAY,
            (_, Some(of)) if of.is_string() => LogicalType::TEXT_ARRAY,
            (_, Some(of)) if of.kind() == Kind::Oid || of.kind().is_integer() => oids,
            (Some(from), _) => return Err(cannot_cast(from, ty)),
        };
        let e = self.cast(x, from, CastContext::Explicit, Span::NONE)?;
        let arguments = vec![e, self.hidden(HiddenParameter::Catalog)];
        Ok(rows(element.name(), OnNull::Null, make_named_oids, arguments, ty))
    }

    fn check_cast(&self, from: LogicalType, to: LogicalType, context: CastContext) -> Result<()> {
        match cast_context_of(from, to) {
            Some(least) if least <= context => Ok(()),
            Some(_) if context != CastContext::Explicit => {
                let (from, to) = (name_of(Some(from)), name_of(Some(to)));
                let message = format!("expression is of type {from} where {to} is needed");
                Err(Error::new(SqlState::DATATYPE_MISMATCH, message)
                    .with_hint("you will need to rewrite or cast the expression"))
            }
            _ => Err(cannot_cast(from, to)),
        }
    }

    fn type_unknown(&self, u: Unknown, ty: LogicalType, context: CastContext) -> Result<Expr> {
        let span = u.span;
        match u.kind {
            UnknownKind::Null => Ok(null(ty).at(span)),
            UnknownKind::Literal(text) => {
                let value = value_ops::cast(&Value::Text(text), TEXT, ty, length_of(context));
                let value = value.map_err(|e| e.at_span(span))?;
                Ok(Expr::constant(value, ty).at(span))
            }
            UnknownKind::Parameter(index) => self.type_parameter(index, ty, context, span),
        }
    }

    fn type_parameter(
        &self,
        index: usize,
        ty: LogicalType,
        context: CastContext,
        span: Span,
    ) -> Result<Expr> {
        let is_first = self.parameters.borrow()[index].is_none();
        if is_first && ty == TEXT && context == CastContext::Implicit {
            self.guessed.borrow_mut().push(index);
        }
        let declared = match context {
            // A written cast cuts a longer value, which a parameter of the length would refuse.
            CastContext::Explicit => any_length(ty),
            CastContext::Implicit | CastContext::Assignment | CastContext::Internal => ty,
        };
        let known = *self.parameters.borrow_mut()[index].get_or_insert(declared);
        let parameter = Expr::new(ExprKind::Parameter(index), known, true).at(span);
        let least = cast_context_of(known, ty);
        if least.is_some_and(|least| least <= context) {
            return Ok(convert(parameter, ty, length_of(context)));
        }
        let message = format!("inconsistent types deduced for parameter ${}", index + 1);
        let detail = format!("{} versus {}", name_of(Some(known)), name_of(Some(ty)));
        Err(Error::new(SqlState::AMBIGUOUS_PARAMETER, message)
            .with_detail(detail)
            .at_span(span))
    }

    /// The operand with a type: what nothing typed is text.
    pub fn settle(&self, x: Operand) -> Result<Expr> {
        match x {
            Operand::Typed(e) => Ok(e),
            Operand::Unknown(u) => self.type_unknown(u, TEXT, CastContext::Implicit),
        }
    }

    /// The operand as a condition. 42804 `argument of WHERE must be type boolean, not type integer`.
    pub fn predicate(&self, x: Operand, place: &str) -> Result<Expr> {
        let span = x.span();
        match x {
            Operand::Typed(e) if !e.ty.is_condition() => {
                let given = name_of(Some(e.ty));
                let message = format!("argument of {place} must be type boolean, not type {given}");
                Err(Error::new(SqlState::DATATYPE_MISMATCH, message).at_span(span))
            }
            x => self.cast(x, CONDITION, CastContext::Implicit, Span::NONE),
        }
    }

    /// One type for the parts of a CASE, VALUES list, UNION and the like: text if none has a type. Exact numbers with
    /// different digits after the point become numerics, so that each value keeps its own. `place` stands in the
    /// message of 42804.
    pub fn common_type(&self, parts: &[&Operand], place: &str) -> Result<LogicalType> {
        self.type_of_parts(parts, place, common_decimal)
    }

    /// One type in which parts are compared: as [`Typing::common_type`], but exact numbers become decimals.
    pub(crate) fn compared_type(&self, parts: &[&Operand]) -> Option<LogicalType> {
        self.type_of_parts(parts, "IN", wider_decimal).ok()
    }

    fn type_of_parts(&self, parts: &[&Operand], place: &str, decimals: OfDecimals) -> Result<LogicalType> {
        let mut common: Option<LogicalType> = None;
        for part in parts {
            let Some(ty) = part.ty() else { continue };
            common = Some(match common {
                None => ty,
                Some(so_far) => join_types_by(so_far, ty, decimals)
                    .ok_or_else(|| mismatch(so_far, ty, place).at_span(part.span()))?,
            });
        }
        Ok(match common {
            Some(ty) if ty.length().is_some_and(|n| !parts.iter().all(|p| fits(p, n))) => ty.without_length(),
            Some(ty) if ty.decimal_digits().is_some() && self.has_literal(parts) => {
                let literals = parts.iter().filter_map(|p| literal_type(p));
                literals.fold(ty, decimals)
            }
            Some(ty) => ty,
            None => TEXT,
        })
    }

    fn has_literal(&self, parts: &[&Operand]) -> bool {
        parts.iter().any(|p| literal_type(p).is_some())
    }

    /// The operand as a part of what [`Typing::common_type`] found.
    pub(crate) fn part(&self, x: Operand, ty: LogicalType) -> Result<Expr> {
        let span = x.span();
        match x {
            // Parts were found to go together: no further check.
            Operand::Typed(e) => Ok(convert(e, ty, CastLength::Refuse).at(span)),
            x => self.cast(x, ty, CastContext::Implicit, Span::NONE),
        }
    }
}

/// The decimal that a quoted number is.
fn literal_type(x: &Operand) -> Option<LogicalType> {
    let Operand::Unknown(Unknown {
        kind: UnknownKind::Literal(text),
        ..
    }) = x
    else {
        return None;
    };
    crate::literal::exact_number(text.trim()).map(|(_, ty)| ty)
}

/// Whether an untyped part can be of a string type of `n` characters.
fn fits(x: &Operand, n: u32) -> bool {
    match x {
        Operand::Unknown(Unknown {
            kind: UnknownKind::Literal(text),
            ..
        }) => text.trim_end_matches(' ').chars().count() <= n as usize,
        Operand::Unknown(Unknown {
            kind: UnknownKind::Parameter(_),
            ..
        }) => false,
        _ => true,
    }
}

/// 42804 for types of different families, 42846 for those of one family of which neither becomes the other without
/// being asked.
fn mismatch(a: LogicalType, b: LogicalType, place: &str) -> Error {
    let is_one_family = Kind::of(a).category() == Kind::of(b).category()
        && a.enumeration().is_some() == b.enumeration().is_some();
    let (a, b) = (name_of(Some(a)), name_of(Some(b)));
    match is_one_family {
        true => {
            let message = format!("{place} could not convert type {b} to {a}");
            Error::new(SqlState::CANNOT_COERCE, message)
        }
        false => {
            let message = format!("{place} types {a} and {b} cannot be matched");
            Error::new(SqlState::DATATYPE_MISMATCH, message)
        }
    }
}

/// The type that values of both have in common: that of the two which the other becomes without being asked, and the
/// first of strings, each of which becomes each other. `None` if neither becomes the other.
pub(crate) fn join_types(a: LogicalType, b: LogicalType) -> Option<LogicalType> {
    join_types_by(a, b, common_decimal)
}

/// As [`join_types`] for values that are only compared, so that exact numbers become decimals.
pub(crate) fn join_compared_types(a: LogicalType, b: LogicalType) -> Option<LogicalType> {
    join_types_by(a, b, wider_decimal)
}

/// The type that exact numbers of two types come to, neither of which is a numeric.
type OfDecimals = fn(LogicalType, LogicalType) -> LogicalType;

fn join_types_by(a: LogicalType, b: LogicalType, decimals: OfDecimals) -> Option<LogicalType> {
    let (ka, kb) = (Kind::of(a), Kind::of(b));
    if a == b {
        return Some(a);
    }
    if let (Some(a), Some(b)) = (a.element(), b.element()) {
        return join_types_by(a, b, decimals)?.array();
    }
    if ka == Kind::Oid || kb == Kind::Oid {
        return match (is_implicit(ka, kb), is_implicit(kb, ka)) {
            (true, _) => Some(b),
            (false, true) => Some(a),
            (false, false) => None,
        };
    }
    if ka.category() != kb.category() || a.enumeration().is_some() {
        return None;
    }
    if a.most_bytes().or(b.most_bytes()).is_some() && ka.category() == Category::String {
        let becomes_b = is_implicit(ka, kb) && !is_implicit(kb, ka);
        return Some(if becomes_b { b } else { a }.without_length());
    }
    if ka.category() == Category::String {
        return Some(a.without_length());
    }
    if let (Some(ra), Some(rb)) = (ka.number_rank(), kb.number_rank())
        && [a, b].iter().any(|ty| ty.native() == NativeType::F64)
    {
        return Some(if ra > rb { a } else { b });
    }
    if a.is_unscaled() || b.is_unscaled() {
        return Some(LogicalType::Numeric);
    }
    if ka == Kind::Numeric || kb == Kind::Numeric {
        return Some(decimals(a, b));
    }
    match (is_implicit(ka, kb), is_implicit(kb, ka)) {
        (true, _) => Some(b),
        (false, true) => Some(a),
        (false, false) => None,
    }
}

/// What becomes of strings that are too long in a context.
fn length_of(context: CastContext) -> CastLength {
    match context {
        CastContext::Explicit => CastLength::Cut,
        CastContext::Implicit | CastContext::Assignment | CastContext::Internal => CastLength::Refuse,
    }
}

/// The expression as `ty`, for a pair of types that has a cast. Constants are converted at once; what fails stays, so
/// that the error is raised where a row is reached.
pub(crate) fn convert(e: Expr, ty: LogicalType, length: CastLength) -> Expr {
    if e.ty == ty {
        return e;
    }
    let all = ty.with_all_digits();
    if ty != all && e.ty.second_digits().is_none() && !e.ty.is_string()
        || ty != all && e.ty.kind() != ty.kind() && e.ty.second_digits().is_some()
    {
        return convert(convert(e, all, length), ty, length);
    }
    if e.ty.is_unscaled()
        && ty.is_numeric()
        && let Some(fixed) = Fixed::of(&e)
    {
        let span = e.span;
        return convert(fixed.value, ty, length).at(span);
    }
    let (span, nullable) = (e.span, e.nullable);
    if let Some(value) = constant_of(&e)
        && let Ok(value) = value_ops::cast(value, e.ty, ty, length)
    {
        return Expr::constant(value, ty).at(span);
    }
    if e.ty.element().is_some() && ty.element().is_some() {
        return with_elements_cast(e, ty, length).at(span);
    }
    let cast = |e: Expr, ty| Expr::new(ExprKind::Cast(Box::new(e)), ty, nullable).at(span);
    match ty.length() {
        Some(n) if length == CastLength::Cut && n != WITHOUT_LENGTH => {
            let places = [1, n.into()].map(|place| Expr::literal(Value::Int(place)));
            let arguments = [as_text(e)].into_iter().chain(places).collect();
            cast(call(ScalarFunction::Substring, arguments).at(span), ty)
        }
        Some(_) | None => cast(e, ty),
    }
}

/// A timestamp that becomes a time, as the time of day on the zone's clock: NULL of infinity. Anything else as it is.
fn with_time(e: Expr, to: LogicalType) -> Expr {
    fn run(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
        let is_infinite = i64::try_from(row.wide(0)).is_ok_and(|v| date::infinite_day_of_micros(v).is_some());
        if is_infinite {
            return out.null();
        }
        out.value(&value_ops::cast(
            &row.value(0),
            row.ty(0),
            out.ty(),
            CastLength::Refuse,
        )?)
    }
    if e.ty.kind().info().counts != Counts::Micros || !to.is_time_of_day() {
        return e;
    }
    rows("time", OnNull::Null, run, vec![e], LogicalType::TIME)
}

/// Elements of an array as those of another type.
fn with_elements_cast(e: Expr, ty: LogicalType, length: CastLength) -> Expr {
    fn run(row: &Row<'_>, out: &mut Output<'_>, length: CastLength) -> Result<()> {
        let value = Value::Bytes(row.bytes(0).to_owned());
        let cast = value_ops::cast(&value, row.ty(0), out.ty(), length)?;
        out.bytes(cast.as_bytes().unwrap_or_default())
    }
    let run: RowFn = match length {
        CastLength::Cut => |row, out| run(row, out, CastLength::Cut),
        CastLength::Refuse => |row, out| run(row, out, CastLength::Refuse),
    };
    let nullable = e.nullable;
    let mut cast = rows("array", OnNull::Null, run, vec![e], ty);
    cast.nullable = nullable;
    cast
}

/// The expression as a text. Strings of any declared length are texts already, but for char(1).
pub(crate) fn as_text(e: Expr) -> Expr {
    if e.ty.is_text() && constant_of(&e).is_none() {
        return e;
    }
    convert(e, TEXT, CastLength::Refuse)
}

/// A number as a double.
pub(crate) fn as_double(e: Expr) -> Expr {
    convert(e, LogicalType::Double, CastLength::Refuse)
}

/// A number, or the number of a day, as an integer of 32 bits.
pub(crate) fn as_integer(e: Expr) -> Expr {
    convert(e, LENGTH, CastLength::Refuse)
}

/// The type without the length of its strings or string elements; other types as they are.
fn any_length(ty: LogicalType) -> LogicalType {
    match ty.element() {
        Some(element) => element.without_length().array().unwrap_or(ty),
        None => ty.without_length(),
    }
}
