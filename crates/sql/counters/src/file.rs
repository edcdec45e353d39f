//! The counters in a file, `pg_stat/pgstat.stat`: written when the server is shut down, read and removed when it starts.
//!
//! A line of text for each database and relation: its kind, OIDs and figures; one for the last file that was archived, and for the last that was not. The last line
//! marks the file as complete.

use std::io;
use std::path::Path;

use base::Oid;
use runtime::fs;

use super::{Counters, Database, Function, Group, LastFiles, Offset, Relation};

const FIRST: &str = "stampede counters 5";
const LAST: &str = "end";

impl Counters {
    /// Writes all counters; of groups, what was counted since the server started is given, and which files it archived last.
    pub fn save(
        &self,
        data: &Path,
        counted: impl Fn(Group) -> Vec<i64>,
        archived: LastFiles,
    ) -> io::Result<()> {
        let groups: Vec<_> = Group::all().map(|group| self.shown(group, counted(group))).collect();
        let mut text = format!("{FIRST}\n");
        let mut line = |what: &str, oids: &[u32], figures: Vec<i64>| {
            text.push_str(what);
            let figures = figures.iter().map(i64::to_string);
            for number in oids.iter().map(u32::to_string).chain(figures) {
                text.push(' ');
                text.push_str(&number);
            }
            text.push('\n');
        };
        let settled = self.settled.lock();
        for database in self.databases(&settled) {
            for key in self.known_relations(&settled, database) {
                line("relation", &[key.0.0, key.1.0], self.whole_relation(&settled, key).to_list());
            }
            line("database", &[database.0], self.own_figures(&settled, database).to_list());
        }
        for (database, function) in settled.functions.keys() {
            let Function { calls, total, own } = settled.functions[&(*database, *function)];
            line("function", &[database.0, function.0], vec![calls, total, own]);
        }
        for (number, group) in groups.into_iter().enumerate() {
            line("group", &[number as u32], [vec![group.reset], group.figures].concat());
        }
        for (which, (own, before)) in archived.iter().zip(&settled.archived).enumerate() {
            if let Some((name, time)) = own.as_ref().or(before.as_ref()) {
                text.push_str(&format!("archived {which} {name} {time}\n"));
            }
        }
        text.push_str(LAST);
        let dir = data.join("pg_stat");
        fs::create_dir_all(&dir)?;
        fs::write_file_durably(&dir.join("pgstat.stat"), text.as_bytes())
    }

    /// Reads what the last server wrote, if it was shut down cleanly; after a crash the file is useless. The file is removed.
    pub fn load(&self, data: &Path, clean: bool) {
        self.read(data, clean);
        let mut settled = self.settled.lock();
        for group in Group::all() {
            // Those that were never reset began now.
            settled
                .groups
                .entry(group)
                .or_insert_with(|| Offset { reset: runtime::wall_clock_micros(), ..Offset::default() });
        }
    }

    fn read(&self, data: &Path, clean: bool) {
        let path = data.join("pg_stat").join("pgstat.stat");
        let Ok(bytes) = fs::read_to_vec(&path) else { return };
        // It speaks of this start only.
        let _ = fs::remove_file(&path);
        if clean {
            let taken = String::from_utf8(bytes).ok().and_then(|text| self.take(&text));
            if taken.is_none() {
                *self.settled.lock() = super::Settled::default();
            }
        }
    }

    /// Reads the text of a whole file; `None` if it is none.
    fn take(&self, text: &str) -> Option<()> {
        let body = text.strip_prefix(FIRST)?.strip_suffix(LAST)?;
        let mut settled = self.settled.lock();
        for line in body.lines().filter(|line| !line.is_empty()) {
            let mut words = line.split(' ');
            let what = words.next()?;
            if what == "archived" {
                let [which, name, time] = words.collect::<Vec<_>>()[..] else { return None };
                let last = settled.archived.get_mut(which.parse::<usize>().ok()?)?;
                *last = Some((name.to_owned(), time.parse().ok()?));
                continue;
            }
            let numbers = words.map(|word| word.parse::<i64>().ok()).collect::<Option<Vec<i64>>>()?;
            let oid = |i: usize| numbers.get(i).and_then(|n| u32::try_from(*n).ok()).map(Oid);
            match what {
                "relation" => {
                    let figures = Relation::from_list(numbers.get(2..)?)?;
                    settled.relations.insert((oid(0)?, oid(1)?), figures);
                }
                "database" => {
                    let figures = Database::from_list(numbers.get(1..)?)?;
                    settled.databases.insert(oid(0)?, figures);
                }
                "function" => {
                    let [_, _, calls, total, own] = numbers[..] else { return None };
                    settled.functions.insert((oid(0)?, oid(1)?), Function { calls, total, own });
                }
                "group" => {
                    let group = Group::all().nth(usize::try_from(*numbers.first()?).ok()?)?;
                    let figures = numbers.get(2..)?.to_vec();
                    settled.groups.insert(group, Offset { reset: *numbers.get(1)?, figures });
                }
                _ => return None,
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Pending};

    #[test]
    fn a_clean_restart_keeps_the_counters_and_a_crash_does_not() {
        let data = std::env::temp_dir().join(format!("counters-{:016x}", runtime::random_u64()));
        let counters = Counters::default();
        let pending = Pending::new(counters.database_lane(Oid(5)), true);
        pending.changed(Oid(20000), 1, Change::Insert(3));
        pending.report(&counters, Oid(5), true, || 7);
        let counted = |group| if group == Group::Wal { vec![8, 9] } else { Vec::new() };
        let segment = |n: u32| Some((format!("{n:024X}"), i64::from(n)));
        counters.save(&data, counted, [segment(5), segment(4)]).unwrap();
        let next = Counters::default();
        next.load(&data, true);
        assert_eq!(next.relation(Oid(5), Oid(20000)), counters.relation(Oid(5), Oid(20000)));
        assert_eq!(next.database(Oid(5)), counters.database(Oid(5)));
        assert_eq!(next.shown(Group::Wal, vec![1, 1]).figures, [9, 10]);
        assert_eq!(next.last_archived(), [segment(5), segment(4)]);
        next.save(&data, counted, [segment(6), None]).unwrap();
        let third = Counters::default();
        third.load(&data, true);
        assert_eq!(third.last_archived(), [segment(6), segment(4)]);
        next.save(&data, counted, [None, None]).unwrap();
        let crashed = Counters::default();
        crashed.load(&data, false);
        assert_eq!(crashed.relation(Oid(5), Oid(20000)), None);
        let again = Counters::default();
        again.load(&data, true);
        assert_eq!(again.relation(Oid(5), Oid(20000)), None, "the file is gone");
        assert_eq!(again.take("stampede counters 3\nrelation 5\nend"), None);
        std::fs::remove_dir_all(&data).unwrap();
    }
}
