"""SQLAlchemy's mapper, its reflection, and Alembic's migrations, over psycopg 3."""
import datetime as dt
import decimal
import os
import tempfile
import uuid
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

URL = os.environ["DATABASE_URL"].replace("postgres://", "postgresql+psycopg://", 1)

MIGRATION = '''
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

revision, down_revision = "{revision}", {down}

def upgrade():
    {up}

def downgrade():
    {undo}
'''

FIRST = '''op.create_table("author", sa.Column("id", sa.Integer, sa.Identity(), primary_key=True), sa.Column("name", sa.String(80), nullable=False, unique=True),
        sa.Column("born", sa.Date), comment="who writes")
    op.create_table("book", sa.Column("id", pg.UUID(as_uuid=True), primary_key=True), sa.Column("author_id", sa.Integer, sa.ForeignKey("author.id", ondelete="CASCADE"), nullable=False),
        sa.Column("title", sa.Text, nullable=False), sa.Column("price", sa.Numeric(8, 2)), sa.Column("tags", pg.ARRAY(sa.Text)), sa.Column("data", pg.JSONB),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.func.now()), sa.Column("kind", sa.Enum("novel", "poem", name="kind")), sa.Column("cover", sa.LargeBinary),
        sa.CheckConstraint("price >= 0", name="price_positive"))
    op.create_index("book_title", "book", ["title"])'''
SECOND = '''op.add_column("book", sa.Column("pages", sa.Integer, server_default="1", nullable=False))
    op.alter_column("author", "name", type_=sa.Text())
    op.create_index("book_lower", "book", [sa.text("lower(title)")], unique=True)'''


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "author"
    __table_args__ = {"comment": "who writes"}
    id: Mapped[int] = mapped_column(sa.Integer, sa.Identity(), primary_key=True)
    name: Mapped[str] = mapped_column(sa.Text, unique=True)
    born: Mapped[dt.date | None]
    books: Mapped[list["Book"]] = relationship(back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "book"
    __table_args__ = (
        sa.CheckConstraint("price >= 0", name="price_positive"),
        sa.Index("book_title", "title"),
        sa.Index("book_lower", sa.text("lower(title)"), unique=True),
    )
    id: Mapped[uuid.UUID] = mapped_column(pg.UUID(as_uuid=True), primary_key=True, default=uuid.uuid4)
    author_id: Mapped[int] = mapped_column(sa.ForeignKey("author.id", ondelete="CASCADE"))
    title: Mapped[str] = mapped_column(sa.Text)
    price: Mapped[decimal.Decimal | None] = mapped_column(sa.Numeric(8, 2))
    tags: Mapped[list[str] | None] = mapped_column(pg.ARRAY(sa.Text))
    data: Mapped[dict | None] = mapped_column(pg.JSONB)
    at: Mapped[dt.datetime | None] = mapped_column(sa.DateTime(timezone=True), server_default=sa.func.now())
    kind: Mapped[str | None] = mapped_column(sa.Enum("novel", "poem", name="kind"))
    cover: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    pages: Mapped[int] = mapped_column(sa.Integer, server_default="1")
    author: Mapped[Author] = relationship(back_populates="books")


def migrate(engine):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        versions = folder / "versions"
        versions.mkdir()
        (folder / "env.py").write_text(
            "from alembic import context\nimport sqlalchemy as sa\n"
            "engine = sa.create_engine(context.config.get_main_option('sqlalchemy.url'))\n"
            "with engine.connect() as c:\n    context.configure(connection=c)\n"
            "    with context.begin_transaction():\n        context.run_migrations()\n"
        )
        drop = 'op.drop_table("book"); op.drop_table("author"); op.execute("drop type kind")'
        (versions / "a.py").write_text(MIGRATION.format(revision="a", down=None, up=FIRST, undo=drop))
        back = 'op.drop_index("book_lower"); op.alter_column("author", "name", type_=sa.String(80)); op.drop_column("book", "pages")'
        (versions / "b.py").write_text(MIGRATION.format(revision="b", down='"a"', up=SECOND, undo=back))
        config = Config()
        config.set_main_option("script_location", str(folder))
        config.set_main_option("sqlalchemy.url", URL.replace("%", "%%"))
        command.upgrade(config, "head")
        command.downgrade(config, "base")
        command.upgrade(config, "head")
    with engine.connect() as conn:
        own = lambda name, kind, _: kind != "table" or name in Base.metadata.tables
        context = MigrationContext.configure(conn, opts={"compare_type": True, "include_name": own})
        assert compare_metadata(context, Base.metadata) == []


def introspect(engine):
    inspector = sa.inspect(engine)
    assert set(inspector.get_table_names()) >= {"author", "book"}
    assert inspector.get_pk_constraint("book")["constrained_columns"] == ["id"]
    (key,) = inspector.get_foreign_keys("book")
    assert key["referred_table"] == "author" and key["options"] == {"ondelete": "CASCADE"}, key
    assert inspector.get_check_constraints("book")[0]["name"] == "price_positive"
    names = {index["name"]: index["unique"] for index in inspector.get_indexes("book")}
    assert names == {"book_title": False, "book_lower": True}, names
    assert inspector.get_unique_constraints("author")[0]["column_names"] == ["name"]
    assert inspector.get_table_comment("author") == {"text": "who writes"}
    assert [e["name"] for e in inspector.get_enums()] == ["kind"]
    columns = {c["name"]: c for c in inspector.get_columns("book")}
    assert str(columns["tags"]["type"]) == "ARRAY" and columns["price"]["type"].precision == 8
    reflected = sa.MetaData()
    reflected.reflect(engine, views=True)
    assert "book" in reflected.tables
    inspector.get_schema_names(), inspector.get_view_names(), inspector.get_sequence_names()


def application(engine):
    with Session(engine) as session:
        for n in range(20):
            books = [Book(title=f"t{n}-{m}", price=decimal.Decimal(m), tags=["a", f"b{m}"], data={"m": m, "x": [1, None]}, kind="novel", cover=bytes([n, m])) for m in range(5)]
            session.add(Author(name=f"author {n}", born=dt.date(1900 + n, 1, 2), books=books))
        session.commit()
    with Session(engine) as session:
        count, total = session.execute(sa.select(sa.func.count(Book.id), sa.func.sum(Book.price))).one()
        assert (count, total) == (100, decimal.Decimal(200))
        found = session.scalars(sa.select(Book).where(Book.tags.contains(["b3"]), Book.data["m"].as_integer() == 3).order_by(Book.title)).all()
        assert len(found) == 20 and found[0].data["x"] == [1, None] and found[0].at.tzinfo is not None
        upsert = pg.insert(Author).values(name="author 1", born=dt.date(2000, 1, 1))
        session.execute(upsert.on_conflict_do_update(index_elements=["name"], set_={"born": upsert.excluded.born}))
        assert session.scalar(sa.select(Author.born).where(Author.name == "author 1")) == dt.date(2000, 1, 1)
        with session.begin_nested() as savepoint:
            session.add(Author(name="gone"))
            session.flush()
            savepoint.rollback()
        try:
            session.execute(sa.insert(Author).values(name="author 2"))
            raise AssertionError("no error")
        except sa.exc.IntegrityError as error:
            assert error.orig.sqlstate == "23505"
        session.rollback()
        streamed = session.execute(sa.select(Book.id).execution_options(yield_per=7))
        assert len(streamed.all()) == 100
        session.delete(session.scalars(sa.select(Author).where(Author.name == "author 0")).one())
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Book)) == 95


engine = sa.create_engine(URL)
with engine.begin() as conn:
    conn.execute(sa.text("drop table if exists book, author, alembic_version cascade"))
    conn.execute(sa.text("drop type if exists kind"))
migrate(engine)
introspect(engine)
application(engine)
with engine.begin() as conn:
    conn.execute(sa.text("drop table book, author, alembic_version cascade"))
    conn.execute(sa.text("drop type kind"))
