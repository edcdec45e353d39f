//! What sessions see of SQL, on an open cluster without a network. One program for all of them: each test program holds
//! the whole engine, and dozens of them fill a disk.

mod aggregates;
mod changes;
mod commands;
mod copying;
mod counters;
mod cursors;
mod databases;
mod definitions;
mod explain;
mod foreign_key_parts;
mod foreign_keys;
mod functions;
mod grouping_sets;
mod inheritance;
mod json_queries;
mod json_rows;
mod large_objects;
mod materialized;
mod merge;
mod names;
mod partitions;
mod plan_choice;
mod privileges;
mod queries;
mod rewriting;
mod rewriting_catalogs;
mod roles;
mod routines;
mod sequences;
mod session;
mod settings;
mod support;
mod transactions;
mod two_sessions;
mod types;
