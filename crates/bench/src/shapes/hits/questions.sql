-- The questions of `bench hits`, of the kinds that are asked of web analytics: `-- name`, then one statement in a line or more.
-- Frazil and DuckDB both run this text. Ties of a LIMIT are broken, so that both give the same rows.

-- count: all rows
select count(*) from hits;
-- count: rows of campaigns
select count(*) from hits where campaign <> 0;
-- sums: three aggregates
select sum(campaign), count(*), avg(screen_width) from hits;
-- sums: average of large numbers
select avg(user_id) from hits;
-- distinct: users
select count(distinct user_id) from hits;
-- distinct: phrases
select count(distinct phrase) from hits;
-- extremes: first and last day
select min(event_date), max(event_date) from hits;
-- groups: campaigns
select campaign, count(*) as n from hits where campaign <> 0 group by campaign order by n desc, campaign;
-- groups: users of regions
select region, count(distinct user_id) as n from hits group by region order by n desc, region limit 10;
-- groups: five aggregates of regions
select region, sum(campaign), count(*) as n, avg(screen_width), count(distinct user_id) from hits group by region order by n desc, region limit 10;
-- groups: users of phone models
select phone_model, count(distinct user_id) as n from hits where phone_model <> '' group by phone_model order by n desc, phone_model limit 10;
-- groups: users of phones and models
select phone, phone_model, count(distinct user_id) as n from hits where phone_model <> '' group by phone, phone_model order by n desc, phone, phone_model limit 10;
-- groups: phrases
select phrase, count(*) as n from hits where phrase <> '' group by phrase order by n desc, phrase limit 10;
-- groups: users of phrases
select phrase, count(distinct user_id) as n from hits where phrase <> '' group by phrase order by n desc, phrase limit 10;
-- groups: engines and phrases
select engine, phrase, count(*) as n from hits where phrase <> '' group by engine, phrase order by n desc, engine, phrase limit 10;
-- groups: users
select user_id, count(*) as n from hits group by user_id order by n desc, user_id limit 10;
-- groups: users and phrases
select user_id, phrase, count(*) as n from hits group by user_id, phrase order by n desc, user_id, phrase limit 10;
-- groups: any ten users and phrases
select count(*), min(n) from (select user_id, phrase, least(count(*), 1) as n from hits group by user_id, phrase limit 10) as q;
-- groups: users, minutes and phrases
select user_id, extract(minute from event_time) as minute, phrase, count(*) as n from hits group by user_id, minute, phrase order by n desc, user_id, minute, phrase limit 10;
-- rows: one user
select count(user_id) from hits where user_id = 1000000791900;
-- strings: LIKE
select count(*) from hits where url like '%goggle%';
-- strings: phrases of addresses with a word
select phrase, min(url), count(*) as n from hits where url like '%goggle%' and phrase <> '' group by phrase order by n desc, phrase limit 10;
-- strings: phrases of titles with a word
select phrase, min(url), min(title), count(*) as n, count(distinct user_id) from hits where title like '%News%' and url not like '%.forum.%' and phrase <> '' group by phrase order by n desc, phrase limit 10;
-- rows: all columns of the first ten
select * from hits where url like '%goggle%' order by event_time, view_id limit 10;
-- rows: phrases by time
select phrase from hits where phrase <> '' order by event_time, phrase limit 10;
-- rows: phrases in their order
select phrase from hits where phrase <> '' order by phrase limit 10;
-- rows: phrases by time, backward
select phrase, event_time from hits where phrase <> '' order by event_time desc, phrase limit 10;
-- groups: length of addresses by site
select site, avg(length(url)) as l, count(*) as n from hits where url <> '' group by site having count(*) > {tenth} / 1000 order by l desc, site limit 25;
-- groups: hosts of referrers
select regexp_replace(referrer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') as host, avg(length(referrer)) as l, count(*) as n, min(referrer) from hits where referrer <> '' group by host having count(*) > {tenth} / 1000 order by l desc, host limit 25;
-- sums: many columns of one
select sum(screen_width), sum(screen_width + 1), sum(screen_width + 2), sum(screen_width + 3), sum(screen_width + 4), sum(screen_width + 5), sum(screen_width + 6), sum(screen_width + 7), sum(screen_width + 8), sum(screen_width + 9), sum(screen_width + 10), sum(screen_width + 11), sum(screen_width + 12), sum(screen_width + 13), sum(screen_width + 14), sum(screen_width + 15), sum(screen_width + 16), sum(screen_width + 17), sum(screen_width + 18), sum(screen_width + 19), sum(screen_width + 20), sum(screen_width + 21), sum(screen_width + 22), sum(screen_width + 23), sum(screen_width + 24), sum(screen_width + 25), sum(screen_width + 26), sum(screen_width + 27), sum(screen_width + 28), sum(screen_width + 29), sum(screen_width + 30), sum(screen_width + 31), sum(screen_width + 32), sum(screen_width + 33), sum(screen_width + 34), sum(screen_width + 35), sum(screen_width + 36), sum(screen_width + 37), sum(screen_width + 38), sum(screen_width + 39) from hits;
-- groups: engines and addresses of clients
select engine, client_ip, count(*) as n, sum(is_refresh), avg(screen_width) from hits where phrase <> '' group by engine, client_ip order by n desc, engine, client_ip limit 10;
-- groups: views and clients of phrases
select view_id, client_ip, count(*) as n, sum(is_refresh), avg(screen_width) from hits where phrase <> '' group by view_id, client_ip order by n desc, view_id, client_ip limit 10;
-- groups: views and clients
select view_id, client_ip, count(*) as n, sum(is_refresh), avg(screen_width) from hits group by view_id, client_ip order by n desc, view_id, client_ip limit 10;
-- groups: addresses
select url, count(*) as n from hits group by url order by n desc, url limit 10;
-- groups: addresses and a constant
select 1 as one, url, count(*) as n from hits group by one, url order by n desc, url limit 10;
-- groups: four keys of one
select client_ip, client_ip - 1 as a, client_ip - 2 as b, client_ip - 3 as c, count(*) as n from hits where client_ip > -2147483600 group by client_ip, a, b, c order by n desc, client_ip limit 10;
-- site: addresses of a fortnight
select url, count(*) as n from hits where site = 42 and event_date >= date '2026-07-01' and event_date <= date '2026-07-14' and is_refresh = 0 and url <> '' group by url order by n desc, url limit 10;
-- site: titles of a fortnight
select title, count(*) as n from hits where site = 42 and event_date >= date '2026-07-01' and event_date <= date '2026-07-14' and is_refresh = 0 and title <> '' group by title order by n desc, title limit 10;
-- site: links, a later page
select url, count(*) as n from hits where site = 0 and event_date between date '2026-07-01' and date '2026-07-31' and is_refresh = 0 and is_link <> 0 and is_download = 0 group by url order by n desc, url limit 10 offset 100;
-- site: where visitors come from
select source, engine, campaign, case when engine = 0 and campaign = 0 then referrer else '' end as origin, url as target, count(*) as n from hits where site = 1 and event_date >= date '2026-07-01' and event_date <= date '2026-07-31' and is_refresh = 0 group by source, engine, campaign, origin, target order by n desc, source, engine, campaign, origin, target limit 10 offset 100;
-- site: hashes and days
select url_hash, event_date, count(*) as n from hits where site = 0 and event_date >= date '2026-07-01' and event_date <= date '2026-07-31' and is_refresh = 0 and source in (-1, 6) group by url_hash, event_date order by n desc, url_hash, event_date limit 10 offset 10;
-- site: sizes of windows
select window_width, window_height, count(*) as n from hits where site = 0 and event_date >= date '2026-07-01' and event_date <= date '2026-07-31' and is_refresh = 0 group by window_width, window_height order by n desc, window_width, window_height limit 10 offset 1000;
-- site: minutes of two days
select date_trunc('minute', event_time) as minute, count(*) as n from hits where site = 0 and event_date >= date '2026-07-14' and event_date <= date '2026-07-15' and is_refresh = 0 group by minute order by minute limit 10 offset 1000;
