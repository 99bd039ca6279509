//! TPC-H's queries by the way in which pipelines are cut into stages (Relaxed Operator Fusion, figures 9 to 17):
//! without stages or SIMD, with SIMD in scans, with stage boundaries, with prefetching behind them; then by the rows
//! of a stage vector and of a group that is prefetched together. Figure 17 is `--threads 1,2`.
//!
//! Early probes would drop most rows of a probe in front of it: they are off, and a step of their own at the end.

use crate::query_experiment::{Configuration, Data, QueryExperiment, scan};

/// Settings of a configuration: the kind of scan, the policy, rows of a stage vector, rows that are prefetched
/// together, early probes.
type Settings = [(&'static str, &'static str); 5];

const fn settings(
    scan: &'static str,
    stages: &'static str,
    rows: &'static str,
    together: &'static str,
    early: &'static str,
) -> Settings {
    [
        ("frazil.scan", scan),
        ("frazil.stages", stages),
        ("frazil.stage_rows", rows),
        ("frazil.prefetch_rows", together),
        ("frazil.early_probes", early),
    ]
}

const COMPILED: Settings = settings("compiled", "fused", "1024", "1024", "off");
const SIMD: Settings = settings("psma", "fused", "1024", "1024", "off");
const BOUNDARIES: Settings = settings("psma", "relaxed", "1024", "0", "off");
const RELAXED: Settings = settings("psma", "relaxed", "1024", "1024", "off");
const STAGED: Settings = settings("psma", "staged", "1024", "1024", "off");
const EARLY: Settings = settings("psma", "relaxed", "1024", "1024", "on");

/// By rows of a vector, each with groups of 16 rows as in the paper: `prefetch_16` is the one of 1,024 rows.
const VECTORS: [Settings; 5] = [
    settings("psma", "relaxed", "64", "16", "off"),
    settings("psma", "relaxed", "256", "16", "off"),
    settings("psma", "relaxed", "4096", "16", "off"),
    settings("psma", "relaxed", "16384", "16", "off"),
    settings("psma", "relaxed", "65536", "16", "off"),
];
const TOGETHER: [Settings; 4] = [
    settings("psma", "relaxed", "1024", "4", "off"),
    settings("psma", "relaxed", "1024", "16", "off"),
    settings("psma", "relaxed", "1024", "64", "off"),
    settings("psma", "relaxed", "1024", "256", "off"),
];

const fn hot(name: &'static str, settings: &'static Settings) -> Configuration {
    scan(name, Data::Hot, settings)
}

/// The experiment. Names of configurations that take part in claims are in `whole/claims/`, too.
pub const STAGES: QueryExperiment = QueryExperiment {
    queries: &[1, 3, 4, 5, 6, 9, 13, 14, 19],
    configurations: &[
        hot("compiled", &COMPILED),
        hot("simd", &SIMD),
        hot("boundaries", &BOUNDARIES),
        hot("relaxed", &RELAXED),
        hot("staged", &STAGED),
        hot("early_probes", &EARLY),
        hot("vector_64", &VECTORS[0]),
        hot("vector_256", &VECTORS[1]),
        hot("vector_4096", &VECTORS[2]),
        hot("vector_16384", &VECTORS[3]),
        hot("vector_65536", &VECTORS[4]),
        hot("prefetch_4", &TOGETHER[0]),
        hot("prefetch_16", &TOGETHER[1]),
        hot("prefetch_64", &TOGETHER[2]),
        hot("prefetch_256", &TOGETHER[3]),
        scan("frozen_simd", Data::Frozen, &SIMD),
        scan("frozen_relaxed", Data::Frozen, &RELAXED),
    ],
    baseline: "compiled",
    figures: &[],
};
