//! `frazil_transactions` and `frazil_locks`: who holds what, who waits for whom, and what ran again.

use crate::rows;
use frazil::Database;

const TRANSACTIONS: &str = "select rank() over (order by transaction), isolation, state, \
     waits_for = (select array_agg(transaction) from frazil_transactions where waits_for is null), \
     rows_claimed, times_run_again, milliseconds >= 0 from frazil_transactions order by transaction";

const LOCKS: &str = "select dense_rank() over (order by transaction) as t, kind, schema_name, table_name, index_name, \
     chunk, \"count\", mode, granted, cardinality(waits_for), waiting_milliseconds >= 0 from frazil_locks \
     order by t, granted desc, kind, table_name, mode";

#[test]
fn the_views_show_holders_waiters_and_reruns() {
    let database = Database::memory().unwrap();
    let [first, second, other] = [(); 3].map(|()| database.connect());
    rows(
        &first,
        "create table parent (id integer primary key, v integer);
         insert into parent select i, 0 from generate_series(1, 3) as s (i);
         create table child (id integer primary key, parent integer references parent)",
    );
    assert_eq!(rows(&other, TRANSACTIONS), "");
    assert_eq!(rows(&other, LOCKS), "");
    rows(
        &first,
        "begin; update parent set v = 1 where id = 1; insert into child values (1, 2)",
    );
    assert_eq!(rows(&other, TRANSACTIONS), "1|read committed|||3|0|t");
    assert_eq!(
        rows(&other, LOCKS),
        "1|database||||||ROW EXCLUSIVE|t||\n\
         1|index|public|parent|parent_pkey|||ROW SHARE|t||\n\
         1|key|public|parent|parent_pkey||1|KEY SHARE|t||\n\
         1|row|public|child||0|1|INSERT|t||\n\
         1|row|public|parent||0|1|INSERT|t||\n\
         1|row|public|parent||0|1|REWRITE|t||\n\
         1|table|public|child||||ROW EXCLUSIVE|t||\n\
         1|table|public|parent||||ROW EXCLUSIVE|t||"
    );
    rows(
        &second,
        "set lock_timeout = '10min'; begin; select count(*) from child",
    );
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| rows(&second, "update parent set v = v + 10 where id = 1"));
        while database.waiting_statements() == 0 {
            std::thread::yield_now();
        }
        assert_eq!(
            rows(&other, TRANSACTIONS),
            "1|read committed|||3|0|t\n2|read committed|waiting|t|0|0|t"
        );
        assert_eq!(
            rows(
                &other,
                "select kind, table_name, chunk, \"count\", mode, cardinality(waits_for), waiting_milliseconds >= 0 \
                 from frazil_locks where not granted"
            ),
            "row|parent|0|1|REWRITE|1|t"
        );
        rows(&first, "commit");
        assert_eq!(waiter.join().unwrap(), "UPDATE 1");
    });
    assert_eq!(
        rows(
            &other,
            "select isolation, rows_claimed, times_run_again from frazil_transactions"
        ),
        "read committed|3|1"
    );
    rows(
        &second,
        "rollback; begin isolation level repeatable read; delete from parent where id = 3",
    );
    assert_eq!(
        rows(
            &other,
            "select isolation, rows_claimed, times_run_again from frazil_transactions"
        ),
        "repeatable read|1|0"
    );
    rows(&second, "rollback");
    assert_eq!(rows(&other, "select count(*) from frazil_locks"), "0");
}
