//! Settings: `SET name = value`, `SHOW name`. Each is a row of a table ([`all`]).

mod around;
mod board;
mod client_encoding;
mod kind;
mod listed;
mod own;
mod postgresql;
mod setting;
mod user;

pub(crate) use around::Around;
pub use board::ReportedState;
pub(crate) use board::{Board, Change};
pub use client_encoding::ClientEncoding;
pub(crate) use kind::{Read, shown_flag};
pub(crate) use listed::{is_listed, listed};
pub(crate) use setting::Setting;
pub(crate) use user::{User, is_role};

use crate::notice::Severity;
use crate::plan_settings::PlanSettings;
use frazil_catalog::SearchPath;
use frazil_codegen::PaxCode;
use frazil_files::FileAccess;
use frazil_frontend::{Isolation, TransactionModes};
use frazil_kernels::Isa;
use frazil_plan::pipeline::StagePolicy;
use frazil_storage::{Acknowledge, ScanOptions};
use frazil_types::{CHUNK_ROWS, Error, Result, STAGE_ROWS, SqlState, Zone};
use setting::Access;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How scans work: the configurations of the paper's Table 2 (Data Blocks, section 5.2), each one step
/// from the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScanMode {
    /// One fused scalar loop over columns lent from the chunk.
    Compiled,
    /// Vectors of a stage's size, predicates in generated code.
    Vectorized,
    /// Restrictions evaluated by SIMD kernels in the scan.
    Sarg,
    /// The same; named so when the data is frozen.
    Blocks,
    /// Blocks ruled out by SMAs.
    Sma,
    /// Rows of blocks ruled out by PSMAs.
    #[default]
    Psma,
}

/// The settings of a connection, by which its statements run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Workers of a statement, its own thread among them.
    pub threads: usize,
    /// Instruction set of kernels and generated code.
    pub isa: Isa,
    /// How pipelines are cut into stages.
    pub stages: StagePolicy,
    /// How scans work.
    pub scan: ScanMode,
    /// Rows a scan matches in one go.
    pub window_rows: usize,
    /// Rows of a stage vector. Vectors of sources have no more than [`STAGE_ROWS`](frazil_types::STAGE_ROWS).
    pub stage_rows: usize,
    /// Rows of a stage vector whose build rows are asked for together; 0: none are.
    pub prefetch_rows: usize,
    /// True if compiled queries are kept and used again.
    pub plan_cache: bool,
    /// True if scans test the keys of joins beforehand.
    pub early_probes: bool,
    /// True if an index may say which rows a scan looks at.
    pub use_indexes: bool,
    /// False if the database was opened without indexes.
    pub has_indexes: bool,
    /// True if strings of dictionaries stay codes until somebody needs them.
    pub codes_travel: bool,
    /// How generated code reads hot chunks; `None`: as pays.
    pub pax_code: Option<PaxCode>,
    /// True if Cranelift optimizes.
    pub optimize: bool,
    /// True if checks of arithmetic are left out where bounds prove that they cannot fail.
    pub elide_checks: bool,
    /// True if scans count the uses of columns.
    pub access_counters: bool,
    /// Time a statement may take; `None` for any.
    pub statement_timeout: Option<Duration>,
    /// Turns that a recursive query may take; `None` for any number.
    pub max_recursion: Option<u64>,
    /// Most time of one wait for other transactions.
    pub lock_timeout: Duration,
    /// The greatest age of what a statement sees of another process's commits.
    pub read_lag: Duration,
    /// When a commit returns.
    pub synchronous_commit: Acknowledge,
    /// Whose clock timestamps with a zone are read and shown by.
    pub time_zone: Zone,
    /// The schemas in which names without a schema are looked for.
    pub search_path: SearchPath,
    /// The roles of the session.
    pub(crate) user: User,
    /// Files that statements may name. It is only narrowed.
    pub file_access: FileAccess,
    /// The isolation level of transactions to come.
    pub isolation: Isolation,
    /// True if transactions to come may not write.
    pub read_only: bool,
    /// The encoding of texts that a client asked for.
    pub(crate) client_encoding: ClientEncoding,
    /// The times after which a server ends the session.
    pub(crate) timeouts: SessionTimeouts,
    /// True for a client of a server, which can end the session.
    pub(crate) is_served: bool,
    /// The least that notices must matter to be told.
    pub least_notice: NoticeLevel,
    /// Settings that only SHOW reads, if they are not the default, and those of the user's own: `a.b`.
    pub(crate) texts: Arc<Texts>,
}

/// The times after which a server ends a session; `None` for never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionTimeouts {
    /// Waits for the client outside a transaction.
    pub idle: Option<Duration>,
    /// Waits for the client inside a transaction.
    pub idle_in_transaction: Option<Duration>,
    /// The time that a transaction takes.
    pub transaction: Option<Duration>,
}

/// The texts of settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    /// By the setting's name.
    kept: BTreeMap<&'static str, String>,
    /// Settings of the user's own, by their names in lower case.
    custom: BTreeMap<String, String>,
    /// The origin of each value that is not the default.
    origins: BTreeMap<&'static str, Origin>,
}

/// The origin of a value, as `pg_settings` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The client's first packet: RESET goes back to the value.
    Client,
    /// SET or `set_config`.
    Session,
}

/// The least weight of a notice that is told: `client_min_messages`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoticeLevel {
    /// Any.
    #[default]
    Notice,
    /// Warnings.
    Warning,
    /// None.
    Error,
}

impl NoticeLevel {
    /// True if a notice of this severity is told.
    pub fn tells(self, severity: Severity) -> bool {
        match self {
            NoticeLevel::Notice => true,
            NoticeLevel::Warning => severity >= Severity::Warning,
            NoticeLevel::Error => false,
        }
    }
}

/// `lock_timeout` of 0: longer than anybody waits, and short enough to be added to any instant.
const UNLIMITED: Duration = Duration::from_secs(100 * 365 * 86_400);

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            isa: Isa::detect(),
            stages: StagePolicy::default(),
            scan: ScanMode::default(),
            window_rows: 4096,
            stage_rows: STAGE_ROWS,
            prefetch_rows: STAGE_ROWS,
            plan_cache: true,
            early_probes: true,
            use_indexes: true,
            has_indexes: true,
            codes_travel: true,
            pax_code: None,
            optimize: false,
            elide_checks: true,
            access_counters: true,
            statement_timeout: None,
            max_recursion: None,
            lock_timeout: Duration::from_secs(10),
            read_lag: Duration::ZERO,
            synchronous_commit: Acknowledge::Durable,
            time_zone: Zone::UTC,
            search_path: SearchPath::default(),
            user: User::default(),
            file_access: FileAccess::On,
            isolation: Isolation::default(),
            read_only: false,
            client_encoding: ClientEncoding::default(),
            timeouts: SessionTimeouts::default(),
            is_served: false,
            least_notice: NoticeLevel::default(),
            texts: Arc::default(),
        }
    }
}

/// Settings of the user's own that a session can have. Transactions and running statements keep copies of them.
const MOST_CUSTOM: usize = 1000;

/// All settings but those of the user's own.
pub(crate) fn all() -> impl Iterator<Item = &'static Setting> {
    own::SETTINGS.iter().chain(postgresql::SETTINGS)
}

/// The names of all settings, in lower case.
pub fn names() -> impl Iterator<Item = String> {
    all().map(|setting| setting.name.to_lowercase())
}

/// The names of the settings whose values a server tells its clients, as these know them.
pub fn reported() -> impl Iterator<Item = &'static str> {
    all()
        .filter(|setting| setting.is_reported)
        .map(|setting| setting.name)
}

/// The setting of a name, if it is in the table. Case does not matter.
pub(crate) fn find(name: &str) -> Option<&'static Setting> {
    all().find(|setting| setting.name.eq_ignore_ascii_case(name))
}

impl Settings {
    /// The part that plans depend on.
    pub(crate) fn plan(&self) -> PlanSettings {
        PlanSettings {
            stages: self.stages,
            stage_rows: self.stage_rows,
            prefetch_rows: self.prefetch_rows,
            restrictions: !matches!(self.scan, ScanMode::Compiled | ScanMode::Vectorized),
            isa: self.isa,
            pax_code: self.pax_code,
            optimize: self.optimize,
            elide_checks: self.elide_checks,
            use_indexes: self.may_use_indexes(),
            time_zone: self.time_zone,
            user: self.user.roles(),
            search_path: self.search_path.clone(),
        }
    }

    /// True if an index may say which rows a statement looks at.
    pub fn may_use_indexes(&self) -> bool {
        self.use_indexes && self.has_indexes
    }

    /// The modes of transactions that do not name any.
    pub(crate) fn modes(&self) -> TransactionModes {
        TransactionModes {
            isolation: Some(self.isolation),
            read_only: Some(self.read_only),
        }
    }

    /// Options of scans.
    pub fn scan_options(&self) -> ScanOptions {
        let pushed = !matches!(self.scan, ScanMode::Compiled | ScanMode::Vectorized);
        let compiled = self.scan == ScanMode::Compiled;
        ScanOptions {
            isa: self.isa,
            window_rows: self.window_rows,
            stage_rows: if compiled {
                CHUNK_ROWS
            } else {
                self.stage_rows.min(STAGE_ROWS)
            },
            use_sma: matches!(self.scan, ScanMode::Sma | ScanMode::Psma),
            use_psma: self.scan == ScanMode::Psma,
            push_restrictions: pushed,
            lend_columns: self.scan != ScanMode::Vectorized,
            early_probes: pushed && self.early_probes,
            use_indexes: self.may_use_indexes(),
            codes_travel: self.codes_travel,
            count_access: self.access_counters,
        }
    }

    /// How to compile for hot chunks.
    pub fn pax_code(&self) -> PaxCode {
        self.pax_code.unwrap_or(PaxCode::CompileTime)
    }

    /// Whether code that is made for a layout of hot chunks is wanted for a table with so many rows, of which so many
    /// are hot. Where it is not asked for, it must pay: few rows are not worth the time to compile more code,
    /// and where most rows are frozen, scans of blocks are better off with code that knows no partitions.
    pub fn reads_in_place(&self, hot: u64, rows: u64) -> bool {
        self.pax_code.is_some() || hot >= CHUNK_ROWS as u64 && hot * 2 >= rows
    }

    /// Changes a setting of sessions, `None` to its default. 22023 for a value that it does not take, 0A000 for one
    /// that is not supported, 55P02 for a setting that only shows, 42704 for an unknown name, 42602 for one that cannot
    /// be the name of a setting of the user's own, 54000 for too many of those.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let Some(setting) = find(name) else {
            return self.set_custom(name, value);
        };
        self.set_known(setting, value)?;
        let origins = &mut Arc::make_mut(&mut self.texts).origins;
        match value {
            Some(_) => origins.insert(setting.name, Origin::Session),
            None => origins.remove(setting.name),
        };
        Ok(())
    }

    fn set_known(&mut self, setting: &'static Setting, value: Option<&str>) -> Result<()> {
        match &setting.access {
            Access::Session { set, show } => {
                let default;
                let text = match value {
                    Some(text) => text,
                    None => {
                        default = show(&Settings::default());
                        &default
                    }
                };
                set(self, setting.kind.read(setting.name, text)?)
            }
            Access::Kept { default, only, apply } => {
                let read = setting.kind.read(setting.name, value.unwrap_or(default))?;
                let text = read.to_string();
                if !only.is_empty() && !only.iter().any(|known| known.eq_ignore_ascii_case(&text)) {
                    let message = format!("{} \"{text}\"", setting.name);
                    let hint = format!("it is {}", only.join(", or "));
                    return Err(Error::unsupported(message).with_hint(hint));
                }
                apply(self, &read)?;
                let kept = &mut Arc::make_mut(&mut self.texts).kept;
                match text == *default {
                    true => kept.remove(setting.name),
                    false => kept.insert(setting.name, text),
                };
                Ok(())
            }
            Access::Database { .. } | Access::Transaction(_) => Err(Error::internal(format!(
                "{} is not a setting of sessions",
                setting.name
            ))),
            Access::Shown(_) | Access::Constant(_) => Err(setting.cannot_change()),
        }
    }

    fn set_custom(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        let name = name.to_lowercase();
        check_custom(&name)?;
        if self.texts.custom.len() >= MOST_CUSTOM && !self.texts.custom.contains_key(&name) {
            let message = format!("a session can have at most {MOST_CUSTOM} settings of its own");
            return Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
                .with_hint("keep many values in a table, or in one setting as JSON"));
        }
        let custom = &mut Arc::make_mut(&mut self.texts).custom;
        custom.insert(name, value.unwrap_or_default().to_owned());
        Ok(())
    }

    /// Sets a setting back to the client's value in `start`; to the default if the client gave none.
    pub(crate) fn reset(&mut self, name: &str, start: &Settings) -> Result<()> {
        let given = match find(name) {
            Some(setting) if start.origin(setting.name).is_none() => None,
            Some(_) | None => start.show(name),
        };
        self.set(name, given.as_deref())?;
        if let Some(setting) = find(name).filter(|_| given.is_some()) {
            let origins = &mut Arc::make_mut(&mut self.texts).origins;
            origins.insert(setting.name, Origin::Client);
        }
        Ok(())
    }

    /// Takes the roles of a session, whose current one has the schema that `$user` stands for.
    pub(crate) fn set_user(&mut self, user: User) {
        self.search_path = self.search_path.of_user(user.current_name());
        self.user = user;
    }

    /// Makes all values that are not the default those of the client's first packet.
    pub(crate) fn begin_session(&mut self) {
        let origins = &mut Arc::make_mut(&mut self.texts).origins;
        origins.values_mut().for_each(|origin| *origin = Origin::Client);
    }

    /// The origin of a setting's value; `None` for the default.
    pub(crate) fn origin(&self, name: &str) -> Option<Origin> {
        self.texts.origins.get(name).copied()
    }

    /// The text of a setting of sessions; `None` for other names.
    pub fn show(&self, name: &str) -> Option<String> {
        let Some(setting) = find(name) else {
            return self.texts.custom.get(&name.to_lowercase()).cloned();
        };
        match &setting.access {
            Access::Session { show, .. } => Some(show(self)),
            Access::Kept { default, .. } => {
                let kept = self.texts.kept.get(setting.name);
                Some(kept.cloned().unwrap_or_else(|| (*default).to_owned()))
            }
            Access::Constant(value) => Some((*value).to_owned()),
            Access::Database { .. } | Access::Transaction(_) | Access::Shown(_) => None,
        }
    }

    /// The settings as they were before. Access to files stays narrowed, temporary objects stay in sight, and settings
    /// of the user's own that were made since are empty, as in PostgreSQL.
    pub(crate) fn rolled_back_to(&self, before: &Settings) -> Settings {
        let mut settings = Settings {
            file_access: self.file_access.clone(),
            search_path: before.search_path.in_session_of(&self.search_path),
            ..before.clone()
        };
        let is_new = |name: &&String| !before.texts.custom.contains_key(*name);
        for name in self.texts.custom.keys().filter(is_new) {
            let custom = &mut Arc::make_mut(&mut settings.texts).custom;
            custom.insert(name.clone(), String::new());
        }
        settings
    }
}

/// The value of a setting of the user's own. 22023 for several, 42704.
pub(crate) fn joined_custom(name: &str, values: &[String]) -> Result<String> {
    check_custom(&name.to_lowercase())?;
    match values {
        [value] => Ok(value.clone()),
        _ => Err(kind::takes_one(name)),
    }
}

/// 42704 for a name without a dot or one of Frazil's, 42602 unless dots part names of letters, digits, `_` and `$`.
fn check_custom(name: &str) -> Result<()> {
    if !name.contains('.') || name.starts_with("frazil.") {
        return Err(unknown(name));
    }
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let is_name = |part: &str| {
        part.starts_with(begins) && part.chars().all(|c| begins(c) || c.is_ascii_digit() || c == '$')
    };
    match name.split('.').all(is_name) {
        true => Ok(()),
        false => {
            let message = format!("invalid configuration parameter name \"{name}\"");
            let detail = "Custom parameter names must be two or more simple identifiers separated by dots.";
            Err(Error::new(SqlState::INVALID_NAME, message).with_detail(detail))
        }
    }
}

/// 42704, with the nearest name.
pub(crate) fn unknown(name: &str) -> Error {
    let error = Error::new(
        SqlState::UNDEFINED_OBJECT,
        format!("there is no setting \"{name}\""),
    );
    let names: Vec<String> = names().collect();
    match frazil_catalog::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => error.with_hint(format!("perhaps you mean \"{near}\"")),
        None => error.with_hint("SHOW ALL lists the settings"),
    }
}

/// The modes that SET transaction_isolation and SET transaction_read_only give. 22023.
pub(crate) fn modes(setting: &Setting, value: &str) -> Result<TransactionModes> {
    let mut modes = TransactionModes::default();
    match setting.kind.read(setting.name, value)? {
        Read::Flag(read_only) => modes.read_only = Some(read_only),
        read => modes.isolation = Some(own::isolation(&read)?),
    }
    Ok(modes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: &str) -> Result<String> {
        let mut settings = Settings::default();
        settings.set(name, Some(value))?;
        settings.show(name).ok_or_else(|| unknown(name))
    }

    #[test]
    fn settings_are_read_as_people_write_them() {
        let shown = |name: &str, value: &str| set(name, value).unwrap_or_else(|e| e.state().0.to_owned());
        assert_eq!(shown("statement_timeout", "10s"), "10s");
        assert_eq!(shown("statement_timeout", "250"), "250ms");
        assert_eq!(shown("frazil.scan", "SARG"), "sarg");
        assert_eq!(shown("frazil.isa", "scalar"), "scalar");
        assert_eq!(shown("FRAZIL.stages", "fused"), "fused");
        assert_eq!(shown("frazil.pax_code", "RUN_TIME"), "run_time");
        assert_eq!(shown("frazil.pax_code", "sometimes"), "22023");
        assert_eq!(shown("frazil.optimization", "speed"), "speed");
        assert_eq!(shown("threads", "0"), "22023");
        assert_eq!(shown("frazil.isa", "mmx"), "22023");
        assert_eq!(shown("lock_timeout", "soon"), "22023");
        let error = set("thread", "2").expect_err("no such setting");
        assert_eq!(error.state(), SqlState::UNDEFINED_OBJECT);
        assert_eq!(error.hint(), Some("perhaps you mean \"threads\""));
    }

    #[test]
    fn every_default_is_a_value_of_its_setting() {
        let mut settings = Settings::default();
        let mut names: Vec<String> = names().collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "names occur once");
        for setting in all() {
            let Some(before) = settings.show(setting.name) else {
                continue;
            };
            for value in [None, Some(&*before)] {
                let state = settings.set(setting.name, value).map_err(|e| e.state());
                match setting.access {
                    Access::Constant(_) => assert_eq!(state, Err(SqlState::CANT_CHANGE_PARAMETER)),
                    _ => assert_eq!(state, Ok(()), "{} {value:?}", setting.name),
                }
                assert_eq!(
                    settings.show(setting.name).as_ref(),
                    Some(&before),
                    "{}",
                    setting.name
                );
            }
            assert!(setting.about.len() > 5, "{}", setting.name);
        }
    }
}
