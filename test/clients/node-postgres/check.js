// What node-postgres asks of a server. DATABASE_URL says where it is; exit 0 if everything is as it must be.
"use strict";
const assert = require("node:assert");
const { pipeline } = require("node:stream/promises");
const { Readable } = require("node:stream");
const pg = require("pg");
const copy = require("pg-copy-streams");
const Cursor = require("pg-cursor");

const connectionString = process.env.DATABASE_URL;

async function rejects(promise, code) {
  await assert.rejects(promise, (error) => error.code === code || assert.fail(`${error.code}, not ${code}: ${error}`));
}

const checks = {
  async types(client) {
    const at = new Date("2024-03-31T01:30:00.123Z");
    for (const [type, value, expected = value] of [
      ["bool", true],
      ["int2", -7],
      ["int4", 123456],
      ["int8", "-1152921504606846976"],
      ["float4", 0.5],
      ["float8", 1e-300],
      ["numeric", "-12345678901234567890.000123"],
      ["text", "Grüße, 'quoted' \\ and \t tab"],
      ["bytea", Buffer.from([0, 1, 92, 255])],
      ["timestamptz", at],
      ["uuid", "6f1ed002-ab59-5df0-8d1e-6b0c8f0d2e10"],
      ["inet", "192.168.7.1/24"],
      ["jsonb", { a: [1, null, "ü"] }],
      ["json", [true], [true]],
      ["int4[]", [1, null, -3]],
      ["text[]", ["a", "b,c", '"q"', null]],
      ["date", "2024-02-29", new Date(2024, 1, 29)],
      ["time", "23:59:59.999999"],
    ]) {
      const sent = type === "json" ? JSON.stringify(value) : value;
      const { rows } = await client.query(`select $1::${type} as v, null::${type} as n`, [sent]);
      assert.deepStrictEqual(rows, [{ v: expected, n: null }], type);
    }
    // Rows in binary form.
    const { rows } = await client.query({ text: "select 7::int4 as a, 'x'::text as b", binary: true });
    assert.deepStrictEqual(rows, [{ a: 7, b: "x" }]);
  },

  async prepared(client) {
    for (let n = 0; n < 5; n++) {
      const { rows, fields } = await client.query({ name: "sum", text: "select $1::int + $2::int as s", values: [n, 1] });
      assert.deepStrictEqual(rows, [{ s: n + 1 }]);
      assert.strictEqual(fields[0].dataTypeID, 23);
    }
    await client.query("insert into t select g, 'v' || g from generate_series(1, 100) g");
    const cursor = client.query(new Cursor("select id from t order by id"));
    assert.deepStrictEqual((await cursor.read(2)).map((row) => row.id), [1, 2]);
    assert.deepStrictEqual((await cursor.read(1000)).length, 98);
    await cursor.close();
  },

  async transactions(client) {
    await client.query("begin");
    await client.query("delete from t where id > 1");
    await client.query("savepoint s");
    await rejects(client.query("insert into t values (1, 'twice')"), "23505");
    await rejects(client.query("select 1"), "25P02");
    await client.query("rollback to s");
    const { rowCount } = await client.query("insert into t values (2, 'two') returning id");
    assert.strictEqual(rowCount, 1);
    await client.query("commit");
    const { rows } = await client.query("select count(*)::int as n from t");
    assert.deepStrictEqual(rows, [{ n: 2 }]);
  },

  async failures(client) {
    for (const [statement, code] of [
      ["select 1/0", "22012"],
      ["select * from nowhere", "42P01"],
      ["selec", "42601"],
      ["select 'x'::int", "22P02"],
      ["insert into t values (null)", "23502"],
    ]) {
      await rejects(client.query(statement), code);
      await rejects(client.query(statement + " --", []), code);
    }
  },

  async copying(client) {
    const lines = Array.from({ length: 1000 }, (_, n) => `${n + 1000}\t${n % 10 ? "row " + n : "\\N"}\n`);
    await pipeline(Readable.from(lines), client.query(copy.from("copy t from stdin")));
    let text = "";
    for await (const part of client.query(copy.to("copy (select * from t where id between 1000 and 1001 order by id) to stdout"))) {
      text += part;
    }
    assert.strictEqual(text, "1000\t\\N\n1001\trow 1\n");
  },

  async many(client) {
    const pool = new pg.Pool({ connectionString, max: 8 });
    const answers = await Promise.all(Array.from({ length: 100 }, () => pool.query("select pg_backend_pid() as pid")));
    assert.ok(new Set(answers.map((r) => r.rows[0].pid)).size > 1);
    await pool.end();
  },

  async cancelling(client) {
    const { rows: [{ pid }] } = await client.query("select pg_backend_pid() as pid");
    const other = new pg.Client({ connectionString });
    await other.connect();
    const sleeping = rejects(client.query("select pg_sleep(60)"), "57014");
    let cancelled = false;
    while (!cancelled) {
      const { rows } = await other.query(
        "select pg_cancel_backend(pid) as ok from pg_stat_activity where pid = $1 and query like '%pg_sleep%' and state = 'active'", [pid]);
      cancelled = rows.length === 1 && rows[0].ok;
    }
    await sleeping;
    await other.end();
    const slow = new pg.Client({ connectionString, statement_timeout: 50 });
    await slow.connect();
    await rejects(slow.query("select pg_sleep(60)"), "57014");
    await slow.end();
  },
};

async function main() {
  const client = new pg.Client({ connectionString, application_name: "node check" });
  await client.connect();
  await client.query("create table t (id int primary key, v text)");
  for (const [name, check] of Object.entries(checks)) {
    await check(client);
    console.log(name, "ok");
  }
  await client.query("drop table t");
  await client.end();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
