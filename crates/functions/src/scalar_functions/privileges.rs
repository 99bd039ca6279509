//! `has_…_privilege` and `pg_has_role`: what a role may do, by the statement's catalog.
//!
//! A role and an object are a name or an oid. A name of nothing is an error, an oid of nothing gives NULL. The last
//! argument lists privileges: the answer is true if the role has one of them.

use crate::built_in::{self, element_of, kind_of};
use crate::function::{Function, asking, functions};
use crate::named_oids::{missing, missing_object, oid_of_type};
use crate::session_catalog::{Asked, AskedColumn, SessionCatalog, catalog_of};
use crate::type_rules::Kind::{Boolean, Oid, SmallInt, Text};
use crate::vector::{Output, Row};
use frazil_catalog::{Catalog, Guarded, GuardedKind, Rights, RoleId, WrittenName};
use frazil_types::{Error, ObjectId, Result, SqlState};
use std::sync::Arc;

/// A privilege of a list, in upper case, and its right.
type Words = &'static [(&'static str, Rights)];

const OF_COLUMNS: Words = &[
    ("SELECT", Rights::SELECT),
    ("INSERT", Rights::INSERT),
    ("UPDATE", Rights::UPDATE),
    ("REFERENCES", Rights::REFERENCES),
];

/// RULE is PostgreSQL's word of old for a right that no role has.
const OF_TABLES: Words = &[
    ("SELECT", Rights::SELECT),
    ("INSERT", Rights::INSERT),
    ("UPDATE", Rights::UPDATE),
    ("DELETE", Rights::DELETE),
    ("TRUNCATE", Rights::TRUNCATE),
    ("REFERENCES", Rights::REFERENCES),
    ("TRIGGER", Rights::TRIGGER),
    ("RULE", Rights::NONE),
];

const OF_SEQUENCES: Words = &[
    ("USAGE", Rights::USAGE),
    ("SELECT", Rights::SELECT),
    ("UPDATE", Rights::UPDATE),
];

const OF_DATABASES: Words = &[
    ("CREATE", Rights::CREATE),
    ("TEMPORARY", Rights::TEMPORARY),
    ("TEMP", Rights::TEMPORARY),
    ("CONNECT", Rights::CONNECT),
];

const OF_SCHEMAS: Words = &[("CREATE", Rights::CREATE), ("USAGE", Rights::USAGE)];
const OF_SETTINGS: Words = &[("SET", Rights::SET), ("ALTER SYSTEM", Rights::ALTER_SYSTEM)];
const CREATE: Words = &[("CREATE", Rights::CREATE)];
const EXECUTE: Words = &[("EXECUTE", Rights::EXECUTE)];
const USAGE: Words = &[("USAGE", Rights::USAGE)];

/// The purpose of a membership: to have its privileges, or to be a member.
const OF_ROLES: Words = &[("USAGE", Rights::USAGE), ("MEMBER", Rights::CREATE)];

/// Rights that are asked for, and rights whose grant option is asked for.
#[derive(Clone, Copy)]
struct Wanted {
    rights: Rights,
    grantable: Rights,
}

/// The rights that a list of privileges asks for. 22023 for a word that is not among `words`.
fn wanted(list: &str, words: Words, options: &[&str]) -> Result<Wanted> {
    let mut all = Wanted {
        rights: Rights::NONE,
        grantable: Rights::NONE,
    };
    for word in list.split(',').map(str::trim) {
        let upper = word.to_ascii_uppercase();
        let plain = options.iter().find_map(|option| upper.strip_suffix(option));
        let found = words.iter().find(|known| known.0 == plain.unwrap_or(&upper));
        match (found, plain) {
            (Some((_, right)), None) => all.rights = all.rights | *right,
            (Some((_, right)), Some(_)) => all.grantable = all.grantable | *right,
            (None, _) => {
                let message = format!("unrecognized privilege type: \"{word}\"");
                return Err(Error::new(SqlState::INVALID_PARAMETER, message));
            }
        }
    }
    Ok(all)
}

const GRANT_OPTION: &[&str] = &[" WITH GRANT OPTION"];

/// An object whose rights are asked for.
enum Target {
    /// An object of the catalog.
    Object(Guarded),
    /// A column, and the table or view that it is in.
    Column(Guarded, Guarded),
    /// A table or view, or any of its columns.
    AnyColumn(ObjectId),
    /// An object of the system, which belongs to the first superuser, with the rights of PUBLIC.
    System(Rights),
}

/// A call: its row, the catalog, and the role that is asked about.
struct Call<'a, 'r> {
    row: &'a Row<'r>,
    session: Arc<dyn SessionCatalog>,
    role: RoleId,
    /// Position of the argument that is the object.
    at: usize,
    /// Position of the list of privileges.
    list: usize,
}

impl<'a, 'r> Call<'a, 'r> {
    /// Reads the role of a call whose object has some arguments: the first argument if there is one more, else the
    /// current role. 42704.
    fn of(row: &'a Row<'r>, objects: usize) -> Result<Call<'a, 'r>> {
        let session = catalog_of(row)?;
        // The last argument is the number of the catalog.
        let list = row.arguments() - 2;
        let role = match list > objects {
            false => session.role(),
            true => match role_at(row, 0, session.catalog()) {
                Err(_) if row.text(0) == "public" => RoleId::PUBLIC,
                role => role?,
            },
        };
        Ok(Call {
            row,
            session,
            role,
            at: list - objects,
            list,
        })
    }

    fn catalog(&self) -> &Catalog {
        self.session.catalog()
    }

    /// The text that names the object; `None` if an oid does.
    fn name(&self) -> Option<&'a str> {
        let row = self.row;
        row.ty(self.at).is_string().then(|| row.text(self.at))
    }

    /// The oid that an argument gives.
    fn oid(&self) -> u32 {
        u32::try_from(self.row.int(self.at)).unwrap_or(0)
    }

    fn wanted(&self, words: Words) -> Result<Wanted> {
        wanted(self.row.text(self.list), words, GRANT_OPTION)
    }

    /// The oid of the relation, `None` for an oid of nothing. 42P01, 3F000, 42501 for a schema without USAGE.
    fn relation(&self) -> Result<Option<u32>> {
        let Some(text) = self.name() else {
            return Ok(Some(self.oid()).filter(|oid| self.session.answer(Asked::Relation, *oid).is_some()));
        };
        let written = WrittenName::read(text);
        let schema = written
            .schema
            .as_ref()
            .and_then(|name| self.catalog().schema(name));
        if let Some(schema) = schema {
            let role = self.session.role();
            self.catalog()
                .check_rights(role, Guarded::Object(schema.id), Rights::USAGE)?;
        }
        match self.session.find(Asked::Relation, text) {
            Some(oid) => Ok(Some(oid)),
            None => Err(missing_object(Asked::Relation, self.row, text)?),
        }
    }

    /// The object of an oid that the catalog or the system has.
    fn target_of(&self, oid: u32, of_public: impl FnOnce() -> Rights) -> Target {
        match ObjectId::of_oid(oid) {
            Some(id) => Target::Object(Guarded::Object(id)),
            None => Target::System(of_public()),
        }
    }

    /// True if the role has one of the rights.
    fn holds(&self, target: &Target, wanted: Wanted) -> bool {
        let (catalog, role) = (self.catalog(), self.role);
        let on = |of: Guarded| {
            if catalog.guarded_kind(of) == Some(GuardedKind::Index) {
                let owns = catalog.access().has_privileges_of(role, catalog.owner_of(of));
                return owns && !(wanted.rights | wanted.grantable).is_empty();
            }
            catalog.rights(role, of).has_any(wanted.rights)
                || !wanted.grantable.is_empty()
                    && catalog.grantable_rights(role, of).has_any(wanted.grantable)
        };
        match *target {
            Target::Object(of) => on(of),
            Target::Column(column, table) => on(column) || on(table),
            Target::AnyColumn(table) => {
                let columns = catalog.access().acls.keys().copied();
                let mut columns = columns.filter(|of| matches!(of, Guarded::Column(id, _) if *id == table));
                on(Guarded::Object(table)) || columns.any(on)
            }
            Target::System(of_public) => {
                let is_superuser = catalog.access().is_superuser(role);
                let all = wanted.rights | wanted.grantable;
                is_superuser && !all.is_empty() || of_public.has_any(wanted.rights)
            }
        }
    }

    /// Answers the call; NULL without an object.
    fn give(&self, target: Option<&Target>, wanted: Wanted, out: &mut Output<'_>) -> Result<()> {
        match target {
            Some(target) => out.bool(self.holds(target, wanted)),
            None => out.null(),
        }
    }

    /// The relation of an oid. `pg_read_all_data` reads those of the system, too.
    fn relation_of(&self, oid: u32) -> Target {
        self.target_of(oid, || {
            let name = self.session.answer(Asked::Relation, oid).unwrap_or_default();
            let is_secret = SECRET.contains(&name.as_str());
            let reads_all = || {
                self.catalog()
                    .access()
                    .has_privileges_of(self.role, RoleId::READ_ALL_DATA)
            };
            match name.as_str() {
                "pg_settings" => Rights::SELECT | Rights::UPDATE,
                _ if !is_secret || reads_all() => Rights::SELECT,
                _ => Rights::NONE,
            }
        })
    }
}

/// Relations of `pg_catalog` that PUBLIC does not read.
const SECRET: &[&str] = &[
    "pg_authid",
    "pg_backend_memory_contexts",
    "pg_config",
    "pg_file_settings",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_largeobject",
    "pg_replication_origin_status",
    "pg_shadow",
    "pg_shmem_allocations",
    "pg_statistic",
    "pg_statistic_ext_data",
    "pg_user_mapping",
];

/// The role that an argument names or numbers. 42704 for a name of nothing.
fn role_at(row: &Row<'_>, at: usize, catalog: &Catalog) -> Result<RoleId> {
    match row.ty(at).is_string() {
        true => Ok(catalog.access().find_role(row.text(at))?.id),
        false => Ok(RoleId(u32::try_from(row.int(at)).unwrap_or(u32::MAX))),
    }
}

fn table(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let call = Call::of(row, 1)?;
    let oid = call.relation()?;
    let wanted = call.wanted(OF_TABLES)?;
    call.give(oid.map(|oid| call.relation_of(oid)).as_ref(), wanted, out)
}

/// 42809 for a relation that is not a sequence.
fn sequence(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let call = Call::of(row, 1)?;
    let wanted = call.wanted(OF_SEQUENCES)?;
    let Some(oid) = call.relation()? else {
        return out.null();
    };
    if call.session.answer(Asked::Sequence, oid).is_none() {
        let shown = call.session.answer(Asked::Relation, oid).unwrap_or_default();
        let name = call
            .name()
            .map_or_else(|| WrittenName::read(&shown).name, str::to_owned);
        let message = format!("\"{name}\" is not a sequence");
        return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
    }
    call.give(Some(&call.relation_of(oid)), wanted, out)
}

fn any_column(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let call = Call::of(row, 1)?;
    let oid = call.relation()?;
    let wanted = call.wanted(OF_COLUMNS)?;
    let target = oid.map(|oid| match ObjectId::of_oid(oid) {
        Some(id) => Target::AnyColumn(id),
        None => call.relation_of(oid),
    });
    call.give(target.as_ref(), wanted, out)
}

/// NULL for a number that no column has. 42703 for a name that no column has.
fn column(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let call = Call::of(row, 2)?;
    let oid = call.relation()?;
    let at = call.at + 1;
    let asked = match row.ty(at).is_string() {
        true => AskedColumn::Named(row.text(at)),
        false => AskedColumn::Numbered(row.int(at)),
    };
    let found = oid.and_then(|oid| call.session.column(oid, asked));
    if let (Some(oid), None, AskedColumn::Named(name)) = (oid, found, asked) {
        let relation = call.session.answer(Asked::Relation, oid).unwrap_or_default();
        let relation = WrittenName::read(&relation).name;
        let message = format!("column \"{name}\" of relation \"{relation}\" does not exist");
        return Err(Error::new(SqlState::UNDEFINED_COLUMN, message));
    }
    let wanted = call.wanted(OF_COLUMNS)?;
    let target = oid
        .zip(found)
        .map(|(oid, own)| match (own, call.relation_of(oid)) {
            (Some(own), Target::Object(relation)) => Target::Column(own, relation),
            (_, relation) => relation,
        });
    call.give(target.as_ref(), wanted, out)
}

/// The call of an object that a question finds by its name as it is written, or by its oid. `state` and `what` say what
/// is missing.
fn named(
    row: &Row<'_>,
    (asked, words): (Asked, Words),
    (state, what): (&'static str, &str),
    of_public: Rights,
    out: &mut Output<'_>,
) -> Result<()> {
    let call = Call::of(row, 1)?;
    let oid = match call.name() {
        None => Some(call.oid()).filter(|oid| call.session.answer(asked, *oid).is_some()),
        Some(name) => {
            let quoted = format!("\"{}\"", name.replace('"', "\"\""));
            let found = call.session.find(asked, &quoted);
            Some(found.ok_or_else(|| missing(state, what, name))?)
        }
    };
    let wanted = call.wanted(words)?;
    let target = oid.map(|oid| match asked {
        Asked::Database => Target::Object(Guarded::Database),
        Asked::Schema if oid == frazil_catalog::SchemaEntry::PUBLIC_ID.oid() => {
            Target::Object(Guarded::Object(frazil_catalog::SchemaEntry::PUBLIC_ID))
        }
        _ => call.target_of(oid, || of_public),
    });
    call.give(target.as_ref(), wanted, out)
}

fn database(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let missing = ("3D000", "database");
    named(row, (Asked::Database, OF_DATABASES), missing, Rights::NONE, out)
}

fn schema(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    named(
        row,
        (Asked::Schema, OF_SCHEMAS),
        ("3F000", "schema"),
        Rights::USAGE,
        out,
    )
}

fn type_of(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let call = Call::of(row, 1)?;
    let oid = match call.name() {
        Some(name) => oid_of_type(row, name)?,
        None => call.oid(),
    };
    let wanted = call.wanted(USAGE)?;
    let number = i64::from(oid);
    let is_built_in = kind_of(number).is_some() || element_of(number).is_some();
    // The arrays of a type have its privileges.
    let element = ObjectId::of_array_oid(oid).or_else(|| ObjectId::of_oid(oid));
    let target = match element.filter(|_| call.session.answer(Asked::Type, oid).is_some()) {
        _ if is_built_in => Some(Target::System(Rights::USAGE)),
        Some(id) => Some(Target::Object(Guarded::Object(id))),
        None => None,
    };
    call.give(target.as_ref(), wanted, out)
}

/// `has_function_privilege`. `is_there` looks for a function by its name and argument types. 42883, and the errors of
/// `is_there`.
pub(crate) fn function_privilege(
    row: &Row<'_>,
    is_there: fn(&str) -> Result<bool>,
    out: &mut Output<'_>,
) -> Result<()> {
    let call = Call::of(row, 1)?;
    if let Some(name) = call.name()
        && !is_there(name)?
    {
        return Err(missing("42883", "function", name));
    }
    let wanted = call.wanted(EXECUTE)?;
    let is_there = call.name().is_some() || built_in::function_of(call.oid()).is_some();
    let target = is_there.then_some(Target::System(Rights::EXECUTE));
    call.give(target.as_ref(), wanted, out)
}

/// The call of an object of the system that has one of some names and oids.
fn object_of_the_system(
    row: &Row<'_>,
    all: &[(&str, u32)],
    what: &str,
    (words, of_public): (Words, Rights),
    out: &mut Output<'_>,
) -> Result<()> {
    let call = Call::of(row, 1)?;
    let is_there = match call.name() {
        Some(name) if !all.iter().any(|known| known.0 == name) => {
            return Err(missing("42704", what, name));
        }
        Some(_) => true,
        None => all.iter().any(|known| known.1 == call.oid()),
    };
    let wanted = call.wanted(words)?;
    call.give(is_there.then_some(&Target::System(of_public)), wanted, out)
}

fn language(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let all = [("internal", 12), ("sql", 14)];
    object_of_the_system(row, &all, "language", (USAGE, Rights::USAGE), out)
}

fn tablespace(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let all = [("pg_default", 1663), ("pg_global", 1664)];
    object_of_the_system(row, &all, "tablespace", (CREATE, Rights::NONE), out)
}

fn server(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    object_of_the_system(row, &[], "server", (USAGE, Rights::NONE), out)
}

fn foreign_data_wrapper(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    object_of_the_system(row, &[], "foreign-data wrapper", (USAGE, Rights::NONE), out)
}

/// A setting of any name: superusers alone have privileges, which nobody can grant.
fn parameter(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let call = Call::of(row, 1)?;
    let wanted = call.wanted(OF_SETTINGS)?;
    call.give(Some(&Target::System(Rights::NONE)), wanted, out)
}

/// `pg_has_role`. 42704, 22023.
fn has_role(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let session = catalog_of(row)?;
    let (catalog, list) = (session.catalog(), row.arguments() - 2);
    let member = match list {
        2.. => role_at(row, 0, catalog)?,
        _ => session.role(),
    };
    let role = role_at(row, list - 1, catalog)?;
    let options = [" WITH GRANT OPTION", " WITH ADMIN OPTION"];
    let wanted = wanted(row.text(list), OF_ROLES, &options)?;
    let access = catalog.access();
    let is_member = wanted.rights.has(Rights::CREATE) && access.is_member(member, role);
    let inherits = wanted.rights.has(Rights::USAGE) && access.has_privileges_of(member, role);
    let is_admin = !wanted.grantable.is_empty() && access.is_admin(member, role);
    out.bool(is_member || inherits || is_admin)
}

/// The ways to call a function of an object: role and object are names or oids, and the role can be left out.
macro_rules! of_object {
    ($run:expr) => {
        [
            asking(&[Text, Text], $run, Boolean),
            asking(&[Oid, Text], $run, Boolean),
            asking(&[Text, Text, Text], $run, Boolean),
            asking(&[Text, Oid, Text], $run, Boolean),
            asking(&[Oid, Text, Text], $run, Boolean),
            asking(&[Oid, Oid, Text], $run, Boolean),
        ]
    };
}

pub(crate) use of_object;

pub(crate) const FUNCTIONS: &[Function] = functions! {
    "has_any_column_privilege", of_object!(any_column),
        "true if a role, or the current one, has one of some privileges on a table or view or on a column of it";
    "has_column_privilege", [
        asking(&[Text, Text, Text], column, Boolean),
        asking(&[Text, SmallInt, Text], column, Boolean),
        asking(&[Oid, Text, Text], column, Boolean),
        asking(&[Oid, SmallInt, Text], column, Boolean),
        asking(&[Text, Text, Text, Text], column, Boolean),
        asking(&[Text, Text, SmallInt, Text], column, Boolean),
        asking(&[Text, Oid, Text, Text], column, Boolean),
        asking(&[Text, Oid, SmallInt, Text], column, Boolean),
        asking(&[Oid, Text, Text, Text], column, Boolean),
        asking(&[Oid, Text, SmallInt, Text], column, Boolean),
        asking(&[Oid, Oid, Text, Text], column, Boolean),
        asking(&[Oid, Oid, SmallInt, Text], column, Boolean),
    ], "true if a role, or the current one, has one of some privileges on a column";
    "has_database_privilege", of_object!(database),
        "true if a role, or the current one, has one of some privileges on the database";
    "has_foreign_data_wrapper_privilege", of_object!(foreign_data_wrapper),
        "error 42704: there are no foreign-data wrappers";
    "has_language_privilege", of_object!(language), "true for USAGE of `internal` and `sql`";
    "has_parameter_privilege", [
        asking(&[Text, Text], parameter, Boolean),
        asking(&[Text, Text, Text], parameter, Boolean),
        asking(&[Oid, Text, Text], parameter, Boolean),
    ], "true for superusers: nobody else has privileges on settings";
    "has_schema_privilege", of_object!(schema),
        "true if a role, or the current one, has one of some privileges on a schema";
    "has_sequence_privilege", of_object!(sequence),
        "true if a role, or the current one, has one of some privileges on a sequence";
    "has_server_privilege", of_object!(server), "error 42704: there are no servers";
    "has_table_privilege", of_object!(table),
        "true if a role, or the current one, has one of some privileges on a table or view";
    "has_tablespace_privilege", of_object!(tablespace),
        "true for superusers and `pg_default`, the database's directory";
    "has_type_privilege", of_object!(type_of), "true if a role, or the current one, has USAGE of a type";
    "pg_has_role", of_object!(has_role),
        "true if a role, or the current one, is a member of another one (MEMBER) or has its privileges (USAGE)";
};
