//! The names of the system columns that every table has, and which of them a statement has among its words.

use frazil_plan::ColumnId;

/// A system column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemColumn {
    TableOid,
    Ctid,
    Xmin,
    Xmax,
    Cmin,
    Cmax,
}

impl SystemColumn {
    const ALL: [SystemColumn; 6] = [
        SystemColumn::TableOid,
        SystemColumn::Ctid,
        SystemColumn::Xmin,
        SystemColumn::Xmax,
        SystemColumn::Cmin,
        SystemColumn::Cmax,
    ];

    pub fn name(self) -> &'static str {
        match self {
            SystemColumn::TableOid => "tableoid",
            SystemColumn::Ctid => "ctid",
            SystemColumn::Xmin => "xmin",
            SystemColumn::Xmax => "xmax",
            SystemColumn::Cmin => "cmin",
            SystemColumn::Cmax => "cmax",
        }
    }

    /// The system column of a name in lower case.
    pub fn named(name: &str) -> Option<SystemColumn> {
        SystemColumn::ALL.into_iter().find(|column| column.name() == name)
    }
}

/// A set of system columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SystemColumns(u8);

impl SystemColumns {
    /// The columns whose names are words of a text, also in quotes and comments.
    pub fn in_text(text: &str) -> SystemColumns {
        let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        let bytes = text.as_bytes();
        let mut found = SystemColumns::default();
        for (at, byte) in bytes.iter().enumerate() {
            let may_begin = matches!(byte.to_ascii_lowercase(), b't' | b'c' | b'x');
            if !may_begin || at > 0 && is_inside(bytes[at - 1]) {
                continue;
            }
            let word = SystemColumn::ALL.into_iter().find(|column| {
                let end = at + column.name().len();
                let word = bytes.get(at..end);
                word.is_some_and(|word| word.eq_ignore_ascii_case(column.name().as_bytes()))
                    && !bytes.get(end).is_some_and(|byte| is_inside(*byte))
            });
            if let Some(column) = word {
                found.0 |= 1 << column as u8;
            }
        }
        found
    }

    /// The columns of both sets.
    pub fn and(self, other: SystemColumns) -> SystemColumns {
        SystemColumns(self.0 | other.0)
    }

    /// True for the empty set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The columns of the set.
    pub fn iter(self) -> impl Iterator<Item = SystemColumn> {
        let is_in = move |column: &SystemColumn| self.0 >> (*column as u8) & 1 == 1;
        SystemColumn::ALL.into_iter().filter(is_in)
    }
}

/// The system columns that a relation shows, with the columns of the plan.
pub(crate) type ShownColumns = Vec<(SystemColumn, ColumnId)>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        let found = |text| SystemColumns::in_text(text).iter().collect::<Vec<_>>();
        assert_eq!(
            found("select t.CTID, \"xmin\" from t"),
            [SystemColumn::Ctid, SystemColumn::Xmin]
        );
        assert_eq!(found("tableoid"), [SystemColumn::TableOid]);
        assert_eq!(found("select ctids, actid, xmin_, cmaxé, my_xmax from t"), []);
        assert_eq!(found(""), []);
    }
}
