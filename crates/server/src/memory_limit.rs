//! How much memory the server may take: `stampede.memory_limit`, or most of what there is.
//!
//! PostgreSQL has no such limit: there the system refuses a process memory, or kills one.

use base::settings::{ServerSettings, Setting};
use base::{SqlError, SqlResult, SqlState};
use runtime::memory;

/// Percent of the memory there is, without the setting. The rest is for what the allocator keeps in reserve, for stacks, for the system's own
/// cache of files, and for what a statement takes until it looks whether it may.
const PERCENT: u64 = 80;

/// Puts the limit into force; a reload does so too. Fails if it leaves nothing beside the memory that the server has taken for good.
pub fn apply(settings: &ServerSettings) -> SqlResult<()> {
    let mapped = settings.bytes(Setting::shared_buffers);
    let limit = match settings.int(Setting::stampede_memory_limit) {
        0 => None,
        // Somebody who wants more shared buffers than that gets a part of the rest.
        -1 => available(&read).map(|all| (all / 100 * PERCENT).max(mapped + all.saturating_sub(mapped) / 2)),
        _ => Some(settings.bytes(Setting::stampede_memory_limit)),
    };
    if let Some(limit) = limit
        && limit <= mapped
    {
        let mapped = mapped >> 20;
        let message =
            format!("\"stampede.memory_limit\" must be greater than the {mapped} MB of shared buffers");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    }
    memory::set_limit(limit.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)));
    Ok(())
}

/// What the system says is in no file that has a length.
fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Bytes that this process can have: the machine's, unless a control group or `ulimit -v` gives it less.
fn available(read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    [machine(read), control_groups(read), address_space(read)].into_iter().flatten().min()
}

/// From a line such as `MemTotal:  24000000 kB`.
fn machine(read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let text = read("/proc/meminfo")?;
    let words = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    words.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// From a line such as `Max address space  unlimited  unlimited  bytes`.
fn address_space(read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let text = read("/proc/self/limits")?;
    let words = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    words.split_whitespace().next()?.parse().ok()
}

/// The least that one of the control groups grants which this process is in, of either version. Lines are `number:controllers:path`.
fn control_groups(read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let text = read("/proc/self/cgroup")?;
    let least = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            many if many.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        // A container sees its own group as the root, whatever the path says.
        let groups = std::path::Path::new(path).ancestors().map(|group| group.to_string_lossy().into_owned());
        let limit = |group: String| read(&format!("{root}{}/{file}", group.trim_end_matches('/')));
        groups.filter_map(|group| limit(group)?.trim().parse::<u64>().ok()).min()
    };
    text.lines().filter_map(least).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;

    fn seen(files: &[(&str, &str)]) -> Option<u64> {
        available(&|path| {
            let (_, text) = files.iter().find(|(known, _)| *known == path)?;
            Some((*text).to_string())
        })
    }

    #[test]
    fn the_least_of_machine_group_and_process() {
        let machine = ("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:          100 kB\n");
        assert_eq!(seen(&[]), None);
        assert_eq!(seen(&[machine]), Some(16 * GB));
        let second = ("/proc/self/cgroup", "0::/a/b\n");
        let unlimited = ("/sys/fs/cgroup/a/b/memory.max", "max\n");
        assert_eq!(seen(&[machine, second, unlimited]), Some(16 * GB));
        let parent = ("/sys/fs/cgroup/a/memory.max", "4294967296\n");
        assert_eq!(seen(&[machine, second, unlimited, parent]), Some(4 * GB));
        let root = ("/sys/fs/cgroup/memory.max", "2147483648\n");
        assert_eq!(seen(&[machine, second, root]), Some(2 * GB));
        let first = ("/proc/self/cgroup", "3:cpu,cpuacct:/c\n2:hugetlb,memory:/c\n");
        let group = ("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "1073741824\n");
        assert_eq!(seen(&[machine, first, group]), Some(GB));
        let none = ("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(seen(&[machine, first, none]), Some(16 * GB));
        let process = ("/proc/self/limits", "Max address space         3221225472   unlimited   bytes\n");
        assert_eq!(seen(&[machine, process]), Some(3 * GB));
    }
}
