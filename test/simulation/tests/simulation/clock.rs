//! What must not depend on how fast the clock goes: here it stands still.

use runtime::sim::Simulation;

use crate::cluster::{Server, initialized_disk, small_options};

#[test]
fn uuids_ascend_in_a_session() {
    let simulation = Simulation::with_disk(11, &initialized_disk(&small_options(), &[]));
    let ran = simulation.run(|| {
        let server = Server::open(small_options());
        let client = server.connect(1);
        client.run("create table u (n int, id uuid, later uuid)").expect("a table is made");
        let fill = "insert into u select n, uuidv7(), uuidv7('1 day') from generate_series(1, 5000) n";
        client.run(fill).expect("rows are made");
        for column in ["id", "later"] {
            let descents = format!(
                "select count(*) from (select {column} <= lag({column}) over (order by n) as descends from u) s \
                 where descends"
            );
            assert_eq!(client.show(&descents), "0", "{column}");
        }
        let apart = "select max(uuid_extract_timestamp(id)) - min(uuid_extract_timestamp(id)) < '1 s' from u";
        assert_eq!(client.show(apart), "t");
        client.close();
        server.engine.shutdown().expect("the server shuts down");
    });
    ran.expect("nothing crashes the machine");
}
