//! Window functions by their definitions: for each row all rows of the table are looked through. Random ones come as SQL
//! with what they mean.

use crate::Random;
use std::cmp::Ordering;

/// A number that may be NULL.
pub type Cell = Option<i64>;

/// A row of the table `t (id, p, k, v)`; `id` is unique.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Never NULL.
    pub id: i64,
    /// What partitions are of.
    pub p: Cell,
    /// What orders rows; several rows have one value.
    pub k: Cell,
    /// What functions are of.
    pub v: Cell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    RowNumber,
    Rank,
    DenseRank,
    Ntile(i64),
    Lag(i64),
    Lead(i64),
    FirstValue,
    LastValue,
    NthValue(i64),
    CountRows,
    Count,
    Sum,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Rows,
    Range,
    Groups,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    UnboundedPreceding,
    Preceding(i64),
    CurrentRow,
    Following(i64),
    UnboundedFollowing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exclusion {
    NoOthers,
    CurrentRow,
    Group,
    Ties,
}

/// A call of a window function over the table.
#[derive(Clone, Copy, Debug)]
pub struct WindowQuery {
    function: Function,
    is_partitioned: bool,
    /// Ordered by `k`.
    by_key: bool,
    /// Then by `id`, so that no two rows are peers.
    by_id: bool,
    descending: bool,
    nulls_first: bool,
    /// `None`: the frame that ends at the last peer.
    frame: Option<(Unit, Bound, Bound, Exclusion)>,
    ignore_nulls: bool,
    /// FILTER: `v` is even.
    filtered: bool,
}

impl WindowQuery {
    /// A random call whose answer does not hang on the order of peers. Offsets are below `most`.
    pub fn random(random: &mut Random, most: i64) -> WindowQuery {
        let offset = |random: &mut Random| random.below(most as u64) as i64;
        let function = match random.below(14) {
            0 => Function::RowNumber,
            1 => Function::Rank,
            2 => Function::DenseRank,
            3 => Function::Ntile(1 + offset(random)),
            4 => Function::Lag(offset(random) - 1),
            5 => Function::Lead(offset(random) - 1),
            6 => Function::FirstValue,
            7 => Function::LastValue,
            8 => Function::NthValue(1 + offset(random)),
            9 => Function::CountRows,
            10 => Function::Count,
            11 => Function::Sum,
            12 => Function::Min,
            _ => Function::Max,
        };
        let mut query = WindowQuery {
            function,
            is_partitioned: random.below(2) == 0,
            by_key: random.below(5) > 0,
            by_id: function.asks_for_order(),
            descending: random.below(2) == 0,
            nulls_first: random.below(2) == 0,
            frame: None,
            ignore_nulls: function.ignores_nulls() && random.below(2) == 0,
            filtered: function.is_aggregate() && random.below(3) == 0,
        };
        if random.below(4) > 0 {
            let unit = match random.below(3) {
                0 => Unit::Rows,
                1 if query.by_key => Unit::Range,
                2 if query.by_key || query.by_id => Unit::Groups,
                _ => Unit::Rows,
            };
            query.by_id |= unit == Unit::Rows;
            query.frame = Some(query.random_frame(unit, random, most));
        }
        query
    }

    fn random_frame(&self, unit: Unit, random: &mut Random, most: i64) -> (Unit, Bound, Bound, Exclusion) {
        // A difference is one of a single key.
        let differs = unit != Unit::Range || self.by_key && !self.by_id;
        let bounds = |random: &mut Random| match random.below(5) {
            0 => Bound::UnboundedPreceding,
            1 if differs => Bound::Preceding(random.below(most as u64) as i64),
            3 if differs => Bound::Following(random.below(most as u64) as i64),
            4 => Bound::UnboundedFollowing,
            _ => Bound::CurrentRow,
        };
        let (start, end) = loop {
            let (start, end) = (bounds(random), bounds(random));
            let place = |bound| match bound {
                Bound::UnboundedPreceding => 0,
                Bound::Preceding(_) => 1,
                Bound::CurrentRow => 2,
                Bound::Following(_) => 3,
                Bound::UnboundedFollowing => 4,
            };
            if start != Bound::UnboundedFollowing
                && end != Bound::UnboundedPreceding
                && place(start) <= place(end)
            {
                break (start, end);
            }
        };
        let exclusion = match random.below(6) {
            0 => Exclusion::CurrentRow,
            1 => Exclusion::Group,
            2 => Exclusion::Ties,
            _ => Exclusion::NoOthers,
        };
        (unit, start, end, exclusion)
    }

    /// The statement: `id` and the value for each row.
    pub fn sql(&self) -> String {
        let arguments = match self.function {
            Function::RowNumber | Function::Rank | Function::DenseRank => String::new(),
            Function::CountRows => "*".into(),
            Function::Ntile(n) => n.to_string(),
            Function::Lag(n) | Function::Lead(n) | Function::NthValue(n) => format!("v, {n}"),
            _ => "v".into(),
        };
        let filter = if self.filtered {
            " filter (where v % 2 = 0)"
        } else {
            ""
        };
        let nulls = if self.ignore_nulls { " ignore nulls" } else { "" };
        let name = self.function.name();
        format!(
            "select id, {name}({arguments}){filter}{nulls} over ({}) from t",
            self.over()
        )
    }

    fn over(&self) -> String {
        let mut parts = Vec::new();
        if self.is_partitioned {
            parts.push("partition by p".to_string());
        }
        let direction = if self.descending { " desc" } else { "" };
        let nulls = if self.nulls_first {
            " nulls first"
        } else {
            " nulls last"
        };
        match (self.by_key, self.by_id) {
            (true, true) => parts.push(format!("order by k{direction}{nulls}, id")),
            (true, false) => parts.push(format!("order by k{direction}{nulls}")),
            (false, true) => parts.push("order by id".to_string()),
            (false, false) => {}
        }
        if let Some((unit, start, end, exclusion)) = self.frame {
            let unit = match unit {
                Unit::Rows => "rows",
                Unit::Range => "range",
                Unit::Groups => "groups",
            };
            let exclusion = match exclusion {
                Exclusion::NoOthers => "",
                Exclusion::CurrentRow => " exclude current row",
                Exclusion::Group => " exclude group",
                Exclusion::Ties => " exclude ties",
            };
            parts.push(format!(
                "{unit} between {} and {}{exclusion}",
                start.sql(),
                end.sql()
            ));
        }
        parts.join(" ")
    }

    // --- What it means -------------------------------------------------------------------------

    /// The rows of a row's partition, in order.
    pub fn partition(&self, rows: &[Row], of: &Row) -> Vec<Row> {
        let together = |row: &&Row| !self.is_partitioned || row.p == of.p;
        let mut found: Vec<Row> = rows.iter().filter(together).copied().collect();
        found.sort_by(|a, b| self.order(a, b).then(a.id.cmp(&b.id)));
        found
    }

    /// The value for the row `at` of a partition in order.
    pub fn value(&self, partition: &[Row], at: usize) -> Cell {
        let first_peer = partition.partition_point(|row| self.order(row, &partition[at]).is_lt());
        match self.function {
            Function::RowNumber => Some(at as i64 + 1),
            Function::Rank => Some(first_peer as i64 + 1),
            Function::DenseRank => {
                let before = partition[..first_peer].windows(2);
                let groups = before.filter(|w| self.order(&w[0], &w[1]).is_ne()).count();
                Some(groups as i64 + 1 + i64::from(first_peer > 0))
            }
            Function::Ntile(buckets) => Some(bucket(partition.len() as i64, buckets, at as i64)),
            Function::Lag(n) => self.shifted(partition, at, -n),
            Function::Lead(n) => self.shifted(partition, at, n),
            _ => {
                let groups = self.groups(partition);
                let inside =
                    (0..partition.len()).filter(|row| self.is_in_frame(partition, &groups, at, *row));
                let inside: Vec<Row> = inside.map(|row| partition[row]).collect();
                self.of_frame(&inside)
            }
        }
    }

    fn order(&self, a: &Row, b: &Row) -> Ordering {
        let keys = match (a.k, b.k) {
            _ if !self.by_key => Ordering::Equal,
            (Some(a), Some(b)) if self.descending => b.cmp(&a),
            (Some(a), Some(b)) => a.cmp(&b),
            (a, b) if self.nulls_first => a.is_some().cmp(&b.is_some()),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        match self.by_id {
            true => keys.then(a.id.cmp(&b.id)),
            false => keys,
        }
    }

    fn shifted(&self, partition: &[Row], at: usize, by: i64) -> Cell {
        if !self.ignore_nulls || by == 0 {
            let row = usize::try_from(at as i64 + by).ok();
            return row.and_then(|row| partition.get(row)).and_then(|row| row.v);
        }
        let known = |row: &&Row| row.v.is_some();
        let nth = by.unsigned_abs() as usize - 1;
        match by < 0 {
            true => partition[..at].iter().rev().filter(known).nth(nth)?.v,
            false => partition[at + 1..].iter().filter(known).nth(nth)?.v,
        }
    }

    /// Number of the group of peers of each row.
    fn groups(&self, partition: &[Row]) -> Vec<i64> {
        let (mut groups, mut group) = (Vec::with_capacity(partition.len()), 0);
        for (at, row) in partition.iter().enumerate() {
            let is_new = at > 0 && self.order(&partition[at - 1], row).is_ne();
            group += i64::from(is_new);
            groups.push(group);
        }
        groups
    }

    fn is_in_frame(&self, partition: &[Row], groups: &[i64], at: usize, row: usize) -> bool {
        let default = (
            Unit::Range,
            Bound::UnboundedPreceding,
            Bound::CurrentRow,
            Exclusion::NoOthers,
        );
        let (unit, start, end, exclusion) = self.frame.unwrap_or(default);
        let is_peer = self.order(&partition[row], &partition[at]).is_eq();
        let excluded = match exclusion {
            Exclusion::NoOthers => false,
            Exclusion::CurrentRow => row == at,
            Exclusion::Group => is_peer,
            Exclusion::Ties => is_peer && row != at,
        };
        let distance = self.distance(unit, partition, groups, at, row);
        // NULL is at no distance from anything: its frame ends with its peers.
        let no_distance = unit == Unit::Range && self.by_key && partition[at].k.is_none();
        let bound = |bound| match bound {
            Bound::Preceding(_) | Bound::Following(_) if no_distance => Bound::CurrentRow,
            bound => bound,
        };
        let (start, end) = (bound(start), bound(end));
        let above = match start {
            Bound::UnboundedPreceding => true,
            Bound::Preceding(n) => distance.is_from(-n),
            Bound::CurrentRow => distance.is_from(0),
            Bound::Following(n) => distance.is_from(n),
            Bound::UnboundedFollowing => false,
        };
        let below = match end {
            Bound::UnboundedPreceding => false,
            Bound::Preceding(n) => distance.is_to(-n),
            Bound::CurrentRow => distance.is_to(0),
            Bound::Following(n) => distance.is_to(n),
            Bound::UnboundedFollowing => true,
        };
        above && below && !excluded
    }

    /// How far a row lies behind the one `at`, as a frame counts.
    fn distance(&self, unit: Unit, partition: &[Row], groups: &[i64], at: usize, row: usize) -> Distance {
        let order = self.order(&partition[row], &partition[at]);
        match unit {
            Unit::Rows => Distance::Known(row as i64 - at as i64),
            Unit::Groups => Distance::Known(groups[row] - groups[at]),
            Unit::Range if order.is_eq() => Distance::Known(0),
            Unit::Range => match (partition[row].k, partition[at].k) {
                (Some(row), Some(at)) if self.by_key && !self.by_id => {
                    Distance::Known(if self.descending { at - row } else { row - at })
                }
                // NULL is as far away as can be; of rows told apart by `id` too, only the side counts.
                _ if order.is_lt() => Distance::Before,
                _ => Distance::Behind,
            },
        }
    }

    fn of_frame(&self, inside: &[Row]) -> Cell {
        let counts = |row: &&Row| !self.filtered || row.v.is_some_and(|v| v % 2 == 0);
        let values: Vec<i64> = inside.iter().filter(counts).filter_map(|row| row.v).collect();
        let seen: Vec<Cell> = (inside.iter().map(|row| row.v))
            .filter(|v| !self.ignore_nulls || v.is_some())
            .collect();
        match self.function {
            Function::FirstValue => seen.first().copied().flatten(),
            Function::LastValue => seen.last().copied().flatten(),
            Function::NthValue(n) => seen.get(n as usize - 1).copied().flatten(),
            Function::CountRows => Some(inside.iter().filter(counts).count() as i64),
            Function::Count => Some(values.len() as i64),
            Function::Sum if values.is_empty() => None,
            Function::Sum => Some(values.iter().sum()),
            Function::Min => values.iter().min().copied(),
            _ => values.iter().max().copied(),
        }
    }
}

/// How far a row lies behind another.
enum Distance {
    Before,
    Known(i64),
    Behind,
}

impl Distance {
    fn is_from(&self, least: i64) -> bool {
        match self {
            Distance::Before => false,
            Distance::Known(n) => *n >= least,
            Distance::Behind => true,
        }
    }

    fn is_to(&self, most: i64) -> bool {
        match self {
            Distance::Before => true,
            Distance::Known(n) => *n <= most,
            Distance::Behind => false,
        }
    }
}

/// The bucket of a row: the first `rows % buckets` buckets have one row more than the others.
fn bucket(rows: i64, buckets: i64, at: i64) -> i64 {
    let (mut bucket, mut end) = (0, 0);
    while end <= at {
        end += rows / buckets + i64::from(bucket < rows % buckets);
        bucket += 1;
    }
    bucket
}

impl Function {
    fn name(self) -> &'static str {
        match self {
            Function::RowNumber => "row_number",
            Function::Rank => "rank",
            Function::DenseRank => "dense_rank",
            Function::Ntile(_) => "ntile",
            Function::Lag(_) => "lag",
            Function::Lead(_) => "lead",
            Function::FirstValue => "first_value",
            Function::LastValue => "last_value",
            Function::NthValue(_) => "nth_value",
            Function::CountRows | Function::Count => "count",
            Function::Sum => "sum",
            Function::Min => "min",
            Function::Max => "max",
        }
    }

    /// Whether its value hangs on the order of peers.
    fn asks_for_order(self) -> bool {
        !self.is_aggregate() && !matches!(self, Function::Rank | Function::DenseRank)
    }

    fn is_aggregate(self) -> bool {
        matches!(
            self,
            Function::CountRows | Function::Count | Function::Sum | Function::Min | Function::Max
        )
    }

    fn ignores_nulls(self) -> bool {
        matches!(
            self,
            Function::Lag(_)
                | Function::Lead(_)
                | Function::FirstValue
                | Function::LastValue
                | Function::NthValue(_)
        )
    }
}

impl Bound {
    fn sql(self) -> String {
        match self {
            Bound::UnboundedPreceding => "unbounded preceding".into(),
            Bound::Preceding(n) => format!("{n} preceding"),
            Bound::CurrentRow => "current row".into(),
            Bound::Following(n) => format!("{n} following"),
            Bound::UnboundedFollowing => "unbounded following".into(),
        }
    }
}
