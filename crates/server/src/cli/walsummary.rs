//! `pg_walsummary`: shows what summaries of the log say.

use std::path::Path;

use base::{Oid, RelFile};
use engine::summaries::{self, BlockTable};
use runtime::fs;

use super::given;
use super::messages::{Failure, Messages};
use super::options::{Flag, flag};
use super::say::say_line;

const FLAGS: &[Flag] = &[
    flag(Some('i'), "individual"),
    flag(Some('q'), "quiet"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
pg_walsummary prints the contents of a WAL summary file.

Usage:
  pg_walsummary [OPTION]... FILE...

Options:
  -i, --individual          list block numbers individually, not as ranges
  -q, --quiet               don't print anything, just parse the files
  -V, --version             output version information, then exit
  -?, --help                show this help, then exit
";

const PROGRAM: &str = "pg_walsummary";

pub(super) fn main(args: &[String]) -> i32 {
    let messages = Messages::of(PROGRAM);
    let given = match given(&messages, args, FLAGS, HELP) {
        Ok(given) => given,
        Err(status) => return status,
    };
    if given.words.is_empty() {
        return messages.misused("no input files specified");
    }
    for file in &given.words {
        let table = match read(file) {
            Ok(table) => table,
            Err(failure) => return messages.fail(&failure),
        };
        if !given.has("quiet") {
            lines(&table, given.has("individual")).for_each(|line| say_line!("{line}"));
        }
    }
    0
}

fn read(file: &str) -> Result<BlockTable, Failure> {
    let bytes = fs::read_to_vec(Path::new(file))
        .map_err(|error| format!("could not open file \"{file}\": {}", base::os_error(&error)))?;
    summaries::decode(&bytes).map_err(|bad| format!("file \"{file}\" is damaged: {bad}").into())
}

/// A line for each limit, and for each changed block or run of them.
fn lines(table: &BlockTable, individual: bool) -> impl Iterator<Item = String> {
    table.forks().flat_map(move |(rel, fork, changes)| {
        let RelFile { tablespace: Oid(tablespace), database: Oid(database), number } = rel;
        let suffix = fork.suffix();
        let fork = if suffix.is_empty() { "main" } else { &suffix[1..] };
        let head = format!("TS {tablespace}, DB {database}, REL {number}, FORK {fork}");
        let limit = changes.limit.map(|limit| format!("{head}: limit {}", limit.0));
        let blocks: Vec<String> = match individual {
            true => changes.blocks.iter().map(|block| format!("{head}: block {}", block.0)).collect(),
            false => summaries::runs(changes.blocks.iter())
                .into_iter()
                .map(|(first, count)| match count {
                    1 => format!("{head}: block {first}"),
                    _ => format!("{head}: blocks {first}..{}", first + count - 1),
                })
                .collect(),
        };
        limit.into_iter().chain(blocks)
    })
}

#[cfg(test)]
mod tests {
    use base::{BlockNo, Fork};

    use super::*;

    #[test]
    fn lines_are_postgresqls() {
        let rel = RelFile { tablespace: Oid::PG_DEFAULT, database: Oid(5), number: 16_384 };
        let mut table = BlockTable::default();
        table.cut(rel, Fork::Main, BlockNo(8));
        [1, 2, 3, 6].into_iter().for_each(|block| table.insert(rel, Fork::Main, BlockNo(block)));
        table.insert(rel, Fork::Vm, BlockNo(0));
        let head = "TS 1663, DB 5, REL 16384, FORK";
        assert_eq!(
            lines(&table, false).collect::<Vec<_>>(),
            [
                format!("{head} main: limit 8"),
                format!("{head} main: blocks 1..3"),
                format!("{head} main: block 6"),
                format!("{head} vm: block 0")
            ]
        );
        assert_eq!(lines(&table, true).nth(2), Some(format!("{head} main: block 2")));
    }
}
