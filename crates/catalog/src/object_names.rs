//! Names that constraints and indexes get where the statement gives none, as PostgreSQL makes them: table, columns and
//! a label, `t_a_b_key`, cut to 63 bytes; a number behind the label where the name is taken.

/// Bytes of a name that is made: longer tables and columns are cut. Names that a statement gives may be longer.
const MOST_BYTES: usize = 63;

/// The first of `t_columns_label`, `t_columns_label1`, … that is not taken. Without columns `t_label`, ….
pub(crate) fn choose(table: &str, columns: &str, label: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = joined(table, columns, label);
    let mut number = 0u32;
    while taken(&name) {
        number += 1;
        name = joined(table, columns, &format!("{label}{number}"));
    }
    name
}

/// The names of an index's columns, with a bar between them.
pub(crate) fn of_columns<'a>(columns: impl Iterator<Item = &'a str>) -> String {
    let mut seen: Vec<String> = Vec::new();
    let mut out = String::new();
    for column in columns {
        // A column that stands twice gets a number, so that the parts differ.
        let part = choose(column, "", "", |name| seen.iter().any(|s| s == name));
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(&part);
        seen.push(part);
        if out.len() > MOST_BYTES {
            break;
        }
    }
    out
}

/// The parts with bars between them; of table and columns the longer one is cut until all fits.
fn joined(table: &str, columns: &str, label: &str) -> String {
    let is_plain = columns.is_empty() && label.chars().all(|c| c.is_ascii_digit());
    if is_plain {
        return format!("{}{label}", cut(table, MOST_BYTES - label.len()));
    }
    let bars = 1 + usize::from(!columns.is_empty());
    let room = MOST_BYTES - label.len() - bars;
    let (mut first, mut second) = (table.len(), columns.len());
    while first + second > room {
        match first > second {
            true => first -= 1,
            false => second -= 1,
        }
    }
    let (table, columns) = (cut(table, first), cut(columns, second));
    match columns.is_empty() {
        true => format!("{table}_{label}"),
        false => format!("{table}_{columns}_{label}"),
    }
}

/// The longest beginning of at most so many bytes that ends between characters.
fn cut(name: &str, most: usize) -> &str {
    &name[..name.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_as_postgresql_makes_them() {
        let of = |columns: &[&str]| of_columns(columns.iter().copied());
        let taken = ["t_a_key", "t_a_key1", "t_pkey"];
        let name = |columns: &str, label: &str| choose("t", columns, label, |n| taken.contains(&n));
        assert_eq!(name("a", "key"), "t_a_key2");
        assert_eq!(name("", "pkey"), "t_pkey1");
        assert_eq!(name(&of(&["a", "b"]), "idx"), "t_a_b_idx");
        assert_eq!(of(&["a", "a", "a"]), "a_a1_a2");
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let (table, column) = ("t".repeat(60), "c".repeat(20));
        let name = choose(&table, &column, "key", |_| false);
        assert_eq!(name, format!("{}_{column}_key", "t".repeat(38)));
        let name = choose(&"ä".repeat(40), "", "pkey", |n| n.ends_with('y'));
        assert_eq!(name, format!("{}_pkey1", "ä".repeat(28)));
    }
}
