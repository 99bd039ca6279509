//! What there is: tables, views, functions, schemas, the database.

use super::command::{Call, Command, Takes};
use super::describe;
use crate::backend::{Relation, RelationKind};
use crate::complaint::Complaint;
use crate::shell::Next;
use crate::text::unquoted;
use frazil::{Outcome, RawValue as Value};

pub const COMMANDS: &[Command] = &[
    Command {
        names: &["\\d"],
        arguments: "[NAME]",
        help: "tables and views, or the columns, keys and checks of one",
        takes: Takes::Relations,
        run: |call| {
            match call.one()? {
                Some(name) => describe::columns(call.shell, &unquoted(&name))?,
                None => describe::list(call.shell)?,
            }
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\d+"],
        arguments: "[NAME]",
        help: "the same with bytes, encodings and the texts of views",
        takes: Takes::Relations,
        run: |call| match call.one()? {
            Some(name) => {
                describe::columns_in_full(call.shell, &unquoted(&name))?;
                Ok(Next::More)
            }
            None => show_relations_in_full(call, Wanted::All),
        },
    },
    Command {
        names: &[".tables"],
        arguments: "[PATTERN]",
        help: "names of tables and views",
        takes: Takes::Relations,
        run: |call| {
            let names = relations(call, Wanted::All)?.into_iter().map(|row| row.name);
            let names: Vec<String> = names.collect();
            if !names.is_empty() {
                call.shell.output.line(&names.join("\n"))?;
            }
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\dt"],
        arguments: "[PATTERN]",
        help: "tables with their rows; * and ? match characters",
        takes: Takes::Relations,
        run: |call| show_relations(call, Wanted::Tables),
    },
    Command {
        names: &["\\dt+"],
        arguments: "[PATTERN]",
        help: "tables with their rows and bytes",
        takes: Takes::Relations,
        run: |call| show_relations_in_full(call, Wanted::Tables),
    },
    Command {
        names: &["\\dv", ".views"],
        arguments: "[PATTERN]",
        help: "views",
        takes: Takes::Relations,
        run: |call| show_relations(call, Wanted::Views),
    },
    Command {
        names: &["\\di", ".indexes"],
        arguments: "[PATTERN]",
        help: "indexes with their tables",
        takes: Takes::Relations,
        run: indexes,
    },
    Command {
        names: &["\\df"],
        arguments: "[PATTERN]",
        help: "functions",
        takes: Takes::Words,
        run: functions,
    },
    Command {
        names: &["\\dT"],
        arguments: "[PATTERN]",
        help: "types with all their names, labels of enumerations, bases of domains",
        takes: Takes::Words,
        run: types,
    },
    Command {
        names: &["\\ds"],
        arguments: "[PATTERN]",
        help: "sequences with the columns that own them",
        takes: Takes::Words,
        run: sequences,
    },
    Command {
        names: &["\\dp", "\\z"],
        arguments: "[PATTERN]",
        help: "privileges on tables and views; whoever opens the database has all",
        takes: Takes::Relations,
        run: privileges,
    },
    Command {
        names: &["\\dn"],
        arguments: "",
        help: "schemas",
        takes: Takes::Words,
        run: |call| {
            let schemas = call.shell.backend.schemas()?;
            let rows: Vec<Vec<Value>> = schemas.into_iter().map(|name| vec![text(name)]).collect();
            call.shell.show_rows(&["Name"], &rows)?;
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\l", ".databases"],
        arguments: "",
        help: "the database that is open, or those of the server",
        takes: Takes::Words,
        run: database,
    },
    Command {
        names: &[".schema"],
        arguments: "[NAME]",
        help: "CREATE statements of tables and views",
        takes: Takes::Relations,
        run: |call| {
            let name = call.one()?.map(|name| unquoted(&name));
            describe::schema(call.shell, name.as_deref())?;
            Ok(Next::More)
        },
    },
];

/// Which tables and views are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    All,
    Tables,
    Views,
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// Those whose names match the argument, by name.
fn relations(call: &Call<'_>, wanted: Wanted) -> Result<Vec<Relation>, Complaint> {
    let pattern = call.one()?;
    let mut found = call.shell.backend.relations()?;
    found.retain(|r| match wanted {
        Wanted::All => true,
        Wanted::Tables => r.kind == RelationKind::Table,
        Wanted::Views => r.kind != RelationKind::Table,
    });
    found.retain(|r| pattern.as_deref().is_none_or(|p| matches(&unquoted(p), &r.name)));
    found.sort_by(|a, b| (&a.schema, &a.name).cmp(&(&b.schema, &b.name)));
    Ok(found)
}

fn show_relations(call: &mut Call<'_>, wanted: Wanted) -> Result<Next, Complaint> {
    let rows: Vec<Vec<Value>> = (relations(call, wanted)?.into_iter())
        .map(|relation| {
            let mut row = vec![text(relation.schema), text(relation.name)];
            match relation.rows {
                Some(rows) => row.extend([text(relation.kind.name()), Value::Int(rows.into())]),
                None => row.push(text(relation.kind.name())),
            }
            row
        })
        .collect();
    let names: &[&str] = match wanted {
        Wanted::Views => &["Schema", "Name", "Type"],
        _ => &["Schema", "Name", "Type", "Rows"],
    };
    call.shell.show_rows(names, &rows)?;
    Ok(Next::More)
}

/// Tables and views with what they take in memory and on disk.
fn show_relations_in_full(call: &mut Call<'_>, wanted: Wanted) -> Result<Next, Complaint> {
    let found = relations(call, wanted)?;
    let bytes = describe::bytes_of_tables(call.shell)?;
    let rows: Vec<Vec<Value>> = (found.into_iter())
        .map(|relation| {
            let (rows, bytes) = match relation.rows {
                Some(rows) => {
                    let key = (relation.schema.clone(), relation.name.clone());
                    let bytes = bytes.get(&key).copied().unwrap_or(0);
                    (Value::Int(rows.into()), Value::Int(bytes))
                }
                None => (Value::Null, Value::Null),
            };
            vec![
                text(relation.schema),
                text(relation.name),
                text(relation.kind.name()),
                rows,
                bytes,
            ]
        })
        .collect();
    call.shell
        .show_rows(&["Schema", "Name", "Type", "Rows", "Bytes"], &rows)?;
    Ok(Next::More)
}

/// Types that SQL has names for.
fn types(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let pattern = call.one()?;
    let wanted = |name: &&str| pattern.as_deref().is_none_or(|p| matches(&unquoted(p), name));
    let defined = call.shell.backend.defined_types()?.into_iter();
    let defined = defined.filter(|ty| wanted(&ty.name.as_str()));
    let defined = defined.map(|ty| vec![text(ty.schema), text(ty.name), text(""), text("yes"), text(ty.of)]);
    let rows: Vec<Vec<Value>> = (frazil::types())
        .filter(|ty| ty.sql_names.iter().any(&wanted) || wanted(&ty.typname))
        .map(|ty| {
            let others: Vec<&str> = (ty.sql_names.iter().copied())
                .chain([ty.typname])
                .filter(|name| name.trim_matches('"') != ty.name.trim_matches('"'))
                .fold(Vec::new(), |mut names, name| {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                    names
                });
            let columns = if ty.is_stored { "yes" } else { "no" };
            vec![
                text("pg_catalog"),
                text(ty.name),
                text(others.join(", ")),
                text(columns),
                text(""),
            ]
        })
        .chain(defined)
        .collect();
    call.shell.show_rows(
        &["Schema", "Name", "Other names", "In columns", "Elements"],
        &rows,
    )?;
    Ok(Next::More)
}

/// As psql shows them where nothing was granted: the columns about grants are NULL.
fn privileges(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let rows: Vec<Vec<Value>> = (relations(call, Wanted::All)?.into_iter())
        .map(|relation| {
            let kind = match relation.kind {
                RelationKind::Table => "table",
                RelationKind::View | RelationKind::Materialized => "view",
            };
            vec![
                text(relation.schema),
                text(relation.name),
                text(kind),
                Value::Null,
            ]
        })
        .collect();
    call.shell
        .show_rows(&["Schema", "Name", "Type", "Access privileges"], &rows)?;
    Ok(Next::More)
}

fn sequences(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let pattern = call.one()?;
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for sequence in call.shell.backend.sequences()? {
        let is_wanted = |p: &str| matches(&unquoted(p), &sequence.name);
        if pattern.as_deref().is_none_or(is_wanted) {
            rows.push(vec![
                text(sequence.schema),
                text(sequence.name),
                text("sequence"),
                sequence.owner.map_or(Value::Null, text),
            ]);
        }
    }
    call.shell
        .show_rows(&["Schema", "Name", "Type", "Owned by"], &rows)?;
    Ok(Next::More)
}

fn indexes(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let pattern = call.one()?;
    let mut found = call.shell.backend.indexes()?;
    found.retain(|index| {
        pattern
            .as_deref()
            .is_none_or(|p| matches(&unquoted(p), &index.name))
    });
    found.sort();
    let rows: Vec<Vec<Value>> = (found.into_iter())
        .map(|index| {
            vec![
                text(index.schema),
                text(index.name),
                text("index"),
                text(index.table),
                text(index.columns),
            ]
        })
        .collect();
    call.shell
        .show_rows(&["Schema", "Name", "Type", "Table", "Columns"], &rows)?;
    Ok(Next::More)
}

fn functions(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let pattern = call.one()?;
    let wanted = |name: &str| pattern.as_deref().is_none_or(|p| matches(&unquoted(p), name));
    let mut found = call.shell.backend.functions()?;
    found.retain(|function| wanted(&function.name));
    let rows: Vec<Vec<Value>> = (found.into_iter())
        .map(|function| {
            vec![
                text(function.name),
                text(function.call),
                text(function.kind),
                text(function.description),
            ]
        })
        .collect();
    call.shell
        .show_rows(&["Name", "Call", "Type", "Description"], &rows)?;
    Ok(Next::More)
}

fn database(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let shell = &mut *call.shell;
    if shell.place.server.is_some() {
        return databases(call);
    }
    let directory =
        (shell.place.directory.as_ref()).map_or("in memory".to_owned(), |d| d.display().to_string());
    let relations = shell.backend.relations()?;
    let tables = relations.iter().filter(|r| r.kind == RelationKind::Table).count();
    let [tables, views] = [tables, relations.len() - tables].map(|n| Value::Int(n as i128));
    shell.show_rows(
        &["Directory", "Tables", "Views"],
        &[vec![text(directory), tables, views]],
    )?;
    Ok(Next::More)
}

/// The databases of a server.
fn databases(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let sql = "select datname as \"Name\", pg_catalog.pg_get_userbyid(datdba) as \"Owner\", \
               pg_catalog.pg_encoding_to_char(encoding) as \"Encoding\" from pg_catalog.pg_database order by 1";
    if let Outcome::Rows(rows) = call
        .shell
        .query(sql)
        .map_err(Complaint::without_statement)?
        .outcome
    {
        let rows: Vec<Vec<Value>> = rows.raw().collect();
        call.shell.show_rows(&["Name", "Owner", "Encoding"], &rows)?;
    }
    Ok(Next::More)
}

/// Whether `name` is what `pattern` says, in which `*` (or `%`, as sqlite3's users write) stands for any letters and `?`
/// for one.
fn matches(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*' | '%') => {
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.into_iter().any(|at| matches(rest.as_str(), &name[at..]))
        }
        Some(wanted) => {
            let mut letters = name.chars();
            let fits = letters.next().is_some_and(|c| wanted == '?' || wanted == c);
            fits && matches(rest.as_str(), letters.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        assert!(matches("l*m", "lineitem") && matches("?", "é") && matches("%", ""));
        assert!(!matches("l*m", "lineitems") && !matches("line", "lineitem"));
    }
}
