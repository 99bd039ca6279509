//! Functions that the code generator does not know, behind [`VectorFunction`]: DataFusion's, and
//! date_trunc.
//!
//! Values cross to Arrow and back one by one: these functions are the rare ones, and a call handles a
//! whole stage vector. What becomes common moves to the plan's own functions.

use crate::query::typing::Typing;
use crate::{errors, sql_type};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Float64Array, Int16Array, Int32Array,
    Int64Array, StringArray,
};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Field, FieldRef, Float64Type, Int16Type, Int32Type, Int64Type,
    TimeUnit, TimestampMicrosecondType,
};
use datafusion_common::config::ConfigOptions;
use datafusion_expr::type_coercion::functions::fields_with_udf;
use datafusion_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF};
use datafusion_functions::{regex, string, unicode};
use frazil_plan::vector_function::{CallContext, VectorFunction, VectorFunctionRef};
use frazil_plan::{Expr, ExprKind};
use frazil_types::date::{MICROS_PER_DAY, civil_from_days, days_from_civil};
use frazil_types::{ColumnVector, Error, LogicalType, Result, Span, SqlState, Value};
use std::sync::{Arc, LazyLock};

static CONFIG: LazyLock<Arc<ConfigOptions>> = LazyLock::new(|| Arc::new(ConfigOptions::default()));

/// The DataFusion functions we serve, by name.
pub(crate) fn find(name: &str) -> Option<Arc<ScalarUDF>> {
    Some(match name {
        "ascii" => string::ascii(),
        "bit_length" => string::bit_length(),
        "chr" => string::chr(),
        "concat_ws" => string::concat_ws(),
        "ends_with" => string::ends_with(),
        "levenshtein" => string::levenshtein(),
        "octet_length" => string::octet_length(),
        "repeat" => string::repeat(),
        "split_part" => string::split_part(),
        "to_hex" => string::to_hex(),
        "initcap" => unicode::initcap(),
        "left" => unicode::left(),
        "lpad" => unicode::lpad(),
        "right" => unicode::right(),
        "reverse" => unicode::reverse(),
        "rpad" => unicode::rpad(),
        "translate" => unicode::translate(),
        "regexp_like" => regex::regexp_like(),
        "regexp_replace" => regex::regexp_replace(),
        _ => return None,
    })
}

fn fields(types: &[LogicalType]) -> Vec<FieldRef> {
    let field = |ty: &LogicalType| Arc::new(Field::new("", sql_type::to_arrow(*ty), true));
    types.iter().map(field).collect()
}

/// A call of a DataFusion function. 42883 where it does not take such arguments.
pub(crate) fn call(udf: &Arc<ScalarUDF>, arguments: Vec<Expr>, typing: &Typing) -> Result<Expr> {
    let types: Vec<LogicalType> = arguments.iter().map(|a| a.ty).collect();
    let coerced = fields_with_udf(&fields(&types), udf.as_ref()).map_err(|_| {
        let types: Vec<String> = types.iter().map(ToString::to_string).collect();
        Error::new(
            SqlState::UNDEFINED_FUNCTION,
            format!("function {}({}) does not exist", udf.name(), types.join(", ")),
        )
    })?;
    let mut cast = Vec::with_capacity(arguments.len());
    for (argument, field) in arguments.into_iter().zip(&coerced) {
        let ty = sql_type::of_arrow(field.data_type())
            .ok_or_else(|| Error::unsupported(format!("function {} of {}", udf.name(), field.data_type())))?;
        cast.push(typing.cast(argument, ty)?);
    }
    let types: Vec<LogicalType> = cast.iter().map(|a| a.ty).collect();
    let arrow = fields(&types);
    let none: Vec<Option<&datafusion_common::ScalarValue>> = vec![None; arrow.len()];
    let returned = udf
        .return_field_from_args(ReturnFieldArgs {
            arg_fields: &arrow,
            scalar_arguments: &none,
        })
        .map_err(errors::from_datafusion)?;
    let ty = sql_type::of_arrow(returned.data_type()).ok_or_else(|| {
        Error::unsupported(format!("function {} giving {}", udf.name(), returned.data_type()))
    })?;
    let function = DataFusionFunction {
        udf: Arc::clone(udf),
        returned,
    };
    Ok(Expr {
        kind: ExprKind::VectorFunction(VectorFunctionRef(Arc::new(function)), cast),
        ty,
        nullable: true,
        span: Span::NONE,
    })
}

struct DataFusionFunction {
    udf: Arc<ScalarUDF>,
    returned: FieldRef,
}

impl VectorFunction for DataFusionFunction {
    fn name(&self) -> &str {
        self.udf.name()
    }

    fn evaluate(
        &self,
        arguments: &[ColumnVector],
        rows: usize,
        result: LogicalType,
        _: &CallContext<'_>,
    ) -> Result<ColumnVector> {
        let args = arguments
            .iter()
            .map(|a| to_array(a).map(ColumnarValue::Array))
            .collect::<Result<Vec<_>>>()?;
        let types: Vec<LogicalType> = arguments.iter().map(ColumnVector::ty).collect();
        let returned = self.udf.invoke_with_args(ScalarFunctionArgs {
            args,
            arg_fields: fields(&types),
            number_rows: rows,
            return_field: Arc::clone(&self.returned),
            config_options: Arc::clone(&CONFIG),
        });
        let failed = |e: datafusion_common::DataFusionError| {
            Error::new(
                SqlState::INVALID_PARAMETER,
                format!("{}: {}", self.name(), e.strip_backtrace()),
            )
        };
        let array = returned.and_then(|v| v.into_array(rows)).map_err(failed)?;
        let values = (0..rows)
            .map(|row| value_of(&array, row))
            .collect::<Result<Vec<_>>>()?;
        Ok(ColumnVector::from_values(result, &values))
    }
}

fn to_array(v: &ColumnVector) -> Result<ArrayRef> {
    let values = || (0..v.len()).map(|row| v.value(row));
    let ints = || values().map(|v| v.as_int());
    let array: ArrayRef = match v.ty() {
        LogicalType::Boolean => Arc::new(
            values()
                .map(|v| v.as_int().map(|b| b != 0))
                .collect::<BooleanArray>(),
        ),
        LogicalType::SmallInt => Arc::new(ints().map(|v| v.map(|v| v as i16)).collect::<Int16Array>()),
        LogicalType::Integer => Arc::new(ints().map(|v| v.map(|v| v as i32)).collect::<Int32Array>()),
        LogicalType::BigInt => Arc::new(ints().map(|v| v.map(|v| v as i64)).collect::<Int64Array>()),
        LogicalType::Decimal { precision, scale } => {
            let array: Decimal128Array = ints().collect();
            let typed = array.with_precision_and_scale(precision, scale as i8);
            Arc::new(typed.map_err(|e| Error::internal(e.to_string()))?)
        }
        LogicalType::Double => {
            let double = |v| if let Value::Double(d) = v { Some(d) } else { None };
            Arc::new(values().map(double).collect::<Float64Array>())
        }
        ty if ty.is_string() && ty != LogicalType::Char(1) => {
            let text = |v| if let Value::Text(t) = v { Some(t) } else { None };
            Arc::new(values().map(text).collect::<StringArray>())
        }
        other => return Err(Error::unsupported(format!("a vector function of {other}"))),
    };
    Ok(array)
}

fn value_of(array: &ArrayRef, row: usize) -> Result<Value> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    let int = |v: i128| Ok(Value::Int(v));
    match array.data_type() {
        DataType::Boolean => Ok(Value::Bool(array.as_boolean().value(row))),
        DataType::Int16 => int(array.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => int(array.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => int(array.as_primitive::<Int64Type>().value(row).into()),
        DataType::Decimal128(..) => int(array.as_primitive::<Decimal128Type>().value(row)),
        DataType::Date32 => int(array.as_primitive::<Date32Type>().value(row).into()),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            int(array.as_primitive::<TimestampMicrosecondType>().value(row).into())
        }
        DataType::Float64 => Ok(Value::Double(array.as_primitive::<Float64Type>().value(row))),
        DataType::Utf8 => Ok(Value::Text(array.as_string::<i32>().value(row).to_string())),
        DataType::LargeUtf8 => Ok(Value::Text(array.as_string::<i64>().value(row).to_string())),
        DataType::Utf8View => Ok(Value::Text(array.as_string_view().value(row).to_string())),
        other => Err(Error::internal(format!("a vector function gave {other}"))),
    }
}

// --- date_trunc --------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Micros(i64),
    Week,
    Months(i32),
}

struct DateTrunc(Unit);

/// date_trunc(unit, timestamp). 22023 for an unknown unit.
pub(crate) fn date_trunc(unit: &str, value: Expr) -> Result<Expr> {
    let unit = match unit.to_ascii_lowercase().as_str() {
        "microseconds" | "microsecond" => Unit::Micros(1),
        "milliseconds" | "millisecond" => Unit::Micros(1000),
        "second" => Unit::Micros(1_000_000),
        "minute" => Unit::Micros(60_000_000),
        "hour" => Unit::Micros(3_600_000_000),
        "day" => Unit::Micros(MICROS_PER_DAY),
        "week" => Unit::Week,
        "month" => Unit::Months(1),
        "quarter" => Unit::Months(3),
        "year" => Unit::Months(12),
        other => {
            return Err(Error::new(
                SqlState::INVALID_PARAMETER,
                format!("unit \"{other}\" not recognized for date_trunc"),
            ));
        }
    };
    let nullable = value.nullable;
    Ok(Expr {
        kind: ExprKind::VectorFunction(VectorFunctionRef(Arc::new(DateTrunc(unit))), vec![value]),
        ty: LogicalType::Timestamp,
        nullable,
        span: Span::NONE,
    })
}

fn truncate(micros: i64, unit: Unit) -> i64 {
    let days = micros.div_euclid(MICROS_PER_DAY);
    match unit {
        Unit::Micros(n) => micros.div_euclid(n) * n,
        // 1970-01-01 was a Thursday; weeks begin on Monday.
        Unit::Week => (days - (days + 3).rem_euclid(7)) * MICROS_PER_DAY,
        Unit::Months(n) => {
            let (year, month, _) = civil_from_days(days as i32);
            let first = (month as i32 - 1) / n * n + 1;
            i64::from(days_from_civil(year, first as u32, 1)) * MICROS_PER_DAY
        }
    }
}

impl VectorFunction for DateTrunc {
    fn name(&self) -> &str {
        "date_trunc"
    }

    fn evaluate(
        &self,
        arguments: &[ColumnVector],
        rows: usize,
        result: LogicalType,
        _: &CallContext<'_>,
    ) -> Result<ColumnVector> {
        let value = |row: usize| match arguments[0].value(row) {
            Value::Int(micros) => Value::Int(truncate(micros as i64, self.0).into()),
            other => other,
        };
        let values: Vec<Value> = (0..rows).map(value).collect();
        Ok(ColumnVector::from_values(result, &values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{Cancel, MemoryBudget};

    #[test]
    fn truncates_to_the_start_of_the_unit() {
        let at = |t: &str| frazil_types::date::parse_timestamp(t).unwrap();
        let from = at("2024-08-15 13:45:59.5");
        for (unit, start) in [
            (Unit::Micros(3_600_000_000), "2024-08-15 13:00:00"),
            (Unit::Week, "2024-08-12"),
            (Unit::Months(1), "2024-08-01"),
            (Unit::Months(3), "2024-07-01"),
            (Unit::Months(12), "2024-01-01"),
        ] {
            assert_eq!(truncate(from, unit), at(start), "{unit:?}");
        }
    }

    #[test]
    fn datafusion_functions_run_on_vectors() {
        let typing = Typing::new(&[]);
        let text = |t: &str| Expr::constant(Value::Text(t.into()), LogicalType::Text);
        let e = call(&find("reverse").unwrap(), vec![text("abc")], &typing).unwrap();
        let ExprKind::VectorFunction(f, _) = &e.kind else {
            panic!("{e:?}");
        };
        let input = ColumnVector::from_values(LogicalType::Text, &[Value::Text("größe".into()), Value::Null]);
        let (cancel, budget) = (Cancel::new(), MemoryBudget::unlimited());
        let context = CallContext::new(&cancel, &budget);
        let output = f.0.evaluate(&[input], 2, e.ty, &context).unwrap();
        assert_eq!(output.value(0), Value::Text("eßörg".into()));
        assert!(output.is_null(1));
    }
}
