// What pgx asks of a server. DATABASE_URL says where it is; exit 0 if everything is as it must be.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(ok bool, what string, values ...any) {
	if !ok {
		panic(fmt.Sprint(what, ": ", fmt.Sprintf("%#v", values)))
	}
}

func code(err error) string {
	var failure *pgconn.PgError
	if errors.As(err, &failure) {
		return failure.Code
	}
	return fmt.Sprint(err)
}

// Sends a value in the form that pgx prefers (binary where it can) and reads it back.
func echo[T any](ctx context.Context, conn *pgx.Conn, name string, value T) {
	var got T
	var none *T
	must(conn.QueryRow(ctx, "select $1::"+name+", null::"+name, value).Scan(&got, &none))
	check(reflect.DeepEqual(value, got) && none == nil, name, value, got)
}

func types(ctx context.Context, conn *pgx.Conn) {
	echo(ctx, conn, "bool", true)
	echo(ctx, conn, "int2", int16(-7))
	echo(ctx, conn, "int4", int32(123456))
	echo(ctx, conn, "int8", int64(-1)<<60)
	echo(ctx, conn, "float4", float32(0.5))
	echo(ctx, conn, "float8", 1e-300)
	echo(ctx, conn, "numeric", pgtype.Numeric{Int: big.NewInt(-123456789), Exp: -6, Valid: true})
	echo(ctx, conn, "text", "Grüße, 'quoted' \\ and \t tab")
	echo(ctx, conn, "varchar(20)", "twenty")
	echo(ctx, conn, "bytea", []byte{0, 1, 92, 255})
	echo(ctx, conn, "date", pgtype.Date{Time: time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), Valid: true})
	echo(ctx, conn, "time", pgtype.Time{Microseconds: 86399999999, Valid: true})
	echo(ctx, conn, "timestamp", pgtype.Timestamp{Time: time.Date(1999, 12, 31, 23, 59, 59, 1000, time.UTC), Valid: true})
	echo(ctx, conn, "interval", pgtype.Interval{Months: 14, Days: -3, Microseconds: 7000009, Valid: true})
	echo(ctx, conn, "uuid", pgtype.UUID{Bytes: [16]byte{1, 2, 3, 255}, Valid: true})
	echo(ctx, conn, "inet", netip.MustParsePrefix("192.168.7.1/24"))
	echo(ctx, conn, "jsonb", map[string]any{"a": []any{1.0, nil, "ü"}})
	echo(ctx, conn, "json", []any{true, "x"})
	echo(ctx, conn, "int4[]", []int32{1, -3})
	echo(ctx, conn, "text[]", []string{"a", "b,c", `"q"`})
	echo(ctx, conn, "int8[]", []*int64{nil})
	moment := time.Date(2024, 3, 31, 1, 30, 0, 123000, time.UTC)
	var got time.Time
	must(conn.QueryRow(ctx, "select $1::timestamptz", moment).Scan(&got))
	check(got.Equal(moment), "timestamptz", got)
}

func prepared(ctx context.Context, conn *pgx.Conn) {
	statement, err := conn.Prepare(ctx, "sum", "select $1::int + $2")
	must(err)
	check(len(statement.ParamOIDs) == 2 && statement.ParamOIDs[1] == pgtype.Int4OID, "parameters", statement.ParamOIDs)
	for n := range 5 {
		var sum int
		must(conn.QueryRow(ctx, "sum", n, 1).Scan(&sum))
		check(sum == n+1, "sum", sum)
	}
	must(conn.Deallocate(ctx, "sum"))
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		var text string
		must(conn.QueryRow(ctx, "select $1::text", mode, "it's").Scan(&text))
		check(text == "it's", "mode", mode, text)
	}
}

func transactions(ctx context.Context, conn *pgx.Conn) {
	must(pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "insert into t values (1, 'one')")
		must(err)
		err = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
			_, err := inner.Exec(ctx, "insert into t values (1, 'twice')")
			return err
		})
		check(code(err) == "23505", "duplicate key", err)
		tag, err := tx.Exec(ctx, "insert into t values (2, 'two')")
		check(tag.RowsAffected() == 1, "tag", tag)
		return err
	}))
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	must(err)
	_, err = tx.Exec(ctx, "insert into t values (3, 'three')")
	check(code(err) == "25006", "read only", err)
	must(tx.Rollback(ctx))
}

func failures(ctx context.Context, conn *pgx.Conn) {
	for statement, expected := range map[string]string{
		"select 1/0": "22012", "select * from nowhere": "42P01", "selec": "42601", "select 'x'::int": "22P02",
		"insert into t values (null)": "23502",
	} {
		_, err := conn.Exec(ctx, statement)
		check(code(err) == expected, statement, err)
	}
}

func copying(ctx context.Context, conn *pgx.Conn) {
	var lines strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&lines, "%d\trow %d\n", n+1000, n)
	}
	tag, err := conn.PgConn().CopyFrom(ctx, strings.NewReader(lines.String()), "copy t from stdin")
	must(err)
	check(tag.RowsAffected() == 1000, "copied", tag)
	var out bytes.Buffer
	_, err = conn.PgConn().CopyTo(ctx, &out, "copy (select * from t where id in (1000, 1001) order by id) to stdout")
	must(err)
	check(out.String() == "1000\trow 0\n1001\trow 1\n", "copy to", out.String())
}

func pipelining(ctx context.Context, conn *pgx.Conn) {
	batch := &pgx.Batch{}
	for n := range 50 {
		batch.Queue("select $1::int * 2", n)
	}
	results := conn.SendBatch(ctx, batch)
	for n := range 50 {
		var twice int
		must(results.QueryRow().Scan(&twice))
		check(twice == 2*n, "batch", n, twice)
	}
	must(results.Close())
	failing := &pgx.Batch{}
	failing.Queue("insert into t values (5000, 'gone')")
	failing.Queue("select 1/$1::int", 0)
	check(code(conn.SendBatch(ctx, failing).Close()) == "22012", "failing batch")
	var count int
	must(conn.QueryRow(ctx, "select count(*) from t where id = 5000").Scan(&count))
	check(count == 0, "a failed batch is rolled back", count)
}

func cancelling(ctx context.Context, conn *pgx.Conn) {
	timer := time.AfterFunc(300*time.Millisecond, func() { must(conn.PgConn().CancelRequest(ctx)) })
	defer timer.Stop()
	_, err := conn.Exec(ctx, "select pg_sleep(60)")
	check(code(err) == "57014", "cancelled", err)
	var one int
	must(conn.QueryRow(ctx, "select 1").Scan(&one))
}

func main() {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	must(err)
	_, err = conn.Exec(ctx, "create table t (id int primary key, v text)")
	must(err)
	for _, one := range []func(context.Context, *pgx.Conn){
		types, prepared, transactions, failures, copying, pipelining, cancelling,
	} {
		one(ctx, conn)
	}
	_, err = conn.Exec(ctx, "drop table t")
	must(err)
	must(conn.Close(ctx))
	fmt.Println("ok")
}
