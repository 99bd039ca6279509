//! The rows that restrictions of row ids leave: those of a list, or all of some chunks.

use frazil_types::{CompareOp, RestrictionKind, RowId, Value};
use std::ops::RangeInclusive;

/// The places of the rows that satisfy restrictions of their tids.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RowPlaces {
    /// These rows, or some of them.
    Rows(Vec<RowId>),
    /// In the chunks of these numbers.
    Chunks(RangeInclusive<u32>),
}

impl RowPlaces {
    /// The places that a conjunction of restrictions leaves; `None` if that is all of them.
    pub fn of(restrictions: &[RestrictionKind]) -> Option<RowPlaces> {
        let (mut least, mut greatest) = (i64::MIN, i64::MAX);
        let mut list: Option<Vec<i64>> = None;
        for kind in restrictions {
            match kind {
                RestrictionKind::Compare(CompareOp::Eq, value) => {
                    list.get_or_insert_with(|| tid(value).into_iter().collect());
                }
                RestrictionKind::In(values) => {
                    list.get_or_insert_with(|| values.iter().filter_map(tid).collect());
                }
                RestrictionKind::Between(low, high) => {
                    least = least.max(tid(low).unwrap_or(i64::MAX));
                    greatest = greatest.min(tid(high).unwrap_or(i64::MIN));
                }
                RestrictionKind::Compare(CompareOp::Ge | CompareOp::Gt, value) => {
                    least = least.max(tid(value).unwrap_or(i64::MAX));
                }
                RestrictionKind::Compare(CompareOp::Le | CompareOp::Lt, value) => {
                    greatest = greatest.min(tid(value).unwrap_or(i64::MIN));
                }
                RestrictionKind::Compare(CompareOp::Ne, _)
                | RestrictionKind::IsNull
                | RestrictionKind::IsNotNull
                | RestrictionKind::Prefix(_)
                | RestrictionKind::Like { .. } => {}
            }
        }
        if let Some(list) = list {
            let in_range = list.into_iter().filter(|tid| (least..=greatest).contains(tid));
            return Some(RowPlaces::Rows(in_range.filter_map(RowId::of_tid).collect()));
        }
        match (least, greatest) {
            (i64::MIN, i64::MAX) => None,
            _ if greatest < 0 || least > greatest => Some(RowPlaces::Rows(Vec::new())),
            _ => {
                let first = RowId::at_or_behind(least.max(0)).chunk();
                let last = RowId::at_or_behind(greatest.min(LAST_TID)).chunk();
                Some(RowPlaces::Chunks(first..=last))
            }
        }
    }
}

/// A tid that is behind those of all rows.
const LAST_TID: i64 = (1 << 48) - 1;

/// The tid of a value; `None` for NULL, which no row has.
fn tid(value: &Value) -> Option<i64> {
    value.as_int().and_then(|tid| i64::try_from(tid).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tid_of(row: u64) -> Value {
        Value::Int(RowId(row).to_tid().into())
    }

    #[test]
    fn a_list_within_a_range() {
        let rows = [5, 0x1_0000, 0x2_0001].map(tid_of).to_vec();
        let list = RestrictionKind::In(rows);
        assert_eq!(
            RowPlaces::of(&[
                list.clone(),
                RestrictionKind::Compare(CompareOp::Lt, tid_of(0x2_0000))
            ]),
            Some(RowPlaces::Rows(vec![RowId(5), RowId(0x1_0000)]))
        );
        let no_row = RestrictionKind::Compare(CompareOp::Eq, Value::Int(0));
        assert_eq!(RowPlaces::of(&[no_row, list]), Some(RowPlaces::Rows(vec![])));
        let null = RestrictionKind::Compare(CompareOp::Eq, Value::Null);
        assert_eq!(RowPlaces::of(&[null]), Some(RowPlaces::Rows(vec![])));
    }

    #[test]
    fn chunks_of_a_range() {
        let between = |low, high| RowPlaces::of(&[RestrictionKind::Between(low, high)]);
        assert_eq!(
            between(tid_of(0x1_0005), tid_of(0x3_0000)),
            Some(RowPlaces::Chunks(1..=3))
        );
        let (first, last) = (Value::Int(0), Value::Int(i128::from(u32::MAX) << 16));
        assert_eq!(between(first, last), Some(RowPlaces::Chunks(0..=i32::MAX as u32)));
        assert_eq!(between(tid_of(9), tid_of(8)), Some(RowPlaces::Rows(vec![])));
        assert_eq!(between(Value::Null, tid_of(8)), Some(RowPlaces::Rows(vec![])));
        assert_eq!(RowPlaces::of(&[]), None);
        let from = RestrictionKind::Compare(CompareOp::Gt, tid_of(0xffff));
        assert_eq!(RowPlaces::of(&[from]), Some(RowPlaces::Chunks(0..=0x8000_0000)));
    }
}
