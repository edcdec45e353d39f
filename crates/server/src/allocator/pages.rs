//! Small pages for small blocks.
//!
//! Left to itself, mimalloc asks the system for huge pages (`madvise`). The first touch of one is a fault in which two megabytes are
//! wiped, during which nobody else runs on the worker: up to 10 ms where the machine is a virtual one that has yet to find the memory, and longer now and then.
//! A session that takes memory without end then has one such fault after the other, and others wait for their turn behind each.
//! Point queries gain nothing measurable from huge pages here. The buffer pool has them: it is touched once.

use std::ffi::c_int;

use libmimalloc_sys as mi;

/// mimalloc's number of its option `mi_option_allow_thp`, which the bindings lack.
const ALLOW_THP: mi::mi_option_t = 43;

unsafe extern "C" {
    fn mi_process_init();
}

/// Runs before all other code of the process takes memory: what mimalloc has reserved by then keeps its huge pages.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static BEFORE_ALL: extern "C" fn() = ask_for_small;

extern "C" fn ask_for_small() {
    let thp = |action: c_int, disabled: c_int| {
        // SAFETY: both actions take numbers only.
        unsafe { libc::prctl(action, disabled, 0, 0, 0) }
    };
    let disabled = thp(libc::PR_GET_THP_DISABLE, 0);
    // SAFETY: an option with this number is there, and any value will do; mimalloc may be made ready more than once.
    unsafe {
        mi::mi_option_set(ALLOW_THP, 0);
        mi_process_init();
    }
    // Without the option, mimalloc forbids them to the whole process, the buffer pool included.
    if disabled == 0 {
        thp(libc::PR_SET_THP_DISABLE, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, Layout};

    use crate::allocator::Allocator;

    /// Flags of the mapping that holds an address, as `/proc/self/smaps` has them.
    fn flags(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let bounds = range.map(|(a, b)| (usize::from_str_radix(a, 16), usize::from_str_radix(b, 16)));
            if let Some((Ok(first), Ok(end))) = bounds {
                inside = (first..end).contains(&address);
            } else if let Some(flags) = line.strip_prefix("VmFlags: ").filter(|_| inside) {
                return flags.to_owned();
            }
        }
        panic!("no mapping holds the block");
    }

    #[test]
    fn blocks_have_small_pages_and_others_may_have_huge_ones() {
        let layout = Layout::from_size_align(1 << 20, 8).unwrap();
        // SAFETY: the layout is not empty, and the block is freed once.
        unsafe {
            let block = Allocator.alloc(layout);
            block.write(1);
            let flags = flags(block.addr());
            assert!(!flags.split(' ').any(|flag| flag == "hg"), "{flags}");
            Allocator.dealloc(block, layout);
        }
        // SAFETY: it takes no memory.
        assert_eq!(unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) }, 0);
    }
}
