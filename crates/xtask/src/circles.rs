//! Circles of imports among the files of a crate: files that reach each other by `use` or by paths can only be
//! understood together. A circle of more than [`FILES`] files counts against the crate's ratchet.

use crate::modules::{Crate, Name};
use crate::ratchets::Ratchets;
use std::collections::{BTreeMap, BTreeSet};

/// Most files that may import each other in a circle.
const FILES: usize = 5;

/// Counts the files of a crate that are in circles which are too large.
pub fn check(files: &Crate, member: &str, ratchets: &mut Ratchets) {
    let uses = files.uses();
    let mut large = circles(&uses);
    large.retain(|circle| circle.len() > FILES);
    let shown = |circle: &Vec<&Name>| {
        let inside: BTreeSet<&Name> = circle.iter().copied().collect();
        let lines: Vec<String> = circle
            .iter()
            .map(|file| {
                let used: Vec<String> = uses[*file]
                    .iter()
                    .filter(|u| inside.contains(u))
                    .map(shown_name)
                    .collect();
                format!("    {} uses {}", shown_name(file), used.join(", "))
            })
            .collect();
        format!(
            "crates/{member}: a circle of {} files\n{}",
            circle.len(),
            lines.join("\n")
        )
    };
    let count = large.iter().map(Vec::len).sum();
    ratchets.count("circles", member, count, large.iter().map(shown).collect());
}

fn shown_name(file: &Name) -> String {
    match file.is_empty() {
        true => "the root".to_owned(),
        false => file.join("::"),
    }
}

/// The strongly connected parts of more than one file.
fn circles(uses: &BTreeMap<Name, BTreeSet<Name>>) -> Vec<Vec<&Name>> {
    let reach: BTreeMap<&Name, BTreeSet<&Name>> =
        uses.keys().map(|file| (file, reachable(uses, file))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (file, reached) in &reach {
        if seen.contains(file) || !reached.contains(file) {
            continue;
        }
        let back = |other: &&Name| reach.get(other).is_some_and(|r| r.contains(file));
        let circle: Vec<&Name> = reached.iter().copied().filter(back).collect();
        seen.extend(circle.iter().copied());
        found.push(circle);
    }
    found
}

/// The files that a file uses, directly or not.
fn reachable<'a>(uses: &'a BTreeMap<Name, BTreeSet<Name>>, from: &Name) -> BTreeSet<&'a Name> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Name> = uses[from].iter().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(uses.get(next).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles among files, by the names of their modules and their texts.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let name = |name: &str| {
            name.split("::")
                .filter(|p| !p.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let texts: Vec<(Name, String)> = files
            .iter()
            .map(|(n, text)| (name(n), (*text).to_owned()))
            .collect();
        let uses = Crate::new(&texts).uses();
        let joined = |circle: Vec<&Name>| circle.into_iter().map(shown_name).collect::<Vec<_>>().join(" ");
        circles(&uses).into_iter().map(joined).collect()
    }

    #[test]
    fn a_circle_is_found_through_trees_reexports_and_super() {
        let files = [
            (
                "",
                "mod a; mod b; mod c; mod d;\npub use a::{Thing, other::{Deep, Deeper}};",
            ),
            (
                "a",
                "pub struct Thing; use crate::{b::{self, Kind}, c};\nfn f() { b::g() }",
            ),
            ("b", "pub enum Kind {} pub fn g() { super::c::g() }"),
            ("c", "use crate::Thing; // use crate::d::X;\npub fn g() {}"),
            ("d", "use crate::a::Thing; pub struct X;"),
        ];
        assert_eq!(found(&files), ["a b c"]);
    }

    #[test]
    fn a_parent_that_names_what_its_children_have_is_in_their_circle() {
        let files = [
            ("", "mod table;"),
            (
                "table",
                "mod row; mod other; pub struct Row;\nfn all() { row::ROW; let s = \"other::X\"; }",
            ),
            ("table::row", "use super::Row; pub const ROW: Row = Row;"),
            ("table::other", "use super::Row; pub const X: Row = Row;"),
        ];
        assert_eq!(found(&files), ["table table::row"]);
        let listed = (
            "table",
            "mod row; mod other; pub struct Row;\ntable! { Row => row, Other => other }",
        );
        assert_eq!(
            found(&[files[0], listed, files[2], files[3]]),
            ["table table::other table::row"]
        );
    }

    #[test]
    fn reexports_are_followed_at_any_level() {
        let files = [
            ("", "mod deep; mod user; pub(crate) use deep::*;"),
            ("deep", "mod inner; pub use self::inner::shown as known;"),
            (
                "deep::inner",
                "pub(super) mod most { pub fn shown() {} } pub use most::shown; use crate::user::U;",
            ),
            ("user", "pub struct U; fn f() { crate::known() }"),
        ];
        assert_eq!(found(&files), ["deep::inner user"]);
    }

    #[test]
    fn globs_bring_names_and_may_lead_in_circles() {
        let files = [
            ("", "mod a; mod b; mod c;"),
            (
                "a",
                "use crate::b::*; use crate::c::*; pub struct A; fn f(_: C) {}",
            ),
            ("b", "use super::a::*; use super::c::*; pub struct B;"),
            ("c", "use super::a::*; use super::b::*; pub struct C(A);"),
        ];
        assert_eq!(found(&files), ["a c"]);
    }

    #[test]
    fn tests_and_what_others_have_are_left_out() {
        let files = [
            ("", "mod a; mod b; #[cfg(test)]\nmod tests;"),
            (
                "a",
                "use std::b; pub struct A;\n#[cfg(test)]\nmod tests { use crate::b::B; }",
            ),
            ("b", "use crate::a::A; pub struct B; /* use crate::tests::T; */"),
            ("tests", "use crate::b::B; pub struct T;"),
        ];
        assert!(found(&files).is_empty());
    }
}
