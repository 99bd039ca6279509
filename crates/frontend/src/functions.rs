//! Functions of which only the name reaches DataFusion: it finds them, checks their number of arguments
//! and carries them in its plan; `query::function` gives them their meaning.
//!
//! Keeping DataFusion's own implementations out of name resolution keeps its folding of `now()` and
//! its notion of types out as well.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion_common::Result;
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use frazil_plan::ScalarFunction;
use frazil_types::LogicalType;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// What a function name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Meaning {
    /// A function of the plan.
    Scalar(ScalarFunction),
    /// concat(): NULLs count as empty.
    ConcatSkippingNull,
    /// `||`.
    Concat,
    /// EXTRACT and date_part.
    DatePart,
    /// coalesce.
    Coalesce,
    /// nullif.
    NullIf,
    /// greatest.
    Greatest,
    /// least.
    Least,
    /// mod(a, b), i.e. `%`.
    Mod,
    /// date - date: integer.
    DateDifference,
    /// date + integer.
    DatePlusDays,
    /// date - integer.
    DateMinusDays,
    /// now() and its synonyms.
    Now,
    /// current_date.
    CurrentDate,
    /// LIKE prefix test: starts_with(text, constant).
    StartsWith,
    /// date_trunc(text, timestamp).
    DateTrunc,
}

/// How DataFusion types the result. Only the kind (text, number, date) matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ResultKind {
    Text,
    Integer,
    Double,
    Date,
    Timestamp,
    Boolean,
    FirstArgument,
}

/// A function known by name.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Named {
    name: &'static str,
    pub meaning: Meaning,
    pub arguments: (usize, usize),
    result: ResultKind,
    signature: Signature,
}

impl ScalarUDFImpl for Named {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(match self.result {
            ResultKind::Text => DataType::Utf8,
            ResultKind::Integer => DataType::Int64,
            ResultKind::Double => DataType::Float64,
            ResultKind::Date => DataType::Date32,
            ResultKind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            ResultKind::Boolean => DataType::Boolean,
            ResultKind::FirstArgument => arguments
                .iter()
                .find(|t| **t != DataType::Null)
                .cloned()
                .unwrap_or(DataType::Null),
        })
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        datafusion_common::internal_err!("{} runs in compiled code", self.name)
    }
}

const TABLE: &[(&str, Meaning, (usize, usize), ResultKind)] = {
    use Meaning as M;
    use ResultKind as R;
    use ScalarFunction as S;
    &[
        ("substr", M::Scalar(S::Substring), (2, 3), R::Text),
        ("substring", M::Scalar(S::Substring), (2, 3), R::Text),
        ("length", M::Scalar(S::Length), (1, 1), R::Integer),
        ("char_length", M::Scalar(S::Length), (1, 1), R::Integer),
        ("character_length", M::Scalar(S::Length), (1, 1), R::Integer),
        ("lower", M::Scalar(S::Lower), (1, 1), R::Text),
        ("upper", M::Scalar(S::Upper), (1, 1), R::Text),
        ("concat", M::ConcatSkippingNull, (1, 64), R::Text),
        ("||", M::Concat, (2, 2), R::Text),
        ("btrim", M::Scalar(S::Trim), (1, 2), R::Text),
        ("trim", M::Scalar(S::Trim), (1, 2), R::Text),
        ("ltrim", M::Scalar(S::TrimStart), (1, 2), R::Text),
        ("rtrim", M::Scalar(S::TrimEnd), (1, 2), R::Text),
        ("replace", M::Scalar(S::Replace), (3, 3), R::Text),
        ("strpos", M::Scalar(S::Position), (2, 2), R::Integer),
        ("position", M::Scalar(S::Position), (2, 2), R::Integer),
        ("abs", M::Scalar(S::Abs), (1, 1), R::FirstArgument),
        ("round", M::Scalar(S::Round), (1, 2), R::FirstArgument),
        ("ceil", M::Scalar(S::Ceil), (1, 1), R::FirstArgument),
        ("ceiling", M::Scalar(S::Ceil), (1, 1), R::FirstArgument),
        ("floor", M::Scalar(S::Floor), (1, 1), R::FirstArgument),
        ("sqrt", M::Scalar(S::Sqrt), (1, 1), R::Double),
        ("power", M::Scalar(S::Power), (2, 2), R::Double),
        ("pow", M::Scalar(S::Power), (2, 2), R::Double),
        ("ln", M::Scalar(S::Ln), (1, 1), R::Double),
        ("exp", M::Scalar(S::Exp), (1, 1), R::Double),
        ("mod", M::Mod, (2, 2), R::FirstArgument),
        ("coalesce", M::Coalesce, (1, 64), R::FirstArgument),
        ("nullif", M::NullIf, (2, 2), R::FirstArgument),
        ("greatest", M::Greatest, (1, 64), R::FirstArgument),
        ("least", M::Least, (1, 64), R::FirstArgument),
        ("date_part", M::DatePart, (2, 2), R::Integer),
        ("date_trunc", M::DateTrunc, (2, 2), R::Timestamp),
        ("date difference", M::DateDifference, (2, 2), R::Integer),
        ("date plus days", M::DatePlusDays, (2, 2), R::Date),
        ("date minus days", M::DateMinusDays, (2, 2), R::Date),
        ("now", M::Now, (0, 0), R::Timestamp),
        ("current_timestamp", M::Now, (0, 0), R::Timestamp),
        ("transaction_timestamp", M::Now, (0, 0), R::Timestamp),
        ("localtimestamp", M::Now, (0, 0), R::Timestamp),
        ("current_date", M::CurrentDate, (0, 0), R::Date),
        ("starts_with", M::StartsWith, (2, 2), R::Boolean),
    ]
};

static NAMED: LazyLock<HashMap<&'static str, Arc<ScalarUDF>>> = LazyLock::new(|| {
    TABLE
        .iter()
        .map(|&(name, meaning, arguments, result)| {
            let signature = if arguments.1 == 0 {
                Signature::nullary(Volatility::Stable)
            } else if arguments.0 == arguments.1 {
                Signature::any(arguments.0, Volatility::Immutable)
            } else {
                Signature::variadic_any(Volatility::Immutable)
            };
            let named = Named {
                name,
                meaning,
                arguments,
                result,
                signature,
            };
            (name, Arc::new(ScalarUDF::new_from_impl(named)))
        })
        .collect()
});

/// The function of a name.
pub(crate) fn find(name: &str) -> Option<Arc<ScalarUDF>> {
    NAMED.get(name).cloned()
}

/// What a function of DataFusion's plan means, if it is one of ours.
pub(crate) fn named(udf: &ScalarUDF) -> Option<&Named> {
    (udf.inner().as_ref() as &dyn std::any::Any).downcast_ref::<Named>()
}

/// A cast as a function of its own name. DataFusion's name of an expression leaves casts out, so that
/// `x` and `cast(x as date)`, or aggregates of them, could not stand beside each other.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct CastTo {
    name: String,
    pub ty: LogicalType,
    signature: Signature,
}

impl ScalarUDFImpl for CastTo {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(crate::sql_type::to_arrow(self.ty))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        datafusion_common::internal_err!("{} runs in compiled code", self.name)
    }
}

/// Name of the function that casts to a type.
pub(crate) fn cast_name(ty: LogicalType) -> String {
    format!("cast to {ty}")
}

/// The function that casts to a type.
pub(crate) fn cast_to(ty: LogicalType) -> Arc<ScalarUDF> {
    let signature = Signature::any(1, Volatility::Immutable);
    let name = cast_name(ty);
    Arc::new(ScalarUDF::new_from_impl(CastTo { name, ty, signature }))
}

/// The type that a function casts to, if it is a cast.
pub(crate) fn cast_target(udf: &ScalarUDF) -> Option<LogicalType> {
    let cast = (udf.inner().as_ref() as &dyn std::any::Any).downcast_ref::<CastTo>();
    cast.map(|c| c.ty)
}

/// All names, for hints.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|f| f.0)
}
