//! The name of an object, or of all objects that begin alike: `s3://BUCKET/KEY`.

use frazil_types::{Error, Result, SqlState};
use std::fmt;

/// Schemes of stores, each with the kind of store that it names.
const SCHEMES: [(&str, StoreKind); 6] = [
    ("s3://", StoreKind::S3),
    ("s3a://", StoreKind::S3),
    ("gs://", StoreKind::Google),
    ("az://", StoreKind::Azure),
    ("abfs://", StoreKind::Azure),
    ("abfss://", StoreKind::Azure),
];

/// A kind of store: the protocol that it speaks, and the environment variables that configure it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreKind {
    /// S3, and stores that speak its protocol.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
}

/// The address of an object or of a prefix of objects. It holds no credentials: a URL that does is refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectUrl {
    text: String,
    /// Byte at which the key begins.
    key: usize,
}

impl ObjectUrl {
    /// Reads an address. `None` for texts that begin with no scheme of a store (`s3://`, `s3a://`, `gs://`, `az://`,
    /// `abfs://`, `abfss://`): they are paths. 22023 for a URL that lacks a bucket, or holds credentials, a query or a
    /// fragment. A `?` without a parameter behind it is a letter of a pattern, not a query.
    pub fn parse(text: &str) -> Option<Result<ObjectUrl>> {
        let (scheme, kind) = scheme_of(text)?;
        Some(parsed(&text[scheme.len()..], scheme, kind))
    }

    /// True if a text names an object of a store, well or not.
    pub fn is_url(text: &str) -> bool {
        scheme_of(text).is_some()
    }

    /// The name of the object in its bucket, without a first `/`.
    pub fn key(&self) -> &str {
        &self.text[self.key..]
    }

    /// The address of another object of the bucket.
    pub fn with_key(&self, key: &str) -> ObjectUrl {
        ObjectUrl {
            text: format!("{}{key}", self.root()),
            key: self.key,
        }
    }

    /// The scheme and the bucket, up to the `/` in front of the key.
    pub(crate) fn root(&self) -> &str {
        &self.text[..self.key]
    }

    /// The name of the bucket; for Azure with the account behind `@`, if the URL names it.
    pub(crate) fn bucket(&self) -> &str {
        let from = scheme_of(&self.text).map_or(0, |(scheme, _)| scheme.len());
        self.text[from..self.key].trim_end_matches('/')
    }

    /// The kind of the store.
    pub(crate) fn kind(&self) -> StoreKind {
        scheme_of(&self.text).map_or(StoreKind::S3, |(_, kind)| kind)
    }
}

impl fmt::Display for ObjectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The scheme that a text begins with, in any case of letters.
fn scheme_of(text: &str) -> Option<(&'static str, StoreKind)> {
    let begins = |scheme: &str| {
        let first = text.get(..scheme.len());
        first.is_some_and(|first| first.eq_ignore_ascii_case(scheme))
    };
    SCHEMES.into_iter().find(|(scheme, _)| begins(scheme))
}

/// The address whose text behind the scheme is `rest`. Errors show no text that may be a secret.
fn parsed(rest: &str, scheme: &str, kind: StoreKind) -> Result<ObjectUrl> {
    let wrong = |what: &str| {
        let message = format!("the URL \"{scheme}…\" {what}");
        Error::new(SqlState::INVALID_PARAMETER, message)
    };
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    let (container, account) = match bucket.split_once('@') {
        Some((container, account)) => (container, Some(account)),
        None => (bucket, None),
    };
    let has_secrets = bucket.contains(':') || (account.is_some() && kind != StoreKind::Azure);
    if has_secrets {
        return Err(wrong("holds credentials or a port").with_hint(
            "set credentials and the address of the store in the environment, such as AWS_ACCESS_KEY_ID, \
             AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL, before the program starts",
        ));
    }
    if rest.contains('#') || has_query(rest) {
        return Err(wrong("has a query or a fragment").with_hint(format!(
            "name the object alone: '{scheme}bucket/key'; credentials come from the environment"
        )));
    }
    let is_name =
        |text: &str| !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "*?[".contains(c));
    if !is_name(container) || account.is_some_and(|account| !is_name(account)) {
        return Err(wrong("names no bucket").with_hint(format!("name one: '{scheme}bucket/key'")));
    }
    let root = format!("{scheme}{bucket}/");
    Ok(ObjectUrl {
        key: root.len(),
        text: format!("{root}{}", key.trim_start_matches('/')),
    })
}

/// True for `?name=` anywhere: the parameter of a query, such as that of a signed URL.
fn has_query(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    text.match_indices('?').any(|(at, _)| {
        let behind = &text[at + 1..];
        let name = behind.find(|c| !is_name(c)).unwrap_or(behind.len());
        name > 0 && behind[name..].starts_with('=')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ObjectUrl> {
        ObjectUrl::parse(text).expect("a URL of a store")
    }

    #[test]
    fn addresses_have_a_bucket_and_a_key() {
        for (text, root, bucket, key) in [
            ("s3://b/a/b.csv", "s3://b/", "b", "a/b.csv"),
            ("S3A://b/a", "s3a://b/", "b", "a"),
            ("gs://b", "gs://b/", "b", ""),
            ("az://c/", "az://c/", "c", ""),
            ("s3://b//x", "s3://b/", "b", "x"),
            ("s3://b/year=202?/x-*.csv", "s3://b/", "b", "year=202?/x-*.csv"),
            ("s3://b/part-?.csv", "s3://b/", "b", "part-?.csv"),
            ("s3://b/ü 1%20.csv", "s3://b/", "b", "ü 1%20.csv"),
            (
                "abfss://c@acc.dfs.core.windows.net/k",
                "abfss://c@acc.dfs.core.windows.net/",
                "c@acc.dfs.core.windows.net",
                "k",
            ),
        ] {
            let url = read(text).expect(text);
            assert_eq!(
                (url.root(), url.bucket(), url.key()),
                (root, bucket, key),
                "{text}"
            );
            assert_eq!(url.with_key("other").to_string(), format!("{root}other"));
        }
        for path in [
            "a.csv",
            "/s3/x",
            "s3:/b/x",
            "file:///x",
            "http://b/x",
            "",
            "s3",
            "ü://x",
            "s3:/",
        ] {
            assert!(
                ObjectUrl::parse(path).is_none() && !ObjectUrl::is_url(path),
                "{path}"
            );
        }
    }

    #[test]
    fn secrets_in_addresses_are_refused_and_not_shown() {
        for text in [
            "s3://key:s3cr3t@b/x",
            "s3://s3cr3t@b/x",
            "s3://b:9000/s3cr3t",
            "abfss://c:s3cr3t@acc/k",
            "s3://b/x.csv?X-Amz-Signature=s3cr3t&x=1",
            "s3://b/x.csv?sig=s3cr3t",
            "s3://b/x#s3cr3t",
            "s3://?a=s3cr3t",
            "s3://",
            "s3:///s3cr3t",
            "s3://b*/s3cr3t",
            "gs:// /x",
            "abfs://c@/x",
            "abfs://@a/x",
        ] {
            let error = read(text).expect_err(text);
            assert_eq!(error.state(), SqlState::INVALID_PARAMETER, "{text}");
            let shown = format!("{error:?}");
            assert!(!shown.contains("s3cr3t") && error.hint().is_some(), "{shown}");
        }
    }
}
