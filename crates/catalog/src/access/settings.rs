//! Settings that sessions have when they begin: ALTER ROLE … SET and ALTER DATABASE … SET.

use super::{AccessRules, Guarded, RoleId, SettingsOf, refused};
use crate::Catalog;
use frazil_types::Result;

/// A change of the settings that sessions begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingChange {
    /// SET: the name of a setting and its value.
    Set(String, String),
    /// RESET of a setting.
    Reset(String),
    /// RESET ALL.
    ResetAll,
}

impl AccessRules {
    /// The settings with which a session of a role begins. Later ones replace earlier ones: those of the role itself
    /// come after those of all roles, and those in the database after the others of the role.
    pub fn settings_at_login(&self, role: RoleId) -> Vec<(String, String)> {
        let places = [
            (RoleId::PUBLIC, false),
            (RoleId::PUBLIC, true),
            (role, false),
            (role, true),
        ];
        let lists = places.iter().filter_map(|(role, in_database)| {
            self.settings.get(&SettingsOf {
                role: *role,
                in_database: *in_database,
            })
        });
        lists.flatten().cloned().collect()
    }
}

impl Catalog {
    /// 42501 unless `by` may change the settings of some sessions.
    fn check_settings(&self, by: RoleId, of: SettingsOf) -> Result<()> {
        let access = self.access();
        if access.is_superuser(by) {
            return Ok(());
        }
        match (of.role, of.in_database) {
            (RoleId::PUBLIC, false) => Err(refused("must be superuser to alter settings globally")),
            (RoleId::PUBLIC, true) => self.check_owner(by, Guarded::Database),
            (role, _) if access.is_superuser(role) => Err(refused("must be superuser to alter superusers")),
            (role, _) if role != by && !access.creates_roles(by) => Err(refused("permission denied")),
            _ => Ok(()),
        }
    }

    /// The next version, with other settings of sessions that will begin. 42501.
    pub fn change_settings(&self, by: RoleId, of: SettingsOf, change: &SettingChange) -> Result<Catalog> {
        self.check_settings(by, of)?;
        let mut access = AccessRules::clone(self.access());
        let mut settings = access.settings.remove(&of).unwrap_or_default();
        let same = |known: &str, name: &str| known.eq_ignore_ascii_case(name);
        match change {
            SettingChange::Set(name, value) => match settings.iter_mut().find(|(n, _)| same(n, name)) {
                Some(known) => known.1.clone_from(value),
                None => settings.push((name.clone(), value.clone())),
            },
            SettingChange::Reset(name) => settings.retain(|(known, _)| !same(known, name)),
            SettingChange::ResetAll => settings.clear(),
        }
        if !settings.is_empty() {
            access.settings.insert(of, settings);
        }
        Ok(self.with_access(access))
    }
}
