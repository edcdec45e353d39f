// Knex: migrations, its query builder, batches, transactions, and what it reads of the catalogs.
const assert = require('node:assert/strict')
const fs = require('node:fs')

const root = process.env.PGSSLROOTCERT
const connection = {
  host: process.env.PGHOST, port: +process.env.PGPORT, user: process.env.PGUSER, password: process.env.PGPASSWORD, database: process.env.PGDATABASE,
  ssl: root ? { ca: fs.readFileSync(root), checkServerIdentity: () => undefined } : false,
}
const migrations = {
  first: {
    up: async knex => {
      await knex.schema.createTable('owner', t => { t.increments('id'); t.string('name', 50).notNullable().unique(); t.timestamps(true, true) })
      await knex.schema.createTable('pet', t => {
        t.uuid('id').primary().defaultTo(knex.raw('gen_random_uuid()'))
        t.integer('owner_id').unsigned().notNullable().references('owner.id').onDelete('CASCADE').index()
        t.text('name').comment('what it hears to')
        t.decimal('weight', 6, 2).checkPositive()
        t.enu('kind', ['cat', 'dog'], { useNative: true, enumName: 'pet_kind' })
        t.jsonb('data'); t.specificType('tags', 'text[]'); t.binary('photo')
      })
    },
    down: async knex => { await knex.schema.dropTable('pet'); await knex.schema.dropTable('owner'); await knex.raw('drop type pet_kind') },
  },
  second: {
    up: knex => knex.schema.alterTable('pet', t => { t.date('born'); t.text('name').notNullable().alter(); t.renameColumn('photo', 'picture'); t.index(['name', 'born'], 'pet_name_born') }),
    down: knex => knex.schema.alterTable('pet', t => { t.dropIndex([], 'pet_name_born'); t.renameColumn('picture', 'photo'); t.setNullable('name'); t.dropColumn('born') }),
  },
}
const migrationSource = { getMigrations: async () => Object.keys(migrations), getMigrationName: name => name, getMigration: async name => migrations[name] }
const knex = require('knex')({ client: 'pg', connection, migrations: { migrationSource }, pool: { min: 1, max: 4 } })

async function main() {
  await knex.raw('drop table if exists pet, owner, knex_migrations, knex_migrations_lock cascade; drop type if exists pet_kind')
  await knex.migrate.latest()
  await knex.migrate.rollback(undefined, true)
  await knex.migrate.latest()
  assert.equal((await knex.migrate.list())[0].length, 2)
  const owners = await knex('owner').insert([{ name: 'ann' }, { name: 'bob' }]).returning(['id', 'created_at'])
  assert.ok(owners[0].created_at instanceof Date)
  await knex.batchInsert('pet', Array.from({ length: 90 }, (_, n) => ({
    owner_id: owners[n % 2].id, name: `pet ${n}`, weight: n + 0.5, kind: n % 3 ? 'cat' : 'dog', data: { n, x: [null] }, tags: ['t', `${n}`], picture: Buffer.from([n]), born: '2020-02-29',
  })), 30)
  const sums = await knex('pet').join('owner', 'owner.id', 'pet.owner_id').select('owner.name').count('* as n').sum('weight as w').groupBy('owner.name').orderBy('owner.name')
  assert.deepEqual(sums.map(r => [r.name, r.n, r.w]), [['ann', '45', '2002.50'], ['bob', '45', '2047.50']])
  assert.deepEqual(await knex('pet').whereRaw('tags @> ?', [['7']]).whereJsonPath('data', '$.n', '=', 7).pluck('name'), ['pet 7'])
  await assert.rejects(knex('owner').insert({ name: 'ann' }), e => e.code === '23505' && e.constraint === 'owner_name_unique')
  await knex('owner').insert({ name: 'ann' }).onConflict('name').merge({ updated_at: knex.fn.now() })
  await assert.rejects(knex.transaction(async trx => {
    await trx('pet').where('kind', 'dog').del()
    const inner = await trx.transaction()
    await inner('owner').insert({ name: 'gone' })
    await inner.rollback()
    await trx('pet').insert({ owner_id: owners[0].id, name: 'x', weight: -1 })
  }), e => e.code === '23514')
  assert.equal((await knex('pet').count('* as n'))[0].n, '90')
  const locked = await knex.transaction(trx => trx('pet').where('kind', 'dog').forUpdate().skipLocked().select('id'))
  assert.equal(locked.length, 30)
  assert.equal(await knex.schema.hasTable('pet'), true)
  assert.equal(await knex.schema.hasColumn('pet', 'picture'), true)
  const info = await knex('pet').columnInfo()
  assert.deepEqual([info.owner_id.type, info.name.nullable, info.kind.type], ['integer', false, 'USER-DEFINED'])
  let streamed = 0
  for await (const row of knex('pet').select('id').stream()) streamed += row.id ? 1 : 0
  assert.equal(streamed, 90)
  await knex.migrate.rollback(undefined, true)
  await knex.raw('drop table knex_migrations, knex_migrations_lock')
  await knex.destroy()
}
main().catch(error => { console.error(error); process.exit(1) })
