-- What initdb has granted: pg_dump tells only what differs from it.
INSERT INTO pg_catalog.pg_init_privs (objoid, classoid, objsubid, initprivs, privtype)
  SELECT oid, 'pg_catalog.pg_class'::regclass, 0, relacl, 'i' FROM pg_catalog.pg_class WHERE relacl IS NOT NULL;
INSERT INTO pg_catalog.pg_init_privs (objoid, classoid, objsubid, initprivs, privtype)
  SELECT attrelid, 'pg_catalog.pg_class'::regclass, attnum, attacl, 'i' FROM pg_catalog.pg_attribute WHERE attacl IS NOT NULL;
INSERT INTO pg_catalog.pg_init_privs (objoid, classoid, objsubid, initprivs, privtype)
  SELECT oid, 'pg_catalog.pg_proc'::regclass, 0, proacl, 'i' FROM pg_catalog.pg_proc WHERE proacl IS NOT NULL;
INSERT INTO pg_catalog.pg_init_privs (objoid, classoid, objsubid, initprivs, privtype)
  SELECT oid, 'pg_catalog.pg_namespace'::regclass, 0, nspacl, 'i' FROM pg_catalog.pg_namespace WHERE nspacl IS NOT NULL;
