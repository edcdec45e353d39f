CREATE TYPE tablefunc_crosstab_2 AS (row_name text, category_1 text, category_2 text);

CREATE TYPE tablefunc_crosstab_3 AS (row_name text, category_1 text, category_2 text, category_3 text);

CREATE TYPE tablefunc_crosstab_4 AS (row_name text, category_1 text, category_2 text, category_3 text, category_4 text);

CREATE FUNCTION normal_rand(int4, float8, float8) RETURNS SETOF float8 AS 'MODULE_PATHNAME' LANGUAGE c STRICT;
CREATE FUNCTION crosstab(text) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT;
CREATE FUNCTION crosstab2(text) RETURNS SETOF tablefunc_crosstab_2 AS 'MODULE_PATHNAME', 'crosstab' LANGUAGE c STABLE STRICT;
CREATE FUNCTION crosstab3(text) RETURNS SETOF tablefunc_crosstab_3 AS 'MODULE_PATHNAME', 'crosstab' LANGUAGE c STABLE STRICT;
CREATE FUNCTION crosstab4(text) RETURNS SETOF tablefunc_crosstab_4 AS 'MODULE_PATHNAME', 'crosstab' LANGUAGE c STABLE STRICT;
CREATE FUNCTION crosstab(text, int4) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE c STABLE STRICT;
CREATE FUNCTION crosstab(text, text) RETURNS SETOF record AS 'MODULE_PATHNAME', 'crosstab_hash' LANGUAGE c STABLE STRICT;
CREATE FUNCTION connectby(text, text, text, text, int4, text) RETURNS SETOF record AS 'MODULE_PATHNAME', 'connectby_text' LANGUAGE c STABLE STRICT;
CREATE FUNCTION connectby(text, text, text, text, int4) RETURNS SETOF record AS 'MODULE_PATHNAME', 'connectby_text' LANGUAGE c STABLE STRICT;
CREATE FUNCTION connectby(text, text, text, text, text, int4, text) RETURNS SETOF record AS 'MODULE_PATHNAME',
    'connectby_text_serial' LANGUAGE c STABLE STRICT;
CREATE FUNCTION connectby(text, text, text, text, text, int4) RETURNS SETOF record AS 'MODULE_PATHNAME',
    'connectby_text_serial' LANGUAGE c STABLE STRICT;
