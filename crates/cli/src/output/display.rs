//! What people may say of how results look.

use clap::ValueEnum;

/// A form of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// A table as psql draws it
    Aligned,
    /// A table drawn with lines
    Box,
    /// Columns of fixed width under a header
    Column,
    /// Comma-separated values
    Csv,
    /// A table in HTML
    Html,
    /// INSERT statements
    Insert,
    /// A JSON array of objects
    Json,
    /// A JSON object a line
    Jsonlines,
    /// A tabular of LaTeX
    Latex,
    /// A line a value
    Line,
    /// Values with | between them
    List,
    /// A table in Markdown
    Markdown,
    /// Values as SQL literals
    Quote,
    /// A table drawn with ASCII
    Table,
    /// Values with tabulators between them
    Tabs,
    /// As list, with the number of rows
    Unaligned,
}

/// Whether a table shows a line a value instead of one a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expanded {
    /// A line a row.
    #[default]
    Off,
    /// A line a value.
    On,
    /// A line a value where a row is wider than the terminal.
    Auto,
}

/// The mode and its options.
#[derive(Clone, Debug)]
pub struct Display {
    /// The form.
    pub mode: Mode,
    /// One line a value (aligned, table and box).
    pub expanded: Expanded,
    /// Text shown for NULL; `None`: the mode's own.
    pub null: Option<String>,
    /// Whether names of columns are written.
    pub headers: bool,
    /// Whether the number of rows is written, where the mode does.
    pub footer: bool,
    /// What stands between values (csv, list, unaligned and tabs); `None`: the mode's own.
    pub separator: Option<String>,
    /// Width of each column in terminal columns (column, box, table and aligned): 0 for the widest value, below 0 for
    /// values to the right.
    pub widths: Vec<i32>,
    /// The table that INSERT statements name.
    pub table: String,
    /// Most rows that a table or column shows; all if `None`.
    pub max_rows: Option<usize>,
    /// Columns of the terminal, if there is one.
    pub terminal: Option<usize>,
    /// Terminal columns that a table may take (aligned, table and box): 0 for any number; `None`: those of the terminal.
    pub max_width: Option<usize>,
    /// Whether types stand under the names of columns (aligned, table and box).
    pub types: bool,
}

impl Default for Display {
    fn default() -> Display {
        Display {
            mode: Mode::Box,
            expanded: Expanded::Off,
            null: None,
            headers: true,
            footer: true,
            separator: None,
            widths: Vec::new(),
            table: "t".to_owned(),
            max_rows: None,
            terminal: None,
            max_width: None,
            types: false,
        }
    }
}

impl Mode {
    /// Whether rows are written while they are computed. The others are as wide as their widest value and have to know
    /// all rows.
    pub fn is_streamed(self) -> bool {
        !matches!(self, Mode::Aligned | Mode::Table | Mode::Box | Mode::Column)
    }

    /// The mode of a name.
    pub fn named(name: &str) -> Option<Mode> {
        Mode::from_str(name, true).ok()
    }

    /// The names of all modes.
    pub fn names() -> impl Iterator<Item = String> {
        let modes = Mode::value_variants().iter().filter_map(Mode::to_possible_value);
        modes.map(|value| value.get_name().to_owned())
    }
}

impl Display {
    /// What stands for NULL.
    pub fn null(&self) -> &str {
        self.null.as_deref().unwrap_or(match self.mode {
            Mode::Box | Mode::Markdown => "NULL",
            _ => "",
        })
    }

    /// Terminal columns that a table may take; `None`: any number.
    pub fn room(&self) -> Option<usize> {
        match self.max_width {
            Some(0) => None,
            Some(most) => Some(most),
            None => self.terminal,
        }
    }

    /// The width that was asked for column `index`, and whether its values stand to the right.
    pub fn width(&self, index: usize) -> Option<(usize, bool)> {
        let width = *self.widths.get(index)?;
        (width != 0).then_some((width.unsigned_abs() as usize, width < 0))
    }
}
