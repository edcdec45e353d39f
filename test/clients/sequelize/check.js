// Sequelize: sync with alter, models with associations, PostgreSQL's types, transactions, and its query interface.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { DataTypes, Op, QueryTypes, Sequelize, Transaction } = require('sequelize')

const root = process.env.PGSSLROOTCERT
const ssl = root ? { ca: fs.readFileSync(root), checkServerIdentity: () => undefined } : false
const db = new Sequelize(process.env.PGDATABASE, process.env.PGUSER, process.env.PGPASSWORD, {
  dialect: 'postgres', host: process.env.PGHOST, port: +process.env.PGPORT, logging: false, dialectOptions: { ssl }, pool: { max: 4 },
})
const Shop = db.define('sq_shop', { name: { type: DataTypes.STRING(60), allowNull: false, unique: true }, opened: DataTypes.DATEONLY })
const item = {
  id: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4, primaryKey: true }, title: { type: DataTypes.TEXT, allowNull: false },
  price: { type: DataTypes.DECIMAL(10, 2), validate: { min: 0 } }, tags: DataTypes.ARRAY(DataTypes.TEXT), data: DataTypes.JSONB, kind: DataTypes.ENUM('new', 'used'),
  photo: DataTypes.BLOB, span: DataTypes.RANGE(DataTypes.INTEGER), seen: DataTypes.DATE(6), much: DataTypes.BIGINT,
}
let Item = db.define('sq_item', item, { indexes: [{ fields: ['title'] }, { fields: ['price', { name: 'title', order: 'DESC' }], unique: true, name: 'sq_item_both', where: { price: { [Op.gt]: 1 } } }] })
Shop.hasMany(Item, { foreignKey: { name: 'shopId', allowNull: false }, onDelete: 'CASCADE' })
Item.belongsTo(Shop, { foreignKey: 'shopId' })

async function main() {
  await db.authenticate()
  await db.drop({ cascade: true })
  await db.sync()
  await db.sync({ alter: true })
  const shops = await Shop.bulkCreate([{ name: 'north', opened: '1999-12-31' }, { name: 'south' }], { returning: true })
  const seen = new Date('2024-03-31T01:30:00.123Z')
  await Item.bulkCreate(Array.from({ length: 40 }, (_, n) => ({
    title: `item ${n}`, price: `${n}.25`, tags: ['t', `n${n}`], data: { n, deep: { x: [1, null] } }, kind: n % 2 ? 'new' : 'used', photo: Buffer.from([n, 255]), span: [n, n + 5], seen, much: '9007199254740993', shopId: shops[n % 2].id,
  })))
  const one = await Item.findOne({ where: { tags: { [Op.contains]: ['n6'] }, 'data.n': 6, span: { [Op.contains]: 7 } }, include: Shop })
  assert.deepEqual([one.title, one.price, one.much, one.sq_shop.name, one.photo[1], one.data.deep.x], ['item 6', '6.25', '9007199254740993', 'north', 255, [1, null]])
  assert.equal(one.seen.getTime(), seen.getTime())
  const sums = await Item.findAll({ attributes: ['kind', [db.fn('sum', db.col('price')), 'total']], group: 'kind', order: ['kind'], raw: true })
  assert.deepEqual(sums, [{ kind: 'new', total: '405.00' }, { kind: 'used', total: '385.00' }])
  await assert.rejects(Shop.create({ name: 'north' }), e => e.name === 'SequelizeUniqueConstraintError' && e.fields.name === 'north')
  await assert.rejects(Item.create({ title: 'x', shopId: 99999 }), e => e.name === 'SequelizeForeignKeyConstraintError' && e.table === 'sq_items')
  await Shop.upsert({ name: 'north', opened: '2000-01-01' })
  assert.equal((await Shop.findOne({ where: { name: 'north' } })).opened, '2000-01-01')
  const [found, made] = await Shop.findOrCreate({ where: { name: 'east' } })
  assert.ok(made && found.id)
  await assert.rejects(db.transaction({ isolationLevel: Transaction.ISOLATION_LEVELS.REPEATABLE_READ }, async transaction => {
    await Item.destroy({ where: { kind: 'new' }, transaction })
    await db.transaction({ transaction }, async inner => { await Shop.create({ name: 'inner' }, { transaction: inner }) })
    throw new Error('rolled back')
  }), /rolled back/)
  assert.equal(await Item.count(), 40)
  const bound = await db.query('select count(*)::int as n from sq_items where price > $1 and kind = $2', { bind: [10, 'new'], type: QueryTypes.SELECT })
  assert.equal(bound[0].n, 15)
  const tables = await db.getQueryInterface().showAllTables()
  assert.ok(tables.map(t => t.tableName ?? t).includes('sq_items'))
  const described = await db.getQueryInterface().describeTable('sq_items')
  assert.deepEqual([described.id.primaryKey, described.kind.special, described.price.type, described.shopId.allowNull], [true, ['new', 'used'], 'NUMERIC', false])
  const indexes = await db.getQueryInterface().showIndex('sq_items')
  assert.deepEqual(indexes.map(i => i.name).sort(), ['sq_item_both', 'sq_items_pkey', 'sq_items_title'])
  const keys = await db.getQueryInterface().getForeignKeyReferencesForTable('sq_items')
  assert.deepEqual([keys[0].columnName, keys[0].referencedTableName], ['shopId', 'sq_shops'])
  Item = db.define('sq_item', { ...item, kind: DataTypes.ENUM('new', 'used', 'broken'), title: DataTypes.STRING(200), extra: { type: DataTypes.INTEGER, defaultValue: 7, allowNull: false } })
  await db.sync({ alter: true })
  assert.equal((await Item.findOne()).extra, 7)
  await db.drop({ cascade: true })
  await db.close()
}
main().catch(error => { console.error(error); process.exit(1) })
