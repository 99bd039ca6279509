//! Matches over enums that grow, with an arm for all other variants: a variant that is added later falls into it, and nobody
//! notices. Clippy's `wildcard_enum_match_arm` would say it of every enum; here it is said of those that are listed. A rule that
//! looks for the shapes it knows asks by `if let`.

/// Enums that grow. How many matches over each have such an arm is a ratchet, a crate each.
pub const GROWING: [&str; 5] = [
    "Operator",
    "AggregateFunction",
    "GroupState",
    "ExprKind",
    "Statement",
];

/// Numbers of the lines, from 1, with an arm for all other variants of an enum.
pub fn arms(enumeration: &str, text: &str) -> Vec<usize> {
    let start = format!("{enumeration}::");
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let pattern = line.trim_start();
        let pattern = pattern.strip_prefix("| ").unwrap_or(pattern);
        let pattern = pattern.split_once(" @ ").map_or(pattern, |(_, p)| p);
        if pattern.trim_start_matches(['(', '&']).starts_with(&start) {
            found.extend(catch_all(&lines[at..], indent(line)).map(|n| at + n + 1));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The first line behind the first one that is an arm for anything, in the same match: as far right as its other arms.
fn catch_all(lines: &[&str], arms: usize) -> Option<usize> {
    let mut following = lines
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, l)| !l.trim().is_empty());
    let mut inside = following.by_ref().take_while(|(_, l)| indent(l) >= arms);
    inside
        .find(|(_, l)| indent(l) == arms && takes_anything(l.trim()))
        .map(|(n, _)| n)
}

/// True for an arm whose pattern is a wildcard or a name, with a condition or without.
fn takes_anything(arm: &str) -> bool {
    let Some((pattern, _)) = arm.split_once("=>") else {
        return false;
    };
    let pattern = pattern.split(" if ").next().unwrap_or("").trim();
    let name = pattern.strip_prefix("mut ").unwrap_or(pattern);
    let is_name = |c: char| c == '_' || c.is_ascii_lowercase();
    !name.is_empty() && name.chars().all(is_name)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_for_all_others_is_found() {
        let text = |last: &str| {
            format!(
                "match op {{\n    Operator::Map(m) => {{\n        _ => inner,\n    }}\n    {last} => 2,\n}}\n"
            )
        };
        assert_eq!(arms("Operator", &text("_")), [5]);
        assert_eq!(arms("Operator", &text("other")), [5]);
        assert_eq!(arms("Operator", &text("mut other if asked")), [5]);
        assert_eq!(arms("Operator", &text("Operator::Filter(_)")), []);
        assert_eq!(
            arms("Operator", "match a {\n    Some(_) => 1,\n    _ => 2,\n}\n"),
            []
        );
    }
}
