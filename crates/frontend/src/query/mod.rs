//! DataFusion's logical plan → [`frazil_plan`].
//!
//! DataFusion's `SqlToRel` has resolved names, expanded wildcards, separated aggregates from the rest
//! and marked references to outer queries. From there on everything is ours, because a rule that
//! knows our types, checked arithmetic and column ids is shorter and safer than undoing one that does
//! not:
//!
//! 1. [`Translator`] turns nodes into operators and expressions, types computed from the leaves up
//!    ([`typing`], [`arithmetic`]). Every column gets one id, so that projections and aliases vanish.
//! 2. Subqueries become joins as they are met ([`subquery`]): correlated predicates are pulled up to
//!    the join; what cannot be pulled is refused by name.
//! 3. [`push_down`] moves predicates to where their columns are, turns cross products into joins and
//!    outer joins into inner ones where a predicate rejects NULL.
//! 4. [`prune`] drops columns that nobody reads.

mod aggregate;
pub(crate) mod arithmetic;
pub(crate) mod convert;
mod disjunction;
mod expression;
mod function;
mod join;
mod prune;
mod push_down;
mod relation;
mod subquery;
pub(crate) mod typing;
mod walk;

use crate::HiddenParameter;
use datafusion_common::Column;
use datafusion_common::DFSchema;
use datafusion_expr::LogicalPlan;
use frazil_plan::{ColumnId, Columns, Expr, Operator, Plan};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
use typing::Typing;

/// Rows and the columns that stand for the fields of the DataFusion node they come from, in order.
pub(crate) struct Relation {
    pub op: Operator,
    pub out: Vec<ColumnId>,
}

/// The names an expression may use: a node's schema with the columns for its fields.
#[derive(Clone)]
struct Scope {
    schema: DFSchema,
    out: Vec<ColumnId>,
}

/// Number of the first hidden parameter until the count of the statement's own is known.
const HIDDEN_BASE: usize = 1 << 20;

/// Translates one statement.
pub(crate) struct Translator {
    pub columns: Columns,
    pub typing: Typing,
    subqueries: Vec<(Operator, ColumnId)>,
    shared: Vec<(Operator, Vec<ColumnId>)>,
    hidden: Vec<HiddenParameter>,
    outer: Vec<Scope>,
    expected: Vec<LogicalType>,
    row_width: Option<usize>,
}

/// Operators above this depth are refused: the passes recurse.
const MAX_DEPTH: usize = 500;

impl Translator {
    pub fn new(parameters: &[Option<LogicalType>]) -> Translator {
        Translator {
            columns: Columns::default(),
            typing: Typing::new(parameters),
            subqueries: Vec::new(),
            shared: Vec::new(),
            hidden: Vec::new(),
            outer: Vec::new(),
            expected: Vec::new(),
            row_width: None,
        }
    }

    /// Types that the columns of the VALUES list to come get where nothing else says: those of the table
    /// it is inserted into.
    pub fn expect(&mut self, types: Vec<LogicalType>) {
        self.expected = types;
    }

    /// Says that the VALUES list to come is one row made of rows so wide, whose values keep their own types, for each of
    /// them to be cast to a table's.
    pub fn expect_rows_of(&mut self, width: usize) {
        self.row_width = Some(width);
    }

    /// Keeps a common table expression's rows as a shared subplan; its columns are those of `relation`.
    pub fn share(&mut self, relation: Relation) -> frazil_plan::SharedId {
        self.shared.push((relation.op, relation.out));
        frazil_plan::SharedId(self.shared.len() - 1)
    }

    /// A field of a schema as a column.
    fn column_of(&self, schema: &DFSchema, out: &[ColumnId], column: &Column) -> Result<Expr> {
        let index = schema.maybe_index_of_column(column).ok_or_else(|| {
            Error::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column \"{}\" does not exist", column.name),
            )
        })?;
        Ok(Expr::column(out[index], &self.columns))
    }

    /// An expression as a column: itself if it is one, else computed by a Map above `op`.
    fn materialize(&mut self, e: Expr, label: &str, added: &mut Vec<(ColumnId, Expr)>) -> ColumnId {
        if let frazil_plan::ExprKind::Column(id) = e.kind {
            return id;
        }
        if let Some((id, _)) = added.iter().find(|(_, known)| *known == e) {
            return *id;
        }
        let id = self.columns.add(label, e.ty, e.nullable);
        added.push((id, e));
        id
    }

    fn hidden_parameter(&mut self, which: HiddenParameter) -> Expr {
        let index = match self.hidden.iter().position(|h| *h == which) {
            Some(index) => index,
            None => {
                self.hidden.push(which);
                self.hidden.len() - 1
            }
        };
        Expr {
            kind: frazil_plan::ExprKind::Parameter(HIDDEN_BASE + index),
            ty: which.ty(),
            nullable: false,
            span: Span::NONE,
        }
    }

    /// Translates a plan that nothing encloses.
    pub fn root(&mut self, plan: &LogicalPlan) -> Result<Relation> {
        check_depth(plan)?;
        self.relation(plan)
    }

    /// Finishes the statement: predicates pushed down, columns pruned, parameters numbered.
    pub fn finish(mut self, root: Operator, output: Vec<(String, ColumnId)>) -> (Plan, Vec<HiddenParameter>) {
        let mut plan = Plan {
            root: push_down::push_down(root, &mut self.columns),
            columns: Columns::default(),
            output,
            subqueries: Vec::new(),
            shared: Vec::new(),
            parameters: self.typing.parameter_types(),
        };
        for (op, id) in self.subqueries {
            let op = push_down::push_down(op, &mut self.columns);
            plan.subqueries.push((op, id));
        }
        let mut kept = Vec::new();
        for (op, out) in self.shared {
            plan.shared.push(push_down::push_down(op, &mut self.columns));
            kept.push(out);
        }
        plan.columns = self.columns;
        prune::prune(&mut plan);
        let own = plan.parameters.clone();
        walk::every_expression(&mut plan, &mut |e| number_parameter(e, &own));
        plan.parameters.extend(self.hidden.iter().map(|h| h.ty()));
        (plan, self.hidden)
    }
}

fn number_parameter(e: &mut Expr, own: &[LogicalType]) {
    let frazil_plan::ExprKind::Parameter(index) = &mut e.kind else {
        return;
    };
    if *index >= HIDDEN_BASE {
        *index = *index - HIDDEN_BASE + own.len();
        return;
    }
    // Used as text before a later use gave it a type.
    let known = own[*index];
    if known != e.ty {
        let inner = Expr {
            ty: known,
            ..e.clone()
        };
        e.kind = frazil_plan::ExprKind::Cast(Box::new(inner));
    }
}

fn check_depth(plan: &LogicalPlan) -> Result<()> {
    fn depth(plan: &LogicalPlan, at: usize) -> Result<()> {
        if at > MAX_DEPTH {
            return Err(Error::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                "the statement is nested too deeply",
            ));
        }
        plan.inputs()
            .into_iter()
            .try_for_each(|input| depth(input, at + 1))
    }
    depth(plan, 0)
}
