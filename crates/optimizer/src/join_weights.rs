//! The part of the pairs of rows that the equalities between relations keep, of many relations at once.
//!
//! The columns that equalities make equal are a class. A row of each relation of the class is drawn; the **weight** of
//! the relations is the probability that all rows have one value: the sum over all values v of the products of the
//! frequencies p(v). A join of two sets of relations keeps the weight of both together over the product of their
//! weights, so that the estimate does not depend on the order of joining.
//!
//! - The frequencies of columns that repeat are those of their sketches ([`frazil_types::KeySketch`]). If the same
//!   values are frequent in several tables, a join of these has many times the rows that even frequencies give.
//! - A row of a relation whose column is a key is as frequent as any other one of it. If predicates leave a part of
//!   these rows, the references to those rows are another part of all references, which is counted in the sample of
//!   the referring table ([`SampledRows::Referred`]), among the rows that its own predicates leave.
//!
//! Only relations are weighed that are scans, with filters on them. Two equalities between one pair of relations are a
//! composite key, which is not weighed either.

use crate::cardinality::{BaseColumn, Estimator};
use crate::join_graph::Set;
use frazil_plan::{ColumnId, SampledRows};
use frazil_types::{KeySketch, ObjectId};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// References are counted among the sampled rows that the referring table's predicates leave if there are at least as
/// many; otherwise among all sampled rows.
const FEWEST_ROWS: usize = 16;

/// An equality of columns of two relations.
#[derive(Clone, Copy, Debug)]
pub struct Equality {
    /// The columns.
    pub columns: [ColumnId; 2],
    /// Their relations, a bit each.
    pub relations: [Set; 2],
}

/// The weights of the classes of a region of joins.
#[derive(Debug, Default)]
pub struct JoinWeights {
    classes: Vec<Class>,
    /// True for each equality that is in a class.
    is_weighed: Vec<bool>,
    /// The columns of all classes.
    columns: BTreeSet<ColumnId>,
    known: RefCell<HashMap<(usize, Set), f64>>,
}

#[derive(Debug)]
struct Class {
    members: Vec<Member>,
    relations: Set,
    /// Pairs of relations whose columns an equality of the query compares.
    compared: Vec<Set>,
    /// The sampled part of all values.
    part_of_values: f64,
}

/// A column of a class.
#[derive(Debug)]
struct Member {
    relation: Set,
    /// Distinct values, about.
    distinct: f64,
    role: Role,
}

#[derive(Debug)]
enum Role {
    /// No two rows have one value.
    Key {
        /// Rows that the predicates leave.
        rows: f64,
        /// Rows of the table.
        of_rows: f64,
        /// `referred[i]`: the part of the references of member `i` that are to rows that the predicates leave.
        referred: Vec<f64>,
    },
    /// Frequencies of sampled values, in the order that all members of the class share; empty if unknown.
    Repeating(Arc<[f64]>),
}

/// The frequencies of the values that all columns of a class know.
#[derive(Debug)]
struct Frequencies {
    /// By the column, in an order of the values that all columns share; empty for a key.
    of_columns: Vec<Arc<[f64]>>,
    /// The sampled part of all values.
    part_of_values: f64,
}

/// The frequencies of classes that were weighed before. Each join that an estimator learns weighs the joins below it
/// anew, and to bring the values of several sketches together is most of the work.
#[derive(Debug, Default)]
pub struct KnownFrequencies(RefCell<HashMap<Vec<ClassColumn>, Option<Arc<Frequencies>>>>);

/// A column of a class: its table and its position there; `None` for a key.
type ClassColumn = Option<(ObjectId, usize)>;

impl JoinWeights {
    /// The weights of the relations that equalities compare.
    pub fn new(equalities: &[Equality], estimator: &Estimator<'_>) -> JoinWeights {
        let mut weights = JoinWeights {
            is_weighed: vec![false; equalities.len()],
            ..JoinWeights::default()
        };
        for class in classes(equalities) {
            let columns: BTreeMap<ColumnId, Set> = (class.iter())
                .flat_map(|i| std::iter::zip(equalities[*i].columns, equalities[*i].relations))
                .collect();
            let relations: BTreeSet<Set> = columns.values().copied().collect();
            let pairs = |i: &usize| equalities[*i].relations[0] | equalities[*i].relations[1];
            let is_composite = class.iter().any(|i| {
                let same = |other: &usize| other != i && pairs(other) == pairs(i);
                (0..equalities.len()).any(|other| same(&other))
            });
            if is_composite || relations.len() < columns.len() {
                continue;
            }
            if let Some(mut made) = Class::new(&columns, estimator) {
                made.compared = class.iter().map(pairs).collect();
                class.iter().for_each(|i| weights.is_weighed[*i] = true);
                weights.columns.extend(columns.keys());
                weights.classes.push(made);
            }
        }
        weights
    }

    /// True if the `i`-th equality is weighed.
    pub fn weighs(&self, i: usize) -> bool {
        self.is_weighed[i]
    }

    /// True if an equality of these columns is weighed.
    pub fn weighs_columns(&self, columns: [ColumnId; 2]) -> bool {
        self.columns.is_superset(&BTreeSet::from(columns))
    }

    /// The part of the pairs of rows of two sets of relations that the equalities between them keep.
    pub fn kept(&self, a: Set, b: Set) -> f64 {
        let mut kept = 1.0;
        for (place, class) in self.classes.iter().enumerate() {
            let (a, b) = (a & class.relations, b & class.relations);
            if a != 0 && b != 0 {
                let apart = self.weight(place, a) * self.weight(place, b);
                kept *= self.weight(place, a | b) / apart.max(f64::MIN_POSITIVE);
            }
        }
        kept
    }

    /// The weight of relations of a class. Those that no equality among them connects are weighed apart.
    fn weight(&self, place: usize, relations: Set) -> f64 {
        if relations.count_ones() < 2 {
            return 1.0;
        }
        if let Some(known) = self.known.borrow().get(&(place, relations)) {
            return *known;
        }
        let class = &self.classes[place];
        let weight = class
            .connected(relations)
            .into_iter()
            .map(|part| class.weight(part))
            .product();
        self.known.borrow_mut().insert((place, relations), weight);
        weight
    }
}

impl Class {
    fn new(columns: &BTreeMap<ColumnId, Set>, estimator: &Estimator<'_>) -> Option<Class> {
        let bases: Vec<BaseColumn> = columns
            .keys()
            .map(|column| estimator.base_column(*column))
            .collect::<Option<_>>()?;
        let is_key: Vec<bool> = bases.iter().map(|base| estimator.is_key(base)).collect();
        let frequencies = match is_key.iter().filter(|is_key| !**is_key).count() {
            0 | 1 => None,
            _ => known_frequencies(&bases, &is_key, estimator),
        };
        let member = |(i, relation): (usize, &Set)| {
            let base = &bases[i];
            let role = match is_key[i] {
                true => Role::Key {
                    rows: base.kept_rows.max(1.0),
                    of_rows: base.rows,
                    referred: bases.iter().map(|from| referred(from, base, estimator)).collect(),
                },
                false => Role::Repeating(
                    (frequencies.as_ref()).map_or_else(Arc::default, |all| all.of_columns[i].clone()),
                ),
            };
            Member {
                relation: *relation,
                distinct: base.distinct.max(1.0),
                role,
            }
        };
        Some(Class {
            relations: columns.values().fold(0, |all, one| all | one),
            members: columns.values().enumerate().map(member).collect(),
            compared: Vec::new(),
            part_of_values: frequencies.as_ref().map_or(1.0, |all| all.part_of_values),
        })
    }

    /// The parts of a set of relations that equalities connect.
    fn connected(&self, relations: Set) -> Vec<Set> {
        let members = self.members.iter().map(|member| member.relation);
        let mut parts: Vec<Set> = members.filter(|one| relations & one != 0).collect();
        for pair in self.compared.iter().filter(|pair| **pair & !relations == 0) {
            let joined = parts
                .extract_if(.., |part| *part & pair != 0)
                .fold(0, |a, b| a | b);
            parts.push(joined);
        }
        parts
    }

    /// The weight of relations that equalities connect.
    fn weight(&self, relations: Set) -> f64 {
        let members = || {
            self.members
                .iter()
                .enumerate()
                .filter(|(_, m)| m.relation & relations != 0)
        };
        let repeating: Vec<usize> = members()
            .filter(|(_, member)| matches!(member.role, Role::Repeating(_)))
            .map(|(i, _)| i)
            .collect();
        let mut weight = self.of_repeating(&repeating);
        let mut keys = Vec::new();
        for (_, member) in members() {
            let Role::Key {
                rows,
                of_rows,
                referred,
            } = &member.role
            else {
                continue;
            };
            keys.push(*of_rows);
            let part = rows / of_rows;
            // Rows that each of several tables prefers have the product of the preferences.
            let preferred: f64 = repeating.iter().map(|i| referred[*i] / part).product();
            weight *= (part * preferred).min(1.0) / rows;
        }
        // Among keys alone, each row of the smallest table has an equal one in all others.
        match repeating.is_empty() {
            true => weight * keys.into_iter().fold(f64::MAX, f64::min),
            false => weight,
        }
    }

    fn of_repeating(&self, members: &[usize]) -> f64 {
        if members.len() < 2 {
            return 1.0;
        }
        let frequencies: Vec<&[f64]> = (members.iter())
            .map(|i| match &self.members[*i].role {
                Role::Repeating(frequencies) => &frequencies[..],
                Role::Key { .. } => &[],
            })
            .collect();
        let values = frequencies[0].len();
        let product = |value: usize| frequencies.iter().map(|all| all[value]).product::<f64>();
        let sum: f64 = (0..values).map(product).sum();
        if sum > 0.0 {
            return sum / self.part_of_values;
        }
        // System R's rule: each column's values are even and are in all columns that have more values.
        let mut distinct: Vec<f64> = members.iter().map(|i| self.members[*i].distinct).collect();
        distinct.sort_by(f64::total_cmp);
        1.0 / distinct[1..].iter().product::<f64>()
    }
}

/// The classes of equalities, as their places.
fn classes(equalities: &[Equality]) -> Vec<Vec<usize>> {
    let mut classes: Vec<(BTreeSet<ColumnId>, Vec<usize>)> = Vec::new();
    for (i, equality) in equalities.iter().enumerate() {
        let mut joined = (BTreeSet::from(equality.columns), vec![i]);
        let shares = |class: &mut (BTreeSet<ColumnId>, Vec<usize>)| {
            equality.columns.iter().any(|column| class.0.contains(column))
        };
        for mut class in classes.extract_if(.., shares) {
            joined.0.append(&mut class.0);
            joined.1.append(&mut class.1);
        }
        classes.push(joined);
    }
    classes.into_iter().map(|class| class.1).collect()
}

/// The frequencies of the values that all sketches of columns that repeat know, made once.
fn known_frequencies(
    bases: &[BaseColumn],
    is_key: &[bool],
    estimator: &Estimator<'_>,
) -> Option<Arc<Frequencies>> {
    let class = (bases.iter().zip(is_key))
        .map(|(base, is_key)| (!is_key).then_some((base.table, base.position)))
        .collect();
    let mut known = estimator.frequencies().0.borrow_mut();
    let make = || frequencies(bases, is_key, estimator).map(Arc::new);
    known.entry(class).or_insert_with(make).clone()
}

fn frequencies(bases: &[BaseColumn], is_key: &[bool], estimator: &Estimator<'_>) -> Option<Frequencies> {
    let sketch = |(base, is_key): (&BaseColumn, &bool)| match is_key {
        true => Some(None),
        false => Some(Some(estimator.key_sketch(base)?)),
    };
    let sketches: Vec<Option<Arc<KeySketch>>> =
        bases.iter().zip(is_key).map(sketch).collect::<Option<_>>()?;
    let limit = sketches.iter().flatten().map(|sketch| sketch.limit()).min()?;
    let within = |sketch: &KeySketch| sketch.values().partition_point(|value| value.0 <= limit);
    let mut values: Vec<u64> = (sketches.iter().flatten())
        .flat_map(|sketch| sketch.values()[..within(sketch)].iter().map(|value| value.0))
        .collect();
    // Each sketch's values are in order: a stable sort merges them.
    values.sort();
    values.dedup();
    let of = |(sketch, base): (&Option<Arc<KeySketch>>, &BaseColumn)| {
        let Some(sketch) = sketch else {
            return Arc::default();
        };
        let mut counted = sketch.values().iter().peekable();
        let scale = (1.0 - base.nulls) / (sketch.rows() as f64).max(1.0);
        let of_value = |value: &u64| {
            let found = counted.next_if(|counted| counted.0 == *value);
            found.map_or(0.0, |found| found.1 as f64 * scale)
        };
        values.iter().map(of_value).collect()
    };
    Some(Frequencies {
        of_columns: sketches.iter().zip(bases).map(of).collect(),
        part_of_values: (limit as f64 + 1.0) / 2f64.powi(u64::BITS as i32),
    })
}

/// The part of the references of a column that are to rows that the predicates on the table `to` leave.
fn referred(from: &BaseColumn, to: &BaseColumn, estimator: &Estimator<'_>) -> f64 {
    let evenly = (to.kept_rows / to.rows.max(1.0)).min(1.0);
    let tests = estimator.tests(to);
    if tests.is_empty() {
        return 1.0 - from.nulls;
    }
    let statistics = estimator.statistics();
    let rows = SampledRows::Referred {
        from: from.table,
        column: from.position,
        to: to.table,
        key: to.position,
    };
    let (Some(mut matching), others) = tests.matching(statistics, rows) else {
        return evenly * (1.0 - from.nulls);
    };
    let mut of_rows = matching.len();
    if let (Some(own), _) = estimator
        .tests(from)
        .matching(statistics, SampledRows::Own(from.table))
        && own.count() >= FEWEST_ROWS
    {
        of_rows = own.count();
        matching.and(&own);
    }
    match matching.count() {
        0 => evenly.min(0.5 / of_rows as f64),
        matches => others * matches as f64 / of_rows as f64,
    }
}
