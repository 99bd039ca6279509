//! Which encoding and layout a column gets: candidates, what each is predicted to cost, and the choice.
//!
//! An encoder proposes [`Shape`]s: how large its codes are and what it stores beside them. Each shape on
//! each layout is a [`Candidate`] with predicted bytes, nanoseconds a value of a scan (a test of every
//! value and unpacking all of them) and nanoseconds of one access by position. The choice is the
//! smallest weighted sum of the three; a [`Purpose`] is a set of weights. What a kernel costs and what a
//! byte is worth is in [`Calibration`] alone.

use crate::build_options::{ColumnOptions, Purpose};
use crate::encodings::Encoding;
use crate::layouts::Layout;
use frazil_types::{Error, NativeType, SqlState};

/// A cost that grows with the width of a code: nanoseconds a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// At width 0.
    pub base: f64,
    /// For every bit more.
    pub per_bit: f64,
}

impl Line {
    /// The cost at a width.
    pub fn at(self, bits: u32) -> f64 {
        self.base + self.per_bit * f64::from(bits)
    }
}

const fn line(base: f64, per_bit: f64) -> Line {
    Line { base, per_bit }
}

/// What codes of a layout cost, in nanoseconds a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayoutCost {
    /// A range test.
    pub test: Line,
    /// Fetching every code as a machine word.
    pub unpack: Line,
    /// Fetching the code of one row.
    pub access: Line,
}

/// What is favoured: the price of each part of a candidate's cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Of a nanosecond a value in a scan.
    pub scan: f64,
    /// Of a nanosecond an access.
    pub access: f64,
    /// Of a byte a value.
    pub byte: f64,
}

/// What things cost on a machine, and what they are worth: every constant of the choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Byte-packed, bit-packed, ByteSlice, VBP, HBP, as in [`Layout::ALL`].
    pub layouts: [LayoutCost; 5],
    /// Raw values, by the bits of the native type; their scans are lent memory.
    pub raw: LayoutCost,
    /// From code to value by adding the reference, a value.
    pub reference: f64,
    /// What exceptions add to that, a value of a scan.
    pub patch: f64,
    /// The reference and the chance of an exception, one access.
    pub patch_access: f64,
    /// What frames add to the reference, a value of a scan: tests and unpacking go by pieces of 128.
    pub frame: f64,
    /// The frame's reference, one access.
    pub frame_access: f64,
    /// From the integer of a decimal to the double, a value.
    pub decimal: f64,
    /// From code to value through a dictionary, a value of a scan.
    pub gather: f64,
    /// The same for one access: the dictionary may be out of cache.
    pub gather_access: f64,
    /// Balanced, scan, point, size, as in [`Purpose::ALL`].
    pub weights: [Weights; 4],
}

impl Default for Calibration {
    fn default() -> Calibration {
        Calibration {
            layouts: [
                LayoutCost {
                    test: line(0.0, 0.004),
                    unpack: line(0.0, 0.004),
                    access: line(2.0, 0.0),
                },
                LayoutCost {
                    test: line(0.06, 0.004),
                    unpack: line(0.15, 0.004),
                    access: line(3.0, 0.0),
                },
                LayoutCost {
                    test: line(0.05, 0.002),
                    unpack: line(0.10, 0.010),
                    access: line(2.0, 0.25),
                },
                LayoutCost {
                    test: line(0.05, 0.004),
                    unpack: line(0.30, 0.050),
                    access: line(3.0, 1.0),
                },
                LayoutCost {
                    test: line(0.05, 0.008),
                    unpack: line(0.30, 0.010),
                    access: line(3.0, 0.0),
                },
            ],
            raw: LayoutCost {
                test: line(0.0, 0.005),
                unpack: line(0.0, 0.001),
                access: line(1.0, 0.0),
            },
            reference: 0.1,
            patch: 0.1,
            patch_access: 1.0,
            frame: 0.25,
            frame_access: 1.5,
            decimal: 1.5,
            gather: 0.35,
            gather_access: 4.0,
            weights: [
                Weights {
                    scan: 1.0,
                    access: 0.01,
                    byte: 0.3,
                },
                Weights {
                    scan: 1.0,
                    access: 0.0,
                    byte: 0.02,
                },
                Weights {
                    scan: 0.02,
                    access: 1.0,
                    byte: 0.02,
                },
                Weights {
                    scan: 1e-4,
                    access: 1e-5,
                    byte: 1.0,
                },
            ],
        }
    }
}

impl Calibration {
    fn layout(&self, layout: Layout) -> &LayoutCost {
        let place = Layout::ALL.iter().position(|&l| l == layout);
        place.map_or(&self.raw, |i| &self.layouts[i])
    }

    fn weights(&self, purpose: Purpose) -> &Weights {
        let place = Purpose::ALL.iter().position(|&p| p == purpose);
        &self.weights[place.unwrap_or(0)]
    }
}

/// What an encoding makes of a column, before its codes have a layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The encoding.
    pub encoding: Encoding,
    /// The largest code; `None` where there are no codes.
    pub largest: Option<u64>,
    /// Bytes beside the codes: values, dictionary, bitmap.
    pub beside: usize,
}

/// A way to hold a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Value ↔ code.
    pub encoding: Encoding,
    /// Code ↔ bytes.
    pub layout: Layout,
    /// Bits of a code, or of a raw value; 0 for a constant.
    pub bits: u32,
    /// Predicted bytes, PSMA and directory apart.
    pub bytes: u64,
    /// Predicted nanoseconds a value to test and unpack all.
    pub scan_ns: f64,
    /// Predicted nanoseconds to fetch one value by its position.
    pub access_ns: f64,
    /// What the choice is made by, under the purpose asked for; the smallest wins.
    pub cost: f64,
    /// Whether the options admit it.
    pub admitted: bool,
    /// Whether it is the one.
    pub chosen: bool,
    /// The shape it was made of, by its place in the list.
    pub(crate) shape: usize,
}

/// A column that is to be frozen, as far as its cost depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    pub rows: usize,
    pub native: NativeType,
    pub options: ColumnOptions,
    pub purpose: Purpose,
    pub calibration: &'a Calibration,
}

impl Column<'_> {
    /// Whether plans of an encoding are worth making.
    pub fn admits(&self, encoding: Encoding) -> bool {
        match self.options.encoding {
            Some(wanted) => wanted == encoding,
            None => self.admits_packed() || encoding.since() == 1,
        }
    }

    /// Whether layouts of codes of any width, and the encodings that came with them, are considered
    /// where none is asked for.
    pub fn admits_packed(&self) -> bool {
        self.purpose != Purpose::Balanced
    }

    /// The layout with the fewest bytes among those considered.
    pub fn densest_layout(&self) -> Layout {
        match self.options.layout {
            Some(layout) => layout,
            None if self.admits_packed() => Layout::BitPacked,
            None => Layout::BytePacked,
        }
    }

    /// The same column with nothing asked for but an encoding.
    pub fn pinned(&self, encoding: Encoding) -> Column<'_> {
        let options = ColumnOptions {
            encoding: Some(encoding),
            ..ColumnOptions::default()
        };
        Column { options, ..*self }
    }

    /// All candidates, the chosen one marked. None is chosen if the options admit none.
    pub fn candidates(&self, shapes: &[Shape]) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = Vec::new();
        for (i, shape) in shapes.iter().enumerate() {
            if shape.largest.is_none() {
                all.push(self.predict(i, shape, Layout::None));
                continue;
            }
            all.extend(Layout::ALL.map(|layout| self.predict(i, shape, layout)));
        }
        let admitted = all.iter_mut().filter(|c| c.admitted);
        if let Some(best) = admitted.min_by(|a, b| a.cost.total_cmp(&b.cost)) {
            best.chosen = true;
        }
        all
    }

    /// The chosen candidate; `None` if the options admit none.
    pub fn choose(&self, shapes: &[Shape]) -> Option<Candidate> {
        self.candidates(shapes).into_iter().find(|c| c.chosen)
    }

    fn predict(&self, place: usize, shape: &Shape, layout: Layout) -> Candidate {
        let c = self.calibration;
        let bits = match (shape.largest, shape.encoding) {
            (Some(largest), _) => layout.code_bits(largest),
            (None, Encoding::Constant) => 0,
            (None, _) => 8 * self.native.size() as u32,
        };
        let bytes = layout.bytes(self.rows, bits) + shape.beside;
        let of_layout = c.layout(layout);
        let (decode, decode_access) = match shape.encoding {
            Encoding::Dictionary => (c.gather, c.gather_access),
            Encoding::FrameOfReference => (c.reference, c.reference),
            Encoding::Patched => (c.reference + c.patch, c.patch_access),
            Encoding::Frames => (c.reference + c.frame, c.frame_access),
            Encoding::Decimal => (c.decimal, c.decimal),
            Encoding::Constant | Encoding::Raw => (0.0, 0.0),
        };
        let scan_ns = of_layout.test.at(bits) + of_layout.unpack.at(bits) + decode;
        let access_ns = of_layout.access.at(bits) + decode_access;
        let weights = c.weights(self.purpose);
        let per_value = bytes as f64 / self.rows.max(1) as f64;
        Candidate {
            encoding: shape.encoding,
            layout,
            bits,
            bytes: bytes as u64,
            scan_ns,
            access_ns,
            cost: weights.scan * scan_ns + weights.access * access_ns + weights.byte * per_value,
            admitted: self.is_admitted(shape, layout),
            chosen: false,
            shape: place,
        }
    }

    fn is_admitted(&self, shape: &Shape, layout: Layout) -> bool {
        if shape.encoding == Encoding::Constant {
            return self.admits(Encoding::Constant);
        }
        let layout_fits = match self.options.layout {
            Some(wanted) => wanted == layout,
            None => !layout.is_packed() || self.admits_packed(),
        };
        self.admits(shape.encoding) && layout_fits
    }

    /// An error that says what is asked for, and which shapes would fit.
    pub fn refusal(&self, shapes: &[Shape]) -> Error {
        let asked = match (self.options.encoding, self.options.layout) {
            (Some(e), Some(l)) => format!("{e} with {l} codes"),
            (Some(e), None) => e.to_string(),
            (None, l) => format!("{} codes", l.unwrap_or(Layout::None)),
        };
        let fits: Vec<String> = shapes
            .iter()
            .map(|s| match s.largest {
                None => s.encoding.to_string(),
                Some(_) => format!("{} in any layout", s.encoding),
            })
            .collect();
        Error::new(
            SqlState::INVALID_PARAMETER,
            format!("its values cannot be held as {asked}"),
        )
        .with_hint(format!("they can be held as: {}", fits.join("; ")))
    }
}
