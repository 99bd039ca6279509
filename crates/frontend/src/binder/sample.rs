//! TABLESAMPLE.

use super::rows::filtered;
use super::scope::Clause;
use super::{Binder, Relation, error, naming};
use crate::catalog_view;
use frazil_catalog::QualifiedName;
use frazil_functions::SampleMethod;
use frazil_plan::{Expr, Operator};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{Expr as SqlExpr, ObjectName, TableSample, TableSampleKind, TableSampleMethod};

/// What a sample takes: `(percentage)`, or with REPEATABLE `((percentage, seed))`, as which it is rewritten before it is read.
struct Arguments<'a> {
    method: SampleMethod,
    percentage: &'a SqlExpr,
    seed: Option<&'a SqlExpr>,
}

impl<'a> Binder<'a> {
    /// The rows of a table that a sample takes. 0A000 for what is no table, 42704 for an unknown method; 2202H, 2202G.
    pub(super) fn sampled(
        &mut self,
        name: &ObjectName,
        sample: &'a TableSampleKind,
    ) -> Result<(Relation, QualifiedName)> {
        let span = self.name_span(name);
        let Arguments {
            method,
            percentage,
            seed,
        } = self.sample_arguments(sample, span)?;
        let written = self.written_name(name)?;
        let found = naming::find_relation(self.catalog, &self.path, &written);
        if let Some((_, catalog_view::Relation::View(_))) = found {
            return Err(no_table(span));
        }
        let (Relation { op, columns }, shown) = self.read(name)?;
        let Operator::Scan(mut scan) = op else {
            return Err(no_table(span));
        };
        let row_id = self.row_id();
        scan.row_id = Some(row_id);
        let row_id = Expr::column(row_id, &self.columns);
        let (predicate, _) = self.within(Clause::From, Vec::new(), |b| {
            let percentage = b.expression(percentage)?;
            let seed = seed.map(|seed| b.expression(seed)).transpose()?;
            b.typing.sampled(method, row_id, percentage, seed, span)
        })?;
        let op = filtered(Operator::Scan(scan), Some(predicate));
        Ok((Relation::new(op, columns), shown))
    }

    fn sample_arguments(&self, sample: &'a TableSampleKind, span: Span) -> Result<Arguments<'a>> {
        let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) = sample;
        let TableSample {
            name,
            quantity: Some(quantity),
            seed: None,
            bucket: None,
            offset: None,
            ..
        } = &**sample
        else {
            return Err(self.syntax_error("TABLESAMPLE", span));
        };
        if quantity.unit.is_some() {
            return Err(self.syntax_error("TABLESAMPLE", span));
        }
        let method = match name {
            Some(TableSampleMethod::Bernoulli) => SampleMethod::Bernoulli,
            Some(TableSampleMethod::System) => SampleMethod::System,
            Some(TableSampleMethod::Row) => return Err(no_method("row", span)),
            Some(TableSampleMethod::Block) => return Err(no_method("block", span)),
            None => match &quantity.value {
                SqlExpr::Function(call) => {
                    return Err(no_method(&call.name.to_string().to_lowercase(), span));
                }
                _ => return Err(self.syntax_error("TABLESAMPLE", span)),
            },
        };
        let wrong = |got: usize| {
            let message = format!(
                "tablesample method {} requires 1 argument, not {got}",
                named(method)
            );
            Err(error(SqlState::INVALID_SAMPLE_ARGUMENT, message, span))
        };
        match &quantity.value {
            SqlExpr::Tuple(parts) => match &parts[..] {
                [percentage, seed] => Ok(Arguments {
                    method,
                    percentage,
                    seed: Some(seed),
                }),
                // The last one is the seed, or stands for one.
                parts => wrong(parts.len() - 1),
            },
            percentage => Ok(Arguments {
                method,
                percentage,
                seed: None,
            }),
        }
    }
}

fn named(method: SampleMethod) -> &'static str {
    match method {
        SampleMethod::Bernoulli => "bernoulli",
        SampleMethod::System => "system",
    }
}

fn no_method(name: &str, span: Span) -> Error {
    let message = format!("tablesample method {name} does not exist");
    error(SqlState::UNDEFINED_OBJECT, message, span)
}

pub(super) fn no_table(span: Span) -> Error {
    let message = "TABLESAMPLE clause can only be applied to tables and materialized views";
    error(SqlState::FEATURE_NOT_SUPPORTED, message, span)
}
