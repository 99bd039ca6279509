//! The experiment `codecs`: our layouts beside the field's integer codecs (Hyrise's study of integer
//! compression, section 4.1, table 2), on its five distributions.
//!
//! The field's codecs are compiled in by the feature `codec-peers` alone: `cargo run --release --features codec-peers -- bench codecs`.
//!
//! A vector has 65,535 values. Each codec gets their differences from the least, so that all of them have
//! a frame of reference, and holds them as its authors would: whole blocks with a width each, or the
//! vector with one, or, as Frazil holds values that drift, a frame of reference for each 128 of them.
//! Sequential decoding writes all of them; a position list names values at random, in any order and
//! again and again. A codec without single access decodes the blocks it needs, or, where the list is
//! long, everything.
//!
//! A vector and its values take most of a second-level cache, whose sets their pages share as chance has it: that alone
//! makes the same code up to a seventh slower or faster. So every run of a case has a [`Place`] of its own, with the same
//! room for what all codecs write, and means are those over many places.

mod ours;
#[cfg(feature = "codec-peers")]
mod peers;

use super::trials::{self, PER_VALUE, Trial};
use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use frazil_testkit::Random;
use frazil_types::{Error, Result};
use std::cell::RefCell;

/// Values of a vector: Hyrise's chunk.
const ROWS: usize = 65_535;

/// Lengths of position lists.
const LISTS: [usize; 4] = [1, 1_000, 10_000, 1_000_000];

/// The codec that the others are compared with.
const OURS: &str = "bit_packed";

/// The codec that they are compared with too, of values that it has narrower codes for.
const FRAMES: &str = "bit_packed_frames";

/// Most places that runs are spread over.
const PLACES: usize = 45;

/// Lists so short write next to nothing.
const SHORT: usize = 1_000;

/// Five kinds of integers.
#[derive(Clone, Copy, Debug)]
pub enum Distribution {
    /// Random numbers of 32 bits.
    Uniform,
    /// Sorted, each five more than the one before.
    Sorted,
    /// Years from 1900 to 2100.
    Years,
    /// Months from 1 to 12.
    Months,
    /// A time series from 10^6 on, with steps up to 10.
    Series,
}

/// The five with their names in reports.
pub const DISTRIBUTIONS: [(Distribution, &str); 5] = [
    (Distribution::Uniform, "uniform"),
    (Distribution::Sorted, "sorted"),
    (Distribution::Years, "years"),
    (Distribution::Months, "months"),
    (Distribution::Series, "time_series"),
];

/// Values in the form of a codec.
trait Codec {
    /// Its name in reports.
    fn name(&self) -> &'static str;
    /// Bytes it takes.
    fn bytes(&self) -> usize;
    /// Writes all values to the front of `out`, which has some more room.
    fn decode(&self, out: &mut [u32]);
    /// Writes the values at positions.
    fn fetch(&self, positions: &[u16], scratch: &mut Scratch, out: &mut [u32]);
}

/// Room for all values and the padding of the last block, in words of each width.
struct Scratch {
    bytes: Vec<u8>,
    shorts: Vec<u16>,
    words: Room,
}

impl Scratch {
    fn new() -> Scratch {
        Scratch {
            bytes: vec![0; ROWS + 1],
            shorts: vec![0; ROWS + 1],
            words: Room::new(),
        }
    }
}

/// The codecs at some addresses, and what all of them write to.
struct Place {
    codecs: Vec<Box<dyn Codec>>,
    scratch: RefCell<Scratch>,
}

impl Place {
    fn new(values: &[u32]) -> Place {
        Place {
            codecs: all_codecs(values),
            scratch: RefCell::new(Scratch::new()),
        }
    }

    /// Everything that is measured, by codec. What is picked goes to `picked`, too long for any place to matter.
    fn trials<'a>(
        &'a self,
        label: &str,
        lists: &'a [Vec<u16>],
        picked: &'a RefCell<Vec<u32>>,
    ) -> Vec<Trial<'a>> {
        let mut trials = Vec::new();
        for codec in &self.codecs {
            let case = |what: &str| format!("{}/{label}/{what}", codec.name());
            trials.push(self.decode_trial(case("decode"), codec.as_ref()));
            for (list, len) in lists.iter().zip(LISTS) {
                let case = case(&format!("positions_{len}"));
                trials.push(self.fetch_trial(case, codec.as_ref(), list, picked));
            }
        }
        trials
    }

    fn decode_trial<'a>(&'a self, case: String, codec: &'a dyn Codec) -> Trial<'a> {
        Trial {
            case,
            units: ROWS as f64,
            work: Box::new(move || {
                let out = &mut self.scratch.borrow_mut().words;
                codec.decode(out.words());
                std::hint::black_box(out.words());
            }),
        }
    }

    fn fetch_trial<'a>(
        &'a self,
        case: String,
        codec: &'a dyn Codec,
        positions: &'a [u16],
        picked: &'a RefCell<Vec<u32>>,
    ) -> Trial<'a> {
        let units = positions.len() as f64;
        if positions.len() <= SHORT {
            // Borrowing what is shared would take a third of what a position takes.
            let (mut scratch, mut out) = (Scratch::new(), vec![0; positions.len()]);
            let work = Box::new(move || {
                codec.fetch(positions, &mut scratch, &mut out);
                std::hint::black_box(&out);
            });
            return Trial { case, units, work };
        }
        let work = Box::new(move || {
            let mut out = picked.borrow_mut();
            let out = &mut out[..positions.len()];
            codec.fetch(positions, &mut self.scratch.borrow_mut(), out);
            std::hint::black_box(out);
        });
        Trial { case, units, work }
    }
}

/// Decodes everything and takes what is wanted.
#[cfg(feature = "codec-peers")]
fn decode_and_pick(codec: &dyn Codec, positions: &[u16], scratch: &mut Scratch, out: &mut [u32]) {
    let words = scratch.words.words();
    codec.decode(words);
    pick(words, positions, out);
}

/// A value as it lies in memory.
trait Stored: Copy {
    fn value(self) -> u32;
}

impl Stored for u8 {
    #[inline]
    fn value(self) -> u32 {
        self.into()
    }
}

impl Stored for u16 {
    #[inline]
    fn value(self) -> u32 {
        self.into()
    }
}

impl Stored for u32 {
    #[inline]
    fn value(self) -> u32 {
        self
    }
}

/// A word among bytes.
impl Stored for [u8; 4] {
    #[inline]
    fn value(self) -> u32 {
        u32::from_le_bytes(self)
    }
}

/// Takes what is wanted of values at the front of a vector. Not inlined: the same loop for all codecs.
#[inline(never)]
fn pick<T: Stored>(all: &[T], positions: &[u16], out: &mut [u32]) {
    // So long that no position is beyond it.
    let all: &[T; 1 << u16::BITS] = all.first_chunk().expect("a value for each position");
    for (out, &position) in out.iter_mut().zip(positions) {
        *out = all[position as usize].value();
    }
}

/// Runs the experiment.
pub fn run(
    name: &'static str,
    distributions: &[(Distribution, &'static str)],
    args: &BenchArgs,
) -> Result<Report> {
    let mut report = Report::default();
    let longest = (LISTS[3] as f64 * args.scale_factor.min(1.0)) as usize;
    let lists = LISTS.map(|len| positions(len.min(longest.max(1))));
    let picked = RefCell::new(vec![0; lists[3].len()]);
    let mut rates: Vec<(&'static str, f64)> = Vec::new();
    for (distribution, label) in distributions {
        let values = distribution.values();
        let places = (0..args.runs.min(PLACES)).map(|_| Place::new(&values));
        let places: Vec<Place> = places.collect();
        let codecs = &places[0].codecs;
        for codec in codecs {
            check(codec.as_ref(), &values)?;
            let rate = codec.bytes() as f64 / (4 * ROWS) as f64;
            add_rate(&mut report, name, format!("{}/{label}", codec.name()), rate);
            rates.push((codec.name(), rate));
        }
        let outcomes = (places.iter().enumerate())
            .map(|(i, place)| {
                let runs = (args.runs + i) / places.len();
                trials::run(runs, place.trials(label, &lists, &picked))
            })
            .reduce(|all, place| {
                let both = all.into_iter().zip(place);
                both.map(|(all, place)| all.and(place)).collect()
            });
        for outcome in outcomes.into_iter().flatten() {
            outcome.add_to(&mut report, name, PER_VALUE);
        }
        let lists = LISTS.map(|len| format!("positions_{len}"));
        for what in ["decode"].into_iter().chain(lists.iter().map(String::as_str)) {
            let case = |codec: &str| format!("{codec}/{label}/{what}");
            let names = codecs.iter().map(|codec| codec.name());
            for ours in names.clone().filter(|name| [OURS, FRAMES].contains(name)) {
                for codec in names.clone().filter(|name| *name != ours) {
                    report.compare(&case(ours), &case(codec), PER_VALUE.ns);
                }
            }
            let cases: Vec<String> = names.map(case).collect();
            report.classify(format!("{label}/{what}"), &cases, PER_VALUE.ns);
        }
    }
    add_mean_rate(&mut report, name, &rates);
    Ok(report)
}

/// Adds the bytes of a codec over those of unencoded values.
fn add_rate(report: &mut Report, experiment: &'static str, case: String, rate: f64) {
    report.add(Measurement {
        experiment,
        case,
        metric: "rate",
        unit: "ratio",
        values: Values::Exact(rate),
    });
}

/// Adds the mean rate of our bit-packed codes over all distributions, as table 2 has it.
fn add_mean_rate(report: &mut Report, experiment: &'static str, rates: &[(&'static str, f64)]) {
    let ours: Vec<f64> = (rates.iter())
        .filter(|(name, _)| *name == OURS)
        .map(|rate| rate.1)
        .collect();
    if !ours.is_empty() {
        let mean = ours.iter().sum::<f64>() / ours.len() as f64;
        add_rate(report, experiment, OURS.to_owned(), mean);
    }
}

fn all_codecs(values: &[u32]) -> Vec<Box<dyn Codec>> {
    let codecs = ours::codecs(values).into_iter();
    #[cfg(feature = "codec-peers")]
    let codecs = codecs.chain(peers::codecs(values));
    codecs.collect()
}

impl Distribution {
    /// The differences of its values from the least.
    fn values(self) -> Vec<u32> {
        let mut random = Random::new(3);
        let mut series = 1_000_000;
        let mut value = |i: usize| match self {
            Distribution::Uniform => random.bits() as u32,
            Distribution::Sorted => 5 * i as u32,
            Distribution::Years => 1900 + random.below(201) as u32,
            Distribution::Months => 1 + random.below(12) as u32,
            Distribution::Series => {
                series += random.below(11) as u32;
                series
            }
        };
        let mut values: Vec<u32> = (0..ROWS).map(&mut value).collect();
        let least = values.iter().copied().min().unwrap_or_default();
        values.iter_mut().for_each(|value| *value -= least);
        values
    }
}

fn positions(len: usize) -> Vec<u16> {
    let mut random = Random::new(len as u64);
    (0..len).map(|_| random.below(ROWS as u64) as u16).collect()
}

/// Room for all values and the padding of the last block, as values.
struct Room(Vec<u32>);

impl Room {
    /// Bytes it begins at a multiple of, as buffers of engines do: stores of whole vectors that lie in two lines of the
    /// cache take up to a third longer, and where a vector happens to be put is no property of a codec.
    const ALIGNED: usize = 64;

    fn new() -> Room {
        Room(vec![0; ROWS + 1_024 + Room::ALIGNED / size_of::<u32>()])
    }

    fn words(&mut self) -> &mut [u32] {
        let start = self.0.as_ptr().align_offset(Room::ALIGNED);
        &mut self.0[start..][..ROWS + 1_024]
    }
}

/// Refuses to measure a codec that yields other values.
fn check(codec: &dyn Codec, values: &[u32]) -> Result<()> {
    let mut scratch = Scratch::new();
    codec.decode(scratch.words.words());
    let mut is_right = scratch.words.words()[..ROWS] == *values;
    for len in [1, 100, 20_000] {
        let positions = positions(len);
        let mut out = vec![0; len];
        codec.fetch(&positions, &mut scratch, &mut out);
        is_right &=
            (out.iter().zip(&positions)).all(|(&value, &position)| value == values[position as usize]);
    }
    match is_right {
        true => Ok(()),
        false => Err(Error::internal(format!("{} yields wrong values", codec.name()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_yields_its_values() {
        for (distribution, label) in DISTRIBUTIONS {
            let values = distribution.values();
            for codec in all_codecs(&values) {
                check(codec.as_ref(), &values).unwrap_or_else(|e| panic!("{label}: {e}"));
                assert!(codec.bytes() <= 4 * (ROWS + 1_024) + 1_024, "{}", codec.name());
            }
        }
    }
}
