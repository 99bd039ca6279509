//! An immutable map from numbers to values, kept as a tree of which a change copies one path: what versions hold
//! many of, tables and chunks, is in such maps. So a commit costs what it touches, however many there are.
//!
//! A map can be seen through a [`Lens`], which changes all of its values at once: ADD COLUMN shows other columns of
//! all chunks. That costs nothing at first. A node is seen when somebody first opens it: its values are made then, and
//! its children become links that are seen later. Whoever opens a node makes it for all maps that share the link, and
//! lets go of the node that was looked at. Links are never seen through two lenses: the second lens comes after the
//! first one, and one look makes the values.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// Bits of a number that one level of the tree tells apart.
const BITS: u32 = 4;
const FAN_OUT: usize = 1 << BITS;

/// Makes of each value of a map another one.
pub(crate) trait Lens<V>: Clone {
    /// Returns the value that stands in place of `value`.
    fn see(&self, value: &V) -> V;

    /// Returns a lens that does what `first` does, and then what this one does.
    fn after(&self, first: &Self) -> Self;
}

/// The lens of maps that nobody looks at through one. It shows the values as they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unchanged;

impl<V: Clone> Lens<V> for Unchanged {
    fn see(&self, value: &V) -> V {
        value.clone()
    }

    fn after(&self, _: &Unchanged) -> Unchanged {
        Unchanged
    }
}

/// Values by number, in the order of their numbers. A clone shares everything; a change clones the values that are
/// in one leaf with the changed one, so values are best pointers.
#[derive(Clone, Debug)]
pub(crate) struct PersistentMap<V, L = Unchanged> {
    root: Option<Link<V, L>>,
    /// Levels below the root.
    height: u32,
    len: usize,
}

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nodes lie behind pointers of their own; leaves hold pointers, too"
)]
enum Node<V, L> {
    Inner([Child<V, L>; FAN_OUT]),
    Leaf([Option<V>; FAN_OUT]),
}

#[derive(Clone, Debug)]
struct Child<V, L> {
    /// `None` if there are no values below.
    node: Option<Link<V, L>>,
    /// Values below.
    len: u32,
}

/// The way to a node.
#[derive(Clone, Debug)]
enum Link<V, L> {
    Direct(Arc<Node<V, L>>),
    Seen(Arc<SeenNode<V, L>>),
}

/// A node that is looked at, and the lens; `None` as soon as it was seen.
type Unseen<V, L> = Option<(Arc<Node<V, L>>, L)>;

/// A node that is seen through a lens.
#[derive(Debug)]
struct SeenNode<V, L> {
    unseen: Mutex<Unseen<V, L>>,
    seen: OnceLock<Arc<Node<V, L>>>,
}

impl<V, L> SeenNode<V, L> {
    fn new(node: Arc<Node<V, L>>, lens: L) -> Arc<SeenNode<V, L>> {
        Arc::new(SeenNode {
            unseen: Mutex::new(Some((node, lens))),
            seen: OnceLock::new(),
        })
    }

    fn unseen(&self) -> MutexGuard<'_, Unseen<V, L>> {
        self.unseen.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl<V: Clone, L: Lens<V>> SeenNode<V, L> {
    /// The node as the lens shows it.
    fn open(&self) -> &Arc<Node<V, L>> {
        self.seen.get_or_init(|| {
            let mut unseen = self.unseen();
            let (node, lens) = unseen.as_ref().expect("a node that was not seen is there");
            let seen = Arc::new(node.through(lens));
            *unseen = None;
            seen
        })
    }
}

impl<V: Clone, L: Lens<V>> Link<V, L> {
    /// The node, with the values that it has by now.
    fn open(&self) -> &Arc<Node<V, L>> {
        match self {
            Link::Direct(node) => node,
            Link::Seen(seen) => seen.open(),
        }
    }

    /// True if both lead to one node. False also if they do and it cannot be told cheaply.
    fn is_same(&self, other: &Link<V, L>) -> bool {
        match (self, other) {
            (Link::Direct(one), Link::Direct(other)) => Arc::ptr_eq(one, other),
            (Link::Seen(one), Link::Seen(other)) => Arc::ptr_eq(one, other),
            (Link::Direct(node), Link::Seen(seen)) | (Link::Seen(seen), Link::Direct(node)) => {
                seen.seen.get().is_some_and(|seen| Arc::ptr_eq(seen, node))
            }
        }
    }

    /// The node, which becomes this link's own.
    fn own(&mut self) -> &mut Node<V, L> {
        if let Link::Seen(seen) = self {
            *self = Link::Direct(seen.open().clone());
        }
        match self {
            Link::Direct(node) => Arc::make_mut(node),
            Link::Seen(_) => unreachable!("the link was opened"),
        }
    }

    /// The link through a lens, behind the one through which it is seen already.
    fn through(&self, lens: &L) -> Link<V, L> {
        let seen = match self {
            Link::Direct(node) => SeenNode::new(node.clone(), lens.clone()),
            Link::Seen(seen) => {
                let unseen = seen.unseen();
                match &*unseen {
                    Some((node, first)) => SeenNode::new(node.clone(), lens.after(first)),
                    None => {
                        drop(unseen);
                        SeenNode::new(seen.open().clone(), lens.clone())
                    }
                }
            }
        };
        Link::Seen(seen)
    }
}

/// A node and its level, counted from the leaves.
struct Subtree<'a, V, L> {
    /// `None` if there are no values.
    node: Option<&'a Link<V, L>>,
    height: u32,
}

impl<V, L> Clone for Subtree<'_, V, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V, L> Copy for Subtree<'_, V, L> {}

impl<'a, V: Clone, L: Lens<V>> Subtree<'a, V, L> {
    /// True if both have the same node, or none.
    fn is_same(self, other: Self) -> bool {
        match (self.node, other.node) {
            (Some(one), Some(two)) => self.height == other.height && one.is_same(two),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    /// The value at a place of a leaf.
    fn value(self, at: usize) -> Option<&'a V> {
        match &**self.node?.open() {
            Node::Leaf(values) => values[at].as_ref(),
            Node::Inner(_) => None,
        }
    }

    /// The child at a place of a node of level `level`, which is this one, or a node above it that has no other child.
    fn below(self, level: u32, at: usize) -> Subtree<'a, V, L> {
        let child = |node: &'a Link<V, L>| match &**node.open() {
            Node::Inner(children) => children[at].node.as_ref(),
            Node::Leaf(_) => None,
        };
        match self.height < level {
            true => Subtree {
                node: self.node.filter(|_| at == 0),
                height: if at == 0 { self.height } else { level - 1 },
            },
            false => Subtree {
                node: self.node.and_then(child),
                height: level - 1,
            },
        }
    }
}

impl<V, L> Default for PersistentMap<V, L> {
    fn default() -> PersistentMap<V, L> {
        PersistentMap {
            root: None,
            height: 0,
            len: 0,
        }
    }
}

/// The place of a number in a node of level `level`, counted from the leaves.
fn place(number: u32, level: u32) -> usize {
    (number >> (BITS * level)) as usize % FAN_OUT
}

impl<V: Clone, L: Lens<V>> PersistentMap<V, L> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The map whose values are those of this one through a lens. Costs as much for any number of values; each value
    /// is made when it is first needed.
    pub fn seen_through(&self, lens: &L) -> PersistentMap<V, L> {
        PersistentMap {
            root: self.root.as_ref().map(|root| root.through(lens)),
            ..*self
        }
    }

    /// The value of a number.
    pub fn get(&self, number: u32) -> Option<&V> {
        if !self.reaches(number) {
            return None;
        }
        let (mut node, mut level) = (self.root.as_ref()?, self.height);
        loop {
            match &**node.open() {
                Node::Leaf(values) => return values[place(number, 0)].as_ref(),
                Node::Inner(children) => node = children[place(number, level)].node.as_ref()?,
            }
            level -= 1;
        }
    }

    /// The value of a number, to be changed: the path to it becomes this map's own.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut V> {
        // Where there is none no path is copied.
        self.get(number)?;
        self.cell(number, 0).as_mut()
    }

    /// The value that `position` others stand before, in the order of their numbers.
    pub fn at(&self, mut position: usize) -> Option<&V> {
        let mut node = self.root.as_ref()?;
        loop {
            match &**node.open() {
                Node::Leaf(values) => return values.iter().flatten().nth(position),
                Node::Inner(children) => {
                    let mut below = children.iter();
                    node = loop {
                        let child = below.next()?;
                        match position.checked_sub(child.len as usize) {
                            Some(rest) => position = rest,
                            None => break child.node.as_ref()?,
                        }
                    };
                }
            }
        }
    }

    /// Puts a value in, or another one in its place.
    pub fn insert(&mut self, number: u32, value: V) {
        while !self.reaches(number) {
            self.height += 1;
            if let Some(root) = self.root.take() {
                let mut children = empty_children();
                children[0] = Child {
                    node: Some(root),
                    len: self.len as u32,
                };
                self.root = Some(Link::Direct(Arc::new(Node::Inner(children))));
            }
        }
        let more = u32::from(self.get(number).is_none());
        *self.cell(number, more) = Some(value);
        self.len += more as usize;
    }

    /// Takes a value away.
    pub fn remove(&mut self, number: u32) {
        if self.get(number).is_none() {
            return;
        }
        self.len -= 1;
        if self.len == 0 {
            self.root = None;
            return;
        }
        let mut level = self.height;
        let mut node = self.root.as_mut();
        while let Some(this) = node {
            match this.own() {
                Node::Leaf(values) => {
                    values[place(number, 0)] = None;
                    return;
                }
                Node::Inner(children) => {
                    let child = &mut children[place(number, level)];
                    child.len -= 1;
                    if child.len == 0 {
                        child.node = None;
                        return;
                    }
                    node = child.node.as_mut();
                    level -= 1;
                }
            }
        }
    }

    /// All values in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &V> {
        let mut open: Vec<&Link<V, L>> = self.root.iter().collect();
        let mut leaf: std::slice::Iter<'_, Option<V>> = [].iter();
        std::iter::from_fn(move || {
            loop {
                if let Some(value) = leaf.next() {
                    match value {
                        Some(value) => return Some(value),
                        None => continue,
                    }
                }
                match &**open.pop()?.open() {
                    Node::Leaf(values) => leaf = values.iter(),
                    Node::Inner(children) => {
                        open.extend(children.iter().rev().filter_map(|c| c.node.as_ref()))
                    }
                }
            }
        })
    }

    /// The numbers, ascending, whose values differ from those of another map by `differ`, or that one of both maps
    /// lacks. What the maps share is not looked at.
    pub fn different(&self, other: &Self, differ: impl Fn(&V, &V) -> bool) -> Vec<u32> {
        let mut found = Vec::new();
        if self.top().is_same(other.top()) {
            return found;
        }
        let differ = |one: Option<&V>, other: Option<&V>| match (one, other) {
            (Some(one), Some(other)) => differ(one, other),
            (one, other) => one.is_some() || other.is_some(),
        };
        let mut open = vec![(self.top(), other.top(), 0)];
        while let Some((one, other, first)) = open.pop() {
            if one.is_same(other) {
                continue;
            }
            if one.height == 0 && other.height == 0 {
                let values = (0..FAN_OUT).filter(|&at| differ(one.value(at), other.value(at)));
                found.extend(values.map(|at| first + at as u32));
                continue;
            }
            let level = one.height.max(other.height);
            let below = |at: usize| {
                let first = first + ((at as u32) << (BITS * level));
                (one.below(level, at), other.below(level, at), first)
            };
            open.extend((0..FAN_OUT).rev().map(below));
        }
        found
    }

    fn top(&self) -> Subtree<'_, V, L> {
        Subtree {
            node: self.root.as_ref(),
            height: self.height,
        }
    }

    fn reaches(&self, number: u32) -> bool {
        number.checked_shr(BITS * (self.height + 1)).unwrap_or(0) == 0
    }

    /// The cell of a number that the height reaches, on a path of this map's own. `more`: how many values will be
    /// there that were not.
    fn cell(&mut self, number: u32, more: u32) -> &mut Option<V> {
        let mut level = self.height;
        let mut node = self.root.get_or_insert_with(|| Link::empty(level)).own();
        loop {
            match node {
                Node::Leaf(values) => return &mut values[place(number, 0)],
                Node::Inner(children) => {
                    let child = &mut children[place(number, level)];
                    child.len += more;
                    level -= 1;
                    node = child.node.get_or_insert_with(|| Link::empty(level)).own();
                }
            }
        }
    }
}

impl<V, L> Link<V, L> {
    fn empty(level: u32) -> Link<V, L> {
        Link::Direct(Arc::new(match level {
            0 => Node::Leaf(std::array::from_fn(|_| None)),
            _ => Node::Inner(empty_children()),
        }))
    }
}

impl<V: Clone, L: Lens<V>> Node<V, L> {
    /// The node through a lens: its values, or the ways to its children.
    fn through(&self, lens: &L) -> Node<V, L> {
        let child = |child: &Child<V, L>| Child {
            node: child.node.as_ref().map(|node| node.through(lens)),
            len: child.len,
        };
        match self {
            Node::Inner(children) => Node::Inner(children.each_ref().map(child)),
            Node::Leaf(values) => Node::Leaf(
                values
                    .each_ref()
                    .map(|value| value.as_ref().map(|value| lens.see(value))),
            ),
        }
    }
}

fn empty_children<V, L>() -> [Child<V, L>; FAN_OUT] {
    std::array::from_fn(|_| Child { node: None, len: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn contents(map: &PersistentMap<u32>) -> Vec<u32> {
        let all: Vec<u32> = map.iter().copied().collect();
        let by_position: Vec<u32> = (0..map.len()).map(|i| *map.at(i).unwrap()).collect();
        assert_eq!(all, by_position);
        assert!(map.at(map.len()).is_none());
        all
    }

    #[test]
    fn a_map_holds_what_was_put_in_and_its_clones_what_they_held() {
        let mut map: PersistentMap<u32> = PersistentMap::default();
        let all = [1u32, 2, 15, 16, 17, 255, 256, 4095, 4096, 70_000, u32::MAX];
        let mut before = Vec::new();
        for (i, &number) in all.iter().rev().enumerate() {
            before.push((map.clone(), i));
            assert!(map.get(number).is_none());
            map.insert(number, number);
            map.insert(number, number);
        }
        assert_eq!(contents(&map), all);
        for (clone, length) in before {
            assert_eq!(contents(&clone), all[all.len() - length..]);
        }
        let clone = map.clone();
        for &number in &all {
            assert_eq!(map.get(number), Some(&number));
            map.remove(number);
            map.remove(number);
            assert!(map.get(number).is_none() && map.get_mut(number).is_none());
            contents(&map);
        }
        assert!(contents(&map).is_empty());
        assert_eq!(contents(&clone), all);
    }

    thread_local!(static CLONED: Cell<usize> = const { Cell::new(0) });

    #[derive(Debug)]
    struct Counted;

    impl Clone for Counted {
        fn clone(&self) -> Counted {
            CLONED.set(CLONED.get() + 1);
            Counted
        }
    }

    #[test]
    fn a_change_copies_as_many_values_however_many_there_are() {
        let copied = |values: u32| {
            let mut map: PersistentMap<Counted> = PersistentMap::default();
            (0..values).for_each(|number| map.insert(number, Counted));
            let shared = map.clone();
            CLONED.set(0);
            map.get_mut(1).unwrap();
            map.get_mut(1).unwrap();
            let copied = CLONED.get();
            drop(shared);
            copied
        };
        assert_eq!(copied(3), 3);
        assert_eq!(copied(16), 16);
        assert_eq!(copied(3_000), 16);
    }

    thread_local!(static SEEN: Cell<usize> = const { Cell::new(0) });

    /// Multiplies by the first number, and then adds the second one.
    #[derive(Clone, Copy, Debug)]
    struct Linear(u32, u32);

    impl Lens<u32> for Linear {
        fn see(&self, value: &u32) -> u32 {
            SEEN.set(SEEN.get() + 1);
            value.wrapping_mul(self.0).wrapping_add(self.1)
        }

        fn after(&self, first: &Linear) -> Linear {
            Linear(
                first.0.wrapping_mul(self.0),
                first.1.wrapping_mul(self.0).wrapping_add(self.1),
            )
        }
    }

    #[test]
    fn a_map_is_seen_when_it_is_read_and_no_more_of_it_than_is_read() {
        let mut map: PersistentMap<u32, Linear> = PersistentMap::default();
        (0..3_000).for_each(|number| map.insert(number, number));
        SEEN.set(0);
        let seen = map.seen_through(&Linear(2, 1));
        assert_eq!((SEEN.get(), seen.len()), (0, 3_000));
        let clone = seen.clone();
        assert_eq!((seen.get(700), SEEN.get()), (Some(&1_401), 16));
        assert_eq!((clone.at(701), SEEN.get()), (Some(&1_403), 16));
        // Many lenses are looked through at once.
        let mut again = seen.clone();
        (0..100_000).for_each(|_| again = again.seen_through(&Linear(1, 1)));
        SEEN.set(0);
        assert_eq!((again.get(2), SEEN.get()), (Some(&100_005), 16));
        assert_eq!(again.get(701), Some(&101_403));
        assert_eq!(map.get(700), Some(&700));
    }

    #[test]
    fn maps_that_are_seen_and_changed_hold_what_lists_do() {
        for seed in 1..40u32 {
            let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
            let mut below = |limit: u32| {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                state % limit
            };
            let mut map: PersistentMap<u32, Linear> = PersistentMap::default();
            let mut model = std::collections::BTreeMap::new();
            let mut kept = Vec::new();
            for _ in 0..200 {
                let number = below(5) * below(900);
                match below(8) {
                    0..4 => {
                        map.insert(number, number);
                        model.insert(number, number);
                    }
                    4 => {
                        map.remove(number);
                        model.remove(&number);
                    }
                    5 => assert_eq!(map.get(number), model.get(&number)),
                    6 => {
                        kept.push((map.clone(), model.clone()));
                        for (old, old_model) in &kept {
                            let mut numbers: Vec<u32> =
                                model.keys().chain(old_model.keys()).copied().collect();
                            numbers.sort_unstable();
                            numbers.dedup();
                            numbers.retain(|number| model.get(number) != old_model.get(number));
                            assert_eq!(map.different(old, |one, other| one != other), numbers);
                        }
                    }
                    _ => {
                        let lens = Linear(below(9), below(9));
                        map = map.seen_through(&lens);
                        model.values_mut().for_each(|value| *value = lens.see(value));
                    }
                }
            }
            kept.push((map, model));
            for (map, model) in kept {
                assert_eq!(map.len(), model.len());
                assert!(map.iter().eq(model.values()));
                assert!((0..map.len()).all(|at| map.at(at).is_some()));
            }
        }
    }
}
