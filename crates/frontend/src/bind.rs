//! Statements against a catalog: names resolved, types final, plans made.

use crate::parse::{ParsedKind, ParsedStatement};
use crate::query::Translator;
use crate::{CatalogView, ExplainMode, Statement, TableEntry, create_table, modify, planner_context, select};
use datafusion_sql::sqlparser::ast::{ObjectType, Statement as Ast};
use frazil_types::{Error, LogicalType, Result, SqlState};

/// Settings that change how plans are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanSettings {
    /// Whether a common table expression that is read several times is computed once.
    pub share_common_tables: bool,
}

impl Default for PlanSettings {
    fn default() -> PlanSettings {
        PlanSettings {
            share_common_tables: true,
        }
    }
}

/// A parameter that the statement did not write: its value comes from the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenParameter {
    /// The transaction's time, a timestamp in UTC.
    Now,
    /// Its day.
    CurrentDate,
}

impl HiddenParameter {
    /// Its type.
    pub fn ty(self) -> LogicalType {
        match self {
            HiddenParameter::Now => LogicalType::Timestamp,
            HiddenParameter::CurrentDate => LogicalType::Date,
        }
    }
}

/// A bound statement with its parameters.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The statement.
    pub statement: Statement,
    /// Types of `$1`, `$2`, …: as given, or inferred.
    pub parameters: Vec<LogicalType>,
    /// Parameters that follow the statement's own.
    pub hidden: Vec<HiddenParameter>,
}

impl Bound {
    /// A statement without parameters.
    pub(crate) fn plain(statement: Statement) -> Bound {
        Bound {
            statement,
            parameters: Vec::new(),
            hidden: Vec::new(),
        }
    }
}

/// Chains of operators longer than this are bound on a thread with a deep stack.
const SHALLOW: usize = 100;
const DEEP_STACK_BYTES: usize = 256 << 20;

/// Binds a statement. `parameter_types` are those the client gave, by position.
pub fn bind(
    parsed: &ParsedStatement,
    catalog: &dyn CatalogView,
    settings: &PlanSettings,
    parameter_types: &[Option<LogicalType>],
) -> Result<Bound> {
    let binder = Binder {
        catalog,
        settings: *settings,
        parameter_types,
    };
    if parsed.depth <= SHALLOW {
        return binder.bind(parsed);
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(DEEP_STACK_BYTES);
        let spawned = thread.spawn_scoped(scope, || binder.bind(parsed));
        let deep = spawned
            .map_err(|e| Error::new(SqlState::OUT_OF_MEMORY, format!("no thread for planning: {e}")))?;
        deep.join()
            .unwrap_or_else(|_| Err(Error::internal("planning failed")))
    })
}

/// What binding a statement needs.
pub(crate) struct Binder<'a> {
    pub catalog: &'a dyn CatalogView,
    pub settings: PlanSettings,
    pub parameter_types: &'a [Option<LogicalType>],
}

impl Binder<'_> {
    pub fn translator(&self) -> Translator {
        Translator::new(self.parameter_types)
    }

    fn bind(&self, parsed: &ParsedStatement) -> Result<Bound> {
        match &parsed.kind {
            ParsedKind::Ast(ast) => self.bind_ast(ast),
            ParsedKind::Copy(copy) => modify::copy_from(self, copy).map(Bound::plain),
            ParsedKind::Freeze { table, order_by } => {
                let (entry, order_by) = self.freeze(table, order_by.as_deref())?;
                Ok(Bound::plain(Statement::Freeze {
                    table: entry.name,
                    order_by,
                }))
            }
            ParsedKind::Checkpoint => Ok(Bound::plain(Statement::Checkpoint)),
            ParsedKind::Begin => Ok(Bound::plain(Statement::Begin)),
            ParsedKind::Commit => Ok(Bound::plain(Statement::Commit)),
            ParsedKind::Rollback => Ok(Bound::plain(Statement::Rollback)),
            ParsedKind::Set { name, value } => Ok(Bound::plain(Statement::Set {
                name: name.clone(),
                value: value.clone(),
            })),
            ParsedKind::Show { name } => Ok(Bound::plain(Statement::Show { name: name.clone() })),
            ParsedKind::Explain { mode, analyze, inner } => {
                if let ParsedKind::Freeze { table, order_by } = &inner.kind
                    && *mode == ExplainMode::Plan
                {
                    let (entry, order_by) = self.freeze(table, order_by.as_deref())?;
                    return Ok(Bound::plain(Statement::ExplainFreeze {
                        table: entry.id,
                        order_by,
                        analyze: *analyze,
                    }));
                }
                let bound = self.bind(inner)?;
                match &bound.statement {
                    Statement::Query(_) | Statement::Insert(_) | Statement::Delete(_) => {}
                    _ => {
                        return Err(Error::unsupported(
                            "EXPLAIN of anything but a query, INSERT, DELETE or FREEZE",
                        ));
                    }
                }
                Ok(Bound {
                    statement: Statement::Explain {
                        mode: *mode,
                        analyze: *analyze,
                        statement: Box::new(bound.statement),
                    },
                    ..bound
                })
            }
        }
    }

    /// A table to be frozen, and the position of the column to sort it by.
    fn freeze(&self, table: &str, order_by: Option<&str>) -> Result<(TableEntry, Option<usize>)> {
        let entry = planner_context::find_table(self.catalog, table)?;
        let order_by = order_by.map(|c| modify::column_position(&entry, c)).transpose()?;
        Ok((entry, order_by))
    }

    fn bind_ast(&self, ast: &Ast) -> Result<Bound> {
        match ast {
            Ast::Query(query) => select::query(self, query),
            Ast::Insert(insert) => modify::insert(self, insert),
            Ast::Delete(delete) => modify::delete(self, delete),
            Ast::CreateTable(create) => create_table::bind(self, create),
            Ast::AlterTable(alter) => create_table::alter(self, alter),
            Ast::Drop {
                object_type: ObjectType::Table,
                if_exists,
                names,
                cascade,
                ..
            } => {
                if *cascade {
                    return Err(Error::unsupported("DROP TABLE … CASCADE"));
                }
                let names = names.iter().map(select::table_name).collect::<Result<Vec<_>>>()?;
                Ok(Bound::plain(Statement::DropTable {
                    names,
                    if_exists: *if_exists,
                }))
            }
            other => {
                let text = other.to_string();
                let words: Vec<&str> = text.split_whitespace().take(2).collect();
                let known = ["CREATE", "DROP", "ALTER"];
                let verb = match words[..] {
                    [first, second, ..] if known.contains(&first) => format!("{first} {second}"),
                    [first, ..] => first.to_string(),
                    [] => "this statement".to_string(),
                };
                Err(Error::unsupported(verb))
            }
        }
    }
}
