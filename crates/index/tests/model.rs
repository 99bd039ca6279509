//! The tree against a sorted set: random operations on keys of all shapes, in nodes of few entries, so that every operation
//! meets splits and branches that are taken away.

use frazil_index::{Direction, Inserted, KeyRange, OrderedIndex, Tree, Verdict};
use frazil_testkit::Random;
use frazil_types::RowId;
use std::collections::BTreeSet;

type Model = BTreeSet<(Vec<u8>, u64)>;

/// Makes keys of one index: no key is a proper prefix of another one.
type KeyMaker = fn(&mut Random) -> Vec<u8>;

fn number(random: &mut Random) -> Vec<u8> {
    random.below(300).to_be_bytes().to_vec()
}

fn few_numbers(random: &mut Random) -> Vec<u8> {
    random.below(3).to_be_bytes().to_vec()
}

fn small_number(random: &mut Random) -> Vec<u8> {
    (random.below(200) as u32).to_be_bytes().to_vec()
}

fn pair(random: &mut Random) -> Vec<u8> {
    [random.below(10).to_be_bytes(), random.below(20).to_be_bytes()].concat()
}

fn text(random: &mut Random) -> Vec<u8> {
    let mut text = match random.below(3) {
        0 => Vec::new(),
        1 => b"Customer#000000".to_vec(),
        _ => vec![b'x'; 200],
    };
    text.extend((0..random.index(4)).map(|_| b'a' + random.below(4) as u8));
    text.push(0);
    text
}

/// Trees of all kinds: keys of a word in nodes of few entries, keys of two words, keys with tails.
fn trees() -> Vec<(Tree, KeyMaker)> {
    vec![
        (Tree::with_nodes(1, false, 12), number),
        (Tree::with_nodes(1, false, 14), few_numbers),
        (Tree::with_nodes(1, false, 12), small_number),
        (Tree::with_nodes(2, false, 16), pair),
        (Tree::with_nodes(1, true, 15), text),
        (Tree::with_nodes(3, true, 40), text),
    ]
}

/// Shows a range of the tree in both directions, and compares it with the model's.
fn check_range(tree: &Tree, model: &Model, from: Option<&[u8]>, to: Option<&[u8]>) {
    let expected: Vec<&(Vec<u8>, u64)> = model
        .iter()
        .filter(|(key, _)| from.is_none_or(|f| &key[..] >= f) && to.is_none_or(|t| &key[..] < t))
        .collect();
    for direction in [Direction::Ascending, Direction::Descending] {
        let mut found = Vec::new();
        tree.range(KeyRange { from, to }, direction, &mut |key, row| {
            found.push((key.to_vec(), row.0));
            true
        });
        if direction == Direction::Descending {
            found.reverse();
        }
        assert_eq!(found.len(), expected.len(), "{from:?} to {to:?}, {direction:?}");
        for ((key, row), (found_key, found_row)) in expected.iter().zip(&found) {
            assert!(row == found_row && found_key.starts_with(key));
            assert!(found_key[key.len()..].iter().all(|&b| b == 0));
        }
    }
}

fn rows(tree: &Tree, key: &[u8]) -> Vec<u64> {
    let mut found = Vec::new();
    tree.get(key, &mut |row| {
        found.push(row.0);
        true
    });
    found
}

fn rows_in_model(model: &Model, key: &[u8]) -> Vec<u64> {
    model.iter().filter(|(k, _)| k == key).map(|e| e.1).collect()
}

fn insert(tree: &Tree, model: &mut Model, key: Vec<u8>, row: u64, random: &mut Random) {
    if random.below(2) == 0 {
        let new = model.insert((key.clone(), row));
        let inserted = tree.insert(&key, RowId(row), None);
        assert_eq!(inserted, if new { Inserted::Added } else { Inserted::Present });
        return;
    }
    // Rows with even ids are dead.
    let others = rows_in_model(model, &key);
    let mut shown = Vec::new();
    let mut verdict = |rival: RowId| {
        shown.push(rival.0);
        if rival.0.is_multiple_of(2) {
            Verdict::NoRival
        } else {
            Verdict::Rival
        }
    };
    let inserted = tree.insert(&key, RowId(row), Some(&mut verdict));
    let mut expected: Vec<u64> = others.iter().copied().filter(|&o| o != row).collect();
    let rival = expected.iter().position(|o| o % 2 == 1);
    let outcome = match rival {
        Some(at) => Inserted::Refused(RowId(expected[at])),
        None if others.contains(&row) => Inserted::Present,
        None => {
            model.insert((key, row));
            Inserted::Added
        }
    };
    expected.truncate(rival.map_or(usize::MAX, |at| at + 1));
    assert_eq!((inserted, shown), (outcome, expected));
}

fn remove(tree: &Tree, model: &mut Model, random: &mut Random) {
    let Some((key, row)) = model.iter().nth(random.index(model.len())).cloned() else {
        return;
    };
    if random.below(4) == 0 {
        assert!(!tree.remove(&key, RowId(row), &|| false));
        assert!(!tree.remove(&key, RowId(row + 1000), &|| unreachable!("no such entry")));
    } else {
        model.remove(&(key.clone(), row));
        assert!(tree.remove(&key, RowId(row), &|| true));
    }
}

#[test]
fn the_tree_holds_what_a_sorted_set_holds() {
    let steps = if cfg!(miri) { 200 } else { 4000 };
    for (number, (tree, make_key)) in trees().into_iter().enumerate() {
        let mut random = Random::new(number as u64 + 1);
        let mut model = Model::new();
        for step in 0..steps {
            // It grows and shrinks in turns, to nothing at times.
            let grows = step % 800 < 400;
            if random.below(10) < if grows { 7 } else { 2 } {
                let (key, row) = (make_key(&mut random), random.below(40));
                insert(&tree, &mut model, key, row, &mut random);
            } else {
                remove(&tree, &mut model, &mut random);
            }
            assert_eq!(tree.entries(), model.len() as u64);
            let key = make_key(&mut random);
            assert_eq!(rows(&tree, &key), rows_in_model(&model, &key));
            let row = step % 40;
            assert_eq!(
                tree.contains(&key, RowId(row)),
                model.contains(&(key.clone(), row))
            );
            if step % 50 == 0 {
                let (a, b) = (make_key(&mut random), make_key(&mut random));
                check_range(&tree, &model, None, None);
                check_range(&tree, &model, Some(&a), None);
                check_range(&tree, &model, None, Some(&a));
                check_range(&tree, &model, Some(&a.clone().min(b.clone())), Some(&a.max(b)));
            }
        }
    }
}

#[test]
fn a_range_ends_where_the_reader_wants() {
    let tree = Tree::with_nodes(1, false, 12);
    for n in 0..100u64 {
        tree.insert(&n.to_be_bytes(), RowId(n), None);
    }
    for direction in [Direction::Ascending, Direction::Descending] {
        let mut seen = Vec::new();
        tree.range(KeyRange::default(), direction, &mut |_, row| {
            seen.push(row.0);
            seen.len() < 10
        });
        let expected: Vec<u64> = match direction {
            Direction::Ascending => (0..10).collect(),
            Direction::Descending => (90..100).rev().collect(),
        };
        assert_eq!(seen, expected);
    }
    let mut count = 0;
    tree.get(&7u64.to_be_bytes(), &mut |_| {
        count += 1;
        false
    });
    assert_eq!(count, 1);
}

#[test]
fn ascending_keys_fill_nodes_and_a_queue_uses_memory_again() {
    let (count, most) = if cfg!(miri) {
        (500u64, 60.0)
    } else {
        (100_000, 24.0)
    };
    let part = frazil_types::KeyPart {
        ty: frazil_types::LogicalType::BigInt,
        nullable: false,
        descending: false,
        nulls_first: false,
    };
    let tree = Tree::new(&frazil_types::KeySpec::new(vec![part]));
    for n in 0..count {
        tree.insert(&n.to_be_bytes(), RowId(n), None);
    }
    let bytes = tree.bytes() as f64 / count as f64;
    assert!(bytes < most, "{bytes} bytes an entry");
    let before = tree.bytes();
    for n in 0..count {
        assert!(tree.remove(&n.to_be_bytes(), RowId(n), &|| true));
        tree.insert(&(n + count).to_be_bytes(), RowId(n), None);
    }
    assert!(
        tree.bytes() <= before + before / 20,
        "{} after {before}",
        tree.bytes()
    );
    assert_eq!(tree.entries(), count);
}
