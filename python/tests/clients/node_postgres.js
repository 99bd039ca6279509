// node-postgres, with its cursors and its streams of COPY. Usage: node node_postgres.js PORT
const { Client, Pool } = require('pg');
const Cursor = require('pg-cursor');
const copy = require('pg-copy-streams');
const { pipeline } = require('stream/promises');
const { Readable } = require('stream');
const assert = require('assert');
const { step, failed } = require('./steps.js');
(async () => {
  const where = { host: '127.0.0.1', port: +process.argv[2], user: 'me', database: 'frazil' };
  const c = new Client(where);
  await c.connect();
  await step('ddl', () =>
    c.query('create table node (id serial primary key, v jsonb, t timestamptz, a int[], b bytea, n numeric)'),
  );
  await step('insert', async () => {
    const r = await c.query('insert into node (v, t, a, b, n) values ($1,$2,$3,$4,$5) returning *', [
      { x: 1 },
      new Date(0),
      [1, null, 2],
      Buffer.from('ab'),
      '1.50',
    ]);
    assert.deepEqual(r.rows[0].v, { x: 1 });
    assert.deepEqual(r.rows[0].a, [1, null, 2]);
    assert.equal(+r.rows[0].t, 0);
    assert.equal(r.rows[0].n, '1.50');
    assert.equal(r.rows[0].b.toString(), 'ab');
    assert.equal(r.command, 'INSERT');
    assert.equal(r.rowCount, 1);
  });
  await step('named', async () => {
    for (let i = 0; i < 3; i++) {
      const r = await c.query({ name: 'q', text: 'select $1::int + 1 as x', values: [i] });
      assert.equal(r.rows[0].x, i + 1);
    }
  });
  await step('array mode', async () => {
    const r = await c.query({ text: 'select 1, 2', rowMode: 'array' });
    assert.deepEqual(r.rows, [[1, 2]]);
  });
  await step('multi', async () => {
    const r = await c.query('select 1 as a; select 2 as b');
    assert.equal(r.length, 2);
  });
  await step('cursor', async () => {
    const cur = c.query(new Cursor('select * from generate_series(1, $1::int) g', [250]));
    let n = 0;
    for (;;) {
      const rows = await cur.read(100);
      if (!rows.length) break;
      n += rows.length;
    }
    assert.equal(n, 250);
    await cur.close();
  });
  await step('cursor close early', async () => {
    const cur = c.query(new Cursor('select * from generate_series(1, 1000) g'));
    await cur.read(10);
    await cur.close();
  });
  await step('copy in', async () => {
    await pipeline(Readable.from(['9\t{"a":1}\n10\t\\N\n']), c.query(copy.from('copy node (id, v) from stdin')));
  });
  await step('copy out', async () => {
    let s = '';
    for await (const d of c.query(copy.to('copy (select id from node order by id) to stdout'))) s += d;
    assert.equal(s, '1\n9\n10\n');
  });
  await step('error', async () => {
    await assert.rejects(
      c.query('insert into node (id) values ($1)', [1]),
      (e) => e.code === '23505' && e.constraint === 'node_pkey' && e.table === 'node',
    );
  });
  await step('transaction', async () => {
    await c.query('begin');
    await c.query('delete from node');
    await assert.rejects(c.query('select 1/0'));
    await assert.rejects(c.query('select 1'), (e) => e.code === '25P02');
    await c.query('rollback');
    assert.equal((await c.query('select count(*)::int as n from node')).rows[0].n, 3);
  });
  await step('notify', async () => {
    const got = new Promise((r) => c.on('notification', r));
    await c.query('listen ch');
    await c.query("select pg_notify('ch','x')");
    assert.equal((await got).payload, 'x');
  });
  await step('notice', async () => {
    const got = new Promise((r) => c.on('notice', r));
    await c.query('drop table if exists nothing');
    assert.match((await got).message, /does not exist/);
  });
  await step('pool', async () => {
    const p = new Pool({ ...where, max: 4 });
    const r = await Promise.all([...Array(20)].map((_, i) => p.query('select $1::int as i', [i])));
    assert.deepEqual(
      r.map((x) => x.rows[0].i),
      [...Array(20).keys()],
    );
    await p.end();
  });
  await step('timeout', async () => {
    const d = new Client({ ...where, statement_timeout: 100, application_name: 'node', lock_timeout: 1000 });
    await d.connect();
    await assert.rejects(
      d.query('select count(*) from generate_series(1,100000000000) g'),
      (e) => e.code === '57014',
    );
    await d.end();
  });
  await step('types', async () => {
    const r = await c.query(
      "select 'a'::char(3) c, 1.5::float8 f, true b, '1 day 02:00'::interval i, '{a,b}'::text[] t, 9007199254740993::int8 l, '2020-01-02'::date d, null n, gen_random_uuid() u",
    );
    assert.deepEqual(r.rows[0].t, ['a', 'b']);
    assert.equal(r.rows[0].l, '9007199254740993');
    assert.equal(r.rows[0].i.days, 1);
  });
  await c.end();
  process.exit(failed());
})();
