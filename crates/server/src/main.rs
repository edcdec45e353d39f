//! The `stampede` binary; `initdb`, `pg_ctl` and `postgres` when called by those names.

use server::allocator::Allocator;
use server::cli::{self, Commands};
use server::database;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let commands = Commands { open: database::open, create: database::create, verify: database::verify };
    std::process::exit(cli::main(&args, commands));
}
