//! Changes of the tree's shape: splits, and branches that are taken away when their last entry goes. See `tree.rs` for why
//! they cannot wait for each other.

use crate::node::Visit;
use crate::probe::Probe;
use crate::sync::Ordering;
use crate::tree::{Side, Tree};

impl Tree {
    /// Splits the first full node on the way to a probe, if none of its latches is taken: the caller looks again anyway.
    pub(crate) fn split(&self, probe: &Probe) {
        let _ = self.try_split(probe);
    }

    fn try_split(&self, probe: &Probe) -> Option<()> {
        let mut parent: Option<(Visit<'_>, usize)> = None;
        let mut visit = self.visit_root();
        loop {
            let child = self.position(&visit, probe, Side::Right)?;
            if visit.count == self.layout.capacity(visit.level) {
                return match parent {
                    Some((parent, at)) => self.split_below(parent, at, visit, child),
                    None => self.split_root(visit, child),
                };
            }
            if visit.level == 0 {
                return None;
            }
            let next = self.visit_child(&visit, child)?;
            parent = Some((visit, child));
            visit = next;
        }
    }

    /// Splits child `at` of a parent that has room, for the sake of an entry at position `wanted` of the child.
    fn split_below(&self, parent: Visit<'_>, at: usize, visit: Visit<'_>, wanted: usize) -> Option<()> {
        let mut parent = parent.latch()?;
        let Some(mut node) = visit.latch() else {
            parent.unlatch_unchanged();
            return None;
        };
        let (separator, right) = self.split_latched(&mut node, wanted);
        node.unlatch();
        parent.insert_child_and_entry(self, at, &separator, right);
        parent.unlatch();
        Some(())
    }

    /// Splits the root: the tree becomes one level higher.
    fn split_root(&self, visit: Visit<'_>, wanted: usize) -> Option<()> {
        let mut node = visit.latch()?;
        let address = node.node.address;
        if self.root.load(Ordering::Relaxed) != address {
            node.unlatch_unchanged();
            return None;
        }
        let mut root = self.node(self.nodes.take()).claim(node.level + 1);
        // The new root leads to the old one before that is unlatched, so that nobody finds half of the tree.
        root.set_child(&self.layout, 0, address);
        let new_root = root.node.address;
        let (separator, right) = self.split_latched(&mut node, wanted);
        root.insert_child_and_entry(self, 0, &separator, right);
        root.unlatch();
        self.root.store(new_root, Ordering::Release);
        node.unlatch();
        Some(())
    }

    /// Moves the upper part of a latched node to a new one; gives separator and address.
    fn split_latched(&self, node: &mut Visit<'_>, wanted: usize) -> (Probe, u64) {
        let valid = "a latched node is valid";
        let mut right = self.node(self.nodes.take()).claim(node.level);
        let at = split_position(node.count, wanted);
        let separator = if node.level == 0 {
            let separator = separator(
                &self.entry(node, at - 1).expect(valid),
                &self.entry(node, at).expect(valid),
            );
            node.move_entries(&self.layout, at, &mut right);
            separator
        } else {
            // The separator at `at` moves up; what is behind it moves to the right, with the children.
            let separator = self.entry(node, at).expect(valid);
            let first = node.child(&self.layout, at + 1);
            right.set_child(&self.layout, 0, first);
            node.move_entries(&self.layout, at + 1, &mut right);
            self.forget_tail(node, at);
            node.set_count(at);
            separator
        };
        let address = right.node.address;
        right.unlatch();
        (separator, address)
    }

    /// Gives back the tail of an entry that leaves a latched node.
    pub(crate) fn forget_tail(&self, node: &Visit<'_>, entry: usize) {
        // SAFETY: the node is latched, the entry is its own and leaves it.
        unsafe { self.tails.remove(node.tail(&self.layout, entry)) };
    }

    /// Removes an entry if `still` says so.
    pub(crate) fn remove_entry(&self, probe: &Probe, still: &dyn Fn() -> bool) -> bool {
        loop {
            let leaf = self.leaf(probe, Side::Right, None);
            let Some(at) = self.position(&leaf, probe, Side::Left) else {
                continue;
            };
            let Some(found) = self.finds(&leaf, at, probe) else {
                continue;
            };
            if !found {
                if leaf.is_valid() {
                    return false;
                }
                continue;
            }
            let Some(mut leaf) = leaf.latch() else { continue };
            if !still() {
                leaf.unlatch_unchanged();
                return false;
            }
            self.forget_tail(&leaf, at);
            leaf.remove_entry(&self.layout, at);
            let empty = leaf.count == 0;
            leaf.unlatch();
            self.entries.fetch_sub(1, Ordering::Relaxed);
            if empty {
                self.unlink(probe);
            }
            return true;
        }
    }

    /// True if the entry at a position is the probe's. `None`: start again.
    fn finds(&self, leaf: &Visit<'_>, at: usize, probe: &Probe) -> Option<bool> {
        let same_row = at < leaf.count && leaf.row(&self.layout, at) == probe.row;
        Some(same_row && self.has_key(leaf, at, probe)?)
    }

    /// Takes the leaf of a probe out of the tree if it is empty, and the branch that leads to nothing else.
    fn unlink(&self, probe: &Probe) {
        while self.try_unlink(probe).is_none() {}
    }

    /// `None`: start again.
    fn try_unlink(&self, probe: &Probe) -> Option<()> {
        // The way from the lowest node with two children down to the leaf, and which child of it is on the way.
        let mut branch: Vec<Visit<'_>> = Vec::new();
        let mut at = 0;
        let mut visit = self.visit_root();
        while visit.level > 0 {
            let child = self.position(&visit, probe, Side::Right)?;
            if visit.count > 0 {
                branch.clear();
                at = child;
            }
            let next = self.visit_child(&visit, child)?;
            branch.push(visit);
            visit = next;
        }
        if visit.count > 0 || branch.first().is_none_or(|top| top.count == 0) {
            // Filled again, or the whole tree is empty.
            return visit.is_valid().then_some(());
        }
        branch.push(visit);
        let mut latched: Vec<Visit<'_>> = Vec::with_capacity(branch.len());
        for visit in branch {
            match visit.latch() {
                Some(visit) => latched.push(visit),
                None => {
                    latched.into_iter().for_each(Visit::unlatch_unchanged);
                    return None;
                }
            }
        }
        let mut nodes = latched.into_iter();
        let mut top = nodes.next().expect("a node with two children");
        let separator = at.saturating_sub(1);
        self.forget_tail(&top, separator);
        top.remove_child(&self.layout, at);
        top.remove_entry(&self.layout, separator);
        top.unlatch();
        for node in nodes {
            node.unlatch_obsolete();
            self.nodes.give_back(node.node.address);
        }
        Some(())
    }
}

impl Visit<'_> {
    /// Puts a separator at a position of a latched inner node, and the child to its right. The node is not full.
    fn insert_child_and_entry(&mut self, tree: &Tree, at: usize, separator: &Probe, right: u64) {
        tree.put_entry(self, at, separator);
        self.insert_child(&tree.layout, at + 1, right);
    }
}

/// Number of entries that stay, of `count` in a full node that wants another at `wanted`: half of them, but nearly all where the new
/// one comes last, and one where it comes first. So ascending keys fill nodes whole.
fn split_position(count: usize, wanted: usize) -> usize {
    if wanted == count {
        count - 1
    } else if wanted == 0 {
        1
    } else {
        count / 2
    }
}

/// The shortest separator of two neighbours: their words up to the first one in which they differ, and row id 0 unless they have
/// the same key.
pub(crate) fn separator(left: &Probe, right: &Probe) -> Probe {
    let (a, b) = (left.words(), right.words());
    let words = a.len().max(b.len());
    let word = |words: &[u64], i: usize| words.get(i).copied().unwrap_or(0);
    match (0..words).find(|&i| word(a, i) != word(b, i)) {
        Some(at) => Probe::of_words(&b[..=at], 0),
        None => right.clone(),
    }
}
