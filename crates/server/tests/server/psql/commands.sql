set search_path = zoo, public;
\d
\d+
\d animal
\d+ animal
\d dog
\d+ dog
\d ident
\d+ ident
\d nolog
\d tmp
\d+ tmp
\d part
\d+ part
\d part1
\d+ part1
\d part2
\d+ part2
\d part2a
\d+ part2d
\d hp
\d+ hp
\d dropped
\d withcte
\d+ withcte
\d gp
\d+ gp
\d+ listp
\d listp1
\d+ listpd
\d bigpair
\d inh2
\d+ inh2
\d counter
\d+ counter
\d small
\d animal_id_seq
\d ident_b_seq
\d ident_c
\d+ ident_c
\d ident_u
\d+ part_idx
\d part1_a_idx
\d pk
\d pair
\d+ pair
\d simple
\d+ simple
\d checked
\d+ checked
\d mv
\d+ mv
\d fk
\d+ fk
\d opts
\d+ opts
\d nn
\d+ nn
\d ex
\d typed
\d pg_stat_activity
\d *nimal*
\d nosuch
\d+ nosuch*
\dt
\dt+
\dti
\dtvmsE
\dtvmsE+
\di
\di+
\ds
\ds+
\dv
\dv+
\dm
\dm+
\dE
\dE+
\dn
\dn+
\dn zoo*
\du
\du+
\dg
\df
\df+
\dfa
\dfn
\dfp
\dft
\dfw
\df add
\df+ add
\df add int
\df add int int
\da
\da+
\da mysum
\dA
\dA+
\dA btree
\dc
\dc+
\dD
\dD+
\dd
\ddS
\dd named
\ddp
\ddp zoo*
\des
\des+
\det
\det+
\deu
\deu+
\dew
\dew+
\dl
\dl+
\dL
\do
\do+
\do +++
\dO
\dO+
\dp
\z
\dp animal
\dP
\dP+
\dPn
\dPt
\dPi
\dPin+
\dPtn+
\drds
\drds visitor
\dRp
\dRp+
\dRs
\dRs+
\dT
\dT+
\dT mood
\dT+ pair
\dT+ span
\dx
\dX
\dX+
\dy
\dy+
\sf add
\sf+ vari
\sf tab
\sf sqlbody
\sf doit
\sf nofunc
\sf abs
\sv simple
\sv+ simple
\sv checked
\sv animal
\sv nov
\setenv PSQL_EDITOR cat
\ef add
;
\ef vari(text[])
;
\ev simple
;
\r
select 1 as a, 'x' as b \gset pre_
\echo :pre_a :pre_b
select 1 as a, 'x'::text as b, null::animal c, array[1.5::numeric(5,2)], 'a'::varchar(5), '1 day'::interval(2) \gdesc
select 'select ' || i from generate_series(1,3) i \gexec
select i, j, i*j from generate_series(1,2) i, generate_series(1,3) j \crosstabview
select i, i+1 as j from generate_series(1,2) i \gx
select 1 \g (format=unaligned tuples_only=on)
\copy (select id, name from animal) to stdout
\copy opts(a,b) from stdin csv
1,a
2,"b"
\.
\copy opts to stdout (format csv, header)
\encoding
\encoding nosuch
select 1/0;
\timing off
\x
select * from opts;
\x
\set ON_ERROR_ROLLBACK on
begin;
select 1/0;
select 2;
savepoint x;
select nocol;
commit;
\set ON_ERROR_ROLLBACK off
\set AUTOCOMMIT off
select 1;
insert into opts values (9);
rollback;
\set AUTOCOMMIT on
\set FETCH_COUNT 2
select * from generate_series(1,5);
\unset FETCH_COUNT
\set SHOW_ALL_RESULTS off
select 1\; select 2;
\set SHOW_ALL_RESULTS on
select 1\; select 2;
\set HIDE_TABLEAM on
\d+ opts
\set HIDE_TABLEAM off
\d+ opts
\set HIDE_TOAST_COMPRESSION off
\d+ ident
do $$begin raise notice 'hi'; perform 1/0; end$$;
