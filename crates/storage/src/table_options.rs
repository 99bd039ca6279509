//! What the options of a table ask of its blocks: the catalog keeps them by name, here the names get their meaning.

use frazil_block::{BuildOptions, ColumnOptions, Encoding, Layout, Purpose};
use frazil_catalog::{BlockOptions, TableOptions};
use frazil_types::{Error, Result, Schema, SqlState};
use std::fmt::Display;

/// The options with their names in the form in which they are shown. 22023 for an unknown name, and for what is asked of
/// a column and no values of its type can have, with what would fit. What depends on the values is seen when they are
/// frozen.
pub fn checked(mut options: TableOptions, schema: &Schema) -> Result<TableOptions> {
    let asked = read(&options.blocks, None)?;
    options.blocks = named(&asked);
    // What is favoured unless something else is asked for.
    options.blocks.freeze_for = asked.purpose.filter(|&p| p != Purpose::default()).map(name);
    for (&position, blocks) in &mut options.columns {
        let column = &schema.columns[position];
        let asked = read(blocks, Some(&column.name))?;
        *blocks = named(&asked);
        check_column(column, &asked)?;
    }
    Ok(options)
}

/// What the blocks of a table of these options are to be built by. Names that [`checked`] would refuse ask nothing.
pub fn build_options(options: &TableOptions) -> BuildOptions {
    let read = |blocks: &BlockOptions| read(blocks, None).unwrap_or_default();
    let last = options.columns.keys().last();
    let columns =
        (0..last.map_or(0, |last| last + 1)).map(|i| options.columns.get(&i).map(read).unwrap_or_default());
    let blocks = read(&options.blocks);
    BuildOptions {
        purpose: blocks.purpose.unwrap_or_default(),
        columns: columns.collect(),
        wherever_possible: ColumnOptions {
            purpose: None,
            ..blocks
        },
        ..BuildOptions::default()
    }
}

fn name(value: impl Display) -> String {
    value.to_string()
}

fn named(asked: &ColumnOptions) -> BlockOptions {
    BlockOptions {
        freeze_for: asked.purpose.map(name),
        encoding: asked.encoding.map(name),
        layout: asked.layout.map(name),
    }
}

/// What names mean; the error of an unknown one says which option it is, of the table or of a column, and which names
/// there are.
fn read(blocks: &BlockOptions, column: Option<&str>) -> Result<ColumnOptions> {
    let [purpose, encoding, layout] = blocks.named();
    Ok(ColumnOptions {
        purpose: parse(purpose, column, Purpose::parse)?,
        encoding: parse(encoding, column, Encoding::parse)?,
        layout: parse(layout, column, Layout::parse)?,
    })
}

fn parse<T>(
    (option, name): (&str, &Option<String>),
    column: Option<&str>,
    parse: fn(&str) -> Result<T>,
) -> Result<Option<T>> {
    let parsed = name.as_deref().map(parse).transpose();
    parsed.map_err(|e| {
        e.in_context(match column {
            Some(column) => format!("table option {option}.{column}"),
            None => format!("table option {option}"),
        })
    })
}

fn check_column(column: &frazil_types::ColumnDef, asked: &ColumnOptions) -> Result<()> {
    let Some(encoding) = asked.encoding else {
        return Ok(());
    };
    let native = column.ty.native();
    let fitting = |more: fn(Encoding) -> bool| {
        let fitting = Encoding::ALL
            .into_iter()
            .filter(|e| more(*e) && e.can_hold(native));
        fitting.map(name).collect::<Vec<String>>().join(", ")
    };
    if !encoding.can_hold(native) {
        return Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!(
                "table option encoding.{}: values of type {} cannot be held as {encoding}",
                column.name, column.ty
            ),
        )
        .with_hint(format!("they can be held as: {}", fitting(|_| true))));
    }
    if let (Some(layout), Encoding::Raw) = (asked.layout, encoding) {
        return Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!(
                "table option layout.{}: raw values have no codes to be {layout}",
                column.name
            ),
        )
        .with_hint(format!(
            "leave layout.{0} out, or set encoding.{0} to one of: {1}",
            column.name,
            fitting(|e| e.has_codes())
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{ColumnDef, LogicalType, Value};

    fn schema() -> Schema {
        let columns = ["l_orderkey", "l_shipdate", "a.b"];
        Schema::new(columns.map(|n| ColumnDef::new(n, LogicalType::Integer)).to_vec())
    }

    fn set(options: &mut TableOptions, name: &str, value: &str) {
        let value = Value::Text(value.to_string());
        options.set(&schema(), name, &value).unwrap();
    }

    #[test]
    fn blocks_are_built_as_the_options_say() {
        let mut options = TableOptions::default();
        assert_eq!(build_options(&options), BuildOptions::default());
        set(&mut options, "freeze_for", "scan");
        set(&mut options, "layout.l_shipdate", "vbp");
        set(&mut options, "layout", "hbp");
        let built = build_options(&options);
        assert_eq!(built.purpose, Purpose::Scan);
        let layouts = [0, 1, 2].map(|c| built.column(c).layout);
        assert_eq!(layouts, [Some(Layout::Hbp), Some(Layout::Vbp), Some(Layout::Hbp)]);
        assert_eq!([0, 1, 2].map(|c| built.must(c)), [false, true, false]);
    }

    #[test]
    fn what_a_type_can_never_hold_is_refused_with_what_would_fit() {
        let columns = [
            ("b", LogicalType::Boolean),
            ("i", LogicalType::Integer),
            ("x", LogicalType::Double),
            ("t", LogicalType::Text),
        ];
        let schema = Schema::new(columns.map(|(n, t)| ColumnDef::new(n, t)).to_vec());
        let check = |asked: &[(&str, &str)]| -> Result<TableOptions> {
            let mut options = TableOptions::default();
            for (name, value) in asked {
                let value = Value::Text(value.to_string());
                options.set(&schema, name, &value)?;
            }
            checked(options, &schema)
        };
        for (name, encoding, fits) in [
            ("encoding.t", "decimal", "constant, dictionary, raw"),
            ("encoding.t", "frame of reference", "constant, dictionary, raw"),
            (
                "encoding.x",
                "frames of reference",
                "constant, dictionary, decimal, raw",
            ),
            ("encoding.b", "dictionary", "constant, frame of reference, raw"),
            ("encoding.i", "decimal", "patched frame of reference"),
        ] {
            let error = check(&[(name, encoding)]).unwrap_err();
            assert_eq!(error.state(), SqlState::INVALID_PARAMETER);
            assert!(
                error.message().contains(name) && error.message().contains(encoding),
                "{error:?}"
            );
            assert!(error.hint().unwrap_or_default().contains(fits), "{error:?}");
        }
        let error = check(&[("layout.t", "vbp"), ("encoding.t", "raw")]).unwrap_err();
        assert_eq!(
            error.message(),
            "table option layout.t: raw values have no codes to be vbp"
        );
        assert!(
            error.hint().unwrap_or_default().ends_with("one of: dictionary"),
            "{error:?}"
        );
        // What depends on the values is let pass, and so is what gives way.
        check(&[
            ("encoding.x", "decimal"),
            ("layout.t", "vbp"),
            ("encoding", "decimal"),
        ])
        .unwrap();
        check(&[("encoding.t", "constant"), ("layout.b", "hbp")]).unwrap();
        // Names are kept in one form, and what is favoured anyway is not kept.
        let options = check(&[("freeze_for", "Balanced"), ("layout", "BYTE_SLICE")]).unwrap();
        assert_eq!(
            options.settings(&schema),
            [("layout".to_string(), Value::Text("byteslice".to_string()))]
        );
    }

    #[test]
    fn names_that_are_not_known_are_refused_with_those_that_are() {
        for (name, value, hint) in [
            ("freeze_for", "speed", "balanced, scan, point, size"),
            ("encoding", "zip", "known are constant, dictionary"),
            ("layout.l_shipdate", "7", "known are byte-packed"),
        ] {
            let mut options = TableOptions::default();
            set(&mut options, name, value);
            let error = checked(options, &schema()).unwrap_err();
            assert_eq!(error.state(), SqlState::INVALID_PARAMETER, "{error:?}");
            assert!(error.message().contains(name), "{error:?}");
            assert!(error.hint().unwrap_or_default().contains(hint), "{error:?}");
        }
    }
}
