//! A small shop: customers, orders, items; with statistics, and builders of plans over it.

#![allow(dead_code, reason = "each test file uses a part")]

use frazil_plan::operators::{Filter, Join, Scan};
use frazil_plan::{
    Bounds, ColumnId, Columns, Expr, ExprKind, IndexInfo, JoinKind, Operator, Plan, SampleSize, SampledRows,
    Statistics, StoredExpression,
};
use frazil_types::date_input::parse_date;
use frazil_types::{CompareOp, KeySketch, LogicalType, MatchBits, ObjectId, Restriction, Value};
use std::sync::Arc;

/// Columns of a plan over the shop.
#[derive(Default)]
pub struct Shop {
    pub columns: Columns,
}

pub struct Customer {
    pub key: ColumnId,
    pub segment: ColumnId,
}

pub struct Orders {
    pub key: ColumnId,
    pub customer: ColumnId,
    pub day: ColumnId,
    pub comment: ColumnId,
}

pub struct Item {
    pub order: ColumnId,
    pub price: ColumnId,
}

const MONEY: LogicalType = LogicalType::Decimal {
    precision: 15,
    scale: 2,
};

impl Shop {
    fn scan(&mut self, table: u32, name: &str, columns: &[(&str, LogicalType)]) -> (Operator, Vec<ColumnId>) {
        let ids: Vec<ColumnId> = columns
            .iter()
            .map(|(n, ty)| self.columns.add(*n, *ty, false))
            .collect();
        let scan = Operator::Scan(Scan {
            table: ObjectId(table),
            name: name.into(),
            columns: ids.iter().enumerate().map(|(at, id)| (*id, at)).collect(),
            row_id: None,
            restrictions: vec![],
            disjunctions: vec![],
            places: vec![],
        });
        (scan, ids)
    }

    pub fn customer(&mut self) -> (Operator, Customer) {
        let columns = [("c_key", LogicalType::Integer), ("c_segment", LogicalType::Text)];
        let (scan, ids) = self.scan(0, "customer", &columns);
        let [key, segment] = ids[..] else { panic!() };
        (scan, Customer { key, segment })
    }

    pub fn orders(&mut self) -> (Operator, Orders) {
        let columns = [
            ("o_key", LogicalType::Integer),
            ("o_customer", LogicalType::Integer),
            ("o_day", LogicalType::Date),
            ("o_comment", LogicalType::Text),
        ];
        let (scan, ids) = self.scan(1, "orders", &columns);
        let [key, customer, day, comment] = ids[..] else {
            panic!()
        };
        let orders = Orders {
            key,
            customer,
            day,
            comment,
        };
        (scan, orders)
    }

    pub fn item(&mut self) -> (Operator, Item) {
        let columns = [
            ("i_order", LogicalType::Integer),
            ("i_price", MONEY),
            ("i_comment", LogicalType::Text),
        ];
        let (scan, ids) = self.scan(2, "item", &columns);
        let [order, price, _] = ids[..] else { panic!() };
        (scan, Item { order, price })
    }

    pub fn column(&self, id: ColumnId) -> Expr {
        Expr::column(id, &self.columns)
    }

    pub fn int(&self, v: i128) -> Expr {
        Expr::constant(Value::Int(v), LogicalType::Integer)
    }

    pub fn date(&self, text: &str) -> Expr {
        Expr::constant(Value::Int(parse_date(text).unwrap().into()), LogicalType::Date)
    }

    pub fn equals(&self, id: ColumnId, v: i128) -> Expr {
        compare(CompareOp::Eq, self.column(id), self.int(v))
    }

    pub fn equals_text(&self, id: ColumnId, text: &str) -> Expr {
        let constant = Expr::constant(Value::Text(text.into()), LogicalType::Text);
        compare(CompareOp::Eq, self.column(id), constant)
    }

    /// A plan that gives these columns, named without the table's letter.
    pub fn plan(self, root: Operator, output: &[ColumnId]) -> Plan {
        let name = |id: &ColumnId| {
            let label = &self.columns[*id].label;
            label.split_once('_').map_or(label.clone(), |l| l.1.to_string())
        };
        Plan {
            output: output.iter().map(|id| (name(id), *id)).collect(),
            root,
            columns: self.columns,
            subqueries: vec![],
            shared: vec![],
            parameters: vec![],
        }
    }

    pub fn statistics() -> ShopStatistics {
        ShopStatistics
    }
}

/// 15,000 customers, 150,000 orders over seven years, 600,000 items.
pub struct ShopStatistics;

impl Statistics for ShopStatistics {
    fn row_count(&self, table: ObjectId) -> u64 {
        [15_000, 150_000, 600_000][table.0 as usize]
    }
    fn exact_row_count(&self, _: ObjectId) -> Option<u64> {
        None
    }
    fn bounds(&self, table: ObjectId, column: usize) -> Option<Bounds> {
        let (min, max) = match (table.0, column) {
            (0, 0) | (1, 1) => (1, 15_000),
            (1, 0) | (2, 0) => (0, 600_000),
            (1, 2) => (8035, 10440),
            (2, 1) => (1, 10_000_000),
            _ => return None,
        };
        Some(Bounds { min, max })
    }
    fn distinct(&self, table: ObjectId, column: usize) -> Option<u64> {
        match (table.0, column) {
            (0, 0) => Some(15_000),
            (0, 1) => Some(5),
            (1, 0) | (2, 0) => Some(150_000),
            (1, 1) => Some(10_000),
            (1, 2) => Some(2406),
            _ => None,
        }
    }
    fn spread(&self, table: ObjectId, column: usize) -> Option<f64> {
        // Items come in no order of their orders; orders come in that of their keys.
        match (table.0, column) {
            (2, 0) => Some(0.98),
            (1, 0) => Some(0.01),
            _ => None,
        }
    }
    fn null_count(&self, _: ObjectId, _: usize) -> u64 {
        0
    }
    fn indexes(&self, _: ObjectId) -> Vec<IndexInfo> {
        Vec::new()
    }

    fn sample(&self, _: ObjectId) -> Option<SampleSize> {
        None
    }

    fn sampled(&self, _: SampledRows, _: &Restriction) -> Option<Arc<MatchBits>> {
        None
    }

    fn key_sketch(&self, _: ObjectId, _: usize) -> Option<Arc<KeySketch>> {
        None
    }

    fn stored_expressions(&self, _: ObjectId) -> Vec<StoredExpression> {
        Vec::new()
    }
}

pub fn compare(op: CompareOp, l: Expr, r: Expr) -> Expr {
    let nullable = l.nullable || r.nullable;
    Expr::boolean(ExprKind::Compare(op, Box::new(l), Box::new(r)), nullable)
}

pub fn all_of(parts: Vec<Expr>) -> Expr {
    Expr::boolean(ExprKind::And(parts), false)
}

pub fn any_of(parts: Vec<Expr>) -> Expr {
    Expr::boolean(ExprKind::Or(parts), false)
}

/// From a day up to, but not with, another.
pub fn is_between(shop: &Shop, id: ColumnId, from: &str, to: &str) -> Expr {
    all_of(vec![
        compare(CompareOp::Ge, shop.column(id), shop.date(from)),
        compare(CompareOp::Lt, shop.column(id), shop.date(to)),
    ])
}

pub fn like(value: Expr, pattern: &str, negated: bool) -> Expr {
    let nullable = value.nullable;
    let kind = ExprKind::Like {
        value: Box::new(value),
        pattern: pattern.into(),
        escape: Some('\\'),
        negated,
    };
    Expr::boolean(kind, nullable)
}

pub fn filter(input: Operator, predicate: Expr) -> Operator {
    Operator::Filter(Filter {
        input: Box::new(input),
        predicate,
    })
}

pub fn join(kind: JoinKind, build: Operator, probe: Operator, keys: Vec<(Expr, Expr)>) -> Operator {
    Operator::Join(Join {
        kind,
        build: Box::new(build),
        probe: Box::new(probe),
        keys,
        residual: None,
        null_aware: false,
        in_order: false,
        first: None,
    })
}
