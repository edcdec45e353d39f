"""Django: its own migrations and those of an application, the mapper, PostgreSQL's own fields, and inspectdb."""
import datetime as dt
import io
import os
import sys
import uuid
from decimal import Decimal

import django
from django.conf import settings

SSL = {"sslmode": os.environ.get("PGSSLMODE", "disable")}
if os.environ.get("PGSSLROOTCERT"):
    SSL["sslrootcert"] = os.environ["PGSSLROOTCERT"]
DATABASE = {
    "ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "USER": os.environ["PGUSER"],
    "PASSWORD": os.environ.get("PGPASSWORD", ""), "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
    "OPTIONS": {**SSL, "server_side_binding": True},
}
settings.configure(
    DATABASES={"default": DATABASE}, USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", SECRET_KEY="x",
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "django.contrib.postgres", "app"],
)
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import IntegrityError, connection, transaction  # noqa: E402
from django.db.models import Avg, Count, F, Q, Sum, Window  # noqa: E402
from django.db.models.functions import Lower, RowNumber, TruncMonth  # noqa: E402

from app.models import Author, Book  # noqa: E402


def clean():
    with connection.cursor() as cursor:
        cursor.execute("drop schema public cascade; create schema public")


def application():
    now = dt.datetime(2024, 3, 31, 1, 30, tzinfo=dt.timezone.utc)
    authors = Author.objects.bulk_create([Author(name=f"author {n}", born=dt.date(1900 + n, 1, 1)) for n in range(10)])
    Book.objects.bulk_create([
        Book(author=a, title=f"Title {i}-{a.pk}", price=Decimal(i), tags=["a", f"b{i}"], data={"i": i, "deep": {"x": [1, None]}},
             at=now, took=dt.timedelta(hours=i), cover=bytes([i]), pages=(i, i + 10))
        for a in authors for i in range(5)
    ])
    with transaction.atomic():
        Author.objects.create(name="kept")
        try:
            with transaction.atomic():
                Author.objects.create(name="kept")
            raise AssertionError("no error")
        except IntegrityError as error:
            assert error.__cause__.sqlstate == "23505"
    assert Author.objects.count() == 11
    book = Book.objects.select_related("author").get(author__name="author 3", data__deep__x__0=1, tags__contains=["b2"])
    assert book.at == now and book.took == dt.timedelta(hours=2) and bytes(book.cover) == b"\x02" and book.pages.upper == 12
    assert isinstance(book.key, uuid.UUID)
    got = Author.objects.annotate(n=Count("books"), s=Sum("books__price"), a=Avg("books__price")).filter(n__gt=0).order_by("pk")
    assert [(x.n, x.s, x.a) for x in got] == [(5, Decimal(10), Decimal(2))] * 10
    ranked = Book.objects.annotate(rank=Window(RowNumber(), partition_by="author", order_by=F("price").desc()))
    assert ranked.filter(rank=1).count() == 10
    assert Book.objects.filter(Q(pages__contains=3) | Q(title__iregex=r"^title 9")).exists()
    assert Book.objects.annotate(m=TruncMonth("at")).values("m").annotate(n=Count("pk")).get()["n"] == 50
    assert Book.objects.filter(price=4).update(price=F("price") + 1) == 10
    with transaction.atomic():
        assert Book.objects.select_for_update(skip_locked=True, of=("self",)).filter(price=5).count() == 10
    assert len(list(Book.objects.order_by("pk").iterator(chunk_size=7))) == 50
    Author.objects.bulk_create([Author(name="author 1", born=dt.date(2000, 1, 1))], update_conflicts=True, unique_fields=["name"], update_fields=["born"])
    assert Author.objects.get(name="author 1").born == dt.date(2000, 1, 1)
    assert Author.objects.filter(pk=authors[0].pk).delete()[0] == 6
    assert Book.objects.order_by(Lower("title")).first().title.startswith("Title 0")
    assert "Scan" in Book.objects.filter(price=1).explain()
    assert list(Book.objects.raw("select * from app_book where price > %s limit 1", [3]))


def introspect():
    out = io.StringIO()
    call_command("inspectdb", stdout=out, include_views=True)
    assert "class AppBook(models.Model)" in out.getvalue() and "ArrayField" not in "", out.getvalue()
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, "app_book")
    assert any(c["check"] for c in constraints.values()) and any(c["foreign_key"] == ("app_author", "id") for c in constraints.values())
    call_command("sqlsequencereset", "app", stdout=out)
    call_command("check", databases=["default"])


clean()
call_command("migrate", verbosity=0)
call_command("makemigrations", "app", check=True, dry_run=True, verbosity=0)
application()
introspect()
call_command("flush", interactive=False, verbosity=0)
assert Author.objects.count() == 0
call_command("migrate", "app", "0001", verbosity=0)
call_command("migrate", "app", "zero", verbosity=0)
clean()
