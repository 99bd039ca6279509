//! The order of joins: dynamic programming over connected subgraphs and their complements (DPccp,
//! Moerkotte and Neumann 2006), greedy operator ordering (Fegaras 1998) where there are too many.
//!
//! The cost of a join is the rows it gives (C_out) plus what its hash table costs to fill and to look up,
//! which is more where the table outgrows the cache. Which side is built falls out of the same comparison.

use crate::equal_columns::Selectivities;
use crate::join_graph::{Directed, Graph, Set};
use frazil_plan::JoinKind;
use std::collections::HashMap;

/// Connected subgraphs and pairs of them that are looked at before the search becomes greedy.
const MAX_PAIRS: usize = 20_000;
/// Rows of a build side that stay in the cache.
const CACHED_ROWS: f64 = 50_000.0;

/// A join of two sets of relations, or a relation.
#[derive(Clone, Debug)]
pub struct Node {
    /// Relations joined.
    pub set: Set,
    /// Estimated rows.
    pub rows: f64,
    /// Cost so far.
    pub cost: f64,
    /// How its inputs are joined; none for a relation.
    pub join: Option<Step>,
}

/// One join: indices of its inputs among the nodes.
#[derive(Clone, Debug)]
pub struct Step {
    /// The side that is built.
    pub build: usize,
    /// The side that probes.
    pub probe: usize,
    /// For a directed join the kind it has with the sides that way round.
    pub kind: JoinKind,
}

/// Finds an order for all relations of a graph: the nodes, the last of them the whole.
pub fn search(graph: &Graph) -> Vec<Node> {
    let mut search = Search::new(graph);
    if let Some(order) = search.dynamic_programming() {
        return order;
    }
    Search::new(graph).greedy()
}

struct Search<'a> {
    graph: &'a Graph,
    selectivities: Selectivities,
    neighbours: Vec<Set>,
    nodes: Vec<Node>,
    best: HashMap<Set, usize>,
    pairs: usize,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph) -> Search<'a> {
        let nodes: Vec<Node> = graph
            .relations
            .iter()
            .enumerate()
            .map(|(i, r)| Node {
                set: 1 << i,
                rows: r.rows,
                cost: 0.0,
                join: None,
            })
            .collect();
        Search {
            graph,
            selectivities: Selectivities::of(&graph.predicates),
            neighbours: neighbours(graph),
            best: nodes.iter().enumerate().map(|(i, n)| (n.set, i)).collect(),
            nodes,
            pairs: 0,
        }
    }

    fn whole(&self) -> Set {
        (0..self.graph.relations.len()).fold(0, |s, i| s | 1 << i)
    }

    fn around(&self, set: Set) -> Set {
        bits(set).fold(0, |s, i| s | self.neighbours[i]) & !set
    }

    // ---- dynamic programming

    /// The best order, or `None` if there are too many pairs to look at.
    fn dynamic_programming(&mut self) -> Option<Vec<Node>> {
        for i in (0..self.graph.relations.len()).rev() {
            let set = 1 << i;
            self.emit_subgraph(set);
            self.extend_subgraph(set, up_to(i));
            if self.pairs > MAX_PAIRS {
                return None;
            }
        }
        let whole = *self.best.get(&self.whole())?;
        Some(self.extract(whole))
    }

    /// Pairs a connected subgraph with every connected subgraph of its neighbourhood.
    fn emit_subgraph(&mut self, set: Set) {
        self.pairs += 1;
        let excluded = set | up_to(set.trailing_zeros() as usize);
        let around = self.around(set) & !excluded;
        for i in bits(around).collect::<Vec<_>>().into_iter().rev() {
            let other = 1 << i;
            self.emit_pair(set, other);
            self.extend_complement(set, other, excluded | (up_to(i) & around));
        }
    }

    fn extend_subgraph(&mut self, set: Set, excluded: Set) {
        let around = self.around(set) & !excluded;
        for part in subsets(around) {
            self.emit_subgraph(set | part);
            if self.pairs > MAX_PAIRS {
                return;
            }
        }
        for part in subsets(around) {
            self.extend_subgraph(set | part, excluded | around);
            if self.pairs > MAX_PAIRS {
                return;
            }
        }
    }

    fn extend_complement(&mut self, set: Set, other: Set, excluded: Set) {
        let around = self.around(other) & !excluded & !set;
        for part in subsets(around) {
            self.emit_pair(set, other | part);
            if self.pairs > MAX_PAIRS {
                return;
            }
        }
        for part in subsets(around) {
            self.extend_complement(set, other | part, excluded | around);
            if self.pairs > MAX_PAIRS {
                return;
            }
        }
    }

    fn emit_pair(&mut self, a: Set, b: Set) {
        self.pairs += 1;
        let (Some(&left), Some(&right)) = (self.best.get(&a), self.best.get(&b)) else {
            return;
        };
        let Some(node) = self.combine(left, right) else {
            return;
        };
        match self.best.get(&node.set) {
            Some(&i) if self.nodes[i].cost <= node.cost => {}
            _ => {
                self.best.insert(node.set, self.nodes.len());
                self.nodes.push(node);
            }
        }
    }

    /// The nodes below one, in the order in which they are needed.
    fn extract(&self, whole: usize) -> Vec<Node> {
        fn visit(nodes: &[Node], at: usize, out: &mut Vec<Node>) -> usize {
            let mut node = nodes[at].clone();
            if let Some(step) = &mut node.join {
                step.build = visit(nodes, step.build, out);
                step.probe = visit(nodes, step.probe, out);
            }
            out.push(node);
            out.len() - 1
        }
        let mut out = Vec::new();
        visit(&self.nodes, whole, &mut out);
        out
    }

    // ---- greedy

    /// Joins, again and again, the two parts whose join costs least; parts without a predicate between
    /// them only when nothing else is left.
    fn greedy(&mut self) -> Vec<Node> {
        let mut parts: Vec<usize> = (0..self.nodes.len()).collect();
        while parts.len() > 1 {
            let mut best: Option<(bool, f64, usize, usize, Node)> = None;
            for i in 0..parts.len() {
                for j in 0..i {
                    let (a, b) = (&self.nodes[parts[j]], &self.nodes[parts[i]]);
                    let apart = self.around(a.set) & b.set == 0;
                    let Some(node) = self.combine(parts[j], parts[i]) else {
                        continue;
                    };
                    if best.as_ref().is_none_or(|b| (apart, node.cost) < (b.0, b.1)) {
                        best = Some((apart, node.cost, i, j, node));
                    }
                }
            }
            // Relations stand in an order in which each can be joined to those before it, so some pair
            // always can.
            let Some((_, _, i, j, node)) = best else { break };
            parts.swap_remove(i);
            parts[j] = self.nodes.len();
            self.nodes.push(node);
        }
        self.extract(parts[0])
    }

    // ---- one join

    /// The relation a node is, if it is one that must be joined in its own way.
    fn directed(&self, node: &Node) -> Option<&'a Directed> {
        match node.set.count_ones() {
            1 => self.graph.relations[node.set.trailing_zeros() as usize]
                .directed
                .as_ref(),
            _ => None,
        }
    }

    /// The cheapest join of two nodes, if they can be joined.
    fn combine(&self, left: usize, right: usize) -> Option<Node> {
        let (a, b) = (&self.nodes[left], &self.nodes[right]);
        let set = a.set | b.set;
        let kept = self.selectivities.of_join(a.set, b.set) * self.graph.weights.kept(a.set, b.set);
        match (self.directed(a), self.directed(b)) {
            (None, None) => {
                let keyed = self.graph.predicates.iter().any(|p| joins(p.sides, a.set, b.set));
                let rows = a.rows * b.rows * kept;
                let (build, probe) = if a.rows <= b.rows {
                    (left, right)
                } else {
                    (right, left)
                };
                let cost = join_cost(a.rows.min(b.rows), a.rows.max(b.rows), rows, keyed);
                Some(self.node(set, rows, cost, build, probe, JoinKind::Inner))
            }
            (None, Some(d)) => self.combine_directed(left, right, d, kept),
            (Some(d), None) => self.combine_directed(right, left, d, kept),
            (Some(_), Some(_)) => None,
        }
    }

    fn node(&self, set: Set, rows: f64, cost: f64, build: usize, probe: usize, kind: JoinKind) -> Node {
        Node {
            set,
            rows: rows.max(1.0),
            cost: cost + self.nodes[build].cost + self.nodes[probe].cost,
            join: Some(Step { build, probe, kind }),
        }
    }

    fn combine_directed(&self, left: usize, right: usize, d: &Directed, kept: f64) -> Option<Node> {
        let (a, b) = (&self.nodes[left], &self.nodes[right]);
        if d.requires & !a.set != 0 {
            return None;
        }
        let set = a.set | b.set;
        let (joined, keyed) = (a.rows * d.factor, !d.keys.is_empty());
        let probing = join_cost(b.rows, a.rows, joined, keyed);
        let (flipped, extra) = match d.kind {
            // The build rows are read once more, after the probe marked them.
            JoinKind::ProbeSemi => (Some(JoinKind::BuildSemi), a.rows),
            JoinKind::ProbeAnti if !d.null_aware => (Some(JoinKind::BuildAnti), a.rows),
            // All that follows is compiled twice.
            JoinKind::ProbeOuter => (Some(JoinKind::BuildOuter), a.rows + 20_000.0),
            _ => (None, 0.0),
        };
        let building = join_cost(a.rows, b.rows, joined, keyed) + extra;
        let rows = joined * kept;
        match flipped {
            Some(kind) if keyed && building < probing => {
                Some(self.node(set, rows, building, left, right, kind))
            }
            _ => Some(self.node(set, rows, probing, right, left, d.kind)),
        }
    }
}

/// Cost of a join, in rows handled.
fn join_cost(build: f64, probe: f64, out: f64, keyed: bool) -> f64 {
    if !keyed {
        return 2.0 * build + build * probe + out;
    }
    let (fill, look_up) = if build > CACHED_ROWS {
        (3.0, 2.5)
    } else {
        (2.0, 1.0)
    };
    fill * build + look_up * probe + out
}

/// Whether an equality connects two sets of relations.
pub fn joins(sides: Option<(Set, Set)>, a: Set, b: Set) -> bool {
    let within = |s: Set, of: Set| s & !of == 0;
    sides.is_some_and(|(l, r)| within(l, a) && within(r, b) || within(l, b) && within(r, a))
}

/// For each relation those that a predicate, or a directed join's requirement, connects it with. Parts
/// that nothing connects are connected through their smallest relations.
fn neighbours(graph: &Graph) -> Vec<Set> {
    let mut out = vec![0; graph.relations.len()];
    let mut connect = |a: Set, b: Set| {
        bits(a).for_each(|i| out[i] |= b & !(1 << i));
        bits(b).for_each(|i| out[i] |= a & !(1 << i));
    };
    for p in &graph.predicates {
        match p.sides {
            Some((l, r)) => connect(l, r),
            None if p.reads.count_ones() == 2 => connect(p.reads, p.reads),
            None => {}
        }
    }
    for (i, r) in graph.relations.iter().enumerate() {
        if let Some(d) = &r.directed {
            connect(1 << i, d.requires);
        }
    }
    let mut parts = components(&out);
    let smallest = |part: Set| {
        let plain = bits(part).filter(|&i| graph.relations[i].directed.is_none());
        plain.min_by(|&i, &j| graph.relations[i].rows.total_cmp(&graph.relations[j].rows))
    };
    let first = parts.remove(0);
    for part in parts {
        if let (Some(i), Some(j)) = (smallest(first), smallest(part)) {
            out[i] |= 1 << j;
            out[j] |= 1 << i;
        }
    }
    out
}

fn components(neighbours: &[Set]) -> Vec<Set> {
    let mut parts = Vec::new();
    let mut seen: Set = 0;
    for i in 0..neighbours.len() {
        if seen & 1 << i != 0 {
            continue;
        }
        let mut part: Set = 1 << i;
        loop {
            let grown = bits(part).fold(part, |s, i| s | neighbours[i]);
            if grown == part {
                break;
            }
            part = grown;
        }
        seen |= part;
        parts.push(part);
    }
    parts
}

/// Indices of a set, ascending.
fn bits(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(next)
    })
}

/// Relations 0 to `i`.
fn up_to(i: usize) -> Set {
    Set::MAX >> (63 - i)
}

/// Non-empty subsets of a set, smaller ones before those that contain them.
fn subsets(set: Set) -> impl Iterator<Item = Set> {
    let mut next: Set = 0;
    std::iter::from_fn(move || {
        next = next.wrapping_sub(set) & set;
        (next != 0).then_some(next)
    })
}
