//! Objects by a pattern of their keys.

use crate::{ObjectMeta, ObjectStore, ObjectUrl};
use frazil_types::{Cancel, Error, Result, SqlState};
use glob::{MatchOptions, Pattern};

/// Letters that make a key a pattern.
const WILD: [char; 3] = ['*', '?', '['];
/// As the shell matches paths: `*` and `?` stand for no `/`, and a first `.` is a letter as others.
const AS_PATHS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

impl ObjectUrl {
    /// True if the key has letters that stand for others: `*`, `?` or `[`.
    pub fn is_pattern(&self) -> bool {
        self.key().contains(WILD)
    }

    /// The longest part of a pattern in which each letter stands for itself, up to the last `/` in it.
    pub fn fixed_prefix(&self) -> ObjectUrl {
        let wild = self.key().find(WILD).unwrap_or(self.key().len());
        let end = self.key()[..wild].rfind('/').map_or(0, |slash| slash + 1);
        self.with_key(&self.key()[..end])
    }
}

impl ObjectStore {
    /// The objects whose keys match a pattern, in the order of their keys: `*` and `?` stand for letters but `/`,
    /// `[…]` for one of several, `**` for any folders. 22023 for a pattern that is none; others as of
    /// [`ObjectStore::list`].
    pub fn matching(&self, pattern: &ObjectUrl, cancel: &Cancel) -> Result<Vec<ObjectMeta>> {
        let keys = Pattern::new(pattern.key()).map_err(|e| {
            let message = format!("\"{pattern}\" is not a pattern of objects: {e}");
            Error::new(SqlState::INVALID_PARAMETER, message)
        })?;
        let mut found = self.list(&pattern.fixed_prefix(), cancel)?;
        found.retain(|object| keys.matches_with(object.url.key(), AS_PATHS));
        Ok(found)
    }
}
