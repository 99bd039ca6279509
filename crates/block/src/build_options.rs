//! What a freeze may ask of the builder: what a column is to be good at, or how exactly it is to be held.

use crate::cost_model::{Calibration, Weights};
use crate::encodings::Encoding;
use crate::layouts::Layout;
use crate::observed::Observed;
use frazil_types::{Error, Result, SqlState};
use std::fmt;

/// What the choice of encoding and layout is to favour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Speed of scans, of accesses and bytes, weighed by what they cost together.
    #[default]
    Balanced,
    /// Scans.
    Scan,
    /// Access to single values.
    Point,
    /// Bytes.
    Size,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Purpose; 4] = [Purpose::Balanced, Purpose::Scan, Purpose::Point, Purpose::Size];

    /// Its name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Purpose::Balanced => "balanced",
            Purpose::Scan => "scan",
            Purpose::Point => "point",
            Purpose::Size => "size",
        }
    }

    /// The purpose of a name; an error names those there are.
    pub fn parse(name: &str) -> Result<Purpose> {
        parse("purpose", name, &Purpose::ALL)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The member of `all` with a name, in whatever case and with or without hyphens, blanks and
/// underscores.
pub(crate) fn parse<T: Copy + fmt::Display>(what: &str, name: &str, all: &[T]) -> Result<T> {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(name);
    let found = all.iter().find(|t| plain(&t.to_string()) == wanted);
    found.copied().ok_or_else(|| {
        let names: Vec<String> = all.iter().map(T::to_string).collect();
        Error::new(
            SqlState::INVALID_PARAMETER,
            format!("\"{name}\" is no known {what}"),
        )
        .with_hint(format!("known are {}", names.join(", ")))
    })
}

/// What is asked of one column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnOptions {
    /// The encoding it must have; `None` leaves it to the cost model.
    pub encoding: Option<Encoding>,
    /// The layout its codes must have. A column whose values are all equal, or all NULL, has no codes.
    pub layout: Option<Layout>,
    /// What to favour in what is left open; `None` as the block.
    pub purpose: Option<Purpose>,
}

impl ColumnOptions {
    /// Whether the encoding or the layout is not left to the cost model.
    pub fn pins(&self) -> bool {
        self.encoding.is_some() || self.layout.is_some()
    }
}

/// What is asked of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildOptions {
    /// Whether columns get a PSMA (blocks of under 1,024 rows get none).
    pub psma: bool,
    /// What to favour.
    pub purpose: Purpose,
    /// What is asked of each column; columns beyond the last are left to the cost model.
    pub columns: Vec<ColumnOptions>,
    /// The encoding and layout of columns of which neither is asked, where they can have them; the cost
    /// model holds the others.
    pub wherever_possible: ColumnOptions,
    /// What was observed of the use of each column; nothing of columns beyond the last.
    pub observed: Vec<Observed>,
    /// What things cost on this machine.
    pub calibration: Calibration,
}

impl Default for BuildOptions {
    fn default() -> BuildOptions {
        BuildOptions {
            psma: true,
            purpose: Purpose::Balanced,
            columns: Vec::new(),
            wherever_possible: ColumnOptions::default(),
            observed: Vec::new(),
            calibration: Calibration::default(),
        }
    }
}

impl BuildOptions {
    /// What is asked of a column.
    pub fn column(&self, column: usize) -> ColumnOptions {
        let own = self.columns.get(column).copied().unwrap_or_default();
        match own.pins() {
            true => own,
            false => ColumnOptions {
                purpose: own.purpose,
                ..self.wherever_possible
            },
        }
    }

    /// Whether a column must be held as asked: if it cannot, the block is refused.
    pub fn must(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|own| own.pins())
    }

    /// What a column is to favour.
    pub fn purpose_of(&self, column: usize) -> Purpose {
        self.column(column).purpose.unwrap_or(self.purpose)
    }

    /// What the choice of a column weighs: what its purpose favours, a balanced one as the column is used.
    pub fn weights_of(&self, column: usize) -> Weights {
        let purpose = self.purpose_of(column);
        let prior = self.calibration.weights(purpose);
        match (purpose, self.observed.get(column)) {
            (Purpose::Balanced, Some(observed)) => Weights::blend(prior, observed),
            _ => *prior,
        }
    }

    /// Whether they ask the same of a block, whatever was observed.
    pub fn ask_the_same(&self, other: &BuildOptions) -> bool {
        let of = |o: &BuildOptions| (o.psma, o.purpose, o.wherever_possible);
        let columns = self.columns.len().max(other.columns.len());
        let own = |o: &BuildOptions, i: usize| o.columns.get(i).copied().unwrap_or_default();
        of(self) == of(other) && (0..columns).all(|i| own(self, i) == own(other, i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_generously_and_refused_by_name() {
        assert_eq!(Purpose::parse("Size").expect("known"), Purpose::Size);
        assert_eq!(Layout::parse("bit packed").expect("known"), Layout::BitPacked);
        assert_eq!(Layout::parse("ByteSlice").expect("known"), Layout::ByteSlice);
        let reference = Encoding::parse("frame_of_reference").expect("known");
        assert_eq!(reference, Encoding::FrameOfReference);
        for layout in Layout::ALL {
            assert_eq!(Layout::parse(layout.name()).expect("known"), layout);
        }
        for encoding in Encoding::ALL {
            assert_eq!(Encoding::parse(&encoding.to_string()).expect("known"), encoding);
        }
        let error = Purpose::parse("fast").expect_err("unknown");
        assert_eq!(error.message(), "\"fast\" is no known purpose");
        assert_eq!(error.hint(), Some("known are balanced, scan, point, size"));
    }
}
