BEGIN ATOMIC
 INSERT INTO t (id, v)
   VALUES (f.i, DEFAULT) ON CONFLICT(id) DO UPDATE SET v = (excluded.v || '!'::text)
   WHERE (t.id > 0);
 INSERT INTO t (id, arr[1], c.b) VALUES ((f.i + 1),7,'x'::text), ((f.i + 2),8,'y'::text) ON CONFLICT ON CONSTRAINT t_pkey DO NOTHING;
 INSERT INTO log (at, note)  SELECT x.id,
             x.v
            FROM t x;
 INSERT INTO log DEFAULT VALUES;
 UPDATE ONLY t SET arr[1] = 1, arr[2] = 2, (v, id) = ( SELECT l.note,
             l.at
            FROM log l), g = DEFAULT
    FROM log
   WHERE (t.id = log.at);
 DELETE FROM log l
    USING t
   WHERE ((l.at = t.id) AND (l.note IS NULL));
 WITH gone AS (
          DELETE FROM log log_1
           RETURNING log_1.at
         )
  INSERT INTO log (at, note)  SELECT gone.at,
             'again'
            FROM gone;
 MERGE INTO t
    USING log l
    ON (t.id = l.at)
    WHEN MATCHED
     AND (l.note = 'x'::text)
     THEN UPDATE SET v = l.note
    WHEN MATCHED
     THEN DELETE
    WHEN NOT MATCHED
     THEN INSERT (id, v)
      VALUES (l.at, DEFAULT);
 UPDATE t SET v = 'z'::text
   WHERE (t.id = f.i)
   RETURNING WITH (OLD AS o) o.id,
     new.v;
END
