//! Settings of a connection: `SET name = value`, `SHOW name`.

use crate::notice::Severity;
use frazil_catalog::SearchPath;
use frazil_codegen::PaxCode;
use frazil_files::FileAccess;
use frazil_frontend::{Isolation, TransactionModes};
use frazil_kernels::Isa;
use frazil_plan::pipeline::StagePolicy;
use frazil_storage::{Acknowledge, ScanOptions};
use frazil_types::{CHUNK_ROWS, Error, Result, SqlState, Value, Zone};
use std::fmt;
use std::str::FromStr;
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

const SCAN_MODES: [(&str, ScanMode); 6] = [
    ("compiled", ScanMode::Compiled),
    ("vectorized", ScanMode::Vectorized),
    ("sarg", ScanMode::Sarg),
    ("blocks", ScanMode::Blocks),
    ("sma", ScanMode::Sma),
    ("psma", ScanMode::Psma),
];

impl FromStr for ScanMode {
    type Err = String;

    fn from_str(text: &str) -> Result<ScanMode, String> {
        let found = SCAN_MODES.iter().find(|m| m.0 == text);
        found.map(|m| m.1).ok_or_else(|| {
            let names: Vec<&str> = SCAN_MODES.iter().map(|m| m.0).collect();
            format!("unknown scan mode \"{text}\"; there are {}", names.join(", "))
        })
    }
}

impl fmt::Display for ScanMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = SCAN_MODES.iter().find(|m| m.1 == *self).map_or("", |m| m.0);
        f.write_str(name)
    }
}

/// Names of the ways in which generated code reads hot chunks. With none given, code is made for a table's k where
/// that pays: see [`Settings::reads_in_place`].
const PAX_CODE: [(&str, Option<PaxCode>); 4] = [
    ("auto", None),
    ("gathered", Some(PaxCode::Gathered)),
    ("compile_time", Some(PaxCode::CompileTime)),
    ("run_time", Some(PaxCode::RunTime)),
];

/// What Cranelift calls its levels of optimization.
const OPTIMIZATION: [(&str, bool); 2] = [("none", false), ("speed", true)];

/// What a connection's statements obey.
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
    /// Most rows of a stage vector.
    pub stage_rows: usize,
    /// Whether compiled queries are kept and used again.
    pub plan_cache: bool,
    /// Whether scans test the keys of joins beforehand.
    pub early_probes: bool,
    /// Whether an index may say which rows a scan looks at.
    pub use_indexes: bool,
    /// How generated code reads hot chunks; `None`: as pays.
    pub pax_code: Option<PaxCode>,
    /// Whether Cranelift optimizes.
    pub optimize: bool,
    /// Whether checks of arithmetic are left out where bounds prove that they cannot fail.
    pub elide_checks: bool,
    /// Whether scans count what is asked of columns.
    pub access_counters: bool,
    /// Time a statement may take; `None` for any.
    pub statement_timeout: Option<Duration>,
    /// Turns that a recursive query may take; `None` for any number.
    pub max_recursion: Option<u64>,
    /// Time to wait for the writer before.
    pub lock_timeout: Duration,
    /// When a commit returns.
    pub synchronous_commit: Acknowledge,
    /// Whose clock timestamps with a zone are read and shown by.
    pub time_zone: Zone,
    /// The schemas in which names without a schema are looked for.
    pub search_path: SearchPath,
    /// Files that statements may name. It is only narrowed.
    pub file_access: FileAccess,
    /// The isolation level of transactions to come.
    pub isolation: Isolation,
    /// True if transactions to come may not write.
    pub read_only: bool,
    /// The least that notices must matter to be told.
    pub least_notice: NoticeLevel,
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

const NOTICE_LEVELS: [(&str, NoticeLevel); 3] = [
    ("notice", NoticeLevel::Notice),
    ("warning", NoticeLevel::Warning),
    ("error", NoticeLevel::Error),
];

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

/// Settings of PostgreSQL that have one value here, with the texts that mean it; SHOW gives the first. What reads their
/// dumps, and what speaks to servers, sets them.
const FIXED: [(&str, &[&str]); 10] = [
    ("client_encoding", &["UTF8", "utf-8", "unicode"]),
    ("server_encoding", &["UTF8"]),
    ("standard_conforming_strings", &["on", "true", "1"]),
    ("integer_datetimes", &["on", "true", "1"]),
    ("idle_in_transaction_session_timeout", &["0"]),
    ("default_tablespace", &[""]),
    ("default_table_access_method", &["heap"]),
    ("xmloption", &["content"]),
    ("check_function_bodies", &["on", "off", "true", "false"]),
    ("row_security", &["on", "off", "true", "false"]),
];

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            isa: Isa::detect(),
            stages: StagePolicy::default(),
            scan: ScanMode::default(),
            window_rows: 4096,
            stage_rows: frazil_types::STAGE_ROWS,
            plan_cache: true,
            early_probes: true,
            use_indexes: true,
            pax_code: None,
            optimize: false,
            elide_checks: true,
            access_counters: true,
            statement_timeout: None,
            max_recursion: None,
            lock_timeout: Duration::from_secs(10),
            synchronous_commit: Acknowledge::Durable,
            time_zone: Zone::UTC,
            search_path: SearchPath::default(),
            file_access: FileAccess::On,
            isolation: Isolation::default(),
            read_only: false,
            least_notice: NoticeLevel::default(),
        }
    }
}

/// Names of all settings, those of the database among them.
pub const NAMES: [&str; 38] = [
    "threads",
    "memory_limit",
    "statement_timeout",
    "lock_timeout",
    "synchronous_commit",
    "timezone",
    "file_access",
    "max_wal_size",
    "checkpoint_timeout",
    "frazil.freeze_after",
    "frazil.refreeze_budget",
    "frazil.isa",
    "frazil.stages",
    "frazil.plan_cache",
    "frazil.scan",
    "frazil.window_rows",
    "frazil.stage_rows",
    "frazil.early_probes",
    "frazil.use_indexes",
    "frazil.pax_code",
    "frazil.optimization",
    "frazil.elide_checks",
    "frazil.access_counters",
    "frazil.max_recursion",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "client_min_messages",
    "client_encoding",
    "server_encoding",
    "standard_conforming_strings",
    "integer_datetimes",
    "search_path",
    "idle_in_transaction_session_timeout",
    "default_tablespace",
    "default_table_access_method",
    "xmloption",
    "check_function_bodies",
    "row_security",
];

/// What of the settings plans and their code depend on.
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

impl Settings {
    /// What of them plans depend on.
    pub(crate) fn plan(&self) -> PlanSettings {
        PlanSettings {
            stages: self.stages,
            restrictions: !matches!(self.scan, ScanMode::Compiled | ScanMode::Vectorized),
            isa: self.isa,
            pax_code: self.pax_code,
            optimize: self.optimize,
            elide_checks: self.elide_checks,
            use_indexes: self.use_indexes,
            time_zone: self.time_zone,
            search_path: self.search_path.clone(),
        }
    }

    /// Options of scans.
    pub fn scan_options(&self) -> ScanOptions {
        let pushed = !matches!(self.scan, ScanMode::Compiled | ScanMode::Vectorized);
        let compiled = self.scan == ScanMode::Compiled;
        ScanOptions {
            isa: self.isa,
            window_rows: self.window_rows,
            stage_rows: if compiled { CHUNK_ROWS } else { self.stage_rows },
            use_sma: matches!(self.scan, ScanMode::Sma | ScanMode::Psma),
            use_psma: self.scan == ScanMode::Psma,
            push_restrictions: pushed,
            lend_columns: self.scan != ScanMode::Vectorized,
            early_probes: pushed && self.early_probes,
            use_indexes: self.use_indexes,
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

    /// Changes one, NULL to its default; those of the database are not handled here.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<()> {
        if value.is_null() {
            let default = Settings::default().show(name)?;
            return self.set(name, &Value::Text(default));
        }
        match name {
            "threads" => self.threads = number(name, value, 1, 1024)? as usize,
            "statement_timeout" => {
                self.statement_timeout = Some(duration(name, value)?).filter(|d| !d.is_zero());
            }
            "frazil.max_recursion" => {
                let turns = number(name, value, 0, i64::MAX.into())? as u64;
                self.max_recursion = Some(turns).filter(|turns| *turns > 0);
            }
            "lock_timeout" => self.lock_timeout = duration(name, value)?,
            "synchronous_commit" => {
                self.synchronous_commit = match on_or_off(name, value)? {
                    true => Acknowledge::Durable,
                    false => Acknowledge::Placed,
                }
            }
            "timezone" => self.time_zone = zone(value)?,
            "search_path" => self.search_path = SearchPath::parse(&text(value))?,
            "file_access" => {
                let wanted = FileAccess::of_text(&text(value))?;
                self.file_access = self.file_access.narrowed(wanted)?;
            }
            "frazil.isa" => self.isa = parsed_isa(value)?,
            "frazil.stages" => self.stages = parsed(name, value)?,
            "frazil.scan" => self.scan = parsed(name, value)?,
            "frazil.early_probes" => self.early_probes = on_or_off(name, value)?,
            "frazil.use_indexes" => self.use_indexes = on_or_off(name, value)?,
            "frazil.pax_code" => self.pax_code = chosen(name, value, &PAX_CODE)?,
            "frazil.optimization" => self.optimize = chosen(name, value, &OPTIMIZATION)?,
            "frazil.elide_checks" => self.elide_checks = on_or_off(name, value)?,
            "frazil.access_counters" => self.access_counters = on_or_off(name, value)?,
            "frazil.plan_cache" => self.plan_cache = on_or_off(name, value)?,
            "frazil.window_rows" => self.window_rows = number(name, value, 64, CHUNK_ROWS as i128)? as usize,
            "frazil.stage_rows" => {
                self.stage_rows = number(name, value, 64, frazil_types::STAGE_ROWS as i128)? as usize;
            }
            "default_transaction_isolation" => self.isolation = parsed(name, value)?,
            "default_transaction_read_only" => self.read_only = on_or_off(name, value)?,
            "client_min_messages" => self.least_notice = chosen(name, value, &NOTICE_LEVELS)?,
            other => set_fixed(other, value)?,
        }
        Ok(())
    }

    /// The text of one.
    pub fn show(&self, name: &str) -> Result<String> {
        Ok(match name {
            "threads" => self.threads.to_string(),
            "statement_timeout" => format!("{}ms", self.statement_timeout.unwrap_or_default().as_millis()),
            "frazil.max_recursion" => self.max_recursion.unwrap_or(0).to_string(),
            "lock_timeout" => format!("{}ms", self.lock_timeout.as_millis()),
            "synchronous_commit" => match self.synchronous_commit {
                Acknowledge::Durable => "on",
                Acknowledge::Placed => "off",
            }
            .to_owned(),
            "timezone" => self.time_zone.to_string(),
            "search_path" => self.search_path.text().to_owned(),
            "file_access" => self.file_access.to_string(),
            "frazil.isa" => self.isa.to_string(),
            "frazil.stages" => format!("{:?}", self.stages).to_lowercase(),
            "frazil.scan" => self.scan.to_string(),
            "frazil.plan_cache" => if self.plan_cache { "on" } else { "off" }.to_owned(),
            "frazil.early_probes" => if self.early_probes { "on" } else { "off" }.to_owned(),
            "frazil.use_indexes" => if self.use_indexes { "on" } else { "off" }.to_owned(),
            "frazil.pax_code" => name_of(&self.pax_code, &PAX_CODE).to_owned(),
            "frazil.optimization" => name_of(&self.optimize, &OPTIMIZATION).to_owned(),
            "frazil.elide_checks" => if self.elide_checks { "on" } else { "off" }.to_owned(),
            "frazil.access_counters" => if self.access_counters { "on" } else { "off" }.to_owned(),
            "frazil.window_rows" => self.window_rows.to_string(),
            "frazil.stage_rows" => self.stage_rows.to_string(),
            "default_transaction_isolation" => self.isolation.to_string(),
            "default_transaction_read_only" => shown_flag(self.read_only),
            "client_min_messages" => name_of(&self.least_notice, &NOTICE_LEVELS).to_owned(),
            other => match FIXED.iter().find(|fixed| fixed.0 == other) {
                Some((_, values)) => values[0].to_owned(),
                None => return Err(unknown(other)),
            },
        })
    }
}

/// `on` or `off`.
pub(crate) fn shown_flag(value: bool) -> String {
    if value { "on" } else { "off" }.to_owned()
}

/// The modes that SET transaction_isolation and SET transaction_read_only give. 22023.
pub(crate) fn modes(name: &str, value: &Value) -> Result<TransactionModes> {
    let mut modes = TransactionModes::default();
    match name {
        "transaction_isolation" => modes.isolation = Some(parsed(name, value)?),
        _ => modes.read_only = Some(on_or_off(name, value)?),
    }
    Ok(modes)
}

/// SET of a setting that has one value. 22023 for another one, 55P02 for one that only shows, 42704.
fn set_fixed(name: &str, value: &Value) -> Result<()> {
    let Some((_, values)) = FIXED.iter().find(|fixed| fixed.0 == name) else {
        return Err(unknown(name));
    };
    if matches!(name, "server_encoding" | "integer_datetimes") {
        let message = format!("parameter \"{name}\" cannot be changed");
        return Err(Error::new(SqlState::CANT_CHANGE_PARAMETER, message));
    }
    let given = text(value);
    match values.iter().any(|known| known.eq_ignore_ascii_case(&given)) {
        true => Ok(()),
        false => {
            let message = format!("{name} \"{given}\"");
            Err(Error::unsupported(message).with_hint(format!("it is {}", values[0])))
        }
    }
}

/// 42704, with the nearest name.
pub fn unknown(name: &str) -> Error {
    let error = Error::new(
        SqlState::UNDEFINED_OBJECT,
        format!("there is no setting \"{name}\""),
    );
    match frazil_catalog::nearest(name, NAMES.into_iter()) {
        Some(near) => error.with_hint(format!("perhaps you mean \"{near}\"")),
        None => error.with_hint(format!("there are {}", NAMES.join(", "))),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(t) => t.trim().to_owned(),
        Value::Int(v) => v.to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Double(d) => d.to_string(),
        Value::Null | Value::Interval(_) | Value::Bytes(_) => String::new(),
    }
}

fn wrong(name: &str, value: &Value, wanted: impl fmt::Display) -> Error {
    Error::new(
        SqlState::INVALID_PARAMETER,
        format!("{name} takes {wanted}, not \"{}\"", text(value)),
    )
}

fn parsed<T: FromStr<Err = String>>(name: &str, value: &Value) -> Result<T> {
    let lower = text(value).to_lowercase();
    (lower.parse()).map_err(|e| Error::new(SqlState::INVALID_PARAMETER, format!("{name}: {e}")))
}

fn parsed_isa(value: &Value) -> Result<Isa> {
    let available = Isa::available();
    let wanted = text(value).to_lowercase();
    (available.iter().copied())
        .find(|isa| isa.to_string() == wanted)
        .ok_or_else(|| {
            let names: Vec<String> = available.iter().map(Isa::to_string).collect();
            wrong("frazil.isa", value, format!("one of {}", names.join(", ")))
        })
}

/// A zone by its name, or hours east of Greenwich. 22023.
fn zone(value: &Value) -> Result<Zone> {
    let text = text(value);
    if text.eq_ignore_ascii_case("local") || text.eq_ignore_ascii_case("default") {
        return Ok(Zone::UTC);
    }
    let hours = text.parse::<f64>().ok().filter(|hours| hours.abs() < 24.0);
    let zone = hours.map_or_else(
        || Zone::named(&text),
        |hours| Zone::of_offset((hours * 3600.0) as i64),
    );
    zone.map_err(|_| {
        wrong(
            "timezone",
            value,
            "the name of a zone, such as 'Europe/Berlin', or hours from UTC",
        )
    })
}

fn on_or_off(name: &str, value: &Value) -> Result<bool> {
    match text(value).to_lowercase().as_str() {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => Err(wrong(name, value, "on or off")),
    }
}

fn chosen<T: Copy>(name: &str, value: &Value, all: &[(&str, T)]) -> Result<T> {
    let wanted = text(value).to_lowercase();
    let found = all.iter().find(|one| one.0 == wanted);
    found.map(|one| one.1).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| one.0).collect();
        wrong(name, value, format!("one of {}", names.join(", ")))
    })
}

fn name_of<T: PartialEq>(value: &T, all: &[(&'static str, T)]) -> &'static str {
    all.iter().find(|one| one.1 == *value).map_or("", |one| one.0)
}

fn number(name: &str, value: &Value, min: i128, max: i128) -> Result<i128> {
    (text(value).parse().ok())
        .filter(|n| (min..=max).contains(n))
        .ok_or_else(|| wrong(name, value, format!("a whole number from {min} to {max}")))
}

/// Milliseconds, or a number with a unit: us, ms, s, min, h.
pub fn duration(name: &str, value: &Value) -> Result<Duration> {
    let (amount, unit) = split_unit(&text(value));
    let micros: Option<u64> = match unit.as_str() {
        "us" => Some(1),
        "" | "ms" => Some(1_000),
        "s" => Some(1_000_000),
        "min" => Some(60_000_000),
        "h" => Some(3_600_000_000),
        _ => None,
    };
    (amount.zip(micros))
        .and_then(|(amount, micros)| amount.checked_mul(micros))
        .map(Duration::from_micros)
        .ok_or_else(|| wrong(name, value, "a time such as 500, '500ms', '10s' or '2min'"))
}

/// Whether a setting that has amounts is to be off, in quotes or without.
pub fn is_off(value: &Value) -> bool {
    match value {
        Value::Bool(on) => !on,
        Value::Text(text) => text.eq_ignore_ascii_case("off"),
        _ => false,
    }
}

/// Bytes: a number with a unit: B, kB, MB, GB, TB, or KiB and so on; each of 1024.
pub fn bytes(name: &str, value: &Value) -> Result<usize> {
    let (amount, unit) = split_unit(&text(value));
    let shift = match unit.to_lowercase().as_str() {
        "" | "b" => Some(0),
        "kb" | "kib" | "k" => Some(10),
        "mb" | "mib" | "m" => Some(20),
        "gb" | "gib" | "g" => Some(30),
        "tb" | "tib" | "t" => Some(40),
        _ => None,
    };
    (amount.zip(shift))
        .and_then(|(amount, shift)| amount.checked_mul(1 << shift))
        .and_then(|bytes: u64| usize::try_from(bytes).ok())
        .ok_or_else(|| wrong(name, value, "a size such as '512MB' or '8GB'"))
}

fn split_unit(text: &str) -> (Option<u64>, String) {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..digits].parse().ok(), text[digits..].trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: &str) -> Result<String> {
        let mut settings = Settings::default();
        settings.set(name, &Value::Text(value.to_owned()))?;
        settings.show(name)
    }

    #[test]
    fn settings_are_read_as_people_write_them() {
        let shown = |name: &str, value: &str| set(name, value).unwrap_or_else(|e| e.state().0.to_owned());
        assert_eq!(shown("statement_timeout", "10s"), "10000ms");
        assert_eq!(shown("statement_timeout", "250"), "250ms");
        assert_eq!(shown("frazil.scan", "SARG"), "sarg");
        assert_eq!(shown("frazil.isa", "scalar"), "scalar");
        assert_eq!(shown("frazil.stages", "fused"), "fused");
        assert_eq!(shown("frazil.pax_code", "RUN_TIME"), "run_time");
        assert_eq!(shown("frazil.pax_code", "sometimes"), "22023");
        assert_eq!(shown("frazil.optimization", "speed"), "speed");
        assert_eq!(shown("threads", "0"), "22023");
        assert_eq!(shown("frazil.isa", "mmx"), "22023");
        assert_eq!(shown("lock_timeout", "soon"), "22023");
        let error = set("thread", "2").expect_err("no such setting");
        assert_eq!(error.state(), SqlState::UNDEFINED_OBJECT);
        assert_eq!(error.hint(), Some("perhaps you mean \"threads\""));
        assert_eq!(
            bytes("memory_limit", &Value::Text("8GB".into())).ok(),
            Some(8 << 30)
        );
    }
}
