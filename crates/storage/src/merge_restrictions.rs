//! Two bounds on one column are one range: it is matched once, and its PSMA is asked once.

use frazil_types::{CompareOp, Disjunction, Restriction, RestrictionKind, Schema, Value};

/// The same conjunction with the bounds of each integer-like column merged into one `BETWEEN`.
pub fn merge_ranges(schema: &Schema, restrictions: Vec<Restriction>) -> Vec<Restriction> {
    let mut merged: Vec<Restriction> = Vec::with_capacity(restrictions.len());
    // Per column with bounds: where its first bound stands among `merged`.
    let mut ranges: Vec<(usize, i128, i128)> = Vec::new();
    for restriction in restrictions {
        let integer = (schema.columns.get(restriction.column)).is_some_and(|c| Value::is_int_like(c.ty));
        let Some((low, high)) = bounds(&restriction.kind).filter(|_| integer) else {
            merged.push(restriction);
            continue;
        };
        let known = (ranges.iter_mut()).find(|r| merged[r.0].column == restriction.column);
        match known {
            None => {
                ranges.push((merged.len(), low, high));
                merged.push(restriction);
            }
            Some((at, least, most)) => {
                (*least, *most) = ((*least).max(low), (*most).min(high));
                merged[*at].kind = RestrictionKind::Between(Value::Int(*least), Value::Int(*most));
            }
        }
    }
    merged
}

/// The same disjunctions with the bounds of each alternative merged.
pub fn merge_alternatives(schema: &Schema, disjunctions: Vec<Disjunction>) -> Vec<Disjunction> {
    let merge = |d: Disjunction| Disjunction {
        alternatives: (d.alternatives.into_iter().map(|a| merge_ranges(schema, a))).collect(),
    };
    disjunctions.into_iter().map(merge).collect()
}

/// The values a bound lets pass, both ends included.
fn bounds(kind: &RestrictionKind) -> Option<(i128, i128)> {
    let (least, most) = (i128::MIN, i128::MAX);
    Some(match kind {
        RestrictionKind::Compare(CompareOp::Lt, Value::Int(x)) => (least, x.checked_sub(1)?),
        RestrictionKind::Compare(CompareOp::Le, Value::Int(x)) => (least, *x),
        RestrictionKind::Compare(CompareOp::Gt, Value::Int(x)) => (x.checked_add(1)?, most),
        RestrictionKind::Compare(CompareOp::Ge, Value::Int(x)) => (*x, most),
        RestrictionKind::Between(Value::Int(low), Value::Int(high)) => (*low, *high),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{ColumnDef, LogicalType};

    #[test]
    fn bounds_of_one_column_become_one_range() {
        let schema = Schema::new(vec![
            ColumnDef::new("a", LogicalType::Date),
            ColumnDef::new("b", LogicalType::Double),
        ]);
        let compare = |column, op, x| Restriction {
            column,
            kind: RestrictionKind::Compare(op, Value::Int(x)),
        };
        let double = Restriction {
            column: 1,
            kind: RestrictionKind::Compare(CompareOp::Lt, Value::Double(1.0)),
        };
        let merged = merge_ranges(
            &schema,
            vec![
                compare(0, CompareOp::Ge, 10),
                double.clone(),
                compare(0, CompareOp::Lt, 20),
                compare(0, CompareOp::Ne, 12),
            ],
        );
        let between = Restriction {
            column: 0,
            kind: RestrictionKind::Between(Value::Int(10), Value::Int(19)),
        };
        assert_eq!(merged, [between, double, compare(0, CompareOp::Ne, 12)]);
    }
}
