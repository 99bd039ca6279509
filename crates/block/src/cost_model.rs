//! Which encoding and layout a column gets: candidates, what each is predicted to cost, and the choice.
//!
//! An encoder proposes [`Shape`]s: how large its codes are and what it stores beside them. Each shape on
//! each layout is a [`Candidate`] with predicted bytes, nanoseconds a value of a scan (a test of every
//! value and unpacking all of them) and nanoseconds a value fetched at positions. The choice is the
//! smallest weighted sum of the three; a [`Purpose`] is a set of weights. What a kernel costs and what a
//! byte is worth is in [`Calibration`] alone. The weights of a balanced choice move with what was
//! [observed](crate::observed) of a column.
//!
//! In a balanced choice a byte costs what the kernels of a dictionary cost more than those of frame of
//! reference, for a byte less a value has always been worth a gather; and a layout of codes of any width
//! has to save a good part of the bytes that whole machine words take.

use crate::build_options::{ColumnOptions, Purpose};
use crate::encodings::Encoding;
use crate::format::ColumnEntry;
use crate::layouts::Layout;
use frazil_kernels::packed;
use frazil_types::{Error, NativeType, Result, SqlState};

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

/// A line for codes of up to 8 bits, one for up to 16, one for wider codes: kernels work on other lanes, and write other words,
/// from one of these widths on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines(pub [Line; 3]);

impl Lines {
    /// The same line for all widths.
    pub const fn straight(line: Line) -> Lines {
        Lines([line; 3])
    }

    /// Which of the lines is that of a width.
    pub fn place(bits: u32) -> usize {
        match bits {
            ..=8 => 0,
            9..=16 => 1,
            _ => 2,
        }
    }

    /// The cost at a width.
    pub fn at(self, bits: u32) -> f64 {
        self.0[Lines::place(bits)].at(bits)
    }
}

/// What codes of a layout cost, in nanoseconds a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayoutCost {
    /// A range test.
    pub test: Lines,
    /// Fetching every code as a machine word.
    pub unpack: Lines,
    /// Fetching the codes at sparse positions.
    pub access: Lines,
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
    /// From code to value by adding the reference, for each byte of the native type.
    pub reference: f64,
    /// What an exception of a patched column adds to a scan, and looking for them to a position.
    pub patch: [f64; 2],
    /// What frames add to a value of a scan, whose kernels then work on 128 rows each, and to a position.
    pub frame: [f64; 2],
    /// From the integer of a decimal to the double: a value of a scan, and at a position.
    pub decimal: [f64; 2],
    /// From code to value through a dictionary: a value of a scan, and at a position.
    pub gather: [f64; 2],
    /// What a KiB of the dictionary adds to both.
    pub gather_kib: f64,
    /// Balanced, scan, point, size, as in [`Purpose::ALL`].
    pub weights: [Weights; 4],
    /// Share of the bytes on byte-packed codes that codes of another layout must save in a balanced
    /// choice.
    pub packed_must_save: f64,
}

/// AVX-512, codes in the second-level cache, 4,096 rows a window, every tenth row fetched: the lines of the
/// layouts as `frazil bench calibrate` fitted them, the rest from blocks of TPC-H's columns.
impl Default for Calibration {
    fn default() -> Calibration {
        let cost = |test, unpack, access| LayoutCost {
            test: Lines::straight(test),
            unpack: Lines::straight(unpack),
            access: Lines::straight(access),
        };
        let weights = |scan, access, byte| Weights { scan, access, byte };
        Calibration {
            layouts: [
                cost(line(0.0021, 0.00110), line(0.0, 0.00176), line(0.356, 0.0008)),
                cost(line(0.0123, 0.00117), line(0.0145, 0.00165), line(0.576, 0.0159)),
                cost(line(0.0115, 0.00063), line(0.0060, 0.00223), line(0.255, 0.0378)),
                cost(line(0.0252, 0.00068), line(0.0250, 0.00902), line(0.924, 0.0960)),
                cost(line(0.0342, 0.00193), line(0.2323, 0.0), line(2.537, 0.0007)),
            ],
            raw: cost(line(0.0, 0.0013), line(0.0, 0.0008), line(0.25, 0.005)),
            reference: 0.009,
            patch: [2.75, 0.5],
            frame: [0.2, 0.6],
            decimal: [0.62, 0.9],
            gather: [0.3, 0.2],
            gather_kib: 0.0013,
            weights: [
                weights(1.0, 0.05, 0.3),
                weights(1.0, 0.01, 0.02),
                weights(0.01, 1.0, 0.02),
                weights(1e-4, 1e-5, 1.0),
            ],
            packed_must_save: 0.3,
        }
    }
}

impl Calibration {
    fn layout(&self, layout: Layout) -> &LayoutCost {
        let place = Layout::ALL.iter().position(|&l| l == layout);
        place.map_or(&self.raw, |i| &self.layouts[i])
    }

    /// What a purpose favours.
    pub fn weights(&self, purpose: Purpose) -> &Weights {
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
    /// Rows whose values are not in the codes.
    pub exceptions: usize,
}

impl Shape {
    /// That of a column that has been encoded.
    pub(crate) fn of(entry: &ColumnEntry) -> Shape {
        let s = &entry.sections;
        let beside = [s.dictionary, s.heap, s.bitmap, s.symbols];
        let raw = match entry.layout {
            Layout::None => s.codes.bytes,
            _ => 0,
        };
        Shape {
            encoding: entry.encoding,
            largest: (entry.layout != Layout::None).then(|| packed::top(entry.code_bits.into())),
            beside: (raw + beside.iter().map(|s| s.bytes).sum::<u64>()) as usize,
            exceptions: match entry.encoding {
                Encoding::Patched => entry.dictionary_entries as usize,
                _ => 0,
            },
        }
    }
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
    /// Predicted nanoseconds to fetch a value at one of many positions.
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
    /// Whether it is refused if it cannot be held as the options ask.
    pub must: bool,
    pub purpose: Purpose,
    /// Those of the purpose, or what observation made of them.
    pub weights: Weights,
    pub calibration: &'a Calibration,
}

impl Column<'_> {
    /// Whether plans of an encoding are worth making.
    pub fn admits(&self, encoding: Encoding) -> bool {
        self.options.encoding.is_none_or(|wanted| wanted == encoding)
    }

    /// The layout with the fewest bytes among those considered.
    pub fn densest_layout(&self) -> Layout {
        self.options.layout.unwrap_or(Layout::BitPacked)
    }

    /// Whether it has to have codes, be they larger than the values.
    pub fn must_have_codes(&self) -> bool {
        self.must && self.options.layout.is_some()
    }

    /// Whether it could not be encoded because of what the options ask.
    pub fn is_refusal<T>(&self, encoded: &Result<T>) -> bool {
        matches!(encoded, Err(e) if e.state() == SqlState::INVALID_PARAMETER)
    }

    /// Leaves encoding and layout to the cost model, if they need not be what the options ask. Returns
    /// whether that changes anything.
    pub fn give_way(&mut self) -> bool {
        let gives_way = self.options.pins() && !self.must;
        if gives_way {
            self.options = ColumnOptions {
                purpose: self.options.purpose,
                ..ColumnOptions::default()
            };
        }
        gives_way
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

    /// The one way to hold nothing but NULL, whatever is asked for.
    pub fn of_nulls(&self) -> Vec<Candidate> {
        let options = ColumnOptions::default();
        let shape = Shape {
            encoding: Encoding::Constant,
            largest: None,
            beside: 0,
            exceptions: 0,
        };
        Column { options, ..*self }.candidates(&[shape])
    }

    /// The chosen candidate; `None` if the options admit none.
    pub fn choose(&self, shapes: &[Shape]) -> Option<Candidate> {
        self.candidates(shapes).into_iter().find(|c| c.chosen)
    }

    /// The candidate that a shape, by its place among others, is on a layout.
    pub fn predict(&self, place: usize, shape: &Shape, layout: Layout) -> Candidate {
        let c = self.calibration;
        let bits = match (shape.largest, shape.encoding) {
            (Some(largest), _) => layout.code_bits(largest),
            (None, Encoding::Constant) => 0,
            // Of a raw string its offset.
            (None, _) if self.native == NativeType::String => 32,
            (None, _) => 8 * self.native.size() as u32,
        };
        let bytes = layout.bytes(self.rows, bits) + shape.beside;
        let rows = self.rows.max(1) as f64;
        let of_layout = c.layout(layout);
        let [decode, decode_access] = self.decode(shape);
        // What decodes codes reads byte-packed ones where they are.
        let unpack = match layout {
            Layout::BytePacked => 0.0,
            _ => of_layout.unpack.at(bits),
        };
        let scan_ns = of_layout.test.at(bits) + unpack + decode;
        let access_ns = of_layout.access.at(bits) + decode_access;
        let weights = self.weights;
        let cost = weights.scan * scan_ns + weights.access * access_ns + weights.byte * bytes as f64 / rows;
        Candidate {
            encoding: shape.encoding,
            layout,
            bits,
            bytes: bytes as u64,
            scan_ns,
            access_ns,
            cost,
            admitted: self.is_admitted(shape, layout, bytes),
            chosen: false,
            shape: place,
        }
    }

    /// From code to value: nanoseconds of a scan and at a position.
    fn decode(&self, shape: &Shape) -> [f64; 2] {
        let c = self.calibration;
        let reference = c.reference * self.native.size() as f64;
        match shape.encoding {
            Encoding::Constant | Encoding::Raw => [0.0; 2],
            Encoding::FrameOfReference => [reference; 2],
            Encoding::Patched => {
                let share = shape.exceptions as f64 / self.rows.max(1) as f64;
                [reference + c.patch[0] * share, c.patch[1]]
            }
            Encoding::Frames => [reference + c.frame[0], c.frame[1]],
            Encoding::Decimal => c.decimal,
            Encoding::Dictionary => {
                let kib = shape.beside as f64 / 1024.0;
                c.gather.map(|g| g + c.gather_kib * kib)
            }
        }
    }

    fn is_admitted(&self, shape: &Shape, layout: Layout, bytes: usize) -> bool {
        if shape.encoding == Encoding::Constant {
            return self.admits(Encoding::Constant);
        }
        let layout_fits = match (self.options.layout, shape.largest) {
            (Some(wanted), _) => wanted == layout,
            (None, Some(largest)) if layout.is_packed() && self.purpose == Purpose::Balanced => {
                let bits = Layout::BytePacked.code_bits(largest);
                let words = Layout::BytePacked.bytes(self.rows, bits) + shape.beside;
                // What it saves has to be worth the time, as far as time counts.
                let time = self.weights.time_share(self.calibration.weights(self.purpose));
                bytes as f64 <= (1.0 - time * self.calibration.packed_must_save) * words as f64
            }
            _ => true,
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
