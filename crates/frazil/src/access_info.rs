//! Roles, owners and privileges as the statements that make them: CREATE ROLE, OWNER TO, GRANT and their like.
//!
//! The privileges of an object are told as the difference to those that it has when it is new and has got its owner. A
//! superuser who runs the statements grants as the owner; what others granted is granted in sessions of these.

use crate::connection::Connection;
use frazil_catalog::{
    Acl, AclItem, Catalog, DefaultsOf, Guarded, GuardedKind, Role, RoleId, SchemaEntry, identifier,
};
use frazil_catalog::{Right, Rights};
use frazil_types::date::write_instant;
use frazil_types::{Zone, session_settings};

/// The roles, owners and privileges of a database.
#[derive(Clone, Debug, Default)]
pub struct AccessInfo {
    /// The roles that statements made, their attributes, memberships and settings.
    pub roles: Vec<String>,
    /// The objects whose owners or privileges are not those of new ones: schemas first, the database last.
    pub objects: Vec<ObjectAccess>,
    /// ALTER DEFAULT PRIVILEGES.
    pub defaults: Vec<String>,
    /// The settings of the database.
    pub settings: Vec<String>,
}

/// The owner and the privileges of an object, or the privileges of a column.
#[derive(Clone, Debug)]
pub struct ObjectAccess {
    /// The table, view or sequence that the object is or belongs to, as SQL; `None` for other objects.
    pub relation: Option<String>,
    /// True for the database.
    pub is_database: bool,
    /// The statement that gives it to its owner; `None` if it belongs to the owner of new objects.
    pub owner: Option<String>,
    /// The statements that give and take privileges.
    pub privileges: Vec<String>,
}

/// The words of statements about one list of privileges: `grant … on table t to …`.
struct Words<'a> {
    catalog: &'a Catalog,
    /// Text before GRANT and REVOKE.
    before: String,
    /// Text between the rights and TO or FROM.
    on: String,
    /// The column in parentheses behind each right.
    column: String,
    /// All rights that there are.
    all: Rights,
}

impl Words<'_> {
    fn rights(&self, rights: Rights) -> String {
        if rights == self.all {
            return format!("all{}", self.column);
        }
        let words = Rights::ALL.iter().filter(|right| rights.has(right.rights));
        let words: Vec<String> = words
            .map(|right: &Right| format!("{}{}", right.word, self.column))
            .collect();
        words.join(", ")
    }

    fn role(&self, role: RoleId) -> String {
        role_sql(self.catalog, role)
    }

    fn revoke(&self, rights: Rights, from: RoleId) -> String {
        let (rights, from) = (self.rights(rights), self.role(from));
        format!("{}revoke {rights}{} from {from};", self.before, self.on)
    }

    fn grant(&self, rights: Rights, to: RoleId, option: &str) -> String {
        let (rights, to) = (self.rights(rights), self.role(to));
        format!("{}grant {rights}{} to {to}{option};", self.before, self.on)
    }

    /// The statements that make a list of another one. `owner` grants where an item does not say otherwise.
    fn difference(&self, base: &Acl, acl: &Acl, owner: RoleId) -> Vec<String> {
        let same = |list: &Acl, item: &AclItem| {
            let found = list
                .0
                .iter()
                .find(|known| known.grantee == item.grantee && known.grantor == item.grantor);
            found.copied().unwrap_or(AclItem {
                rights: Rights::NONE,
                grantable: Rights::NONE,
                ..*item
            })
        };
        let mut statements = Vec::new();
        for item in &base.0 {
            let lost = item.rights.without(same(acl, item).rights);
            if !lost.is_empty() {
                statements.push(self.revoke(lost, item.grantee));
            }
        }
        for item in &acl.0 {
            let known = same(base, item);
            let further = item.grantable.without(known.grantable);
            let plain = item.rights.without(known.rights | further);
            let mut grants = Vec::new();
            if !plain.is_empty() {
                grants.push(self.grant(plain, item.grantee, ""));
            }
            if !further.is_empty() {
                grants.push(self.grant(further, item.grantee, " with grant option"));
            }
            if item.grantor != owner && !grants.is_empty() {
                let grantor = self.role(item.grantor);
                grants.insert(0, format!("set session authorization {grantor};"));
                grants.push("reset session authorization;".to_owned());
            }
            statements.extend(grants);
        }
        statements
    }
}

/// A role in a statement.
fn role_sql(catalog: &Catalog, role: RoleId) -> String {
    match role {
        RoleId::PUBLIC => "public".to_owned(),
        role => identifier(&catalog.access().role_name(role)),
    }
}

/// A text as SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The options of a role that are not the given ones of a new role.
fn options(role: &Role) -> String {
    let attributes = role.attributes;
    let is_first = role.id == RoleId::SUPERUSER;
    let flags = [
        (attributes.is_superuser, is_first, "superuser"),
        (attributes.inherits, true, "inherit"),
        (attributes.creates_roles, is_first, "createrole"),
        (attributes.creates_databases, is_first, "createdb"),
        (attributes.can_log_in, is_first, "login"),
        (attributes.replicates, is_first, "replication"),
        (attributes.bypasses_rls, is_first, "bypassrls"),
    ];
    let changed = flags.iter().filter(|(has, by_default, _)| has != by_default);
    let mut options: String = changed
        .map(|(has, _, word)| format!(" {}{word}", if *has { "" } else { "no" }))
        .collect();
    if role.connection_limit != -1 {
        options += &format!(" connection limit {}", role.connection_limit);
    }
    if let Some(verifier) = &role.verifier {
        options += &format!(" password {}", quoted(verifier));
    }
    if let Some(micros) = role.valid_until {
        let mut until = String::new();
        // A String takes every text.
        let _ = write_instant(&mut until, micros, Zone::UTC);
        options += &format!(" valid until {}", quoted(&until));
    }
    options
}

/// The statements that make the roles and their memberships.
fn roles(catalog: &Catalog) -> Vec<String> {
    let (access, initial) = (catalog.access(), frazil_catalog::AccessRules::initial());
    let mut statements = Vec::new();
    for role in access.roles.values() {
        let name = identifier(&role.name);
        match (role.id.is_predefined(), options(role)) {
            (false, options) => statements.push(format!("create role {name}{options};")),
            (true, options) if !options.is_empty() && role.id == RoleId::SUPERUSER => {
                statements.push(format!("alter role {name}{options};"));
            }
            (true, _) => {}
        }
    }
    for ((role, member), membership) in &access.members {
        if initial.members.contains_key(&(*role, *member)) {
            continue;
        }
        let admin = if membership.is_admin {
            " with admin option"
        } else {
            ""
        };
        let by = match membership.grantor {
            RoleId::SUPERUSER => String::new(),
            grantor => format!(" granted by {}", role_sql(catalog, grantor)),
        };
        let (role, member) = (role_sql(catalog, *role), role_sql(catalog, *member));
        statements.push(format!("grant {role} to {member}{admin}{by};"));
    }
    statements.extend(settings(catalog, false));
    statements
}

/// The statements that make the settings with which sessions begin: of the database, or of roles in every database.
fn settings(catalog: &Catalog, in_database: bool) -> Vec<String> {
    let all = catalog.access().settings.iter();
    let statements = all
        .filter(|(of, _)| of.in_database == in_database)
        .flat_map(|(of, list)| {
            let database = identifier(&session_settings::database());
            let sessions = match (of.role, in_database) {
                (RoleId::PUBLIC, true) => format!("database {database}"),
                (RoleId::PUBLIC, false) => "role all".to_owned(),
                (role, true) => format!("role {} in database {database}", role_sql(catalog, role)),
                (role, false) => format!("role {}", role_sql(catalog, role)),
            };
            let statement = move |(name, value): &(String, String)| {
                // The path is a list of names.
                let value = if name == "search_path" {
                    value.clone()
                } else {
                    quoted(value)
                };
                format!("alter {sessions} set {name} to {value};")
            };
            list.iter().map(statement)
        });
    statements.collect()
}

/// The object in GRANT: a table for every relation with columns.
fn granted(catalog: &Catalog, of: Guarded) -> Option<String> {
    let has_columns = catalog.guarded_kind(of)?.has_columns();
    match has_columns {
        true => Some(format!("table {}", catalog.commented_relation(of)?)),
        false => catalog.comment_words(of),
    }
}

/// The privileges of an object that nobody changed.
fn of_new(catalog: &Catalog, of: Guarded, kind: GuardedKind) -> Acl {
    let acl = catalog.acl_of_new(kind, catalog.owner_of(of));
    if of != Guarded::Object(SchemaEntry::PUBLIC_ID) {
        return acl;
    }
    // Everybody finds names in the first schema `public`.
    let usage = AclItem {
        grantee: RoleId::PUBLIC,
        grantor: catalog.owner_of(of),
        rights: Rights::USAGE,
        grantable: Rights::NONE,
    };
    Acl(acl.0.into_iter().chain([usage]).collect())
}

fn object(catalog: &Catalog, of: Guarded) -> Option<ObjectAccess> {
    let kind = catalog.guarded_kind(of)?;
    let owner = catalog.owner_of(of);
    let (on, column) = match of {
        Guarded::Column(table, _) => {
            let name = identifier(&catalog.column_of_key(of)?);
            (granted(catalog, Guarded::Object(table))?, format!(" ({name})"))
        }
        Guarded::Database | Guarded::Object(_) => (granted(catalog, of)?, String::new()),
    };
    let words = Words {
        catalog,
        before: String::new(),
        on: format!(" on {on}"),
        column,
        all: kind.rights(),
    };
    let stored = catalog.stored_acl(of);
    let privileges = stored.map(|acl| words.difference(&of_new(catalog, of, kind), &acl, owner));
    let is_given = catalog.access().owners.contains_key(&of);
    let owned = is_given.then(|| catalog.comment_words(of)).flatten();
    Some(ObjectAccess {
        relation: match of {
            Guarded::Column(table, _) => catalog.commented_relation(Guarded::Object(table)),
            Guarded::Database | Guarded::Object(_) => catalog.commented_relation(of),
        },
        is_database: of == Guarded::Database,
        owner: owned.map(|object| format!("alter {object} owner to {};", role_sql(catalog, owner))),
        privileges: privileges.unwrap_or_default(),
    })
}

/// The statements that make the default privileges of one role for one kind of objects.
fn defaults(catalog: &Catalog, of: &DefaultsOf, acl: &Acl) -> Option<Vec<String>> {
    let kind = of.kind.kind();
    let schema = match of.schema {
        Some(schema) => format!(
            " in schema {}",
            identifier(&catalog.guarded_name(Guarded::Object(schema)))
        ),
        None => String::new(),
    };
    let objects = match of.kind.words() {
        "relations" => "tables",
        words => words,
    };
    let words = Words {
        catalog,
        before: format!(
            "alter default privileges for role {}{schema} ",
            role_sql(catalog, of.role)
        ),
        on: format!(" on {objects}"),
        column: String::new(),
        all: kind.rights(),
    };
    let base = match of.schema {
        Some(_) => Acl::default(),
        None => catalog.acl_of_new(kind, of.role),
    };
    Some(words.difference(&base, acl, of.role))
}

impl AccessInfo {
    fn of(catalog: &Catalog) -> AccessInfo {
        let access = catalog.current_access();
        let mut all: Vec<Guarded> = access.owners.keys().chain(access.acls.keys()).copied().collect();
        let place = |of: &Guarded| match (of, catalog.guarded_kind(*of)) {
            (_, Some(GuardedKind::Schema)) => 0,
            (Guarded::Object(_), _) => 1,
            (Guarded::Column(..), _) => 2,
            (Guarded::Database, _) => 3,
        };
        all.retain(|of| !of.is_temporary());
        // Ids are others when the statements have run.
        all.sort_by_key(|of| (place(of), catalog.comment_words(*of), *of));
        all.dedup();
        let defaults = access
            .defaults
            .iter()
            .filter_map(|(of, acl)| defaults(catalog, of, acl));
        AccessInfo {
            roles: roles(catalog),
            objects: all.into_iter().filter_map(|of| object(catalog, of)).collect(),
            defaults: defaults.flatten().collect(),
            settings: settings(catalog, true),
        }
    }
}

impl Connection {
    /// The roles, owners and privileges of the database, without those of temporary objects.
    pub fn access(&self) -> AccessInfo {
        AccessInfo::of(&self.session().snapshot().catalog().lasting())
    }
}
