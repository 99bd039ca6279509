//! Roles that log in at a server: their verifiers, and whether a session of theirs may begin.

use crate::activity::Activity;
use crate::connection::Connection;
use crate::database::Database;
use crate::parameters::now_micros;
use crate::password::Verifier;
use crate::settings::User;
use frazil_catalog::{Demand, Guarded, Rights, Role};
use frazil_types::{Cancel, Error, Result, SqlState};
use std::sync::Arc;
use std::time::Duration;

impl Database {
    /// The verifier by which a role proves its password; `None` without the role, without a password, and after the
    /// time of VALID UNTIL.
    pub fn verifier(&self, role: &str) -> Option<Verifier> {
        let role = self.role(role)?;
        let is_expired = role.valid_until.is_some_and(|until| until < now_micros());
        let verifier = Verifier::read(role.verifier.as_deref()?);
        verifier.filter(|_| !is_expired)
    }

    /// True if a role can log in with a password.
    pub fn has_logins(&self) -> bool {
        let snapshot = self.store().look();
        let mut roles = snapshot.catalog().access().roles.values();
        roles.any(|role| role.attributes.can_log_in && role.verifier.is_some())
    }

    fn role(&self, name: &str) -> Option<Arc<Role>> {
        // If the roles cannot be read anew, those that were read before are looked up.
        let _ = self.follow_at_hand(Duration::ZERO, &Cancel::new());
        self.store().look().catalog().access().role_named(name).cloned()
    }

    /// Number of sessions of a server that a role has.
    fn sessions_of(&self, role: &Role) -> usize {
        let sessions = self.roster().all().into_iter();
        let is_one = |activity: &Activity, of: u32| activity.is_served() && of == role.id.0;
        sessions
            .filter(|(_, session)| is_one(session.activity(), session.user().0))
            .count()
    }
}

impl Connection {
    /// Makes it the session of a role that logged in at a server; true for a superuser. A name that no role has leaves
    /// the session to the first superuser: the server let it in. 28000 for a role without LOGIN, 53300 beyond its
    /// CONNECTION LIMIT, 42501 without CONNECT on the database.
    pub fn log_in(&self, name: &str) -> Result<bool> {
        let database = self.database();
        let Some(role) = database.role(name) else {
            self.become_user(User::default());
            return Ok(true);
        };
        if !role.attributes.can_log_in {
            let message = format!("role \"{name}\" is not permitted to log in");
            return Err(Error::new(SqlState::INVALID_AUTHORIZATION, message));
        }
        let snapshot = database.store().snapshot();
        let catalog = snapshot.catalog();
        if !catalog.permits(role.id, &Demand::All(Guarded::Database, Rights::CONNECT)) {
            let message = format!("permission denied for database \"{}\"", database.name());
            let error = Error::new(SqlState::INSUFFICIENT_PRIVILEGE, message);
            return Err(error.with_detail("User does not have CONNECT privilege."));
        }
        let most = usize::try_from(role.connection_limit).ok();
        let is_full = |most: usize| database.sessions_of(&role) >= most;
        if !role.attributes.is_superuser && most.is_some_and(is_full) {
            let message = format!("too many connections for role \"{name}\"");
            return Err(Error::new(SqlState::TOO_MANY_CONNECTIONS, message));
        }
        self.become_user(User::of_login(role.id, &role.name));
        Ok(role.attributes.is_superuser)
    }
}
