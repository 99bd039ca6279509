//! LIKE: a pattern compiled once, matched against one string or a whole vector.
//!
//! A pattern without `_` is a prefix, needles to be found one after the other, and a suffix; any of them may be
//! missing. Leftmost matches are enough: if the rest cannot follow the leftmost match of a needle, it cannot follow a
//! later one. The needles are found by `memchr::memmem`, which picks its own SIMD. A pattern with `_` (one code point)
//! takes the general matcher. [`automaton`] matches strings of FSST codes as they are stored.
//!
//! `%a%b%` over strings that lie one after the other in a heap searches for `a` over all of them at
//! once: setting a search up per string would cost more than the search (TPC-H query 13).

pub mod automaton;
mod compile;
mod vector;

use compile::Segment;
use memchr::memmem::Finder;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct LikePattern {
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    /// No wildcard at all.
    Exact(Vec<u8>),
    /// `prefix%needle%…%suffix`, without `_`.
    Literal {
        prefix: Vec<u8>,
        needles: Vec<Finder<'static>>,
        suffix: Vec<u8>,
    },
    /// Some `_` and no `%`.
    Single(Segment),
    /// Some `_` and some `%`.
    General {
        first: Segment,
        middle: Vec<Segment>,
        last: Segment,
    },
}

impl LikePattern {
    /// Whether the pattern matches; `text` is UTF-8.
    pub fn matches(&self, text: &[u8]) -> bool {
        match &self.shape {
            Shape::Exact(exact) => text == &exact[..],
            Shape::Literal {
                prefix,
                needles,
                suffix,
            } => strip(text, prefix, suffix).is_some_and(|rest| find_in_order(needles, rest)),
            Shape::Single(segment) => segment.match_at(text, 0) == Some(text.len()),
            Shape::General { first, middle, last } => match_general(first, middle, last, text),
        }
    }

    /// The string this pattern equals, if it has no wildcard.
    pub fn as_exact(&self) -> Option<&[u8]> {
        match &self.shape {
            Shape::Exact(exact) => Some(exact),
            _ => None,
        }
    }

    /// The prefix, if the pattern is `prefix%` and nothing more.
    pub fn as_prefix(&self) -> Option<&[u8]> {
        match &self.shape {
            Shape::Literal {
                prefix,
                needles,
                suffix,
            } if needles.is_empty() && suffix.is_empty() => Some(prefix),
            _ => None,
        }
    }

    /// True if the pattern is `%needle%…%`: its needles are searched by SIMD.
    pub fn is_search(&self) -> bool {
        self.as_contains().is_some()
    }

    /// The needles, if the pattern is `%needle%…%` with nothing fixed at either end.
    fn as_contains(&self) -> Option<(&Finder<'static>, &[Finder<'static>])> {
        match &self.shape {
            Shape::Literal {
                prefix,
                needles,
                suffix,
            } if prefix.is_empty() && suffix.is_empty() => needles.split_first(),
            _ => None,
        }
    }
}

/// The text between a prefix and a suffix; `None` if it does not have both. An empty one is not compared: libc compares
/// no bytes by a masked load, and the address of an empty `Vec` is not mapped, which costs 100 cycles on a Zen 4.
#[inline]
fn strip<'a>(text: &'a [u8], prefix: &[u8], suffix: &[u8]) -> Option<&'a [u8]> {
    let text = match prefix {
        [] => text,
        prefix => text.strip_prefix(prefix)?,
    };
    match suffix {
        [] => Some(text),
        suffix => text.strip_suffix(suffix),
    }
}

fn find_in_order(needles: &[Finder<'static>], mut text: &[u8]) -> bool {
    for needle in needles {
        match needle.find(text) {
            Some(at) => text = &text[at + needle.needle().len()..],
            None => return false,
        }
    }
    true
}

fn match_general(first: &Segment, middle: &[Segment], last: &Segment, text: &[u8]) -> bool {
    let Some(mut at) = first.match_at(text, 0) else {
        return false;
    };
    for segment in middle {
        match char_starts(text, at).find_map(|start| segment.match_at(text, start)) {
            Some(end) => at = end,
            None => return false,
        }
    }
    char_starts(text, at).any(|start| last.match_at(text, start) == Some(text.len()))
}

/// Offsets from `at` on where a code point begins, the end included.
fn char_starts(text: &[u8], at: usize) -> impl Iterator<Item = usize> + '_ {
    (at..=text.len()).filter(|&i| text.get(i).is_none_or(|b| b & 0xC0 != 0x80))
}
