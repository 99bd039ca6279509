//! The tables of a snapshot by their ids: an immutable tree, of which a change copies one path. So a commit
//! costs what it touches, however many tables there are.

use crate::snapshot::TableSnapshot;
use frazil_types::ObjectId;
use std::sync::Arc;

/// Bits of an id that one level of the tree tells apart.
const BITS: u32 = 4;
const FAN_OUT: usize = 1 << BITS;

/// Tables by id. A clone shares everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableMap {
    root: Option<Arc<Node>>,
    /// Levels below the root.
    height: u32,
}

#[derive(Clone, Debug)]
enum Node {
    Inner([Option<Arc<Node>>; FAN_OUT]),
    Leaf([Option<Arc<TableSnapshot>>; FAN_OUT]),
}

/// The place in a node of level `level`, counted from the leaves.
fn place(id: ObjectId, level: u32) -> usize {
    (id.0 >> (BITS * level)) as usize % FAN_OUT
}

impl TableMap {
    /// A table.
    pub fn get(&self, id: ObjectId) -> Option<&Arc<TableSnapshot>> {
        if !self.reaches(id) {
            return None;
        }
        let (mut node, mut level) = (self.root.as_ref()?, self.height);
        loop {
            match &**node {
                Node::Leaf(tables) => return tables[place(id, 0)].as_ref(),
                Node::Inner(nodes) => node = nodes[place(id, level)].as_ref()?,
            }
            level -= 1;
        }
    }

    /// A table, to be changed: the path to it becomes this map's own.
    pub fn get_mut(&mut self, id: ObjectId) -> Option<&mut Arc<TableSnapshot>> {
        // Where there is none no path is copied.
        self.get(id)?;
        self.cell(id).as_mut()
    }

    /// Puts a table in, or another version of it.
    pub fn insert(&mut self, id: ObjectId, table: Arc<TableSnapshot>) {
        while !self.reaches(id) {
            let mut nodes: [Option<Arc<Node>>; FAN_OUT] = Default::default();
            nodes[0] = self.root.take();
            if nodes[0].is_some() {
                self.root = Some(Arc::new(Node::Inner(nodes)));
            }
            self.height += 1;
        }
        *self.cell(id) = Some(table);
    }

    /// Takes a table away.
    pub fn remove(&mut self, id: ObjectId) {
        if self.get(id).is_some() {
            *self.cell(id) = None;
        }
    }

    /// All tables in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<TableSnapshot>> {
        let mut open: Vec<&Node> = self.root.as_deref().into_iter().collect();
        let mut leaf: std::slice::Iter<'_, Option<Arc<TableSnapshot>>> = [].iter();
        std::iter::from_fn(move || {
            loop {
                if let Some(table) = leaf.next() {
                    match table {
                        Some(table) => return Some(table),
                        None => continue,
                    }
                }
                match open.pop()? {
                    Node::Leaf(tables) => leaf = tables.iter(),
                    Node::Inner(nodes) => open.extend(nodes.iter().rev().flatten().map(|n| &**n)),
                }
            }
        })
    }

    fn reaches(&self, id: ObjectId) -> bool {
        id.0.checked_shr(BITS * (self.height + 1)).unwrap_or(0) == 0
    }

    /// The cell of an id that the height reaches, on a path of this map's own.
    fn cell(&mut self, id: ObjectId) -> &mut Option<Arc<TableSnapshot>> {
        let mut level = self.height;
        let mut node = Arc::make_mut(self.root.get_or_insert_with(|| Arc::new(Node::empty(level))));
        loop {
            match node {
                Node::Leaf(tables) => return &mut tables[place(id, 0)],
                Node::Inner(nodes) => {
                    let below = &mut nodes[place(id, level)];
                    level -= 1;
                    node = Arc::make_mut(below.get_or_insert_with(|| Arc::new(Node::empty(level))));
                }
            }
        }
    }
}

impl Node {
    fn empty(level: u32) -> Node {
        match level {
            0 => Node::Leaf(Default::default()),
            _ => Node::Inner(Default::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Table;
    use frazil_catalog::{TableEntry, TableOptions};
    use frazil_types::Schema;

    fn table(id: u32) -> Arc<TableSnapshot> {
        let (schema, options) = (Arc::new(Schema::default()), TableOptions::default());
        let entry = TableEntry::new(ObjectId(id), format!("t{id}"), schema, options);
        Arc::new(TableSnapshot::empty(Table::new(Arc::new(entry), 0)))
    }

    fn ids(map: &TableMap) -> Vec<u32> {
        map.iter().map(|t| t.table().id().0).collect()
    }

    #[test]
    fn a_map_holds_what_was_put_in_and_its_clones_what_they_held() {
        let mut map = TableMap::default();
        let all = [1u32, 2, 15, 16, 17, 255, 256, 4095, 4096, 70_000, u32::MAX];
        let mut before = Vec::new();
        for (i, &id) in all.iter().rev().enumerate() {
            before.push((map.clone(), i));
            assert!(map.get(ObjectId(id)).is_none());
            map.insert(ObjectId(id), table(id));
        }
        assert_eq!(ids(&map), all);
        for (clone, length) in before {
            assert_eq!(ids(&clone), all[all.len() - length..]);
        }
        let clone = map.clone();
        for &id in &all {
            assert_eq!(map.get(ObjectId(id)).unwrap().table().id(), ObjectId(id));
            map.remove(ObjectId(id));
            assert!(map.get(ObjectId(id)).is_none() && map.get_mut(ObjectId(id)).is_none());
        }
        assert!(ids(&map).is_empty());
        assert_eq!(ids(&clone), all);
    }

    #[test]
    fn a_change_copies_one_path_and_leaves_the_other_tables_alone() {
        let mut map = TableMap::default();
        (1..1000).for_each(|id| map.insert(ObjectId(id), table(id)));
        let clone = map.clone();
        *map.get_mut(ObjectId(500)).unwrap() = table(500);
        for id in 1..1000 {
            let same = Arc::ptr_eq(map.get(ObjectId(id)).unwrap(), clone.get(ObjectId(id)).unwrap());
            assert_eq!(same, id != 500);
        }
    }
}
