//! Types and constants as the manifest writes them.

use frazil_types::logical_type::WITHOUT_LENGTH;
use frazil_types::{ColumnDefault, LogicalType, Value};
use serde_json::{Value as Json, json};

/// The type of a name that [`LogicalType`]'s display wrote.
pub fn parse_type(name: &str) -> Option<LogicalType> {
    let (word, arguments) = match name.split_once('(') {
        None => (name, Vec::new()),
        Some((word, rest)) => {
            let numbers: Result<Vec<u32>, _> = rest.strip_suffix(')')?.split(',').map(str::parse).collect();
            (word, numbers.ok()?)
        }
    };
    Some(match (word, &arguments[..]) {
        ("boolean", []) => LogicalType::Boolean,
        ("smallint", []) => LogicalType::SmallInt,
        ("integer", []) => LogicalType::Integer,
        ("bigint", []) => LogicalType::BigInt,
        ("double precision", []) => LogicalType::Double,
        ("decimal", &[precision @ 1..=38, scale]) if scale <= precision => LogicalType::Decimal {
            precision: precision as u8,
            scale: scale as u8,
        },
        ("date", []) => LogicalType::Date,
        ("timestamp", []) => LogicalType::Timestamp,
        // Of views alone: no table holds intervals.
        ("interval", []) => LogicalType::Interval,
        ("char", &[n]) if n > 0 => LogicalType::Char(n),
        ("varchar", &[n]) if n > 0 => LogicalType::Varchar(n),
        ("bpchar", []) => LogicalType::Char(WITHOUT_LENGTH),
        ("varchar", []) => LogicalType::Varchar(WITHOUT_LENGTH),
        ("text", []) => LogicalType::Text,
        _ => return None,
    })
}

/// A value; `null` stands for none.
pub fn write_value(value: Option<&Value>) -> Json {
    match value {
        None | Some(Value::Null | Value::Interval(_)) => Json::Null,
        Some(Value::Bool(b)) => json!({ "bool": b }),
        Some(Value::Int(v)) => json!({ "int": v.to_string() }),
        // By bits, so that NaN and −0 come back.
        Some(Value::Double(d)) => json!({ "double": d.to_bits().to_string() }),
        Some(Value::Text(t)) => json!({ "text": t }),
    }
}

/// A value that [`write_value`] wrote; the outer `None` means that it is not one.
pub fn read_value(json: &Json) -> Option<Option<Value>> {
    if json.is_null() {
        return Some(None);
    }
    let (kind, content) = json.as_object().filter(|o| o.len() == 1)?.iter().next()?;
    Some(Some(match kind.as_str() {
        "bool" => Value::Bool(content.as_bool()?),
        "int" => Value::Int(content.as_str()?.parse().ok()?),
        "double" => Value::Double(f64::from_bits(content.as_str()?.parse().ok()?)),
        "text" => Value::Text(content.as_str()?.to_string()),
        _ => return None,
    }))
}

/// A column's default; `null` stands for none.
pub fn write_default(default: Option<&ColumnDefault>) -> Json {
    match default {
        None => Json::Null,
        Some(ColumnDefault::Value(value)) => write_value(Some(value)),
        Some(ColumnDefault::Expression(text)) => json!({ "sql": text }),
    }
}

/// A default that [`write_default`] wrote; the outer `None` means that it is not one.
pub fn read_default(json: &Json) -> Option<Option<ColumnDefault>> {
    match json.get("sql") {
        Some(text) => Some(Some(ColumnDefault::Expression(text.as_str()?.to_string()))),
        None => Some(read_value(json)?.map(ColumnDefault::Value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_and_value_reads_back() {
        let decimal = LogicalType::Decimal {
            precision: 38,
            scale: 9,
        };
        use LogicalType::*;
        for ty in [
            Boolean,
            SmallInt,
            Integer,
            BigInt,
            Double,
            decimal,
            Date,
            Timestamp,
            Interval,
            Char(7),
            Char(WITHOUT_LENGTH),
            Varchar(9),
            Varchar(WITHOUT_LENGTH),
            Text,
        ] {
            assert_eq!(parse_type(&ty.to_string()), Some(ty));
        }
        for bad in [
            "",
            "int",
            "decimal(39,2)",
            "decimal(3,4)",
            "char(0)",
            "text(",
            "date(1)",
        ] {
            assert_eq!(parse_type(bad), None, "{bad}");
        }
        for value in [Value::Bool(true), Value::Int(i128::MIN), Value::Text("é".into())] {
            assert_eq!(read_value(&write_value(Some(&value))), Some(Some(value)));
        }
        assert_eq!(read_value(&write_value(None)), Some(None));
        assert_eq!(read_value(&json!({ "int": 1 })), None);
        let expression = ColumnDefault::Expression("a + 1".into());
        for default in [None, Some(ColumnDefault::Value(Value::Int(1))), Some(expression)] {
            assert_eq!(read_default(&write_default(default.as_ref())), Some(default));
        }
    }
}
