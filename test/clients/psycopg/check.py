"""What psycopg 3 asks of a server. DATABASE_URL says where it is; exit 0 if everything is as it must be."""
import datetime as dt
import decimal
import ipaddress
import os
import threading
import uuid

import psycopg
from psycopg import errors, pq
from psycopg.rows import dict_row
from psycopg.types.json import Json, Jsonb

URL = os.environ["DATABASE_URL"]

VALUES = [
    ("bool", True),
    ("int2", -7),
    ("int4", 123456),
    ("int8", -(2**60)),
    ("float4", 0.5),
    ("float8", 1e-300),
    ("numeric", decimal.Decimal("-12345678901234567890.000123")),
    ("numeric", decimal.Decimal("NaN")),
    ("text", "Grüße, 'quoted' \\ and \t tab"),
    ("varchar", "x" * 5000),
    ("bytea", bytes(range(256))),
    ("date", dt.date(2024, 2, 29)),
    ("time", dt.time(23, 59, 59, 999999)),
    ("timetz", dt.time(12, 30, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30)))),
    ("timestamp", dt.datetime(1999, 12, 31, 23, 59, 59, 1)),
    ("timestamptz", dt.datetime(2024, 3, 31, 1, 30, tzinfo=dt.timezone.utc)),
    ("interval", dt.timedelta(days=-3, seconds=7, microseconds=9)),
    ("uuid", uuid.UUID("6f1ed002-ab59-5df0-8d1e-6b0c8f0d2e10")),
    ("inet", ipaddress.ip_interface("192.168.7.1/24")),
    ("cidr", ipaddress.ip_network("2001:db8::/32")),
    ("jsonb", Jsonb({"a": [1, None, "ü"], "b": {"c": 1.5}})),
    ("json", Json([True, {"k": "v"}])),
    ("int4[]", [1, None, -3]),
    ("text[]", ["a", "b,c", '"q"', None]),
    ("int4[]", [[1, 2], [3, 4]]),
    ("numeric[]", [decimal.Decimal("1.10"), decimal.Decimal("0")]),
    ("uuid[]", [uuid.UUID(int=1), uuid.UUID(int=2)]),
]


def same(sent, got):
    sent = getattr(sent, "obj", sent)
    if isinstance(sent, decimal.Decimal) and sent.is_nan():
        return got.is_nan()
    return sent == got


def types(conn):
    for name, value in VALUES:
        for placeholder in ("%s", "%b", "%t"):
            for binary in (False, True):
                with conn.cursor(binary=binary) as cur:
                    row = cur.execute(f"select {placeholder}::{name}, null::{name}", [value]).fetchone()
                assert same(value, row[0]) and row[1] is None, (name, placeholder, binary, row)


def prepared(conn):
    for n in range(8):
        row = conn.execute("select %s::int + 1, %s::text", [n, "p"], prepare=True).fetchone()
        assert row == (n + 1, "p")
    assert conn.execute("select count(*) from pg_prepared_statements").fetchone()[0] >= 1
    with conn.cursor() as cur:
        cur.executemany("insert into t values (%s, %s)", [(n, f"v{n}") for n in range(100)])
        assert cur.rowcount == 100
    with conn.transaction(), conn.cursor("named", scrollable=True) as cur:
        cur.execute("select id from t order by id")
        assert [r[0] for r in cur.fetchmany(3)] == [0, 1, 2]
        cur.scroll(50, mode="absolute")
        assert cur.fetchone() == (50,)
    row = conn.cursor(row_factory=dict_row).execute("select id, v from t where id = 7").fetchone()
    assert row == {"id": 7, "v": "v7"}


def transactions(conn):
    with conn.transaction():
        conn.execute("delete from t")
        try:
            with conn.transaction():
                conn.execute("insert into t values (1, 'inner')")
                raise psycopg.Rollback()
        except psycopg.Rollback:
            pass
        conn.execute("insert into t values (2, 'outer')")
    assert conn.execute("select id from t").fetchall() == [(2,)]
    try:
        with conn.transaction():
            conn.execute("insert into t values (3, 'lost')")
            conn.execute("insert into t values (2, 'twice')")
    except errors.UniqueViolation as error:
        assert error.diag.constraint_name == "t_pkey" and error.sqlstate == "23505"
    assert conn.execute("select count(*) from t").fetchone() == (1,)
    assert conn.info.transaction_status == pq.TransactionStatus.IDLE


def failures(conn):
    for statement, kind in [
        ("select 1/0", errors.DivisionByZero),
        ("select * from nowhere", errors.UndefinedTable),
        ("select nothing", errors.UndefinedColumn),
        ("selec", errors.SyntaxError),
        ("select 'x'::int", errors.InvalidTextRepresentation),
        ("insert into t values (null)", errors.NotNullViolation),
        ("select 300::\"char\"", errors.NumericValueOutOfRange),
    ]:
        try:
            conn.execute(statement)
            raise AssertionError(f"no error: {statement}")
        except kind as error:
            assert error.diag.severity_nonlocalized == "ERROR"
    seen = []
    conn.add_notice_handler(lambda notice: seen.append(notice.sqlstate))
    conn.execute("drop table if exists nowhere")
    assert seen == ["00000"], seen


def copy(conn):
    with conn.cursor() as cur:
        with cur.copy("copy t from stdin") as copy:
            for n in range(1000, 2000):
                copy.write_row((n, None if n % 10 == 0 else f"row\t{n}\\"))
        with cur.copy("copy (select * from t where id between 1000 and 1002 order by id) to stdout") as copy:
            rows = list(copy.rows())
        assert rows == [("1000", None), ("1001", "row\t1001\\"), ("1002", "row\t1002\\")], rows
        try:
            with cur.copy("copy t from stdin") as copy:
                copy.write("x\ty\n")
        except errors.InvalidTextRepresentation as error:
            assert "COPY t, line 1" in error.diag.context


def pipeline(conn):
    with conn.pipeline() as pipe:
        cursors = [conn.execute("select %s::int * 2", [n]) for n in range(50)]
        pipe.sync()
        assert [cur.fetchone()[0] for cur in cursors] == [n * 2 for n in range(50)]
        failing = conn.execute("select 1/%s::int", [0])
        try:
            pipe.sync()
            failing.fetchone()
            raise AssertionError("no error in the pipeline")
        except errors.DivisionByZero:
            pass


def cancel(conn):
    timer = threading.Timer(0.3, conn.cancel_safe)
    timer.start()
    try:
        conn.execute("select pg_sleep(60)")
        raise AssertionError("not cancelled")
    except errors.QueryCanceled:
        timer.join()
    assert conn.execute("select 1").fetchone() == (1,)


def main():
    with psycopg.connect(URL, autocommit=True, application_name="psycopg check") as conn:
        conn.execute("create table t (id int primary key, v text)")
        for check in (types, prepared, transactions, failures, copy, pipeline, cancel):
            check(conn)
            print(check.__name__, "ok")
        conn.execute("drop table t")


main()
