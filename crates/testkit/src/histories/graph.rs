//! Cycles of dependencies.

use super::{Anomaly, Finding, Key, Transaction};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// The way in which the second transaction depends on the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It overwrote what the first wrote.
    Ww,
    /// It read what the first wrote.
    Wr,
    /// It overwrote what the first read.
    Rw,
}

/// Dependencies between transactions, which are named by their positions.
#[derive(Debug)]
pub(super) struct Graph {
    /// `edges[n]`: what depends on transaction `n`, how, and by which key.
    edges: Vec<BTreeSet<(usize, Kind, Key)>>,
}

impl Graph {
    pub fn new(transactions: usize) -> Graph {
        Graph {
            edges: vec![BTreeSet::new(); transactions],
        }
    }

    /// Adds a dependency. A transaction does not depend on itself.
    pub fn add(&mut self, from: usize, to: usize, kind: Kind, key: Key) {
        if from != to {
            self.edges[from].insert((to, kind, key));
        }
    }

    /// The cycles among transactions, each with the name of the weakest anomaly that it proves.
    pub fn cycles(&self, transactions: &[Transaction]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for component in self.components(Kind::Ww) {
            findings.push(self.cycle_of(Anomaly::DirtyWrite, &component, Kind::Ww, Kind::Ww));
        }
        for component in self.components(Kind::Wr) {
            if self.has_inside(&component, Kind::Wr) {
                findings.push(self.cycle_of(Anomaly::CircularInformation, &component, Kind::Wr, Kind::Wr));
            }
        }
        let known: BTreeSet<usize> = (findings.iter())
            .flat_map(|finding| finding.transactions.iter().copied())
            .collect();
        for component in self.components(Kind::Rw) {
            let skews = self.read_skews(&component, transactions);
            let has_weaker = !skews.is_empty() || component.iter().any(|n| known.contains(n));
            findings.extend(skews);
            if !has_weaker {
                findings.push(self.cycle_of(Anomaly::WriteSkew, &component, Kind::Rw, Kind::Rw));
            }
        }
        findings
    }

    fn has_inside(&self, component: &BTreeSet<usize>, kind: Kind) -> bool {
        let mut edges = component.iter().flat_map(|n| &self.edges[*n]);
        edges.any(|(to, of, _)| *of == kind && component.contains(to))
    }

    /// A cycle within a strongly connected component that goes through an edge of kind `through` and has no kind
    /// above `most`.
    fn cycle_of(&self, anomaly: Anomaly, component: &BTreeSet<usize>, through: Kind, most: Kind) -> Finding {
        let edges = component.iter().flat_map(|from| {
            let inside = self.edges[*from]
                .iter()
                .filter(|(to, of, _)| *of == through && component.contains(to));
            inside.map(move |(to, _, key)| (*from, *to, *key))
        });
        let cycles = edges.filter_map(|(from, to, key)| {
            let path = self.path(to, from, most, &|n| component.contains(&n))?;
            Some((path, key))
        });
        // Each edge within the component is on a cycle.
        let shortest = cycles.take(64).min_by_key(|(path, _)| path.len());
        let (transactions, key) = shortest.unwrap_or_default();
        Finding {
            anomaly,
            transactions,
            key,
        }
    }

    /// Cycles with one rw: from each rw edge a path of others leads back.
    fn read_skews(&self, component: &BTreeSet<usize>, transactions: &[Transaction]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for from in component {
            // A transaction that began after `from` had ended is not on a path of ww and wr to `from`.
            let ended = transactions[*from].ended;
            let may_lead = |n: usize| component.contains(&n) && transactions[n].began <= ended;
            for (to, kind, key) in &self.edges[*from] {
                if *kind != Kind::Rw || !component.contains(to) {
                    continue;
                }
                let Some(path) = self.path(*to, *from, Kind::Wr, &may_lead) else {
                    continue;
                };
                let overwrites = path.len() == 2 && self.edges[*to].contains(&(*from, Kind::Ww, *key));
                findings.push(Finding {
                    anomaly: match overwrites {
                        true => Anomaly::LostUpdate,
                        false => Anomaly::ReadSkew,
                    },
                    transactions: path,
                    key: *key,
                });
            }
        }
        findings
    }

    /// The shortest path between two transactions by edges of kinds up to `most`, both ends included.
    fn path(
        &self,
        from: usize,
        to: usize,
        most: Kind,
        may_lead: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<usize>> {
        let mut came_from = HashMap::from([(from, from)]);
        let mut reached = VecDeque::from([from]);
        while let Some(at) = reached.pop_front() {
            if at == to {
                let mut path = vec![at];
                let mut back = at;
                while back != from {
                    back = came_from[&back];
                    path.push(back);
                }
                path.reverse();
                return Some(path);
            }
            for (next, kind, _) in &self.edges[at] {
                if *kind <= most && may_lead(*next) && !came_from.contains_key(next) {
                    came_from.insert(*next, at);
                    reached.push_back(*next);
                }
            }
        }
        None
    }

    /// The strongly connected components of more than one transaction, by edges of kinds up to `most`: Kosaraju's
    /// algorithm.
    fn components(&self, most: Kind) -> Vec<BTreeSet<usize>> {
        let allowed = |n: usize| {
            let edges = self.edges[n].iter().filter(move |(_, kind, _)| *kind <= most);
            edges.map(|(to, ..)| *to).collect::<Vec<_>>()
        };
        let forward: Vec<Vec<usize>> = (0..self.edges.len()).map(allowed).collect();
        let mut backward = vec![Vec::new(); forward.len()];
        for (from, edges) in forward.iter().enumerate() {
            edges.iter().for_each(|to| backward[*to].push(from));
        }
        let mut seen = vec![false; forward.len()];
        let mut finished = Vec::new();
        for n in 0..forward.len() {
            finished.extend(depth_first(&forward, n, &mut seen));
        }
        let mut seen = vec![false; forward.len()];
        let trees = finished
            .iter()
            .rev()
            .map(|n| depth_first(&backward, *n, &mut seen));
        let components = trees.filter(|tree| tree.len() > 1);
        components.map(|tree| tree.into_iter().collect()).collect()
    }
}

/// The nodes that a depth-first search from `start` reaches and that were not seen before, in the order in which the
/// search leaves them.
fn depth_first(edges: &[Vec<usize>], start: usize, seen: &mut [bool]) -> Vec<usize> {
    let mut left = Vec::new();
    if std::mem::replace(&mut seen[start], true) {
        return left;
    }
    let mut path = vec![(start, 0)];
    while let Some((at, edge)) = path.last_mut() {
        match edges[*at].get(*edge) {
            Some(next) => {
                *edge += 1;
                if !std::mem::replace(&mut seen[*next], true) {
                    path.push((*next, 0));
                }
            }
            None => {
                left.push(*at);
                path.pop();
            }
        }
    }
    left
}
