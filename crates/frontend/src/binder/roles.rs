//! Statements about roles, and the roles that statements name.

use crate::access_change::{AccessChange, NewSetting};
use crate::parse::{RoleStatement, WrittenRole, WrittenSetting};
use crate::{CatalogView, Definition, PlanSettings};
use frazil_catalog::{DropOwned, GrantRoles, NewRole, RoleId, RoleOptions, SettingsOf};
use frazil_types::date_input::parse_instant;
use frazil_types::session_settings::{self, DATABASE};
use frazil_types::{Error, Result, SqlState};

/// The role that a statement names. 42704, also for PUBLIC.
pub(super) fn role(catalog: &dyn CatalogView, written: &WrittenRole) -> Result<RoleId> {
    let name = match written {
        WrittenRole::Current => return Ok(catalog.user().current),
        WrittenRole::Session => return Ok(catalog.user().session),
        WrittenRole::Public => "public",
        WrittenRole::Named(name) => name,
    };
    catalog.guard().access().find_role(name).map(|role| role.id)
}

/// The roles that a statement names. 42704.
pub(super) fn roles(catalog: &dyn CatalogView, written: &[WrittenRole]) -> Result<Vec<RoleId>> {
    written.iter().map(|written| role(catalog, written)).collect()
}

/// The name of a role that DROP ROLE or RENAME names. 22023 for a word in its place.
fn plain_name(written: &WrittenRole) -> Result<String> {
    match written {
        WrittenRole::Named(name) => Ok(name.clone()),
        WrittenRole::Current | WrittenRole::Session | WrittenRole::Public => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            "cannot use special role specifier in DROP ROLE",
        )),
    }
}

fn with_time(
    options: &RoleOptions,
    valid_until: Option<&str>,
    settings: &PlanSettings,
) -> Result<RoleOptions> {
    let valid_until = valid_until.map(|text| parse_instant(text, settings.zone));
    Ok(RoleOptions {
        valid_until: valid_until.transpose()?,
        ..options.clone()
    })
}

/// The sessions whose settings change: of a role, or with `None` of all. 42704, 3D000 for another database.
fn sessions(
    catalog: &dyn CatalogView,
    of: Option<&WrittenRole>,
    database: Option<&str>,
) -> Result<SettingsOf> {
    let of = of.map(|of| role(catalog, of)).transpose()?;
    match database {
        Some(other) if other != session_settings::database() && other != DATABASE => {
            let message = format!("database \"{other}\" does not exist");
            Err(Error::new(SqlState::INVALID_CATALOG_NAME, message))
        }
        database => Ok(SettingsOf {
            role: of.unwrap_or(RoleId::PUBLIC),
            in_database: database.is_some(),
        }),
    }
}

fn new_setting(written: &WrittenSetting) -> NewSetting {
    match written {
        WrittenSetting::Set(name, Some(values)) => NewSetting::Set {
            name: name.clone(),
            values: values.clone(),
        },
        WrittenSetting::FromCurrent(name) => NewSetting::Current(name.clone()),
        WrittenSetting::Set(name, None) | WrittenSetting::Reset(Some(name)) => {
            NewSetting::Reset(name.clone())
        }
        WrittenSetting::Reset(None) => NewSetting::ResetAll,
    }
}

/// Binds a statement about roles. 42704, 22023, 22007 for a time that is none.
pub(super) fn role_statement(
    catalog: &dyn CatalogView,
    statement: &RoleStatement,
    settings: &PlanSettings,
) -> Result<Definition> {
    let change = match statement {
        RoleStatement::Create { name, options } => AccessChange::CreateRole(NewRole {
            name: name.clone(),
            options: with_time(&options.options, options.valid_until.as_deref(), settings)?,
            within: options.within.clone(),
            members: roles(catalog, &options.members)?,
            admins: roles(catalog, &options.admins)?,
        }),
        RoleStatement::Alter { role: of, options } => AccessChange::AlterRole {
            role: role(catalog, of)?,
            options: with_time(&options.options, options.valid_until.as_deref(), settings)?,
            members: roles(catalog, &options.members)?,
        },
        RoleStatement::Rename { name, to } => AccessChange::RenameRole {
            name: name.clone(),
            to: to.clone(),
        },
        RoleStatement::Drop { roles, if_exists } => AccessChange::DropRoles {
            names: roles.iter().map(plain_name).collect::<Result<_>>()?,
            if_exists: *if_exists,
        },
        RoleStatement::Grant {
            is_grant,
            admin_option,
            roles: names,
            members,
            grantor,
            tag,
        } => AccessChange::GrantRoles {
            change: GrantRoles {
                is_grant: *is_grant,
                admin_option: *admin_option,
                roles: names.clone(),
                members: roles(catalog, members)?,
                grantor: grantor.as_ref().map(|by| role(catalog, by)).transpose()?,
            },
            tag,
        },
        RoleStatement::Settings {
            role: of,
            database,
            setting,
            tag,
        } => AccessChange::Settings {
            of: sessions(catalog, of.as_ref(), database.as_deref())?,
            setting: new_setting(setting),
            tag,
        },
        RoleStatement::Reassign { roles: of, to } => AccessChange::Reassign {
            roles: roles(catalog, of)?,
            to: role(catalog, to)?,
        },
        RoleStatement::DropOwned { roles: of, behavior } => AccessChange::DropOwned(DropOwned {
            roles: roles(catalog, of)?,
            behavior: *behavior,
            path: catalog.path().clone(),
        }),
    };
    Ok(Definition::Access(Box::new(change)))
}
