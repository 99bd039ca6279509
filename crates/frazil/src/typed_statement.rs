//! Statements whose parameters have types before values come: what Parse of PostgreSQL's protocol makes.
//!
//! A client may declare types. Binding starts from those; the others are inferred from the text. A declared type that
//! the inferred one holds is not forced on the statement: values are converted, so that the statement is compiled
//! once for a driver that sends small integers as smallint, and is shared with all statements of its text. A declared
//! numeric has no precision: values that the inferred type holds exactly are converted, for others the statement is
//! bound to their own.

use crate::bundle::TypedBy;
use crate::connection::Connection;
use crate::cursors::{Cursor, Pieces};
use crate::described::{Described, bind_only, bind_within};
use crate::execute;
use crate::in_use::InUse;
use crate::notice::Notice;
use crate::parameters;
use crate::prepared_statements::Prepared;
use crate::row_sink::{CopyStreams, Delivery, RowSink};
use crate::rows::{Outcome, Response};
use crate::session::Session;
use crate::session_view::{ListedCursor, OpenPortal};
use frazil_frontend::{Bound, CursorOptions, ParsedStatement, StatementRole};
use frazil_functions::RESULT_PARAMETER;
use frazil_types::logical_type::DECIMAL_MAX_DIGITS;
use frazil_types::{Error, Kind, LogicalType, Result, SqlState, Value};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

/// Places behind the point of a declared numeric until its values come.
const OPEN_SCALE: u8 = 10;

/// A statement whose parameters have types.
#[derive(Clone, Debug)]
pub struct TypedStatement {
    connection: Connection,
    prepared: Arc<Prepared>,
    /// Types of the values that the client sends. `None`: the statement's own.
    declared: Arc<[Option<Declared>]>,
    described: Option<Arc<Described>>,
    /// The statement bound to the own types of its last values, if those were not of its types.
    retyped: Arc<Mutex<Option<Arc<Prepared>>>>,
}

/// A type that a client declares for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// A type.
    Type(LogicalType),
    /// numeric of any precision: values are decimal texts.
    Numeric,
    /// void: the parameter stands for the result of the function whose argument it is, and has no value.
    Void,
}

impl Declared {
    /// The type as which the statement is bound first.
    fn open(self) -> LogicalType {
        match self {
            Declared::Type(ty) => ty,
            Declared::Numeric => LogicalType::Decimal {
                precision: DECIMAL_MAX_DIGITS,
                scale: OPEN_SCALE,
            },
            Declared::Void => RESULT_PARAMETER,
        }
    }
}

/// A statement that has begun.
#[derive(Debug)]
pub enum Begun {
    /// The statement's rows and its notices.
    Rows(Cursor, Vec<Notice>),
    /// The response of a statement that returns no rows and has ended.
    Done(Response),
}

impl TypedStatement {
    /// Its text, without the semicolon.
    pub fn text(&self) -> &str {
        &self.prepared.parsed.text
    }
}

impl Connection {
    /// Hands the next rows of a cursor over, at most `most`, 0: all. Returns their number. The errors of the query,
    /// which fail the open transaction.
    pub fn fetch(&self, cursor: &mut Cursor, most: u64, sink: &mut dyn RowSink) -> Result<u64> {
        let mut session = self.start()?;
        let _inside = self.database().enter()?;
        let _deadline = session.start_deadline()?;
        execute::guarded(&mut session, |session| {
            session.transaction().check()?;
            sink.begin(cursor.schema())?;
            let most = if most == 0 { u64::MAX } else { most };
            cursor.forward(most, session.cancel(), Some(&mut |batch| sink.rows(batch)))
        })
    }

    /// Hands the next rows of the cursor of a name over, at most `most`, 0: all. Returns their number and the command
    /// whose rows they are. 34000; the errors of the query, which fail the open transaction.
    pub fn fetch_declared(
        &self,
        name: &str,
        most: u64,
        sink: &mut dyn RowSink,
    ) -> Result<(u64, &'static str)> {
        let mut session = self.start()?;
        let _inside = self.database().enter()?;
        let _deadline = session.start_deadline()?;
        execute::guarded(&mut session, |session| {
            session.transaction().check()?;
            let cancel = session.cancel().clone();
            let cursor = session.cursors_mut().get_mut(name)?;
            sink.begin(cursor.schema())?;
            let most = if most == 0 { u64::MAX } else { most };
            let count = cursor.forward(most, &cancel, Some(&mut |batch| sink.rows(batch)))?;
            Ok((count, cursor.tag()))
        })
    }

    /// Gives a cursor of the query `text` a name by which FETCH, MOVE and CLOSE find it until the transaction ends.
    /// 42P03 for a name that is taken.
    pub fn name_cursor(&self, name: &str, cursor: Cursor, text: &str, is_binary: bool) -> Result<()> {
        let mut session = self.start()?;
        let tables = cursor.tables().to_vec();
        session.cursors().check_free(name)?;
        let options = CursorOptions {
            is_scrollable: false,
            is_held: false,
            is_binary,
        };
        session
            .cursors_mut()
            .add(name.to_owned(), options, cursor, (text.into(), tables), true);
        Ok(())
    }

    /// Shows a portal that pauses among the session's cursors until the result is dropped. As long as its query reads
    /// tables, definitions of them are refused.
    pub fn list_portal(&self, name: &str, cursor: &Cursor, text: &str) -> OpenPortal {
        let listed = ListedCursor {
            name: name.to_owned(),
            text: text.into(),
            tables: cursor.tables().to_vec(),
            options: CursorOptions {
                is_scrollable: false,
                is_held: false,
                is_binary: false,
            },
            declared: parameters::now_micros(),
        };
        self.session().board().listed_portals().add(listed)
    }

    /// Closes the cursor of a name. 34000.
    pub fn close_cursor(&self, name: &str) -> Result<()> {
        self.start()?.cursors_mut().close(Some(name))
    }

    /// Describes the rows of the cursor that DECLARE named, and says if it is BINARY. 34000.
    pub fn declared_cursor(&self, name: &str) -> Result<(Described, bool)> {
        let session = self.session();
        let (cursor, options) = session.cursors().get(name)?;
        Ok((Described::Rows(cursor.schema().clone()), options.is_binary))
    }

    /// Binds one statement whose parameters have declared types or inferred ones. `None` for a text without a
    /// statement. 42601 for several; the errors of binding it, which end the open transaction.
    pub fn prepare_typed(&self, sql: &str, declared: &[Option<Declared>]) -> Result<Option<TypedStatement>> {
        let mut session = self.start()?;
        let _inside = self.database().enter()?;
        let _deadline = session.start_deadline()?;
        let mut script = session.script(sql)?;
        if script.len() > 1 {
            session.transaction_mut().fail();
            let message = "cannot insert multiple commands into a prepared statement";
            return Err(Error::new(SqlState::SYNTAX_ERROR, message));
        }
        let Some(parsed) = session.next_of(&mut script)? else {
            return Ok(None);
        };
        let typed = Typed::of(&mut session, &parsed, declared)?;
        Ok(Some(TypedStatement {
            connection: self.clone(),
            prepared: Arc::new(Prepared::new(parsed, typed.bound.parameters, typed.typed_by)),
            declared: declared.into(),
            described: Some(Arc::new(typed.described)),
            retyped: Arc::default(),
        }))
    }

    /// Keeps a statement by a name, as PREPARE does. 42P05 for a name that is taken.
    pub fn keep(&self, name: &str, statement: &TypedStatement) -> Result<()> {
        let text = statement.prepared.parsed.text.as_str().into();
        let prepared = statement.prepared.clone();
        let mut session = self.session();
        session
            .prepared_mut()
            .add(name.to_owned(), prepared, (text, false))
    }

    /// The statement that PREPARE or [`Connection::keep`] named. 26000.
    pub fn kept(&self, name: &str) -> Result<TypedStatement> {
        let prepared = self.session().prepared().get(name)?;
        Ok(TypedStatement {
            connection: self.clone(),
            prepared,
            declared: Arc::default(),
            described: None,
            retyped: Arc::default(),
        })
    }

    /// True if a statement is kept by a name and is this one.
    pub fn keeps(&self, name: &str, statement: &TypedStatement) -> bool {
        let kept = self.session().prepared().get(name);
        kept.is_ok_and(|kept| Arc::ptr_eq(&kept, &statement.prepared))
    }

    /// Forgets the statement of a name, if there is one.
    pub fn forget(&self, name: &str) {
        // An unknown name is not an error here.
        let _ = self.session().prepared_mut().remove(Some(name));
    }
}

/// A statement that is bound to the types that it was declared with.
struct Typed {
    bound: Bound,
    described: Described,
    typed_by: TypedBy,
}

impl Typed {
    /// Binds a statement to inferred types if these hold what is declared and change no column, else to the declared
    /// ones.
    fn of(session: &mut Session, parsed: &ParsedStatement, declared: &[Option<Declared>]) -> Result<Typed> {
        let none = vec![None; declared.len()];
        let is_open = declared.iter().all(Option::is_none);
        if is_open {
            return Typed::bind(session, parsed, &none, TypedBy::Text);
        }
        let types: Vec<_> = declared.iter().map(|d| d.map(Declared::open)).collect();
        let given = Typed::bind(session, parsed, &types, TypedBy::Prepare)?;
        // A statement that needs the declared types does not fail the transaction.
        let Ok(inferred) = Typed::quietly(session, parsed, &none) else {
            return Ok(given);
        };
        let holds = |(at, declared): (usize, &Option<Declared>)| {
            let inferred_type = inferred.bound.parameters.get(at);
            match (declared, inferred_type) {
                (None, _) | (_, None) => true,
                (Some(_), _) if inferred.bound.guessed.contains(&at) => false,
                (Some(Declared::Numeric), Some(ty)) => ty.is_numeric(),
                (Some(Declared::Void), Some(_)) => false,
                (Some(Declared::Type(declared)), Some(ty)) => holds(*ty, *declared),
            }
        };
        let same_columns = match (inferred.described.columns(), given.described.columns()) {
            (Some(a), Some(b)) => a.columns.iter().map(|c| c.ty).eq(b.columns.iter().map(|c| c.ty)),
            (None, None) => true,
            _ => false,
        };
        match same_columns && declared.iter().enumerate().all(holds) {
            true => Ok(inferred),
            false => Ok(given),
        }
    }

    fn bind(
        session: &mut Session,
        parsed: &ParsedStatement,
        types: &[Option<LogicalType>],
        typed_by: TypedBy,
    ) -> Result<Typed> {
        let bound = bind_only(session, parsed, types)?;
        let described = Described::of(session, &bound.statement)?;
        Ok(Typed {
            bound,
            described,
            typed_by,
        })
    }

    /// Binds without a declared type, which leaves the transaction as it is.
    fn quietly(
        session: &mut Session,
        parsed: &ParsedStatement,
        none: &[Option<LogicalType>],
    ) -> Result<Typed> {
        let bound = bind_within(session, parsed, none)?;
        let described = Described::of(session, &bound.statement)?;
        Ok(Typed {
            bound,
            described,
            typed_by: TypedBy::Text,
        })
    }
}

/// True if a type holds every value of another one, so that neither comparison nor assignment tells them apart.
fn holds(ty: LogicalType, declared: LogicalType) -> bool {
    if ty == declared {
        return true;
    }
    let digits = |kind: Kind| match kind {
        Kind::SmallInt => Some(5),
        Kind::Integer => Some(10),
        Kind::BigInt => Some(19),
        _ => None,
    };
    match (ty, digits(ty.kind()), digits(declared.kind())) {
        (_, Some(wide), Some(narrow)) => wide >= narrow,
        (LogicalType::Decimal { precision, scale }, _, Some(digits)) => precision - scale >= digits,
        (LogicalType::Double, _, _) => declared == LogicalType::Real,
        (LogicalType::Text, _, _) => declared.kind() == Kind::Varchar,
        (LogicalType::TimestampTz(_, wide), _, _) => {
            matches!(declared, LogicalType::TimestampTz(_, narrow) if wide >= narrow)
        }
        _ => false,
    }
}

impl TypedStatement {
    /// The types of the values that it takes: as declared, or inferred.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = Declared> + '_ {
        let types = self.prepared.types.iter().enumerate();
        types.map(|(at, ty)| {
            self.declared
                .get(at)
                .copied()
                .flatten()
                .unwrap_or(Declared::Type(*ty))
        })
    }

    /// The part that it plays in the protocol of a server.
    pub fn role(&self) -> StatementRole {
        self.prepared.parsed.role()
    }

    /// Describes the result without running the statement. The errors of binding it, if the catalog has changed since
    /// it was prepared.
    pub fn describe(&self) -> Result<Arc<Described>> {
        if let Some(described) = &self.described {
            return Ok(described.clone());
        }
        let mut session = self.connection.start()?;
        let _inside = self.connection.database().enter()?;
        let types: Vec<_> = self.prepared.types.iter().copied().map(Some).collect();
        let bound = bind_only(&mut session, &self.prepared.parsed, &types)?;
        Described::of(&mut session, &bound.statement).map(Arc::new)
    }

    /// Runs it with values of [its parameters' types](TypedStatement::parameters), as many as there are parameters; the
    /// values of a numeric are texts.
    pub fn execute(&self, values: &[Value]) -> Result<Response> {
        self.run(values, Delivery::Whole)
    }

    /// Runs it as [`TypedStatement::execute`] does, but hands rows over while they are computed: see
    /// [`Connection::execute_into`].
    pub fn execute_into(&self, values: &[Value], sink: &mut dyn RowSink) -> Result<Response> {
        self.run(values, Delivery::Parts(&RefCell::new(sink)))
    }

    /// Begins it with values as [`TypedStatement::execute`] takes them. A query runs while [`Connection::fetch`] takes
    /// its rows; any other statement has run.
    pub fn begin(&self, values: &[Value]) -> Result<Begun> {
        let pieces = Pieces::default();
        let response = self.run(values, Delivery::Begun(&pieces))?;
        Ok(match (pieces.take(), response) {
            (
                None,
                response @ Response {
                    outcome: Outcome::Command { .. },
                    ..
                },
            ) => Begun::Done(response),
            (begun, Response { outcome, notices, .. }) => {
                let budget = self.connection.database().budget();
                Begun::Rows(Cursor::of_response(begun, outcome, false, budget), notices)
            }
        })
    }

    /// Runs it as [`Connection::execute_copy`] does.
    pub fn execute_copy(&self, values: &[Value], streams: &mut dyn CopyStreams) -> Result<Response> {
        self.run(values, Delivery::Copied(&RefCell::new(streams)))
    }

    fn run(&self, values: &[Value], to: Delivery<'_>) -> Result<Response> {
        if values.len() != self.prepared.types.len() {
            let message = format!(
                "{} values for {} parameters",
                values.len(),
                self.prepared.types.len()
            );
            return Err(Error::internal(message));
        }
        let mut session: InUse<'_> = self.connection.start()?;
        let _inside = self.connection.database().enter()?;
        let _deadline = session.start_deadline()?;
        let prepared = self.prepared_for(values);
        let values = self.converted(&session, &prepared.types, values);
        let values = values.inspect_err(|_| session.transaction_mut().fail())?;
        execute::run_prepared(&mut session, &prepared, &values, to)
    }

    /// The statement with types that hold these values exactly.
    fn prepared_for(&self, values: &[Value]) -> Arc<Prepared> {
        // If only the declaration types a numeric, the value gives precision and scale.
        let is_open = self.prepared.typed_by == TypedBy::Prepare;
        let mut types = self.prepared.types.clone();
        for (at, value) in values.iter().enumerate() {
            if let (Some(Some(Declared::Numeric)), Value::Text(text)) = (self.declared.get(at), value)
                && let Some(own) = decimal_type(text)
                && (is_open || !is_held(own, types[at]))
            {
                types[at] = own;
            }
        }
        if types == self.prepared.types {
            return self.prepared.clone();
        }
        let mut last = self.retyped.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(last) if last.types == types => last.clone(),
            _ => {
                let parsed = self.prepared.parsed.clone();
                last.insert(Arc::new(Prepared::new(parsed, types, TypedBy::Prepare)))
                    .clone()
            }
        }
    }

    fn converted(&self, session: &Session, types: &[LogicalType], values: &[Value]) -> Result<Vec<Value>> {
        let zone = session.settings().time_zone;
        let converted = values.iter().zip(types).enumerate().map(|(at, (value, ty))| {
            let from = match self.declared.get(at).copied().flatten() {
                Some(Declared::Type(from)) => from.in_zone(zone),
                Some(Declared::Numeric) => LogicalType::UNTYPED,
                Some(Declared::Void) | None => return Ok(value.clone()),
            };
            match value.is_null() || from == *ty {
                true => Ok(value.clone()),
                false => {
                    parameters::convert(value, from, *ty).map_err(|e| e.in_context(format!("${}", at + 1)))
                }
            }
        });
        converted.collect()
    }
}

/// The type of a decimal text, with as many places as it has; `None` if it is not a number, or has more digits than a
/// decimal.
fn decimal_type(text: &str) -> Option<LogicalType> {
    let digits = text.trim_start_matches(['-', '+']);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || digits.is_empty() {
        return None;
    }
    let precision = (whole.trim_start_matches('0').len() + part.len()).max(1);
    (precision <= usize::from(DECIMAL_MAX_DIGITS)).then_some(LogicalType::Decimal {
        precision: precision as u8,
        scale: part.len() as u8,
    })
}

/// True if a type holds all values of a decimal type exactly. True for types that are not numbers, which read texts.
fn is_held(own: LogicalType, ty: LogicalType) -> bool {
    let LogicalType::Decimal { precision, scale } = own else {
        return true;
    };
    let whole = precision - scale;
    match ty {
        LogicalType::SmallInt => scale == 0 && whole < 5,
        LogicalType::Integer => scale == 0 && whole < 10,
        LogicalType::BigInt => scale == 0 && whole < 19,
        LogicalType::Decimal {
            precision: most,
            scale: places,
        } => scale <= places && whole <= most - places,
        // Doubles are compared as doubles.
        _ => true,
    }
}
