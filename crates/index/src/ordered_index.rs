//! What an ordered index promises, whatever holds its entries.

use frazil_types::RowId;

/// Entries (key, row id), ordered by key and then by row id; every entry occurs once. Several rows may have one key: an index
/// is unique only by what `rivals` says on insertion.
///
/// Entries are **candidates**. An index does not know which rows are alive, nor for whom: whoever finds an entry checks that
/// its row exists, is visible to him and has the key. So an entry is added after its row was written, and stays as long as
/// any version of the row with this key may be read.
///
/// Keys are those of one [`KeySpec`](frazil_types::KeySpec): no key is a proper prefix of another one. All methods may be
/// called from many threads at once; none of them waits for a transaction.
pub trait OrderedIndex: Send + Sync {
    /// Adds an entry. With `rivals`, the rows that have the key already, `row` itself apart, are shown first, in order,
    /// until one is a [`Verdict::Rival`]: then nothing is added. Looking and adding are one operation: of two threads
    /// that insert one key, the second one sees the first one's entry.
    ///
    /// `rivals` runs under a latch: it must be quick, must not wait, and must not call the index.
    fn insert(&self, key: &[u8], row: RowId, rivals: Option<&mut dyn FnMut(RowId) -> Verdict>) -> Inserted;

    /// Removes an entry if `still` says so; true if an entry was removed. `still` is asked, once, if the entry exists, under
    /// the latch that inserting the same entry takes, so that nobody inserts the entry between answer and removal. The rules
    /// for `rivals` hold for it.
    fn remove(&self, key: &[u8], row: RowId, still: &dyn Fn() -> bool) -> bool;

    /// Shows the rows of a key in order, until `found` gives false. An entry that is in the index from beginning to end of the
    /// call is shown, once; one that comes or goes meanwhile may be. `found` may call the index.
    fn get(&self, key: &[u8], found: &mut dyn FnMut(RowId) -> bool);

    /// True if the index has the entry of a key and a row. Costs no more where many rows have the key. The promise is
    /// that of [`OrderedIndex::get`].
    fn contains(&self, key: &[u8], row: RowId) -> bool;

    /// Shows the entries of a range in the order of `direction`, until `found` gives false; the promise is that of
    /// [`OrderedIndex::get`]. The keys shown may have zero bytes behind their end.
    fn range(&self, range: KeyRange<'_>, direction: Direction, found: &mut dyn FnMut(&[u8], RowId) -> bool);

    /// Number of entries.
    fn entries(&self) -> u64;

    /// Bytes of memory.
    fn bytes(&self) -> usize;
}

/// What a row with the same key is to a row that is being inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The row does not count: it is dead, is the one that is being replaced, or has another key by now.
    NoRival,
    /// The row has the key: the other one must not be added.
    Rival,
}

/// What became of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The entry was added.
    Added,
    /// The very entry, key and row id, was there already; nothing changed.
    Present,
    /// This row was found to be a rival; nothing changed.
    Refused(RowId),
}

/// Keys from `from` on and below `to`, in the order of bytes. Either may be the beginning of a key:
/// [`after_prefix`](frazil_types::key_encoding::after_prefix) makes the bound behind all keys that begin alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyRange<'a> {
    /// The least key within; `None`: from the first one on.
    pub from: Option<&'a [u8]>,
    /// The least key beyond; `None`: to the last one.
    pub to: Option<&'a [u8]>,
}

/// The order in which entries are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Smaller keys, and row ids of one key, first.
    Ascending,
    /// Greater keys, and row ids of one key, first.
    Descending,
}
