// Drizzle: migrations from a folder, its typed query builder and relational queries, over node-postgres.
import assert from 'node:assert/strict'
import { mkdtempSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { and, arrayContains, desc, eq, relations, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { integer, jsonb, numeric, pgEnum, pgTable, serial, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import pg from 'pg'

const kind = pgEnum('dz_kind', ['small', 'large'])
const users = pgTable('dz_users', { id: serial('id').primaryKey(), name: text('name').notNull().unique(), at: timestamp('at', { withTimezone: true }).defaultNow().notNull() })
const orders = pgTable('dz_orders', {
  id: uuid('id').primaryKey().defaultRandom(), userId: integer('user_id').notNull().references(() => users.id, { onDelete: 'cascade' }),
  total: numeric('total', { precision: 10, scale: 2 }), tags: text('tags').array(), data: jsonb('data'), kind: kind('kind'),
})
const usersRelations = relations(users, ({ many }) => ({ orders: many(orders) }))
const ordersRelations = relations(orders, ({ one }) => ({ user: one(users, { fields: [orders.userId], references: [users.id] }) }))

const folder = mkdtempSync(join(tmpdir(), 'drizzle-'))
mkdirSync(join(folder, 'meta'))
writeFileSync(join(folder, '0000_first.sql'), `CREATE TYPE "public"."dz_kind" AS ENUM('small', 'large');--> statement-breakpoint
CREATE TABLE "dz_users" ("id" serial PRIMARY KEY NOT NULL, "name" text NOT NULL, "at" timestamp with time zone DEFAULT now() NOT NULL, CONSTRAINT "dz_users_name_unique" UNIQUE("name"));--> statement-breakpoint
CREATE TABLE "dz_orders" ("id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL, "user_id" integer NOT NULL, "total" numeric(10, 2), "tags" text[], "data" jsonb);--> statement-breakpoint
ALTER TABLE "dz_orders" ADD CONSTRAINT "dz_orders_user" FOREIGN KEY ("user_id") REFERENCES "public"."dz_users"("id") ON DELETE cascade ON UPDATE no action;`)
writeFileSync(join(folder, '0001_second.sql'), `ALTER TABLE "dz_orders" ADD COLUMN "kind" "dz_kind";--> statement-breakpoint
CREATE INDEX "dz_orders_tags" ON "dz_orders" USING btree ("user_id","kind" DESC NULLS LAST);`)
writeFileSync(join(folder, 'meta', '_journal.json'), JSON.stringify({ version: '7', dialect: 'postgresql', entries: [
  { idx: 0, version: '7', when: 1700000000000, tag: '0000_first', breakpoints: true }, { idx: 1, version: '7', when: 1700000001000, tag: '0001_second', breakpoints: true }] }))

const root = process.env.PGSSLROOTCERT
const ssl = root ? { ca: readFileSync(root), checkServerIdentity: () => undefined } : false
const pool = new pg.Pool({ host: process.env.PGHOST, port: +process.env.PGPORT, user: process.env.PGUSER, password: process.env.PGPASSWORD, database: process.env.PGDATABASE, ssl })
const db = drizzle(pool, { schema: { users, orders, usersRelations, ordersRelations } })
await db.execute(sql`drop schema if exists drizzle cascade`)
await db.execute(sql`drop table if exists dz_orders, dz_users`)
await db.execute(sql`drop type if exists dz_kind`)
await migrate(db, { migrationsFolder: folder })
await migrate(db, { migrationsFolder: folder })

const made = await db.insert(users).values([{ name: 'ann' }, { name: 'bob' }]).returning()
assert.ok(made[0].at instanceof Date)
await db.insert(orders).values(Array.from({ length: 40 }, (_, n) => ({ userId: made[n % 2].id, total: `${n}.50`, tags: ['t', `n${n}`], data: { n, deep: [null] }, kind: n % 4 ? 'small' : 'large' })))
const found = await db.select().from(orders).innerJoin(users, eq(users.id, orders.userId)).where(and(arrayContains(orders.tags, ['n6']), eq(users.name, 'ann')))
assert.equal(found.length, 1)
assert.deepEqual(found[0].dz_orders.data, { n: 6, deep: [null] })
const nested = await db.query.users.findMany({ with: { orders: { where: eq(orders.kind, 'large'), orderBy: desc(orders.total), limit: 3 } }, orderBy: users.name })
assert.deepEqual(nested.map(u => [u.name, u.orders.length]), [['ann', 3], ['bob', 0]])
const prepared = db.select({ n: sql`count(*)::int` }).from(orders).where(eq(orders.userId, sql.placeholder('id'))).prepare('by_user')
for (let n = 0; n < 8; n++) assert.equal((await prepared.execute({ id: made[0].id }))[0].n, 20)
await db.insert(users).values({ name: 'ann' }).onConflictDoUpdate({ target: users.name, set: { at: sql`excluded.at` } })
await assert.rejects(db.insert(users).values({ name: 'bob' }), e => (e.cause ?? e).code === '23505')
await assert.rejects(db.transaction(async tx => {
  await tx.delete(orders)
  await tx.transaction(async inner => { await inner.insert(users).values({ name: 'inner' }) })
  tx.rollback()
}, { isolationLevel: 'repeatable read', accessMode: 'read write' }))
assert.equal(await db.$count(orders), 40)
await db.execute(sql`drop schema drizzle cascade`)
await db.execute(sql`drop table dz_orders, dz_users`)
await db.execute(sql`drop type dz_kind`)
await pool.end()
