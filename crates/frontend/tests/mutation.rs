//! Mutated SQL texts: an answer or an error, never a panic.

mod support;

use frazil_frontend::{Limits, PlanSettings, bind, parse};
use frazil_testkit::Random;
use support::Tables;

const STATEMENTS: &[&str] = &[
    "create table n (a integer not null default 1, b decimal(10,2), c char(3) default 'x')",
    "insert into u (id, note) values (1, 'a'), (2, default)",
    "delete from t where a in (select id from u where note = w) or p",
    "copy t (a, b) from 'f.csv' (format csv, header true, delimiter '|', null '')",
    "explain analyze (stages) select a, sum(m) from t group by a having count(*) > 2 order by 2 desc limit 3",
    "freeze table t order by a",
    "set frazil.stages = 'relaxed'",
    "select case when a > 1 then m else b end, coalesce(s, 1), d + interval '1 month', lpad(w, 3), $1 from t",
    "with x as (select a from t) select * from x p full join x q on p.a = q.a where p.a is null union select id from u",
    "select (select max(price) from u where id = a), a not in (select id from u), f < 'Ra', c || v from t",
    "select distinct on (a) a, b from t natural join (select 1 as a, 2 as k) x, lateral (values (a, k)) y order by a, b desc",
    "select * exclude (b) from t x left join u on id = x.a and x.p is not distinct from true fetch first 2 rows only",
    "delete from t using u where (t.a, t.b) in ((1, 2), (3, id)) or t.a = any (select id from u) and count(*) filter (where p) > 1",
    "select trim(both 'x' from w), interval '1-2' year to month, a between symmetric $1 and 0b11 from t group by all limit $2",
    "insert into t (a, b) with q as (select id from u intersect select a from t) select q.*, 'x' 'y' from q order by 1 offset 1",
];

fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for c in text.chars() {
        let joins = c.is_alphanumeric() || c == '_';
        match out.last_mut() {
            Some(last) if joins && last.ends_with(|l: char| l.is_alphanumeric() || l == '_') => last.push(c),
            _ => out.push(c.to_string()),
        }
    }
    out
}

fn mutated(words: &[String], all: &[String], random: &mut Random) -> String {
    let mut out = words.to_vec();
    for _ in 0..=random.index(3) {
        let at = random.index(out.len());
        match random.index(5) {
            0 => {
                out.remove(at);
            }
            1 => out[at].clone_from(&all[random.index(all.len())]),
            2 => out.insert(at, all[random.index(all.len())].clone()),
            3 => {
                let other = random.index(out.len());
                out.swap(at, other);
            }
            _ => out.truncate(at.max(1)),
        }
        if out.is_empty() {
            break;
        }
    }
    out.concat()
}

#[test]
fn mutated_texts_never_panic() {
    let mut corpus: Vec<Vec<String>> = STATEMENTS.iter().map(|s| words(s)).collect();
    corpus.extend((1..=22).map(|n| words(&frazil_tpch::query(n, 1.0))));
    let all: Vec<String> = corpus.iter().flatten().cloned().collect();
    let tables = Tables::new();
    let rounds = std::env::var("FRAZIL_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(4_000);
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut bound = 0;
    for _ in 0..rounds {
        let text = mutated(&corpus[random.index(corpus.len())], &all, &mut random);
        let outcome = std::panic::catch_unwind(|| {
            parse(&text, &Limits::none()).map(|parsed| {
                let plans = parsed
                    .iter()
                    .map(|p| bind(p, &tables, &PlanSettings::default(), &[]));
                plans.filter(Result::is_ok).count()
            })
        });
        match outcome {
            Ok(Ok(n)) => bound += n,
            Ok(Err(e)) => assert_ne!(e.state().0, "XX000", "{text}\n{e}"),
            Err(_) => panic!("panic in: {text}"),
        }
    }
    assert!(bound > rounds / 20, "{bound} of {rounds} mutants were valid");
}
