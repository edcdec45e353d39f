//! Extensions as sessions see them, on an open cluster without a network.

mod extensions;
mod file_fdw;
mod functions;
mod golden;
#[path = "../../../command/tests/sql/support/mod.rs"]
mod support;

use support::Server;

/// A server with the modules.
fn server() -> Server {
    let server = Server::new();
    server.instance().modules().register(modules::all());
    server
}
