//! Lists of privileges as PostgreSQL shows them: `role=rw*/grantor`.

use super::{AccessRules, Acl, AclItem, Rights, RoleId};
use frazil_types::{Error, Result, SqlState};

/// A name in an item: quoted unless all its characters are letters, digits or `_`.
fn shown(name: &str) -> String {
    match name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty() {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Takes a name off the front of a text: letters, digits and `_`, or anything between quotes.
fn take_name(text: &str) -> (String, &str) {
    let (mut name, mut is_quoted) = (String::new(), false);
    let mut rest = text.chars();
    loop {
        let behind = rest.as_str();
        match rest.next() {
            Some('"') if is_quoted && behind.starts_with("\"\"") => {
                rest.next();
                name.push('"');
            }
            Some('"') => is_quoted = !is_quoted,
            Some(c) if is_quoted || c.is_alphanumeric() || c == '_' => name.push(c),
            _ => return (name, behind),
        }
    }
}

fn malformed(message: &str) -> Error {
    Error::new(SqlState::INVALID_TEXT, message)
}

impl AccessRules {
    /// The role that an item names; a number if the role is gone. 42704.
    fn role_in_item(&self, name: &str) -> Result<RoleId> {
        let number = || name.parse().ok().map(RoleId);
        let found = self.role_named(name).map(|role| role.id).or_else(number);
        found.ok_or_else(|| super::missing_role(name))
    }
}

impl AclItem {
    /// Reads the text of an item, whose grantor is the first superuser unless it names one. 22P02, 42704.
    pub fn read(text: &str, access: &AccessRules) -> Result<AclItem> {
        let (grantee, rest) = take_name(text.trim());
        let rest = rest
            .strip_prefix('=')
            .ok_or_else(|| malformed("missing \"=\" sign"))?;
        let (letters, grantor) = match rest.split_once('/') {
            Some((letters, grantor)) => (letters, Some(grantor)),
            None => (rest, None),
        };
        let mut item = AclItem {
            grantee: match grantee.as_str() {
                "" => RoleId::PUBLIC,
                name => access.role_in_item(name)?,
            },
            grantor: RoleId::SUPERUSER,
            rights: Rights::NONE,
            grantable: Rights::NONE,
        };
        let mut last = Rights::NONE;
        for letter in letters.chars() {
            if letter == '*' {
                item.grantable = item.grantable | last;
                continue;
            }
            let right = Rights::ALL.iter().find(|right| right.letter == letter);
            let right = right
                .ok_or_else(|| malformed("invalid mode character: must be one of \"arwdDxtXUCTcsA\""))?;
            last = right.rights;
            item.rights = item.rights | last;
        }
        if let Some(grantor) = grantor {
            item.grantor = match take_name(grantor) {
                (name, "") if !name.is_empty() => access.role_in_item(&name)?,
                _ => return Err(malformed("a name must follow the \"/\" sign")),
            };
        }
        Ok(item)
    }

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
