//! The settings that plans and their code depend on: a compiled statement serves where they are equal.

use frazil_catalog::SearchPath;
use frazil_codegen::PaxCode;
use frazil_frontend::UserRoles;
use frazil_kernels::Isa;
use frazil_plan::pipeline::StagePolicy;
use frazil_types::Zone;

/// The settings that plans and their code depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSettings {
    /// The policy that cuts pipelines into stages.
    pub stages: StagePolicy,
    /// Rows of a stage vector.
    pub stage_rows: usize,
    /// Rows of a stage vector whose build rows are asked for together; 0: none are.
    pub prefetch_rows: usize,
    /// True if scans evaluate restrictions.
    pub restrictions: bool,
    /// Instruction set of the code.
    pub isa: Isa,
    /// The code that reads hot chunks; `None` leaves the choice to the engine.
    pub pax_code: Option<PaxCode>,
    /// True if Cranelift optimizes.
    pub optimize: bool,
    /// True if checks that cannot fail are left out.
    pub elide_checks: bool,
    /// True if rows are looked up by their keys.
    pub use_indexes: bool,
    /// The session's time zone.
    pub time_zone: Zone,
    /// The roles of the session.
    pub user: UserRoles,
    /// The session's search path.
    pub search_path: SearchPath,
}
