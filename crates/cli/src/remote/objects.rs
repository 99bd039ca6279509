//! Tables, views and other objects of a server, by queries on `pg_catalog`.

use super::backend::Remote;
use super::values::type_of;
use crate::backend::{
    Column, Constraint, DefinedType, Function, Index, ListedIndex, Relation, RelationKind, Sequence,
    Structure, built_in_functions,
};
use crate::text::{TokenKind, tokens};
use frazil::{Error, Result, SqlState, identifier};
use std::collections::HashMap;

/// Tables and views that are not the system's. Temporary ones are the session's own.
const RELATIONS: &str = "\
select c.oid, n.nspname, c.relname, c.relkind, s.n_live_tup
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
left join pg_catalog.pg_stat_user_tables s on s.relid = c.oid
where c.relkind in ('r', 'p', 'f', 'v', 'm')";

/// The schemas of what [`RELATIONS`] lists.
const OWN_SCHEMAS: &str = "n.nspname <> 'information_schema' \
     and (n.nspname not like 'pg\\_%' or n.oid = pg_catalog.pg_my_temp_schema())";

/// A row of texts from front to back.
pub struct Texts(std::vec::IntoIter<Option<String>>);

impl Texts {
    /// The texts of a row.
    pub fn of(row: Vec<Option<String>>) -> Texts {
        Texts(row.into_iter())
    }

    /// The next text; `None` for NULL.
    pub fn maybe(&mut self) -> Option<String> {
        self.0.next().flatten()
    }

    /// The next text; empty for NULL.
    pub fn text(&mut self) -> String {
        self.maybe().unwrap_or_default()
    }

    /// The next number; 0 for what is not one.
    pub fn number<T: std::str::FromStr + Default>(&mut self) -> T {
        self.text().parse().unwrap_or_default()
    }

    /// True if the next value is.
    pub fn truth(&mut self) -> bool {
        matches!(self.text().as_str(), "true" | "t")
    }
}

impl Remote {
    /// The rows of a query, each to be read from front to back.
    pub fn asked(&self, sql: &str, values: &[&str]) -> Result<impl Iterator<Item = Texts> + use<>> {
        Ok(self.texts(sql, values)?.into_iter().map(Texts::of))
    }
}

/// A table or view with its number.
struct Found {
    oid: u32,
    relation: Relation,
}

fn found(mut row: Texts) -> Found {
    let (oid, schema, name) = (row.number(), row.text(), row.text());
    let kind = match row.text().as_str() {
        "v" => RelationKind::View,
        "m" => RelationKind::Materialized,
        _ => RelationKind::Table,
    };
    let rows = row.number();
    Found {
        oid,
        relation: Relation {
            schema,
            name,
            kind,
            rows: (kind == RelationKind::Table).then_some(rows),
            columns: Vec::new(),
        },
    }
}

/// Tables by schema and name, then views in the order in which they were made.
pub fn relations(remote: &Remote) -> Result<Vec<Relation>> {
    let all = remote.asked(&format!("{RELATIONS} and {OWN_SCHEMAS}"), &[])?;
    let mut all: Vec<Found> = all.map(found).collect();
    let columns = format!(
        "select a.attrelid, a.attname from pg_catalog.pg_attribute a \
         join pg_catalog.pg_class c on c.oid = a.attrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
         where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p', 'f', 'v', 'm') and {OWN_SCHEMAS} \
         order by a.attrelid, a.attnum"
    );
    let mut names: HashMap<u32, Vec<String>> = HashMap::new();
    for mut row in remote.asked(&columns, &[])? {
        names.entry(row.number()).or_default().push(row.text());
    }
    all.sort_by(|a, b| {
        let view = |found: &Found| (found.relation.kind != RelationKind::Table).then_some(found.oid);
        let name = |found: &Found| (found.relation.schema.clone(), found.relation.name.clone());
        view(a).cmp(&view(b)).then_with(|| name(a).cmp(&name(b)))
    });
    let whole = all.into_iter().map(|found| Relation {
        columns: names.remove(&found.oid).unwrap_or_default(),
        ..found.relation
    });
    Ok(whole.collect())
}

/// The table or view of a folded name, alone or behind its schema and a dot. 42P01.
fn named(remote: &Remote, name: &str) -> Result<Found> {
    let sql = format!("{RELATIONS} and c.oid = pg_catalog.to_regclass($1)");
    let in_schema = name
        .split_once('.')
        .map(|(schema, name)| format!("{}.{}", identifier(schema), identifier(name)));
    for candidate in [Some(identifier(name)), in_schema].into_iter().flatten() {
        if let Some(row) = remote.asked(&sql, &[&candidate])?.next() {
            return Ok(found(row));
        }
    }
    let message = format!("relation \"{name}\" does not exist");
    Err(Error::new(SqlState::UNDEFINED_TABLE, message))
}

/// The columns, keys and checks of a table or view.
pub fn structure(remote: &Remote, name: &str) -> Result<Structure> {
    let Found { oid, relation } = named(remote, name)?;
    let is_table = relation.kind == RelationKind::Table;
    let query = format!("select pg_catalog.pg_get_viewdef({oid}::oid)");
    let query = match is_table {
        true => None,
        false => remote.asked(&query, &[])?.next().map(|mut row| row.text()),
    };
    let (mut checks, mut foreign_keys) = (Vec::new(), Vec::new());
    if is_table {
        let sql = format!(
            "select conname, contype, pg_catalog.pg_get_constraintdef(oid) from pg_catalog.pg_constraint \
             where conrelid = {oid} and contype in ('c', 'f')"
        );
        for mut row in remote.asked(&sql, &[])? {
            let (name, kind) = (row.text(), row.text());
            let constraint = Constraint {
                name,
                definition: bare_check(row.text()),
            };
            match kind.as_str() {
                "c" => checks.push(constraint),
                _ => foreign_keys.push(constraint),
            }
        }
    }
    checks.sort_by(|a, b| a.name.cmp(&b.name));
    foreign_keys.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Structure {
        schema: relation.schema,
        name: relation.name,
        kind: relation.kind,
        rows: relation.rows,
        columns: columns(remote, oid)?,
        indexes: if is_table {
            indexes_of(remote, oid)?
        } else {
            Vec::new()
        },
        checks,
        foreign_keys,
        query: query.map(|query| query.trim().trim_end_matches(';').to_owned()),
    })
}

fn columns(remote: &Remote, oid: u32) -> Result<Vec<Column>> {
    let sql = format!(
        "select a.attname, a.atttypid, a.atttypmod, t.typtype, t.typbasetype, t.typtypmod, \
         pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, \
         pg_catalog.pg_get_expr(d.adbin, d.adrelid) \
         from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid \
         left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum \
         where a.attrelid = {oid} and a.attnum > 0 and not a.attisdropped order by a.attnum"
    );
    Ok(remote.asked(&sql, &[])?.map(column).collect())
}

fn column(mut row: Texts) -> Column {
    let name = row.text();
    let own = (row.number(), row.number());
    let is_domain = row.text() == "d";
    let base = (row.number(), row.number());
    let (oid, modifier) = if is_domain { base } else { own };
    let shown = row.text();
    let ty = type_of(oid, modifier).map_or(shown, |ty| ty.to_string());
    let nullable = !row.truth();
    let (identity, generated) = (row.text(), row.text());
    let expression = row.maybe().map(|text| bare_literal(&text));
    let clause = match (identity.as_str(), generated.as_str()) {
        ("a", _) => Some("generated always as identity".to_owned()),
        ("d", _) => Some("generated by default as identity".to_owned()),
        (_, "s") => expression
            .as_ref()
            .map(|text| format!("generated always as {} stored", in_parentheses(text))),
        _ => expression.as_ref().map(|text| format!("default {text}")),
    };
    let default = match clause.as_deref() {
        Some(clause) if !clause.starts_with("default ") => Some(clause.to_owned()),
        _ => expression,
    };
    Column {
        name,
        ty,
        nullable,
        default,
        clause,
    }
}

/// A default as the embedded database shows it: a literal without its type.
fn bare_literal(expression: &str) -> String {
    match expression {
        "true" => return "'t'".to_owned(),
        "false" => return "'f'".to_owned(),
        _ => {}
    }
    let mut parts = tokens(expression);
    let literal = parts
        .next()
        .filter(|token| token.kind == TokenKind::Text && token.closed);
    let Some(literal) = literal.map(|token| &expression[token.range]) else {
        return expression.to_owned();
    };
    let is_type = |text: &str| {
        let fits = |c: char| c.is_alphanumeric() || " _.\"(),[]".contains(c);
        text.strip_prefix("::").is_some_and(|ty| ty.chars().all(fits))
    };
    match is_type(&expression[literal.len()..]) {
        true => literal.to_owned(),
        false => expression.to_owned(),
    }
}

/// A check without the second pair of parentheses that PostgreSQL writes around its condition.
pub fn bare_check(definition: String) -> String {
    let inner = definition
        .strip_prefix("CHECK ((")
        .and_then(|rest| rest.strip_suffix("))"));
    let Some(inner) = inner else {
        return definition;
    };
    let mut depth = 0_i64;
    let is_one = tokens(inner).all(|token| {
        match &inner[token.range] {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth >= 0
    });
    match is_one && depth == 0 {
        true => format!("CHECK ({inner})"),
        false => definition,
    }
}

fn in_parentheses(text: &str) -> String {
    match text.starts_with('(') && text.ends_with(')') {
        true => text.to_owned(),
        false => format!("({text})"),
    }
}

/// The columns of an index and what follows them, of its CREATE INDEX statement.
pub fn index_columns(definition: &str) -> String {
    let behind = definition
        .split_once(" USING ")
        .map_or(definition, |(_, behind)| behind);
    let columns = behind.split_once(' ').map_or(behind, |(_, columns)| columns);
    columns.to_owned()
}

fn indexes_of(remote: &Remote, oid: u32) -> Result<Vec<Index>> {
    let sql = format!(
        "select i.relname, x.indisunique, con.contype, con.condeferrable, con.condeferred, \
         pg_catalog.pg_get_indexdef(x.indexrelid) \
         from pg_catalog.pg_index x join pg_catalog.pg_class i on i.oid = x.indexrelid \
         left join pg_catalog.pg_constraint con on con.conindid = x.indexrelid and con.contype in ('p', 'u') \
         where x.indrelid = {oid} order by x.indexrelid"
    );
    let index = |mut row: Texts| {
        let (name, is_unique, constraint) = (row.text(), row.truth(), row.maybe());
        let deferral = match (row.truth(), row.truth()) {
            (true, true) => " DEFERRABLE INITIALLY DEFERRED",
            (true, false) => " DEFERRABLE",
            (false, _) => "",
        };
        Index {
            name,
            kind: match constraint.as_deref() {
                Some("p") => "PRIMARY KEY, ",
                Some(_) => "UNIQUE CONSTRAINT, ",
                None if is_unique => "UNIQUE, ",
                None => "",
            },
            columns: index_columns(&row.text()),
            deferral: deferral.to_owned(),
        }
    };
    Ok(remote.asked(&sql, &[])?.map(index).collect())
}

/// Indexes of all tables.
pub fn indexes(remote: &Remote) -> Result<Vec<ListedIndex>> {
    let sql = format!(
        "select n.nspname, i.relname, c.relname, pg_catalog.pg_get_indexdef(x.indexrelid) \
         from pg_catalog.pg_index x join pg_catalog.pg_class i on i.oid = x.indexrelid \
         join pg_catalog.pg_class c on c.oid = x.indrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
         where c.relkind in ('r', 'p') and {OWN_SCHEMAS}"
    );
    let listed = |mut row: Texts| ListedIndex {
        schema: row.text(),
        name: row.text(),
        table: row.text(),
        columns: index_columns(&row.text()),
    };
    Ok(remote.asked(&sql, &[])?.map(listed).collect())
}

/// Sequences by schema and name.
pub fn sequences(remote: &Remote) -> Result<Vec<Sequence>> {
    let sql = format!(
        "select n.nspname, c.relname, tn.nspname, t.relname, a.attname \
         from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
         left join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid \
         and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjsubid > 0 and d.deptype in ('a', 'i') \
         left join pg_catalog.pg_class t on t.oid = d.refobjid \
         left join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace \
         left join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid \
         where c.relkind = 'S' and {OWN_SCHEMAS} order by 1, 2"
    );
    let sequence = |mut row: Texts| Sequence {
        schema: row.text(),
        name: row.text(),
        owner: {
            let (schema, table) = (row.text(), row.text());
            let column = row.maybe();
            let table = match schema.as_str() {
                "public" => identifier(&table),
                schema => format!("{}.{}", identifier(schema), identifier(&table)),
            };
            column.map(|column| format!("{table}.{}", identifier(&column)))
        },
    };
    Ok(remote.asked(&sql, &[])?.map(sequence).collect())
}

/// The names of all schemas but the system's.
pub fn schemas(remote: &Remote) -> Result<Vec<String>> {
    let sql = "select nspname from pg_catalog.pg_namespace \
               where nspname <> 'information_schema' and nspname not like 'pg\\_%' order by 1";
    Ok(remote.asked(sql, &[])?.map(|mut row| row.text()).collect())
}

/// Enumerations, then domains.
pub fn defined_types(remote: &Remote) -> Result<Vec<DefinedType>> {
    let sql = format!(
        "select t.typtype, n.nspname, t.typname, t.typbasetype, t.typtypmod, \
         pg_catalog.format_type(t.typbasetype, t.typtypmod), \
         (select pg_catalog.string_agg(e.enumlabel, ', ' order by e.enumsortorder) \
          from pg_catalog.pg_enum e where e.enumtypid = t.oid) \
         from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace \
         where t.typtype in ('d', 'e') and {OWN_SCHEMAS} order by t.typtype = 'd', n.nspname, t.typname"
    );
    let defined = |mut row: Texts| {
        let is_domain = row.text() == "d";
        let (schema, name) = (row.text(), row.text());
        let base = type_of(row.number(), row.number()).map(|ty| ty.to_string());
        let (shown, labels) = (row.text(), row.text());
        DefinedType {
            schema,
            name,
            of: if is_domain { base.unwrap_or(shown) } else { labels },
        }
    };
    Ok(remote.asked(&sql, &[])?.map(defined).collect())
}

/// Functions: of a server that is Frazil's those that this program has, of another one those of its catalog.
pub fn functions(remote: &Remote) -> Result<Vec<Function>> {
    if remote.is_frazil() {
        return Ok(built_in_functions());
    }
    let sql = "select p.proname, pg_catalog.pg_get_function_arguments(p.oid), p.prokind, p.proretset, \
               pg_catalog.obj_description(p.oid, 'pg_proc') \
               from pg_catalog.pg_proc p where p.prokind <> 'p' order by 1, 2";
    let function = |mut row: Texts| {
        let name = row.text();
        let call = format!("{name}({})", row.text());
        let kind = match (row.text().as_str(), row.truth()) {
            ("a", _) => "aggregate",
            ("w", _) => "window",
            (_, true) => "rows",
            (_, false) => "function",
        };
        Function {
            name,
            call,
            kind,
            description: row.text(),
        }
    };
    Ok(remote.asked(sql, &[])?.map(function).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_shown_as_the_embedded_database_does() {
        for (server, shown) in [
            ("'a'::text", "'a'"),
            ("'it''s'::character varying(3)", "'it''s'"),
            ("'a'::text || 'b'::text", "'a'::text || 'b'::text"),
            ("true", "'t'"),
            ("1", "1"),
            ("now()", "now()"),
        ] {
            assert_eq!(bare_literal(server), shown);
        }
        for (server, shown) in [
            ("CHECK ((a > 0))", "CHECK (a > 0)"),
            ("CHECK ((a > 0) AND (b > 0))", "CHECK ((a > 0) AND (b > 0))"),
            ("CHECK (((a > 0) AND (b = ')')))", "CHECK ((a > 0) AND (b = ')'))"),
            ("CHECK (a)", "CHECK (a)"),
            ("UNIQUE (a)", "UNIQUE (a)"),
        ] {
            assert_eq!(bare_check(server.to_owned()), shown);
        }
    }

    #[test]
    fn columns_of_indexes_are_cut_out() {
        let cut = index_columns("CREATE UNIQUE INDEX a ON public.t USING btree (b, lower(c)) INCLUDE (d)");
        assert_eq!(cut, "(b, lower(c)) INCLUDE (d)");
    }
}
