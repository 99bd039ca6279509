//! Where a piece of a statement stands in its text.

/// A range of bytes of a statement's text. [`Span::NONE`] where no text was written, as for an expression
/// that a rule made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// No place in the text.
    pub const NONE: Span = Span {
        start: u32::MAX,
        end: u32::MAX,
    };

    /// Bytes `start` to `end` of a text.
    pub fn new(start: usize, end: usize) -> Span {
        let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span {
            start: offset(start),
            end: offset(end),
        }
    }

    /// Whether it is a place in a text.
    pub fn is_some(self) -> bool {
        self != Span::NONE
    }

    /// The smallest span that holds both. One that is [`Span::NONE`] does not count.
    pub fn to(self, other: Span) -> Span {
        match (self.is_some(), other.is_some()) {
            (false, _) => other,
            (_, false) => self,
            _ => Span {
                start: self.start.min(other.start),
                end: self.end.max(other.end),
            },
        }
    }

    /// The span's place in `text` as PostgreSQL counts it: characters from 1. `None` outside the text.
    pub fn position(self, text: &str) -> Option<usize> {
        let before = text.get(..self.start as usize)?;
        Some(before.chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let text = "select 'größe', x";
        let at = text.find("x").unwrap();
        assert_eq!(Span::new(at, at + 1).position(text), Some(17));
        assert_eq!(Span::NONE.position(text), None);
    }

    #[test]
    fn joins_what_is_somewhere() {
        let (a, b) = (Span::new(3, 5), Span::new(8, 9));
        assert_eq!(a.to(b), Span::new(3, 9));
        assert_eq!(a.to(Span::NONE), a);
        assert_eq!(Span::NONE.to(b), b);
    }
}
