//! Restrictions on raw strings, tested string by string: there are no codes whose order would help.

use frazil_kernels::LikePattern;
use frazil_types::{CompareOp, Error, RestrictionKind, Result, Value};
use std::cmp::Ordering;

/// A predicate on the bytes of one string.
#[derive(Debug)]
pub(crate) enum TextTest {
    /// A comparison.
    Compare(CompareOp, Vec<u8>),
    /// Both bounds inclusive.
    Between(Vec<u8>, Vec<u8>),
    /// Any of these, ascending.
    In(Vec<Vec<u8>>),
    /// Begins so.
    Prefix(Vec<u8>),
    /// LIKE or NOT LIKE.
    Like {
        /// The pattern.
        pattern: LikePattern,
        /// NOT LIKE.
        negated: bool,
    },
}

/// The bytes of an operand that is a text, or bytes.
pub(crate) fn text(value: &Value) -> Result<&[u8]> {
    value
        .as_bytes()
        .ok_or_else(|| Error::internal(format!("a restriction compares a string column with {value:?}")))
}

impl TextTest {
    /// The test of a restriction whose operands are not NULL, and which is not one of NULLs.
    pub fn new(kind: &RestrictionKind) -> Result<TextTest> {
        Ok(match kind {
            RestrictionKind::Compare(op, v) => TextTest::Compare(*op, text(v)?.to_vec()),
            RestrictionKind::Between(a, b) => TextTest::Between(text(a)?.to_vec(), text(b)?.to_vec()),
            RestrictionKind::In(values) => {
                let mut list = values
                    .iter()
                    .filter(|v| !v.is_null())
                    .map(|v| text(v).map(<[u8]>::to_vec))
                    .collect::<Result<Vec<_>>>()?;
                list.sort_unstable();
                TextTest::In(list)
            }
            RestrictionKind::Prefix(p) => TextTest::Prefix(p.as_bytes().to_vec()),
            RestrictionKind::Like { pattern, negated } => TextTest::Like {
                pattern: LikePattern::compile(pattern, Some('\\'))?,
                negated: *negated,
            },
            RestrictionKind::IsNull | RestrictionKind::IsNotNull => {
                return Err(Error::internal("a test of NULLs is no test of strings"));
            }
        })
    }

    /// Whether a string passes.
    #[inline]
    pub fn matches(&self, string: &[u8]) -> bool {
        match self {
            TextTest::Compare(op, v) => op.holds(string.cmp(v)),
            TextTest::Between(a, b) => string >= &a[..] && string <= &b[..],
            TextTest::In(list) => list.binary_search_by(|v| v[..].cmp(string)).is_ok(),
            TextTest::Prefix(p) => string.starts_with(p),
            TextTest::Like { pattern, negated } => pattern.matches(string) != *negated,
        }
    }

    /// What follows for all strings between `min` and `max`: all pass, none does, or neither is known.
    pub fn over_bounds(&self, min: &[u8], max: &[u8]) -> Option<bool> {
        match self {
            TextTest::Compare(op, v) => compare_bounds(*op, min.cmp(v), max.cmp(v)),
            TextTest::Between(a, b) => {
                if min >= &a[..] && max <= &b[..] {
                    Some(true)
                } else if a > b || max < &a[..] || min > &b[..] {
                    Some(false)
                } else {
                    None
                }
            }
            TextTest::In(list) => {
                let inside = list.iter().any(|v| &v[..] >= min && &v[..] <= max);
                (!inside).then_some(false)
            }
            TextTest::Prefix(p) => {
                let cut = |s: &[u8]| s[..s.len().min(p.len())].cmp(p);
                match (cut(min), cut(max)) {
                    (Ordering::Equal, Ordering::Equal) => Some(true),
                    (Ordering::Greater, _) | (_, Ordering::Less) => Some(false),
                    _ => None,
                }
            }
            TextTest::Like { .. } => None,
        }
    }
}

/// A comparison over all values between a minimum and a maximum that compare so with its operand.
fn compare_bounds(op: CompareOp, min: Ordering, max: Ordering) -> Option<bool> {
    let outside = min == Ordering::Greater || max == Ordering::Less;
    let all_equal = min == Ordering::Equal && max == Ordering::Equal;
    match op {
        CompareOp::Eq if outside => Some(false),
        CompareOp::Eq if all_equal => Some(true),
        CompareOp::Ne if outside => Some(true),
        CompareOp::Ne if all_equal => Some(false),
        CompareOp::Eq | CompareOp::Ne => None,
        // Orders are monotonic: what holds at both ends holds between them.
        op => (op.holds(min) == op.holds(max)).then(|| op.holds(min)),
    }
}
