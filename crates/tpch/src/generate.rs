//! The data, in batches of a chunk's rows.

use crate::Table;
use crate::row_writer::RowWriter;
use frazil_types::{CHUNK_ROWS, RowBatch, Schema};
use tpchgen::generators::*;

/// Batches of a table's rows, all but the last of 65,536.
pub struct Batches(Box<dyn FnMut() -> Option<RowBatch> + Send>);

impl Iterator for Batches {
    type Item = RowBatch;

    fn next(&mut self) -> Option<RowBatch> {
        (self.0)()
    }
}

fn batches<I>(schema: Schema, mut rows: I, write: fn(&mut RowWriter, I::Item)) -> Batches
where
    I: Iterator + Send + 'static,
{
    Batches(Box::new(move || {
        let mut writer = None;
        let mut count = 0;
        while count < CHUNK_ROWS
            && let Some(row) = rows.next()
        {
            let writer = writer.get_or_insert_with(|| RowWriter::new(&schema, CHUNK_ROWS));
            write(writer, row);
            count += 1;
        }
        Some(writer?.finish(count))
    }))
}

/// Rows of a table at a scale factor: part `part` (from 1) of `parts`, which together are the table.
/// Region and nation come whole with part 1.
pub fn generate(table: Table, scale_factor: f64, part: usize, parts: usize) -> Batches {
    let schema = table.schema();
    let (s, p, n) = (scale_factor, part as i32, parts as i32);
    match table {
        Table::Region | Table::Nation if part > 1 => Batches(Box::new(|| None)),
        Table::Region => batches(schema, RegionGenerator::new(s, 1, 1).iter(), region),
        Table::Nation => batches(schema, NationGenerator::new(s, 1, 1).iter(), nation),
        Table::Supplier => batches(schema, SupplierGenerator::new(s, p, n).iter(), supplier),
        Table::Customer => batches(schema, CustomerGenerator::new(s, p, n).iter(), customer),
        Table::Part => batches(schema, PartGenerator::new(s, p, n).iter(), part_row),
        Table::Partsupp => batches(schema, PartSuppGenerator::new(s, p, n).iter(), partsupp),
        Table::Orders => batches(schema, OrderGenerator::new(s, p, n).iter(), order),
        Table::Lineitem => batches(schema, LineItemGenerator::new(s, p, n).iter(), lineitem),
    }
}

fn region(w: &mut RowWriter, r: Region<'static>) {
    w.int(r.r_regionkey);
    w.text(r.r_name);
    w.text(r.r_comment);
}

fn nation(w: &mut RowWriter, r: Nation<'static>) {
    w.int(r.n_nationkey);
    w.text(r.n_name);
    w.int(r.n_regionkey);
    w.text(r.n_comment);
}

fn supplier(w: &mut RowWriter, r: Supplier) {
    w.int(r.s_suppkey);
    w.display(&r.s_name);
    w.display(&r.s_address);
    w.int(r.s_nationkey);
    w.display(&r.s_phone);
    w.int(r.s_acctbal.into_inner());
    w.text(&r.s_comment);
}

fn customer(w: &mut RowWriter, r: Customer<'static>) {
    w.int(r.c_custkey);
    w.display(&r.c_name);
    w.display(&r.c_address);
    w.int(r.c_nationkey);
    w.display(&r.c_phone);
    w.int(r.c_acctbal.into_inner());
    w.text(r.c_mktsegment);
    w.text(r.c_comment);
}

fn part_row(w: &mut RowWriter, r: Part<'static>) {
    w.int(r.p_partkey);
    w.display(&r.p_name);
    w.display(&r.p_mfgr);
    w.display(&r.p_brand);
    w.text(r.p_type);
    w.int(r.p_size.into());
    w.text(r.p_container);
    w.int(r.p_retailprice.into_inner());
    w.text(r.p_comment);
}

fn partsupp(w: &mut RowWriter, r: PartSupp<'static>) {
    w.int(r.ps_partkey);
    w.int(r.ps_suppkey);
    w.int(r.ps_availqty.into());
    w.int(r.ps_supplycost.into_inner());
    w.text(r.ps_comment);
}

fn order(w: &mut RowWriter, r: Order<'static>) {
    w.int(r.o_orderkey);
    w.int(r.o_custkey);
    w.text(r.o_orderstatus.as_str());
    w.int(r.o_totalprice.into_inner());
    w.int(r.o_orderdate.to_unix_epoch().into());
    w.text(r.o_orderpriority);
    w.display(&r.o_clerk);
    w.int(r.o_shippriority.into());
    w.text(r.o_comment);
}

fn lineitem(w: &mut RowWriter, r: LineItem<'static>) {
    w.int(r.l_orderkey);
    w.int(r.l_partkey);
    w.int(r.l_suppkey);
    w.int(r.l_linenumber.into());
    w.int(r.l_quantity * 100);
    w.int(r.l_extendedprice.into_inner());
    w.int(r.l_discount.into_inner());
    w.int(r.l_tax.into_inner());
    w.text(r.l_returnflag);
    w.text(r.l_linestatus);
    w.int(r.l_shipdate.to_unix_epoch().into());
    w.int(r.l_commitdate.to_unix_epoch().into());
    w.int(r.l_receiptdate.to_unix_epoch().into());
    w.text(r.l_shipinstruct);
    w.text(r.l_shipmode);
    w.text(r.l_comment);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TABLES;
    use frazil_types::Value;

    #[test]
    fn parts_together_are_the_table() {
        for table in TABLES {
            let whole: usize = generate(table, 0.01, 1, 1).map(|b| b.rows).sum();
            let parts: usize = (1..=3)
                .flat_map(|p| generate(table, 0.01, p, 3))
                .map(|b| b.rows)
                .sum();
            assert_eq!(whole, parts, "{}", table.name());
            if table == Table::Lineitem {
                assert_eq!(whole, 60_175);
            } else {
                assert_eq!(whole as u64, table.rows(0.01), "{}", table.name());
            }
        }
    }

    #[test]
    fn the_first_lineitem_is_dbgens() {
        let batch = generate(Table::Lineitem, 0.01, 1, 1)
            .next()
            .expect("there are rows");
        let schema = Table::Lineitem.schema();
        let row: Vec<String> = (schema.columns.iter().zip(&batch.columns))
            .map(|(c, v)| {
                let value: Value = v.value(0);
                value.display(c.ty).to_string()
            })
            .collect();
        assert_eq!(
            row.join("|"),
            "1|1552|93|1|17.00|24710.35|0.04|0.02|N|O|1996-03-13|1996-02-12|1996-03-22|DELIVER IN PERSON|TRUCK|egular courts above the"
        );
    }
}
