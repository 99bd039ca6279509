//! Equal things found: expressions and values, by a hash that equals share.
//!
//! Few are compared with each other, many are looked up, so that time is in proportion to their number.

use crate::{AggregateCall, Expr, ExprKind};
use frazil_types::Value;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;

/// Up to so many items are compared one by one.
const FEW: usize = 8;

/// What is found by a hash: equals feed a hasher alike.
pub trait Fingerprint: PartialEq {
    /// Feeds a hasher.
    fn feed(&self, hasher: &mut DefaultHasher);
}

impl Fingerprint for Value {
    fn feed(&self, hasher: &mut DefaultHasher) {
        self.hash(hasher);
    }
}

impl Fingerprint for Expr {
    fn feed(&self, hasher: &mut DefaultHasher) {
        self.walk(&mut |part| {
            discriminant(&part.kind).hash(hasher);
            part.ty.hash(hasher);
            part.children().len().hash(hasher);
            match &part.kind {
                ExprKind::Column(id) | ExprKind::Let { column: id, .. } => id.hash(hasher),
                ExprKind::Constant(value) => value.feed(hasher),
                ExprKind::Parameter(index) => index.hash(hasher),
                ExprKind::ScalarSubquery(id) => id.hash(hasher),
                ExprKind::Compare(op, ..) => op.hash(hasher),
                ExprKind::Arithmetic(op, ..) => op.hash(hasher),
                ExprKind::Like { pattern, .. } => pattern.hash(hasher),
                ExprKind::InList { list, .. } => list.iter().for_each(|v| v.feed(hasher)),
                ExprKind::Extract(part, _) => part.hash(hasher),
                ExprKind::AddInterval(_, interval) => interval.hash(hasher),
                ExprKind::Function(function, _) => function.hash(hasher),
                // What these hold beside their parts is compared where hashes agree.
                ExprKind::Subquery(_)
                | ExprKind::Distinct { .. }
                | ExprKind::And(_)
                | ExprKind::Or(_)
                | ExprKind::Not(_)
                | ExprKind::IsNull(_)
                | ExprKind::Negate(_)
                | ExprKind::Cast(_)
                | ExprKind::Case { .. }
                | ExprKind::VectorFunction(..) => {}
            }
        });
    }
}

impl<T: Fingerprint> Fingerprint for Option<T> {
    fn feed(&self, hasher: &mut DefaultHasher) {
        self.is_some().hash(hasher);
        self.iter().for_each(|item| item.feed(hasher));
    }
}

impl<T: Fingerprint> Fingerprint for Vec<T> {
    fn feed(&self, hasher: &mut DefaultHasher) {
        self.len().hash(hasher);
        self.iter().for_each(|item| item.feed(hasher));
    }
}

impl Fingerprint for AggregateCall {
    fn feed(&self, hasher: &mut DefaultHasher) {
        (self.function, self.distinct, self.ty).hash(hasher);
        self.argument.feed(hasher);
        self.second.feed(hasher);
        for key in &self.order {
            (key.descending, key.nulls_first).hash(hasher);
            key.e.feed(hasher);
        }
        self.filter.feed(hasher);
    }
}

/// Where things stand in a list, found by what they are.
#[derive(Debug, Default)]
pub struct Places {
    by_hash: HashMap<u64, Vec<usize>>,
}

impl Places {
    /// The place of `item`'s equal, of which `is_equal` holds. If there is none, `item` is to stand at `next`.
    pub fn find_or_add<T: Fingerprint>(
        &mut self,
        item: &T,
        next: usize,
        is_equal: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut hasher = DefaultHasher::new();
        item.feed(&mut hasher);
        let places = self.by_hash.entry(hasher.finish()).or_default();
        let found = places.iter().copied().find(|&place| is_equal(place));
        if found.is_none() {
            places.push(next);
        }
        found
    }
}

/// The items without those that are equal to an earlier one.
pub fn each_once<T: Fingerprint>(items: Vec<T>) -> Vec<T> {
    let is_few = items.len() <= FEW;
    let mut kept: Vec<T> = Vec::with_capacity(items.len());
    let mut places = Places::default();
    for item in items {
        let is_known = match is_few {
            true => kept.contains(&item),
            false => {
                let next = kept.len();
                (places.find_or_add(&item, next, |place| kept[place] == item)).is_some()
            }
        };
        if !is_known {
            kept.push(item);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ColumnId;
    use frazil_types::{CompareOp, LogicalType, Span};

    /// `column = value`, written at some place.
    fn equal(column: u32, value: i128) -> Expr {
        let column = Expr::new(ExprKind::Column(ColumnId(column)), LogicalType::Integer, true);
        let constant = Expr::constant(Value::Int(value), LogicalType::Integer);
        let kind = ExprKind::Compare(CompareOp::Eq, Box::new(column), Box::new(constant));
        Expr::boolean(kind, true).at(Span::new(value as usize, value as usize + 1))
    }

    #[test]
    fn few_and_many_are_kept_in_order_once() {
        for count in [3, 1_000] {
            let items: Vec<Expr> = (0..count)
                .flat_map(|i| [equal(i as u32 % 7, i), equal(i as u32 % 7, i)])
                .collect();
            let wanted: Vec<Expr> = (0..count).map(|i| equal(i as u32 % 7, i)).collect();
            assert_eq!(each_once(items), wanted);
        }
    }

    #[test]
    fn nan_is_found_again_and_zero_keeps_its_sign() {
        let zeros = || [Value::Double(0.0), Value::Double(-0.0)].into_iter().cycle();
        assert_eq!(
            each_once(zeros().take(20).collect()),
            [Value::Double(0.0), Value::Double(-0.0)]
        );
        let nan = [Value::Double(f64::NAN), Value::Double(-f64::NAN)];
        assert_eq!(each_once(nan.into_iter().cycle().take(20).collect()).len(), 1);
    }
}
