//! Memory of claims: a few bits a row, and taken from a budget.

use frazil_locks::{Locks, Mode, Outcome};
use frazil_types::{CHUNK_ROWS, MemoryBudget, ObjectId, RowId, SqlState};

const TABLE: ObjectId = ObjectId(1);

#[test]
fn ten_million_claims_take_a_few_bits_each() {
    const CHUNKS: u32 = 153;
    let budget = MemoryBudget::new(1 << 30);
    let locks = Locks::new(budget.clone());
    let claims = locks.claims(TABLE);
    let mut owner = locks.begin();
    let offsets: Vec<u16> = (0..=u16::MAX).collect();
    for chunk in 0..CHUNKS {
        assert_eq!(
            claims.claim_all(chunk, &offsets, Mode::Update, &owner).unwrap(),
            None
        );
    }
    let rows = CHUNKS as usize * CHUNK_ROWS;
    assert!(rows > 10_000_000);
    assert!(
        budget.used() * 8 <= rows * 2,
        "{} bytes for {rows} rows",
        budget.used()
    );
    // A savepoint, and a stronger claim of the rows of one chunk.
    let mark = owner.mark();
    assert_eq!(claims.claim_all(5, &offsets, Mode::Insert, &owner).unwrap(), None);
    owner.free_since(mark);
    assert_eq!(claims.holder(RowId::new(5, 5)), Some((owner.id(), Mode::Update)));
    drop(owner);
    assert_eq!(budget.used(), 0);
    assert!(locks.holdings().is_empty());
}

#[test]
fn claims_one_by_one_become_bitmaps() {
    let budget = MemoryBudget::new(1 << 30);
    let locks = Locks::new(budget.clone());
    let claims = locks.claims(TABLE);
    let owner = locks.begin();
    for row in 0..2 * CHUNK_ROWS as u64 {
        assert_eq!(
            claims.claim(RowId(row), Mode::NoKeyUpdate, &owner).unwrap(),
            Outcome::Granted
        );
    }
    let rows = 2 * CHUNK_ROWS;
    assert!(
        budget.peak() * 8 <= rows * 12,
        "{} bytes for {rows} rows",
        budget.peak()
    );
}

#[test]
fn too_many_claims_are_53200_and_the_budget_gets_all_back() {
    let budget = MemoryBudget::new(1 << 20);
    let locks = Locks::new(budget.clone());
    let claims = locks.claims(TABLE);
    let mut owner = locks.begin();
    assert_eq!(
        claims.claim(RowId::new(0, 0), Mode::Update, &owner).unwrap(),
        Outcome::Granted
    );
    let mark = owner.mark();
    let offsets: Vec<u16> = (0..1000).collect();
    // A row in each of many chunks, which no bitmap helps, and many rows of each.
    for many in [false, true] {
        let failed = (1..100_000).find_map(|chunk| match many {
            false => claims.claim(RowId::new(chunk, 1), Mode::Update, &owner).err(),
            true => claims.claim_all(chunk, &offsets, Mode::Update, &owner).err(),
        });
        assert_eq!(failed.map(|error| error.state()), Some(SqlState::OUT_OF_MEMORY));
        assert!(budget.used() <= 1 << 20);
        owner.free_since(mark);
        assert!(budget.used() <= 64 << 10);
        assert_eq!(locks.holdings().len(), 1, "what came before the savepoint");
    }
    drop(owner);
    assert_eq!(budget.used(), 0);
}
