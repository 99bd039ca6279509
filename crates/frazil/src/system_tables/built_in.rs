//! Rows of functions, operators and casts: `pg_proc`, `pg_aggregate`, `pg_operator`, `pg_cast`, `pg_amop`.

use super::cells::{self, Cells};
use super::numbers::{self, BTREE, OWNER};
use super::virtual_table::Context;
use frazil_catalog::SYSTEM_SCHEMA;
use frazil_functions::built_in::{self, BuiltInFunction, BuiltInOperator};
use frazil_types::array::encode_list;
use frazil_types::sql_type::named_oid;
use frazil_types::{LogicalType, Result, Value};

/// The oid of the language of functions that the database itself has.
const INTERNAL: u32 = 12;

/// One letter as "char".
fn letter(c: char) -> String {
    c.to_string()
}

fn oids(oids: &[u32]) -> Vec<i64> {
    oids.iter().map(|oid| i64::from(*oid)).collect()
}

/// A list of texts; NULL if there are none.
fn texts(texts: impl Iterator<Item = String>, ty: LogicalType) -> Result<Value> {
    let values: Vec<Value> = texts.map(Value::Text).collect();
    match values.is_empty() {
        true => Ok(Value::Null),
        false => encode_list(&values, ty).map(Value::Bytes),
    }
}

/// A function as a regproc.
fn shown(function: &BuiltInFunction) -> Value {
    Value::Bytes(named_oid(function.oid, &function.shown_name()))
}

pub(super) fn functions(_: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |function: &BuiltInFunction| {
        let all = match function.all_arguments.is_empty() {
            true => Value::Null,
            false => cells::list(&oids(&function.all_arguments), LogicalType::Oid)?,
        };
        let modes = function.modes.chars().map(letter);
        let names = function.names.iter().map(|name| (*name).to_owned());
        Ok(Cells::new()
            .with("oid", function.oid)
            .with("proname", function.name)
            .with("pronamespace", numbers::system_namespace(SYSTEM_SCHEMA))
            .with("proowner", OWNER)
            .with("prolang", INTERNAL)
            .with("procost", Value::Double(function.cost))
            .with("prorows", Value::Double(function.rows))
            .with("provariadic", function.variadic)
            .with("prokind", letter(function.kind))
            .with("proleakproof", function.is_leakproof)
            .with("proisstrict", function.is_strict)
            .with("proretset", function.gives_rows)
            .with("provolatile", letter(function.volatility))
            .with("proparallel", letter(function.parallel))
            .with("pronargs", function.arguments.len())
            .with("pronargdefaults", function.defaults.len())
            .with("prorettype", function.result)
            .with(
                "proargtypes",
                cells::vector(&oids(&function.arguments), LogicalType::Oid)?,
            )
            .with("proallargtypes", all)
            .with("proargmodes", texts(modes, LogicalType::InternalChar)?)
            .with("proargnames", texts(names, LogicalType::Text)?)
            .with("prosrc", function.source))
    };
    built_in::functions().iter().map(row).collect()
}

pub(super) fn aggregates(_: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |function: &BuiltInFunction| {
        let (kind, direct) = function.aggregate?;
        Some(
            Cells::new()
                .with("aggfnoid", shown(function))
                .with("aggkind", letter(kind))
                .with("aggnumdirectargs", direct),
        )
    };
    Ok(built_in::functions().iter().filter_map(row).collect())
}

pub(super) fn operators(_: &Context<'_>) -> Result<Vec<Cells>> {
    let row = |operator: &BuiltInOperator| {
        let row = Cells::new()
            .with("oid", operator.oid)
            .with("oprname", operator.name)
            .with("oprnamespace", numbers::system_namespace(SYSTEM_SCHEMA))
            .with("oprowner", OWNER)
            .with("oprkind", operator.kind)
            .with("oprcanmerge", operator.can_merge)
            .with("oprcanhash", operator.can_hash)
            .with("oprleft", operator.left)
            .with("oprright", operator.right)
            .with("oprresult", operator.result)
            .with("oprcom", operator.commutator)
            .with("oprnegate", operator.negator);
        match built_in::function_of(operator.function) {
            Some(function) => row.with("oprcode", shown(function)),
            None => row,
        }
    };
    Ok(built_in::operators().iter().map(row).collect())
}

pub(super) fn casts(_: &Context<'_>) -> Result<Vec<Cells>> {
    let rows = built_in::casts().map(|cast| {
        Cells::new()
            .with("oid", cast.oid)
            .with("castsource", cast.source)
            .with("casttarget", cast.target)
            .with("castfunc", cast.function)
            .with("castcontext", cast.context)
            .with("castmethod", cast.method)
    });
    Ok(rows.collect())
}

pub(super) fn family_operators(_: &Context<'_>) -> Result<Vec<Cells>> {
    let rows = built_in::family_operators().map(|of_family| {
        Cells::new()
            .with("oid", of_family.oid)
            .with("amopfamily", of_family.family)
            .with("amoplefttype", of_family.left)
            .with("amoprighttype", of_family.right)
            .with("amopstrategy", of_family.strategy)
            .with("amoppurpose", "s")
            .with("amopopr", of_family.operator)
            .with("amopmethod", BTREE)
    });
    Ok(rows.collect())
}
