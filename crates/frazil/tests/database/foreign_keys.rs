//! Foreign keys against a model: whatever statements come, rows are those of the model, and a statement that the model
//! refuses changes nothing. And the ways in which many rows come.

use crate::{memory, rows, state};
use frazil::{Connection, Outcome, SqlState};
use frazil_testkit::Random;
use std::collections::BTreeMap;

/// The action on the rows of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    Nothing,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}

const ACTIONS: [(Action, &str, &str); 5] = [
    (Action::Nothing, "stays", "no action"),
    (Action::Restrict, "keeps", "restrict"),
    (Action::Cascade, "follows", "cascade"),
    (Action::SetNull, "forgets", "set null"),
    (Action::SetDefault, "returns", "set default"),
];

/// The key that SET DEFAULT gives.
const DEFAULT: i64 = 1;

/// Rows of the tables: keys of the parent `p`; by their ids the rows of each child with their keys; and the rows of
/// `leaves`, which follow those of the child that follows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    parents: Vec<i64>,
    children: BTreeMap<Action, BTreeMap<i64, Option<i64>>>,
    leaves: BTreeMap<i64, i64>,
}

impl Model {
    /// Makes a key of the parent another one, or nothing. False if a foreign key refuses.
    fn moved(&mut self, becomes: &dyn Fn(i64) -> Option<i64>) -> bool {
        let before = self.parents.clone();
        self.parents = before.iter().filter_map(|id| becomes(*id)).collect();
        self.parents.sort_unstable();
        let there = self.parents.clone();
        for (action, rows) in &mut self.children {
            let went = |key: &Option<i64>| key.is_some_and(|key| becomes(key) != Some(key));
            let gone: Vec<i64> = rows
                .iter()
                .filter(|(_, key)| went(key))
                .map(|(id, _)| *id)
                .collect();
            for id in gone {
                let key = rows[&id].unwrap();
                match action {
                    Action::Nothing if there.contains(&key) => {}
                    Action::Nothing | Action::Restrict => return false,
                    Action::Cascade => match becomes(key) {
                        Some(key) => drop(rows.insert(id, Some(key))),
                        None => {
                            rows.remove(&id);
                            self.leaves.retain(|_, child| *child != id);
                        }
                    },
                    Action::SetNull => drop(rows.insert(id, None)),
                    Action::SetDefault if there.contains(&DEFAULT) => drop(rows.insert(id, Some(DEFAULT))),
                    Action::SetDefault => return false,
                }
            }
        }
        true
    }

    /// The rows of all tables, as the queries show them.
    fn shown(&self) -> String {
        let mut lines: Vec<String> = self.parents.iter().map(|id| format!("p|{id}|")).collect();
        for (action, name, _) in ACTIONS {
            let rows = self.children.get(&action).into_iter().flatten();
            let shown = |key: &Option<i64>| key.map_or(String::new(), |key| key.to_string());
            lines.extend(rows.map(|(id, key)| format!("{name}|{id}|{}", shown(key))));
        }
        lines.extend(
            self.leaves
                .iter()
                .map(|(id, child)| format!("leaves|{id}|{child}")),
        );
        lines.sort();
        lines.join("\n")
    }
}

fn tables() -> Connection {
    let c = memory();
    rows(&c, "create table p (id bigint primary key)");
    for (at, (_, name, words)) in ACTIONS.into_iter().enumerate() {
        // An index on every other child: the others are read.
        let index = if at % 2 == 0 {
            format!("; create index on {name} (p)")
        } else {
            String::new()
        };
        rows(
            &c,
            &format!(
                "create table {name} (id integer primary key, p integer default {DEFAULT}
                 references p on delete {words} on update {words}){index}"
            ),
        );
    }
    rows(
        &c,
        "create table leaves (id integer primary key, of integer references follows on delete cascade)",
    );
    c
}

fn shown(c: &Connection) -> String {
    let children = ACTIONS.map(|(_, name, _)| format!("select '{name}', id, p from {name}"));
    let all = format!(
        "select * from (select 'p' as t, id, null as k from p union all {}
         union all select 'leaves', id, of from leaves) x",
        children.join(" union all ")
    );
    let found = rows(c, &all);
    let mut lines: Vec<&str> = found.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// A statement, and what it makes of a model; `None` if it is refused.
fn statement(random: &mut Random, model: &Model, turn: i64) -> (String, Option<Model>) {
    let mut next = model.clone();
    let known = |random: &mut Random| match model.parents.is_empty() {
        true => 77,
        false => model.parents[random.index(model.parents.len())],
    };
    match random.below(8) {
        0 | 1 => {
            next.parents.push(turn);
            next.parents.sort_unstable();
            (format!("insert into p values ({turn})"), Some(next))
        }
        2..=4 => {
            let (action, name, _) = ACTIONS[random.index(ACTIONS.len())];
            let key = match random.below(6) {
                0 => None,
                1 => Some(turn * 1000 + 1),
                _ => Some(known(random)),
            };
            let is_there = key.is_none_or(|key| model.parents.contains(&key));
            next.children.entry(action).or_default().insert(turn, key);
            let key = key.map_or("null".to_string(), |key| key.to_string());
            let leaf = action == Action::Cascade && random.below(2) == 0;
            let mut sql = format!("insert into {name} values ({turn}, {key})");
            if leaf {
                next.leaves.insert(turn, turn);
                sql = format!("with leaf as (insert into leaves values ({turn}, {turn})) {sql}");
            }
            (sql, is_there.then_some(next))
        }
        5 => {
            let (low, high) = (known(random), known(random));
            let kept = |id: i64| (id < low.min(high) || id > low.max(high)).then_some(id);
            let is_done = next.moved(&kept);
            let sql = format!(
                "delete from p where id between {} and {}",
                low.min(high),
                low.max(high)
            );
            (sql, is_done.then_some(next))
        }
        6 => {
            let (id, step) = (known(random), 10_000 * turn);
            let moved = |key: i64| {
                Some(if key >= id && key < id + 3 {
                    key + step
                } else {
                    key
                })
            };
            let is_done = next.moved(&moved);
            let sql = format!("update p set id = id + {step} where id >= {id} and id < {id} + 3");
            (sql, is_done.then_some(next))
        }
        _ => {
            let (action, name, _) = ACTIONS[random.index(ACTIONS.len())];
            let key = if random.below(5) == 0 { 78 } else { known(random) };
            let children = next.children.entry(action).or_default();
            let is_there = children.is_empty() || model.parents.contains(&key);
            children.values_mut().for_each(|of| *of = Some(key));
            (format!("update {name} set p = {key}"), is_there.then_some(next))
        }
    }
}

#[test]
fn rows_are_those_of_a_model() {
    let (mut done, mut refused) = (0, 0);
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let (c, mut model) = (tables(), Model::default());
        let mut script = Vec::new();
        for turn in 1..70 {
            if turn == 35 {
                rows(&c, "freeze p; freeze follows; freeze stays; freeze returns");
            }
            let (sql, next) = statement(&mut random, &model, turn);
            script.push(sql.clone());
            let is_undone = random.below(9) == 0;
            if is_undone {
                rows(&c, "begin; savepoint s");
            }
            match &next {
                Some(_) => drop(rows(&c, &sql)),
                None => assert_eq!(
                    state(&c, &sql),
                    SqlState::FOREIGN_KEY_VIOLATION,
                    "seed {seed}: {script:#?}"
                ),
            }
            if is_undone {
                rows(&c, "rollback to s; commit");
            }
            match next {
                Some(next) if !is_undone => model = next,
                _ => refused += 1,
            }
            done += 1;
            assert_eq!(shown(&c), model.shown(), "seed {seed}: {script:#?}");
        }
        let found = c.verify().unwrap().findings;
        assert_eq!(found, [""; 0]);
    }
    // All kinds of outcomes are there.
    assert!(refused > 60 && done - refused > 300, "{refused} of {done}");
}

/// A parent of 20,000 keys, of which one comes late, and a child.
fn many() -> Connection {
    let c = memory();
    rows(
        &c,
        "create table p (a integer, b text, primary key (b, a));
         create table c (id integer, a integer, b text, foreign key (b, a) references p);
         insert into p select n, 'k' || n % 7 from generate_series(1, 20000) x(n)",
    );
    c
}

#[test]
fn many_rows_are_checked_whichever_way_they_come() {
    let c = many();
    let insert = |last: &str| {
        format!(
            "insert into c select n, case n when 24999 then {last} else 1 + n % 20000 end, \
             'k' || (1 + n % 20000) % 7 from generate_series(1, 25000) x(n)"
        )
    };
    let refused = c.execute(&insert("20001")).unwrap_err();
    assert_eq!(refused.state(), SqlState::FOREIGN_KEY_VIOLATION);
    assert_eq!(
        refused.detail(),
        Some("Key (b, a)=(k2, 20001) is not present in table \"p\".")
    );
    assert_eq!(
        (refused.table(), refused.constraint()),
        (Some("c"), Some("c_b_a_fkey"))
    );
    assert_eq!(rows(&c, "select count(*) from c"), "0");
    assert_eq!(rows(&c, &insert("null")), "INSERT 25000");
    // Few rows beside many.
    assert_eq!(
        state(&c, "insert into c values (1, 1, 'k2')"),
        SqlState::FOREIGN_KEY_VIOLATION
    );
    assert_eq!(
        state(&c, "update c set a = a + 1 where id = 20000"),
        SqlState::FOREIGN_KEY_VIOLATION
    );
    // Rows that an Appender brings are checked when it finishes.
    let batch = |key: i32| {
        let Outcome::Rows(found) = c.execute(&format!("select 1, {key}, 'k1'")).unwrap().outcome else {
            panic!("a query returns rows");
        };
        found.batches()[0].clone()
    };
    let mut appender = c.appender("c").unwrap();
    appender.append(batch(1)).unwrap();
    appender.append(batch(2)).unwrap();
    let refused = appender.finish().unwrap_err();
    assert_eq!(
        refused.detail(),
        Some("Key (b, a)=(k1, 2) is not present in table \"p\".")
    );
    let mut appender = c.appender("c").unwrap();
    appender.append(batch(1)).unwrap();
    assert_eq!(appender.finish().unwrap(), 1);
    assert_eq!(rows(&c, "select count(*) from c where id = 1"), "2");
    // All keys are referred to, but for those that no child has.
    let refused = c.execute("delete from p").unwrap_err();
    assert_eq!(
        refused.message(),
        "update or delete on table \"p\" violates foreign key constraint \"c_b_a_fkey\" on table \"c\""
    );
    let detail = refused.detail().unwrap();
    assert!(
        detail.starts_with("Key (b, a)=(k") && detail.ends_with(" is still referenced from table \"c\".")
    );
    assert_eq!(rows(&c, "select count(*) from p"), "20000");
    assert_eq!(
        state(&c, "alter table c add foreign key (id) references c (a)"),
        SqlState::INVALID_FOREIGN_KEY
    );
}

#[test]
fn a_cascade_through_a_hundred_levels_ends_at_the_last() {
    let c = memory();
    rows(
        &c,
        "create table t0 (id integer primary key); insert into t0 values (1), (2)",
    );
    for level in 1..=100 {
        let above = level - 1;
        rows(
            &c,
            &format!(
                "create table t{level} (id integer primary key references t{above} on delete cascade on update cascade);
                 insert into t{level} values (1), (2)"
            ),
        );
    }
    rows(&c, "update t0 set id = 3 where id = 1");
    assert_eq!(rows(&c, "select * from t100 order by id"), "2\n3");
    rows(&c, "delete from t0 where id = 2");
    assert_eq!(rows(&c, "select * from t100"), "3");
    assert_eq!(rows(&c, "select * from t50"), "3");
    rows(&c, "create table last (id integer references t100)");
    rows(&c, "insert into last values (3)");
    assert_eq!(state(&c, "delete from t0"), SqlState::FOREIGN_KEY_VIOLATION);
    assert_eq!(rows(&c, "select * from t1"), "3");
}

#[test]
fn a_definition_says_what_was_written() {
    let c = many();
    rows(
        &c,
        "alter table c add constraint \"Second\" foreign key (b, a) references p (b, a) match full
         on delete set null (a) on update cascade not valid",
    );
    let table = c.table("c").unwrap();
    assert_eq!(
        table.ddl(),
        "create table c (\n  id integer,\n  a integer,\n  b text\n);\n\
         alter table c add constraint c_b_a_fkey FOREIGN KEY (b, a) REFERENCES p(b, a);\n\
         alter table c add constraint \"Second\" FOREIGN KEY (b, a) REFERENCES p(b, a) MATCH FULL \
         ON UPDATE CASCADE ON DELETE SET NULL (a) NOT VALID;"
    );
}
