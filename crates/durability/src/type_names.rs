//! Constants and types as the manifest writes them.

use frazil_catalog::{Constraint, Domain, DomainCheck, SchemaEntry, TypeEntry, TypeKind};
use frazil_types::sql_type::EnumLabel;
use frazil_types::sql_type::{hex_digits, write_hex};
use frazil_types::{ColumnDefault, LogicalType, ObjectId, Value};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// A value; `null` stands for none.
pub fn write_value(value: Option<&Value>) -> Json {
    match value {
        None | Some(Value::Null) => Json::Null,
        Some(Value::Bool(b)) => json!({ "bool": b }),
        Some(Value::Int(v)) => json!({ "int": v.to_string() }),
        // By bits, so that NaN and −0 come back.
        Some(Value::Double(d)) => json!({ "double": d.to_bits().to_string() }),
        Some(Value::Text(t)) => json!({ "text": t }),
        Some(Value::Interval(i)) => json!({ "interval": i.to_native().to_string() }),
        Some(Value::Bytes(bytes)) => {
            let mut digits = String::with_capacity(2 * bytes.len());
            // A String takes all that is written.
            let _ = write_hex(&mut digits, bytes);
            json!({ "bytes": digits })
        }
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
        "bytes" => Value::Bytes(hex_digits(content.as_str()?).ok()?),
        "interval" => Value::Interval(frazil_types::Interval::from_native(
            content.as_str()?.parse().ok()?,
        )),
        _ => return None,
    }))
}

/// A column's default; `null` stands for none.
pub fn write_default(default: Option<&ColumnDefault>) -> Json {
    match default {
        None => Json::Null,
        Some(ColumnDefault::Value(value)) => write_value(Some(value)),
        Some(ColumnDefault::Expression(text)) => json!({ "sql": text }),
        Some(ColumnDefault::Generated { text, reads }) => json!({ "generated": text, "reads": reads }),
        Some(ColumnDefault::Identity { sequence, always }) => json!({ "identity": [sequence.0, always] }),
    }
}

/// A default that [`write_default`] wrote; the outer `None` means that it is not one.
pub fn read_default(json: &Json) -> Option<Option<ColumnDefault>> {
    let text = |text: &Json| text.as_str().map(str::to_string);
    if let Some(sql) = json.get("sql") {
        return Some(Some(ColumnDefault::Expression(text(sql)?)));
    }
    if let Some(sql) = json.get("generated") {
        let position = |read: &Json| usize::try_from(read.as_u64()?).ok();
        return Some(Some(ColumnDefault::Generated {
            text: text(sql)?,
            reads: json["reads"]
                .as_array()?
                .iter()
                .map(position)
                .collect::<Option<_>>()?,
        }));
    }
    if let Some(identity) = json.get("identity") {
        return Some(Some(ColumnDefault::Identity {
            sequence: ObjectId(identity[0].as_u64()?.try_into().ok()?),
            always: identity[1].as_bool()?,
        }));
    }
    Some(read_value(json)?.map(ColumnDefault::Value))
}

/// A name in the first schema `public` as text, and in any other schema as a pair of the schema's id and the name: a
/// program that knows no schemas refuses it.
pub(crate) fn write_name(namespace: ObjectId, name: &str) -> Json {
    match namespace {
        SchemaEntry::PUBLIC_ID => json!(name),
        ObjectId(id) => json!([id, name]),
    }
}

/// The schema's id and the name that [`write_name`] wrote.
pub(crate) fn read_name(json: &Json) -> Option<(ObjectId, String)> {
    match json.as_str() {
        Some(name) => Some((SchemaEntry::PUBLIC_ID, name.to_string())),
        None => Some((
            ObjectId(json[0].as_u64()?.try_into().ok()?),
            json[1].as_str()?.to_string(),
        )),
    }
}

/// A type that a statement defined.
pub fn write_type(entry: &TypeEntry) -> Json {
    let mut json = json!({ "id": entry.id.0, "name": write_name(entry.namespace, &entry.name) });
    match &entry.kind {
        TypeKind::Enum(e) => {
            let labels = e.labels().iter();
            json["labels"] = labels.map(|l| json!([l.position, l.text])).collect();
        }
        TypeKind::Domain(domain) => {
            let checks = domain.checks.iter();
            let checks = checks.map(|c| {
                let mut json = json!({ "id": c.id.0, "name": c.name, "check": c.expression });
                // Version 12 has it.
                if !c.is_valid {
                    json["not_valid"] = json!(true);
                }
                json
            });
            json["domain"] = json!({
                "type": domain.base.stored_name(),
                "nullable": domain.nullable,
                "default": write_default(domain.default.as_ref()),
                "checks": checks.collect::<Vec<_>>(),
            });
        }
    }
    json
}

/// The types of a list that [`write_type`] wrote; none where there is no list. Domains may be of types that are known before.
pub fn read_types(list: &Json, known: &[Arc<TypeEntry>]) -> Option<Vec<Arc<TypeEntry>>> {
    // Not in directories of version 5 and before.
    if list.is_null() {
        return Some(Vec::new());
    }
    let list = list.as_array()?;
    let is_domain = |json: &&Json| !json["domain"].is_null();
    let mut read: Vec<Arc<TypeEntry>> = (list.iter())
        .filter(|json| !is_domain(json))
        .map(|json| read_enumeration(json).map(Arc::new))
        .collect::<Option<_>>()?;
    // What is read now stands before what was known.
    let types: Vec<Arc<TypeEntry>> = read.iter().chain(known).cloned().collect();
    for json in list.iter().filter(is_domain) {
        read.push(Arc::new(read_domain(json, &types)?));
    }
    Some(read)
}

fn read_id(json: &Json) -> Option<ObjectId> {
    Some(ObjectId(json["id"].as_u64()?.try_into().ok()?))
}

fn read_enumeration(json: &Json) -> Option<TypeEntry> {
    let labels = json["labels"].as_array()?.iter().map(|label| {
        Some(EnumLabel {
            position: label[0].as_i64()?.try_into().ok()?,
            text: label[1].as_str()?.to_string(),
        })
    });
    let labels = labels.collect::<Option<Vec<EnumLabel>>>()?;
    if !labels.is_sorted_by(|a, b| a.position < b.position) {
        return None;
    }
    let (namespace, name) = read_name(&json["name"])?;
    Some(TypeEntry {
        namespace,
        ..TypeEntry::enumeration(read_id(json)?, name, labels)
    })
}

fn read_domain(json: &Json, types: &[Arc<TypeEntry>]) -> Option<TypeEntry> {
    let domain = &json["domain"];
    let checks = domain["checks"].as_array()?.iter().map(|check| {
        Some(DomainCheck {
            // Checks of domains had no ids when the fields of version 11 were set. Its readers pass over this one.
            id: match &check["id"] {
                Json::Null => Constraint::NO_ID,
                _ => read_id(check)?,
            },
            is_valid: check["not_valid"].is_null(),
            name: check["name"].as_str()?.to_string(),
            expression: check["check"].as_str()?.to_string(),
        })
    });
    let (namespace, name) = read_name(&json["name"])?;
    Some(TypeEntry {
        id: read_id(json)?,
        namespace,
        name,
        kind: TypeKind::Domain(Domain {
            base: read_type_name(domain["type"].as_str()?, types)?,
            nullable: domain["nullable"].as_bool()?,
            default: read_default(&domain["default"])?,
            checks: checks.collect::<Option<_>>()?,
        }),
    })
}

/// A column's type by its [stored name](LogicalType::stored_name); `None` also for one that the database does not have.
pub fn read_type_name(name: &str, types: &[Arc<TypeEntry>]) -> Option<LogicalType> {
    let ty = LogicalType::parse(name)?;
    let Some(numbered) = ty.enumeration_within() else {
        return Some(ty);
    };
    let entry = types.iter().find(|t| t.id.0 == numbered.id())?;
    let definition = entry.as_enumeration()?;
    Some(ty.with_definition(|_| definition))
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::LogicalType;
    use frazil_types::logical_type::WITHOUT_LENGTH;

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
            LogicalType::TIMESTAMP,
            LogicalType::TIMESTAMPTZ,
            LogicalType::Time(0),
            LogicalType::Timestamp(3),
            LogicalType::TEXT_ARRAY,
            Interval,
            Char(7),
            Char(WITHOUT_LENGTH),
            Varchar(9),
            Varchar(WITHOUT_LENGTH),
            Text,
        ] {
            assert_eq!(LogicalType::parse(&ty.to_string()), Some(ty));
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
            assert_eq!(LogicalType::parse(bad), None, "{bad}");
        }
        for value in [
            Value::Bool(true),
            Value::Int(i128::MIN),
            Value::Text("é".into()),
            Value::Bytes(vec![0, 255]),
            Value::Interval(frazil_types::Interval {
                months: -1,
                days: 2,
                micros: i64::MIN,
            }),
        ] {
            assert_eq!(read_value(&write_value(Some(&value))), Some(Some(value)));
        }
        assert_eq!(read_value(&write_value(None)), Some(None));
        assert_eq!(read_value(&json!({ "int": 1 })), None);
        let expression = ColumnDefault::Expression("a + 1".into());
        let identity = ColumnDefault::Identity {
            sequence: ObjectId(7),
            always: true,
        };
        let generated = ColumnDefault::Generated {
            text: "a + 1".into(),
            reads: vec![0, 3],
        };
        let value = ColumnDefault::Value(Value::Int(1));
        let all = [value, expression, identity, generated].map(Some);
        for default in all.into_iter().chain([None]) {
            assert_eq!(read_default(&write_default(default.as_ref())), Some(default));
        }
    }
}
