//! Experiments on queries, as data: configurations that run the same queries.

/// Queries timed under several configurations.
#[derive(Clone, Copy, Debug)]
pub struct QueryExperiment {
    /// Numbers of TPC-H queries.
    pub queries: &'static [usize],
    /// The configurations; their runs are interleaved.
    pub configurations: &'static [Configuration],
    /// Name of the configuration that the others are compared with.
    pub baseline: &'static str,
    /// Figures that the report has of each configuration beside its times.
    pub figures: &'static [Figure],
}

/// A number that a configuration has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Share of the first query's rows that PSMAs ruled out.
    SkippedByPsma,
    /// Share of the rows that SMAs left of the first query's which PSMAs then ruled out.
    SkippedByPsmaOfLeft,
    /// Share of the first query's blocks that SMAs ruled out.
    BlocksSkippedBySma,
    /// Bytes of blocks that columns of integers take.
    IntegerBytes,
}

impl Figure {
    /// Its name in reports, and its unit.
    pub fn metric(self) -> (&'static str, &'static str) {
        match self {
            Figure::SkippedByPsma => ("rows_skipped_by_psma", "ratio"),
            Figure::SkippedByPsmaOfLeft => ("rows_skipped_by_psma_of_those_left", "ratio"),
            Figure::BlocksSkippedBySma => ("blocks_skipped_by_sma", "ratio"),
            Figure::IntegerBytes => ("integer_bytes", "bytes"),
        }
    }
}

/// An engine's data, and its settings before a run.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    /// Its name.
    pub name: &'static str,
    /// The data it runs on.
    pub data: Data,
    /// Settings and their values.
    pub settings: &'static [(&'static str, &'static str)],
    /// The only query it runs, if it does not run all.
    pub only: Option<usize>,
}

/// The form of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Hot chunks.
    Hot,
    /// Data Blocks.
    Frozen,
    /// Data Blocks of tables with options.
    FrozenWith(&'static str),
    /// Data Blocks, the rows of each sorted: lineitem's on l_shipdate, those of flights on dest.
    FrozenSorted,
    /// Plain arrays of the columns of Q6 and a loop written in Rust.
    Arrays,
}

/// Numbers of all queries.
pub const TPCH_QUERIES: &[usize] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
];

/// A configuration that runs all queries.
pub const fn scan(
    name: &'static str,
    data: Data,
    settings: &'static [(&'static str, &'static str)],
) -> Configuration {
    Configuration {
        name,
        data,
        settings,
        only: None,
    }
}
