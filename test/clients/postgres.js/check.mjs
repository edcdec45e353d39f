// What postgres.js asks of a server: it prepares every statement, pipelines, and fetches types.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import postgres from 'postgres'

const root = process.env.PGSSLROOTCERT
const ssl = root ? { ca: readFileSync(root), checkServerIdentity: () => undefined } : false
const notices = []
const sql = postgres({ ssl, max: 3, onnotice: notice => notices.push(notice.code) })

await sql`drop schema if exists app cascade`
await sql`create schema app`
await sql`create type app.mood as enum ('sad', 'happy')`
await sql`create table app.item (id int generated always as identity primary key, name text unique not null, tags text[], data jsonb,
          at timestamptz, price numeric(10, 2), raw bytea, feeling app.mood, days int[])`
assert.deepEqual(notices, ['00000'])

const at = new Date('2024-05-06T07:08:09.123Z')
const rows = Array.from({ length: 50 }, (_, n) =>
  ({ name: `n${n}`, tags: ['a', `b,${n}`], data: { n, deep: [null, 'ü'] }, at, price: '12.50', raw: Buffer.from([0, n, 255]), feeling: 'happy', days: [n, 2] }))
const inserted = await sql`insert into app.item ${sql(rows)} returning id, data, at, raw, days`
assert.equal(inserted.length, 50)
assert.deepEqual(inserted[7].data, { n: 7, deep: [null, 'ü'] })
assert.equal(inserted[7].at.getTime(), at.getTime())
assert.deepEqual([...inserted[7].raw], [0, 7, 255])
assert.deepEqual([...inserted[7].days], [7, 2])

assert.deepEqual((await sql`select name from app.item where tags @> ${['b,3']} and (data->>'n')::int = ${3}`).map(r => r.name), ['n3'])
assert.equal((await sql`select count(*)::int as n from app.item where id in ${sql([1, 2, 3])}`)[0].n, 3)
assert.deepEqual(await Promise.all(Array.from({ length: 60 }, (_, n) => sql`select ${n}::int as n`.then(r => r[0].n))), Array.from({ length: 60 }, (_, n) => n))

await assert.rejects(sql`insert into app.item (name) values ('n1')`, e => e.code === '23505' && e.constraint_name === 'item_name_key' && e.table_name === 'item')
await assert.rejects(sql`select 1/0`, e => e.code === '22012' && e.severity === 'ERROR')
await assert.rejects(sql.begin(async sql => {
  await sql`insert into app.item (name) values ('lost')`
  await sql.savepoint(async sql => { await sql`insert into app.item (name) values ('n1')` }).catch(() => {})
  await sql`insert into app.item (name) values ('lost too')`
  throw new Error('rolled back')
}), /rolled back/)
assert.equal((await sql`select count(*)::int as n from app.item`)[0].n, 50)

// A statement whose table has changed is prepared again, unseen.
const read = () => sql`select * from app.item where name = ${'n1'}`
await read(); await read()
await sql`alter table app.item add column added int default 7`
assert.equal((await read())[0].added, 7)

const batches = []
await sql`select id from app.item order by id`.cursor(20, rows => { batches.push(rows.length) })
assert.deepEqual(batches, [20, 20, 10])
const stream = await sql`copy app.item (name) from stdin`.writable()
await new Promise((done, fail) => { stream.on('finish', done); stream.on('error', fail); for (let n = 0; n < 500; n++) stream.write(`copied${n}\n`); stream.end() })
let text = ''
for await (const chunk of await sql`copy (select name from app.item where name like 'copied%' order by id limit 2) to stdout`.readable()) text += chunk
assert.equal(text, 'copied0\ncopied1\n')

const heard = new Promise(done => sql.listen('news', done).then(() => sql.notify('news', 'hello')))
assert.equal(await heard, 'hello')
const slow = sql`select pg_sleep(60)`
slow.execute()
setTimeout(() => slow.cancel(), 300)
await assert.rejects(slow, e => e.code === '57014')
const described = await sql`select id, name from app.item where id = ${1}`.describe()
assert.deepEqual([described.types, described.columns.map(c => c.type)], [[23], [23, 25]])
await sql`drop schema app cascade`
await sql.end()
