//! Claims of the papers, each with the cases that measure it: a file for each paper, in the order of its figures,
//! tables and sections.
//!
//! Every figure and every table of the papers has a line. A line without a claim says what the figure shows, and a line
//! that `bench all` does not measure says why.

mod byteslice;
mod data_blocks;
mod integer_compression;
mod line;
mod relaxed_operator_fusion;
mod runtime_fragility;

use super::verdict::Measure;
use line::Paper;

/// A claim of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The paper.
    pub paper: &'static str,
    /// The section, figure or table.
    pub place: &'static str,
    /// The claim, in our words.
    pub words: &'static str,
    /// The way to measure it.
    pub measure: Measure,
}

/// The papers, in the order of the report.
const PAPERS: [Paper; 5] = [
    data_blocks::PAPER,
    relaxed_operator_fusion::PAPER,
    integer_compression::PAPER,
    byteslice::PAPER,
    runtime_fragility::PAPER,
];

/// The claims, in the order of the report.
pub fn claims() -> impl Iterator<Item = Claim> {
    PAPERS.iter().flat_map(|paper| {
        paper.lines.iter().map(|&(place, words, measure)| Claim {
            paper: paper.name,
            place,
            words,
            measure,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The papers and the numbers of their figures and tables.
    const PLACES: [(&str, [u32; 2]); 5] = [
        ("Data Blocks", [14, 4]),
        ("Relaxed Operator Fusion", [18, 0]),
        ("Integer Compression", [12, 2]),
        ("ByteSlice", [22, 2]),
        ("Runtime Fragility", [9, 4]),
    ];

    fn places(paper: &str) -> [u32; 2] {
        let found = PLACES.iter().find(|of| of.0 == paper);
        found.unwrap_or_else(|| panic!("{paper}")).1
    }

    #[test]
    fn every_figure_and_table_of_the_papers_has_a_line() {
        for paper in PAPERS {
            let mut missing = Vec::new();
            for (kind, count) in ["figure", "table"].into_iter().zip(places(paper.name)) {
                let places = (1..=count).map(|number| format!("{kind} {number}"));
                missing.extend(places.filter(|place| paper.lines.iter().all(|line| line.0 != place)));
            }
            assert_eq!(missing, Vec::<String>::new(), "{}", paper.name);
        }
    }

    #[test]
    fn places_are_in_their_papers() {
        for Claim { paper, place, .. } in claims() {
            let places = places(paper);
            let (kind, number) = place.split_once(' ').expect("a place has two words");
            let most = match kind {
                "figure" => places[0],
                "table" => places[1],
                "section" | "appendix" => continue,
                _ => panic!("{paper}, {place}"),
            };
            let number: u32 = number.parse().expect("a number");
            assert!((1..=most).contains(&number), "{paper}, {place}");
        }
    }
}
