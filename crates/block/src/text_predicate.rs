//! Restrictions on raw strings, tested string by string: there are no codes whose order would help.

use frazil_kernels::LikePattern;
use frazil_types::string_ref::leading_bytes;
use frazil_types::{CompareOp, Error, RestrictionKind, Result, Value};
use std::cmp::Ordering;

/// A predicate on the bytes of one string.
#[derive(Debug)]
pub(crate) enum TextPredicate {
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

impl TextPredicate {
    /// The test of a restriction whose operands are not NULL, and which is not one of NULLs.
    pub fn new(kind: &RestrictionKind) -> Result<TextPredicate> {
        Ok(match kind {
            RestrictionKind::Compare(op, v) => TextPredicate::Compare(*op, text(v)?.to_vec()),
            RestrictionKind::Between(a, b) => TextPredicate::Between(text(a)?.to_vec(), text(b)?.to_vec()),
            RestrictionKind::In(values) => {
                let mut list = values
                    .iter()
                    .filter(|v| !v.is_null())
                    .map(|v| text(v).map(<[u8]>::to_vec))
                    .collect::<Result<Vec<_>>>()?;
                list.sort_unstable();
                TextPredicate::In(list)
            }
            RestrictionKind::Prefix(p) => TextPredicate::Prefix(p.as_bytes().to_vec()),
            RestrictionKind::Like { pattern, negated } => TextPredicate::Like {
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
            TextPredicate::Compare(op, v) => op.holds(string.cmp(v)),
            TextPredicate::Between(a, b) => string >= &a[..] && string <= &b[..],
            TextPredicate::In(list) => list.binary_search_by(|v| v[..].cmp(string)).is_ok(),
            TextPredicate::Prefix(p) => string.starts_with(p),
            TextPredicate::Like { pattern, negated } => pattern.matches(string) != *negated,
        }
    }

    /// Sets the bit of each string that passes and clears the others': string `i` is `text[offsets[i]..offsets[i + 1]]`.
    pub fn match_heap(&self, text: &[u8], offsets: &[u32], bits: &mut [u64]) {
        match self {
            TextPredicate::Compare(op, v) => {
                let bound = Bound::new(v);
                match op {
                    CompareOp::Lt => match_each(text, offsets, bits, |s| bound.order(s).is_lt()),
                    CompareOp::Le => match_each(text, offsets, bits, |s| bound.order(s).is_le()),
                    CompareOp::Gt => match_each(text, offsets, bits, |s| bound.order(s).is_gt()),
                    CompareOp::Ge => match_each(text, offsets, bits, |s| bound.order(s).is_ge()),
                    CompareOp::Eq => match_each(text, offsets, bits, |s| s == &v[..]),
                    CompareOp::Ne => match_each(text, offsets, bits, |s| s != &v[..]),
                }
            }
            TextPredicate::Between(a, b) => {
                let (a, b) = (Bound::new(a), Bound::new(b));
                match_each(text, offsets, bits, |s| a.order(s).is_ge() && b.order(s).is_le());
            }
            TextPredicate::In(_) | TextPredicate::Prefix(_) | TextPredicate::Like { .. } => {
                match_each(text, offsets, bits, |s| self.matches(s));
            }
        }
    }

    /// What follows for all strings between `min` and `max`: all pass, none does, or neither is known.
    pub fn over_bounds(&self, min: &[u8], max: &[u8]) -> Option<bool> {
        match self {
            TextPredicate::Compare(op, v) => compare_bounds(*op, min.cmp(v), max.cmp(v)),
            TextPredicate::Between(a, b) => {
                if min >= &a[..] && max <= &b[..] {
                    Some(true)
                } else if a > b || max < &a[..] || min > &b[..] {
                    Some(false)
                } else {
                    None
                }
            }
            TextPredicate::In(list) => {
                let inside = list.iter().any(|v| &v[..] >= min && &v[..] <= max);
                (!inside).then_some(false)
            }
            TextPredicate::Prefix(p) => {
                let cut = |s: &[u8]| s[..s.len().min(p.len())].cmp(p);
                match (cut(min), cut(max)) {
                    (Ordering::Equal, Ordering::Equal) => Some(true),
                    (Ordering::Greater, _) | (_, Ordering::Less) => Some(false),
                    _ => None,
                }
            }
            TextPredicate::Like { .. } => None,
        }
    }
}

/// A string that others are compared with, by their first bytes where these differ.
struct Bound<'a> {
    bytes: &'a [u8],
    head: u128,
}

impl Bound<'_> {
    fn new(bytes: &[u8]) -> Bound<'_> {
        Bound {
            bytes,
            head: leading_bytes(bytes),
        }
    }

    /// How a string stands to this one.
    #[inline]
    fn order(&self, string: &[u8]) -> Ordering {
        // Zeros behind a short string put it in front of those that it begins, or leave it equal to them.
        leading_bytes(string)
            .cmp(&self.head)
            .then_with(|| string.cmp(self.bytes))
    }
}

/// Sets the bits of strings that pass, those of 64 at a time.
#[inline]
fn match_each(text: &[u8], offsets: &[u32], bits: &mut [u64], passes: impl Fn(&[u8]) -> bool) {
    let mut rows = offsets.windows(2);
    for word in bits {
        *word = (rows.by_ref().take(64).enumerate()).fold(0, |word, (i, ends)| {
            word | u64::from(passes(&text[ends[0] as usize..ends[1] as usize])) << i
        });
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn string() -> impl Strategy<Value = Vec<u8>> {
        let short = prop::collection::vec(prop::sample::select(vec![0_u8, 1, b'a', 255]), 0..20);
        (
            prop::sample::select(vec!["", "id000000", "a string of more bytes"]),
            short,
        )
            .prop_map(|(start, end)| [start.as_bytes(), &end[..]].concat())
    }

    proptest! {
        #[test]
        fn a_heap_passes_as_its_strings_do(
            strings in prop::collection::vec(string(), 0..200),
            (a, b) in (string(), string()),
        ) {
            let (text, mut offsets) = (strings.concat(), vec![0_u32]);
            for s in &strings {
                offsets.push(offsets[offsets.len() - 1] + s.len() as u32);
            }
            let ops = [CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge, CompareOp::Eq, CompareOp::Ne];
            let mut tests: Vec<_> = ops.into_iter().map(|op| TextPredicate::Compare(op, a.clone())).collect();
            tests.push(TextPredicate::Between(a.clone(), b.clone()));
            tests.push(TextPredicate::Prefix(a));
            for test in tests {
                let mut bits = vec![u64::MAX; strings.len().div_ceil(64)];
                test.match_heap(&text, &offsets, &mut bits);
                for i in 0..bits.len() * 64 {
                    let expected = strings.get(i).is_some_and(|s| test.matches(s));
                    prop_assert_eq!(bits[i / 64] >> (i % 64) & 1 == 1, expected, "{:?} of {:?}", &test, strings.get(i));
                }
            }
        }
    }
}
