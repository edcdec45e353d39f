// Goose's migrations through database/sql over pgx, and a small application on what they make.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync"
	"testing/fstest"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

var migrations = fstest.MapFS{
	"00001_first.sql": {Data: []byte(`-- +goose Up
create table go_author (id bigint generated always as identity primary key, name text not null unique);
create table go_book (id uuid primary key default gen_random_uuid(), author_id bigint not null references go_author on delete cascade, title text, price numeric(8, 2));
-- +goose StatementBegin
create function go_total(who bigint) returns numeric language plpgsql as $$ begin return (select sum(price) from go_book where author_id = who); end $$;
-- +goose StatementEnd
-- +goose Down
drop function go_total;
drop table go_book, go_author;
`)},
	"00002_second.sql": {Data: []byte(`-- +goose NO TRANSACTION
-- +goose Up
create index concurrently go_book_title on go_book (title);
alter table go_book add column tags text[] not null default '{}';
-- +goose Down
drop index concurrently go_book_title;
alter table go_book drop column tags;
`)},
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	must(err)
	_, err = db.Exec("drop table if exists go_book, go_author, goose_db_version cascade; drop function if exists go_total")
	must(err)
	goose.SetBaseFS(migrations)
	goose.SetLogger(goose.NopLogger())
	must(goose.SetDialect("postgres"))
	must(goose.Up(db, "."))
	must(goose.DownTo(db, ".", 0))
	must(goose.Up(db, "."))
	version, err := goose.GetDBVersion(db)
	must(err)
	if version != 2 {
		panic(version)
	}
	application(ctx, db)
	must(goose.DownTo(db, ".", 0))
	_, err = db.Exec("drop table goose_db_version")
	must(err)
}

func application(ctx context.Context, db *sql.DB) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	must(err)
	insert, err := tx.Prepare("insert into go_author (name) values ($1) returning id")
	must(err)
	for n := range 20 {
		var id int64
		must(insert.QueryRow(fmt.Sprint("author ", n)).Scan(&id))
		_, err = tx.Exec("insert into go_book (author_id, title, price, tags) select $1, 't' || g, g, array['a', $2] from generate_series(1, 5) g", id, fmt.Sprint("k", n))
		must(err)
	}
	must(tx.Commit())
	var total float64
	must(db.QueryRow("select go_total($1)", 1).Scan(&total))
	if total != 15 {
		panic(total)
	}
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	must(err)
	defer pool.Close()
	var group sync.WaitGroup
	for n := range 40 {
		group.Add(1)
		go func() {
			defer group.Done()
			var count int
			must(pool.QueryRow(ctx, "select count(*) from go_book where tags @> $1", []string{fmt.Sprint("k", n%20)}).Scan(&count))
			if count != 5 {
				panic(count)
			}
		}()
	}
	group.Wait()
}
