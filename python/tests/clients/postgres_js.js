// postgres.js. Usage: node postgres_js.js PORT
const postgres = require('postgres');
const assert = require('assert');
const { pipeline } = require('stream/promises');
const { Readable } = require('stream');
const { step, failed } = require('./steps.js');
(async () => {
  const sql = postgres({
    host: '127.0.0.1',
    port: +process.argv[2],
    user: 'me',
    database: 'frazil',
    onnotice: () => {},
    max: 4,
  });
  await step(
    'ddl',
    () => sql`create table postgresjs (id serial primary key, name text, v jsonb, a int[], t timestamptz)`,
  );
  await step('insert many', async () => {
    const r = await sql`insert into postgresjs ${sql(
      [
        { name: 'a', v: { x: 1 } },
        { name: 'b', v: null },
      ],
      'name',
      'v',
    )} returning id`;
    assert.deepEqual([...r], [{ id: 1 }, { id: 2 }]);
  });
  await step('array', async () => {
    const [r] = await sql`insert into postgresjs (a, t) values (${[1, 2, 3]}, ${new Date(5000)}) returning a, t`;
    assert.deepEqual(r.a, [1, 2, 3]);
    assert.equal(+r.t, 5000);
  });
  await step('sql.array', async () => {
    const [r] = await sql`select ${sql.array(['x', 'y'])}::text[] as t, ${sql.array([1, 2])} as n`;
    assert.deepEqual(r.t, ['x', 'y']);
  });
  await step('json', async () => {
    const [r] = await sql`select ${sql.json({ a: [1] })} as j`;
    assert.deepEqual(r.j, { a: [1] });
  });
  await step('update', async () => {
    const r = await sql`update postgresjs set ${sql({ name: 'z' })} where id = ${1}`;
    assert.equal(r.count, 1);
  });
  await step('in', async () => {
    const r = await sql`select id from postgresjs where id in ${sql([1, 2])} order by id`;
    assert.equal(r.length, 2);
  });
  await step('cursor', async () => {
    let n = 0;
    await sql`select * from generate_series(1,25) g`.cursor(10, (rows) => {
      n += rows.length;
    });
    assert.equal(n, 25);
  });
  await step('cursor iterator', async () => {
    let n = 0;
    for await (const rows of sql`select * from generate_series(1,25) g`.cursor(10)) {
      n += rows.length;
      if (n == 20) break;
    }
    assert.equal(n, 20);
  });
  await step('forEach', async () => {
    let n = 0;
    await sql`select * from generate_series(1,25) g`.forEach(() => n++);
    assert.equal(n, 25);
  });
  await step('describe', async () => {
    const d = await sql`select id, name from postgresjs where id = ${1}`.describe();
    assert.equal(d.columns.length, 2);
    assert.deepEqual(d.types, [23]);
  });
  await step('values raw simple', async () => {
    assert.deepEqual([...(await sql`select 1, 2`.values())], [[1, 2]]);
    await sql`select 1`.raw();
    assert.equal((await sql`select 1 as a; select 2 as a`.simple()).length, 2);
  });
  await step('begin', async () => {
    await sql.begin(async (t) => {
      await t`insert into postgresjs (name) values ('q')`;
      await t
        .savepoint(async (s) => {
          await s`select 1/0`;
        })
        .catch(() => {});
    });
    assert.equal((await sql`select count(*)::int n from postgresjs where name='q'`)[0].n, 1);
  });
  await step('begin read only pipelined', async () => {
    const r = await sql.begin('read only', (t) => [t`select 1 as x`, t`select 2 as x`]);
    assert.equal(r[1][0].x, 2);
  });
  await step('copy in', async () => {
    const w = await sql`copy postgresjs (id, name) from stdin`.writable();
    await pipeline(Readable.from(['100\tx\n101\ty\n']), w);
  });
  await step('copy out', async () => {
    const r = await sql`copy (select id from postgresjs where id >= 100 order by id) to stdout`.readable();
    let s = '';
    for await (const d of r) s += d;
    assert.equal(s, '100\n101\n');
  });
  await step('listen', async () => {
    let got;
    const p = new Promise((r) => (got = r));
    const l = await sql.listen('news', got);
    await sql.notify('news', 'hi');
    assert.equal(await p, 'hi');
    await l.unlisten();
  });
  await step('error', async () => {
    await assert.rejects(
      sql`insert into postgresjs (id) values (100)`,
      (e) => e.code === '23505' && e.constraint_name === 'postgresjs_pkey',
    );
  });
  await step('cancel', async () => {
    const q = sql`select count(*) from generate_series(1,100000000000) g`;
    setTimeout(() => q.cancel(), 200);
    await assert.rejects(q, (e) => e.code === '57014');
  });
  await step('reserve', async () => {
    const r = await sql.reserve();
    await r`select 1`;
    r.release();
  });
  await step('bigint', async () => {
    const [r] = await sql`select 9007199254740993::int8 as l, ${'12'}::int8 as m`;
    assert.equal(r.l, '9007199254740993');
  });
  await sql.end({ timeout: 5 });
  process.exit(failed());
})();
