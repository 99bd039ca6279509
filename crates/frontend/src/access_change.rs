//! Bound statements about roles, owners and privileges.

use frazil_catalog::{
    DefaultKind, DropOwned, Grant, GrantRoles, GrantTarget, Guarded, NewRole, Rights, RoleId, RoleOptions,
    SettingsOf,
};
use frazil_types::ObjectId;

/// A setting of sessions that will begin.
#[derive(Clone, Debug)]
pub enum NewSetting {
    /// SET with its values as they are written.
    Set {
        /// The setting's name.
        name: String,
        /// The values.
        values: Vec<String>,
    },
    /// SET … FROM CURRENT, with the setting's name.
    Current(String),
    /// RESET of a setting.
    Reset(String),
    /// RESET ALL.
    ResetAll,
}

/// A change of roles, owners or privileges.
#[derive(Clone, Debug)]
pub enum AccessChange {
    /// CREATE ROLE. The password is as it is written.
    CreateRole(NewRole),
    /// ALTER ROLE. The password is as it is written.
    AlterRole {
        /// The role.
        role: RoleId,
        /// The options that change.
        options: RoleOptions,
        /// Members that ALTER ROLE … USER adds.
        members: Vec<RoleId>,
    },
    /// ALTER ROLE … RENAME TO.
    RenameRole {
        /// The role's name.
        name: String,
        /// Its new name.
        to: String,
    },
    /// DROP ROLE.
    DropRoles {
        /// The roles' names.
        names: Vec<String>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// GRANT, REVOKE of roles.
    GrantRoles {
        /// The roles and their members.
        change: GrantRoles,
        /// The tag of the command.
        tag: &'static str,
    },
    /// GRANT, REVOKE of rights on objects.
    Grant {
        /// The roles that get or lose them.
        grant: Grant,
        /// The objects with their rights.
        targets: Vec<GrantTarget>,
    },
    /// ALTER DEFAULT PRIVILEGES.
    Defaults {
        /// The roles that will create the objects.
        roles: Vec<RoleId>,
        /// The schemas in which they will; with an empty list anywhere.
        schemas: Vec<ObjectId>,
        /// The kind of objects and the rights; `None` for objects of which there are none.
        rights: Option<(DefaultKind, Rights)>,
        /// The roles that get or lose the rights.
        grant: Grant,
    },
    /// OWNER TO.
    Owner {
        /// The object; `None` if it need not be there and is not.
        of: Option<Guarded>,
        /// Its new owner.
        owner: RoleId,
        /// The tag of the command.
        tag: &'static str,
    },
    /// ALTER ROLE and ALTER DATABASE with SET or RESET.
    Settings {
        /// The sessions whose settings change.
        of: SettingsOf,
        /// The setting.
        setting: NewSetting,
        /// The tag of the command.
        tag: &'static str,
    },
    /// REASSIGN OWNED.
    Reassign {
        /// The roles whose objects they are.
        roles: Vec<RoleId>,
        /// The new owner.
        to: RoleId,
    },
    /// DROP OWNED.
    DropOwned(DropOwned),
}
