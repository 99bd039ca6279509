//! The experiment `scan`: what a test of every code costs a value, by layout, width, operator, place and
//! result (ByteSlice, section 4.1.2; Data Blocks, section 5.4), and what ByteSlice reads of its slices.
//!
//! In cache a scan tests 4,096 rows a call, the engine's window; out of cache blocks of 65,536 rows, one
//! after the other. Constants change from call to call, lest a branch predictor learns by heart which
//! vectors stop early.

use super::codes::{codes_with_share, uniform, zipf};
use super::column::Column;
use super::scan_cases::{Form, Grid, Group, Member, Operator, Place, groups, layout_name};
use super::trials::{self, Outcome, PER_VALUE, Trial};
use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil_block::Layout;
use frazil_kernels::byteslice::early_stop::between_counting;
use frazil_kernels::{Combine, Isa, RangeOp, count, positions};
use frazil_testkit::Random;
use frazil_types::{Error, Result};

/// Rows of a scan window.
const WINDOW_ROWS: usize = 4_096;

/// Rows of a block.
const BLOCK_ROWS: usize = 65_536;

/// Bytes of a column out of cache: three times the last-level cache of the machines we know.
const FAR_BYTES: usize = 96 << 20;

/// Constants a scan goes through.
const CONSTANTS: usize = 16;

/// Codes an IN set may hold: those of dictionaries that sets are made for.
const SET_CODES: u64 = 1 << 16;

/// A test with its constants.
enum Predicate {
    Range(u64, u64),
    Set(Vec<u64>),
}

/// Runs the experiment.
pub fn run(name: &'static str, grids: &[Grid], args: &BenchArgs) -> Result<Report> {
    let mut report = Report::default();
    let mut bandwidth: Vec<f64> = Vec::new();
    for group in grids.iter().flat_map(|grid| groups(grid, &args.widths)) {
        run_group(name, &group, args, &mut report, &mut bandwidth)?;
    }
    if !bandwidth.is_empty() {
        report.add(Measurement {
            experiment: name,
            case: "machine".to_owned(),
            metric: "read_ns_per_byte",
            unit: "ns",
            values: Values::Measured(Sample::new(bandwidth)),
        });
    }
    Ok(report)
}

fn run_group(
    name: &'static str,
    group: &Group,
    args: &BenchArgs,
    report: &mut Report,
    bandwidth: &mut Vec<f64>,
) -> Result<()> {
    let rows = match group.place {
        Place::InCache => WINDOW_ROWS,
        Place::OutOfCache => BLOCK_ROWS,
    };
    let codes = codes(group, rows);
    let predicates = predicates(group);
    let far_bytes = (FAR_BYTES as f64 * args.scale_factor.min(1.0)) as usize;
    let mut columns: Vec<Column> = Vec::new();
    for member in &group.members {
        if !columns.iter().any(|column| column.layout() == member.layout) {
            let bytes = Column::block_bytes(member.layout, group.bits, rows);
            let blocks = match group.place {
                Place::InCache => 1,
                Place::OutOfCache => (far_bytes / bytes).max(2),
            };
            let column = Column::new(member.layout, group.bits, &codes, blocks);
            columns.push(column);
        }
        check(column_of(&columns, member), member, &codes, &predicates[0])?;
    }
    let outcomes = measure(group, &columns, &predicates, far_bytes, args);
    let (machine, outcomes) = match group.place {
        Place::InCache => (None, &outcomes[..]),
        Place::OutOfCache => (outcomes.last(), &outcomes[..outcomes.len() - 1]),
    };
    for (member, outcome) in group.members.iter().zip(outcomes) {
        outcome.add_to(report, name, PER_VALUE);
        if let Some(machine) = machine {
            let bytes = column_of(&columns, member).bytes_per_row();
            let share = bytes * machine.mean_ns() / outcome.mean_ns();
            add_exact(
                report,
                name,
                &outcome.case,
                "share_of_read_bandwidth",
                "ratio",
                share,
            );
        }
    }
    bandwidth.extend(machine.iter().flat_map(|m| m.runs.iter().map(|cost| cost.ns)));
    add_comparisons(report, group);
    if group.place == Place::OutOfCache && group.skew == 0 {
        add_bits_read(report, name, group, (&codes, &columns), &predicates);
    }
    Ok(())
}

/// Measures all members of a group, and out of cache the plain sum.
fn measure(
    group: &Group,
    columns: &[Column],
    predicates: &[Predicate],
    far_bytes: usize,
    args: &BenchArgs,
) -> Vec<Outcome> {
    let words = match group.place {
        Place::InCache => Vec::new(),
        Place::OutOfCache => vec![1u64; far_bytes / 8],
    };
    let mut trials: Vec<Trial> = (group.members.iter())
        .map(|member| scan_trial(group, member, column_of(columns, member), predicates))
        .collect();
    if !words.is_empty() {
        trials.push(Trial {
            case: "machine".to_owned(),
            units: 8.0 * words.len() as f64,
            work: Box::new(|| _ = std::hint::black_box(sum(&words))),
        });
    }
    trials::run(args.runs, trials)
}

/// The plain 64-bit sum by which the machine's read bandwidth is measured.
#[inline(never)]
fn sum(words: &[u64]) -> u64 {
    let (chunks, rest) = words.as_chunks::<16>();
    let mut sums = [0u64; 16];
    for chunk in chunks {
        for (sum, word) in sums.iter_mut().zip(chunk) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.iter()
        .chain(rest)
        .fold(0, |all, word| all.wrapping_add(*word))
}

fn scan_trial<'a>(
    group: &Group,
    member: &Member,
    column: &'a Column,
    predicates: &'a [Predicate],
) -> Trial<'a> {
    let isa = member.isa.unwrap_or_else(Isa::detect);
    let threads = member.threads;
    let passes = match group.place {
        Place::InCache => predicates.len(),
        Place::OutOfCache => 1,
    };
    let mut scanners: Vec<Scanner> = (0..threads).map(|_| Scanner::new(column, isa, member)).collect();
    let blocks = column.blocks();
    let work = move || {
        if let [scanner] = &mut scanners[..] {
            for pass in 0..passes {
                scanner.scan(predicates, pass, 0..blocks);
            }
            return;
        }
        std::thread::scope(|scope| {
            for (i, scanner) in scanners.iter_mut().enumerate() {
                let part = blocks * i / threads..blocks * (i + 1) / threads;
                scope.spawn(move || scanner.scan(predicates, 0, part));
            }
        });
    };
    Trial {
        case: group.case(member),
        units: (passes * blocks * column.rows()) as f64,
        work: Box::new(work),
    }
}

/// A thread's scan and its buffers.
struct Scanner<'a> {
    column: &'a Column,
    isa: Isa,
    form: Form,
    reads_all: bool,
    bits: Vec<u64>,
    positions: Vec<u16>,
}

impl<'a> Scanner<'a> {
    fn new(column: &'a Column, isa: Isa, member: &Member) -> Scanner<'a> {
        Scanner {
            column,
            isa,
            form: member.form,
            reads_all: member.reads_all,
            bits: vec![0; column.rows().div_ceil(64)],
            positions: Vec::with_capacity(column.rows() + 64),
        }
    }

    fn scan(&mut self, predicates: &[Predicate], first: usize, blocks: std::ops::Range<usize>) {
        for block in blocks {
            self.test(&predicates[(first + block) % predicates.len()], block);
            if self.form == Form::Positions {
                self.positions.clear();
                positions::positions(self.isa, &self.bits, 0, &mut self.positions);
            }
        }
        std::hint::black_box((&self.bits, &self.positions));
    }

    fn test(&mut self, predicate: &Predicate, block: usize) {
        match predicate {
            Predicate::Range(low, high) if self.reads_all => {
                self.column
                    .between_reading_all(self.isa, block, (*low, *high), &mut self.bits)
            }
            Predicate::Range(low, high) => self.column.between(
                self.isa,
                block,
                0..self.column.rows(),
                RangeOp::Inside,
                (*low, *high),
                Combine::Replace,
                &mut self.bits,
            ),
            Predicate::Set(set) => self.column.in_set(self.isa, block, set, &mut self.bits),
        }
    }
}

fn column_of<'a>(columns: &'a [Column], member: &Member) -> &'a Column {
    let found = columns.iter().find(|column| column.layout() == member.layout);
    found.expect("each layout has a column")
}

/// Refuses to measure a wrong answer.
fn check(column: &Column, member: &Member, codes: &[u64], predicate: &Predicate) -> Result<()> {
    let isa = member.isa.unwrap_or_else(Isa::detect);
    let mut scanner = Scanner::new(column, isa, member);
    scanner.scan(std::slice::from_ref(predicate), 0, 0..1);
    let wanted = codes.iter().filter(|&&code| predicate.admits(code)).count();
    let found = count::ones(isa, &scanner.bits);
    if found == wanted {
        return Ok(());
    }
    Err(Error::internal(format!(
        "{} finds {found} rows where {wanted} match",
        column.layout()
    )))
}

impl Predicate {
    fn admits(&self, code: u64) -> bool {
        match self {
            Predicate::Range(low, high) => (*low..=*high).contains(&code),
            Predicate::Set(set) => {
                (set.get(code as usize / 64)).is_some_and(|word| word >> (code % 64) & 1 == 1)
            }
        }
    }
}

/// First and last code of the range that the rows of a group are made for.
fn range(group: &Group) -> (u64, u64) {
    let domain = 1u64 << group.bits;
    let inside = (domain * u64::from(group.percent) / 100).max(1);
    match group.operator {
        Operator::Less => (0, inside - 1),
        Operator::Greater => (domain - inside, domain - 1),
        Operator::Equal => (domain / 3, domain / 3),
        Operator::Between => {
            // A wide range would not end in the domain if it began at a third of it.
            let low = (domain / 3).min((domain - inside) / 2);
            (low, low + inside - 1)
        }
        Operator::InSet => (0, 0),
    }
}

fn predicates(group: &Group) -> Vec<Predicate> {
    let domain = 1u64 << group.bits;
    let (low, high) = range(group);
    match group.operator {
        Operator::InSet => vec![Predicate::Set(set(domain))],
        // Anywhere in the domain: the codes are uniform.
        Operator::Equal if domain >= 16 => (0..CONSTANTS as u64)
            .map(|i| (domain / 3 + i * (domain / 16)) % domain)
            .map(|code| Predicate::Range(code, code))
            .collect(),
        // Hardly elsewhere, lest the selectivity changes.
        _ => (0..CONSTANTS as u64)
            .map(|i| domain / 4_096 * i)
            .map(|shift| match group.operator {
                Operator::Less => Predicate::Range(low, high + shift),
                Operator::Greater => Predicate::Range(low - shift, high),
                _ => Predicate::Range(low + shift, high + shift),
            })
            .collect(),
    }
}

/// Every tenth code, as far as sets go.
fn set(domain: u64) -> Vec<u64> {
    let codes = domain.min(SET_CODES);
    let mut words = vec![0; codes.div_ceil(64) as usize];
    for code in (0..codes).step_by(10) {
        words[code as usize / 64] |= 1 << (code % 64);
    }
    words
}

fn codes(group: &Group, rows: usize) -> Vec<u64> {
    let domain = 1u64 << group.bits;
    if group.skew != 0 {
        return zipf(rows, domain, f64::from(group.skew) / 10.0);
    }
    let share = f64::from(group.percent) / 100.0;
    let (low, high) = range(group);
    match group.operator {
        Operator::Equal => uniform(rows, domain),
        Operator::InSet => {
            let set = Predicate::Set(set(domain));
            let members = domain.min(SET_CODES).div_ceil(10);
            let inside = |random: &mut Random| 10 * random.below(members);
            codes_with_share(rows, domain, share, inside, |code| set.admits(code))
        }
        Operator::Less | Operator::Greater | Operator::Between => {
            let inside = |random: &mut Random| low + random.below(high - low + 1);
            codes_with_share(rows, domain, share, inside, |code| (low..=high).contains(&code))
        }
    }
}

/// Every layout against byte-packed, ByteSlice against its rivals, and the layouts in classes.
fn add_comparisons(report: &mut Report, group: &Group) {
    for member in &group.members {
        let rival = |layout| group.case(&Member { layout, ..*member });
        if member.reads_all {
            let stopping = Member {
                reads_all: false,
                ..*member
            };
            report.compare(&group.case(&stopping), &group.case(member), PER_VALUE.ns);
            continue;
        }
        if member.layout != Layout::BytePacked {
            report.compare(&group.case(member), &rival(Layout::BytePacked), PER_VALUE.ns);
        }
        if member.layout == Layout::ByteSlice {
            for layout in [Layout::BitPacked, Layout::Vbp, Layout::Hbp] {
                report.compare(&group.case(member), &rival(layout), PER_VALUE.ns);
            }
            let case = group.case(member);
            let title = case.split_once('/').map_or("", |(_, common)| common);
            report.classify(title, &Layout::ALL.map(rival), PER_VALUE.ns);
        }
    }
}

/// Bits that ByteSlice and VBP read until they stop, counted, beside those that equations 2 and 1 expect of uniform
/// codes, for registers of 512 and of 256 bits. Out of cache, a range has one bound, or is one code.
fn add_bits_read(
    report: &mut Report,
    name: &'static str,
    group: &Group,
    (codes, columns): (&[u64], &[Column]),
    predicates: &[Predicate],
) {
    let mean_of = |bits: &dyn Fn(u64, u64) -> f64| {
        let read = predicates.iter().map(|predicate| match predicate {
            Predicate::Range(low, high) => bits(*low, *high),
            Predicate::Set(_) => 0.0,
        });
        read.sum::<f64>() / predicates.len() as f64
    };
    let sliced = columns.iter().find(|c| c.layout() == Layout::ByteSlice);
    let sliced = sliced.map(|column| column.packed(0));
    for (register_bits, counted, equations) in [
        (
            512,
            "bits_read_per_code_512",
            ["equation_1_512", "equation_2_512"],
        ),
        (
            256,
            "bits_read_per_code_256",
            ["equation_1_256", "equation_2_256"],
        ),
    ] {
        let mut add = |layout: Layout, read: f64, (equation, expected): (&'static str, f64)| {
            let (layout, operator, place) = (layout_name(layout), group.operator.name(), group.place.name());
            let case = format!("{layout}/{}/{operator}/{place}", group.bits);
            add_exact(report, name, &case, counted, "bits", read);
            add_exact(report, name, &case, equation, "bits", expected);
        };
        if let Some(sliced) = sliced {
            let read = mean_of(&|low, high| {
                let bytes = between_counting(sliced, 0..sliced.rows, low, high, register_bits);
                bytes as f64 * 8.0 / sliced.rows as f64
            });
            let expected = equation_2(group.bits, register_bits);
            add(Layout::ByteSlice, read, (equations[1], expected));
        }
        let read = mean_of(&|_, high| vbp_bits_read(codes, group.bits, high, register_bits));
        let expected = equation_1(group.bits, register_bits);
        add(Layout::Vbp, read, (equations[0], expected));
    }
}

/// Planes between two looks whether a test of VBP may stop: the paper's τ.
const PLANES_A_LOOK: u32 = 4;

/// Bits a code that a test of VBP against one bound reads: all planes of a register's codes until, at a look, each
/// code differs from the bound.
fn vbp_bits_read(codes: &[u64], bits: u32, bound: u64, register_bits: usize) -> f64 {
    let planes_read = |codes: &[u64]| {
        let decided = |planes: &u32| codes.iter().all(|code| (code ^ bound) >> (bits - planes) != 0);
        let mut looks = (PLANES_A_LOOK..bits).step_by(PLANES_A_LOOK as usize);
        looks.find(decided).unwrap_or(bits)
    };
    let read = codes
        .chunks(register_bits)
        .map(|codes| codes.len() * planes_read(codes) as usize);
    read.sum::<usize>() as f64 / codes.len() as f64
}

/// Bits a code that a test of VBP reads of uniform codes (ByteSlice, equation 1): four planes are read unless every
/// code of the register differs from the bound in a plane before them.
fn equation_1(bits: u32, register_bits: usize) -> f64 {
    let looks = (0..bits).step_by(PLANES_A_LOOK as usize);
    let read = looks.map(|planes| {
        let stopped = (1.0 - 0.5f64.powi(planes as i32)).powi(register_bits as i32);
        f64::from(PLANES_A_LOOK.min(bits - planes)) * (1.0 - stopped)
    });
    read.sum()
}

/// Bits a code that a test against one bound reads of uniform codes (ByteSlice, equation 2): a slice is
/// read unless every code of the register differs from the bound in a slice before it.
fn equation_2(bits: u32, register_bits: usize) -> f64 {
    let codes = (register_bits / 8) as i32;
    let slices = 1..bits.div_ceil(8) as i32;
    8.0 + slices
        .map(|t| 8.0 * (1.0 - (1.0 - 0.5f64.powi(8 * t)).powi(codes)))
        .sum::<f64>()
}

fn add_exact(
    report: &mut Report,
    experiment: &'static str,
    case: &str,
    metric: &'static str,
    unit: &'static str,
    value: f64,
) {
    report.add(Measurement {
        experiment,
        case: case.to_owned(),
        metric,
        unit,
        values: Values::Exact(value),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_2_has_the_papers_figures() {
        assert!((equation_2(32, 256) - 8.94).abs() < 0.01);
        assert!((equation_2(12, 256) - 8.94).abs() < 0.01);
        assert!((equation_2(32, 512) - 9.78).abs() < 0.01);
        assert_eq!(equation_2(8, 512), 8.0);
    }

    #[test]
    fn equation_1_has_the_papers_figures_and_counting_agrees() {
        assert!((equation_1(32, 256) - 10.79).abs() < 0.01);
        assert!((equation_1(12, 256) - 10.53).abs() < 0.01);
        assert!((equation_1(32, 512) - 11.96).abs() < 0.01);
        assert_eq!(equation_1(3, 512), 3.0);
        let codes = uniform(1 << 16, 1 << 32);
        for register_bits in [256, 512] {
            let bounds = (1..40u64).map(|i| i * 0x0612_3457);
            let read: f64 = bounds
                .map(|bound| vbp_bits_read(&codes, 32, bound, register_bits))
                .sum();
            let expected = equation_1(32, register_bits);
            assert!(
                (read / 39.0 - expected).abs() < 0.15,
                "{}, not {expected}",
                read / 39.0
            );
        }
        // One code that is the bound keeps its register from stopping.
        assert_eq!(vbp_bits_read(&[7; 256], 12, 7, 256), 12.0);
        assert_eq!(vbp_bits_read(&[0xfff; 256], 12, 7, 256), 4.0);
    }

    #[test]
    fn the_share_of_matches_is_the_one_asked_for() {
        for (bits, percent) in [(1, 10), (4, 10), (8, 10), (12, 10), (32, 10), (17, 50), (17, 90)] {
            for operator in [
                Operator::Less,
                Operator::Greater,
                Operator::Between,
                Operator::InSet,
            ] {
                let group = Group {
                    bits,
                    operator,
                    place: Place::InCache,
                    percent,
                    skew: 0,
                    members: Vec::new(),
                };
                let codes = codes(&group, 20_000);
                assert!(
                    codes.iter().all(|code| code >> bits == 0),
                    "{bits} {operator:?}: the codes fit"
                );
                let wanted = 200 * percent as usize;
                for predicate in predicates(&group) {
                    let matches = codes.iter().filter(|&&code| predicate.admits(code)).count();
                    assert!(
                        matches.abs_diff(wanted) < 300,
                        "{bits} {operator:?}: {matches}, not {wanted}"
                    );
                }
            }
        }
    }
}
