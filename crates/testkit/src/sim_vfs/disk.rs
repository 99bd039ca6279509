//! What lies on a simulated disk: files and directories as a process sees them, and what a power cut leaves of them.

use crate::Random;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Bytes that a disk writes whole or not at all.
pub(crate) const SECTOR: usize = 512;

/// Number of a file or directory on its disk.
pub(crate) type NodeId = usize;

/// Files and directories. Node 0 is the root.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    nodes: Vec<Node>,
    /// Bytes that all files may have together.
    pub capacity: u64,
}

#[derive(Clone, Debug)]
enum Node {
    File(FileNode),
    Directory(DirectoryNode),
    /// A symbolic link, and what it leads to.
    Link(PathBuf),
}

/// A path, and the directory that a relative one starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'p> {
    pub from: NodeId,
    pub path: &'p Path,
}

impl<'p> At<'p> {
    /// The directory of its last name, and that name.
    fn split(self) -> io::Result<(At<'p>, &'p OsStr)> {
        let name = self.path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let above = self.path.parent().unwrap_or(Path::new(""));
        Ok((
            At {
                from: self.from,
                path: above,
            },
            name,
        ))
    }
}

/// Links that a path may lead through.
const MOST_LINKS: usize = 8;

#[derive(Clone, Debug, Default)]
struct FileNode {
    /// What a process reads.
    bytes: Vec<u8>,
    /// What the last successful sync left on the disk.
    durable: Vec<u8>,
    /// Sectors written since, by number, each with all the contents that it had, in order. The disk may hold any of them.
    pending: BTreeMap<usize, Vec<Vec<u8>>>,
}

#[derive(Clone, Debug, Default)]
struct DirectoryNode {
    entries: BTreeMap<OsString, NodeId>,
    durable: BTreeMap<OsString, NodeId>,
    /// Changes since the last successful sync, in order. The disk may hold any of them.
    pending: Vec<Change>,
}

/// A change of a directory, which the disk has whole or not at all.
#[derive(Clone, Debug)]
enum Change {
    Link(OsString, NodeId),
    Unlink(OsString),
    Rename(OsString, OsString, NodeId),
}

impl Change {
    fn apply(self, entries: &mut BTreeMap<OsString, NodeId>) {
        match self {
            Change::Link(name, node) => drop(entries.insert(name, node)),
            Change::Unlink(name) => drop(entries.remove(&name)),
            Change::Rename(from, to, node) => {
                entries.remove(&from);
                entries.insert(to, node);
            }
        }
    }
}

impl DirectoryNode {
    fn change(&mut self, change: Change) {
        change.clone().apply(&mut self.entries);
        self.pending.push(change);
    }
}

impl FileNode {
    fn write(&mut self, offset: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let (old, end) = (self.bytes.len(), offset + bytes.len());
        self.bytes.resize(old.max(end), 0);
        self.bytes[offset..end].copy_from_slice(bytes);
        // What lies between the old end and the new bytes is written as zeros.
        for sector in offset.min(old) / SECTOR..end.div_ceil(SECTOR) {
            let start = sector * SECTOR;
            let content = &self.bytes[start..self.bytes.len().min(start + SECTOR)];
            self.pending.entry(sector).or_default().push(content.to_vec());
        }
    }

    fn put_durable(&mut self, sector: usize, content: &[u8]) {
        let start = sector * SECTOR;
        let end = self.durable.len().max(start + content.len());
        self.durable.resize(end, 0);
        self.durable[start..start + content.len()].copy_from_slice(content);
    }

    /// Each sector of its own may get on the disk in any of its contents, or not at all.
    fn settle(&mut self, random: &mut Random) {
        let pending = std::mem::take(&mut self.pending);
        let grown = !pending.is_empty() && random.below(4) == 0;
        for (sector, contents) in pending {
            // The newest as often as the one from before the first write.
            let kept = match random.below(3) {
                0 => continue,
                1 => contents.len() - 1,
                _ => random.index(contents.len()),
            };
            self.put_durable(sector, &contents[kept]);
        }
        if grown {
            // The length came through, bytes did not.
            let len = self.durable.len().max(self.bytes.len());
            self.durable.resize(len, 0);
        }
    }
}

impl Disk {
    /// An empty root without a limit.
    pub fn new() -> Disk {
        Disk {
            nodes: vec![Node::Directory(DirectoryNode::default())],
            capacity: u64::MAX,
        }
    }

    /// The node that a path leads to, through links; `..` is not understood.
    pub fn find(&self, at: At<'_>) -> io::Result<NodeId> {
        self.follow(at, MOST_LINKS)
    }

    fn follow(&self, at: At<'_>, links: usize) -> io::Result<NodeId> {
        let mut node = at.from;
        for component in at.path.components() {
            let name = match component {
                Component::CurDir => continue,
                Component::RootDir => {
                    node = 0;
                    continue;
                }
                Component::Normal(name) => name,
                Component::ParentDir | Component::Prefix(_) => return Err(io::ErrorKind::Unsupported.into()),
            };
            let entries = &self.directory(node)?.entries;
            let next = *entries.get(name).ok_or(io::ErrorKind::NotFound)?;
            node = match &self.nodes[next] {
                Node::Link(_) if links == 0 => return Err(io::Error::other("too many links (simulated)")),
                Node::Link(target) => self.follow(
                    At {
                        from: node,
                        path: target,
                    },
                    links - 1,
                )?,
                Node::File(_) | Node::Directory(_) => next,
            };
        }
        Ok(node)
    }

    /// The directory above a path, and the path's last name.
    pub fn find_parent<'p>(&self, at: At<'p>) -> io::Result<(NodeId, &'p OsStr)> {
        let (above, name) = at.split()?;
        let parent = self.find(above)?;
        self.directory(parent)?;
        Ok((parent, name))
    }

    pub fn is_directory(&self, node: NodeId) -> bool {
        matches!(self.nodes[node], Node::Directory(_))
    }

    /// True if a directory is another one, or lies below it.
    pub fn is_within(&self, node: NodeId, above: NodeId) -> bool {
        node == above
            || self.directory(above).is_ok_and(|above| {
                let mut below = above.entries.values();
                below.any(|entry| self.is_within(node, *entry))
            })
    }

    fn directory(&self, node: NodeId) -> io::Result<&DirectoryNode> {
        match &self.nodes[node] {
            Node::Directory(directory) => Ok(directory),
            Node::File(_) | Node::Link(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn directory_mut(&mut self, node: NodeId) -> io::Result<&mut DirectoryNode> {
        match &mut self.nodes[node] {
            Node::Directory(directory) => Ok(directory),
            Node::File(_) | Node::Link(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn file_mut(&mut self, node: NodeId) -> io::Result<&mut FileNode> {
        match &mut self.nodes[node] {
            Node::File(file) => Ok(file),
            Node::Directory(_) | Node::Link(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// What a process reads of a file.
    pub fn bytes(&self, node: NodeId) -> io::Result<&[u8]> {
        match &self.nodes[node] {
            Node::File(file) => Ok(&file.bytes),
            Node::Directory(_) | Node::Link(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    pub fn names(&self, node: NodeId) -> io::Result<Vec<OsString>> {
        Ok(self.directory(node)?.entries.keys().cloned().collect())
    }

    pub fn create(&mut self, at: At<'_>) -> io::Result<NodeId> {
        self.link(at, Node::File(FileNode::default()))
    }

    pub fn create_directory(&mut self, at: At<'_>) -> io::Result<NodeId> {
        self.link(at, Node::Directory(DirectoryNode::default()))
    }

    /// Makes a symbolic link, or turns one elsewhere; durable at once.
    pub fn turn_link(&mut self, at: At<'_>, target: &Path) -> io::Result<()> {
        let (parent, name) = self.find_parent(at)?;
        let (id, name) = (self.nodes.len(), name.to_os_string());
        self.nodes.push(Node::Link(target.to_path_buf()));
        let directory = self.directory_mut(parent)?;
        directory.entries.insert(name.clone(), id);
        directory.durable.insert(name, id);
        Ok(())
    }

    /// Gives a directory another path, which is free; durable at once.
    pub fn move_directory(&mut self, from: At<'_>, to: At<'_>) -> io::Result<()> {
        let ((old, from), (new, to)) = (self.find_parent(from)?, self.find_parent(to)?);
        if self.directory(new)?.entries.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let directory = self.directory_mut(old)?;
        let node = directory.entries.remove(from).ok_or(io::ErrorKind::NotFound)?;
        directory.durable.remove(from);
        let directory = self.directory_mut(new)?;
        directory.entries.insert(to.to_os_string(), node);
        directory.durable.insert(to.to_os_string(), node);
        Ok(())
    }

    fn link(&mut self, at: At<'_>, node: Node) -> io::Result<NodeId> {
        let (parent, name) = self.find_parent(at)?;
        let id = self.nodes.len();
        let directory = self.directory_mut(parent)?;
        if directory.entries.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        directory.change(Change::Link(name.to_os_string(), id));
        self.nodes.push(node);
        Ok(id)
    }

    /// Removes the name of the file at a path.
    pub fn unlink(&mut self, at: At<'_>) -> io::Result<()> {
        let (parent, name) = self.find_parent(at)?;
        if self.is_directory(self.find(at)?) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let change = Change::Unlink(name.to_os_string());
        self.directory_mut(parent)?.change(change);
        Ok(())
    }

    /// Renames a file within its directory.
    pub fn rename(&mut self, from: At<'_>, to: At<'_>) -> io::Result<()> {
        let node = self.find(from)?;
        let ((parent, from), (target, to)) = (self.find_parent(from)?, self.find_parent(to)?);
        if parent != target || self.is_directory(node) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let change = Change::Rename(from.to_os_string(), to.to_os_string(), node);
        self.directory_mut(parent)?.change(change);
        Ok(())
    }

    /// Bytes of all files that have a name.
    pub fn used(&self) -> u64 {
        let named = self.nodes.iter().flat_map(|node| match node {
            Node::Directory(directory) => directory.entries.values().copied().collect(),
            Node::File(_) | Node::Link(_) => Vec::new(),
        });
        named
            .map(|node| self.bytes(node).map_or(0, |b| b.len() as u64))
            .sum()
    }

    /// Bytes that files may grow by.
    pub fn space(&self) -> u64 {
        self.capacity.saturating_sub(self.used())
    }

    /// Bytes from the front of a write at `offset` of `len` bytes for which there is room.
    pub fn room(&self, node: NodeId, offset: u64, len: usize) -> usize {
        let old = self.bytes(node).map_or(0, |b| b.len() as u64);
        let end = old.saturating_add(self.space());
        (len as u64).min(end.saturating_sub(offset)) as usize
    }

    pub fn write(&mut self, node: NodeId, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.file_mut(node)?.write(offset, bytes);
        Ok(())
    }

    /// Gives a file other bytes, durable at once. Nothing happens to a directory.
    pub fn replace(&mut self, node: NodeId, change: impl FnOnce(&mut Vec<u8>)) {
        if let Node::File(file) = &mut self.nodes[node] {
            change(&mut file.bytes);
            file.durable.clone_from(&file.bytes);
            file.pending.clear();
        }
    }

    /// Makes a file's bytes or a directory's names durable.
    pub fn sync(&mut self, node: NodeId) {
        match &mut self.nodes[node] {
            Node::File(file) => {
                for (sector, contents) in std::mem::take(&mut file.pending) {
                    if let Some(newest) = contents.last() {
                        file.put_durable(sector, newest);
                    }
                }
            }
            Node::Directory(directory) => {
                for change in std::mem::take(&mut directory.pending) {
                    change.apply(&mut directory.durable);
                }
            }
            Node::Link(_) => {}
        }
    }

    /// A sync fails. Each sector of a file of its own is on the disk now or not; what is not does not get there by a later
    /// sync, unless it is written again. The names of a directory are there up to some change; a later sync takes the others,
    /// because file systems that cannot write names write nothing any more.
    pub fn fail_sync(&mut self, node: NodeId, random: &mut Random) {
        match &mut self.nodes[node] {
            Node::File(file) => file.settle(random),
            Node::Directory(directory) => {
                let done = random.index(directory.pending.len() + 1);
                for change in directory.pending.drain(..done) {
                    change.apply(&mut directory.durable);
                }
            }
            Node::Link(_) => {}
        }
    }

    /// The power is cut: each sector and each name that was not synced is there or not, and that alone is what processes see
    /// from now on.
    pub fn cut_power(&mut self, random: &mut Random) {
        for node in &mut self.nodes {
            match node {
                Node::File(file) => {
                    file.settle(random);
                    file.bytes.clone_from(&file.durable);
                }
                Node::Directory(directory) => {
                    for change in std::mem::take(&mut directory.pending) {
                        if random.below(2) == 0 {
                            change.apply(&mut directory.durable);
                        }
                    }
                    directory.entries.clone_from(&directory.durable);
                }
                Node::Link(_) => {}
            }
        }
    }
}
