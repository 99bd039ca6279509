//! Runs CREATE, ALTER and DROP ROLE, GRANT, REVOKE, OWNER TO and what else changes roles, owners and privileges.

use crate::notice::Notice;
use crate::password::Verifier;
use crate::query::Runner;
use crate::settings::{self, Settings};
use frazil_catalog::{Catalog, GrantRoles, RoleId, RoleOptions, SettingChange};
use frazil_frontend::{AccessChange, NewSetting, UserRoles};
use frazil_storage::Transaction;
use frazil_types::{Error, Result, SqlState, session_settings};

/// Runs a change by the roles of the session. Returns the command's tag, and adds notices.
pub fn run(
    runner: &Runner,
    transaction: &mut Transaction,
    change: AccessChange,
    notices: &mut Vec<Notice>,
) -> Result<&'static str> {
    let user = runner.user();
    let by = user.current;
    match change {
        AccessChange::CreateRole(mut new) => {
            hash_password(&mut new.options)?;
            let told = transaction.change_access(|catalog| catalog.create_role(by, &new))?;
            notices.extend(of_memberships(told));
            Ok("CREATE ROLE")
        }
        AccessChange::AlterRole {
            role,
            options,
            members,
        } => alter_role(transaction, by, (role, options), members, notices),
        AccessChange::RenameRole { name, to } => {
            refuse_own_name(transaction, user, &name)?;
            changed(transaction, "ALTER ROLE", |catalog| {
                catalog.rename_role(by, &name, &to)
            })
        }
        AccessChange::DropRoles { names, if_exists } => {
            let roles = (by, user.session);
            let missing =
                transaction.change_access(|catalog| catalog.drop_roles(roles, &names, if_exists))?;
            let notice = |name| Notice::new(format!("role \"{name}\" does not exist, skipping"));
            notices.extend(missing.into_iter().map(notice));
            Ok("DROP ROLE")
        }
        AccessChange::GrantRoles { change, tag } => {
            let told = transaction.change_access(|catalog| catalog.grant_roles(by, &change))?;
            notices.extend(of_memberships(told));
            Ok(tag)
        }
        AccessChange::Grant { grant, targets } => {
            let warnings = transaction.change_access(|catalog| catalog.grant(by, &grant, &targets))?;
            let warning = |(state, message): (SqlState, String)| Notice::warning(state, message);
            notices.extend(warnings.into_iter().map(warning));
            Ok(["REVOKE", "GRANT"][usize::from(grant.is_grant)])
        }
        AccessChange::Defaults {
            roles,
            schemas,
            rights,
            grant,
        } => changed(transaction, "ALTER DEFAULT PRIVILEGES", |catalog| match rights {
            Some(rights) => catalog.alter_default_privileges(by, (&roles, &schemas), rights, &grant),
            None => Ok(catalog.clone()),
        }),
        AccessChange::Owner { of, owner, tag } => changed(transaction, tag, |catalog| match of {
            Some(of) => catalog.change_owner(by, of, owner),
            None => Ok(catalog.clone()),
        }),
        AccessChange::Settings { of, setting, tag } => {
            let setting = checked(setting)?;
            changed(transaction, tag, |catalog| {
                catalog.change_settings(by, of, &setting)
            })
        }
        AccessChange::Reassign { roles, to } => changed(transaction, "REASSIGN OWNED", |catalog| {
            catalog.reassign_owned(by, &roles, to)
        }),
        AccessChange::DropOwned(drop) => transaction.drop_owned(by, &drop).map(|()| "DROP OWNED"),
    }
}

/// Goes over to another version of the catalog. Returns the tag.
fn changed(
    transaction: &mut Transaction,
    tag: &'static str,
    change: impl FnOnce(&Catalog) -> Result<Catalog>,
) -> Result<&'static str> {
    transaction.change_access(|catalog| Ok((change(catalog)?, ())))?;
    Ok(tag)
}

/// Runs a definition, and gives the objects that it creates to the current role.
pub fn adopting<T>(
    runner: &Runner,
    transaction: &mut Transaction,
    work: impl FnOnce(&mut Transaction) -> Result<T>,
) -> Result<T> {
    let owner = runner.user().current;
    let catalog = transaction.view().catalog();
    if !catalog.notes_owner(owner) {
        return work(transaction);
    }
    let before = catalog.clone();
    let done = work(transaction)?;
    transaction.adopt(&before, owner)?;
    Ok(done)
}

/// The change of a setting that sessions begin with, if a session can have the value. 42704 and 22023 as for SET, 0A000
/// for settings that are not a session's own.
fn checked(setting: NewSetting) -> Result<SettingChange> {
    let refused =
        |name: &str| Error::unsupported(format!("ALTER ROLE or ALTER DATABASE of the setting {name}"));
    let (name, value) = match setting {
        NewSetting::ResetAll => return Ok(SettingChange::ResetAll),
        NewSetting::Reset(name) => return Ok(SettingChange::Reset(name)),
        NewSetting::Set { name, values } => {
            let value = match settings::find(&name) {
                Some(setting) => setting.joined(&values)?,
                None => settings::joined_custom(&name, &values)?,
            };
            (name, value)
        }
        NewSetting::Current(name) => {
            let session = session_settings::of_statement().ok_or_else(|| refused(&name))?;
            match session.show(&name)? {
                Some(value) => (name, value),
                None => {
                    let message = format!("there is no setting \"{name}\"");
                    return Err(Error::new(SqlState::UNDEFINED_OBJECT, message));
                }
            }
        }
    };
    let known = settings::find(&name);
    if settings::is_role(&name) || known.is_some_and(|s| s.is_of_database() || s.is_of_transaction()) {
        return Err(refused(&name));
    }
    Settings::default().set(&name, Some(&value))?;
    let name = known.map_or(name, |setting| setting.name.to_owned());
    Ok(SettingChange::Set(name, value))
}

/// ALTER ROLE with options, and ALTER GROUP's old way to add members. Returns the tag, and adds notices.
fn alter_role(
    transaction: &mut Transaction,
    by: RoleId,
    (role, mut options): (RoleId, RoleOptions),
    members: Vec<RoleId>,
    notices: &mut Vec<Notice>,
) -> Result<&'static str> {
    hash_password(&mut options)?;
    changed(transaction, "ALTER ROLE", |catalog| {
        catalog.alter_role(by, role, &options)
    })?;
    if !members.is_empty() {
        let change = GrantRoles {
            is_grant: true,
            admin_option: false,
            roles: vec![transaction.view().catalog().access().role_name(role)],
            members,
            grantor: None,
        };
        let told = transaction.change_access(|catalog| catalog.grant_roles(by, &change))?;
        notices.extend(of_memberships(told));
    }
    Ok("ALTER ROLE")
}

/// 0A000 for another name of a role of the session.
fn refuse_own_name(transaction: &Transaction, user: UserRoles, name: &str) -> Result<()> {
    let role = transaction.view().catalog().access().role_named(name);
    let role = role.map(|role| role.id);
    let what = match role {
        Some(role) if role == user.session => "session",
        Some(role) if role == user.current => "current",
        Some(_) | None => return Ok(()),
    };
    let message = format!("{what} user cannot be renamed");
    Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message))
}

/// The notices of memberships: true for a warning.
fn of_memberships(told: Vec<(bool, String)>) -> impl Iterator<Item = Notice> {
    let notice = |(is_warning, message)| match is_warning {
        true => Notice::warning(SqlState::WARNING, message),
        false => Notice::new(message),
    };
    told.into_iter().map(notice)
}

/// Replaces a password by its verifier. A text that is a verifier stays as it is; an empty one removes the password.
fn hash_password(options: &mut RoleOptions) -> Result<()> {
    let Some(Some(password)) = &mut options.password else {
        return Ok(());
    };
    if password.is_empty() {
        options.password = Some(None);
        return Ok(());
    }
    if Verifier::read(password).is_none() {
        *password = Verifier::new(password)?.to_string();
    }
    Ok(())
}
