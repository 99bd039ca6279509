//! The ordered tree in memory: a B+-tree whose readers take no latch.
//!
//! # Why ours
//! Of the crates that are kept, congee knows keys of 8 bytes only, SCC's tree and crossbeam's skip list take three to five times
//! as long, and none of them lets insertion look at other entries of the key under the same latch, which a unique
//! index over versions of rows needs. What is left is small: nodes of words, one latch, four operations.
//!
//! # Shape
//! Entries are (key, row id), all different, in leaves; an entry of an inner node separates the children on its two sides: those
//! less than it lie on the left. A separator is cut to the first word in which its neighbours differ, with row id 0, so that
//! all rows of a key lie to its right. Keys are compared word by word; most decide in the first word.
//!
//! # Readers: optimistic lock coupling (Leis, Haubenschild, Neumann 2019)
//! Going down, a reader notes a node's version, reads which child to take, checks the version, notes the child's version, and
//! checks the parent's again: so, at the moment of the last check, the child was the parent's. Any change seen on the way means starting at
//! the root again. The root is checked in the same way against `root`. An address is followed only after the version of the node that it
//! was read from was checked; memory of nodes is never anything but nodes (`memory.rs`), so the check of a stale node fails instead
//! of faulting.
//!
//! # Writers
//! - Most change one leaf: they come as readers and turn the version they noted into the latch (`Visit::latch`), which fails if
//!   anything changed.
//! - **Splits** go from the top: whoever finds his leaf full goes down again and splits the first full node on his way, holding its
//!   parent, which is not full. He starts again until his leaf has room. Both latches are tried, not waited for.
//! - **Unlinking**: who empties a leaf goes down again, latches the lowest node with two children, and all below it on the way,
//!   by trying, and takes the branch away. Its range falls to a neighbour, which needs no latch: who is in the neighbour sees a
//!   range that has become wider, which makes nothing wrong that he knows. Leaves that are merely sparse stay, as in PostgreSQL.
//! - **Unique insertion** starts at the place of (key, 0). In most cases all entries of the key, and the new one's place, lie in that
//!   leaf: one latch. Else (`Tree::insert_beyond`) it latches the leaves of the key from left to right, and *waits* for each: those
//!   who wait hold leaves to the left of what they wait for, all others try, so no circle forms. The first leaf is
//!   the same for all insertions of a key, so that one of them goes first.
//!
//! # Scans
//! A scan copies what it needs of a leaf, with the separators that bound the leaf's range, checks the version, and only then shows
//! anything. It goes on at the bound by going down again, so that leaves need no links to their neighbours.

use crate::memory::Pieces;
use crate::node::{Layout, Node, Visit};
use crate::ordered_index::{Direction, Inserted, KeyRange, OrderedIndex, Verdict};
use crate::probe::Probe;
use crate::sync::{Counter, Ordering, Word, wait};
use crate::tails::{MOST_TAIL_WORDS, Tails};
use frazil_types::{KeySpec, RowId};
use std::cmp;

/// Words of a node: 1 KiB holds 63 entries of one word and its row id, in sixteen cache lines. They are asked for together, so that
/// a node out of cache costs one wait, not one for each step of the search.
const NODE_WORDS: usize = 128;
/// Most words of a key that stand in nodes if all keys have this length; else [`VARYING_WORDS`].
const FIXED_WORDS: usize = 6;
/// Words of a key that stand in nodes, the rest apart, if keys have various lengths: 24 bytes hold most names and codes whole.
const VARYING_WORDS: usize = 3;
/// Most bytes of a key.
pub const MOST_KEY_BYTES: usize = MOST_TAIL_WORDS * 8;

/// An ordered tree of (key, row id).
#[derive(Debug)]
pub struct Tree {
    pub(crate) layout: Layout,
    /// Address of the root.
    pub(crate) root: Word,
    pub(crate) nodes: Pieces,
    pub(crate) tails: Tails,
    pub(crate) entries: Counter,
}

/// The separators on both sides of a node's range, the tightest on the way to it. `None`: there is none on this side.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    /// The least entry that may be within.
    pub lower: Option<Probe>,
    /// The least entry beyond.
    pub upper: Option<Probe>,
}

/// Which of two children a probe that equals their separator belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The left one: entries less than the probe are sought.
    Left,
    /// The right one: the probe itself is sought.
    Right,
    /// The last child of all, whatever the probe.
    Last,
}

impl Tree {
    /// An empty tree for the keys of a spec.
    pub fn new(spec: &KeySpec) -> Tree {
        match spec.fixed_bytes().map(|bytes| bytes.div_ceil(8).max(1)) {
            Some(words) if words <= FIXED_WORDS => Tree::with_nodes(words, false, NODE_WORDS),
            _ => Tree::with_nodes(VARYING_WORDS, true, NODE_WORDS),
        }
    }

    /// An empty tree whose nodes have `node_words` words and hold `key_words` words of each key; with `tailed`, keys may have
    /// more. For tests that want many nodes of few entries.
    ///
    /// # Panics
    /// If nodes are too small for three entries.
    pub fn with_nodes(key_words: usize, tailed: bool, node_words: usize) -> Tree {
        let layout = Layout::new(key_words, tailed, node_words);
        let nodes = Pieces::new(node_words);
        let root = nodes.take();
        let tree = Tree {
            layout,
            root: Word::new(),
            nodes,
            tails: Tails::new(),
            entries: Counter::new(0),
        };
        tree.root.store(root, Ordering::Release);
        tree.node(root).claim(0).unlatch();
        tree
    }

    /// The node at an address that came from `root` or from a child of a node that was found valid.
    #[inline]
    pub(crate) fn node(&self, address: u64) -> Node<'_> {
        debug_assert_ne!(address, 0);
        // SAFETY: nothing but addresses of nodes of this tree is ever stored in `root` or as a child; every caller checked the
        // version of the node from which he has the address.
        unsafe { Node::at(&self.nodes, address) }
    }

    /// The root, and a visit to it that began while it was the root.
    #[inline]
    pub(crate) fn visit_root(&self) -> Visit<'_> {
        loop {
            let address = self.root.load(Ordering::Acquire);
            let visit = self.node(address).visit();
            if let Some(visit) = visit
                && self.root.load(Ordering::Acquire) == address
            {
                return visit;
            }
        }
    }

    /// The child of a visited node, at a moment when it was its child. `None`: start again.
    #[inline]
    pub(crate) fn visit_child<'t>(&'t self, parent: &Visit<'t>, child: usize) -> Option<Visit<'t>> {
        let address = parent.child(&self.layout, child);
        if !parent.is_valid() {
            return None;
        }
        let node = self.node(address);
        node.prefetch(&self.layout, parent.level - 1);
        let visit = node.visit()?;
        parent.is_valid().then_some(visit)
    }

    /// The leaf of a probe; with `fences`, its bounds are noted there. What is read of the leaf must be validated.
    #[inline]
    pub(crate) fn leaf(&self, probe: &Probe, side: Side, mut fences: Option<&mut Fences>) -> Visit<'_> {
        loop {
            let fences = fences.as_deref_mut();
            if let Some(leaf) = self.try_leaf(probe, side, fences) {
                return leaf;
            }
        }
    }

    #[inline]
    fn try_leaf(&self, probe: &Probe, side: Side, mut fences: Option<&mut Fences>) -> Option<Visit<'_>> {
        let mut visit = self.visit_root();
        if let Some(fences) = fences.as_deref_mut() {
            *fences = Fences::default();
        }
        while visit.level > 0 {
            let child = self.position(&visit, probe, side)?;
            if let Some(fences) = fences.as_deref_mut() {
                self.note_fences(&visit, child, fences)?;
            }
            visit = self.visit_child(&visit, child)?;
        }
        Some(visit)
    }

    /// Notes the separators beside a child.
    fn note_fences(&self, parent: &Visit<'_>, child: usize, fences: &mut Fences) -> Option<()> {
        if child > 0 {
            fences.lower = Some(self.entry(parent, child - 1)?);
        }
        if child < parent.count {
            fences.upper = Some(self.entry(parent, child)?);
        }
        Some(())
    }

    /// The leaf of (key, 0), and whether entries of the key may follow in the next leaf. What is read of the leaf must be
    /// validated.
    #[inline]
    pub(crate) fn leaf_of_key(&self, low: &Probe) -> (Visit<'_>, bool) {
        loop {
            if let Some(found) = self.try_leaf_of_key(low) {
                return found;
            }
        }
    }

    #[inline]
    fn try_leaf_of_key(&self, low: &Probe) -> Option<(Visit<'_>, bool)> {
        let mut visit = self.visit_root();
        let mut beyond = false;
        while visit.level > 0 {
            let child = self.position(&visit, low, Side::Right)?;
            if child < visit.count {
                beyond = self.has_key(&visit, child, low)?;
            }
            visit = self.visit_child(&visit, child)?;
        }
        Some((visit, beyond))
    }

    /// Number of a node's entries that are less than the probe, and with [`Side::Right`] those that equal it. `None`: start again.
    #[inline]
    pub(crate) fn position(&self, visit: &Visit<'_>, probe: &Probe, side: Side) -> Option<usize> {
        if side == Side::Last {
            return Some(visit.count);
        }
        let heads = visit.column(&self.layout, 0);
        let head = probe.words()[0];
        let first = partition(heads, |word| word < head);
        if first == heads.len() || heads[first].read() != head {
            return Some(first);
        }
        let mut from = first;
        let mut to = first + 1;
        if to < heads.len() && heads[to].read() == head {
            to += partition(&heads[to..], |word| word <= head);
        }
        while from < to {
            let middle = from.midpoint(to);
            let before = match self.compare_rest(visit, middle, probe)? {
                cmp::Ordering::Less => true,
                cmp::Ordering::Equal => side == Side::Right,
                cmp::Ordering::Greater => false,
            };
            if before { from = middle + 1 } else { to = middle }
        }
        Some(from)
    }

    /// The order of an entry and a probe whose first words are equal.
    #[inline]
    fn compare_rest(&self, visit: &Visit<'_>, entry: usize, probe: &Probe) -> Option<cmp::Ordering> {
        let order = self.compare_key_rest(visit, entry, probe)?;
        Some(order.then_with(|| visit.row(&self.layout, entry).cmp(&probe.row)))
    }

    /// The order of an entry's key and a probe's whose first words are equal.
    #[inline]
    fn compare_key_rest(&self, visit: &Visit<'_>, entry: usize, probe: &Probe) -> Option<cmp::Ordering> {
        for c in 1..self.layout.key_words {
            match visit.word(&self.layout, c, entry).cmp(&probe.words()[c]) {
                cmp::Ordering::Equal => {}
                unequal => return Some(unequal),
            }
        }
        if !self.layout.tailed {
            return Some(cmp::Ordering::Equal);
        }
        let tail = visit.tail(&self.layout, entry);
        // SAFETY: the tail is an entry's in a node that is valid.
        (tail == 0 || visit.is_valid())
            .then(|| unsafe { self.tails.compare(tail, probe, self.layout.key_words) })
    }

    /// True if an entry has the key of a probe.
    #[inline]
    pub(crate) fn has_key(&self, visit: &Visit<'_>, entry: usize, probe: &Probe) -> Option<bool> {
        if visit.word(&self.layout, 0, entry) != probe.words()[0] {
            return Some(false);
        }
        Some(self.compare_key_rest(visit, entry, probe)?.is_eq())
    }

    /// True if a fence has the key of a probe.
    fn fence_has_key(fence: Option<&Probe>, probe: &Probe) -> bool {
        fence.is_some_and(|fence| {
            let (a, b) = (fence.words(), probe.words());
            let words = a.len().max(b.len());
            (0..words).all(|i| a.get(i).unwrap_or(&0) == b.get(i).unwrap_or(&0))
        })
    }

    /// A copy of an entry.
    pub(crate) fn entry(&self, visit: &Visit<'_>, entry: usize) -> Option<Probe> {
        let row = visit.row(&self.layout, entry);
        let tail = visit.tail(&self.layout, entry);
        if tail == 0 && self.layout.key_words <= FIXED_WORDS {
            let mut words = [0; FIXED_WORDS];
            let words = &mut words[..self.layout.key_words];
            (0..words.len()).for_each(|c| words[c] = visit.word(&self.layout, c, entry));
            return Some(Probe::of_words(words, row));
        }
        let mut words = Vec::new();
        self.copy_key(visit, entry, &mut words)?;
        Some(Probe::of_words(&words, row))
    }

    /// Appends the words of an entry's key.
    pub(crate) fn copy_key(&self, visit: &Visit<'_>, entry: usize, out: &mut Vec<u64>) -> Option<()> {
        out.extend((0..self.layout.key_words).map(|c| visit.word(&self.layout, c, entry)));
        let tail = visit.tail(&self.layout, entry);
        if tail != 0 {
            if !visit.is_valid() {
                return None;
            }
            // SAFETY: the tail is an entry's in a node that is valid.
            out.extend(unsafe { self.tails.words(tail) }.iter().map(Word::read));
        }
        Some(())
    }

    /// The probe of a key.
    pub(crate) fn probe(&self, key: &[u8], row: u64) -> Probe {
        Probe::new(key, row, self.layout.key_words)
    }

    /// Puts an entry into a latched leaf that has room.
    fn put(&self, mut leaf: Visit<'_>, at: usize, probe: &Probe) {
        self.put_entry(&mut leaf, at, probe);
        leaf.unlatch();
        self.entries.fetch_add(1, Ordering::Relaxed);
    }

    /// Puts an entry with a tail of its own into a latched node that has room.
    pub(crate) fn put_entry(&self, node: &mut Visit<'_>, at: usize, probe: &Probe) {
        let words = probe.words();
        let rest = words.get(self.layout.key_words..).unwrap_or(&[]);
        let tail = self.layout.tailed.then(|| self.tails.add(rest));
        let columns = (0..self.layout.key_words)
            .map(|c| words.get(c).copied().unwrap_or(0))
            .chain(tail)
            .chain([probe.row]);
        node.insert_entry(&self.layout, at, columns);
    }

    /// Inserts without looking at others of the key.
    fn insert_alone(&self, probe: &Probe) -> Inserted {
        loop {
            let leaf = self.leaf(probe, Side::Right, None);
            let Some(at) = self.position(&leaf, probe, Side::Left) else {
                continue;
            };
            if leaf.count == self.layout.leaf_entries {
                self.split(probe);
                continue;
            }
            let Some(leaf) = leaf.latch() else { continue };
            if self.is_entry(&leaf, at, probe) {
                leaf.unlatch_unchanged();
                return Inserted::Present;
            }
            self.put(leaf, at, probe);
            return Inserted::Added;
        }
    }

    /// True if the entry at a position of a latched leaf is the probe's.
    fn is_entry(&self, leaf: &Visit<'_>, at: usize, probe: &Probe) -> bool {
        at < leaf.count
            && leaf.row(&self.layout, at) == probe.row
            && self.has_key(leaf, at, probe).expect("a latched leaf is valid")
    }

    /// Inserts unless a row of the key is a rival.
    fn insert_among(&self, probe: &Probe, rivals: &mut dyn FnMut(RowId) -> Verdict) -> Inserted {
        let mut low = probe.clone();
        low.row = 0;
        loop {
            let (leaf, beyond) = self.leaf_of_key(&low);
            if leaf.count == self.layout.leaf_entries {
                self.split(&low);
                continue;
            }
            let Some(leaf) = leaf.latch() else { continue };
            if beyond {
                match self.insert_beyond(leaf, &low, probe, rivals) {
                    Some(inserted) => return inserted,
                    None => continue,
                }
            }
            match self.look_at_rivals(&leaf, &low, probe, rivals) {
                Some(found) => {
                    leaf.unlatch_unchanged();
                    return found;
                }
                None => {
                    let at = self.position(&leaf, probe, Side::Left);
                    self.put(leaf, at.expect("a latched leaf is valid"), probe);
                    return Inserted::Added;
                }
            }
        }
    }

    /// Shows the rows of a key in a latched leaf to `rivals`; what became of the insertion, if that is clear.
    fn look_at_rivals(
        &self,
        leaf: &Visit<'_>,
        low: &Probe,
        probe: &Probe,
        rivals: &mut dyn FnMut(RowId) -> Verdict,
    ) -> Option<Inserted> {
        let mut at = self
            .position(leaf, low, Side::Left)
            .expect("a latched leaf is valid");
        let mut present = None;
        while at < leaf.count && self.has_key(leaf, at, probe).expect("a latched leaf is valid") {
            let row = leaf.row(&self.layout, at);
            if row == probe.row {
                present = Some(Inserted::Present);
            } else if rivals(RowId(row)) == Verdict::Rival {
                return Some(Inserted::Refused(RowId(row)));
            }
            at += 1;
        }
        present
    }

    /// Inserts a key whose entries may lie in several leaves, the first of which is latched: latches them all. `None`: start
    /// again.
    fn insert_beyond(
        &self,
        first: Visit<'_>,
        low: &Probe,
        probe: &Probe,
        rivals: &mut dyn FnMut(RowId) -> Verdict,
    ) -> Option<Inserted> {
        let mut held = vec![first];
        let mut fences = Fences::default();
        self.leaf_address(low, &mut fences);
        while Tree::fence_has_key(fences.upper.as_ref(), probe) {
            let next = fences.upper.take().expect("a fence that has the key");
            self.hold_leaf(&next, &mut fences, &mut held);
        }
        let mut found = None;
        for leaf in &held {
            found = self.look_at_rivals(leaf, low, probe, rivals).or(found);
            if matches!(found, Some(Inserted::Refused(_))) {
                break;
            }
        }
        let target = self.leaf_address(probe, &mut Fences::default());
        let target = held.iter().position(|leaf| leaf.node.address == target);
        let target = held.swap_remove(target.expect("a leaf of the key is latched"));
        held.into_iter().for_each(Visit::unlatch_unchanged);
        if found.is_none() && target.count < self.layout.leaf_entries {
            let at = self.position(&target, probe, Side::Left);
            self.put(target, at.expect("a latched leaf is valid"), probe);
            return Some(Inserted::Added);
        }
        target.unlatch_unchanged();
        if found.is_none() {
            self.split(probe);
        }
        found
    }

    /// Latches the leaf of a probe, unless it is held already, and notes its fences.
    fn hold_leaf<'t>(&'t self, probe: &Probe, fences: &mut Fences, held: &mut Vec<Visit<'t>>) {
        let mut round = 0;
        loop {
            let address = self.leaf_address(probe, fences);
            if held.iter().any(|leaf| leaf.node.address == address) {
                return;
            }
            let Some(leaf) = self.node(address).try_latch() else {
                wait(&mut round);
                continue;
            };
            if self.leaf_address(probe, fences) == address {
                held.push(leaf);
                return;
            }
            leaf.unlatch_unchanged();
        }
    }

    /// Address of a probe's leaf, which may be latched, by the caller or another; notes its fences.
    fn leaf_address(&self, probe: &Probe, fences: &mut Fences) -> u64 {
        loop {
            if let Some(address) = self.try_leaf_address(probe, fences) {
                return address;
            }
        }
    }

    fn try_leaf_address(&self, probe: &Probe, fences: &mut Fences) -> Option<u64> {
        let mut visit = self.visit_root();
        *fences = Fences::default();
        assert_ne!(visit.level, 0, "a leaf with fences has a parent");
        loop {
            let child = self.position(&visit, probe, Side::Right)?;
            self.note_fences(&visit, child, fences)?;
            if visit.level == 1 {
                let address = visit.child(&self.layout, child);
                return visit.is_valid().then_some(address);
            }
            visit = self.visit_child(&visit, child)?;
        }
    }
}

/// Number of words for which `before` is true: they stand in front of all others. Counts first the last words of eights, then those
/// of one eight: no step waits for the one before it, and nothing is guessed, as in a search by halves.
#[inline]
fn partition(words: &[Word], before: impl Fn(u64) -> bool) -> usize {
    let (eights, rest) = words.as_chunks::<8>();
    let count = |words: &[Word]| -> usize { words.iter().map(|w| usize::from(before(w.read()))).sum() };
    let whole: usize = eights
        .iter()
        .map(|eight| usize::from(before(eight[7].read())))
        .sum();
    let last = eights.get(whole).map_or(rest, |eight| &eight[..]);
    whole * 8 + count(last)
}

impl OrderedIndex for Tree {
    fn insert(&self, key: &[u8], row: RowId, rivals: Option<&mut dyn FnMut(RowId) -> Verdict>) -> Inserted {
        assert!(key.len() <= MOST_KEY_BYTES, "a key of {} bytes", key.len());
        let probe = self.probe(key, row.0);
        match rivals {
            Some(rivals) => self.insert_among(&probe, rivals),
            None => self.insert_alone(&probe),
        }
    }

    fn remove(&self, key: &[u8], row: RowId, still: &dyn Fn() -> bool) -> bool {
        self.remove_entry(&self.probe(key, row.0), still)
    }

    fn get(&self, key: &[u8], found: &mut dyn FnMut(RowId) -> bool) {
        self.rows_of(&self.probe(key, 0), found);
    }

    fn contains(&self, key: &[u8], row: RowId) -> bool {
        self.has_entry(&self.probe(key, row.0))
    }

    fn range(&self, range: KeyRange<'_>, direction: Direction, found: &mut dyn FnMut(&[u8], RowId) -> bool) {
        self.scan(range, direction, found);
    }

    fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> usize {
        self.nodes.bytes() + self.tails.bytes()
    }
}
