//! The shell's backend of a server.

use super::address::Address;
use super::cancel::{Key, canceler};
use super::errors::lost;
use super::login::{connected, log_in};
use super::session::{Columns, Session};
use super::values::type_of;
use super::wire::Wire;
use super::{definitions, objects};
use crate::backend::{Backend, Canceler, DefinedType, Function, ListedIndex, Relation, Sequence, Structure};
use frazil::{
    Block, Connection, CopyStreams, Notification, Outcome, Progress, RawValue as Value, Response, Result,
    RowBatch, RowSink, Rows, Schema,
};
use postgres_protocol::message::backend::Message;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session on a server.
pub struct Remote {
    /// The server, without a wish for TLS that was given up.
    address: Address,
    key: Key,
    session: Mutex<Session>,
}

impl Remote {
    /// Connects and logs in. 08001 if nobody listens there, 28P01 for a wrong password, and other errors of the server.
    pub fn connect(address: &Address) -> Result<Remote> {
        let (stream, is_secured) = connected(address)?;
        let mut address = address.clone();
        if !is_secured {
            address.ssl_mode = super::address::SslMode::Disable;
        }
        let timeout = |error: std::io::Error| lost(&error);
        stream.set_timeout(address.connect_timeout).map_err(timeout)?;
        let mut wire = Wire::new(stream);
        log_in(&mut wire, &address)?;
        wire.stream().set_timeout(None).map_err(timeout)?;
        let mut session = Session::new(wire);
        let mut key = Key::default();
        session.until_ready(|message| {
            if let Message::BackendKeyData(body) = message {
                key = Key {
                    session: body.process_id(),
                    secret: body.secret_key(),
                };
            }
        })?;
        Ok(Remote {
            address,
            key,
            session: Mutex::new(session),
        })
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows of a query as texts; `None` for NULL.
    pub fn texts(&self, sql: &str, values: &[&str]) -> Result<Vec<Vec<Option<String>>>> {
        let values: Vec<Value> = values
            .iter()
            .map(|&value| Value::Text(value.to_owned()))
            .collect();
        let Outcome::Rows(rows) = self.execute(sql, &values)?.outcome else {
            return Ok(Vec::new());
        };
        let columns = &rows.schema().columns;
        let shown = |row: Vec<Value>| {
            let cells = row.iter().zip(columns);
            let shown = cells.map(|(value, c)| (!value.is_null()).then(|| value.display(c.ty).to_string()));
            shown.collect()
        };
        Ok(rows.raw().map(shown).collect())
    }

    /// True if the server is Frazil's, which its version says.
    pub fn is_frazil(&self) -> bool {
        self.session().is_frazil()
    }

    fn typed(&self, columns: &Columns) -> Result<Vec<(String, String)>> {
        let described =
            columns
                .schema
                .columns
                .iter()
                .zip(&columns.types)
                .map(|(column, &(oid, modifier))| {
                    let ty = match type_of(oid, modifier) {
                        Some(ty) => ty.to_string(),
                        None => self.type_name(oid, modifier)?,
                    };
                    Ok((column.name.clone(), ty))
                });
        described.collect()
    }

    /// The server's name of a type that Frazil does not have.
    fn type_name(&self, oid: u32, modifier: i32) -> Result<String> {
        let sql = format!("select pg_catalog.format_type({oid}, {modifier})");
        let name = self
            .texts(&sql, &[])?
            .pop()
            .and_then(|mut row| row.pop())
            .flatten();
        Ok(name.unwrap_or_else(|| oid.to_string()))
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.session().leave();
    }
}

/// Collects rows.
#[derive(Default)]
struct Collected {
    schema: Option<Arc<Schema>>,
    batches: Vec<RowBatch>,
}

impl RowSink for Collected {
    fn begin(&mut self, schema: &Arc<Schema>) -> Result<()> {
        *self = Collected {
            schema: Some(schema.clone()),
            batches: Vec::new(),
        };
        Ok(())
    }

    fn rows(&mut self, batch: RowBatch) -> Result<()> {
        self.batches.push(batch);
        Ok(())
    }
}

impl Backend for Remote {
    fn execute(&self, sql: &str, values: &[Value]) -> Result<Response> {
        let mut rows = Collected::default();
        let mut session = self.session();
        let mut response = session.run(sql, values, &mut rows, &*self.canceler())?;
        if session.gave_rows()
            && let Some(schema) = rows.schema
        {
            response.outcome = Outcome::Rows(Rows::new(schema, rows.batches));
        }
        Ok(response)
    }

    fn execute_into(&self, sql: &str, values: &[Value], sink: &mut dyn RowSink) -> Result<Response> {
        self.session().run(sql, values, sink, &*self.canceler())
    }

    fn copy(&self, sql: &str, streams: &mut dyn CopyStreams) -> Result<Response> {
        self.session().copy(sql, streams, &*self.canceler())
    }

    fn describe(&self, sql: &str) -> Result<Vec<(String, String)>> {
        let columns = self.session().describe(sql)?;
        columns.map_or(Ok(Vec::new()), |columns| self.typed(&columns))
    }

    fn canceler(&self) -> Canceler {
        canceler(&self.address, self.key)
    }

    fn block(&self) -> Block {
        self.session().block()
    }

    fn progress(&self) -> Option<&Progress> {
        None
    }

    fn notifications(&self) -> Vec<Notification> {
        self.session().notifications()
    }

    fn relations(&self) -> Result<Vec<Relation>> {
        objects::relations(self)
    }

    fn structure(&self, name: &str) -> Result<Structure> {
        objects::structure(self, name)
    }

    fn definitions(&self, name: Option<&str>) -> Result<Vec<String>> {
        definitions::definitions(self, name)
    }

    fn indexes(&self) -> Result<Vec<ListedIndex>> {
        objects::indexes(self)
    }

    fn sequences(&self) -> Result<Vec<Sequence>> {
        objects::sequences(self)
    }

    fn schemas(&self) -> Result<Vec<String>> {
        objects::schemas(self)
    }

    fn defined_types(&self) -> Result<Vec<DefinedType>> {
        objects::defined_types(self)
    }

    fn functions(&self) -> Result<Vec<Function>> {
        objects::functions(self)
    }

    fn has_blocks(&self) -> bool {
        self.is_frazil()
    }

    fn is_lost(&self) -> bool {
        self.session().is_lost()
    }

    fn embedded(&self) -> Option<&Connection> {
        None
    }
}
