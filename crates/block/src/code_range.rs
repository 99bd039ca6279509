//! Translation of restrictions into the codes of one block's column (Data Blocks, section 3.4): the
//! only place that knows both. What a restriction asks of values becomes ranges of ordinals (see
//! [`crate::encodings`]), clipped to those the block has, and these become codes. So constants
//! outside the block, absent from its dictionary, or satisfied by all its values cost nothing to scan.

use crate::block::Block;
use crate::encodings::Encoding;
use crate::encodings::decimal::Ladder;
use crate::encodings::patched::PatchedRange;
use crate::format::{ColumnEntry, FLAG_SMA};
use crate::resolve::{dispatch_integer, widen};
use crate::sma::{ordinal_bounds_of_f64, ordinal_of_f64};
use crate::text_predicate::{TextPredicate, text};
use frazil_types::{CompareOp, Error, NativeType, RestrictionKind, Result, StringRef, Value};

/// Codes that satisfy a restriction. Of a raw column of numbers the "codes" are ordinals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeRange {
    /// No row matches.
    None,
    /// Every row that is not NULL matches.
    All,
    /// Codes from the first to the second, both inclusive.
    Range(u64, u64),
    /// All codes but these, in a column without NULLs.
    Except(u64, u64),
    /// Codes in any of these ascending, disjoint ranges.
    Ranges(Vec<(u64, u64)>),
    /// Codes whose bit is set.
    Set(Vec<u64>),
}

/// A restriction in terms of one column of one block.
#[derive(Debug)]
pub(crate) enum Translated {
    /// Rows that are NULL.
    Null,
    /// By codes, with the ascending, disjoint, inclusive ranges of ordinals they come from.
    Codes(CodeRange, Vec<(u64, u64)>),
    /// By codes and exceptions of a patched column, with the ranges of ordinals they come from.
    Patched(PatchedRange, Vec<(u64, u64)>),
    /// By ordinals, in any of these ascending, disjoint, inclusive ranges.
    Frames(Vec<(u64, u64)>),
    /// Wide integers, in any of these inclusive ranges.
    Wide(Vec<(i128, i128)>),
    /// Raw strings.
    Text(TextPredicate),
}

/// Half-open range of ordinals, in 128 bits so that the end has room.
type Span = (u128, u128);

/// The ordered values of a column and their ordinals.
enum Domain<'a> {
    /// Ordinal = value − min.
    Delta { min: i128, top: u64 },
    /// Ordinal = distance of the integer of a decimal to the smallest.
    Decimal(Ladder),
    /// Ordinal = ordered bits.
    Double { first: u64, last: u64 },
    /// Ordinal = index of the value.
    Numbers(Vec<i128>),
    /// The same of doubles, by ordered bits.
    Doubles(&'a [f64]),
    /// The same of strings.
    Strings(&'a [StringRef]),
}

fn int(value: &Value) -> Result<i128> {
    value
        .as_int()
        .ok_or_else(|| Error::internal(format!("a restriction compares an integer column with {value:?}")))
}

fn double(value: &Value) -> Result<f64> {
    match value {
        Value::Double(d) => Ok(*d),
        Value::Int(i) => Ok(*i as f64),
        other => Err(Error::internal(format!(
            "a restriction compares a double column with {other:?}"
        ))),
    }
}

impl Domain<'_> {
    /// All ordinals.
    fn span(&self) -> Span {
        match self {
            Domain::Delta { top, .. } => (0, u128::from(*top) + 1),
            Domain::Decimal(ladder) => (0, u128::from(ladder.top) + 1),
            Domain::Double { first, last } => (u128::from(*first), u128::from(*last) + 1),
            Domain::Numbers(values) => (0, values.len() as u128),
            Domain::Doubles(values) => (0, values.len() as u128),
            Domain::Strings(values) => (0, values.len() as u128),
        }
    }

    /// Ordinals whose value equals `value`: an empty span at its place if there is none.
    fn equal(&self, value: &Value) -> Result<Span> {
        let (first, end) = self.span();
        Ok(match self {
            Domain::Delta { min, .. } => {
                let value = int(value)?;
                // Beyond 128 bits it is beyond the block as well.
                let at = |v: Option<i128>| match v.and_then(|v| v.checked_sub(*min)) {
                    Some(delta) if delta < 0 => 0,
                    Some(delta) => (delta as u128).min(end),
                    None if value < *min => 0,
                    None => end,
                };
                (at(Some(value)), at(value.checked_add(1)))
            }
            Domain::Decimal(ladder) => {
                let (low, end) = ladder.equal(double(value)?);
                (low.into(), end.into())
            }
            Domain::Double { .. } => {
                let (low, high) = ordinal_bounds_of_f64(double(value)?);
                let clip = |o: u128| o.clamp(first, end);
                (clip(low.into()), clip(u128::from(high) + 1))
            }
            Domain::Numbers(values) => {
                let value = int(value)?;
                let low = values.partition_point(|v| *v < value);
                let high = values.partition_point(|v| *v <= value);
                (low as u128, high as u128)
            }
            Domain::Doubles(values) => {
                let (low, high) = ordinal_bounds_of_f64(double(value)?);
                let from = values.partition_point(|v| ordinal_of_f64(*v) < low);
                let to = values.partition_point(|v| ordinal_of_f64(*v) <= high);
                (from as u128, to as u128)
            }
            Domain::Strings(_) => {
                let value = text(value)?;
                let low = self.strings_until(|s| s < value);
                (low, self.strings_until(|s| s <= value))
            }
        })
    }

    /// Number of leading strings for which `before` holds.
    fn strings_until(&self, before: impl Fn(&[u8]) -> bool) -> u128 {
        match self {
            // SAFETY: the prepared references point into the block that is being translated for.
            Domain::Strings(values) => values.partition_point(|s| before(unsafe { s.bytes() })) as u128,
            _ => 0,
        }
    }

    /// Ordinals that a restriction's values make up; operands are not NULL.
    fn spans(&self, kind: &RestrictionKind) -> Result<Vec<Span>> {
        let (first, end) = self.span();
        Ok(match kind {
            RestrictionKind::Compare(op, value) => {
                let (low, high) = self.equal(value)?;
                match op {
                    CompareOp::Eq => vec![(low, high)],
                    CompareOp::Ne => vec![(first, low), (high, end)],
                    CompareOp::Lt => vec![(first, low)],
                    CompareOp::Le => vec![(first, high)],
                    CompareOp::Gt => vec![(high, end)],
                    CompareOp::Ge => vec![(low, end)],
                }
            }
            RestrictionKind::Between(a, b) => vec![(self.equal(a)?.0, self.equal(b)?.1)],
            RestrictionKind::In(values) => values
                .iter()
                .filter(|v| !v.is_null())
                .map(|v| self.equal(v))
                .collect::<Result<_>>()?,
            RestrictionKind::IsNotNull => vec![(first, end)],
            RestrictionKind::IsNull => vec![],
            RestrictionKind::Prefix(prefix) if self.is_text() => {
                let prefix = prefix.as_bytes();
                let cut = |s: &[u8]| s[..s.len().min(prefix.len())].cmp(prefix);
                let low = self.strings_until(|s| cut(s).is_lt());
                vec![(low, self.strings_until(|s| cut(s).is_le()))]
            }
            RestrictionKind::Prefix(_) | RestrictionKind::Like { .. } => {
                self.entries_that_match(&TextPredicate::new(kind)?)?
            }
        })
    }

    fn is_text(&self) -> bool {
        matches!(self, Domain::Strings(_))
    }

    /// Evaluates a test once per dictionary entry, or per code point a char(1) column may hold.
    fn entries_that_match(&self, test: &TextPredicate) -> Result<Vec<Span>> {
        let ordinal = |i: usize| (i as u128, i as u128 + 1);
        let is_match = |v: i128| {
            let c = u32::try_from(v).ok().and_then(char::from_u32);
            c.is_some_and(|c| test.matches(c.encode_utf8(&mut [0; 4]).as_bytes()))
        };
        Ok(match self {
            Domain::Strings(values) => (0..values.len())
                // SAFETY: as in `strings_until`.
                .filter(|&i| test.matches(unsafe { values[i].bytes() }))
                .map(ordinal)
                .collect(),
            Domain::Numbers(values) => (0..values.len())
                .filter(|&i| is_match(values[i]))
                .map(ordinal)
                .collect(),
            Domain::Delta { min, top } if *min >= 0 && *top <= u64::from(u32::from(char::MAX)) => (0..=*top
                as usize)
                .filter(|&i| is_match(min + i as i128))
                .map(ordinal)
                .collect(),
            _ => return Err(Error::internal("LIKE on a column that holds no strings")),
        })
    }
}

/// Sorts spans, drops empty ones and joins those that touch.
fn normalize(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|(low, high)| low < high);
    spans.sort_unstable();
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for (low, high) in spans {
        match out.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => out.push((low, high)),
        }
    }
    out
}

/// The first and the last ordinal of each of some spans, none of which is empty.
fn inclusive(spans: &[Span]) -> Vec<(u64, u64)> {
    spans.iter().map(|s| (s.0 as u64, (s.1 - 1) as u64)).collect()
}

/// The codes of normalized spans within `whole`; `shift` is 1 where code 0 is NULL.
fn to_codes(spans: &[Span], whole: Span, shift: u64, narrow: bool) -> CodeRange {
    let inclusive = |s: &Span| (s.0 as u64 + shift, (s.1 - 1) as u64 + shift);
    match spans {
        [] => CodeRange::None,
        [one] if *one == whole => CodeRange::All,
        [one] => {
            let (low, high) = inclusive(one);
            CodeRange::Range(low, high)
        }
        [a, b] if shift == 0 && a.0 == whole.0 && b.1 == whole.1 => {
            CodeRange::Except(a.1 as u64, (b.0 - 1) as u64)
        }
        many if narrow => {
            let last = inclusive(&many[many.len() - 1]).1;
            let mut set = vec![0u64; last as usize / 64 + 1];
            for (low, high) in many.iter().map(inclusive) {
                for code in low..=high {
                    set[code as usize / 64] |= 1 << (code % 64);
                }
            }
            CodeRange::Set(set)
        }
        many => CodeRange::Ranges(many.iter().map(inclusive).collect()),
    }
}

/// Whether an operand is NULL, so that no row can satisfy the restriction.
fn has_null_operand(kind: &RestrictionKind) -> bool {
    match kind {
        RestrictionKind::Compare(_, v) => v.is_null(),
        RestrictionKind::Between(a, b) => a.is_null() || b.is_null(),
        _ => false,
    }
}

impl Block {
    /// The codes of a column that satisfy a restriction. For a raw column of numbers they are ordinals:
    /// distances to the minimum, ordered bits of doubles. An error for raw strings and wide integers,
    /// which have neither.
    pub fn code_range(&self, column: usize, kind: &RestrictionKind) -> Result<CodeRange> {
        match self.translate(column, kind)? {
            Translated::Codes(range, _) => Ok(range),
            Translated::Null => Ok(CodeRange::Range(0, 0)),
            _ => Err(Error::internal("the column has no codes")),
        }
    }

    /// Translates a restriction. May touch the column (a dictionary has to be searched), and does not
    /// where the directory suffices to rule the block out.
    pub(crate) fn translate(&self, column: usize, kind: &RestrictionKind) -> Result<Translated> {
        let entry = self.entry(column);
        let none = Translated::Codes(CodeRange::None, vec![]);
        if *kind == RestrictionKind::IsNull {
            return Ok(match entry.null_count {
                0 => none,
                n if n == self.rows() => Translated::Codes(CodeRange::All, vec![]),
                _ => Translated::Null,
            });
        }
        if !entry.has(FLAG_SMA) || has_null_operand(kind) {
            return Ok(none);
        }
        if *kind == RestrictionKind::IsNotNull {
            return Ok(Translated::Codes(CodeRange::All, vec![]));
        }
        if self.sma_rules_out(column, kind)? {
            return Ok(none);
        }
        if entry.native == NativeType::String && entry.encoding != Encoding::Dictionary {
            return self.translate_text(column, kind);
        }
        if entry.native == NativeType::I128 && entry.encoding == Encoding::Raw && is_wide(entry) {
            return translate_wide(entry, kind);
        }
        let domain = self.domain(column)?;
        self.translate_spans(column, domain.span(), domain.spans(kind)?)
    }

    /// Translates restrictions of which one is to be satisfied, into one; `None` where the column has no
    /// ordinals to unite, or NULL is asked for beside values.
    pub(crate) fn translate_union(
        &self,
        column: usize,
        kinds: &[&RestrictionKind],
    ) -> Result<Option<Translated>> {
        let entry = self.entry(column);
        if kinds.iter().any(|kind| **kind == RestrictionKind::IsNull)
            || entry.native == NativeType::String && entry.encoding != Encoding::Dictionary
            || entry.native == NativeType::I128 && entry.encoding == Encoding::Raw
        {
            return Ok(None);
        }
        let mut left = Vec::with_capacity(kinds.len());
        for &kind in kinds {
            if !self.sma_rules_out(column, kind)? {
                left.push(kind);
            }
        }
        if left.is_empty() {
            return Ok(Some(Translated::Codes(CodeRange::None, vec![])));
        }
        let domain = self.domain(column)?;
        let mut spans = Vec::new();
        for kind in left {
            spans.append(&mut domain.spans(kind)?);
        }
        self.translate_spans(column, domain.span(), spans).map(Some)
    }

    /// The codes of a column's ordinals within spans of the `whole`.
    fn translate_spans(&self, column: usize, whole: Span, spans: Vec<Span>) -> Result<Translated> {
        let entry = self.entry(column);
        let spans = normalize(spans);
        let coded = !matches!(entry.encoding, Encoding::Constant | Encoding::Raw);
        let shift = u64::from(coded && entry.nullable());
        let in_parts = matches!(entry.encoding, Encoding::Patched | Encoding::Frames);
        if in_parts && !spans.is_empty() && spans[..] != [whole] {
            return self.translate_parts(column, &spans);
        }
        let narrow = coded && entry.code_bits <= 16;
        let codes = to_codes(&spans, whole, shift, narrow);
        Ok(Translated::Codes(codes, inclusive(&spans)))
    }

    /// Whether min and max alone say that no row matches (Data Blocks, section 3.2).
    pub(crate) fn sma_rules_out(&self, column: usize, kind: &RestrictionKind) -> Result<bool> {
        let entry = self.entry(column);
        if matches!(kind, RestrictionKind::IsNull) {
            return Ok(entry.null_count == 0);
        }
        if !entry.has(FLAG_SMA) || has_null_operand(kind) {
            return Ok(true);
        }
        let prefix_of_number =
            matches!(kind, RestrictionKind::Prefix(_)) && entry.native != NativeType::String;
        let undecided = matches!(kind, RestrictionKind::IsNotNull | RestrictionKind::Like { .. });
        if undecided || prefix_of_number {
            return Ok(false);
        }
        match entry.native {
            NativeType::String => {
                let test = TextPredicate::new(kind)?;
                let bounds = self.string_bounds(column);
                Ok(bounds.and_then(|(min, max)| test.over_bounds(min, max)) == Some(false))
            }
            NativeType::I128 if is_wide(entry) => {
                let wide = translate_wide(entry, kind)?;
                Ok(matches!(wide, Translated::Codes(CodeRange::None, _)))
            }
            _ => Ok(normalize(sma_domain(entry).spans(kind)?).is_empty()),
        }
    }

    fn translate_text(&self, column: usize, kind: &RestrictionKind) -> Result<Translated> {
        let test = TextPredicate::new(kind)?;
        let (min, max) = self.string_bounds(column).unwrap_or_default();
        let known = if min == max {
            Some(test.matches(min))
        } else {
            test.over_bounds(min, max)
        };
        Ok(match known {
            Some(true) => Translated::Codes(CodeRange::All, vec![]),
            Some(false) => Translated::Codes(CodeRange::None, vec![]),
            None => Translated::Text(test),
        })
    }

    /// Ranges of ordinals for encodings whose codes are not ordinals of the whole block.
    fn translate_parts(&self, column: usize, spans: &[Span]) -> Result<Translated> {
        let entry = self.entry(column);
        let wanted = inclusive(spans);
        self.touch(column)?;
        Ok(match entry.encoding {
            Encoding::Patched => Translated::Patched(self.patched_range(entry, &wanted), wanted),
            _ => Translated::Frames(wanted),
        })
    }

    fn domain(&self, column: usize) -> Result<Domain<'_>> {
        let entry = self.entry(column);
        if entry.encoding == Encoding::Decimal {
            return Ok(Domain::Decimal(Ladder::of(entry)));
        }
        if entry.encoding != Encoding::Dictionary {
            return Ok(sma_domain(entry));
        }
        self.touch(column)?;
        let skip = usize::from(entry.nullable());
        Ok(match entry.native {
            NativeType::String => Domain::Strings(&self.prepared_strings(column)[skip..]),
            NativeType::F64 => Domain::Doubles(&self.slice::<f64>(entry.sections.dictionary)[skip..]),
            native => dispatch_integer!(native, T => Domain::Numbers(
                self.slice::<T>(entry.sections.dictionary)[skip..]
                    .iter()
                    .map(widen)
                    .collect(),
            ), _ => sma_domain(entry)),
        })
    }
}

/// Whether the values span more than 64 bits.
fn is_wide(entry: &ColumnEntry) -> bool {
    entry
        .max
        .checked_sub(entry.min)
        .is_none_or(|d| u64::try_from(d).is_err())
}

/// The domain that min and max make up.
fn sma_domain(entry: &ColumnEntry) -> Domain<'static> {
    if entry.native == NativeType::F64 {
        return Domain::Double {
            first: ordinal_of_f64(f64::from_bits(entry.min as u64)),
            last: ordinal_of_f64(f64::from_bits(entry.max as u64)),
        };
    }
    Domain::Delta {
        min: entry.min,
        top: (entry.max.wrapping_sub(entry.min)) as u64,
    }
}

/// Ranges of 128-bit integers whose distance to the minimum does not fit in 64 bits.
fn translate_wide(entry: &ColumnEntry, kind: &RestrictionKind) -> Result<Translated> {
    let below = |v: i128| v.checked_sub(1).map(|end| (i128::MIN, end));
    let above = |v: i128| v.checked_add(1).map(|start| (start, i128::MAX));
    let ranges: Vec<Option<(i128, i128)>> = match kind {
        RestrictionKind::Compare(op, value) => {
            let v = int(value)?;
            match op {
                CompareOp::Eq => vec![Some((v, v))],
                CompareOp::Ne => vec![below(v), above(v)],
                CompareOp::Lt => vec![below(v)],
                CompareOp::Le => vec![Some((i128::MIN, v))],
                CompareOp::Gt => vec![above(v)],
                CompareOp::Ge => vec![Some((v, i128::MAX))],
            }
        }
        RestrictionKind::Between(a, b) => vec![Some((int(a)?, int(b)?))],
        RestrictionKind::In(values) => values
            .iter()
            .filter(|v| !v.is_null())
            .map(|v| int(v).map(|v| Some((v, v))))
            .collect::<Result<_>>()?,
        _ => {
            return Err(Error::internal(
                "a restriction on strings meets an integer column",
            ));
        }
    };
    let clipped: Vec<_> = ranges
        .into_iter()
        .flatten()
        .map(|(low, high)| (low.max(entry.min), high.min(entry.max)))
        .filter(|(low, high)| low <= high)
        .collect();
    Ok(match &clipped[..] {
        [] => Translated::Codes(CodeRange::None, vec![]),
        [one] if *one == (entry.min, entry.max) => Translated::Codes(CodeRange::All, vec![]),
        _ => Translated::Wide(clipped),
    })
}
