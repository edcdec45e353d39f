CREATE ROLE dump_owner LOGIN;
CREATE ROLE dump_reader;
CREATE ROLE dump_writer IN ROLE dump_reader;
