//! A database as SQL that Frazil reads, and PostgreSQL as far as it has the types: `.dump`, and `frazil dump`.
//!
//! The rows of a table are a COPY block, which loads many times as fast as a statement for each row. psql and the shell
//! read such blocks; `--inserts` writes statements for programs that do not.
//!
//! First come types that statements defined and sequences, then tables with their columns, defaults, keys and checks,
//! each with its rows; then the indexes that no key makes, which are built faster over rows that are there; then views,
//! each behind those that it reads. Rows come in their stored order, by one thread, so that a database that is made of
//! a dump has the same dump. The layout of rows is not part of a dump.
//!
//! Roles come before everything else, and owners and privileges after it: a superuser loads the dump. A dump of some
//! tables has their owners and privileges, and no roles.
//!
//! When a damaged directory is salvaged, comments in front of a table's rows tell what is left out of the table.
//!
//! All of it is of one moment: the shell has one connection, and where another process may write the directory
//! meanwhile, the dump is one transaction that keeps what it saw first.

use crate::arguments::DumpOptions;
use crate::backend::Backend;
use crate::complaint::Complaint;
use crate::output::{Display, Mode, Streamed};
use crate::shell::Shell;
use crate::target::Target;
use crate::{interrupt, opening};
use frazil::{
    Access, AccessInfo, ColumnDef, ColumnDefault, Connection, CopyStreams, DomainInfo, Error, FileAccess,
    Loss, ObjectAccess, Outcome, RawValue as Value, SequenceInfo, SqlState, TableInfo, ViewInfo, identifier,
};
use std::io::{self, Read, Write};
use std::sync::atomic::AtomicBool;

/// The form of a table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowForm {
    /// `COPY … FROM stdin;`, a line for each row, and `\.`.
    Copy,
    /// An INSERT for each row.
    Inserts,
}

/// The parts of a dump beside the definitions of tables and views.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The form of rows; `None`: no rows.
    pub rows: Option<RowForm>,
    /// True for the roles. A dump of some tables has none.
    pub roles: bool,
    /// True for owners.
    pub owners: bool,
    /// True for privileges.
    pub privileges: bool,
}

impl Form {
    /// Everything.
    pub fn whole(rows: RowForm) -> Form {
        Form {
            rows: Some(rows),
            roles: true,
            owners: true,
            privileges: true,
        }
    }
}

/// Runs `frazil dump`.
pub fn run(options: &DumpOptions) -> Result<(), Complaint> {
    interrupt::install();
    let database = match options.salvage {
        true => opening::salvage(&options.directory)?,
        false => opening::open(Some(&options.directory), Access::Read, &FileAccess::On)?,
    };
    let mut shell = Shell::new(database.connect());
    if let Some(path) = &options.output {
        let target = Target::file(path).map_err(|e| {
            let message = format!("could not create \"{}\": {e}", path.display());
            Complaint::from(Error::new(SqlState::of_io(&e), message))
        })?;
        shell.output.redirect(target);
    }
    let rows = match options.inserts {
        true => RowForm::Inserts,
        false => RowForm::Copy,
    };
    let form = Form {
        rows: Some(rows).filter(|_| !options.schema_only),
        roles: !options.no_roles,
        owners: !options.no_owner,
        privileges: !options.no_privileges,
    };
    let written = write(&mut shell, &options.names, form);
    drop(shell);
    let closed = database.close().map_err(Complaint::from);
    written.and(closed)
}

/// The tables and views that are not temporary.
fn lasting(connection: &Connection) -> (Vec<TableInfo>, Vec<ViewInfo>) {
    let (mut tables, mut views) = (connection.tables(), connection.views());
    tables.retain(|table| !table.is_temporary());
    views.retain(|view| !view.is_temporary());
    (tables, views)
}

/// Writes the tables and views of these names, or all of them. A dump that fails ends in ROLLBACK.
pub fn write(shell: &mut Shell, names: &[String], form: Form) -> Result<(), Complaint> {
    let connection = shell.embedded(
        ".dump",
        "pg_dump connects to the server, frazil dump reads its directory",
    )?;
    let database = connection.database();
    // Nobody writes what is salvaged.
    let may_change = database.is_read_only() && database.losses().is_empty();
    if !may_change || connection.in_transaction() {
        return write_now(shell, &connection, names, form);
    }
    connection.execute("begin isolation level repeatable read")?;
    let written = write_now(shell, &connection, names, form);
    let ended = connection.execute("rollback").map_err(Complaint::from);
    written.and(ended.map(drop))
}

/// Writes them as they are now.
fn write_now(
    shell: &mut Shell,
    connection: &Connection,
    names: &[String],
    form: Form,
) -> Result<(), Complaint> {
    let (tables, views) = lasting(connection);
    let wanted = sql_names(connection, names)?;
    let is_wanted = |name: String| names.is_empty() || wanted.contains(&name);
    let tables: Vec<&TableInfo> = tables.iter().filter(|t| is_wanted(t.sql_name())).collect();
    let views: Vec<&ViewInfo> = views.iter().filter(|v| is_wanted(v.sql_name())).collect();
    let schemas = needed_schemas(connection, names, &tables, &views);
    let enumerations = connection.enumerations();
    // A dump of some tables has what their columns need.
    let is_needed = |name: &String| {
        let shown = identifier(name);
        let mut columns = tables.iter().flat_map(|table| &table.schema.columns);
        names.is_empty() || columns.any(|c| c.ty.enumeration_within().is_some_and(|e| e.name() == shown))
    };
    // A damaged table is known by its name alone: what is told of it is all there is.
    let losses = connection.database().losses();
    let damaged = damaged_names(connection);
    let access = access_of(connection, names);
    on_one_thread(connection, || {
        let mut failed = None;
        shell.output.write(|out| {
            write_losses(out, losses.iter().filter(|loss| loss.table.is_none()))?;
            writeln!(out, "begin;")?;
            let mut roles = access.roles.iter().filter(|_| form.roles);
            roles.try_for_each(|role| writeln!(out, "{role}"))?;
            write_schemas(out, &schemas)?;
            for ty in enumerations.iter().filter(|ty| is_needed(&ty.name)) {
                writeln!(out, "{}", ty.ddl())?;
            }
            let domains = used_domains(connection, names, &tables);
            for domain in &domains {
                writeln!(out, "{}", domain.ddl())?;
            }
            let sequences = used_sequences(connection, names, &tables);
            for sequence in sequences.iter().filter_map(|sequence| sequence.ddl()) {
                writeln!(out, "{sequence}")?;
            }
            if let Err(complaint) = write_tables(out, connection, &tables, (&losses, &damaged), form.rows)? {
                failed = Some(complaint);
                // As sqlite3 ends a dump that is not whole.
                return writeln!(out, "rollback; -- the dump ends here because of an error");
            }
            for check in domains.iter().flat_map(|domain| domain.open_check_ddl()) {
                writeln!(out, "{check}")?;
            }
            let mut whole: Vec<&TableInfo> = tables.to_vec();
            whole.retain(|table| !damaged.contains(&table.name));
            write_behind_rows(out, &whole, losses.is_empty())?;
            write_positions(out, &sequences, form.rows.is_some())?;
            views.iter().try_for_each(|view| write_view(out, view))?;
            write_comments(out, connection, (names, &wanted), &whole, losses.is_empty())?;
            // A table that is left out has no owner.
            let left_out = |relation: &String| {
                !losses.is_empty() && whole.iter().all(|table| table.sql_name() != *relation)
            };
            let is_written = |of: &ObjectAccess| match &of.relation {
                Some(relation) if names.is_empty() => !left_out(relation),
                Some(relation) => wanted.contains(relation),
                None => names.is_empty(),
            };
            write_end(out, &access, form, is_written)
        })?;
        failed.map_or(Ok(()), Err)
    })
}

/// The roles and rights to write. A dump of some tables has no roles, defaults and settings.
fn access_of(connection: &Connection, names: &[String]) -> AccessInfo {
    let mut access = connection.access();
    if !names.is_empty() {
        (access.roles, access.defaults, access.settings) = Default::default();
    }
    access
}

/// Writes tables with their rows. Of tables that are damaged it tells the losses.
fn write_tables(
    out: &mut dyn Write,
    connection: &Connection,
    tables: &[&TableInfo],
    (losses, damaged): (&[Loss], &[String]),
    rows: Option<RowForm>,
) -> io::Result<Result<(), Complaint>> {
    for table in tables {
        let of_table = |loss: &&Loss| loss.table.as_ref() == Some(&table.name);
        write_losses(out, losses.iter().filter(of_table))?;
        if !losses.is_empty() && damaged.contains(&table.name) {
            continue;
        }
        writeln!(out, "{}", table.table_ddl())?;
        let written = match rows {
            Some(RowForm::Copy) => write_block(out, connection, table)?,
            Some(RowForm::Inserts) => write_inserts(out, connection, table)?,
            None => Ok(()),
        };
        if written.is_err() {
            return Ok(written);
        }
    }
    Ok(Ok(()))
}

/// Writes the end of a dump: owners and privileges, and behind COMMIT those of the database and its settings, because
/// the database may have another name where the dump is loaded.
fn write_end(
    out: &mut dyn Write,
    access: &AccessInfo,
    form: Form,
    is_written: impl Fn(&ObjectAccess) -> bool,
) -> io::Result<()> {
    write_access(out, access, form, |of| !of.is_database && is_written(of))?;
    for privilege in access.defaults.iter().filter(|_| form.privileges) {
        writeln!(out, "{privilege}")?;
    }
    writeln!(out, "commit;")?;
    write_access(out, access, form, |of| of.is_database && is_written(of))?;
    for setting in access.settings.iter().filter(|_| form.roles) {
        writeln!(out, "{setting}")?;
    }
    Ok(())
}

/// Writes the owners, and then the privileges, of some objects.
fn write_access(
    out: &mut dyn Write,
    access: &AccessInfo,
    form: Form,
    is_written: impl Fn(&ObjectAccess) -> bool,
) -> io::Result<()> {
    let objects: Vec<&ObjectAccess> = access.objects.iter().filter(|of| is_written(of)).collect();
    let owners = objects.iter().filter_map(|of| of.owner.as_ref());
    for owner in owners.filter(|_| form.owners) {
        writeln!(out, "{owner}")?;
    }
    let privileges = objects.iter().flat_map(|of| &of.privileges);
    for privilege in privileges.filter(|_| form.privileges) {
        writeln!(out, "{privilege}")?;
    }
    Ok(())
}

/// Writes a view, and the indexes of a materialized one.
fn write_view(out: &mut dyn Write, view: &ViewInfo) -> io::Result<()> {
    writeln!(out, "{}", view.ddl())?;
    let mut indexes = view.index_ddl().into_iter();
    indexes.try_for_each(|index| writeln!(out, "{index}"))
}

fn write_schemas(out: &mut dyn Write, schemas: &[String]) -> io::Result<()> {
    if !schemas.is_empty() {
        // Names without a schema are those of public, whatever path the reader has.
        writeln!(out, "set local search_path = public;")?;
    }
    for schema in schemas {
        writeln!(out, "create schema {};", identifier(schema))?;
    }
    Ok(())
}

/// The domains that a dump has: all, or those of the columns of some tables.
fn used_domains(connection: &Connection, names: &[String], tables: &[&TableInfo]) -> Vec<DomainInfo> {
    let mut domains = connection.domains();
    let is_used = |domain: &DomainInfo| {
        let mut used = tables.iter().flat_map(|table| table.domains.iter().flatten());
        used.any(|name| *name == domain.sql_name())
    };
    domains.retain(|domain| names.is_empty() || is_used(domain));
    domains
}

/// The sequences that a dump has: all, or those that the columns of some tables own or use.
fn used_sequences(connection: &Connection, names: &[String], tables: &[&TableInfo]) -> Vec<SequenceInfo> {
    let mut sequences = connection.sequences();
    let is_used = |sequence: &SequenceInfo| tables.iter().any(|table| sequence.is_used_by(table));
    sequences.retain(|s| !s.is_temporary() && (names.is_empty() || is_used(s)));
    sequences
}

/// Writes which columns own sequences, and where these stand.
fn write_positions(out: &mut dyn Write, sequences: &[SequenceInfo], has_rows: bool) -> io::Result<()> {
    for sequence in sequences {
        if let Some(owner) = sequence.owner_ddl() {
            writeln!(out, "{owner}")?;
        }
        if has_rows {
            writeln!(out, "{}", sequence.position_ddl())?;
        }
    }
    Ok(())
}

/// Writes the definitions that come when rows are there: indexes and, unless rows may be missing, foreign keys between
/// the tables.
fn write_behind_rows(out: &mut dyn Write, tables: &[&TableInfo], are_whole: bool) -> io::Result<()> {
    for index in tables.iter().flat_map(|table| table.index_ddl()) {
        writeln!(out, "{index}")?;
    }
    for key in tables.iter().flat_map(|table| table.repeated_key_ddl()) {
        writeln!(out, "{key}")?;
    }
    for check in tables.iter().flat_map(|table| table.open_check_ddl()) {
        writeln!(out, "{check}")?;
    }
    let is_written = |name: &str| are_whole && tables.iter().any(|table| table.sql_name() == name);
    for key in tables.iter().flat_map(|table| table.foreign_key_ddl(is_written)) {
        writeln!(out, "{key}")?;
    }
    Ok(())
}

/// Writes the comments that a dump has: all, or with names those on the tables and views that it writes. Where rows are
/// left out, tables and foreign keys may be, too: then only comments on `whole` tables are written.
fn write_comments(
    out: &mut dyn Write,
    connection: &Connection,
    (names, wanted): (&[String], &[String]),
    whole: &[&TableInfo],
    are_whole: bool,
) -> io::Result<()> {
    let whole: Vec<String> = whole.iter().map(|table| table.sql_name()).collect();
    let mut comments = connection.comments();
    comments.retain(|comment| match &comment.relation {
        _ if are_whole => names.is_empty() || comment.is_of(wanted),
        Some(_) => comment.is_of(&whole) && !comment.is_on_constraint(),
        None => names.is_empty(),
    });
    comments
        .iter()
        .try_for_each(|comment| writeln!(out, "{}", comment.ddl()))
}

/// The names of tables and views that a dump is asked for, as SQL text. 42P01 for a name that there is not.
fn sql_names(connection: &Connection, names: &[String]) -> Result<Vec<String>, Complaint> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        found.push(match connection.view(name) {
            Some(view) => view.sql_name(),
            None => connection.table(name)?.sql_name(),
        });
    }
    Ok(found)
}

/// The schemas that a dump makes: all but public, or with names those of the tables and views that it writes, with
/// those of their columns' types.
fn needed_schemas(
    connection: &Connection,
    names: &[String],
    tables: &[&TableInfo],
    views: &[&ViewInfo],
) -> Vec<String> {
    let mut schemas = connection.schemas();
    schemas.retain(|schema| schema != "public");
    if names.is_empty() {
        return schemas;
    }
    let types = connection
        .enumerations()
        .into_iter()
        .map(|ty| (ty.namespace, identifier(&ty.name)));
    let types: Vec<(String, String)> = types.collect();
    let domains = connection.domains();
    let has = |table: &TableInfo, schema: &String| {
        let columns = &table.schema.columns;
        let mut enumerations = columns.iter().filter_map(|c| c.ty.enumeration_within());
        let of_enumeration = enumerations.any(|e| types.iter().any(|ty| ty.0 == *schema && ty.1 == e.name()));
        let mut of_domains = table.domains.iter().flatten();
        of_enumeration
            || of_domains.any(|name| {
                domains
                    .iter()
                    .any(|d| d.namespace == *schema && d.sql_name() == *name)
            })
    };
    schemas.retain(|schema| {
        tables
            .iter()
            .any(|table| table.namespace == *schema || has(table, schema))
            || views.iter().any(|view| view.namespace == *schema)
    });
    schemas
}

/// Names of tables that could not be read when the directory was opened.
fn damaged_names(connection: &Connection) -> Vec<String> {
    let damaged = connection.database().damaged_tables();
    damaged
        .iter()
        .filter_map(|error| error.table().map(str::to_string))
        .collect()
}

/// Tells what is left out, each loss in a comment of its own line.
fn write_losses<'a>(out: &mut dyn Write, losses: impl Iterator<Item = &'a Loss>) -> io::Result<()> {
    for loss in losses {
        // A name may have any characters.
        writeln!(
            out,
            "-- left out: {}",
            loss.to_string().replace(['\n', '\r'], " ")
        )?;
    }
    Ok(())
}

/// Runs `work` while statements of the connection have one thread: several hand rows over in any order.
fn on_one_thread(
    connection: &Connection,
    work: impl FnOnce() -> Result<(), Complaint>,
) -> Result<(), Complaint> {
    let before = match connection.execute("show threads")?.outcome {
        Outcome::Rows(rows) => rows.raw().next().and_then(|row| row.into_iter().next()),
        Outcome::Command { .. } => None,
    };
    connection.execute("set threads = 1")?;
    let done = work();
    if let Some(Value::Text(threads)) = before {
        connection.execute(&format!("set threads = {threads}"))?;
    }
    done
}

/// Writes the rows of a table as a COPY block; nothing if there are none.
fn write_block(
    out: &mut dyn Write,
    connection: &Connection,
    table: &TableInfo,
) -> io::Result<Result<(), Complaint>> {
    let columns = given_columns(table);
    let name = format!("{} ({})", table.sql_name(), columns.join(", "));
    let mut block = Block {
        out,
        head: Some(format!("copy {name} from stdin;\n")),
        failed: None,
        last: b'\n',
    };
    let result = interrupt::cancelling(connection.canceler(), || {
        connection.execute_copy(&format!("copy {name} to stdout"), &mut block)
    });
    block.finish()?;
    Ok(result.map(drop).map_err(Complaint::from))
}

/// Takes the rows of a COPY block and writes what is around them.
struct Block<'a> {
    out: &'a mut dyn Write,
    /// The line in front of the first row, until a row comes.
    head: Option<String>,
    /// The error of the first write that failed.
    failed: Option<io::Error>,
    /// The last byte that was written.
    last: u8,
}

impl Block<'_> {
    /// Ends the block if it has begun. A row that was cut off by an error gets an end of its line, so that the mark
    /// behind the block is a line of its own.
    fn finish(self) -> io::Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        match (self.head, self.last) {
            (Some(_), _) => Ok(()),
            (None, b'\n') => writeln!(self.out, "\\."),
            (None, _) => writeln!(self.out, "\n\\."),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(head) = self.head.take_if(|_| !bytes.is_empty()) {
            self.out.write_all(head.as_bytes())?;
        }
        self.last = bytes.last().copied().unwrap_or(self.last);
        self.out.write_all(bytes)
    }
}

impl Write for Block<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let put = self.put(bytes);
        put.inspect_err(|error| self.failed = Some(error.kind().into()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl CopyStreams for Block<'_> {
    fn input(&mut self) -> Box<dyn Read + Send> {
        Box::new(io::empty())
    }

    fn output(&mut self) -> &mut dyn Write {
        self
    }
}

/// The names of the columns whose values a dump has: all but the generated ones.
fn given_columns(table: &TableInfo) -> Vec<String> {
    let given = table.schema.columns.iter().filter(|c| !c.is_generated());
    given.map(|c| identifier(&c.name)).collect()
}

/// Writes the rows of a table as an INSERT each.
fn write_inserts(
    out: &mut dyn Write,
    connection: &Connection,
    table: &TableInfo,
) -> io::Result<Result<(), Complaint>> {
    let name = table.sql_name();
    let is_identity = |c: &ColumnDef| matches!(c.default, Some(ColumnDefault::Identity { always: true, .. }));
    let overriding = match table.schema.columns.iter().any(is_identity) {
        true => " overriding system value",
        false => "",
    };
    let columns = given_columns(table);
    let (listed, selected) = match columns.len() < table.schema.columns.len() {
        true => (format!(" ({})", columns.join(", ")), columns.join(", ")),
        false => (String::new(), "*".to_string()),
    };
    let display = Display {
        mode: Mode::Insert,
        headers: false,
        table: format!("{name}{listed}{overriding}"),
        ..Display::default()
    };
    let begun = AtomicBool::new(false);
    let mut streamed = Streamed::new(out, &display, &begun);
    let text = format!("select {selected} from {name}");
    let result = interrupt::cancelling(connection.canceler(), || {
        connection.execute_into(&text, (), &mut streamed)
    });
    streamed.finish(result.is_ok())?;
    Ok(result.map(drop).map_err(Complaint::from))
}
