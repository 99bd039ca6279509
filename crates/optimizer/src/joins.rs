//! Puts the joins of a plan in the order found by [`crate::join_order`], region by region.

use crate::aggregate_reduction;
use crate::cardinality::Estimator;
use crate::join_graph::{Graph, Relation, Set, Step, is_region};
use crate::join_order::{self, Node, joins};
use crate::pushdown::{place, take};
use frazil_plan::operators::{Join, Map};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, JoinKind, Operator, Plan};
use frazil_types::{Cancel, CompareOp, Result};

/// Orders the joins of all trees of a plan. 57014 once `cancel` is set, and the plan is of no use then.
pub fn plan(plan: &mut Plan, estimator: &mut Estimator<'_>, cancel: &Cancel) -> Result<()> {
    let (trees, columns) = plan.trees_mut();
    let mut pass = Pass {
        columns,
        estimator,
        cancel,
    };
    for tree in trees {
        let whole = take(tree);
        *tree = pass.order(whole)?;
    }
    Ok(())
}

/// Whether there is anything to put in order.
pub fn has_joins(plan: &Plan) -> bool {
    fn below(op: &Operator) -> bool {
        matches!(op, Operator::Join(_)) || op.inputs().into_iter().any(below)
    }
    plan.trees().any(below)
}

/// An input of an operator, and which of its rows matter.
pub struct KeyedInput<'a> {
    /// The input.
    pub op: &'a Operator,
    /// True if a row of the input that the operator's own reader would drop by a value may be left out before.
    pub passes: bool,
    /// Columns of the input, each with one of the other input: a row matters only if another row has an equal value.
    pub keys: Vec<(ColumnId, ColumnId)>,
}

/// The inputs of an operator with what the keys of a join say of their rows.
pub fn inputs_by_keys(op: &Operator) -> Vec<KeyedInput<'_>> {
    if let Operator::Join(join) = op {
        return sides_by_keys(join);
    }
    // Other operators count or choose among their rows, so that no row may be left out.
    let passes = matches!(op, Operator::Filter(_) | Operator::Map(_));
    let input = |op| KeyedInput {
        op,
        passes,
        keys: Vec::new(),
    };
    op.inputs().into_iter().map(input).collect()
}

fn sides_by_keys(join: &Join) -> Vec<KeyedInput<'_>> {
    let (drops_build, drops_probe) = match join.kind {
        JoinKind::Inner | JoinKind::ProbeSemi | JoinKind::BuildSemi => (true, true),
        JoinKind::ProbeOuter => (true, false),
        JoinKind::BuildOuter => (false, true),
        JoinKind::ProbeAnti => (!join.null_aware, false),
        JoinKind::BuildAnti => (false, !join.null_aware),
        JoinKind::FullOuter | JoinKind::ProbeMark(_) => (false, false),
    };
    let columns = join.keys.iter();
    let columns = columns.filter_map(|(build, probe)| Some((build.as_column()?, probe.as_column()?)));
    let columns: Vec<(ColumnId, ColumnId)> = columns.collect();
    // Without a build row other matches would be the first ones.
    let gives_all_matches = join.first.is_none();
    let side = |op, passes, keys| KeyedInput { op, passes, keys };
    let build = columns.iter().copied().filter(|_| drops_build);
    let probe = columns.iter().map(|(build, probe)| (*probe, *build));
    let probe = probe.filter(|_| drops_probe);
    vec![
        side(&*join.build, gives_all_matches, build.collect()),
        side(&*join.probe, true, probe.collect()),
    ]
}

struct Pass<'a, 'b> {
    columns: &'a mut Columns,
    estimator: &'a mut Estimator<'b>,
    cancel: &'a Cancel,
}

impl Pass<'_, '_> {
    fn order(&mut self, mut op: Operator) -> Result<Operator> {
        let top = matches!(op, Operator::Join(_) | Operator::Filter(_)) && is_region(&op);
        if !top {
            for input in op.inputs_mut() {
                let whole = take(input);
                *input = self.order(whole)?;
            }
            return Ok(op);
        }
        let mut graph = Graph::of(op, self.columns);
        aggregate_reduction::reduce(&mut graph, self.estimator, self.columns);
        for relation in &mut graph.relations {
            let leaf = take(&mut relation.op);
            relation.op = self.order(leaf)?;
        }
        // Each region is estimated with all that is below it.
        self.cancel.check()?;
        graph.estimate(self.estimator, self.columns);
        let nodes = join_order::search(&graph);
        Ok(self.rebuild(graph, &nodes))
    }

    /// The operators of an order.
    fn rebuild(&self, graph: Graph, nodes: &[Node]) -> Operator {
        let Graph {
            relations,
            predicates,
            steps,
            ..
        } = graph;
        let mut tree = Tree {
            relations: relations.into_iter().map(Some).collect(),
            predicates: predicates
                .into_iter()
                .map(|p| (p.expr, p.reads, p.sides))
                .collect(),
            columns: self.columns,
        };
        let op = tree.build(nodes, nodes.len() - 1);
        let mut steps = steps.into_iter().peekable();
        let mut op = op;
        while let Some(step) = steps.next() {
            op = match step {
                Step::Map(expressions) => mapped(op, expressions),
                Step::Filter(first) => {
                    let next = || match steps.next_if(|step| matches!(step, Step::Filter(_))) {
                        Some(Step::Filter(condition)) => Some(condition),
                        _ => None,
                    };
                    let conditions = std::iter::once(first).chain(std::iter::from_fn(next));
                    place(op, conditions.collect(), self.columns)
                }
            };
        }
        op
    }
}

/// An operator with columns computed on top; one map holds what several would.
fn mapped(op: Operator, mut expressions: Vec<(ColumnId, Expr)>) -> Operator {
    if let Operator::Map(mut below) = op {
        below.expressions.append(&mut expressions);
        return Operator::Map(below);
    }
    Map::above(op, expressions)
}

/// A predicate with the relations it reads, and those of its sides if it is a key.
type Placed = (Expr, Set, Option<(Set, Set)>);

struct Tree<'a> {
    relations: Vec<Option<Relation>>,
    predicates: Vec<Placed>,
    columns: &'a Columns,
}

impl Tree<'_> {
    fn build(&mut self, nodes: &[Node], at: usize) -> Operator {
        let node = &nodes[at];
        let Some(step) = &node.join else {
            let i = node.set.trailing_zeros() as usize;
            return match &mut self.relations[i] {
                // A directed relation is taken by its join, below.
                Some(r) if r.directed.is_some() => take(&mut r.op),
                Some(r) => {
                    let op = take(&mut r.op);
                    let own = self.take_predicates(node.set);
                    place(op, own.into_iter().map(|p| p.0).collect(), self.columns)
                }
                None => unreachable!("a relation is joined once"),
            };
        };
        let build = self.build(nodes, step.build);
        let probe = self.build(nodes, step.probe);
        let (b_set, p_set) = (nodes[step.build].set, nodes[step.probe].set);
        let directed = [b_set, p_set]
            .into_iter()
            .filter(|s| s.count_ones() == 1)
            .find_map(|s| {
                self.relations[s.trailing_zeros() as usize]
                    .as_mut()?
                    .directed
                    .take()
            });
        let (mut keys, residual, null_aware) = match directed {
            Some(d) => {
                let turned = matches!(
                    step.kind,
                    JoinKind::BuildSemi | JoinKind::BuildAnti | JoinKind::BuildOuter
                );
                let keys = d
                    .keys
                    .into_iter()
                    .map(|(b, p)| if turned { (p, b) } else { (b, p) });
                (keys.collect(), d.residual, d.null_aware)
            }
            None => (Vec::new(), None, false),
        };
        let mut above = Vec::new();
        for (expr, reads, sides) in self.take_predicates(node.set) {
            match expr.kind {
                ExprKind::Compare(CompareOp::Eq, l, r)
                    if step.kind == JoinKind::Inner && joins(sides, b_set, p_set) =>
                {
                    let left_is_build = sides.is_some_and(|(l, _)| l & !b_set == 0);
                    keys.push(if left_is_build { (*l, *r) } else { (*r, *l) });
                }
                kind => above.push((Expr { kind, ..expr }, reads)),
            }
        }
        let op = Operator::Join(Join {
            kind: step.kind,
            build: Box::new(build),
            probe: Box::new(probe),
            keys,
            residual,
            null_aware,
            in_order: false,
            first: None,
        });
        place(op, above.into_iter().map(|p| p.0).collect(), self.columns)
    }

    /// Predicates that read these relations only, and have not been applied yet.
    fn take_predicates(&mut self, set: Set) -> Vec<Placed> {
        let all = std::mem::take(&mut self.predicates);
        let (ready, rest) = all.into_iter().partition(|p| p.1 & !set == 0);
        self.predicates = rest;
        ready
    }
}
