//! What `bench scan` measures, as data: products of layouts, widths, operators and circumstances.

use frazil_block::Layout;
use frazil_kernels::Isa;

/// A test of every code of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Less than a constant.
    Less,
    /// Greater than a constant.
    Greater,
    /// Equal to a constant, with uniform codes.
    Equal,
    /// Between two constants, in the middle of the domain.
    Between,
    /// One of a set of codes.
    InSet,
}

impl Operator {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Less => "<",
            Operator::Greater => ">",
            Operator::Equal => "=",
            Operator::Between => "between",
            Operator::InSet => "in_set",
        }
    }
}

/// Where the codes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A scan window's rows, in the first-level cache.
    InCache,
    /// Blocks, several times the last-level cache.
    OutOfCache,
}

impl Place {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Place::InCache => "in_cache",
            Place::OutOfCache => "out_of_cache",
        }
    }
}

/// What a scan yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A bit a row.
    Bits,
    /// The positions of the rows that match.
    Positions,
}

impl Form {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Form::Bits => "bits",
            Form::Positions => "positions",
        }
    }
}

/// A product: every combination is a case.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Layouts.
    pub layouts: &'static [Layout],
    /// Bits of a code; `--widths` replaces them if they are the default's.
    pub widths: &'static [u32],
    /// Tests.
    pub operators: &'static [Operator],
    /// Places.
    pub places: &'static [Place],
    /// Results.
    pub forms: &'static [Form],
    /// Instruction sets; `None` is the machine's best, which goes unnamed.
    pub isas: &'static [Option<Isa>],
    /// Per cent of the rows that match (save with `=`, whose codes are uniform).
    pub percents: &'static [u32],
    /// Tenths of Zipf's exponent; 0 is uniform.
    pub skews: &'static [u32],
    /// Threads, each scanning its part.
    pub threads: &'static [usize],
    /// Whether ByteSlice's tests to bits are also measured without early stopping.
    pub reading_all: bool,
}

/// Widths of the default set.
pub const WIDTHS: &[u32] = &[1, 4, 8, 12, 16, 20, 24, 32];

const LESS: Grid = Grid {
    layouts: &Layout::ALL,
    widths: &[12],
    operators: &[Operator::Less],
    places: &[Place::InCache],
    forms: &[Form::Bits],
    isas: &[None],
    percents: &[10],
    skews: &[0],
    threads: &[1],
    reading_all: false,
};

/// The grids of `bench scan`.
pub const GRIDS: [Grid; 9] = [
    // By width and operator (ByteSlice, figure 9).
    Grid {
        widths: WIDTHS,
        operators: &[
            Operator::Less,
            Operator::Equal,
            Operator::Between,
            Operator::InSet,
        ],
        places: &[Place::InCache],
        forms: &[Form::Bits, Form::Positions],
        reading_all: true,
        ..LESS
    },
    // The other side of a constant (ByteSlice, figure 16).
    Grid {
        widths: WIDTHS,
        operators: &[Operator::Greater],
        ..LESS
    },
    // Out of cache the operators differ by what early stopping leaves unread.
    Grid {
        widths: WIDTHS,
        operators: &[Operator::Less, Operator::Equal],
        places: &[Place::OutOfCache],
        forms: &[Form::Bits, Form::Positions],
        reading_all: true,
        ..LESS
    },
    // By selectivity (ByteSlice, figures 11c, 17 and 18).
    Grid {
        widths: &[8, 12, 17],
        forms: &[Form::Bits, Form::Positions],
        percents: &[1, 50, 90],
        ..LESS
    },
    // Codes that exceed two bytes by a bit (Data Blocks, figure 12a).
    Grid {
        layouts: &[Layout::BytePacked, Layout::BitPacked],
        widths: &[17],
        operators: &[Operator::Between],
        forms: &[Form::Positions],
        percents: &[1, 50, 90],
        ..LESS
    },
    // By skew (ByteSlice, figure 11a), the constant being a tenth of the domain.
    Grid {
        skews: &[5, 10, 20],
        ..LESS
    },
    // By the constant, a hundredth or half of the domain, under skew (ByteSlice, figure 11b).
    Grid {
        percents: &[1, 50],
        skews: &[10],
        ..LESS
    },
    // By threads (ByteSlice, figure 13).
    Grid {
        widths: &[8, 12, 24, 32],
        places: &[Place::OutOfCache],
        threads: &[2],
        ..LESS
    },
    // By instruction set (Data Blocks, figure 8).
    Grid {
        widths: &[8, 12, 16, 32],
        operators: &[Operator::Between],
        forms: &[Form::Bits, Form::Positions],
        isas: &[Some(Isa::Scalar), Some(Isa::Avx2), Some(Isa::Avx512)],
        percents: &[20],
        ..LESS
    },
];

/// Cases that share their codes, and therefore run in turns.
#[derive(Clone, Debug)]
pub struct Group {
    /// Bits of a code.
    pub bits: u32,
    /// The test.
    pub operator: Operator,
    /// The place.
    pub place: Place,
    /// Per cent of matches.
    pub percent: u32,
    /// Tenths of Zipf's exponent.
    pub skew: u32,
    /// Layout, instruction set, threads and result of each.
    pub members: Vec<Member>,
}

/// What cases with the same codes differ in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// The layout.
    pub layout: Layout,
    /// Instruction set, if it is not the best.
    pub isa: Option<Isa>,
    /// Threads.
    pub threads: usize,
    /// The result.
    pub form: Form,
    /// Whether all slices are read, without early stopping.
    pub reads_all: bool,
}

/// The groups of a grid. `widths`, unless empty, take the place of the default's.
pub fn groups(grid: &Grid, widths: &[u32]) -> Vec<Group> {
    let is_asked_for = !widths.is_empty() && grid.widths == WIDTHS;
    let widths = if is_asked_for { widths } else { grid.widths };
    let mut groups = Vec::new();
    for &bits in widths {
        for &operator in grid.operators {
            for &place in grid.places {
                for &percent in grid.percents {
                    groups.extend(grid.skews.iter().map(|&skew| Group {
                        bits,
                        operator,
                        place,
                        percent,
                        skew,
                        members: members(grid, bits, operator),
                    }));
                }
            }
        }
    }
    groups
}

fn members(grid: &Grid, bits: u32, operator: Operator) -> Vec<Member> {
    let mut members = Vec::new();
    let best = Isa::detect();
    for &form in grid.forms {
        for &threads in grid.threads {
            for &isa in grid.isas.iter().filter(|isa| isa.is_none_or(|isa| isa <= best)) {
                members.extend(grid.layouts.iter().map(|&layout| Member {
                    layout,
                    isa,
                    threads,
                    form,
                    reads_all: false,
                }));
            }
        }
    }
    // There is nothing to stop at in a single slice, and sets are tested on whole codes.
    if grid.reading_all && bits > 8 && operator != Operator::InSet {
        members.push(Member {
            layout: Layout::ByteSlice,
            isa: None,
            threads: 1,
            form: Form::Bits,
            reads_all: true,
        });
    }
    members
}

/// The name of a layout in cases.
pub fn layout_name(layout: Layout) -> String {
    layout.name().replace('-', "_")
}

impl Group {
    /// The name of a member's case: `layout/width/operator/place/form`, and what is out of the ordinary.
    pub fn case(&self, member: &Member) -> String {
        let mut name = format!(
            "{}/{}/{}/{}/{}",
            layout_name(member.layout),
            self.bits,
            self.operator.name(),
            self.place.name(),
            member.form.name()
        );
        if self.percent != 10 {
            name.push_str(&format!("/percent_{}", self.percent));
        }
        if self.skew != 0 {
            name.push_str(&format!("/zipf_{}", f64::from(self.skew) / 10.0));
        }
        if member.threads != 1 {
            name.push_str(&format!("/threads_{}", member.threads));
        }
        if member.reads_all {
            name.push_str("/all_slices");
        }
        if let Some(isa) = member.isa {
            name.push_str(&format!("/{isa}"));
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_as_promised() {
        let mut names: Vec<String> = Vec::new();
        for group in GRIDS.iter().flat_map(|grid| groups(grid, &[])) {
            names.extend(group.members.iter().map(|member| group.case(member)));
        }
        let count = names.len();
        for name in [
            "byte_packed/8/</in_cache/bits",
            "bit_packed/32/=/out_of_cache/positions",
            "byteslice/12/</in_cache/bits/zipf_0.5",
            "byteslice/12/</in_cache/bits/percent_50/zipf_1",
            "byteslice/32/>/in_cache/bits",
            "bit_packed/17/between/in_cache/positions/percent_90",
            "byte_packed/8/between/in_cache/positions/percent_20/scalar",
            "vbp/12/</out_of_cache/bits/threads_2",
            "byteslice/12/</out_of_cache/bits/all_slices",
        ] {
            assert!(names.iter().any(|n| n == name), "{name}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
