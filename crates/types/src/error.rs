//! Errors as values: what went wrong, its SQLSTATE, and the way out. Made where the fact is known.

use crate::{ObjectId, Span};
use std::{fmt, io};

/// The five-character condition code of the SQL standard and PostgreSQL.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlState(pub &'static str);

macro_rules! sql_states {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        impl SqlState {
            $($(#[$doc])* pub const $name: SqlState = SqlState($code);)*
        }
    };
}

sql_states! {
    /// A statement on a database that was closed.
    CONNECTION_DOES_NOT_EXIST = "08003";
    /// A client that is gone.
    CONNECTION_FAILURE = "08006";
    /// A message that is not what the protocol of a server says.
    PROTOCOL_VIOLATION = "08P01";
    /// A client that does not log in as the server wants.
    INVALID_AUTHORIZATION = "28000";
    /// A wrong password, or a role that is not there.
    INVALID_PASSWORD = "28P01";
    /// A database that is not there.
    INVALID_CATALOG_NAME = "3D000";
    /// A portal that the session does not have.
    INVALID_CURSOR_NAME = "34000";
    /// Options of a cursor that exclude each other.
    INVALID_CURSOR_DEFINITION = "42P11";
    /// A portal of a name that is taken.
    DUPLICATE_CURSOR = "42P03";
    /// More clients than the server takes.
    TOO_MANY_CONNECTIONS = "53300";
    /// A server that is shut down.
    ADMIN_SHUTDOWN = "57P01";
    /// A session that waited too long for its client.
    IDLE_SESSION_TIMEOUT = "57P05";
    /// A session that waited too long for its client inside a transaction.
    IDLE_IN_TRANSACTION_SESSION_TIMEOUT = "25P03";
    /// A transaction that took too long.
    TRANSACTION_TIMEOUT = "25P04";
    /// A feature that is not supported, named in the message.
    FEATURE_NOT_SUPPORTED = "0A000";
    /// A privilege that an object does not have.
    INVALID_GRANT = "0LP01";
    /// Rights that a role could not grant.
    PRIVILEGE_NOT_GRANTED = "01007";
    /// Rights that a role could not revoke.
    PRIVILEGE_NOT_REVOKED = "01006";
    /// No row where one is wanted.
    NO_DATA = "02000";
    /// A scalar subquery returned more than one row, or a query that is to return one row returned several.
    CARDINALITY_VIOLATION = "21000";
    /// A string longer than its declared type.
    STRING_TRUNCATION = "22001";
    /// A number outside its type.
    NUMERIC_OUT_OF_RANGE = "22003";
    /// A date or time outside the calendar or its type.
    DATETIME_OVERFLOW = "22008";
    /// A field of an interval outside its type.
    INTERVAL_OVERFLOW = "22015";
    /// A text that is no date or time.
    INVALID_DATETIME = "22007";
    /// A negative or otherwise impossible argument of substring.
    SUBSTRING_ERROR = "22011";
    /// A sequence that has no further value.
    SEQUENCE_LIMIT = "2200H";
    /// Bytes that are no text.
    CHARACTER_NOT_IN_REPERTOIRE = "22021";
    /// Division by zero.
    DIVISION_BY_ZERO = "22012";
    /// A pattern whose escape character ends it.
    INVALID_ESCAPE = "22025";
    /// A value outside what the function or setting takes.
    INVALID_PARAMETER = "22023";
    /// An argument of a path's datetime() that is no date or time.
    INVALID_JSON_DATETIME = "22031";
    /// A subscript of a path that is no position of the array.
    INVALID_JSON_SUBSCRIPT = "22033";
    /// An item of a path that is no number where a method wants one.
    NON_NUMERIC_JSON_ITEM = "22036";
    /// Several items of a path, or none, where one is wanted.
    SINGLETON_JSON_ITEM_REQUIRED = "22038";
    /// What is no array where a path in strict mode wants one.
    JSON_ARRAY_NOT_FOUND = "22039";
    /// A member of an object that a path in strict mode does not find.
    JSON_MEMBER_NOT_FOUND = "2203A";
    /// An operand of a path's sign that is no number.
    JSON_NUMBER_NOT_FOUND = "2203B";
    /// What is no object where a path wants one.
    JSON_OBJECT_NOT_FOUND = "2203C";
    /// An element of bytes or an array that is not there.
    ARRAY_SUBSCRIPT_ERROR = "2202E";
    /// A text that is not of the type it is cast to.
    INVALID_TEXT = "22P02";
    /// Bytes that are no value of their type.
    INVALID_BINARY = "22P03";
    /// A character that text cannot hold, such as U+0000.
    UNTRANSLATABLE_CHARACTER = "22P05";
    /// A row of a loaded file that does not fit its table.
    BAD_COPY_FORMAT = "22P04";
    /// NULL in a NOT NULL column.
    NOT_NULL_VIOLATION = "23502";
    /// A key that another row of a unique index has.
    UNIQUE_VIOLATION = "23505";
    /// A row that refers to one which is not there, or the last row of a key that others refer to.
    FOREIGN_KEY_VIOLATION = "23503";
    /// A row for which a CHECK constraint is false.
    CHECK_VIOLATION = "23514";
    /// A warning without a code of its own.
    WARNING = "01000";
    /// A notice without a code of its own.
    SUCCESSFUL_COMPLETION = "00000";
    /// A transaction that saw one version of the database cannot write on top of another.
    SERIALIZATION_FAILURE = "40001";
    /// Transactions that wait for each other in a circle.
    DEADLOCK_DETECTED = "40P01";
    /// A statement outside the transaction state it needs.
    ACTIVE_TRANSACTION = "25001";
    /// Something to be dropped that others depend on.
    DEPENDENT_OBJECTS = "2BP01";
    /// COMMIT or ROLLBACK outside a transaction.
    NO_ACTIVE_TRANSACTION = "25P01";
    /// A change of a database that was opened read-only.
    READ_ONLY_TRANSACTION = "25006";
    /// A statement after a failure inside a transaction.
    IN_FAILED_TRANSACTION = "25P02";
    /// A prepared statement that the connection does not have.
    INVALID_STATEMENT_NAME = "26000";
    /// A savepoint that the transaction does not have.
    INVALID_SAVEPOINT = "3B001";
    /// A text that does not parse.
    SYNTAX_ERROR = "42601";
    /// Something that the session may not do or use.
    INSUFFICIENT_PRIVILEGE = "42501";
    /// A schema that is not there, or none to create in.
    INVALID_SCHEMA = "3F000";
    /// A schema of a name that is taken.
    DUPLICATE_SCHEMA = "42P06";
    /// A name that is kept for the system.
    RESERVED_NAME = "42939";
    /// A column that no table in scope has.
    UNDEFINED_COLUMN = "42703";
    /// A column name that several tables in scope have.
    AMBIGUOUS_COLUMN = "42702";
    /// An ungrouped column beside aggregates.
    GROUPING_ERROR = "42803";
    /// A call that several functions fit equally well.
    AMBIGUOUS_FUNCTION = "42725";
    /// Two types without a conversion between them.
    CANNOT_COERCE = "42846";
    /// A parameter that nothing gives a type.
    INDETERMINATE_TYPE = "42P18";
    /// A table name that several tables in scope have, in different schemas.
    AMBIGUOUS_ALIAS = "42P09";
    /// A parameter of one type where another is needed.
    AMBIGUOUS_PARAMETER = "42P08";
    /// A negative number under a root, or a power without a real value.
    INVALID_POWER = "2201F";
    /// A logarithm of zero or less.
    INVALID_LOGARITHM = "2201E";
    /// A regular expression that does not parse.
    INVALID_REGULAR_EXPRESSION = "2201B";
    /// A value that an operation does not take.
    DATA_EXCEPTION = "22000";
    /// NULL where a value is needed.
    NULL_VALUE_NOT_ALLOWED = "22004";
    /// A part of a table to be sampled that is none.
    INVALID_SAMPLE_ARGUMENT = "2202H";
    /// NULL as what makes a sample repeatable.
    INVALID_SAMPLE_REPEAT = "2202G";
    /// A negative offset of a window's frame.
    INVALID_PRECEDING_OR_FOLLOWING = "22013";
    /// A number of buckets below one.
    INVALID_NTILE_ARGUMENT = "22014";
    /// A number of a row below one.
    INVALID_NTH_VALUE_ARGUMENT = "22016";
    /// A window, or a call of a window function, that cannot be.
    WINDOWING_ERROR = "42P20";
    /// A position or expression that the clause cannot refer to.
    INVALID_COLUMN_REFERENCE = "42P10";
    /// A table name or alias given twice in one FROM.
    DUPLICATE_ALIAS = "42712";
    /// A clause on a function of the wrong kind, such as DISTINCT in a call of no aggregate.
    WRONG_OBJECT_TYPE = "42809";
    /// A foreign key that refers to columns which no unique key has.
    INVALID_FOREIGN_KEY = "42830";
    /// Types that do not go together.
    DATATYPE_MISMATCH = "42804";
    /// An unknown function, or one without that signature.
    UNDEFINED_FUNCTION = "42883";
    /// An unknown table.
    UNDEFINED_TABLE = "42P01";
    /// An unknown parameter such as `$3`, or one whose type stays unknown.
    UNDEFINED_PARAMETER = "42P02";
    /// A table of that name exists.
    DUPLICATE_TABLE = "42P07";
    /// A value for a column that only the system gives values.
    GENERATED_ALWAYS = "428C9";
    /// A definition of a table or view that cannot be.
    INVALID_TABLE_DEFINITION = "42P16";
    /// A recursive query that cannot be.
    INVALID_RECURSION = "42P19";
    /// A definition that refers to itself.
    INVALID_OBJECT_DEFINITION = "42P17";
    /// A column of that name exists.
    DUPLICATE_COLUMN = "42701";
    /// A prepared statement of that name exists.
    DUPLICATE_STATEMENT = "42P05";
    /// An unknown setting, type name, index or constraint.
    UNDEFINED_OBJECT = "42704";
    /// A constraint of that name exists on the table, or a type or one of its labels.
    DUPLICATE_OBJECT = "42710";
    /// A label of an enumeration that is too long.
    INVALID_NAME = "42602";
    /// A setting that shows something and cannot be set.
    CANT_CHANGE_PARAMETER = "55P02";
    /// An object that is used by somebody.
    OBJECT_IN_USE = "55006";
    /// An object that is not in the state the statement needs, such as an enumeration without labels.
    NOT_IN_STATE = "55000";
    /// A lock that did not come in time.
    LOCK_NOT_AVAILABLE = "55P03";
    /// The system refused something other than memory, such as a thread or a file descriptor.
    INSUFFICIENT_RESOURCES = "53000";
    /// Over the memory budget.
    OUT_OF_MEMORY = "53200";
    /// Over a limit that a setting gives, such as the turns of a recursive query.
    CONFIGURATION_LIMIT_EXCEEDED = "53400";
    /// A commit of which nobody knows whether it will survive.
    TRANSACTION_RESOLUTION_UNKNOWN = "08007";
    /// The disk is full.
    DISK_FULL = "53100";
    /// A statement nested too deeply.
    STATEMENT_TOO_COMPLEX = "54001";
    /// More elements than a clause takes.
    TOO_MANY_COLUMNS = "54011";
    /// More arguments than a function takes.
    TOO_MANY_ARGUMENTS = "54023";
    /// A limit of the program.
    PROGRAM_LIMIT_EXCEEDED = "54000";
    /// The user or a timeout cancelled the statement.
    QUERY_CANCELED = "57014";
    /// The operating system refused an operation on a file.
    IO_ERROR = "58030";
    /// A file that is not there.
    UNDEFINED_FILE = "58P01";
    /// A file or directory that is in the way of a new one.
    DUPLICATE_FILE = "58P02";
    /// A block, manifest or log whose bytes are not what was written.
    DATA_CORRUPTED = "XX001";
    /// A defect of Frazil.
    INTERNAL_ERROR = "XX000";
}

impl SqlState {
    /// The state of an error of the operating system about a file.
    pub fn of_io(error: &io::Error) -> SqlState {
        /// The system's, and the process's table of open files is full.
        const ENFILE: i32 = 23;
        const EMFILE: i32 = 24;
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::NotFound, _) => SqlState::UNDEFINED_FILE,
            (io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, _) => SqlState::DISK_FULL,
            (io::ErrorKind::OutOfMemory, _) => SqlState::OUT_OF_MEMORY,
            (_, Some(ENFILE | EMFILE)) => SqlState::INSUFFICIENT_RESOURCES,
            _ => SqlState::IO_ERROR,
        }
    }

    /// Whether the state is one of class 22: a value that is none, or has no result.
    pub fn is_data_exception(self) -> bool {
        self.0.starts_with("22")
    }

    /// Whether an error of this state says something of the data, and not of whoever asks for them, when, or with what.
    pub fn is_of_data(self) -> bool {
        let others = [
            SqlState::QUERY_CANCELED,
            SqlState::OUT_OF_MEMORY,
            SqlState::INSUFFICIENT_RESOURCES,
            SqlState::OBJECT_IN_USE,
            // A store of objects that does not answer, refuses whoever asks, or is asked too often.
            SqlState("08001"),
            SqlState::INSUFFICIENT_PRIVILEGE,
            SqlState::CONFIGURATION_LIMIT_EXCEEDED,
        ];
        !others.contains(&self)
    }

    /// True if an error of this state, met while a table was opened, says that its files are damaged: it would be met
    /// again. A system that fails to read them (58030) may read them the next time.
    pub fn is_damage(self) -> bool {
        self.is_of_data() && ![SqlState::IO_ERROR, SqlState::DISK_FULL].contains(&self)
    }
}

impl fmt::Debug for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An error with what a user needs to act on it.
#[derive(Clone, Debug)]
pub struct Error(Box<Fields>);

#[derive(Clone, Debug)]
struct Fields {
    state: SqlState,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
    position: Option<usize>,
    span: Span,
    /// The identity of the schema of the table or type.
    namespace: Option<ObjectId>,
    schema: Option<String>,
    table: Option<String>,
    column: Option<String>,
    data_type: Option<String>,
    constraint: Option<String>,
}

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with its condition and message.
    pub fn new(state: SqlState, message: impl Into<String>) -> Error {
        Error(Box::new(Fields {
            state,
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            span: Span::NONE,
            namespace: None,
            schema: None,
            table: None,
            column: None,
            data_type: None,
            constraint: None,
        }))
    }

    /// The error that a panic becomes where it is caught: a defect, XX000.
    pub fn of_panic(panic: &(dyn std::any::Any + Send)) -> Error {
        let text = (panic.downcast_ref::<&str>().copied())
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Error::internal(format!("panic: {}", text.unwrap_or("without a message")))
    }

    /// A feature that is not supported; `what` names it, e.g. `"FULL OUTER JOIN"`.
    pub fn unsupported(what: impl fmt::Display) -> Error {
        Error::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("{what} is not supported"),
        )
    }

    /// A defect of Frazil itself.
    pub fn internal(message: impl Into<String>) -> Error {
        Error::new(SqlState::INTERNAL_ERROR, message)
            .with_hint("this is a defect of Frazil; please report it with the statement")
    }

    /// Adds facts that do not fit the one-line message.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Error {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds the way out.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.0.hint = Some(hint.into());
        self
    }

    /// Names the table that the error is about.
    pub fn of_table(mut self, table: impl Into<String>) -> Error {
        self.0.table = Some(table.into());
        self
    }

    /// Names the domain that the error is about.
    pub fn of_type(mut self, domain: impl Into<String>) -> Error {
        self.0.data_type = Some(domain.into());
        self
    }

    /// Tells the schema of the table or domain by its identity. [`Error::naming_schema`] makes a name of it, at the
    /// place where the catalog is known that the statement saw.
    pub fn in_namespace(mut self, namespace: ObjectId) -> Error {
        self.0.namespace = Some(namespace);
        self
    }

    /// Names the schema of the table or domain, if the error tells its identity and has no name of it yet.
    pub fn naming_schema(mut self, name: impl FnOnce(ObjectId) -> Option<String>) -> Error {
        if self.0.schema.is_none() {
            self.0.schema = self.0.namespace.and_then(name);
        }
        self
    }

    /// Names the column that the error is about.
    pub fn of_column(mut self, column: impl Into<String>) -> Error {
        self.0.column = Some(column.into());
        self
    }

    /// Names the constraint that a row or value violates; of a unique index that no constraint made, the index.
    pub fn of_constraint(mut self, constraint: impl Into<String>) -> Error {
        self.0.constraint = Some(constraint.into());
        self
    }

    /// Adds the place in the statement: a character offset counted from 1.
    pub fn at_position(mut self, position: usize) -> Error {
        self.0.position = Some(position);
        self
    }

    /// Adds the place in the statement's text, unless it has one: the innermost expression is named.
    pub fn at_span(mut self, span: Span) -> Error {
        if !self.0.span.is_some() {
            self.0.span = span;
        }
        self
    }

    /// Makes a position of its span in the statement's `text`, unless it has a position.
    pub fn placed_in(self, text: &str) -> Error {
        self.placed_behind("", text)
    }

    /// Makes a position of its span in the statement's `text`, which stands behind `before` in what the user wrote,
    /// unless it has a position.
    pub fn placed_behind(mut self, before: &str, text: &str) -> Error {
        let place = |span: Span| Some(before.chars().count() + span.position(text)?);
        self.0.position = self.0.position.or_else(|| place(self.0.span));
        self
    }

    /// Takes its place away: the text that the place is in is not what the user ran.
    pub fn without_place(mut self) -> Error {
        (self.0.position, self.0.span) = (None, Span::NONE);
        self
    }

    /// Puts `context` and a colon before the message, e.g. the file or block it speaks of.
    pub fn in_context(mut self, context: impl fmt::Display) -> Error {
        self.0.message = format!("{context}: {}", self.0.message);
        self
    }

    /// Its SQLSTATE.
    pub fn state(&self) -> SqlState {
        self.0.state
    }

    /// The one-line message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Further facts.
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// The way out.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The identity of the schema of the table or domain that the error is about.
    pub fn namespace(&self) -> Option<ObjectId> {
        self.0.namespace
    }

    /// The schema of the table or domain that the error is about.
    pub fn schema(&self) -> Option<&str> {
        self.0.schema.as_deref()
    }

    /// The domain that the error is about, if its values come from no column.
    pub fn data_type(&self) -> Option<&str> {
        self.0.data_type.as_deref()
    }

    /// The table that the error is about, as errors of class 23 name it.
    pub fn table(&self) -> Option<&str> {
        self.0.table.as_deref()
    }

    /// The column that the error is about, as 23502 names it.
    pub fn column(&self) -> Option<&str> {
        self.0.column.as_deref()
    }

    /// The constraint that a row violates, as 23505 and 23514 name it.
    pub fn constraint(&self) -> Option<&str> {
        self.0.constraint.as_deref()
    }

    /// Its place in the statement's text; [`Span::NONE`] if unknown.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// Character offset in the statement, from 1.
    pub fn position(&self) -> Option<usize> {
        self.0.position
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_names_table_column_and_constraint() {
        let error = Error::new(SqlState::UNIQUE_VIOLATION, "duplicate key");
        assert_eq!(
            (error.table(), error.column(), error.constraint()),
            (None, None, None)
        );
        let error = error.of_table("t").of_column("a").of_constraint("t_a_key");
        let fields = (error.table(), error.column(), error.constraint());
        assert_eq!(fields, (Some("t"), Some("a"), Some("t_a_key")));
    }

    #[test]
    fn a_schema_is_named_once() {
        let error = Error::new(SqlState::NOT_NULL_VIOLATION, "null");
        // Nothing is known of a schema.
        let error = error.naming_schema(|_| Some("wrong".to_owned()));
        assert_eq!(error.schema(), None);
        let error = error.of_type("d").in_namespace(ObjectId(7));
        assert_eq!((error.schema(), error.data_type()), (None, Some("d")));
        let error = error.naming_schema(|id| Some(format!("s{}", id.0)));
        assert_eq!(error.naming_schema(|_| None).schema(), Some("s7"));
    }

    #[test]
    fn the_innermost_place_counts() {
        let text = "select 'ä', 1 / 0";
        let at = text.find("1 /").unwrap();
        let error = Error::new(SqlState::DIVISION_BY_ZERO, "division by zero");
        assert_eq!(error.clone().placed_in(text).position(), None);
        let error = error.at_span(Span::new(at, text.len())).at_span(Span::new(0, 6));
        assert_eq!(error.span(), Span::new(at, text.len()));
        assert_eq!(error.clone().placed_in(text).position(), Some(13));
        assert_eq!(error.at_position(2).placed_in(text).position(), Some(2));
    }
}
