// Short work by node-postgres or postgres.js, for a recording. Usage: node short.js pg|postgres PORT
const assert = require('assert');
const [name, port] = process.argv.slice(2);
const where = { host: '127.0.0.1', port: +port, user: 'me', database: 'frazil' };
const table = 'create table short (id integer primary key, name text, price numeric(10,2), at timestamp)';

async function nodePostgres() {
  const { Client } = require('pg');
  const Cursor = require('pg-cursor');
  const copy = require('pg-copy-streams');
  const { pipeline } = require('stream/promises');
  const { Readable } = require('stream');
  const c = new Client(where);
  await c.connect();
  await c.query(table);
  await c.query('insert into short (id, name, price) values ($1, $2, $3)', [1, 'one', '1.50']);
  await c.query({ name: 'by id', text: 'insert into short (id) values ($1) returning id', values: [2] });
  await c.query({ name: 'by id', text: 'insert into short (id) values ($1) returning id', values: [3] });
  assert.equal((await c.query('select * from short order by id')).rows.length, 3);
  await assert.rejects(c.query('select $1::integer / 0', [1]));
  await c.query('begin');
  await c.query('delete from short');
  await c.query('rollback');
  const cursor = c.query(new Cursor('select n from generate_series(1, $1::integer) as n', [5]));
  assert.equal((await cursor.read(3)).length, 3);
  await cursor.close();
  await pipeline(Readable.from(['7\tseven\n']), c.query(copy.from('copy short (id, name) from stdin')));
  c.query(copy.to('copy short to stdout')).resume();
  await c.query('listen short; notify short');
  await c.end();
}

async function postgresJs() {
  const sql = require('postgres')({ ...where, max: 1, onnotice: () => {} });
  await sql.unsafe(table);
  await sql`insert into short ${sql([{ id: 1, name: 'one' }, { id: 2, name: null }])}`;
  assert.equal((await sql`select * from short where id = any(${[1, 2]})`).length, 2);
  await assert.rejects(sql`select ${1}::integer / 0`);
  await assert.rejects(
    sql.begin(async (inner) => {
      await inner`delete from short`;
      throw new Error('undone');
    }),
  );
  await sql`select n from generate_series(1, 5) as n`.cursor(2, () => {});
  await sql.end();
}

({ pg: nodePostgres, postgres: postgresJs })[name]().catch((error) => {
  console.error(error);
  process.exit(1);
});
