//! Queries of TPC-H over the wide table: their predicates, and what they read of the rows that match. Queries that need
//! LIKE, or another row of a table, are left out.

/// A query.
#[derive(Debug)]
pub struct Query {
    number: usize,
    predicate: &'static str,
    /// Items of the SELECT list.
    items: &'static str,
    /// Columns that it groups by; empty if there are none.
    groups: &'static str,
}

const REVENUE: &str = "sum(l_extendedprice * (1 - l_discount))";

/// Numbers of queries.
pub const fn numbers<const N: usize>(queries: &[Query; N]) -> [usize; N] {
    let mut numbers = [0; N];
    let mut i = 0;
    while i < N {
        numbers[i] = queries[i].number;
        i += 1;
    }
    numbers
}

/// A query with its number, its predicate, what it reads and what it groups by.
pub const fn query(
    number: usize,
    predicate: &'static str,
    items: &'static str,
    groups: &'static str,
) -> Query {
    Query {
        number,
        predicate,
        items,
        groups,
    }
}

/// The queries of TPC-H; `REVENUE` stands for the sum of discounted prices.
pub const QUERIES: [Query; 15] = [
    query(
        1,
        "l_shipdate <= date '1998-09-02'",
        "l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), REVENUE, \
         sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_discount), count(*)",
        "l_returnflag, l_linestatus",
    ),
    query(
        3,
        "c_mktsegment = 'BUILDING' and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'",
        "sum(l_orderkey), REVENUE, max(o_orderdate), sum(o_shippriority)",
        "",
    ),
    query(
        4,
        "o_orderdate >= date '1993-07-01' and o_orderdate < date '1993-10-01' and l_commitdate < l_receiptdate",
        "o_orderpriority, count(*)",
        "o_orderpriority",
    ),
    query(
        5,
        "c_region = 'ASIA' and s_region = 'ASIA' and o_orderdate >= date '1994-01-01' \
         and o_orderdate < date '1995-01-01'",
        "s_nation, REVENUE",
        "s_nation",
    ),
    query(
        6,
        "l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 \
         and l_quantity < 24",
        "sum(l_extendedprice * l_discount)",
        "",
    ),
    query(
        7,
        "s_nation = 'FRANCE' and c_nation = 'GERMANY' and l_shipdate between date '1995-01-01' and date '1996-12-31'",
        "extract(year from l_shipdate), REVENUE",
        "extract(year from l_shipdate)",
    ),
    query(
        8,
        "c_region = 'AMERICA' and o_orderdate between date '1995-01-01' and date '1996-12-31' \
         and p_type = 'ECONOMY ANODIZED STEEL'",
        "s_nation, REVENUE",
        "s_nation",
    ),
    query(
        10,
        "o_orderdate >= date '1993-10-01' and o_orderdate < date '1994-01-01' and l_returnflag = 'R'",
        "sum(o_custkey), REVENUE, max(c_acctbal), max(c_nation)",
        "",
    ),
    query(
        11,
        "s_nation = 'GERMANY'",
        "sum(l_partkey), sum(ps_supplycost * ps_availqty)",
        "",
    ),
    query(
        12,
        "l_shipmode in ('MAIL', 'SHIP') and l_commitdate < l_receiptdate and l_shipdate < l_commitdate \
         and l_receiptdate >= date '1994-01-01' and l_receiptdate < date '1995-01-01'",
        "l_shipmode, max(o_orderpriority), count(*)",
        "l_shipmode",
    ),
    query(
        14,
        "l_shipdate >= date '1995-09-01' and l_shipdate < date '1995-10-01'",
        "REVENUE, max(p_type)",
        "",
    ),
    query(
        15,
        "l_shipdate >= date '1996-01-01' and l_shipdate < date '1996-04-01'",
        "sum(l_suppkey), REVENUE",
        "",
    ),
    query(
        17,
        "p_brand = 'Brand#23' and p_container = 'MED BOX'",
        "sum(l_extendedprice), avg(l_quantity)",
        "",
    ),
    query(
        19,
        "l_shipmode in ('AIR', 'REG AIR') and l_shipinstruct = 'DELIVER IN PERSON' and (p_brand = 'Brand#12' \
         and p_size between 1 and 5 and l_quantity between 1 and 11 or p_brand = 'Brand#23' \
         and p_size between 1 and 10 and l_quantity between 10 and 20 \
         or p_brand = 'Brand#34' and p_size between 1 and 15 \
         and l_quantity between 20 and 30)",
        "REVENUE",
        "",
    ),
    query(
        20,
        "l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' and s_nation = 'CANADA'",
        "sum(l_quantity), sum(ps_availqty), max(s_acctbal)",
        "",
    ),
];

impl Query {
    /// The query that counts the rows of a table that match.
    pub fn selection(&self, table: &str) -> String {
        format!("select count(*) from {table} where {}", self.predicate)
    }

    /// The whole query over a table.
    pub fn whole(&self, table: &str) -> String {
        let items = self.items.replace("REVENUE", REVENUE);
        let groups = match self.groups {
            "" => String::new(),
            groups => format!(" group by {groups}"),
        };
        format!("select {items} from {table} where {}{groups}", self.predicate)
    }
}

/// The query of a number.
pub fn of_number(queries: &'static [Query], number: usize) -> &'static Query {
    let found = queries.iter().find(|query| query.number == number);
    found.expect("the experiment asks for queries of its list")
}
