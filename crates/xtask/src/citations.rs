//! Citations of the five papers: a section, figure, table, appendix or equation that a comment or a document names must
//! be in the paper.
//!
//! A citation is the name of a paper, a comma, and a list such as `sections 3.2 and 4.1, figure 7`. In `docs/papers.md`
//! the first column of a table is such a list, for the paper of the heading.

/// The parts of a paper that can be cited.
struct Paper {
    /// Names by which comments and documents call it.
    names: &'static [&'static str],
    sections: &'static [&'static str],
    /// Letters of appendices.
    appendices: &'static str,
    figures: u32,
    tables: u32,
    equations: u32,
}

const PAPERS: [Paper; 5] = [
    Paper {
        names: &["Data Blocks"],
        sections: &[
            "1", "2", "3", "3.1", "3.2", "3.3", "3.4", "4", "4.1", "4.2", "5", "5.1", "5.2", "5.3", "5.4",
            "6",
        ],
        appendices: "ABCDEF",
        figures: 14,
        tables: 4,
        equations: 0,
    },
    Paper {
        names: &["Relaxed Operator Fusion"],
        sections: &[
            "1", "2", "2.1", "2.2", "2.3", "3", "4", "4.1", "4.2", "4.3", "4.4", "5", "5.1", "5.2", "5.3",
            "5.4", "5.5", "5.6", "5.7", "6", "7",
        ],
        appendices: "",
        figures: 18,
        tables: 0,
        equations: 0,
    },
    Paper {
        names: &[
            "Integer Compression",
            "Integer compression",
            "integer compression",
            "Hyrise",
        ],
        sections: &[
            "1", "2", "2.1", "3", "3.1", "3.1.1", "3.1.2", "3.2", "3.2.1", "4", "4.1", "4.1.1", "4.1.2",
            "4.2", "4.3", "4.3.1", "4.3.2", "5", "5.1", "5.2", "5.2.1", "5.2.2", "5.2.3", "6", "7",
        ],
        appendices: "",
        figures: 12,
        tables: 2,
        equations: 0,
    },
    Paper {
        names: &["ByteSlice"],
        sections: &[
            "1", "2", "2.1", "2.2", "2.3", "3", "3.1", "3.1.1", "3.1.2", "3.2", "4", "4.1", "4.1.1", "4.1.2",
            "4.1.3", "4.1.4", "4.2", "5", "6",
        ],
        appendices: "ABCDEFGH",
        figures: 22,
        tables: 2,
        equations: 2,
    },
    Paper {
        names: &["Runtime Fragility"],
        sections: &[
            "1", "2", "3", "3.1", "3.2", "3.3", "3.4", "4", "4.1", "4.2", "4.3", "5", "5.1", "5.2", "5.3",
            "6", "6.1", "7",
        ],
        appendices: "",
        figures: 9,
        tables: 4,
        equations: 0,
    },
];

/// A kind of parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Section,
    Appendix,
    Figure,
    Table,
    Equation,
}

impl Part {
    /// The kind that a word announces.
    fn announced(word: &str) -> Option<Part> {
        Some(match word.to_ascii_lowercase().trim_end_matches('.') {
            "section" | "sections" => Part::Section,
            "appendix" | "appendices" | "app" => Part::Appendix,
            "figure" | "figures" | "fig" => Part::Figure,
            "table" | "tables" => Part::Table,
            "equation" | "equations" => Part::Equation,
            _ => return None,
        })
    }

    /// True if a word looks like the number of a part of this kind.
    fn is_number(self, word: &str) -> bool {
        match self {
            Part::Appendix => word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase()),
            _ => word.starts_with(|c: char| c.is_ascii_digit()),
        }
    }

    fn is_in(self, paper: &Paper, word: &str) -> bool {
        let up_to = |most: u32| {
            let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
            digits
                .parse()
                .is_ok_and(|number: u32| (1..=most).contains(&number))
        };
        match self {
            Part::Section => paper.sections.contains(&word),
            Part::Appendix => paper.appendices.contains(word),
            Part::Figure => up_to(paper.figures),
            Part::Table => up_to(paper.tables),
            Part::Equation => up_to(paper.equations),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Part::Section => "section",
            Part::Appendix => "appendix",
            Part::Figure => "figure",
            Part::Table => "table",
            Part::Equation => "equation",
        }
    }
}

/// The citations of a text, whose comments are read without their slashes, that name what the paper does not have.
pub fn wrong(text: &str) -> Vec<String> {
    let text = unwrapped(text);
    let mut wrong = Vec::new();
    for paper in &PAPERS {
        for name in paper.names {
            for (at, _) in text.match_indices(name) {
                if let Some(list) = text[at + name.len()..].strip_prefix(", ") {
                    check(paper, None, list, &mut wrong);
                }
            }
        }
    }
    wrong
}

/// The citations in the tables of `docs/papers.md` that name what the paper of the heading does not have.
pub fn wrong_in_tables(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut paper: Option<&Paper> = None;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            paper = PAPERS.iter().find(|paper| paper.names.contains(&heading.trim()));
        }
        let cell = line.strip_prefix("| ").and_then(|rest| rest.split(" |").next());
        if let (Some(paper), Some(cell)) = (paper, cell) {
            let first = cell.starts_with(|c: char| c.is_ascii_digit());
            let list = cell.split(':').next().unwrap_or(cell);
            for list in list.split(';') {
                check(paper, first.then_some(Part::Section), list.trim(), &mut wrong);
            }
        }
    }
    wrong
}

/// Checks a list of parts, up to the first word that belongs to no list. `part` is the kind of numbers without a word
/// before them.
fn check(paper: &Paper, mut part: Option<Part>, list: &str, wrong: &mut Vec<String>) {
    let end = list
        .find([')', ';', ':', '(', '|', '"', '`'])
        .unwrap_or(list.len());
    for given in list[..end].split_whitespace() {
        let word = given.trim_end_matches([',', '.', '\'']);
        if word == "and" {
            continue;
        }
        if let Some(announced) = Part::announced(word) {
            part = Some(announced);
            continue;
        }
        let Some(part) = part.filter(|part| part.is_number(word)) else {
            return;
        };
        for number in word.split('–') {
            if !part.is_in(paper, number) {
                wrong.push(format!("{} has no {} {number}", paper.names[0], part.name()));
            }
        }
        // The end of a sentence is that of the list.
        if given.ends_with('.') {
            return;
        }
    }
}

/// The text with the lines of a comment joined.
fn unwrapped(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.trim();
        let comment = line.trim_start_matches('/').trim_start_matches('!').trim();
        if line.starts_with("//") { comment } else { line }
    });
    lines.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_there_are_cited() {
        let text = "//! Scans (Data Blocks, sections 3.2 and\n//! 4.1, figure 12a; ByteSlice, appendix E).\n\
                    //! As in Relaxed Operator Fusion, section 4.3. Table 9 is another one's.";
        assert_eq!(wrong(text), Vec::<String>::new());
        assert!(wrong("ByteSlice is a layout, figures follow; Data Blocks, frozen in 2016").is_empty());
    }

    #[test]
    fn parts_that_are_not_there_are_found() {
        let text = "/// (Relaxed Operator\n/// Fusion, section 3.5) and (Data Blocks, table 5, figures 9–15, \
                    appendix G)";
        let wanted = [
            "Data Blocks has no table 5",
            "Data Blocks has no figure 15",
            "Data Blocks has no appendix G",
            "Relaxed Operator Fusion has no section 3.5",
        ];
        assert_eq!(wrong(text), wanted);
    }

    #[test]
    fn tables_cite_by_their_first_column() {
        let text = "## ByteSlice\n\n| section | x |\n|---|---|\n| 3.1.2, 4.1.3, Fig. 12; App. E, Fig. 19 | x |\n\
                    | 3.9, App. K | x |\n## Another\n| 99 | x |\n";
        assert_eq!(
            wrong_in_tables(text),
            ["ByteSlice has no section 3.9", "ByteSlice has no appendix K"]
        );
    }
}
