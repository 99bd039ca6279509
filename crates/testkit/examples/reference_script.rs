//! Prints the statements of [`frazil_testkit::reference_model`] with what they must do, one JSON object a line, for
//! another database to judge the model itself: `cargo run -p frazil-testkit --example reference_script FIRST LAST`.

use frazil_testkit::reference_model::{Model, generate};

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|a| a.parse::<u64>().expect("a seed"));
    let first = numbers.next().unwrap_or(1);
    let last = numbers.next().unwrap_or(first);
    let mut seen = std::collections::BTreeMap::new();
    for seed in first..=last {
        let case = generate(seed, 60);
        println!("{{\"seed\":{seed},\"setup\":{:?}}}", case.setup());
        let mut model = Model::new(case.world.clone());
        for statement in &case.statements {
            let sql = statement.sql(&model.world).expect("it was made for this state");
            let prediction = model.predict(statement).expect("it was predicted before");
            model = prediction.model;
            let tables = model.world.shown();
            let contents: Vec<String> = tables
                .iter()
                .map(|(t, (_, rows))| format!("{t:?}:{rows:?}"))
                .collect();
            let (errors, failed) = (prediction.errors.iter().collect::<Vec<_>>(), model.is_failed());
            let contents = contents.join(",");
            println!(
                "{{\"sql\":{sql:?},\"errors\":{errors:?},\"failed\":{failed},\"contents\":{{{contents}}}}}"
            );
        }
        for (what, n) in model.seen {
            *seen.entry(what).or_insert(0) += n;
        }
    }
    eprintln!("{seen:#?}");
}
