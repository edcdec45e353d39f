//! Addresses: masks, the networks of this machine, names of hosts.

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// The mask with so many leading ones, for an address of this family.
pub(super) fn mask(network: IpAddr, bits: u32) -> Option<IpAddr> {
    match network {
        IpAddr::V4(_) if bits <= 32 => {
            Some(Ipv4Addr::from(u32::MAX.checked_shl(32 - bits).unwrap_or(0)).into())
        }
        IpAddr::V6(_) if bits <= 128 => {
            Some(Ipv6Addr::from(u128::MAX.checked_shl(128 - bits).unwrap_or(0)).into())
        }
        _ => None,
    }
}

/// Whether an address is in a network.
pub(super) fn is_within(address: IpAddr, network: IpAddr, mask: IpAddr) -> bool {
    match (address.to_canonical(), network, mask) {
        (IpAddr::V4(a), IpAddr::V4(n), IpAddr::V4(m)) => (u32::from(a) ^ u32::from(n)) & u32::from(m) == 0,
        (IpAddr::V6(a), IpAddr::V6(n), IpAddr::V6(m)) => (u128::from(a) ^ u128::from(n)) & u128::from(m) == 0,
        _ => false,
    }
}

/// The address in a system structure.
///
/// # Safety
/// `address` is null, or points to a valid address of the family that it names.
unsafe fn read_address(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: the caller's; the family tells which structure it is.
    unsafe {
        match i32::from((*address).sa_family) {
            libc::AF_INET => {
                let address = &*address.cast::<libc::sockaddr_in>();
                Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let address = &*address.cast::<libc::sockaddr_in6>();
                Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

/// Addresses of this machine, each with the mask of its network.
pub fn interfaces() -> Vec<(IpAddr, IpAddr)> {
    let mut found = Vec::new();
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: getifaddrs makes a list, which is read while it is there and freed once; its pointers are valid or null.
    unsafe {
        if libc::getifaddrs(&mut list) != 0 {
            return found;
        }
        let mut next = list;
        while let Some(interface) = next.as_ref() {
            let (address, mask) = (read_address(interface.ifa_addr), read_address(interface.ifa_netmask));
            found.extend(address.zip(mask));
            next = interface.ifa_next;
        }
        libc::freeifaddrs(list);
    }
    found
}

/// The name that a name server has for an address. May take long.
fn reverse(address: SocketAddr) -> Option<String> {
    let mut name = [0 as libc::c_char; 1025];
    // SAFETY: the structures are plain data of the sizes passed along; the name is terminated within its buffer.
    unsafe {
        let rc = match address {
            SocketAddr::V4(address) => {
                let mut raw: libc::sockaddr_in = std::mem::zeroed();
                raw.sin_family = libc::AF_INET as libc::sa_family_t;
                raw.sin_addr.s_addr = u32::from(*address.ip()).to_be();
                name_info((&raw const raw).cast(), size_of_val(&raw), &mut name)
            }
            SocketAddr::V6(address) => {
                let mut raw: libc::sockaddr_in6 = std::mem::zeroed();
                raw.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                raw.sin6_addr.s6_addr = address.ip().octets();
                raw.sin6_scope_id = address.scope_id();
                name_info((&raw const raw).cast(), size_of_val(&raw), &mut name)
            }
        };
        (rc == 0).then(|| CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned())
    }
}

/// # Safety
/// `address` points to a structure of `length` bytes.
unsafe fn name_info(address: *const libc::sockaddr, length: usize, name: &mut [libc::c_char]) -> libc::c_int {
    // SAFETY: the caller's, and a buffer with its length.
    unsafe {
        libc::getnameinfo(
            address,
            length as libc::socklen_t,
            name.as_mut_ptr(),
            name.len() as libc::socklen_t,
            std::ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    }
}

/// What name servers say of a client's address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostName {
    /// The name of the address.
    pub name: Option<String>,
    /// Whether that name leads to the address again. Only then is it to be believed.
    pub is_confirmed: bool,
}

impl HostName {
    /// The name of an address. May take long: not for a worker.
    pub fn name_of(address: SocketAddr) -> Option<String> {
        reverse(address)
    }

    /// Looks up the name of an address and the addresses of that name. May take long, so it must not run on a worker.
    pub fn of(address: SocketAddr) -> HostName {
        let Some(name) = reverse(address) else { return HostName::default() };
        let found = (name.as_str(), 0).to_socket_addrs();
        let is_confirmed =
            found.is_ok_and(|mut all| all.any(|a| a.ip().to_canonical() == address.ip().to_canonical()));
        HostName { name: Some(name), is_confirmed }
    }

    /// Whether it is this name, or ends so if the name begins with a dot.
    pub(super) fn fits(&self, wanted: &str) -> bool {
        let Some(name) = self.name.as_ref().filter(|_| self.is_confirmed) else { return false };
        if !wanted.starts_with('.') {
            return name.eq_ignore_ascii_case(wanted);
        }
        let cut = name.len().checked_sub(wanted.len());
        cut.and_then(|at| name.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks() {
        let within = |address: &str, network: &str, bits| {
            let network = network.parse().unwrap();
            is_within(address.parse().unwrap(), network, mask(network, bits).unwrap())
        };
        assert!(within("10.255.0.1", "10.0.0.0", 8) && !within("11.0.0.0", "10.0.0.0", 8));
        assert!(within("1.2.3.4", "9.9.9.9", 0) && !within("::1", "0.0.0.0", 0));
        assert!(within("::1", "::1", 128) && !within("::2", "::1", 128) && within("ff::", "::", 0));
        assert!(within("::ffff:10.1.1.1", "10.0.0.0", 8));
        assert_eq!(mask("1.2.3.4".parse().unwrap(), 33), None);
        assert!(interfaces().iter().any(|(address, _)| address.is_loopback()));
    }

    #[test]
    fn names_of_hosts() {
        let host = |name: &str| HostName { name: Some(name.into()), is_confirmed: true };
        assert!(host("Db.Example.com").fits("db.example.COM"));
        assert!(host("db.example.com").fits(".example.com") && !host("example.com").fits(".example.com"));
        assert!(!host("é").fits(".x"), "not in the middle of a character");
        assert!(!HostName { is_confirmed: false, ..host("a") }.fits("a"));
    }
}
