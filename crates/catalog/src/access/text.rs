//! Lists of privileges as PostgreSQL shows them: `role=rw*/grantor`.

use super::{AccessRules, Acl, AclItem, Rights, RoleId};

/// A name in an item: quoted unless all its characters are letters, digits or `_`.
fn shown(name: &str) -> String {
    match name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty() {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

impl AclItem {
    /// The text of an item.
    pub fn text(&self, access: &AccessRules) -> String {
        let mut text = match self.grantee {
            RoleId::PUBLIC => String::new(),
            role => shown(&access.role_name(role)),
        };
        text.push('=');
        for right in Rights::ALL {
            if self.rights.has(right.rights) {
                text.push(right.letter);
            }
            if self.grantable.has(right.rights) {
                text.push('*');
            }
        }
        text.push('/');
        text + &shown(&access.role_name(self.grantor))
    }
}

impl Acl {
    /// The texts of all items.
    pub fn texts(&self, access: &AccessRules) -> Vec<String> {
        self.0.iter().map(|item| item.text(access)).collect()
    }
}
