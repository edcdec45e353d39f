# ActiveRecord: migrations, models, PostgreSQL's types, statements that are prepared again, and the dump of a schema.
require "active_record"
require "stringio"
require "tmpdir"

options = { adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"].to_i, username: ENV["PGUSER"], password: ENV["PGPASSWORD"], database: ENV["PGDATABASE"], sslmode: ENV["PGSSLMODE"] }
options[:sslrootcert] = ENV["PGSSLROOTCERT"] if ENV["PGSSLROOTCERT"]
ActiveRecord::Base.establish_connection(options)
ActiveRecord::Migration.verbose = false
VERSION = ActiveRecord::Migration.current_version

def check(holds, what = "") = holds || raise("failed: #{what}")

class First < ActiveRecord::Migration[VERSION]
  def change
    create_table :rb_authors do |t|
      t.string :name, null: false, limit: 80, index: { unique: true }
      t.date :born
      t.timestamps
    end
    create_table :rb_books, id: :uuid, comment: "what is read" do |t|
      t.references :rb_author, null: false, foreign_key: { on_delete: :cascade }
      t.text :title, null: false
      t.decimal :price, precision: 8, scale: 2
      t.text :tags, array: true, default: []
      t.jsonb :data, default: {}
      t.binary :cover
      t.int4range :pages
      t.inet :seen_from
      t.datetime :at, precision: 6
      t.check_constraint "price >= 0", name: "rb_price_positive"
    end
  end
end

class Second < ActiveRecord::Migration[VERSION]
  disable_ddl_transaction!

  def up
    execute "create type rb_kind as enum ('novel', 'poem')"
    add_column :rb_books, :kind, :rb_kind
    add_column :rb_books, :copies, :integer, null: false, default: 1
    change_column :rb_authors, :name, :text
    add_index :rb_books, "lower(title)", name: "rb_lower", where: "price > 1", algorithm: :concurrently
    add_index :rb_books, %i[price title], order: { price: :desc }
  end

  def down
    remove_index :rb_books, name: "rb_lower"
    remove_index :rb_books, column: %i[price title]
    change_column :rb_authors, :name, :string, limit: 80
    remove_columns :rb_books, :kind, :copies
    execute "drop type rb_kind"
  end
end

class Author < ActiveRecord::Base
  self.table_name = "rb_authors"
  has_many :books, foreign_key: :rb_author_id
end

class Book < ActiveRecord::Base
  self.table_name = "rb_books"
  belongs_to :author, foreign_key: :rb_author_id
end

connection = ActiveRecord::Base.connection
connection.execute("drop table if exists rb_books, rb_authors cascade; drop type if exists rb_kind")
First.migrate(:up)
Second.migrate(:up)
Second.migrate(:down)
First.migrate(:down)
First.migrate(:up)
Second.migrate(:up)

at = Time.utc(2024, 3, 31, 1, 30, 0, 123456)
20.times { |n| Author.create!(name: "author #{n}", born: Date.new(1900 + n, 2, 3)) }
Author.find_each do |author|
  Book.insert_all!(5.times.map { |k| { rb_author_id: author.id, title: "Title #{k}", price: k + 0.25r, tags: ["t", "k#{k}"], data: { k: k, deep: [nil] }, cover: [k, 255].pack("C*"), pages: (k...(k + 10)), seen_from: "192.168.0.0/24", at: at, kind: "novel" } })
end
book = Book.joins(:author).includes(:author).where("tags @> array[?]", "k3").where("data->>'k' = ?", "3").order(:title).first
check book.at == at && book.pages == (3...13) && book.cover.bytes == [3, 255] && book.data == { "k" => 3, "deep" => [nil] }, book.inspect
check book.price == BigDecimal("3.25") && book.seen_from == IPAddr.new("192.168.0.0/24") && book.kind == "novel"
check Book.group(:kind).sum(:price) == { "novel" => BigDecimal("225") }
check Author.joins(:books).distinct.count == 20
begin
  Author.create!(name: "author 1")
  check false, "no error"
rescue ActiveRecord::RecordNotUnique => e
  check e.cause.result.error_field(PG::PG_DIAG_SQLSTATE) == "23505"
end
Author.upsert({ name: "author 1", born: "2000-01-01", created_at: at, updated_at: at }, unique_by: :name)
check Author.find_by(name: "author 1").born == Date.new(2000, 1, 1)
Author.transaction do
  Book.where(kind: "novel").lock("for update skip locked").limit(3).load
  Author.transaction(requires_new: true) do
    Author.create!(name: "gone")
    raise ActiveRecord::Rollback
  end
end
check !Author.exists?(name: "gone")
begin
  Author.transaction { Book.delete_all; Book.create!(title: "x", rb_author_id: 0) }
rescue ActiveRecord::RecordInvalid, ActiveRecord::InvalidForeignKey
  check Book.count == 100
end
# A prepared statement whose table has changed is prepared again, unseen.
3.times { Author.find(1) }
connection.execute("alter table rb_authors add extra int default 7")
check Author.find(1).name == "author 0"
Author.reset_column_information
check Author.find(1).extra == 7
connection.raw_connection.copy_data("copy rb_authors (name, created_at, updated_at) from stdin") { connection.raw_connection.put_copy_data("copied\t2024-01-01\t2024-01-01\n") }
check Author.exists?(name: "copied")
connection.execute("listen news; notify news, 'hello'")
heard = nil
connection.raw_connection.wait_for_notify(5) { |channel, _, payload| heard = [channel, payload] }
check heard == %w[news hello], heard
check connection.indexes(:rb_books).map(&:name).sort == %w[index_rb_books_on_price_and_title index_rb_books_on_rb_author_id rb_lower]
check connection.foreign_keys(:rb_books).map { |k| [k.to_table, k.on_delete] } == [["rb_authors", :cascade]]
check connection.table_comment(:rb_books) == "what is read" && connection.primary_key(:rb_books) == "id"
Second.migrate(:down)
out = StringIO.new
ActiveRecord::SchemaDumper.dump(ActiveRecord::VERSION::MAJOR < 7 || ActiveRecord::SchemaDumper.method(:dump).parameters[0][1] == :connection ? connection : ActiveRecord::Base.connection_pool, out)
check out.string.include?('name: "rb_price_positive"') && out.string.include?('create_table "rb_books", id: :uuid'), out.string
First.migrate(:down)
