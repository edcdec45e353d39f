//! The workloads that the reviewers of thread 1 asked for: where snapshots cost nothing, but what they cost instead might show.

use std::path::{Path, PathBuf};

use crate::peers::Server;
use crate::pgbench;

/// The variables of pgbench's read-write script.
const VARIABLES: &str = "\
\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
";

/// The statements of its transaction.
const READ_WRITE: &str = "\
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
";

/// One workload.
pub struct Workload {
    /// Name in tables.
    pub name: &'static str,
    /// Its arguments for pgbench.
    pub args: Vec<String>,
}

impl Workload {
    /// Makes on a server what it needs beside pgbench's tables, empty.
    pub fn prepare(&self, server: &Server) -> Result<(), String> {
        let sql = "drop table if exists inserts; create table inserts (a int, b text); \
                   truncate pgbench_history; vacuum pgbench_branches; vacuum pgbench_tellers";
        sql.split(';').try_for_each(|statement| pgbench::psql(server, statement).map(drop))
    }
}

/// The scripts, as files.
pub struct Scripts(PathBuf);

impl Scripts {
    /// Writes them into a folder of their own below `folder`.
    pub fn write(folder: &Path) -> Result<Scripts, String> {
        let folder = folder.join(format!("stampede-bench-scripts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let mut ten_reads = format!("{VARIABLES}BEGIN;\n{READ_WRITE}");
        for n in 0..10 {
            ten_reads += &format!("\\set aid{n} random(1, 100000 * :scale)\n");
            ten_reads += &format!("SELECT abalance FROM pgbench_accounts WHERE aid = :aid{n};\n");
        }
        ten_reads += "END;\n";
        // Each client has one transaction at a time, so its number names it.
        let two_phase = format!(
            "{VARIABLES}BEGIN;\n{READ_WRITE}PREPARE TRANSACTION 'bench:client_id';\nCOMMIT PREPARED 'bench:client_id';\n"
        );
        let insert = "\\set n random(1, 1000000000)\nINSERT INTO inserts VALUES (:n, 'some text');\n";
        let scripts = [
            ("xid", "SELECT txid_current();\n"),
            ("insert", insert),
            ("ten-reads", &ten_reads),
            ("two-phase", &two_phase),
        ];
        let scripts = scripts.map(|(name, text)| (folder.join(name), text));
        for (path, text) in scripts {
            std::fs::write(path, text).map_err(|e| e.to_string())?;
        }
        Ok(Scripts(folder))
    }

    /// All workloads.
    pub fn workloads(&self) -> Vec<Workload> {
        let file =
            |name: &str, weight: u32| ["-f".into(), format!("{}@{weight}", self.0.join(name).display())];
        let built_in = |name: &str, weight: u32| ["-b".into(), format!("{name}@{weight}")];
        // PREPARE TRANSACTION takes no parameters: its name is put into the text.
        let protocol = |name: &'static str, protocol: &str, scripts: &[[String; 2]]| {
            let mut args = vec!["-M".into(), protocol.into()];
            args.extend(scripts.iter().flatten().cloned());
            Workload { name, args }
        };
        vec![
            protocol("xid", "prepared", &[file("xid", 1)]),
            protocol("single-insert", "prepared", &[file("insert", 1)]),
            protocol("read-write", "prepared", &[built_in("tpcb-like", 1)]),
            protocol("read-write-ten-reads", "prepared", &[file("ten-reads", 1)]),
            protocol("tenth-read-write", "prepared", &[built_in("tpcb-like", 1), built_in("select-only", 9)]),
            protocol("two-phase", "simple", &[file("two-phase", 1)]),
            protocol("tenth-two-phase", "simple", &[file("two-phase", 1), built_in("tpcb-like", 9)]),
            protocol("tenth-two-phase-reads", "simple", &[file("two-phase", 1), built_in("select-only", 9)]),
        ]
    }
}

impl Drop for Scripts {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
