//! Histories with one anomaly each, which the checker must convict of that and of nothing else, and sound ones.

use super::Operation::BackTo;
use super::{Anomaly, History, Key, Operation, Transaction, check};
use std::collections::BTreeMap;

/// The list of all histories here; registers have other numbers.
const X: Key = 1;
const Y: Key = 2;
const R: Key = 10;
const S: Key = 11;

fn read(key: Key, list: &[u64]) -> Operation {
    Operation::ReadList {
        key,
        list: list.to_vec(),
    }
}

fn append(key: Key, value: u64) -> Operation {
    Operation::Append { key, value }
}

fn get(key: Key, value: impl Into<Option<u64>>) -> Operation {
    Operation::ReadRegister {
        key,
        value: value.into(),
    }
}

fn put(key: Key, value: u64, before: impl Into<Option<u64>>) -> Operation {
    Operation::Write {
        key,
        value,
        before: before.into(),
        deletes: false,
    }
}

fn delete(key: Key, value: u64, before: u64) -> Operation {
    Operation::Write {
        key,
        value,
        before: Some(before),
        deletes: true,
    }
}

/// A history of committed transactions that all began before any ended.
fn side_by_side(transactions: &[&[Operation]], lists: &[(Key, &[u64])]) -> History {
    let transaction = |(at, operations): (usize, &&[Operation])| Transaction {
        committed: true,
        began: at as u64,
        ended: 100 + at as u64,
        operations: operations.to_vec(),
    };
    History {
        transactions: transactions.iter().enumerate().map(transaction).collect(),
        lists: lists.iter().map(|(key, list)| (*key, list.to_vec())).collect(),
    }
}

fn anomalies(history: &History) -> Vec<Anomaly> {
    let mut found: Vec<_> = check(history).iter().map(|finding| finding.anomaly).collect();
    found.dedup();
    found
}

#[track_caller]
fn convicts(history: &History, of: Anomaly) {
    assert_eq!(anomalies(history), [of], "{:?}", check(history));
}

#[test]
fn a_dirty_write_is_a_cycle_of_overwriting() {
    let history = side_by_side(
        &[&[append(X, 1), append(Y, 11)], &[append(X, 2), append(Y, 12)]],
        &[(X, &[1, 2]), (Y, &[12, 11])],
    );
    convicts(&history, Anomaly::DirtyWrite);
}

#[test]
fn a_read_of_what_was_rolled_back_is_an_aborted_read() {
    let mut history = side_by_side(&[&[put(R, 1, None)], &[get(R, 1)]], &[]);
    history.transactions[0].committed = false;
    convicts(&history, Anomaly::AbortedRead);
    let mut list = side_by_side(&[&[append(X, 1)], &[append(Y, 2)]], &[(X, &[1]), (Y, &[2])]);
    list.transactions[0].committed = false;
    convicts(&list, Anomaly::AbortedRead);
}

#[test]
fn a_read_of_what_a_savepoint_undid_is_an_aborted_read() {
    let undone = [append(X, 1), append(X, 2), BackTo(1)];
    let history = side_by_side(&[&undone, &[read(X, &[1, 2])]], &[(X, &[1])]);
    convicts(&history, Anomaly::AbortedRead);
}

#[test]
fn a_read_between_two_writes_of_a_transaction_is_intermediate() {
    let history = side_by_side(
        &[&[append(X, 1), append(X, 2)], &[read(X, &[1])]],
        &[(X, &[1, 2])],
    );
    let found = anomalies(&history);
    // The reader saw one of two writes and missed the other.
    assert_eq!(found, [Anomaly::IntermediateRead, Anomaly::ReadSkew]);
    let registers = side_by_side(&[&[put(R, 1, None), put(R, 2, 1)], &[get(R, 1)]], &[]);
    assert_eq!(
        anomalies(&registers),
        [Anomaly::IntermediateRead, Anomaly::ReadSkew]
    );
}

#[test]
fn two_transactions_that_read_each_other_are_circular() {
    let history = side_by_side(
        &[&[append(X, 1), get(R, 2)], &[put(R, 2, None), read(X, &[1])]],
        &[(X, &[1])],
    );
    convicts(&history, Anomaly::CircularInformation);
}

#[test]
fn two_overwritings_of_one_version_lose_a_write() {
    let history = side_by_side(&[&[put(R, 1, None)], &[put(R, 2, 1)], &[put(R, 3, 1)]], &[]);
    assert!(anomalies(&history).contains(&Anomaly::LostWrite));
    let list = side_by_side(&[&[append(X, 1)], &[append(X, 2)]], &[(X, &[2])]);
    convicts(&list, Anomaly::LostWrite);
}

#[test]
fn readers_of_two_orders_are_incompatible() {
    let history = side_by_side(
        &[&[append(X, 1)], &[append(X, 2)], &[read(X, &[2])]],
        &[(X, &[1, 2])],
    );
    convicts(&history, Anomaly::IncompatibleOrder);
}

#[test]
fn a_transaction_that_misses_its_own_writes_is_convicted() {
    let history = side_by_side(&[&[append(X, 1), read(X, &[])]], &[(X, &[1])]);
    convicts(&history, Anomaly::Internal);
    let undone = side_by_side(&[&[append(X, 1), BackTo(0), read(X, &[1])]], &[(X, &[])]);
    convicts(&undone, Anomaly::Internal);
    let register = side_by_side(&[&[put(R, 1, None), put(R, 2, 1), BackTo(1), get(R, 2)]], &[]);
    convicts(&register, Anomaly::Internal);
    let deleted = side_by_side(&[&[put(R, 1, None), delete(R, 2, 1), get(R, 1)]], &[]);
    convicts(&deleted, Anomaly::Internal);
}

#[test]
fn a_read_of_what_was_overwritten_before_it_began_is_stale() {
    let mut history = side_by_side(&[&[append(X, 1)], &[read(X, &[])]], &[(X, &[1])]);
    assert_eq!(anomalies(&history), []);
    history.transactions[1].began = 200;
    history.transactions[1].ended = 201;
    convicts(&history, Anomaly::StaleRead);
}

#[test]
fn half_of_a_transaction_is_read_skew() {
    let history = side_by_side(
        &[
            &[append(X, 1), put(R, 2, None), put(S, 4, None)],
            &[put(R, 3, 2), put(S, 5, 4)],
            &[get(R, 2), get(S, 5)],
        ],
        &[(X, &[1])],
    );
    convicts(&history, Anomaly::ReadSkew);
    let unrepeatable = side_by_side(&[&[append(X, 1)], &[read(X, &[]), read(X, &[1])]], &[(X, &[1])]);
    convicts(&unrepeatable, Anomaly::ReadSkew);
}

#[test]
fn two_who_read_a_version_and_overwrite_it_lose_an_update() {
    let history = side_by_side(
        &[&[read(X, &[]), append(X, 1)], &[read(X, &[]), append(X, 2)]],
        &[(X, &[1, 2])],
    );
    convicts(&history, Anomaly::LostUpdate);
}

#[test]
fn two_who_read_what_the_other_overwrites_are_write_skew() {
    let two = side_by_side(
        &[&[read(X, &[]), append(Y, 1)], &[read(Y, &[]), append(X, 2)]],
        &[(X, &[2]), (Y, &[1])],
    );
    convicts(&two, Anomaly::WriteSkew);
    // The anomaly of a transaction that only reads (Fekete, O'Neil and O'Neil 2004).
    let three = side_by_side(
        &[
            &[read(X, &[]), read(Y, &[]), append(X, 1)],
            &[append(Y, 2)],
            &[read(X, &[]), read(Y, &[2])],
        ],
        &[(X, &[1]), (Y, &[2])],
    );
    convicts(&three, Anomaly::WriteSkew);
}

#[test]
fn sound_histories_are_acquitted() {
    let mut history = side_by_side(
        &[
            &[
                append(X, 1),
                append(X, 2),
                BackTo(1),
                append(X, 3),
                read(X, &[1, 3]),
                put(R, 4, None),
            ],
            &[
                read(X, &[1, 3]),
                append(X, 5),
                put(R, 6, 4),
                delete(R, 7, 6),
                get(R, None),
            ],
            &[append(X, 8), read(X, &[1, 3, 5, 8]), put(R, 9, None), get(R, 9)],
            &[
                read(X, &[1, 3, 5]),
                get(R, None),
                put(R, 10, None),
                BackTo(2),
                put(R, 11, None),
            ],
            &[get(R, 11), read(X, &[1, 3, 5])],
        ],
        &[(X, &[1, 3, 5])],
    );
    history.transactions[2].committed = false;
    assert_eq!(check(&history), []);
    assert_eq!(
        check(&History {
            transactions: Vec::new(),
            lists: BTreeMap::new()
        }),
        []
    );
}
