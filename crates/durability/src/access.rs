//! Roles, owners and privileges in the manifest and in the log: the entries that differ from those of another version,
//! by keys that name them. In the manifest the other version is that of a new database.

use frazil_catalog::{
    AccessRules, Acl, AclItem, Attributes, DefaultKind, DefaultsOf, Guarded, Membership, Rights, Role,
    RoleId, SettingsOf,
};
use frazil_types::{ColumnNumber, ObjectId};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rules of `after` that are new or others than in `before`; null for those that are gone.
pub fn difference(before: &AccessRules, after: &AccessRules) -> Json {
    let (mut old, new) = (written(before), written(after));
    let mut changed = Map::new();
    for (key, value) in new {
        if old.remove(&key).as_ref() != Some(&value) {
            changed.insert(key, value);
        }
    }
    changed.extend(old.into_keys().map(|key| (key, Json::Null)));
    Json::Object(changed)
}

/// The rules after a change that [`difference`] wrote, or without one, which is null.
pub fn applied(before: &Arc<AccessRules>, change: &Json) -> Option<Arc<AccessRules>> {
    if change.is_null() {
        return Some(before.clone());
    }
    let mut access = AccessRules::clone(before);
    for (key, value) in change.as_object()? {
        apply(&mut access, key, value)?;
    }
    Some(Arc::new(access))
}

/// Writes the rules into a manifest, if they are not those of a new database.
pub fn write_into(manifest: &mut Json, access: &AccessRules) {
    if !access.is_initial() {
        manifest["access"] = difference(&AccessRules::initial(), access);
    }
}

/// The rules of a manifest: those of a new database before version 14, and where there is one role alone.
pub fn read_access(manifest: &Json) -> Option<Arc<AccessRules>> {
    applied(&AccessRules::initial(), &manifest["access"])
}

/// Every rule by its key.
fn written(access: &AccessRules) -> BTreeMap<String, Json> {
    let roles = access
        .roles
        .values()
        .map(|role| (format!("role {}", role.id.0), write_role(role)));
    let members = access.members.iter().map(|((role, member), membership)| {
        let value = json!({ "grantor": membership.grantor.0, "admin": membership.is_admin });
        (format!("member {} {}", role.0, member.0), value)
    });
    let owners = access
        .owners
        .iter()
        .map(|(of, owner)| (format!("owner {}", object_key(*of)), json!(owner.0)));
    let acls = access
        .acls
        .iter()
        .map(|(of, acl)| (format!("acl {}", object_key(*of)), write_acl(acl)));
    let defaults = access.defaults.iter().map(|(of, acl)| {
        let schema = of.schema.map_or("-".to_owned(), |id| id.0.to_string());
        let key = format!("default {} {schema} {}", of.role.0, of.kind.letter());
        (key, write_acl(acl))
    });
    let settings = access.settings.iter().map(|(of, settings)| {
        let key = format!("settings {} {}", of.role.0, of.in_database);
        (key, json!(settings))
    });
    let parts = roles.chain(members).chain(owners);
    parts.chain(acls).chain(defaults).chain(settings).collect()
}

fn apply(access: &mut AccessRules, key: &str, value: &Json) -> Option<()> {
    let words: Vec<&str> = key.split(' ').collect();
    let role = |word: &str| word.parse().ok().map(RoleId);
    let is_gone = value.is_null();
    match words[..] {
        ["role", id] => {
            let id = role(id)?;
            put(&mut access.roles, id, is_gone, || {
                read_role(id, value).map(Arc::new)
            })
        }
        ["member", of, member] => put(&mut access.members, (role(of)?, role(member)?), is_gone, || {
            Some(Membership {
                grantor: read_id(&value["grantor"])?,
                is_admin: value["admin"].as_bool()?,
            })
        }),
        ["owner", of] => put(&mut access.owners, read_key(of)?, is_gone, || read_id(value)),
        ["acl", of] => put(&mut access.acls, read_key(of)?, is_gone, || read_acl(value)),
        ["settings", of, in_database] => {
            let of = SettingsOf {
                role: role(of)?,
                in_database: in_database.parse().ok()?,
            };
            put(&mut access.settings, of, is_gone, || {
                serde_json::from_value(value.clone()).ok()
            })
        }
        ["default", of, schema, letter] => {
            let kind = DefaultKind::ALL
                .into_iter()
                .find(|kind| kind.letter() == letter)?;
            let schema = match schema {
                "-" => None,
                id => Some(ObjectId(id.parse().ok()?)),
            };
            let role = role(of)?;
            put(
                &mut access.defaults,
                DefaultsOf { role, schema, kind },
                is_gone,
                || read_acl(value),
            )
        }
        _ => None,
    }
}

fn put<K: Ord, V>(
    map: &mut BTreeMap<K, V>,
    key: K,
    is_gone: bool,
    value: impl FnOnce() -> Option<V>,
) -> Option<()> {
    match is_gone {
        true => drop(map.remove(&key)),
        false => drop(map.insert(key, value()?)),
    }
    Some(())
}

/// `db`, `17`, or `17.2` for a column.
fn object_key(of: Guarded) -> String {
    match of {
        Guarded::Database => "db".to_owned(),
        Guarded::Object(id) => id.0.to_string(),
        Guarded::Column(id, number) => format!("{}.{}", id.0, number.0),
    }
}

fn read_key(text: &str) -> Option<Guarded> {
    if text == "db" {
        return Some(Guarded::Database);
    }
    Some(match text.split_once('.') {
        None => Guarded::Object(ObjectId(text.parse().ok()?)),
        Some((id, number)) => Guarded::Column(ObjectId(id.parse().ok()?), ColumnNumber(number.parse().ok()?)),
    })
}

fn read_id(json: &Json) -> Option<RoleId> {
    Some(RoleId(json.as_u64()?.try_into().ok()?))
}

fn write_role(role: &Role) -> Json {
    let attributes = role.attributes;
    json!({
        "name": role.name,
        "superuser": attributes.is_superuser,
        "inherit": attributes.inherits,
        "createrole": attributes.creates_roles,
        "createdb": attributes.creates_databases,
        "login": attributes.can_log_in,
        "replication": attributes.replicates,
        "bypassrls": attributes.bypasses_rls,
        "connections": role.connection_limit,
        "verifier": role.verifier.as_deref(),
        "until": role.valid_until,
    })
}

fn read_role(id: RoleId, json: &Json) -> Option<Role> {
    Some(Role {
        id,
        name: json["name"].as_str()?.to_owned(),
        attributes: Attributes {
            is_superuser: json["superuser"].as_bool()?,
            inherits: json["inherit"].as_bool()?,
            creates_roles: json["createrole"].as_bool()?,
            creates_databases: json["createdb"].as_bool()?,
            can_log_in: json["login"].as_bool()?,
            replicates: json["replication"].as_bool()?,
            bypasses_rls: json["bypassrls"].as_bool()?,
        },
        connection_limit: json["connections"].as_i64()?.try_into().ok()?,
        verifier: match &json["verifier"] {
            Json::Null => None,
            text => Some(text.as_str()?.into()),
        },
        valid_until: match &json["until"] {
            Json::Null => None,
            micros => Some(micros.as_i64()?),
        },
    })
}

/// A list of privileges: grantee, grantor, rights, those that may be granted further.
fn write_acl(acl: &Acl) -> Json {
    let items = acl.0.iter();
    let items = items.map(|item| json!([item.grantee.0, item.grantor.0, item.rights.0, item.grantable.0]));
    items.collect()
}

fn read_acl(json: &Json) -> Option<Acl> {
    let rights = |json: &Json| Some(Rights(json.as_u64()?.try_into().ok()?));
    let items = json.as_array()?.iter().map(|item| {
        Some(AclItem {
            grantee: read_id(&item[0])?,
            grantor: read_id(&item[1])?,
            rights: rights(&item[2])?,
            grantable: rights(&item[3])?,
        })
    });
    items.collect::<Option<_>>().map(Acl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_rules_comes_back() {
        let before = AccessRules::initial();
        let role = Role {
            id: RoleId(16_400),
            name: "größe \"x\"".to_owned(),
            connection_limit: 3,
            verifier: Some("SCRAM-SHA-256$4096:a$b:c".into()),
            valid_until: Some(-5),
            ..Role::clone(&before.roles[&RoleId::SUPERUSER])
        };
        let mut after = AccessRules::clone(&before);
        let acl = Acl(vec![AclItem {
            grantee: RoleId::PUBLIC,
            grantor: role.id,
            rights: Rights::SELECT | Rights::CONNECT,
            grantable: Rights::SELECT,
        }]);
        let table = ObjectId(7);
        for of in [
            Guarded::Database,
            Guarded::Object(table),
            Guarded::Column(table, ColumnNumber(2)),
        ] {
            after.acls.insert(of, acl.clone());
            after.owners.insert(of, role.id);
        }
        let member = Membership {
            grantor: RoleId::SUPERUSER,
            is_admin: true,
        };
        after.members.insert((RoleId::MONITOR, role.id), member);
        for kind in DefaultKind::ALL {
            for schema in [None, Some(ObjectId(0))] {
                let of = DefaultsOf {
                    role: role.id,
                    schema,
                    kind,
                };
                after.defaults.insert(of, acl.clone());
            }
        }
        after.roles.insert(role.id, Arc::new(role));
        let change = difference(&before, &after);
        assert_eq!(*applied(&before, &change).unwrap(), after);
        let after = Arc::new(after);
        let back = difference(&after, &before);
        assert_eq!(applied(&after, &back).unwrap(), before);
        assert_eq!(difference(&before, &before), json!({}));
        assert_eq!(applied(&before, &json!({ "role x": 1 })), None);
    }
}
