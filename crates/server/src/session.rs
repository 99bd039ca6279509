//! A session: what the messages of a client do, on the thread that runs them.
//!
//! The rules are PostgreSQL's (its manual, "Message Flow"). The statements of one Query, and those between two Syncs,
//! are one transaction unless they say BEGIN. An error skips what follows up to the next Sync.

use crate::answers::{Answers, Gravity};
use crate::copying::Copying;
use crate::inbox;
use crate::messages::{Bind, Message, Target, violation};
use crate::output::Output;
use crate::parameters::{self, Format, Formats};
use crate::portal::{Portal, State};
use crate::reported::Reported;
use crate::rows::{Heading, RowSender};
use crate::slow_log::ClientLog;
use frazil::{
    Activity, Begun, Block, Connection, CopyShape, Cursor, Described, Error, Listener, Outcome, Response,
    Result, SqlState, Statement, StatementRole, TypedStatement,
};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A session of a client.
pub struct Session {
    connection: Connection,
    /// The session's activity, as other sessions see it.
    activity: Arc<Activity>,
    /// The statement without a name. The inner `None` is an empty text.
    unnamed: Option<Option<TypedStatement>>,
    /// Statements by name, with the types that clients declared; the session keeps them for EXECUTE, too.
    named: HashMap<String, Option<TypedStatement>>,
    portals: HashMap<String, Portal>,
    /// Number of transactions that had ended when the portals were last looked at.
    ended: u64,
    /// True behind an error, up to the next Sync.
    is_skipping: bool,
    reported: Reported,
    /// The log of its slow statements.
    slow_log: Option<ClientLog>,
}

/// The fate of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It waits for the next message.
    Continue,
    /// It ends.
    End,
}

impl Session {
    /// A session on a connection, with the log of its slow statements.
    pub fn new(connection: Connection, slow_log: Option<ClientLog>) -> Session {
        Session {
            activity: connection.activity(),
            connection,
            unnamed: None,
            named: HashMap::new(),
            portals: HashMap::new(),
            ended: 0,
            is_skipping: false,
            reported: Reported::new(),
            slow_log,
        }
    }

    /// Returns what takes the session's notifications.
    pub fn listener(&self) -> Listener {
        self.connection.listener()
    }

    /// Returns the session's activity, as other sessions see it.
    pub fn activity(&self) -> Arc<Activity> {
        self.connection.activity()
    }

    /// True if somebody ends the session.
    pub fn is_ending(&self) -> bool {
        self.activity.ending().is_some()
    }

    /// Returns the state of the session's transaction.
    pub fn block(&self) -> Block {
        self.connection.block()
    }

    /// Returns the time that the session may wait for its client, and the error with which it ends then.
    pub fn patience(&self) -> Option<(Duration, Error)> {
        let timeouts = self.connection.session_timeouts();
        let (limit, state, message) = match self.block() {
            Block::Idle => (
                timeouts.idle,
                SqlState::IDLE_SESSION_TIMEOUT,
                "terminating connection due to idle-session timeout",
            ),
            Block::Open | Block::Failed => (
                timeouts.idle_in_transaction,
                SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                "terminating connection due to idle-in-transaction timeout",
            ),
        };
        Some((limit?, Error::new(state, message)))
    }

    /// Returns the time that a transaction may take; `None` for any.
    pub fn transaction_limit(&self) -> Option<Duration> {
        self.connection.session_timeouts().transaction
    }

    /// Runs the messages of a queue in order, up to COPY … FROM STDIN, which takes the rest of them. An error is that
    /// the client is gone.
    pub fn run(&mut self, queue: &mut VecDeque<Message>, output: &mut Output) -> Result<Flow> {
        while self.activity.ending().is_none()
            && let Some(message) = queue.pop_front()
        {
            if self.one(message, queue, output)? == Flow::End {
                return Ok(Flow::End);
            }
            output.send_if_full()?;
        }
        output.send()?;
        Ok(Flow::Continue)
    }

    fn one(&mut self, message: Message, queue: &mut VecDeque<Message>, output: &mut Output) -> Result<Flow> {
        match message {
            Message::Terminate => return Ok(Flow::End),
            Message::Sync => self.sync(output),
            // An error of its own ends the skipping of a client that lost its way.
            _ if self.is_skipping => {}
            Message::Query(text) => self.query(&text, queue, output)?,
            Message::Flush => output.send()?,
            // The rest of COPY's bytes, which it did not read.
            Message::CopyData(_) | Message::CopyDone | Message::CopyFail(_) => {}
            Message::FunctionCall => {
                let error = Error::unsupported("the function call protocol");
                self.refuse(&error.with_hint("call the function in a SELECT"), output);
                output.answers.ready(self.block());
            }
            Message::Unreadable(b'Q' | b'F', error) => {
                self.refuse(&error.0, output);
                output.answers.ready(self.block());
            }
            Message::Unreadable(_, error) => self.skip(&error.0, output),
            Message::Password(_) => self.skip(&violation("a message of the login behind it"), output),
            extended => {
                if let Err(error) = self.extended(extended, queue, output) {
                    if error.state() == SqlState::CONNECTION_FAILURE {
                        return Err(error);
                    }
                    self.skip(&error, output);
                }
            }
        }
        Ok(Flow::Continue)
    }

    /// Tells an error, which fails the transaction.
    fn refuse(&mut self, error: &Error, output: &mut Output) {
        self.connection.fail_transaction();
        self.tell(error, output);
    }

    /// Tells an error. A client whose session is to end hears that alone.
    fn tell(&self, error: &Error, output: &mut Output) {
        if self.activity.ending().is_none() {
            output.answers.error(Gravity::Error, error);
        }
    }

    /// Tells an error, and skips what follows.
    fn skip(&mut self, error: &Error, output: &mut Output) {
        self.refuse(error, output);
        self.is_skipping = true;
    }

    /// Ends the implicit transaction, and tells where the session stands.
    fn sync(&mut self, output: &mut Output) {
        self.is_skipping = false;
        if let Err(error) = self.connection.end_implicit() {
            self.tell(&error, output);
        }
        self.ready(output);
    }

    fn ready(&mut self, output: &mut Output) {
        let block = self.block();
        self.drop_ended(None);
        if block == Block::Idle {
            self.portals.clear();
        }
        self.connection.pause_activity();
        if self.activity.ending().is_some() {
            return;
        }
        self.report(&mut output.answers);
        if block == Block::Idle {
            let notifications = self.connection.listener().take();
            notifications.iter().for_each(|n| output.answers.notification(n));
        }
        output.answers.ready(block);
    }

    /// Drops the portals of transactions that have ended, but for the one that runs.
    fn drop_ended(&mut self, running: Option<&str>) {
        let ended = self.connection.ended_transactions();
        if std::mem::replace(&mut self.ended, ended) != ended {
            self.portals.retain(|name, _| Some(name.as_str()) == running);
        }
    }

    /// Tells settings that are new to the client.
    pub fn report(&mut self, answers: &mut Answers) {
        self.reported.tell(&self.connection, answers);
    }

    /// The simple protocol: a text of statements. Errors are those of a client that is gone.
    fn query(&mut self, text: &str, queue: &mut VecDeque<Message>, output: &mut Output) -> Result<()> {
        self.unnamed = None;
        self.portals.remove("");
        self.connection.begin_activity(text);
        let begun = self.slow_log.as_ref().map(|_| Instant::now());
        let done = self.statements(text, queue, output);
        let done = match (done, self.connection.end_implicit()) {
            (Ok(()), ended) => ended,
            (Err(error), _) => Err(error),
        };
        if let (Some(log), Some(begun)) = (&self.slow_log, begun) {
            log.text(&self.connection, begun, text, &done);
        }
        if let Err(error) = done {
            if error.state() == SqlState::CONNECTION_FAILURE {
                return Err(error);
            }
            self.tell(&error, output);
        }
        self.ready(output);
        Ok(())
    }

    fn statements(&mut self, text: &str, queue: &mut VecDeque<Message>, output: &mut Output) -> Result<()> {
        let statements = self.connection.statements(text)?;
        if statements.is_empty() {
            output.answers.plain(b'I');
            return Ok(());
        }
        let are_several = statements.len() > 1;
        for statement in statements {
            let statement = statement?;
            if are_several {
                self.connection.begin_implicit()?;
            }
            if let Some((name, is_declared)) = statement.cursor() {
                self.lend(name, is_declared, output)?;
            }
            let response = simple(&statement, queue, output)?;
            complete(response, output);
            self.drop_ended(None);
            output.send_if_full()?;
        }
        Ok(())
    }

    /// Makes a portal a cursor of the session, because a statement names it: portals and cursors have their names
    /// together. 42P03 for a cursor that is to be declared by a portal's name; the errors of beginning its query.
    fn lend(&mut self, name: &str, is_declared: bool, output: &mut Output) -> Result<()> {
        let Some(portal) = self.portals.get_mut(name) else {
            return Ok(());
        };
        if is_declared {
            return Err(taken(name));
        }
        let state = std::mem::replace(&mut portal.state, State::Failed);
        let cursor = match (state, &portal.statement) {
            (State::Ready, Some(statement)) if portal.described.columns().is_some() => {
                match statement.begin(&portal.values)? {
                    Begun::Rows(cursor, notices) => {
                        notices.iter().for_each(|notice| output.answers.notice(notice));
                        cursor
                    }
                    Begun::Done(_) => return Ok(()),
                }
            }
            (State::Suspended(cursor, _), _) => cursor,
            (state, _) => {
                portal.state = state;
                return Ok(());
            }
        };
        portal.state = State::Named;
        let is_binary = portal.formats.of(0) == Format::Binary;
        let text = portal.statement.as_ref().map_or("", TypedStatement::text);
        self.connection.name_cursor(name, cursor, text, is_binary)
    }

    /// Sends rows of a cursor of DECLARE, which is a portal, too.
    fn execute_cursor(&self, name: &str, most_rows: u32, output: &mut Output) -> Result<()> {
        let declared = self.connection.declared_cursor(name);
        let (described, is_binary) = declared.map_err(|_| no_portal(name))?;
        let formats = match is_binary {
            true => Formats::binary(),
            false => Formats::default(),
        };
        let heading = Heading::Known(described.columns().map(|schema| &**schema));
        let mut sender = RowSender::new(output, heading, &formats);
        let (sent, tag) = self
            .connection
            .fetch_declared(name, most_rows.into(), &mut sender)?;
        match most_rows > 0 && sent == u64::from(most_rows) {
            true => output.answers.plain(b's'),
            false => output.answers.complete(tag, Some(sent)),
        }
        Ok(())
    }

    /// The extended protocol.
    fn extended(
        &mut self,
        message: Message,
        queue: &mut VecDeque<Message>,
        output: &mut Output,
    ) -> Result<()> {
        match message {
            Message::Parse { name, text, types } => {
                self.parse(name, &text, &types)?;
                output.answers.plain(b'1');
            }
            Message::Bind(bind) => {
                self.bind(bind)?;
                output.answers.plain(b'2');
            }
            Message::Describe(Target::Statement, name) => self.describe_statement(&name, output)?,
            Message::Describe(Target::Portal, name) => {
                let Some(portal) = self.portals.get(&name) else {
                    return self.describe_cursor(&name, output);
                };
                tell_columns(&portal.described, |at| portal.formats.of(at), output);
            }
            Message::Execute { portal, most_rows } => self.execute(&portal, most_rows, queue, output)?,
            Message::Close(target, name) => {
                self.close(target, &name);
                output.answers.plain(b'3');
            }
            other => {
                return Err(Error::internal(format!(
                    "a message that is not extended: {other:?}"
                )));
            }
        }
        Ok(())
    }

    fn parse(&mut self, name: String, text: &str, types: &[u32]) -> Result<()> {
        self.connection.begin_activity(text);
        let types: Vec<_> = types.iter().map(|&oid| parameters::declared(oid)).collect();
        let statement = self.connection.prepare_typed(text, &types)?;
        if name.is_empty() {
            self.unnamed = Some(statement);
            return Ok(());
        }
        match &statement {
            Some(statement) => self.connection.keep(&name, statement)?,
            None if self.named.get(&name).is_some_and(Option::is_none) => {
                let message = format!("prepared statement \"{name}\" already exists");
                return Err(Error::new(SqlState::DUPLICATE_STATEMENT, message));
            }
            None => {}
        }
        self.named.insert(name, statement);
        Ok(())
    }

    /// The statement of a name, `None` for an empty text. 26000.
    fn statement(&mut self, name: &str) -> Result<Option<TypedStatement>> {
        if name.is_empty() {
            let missing = || {
                Error::new(
                    SqlState::INVALID_STATEMENT_NAME,
                    "unnamed prepared statement does not exist",
                )
            };
            return self.unnamed.clone().ok_or_else(missing);
        }
        match self.named.get(name) {
            Some(None) => Ok(None),
            // DEALLOCATE may have forgotten it, and PREPARE made another one.
            Some(Some(own)) if self.connection.keeps(name, own) => Ok(Some(own.clone())),
            _ => {
                self.named.remove(name);
                self.connection.kept(name).map(Some)
            }
        }
    }

    fn bind(&mut self, bind: Bind) -> Result<()> {
        let statement = self.statement(&bind.statement)?;
        self.check_free(&bind.portal)?;
        let types: Vec<_> = statement.iter().flat_map(TypedStatement::parameters).collect();
        if types.len() != bind.values.len() {
            return Err(violation(format!(
                "bind message supplies {} parameters, but prepared statement \"{}\" requires {}",
                bind.values.len(),
                bind.statement,
                types.len()
            )));
        }
        let formats = Formats::of_codes(&bind.formats)?;
        formats.check(types.len())?;
        let bytes = bind.values.iter().flatten().map(Vec::len).sum();
        let memory = (bytes > inbox::AHEAD).then(|| self.connection.database().budget().reserve(bytes));
        let memory = memory.transpose()?;
        let values = (bind.values.iter().zip(types).enumerate())
            .map(|(at, (bytes, ty))| parameters::value(bytes.as_deref(), formats.of(at), ty, at));
        let values = values.collect::<Result<_>>()?;
        let results = Formats::of_codes(&bind.results)?;
        let described = match &statement {
            Some(statement) => statement.describe()?,
            None => Arc::new(Described::Nothing),
        };
        if let Some(schema) = described.columns() {
            results.check(schema.columns.len())?;
        }
        let portal = Portal {
            statement,
            values,
            memory,
            formats: results,
            described,
            state: State::Ready,
        };
        self.portals.insert(bind.portal, portal);
        Ok(())
    }

    /// 42P03 for a name that a portal or a cursor has.
    fn check_free(&mut self, name: &str) -> Result<()> {
        if name.is_empty() {
            return Ok(());
        }
        if self.connection.declared_cursor(name).is_ok() {
            return Err(taken(name));
        }
        match self.portals.get(name).map(|portal| &portal.state) {
            // CLOSE closed its cursor.
            None | Some(State::Named) => Ok(()),
            Some(_) => Err(taken(name)),
        }
    }

    fn describe_statement(&mut self, name: &str, output: &mut Output) -> Result<()> {
        let statement = self.statement(name)?;
        let types: Vec<u32> = (statement.iter().flat_map(TypedStatement::parameters))
            .map(parameters::oid)
            .collect();
        let described = statement.map(|statement| statement.describe()).transpose()?;
        output.answers.parameters(types.into_iter());
        let described = described.unwrap_or_else(|| Arc::new(Described::Nothing));
        tell_columns(&described, |_| Format::Text, output);
        Ok(())
    }

    /// Describes a cursor of DECLARE, which is a portal, too.
    fn describe_cursor(&self, name: &str, output: &mut Output) -> Result<()> {
        let declared = self.connection.declared_cursor(name);
        let (described, is_binary) = declared.map_err(|_| no_portal(name))?;
        let format = if is_binary { Format::Binary } else { Format::Text };
        tell_columns(&described, |_| format, output);
        Ok(())
    }

    fn close(&mut self, target: Target, name: &str) {
        match (target, name) {
            (Target::Portal, name) => {
                let portal = self.portals.remove(name);
                if portal.is_none_or(|portal| matches!(portal.state, State::Named)) {
                    // Closing what does not exist is not an error.
                    let _ = self.connection.close_cursor(name);
                }
            }
            (Target::Statement, "") => self.unnamed = None,
            (Target::Statement, name) => {
                if !matches!(self.named.remove(name), Some(None)) {
                    self.connection.forget(name);
                }
            }
        }
    }

    fn execute(
        &mut self,
        name: &str,
        most_rows: u32,
        queue: &mut VecDeque<Message>,
        output: &mut Output,
    ) -> Result<()> {
        let Some(portal) = self.portals.get_mut(name) else {
            return self.execute_cursor(name, most_rows, output);
        };
        let Some(statement) = portal.statement.clone() else {
            output.answers.plain(b'I');
            return Ok(());
        };
        self.connection.begin_activity(statement.text());
        // A statement alone before Sync is its own transaction.
        if queue.front() != Some(&Message::Sync) && matches!(portal.state, State::Ready) {
            self.connection.begin_implicit()?;
        }
        let run = Run {
            connection: &self.connection,
            statement: &statement,
            most_rows,
        };
        let begun = self.slow_log.as_ref().map(|_| Instant::now());
        let done = run_portal(portal, run, name, queue, output);
        if let (Some(log), Some(begun)) = (&self.slow_log, begun) {
            log.portal(&self.connection, begun, portal, &done);
        }
        self.drop_ended(Some(name));
        done
    }
}

/// A portal's run.
struct Run<'a> {
    connection: &'a Connection,
    statement: &'a TypedStatement,
    /// Most rows that are sent; 0: all.
    most_rows: u32,
}

/// Runs a portal.
fn run_portal(
    portal: &mut Portal,
    run: Run<'_>,
    name: &str,
    queue: &mut VecDeque<Message>,
    output: &mut Output,
) -> Result<()> {
    let Run {
        connection,
        statement,
        most_rows,
    } = run;
    let schema = portal.described.columns().cloned();
    match (
        std::mem::replace(&mut portal.state, State::Failed),
        schema,
        &*portal.described,
    ) {
        (State::Ready, Some(schema), _) if most_rows == 0 => {
            let mut sender = RowSender::new(output, Heading::Known(Some(&schema)), &portal.formats);
            let response = statement.execute_into(&portal.values, &mut sender)?;
            complete(response, output);
        }
        (State::Ready, Some(_), _) => match statement.begin(&portal.values)? {
            Begun::Rows(cursor, notices) => {
                notices.iter().for_each(|notice| output.answers.notice(notice));
                hand_out(connection, portal, (name, cursor), most_rows, output)?;
            }
            Begun::Done(response) => complete(response, output),
        },
        (State::Ready, None, Described::CopyIn(shape) | Described::CopyOut(shape)) => {
            let values = &portal.values;
            let copied = copied(statement.role(), *shape, (queue, &mut *output), |streams| {
                statement.execute_copy(values, streams)
            });
            complete(copied?, output);
        }
        (State::Ready, None, _) => {
            let mut sender = RowSender::new(output, Heading::Known(None), &portal.formats);
            let response = statement.execute_into(&portal.values, &mut sender)?;
            complete(response, output);
        }
        (State::Suspended(cursor, _), ..) => hand_out(connection, portal, (name, cursor), most_rows, output)?,
        (State::Named, schema, _) => {
            let heading = Heading::Known(schema.as_deref());
            let mut sender = RowSender::new(output, heading, &portal.formats);
            let (sent, tag) = connection.fetch_declared(name, most_rows.into(), &mut sender)?;
            match most_rows > 0 && sent == u64::from(most_rows) {
                true => output.answers.plain(b's'),
                false => output.answers.complete(tag, Some(sent)),
            }
            portal.state = State::Named;
        }
        (State::Done, Some(_), _) => {
            connection.check_transaction()?;
            output.answers.complete("SELECT", Some(0));
        }
        (State::Done | State::Failed, ..) => {
            connection.check_transaction()?;
            let message = format!("portal \"{name}\" cannot be run anymore");
            return Err(Error::new(SqlState::NOT_IN_STATE, message));
        }
    }
    if matches!(portal.state, State::Failed) {
        portal.state = State::Done;
    }
    Ok(())
}

/// Sends the next rows of a portal, at most `most_rows`, 0: all. A portal that gave as many is suspended, even if it
/// has no more.
fn hand_out(
    connection: &Connection,
    portal: &mut Portal,
    (name, mut cursor): (&str, Cursor),
    most_rows: u32,
    output: &mut Output,
) -> Result<()> {
    let described = portal.described.clone();
    let heading = Heading::Known(described.columns().map(|schema| &**schema));
    let mut sender = RowSender::new(output, heading, &portal.formats);
    let sent = connection.fetch(&mut cursor, most_rows.into(), &mut sender)?;
    match most_rows > 0 && sent == u64::from(most_rows) {
        true => {
            output.answers.plain(b's');
            let text = portal.statement.as_ref().map_or("", TypedStatement::text);
            let open = connection.list_portal(name, &cursor, text);
            portal.state = State::Suspended(cursor, open);
        }
        false => output.answers.complete(cursor.tag(), Some(sent)),
    }
    Ok(())
}

/// Runs a statement of the simple protocol.
fn simple(statement: &Statement, queue: &mut VecDeque<Message>, output: &mut Output) -> Result<Response> {
    let role = statement.role();
    match role {
        StatementRole::Plain | StatementRole::Execute => {
            let formats = match statement.is_binary() {
                true => Formats::binary(),
                false => Formats::default(),
            };
            statement.execute_into((), &mut RowSender::new(output, Heading::Sent, &formats))
        }
        StatementRole::CopyIn | StatementRole::CopyOut => {
            let (Described::CopyIn(shape) | Described::CopyOut(shape)) = statement.describe()? else {
                return Err(Error::internal("a COPY that is not one"));
            };
            copied(role, shape, (queue, output), |streams| {
                statement.execute_copy(streams)
            })
        }
    }
}

/// Runs COPY between a statement and the client.
fn copied(
    role: StatementRole,
    shape: CopyShape,
    (queue, output): (&mut VecDeque<Message>, &mut Output),
    run: impl FnOnce(&mut Copying<'_>) -> Result<Response>,
) -> Result<Response> {
    let mut copying = Copying::new(output, queue, shape);
    let response = run(&mut copying).map_err(|error| copying.error(error))?;
    if role == StatementRole::CopyOut {
        copying.close();
    }
    Ok(response)
}

/// Tells what a statement did.
fn complete(response: Response, output: &mut Output) {
    response
        .notices
        .iter()
        .for_each(|notice| output.answers.notice(notice));
    match response.outcome {
        Outcome::Command { tag, rows } => output.answers.complete(tag, rows),
        Outcome::Rows(rows) => output.answers.complete(rows.tag(), Some(rows.len() as u64)),
    }
}

/// Tells the columns of a result: RowDescription, or NoData.
fn tell_columns(described: &Described, format: impl Fn(usize) -> Format, output: &mut Output) {
    match described.columns() {
        Some(schema) => output.answers.columns(schema, format),
        None => output.answers.plain(b'n'),
    }
}

fn taken(name: &str) -> Error {
    let message = format!("cursor \"{name}\" already exists");
    Error::new(SqlState::DUPLICATE_CURSOR, message)
}

fn no_portal(name: &str) -> Error {
    Error::new(
        SqlState::INVALID_CURSOR_NAME,
        format!("portal \"{name}\" does not exist"),
    )
}
