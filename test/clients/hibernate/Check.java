import jakarta.persistence.*;
import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.cfg.Configuration;
import org.hibernate.type.SqlTypes;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** JDBC with its metadata, Flyway, Liquibase and Hibernate: migrations, a small application, and what tools read of the catalogs. */
public class Check {
    static final String URL = url();

    static String url() {
        var env = System.getenv();
        String ssl = env.containsKey("PGSSLROOTCERT") ? "sslmode=verify-ca&sslrootcert=" + env.get("PGSSLROOTCERT") : "sslmode=disable";
        String password = env.getOrDefault("PGPASSWORD", "");
        return "jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE") + "?user=" + env.get("PGUSER")
            + (password.isEmpty() ? "" : "&password=" + password) + "&" + ssl;
    }

    static void check(boolean holds, Object what) {
        if (!holds) throw new AssertionError(String.valueOf(what));
    }

    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(URL)) {
            clean(c);
            jdbc(c);
            calls(c);
            staleStatements(c);
            copy(c);
        }
        flyway();
        try (Connection c = DriverManager.getConnection(URL)) {
            metadata(c);
        }
        hibernate();
        liquibase();
        try (Connection c = DriverManager.getConnection(URL)) {
            clean(c);
        }
    }

    static void clean(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute("drop schema if exists fly cascade; drop schema if exists liq cascade; drop schema if exists hib cascade; drop schema if exists plain cascade");
            s.execute("create schema plain; create schema hib; create schema liq");
        }
    }

    static void jdbc(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute("create table plain.t (id serial primary key, name text unique, amount numeric(10, 2), at timestamptz, day date, list int[], data jsonb, raw bytea, ok boolean)");
        }
        OffsetDateTime at = OffsetDateTime.of(2024, 3, 31, 1, 30, 0, 123456000, ZoneOffset.UTC);
        c.setAutoCommit(false);
        try (PreparedStatement p = c.prepareStatement("insert into plain.t (name, amount, at, day, list, data, raw, ok) values (?, ?, ?, ?, ?, ?::jsonb, ?, ?)", Statement.RETURN_GENERATED_KEYS)) {
            for (int n = 0; n < 100; n++) {
                p.setString(1, "n" + n);
                p.setBigDecimal(2, new BigDecimal(n + ".50"));
                p.setObject(3, at);
                p.setObject(4, LocalDate.of(2024, 2, 29));
                p.setArray(5, c.createArrayOf("int4", new Integer[] {n, null}));
                p.setString(6, "{\"n\": " + n + "}");
                p.setBytes(7, new byte[] {0, (byte) n, -1});
                p.setBoolean(8, n % 2 == 0);
                p.addBatch();
            }
            check(p.executeBatch().length == 100, "batch");
            ResultSet keys = p.getGeneratedKeys();
            check(keys.next() && keys.getInt(1) == 1, "keys");
        }
        c.commit();
        Savepoint savepoint = c.setSavepoint();
        try (Statement s = c.createStatement()) {
            s.execute("insert into plain.t (name) values ('n1')");
            check(false, "no error");
        } catch (SQLException e) {
            check(e.getSQLState().equals("23505"), e);
            c.rollback(savepoint);
        }
        try (PreparedStatement p = c.prepareStatement("select * from plain.t where id > ? order by id")) {
            p.setFetchSize(7);
            for (int round = 0; round < 8; round++) {
                p.setInt(1, 0);
                ResultSet r = p.executeQuery();
                int n = 0;
                for (; r.next(); n++) {
                    check(r.getObject("at", OffsetDateTime.class).isEqual(at) && r.getBytes("raw")[1] == (byte) n, "values");
                    check(((Integer[]) r.getArray("list").getArray())[1] == null && r.getBigDecimal("amount").equals(new BigDecimal(n + ".50")), "values");
                }
                check(n == 100, n);
            }
        }
        c.commit();
        c.setAutoCommit(true);
        try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
            ResultSet r = s.executeQuery("select id, name from plain.t where id = 1");
            r.next();
            r.updateString("name", "changed");
            r.updateRow();
            s.setQueryTimeout(1);
            try {
                s.execute("select pg_sleep(60)");
                check(false, "no timeout");
            } catch (SQLException e) {
                check(e.getSQLState().equals("57014"), e);
            }
        }
    }

    static void calls(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute("create function plain.twice(a int) returns int language sql as 'select a * 2'");
            s.execute("create procedure plain.add(a int, inout b int) language plpgsql as 'begin b := a + b; end'");
        }
        try (CallableStatement call = c.prepareCall("{? = call plain.twice(?)}")) {
            call.registerOutParameter(1, Types.INTEGER);
            call.setInt(2, 21);
            call.execute();
            check(call.getInt(1) == 42, call.getInt(1));
        }
        try (CallableStatement call = c.prepareCall("call plain.add(?, ?)")) {
            call.setInt(1, 3);
            call.setInt(2, 4);
            call.registerOutParameter(2, Types.INTEGER);
            call.execute();
            check(call.getInt(2) == 7, call.getInt(2));
        }
    }

    /** The driver prepares again what cannot be run after ALTER TABLE. */
    static void staleStatements(Connection c) throws SQLException {
        try (Statement s = c.createStatement(); PreparedStatement p = c.prepareStatement("select * from plain.t where id = ?")) {
            p.setInt(1, 1);
            for (int n = 0; n < 8; n++) p.executeQuery().close();
            s.execute("alter table plain.t add added int default 5");
            ResultSet r = p.executeQuery();
            check(r.next() && r.getInt("added") == 5, "added");
        }
    }

    static void copy(Connection c) throws Exception {
        CopyManager copy = c.unwrap(PGConnection.class).getCopyAPI();
        check(copy.copyIn("copy plain.t (name) from stdin", new StringReader("copied1\ncopied2\n")) == 2, "copy in");
        StringWriter out = new StringWriter();
        copy.copyOut("copy (select name from plain.t where name like 'copied%' order by 1) to stdout", out);
        check(out.toString().equals("copied1\ncopied2\n"), out);
        try (Statement s = c.createStatement()) {
            s.execute("listen news; notify news, 'hello'");
        }
        var notes = c.unwrap(PGConnection.class).getNotifications(5000);
        check(notes.length == 1 && notes[0].getParameter().equals("hello"), "notify");
    }

    static void flyway() throws Exception {
        Path folder = Files.createTempDirectory("flyway");
        Files.writeString(folder.resolve("V1__first.sql"),
            "create table author (id bigint generated by default as identity primary key, name varchar(80) not null unique);\n"
            + "create table book (id uuid primary key, author_id bigint not null references author on delete cascade, title text not null, price numeric(8, 2) check (price >= 0));\n"
            + "create index book_title on book (title, price desc) include (author_id);\n"
            + "comment on table book is 'what is read';");
        Files.writeString(folder.resolve("V2__second.sql"),
            "alter table book add pages int not null default 1;\ncreate unique index book_lower on book (lower(title)) where price > 1;\n"
            + "create view cheap as select * from book where price < 5;\n"
            + "create function total(who bigint) returns numeric language plpgsql as $$ begin return (select sum(price) from book where author_id = who); end $$;");
        Files.writeString(folder.resolve("R__view.sql"), "create or replace view names as select name from author;");
        var flyway = org.flywaydb.core.Flyway.configure().dataSource(URL, null, null).schemas("fly").defaultSchema("fly").locations("filesystem:" + folder).cleanDisabled(false).load();
        check(flyway.migrate().migrationsExecuted == 3, "migrations");
        check(flyway.validateWithResult().validationSuccessful, "validation");
        flyway.clean();
        check(flyway.migrate().migrationsExecuted == 3, "migrations after clean");
        check(flyway.info().applied().length >= 3, "applied");
    }

    static List<String> rows(ResultSet r, String... columns) throws SQLException {
        var rows = new ArrayList<String>();
        while (r.next()) {
            var row = new StringJoiner("|");
            for (String column : columns) row.add(r.getString(column));
            rows.add(row.toString());
        }
        return rows;
    }

    static void metadata(Connection c) throws SQLException {
        DatabaseMetaData m = c.getMetaData();
        check(m.getDatabaseMajorVersion() == 18, m.getDatabaseProductVersion());
        check(rows(m.getPrimaryKeys(null, "fly", "book"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME").equals(List.of("id|1|book_pkey")), "keys");
        check(rows(m.getImportedKeys(null, "fly", "book"), "PKTABLE_NAME", "FKCOLUMN_NAME", "DELETE_RULE").equals(List.of("author|author_id|0")), "imported");
        check(rows(m.getExportedKeys(null, "fly", "author"), "FKTABLE_NAME").equals(List.of("book")), "exported");
        check(rows(m.getCrossReference(null, "fly", "author", null, "fly", "book"), "FKTABLE_NAME").equals(List.of("book")), "cross");
        var indexes = rows(m.getIndexInfo(null, "fly", "book", false, false), "INDEX_NAME", "NON_UNIQUE", "ORDINAL_POSITION", "COLUMN_NAME", "ASC_OR_DESC");
        check(indexes.contains("book_title|t|1|title|A") && indexes.contains("book_title|t|2|price|D") && indexes.contains("book_pkey|f|1|id|A"), indexes);
        check(rows(m.getTables(null, "fly", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE", "REMARKS").contains("book|TABLE|what is read"), "tables");
        check(rows(m.getTables(null, "information_schema", "%", null), "TABLE_NAME").containsAll(List.of("columns", "triggers", "element_types", "udt_privileges")), "system tables");
        check(rows(m.getTables(null, "pg_catalog", "pg_c%", null), "TABLE_NAME").contains("pg_class"), "system tables");
        var columns = rows(m.getColumns(null, "fly", "book", "%"), "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "IS_NULLABLE", "COLUMN_DEF", "IS_AUTOINCREMENT");
        check(columns.contains("price|numeric|8|2|YES|null|NO") && columns.contains("pages|int4|10|0|NO|1|NO"), columns);
        check(rows(m.getFunctions(null, "fly", "total"), "FUNCTION_NAME").equals(List.of("total")), "functions");
        check(rows(m.getFunctionColumns(null, "fly", "total", null), "COLUMN_NAME", "TYPE_NAME").size() == 2, "function columns");
        check(rows(m.getProcedures(null, "plain", null), "PROCEDURE_NAME").equals(List.of("add")), "procedures");
        check(!rows(m.getTablePrivileges(null, "fly", "book"), "GRANTEE", "PRIVILEGE").isEmpty(), "privileges");
        check(!rows(m.getColumnPrivileges(null, "fly", "book", "%"), "COLUMN_NAME").isEmpty(), "column privileges");
        check(rows(m.getBestRowIdentifier(null, "fly", "book", DatabaseMetaData.bestRowSession, false), "COLUMN_NAME").equals(List.of("id")), "row identifier");
        check(!rows(m.getTypeInfo(), "TYPE_NAME").isEmpty() && !rows(m.getSchemas(), "TABLE_SCHEM").isEmpty() && !rows(m.getCatalogs(), "TABLE_CAT").isEmpty(), "lists");
        check(m.getSQLKeywords().contains("ilike") && m.getMaxColumnNameLength() == 63, m.getSQLKeywords());
        check(rows(m.getUDTs(null, "fly", "%", null), "TYPE_NAME") != null && !rows(m.getClientInfoProperties(), "NAME").isEmpty(), "lists");
    }

    static void hibernate() {
        for (String mode : List.of("create", "update", "validate")) factory(mode).close();
        try (SessionFactory factory = factory("validate")) {
            factory.inTransaction(session -> {
                for (int n = 0; n < 20; n++) {
                    var owner = new Owner();
                    owner.name = "owner " + n;
                    for (int k = 0; k < 5; k++) {
                        var pet = new Pet();
                        pet.owner = owner;
                        pet.name = "pet " + n + "-" + k;
                        pet.weight = new BigDecimal(k + ".25");
                        pet.born = Instant.parse("2024-03-31T01:30:00.123456Z");
                        pet.data = Map.of("k", k);
                        pet.tags = new String[] {"t", "k" + k};
                        pet.kind = k % 2 == 0 ? Kind.CAT : Kind.DOG;
                        owner.pets.add(pet);
                    }
                    session.persist(owner);
                }
            });
            factory.inTransaction(session -> {
                check(session.createQuery("select sum(p.weight) from Pet p where p.kind = :kind", BigDecimal.class).setParameter("kind", Kind.DOG).getSingleResult().compareTo(new BigDecimal("90")) == 0, "sum");
                var found = session.createQuery("from Pet p join fetch p.owner where array_contains(p.tags, 'k3') order by p.name", Pet.class).setMaxResults(5).getResultList();
                check(found.size() == 5 && found.get(0).data.get("k").equals(3) && found.get(0).born.getNano() == 123456000, "pets");
                found.get(0).name = "renamed";
            });
            factory.inTransaction(session -> {
                var pet = session.createQuery("from Pet where name = 'renamed'", Pet.class).setLockMode(LockModeType.PESSIMISTIC_WRITE).getSingleResult();
                check(pet.version == 1, pet.version);
                check(session.createMutationQuery("delete from Pet where name = 'renamed'").executeUpdate() == 1, "delete");
                check(session.createNativeQuery("select count(*) from hib.Pet", Long.class).getSingleResult() == 99, "count");
            });
            try {
                factory.inTransaction(session -> {
                    var twin = new Owner();
                    twin.name = "owner 1";
                    session.persist(twin);
                });
                check(false, "no error");
            } catch (org.hibernate.exception.ConstraintViolationException e) {
                check(e.getSQLState().equals("23505") && e.getConstraintName().contains("name"), e);
            }
        }
    }

    static SessionFactory factory(String mode) {
        return new Configuration().addAnnotatedClass(Owner.class).addAnnotatedClass(Pet.class)
            .setProperty("hibernate.connection.url", URL).setProperty("hibernate.hbm2ddl.auto", mode).setProperty("hibernate.default_schema", "hib")
            .setProperty("hibernate.jdbc.batch_size", "20").buildSessionFactory();
    }

    static void liquibase() throws Exception {
        Path folder = Files.createTempDirectory("liquibase");
        Files.writeString(folder.resolve("changes.xml"), """
            <databaseChangeLog xmlns="http://www.liquibase.org/xml/ns/dbchangelog" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                xsi:schemaLocation="http://www.liquibase.org/xml/ns/dbchangelog http://www.liquibase.org/xml/ns/dbchangelog/dbchangelog-latest.xsd">
              <changeSet id="1" author="a"><createTable tableName="one"><column name="id" type="bigint" autoIncrement="true"><constraints primaryKey="true"/></column>
                <column name="name" type="varchar(50)"><constraints nullable="false" unique="true" uniqueConstraintName="one_name"/></column></createTable></changeSet>
              <changeSet id="2" author="a"><addColumn tableName="one"><column name="other" type="int" defaultValueNumeric="3"/></addColumn>
                <createTable tableName="two"><column name="one_id" type="bigint"/></createTable>
                <addForeignKeyConstraint baseTableName="two" baseColumnNames="one_id" constraintName="two_one" referencedTableName="one" referencedColumnNames="id"/>
                <createIndex tableName="two" indexName="two_index"><column name="one_id"/></createIndex></changeSet>
            </databaseChangeLog>
            """, StandardCharsets.UTF_8);
        try (Connection c = DriverManager.getConnection(URL)) {
            var database = liquibase.database.DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new liquibase.database.jvm.JdbcConnection(c));
            database.setDefaultSchemaName("liq");
            database.setLiquibaseSchemaName("liq");
            try (var accessor = new liquibase.resource.DirectoryResourceAccessor(folder)) {
                var changes = new liquibase.Liquibase("changes.xml", accessor, database);
                changes.update("");
                changes.rollback(1, "");
                changes.update("");
                var snapshot = liquibase.snapshot.SnapshotGeneratorFactory.getInstance().createSnapshot(database.getDefaultSchema(), database, new liquibase.snapshot.SnapshotControl(database));
                var key = snapshot.get(new liquibase.structure.core.ForeignKey("two_one"));
                check(key != null && snapshot.get(new liquibase.structure.core.Table(null, "liq", "one")) != null, "snapshot");
            }
        }
    }

    enum Kind { CAT, DOG }

    @Entity(name = "Owner") @Table(name = "Owner")
    static class Owner {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE) Long id;
        @Column(unique = true, nullable = false) String name;
        @OneToMany(mappedBy = "owner", cascade = CascadeType.ALL) List<Pet> pets = new ArrayList<>();
    }

    @Entity(name = "Pet") @Table(name = "Pet", indexes = @Index(columnList = "name, weight"))
    static class Pet {
        @Id @GeneratedValue UUID id;
        @Version int version;
        @ManyToOne(optional = false) Owner owner;
        String name;
        @Column(precision = 8, scale = 2) BigDecimal weight;
        Instant born;
        @JdbcTypeCode(SqlTypes.JSON) Map<String, Object> data;
        String[] tags;
        @Enumerated(EnumType.STRING) Kind kind;
    }
}
