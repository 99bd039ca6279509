//! Functions as SQL: their arguments, their result, the statement that would create them, and the names that show them.

use super::{BuiltInFunction, BuiltInOperator, functions_named, operators, type_name};
use frazil_catalog::identifier;
use std::fmt::Write;

/// The schema of all functions and operators.
const SCHEMA: &str = "pg_catalog";
/// The mode of a column of the rows that a function gives.
const TABLE_COLUMN: char = 't';

/// An argument, or a column of the result.
struct Argument {
    mode: char,
    text: String,
    is_given: bool,
}

impl BuiltInFunction {
    /// `pg_get_function_arguments`: all arguments with their modes, names and defaults.
    pub fn arguments_text(&self) -> String {
        self.list(true)
    }

    /// `pg_get_function_identity_arguments`: all arguments without their defaults.
    pub fn identity_text(&self) -> String {
        self.list(false)
    }

    fn list(&self, with_defaults: bool) -> String {
        let mut shown = Vec::new();
        let first_default = self.arguments.len() - self.defaults.len().min(self.arguments.len());
        let mut given = 0usize;
        for mut argument in self.all() {
            if argument.is_given {
                let default = given
                    .checked_sub(first_default)
                    .and_then(|at| self.defaults.get(at));
                if let (true, Some(default)) = (with_defaults, default) {
                    let _ = write!(argument.text, " DEFAULT {default}");
                }
                given += 1;
            }
            if argument.mode != TABLE_COLUMN {
                shown.push(argument.text);
            }
        }
        let Some((_, direct)) = self.aggregate.filter(|(kind, _)| *kind != 'n') else {
            return shown.join(", ");
        };
        let (before, ordered) = shown.split_at(direct.min(shown.len()));
        // The arguments of a hypothetical row are its keys, too.
        let ordered = if ordered.is_empty() {
            &shown[shown.len().saturating_sub(1)..]
        } else {
            ordered
        };
        let space = if before.is_empty() { "" } else { " " };
        format!("{}{space}ORDER BY {}", before.join(", "), ordered.join(", "))
    }

    /// The arguments and the columns of the result.
    fn all(&self) -> Vec<Argument> {
        let types = match self.all_arguments.is_empty() {
            true => &self.arguments,
            false => &self.all_arguments,
        };
        let last = types.len().saturating_sub(1);
        let argument = |(at, ty): (usize, &u32)| {
            let plain = if self.variadic != 0 && at == last {
                'v'
            } else {
                'i'
            };
            let mode = self.modes.chars().nth(at).unwrap_or(plain);
            let mut text = match mode {
                'o' => "OUT ".to_owned(),
                'b' => "INOUT ".to_owned(),
                'v' => "VARIADIC ".to_owned(),
                _ => String::new(),
            };
            if let Some(name) = self.names.get(at).filter(|name| !name.is_empty()) {
                text += &identifier(name);
                text.push(' ');
            }
            text += &type_name(*ty);
            Argument {
                mode,
                text,
                is_given: matches!(mode, 'i' | 'b' | 'v'),
            }
        };
        types.iter().enumerate().map(argument).collect()
    }

    /// `pg_get_function_result`: the type, or the columns of the rows.
    pub fn result_text(&self) -> String {
        let columns: Vec<String> = (self.all().into_iter())
            .filter(|argument| argument.mode == TABLE_COLUMN)
            .map(|argument| argument.text)
            .collect();
        match (columns.is_empty(), self.gives_rows) {
            (false, _) => format!("TABLE({})", columns.join(", ")),
            (true, true) => format!("SETOF {}", type_name(self.result)),
            (true, false) => type_name(self.result),
        }
    }

    /// `pg_get_functiondef`: CREATE FUNCTION of an internal function. `None` for an aggregate.
    pub fn definition(&self) -> Option<String> {
        if self.kind == 'a' {
            return None;
        }
        let mut options = String::new();
        if self.kind == 'w' {
            options += " WINDOW";
        }
        options += match self.volatility {
            'i' => " IMMUTABLE",
            's' => " STABLE",
            _ => "",
        };
        options += match self.parallel {
            's' => " PARALLEL SAFE",
            'r' => " PARALLEL RESTRICTED",
            _ => "",
        };
        if self.is_strict {
            options += " STRICT";
        }
        if self.is_leakproof {
            options += " LEAKPROOF";
        }
        if self.cost != 1.0 {
            let _ = write!(options, " COST {}", self.cost);
        }
        if self.rows != 0.0 && self.rows != 1000.0 {
            let _ = write!(options, " ROWS {}", self.rows);
        }
        if !options.is_empty() {
            options.push('\n');
        }
        Some(format!(
            "CREATE OR REPLACE FUNCTION {SCHEMA}.{}({})\n RETURNS {}\n LANGUAGE internal\n{options}\
             AS $function${}$function$\n",
            identifier(self.name),
            self.arguments_text(),
            self.result_text(),
            self.source,
        ))
    }

    /// The name as a regproc shows it: with its schema if other functions have it, too.
    pub fn shown_name(&self) -> String {
        let name = identifier(self.name);
        match functions_named(self.name).nth(1) {
            Some(_) => format!("{SCHEMA}.{name}"),
            None => name,
        }
    }

    /// The name with the types of the arguments, as a regprocedure shows it.
    pub fn signature(&self) -> String {
        let types: Vec<String> = self.arguments.iter().map(|oid| type_name(*oid)).collect();
        format!("{}({})", identifier(self.name), types.join(","))
    }
}

impl BuiltInOperator {
    /// The name with the types of the operands, as a regoperator shows it.
    pub fn signature(&self) -> String {
        let operand = |oid: u32| match oid {
            0 => "NONE".to_owned(),
            oid => type_name(oid),
        };
        format!("{}({},{})", self.name, operand(self.left), operand(self.right))
    }

    /// The operator of an oid.
    pub fn of(oid: u32) -> Option<&'static BuiltInOperator> {
        let place = operators().binary_search_by_key(&oid, |operator| operator.oid);
        place.ok().map(|place| &operators()[place])
    }
}

#[cfg(test)]
mod tests {
    use super::super::function_of;
    use super::*;

    #[test]
    fn definitions_are_postgresqls() {
        let upper = function_of(871).unwrap();
        assert_eq!(
            upper.definition().unwrap(),
            "CREATE OR REPLACE FUNCTION pg_catalog.upper(text)\n RETURNS text\n LANGUAGE internal\n \
             IMMUTABLE PARALLEL SAFE STRICT\nAS $function$upper$function$\n"
        );
        let interval = functions_named("make_interval").next().unwrap();
        assert!(
            interval
                .arguments_text()
                .starts_with("years integer DEFAULT 0, months integer DEFAULT 0")
        );
        assert!(
            interval
                .identity_text()
                .starts_with("years integer, months integer")
        );
        let continuous = function_of(3974).unwrap();
        assert_eq!(
            continuous.arguments_text(),
            "double precision ORDER BY double precision"
        );
        assert_eq!(continuous.definition(), None);
        assert_eq!(function_of(2331).unwrap().result_text(), "SETOF anyelement");
        assert_eq!(BuiltInOperator::of(96).unwrap().signature(), "=(integer,integer)");
    }
}
