//! The report as one page, in Markdown and in HTML.

use super::claims::Claim;
use super::verdict::Verdict;
use std::fmt::Write;

const HEADINGS: [&str; 6] = ["paper", "place", "claim", "bound", "ours", "verdict"];

/// A page under construction.
#[derive(Debug, Default)]
pub struct Page {
    /// Lines above the table.
    pub head: Vec<String>,
    /// A line for each claim.
    pub claims: Vec<(Claim, Verdict)>,
    /// Titles and texts of the experiments' own reports.
    pub reports: Vec<(String, String)>,
}

impl Page {
    fn rows(&self) -> impl Iterator<Item = [String; 6]> + '_ {
        self.claims.iter().map(|(claim, verdict)| {
            [
                claim.paper.to_owned(),
                claim.place.to_owned(),
                claim.words.to_owned(),
                claim.measure.bound(),
                verdict.figures(),
                verdict.to_string(),
            ]
        })
    }

    /// The page in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = "# Claims of the papers\n\n".to_owned();
        for line in &self.head {
            let _ = writeln!(text, "{line}\n");
        }
        let _ = writeln!(
            text,
            "| {} |\n|{}",
            HEADINGS.join(" | "),
            "---|".repeat(HEADINGS.len())
        );
        for row in self.rows() {
            let _ = writeln!(
                text,
                "| {} |",
                row.map(|cell| cell.replace('|', "\\|")).join(" | ")
            );
        }
        for (title, report) in &self.reports {
            let _ = write!(text, "\n## {title}\n\n```text\n{report}```\n");
        }
        text
    }

    /// The page in HTML.
    pub fn html(&self) -> String {
        let mut text = "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Claims of the papers</title>\n\
                        <style>body { font-family: sans-serif } td, th { border: 1px solid #999; padding: 4px; \
                        text-align: left } table { border-collapse: collapse }</style>\n<h1>Claims of the papers</h1>\n"
            .to_owned();
        for line in &self.head {
            let _ = writeln!(text, "<p>{}</p>", escaped(line));
        }
        let headings: String = HEADINGS
            .iter()
            .map(|heading| format!("<th>{heading}</th>"))
            .collect();
        let _ = writeln!(text, "<table>\n<tr>{headings}</tr>");
        for row in self.rows() {
            let cells: String = row
                .iter()
                .map(|cell| format!("<td>{}</td>", escaped(cell)))
                .collect();
            let _ = writeln!(text, "<tr>{cells}</tr>");
        }
        text.push_str("</table>\n");
        for (title, report) in &self.reports {
            let _ = writeln!(
                text,
                "<h2>{}</h2>\n<pre>{}</pre>",
                escaped(title),
                escaped(report)
            );
        }
        text
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::claims::claims;
    use super::*;

    #[test]
    fn every_claim_has_its_line_in_both_forms() {
        let not_measured = |claim| (claim, Verdict::NotMeasured("1 < 2".to_owned()));
        let page = Page {
            head: vec!["A machine".to_owned()],
            claims: claims().map(not_measured).collect(),
            reports: vec![("tpch".to_owned(), "a < b\n".to_owned())],
        };
        let (markdown, html) = (page.markdown(), page.html());
        for claim in claims() {
            assert!(markdown.contains(claim.words) && html.contains(&escaped(claim.words)));
        }
        assert!(markdown.ends_with("## tpch\n\n```text\na < b\n```\n"));
        assert!(html.contains("<pre>a &lt; b\n</pre>") && html.contains("1 &lt; 2"));
    }
}
