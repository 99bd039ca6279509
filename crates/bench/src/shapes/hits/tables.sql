-- The table of `bench hits`: page views of a service that counts visits to many sites. It has 105 columns, as such tables have.
-- Frazil and DuckDB (with integer_division) both run this text, so that both hold the same rows. {rows} and {tenth} are numbers
-- of rows.
--
-- Rows come in the order of their time. Sites, users, pages and search phrases are skewed: a number is drawn as a power of a
-- uniform one, so that few values are frequent and most are rare. Most phrases, models of phones and campaigns are empty.

create table hits (
    view_id bigint not null,            -- unique, in no order
    user_id bigint not null,
    session_id bigint not null,
    site integer not null,              -- 6,000 sites
    event_time timestamp not null,      -- July of 2026
    event_date date not null,
    local_time timestamp not null,
    client_ip integer not null,
    region integer not null,
    url text not null,
    title text not null,
    referrer text not null,             -- empty in one of four rows
    phrase text not null,               -- what was searched for; empty in seven of eight rows
    engine smallint not null,           -- 0 where the phrase is empty
    campaign smallint not null,         -- 0 in 19 of 20 rows
    source smallint not null,           -- from -1 to 8
    url_hash bigint not null,
    referrer_hash bigint not null,
    os smallint not null,
    browser smallint not null,
    browser_version text not null,
    language text not null,
    phone smallint not null,            -- 0 in nine of ten rows
    phone_model text not null,          -- empty in nine of ten rows
    screen_width smallint not null,
    screen_height smallint not null,
    screen_depth smallint not null,
    window_width smallint not null,
    window_height smallint not null,
    time_zone smallint not null,
    is_refresh smallint not null,
    is_link smallint not null,
    is_download smallint not null,
    is_mobile smallint not null,
    is_bounce smallint not null,
    is_new smallint not null,
    has_cookies smallint not null,
    has_scripts smallint not null,
    age smallint not null,
    gender smallint not null,
    interests smallint not null,
    robot smallint not null,
    charset text not null,
    letter text not null,
    currency text not null,
    price bigint not null,
    order_id text not null,
    goals integer not null,
    dns_ms integer not null,
    connect_ms integer not null,
    response_ms integer not null,
    load_ms integer not null,
    http_error smallint not null,
    network text not null,
    network_action text not null,
    utm_source text not null,
    utm_medium text not null,
    utm_campaign text not null,
    category smallint not null,
    subcategory smallint not null,
    referrer_category smallint not null,
    referrer_region integer not null,
    plugin_major smallint not null,
    plugin_minor smallint not null,
    plugin_version text not null,
    counter_class smallint not null,
    sequence integer not null,
    window_name integer not null,
    opener_name integer not null,
    history_length smallint not null,
    a01 smallint not null, a02 smallint not null, a03 smallint not null, a04 smallint not null, a05 smallint not null,
    a06 smallint not null, a07 smallint not null, a08 smallint not null, a09 smallint not null, a10 smallint not null,
    b01 integer not null, b02 integer not null, b03 integer not null, b04 integer not null, b05 integer not null,
    b06 integer not null, b07 integer not null, b08 integer not null, b09 integer not null, b10 integer not null,
    c01 bigint not null, c02 bigint not null, c03 bigint not null, c04 bigint not null, c05 bigint not null,
    d01 text not null, d02 text not null, d03 text not null, d04 text not null, d05 text not null,
    d06 text not null, d07 text not null, d08 text not null, d09 text not null, d10 text not null
);
insert into hits
select i * 7368787 % 1000000007 * 9007199 + 12345,
       1000000000000 + who * 7919,
       who * 1000 + i * 100 / {rows},
       cast(site as integer),
       timestamp '2026-07-01 00:00:00' + cast((i - 1) * 2678400 / {rows} as integer) * interval '1 second',
       date '2026-07-01' + cast((i - 1) * 2678400 / {rows} / 86400 as integer),
       timestamp '2026-07-01 00:00:00' + cast((i - 1) * 2678400 / {rows} + zone * 3600 as integer) * interval '1 second',
       cast(who * 2654435761 % 4294967296 - 2147483648 as integer),
       cast(who * 40503 % 5000 * (who * 40503 % 5000) / 5000 as integer),
       address,
       'Page ' || page || ' of site ' || site || case when z % 7 = 0 then ' - Search' when z % 7 = 1 then ' | News and reviews' else '' end,
       case when w / 65536 % 4 = 0 then ''
            when engine > 0 then 'https://www.search' || engine || '.com/find?q=' || replace(phrase, ' ', '+')
            when w / 65536 % 4 = 1 then 'http://site' || (site * 31 % 6000) || '.example.org/'
            else address end,
       phrase,
       cast(engine as smallint),
       cast(case when y / 32 % 20 = 0 then 1 + y / 1024 % 30 * (y / 1024 % 30) / 30 else 0 end as smallint),
       cast(w / 64 % 10 - 1 as smallint),
       (site * 2000 + page + 1) * 2654435761 % 4294967296 * 1597334677,
       (site * 31 % 6000 + w / 65536 % 4) * 2654435761 % 4294967296 * 668265263,
       cast(who % 40 * (who % 40) / 40 as smallint),
       cast(who / 64 % 80 * (who / 64 % 80) / 80 as smallint),
       cast(who / 64 % 30 as text) || '.' || cast(who % 10 as text),
       substr('enruukdefresptitplnlcsdajakozhtr', cast(1 + who % 16 * (who % 16) / 16 * 2 as integer), 2),
       cast(phone as smallint),
       case when phone = 0 then '' else 'Model ' || chr(cast(65 + phone % 26 as integer)) || (phone * 7) end,
       cast(case when phone > 0 then 360 + phone % 5 * 60 else 1024 + who % 7 * 256 end as smallint),
       cast(case when phone > 0 then 640 + phone % 7 * 80 else 600 + who % 9 * 120 end as smallint),
       cast(case when who % 13 = 0 then 32 else 24 end as smallint),
       cast(300 + y / 64 % 1500 as smallint),
       cast(200 + z / 64 % 900 as smallint),
       cast(zone as smallint),
       cast(case when x / 16 % 7 = 0 then 1 else 0 end as smallint),
       cast(case when x / 256 % 17 = 0 then 1 else 0 end as smallint),
       cast(case when x / 8192 % 127 = 0 then 1 else 0 end as smallint),
       cast(case when phone > 0 then 1 else 0 end as smallint),
       cast(y / 65536 % 2 as smallint),
       cast(y / 512 % 3 / 2 as smallint),
       cast(case when who % 50 = 0 then 0 else 1 end as smallint),
       cast(1 as smallint),
       cast(who % 6 * 10 as smallint),
       cast(who / 8 % 3 as smallint),
       cast(who * 31 % 4000 as smallint),
       cast(case when who % 200 = 0 then 1 else 0 end as smallint),
       case when site % 20 = 0 then 'windows-1251' else 'utf-8' end,
       substr('0123456789', cast(1 + z / 16 % 10 as integer), 1),
       case when z / 8192 % 100 = 0 then 'EUR' else '' end,
       case when z / 8192 % 100 = 0 then z / 512 % 1000000 else 0 end,
       case when z / 8192 % 100 = 0 then 'order ' || i else '' end,
       cast(case when z / 8192 % 100 = 0 then 1 + z % 5 else 0 end as integer),
       cast(y / 4096 % 100 as integer),
       cast(y / 8192 % 300 as integer),
       cast(z / 4096 % 900 as integer),
       cast(w / 4096 % 5000 as integer),
       cast(case when w / 2048 % 500 = 0 then 404 else 0 end as smallint),
       case when y / 16384 % 300 = 0 then 'network ' || (y % 4) else '' end,
       case when y / 16384 % 300 = 0 then 'like' else '' end,
       case when x / 2048 % 40 = 0 then 'letter ' || (x / 4096 % 20) else '' end,
       case when x / 2048 % 40 = 0 then 'mail' else '' end,
       case when x / 2048 % 40 = 0 then 'summer ' || (x / 1024 % 300) else '' end,
       cast(site % 40 as smallint),
       cast(site * 7 % 400 as smallint),
       cast(w / 65536 % 4 * 10 + site % 10 as smallint),
       cast(site * 31 % 6000 % 300 as integer),
       cast(who % 12 as smallint),
       cast(who % 4 as smallint),
       case when who % 30 = 0 then '' else '1.' || (who % 12) end,
       cast(site % 3 as smallint),
       cast(i * 100 / {rows} as integer),
       cast(case when x / 128 % 10 = 0 then x / 64 % 30000 else -1 end as integer),
       cast(case when x / 512 % 10 = 0 then x / 64 % 30000 else -1 end as integer),
       cast(1 + z / 2048 % 50 * (z / 2048 % 50) / 50 as smallint),
       cast(0 as smallint), cast(who % 2 as smallint), cast(x / 32 % 3 as smallint), cast(y / 32 % 5 as smallint), cast(z / 32 % 7 as smallint),
       cast(site % 2 as smallint), cast(site % 100 as smallint), cast(w / 32 % 100 as smallint), cast(x / 64 % 1000 as smallint), cast(0 as smallint),
       0, cast(who % 1000 as integer), cast(x / 128 % 10 as integer), cast(y / 128 % 100 as integer), cast(z / 128 % 10000 as integer),
       cast(site * 3 as integer), cast(page as integer), cast(w / 128 % 100000 as integer), cast(y / 16 % 1000000 as integer), -1,
       0, who * 3, x * 65537, case when y / 64 % 50 = 0 then y else 0 end, -1,
       '', '', case when x / 1024 % 50 = 0 then 'ad ' || (x % 9) else '' end, case when y / 1024 % 90 = 0 then 'place ' || (y % 30) else '' end, '',
       'a', case when phone > 0 then 'app' else 'web' end, 'area ' || (who % 90), '', 'v' || (site % 12)
from (select *,
             case when engine = 0 then ''
                  else trim(substr('buy   best  how   where when  cheap free  new   used  red   small big   fast  old   blue  near  ',
                                   cast(1 + search % 16 * 6 as integer), 6))
                       || ' ' || trim(substr('house car   phone shoes pizza music movie game  hotel train table chair book  lamp  dress bike  ',
                                   cast(1 + search / 16 % 16 * 6 as integer), 6))
                       || case when search < 256 then '' else ' ' || search end end as phrase,
             case when z / 256 % 3 = 0 then 'http://' else 'https://' end
                 || case when site = 42 or z / 1024 % 700 = 0 then 'goggle' else 'site' || site end
                 || '.example.com/' || trim(substr('news  shop  forum video mail  maps  ', cast(1 + site % 6 * 6 as integer), 6))
                 || case when page = 0 then '/' else '/page-' || page || '.html' end
                 || case when z / 64 % 10 = 0 then '?session=' || (z / 128 % 100000) else '' end as address
      from (select i, x, y, z, w,
                   cast(floor(xs * xs * xs * xs * 6000) as bigint) as site,
                   cast(floor(ys * ys * ys * {tenth}) as bigint) as who,
                   cast(floor(zs * zs * zs * 2000) as bigint) as page,
                   cast(floor(ws * ws * ws * {tenth}) as bigint) as search,
                   case when x / 65536 % 8 = 0 then 1 + y / 4 % 6 * (y / 4 % 6) / 6 else 0 end as engine,
                   case when y / 8 % 10 = 0 then 1 + z / 8 % 60 * (z / 8 % 60) / 60 else 0 end as phone,
                   y / 2048 % 12 as zone
            from (select i, x, y, z, w, x / 4294967296.0::double precision as xs, y / 4294967296.0::double precision as ys,
                         z / 4294967296.0::double precision as zs, w / 4294967296.0::double precision as ws
                  from (select i, i * 2654435761 % 4294967296 as x, i * 1597334677 % 4294967296 as y,
                               i * 3266489917 % 4294967296 as z, i * 668265263 % 4294967296 as w
                        from (select cast(i as bigint) as i from generate_series(1, {rows}) as s (i)) as numbers) as hashed) as uniform)
           as drawn) as named;
