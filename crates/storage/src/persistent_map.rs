//! An immutable map from numbers to values, kept as a tree of which a change copies one path: what versions hold
//! many of, tables and chunks, is in such maps. So a commit costs what it touches, however many there are.

use std::sync::Arc;

/// Bits of a number that one level of the tree tells apart.
const BITS: u32 = 4;
const FAN_OUT: usize = 1 << BITS;

/// Values by number, in the order of their numbers. A clone shares everything; a change clones the values that are
/// in one leaf with the changed one, so values are best pointers.
#[derive(Clone, Debug)]
pub(crate) struct PersistentMap<V> {
    root: Option<Arc<Node<V>>>,
    /// Levels below the root.
    height: u32,
    len: usize,
}

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nodes lie behind pointers of their own; leaves hold pointers, too"
)]
enum Node<V> {
    Inner([Child<V>; FAN_OUT]),
    Leaf([Option<V>; FAN_OUT]),
}

#[derive(Clone, Debug)]
struct Child<V> {
    /// `None` if there are no values below.
    node: Option<Arc<Node<V>>>,
    /// Values below.
    len: u32,
}

impl<V> Default for PersistentMap<V> {
    fn default() -> PersistentMap<V> {
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

impl<V: Clone> PersistentMap<V> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The value of a number.
    pub fn get(&self, number: u32) -> Option<&V> {
        if !self.reaches(number) {
            return None;
        }
        let (mut node, mut level) = (self.root.as_ref()?, self.height);
        loop {
            match &**node {
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
            match &**node {
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
                self.root = Some(Arc::new(Node::Inner(children)));
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
            match Arc::make_mut(this) {
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
        let mut open: Vec<&Node<V>> = self.root.as_deref().into_iter().collect();
        let mut leaf: std::slice::Iter<'_, Option<V>> = [].iter();
        std::iter::from_fn(move || {
            loop {
                if let Some(value) = leaf.next() {
                    match value {
                        Some(value) => return Some(value),
                        None => continue,
                    }
                }
                match open.pop()? {
                    Node::Leaf(values) => leaf = values.iter(),
                    Node::Inner(children) => {
                        open.extend(children.iter().rev().filter_map(|c| c.node.as_deref()))
                    }
                }
            }
        })
    }

    fn reaches(&self, number: u32) -> bool {
        number.checked_shr(BITS * (self.height + 1)).unwrap_or(0) == 0
    }

    /// The cell of a number that the height reaches, on a path of this map's own. `more`: how many values will be
    /// there that were not.
    fn cell(&mut self, number: u32, more: u32) -> &mut Option<V> {
        let mut level = self.height;
        let mut node = Arc::make_mut(self.root.get_or_insert_with(|| Arc::new(Node::empty(level))));
        loop {
            match node {
                Node::Leaf(values) => return &mut values[place(number, 0)],
                Node::Inner(children) => {
                    let child = &mut children[place(number, level)];
                    child.len += more;
                    level -= 1;
                    node = Arc::make_mut(child.node.get_or_insert_with(|| Arc::new(Node::empty(level))));
                }
            }
        }
    }
}

impl<V> Node<V> {
    fn empty(level: u32) -> Node<V> {
        match level {
            0 => Node::Leaf(std::array::from_fn(|_| None)),
            _ => Node::Inner(empty_children()),
        }
    }
}

fn empty_children<V>() -> [Child<V>; FAN_OUT] {
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
        let mut map = PersistentMap::default();
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
            let mut map = PersistentMap::default();
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
}
