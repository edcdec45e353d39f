//! Processes that crash at a stop point while they work on a cluster.

use std::path::Path;
use std::process::Command;

use base::stop::{self, Action};

use super::Server;

/// For such a process: directory, point and passes that are let through.
const CRASH: &str = "STAMPEDE_TEST_CRASH";

/// In a process that [`Server::crash_at`] started: takes the steps, until it crashes. Elsewhere nothing.
pub fn crash_if_asked(before: &str, steps: impl FnOnce(&Path) -> Vec<String>) {
    let Ok(at) = std::env::var(CRASH) else { return };
    let [dir, point, skip] = at.split('|').collect::<Vec<_>>().try_into().expect("three parts");
    let server = Server::open_at(Path::new(dir));
    let s = server.connect();
    s.run(before).unwrap();
    let _armed = stop::arm_process(point, Action::Crash, skip.parse().expect("a number"));
    for step in steps(Path::new(dir)) {
        s.run(&step).unwrap();
        println!("done: {step}");
    }
    // The directory is another's.
    std::process::exit(0);
}

impl Server {
    /// Has a process run `test`, which calls [`crash_if_asked`], on the cluster, which is closed for it; returns how many steps were acknowledged.
    pub fn crash_at(&mut self, test: &str, (point, skip): (&str, u64)) -> usize {
        let (crashed, done) = self.crash_and_restart_after(|dir| {
            let mut child = Command::new(std::env::current_exe().expect("this program has a path"));
            child.args([test, "--exact", "--nocapture"]);
            let output = child.env(CRASH, format!("{}|{point}|{skip}", dir.display())).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            (!output.status.success(), printed.matches("done: ").count())
        });
        assert!(crashed, "{point} is not passed {skip} times");
        done
    }
}
