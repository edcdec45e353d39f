CREATE FUNCTION plpgsql_call_handler() RETURNS language_handler LANGUAGE c AS 'MODULE_PATHNAME';
CREATE FUNCTION plpgsql_inline_handler(internal) RETURNS void STRICT LANGUAGE c AS 'MODULE_PATHNAME';
CREATE FUNCTION plpgsql_validator(oid) RETURNS void STRICT LANGUAGE c AS 'MODULE_PATHNAME';
CREATE TRUSTED LANGUAGE plpgsql HANDLER plpgsql_call_handler INLINE plpgsql_inline_handler VALIDATOR plpgsql_validator;
COMMENT ON LANGUAGE plpgsql IS 'PL/pgSQL procedural language';
