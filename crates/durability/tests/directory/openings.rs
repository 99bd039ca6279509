//! Opening says how far it is, and can be stopped: the directory is as it was then.

use crate::{Temporary, begin, define, insert};
use frazil_catalog::{IndexKey, NewIndex};
use frazil_durability::{Access, Directory, Opening, OpeningProgress, OpeningStep};
use frazil_storage::Acknowledge;
use frazil_types::{Cancel, ObjectId, Result, SqlState};
use frazil_vfs::SystemVfs;
use std::sync::{Arc, Mutex};

const COMMITS: u64 = 3_000;

/// A directory with a log of so many commits, in which three tables have indexes.
fn logged(name: &str) -> Temporary {
    let temporary = Temporary::new(name);
    let directory = temporary.open();
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        let mut transaction = begin(directory.store());
        let id: ObjectId = define(&mut transaction, name);
        ids.push(id);
        let index = NewIndex {
            name: None,
            if_not_exists: false,
            table: id,
            keys: vec![IndexKey::ascending(0)],
            include: Vec::new(),
            unique: true,
            nulls_distinct: true,
            hidden: Vec::new(),
            condition: None,
        };
        transaction.create_index(index, &Cancel::new()).unwrap();
        transaction.commit().unwrap();
    }
    for commit in 0..COMMITS - 3 {
        let mut transaction = begin(directory.store());
        let next = i128::from(commit) * 10;
        insert(&mut transaction, ids[commit as usize % 3], next..next + 10);
        transaction.commit_as(Acknowledge::Placed).unwrap();
    }
    directory.flush(directory.wal().end()).unwrap();
    temporary
}

fn open(
    temporary: &Temporary,
    access: Access,
    cancel: &Cancel,
    watch: &(dyn Fn(OpeningProgress) + Sync),
) -> Result<Directory> {
    let opening = Opening {
        cancel: cancel.clone(),
        watch,
        ..Opening::to(access)
    };
    Directory::open_as(Arc::new(SystemVfs::default()), &temporary.0, &opening)
}

fn rows(directory: &Directory) -> u64 {
    directory
        .store()
        .snapshot()
        .tables()
        .map(|table| table.rows())
        .sum()
}

#[test]
fn opening_says_how_far_it_is() {
    let temporary = logged("watched");
    for access in [Access::Read, Access::Write] {
        let heard = Mutex::new(Vec::new());
        let watch = |progress| heard.lock().unwrap().push(progress);
        let directory = open(&temporary, access, &Cancel::new(), &watch).unwrap();
        assert_eq!(rows(&directory), (COMMITS - 3) * 10);
        let recovery = directory.recovery();
        assert_eq!(recovery.commits, COMMITS);
        assert!(
            recovery.bytes > COMMITS * 10 && !recovery.took.is_zero(),
            "{recovery:?}"
        );
        let heard = heard.into_inner().unwrap();
        let of = |step| heard.iter().filter(move |p| p.step == step).collect::<Vec<_>>();
        let log = of(OpeningStep::Log);
        assert!(log.len() as u64 >= COMMITS / 256, "{}", log.len());
        assert!(log.is_sorted_by_key(|p| p.done) && log.iter().all(|p| p.done <= p.total));
        assert!(log.last().unwrap().commits <= COMMITS);
        let indexes = of(OpeningStep::Indexes);
        assert_eq!(indexes.first().unwrap().done, 0);
        assert!(
            indexes
                .iter()
                .any(|p| p.done == p.total && p.total == rows(&directory))
        );
    }
    let directory = temporary.open();
    directory.close().unwrap();
    let heard = Mutex::new(0);
    let watch =
        |progress: OpeningProgress| *heard.lock().unwrap() += u32::from(progress.step == OpeningStep::Log);
    open(&temporary, Access::Write, &Cancel::new(), &watch).unwrap();
    assert_eq!(heard.into_inner().unwrap(), 0, "there is nothing to do again");
}

#[test]
fn opening_is_stopped_and_tried_again() {
    let temporary = logged("stopped");
    for (step, access) in [
        (OpeningStep::Log, Access::Write),
        (OpeningStep::Indexes, Access::Write),
        (OpeningStep::Log, Access::Read),
        (OpeningStep::Indexes, Access::Read),
    ] {
        let cancel = Cancel::new();
        let stop = |progress: OpeningProgress| {
            if progress.step == step {
                cancel.cancel();
            }
        };
        let error = open(&temporary, access, &cancel, &stop).unwrap_err();
        assert_eq!(
            error.state(),
            SqlState::QUERY_CANCELED,
            "{step} {access:?}: {error}"
        );
    }
    let directory = temporary.open();
    assert_eq!(
        (rows(&directory), directory.recovery().commits),
        ((COMMITS - 3) * 10, COMMITS)
    );
}
