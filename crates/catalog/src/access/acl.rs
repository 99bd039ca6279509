//! Lists of privileges: items of a grantee, a grantor and rights, changed by PostgreSQL's rules.

use super::{AccessRules, RoleId};
use crate::DropBehavior;
use frazil_types::{Error, Result, SqlState};
use std::ops::{BitAnd, BitOr, Not};

/// A set of rights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rights(pub u16);

/// One right: its bit, its letter in a list of privileges, its word.
pub struct Right {
    /// The set that has this right alone.
    pub rights: Rights,
    /// The letter.
    pub letter: char,
    /// The word, in lower case.
    pub word: &'static str,
}

macro_rules! rights {
    ($($name:ident = $at:literal, $letter:literal, $word:literal;)*) => {
        impl Rights {
            $(#[doc = concat!("The right ", $word, ".")] pub const $name: Rights = Rights(1 << $at);)*
            /// All rights in the order of their bits.
            pub const ALL: &'static [Right] = &[
                $(Right { rights: Rights::$name, letter: $letter, word: $word }),*
            ];
        }
    };
}

rights! {
    INSERT = 0, 'a', "insert";
    SELECT = 1, 'r', "select";
    UPDATE = 2, 'w', "update";
    DELETE = 3, 'd', "delete";
    TRUNCATE = 4, 'D', "truncate";
    REFERENCES = 5, 'x', "references";
    TRIGGER = 6, 't', "trigger";
    EXECUTE = 7, 'X', "execute";
    USAGE = 8, 'U', "usage";
    CREATE = 9, 'C', "create";
    TEMPORARY = 10, 'T', "temporary";
    CONNECT = 11, 'c', "connect";
    SET = 12, 's', "set";
    ALTER_SYSTEM = 13, 'A', "alter system";
}

impl Rights {
    /// No right.
    pub const NONE: Rights = Rights(0);

    /// True without a right.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if all rights of another set are in this one.
    pub fn has(self, all: Rights) -> bool {
        self & all == all
    }

    /// True if a right of another set is in this one.
    pub fn has_any(self, any: Rights) -> bool {
        !(self & any).is_empty()
    }

    /// The rights that `others` does not have.
    pub fn without(self, others: Rights) -> Rights {
        self & !others
    }

    /// The right that a word in lower case names.
    pub fn named(word: &str) -> Option<Rights> {
        let word = if word == "temp" { "temporary" } else { word };
        let right = Rights::ALL.iter().find(|right| right.word == word);
        right.map(|right| right.rights)
    }
}

impl BitOr for Rights {
    type Output = Rights;

    fn bitor(self, other: Rights) -> Rights {
        Rights(self.0 | other.0)
    }
}

impl BitAnd for Rights {
    type Output = Rights;

    fn bitand(self, other: Rights) -> Rights {
        Rights(self.0 & other.0)
    }
}

impl Not for Rights {
    type Output = Rights;

    fn not(self) -> Rights {
        Rights(!self.0)
    }
}

/// Rights of a grantee from one grantor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AclItem {
    /// The role that has them, or [`RoleId::PUBLIC`].
    pub grantee: RoleId,
    /// The role that gave them.
    pub grantor: RoleId,
    /// The rights.
    pub rights: Rights,
    /// Rights that the grantee may grant further.
    pub grantable: Rights,
}

/// A list of privileges, in the order in which `pg_class.relacl` shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl(pub Vec<AclItem>);

/// The roles by which a list is changed.
pub(super) struct Judge<'a> {
    pub access: &'a AccessRules,
    pub owner: RoleId,
    pub behavior: DropBehavior,
}

impl Acl {
    /// The list with one item more, or one that has more rights.
    pub(super) fn add(&self, item: AclItem, judge: &Judge<'_>) -> Result<Acl> {
        if !item.grantable.is_empty() {
            self.check_circularity(item, judge)?;
        }
        let mut next = self.clone();
        let position = next.position(item);
        next.0[position].rights = next.0[position].rights | item.rights;
        next.0[position].grantable = next.0[position].grantable | item.grantable;
        next.0.retain(|item| !item.rights.is_empty());
        Ok(next)
    }

    /// The list without rights of an item. What the grantee has granted further goes, too, or is 2BP01 with RESTRICT.
    pub(super) fn remove(&self, item: AclItem, judge: &Judge<'_>) -> Result<Acl> {
        let mut next = self.clone();
        let position = next.position(item);
        let before = next.0[position].grantable;
        next.0[position].rights = next.0[position].rights.without(item.rights);
        let after = before.without(item.grantable);
        next.0[position].grantable = after;
        next.0.retain(|item| !item.rights.is_empty());
        match before.without(after) {
            Rights::NONE => Ok(next),
            lost => next.without_further(item.grantee, lost, judge),
        }
    }

    /// True if both have the same items, in whatever order.
    pub(super) fn is_same_set(&self, other: &Acl) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|item| other.0.contains(item))
    }

    /// The list in the order of grantees and grantors, which default privileges have.
    pub(super) fn sorted(mut self) -> Acl {
        self.0.sort_by_key(|item| (item.grantee, item.grantor));
        self
    }

    fn position(&mut self, item: AclItem) -> usize {
        let is_it = |known: &AclItem| known.grantee == item.grantee && known.grantor == item.grantor;
        match self.0.iter().position(is_it) {
            Some(at) => at,
            None => {
                self.0.push(AclItem {
                    rights: Rights::NONE,
                    grantable: Rights::NONE,
                    ..item
                });
                self.0.len() - 1
            }
        }
    }

    /// Removes what a role granted by grant options that it has lost.
    fn without_further(self, role: RoleId, lost: Rights, judge: &Judge<'_>) -> Result<Acl> {
        if role == judge.owner {
            return Ok(self);
        }
        let lost = lost.without(self.grantable_by(role, judge));
        let mut next = self;
        let is_from = |item: &&AclItem| item.grantor == role && item.rights.has_any(lost);
        while let Some(item) = next.0.iter().find(is_from).copied() {
            if judge.behavior == DropBehavior::Restrict {
                let error = Error::new(SqlState::DEPENDENT_OBJECTS, "dependent privileges exist");
                return Err(error.with_hint("Use CASCADE to revoke them too."));
            }
            let gone = AclItem {
                rights: lost,
                grantable: lost,
                ..item
            };
            next = next.remove(gone, judge)?;
        }
        Ok(next)
    }

    /// The rights that a role may grant.
    pub(super) fn grantable_by(&self, role: RoleId, judge: &Judge<'_>) -> Rights {
        if judge.access.has_privileges_of(role, judge.owner) {
            return !Rights::NONE;
        }
        let of_role = self.0.iter().filter(|item| {
            item.grantee != RoleId::PUBLIC && judge.access.has_privileges_of(role, item.grantee)
        });
        of_role.fold(Rights::NONE, |all, item| all | item.grantable)
    }

    /// The rights that a role has: its own, those of its roles, and those of PUBLIC.
    pub(super) fn rights_of(&self, role: RoleId, access: &AccessRules) -> Rights {
        let of_role = self
            .0
            .iter()
            .filter(|item| item.grantee == RoleId::PUBLIC || access.has_privileges_of(role, item.grantee));
        of_role.fold(Rights::NONE, |all, item| all | item.rights)
    }

    /// 0LP01 if the grantor of an item would have its grant options from the grantee alone.
    fn check_circularity(&self, item: AclItem, judge: &Judge<'_>) -> Result<()> {
        if item.grantor == judge.owner {
            return Ok(());
        }
        let cascading = Judge {
            behavior: DropBehavior::Cascade,
            ..*judge
        };
        let mut rest = self.clone();
        let is_of = |known: &&AclItem| known.grantee == item.grantee && !known.grantable.is_empty();
        while let Some(known) = rest.0.iter().find(is_of).copied() {
            rest = rest.remove(known, &cascading)?;
        }
        match rest.grantable_by(item.grantor, judge).has(item.grantable) {
            true => Ok(()),
            false => Err(Error::new(
                SqlState::INVALID_GRANT,
                "grant options cannot be granted back to your own grantor",
            )),
        }
    }

    /// The list after the object got another owner: the new one replaces the old one.
    pub(super) fn of_new_owner(&self, old: RoleId, new: RoleId) -> Acl {
        let mut next: Vec<AclItem> = Vec::with_capacity(self.0.len());
        let replaced = |role: RoleId| if role == old { new } else { role };
        for item in &self.0 {
            let (grantee, grantor) = (replaced(item.grantee), replaced(item.grantor));
            let is_same = |known: &&mut AclItem| known.grantee == grantee && known.grantor == grantor;
            match next.iter_mut().find(is_same) {
                Some(known) => {
                    known.rights = known.rights | item.rights;
                    known.grantable = known.grantable | item.grantable;
                }
                None => next.push(AclItem {
                    grantee,
                    grantor,
                    ..*item
                }),
            }
        }
        Acl(next)
    }
}
