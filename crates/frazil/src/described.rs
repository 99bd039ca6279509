//! The result of a statement, described before the statement runs.

use crate::execute;
use crate::explain_freeze;
use crate::query::{Runner, result_schema};
use crate::session::Session;
use crate::{cursors, publish, setting_statement, settings, settled};
use frazil_frontend::{
    Bound, CopyCompression, CopyEncoding, CopyEnd, CopyFormat, CopyOptions, Last, ParsedStatement,
    PlanSettings, Prepared, SettingStatement, Statement, Writing,
};
use frazil_plan::Plan;
use frazil_types::{ColumnDef, LogicalType, Result, Schema};
use std::sync::Arc;

/// The form of a statement's result.
#[derive(Clone, Debug)]
pub enum Described {
    /// Only the message that the command succeeded.
    Nothing,
    /// Rows of these columns.
    Rows(Arc<Schema>),
    /// COPY … FROM STDIN: what it reads.
    CopyIn(CopyShape),
    /// COPY … TO STDOUT: what it writes, and the columns of the rows.
    CopyOut(CopyShape, Arc<Schema>),
}

/// The form of COPY's bytes between a statement and its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyShape {
    /// Number of columns.
    pub columns: usize,
    /// The ends of rows among the bytes.
    pub framing: CopyFraming,
    /// True if texts are in the client's encoding: nobody said another one, and they are not compressed.
    pub is_encoded: bool,
}

/// The way to tell the rows of COPY apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFraming {
    /// Each line is a row.
    Lines,
    /// Each line is a row, but for line ends within quotes.
    Quoted {
        /// The quote.
        quote: u8,
        /// The byte before a quote within quotes.
        escape: u8,
    },
    /// PostgreSQL's binary format.
    Binary,
}

impl CopyShape {
    fn new(columns: usize, options: &CopyOptions) -> CopyShape {
        // Marks beyond ASCII are refused when the statement runs.
        let byte = |mark: char| u8::try_from(mark).unwrap_or(b'"');
        let framing = match options.format {
            CopyFormat::Csv => CopyFraming::Quoted {
                quote: byte(options.quote),
                escape: byte(options.escape),
            },
            CopyFormat::Binary => CopyFraming::Binary,
            CopyFormat::Text | CopyFormat::Json | CopyFormat::Parquet => CopyFraming::Lines,
        };
        let is_plain = matches!(
            options.compression,
            CopyCompression::Usual | CopyCompression::None
        );
        CopyShape {
            columns,
            framing,
            is_encoded: options.encoding == CopyEncoding::Client && is_plain,
        }
    }
}

impl Described {
    /// Describes the result of a bound statement. 26000 for EXECUTE of a statement that is not there.
    pub(crate) fn of(session: &mut Session, statement: &Statement) -> Result<Described> {
        Ok(match statement {
            Statement::Query(plan) => rows(plan),
            Statement::Writing(Writing::Write(plan)) => written(plan),
            Statement::Writing(Writing::With { last, .. }) => match last {
                Last::Query(plan) => rows(plan),
                Last::Write(plan) => written(plan),
            },
            Statement::Writing(Writing::CopyFrom {
                columns,
                source: CopyEnd::Client,
                options,
                ..
            }) => Described::CopyIn(CopyShape::new(columns.len(), options)),
            Statement::CopyTo {
                plan,
                target: CopyEnd::Client,
                options,
            } => {
                let schema = Arc::new(result_schema(plan));
                Described::CopyOut(CopyShape::new(schema.columns.len(), options), schema)
            }
            Statement::Prepared(Prepared::Execute { name, .. }) => {
                let prepared = session.prepared().get(name)?;
                let types: Vec<_> = prepared.types.iter().copied().map(Some).collect();
                let bound = bind_only(session, &prepared.parsed, &types)?;
                match matches!(bound.statement, Statement::Prepared(_)) {
                    true => Described::Nothing,
                    false => Described::of(session, &bound.statement)?,
                }
            }
            Statement::Setting(setting) => of_setting(setting),
            Statement::Notification(_) => Described::Nothing,
            Statement::Cursor(statement) => {
                cursors::described(session, statement)?.map_or(Described::Nothing, Described::Rows)
            }
            Statement::Explain { .. } => texts(&["plan"]),
            Statement::ExplainFreeze { analyze, .. } => {
                Described::Rows(Arc::new(explain_freeze::schema(*analyze)?))
            }
            Statement::Publish(_) => Described::Rows(Arc::new(publish::schema()?)),
            Statement::Writing(
                Writing::CreateTable { .. }
                | Writing::Freeze { .. }
                | Writing::CopyFrom { .. }
                | Writing::Define(_),
            )
            | Statement::Prepared(Prepared::Prepare { .. } | Prepared::Deallocate { .. })
            | Statement::CopyTo { .. }
            | Statement::Checkpoint
            | Statement::Backup { .. }
            | Statement::Begin { .. }
            | Statement::Commit { .. }
            | Statement::Rollback { .. }
            | Statement::SetTransaction { .. }
            | Statement::SetSessionTransaction { .. }
            | Statement::Alone { .. }
            | Statement::Checked { .. }
            | Statement::SetConstraints(_)
            | Statement::Savepoint { .. }
            | Statement::RollbackTo { .. }
            | Statement::Release { .. }
            | Statement::LockTable(_) => Described::Nothing,
        })
    }

    /// The columns, if it returns rows.
    pub fn columns(&self) -> Option<&Arc<Schema>> {
        match self {
            Described::Rows(schema) => Some(schema),
            Described::Nothing | Described::CopyIn(_) | Described::CopyOut(..) => None,
        }
    }
}

fn rows(plan: &Plan) -> Described {
    Described::Rows(Arc::new(result_schema(plan)))
}

/// Describes the rows that RETURNING shows of a statement that writes.
fn written(plan: &Plan) -> Described {
    let mut plan = plan;
    if let Some(write) = plan.root.write()
        && let Some(returning) = &write.returning
    {
        plan = returning;
    }
    let locks = plan
        .root
        .write()
        .is_some_and(|write| write.change.written_table().is_none());
    match plan.output.is_empty() && !locks {
        true => Described::Nothing,
        false => rows(plan),
    }
}

/// Describes the result of a statement about settings.
fn of_setting(setting: &SettingStatement) -> Described {
    match setting {
        SettingStatement::Show { name } => {
            texts(&[settings::find(name).map_or(name, |setting| setting.name)])
        }
        SettingStatement::ShowAll => texts(&setting_statement::ALL_COLUMNS),
        SettingStatement::Set { .. }
        | SettingStatement::Reset { .. }
        | SettingStatement::ResetAll
        | SettingStatement::Discard(_) => Described::Nothing,
    }
}

/// Columns of texts.
fn texts(names: &[&str]) -> Described {
    let columns = names.iter().map(|name| ColumnDef::new(*name, LogicalType::Text));
    Described::Rows(Arc::new(Schema::new(columns.collect())))
}

/// Binds a statement that is not run, to know its types. A failure ends the transaction.
pub fn bind_only(
    session: &mut Session,
    parsed: &ParsedStatement,
    types: &[Option<LogicalType>],
) -> Result<Bound> {
    let result = execute::guarded(session, |session| {
        if !parsed.leaves_failure() {
            session.transaction().check()?;
        }
        bind_within(session, parsed, types)
    });
    result.map_err(|error| parsed.placed(error))
}

/// Binds as [`bind_only`] does, but a failure leaves the transaction as it is.
pub fn bind_within(
    session: &mut Session,
    parsed: &ParsedStatement,
    types: &[Option<LogicalType>],
) -> Result<Bound> {
    let snapshot = match parsed.controls_session() {
        true => session.database().store().snapshot(),
        false => session.snapshot(),
    };
    settled::before_describing(session, &snapshot)?;
    let tables = Runner::new(session).tables_for(parsed, session.transaction().written(), snapshot);
    let settings = PlanSettings {
        zone: session.settings().time_zone,
        ..PlanSettings::default()
    };
    let bound = frazil_frontend::bind(parsed, &tables, &settings, types);
    bound.map_err(|error| tables.take_error().unwrap_or(error))
}
