-- The names that `names.txt` holds: psql -At -f names.sql, run on PostgreSQL 15.
-- Left out by what the catalog itself says of them: what implements an operator and has no use of its own, support
-- functions of types, indexes, aggregates, conversions, planner and operators, casts, and what takes or gives types of
-- other chapters: geometry, network addresses, text search, XML, ranges, money, and types that are internal.
with other_types as (
    select oid from pg_type
    where typname in ('internal', 'cstring', 'trigger', 'event_trigger', 'language_handler', 'fdw_handler', 'index_am_handler',
            'tsm_handler', 'table_am_handler', 'pg_ndistinct', 'pg_dependencies', 'pg_mcv_list', 'pg_brin_bloom_summary',
            'pg_brin_minmax_multi_summary', 'pg_ddl_command', 'refcursor',
            'xml', 'money', 'point', 'line', 'lseg', 'box', 'path', 'polygon', 'circle', 'inet', 'cidr', 'macaddr', 'macaddr8',
            'tsvector', 'tsquery', 'regconfig', 'regdictionary', 'anyrange', 'anymultirange', 'anycompatiblerange',
            'anycompatiblemultirange')
        or typtype in ('r', 'm')
),
functions as (
    select distinct proname from pg_proc p
    where pronamespace = 'pg_catalog'::regnamespace and prokind = 'f'
        and coalesce(obj_description(oid, 'pg_proc'), '') not like 'implementation of % operator'
        and oid not in (select amproc from pg_amproc)
        and oid not in (select castfunc from pg_cast)
        and oid not in (select prosupport from pg_proc)
        and oid not in (select conproc from pg_conversion)
        and oid not in (select unnest(array[oprrest, oprjoin]) from pg_operator)
        and oid not in (select unnest(array[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze]) from pg_type)
        and oid not in (select unnest(array[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn,
                                            aggminvtransfn, aggmfinalfn]) from pg_aggregate)
        and not exists (select from unnest(proargtypes || prorettype) t where t in (select oid from other_types))
),
operators as (
    select distinct oprname from pg_operator
    where oprnamespace = 'pg_catalog'::regnamespace
        and oprleft not in (select oid from other_types)
        and oprright not in (select oid from other_types)
)
select 'function ' || proname collate "C" from functions
union all
select 'operator ' || oprname collate "C" from operators
order by 1;
