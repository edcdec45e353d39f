//! # What
//! `pg_prewarm`: brings pages of a relation into memory.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pg_prewarm` 1.2. What the buffers held is not brought back when the server starts: the functions of `autoprewarm` say so, and
//! the library cannot be loaded then.

use base::{BlockNo, Fork, Oid, RelFile, SqlError, SqlResult, sql_err};
use buffer::{Purpose, ReadStream, Tag};
use session::Session;
use session::lookup::names;
use session::module::{Module, ModuleFunction};
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::value::FromDatum;

use crate::relation::Relation;

use ModuleFunction::Session as F;

/// The extension.
pub static MODULE: Module = Module {
    name: "pg_prewarm",
    version: "1.2",
    comment: "prewarm relation data",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[
        ("pg_prewarm", F(prewarm)),
        ("autoprewarm_start_worker", F(|_, _| Err(no_autoprewarm()))),
        ("autoprewarm_dump_now", F(|_, _| Err(no_autoprewarm()))),
    ],
    preload: Some(|_| Err(no_autoprewarm())),
    ..Module::LIBRARY
};

/// Pages that are asked of the operating system at once.
const RUN: u32 = 32;

/// How pages are brought in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// The operating system is told that they will be wanted.
    Prefetch,
    /// They are read, and forgotten.
    Read,
    /// They are read into buffers.
    Buffer,
}

fn no_autoprewarm() -> SqlError {
    SqlError::not_supported("autoprewarm")
}

fn prewarm(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let [relation, mode, fork, first, last] = invocation.args else {
        return Err(SqlError::internal("five arguments were expected"));
    };
    let given = |value: &Datum, what: &str| match value.is_null() {
        true => Err(sql_err!(INVALID_PARAMETER_VALUE, "{what} cannot be null")),
        false => Ok(()),
    };
    given(relation, "relation")?;
    given(mode, "prewarm type")?;
    let manner = match <&str>::from_datum(mode) {
        "prefetch" => Manner::Prefetch,
        "read" => Manner::Read,
        "buffer" => Manner::Buffer,
        _ => {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid prewarm type")
                .hint("Valid prewarm types are \"prefetch\", \"read\", and \"buffer\"."));
        }
    };
    given(fork, "relation fork")?;
    let fork = names::fork_named(<&str>::from_datum(fork))?;
    let relation = Relation::open(session, Oid(u32::from_datum(relation)))?;
    check_right(session, &relation)?;
    let Some(file) = relation.file() else {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "relation \"{}\" does not have storage", relation.name())
            .detail(relation.not_for_kind()));
    };
    let exists = session.engine().smgr().exists(file, fork);
    if !exists.map_err(buffer::BufferError::File)? {
        let message = format!("fork \"{}\" does not exist for this relation", fork.name());
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "{message}"));
    }
    let pages = i64::from(Relation::blocks(session, file, fork)?);
    let bound = |which: &str, value: &Datum, default: i64| match value {
        Datum::Null => Ok(default),
        value => match i64::from_datum(value) {
            n if (0..pages).contains(&n) => Ok(n),
            _ => Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "{which} block number must be between 0 and {}",
                pages - 1
            )),
        },
    };
    let (first, last) = (bound("starting", first, 0)?, bound("ending", last, pages - 1)?);
    let count = (last + 1 - first).max(0) as u32;
    bring_in(session, (file, fork), (first as u32, count), manner)?;
    Ok(Returned::Value(Datum::Int8(i64::from(count))))
}

/// Whoever may read a table may have its pages read, and those of its indexes.
fn check_right(session: &Session, relation: &Relation) -> SqlResult<()> {
    match (names::check_right(session, &relation.table, "r"), &relation.index) {
        (Err(_), Some(index)) => {
            Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied for index {}", index.name))
        }
        (checked, _) => checked,
    }
}

fn bring_in(
    session: &Session,
    (file, fork): (RelFile, Fork),
    (first, count): (u32, u32),
    manner: Manner,
) -> SqlResult<()> {
    let pool = session.engine().pool();
    let tag = |block| Tag::new(file, fork, BlockNo(block));
    let mut bytes = Box::new([0; base::PAGE_SIZE]);
    let mut blocks = first..first + count;
    if manner == Manner::Buffer {
        let mut stream = ReadStream::new(pool, (file, fork), None, Purpose::Maintenance);
        while stream.next(pool, None, || blocks.next())?.is_some() {
            runtime::check_interrupts()?;
        }
        return Ok(());
    }
    for block in blocks {
        runtime::check_interrupts()?;
        match manner {
            Manner::Prefetch if (block - first).is_multiple_of(RUN) => {
                pool.prefetch_run(tag(block), RUN.min(first + count - block));
            }
            Manner::Prefetch | Manner::Buffer => {}
            Manner::Read => {
                let read = pool.smgr().read(file, fork, BlockNo(block), &mut bytes);
                read.map_err(buffer::BufferError::File)?;
            }
        }
    }
    Ok(())
}
