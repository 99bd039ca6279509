//! The roles of a session: the one that logged in, and those that SET SESSION AUTHORIZATION and SET ROLE chose.

use frazil_catalog::{AccessRules, RoleId};
use frazil_frontend::UserRoles;
use frazil_types::{Error, Result, SqlState, USER};
use std::sync::Arc;

/// A role with the name that it had when the session took it.
type Named = (RoleId, Arc<str>);

/// The roles of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    /// The role that logged in.
    login: Named,
    /// The role of SET SESSION AUTHORIZATION.
    session: Named,
    /// The role of SET ROLE.
    role: Option<Named>,
}

impl Default for User {
    fn default() -> User {
        let superuser: Named = (RoleId::SUPERUSER, USER.into());
        User {
            login: superuser.clone(),
            session: superuser,
            role: None,
        }
    }
}

/// True for the settings that are roles.
pub(crate) fn is_role(name: &str) -> bool {
    name.eq_ignore_ascii_case("role") || name.eq_ignore_ascii_case("session_authorization")
}

impl User {
    /// A session of the role that logged in.
    pub fn of_login(role: RoleId, name: &str) -> User {
        let login: Named = (role, name.into());
        User {
            session: login.clone(),
            login,
            role: None,
        }
    }

    /// The roles by their numbers.
    pub fn roles(&self) -> UserRoles {
        UserRoles {
            current: self.role.as_ref().unwrap_or(&self.session).0,
            session: self.session.0,
        }
    }

    /// The name that the current role had when the session took it.
    pub fn current_name(&self) -> &str {
        &self.role.as_ref().unwrap_or(&self.session).1
    }

    /// The name of the current role and that of the session's.
    pub fn names(&self, access: &AccessRules) -> (String, String) {
        let current = self.role.as_ref().unwrap_or(&self.session);
        (name_of(current, access), name_of(&self.session, access))
    }

    /// The number of the role that logged in, and its name.
    pub fn login(&self, access: &AccessRules) -> (u32, String) {
        (self.login.0.0, name_of(&self.login, access))
    }

    /// The name of the role of SET ROLE, or `none`.
    pub fn role_setting(&self, access: &AccessRules) -> String {
        let role = self.role.as_ref();
        role.map_or_else(|| "none".to_owned(), |role| name_of(role, access))
    }

    /// The roles after SET of `role` or `session_authorization`, `None` to the default. 22023 for a role that there is
    /// not, 42501 for one that the session may not take.
    pub fn set(&self, name: &str, value: Option<&str>, access: &AccessRules) -> Result<User> {
        let role = |value: &str| match access.role_named(value) {
            Some(role) => Ok(role.clone()),
            None => Err(Error::new(
                SqlState::INVALID_PARAMETER,
                format!("role \"{value}\" does not exist"),
            )),
        };
        let refused = |message| Err(Error::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
        let mut next = self.clone();
        if !name.eq_ignore_ascii_case("role") {
            next.role = None;
            next.session = match value {
                None => self.login.clone(),
                Some(value) => {
                    let role = role(value)?;
                    if role.id != self.login.0 && !access.is_superuser(self.login.0) {
                        return refused("permission denied to set session authorization".to_owned());
                    }
                    (role.id, role.name.as_str().into())
                }
            };
            return Ok(next);
        }
        next.role = match value {
            None | Some("none") => None,
            Some(value) => {
                let role = role(value)?;
                if !access.is_member(self.session.0, role.id) {
                    return refused(format!("permission denied to set role \"{value}\""));
                }
                Some((role.id, role.name.as_str().into()))
            }
        };
        Ok(next)
    }
}

/// The name that a role has now; the one that it had if the rules do not know it.
fn name_of(named: &Named, access: &AccessRules) -> String {
    let known = access.role(named.0);
    known.map_or_else(|| named.1.to_string(), |role| role.name.clone())
}
