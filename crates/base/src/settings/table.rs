//! PostgreSQL 18's settings: names, types, units, bounds, contexts and categories. The descriptions are ours.
//!
//! # The rule
//! Each setting does what it says, or cannot be set to what it would not do. None is accepted and ignored. So each is one of these:
//!
//! * `.works()`: any value that PostgreSQL would take has its effect.
//! * `.moot(why)`: any value is kept as it stands, because what it limits, prices or allows never happens here: where
//!   there are no such workers "so many of them at most" is true whatever the number is, and so is "plans may do this" where
//!   none does. No answer and no promise depends on the value. The text says why, in `pg_settings.extra_desc`.
//! * `.lacks(what)`: another value than the default asks for something that there is not, and is refused by that name (0A000). The
//!   default is then what the server does, even where PostgreSQL's is another.
//! * `.only(values, what)`: as `.lacks`, but these values mean what is done anyway.
//!
//! In between: some values of a setting that works may be refused, by [`checks`](super::checks).

use super::definition::Module::*;
use super::definition::*;

const GENETIC: &str = "Large joins are planned by a search that is not genetic.";
const JIT: &str = "Counts only with jit, which is not supported.";
const NO_CACHE: &str = "There is no such cache.";
const NO_PLAN: &str = "No plan does so.";
const NO_WRAPAROUND: &str =
    "Ids have 64 bits: nothing wraps around, and each VACUUM looks at all that may be frozen.";
const ONE_PROCESS: &str = "The server is one process and shares no memory with others.";
const ONE_APPLIES: &str = "One worker applies all changes of a subscription.";

settings! {
    "Customized Options" {
        auto_explain_log_analyze = bool(false).of(AutoExplain, "auto_explain.log_analyze").superuser().works()
            .about("Whether plans are logged with what their runs measured.");
        auto_explain_log_buffers = bool(false).of(AutoExplain, "auto_explain.log_buffers").superuser().works()
            .about("Whether plans are logged with the pages that they used.");
        auto_explain_log_format = choice("text", &["text", "xml", "json", "yaml"]).of(AutoExplain, "auto_explain.log_format").superuser().works()
            .about("Format of plans in the log.");
        auto_explain_log_level = choice("log", &["debug5", "debug4", "debug3", "debug2", "debug1", "info", "notice", "warning", "log"]).aliases(&[("debug", "debug2")]).of(AutoExplain, "auto_explain.log_level").superuser().works()
            .about("Level of the report of a plan.");
        auto_explain_log_min_duration = int(-1, -1, MAX).of(AutoExplain, "auto_explain.log_min_duration").superuser().ms().works()
            .about("Time from which on plans are logged; 0: all, -1: none.");
        auto_explain_log_nested_statements = bool(false).of(AutoExplain, "auto_explain.log_nested_statements").superuser().works()
            .about("Whether statements in functions are looked at too.");
        auto_explain_log_parameter_max_length = int(-1, -1, MAX).of(AutoExplain, "auto_explain.log_parameter_max_length").superuser().bytes().works()
            .about("Length at most of parameters' values in the log; -1: any, 0: no values.");
        auto_explain_log_settings = bool(false).of(AutoExplain, "auto_explain.log_settings").superuser().works()
            .about("Whether changed settings that shape plans are logged with them.");
        auto_explain_log_timing = bool(true).of(AutoExplain, "auto_explain.log_timing").superuser().works()
            .about("Whether nodes are timed, where runs are measured.");
        auto_explain_log_triggers = bool(false).of(AutoExplain, "auto_explain.log_triggers").superuser().works()
            .about("Whether triggers' times are logged with plans that were measured.");
        auto_explain_log_verbose = bool(false).of(AutoExplain, "auto_explain.log_verbose").superuser().works()
            .about("Whether plans are logged as by EXPLAIN VERBOSE.");
        auto_explain_log_wal = bool(false).of(AutoExplain, "auto_explain.log_wal").superuser().works()
            .about("Whether plans are logged with what they wrote to the log of changes.");
        auto_explain_sample_rate = real(1.0, 0.0, 1.0).of(AutoExplain, "auto_explain.sample_rate").superuser().works()
            .about("Share of statements that are looked at.");
        hnsw_ef_search = int(40, 1, 1000).of(Vector, "hnsw.ef_search").user().works()
            .about("Rows that a search of an HNSW index looks for.");
        hnsw_iterative_scan = choice("off", &["off", "relaxed_order", "strict_order"]).of(Vector, "hnsw.iterative_scan").user().works()
            .about("Whether a scan of an HNSW index goes on where more rows are wanted than it looked for.");
        hnsw_max_scan_tuples = int(20000, 1, MAX).of(Vector, "hnsw.max_scan_tuples").user().works()
            .about("Rows that a scan of an HNSW index which goes on meets at most.");
        hnsw_scan_mem_multiplier = real(1.0, 1.0, 1000.0).of(Vector, "hnsw.scan_mem_multiplier").user().works()
            .about("How many times work_mem a scan of an HNSW index which goes on may keep in mind.");
        ivfflat_iterative_scan = choice("off", &["off", "relaxed_order"]).of(Vector, "ivfflat.iterative_scan").user().works()
            .about("Whether a scan of an IVFFlat index goes on where more rows are wanted than its probes have.");
        ivfflat_max_probes = int(32768, 1, 32768).of(Vector, "ivfflat.max_probes").user().works()
            .about("Lists that a scan of an IVFFlat index which goes on looks through at most.");
        ivfflat_probes = int(1, 1, 32768).of(Vector, "ivfflat.probes").user().works()
            .about("Lists that a scan of an IVFFlat index looks through.");
        pg_stat_statements_max = int(5000, 100, 1073741823).of(StatStatements, "pg_stat_statements.max").postmaster().works()
            .about("Statements that are told apart at most.");
        pg_stat_statements_save = bool(true).of(StatStatements, "pg_stat_statements.save").sighup().works()
            .about("Whether figures are kept when the server is shut down.");
        pg_stat_statements_track = choice("top", &["none", "top", "all"]).of(StatStatements, "pg_stat_statements.track").superuser().works()
            .about("Which statements are counted.");
        pg_stat_statements_track_planning = bool(false).of(StatStatements, "pg_stat_statements.track_planning").superuser().works()
            .about("Whether the making of plans is counted.");
        pg_stat_statements_track_utility = bool(true).of(StatStatements, "pg_stat_statements.track_utility").superuser().works()
            .about("Whether statements without a plan are counted.");
        pg_trgm_similarity_threshold = real(0.3, 0.0, 1.0).of(Trigrams, "pg_trgm.similarity_threshold").user().works()
            .about("Similarity from which on two texts are alike: %.");
        pg_trgm_strict_word_similarity_threshold = real(0.5, 0.0, 1.0).of(Trigrams, "pg_trgm.strict_word_similarity_threshold").user().works()
            .about("Similarity from which on a word is like whole words of a text: <<%.");
        pg_trgm_word_similarity_threshold = real(0.6, 0.0, 1.0).of(Trigrams, "pg_trgm.word_similarity_threshold").user().works()
            .about("Similarity from which on a word is like a part of a text: <%.");
        plpgsql_check_asserts = bool(true).named("plpgsql.check_asserts").not_in_sample().user().works()
            .about("Whether ASSERT checks anything.");
        plpgsql_extra_errors = string("none").named("plpgsql.extra_errors").not_in_sample().user().list().works()
            .about("Dubious programming that is an error.");
        plpgsql_extra_warnings = string("none").named("plpgsql.extra_warnings").not_in_sample().user().list().works()
            .about("Dubious programming that is warned of.");
        plpgsql_print_strict_params = bool(false).named("plpgsql.print_strict_params").not_in_sample().user().works()
            .about("Whether failures of INTO STRICT show the query's parameters.");
        plpgsql_variable_conflict = choice("error", &["error", "use_variable", "use_column"]).named("plpgsql.variable_conflict").not_in_sample().superuser().works()
            .about("What a name means that is a variable's and a column's.");
        stampede_allow_root_access = bool(false).named("stampede.allow_root_access").postmaster().works()
            .about("Whether a server that runs as root lets COPY and its kin reach files outside the data directory, and run programs.");
        stampede_batch_execution = bool(true).named("stampede.batch_execution").user().explain().works()
            .about("Whether scans of many rows hand them to aggregations and hash joins as columns, a page at a time.");
        stampede_memory_limit = int(-1, -1, MAX).named("stampede.memory_limit").sighup().mb().works()
            .about("What the server may take, shared buffers included; 0: no limit, -1: 80 % of what the machine, its control group or ulimit grants.");
        stampede_open_during_recovery = bool(true).named("stampede.open_during_recovery").postmaster().works()
            .about("Whether connections are let in after a crash while pages are still being brought up to date.");
        stampede_workers = int(0, 0, 1024).named("stampede.workers").postmaster().works()
            .about("Worker threads; 0: one for each processor.");
    }
    "Client Connection Defaults / Locale and Formatting" {
        client_encoding = string("UTF8").user().report().works().about("Character set of the client.");
        DateStyle = string("ISO, MDY").user().report().list().works()
            .about("How dates and times are written, and how ambiguous ones are read.");
        default_text_search_config = string("pg_catalog.simple").user().works()
            .about("Text search configuration used when none is named.");
        extra_float_digits = int(1, -15, 3).user().works()
            .about("Digits added when floating-point values are written; above 0 the shortest exact form.");
        icu_validation_level = choice("warning", &["disabled", "debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"]).user().works()
            .about("Level of the report about an invalid ICU locale.");
        IntervalStyle = choice("postgres", &["postgres", "postgres_verbose", "sql_standard", "iso_8601"]).user().report().works()
            .about("How intervals are written.");
        lc_messages = string("").superuser().works().about("Language of messages.");
        lc_monetary = string("C").user().works().about("Locale for amounts of money.");
        lc_numeric = string("C").user().works().about("Locale for numbers.");
        lc_time = string("C").user().works().about("Locale for names of days and months.");
        TimeZone = string("GMT").user().report().works().about("Time zone in which timestamps are shown and read.");
        timezone_abbreviations = string("Default").user().works()
            .about("Set of time zone abbreviations: Default, Australia or India.");
    }
    "Client Connection Defaults / Other Defaults" {
        dynamic_library_path = string("$libdir").superuser().lacks("loading of libraries")
            .about("Where loadable modules are looked for.");
        extension_control_path = string("$system").superuser().lacks("an extension outside the server")
            .about("Where extensions' control files are looked for.");
        gin_fuzzy_search_limit = int(0, 0, MAX).user().works().about("Rows at most from a GIN index search.");
    }
    "Client Connection Defaults / Shared Library Preloading" {
        jit_provider = string("llvmjit").postmaster().lacks("compilation of expressions")
            .about("Library that compiles expressions.");
        local_preload_libraries = string("").user().list().quoted().works()
            .about("Libraries of the folder \"plugins\" loaded by each session; there are none.");
        session_preload_libraries = string("").superuser().list().quoted().works()
            .about("Libraries loaded by each session.");
        shared_preload_libraries = string("").postmaster().list().quoted().works()
            .about("Libraries loaded by the server.");
    }
    "Client Connection Defaults / Statement Behavior" {
        bytea_output = choice("hex", &["escape", "hex"]).user().works().about("How bytea values are written.");
        check_function_bodies = bool(true).user().works()
            .about("Whether function bodies are checked when they are created.");
        client_min_messages = choice("notice", &["debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"]).aliases(&[("debug", "debug2"), ("info", "notice"), ("fatal", "error"), ("panic", "error")]).user().works()
            .about("Least severe message sent to the client.");
        createrole_self_grant = string("").user().list().works()
            .about("Options a creator of a role grants itself on it.");
        default_table_access_method = string("heap").user().works().about("Access method of new tables.");
        default_tablespace = string("").user().works()
            .about("Tablespace of new tables and indexes.");
        default_toast_compression = choice("lz4", &["pglz", "lz4"]).user().works()
            .about("Compression of large values whose column names no method.");
        default_transaction_deferrable = bool(false).user().works()
            .about("Whether new transactions are deferrable.");
        default_transaction_isolation = choice("read committed", &["serializable", "repeatable read", "read committed", "read uncommitted"]).user().works()
            .about("Isolation level of new transactions.");
        default_transaction_read_only = bool(false).user().report().works()
            .about("Whether new transactions are read-only.");
        event_triggers = bool(true).superuser().moot("There are no event triggers.")
            .about("Whether event triggers fire.");
        gin_pending_list_limit = int(4096, 64, MAX).user().kb().works()
            .about("Size at most of a GIN index's pending list.");
        idle_in_transaction_session_timeout = int(0, 0, MAX).user().ms().works()
            .about("Time a session may idle inside a transaction; 0: any.");
        idle_session_timeout = int(0, 0, MAX).user().ms().works()
            .about("Time a session may idle outside a transaction; 0: any.");
        lock_timeout = int(0, 0, MAX).user().ms().works().about("Time to wait for a lock; 0: any.");
        restrict_nonsystem_relation_kind = string("").user().shapes_statements().not_in_sample().list().works()
            .about("Kinds of user relations that may not be used.");
        row_security = bool(true).user().shapes_statements().works()
            .about("Whether row security applies; off: queries that it would affect fail.");
        search_path = string("\"$user\", public").user().explain().report().list().quoted().works()
            .about("Schemas in which unqualified names are looked up.");
        session_replication_role = choice("origin", &["origin", "replica", "local"]).superuser().works()
            .about("Which triggers and rules fire.");
        statement_timeout = int(0, 0, MAX).user().ms().works().about("Time a statement may take; 0: any.");
        temp_tablespaces = string("").user().list().quoted().works()
            .about("Tablespaces of temporary tables and files.");
        transaction_deferrable = bool(false).user().no_reset().not_in_sample().works()
            .about("Whether a read-only serializable transaction waits until it is safe.");
        transaction_isolation = choice("read committed", &["serializable", "repeatable read", "read committed", "read uncommitted"]).user().no_reset().not_in_sample().works()
            .about("Isolation level of this transaction.");
        transaction_read_only = bool(false).user().no_reset().not_in_sample().works()
            .about("Whether this transaction is read-only.");
        transaction_timeout = int(0, 0, MAX).user().ms().works().about("Time a transaction may take; 0: any.");
        xmlbinary = choice("base64", &["base64", "hex"]).user().works()
            .about("How binary values are written in XML.");
        xmloption = choice("content", &["content", "document"]).user().shapes_statements().works()
            .about("Whether XML values are documents or content.");
    }
    "Connections and Authentication / Authentication" {
        authentication_timeout = int(60, 1, 600).sighup().s().works().about("Time a client has to authenticate.");
        gss_accept_delegation = bool(false).sighup().lacks("GSSAPI authentication")
            .about("Whether delegated GSSAPI credentials are accepted.");
        krb_caseins_users = bool(false).sighup().lacks("GSSAPI authentication")
            .about("Whether Kerberos user names ignore case.");
        krb_server_keyfile = string("").sighup().lacks("GSSAPI authentication")
            .about("Kerberos key file of the server.");
        md5_password_warnings = bool(true).user().works().about("Whether MD5 passwords are warned about.");
        oauth_validator_libraries = string("").sighup().list().lacks("OAuth authentication")
            .about("Libraries that validate OAuth tokens.");
        password_encryption = choice("scram-sha-256", &["md5", "scram-sha-256"]).user().works()
            .about("How new passwords are stored.");
        scram_iterations = int(4096, 1, MAX).user().report().works()
            .about("Iterations of SCRAM verifiers that are made.");
    }
    "Connections and Authentication / Connection Settings" {
        bonjour = bool(false).postmaster().lacks("Bonjour").about("Whether the server is announced through Bonjour.");
        bonjour_name = string("").postmaster().lacks("Bonjour").about("Name in Bonjour.");
        listen_addresses = string("localhost").postmaster().list().works()
            .about("Host names or addresses to listen on.");
        max_connections = int(10000, 1, 262143).postmaster().works().about("Clients at most.");
        port = int(5432, 1, 65535).postmaster().works().about("TCP port, also part of the socket's name.");
        reserved_connections = int(0, 0, 262143).postmaster().works()
            .about("Connections kept for roles that may use reserved ones.");
        superuser_reserved_connections = int(3, 0, 262143).postmaster().works()
            .about("Connections kept for superusers.");
        unix_socket_directories = string("/tmp").postmaster().list().quoted().works()
            .about("Directories of Unix sockets.");
        unix_socket_group = string("").postmaster().lacks("another group for the socket")
            .about("Group that owns the Unix socket.");
        unix_socket_permissions = int(511, 0, 511).postmaster().octal().works()
            .about("Access bits of the Unix socket.");
    }
    "Connections and Authentication / SSL" {
        ssl = bool(false).sighup().works().about("Whether TLS is offered.");
        ssl_ca_file = string("").sighup().works().about("File of TLS authorities.");
        ssl_cert_file = string("server.crt").sighup().works().about("File of the TLS certificate.");
        ssl_ciphers = string("HIGH:MEDIUM:+3DES:!aNULL").sighup().works().about("TLS 1.2 ciphers.");
        ssl_crl_dir = string("").sighup().works().about("Directory of revoked TLS certificates.");
        ssl_crl_file = string("").sighup().works().about("File of revoked TLS certificates.");
        ssl_dh_params_file = string("").sighup().works()
            .about("File of Diffie-Hellman parameters; none is used, so that TLS cannot be had with one.");
        ssl_groups = string("X25519:prime256v1").sighup().works()
            .about("Groups for key exchange: X25519, prime256v1, secp384r1.");
        ssl_key_file = string("server.key").sighup().works().about("File of the TLS key.");
        ssl_max_protocol_version = choice("", &["", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"]).sighup().works()
            .about("Newest TLS version used: 1.2 or 1.3.");
        ssl_min_protocol_version = choice("TLSv1.2", &["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"]).sighup().works()
            .about("Oldest TLS version used: 1.2 or 1.3.");
        ssl_passphrase_command = string("").sighup().works()
            .about("Command that prints the TLS key's passphrase; encrypted keys are not supported, so that TLS cannot be had with one.");
        ssl_passphrase_command_supports_reload = bool(false).sighup()
            .lacks("an encrypted key")
            .about("Whether the passphrase command runs on reload.");
        ssl_prefer_server_ciphers = bool(true).sighup().works().about("Whether the server's order of ciphers counts.");
        ssl_tls13_ciphers = string("").sighup().works().about("TLS 1.3 cipher suites.");
    }
    "Connections and Authentication / TCP Settings" {
        client_connection_check_interval = int(0, 0, MAX).user().ms().works()
            .about("Time between checks for a lost client while a statement runs.");
        tcp_keepalives_count = int(0, 0, MAX).user().works()
            .about("Lost keepalives after which a connection is dead.");
        tcp_keepalives_idle = int(0, 0, MAX).user().s().works().about("Idle time before a keepalive is sent.");
        tcp_keepalives_interval = int(0, 0, MAX).user().s().works().about("Time between keepalives.");
        tcp_user_timeout = int(0, 0, MAX).user().ms().works().about("Time that data may stay unacknowledged.");
    }
    "Developer Options" {
        allow_in_place_tablespaces = bool(false).superuser().not_in_sample().works()
            .about("Whether tablespaces may lie inside pg_tblspc.");
        allow_system_table_mods = bool(false).superuser().not_in_sample().works()
            .about("Whether system tables may be altered.");
        backtrace_functions = string("").superuser().not_in_sample().lacks("backtraces")
            .about("Functions whose errors are logged with a backtrace.");
        debug_discard_caches = int(0, 0, 0).superuser().not_in_sample().lacks("discarding of caches")
            .about("Whether caches are discarded at each chance.");
        debug_io_direct = string("").postmaster().not_in_sample().list().works()
            .about("Files read and written around the page cache.");
        debug_logical_replication_streaming = choice("buffered", &["buffered", "immediate"]).user().not_in_sample()
            .lacks("logical decoding").about("When logical decoding spills or streams.");
        debug_parallel_query = choice("off", &["off", "on", "regress"]).bool_words().user().explain().not_in_sample()
            .works().about("Whether a worker runs whole plans, for tests.");
        ignore_checksum_failure = bool(false).superuser().not_in_sample().lacks("reading of damaged pages")
            .about("Whether to go on after a checksum failure.");
        ignore_invalid_pages = bool(false).postmaster().not_in_sample().lacks("reading of damaged pages")
            .about("Whether recovery goes on after a reference to an invalid page.");
        ignore_system_indexes = bool(false).backend().not_in_sample().lacks("work without system indexes")
            .about("Whether system indexes are not used.");
        jit_debugging_support = bool(false).superuser_backend().not_in_sample().lacks("compilation of expressions")
            .about("Whether compiled functions are registered with a debugger.");
        jit_dump_bitcode = bool(false).superuser().not_in_sample().lacks("compilation of expressions")
            .about("Whether compiled code is written out.");
        jit_expressions = bool(true).user().not_in_sample().moot(JIT).about("Whether expressions are compiled.");
        jit_profiling_support = bool(false).superuser_backend().not_in_sample().lacks("compilation of expressions")
            .about("Whether compiled functions are registered with a profiler.");
        jit_tuple_deforming = bool(true).user().not_in_sample().moot(JIT)
            .about("Whether decoding of rows is compiled.");
        post_auth_delay = int(0, 0, 2147).backend().s().not_in_sample().lacks("a pause for debuggers")
            .about("Pause after authentication, for debuggers.");
        pre_auth_delay = int(0, 0, 60).sighup().s().not_in_sample().lacks("a pause for debuggers")
            .about("Pause before authentication, for debuggers.");
        remove_temp_files_after_crash = bool(true).sighup().not_in_sample()
            .lacks("keeping temporary files after a crash")
            .about("Whether temporary files are removed after a crash.");
        send_abort_for_crash = bool(false).sighup().not_in_sample().lacks("a process for each session")
            .about("Whether processes are aborted after a crash.");
        send_abort_for_kill = bool(false).sighup().not_in_sample().lacks("a process for each session")
            .about("Whether stuck processes are aborted.");
        trace_connection_negotiation = bool(false).postmaster().not_in_sample().works()
            .about("Whether connection negotiation is logged.");
        trace_notify = bool(false).user().not_in_sample().lacks("tracing of notifications")
            .about("Whether LISTEN and NOTIFY are traced.");
        trace_sort = bool(false).user().not_in_sample().lacks("tracing of sorts").about("Whether sorts are traced.");
        wal_consistency_checking = string("").superuser().not_in_sample().list().lacks("checking of redo")
            .about("Resource managers whose redo is checked.");
        zero_damaged_pages = bool(false).superuser().not_in_sample().lacks("reading of damaged pages")
            .about("Whether damaged pages are read as empty.");
    }
    "Error Handling" {
        data_sync_retry = bool(false).postmaster().lacks("going on after a failed sync")
            .about("Whether the server goes on after a failed sync.");
        exit_on_error = bool(false).user().works()
            .about("Whether each error ends the session.");
        recovery_init_sync_method = choice("fsync", &["fsync", "syncfs"]).sighup()
            .lacks("syncing of whole file systems").about("How files are synced before recovery.");
        restart_after_crash = bool(false).sighup().lacks("restarting after a crash")
            .about("Whether the server restarts after a crash of a session.");
    }
    "File Locations" {
        config_file = string("").postmaster().works().about("Main configuration file.");
        data_directory = string("").postmaster().works().about("Data directory.");
        external_pid_file = string("").postmaster().works()
            .about("Additional file with the server's process number.");
        hba_file = string("").postmaster().works().about("File of client authentication rules.");
        ident_file = string("").postmaster().works().about("File of user name maps.");
    }
    "Lock Management" {
        deadlock_timeout = int(1000, 1, MAX).superuser().ms().works()
            .about("Time to wait for a lock before looking for a deadlock.");
        max_locks_per_transaction = int(64, 10, MAX).postmaster().works()
            .about("Locks at most for each transaction, on average; weak ones on relations are not counted.");
        max_pred_locks_per_page = int(2, 0, MAX).sighup().works()
            .about("Row predicate locks on a page before it is locked as a whole.");
        max_pred_locks_per_relation = int(-2, MIN, MAX).sighup().works()
            .about("Predicate locks on a relation before it is locked as a whole.");
        max_pred_locks_per_transaction = int(64, 10, MAX).postmaster().works()
            .about("Predicate locks at most for each transaction, on average.");
    }
    "Preset Options" {
        block_size = int(8192, 8192, 8192).internal().not_in_sample().works().about("Size of a page.");
        data_checksums = bool(true).internal().not_in_sample().computed().works()
            .about("Whether pages carry checksums.");
        data_directory_mode = int(448, 0, 511).internal().octal().not_in_sample().computed().works()
            .about("Access bits of the data directory.");
        debug_assertions = bool(false).internal().not_in_sample().works()
            .about("Whether the server was built with assertions.");
        huge_pages_status = choice("off", &["off", "on", "unknown"]).internal().not_in_sample().works()
            .about("Whether huge pages are used.");
        in_hot_standby = bool(false).internal().not_in_sample().report().works()
            .about("Whether the server is a standby that answers queries.");
        integer_datetimes = bool(true).internal().not_in_sample().report().works()
            .about("Whether dates and times are integers.");
        max_function_args = int(100, 100, 100).internal().not_in_sample().works()
            .about("Arguments of a function at most.");
        max_identifier_length = int(63, 63, 63).internal().not_in_sample().works().about("Length of a name at most.");
        max_index_keys = int(32, 32, 32).internal().not_in_sample().works().about("Columns of an index at most.");
        num_os_semaphores = int(0, 0, MAX).internal().not_in_sample().computed().works().about("Semaphores used.");
        segment_size = int(131072, 131072, 131072).internal().pages().not_in_sample().works()
            .about("Pages of one file of a relation.");
        server_encoding = string("UTF8").internal().not_in_sample().report().works()
            .about("Character set of the server.");
        server_version = string("18.1 (Stampede 0.1.0)").internal().not_in_sample().report().works()
            .about("Version of PostgreSQL that the server is compatible with.");
        server_version_num = int(180001, 180001, 180001).internal().not_in_sample().works()
            .about("The same as a number.");
        shared_memory_size = int(0, 0, MAX).internal().mb().not_in_sample().computed().works()
            .about("Memory of the shared area.");
        shared_memory_size_in_huge_pages = int(-1, -1, MAX).internal().not_in_sample().computed().works()
            .about("Huge pages that the shared area would take.");
        ssl_library = string("rustls").internal().not_in_sample().works().about("Library that TLS comes from.");
        wal_block_size = int(8192, 8192, 8192).internal().not_in_sample().works()
            .about("Size of a page of the write-ahead log.");
        wal_segment_size = int(16777216, 1048576, 1073741824).internal().bytes().not_in_sample().computed().works()
            .about("Size of a file of the write-ahead log.");
    }
    "Query Tuning / Genetic Query Optimizer" {
        geqo = bool(true).user().explain().lacks("planning of large joins without a heuristic")
            .about("Whether large joins are planned by genetic search.");
        geqo_effort = int(5, 1, 10).user().explain().moot(GENETIC)
            .about("Effort from which the other genetic settings follow.");
        geqo_generations = int(0, 0, MAX).user().explain().moot(GENETIC).about("Rounds of the genetic search.");
        geqo_pool_size = int(0, 0, MAX).user().explain().moot(GENETIC).about("Individuals of the genetic search.");
        geqo_seed = real(0.0, 0.0, 1.0).user().explain().moot(GENETIC).about("Seed of the genetic search.");
        geqo_selection_bias = real(2.0, 1.5, 2.0).user().explain().moot(GENETIC)
            .about("Selective pressure of the genetic search.");
        geqo_threshold = int(12, 2, MAX).user().explain().works()
            .about("Relations from which on a join is planned by genetic search.");
    }
    "Query Tuning / Other Planner Options" {
        constraint_exclusion = choice("partition", &["partition", "on", "off"]).bool_words().user().explain()
            .moot(NO_PLAN)
            .about("Whether constraints are used to leave out tables.");
        cursor_tuple_fraction = real(0.1, 0.0, 1.0).user().explain().works()
            .about("Share of a cursor's rows that is expected to be fetched.");
        default_statistics_target = int(100, 1, 10000).user().works()
            .about("Detail of statistics where a column says nothing else.");
        from_collapse_limit = int(8, 1, MAX).user().explain().works()
            .about("Relations up to which subqueries are merged into FROM.");
        jit = bool(false).user().explain().lacks("compilation of expressions")
            .about("Whether expressions may be compiled.");
        join_collapse_limit = int(8, 1, MAX).user().explain().works()
            .about("Relations up to which explicit joins are reordered.");
        plan_cache_mode = choice("auto", &["auto", "force_generic_plan", "force_custom_plan"]).user().explain().works()
            .about("Whether prepared statements use generic or custom plans.");
        recursive_worktable_factor = real(10.0, 0.001, 1e6).user().explain()
            .lacks("another estimate for recursive queries")
            .about("Expected size of a recursive query's working table.");
    }
    "Query Tuning / Planner Cost Constants" {
        cpu_index_tuple_cost = real(0.005, 0.0, 1.79769e+308).user().explain().works()
            .about("Cost of an index entry.");
        cpu_operator_cost = real(0.0025, 0.0, 1.79769e+308).user().explain().works()
            .about("Cost of an operator or function call.");
        cpu_tuple_cost = real(0.01, 0.0, 1.79769e+308).user().explain().works().about("Cost of a row.");
        effective_cache_size = int(524288, 1, MAX).user().pages().explain().works()
            .about("Memory that is expected to cache data.");
        jit_above_cost = real(100000.0, -1.0, 1.79769e+308).user().explain().moot(JIT)
            .about("Cost from which on expressions are compiled.");
        jit_inline_above_cost = real(500000.0, -1.0, 1.79769e+308).user().explain().moot(JIT)
            .about("Cost from which on compiled functions are inlined.");
        jit_optimize_above_cost = real(500000.0, -1.0, 1.79769e+308).user().explain().moot(JIT)
            .about("Cost from which on compiled code is optimized.");
        min_parallel_index_scan_size = int(64, 0, 715827882).user().pages().explain().works()
            .about("Index size from which on parallel passes are considered.");
        min_parallel_table_scan_size = int(1024, 0, 715827882).user().pages().explain().works()
            .about("Table size from which on tables are read, and indexes built, in parallel.");
        parallel_setup_cost = real(1000.0, 0.0, 1.79769e+308).user().explain().works()
            .about("Cost of starting parallel workers.");
        parallel_tuple_cost = real(0.1, 0.0, 1.79769e+308).user().explain().works()
            .about("Cost of passing a row between workers.");
        random_page_cost = real(4.0, 0.0, 1.79769e+308).user().explain().works()
            .about("Cost of a page read out of order.");
        seq_page_cost = real(1.0, 0.0, 1.79769e+308).user().explain().works().about("Cost of a page read in order.");
    }
    "Query Tuning / Planner Method Configuration" {
        enable_async_append = bool(true).user().explain().moot(NO_PLAN)
            .about("Whether plans may append asynchronously.");
        enable_bitmapscan = bool(true).user().explain().works().about("Whether plans may use bitmap scans.");
        enable_distinct_reordering = bool(true).user().explain().moot(NO_PLAN)
            .about("Whether DISTINCT columns may be reordered.");
        enable_gathermerge = bool(true).user().explain().works()
            .about("Whether plans may merge workers' sorted rows.");
        enable_group_by_reordering = bool(true).user().explain().works()
            .about("Whether GROUP BY columns may be reordered.");
        enable_hashagg = bool(true).user().explain().works().about("Whether plans may aggregate by hashing.");
        enable_hashjoin = bool(true).user().explain().works().about("Whether plans may join by hashing.");
        enable_incremental_sort = bool(true).user().explain().works()
            .about("Whether plans may sort what is sorted in part.");
        enable_indexonlyscan = bool(true).user().explain().works()
            .about("Whether plans may read rows from an index alone.");
        enable_indexscan = bool(true).user().explain().works().about("Whether plans may use index scans.");
        enable_material = bool(true).user().explain().works()
            .about("Whether plans may keep rows for a second reading.");
        enable_memoize = bool(true).user().explain().works()
            .about("Whether plans may remember results of inner scans.");
        enable_mergejoin = bool(true).user().explain().works().about("Whether plans may join by merging.");
        enable_nestloop = bool(true).user().explain().works().about("Whether plans may join by nested loops.");
        enable_parallel_append = bool(true).user().explain().moot(NO_PLAN)
            .about("Whether plans may append in parallel.");
        enable_parallel_hash = bool(true).user().explain().moot(NO_PLAN)
            .about("Whether plans may build hash tables in parallel.");
        enable_partition_pruning = bool(true).user().explain().works()
            .about("Whether partitions are left out at planning and execution.");
        enable_partitionwise_aggregate = bool(false).user().explain().moot(NO_PLAN)
            .about("Whether partitions may be aggregated one by one.");
        enable_partitionwise_join = bool(false).user().explain().works()
            .about("Whether partitions may be joined one by one.");
        enable_presorted_aggregate = bool(true).user().explain().works()
            .about("Whether plans may sort the input of ordered aggregates.");
        enable_self_join_elimination = bool(true).user().explain().moot(NO_PLAN)
            .about("Whether needless self-joins are removed.");
        enable_seqscan = bool(true).user().explain().works().about("Whether plans may scan whole tables.");
        enable_sort = bool(true).user().explain().works().about("Whether plans may sort.");
        enable_tidscan = bool(true).user().explain().works().about("Whether plans may fetch rows by ctid.");
    }
    "Replication / Primary Server" {
        synchronized_standby_slots = string("").sighup().list().lacks("replication")
            .about("Slots that logical senders wait for.");
        synchronous_standby_names = string("").sighup().list().works()
            .about("Standbys that a commit waits for.");
    }
    "Replication / Sending Servers" {
        idle_replication_slot_timeout = int(0, 0, MAX).sighup().s().works()
            .about("Time a replication slot may stay idle.");
        max_replication_slots = int(10, 0, 262143).postmaster().works().about("Replication slots at most.");
        max_slot_wal_keep_size = int(-1, -1, MAX).sighup().mb().works()
            .about("Log kept at most for replication slots.");
        max_wal_senders = int(10, 0, 262143).postmaster().works().about("Replication senders at most.");
        track_commit_timestamp = bool(false).postmaster().lacks("keeping times of commits")
            .about("Whether times of commits are kept.");
        wal_keep_size = int(0, 0, MAX).sighup().mb().works().about("Log kept behind its end, for standbys.");
        wal_sender_timeout = int(60000, 0, MAX).user().ms().works()
            .about("Time a standby may stay silent.");
    }
    "Replication / Standby Servers" {
        hot_standby = bool(true).postmaster().works().about("Whether a standby answers queries.");
        hot_standby_feedback = bool(false).sighup().works()
            .about("Whether a standby reports its oldest snapshot.");
        max_standby_archive_delay = int(30000, -1, MAX).sighup().ms().works()
            .about("Time that archived log waits for queries on a standby.");
        max_standby_streaming_delay = int(30000, -1, MAX).sighup().ms().works()
            .about("Time that streamed log waits for queries on a standby.");
        primary_conninfo = string("").sighup().works().about("How a standby connects to its primary.");
        primary_slot_name = string("").sighup().works().about("Replication slot that a standby uses.");
        recovery_min_apply_delay = int(0, 0, MAX).sighup().ms().works()
            .about("Time by which a standby stays behind.");
        sync_replication_slots = bool(false).sighup().lacks("replication")
            .about("Whether a standby copies its primary's slots.");
        wal_receiver_create_temp_slot = bool(false).sighup().works()
            .about("Whether a standby makes a temporary slot.");
        wal_receiver_status_interval = int(10, 0, 2147483).sighup().s().works()
            .about("Time between a standby's status reports.");
        wal_receiver_timeout = int(60000, 0, MAX).sighup().ms().works()
            .about("Time a primary may stay silent.");
        wal_retrieve_retry_interval = int(5000, 1, MAX).sighup().ms().works()
            .about("Time between attempts to get log.");
    }
    "Replication / Subscribers" {
        max_active_replication_origins = int(10, 0, 262143).postmaster().works()
            .about("Replication origins at most.");
        max_logical_replication_workers = int(4, 0, 262143).postmaster().works()
            .about("Logical replication workers at most.");
        max_parallel_apply_workers_per_subscription = int(2, 0, 1024).sighup().moot(ONE_APPLIES)
            .about("Parallel apply workers of a subscription at most.");
        max_sync_workers_per_subscription = int(2, 0, 262143).sighup().works()
            .about("Table copying workers of a subscription at most.");
    }
    "Reporting and Logging / Process Title" {
        cluster_name = string("").postmaster().works()
            .about("Name of the server in process titles.");
        update_process_title = bool(false).superuser().lacks("a title for each process")
            .about("Whether process titles show what runs.");
    }
    "Reporting and Logging / What to Log" {
        application_name = string("").user().not_in_sample().report().works()
            .about("Name that the application gives itself.");
        debug_pretty_print = bool(true).user().moot("No tree is printed.")
            .about("Whether printed trees are indented.");
        debug_print_parse = bool(false).user().lacks("logging of trees").about("Whether parse trees are logged.");
        debug_print_plan = bool(false).user().lacks("logging of trees").about("Whether plans are logged.");
        debug_print_rewritten = bool(false).user().lacks("logging of trees")
            .about("Whether rewritten trees are logged.");
        log_autovacuum_min_duration = int(600000, -1, MAX).sighup().ms().works()
            .about("Time from which on automatic vacuums are logged.");
        log_checkpoints = bool(true).sighup().works()
            .about("Whether checkpoints are logged.");
        log_connections = string("").superuser_backend().list().works()
            .about("Which steps of a connection are logged.");
        log_disconnections = bool(false).superuser_backend().works().about("Whether ends of sessions are logged.");
        log_duration = bool(false).superuser().works().about("Whether times of statements are logged.");
        log_error_verbosity = choice("default", &["terse", "default", "verbose"]).superuser().works()
            .about("How much of an error is logged.");
        log_hostname = bool(false).sighup().works()
            .about("Whether clients are logged by host name.");
        log_line_prefix = string("%m [%p] ").sighup().works().about("What stands before each log line.");
        log_lock_failures = bool(false).superuser().lacks("logging of locks")
            .about("Whether failed attempts to lock are logged.");
        log_lock_waits = bool(false).superuser().works()
            .about("Whether long waits for locks are logged.");
        log_parameter_max_length = int(-1, -1, 1073741823).superuser().bytes().works()
            .about("Bytes of each parameter logged with statements.");
        log_parameter_max_length_on_error = int(0, -1, 1073741823).user().bytes().works()
            .about("Bytes of each parameter logged with errors.");
        log_recovery_conflict_waits = bool(false).sighup().works()
            .about("Whether long waits of a standby's recovery are logged.");
        log_replication_commands = bool(false).superuser().works()
            .about("Whether replication commands are logged.");
        log_statement = choice("none", &["none", "ddl", "mod", "all"]).superuser().works()
            .about("Which statements are logged.");
        log_temp_files = int(-1, -1, MAX).superuser().kb().works()
            .about("Size from which on temporary files are logged.");
        log_timezone = string("GMT").sighup().works().about("Time zone of the log.");
    }
    "Reporting and Logging / When to Log" {
        log_min_duration_sample = int(-1, -1, MAX).superuser().ms().works()
            .about("Time from which on a sample of statements is logged.");
        log_min_duration_statement = int(-1, -1, MAX).superuser().ms().works()
            .about("Time from which on statements are logged.");
        log_min_error_statement = choice("error", &["debug5", "debug4", "debug3", "debug2", "debug1", "info", "notice", "warning", "error", "log", "fatal", "panic"]).aliases(&[("debug", "debug2")]).superuser().works()
            .about("Least severe error that is logged with its statement.");
        log_min_messages = choice("warning", &["debug5", "debug4", "debug3", "debug2", "debug1", "info", "notice", "warning", "error", "log", "fatal", "panic"]).aliases(&[("debug", "debug2")]).superuser().works()
            .about("Least severe message that is logged.");
        log_startup_progress_interval = int(10000, 0, MAX).sighup().ms().works()
            .about("Time between reports of a long start.");
        log_statement_sample_rate = real(1.0, 0.0, 1.0).superuser().works()
            .about("Share of statements above log_min_duration_sample that is logged.");
        log_transaction_sample_rate = real(0.0, 0.0, 1.0).superuser().works()
            .about("Share of transactions whose statements are all logged.");
    }
    "Reporting and Logging / Where to Log" {
        event_source = string("PostgreSQL").postmaster().lacks("the Windows event log")
            .about("Name in the Windows event log.");
        log_destination = string("stderr").sighup().list().works()
            .about("Where the log goes.");
        log_directory = string("log").sighup().works()
            .about("Directory of log files.");
        log_file_mode = int(384, 0, 511).sighup().octal().works()
            .about("Access bits of log files.");
        log_filename = string("postgresql-%Y-%m-%d_%H%M%S.log").sighup()
            .works().about("Pattern of log file names.");
        log_rotation_age = int(1440, 0, 35791394).sighup().min().works()
            .about("Time after which a new log file begins.");
        log_rotation_size = int(10240, 0, MAX).sighup().kb().works()
            .about("Size after which a new log file begins.");
        log_truncate_on_rotation = bool(false).sighup().works()
            .about("Whether a log file of the same name is emptied.");
        logging_collector = bool(false).postmaster().works()
            .about("Whether a collector writes log files.");
        syslog_facility = choice("local0", &["local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"]).sighup()
            .lacks("syslog").about("Facility of syslog.");
        syslog_ident = string("postgres").sighup().lacks("syslog").about("Program name in syslog.");
        syslog_sequence_numbers = bool(true).sighup().lacks("syslog").about("Whether syslog messages are numbered.");
        syslog_split_messages = bool(true).sighup().lacks("syslog")
            .about("Whether syslog messages are split into lines.");
    }
    "Resource Usage / Asynchronous Behavior" {
        // Of PostgreSQL up to version 16; not among the settings of 18.
        old_snapshot_threshold = int(-1, -1, 86400).postmaster().min().works()
            .about("Age from which a snapshot may lose rows that it sees; -1: never (a setting of PostgreSQL up to 16).");
    }
    "Resource Usage / Background Writer" {
        bgwriter_delay = int(200, 10, 10000).sighup().ms().works()
            .about("Pause between rounds of the background writer.");
        bgwriter_flush_after = int(0, 0, 256).sighup().pages().lacks("asking the system to write back")
            .about("Pages after which the background writer asks for write-back.");
        bgwriter_lru_maxpages = int(100, 0, 1073741823).sighup().lacks("another pace of the background writer")
            .about("Pages at most in a round of the background writer.");
        bgwriter_lru_multiplier = real(2.0, 0.0, 10.0).sighup().lacks("another pace of the background writer")
            .about("Multiple of recent demand that the background writer cleans.");
    }
    "Resource Usage / Disk" {
        file_copy_method = choice("copy", &["copy", "clone"]).user().lacks("cloning of files")
            .about("How files are copied.");
        max_notify_queue_pages = int(1048576, 64, MAX).postmaster().works()
            .about("Pages at most of the notification queue.");
        temp_file_limit = int(-1, -1, MAX).superuser().kb().works()
            .about("Temporary files of a session at most.");
    }
    "Resource Usage / I/O" {
        backend_flush_after = int(0, 0, 256).user().pages().lacks("asking the system to write back")
            .about("Pages after which a session asks for write-back.");
        effective_io_concurrency = int(16, 0, 1000).user().explain().works()
            .about("Reads that may be under way at once.");
        io_combine_limit = int(16, 1, 128).user().pages().works()
            .about("Size at most of a read of several pages.");
        io_max_combine_limit = int(16, 1, 128).postmaster().pages().works()
            .about("Upper bound of io_combine_limit.");
        io_max_concurrency = int(-1, -1, 1024).postmaster().works()
            .about("Reads under way at most for one scan; -1: as the other settings say.");
        io_method = choice("worker", &["sync", "worker", "io_uring"]).postmaster().works()
            .about("How pages are read ahead.");
        io_workers = int(3, 1, 32).sighup().works()
            .about("Threads at most that read ahead, if io_method is worker.");
        maintenance_io_concurrency = int(16, 0, 1000).user().explain().works()
            .about("Reads that may be under way at once in maintenance.");
    }
    "Resource Usage / Kernel Resources" {
        max_files_per_process = int(1000, 64, MAX).postmaster().works().about("Files open at most.");
    }
    "Resource Usage / Memory" {
        autovacuum_work_mem = int(-1, -1, MAX).sighup().kb().works()
            .about("Memory of each automatic vacuum.");
        commit_timestamp_buffers = int(0, 0, 131072).postmaster().pages().moot(NO_CACHE)
            .about("Buffers for times of commits.");
        dynamic_shared_memory_type = choice("posix", &["posix", "sysv", "mmap"]).postmaster().moot(ONE_PROCESS)
            .about("Kind of dynamic shared memory.");
        hash_mem_multiplier = real(2.0, 1.0, 1000.0).user().explain().works()
            .about("Multiple of work_mem that hash tables may use.");
        huge_page_size = int(0, 0, MAX).postmaster().kb().lacks("another kind of memory for the buffer pool")
            .about("Size of huge pages.");
        huge_pages = choice("try", &["off", "on", "try"]).bool_words().postmaster()
            .lacks("another kind of memory for the buffer pool").about("Whether huge pages are used.");
        logical_decoding_work_mem = int(65536, 64, MAX).user().kb().works()
            .about("Memory of logical decoding.");
        maintenance_work_mem = int(65536, 64, MAX).user().kb().works().about("Memory of maintenance operations.");
        max_prepared_transactions = int(0, 0, 262143).postmaster().works().about("Prepared transactions at most.");
        max_stack_depth = int(2048, 100, MAX).superuser().kb().works().about("Stack at most.");
        min_dynamic_shared_memory = int(0, 0, MAX).postmaster().mb().moot(ONE_PROCESS)
            .about("Dynamic shared memory set aside at start.");
        multixact_member_buffers = int(32, 16, 131072).postmaster().pages().works()
            .about("Buffers for members of sets of lockers. As many as help, unless this or multixact_offset_buffers is set.");
        multixact_offset_buffers = int(16, 16, 131072).postmaster().pages().works()
            .about("Buffers for sets of lockers. As many as help, unless this or multixact_member_buffers is set.");
        notify_buffers = int(16, 16, 131072).postmaster().pages().moot(NO_CACHE)
            .about("Buffers for the notification queue.");
        serializable_buffers = int(32, 16, 131072).postmaster().pages().moot(NO_CACHE)
            .about("Buffers for serializable transactions.");
        shared_buffers = int(16384, 16, 1073741823).postmaster().pages().works().about("Pages of the buffer pool.");
        shared_memory_type = choice("mmap", &["sysv", "mmap"]).postmaster().moot(ONE_PROCESS)
            .about("Kind of shared memory.");
        subtransaction_buffers = int(0, 0, 131072).postmaster().pages().moot(NO_CACHE)
            .about("Buffers for parents of subtransactions.");
        temp_buffers = int(1024, 100, 1073741823).user().pages().explain()
            .moot("Temporary tables use the buffer pool of all sessions.")
            .about("Pages of temporary tables kept by a session.");
        transaction_buffers = int(0, 0, 131072).postmaster().pages().works()
            .about("Buffers for states of transactions.");
        vacuum_buffer_usage_limit = int(2048, 0, 16777216).user().kb().works()
            .about("Ring of buffers that VACUUM and ANALYZE use.");
        work_mem = int(4096, 64, MAX).user().kb().explain().works().about("Memory of each sort or hash table.");
    }
    "Resource Usage / Worker Processes" {
        max_parallel_maintenance_workers = int(2, 0, 1024).user().works()
            .about("Workers at most for a maintenance operation.");
        max_parallel_workers = int(8, 0, 1024).user().explain().works()
            .about("Parallel workers active at most.");
        max_parallel_workers_per_gather = int(2, 0, 1024).user().explain().works()
            .about("Workers at most for a node of a plan.");
        max_worker_processes = int(8, 0, 262143).postmaster()
            .moot("Workers are threads: `max_parallel_workers` alone limits them.")
           .about("Background workers at most.");
        parallel_leader_participation = bool(true).user().explain().works()
            .about("Whether the leader works beside its workers.");
    }
    "Statistics / Cumulative Query and Index Statistics" {
        stats_fetch_consistency = choice("cache", &["none", "cache", "snapshot"]).user().works()
            .about("How consistent statistics are within a transaction.");
        track_activities = bool(true).superuser().works()
            .about("Whether what sessions do is shown.");
        track_activity_query_size = int(1024, 100, 1048576).postmaster().bytes()
            .lacks("cutting of the statements that are shown").about("Bytes of each session's statement shown.");
        track_cost_delay_timing = bool(false).superuser().works()
            .about("Whether vacuum delays are timed.");
        track_counts = bool(true).superuser().works().about("Whether activity on tables is counted.");
        track_functions = choice("none", &["none", "pl", "all"]).superuser().works()
            .about("Which functions' calls are counted.");
        track_io_timing = bool(false).superuser().works().about("Whether reads and writes are timed.");
        track_wal_io_timing = bool(false).superuser().works()
            .about("Whether writes of the log are timed.");
    }
    "Statistics / Monitoring" {
        compute_query_id = choice("auto", &["auto", "regress", "on", "off"]).bool_words().superuser().works()
            .about("Whether statements get an identifier; auto: if a module wants them.");
        log_executor_stats = bool(false).superuser().lacks("logging of the use of resources")
            .about("Whether resource use of execution is logged.");
        log_parser_stats = bool(false).superuser().lacks("logging of the use of resources")
            .about("Whether resource use of parsing is logged.");
        log_planner_stats = bool(false).superuser().lacks("logging of the use of resources")
            .about("Whether resource use of planning is logged.");
        log_statement_stats = bool(false).superuser().lacks("logging of the use of resources")
            .about("Whether resource use of statements is logged.");
    }
    "Vacuuming / Automatic Vacuuming" {
        autovacuum = bool(true).sighup().works()
            .about("Whether tables are vacuumed automatically.");
        autovacuum_analyze_scale_factor = real(0.1, 0.0, 100.0).sighup().works()
            .about("Share of changed rows that causes ANALYZE.");
        autovacuum_analyze_threshold = int(50, 0, MAX).sighup().works()
            .about("Changed rows that cause ANALYZE, beside the share.");
        autovacuum_freeze_max_age = int(200000000, 100000, 2000000000).postmaster().works()
            .about("Age at which a vacuum against wraparound is forced.");
        autovacuum_max_workers = int(3, 1, 262143).sighup().works()
            .about("Automatic vacuums at a time at most.");
        autovacuum_multixact_freeze_max_age = int(400000000, 10000, 2000000000).postmaster().works()
            .about("Age of sets of lockers at which a vacuum is forced.");
        autovacuum_naptime = int(60, 1, 2147483).sighup().s().works()
            .about("Time between looks for tables to vacuum.");
        autovacuum_vacuum_cost_delay = real(2.0, -1.0, 100.0).sighup().ms().works()
            .about("Pause of an automatic vacuum that has used its cost limit.");
        autovacuum_vacuum_cost_limit = int(-1, -1, 10000).sighup().works()
            .about("Cost limit of automatic vacuums.");
        autovacuum_vacuum_insert_scale_factor = real(0.2, 0.0, 100.0).sighup().works()
            .about("Share of inserted rows that causes VACUUM.");
        autovacuum_vacuum_insert_threshold = int(1000, -1, MAX).sighup().works()
            .about("Inserted rows that cause VACUUM, beside the share.");
        autovacuum_vacuum_max_threshold = int(100000000, -1, MAX).sighup().works()
            .about("Dead rows that cause VACUUM of any table.");
        autovacuum_vacuum_scale_factor = real(0.2, 0.0, 100.0).sighup().works()
            .about("Share of dead rows that causes VACUUM.");
        autovacuum_vacuum_threshold = int(50, 0, MAX).sighup().works()
            .about("Dead rows that cause VACUUM, beside the share.");
        autovacuum_worker_slots = int(16, 1, 262143).postmaster().works()
            .about("Places for automatic vacuums.");
    }
    "Vacuuming / Cost-Based Vacuum Delay" {
        vacuum_cost_delay = real(0.0, 0.0, 100.0).user().ms().works()
            .about("Pause of a vacuum that has used its cost limit.");
        vacuum_cost_limit = int(200, 1, 10000).user().works()
            .about("Cost after which a vacuum pauses.");
        vacuum_cost_page_dirty = int(20, 0, 10000).user().works()
            .about("Cost of a page made dirty.");
        vacuum_cost_page_hit = int(1, 0, 10000).user().works()
            .about("Cost of a page found in the buffer pool.");
        vacuum_cost_page_miss = int(2, 0, 10000).user().works().about("Cost of a page read.");
    }
    "Vacuuming / Default Behavior" {
        vacuum_truncate = bool(true).user().works().about("Whether VACUUM gives empty pages at the end back.");
    }
    "Vacuuming / Freezing" {
        vacuum_failsafe_age = int(1600000000, 0, 2100000000).user().moot(NO_WRAPAROUND)
            .about("Age at which VACUUM hurries.");
        vacuum_freeze_min_age = int(50000000, 0, 1000000000).user().works()
            .about("Age from which on VACUUM freezes rows.");
        vacuum_freeze_table_age = int(150000000, 0, 2000000000).user().moot(NO_WRAPAROUND)
            .about("Age at which VACUUM scans the whole table.");
        vacuum_max_eager_freeze_failure_rate = real(0.03, 0.0, 1.0).user().moot(NO_WRAPAROUND)
            .about("Share of pages VACUUM may fail to freeze early.");
        vacuum_multixact_failsafe_age = int(1600000000, 0, 2100000000).user().moot(NO_WRAPAROUND)
            .about("Age of sets of lockers at which VACUUM hurries.");
        vacuum_multixact_freeze_min_age = int(5000000, 0, 1000000000).user().works()
            .about("Age from which on VACUUM freezes sets of lockers.");
        vacuum_multixact_freeze_table_age = int(150000000, 0, 2000000000).user().moot(NO_WRAPAROUND)
            .about("Age of sets of lockers at which VACUUM scans the whole table.");
    }
    "Version and Platform Compatibility / Other Platforms and Clients" {
        allow_alter_system = bool(true).sighup().works().about("Whether ALTER SYSTEM is allowed.");
        transform_null_equals = bool(false).user().shapes_statements().works()
            .about("Whether expr = NULL is read as expr IS NULL.");
    }
    "Version and Platform Compatibility / Previous PostgreSQL Versions" {
        array_nulls = bool(true).user().works().about("Whether NULL in an array literal is a null element.");
        backslash_quote = choice("safe_encoding", &["safe_encoding", "on", "off"]).bool_words().user()
            .works().about("Whether a backslash may escape a quote.");
        escape_string_warning = bool(true).user()
            .moot("Counts only without standard_conforming_strings, which is not supported.")
            .about("Whether backslashes in plain literals are warned about.");
        lo_compat_privileges = bool(false).superuser().works()
            .about("Whether large objects skip privilege checks.");
        quote_all_identifiers = bool(false).user().shapes_statements().works()
            .about("Whether generated SQL quotes every name.");
        standard_conforming_strings = bool(true).user().report().lacks("reading of backslashes in plain literals")
            .about("Whether backslashes in plain literals are plain characters.");
        synchronize_seqscans = bool(false).user().lacks("sharing of positions between scans")
            .about("Whether concurrent scans of a table share their position.");
    }
    "Write-Ahead Log / Archive Recovery" {
        archive_cleanup_command = string("").sighup().works()
            .about("Command run at each restartpoint.");
        recovery_end_command = string("").sighup().works().about("Command run when recovery ends.");
        restore_command = string("").sighup().works()
            .about("Command that fetches a file of the log.");
    }
    "Write-Ahead Log / Archiving" {
        archive_command = string("").sighup().works().about("Command that archives a file of the log.");
        archive_library = string("").sighup().lacks("libraries that archive").about("Library that archives files of the log.");
        archive_mode = choice("off", &["always", "on", "off"]).bool_words().postmaster().works()
            .about("Whether files of the log are archived.");
        archive_timeout = int(0, 0, 1073741823).sighup().s().works()
            .about("Time after which a new file of the log begins.");
    }
    "Write-Ahead Log / Checkpoints" {
        checkpoint_completion_target = real(0.9, 0.0, 1.0).sighup().works()
            .about("Share of the time between checkpoints over which writes are spread.");
        checkpoint_flush_after = int(0, 0, 256).sighup().pages().lacks("asking the system to write back")
            .about("Pages after which a checkpoint asks for write-back.");
        // Of PostgreSQL up to version 9.4; not among the settings of 18.
        checkpoint_segments = int(0, 0, MAX).postmaster().works()
            .about("Files of the log that cause a checkpoint; 0: max_wal_size tells (a setting of PostgreSQL up to 9.4).");
        checkpoint_timeout = int(300, 30, 86400).sighup().s().works().about("Time between checkpoints at most.");
        checkpoint_warning = int(30, 0, MAX).sighup().s().works()
            .about("Time below which checkpoints forced by log volume are warned about.");
        max_wal_size = int(1024, 2, MAX).sighup().mb().works().about("Log volume that causes a checkpoint.");
        min_wal_size = int(80, 2, MAX).sighup().mb().works().about("Log volume kept for reuse.");
    }
    "Write-Ahead Log / Recovery" {
        recovery_prefetch = choice("try", &["off", "on", "try"]).bool_words().sighup()
            .only(&["off"], "reading ahead in recovery").about("Whether recovery reads pages ahead.");
        wal_decode_buffer_size = int(524288, 65536, 1073741823).postmaster().bytes()
            .moot("Recovery does not read ahead.").about("Log read ahead in recovery.");
    }
    "Write-Ahead Log / Recovery Target" {
        recovery_target = string("").postmaster().works()
            .about("immediate: recovery ends as soon as it is consistent.");
        recovery_target_action = choice("pause", &["pause", "promote", "shutdown"]).postmaster()
            .works().about("What follows when the recovery target is reached.");
        recovery_target_inclusive = bool(true).postmaster().works()
            .about("Whether recovery includes its target.");
        recovery_target_lsn = string("").postmaster().works()
            .about("Log position at which recovery ends.");
        recovery_target_name = string("").postmaster().works()
            .about("Restore point at which recovery ends.");
        recovery_target_time = string("").postmaster().works()
            .about("Time at which recovery ends.");
        recovery_target_timeline = string("latest").postmaster().works()
            .about("Timeline that recovery follows.");
        recovery_target_xid = string("").postmaster().works()
            .about("Transaction at which recovery ends.");
    }
    "Write-Ahead Log / Settings" {
        commit_delay = int(0, 0, 100000).superuser().lacks("a pause before the log is flushed")
            .about("Microseconds that a flush waits for other commits.");
        commit_siblings = int(5, 0, 1000).user().moot("Counts only with commit_delay, which is not supported.")
            .about("Open transactions from which on commit_delay counts.");
        // Read once, as files are opened.
        fsync = bool(true).postmaster().works().about("Whether writes are made durable.");
        full_page_writes = bool(true).sighup().works().about("Whether pages are logged whole after a checkpoint.");
        synchronous_commit = choice("on", &["local", "remote_write", "remote_apply", "on", "off"]).bool_words().user().works()
            .about("How durable a commit is when it is reported.");
        wal_buffers = int(-1, -1, 262143).postmaster().pages().works().about("Pages of the log's buffer.");
        // The log knows no sessions: it is set for all.
        wal_compression = choice("off", &["pglz", "lz4", "on", "off"]).bool_words().sighup().works()
            .about("Whether whole pages in the log are compressed, and how.");
        wal_init_zero = bool(true).superuser().lacks("making of files with holes")
            .about("Whether new files of the log are filled with zeros.");
        wal_level = choice("replica", &["minimal", "replica", "logical"]).postmaster()
            .works().about("What the log contains.");
        wal_log_hints = bool(false).postmaster()
            .moot("Checksums are always on, and hints are logged because of them.")
            .about("Whether hint bits cause whole pages to be logged.");
        wal_recycle = bool(true).superuser().lacks("removal of all old files of the log")
            .about("Whether files of the log are used again.");
        wal_skip_threshold = int(2048, 0, MAX).user().kb()
            .moot("New files are logged with every wal_level.")
            .about("Size from which on new files are synced instead of logged.");
        wal_sync_method = choice("fdatasync", &["fsync", "fdatasync", "open_sync", "open_datasync"]).sighup()
            .lacks("another way of making the log durable").about("How the log is made durable.");
        wal_writer_delay = int(200, 1, 10000).sighup().ms().works().about("Pause between rounds of the log writer.");
        wal_writer_flush_after = int(0, 0, MAX).sighup().pages().lacks("another distance between flushes")
            .about("Pages after which the log writer flushes.");
    }
    "Write-Ahead Log / Summarization" {
        summarize_wal = bool(false).sighup().works()
            .about("Whether the log is summarized for incremental backups.");
        wal_summary_keep_time = int(14400, 0, 35791394).sighup().min().works()
            .about("Time for which summaries are kept; 0: for ever.");
    }
    "Ungrouped" {
        is_superuser = bool(false).internal().report().hidden().works().about("Whether the current role is a superuser.");
        role = string("none").user().hidden().works().about("Role whose rights apply.");
        seed = real(0.0, -1.0, 1.0).user().hidden().no_reset().works().about("Seed of random().");
        session_authorization = string("").user().report().hidden().works().about("Role that the session stands for.");
    }
}
