//! The settings that plans and their code depend on: a compiled statement serves where they are equal.

use frazil_catalog::SearchPath;
use frazil_codegen::PaxCode;
use frazil_kernels::Isa;
use frazil_plan::pipeline::StagePolicy;
use frazil_types::Zone;

/// The settings that plans and their code depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSettings {
    /// How pipelines are cut into stages.
    pub stages: StagePolicy,
    /// Whether scans evaluate restrictions.
    pub restrictions: bool,
    /// Instruction set of the code.
    pub isa: Isa,
    /// How the code reads hot chunks; `None`: as pays.
    pub pax_code: Option<PaxCode>,
    /// Whether Cranelift optimizes.
    pub optimize: bool,
    /// Whether checks are left out that cannot fail.
    pub elide_checks: bool,
    /// Whether rows are looked up by their keys.
    pub use_indexes: bool,
    /// The session's time zone.
    pub time_zone: Zone,
    /// The session's search path.
    pub search_path: SearchPath,
}
