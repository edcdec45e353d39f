//! The tables of TPC-H: their definitions, and their rows as text for COPY.
//!
//! Keys, ranges, dependencies between columns and sizes follow clause 4.2 of the specification; the random numbers and the
//! sentences are our own, so that answers differ from the published ones. Every row depends on its number alone.

use std::fmt::Write as _;
use std::io::Write;

use super::random::Random;
use super::words::*;

/// Definitions and indexes. Beyond the primary keys there is one index, on a foreign key, as the specification allows:
/// without it two queries scan `lineitem` once for each of hundreds of rows.
pub const SCHEMA: &str = "
create table region (r_regionkey integer primary key, r_name char(25) not null, r_comment varchar(152));
create table nation (n_nationkey integer primary key, n_name char(25) not null, n_regionkey integer not null,
    n_comment varchar(152));
create table supplier (s_suppkey integer primary key, s_name char(25) not null, s_address varchar(40) not null,
    s_nationkey integer not null, s_phone char(15) not null, s_acctbal numeric(15,2) not null, s_comment varchar(101) not null);
create table part (p_partkey integer primary key, p_name varchar(55) not null, p_mfgr char(25) not null,
    p_brand char(10) not null, p_type varchar(25) not null, p_size integer not null, p_container char(10) not null,
    p_retailprice numeric(15,2) not null, p_comment varchar(23) not null);
create table partsupp (ps_partkey integer, ps_suppkey integer, ps_availqty integer not null,
    ps_supplycost numeric(15,2) not null, ps_comment varchar(199) not null, primary key (ps_partkey, ps_suppkey));
create table customer (c_custkey integer primary key, c_name varchar(25) not null, c_address varchar(40) not null,
    c_nationkey integer not null, c_phone char(15) not null, c_acctbal numeric(15,2) not null,
    c_mktsegment char(10) not null, c_comment varchar(117) not null);
create table orders (o_orderkey integer primary key, o_custkey integer not null, o_orderstatus char(1) not null,
    o_totalprice numeric(15,2) not null, o_orderdate date not null, o_orderpriority char(15) not null,
    o_clerk char(15) not null, o_shippriority integer not null, o_comment varchar(79) not null);
create table lineitem (l_orderkey integer, l_partkey integer not null, l_suppkey integer not null, l_linenumber integer,
    l_quantity numeric(15,2) not null, l_extendedprice numeric(15,2) not null, l_discount numeric(15,2) not null,
    l_tax numeric(15,2) not null, l_returnflag char(1) not null, l_linestatus char(1) not null,
    l_shipdate date not null, l_commitdate date not null, l_receiptdate date not null, l_shipinstruct char(25) not null,
    l_shipmode char(10) not null, l_comment varchar(44) not null, primary key (l_orderkey, l_linenumber));
create index lineitem_partsupp on lineitem (l_partkey, l_suppkey);
";

/// All tables.
pub const TABLES: [Table; 8] = [
    Table::Region,
    Table::Nation,
    Table::Supplier,
    Table::Part,
    Table::PartSupp,
    Table::Customer,
    Table::Orders,
    Table::LineItem,
];

/// A table.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Table {
    Region,
    Nation,
    Supplier,
    Part,
    PartSupp,
    Customer,
    Orders,
    LineItem,
}

impl Table {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Table::Region => "region",
            Table::Nation => "nation",
            Table::Supplier => "supplier",
            Table::Part => "part",
            Table::PartSupp => "partsupp",
            Table::Customer => "customer",
            Table::Orders => "orders",
            Table::LineItem => "lineitem",
        }
    }

    fn random(self, row: i64) -> Random {
        Random::of(self as u64 + 1, row as u64)
    }
}

/// With fewer suppliers the four of a part would not be four.
pub const SMALLEST_SCALE: f64 = 0.01;

/// The last day of which anything is known when the queries are asked: 1995-06-17, counted from the first.
const CURRENT_DATE: i64 = 1263;
/// Orders are placed up to 151 days before the end of 1998.
const LAST_ORDER_DATE: i64 = 2405;

/// The rows of a scale.
pub struct Generator {
    suppliers: i64,
    parts: i64,
    customers: i64,
    orders: i64,
    clerks: i64,
    /// The days from 1992-01-01 to 1998-12-31.
    days: Vec<String>,
}

impl Generator {
    /// For a scale, 1 being about a gigabyte; from [`SMALLEST_SCALE`] on.
    pub fn new(scale: f64) -> Generator {
        let rows = |of_one: f64| (of_one * scale) as i64;
        Generator {
            suppliers: rows(10_000.0),
            parts: rows(200_000.0),
            customers: rows(150_000.0),
            orders: rows(1_500_000.0),
            clerks: rows(1000.0),
            days: days(),
        }
    }

    /// Writes all rows of a table in COPY's text format.
    pub fn write(&self, table: Table, out: &mut dyn Write) -> std::io::Result<()> {
        let mut text = String::new();
        let count = match table {
            Table::Region => REGIONS.len() as i64,
            Table::Nation => NATIONS.len() as i64,
            Table::Supplier => self.suppliers,
            Table::Part | Table::PartSupp => self.parts,
            Table::Customer => self.customers,
            Table::Orders | Table::LineItem => self.orders,
        };
        for n in 1..=count {
            text.clear();
            // Text needs no escapes here; a String takes whatever is written to it.
            let _ = match table {
                Table::Region => self.region(n, &mut text),
                Table::Nation => self.nation(n, &mut text),
                Table::Supplier => self.supplier(n, &mut text),
                Table::Part => self.part(n, &mut text),
                Table::PartSupp => self.partsupp(n, &mut text),
                Table::Customer => self.customer(n, &mut text),
                Table::Orders => self.order(n, &mut text),
                Table::LineItem => self.lineitems(n, &mut text),
            };
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    fn region(&self, n: i64, out: &mut String) -> std::fmt::Result {
        write!(out, "{}\t{}\t", n - 1, REGIONS[n as usize - 1])?;
        comment(&mut Table::Region.random(n), 31, 115, out);
        out.write_char('\n')
    }

    fn nation(&self, n: i64, out: &mut String) -> std::fmt::Result {
        let (name, region) = NATIONS[n as usize - 1];
        write!(out, "{}\t{name}\t{region}\t", n - 1)?;
        comment(&mut Table::Nation.random(n), 31, 114, out);
        out.write_char('\n')
    }

    fn supplier(&self, n: i64, out: &mut String) -> std::fmt::Result {
        let mut random = Table::Supplier.random(n);
        write!(out, "{n}\tSupplier#{n:09}\t")?;
        contact(&mut random, out)?;
        write!(out, "{}\t", Money(random.between(-99_999, 999_999)))?;
        comment(&mut random, 50, 100, out);
        // Five suppliers in ten thousand are complained about, as many recommended; at small scales, at least some.
        let every = (self.suppliers / 5).min(2000);
        match n % every {
            0 => out.truncate(out.len() - 22),
            1 => out.truncate(out.len() - 22),
            _ => return out.write_char('\n'),
        }
        out.write_str(if n % every == 0 { "Customer of Complaints\n" } else { "Customer is Recommends\n" })
    }

    fn part(&self, n: i64, out: &mut String) -> std::fmt::Result {
        let mut random = Table::Part.random(n);
        write!(out, "{n}\t")?;
        let mut colours = [""; 5];
        for i in 0..colours.len() {
            colours[i] = loop {
                let colour = random.pick(&COLOURS);
                if !colours[..i].contains(&colour) {
                    break colour;
                }
            };
        }
        let maker = random.between(1, 5);
        let brand = random.between(1, 5);
        write!(out, "{}\tManufacturer#{maker}\tBrand#{maker}{brand}\t", colours.join(" "))?;
        write!(out, "{}\t{}\t", TYPES.map(|list| random.pick(list)).join(" "), random.between(1, 50))?;
        write!(out, "{}\t", CONTAINERS.map(|list| random.pick(list)).join(" "))?;
        write!(out, "{}\t", Money(retail_price(n)))?;
        comment(&mut random, 5, 22, out);
        out.write_char('\n')
    }

    fn partsupp(&self, part: i64, out: &mut String) -> std::fmt::Result {
        let mut random = Table::PartSupp.random(part);
        for i in 0..4 {
            let cost = Money(random.between(100, 100_000));
            write!(out, "{part}\t{}\t{}\t{cost}\t", self.supplier_of(part, i), random.between(1, 9999))?;
            comment(&mut random, 49, 198, out);
            out.write_char('\n')?;
        }
        Ok(())
    }

    fn customer(&self, n: i64, out: &mut String) -> std::fmt::Result {
        let mut random = Table::Customer.random(n);
        write!(out, "{n}\tCustomer#{n:09}\t")?;
        contact(&mut random, out)?;
        write!(out, "{}\t{}\t", Money(random.between(-99_999, 999_999)), random.pick(&SEGMENTS))?;
        comment(&mut random, 29, 116, out);
        out.write_char('\n')
    }

    fn order(&self, n: i64, out: &mut String) -> std::fmt::Result {
        let mut random = Table::Orders.random(n);
        let date = order_date(&mut random);
        // Every third customer has not ordered anything yet.
        let customer = loop {
            let customer = random.between(1, self.customers);
            if customer % 3 != 0 {
                break customer;
            }
        };
        let items = self.items(n, date);
        let open = items.iter().filter(|item| item.is_open()).count();
        let status = match open {
            0 => 'F',
            _ if open == items.len() => 'O',
            _ => 'P',
        };
        let total = items.iter().map(Item::charged).sum();
        write!(
            out,
            "{}\t{customer}\t{status}\t{}\t{}\t",
            order_key(n),
            Money(total),
            self.days[date as usize]
        )?;
        write!(out, "{}\tClerk#{:09}\t0\t", random.pick(&PRIORITIES), random.between(1, self.clerks))?;
        comment(&mut random, 19, 78, out);
        out.write_char('\n')
    }

    fn lineitems(&self, n: i64, out: &mut String) -> std::fmt::Result {
        let date = order_date(&mut Table::Orders.random(n));
        let day = |day: i64| &self.days[day as usize];
        for (number, item) in self.items(n, date).iter_mut().enumerate() {
            let random = &mut item.random;
            let flag = match item.received <= CURRENT_DATE {
                true => random.pick(&["R", "A"]),
                false => "N",
            };
            let status = if item.shipped > CURRENT_DATE { 'O' } else { 'F' };
            write!(out, "{}\t{}\t{}\t{}\t", order_key(n), item.part, item.supplier, number + 1)?;
            write!(out, "{}\t{}\t", item.quantity, Money(item.quantity * retail_price(item.part)))?;
            write!(out, "{}\t{}\t{flag}\t{status}\t", Money(item.discount), Money(item.tax))?;
            write!(out, "{}\t{}\t{}\t", day(item.shipped), day(item.committed), day(item.received))?;
            write!(out, "{}\t{}\t", random.pick(&INSTRUCTIONS), random.pick(&MODES))?;
            comment(random, 10, 43, out);
            out.write_char('\n')?;
        }
        Ok(())
    }

    /// The items of an order, as the order's total and its items' rows both need them.
    fn items(&self, order: i64, date: i64) -> Vec<Item> {
        let mut random = Table::LineItem.random(order * 8);
        let count = random.between(1, 7);
        let item = |number| {
            let mut random = Table::LineItem.random(order * 8 + number);
            let part = random.between(1, self.parts);
            let shipped = date + random.between(1, 121);
            Item {
                part,
                supplier: self.supplier_of(part, random.between(0, 3)),
                quantity: random.between(1, 50),
                discount: random.between(0, 10),
                tax: random.between(0, 8),
                shipped,
                committed: date + random.between(30, 90),
                received: shipped + random.between(1, 30),
                random,
            }
        };
        (1..=count).map(item).collect()
    }

    /// One of a part's four suppliers.
    fn supplier_of(&self, part: i64, which: i64) -> i64 {
        let step = self.suppliers / 4 + (part - 1) / self.suppliers;
        (part + which * step) % self.suppliers + 1
    }
}

/// A line of an order, with the stream that the rest of its row is made of.
struct Item {
    part: i64,
    supplier: i64,
    quantity: i64,
    discount: i64,
    tax: i64,
    shipped: i64,
    committed: i64,
    received: i64,
    random: Random,
}

impl Item {
    fn is_open(&self) -> bool {
        self.shipped > CURRENT_DATE
    }

    /// Its price with discount and tax, in cents.
    fn charged(&self) -> i64 {
        self.quantity * retail_price(self.part) * (100 - self.discount) * (100 + self.tax) / 10_000
    }
}

/// An amount of cents.
struct Money(i64);

impl std::fmt::Display for Money {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:02}", self.0.abs() / 100, self.0.abs() % 100)
    }
}

/// Eight of each 32 keys are used.
fn order_key(n: i64) -> i64 {
    (n - 1) / 8 * 32 + (n - 1) % 8 + 1
}

/// The first choice of an order's stream.
fn order_date(random: &mut Random) -> i64 {
    random.between(0, LAST_ORDER_DATE)
}

fn retail_price(part: i64) -> i64 {
    90_000 + (part / 10) % 20_001 + 100 * (part % 1000)
}

/// Address, nation and telephone number.
fn contact(random: &mut Random, out: &mut String) -> std::fmt::Result {
    const LETTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ, ";
    for _ in 0..random.between(10, 40) {
        out.push(char::from(LETTERS[random.between(0, LETTERS.len() as i64 - 1) as usize]));
    }
    let nation = random.between(0, 24);
    let (a, b, c) = (random.between(100, 999), random.between(100, 999), random.between(1000, 9999));
    write!(out, "\t{nation}\t{}-{a}-{b}-{c}\t", nation + 10)
}

/// The days of the seven years.
fn days() -> Vec<String> {
    let mut days = Vec::new();
    for year in 1992..=1998 {
        let february = if year % 4 == 0 { 29 } else { 28 };
        for (month, length) in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter().enumerate()
        {
            days.extend((1..=length).map(|day| format!("{year}-{:02}-{day:02}", month + 1)));
        }
    }
    days
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(table: Table) -> Vec<Vec<String>> {
        let mut out = Vec::new();
        Generator::new(SMALLEST_SCALE).write(table, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn dates_of_the_specification() {
        let days = days();
        assert_eq!(days[CURRENT_DATE as usize], "1995-06-17");
        assert_eq!(days[LAST_ORDER_DATE as usize], "1998-08-02");
        assert_eq!(days.len() as i64, LAST_ORDER_DATE + 121 + 30 + 1);
    }

    #[test]
    fn every_item_is_supplied_and_ordered() {
        let supplied: Vec<_> = rows(Table::PartSupp).iter().map(|r| (r[0].clone(), r[1].clone())).collect();
        let unique: std::collections::HashSet<_> = supplied.iter().collect();
        assert_eq!(unique.len(), supplied.len());
        let orders: std::collections::HashSet<_> = rows(Table::Orders).iter().map(|r| r[0].clone()).collect();
        for item in rows(Table::LineItem) {
            assert!(unique.contains(&(item[1].clone(), item[2].clone())), "{item:?}");
            assert!(orders.contains(&item[0]), "{item:?}");
        }
    }

    #[test]
    fn rows_have_their_columns() {
        for (table, columns) in TABLES.iter().zip([3, 4, 7, 9, 5, 8, 9, 16]) {
            let rows = rows(*table);
            assert!(!rows.is_empty() && rows.iter().all(|r| r.len() == columns), "{}", table.name());
        }
    }
}
