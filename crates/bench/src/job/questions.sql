-- The questions of `bench job`: the 113 join graphs of the Join Order Benchmark in its 33 families. A family is a SELECT
-- with its joins, and each of its questions adds predicates; the kinds of predicates are the benchmark's, the values are
-- those of tables.sql. Frazil and DuckDB both run these texts.

-- family 1
select min(mc.note) as note, min(t.title) as title, min(t.production_year) as year
from company_type as ct, info_type as it, movie_companies as mc, movie_info_idx as mi_idx, title as t
where ct.id = mc.company_type_id and t.id = mc.movie_id and t.id = mi_idx.movie_id and mc.movie_id = mi_idx.movie_id
and it.id = mi_idx.info_type_id
-- 1a
and ct.kind = 'production companies' and it.info = 'top 250 rank' and mc.note not like '%(as Metro Pictures)%'
and (mc.note like '%(co-production)%' or mc.note like '%(presents)%')
-- 1b
and ct.kind = 'production companies' and it.info = 'bottom 10 rank' and mc.note not like '%(as Metro Pictures)%'
and t.production_year between 1950 and 2015
-- 1c
and ct.kind = 'production companies' and it.info = 'top 250 rank' and mc.note not like '%(as Metro Pictures)%'
and mc.note like '%(co-production)%' and t.production_year > 2010
-- 1d
and ct.kind = 'production companies' and it.info = 'bottom 10 rank' and mc.note not like '%(as Metro Pictures)%'
and t.production_year > 1980

-- family 2
select min(t.title) as title
from company_name as cn, keyword as k, movie_companies as mc, movie_keyword as mk, title as t
where cn.id = mc.company_id and mc.movie_id = t.id and t.id = mk.movie_id and mk.keyword_id = k.id
and mc.movie_id = mk.movie_id
-- 2a
and cn.country_code = '[de]' and k.keyword = 'character-name-in-title'
-- 2b
and cn.country_code = '[se]' and k.keyword = 'character-name-in-title'
-- 2c
and cn.country_code = '[bg]' and k.keyword = 'character-name-in-title'
-- 2d
and cn.country_code = '[us]' and k.keyword = 'character-name-in-title'

-- family 3
select min(t.title) as title
from keyword as k, movie_info as mi, movie_keyword as mk, title as t
where t.id = mi.movie_id and t.id = mk.movie_id and mk.movie_id = mi.movie_id and k.id = mk.keyword_id
-- 3a
and k.keyword like '%sequel%' and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'Bulgaria', 'Bulgarian', 'Italian')
and t.production_year > 2005
-- 3b
and k.keyword like '%sequel%' and mi.info in ('Bulgaria') and t.production_year > 2010
-- 3c
and k.keyword like '%sequel%'
and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'Bulgaria', 'Bulgarian', 'Italian', 'USA', 'English')
and t.production_year > 1990

-- family 4
select min(mi_idx.info) as rating, min(t.title) as title
from info_type as it, keyword as k, movie_info_idx as mi_idx, movie_keyword as mk, title as t
where t.id = mi_idx.movie_id and t.id = mk.movie_id and mk.movie_id = mi_idx.movie_id and k.id = mk.keyword_id
and it.id = mi_idx.info_type_id
-- 4a
and it.info = 'rating' and k.keyword like '%sequel%' and mi_idx.info > '5.0' and t.production_year > 2005
-- 4b
and it.info = 'rating' and k.keyword like '%sequel%' and mi_idx.info > '8.5' and t.production_year > 2010
-- 4c
and it.info = 'rating' and k.keyword like '%sequel%' and mi_idx.info > '2.0' and t.production_year > 1990

-- family 5
select min(t.title) as title
from company_type as ct, info_type as it, movie_companies as mc, movie_info as mi, title as t
where t.id = mi.movie_id and t.id = mc.movie_id and mc.movie_id = mi.movie_id and ct.id = mc.company_type_id
and it.id = mi.info_type_id
-- 5a
and ct.kind = 'distributors' and mc.note like '%(theatrical)%' and mc.note like '%(France)%'
and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'French') and t.production_year > 2005
-- 5b
and ct.kind = 'distributors' and mc.note like '%(VHS)%' and mc.note like '%(USA)%' and mc.note like '%(2018)%'
and mi.info in ('USA', 'English') and t.production_year > 2010
-- 5c
and ct.kind = 'distributors' and mc.note not like '%(TV)%' and mc.note like '%(USA)%'
and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'USA', 'English') and t.production_year > 1990

-- family 6
select min(k.keyword) as keyword, min(n.name) as person, min(t.title) as title
from cast_info as ci, keyword as k, movie_keyword as mk, name as n, title as t
where k.id = mk.keyword_id and t.id = mk.movie_id and t.id = ci.movie_id and ci.movie_id = mk.movie_id and n.id = ci.person_id
-- 6a
and k.keyword = 'superhero' and n.name like '%Downey%Robert%' and t.production_year > 2010
-- 6b
and k.keyword in ('superhero', 'sequel', 'murder', 'fight', 'based-on-novel', 'magic', 'violence')
and n.name like '%Downey%Robert%' and t.production_year > 2014
-- 6c
and k.keyword = 'superhero' and n.name like '%Downey%Robert%' and t.production_year > 2014
-- 6d
and k.keyword in ('superhero', 'sequel', 'murder', 'fight', 'based-on-novel', 'magic', 'violence')
and n.name like '%Downey%Robert%' and t.production_year > 2000
-- 6e
and k.keyword = 'superhero' and n.name like '%Downey%Robert%' and t.production_year > 2000
-- 6f
and k.keyword in ('superhero', 'sequel', 'murder', 'fight', 'based-on-novel', 'magic', 'violence') and t.production_year > 2000

-- family 7
select min(n.name) as person, min(t.title) as title
from aka_name as an, cast_info as ci, info_type as it, link_type as lt, movie_link as ml, name as n, person_info as pi, title as t
where n.id = an.person_id and n.id = pi.person_id and ci.person_id = n.id and t.id = ci.movie_id and ml.linked_movie_id = t.id
and lt.id = ml.link_type_id and it.id = pi.info_type_id and pi.person_id = an.person_id and pi.person_id = ci.person_id
and an.person_id = ci.person_id and ci.movie_id = ml.linked_movie_id
-- 7a
and an.name like '%a%' and it.info = 'mini biography' and lt.link = 'features' and n.name_pcode_cf between 'A' and 'F'
and (n.gender = 'm' or n.gender = 'f' and n.name like 'B%') and pi.note = 'Writer 3' and t.production_year between 1980 and 1995
-- 7b
and an.name like '%a%' and it.info = 'mini biography' and lt.link = 'features' and n.name_pcode_cf like 'D%'
and n.gender = 'm' and pi.note = 'Writer 0' and t.production_year between 1980 and 2014
-- 7c
and (an.name like '%a%' or an.name like 'A%') and it.info = 'mini biography'
and lt.link in ('references', 'referenced in', 'features', 'featured in') and n.name_pcode_cf between 'A' and 'F'
and (n.gender = 'm' or n.gender = 'f' and n.name like 'A%') and pi.note is not null and t.production_year between 1980 and 2010

-- family 8
select min(an.name) as alias, min(t.title) as title
from aka_name as an, cast_info as ci, company_name as cn, movie_companies as mc, name as n, role_type as rt, title as t
where an.person_id = n.id and n.id = ci.person_id and ci.movie_id = t.id and t.id = mc.movie_id and mc.company_id = cn.id
and ci.role_id = rt.id and an.person_id = ci.person_id and ci.movie_id = mc.movie_id
-- 8a
and ci.note = '(voice: English version)' and cn.country_code = '[jp]' and mc.note like '%(Japan)%' and mc.note not like '%(USA)%'
and n.name like '%Yo%' and n.name not like '%Yu%' and rt.role = 'actress'
-- 8b
and ci.note = '(voice: English version)' and cn.country_code = '[jp]' and mc.note like '%(Japan)%' and mc.note not like '%(USA)%'
and (mc.note like '%(2014)%' or mc.note like '%(2015)%' or mc.note like '%(2016)%') and n.name like '%Yo%' and n.name not like '%Yu%'
and rt.role = 'actress' and t.production_year between 2012 and 2016 and (t.title like 'Dark%' or t.title like '%Dragon%')
-- 8c
and cn.country_code = '[us]' and rt.role = 'writer'
-- 8d
and cn.country_code = '[us]' and rt.role = 'costume designer'

-- family 9
select min(an.name) as alias, min(chn.name) as character, min(t.title) as title
from aka_name as an, char_name as chn, cast_info as ci, company_name as cn, movie_companies as mc, name as n, role_type as rt,
title as t
where ci.movie_id = t.id and t.id = mc.movie_id and ci.movie_id = mc.movie_id and mc.company_id = cn.id and ci.role_id = rt.id
and n.id = ci.person_id and chn.id = ci.person_role_id and an.person_id = n.id and an.person_id = ci.person_id
-- 9a
and ci.note in ('(voice)', '(voice: English version)', '(voice) (uncredited)') and cn.country_code = '[us]' and mc.note is not null
and (mc.note like '%(USA)%' or mc.note like '%(worldwide)%') and n.gender = 'f' and n.name like '%Ang%' and rt.role = 'actress'
and t.production_year between 2005 and 2015
-- 9b
and ci.note = '(voice)' and cn.country_code = '[us]' and mc.note like '%(200%)%'
and (mc.note like '%(USA)%' or mc.note like '%(worldwide)%') and n.gender = 'f' and n.name like '%Angel%' and rt.role = 'actress'
and t.production_year between 2007 and 2010
-- 9c
and ci.note in ('(voice)', '(voice: English version)', '(voice) (uncredited)') and cn.country_code = '[us]' and n.gender = 'f'
and n.name like '%An%' and rt.role = 'actress'
-- 9d
and ci.note in ('(voice)', '(voice: English version)', '(voice) (uncredited)') and cn.country_code = '[us]' and n.gender = 'f'
and rt.role = 'actress'

-- family 10
select min(chn.name) as character, min(t.title) as title
from char_name as chn, cast_info as ci, company_name as cn, company_type as ct, movie_companies as mc, role_type as rt, title as t
where t.id = mc.movie_id and t.id = ci.movie_id and ci.movie_id = mc.movie_id and chn.id = ci.person_role_id and rt.id = ci.role_id
and cn.id = mc.company_id and ct.id = mc.company_type_id
-- 10a
and ci.note like '%(voice)%' and ci.note like '%(uncredited)%' and cn.country_code = '[bg]' and rt.role = 'actor'
and t.production_year > 2005
-- 10b
and ci.note like '%(voice)%' and cn.country_code = '[bg]' and rt.role = 'actor' and t.production_year > 2010
-- 10c
and ci.note like '%(voice)%' and cn.country_code = '[us]' and t.production_year > 1990

-- family 11
select min(cn.name) as company, min(lt.link) as link, min(t.title) as title
from company_name as cn, company_type as ct, keyword as k, link_type as lt, movie_companies as mc, movie_keyword as mk,
movie_link as ml, title as t
where lt.id = ml.link_type_id and ml.movie_id = t.id and t.id = mk.movie_id and mk.keyword_id = k.id and t.id = mc.movie_id
and mc.company_type_id = ct.id and mc.company_id = cn.id and ml.movie_id = mk.movie_id and ml.movie_id = mc.movie_id
and mk.movie_id = mc.movie_id
-- 11a
and cn.country_code <> '[bg]' and (cn.name like '%Film%' or cn.name like '%Warner%') and ct.kind = 'production companies'
and k.keyword = 'sequel' and lt.link like '%follow%' and mc.note is null and t.production_year between 1950 and 2000
-- 11b
and cn.country_code <> '[bg]' and (cn.name like '%Film%' or cn.name like '%Warner%') and ct.kind = 'production companies'
and k.keyword = 'sequel' and lt.link like '%follows%' and mc.note is null and t.production_year between 2000 and 2015
and t.title like '%Heart%'
-- 11c
and cn.country_code <> '[bg]' and (cn.name like 'Polar%' or cn.name like 'Star%') and ct.kind <> 'production companies'
and k.keyword in ('sequel', 'revenge', 'based-on-novel') and mc.note is not null and t.production_year > 1950
-- 11d
and cn.country_code <> '[bg]' and ct.kind <> 'production companies' and k.keyword in ('sequel', 'revenge', 'based-on-novel')
and mc.note is not null and t.production_year > 1950

-- family 12
select min(cn.name) as company, min(mi_idx.info) as rating, min(t.title) as title
from company_name as cn, company_type as ct, info_type as it1, info_type as it2, movie_companies as mc, movie_info as mi,
movie_info_idx as mi_idx, title as t
where t.id = mi.movie_id and t.id = mi_idx.movie_id and mi.info_type_id = it1.id and mi_idx.info_type_id = it2.id
and t.id = mc.movie_id and ct.id = mc.company_type_id and cn.id = mc.company_id and mc.movie_id = mi.movie_id
and mc.movie_id = mi_idx.movie_id and mi.movie_id = mi_idx.movie_id
-- 12a
and cn.country_code = '[us]' and ct.kind = 'production companies' and it1.info = 'genres' and it2.info = 'rating'
and mi.info in ('Drama', 'Horror') and mi_idx.info > '8.0' and t.production_year between 2005 and 2008
-- 12b
and cn.country_code = '[us]' and ct.kind in ('production companies', 'distributors') and it1.info = 'budget'
and it2.info = 'bottom 10 rank' and t.production_year > 1980
-- 12c
and cn.country_code = '[us]' and ct.kind = 'production companies' and it1.info = 'genres' and it2.info = 'rating'
and mi.info in ('Drama', 'Horror', 'Western', 'Family') and mi_idx.info > '7.0' and t.production_year between 2000 and 2010

-- family 13
select min(mi.info) as released, min(mi_idx.info) as rating, min(t.title) as title
from company_name as cn, company_type as ct, info_type as it1, info_type as it2, kind_type as kt, movie_companies as mc,
movie_info as mi, movie_info_idx as mi_idx, title as t
where mi.movie_id = t.id and it2.id = mi.info_type_id and kt.id = t.kind_id and mc.movie_id = t.id and cn.id = mc.company_id
and ct.id = mc.company_type_id and mi_idx.movie_id = t.id and it1.id = mi_idx.info_type_id and mi.movie_id = mi_idx.movie_id
and mi.movie_id = mc.movie_id and mi_idx.movie_id = mc.movie_id
-- 13a
and cn.country_code = '[de]' and ct.kind = 'production companies' and it1.info = 'rating' and it2.info = 'release dates'
and kt.kind = 'movie'
-- 13b
and cn.country_code = '[us]' and ct.kind = 'production companies' and it1.info = 'rating' and it2.info = 'release dates'
and kt.kind = 'movie' and (t.title like '%Champion%' or t.title like '%Lost%')
-- 13c
and cn.country_code = '[us]' and ct.kind = 'production companies' and it1.info = 'rating' and it2.info = 'release dates'
and kt.kind = 'movie' and (t.title like 'Champion%' or t.title like 'Lost%')
-- 13d
and cn.country_code = '[us]' and ct.kind = 'production companies' and it1.info = 'rating' and it2.info = 'release dates'
and kt.kind = 'movie'

-- family 14
select min(mi_idx.info) as rating, min(t.title) as title
from info_type as it1, info_type as it2, keyword as k, kind_type as kt, movie_info as mi, movie_info_idx as mi_idx,
movie_keyword as mk, title as t
where kt.id = t.kind_id and t.id = mi.movie_id and t.id = mk.movie_id and t.id = mi_idx.movie_id and mk.movie_id = mi.movie_id
and mk.movie_id = mi_idx.movie_id and mi.movie_id = mi_idx.movie_id and k.id = mk.keyword_id and it1.id = mi.info_type_id
and it2.id = mi_idx.info_type_id
-- 14a
and it1.info = 'countries' and it2.info = 'rating' and k.keyword in ('murder', 'heist', 'blood', 'violence')
and kt.kind = 'movie' and mi.info in ('Sweden', 'Germany', 'Bulgaria', 'USA') and mi_idx.info < '8.5' and t.production_year > 2010
-- 14b
and it1.info = 'countries' and it2.info = 'rating' and k.keyword in ('murder', 'heist') and kt.kind = 'movie'
and mi.info in ('Sweden', 'Germany', 'Bulgaria', 'USA') and mi_idx.info > '6.0' and t.production_year > 2010
and (t.title like '%Murder%' or t.title like '%Mad%')
-- 14c
and it1.info = 'countries' and it2.info = 'rating' and k.keyword is not null and k.keyword in ('murder', 'heist', 'blood', 'violence')
and kt.kind in ('movie', 'episode') and mi.info in ('Sweden', 'Germany', 'Bulgaria', 'USA', 'Italy', 'Japan')
and mi_idx.info < '8.5' and t.production_year > 2005

-- family 15
select min(mi.info) as released, min(t.title) as title
from aka_title as alt, company_name as cn, company_type as ct, info_type as it1, keyword as k, movie_companies as mc,
movie_info as mi, movie_keyword as mk, title as t
where t.id = alt.movie_id and t.id = mi.movie_id and t.id = mk.movie_id and t.id = mc.movie_id and mk.movie_id = mi.movie_id
and mk.movie_id = mc.movie_id and mk.movie_id = alt.movie_id and mi.movie_id = mc.movie_id and mi.movie_id = alt.movie_id
and mc.movie_id = alt.movie_id and k.id = mk.keyword_id and it1.id = mi.info_type_id and cn.id = mc.company_id
and ct.id = mc.company_type_id
-- 15a
and cn.country_code = '[us]' and it1.info = 'release dates' and mc.note like '%(200%)%' and mc.note like '%(worldwide)%'
and mi.note like '%internet%' and mi.info like 'USA:% 200%' and t.production_year > 2000
-- 15b
and cn.country_code = '[us]' and cn.name like 'Polar Pictures%' and it1.info = 'release dates' and mc.note like '%(200%)%'
and mc.note like '%(worldwide)%' and mi.note like '%internet%' and mi.info like 'USA:% 200%'
and t.production_year between 2005 and 2010
-- 15c
and cn.country_code = '[us]' and it1.info = 'release dates' and mi.note like '%internet%'
and (mi.info like 'USA:% 199%' or mi.info like 'USA:% 200%') and t.production_year > 1990
-- 15d
and cn.country_code = '[us]' and it1.info = 'release dates' and mi.note like '%internet%' and t.production_year > 1990

-- family 16
select min(an.name) as alias, min(t.title) as title
from aka_name as an, cast_info as ci, company_name as cn, keyword as k, movie_companies as mc, movie_keyword as mk, name as n,
title as t
where an.person_id = n.id and n.id = ci.person_id and ci.movie_id = t.id and t.id = mk.movie_id and mk.keyword_id = k.id
and t.id = mc.movie_id and mc.company_id = cn.id and an.person_id = ci.person_id and ci.movie_id = mc.movie_id
and ci.movie_id = mk.movie_id and mc.movie_id = mk.movie_id
-- 16a
and cn.country_code = '[us]' and k.keyword = 'character-name-in-title' and t.episode_nr >= 50 and t.episode_nr < 100
-- 16b
and cn.country_code = '[us]' and k.keyword = 'character-name-in-title'
-- 16c
and cn.country_code = '[us]' and k.keyword = 'character-name-in-title' and t.episode_nr < 100
-- 16d
and cn.country_code = '[us]' and k.keyword = 'character-name-in-title' and t.episode_nr >= 5 and t.episode_nr < 100

-- family 17
select min(n.name) as person
from cast_info as ci, company_name as cn, keyword as k, movie_companies as mc, movie_keyword as mk, name as n, title as t
where n.id = ci.person_id and ci.movie_id = t.id and t.id = mk.movie_id and mk.keyword_id = k.id and t.id = mc.movie_id
and mc.company_id = cn.id and ci.movie_id = mc.movie_id and ci.movie_id = mk.movie_id and mc.movie_id = mk.movie_id
-- 17a
and cn.country_code = '[us]' and k.keyword = 'character-name-in-title' and n.name like 'B%'
-- 17b
and k.keyword = 'character-name-in-title' and n.name like 'Z%'
-- 17c
and k.keyword = 'character-name-in-title' and n.name like 'X%'
-- 17d
and k.keyword = 'character-name-in-title' and n.name like '%Berta%'
-- 17e
and cn.country_code = '[us]' and k.keyword = 'character-name-in-title'
-- 17f
and k.keyword = 'character-name-in-title' and n.name like '%B%'

-- family 18
select min(mi.info) as info, min(mi_idx.info) as votes, min(t.title) as title
from cast_info as ci, info_type as it1, info_type as it2, movie_info as mi, movie_info_idx as mi_idx, name as n, title as t
where t.id = mi.movie_id and t.id = mi_idx.movie_id and t.id = ci.movie_id and ci.movie_id = mi.movie_id
and ci.movie_id = mi_idx.movie_id and mi.movie_id = mi_idx.movie_id and n.id = ci.person_id and it1.id = mi.info_type_id
and it2.id = mi_idx.info_type_id
-- 18a
and ci.note in ('(producer)', '(executive producer)') and it1.info = 'budget' and it2.info = 'votes' and n.gender = 'm'
and n.name like '%Tim%'
-- 18b
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and it1.info = 'genres'
and it2.info = 'rating' and mi.info in ('Horror', 'Thriller') and mi.note is null and mi_idx.info > '8.0' and n.gender = 'f'
and t.production_year between 2008 and 2014
-- 18c
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and it1.info = 'genres'
and it2.info = 'votes' and mi.info in ('Horror', 'Action', 'Sci-Fi', 'Thriller', 'Crime', 'War') and n.gender = 'm'

-- family 19
select min(n.name) as person, min(t.title) as title
from aka_name as an, char_name as chn, cast_info as ci, company_name as cn, info_type as it, movie_companies as mc,
movie_info as mi, name as n, role_type as rt, title as t
where t.id = mi.movie_id and t.id = mc.movie_id and t.id = ci.movie_id and mc.movie_id = ci.movie_id and mc.movie_id = mi.movie_id
and mi.movie_id = ci.movie_id and cn.id = mc.company_id and it.id = mi.info_type_id and n.id = ci.person_id and rt.id = ci.role_id
and n.id = an.person_id and ci.person_id = an.person_id and chn.id = ci.person_role_id
-- 19a
and ci.note in ('(voice)', '(voice: English version)', '(voice) (uncredited)') and cn.country_code = '[us]'
and it.info = 'release dates' and mc.note is not null and (mc.note like '%(USA)%' or mc.note like '%(worldwide)%')
and (mi.info like 'Japan:%200%' or mi.info like 'USA:%200%') and n.gender = 'f' and n.name like '%Ang%' and rt.role = 'actress'
and t.production_year between 2005 and 2009
-- 19b
and ci.note = '(voice)' and cn.country_code = '[us]' and it.info = 'release dates' and mc.note like '%(200%)%'
and (mc.note like '%(USA)%' or mc.note like '%(worldwide)%') and (mi.info like 'Japan:%2007%' or mi.info like 'USA:%2008%')
and n.gender = 'f' and n.name like '%Angel%' and rt.role = 'actress' and t.production_year between 2007 and 2008
and t.title like '%Dragon%'
-- 19c
and ci.note in ('(voice)', '(voice: English version)', '(voice) (uncredited)') and cn.country_code = '[us]'
and it.info = 'release dates' and (mi.info like 'Japan:%200%' or mi.info like 'USA:%200%') and n.gender = 'f'
and n.name like '%An%' and rt.role = 'actress' and t.production_year > 2000
-- 19d
and ci.note in ('(voice)', '(voice: English version)', '(voice) (uncredited)') and cn.country_code = '[us]'
and it.info = 'release dates' and n.gender = 'f' and rt.role = 'actress' and t.production_year > 2000

-- family 20
select min(t.title) as title
from complete_cast as cc, comp_cast_type as cct1, comp_cast_type as cct2, char_name as chn, cast_info as ci, keyword as k,
kind_type as kt, movie_keyword as mk, name as n, title as t
where kt.id = t.kind_id and t.id = mk.movie_id and t.id = ci.movie_id and t.id = cc.movie_id and mk.movie_id = ci.movie_id
and mk.movie_id = cc.movie_id and ci.movie_id = cc.movie_id and chn.id = ci.person_role_id and n.id = ci.person_id
and k.id = mk.keyword_id and cct1.id = cc.subject_id and cct2.id = cc.status_id
-- 20a
and cct1.kind = 'cast' and cct2.kind like '%complete%' and chn.name not like '%Sherlock%'
and (chn.name like '%Tony%Stark%' or chn.name like '%Captain%Man%')
and k.keyword in ('superhero', 'sequel', 'murder', 'fight', 'based-on-novel', 'magic', 'violence') and kt.kind = 'movie'
and t.production_year > 1950
-- 20b
and cct1.kind = 'cast' and cct2.kind like '%complete%' and chn.name not like '%Sherlock%'
and (chn.name like '%Tony%Stark%' or chn.name like '%Captain%Man%')
and k.keyword in ('superhero', 'sequel', 'murder', 'fight', 'based-on-novel', 'magic', 'violence') and kt.kind = 'movie'
and n.name like '%Downey%' and t.production_year > 2000
-- 20c
and cct1.kind = 'cast' and cct2.kind like '%complete%' and chn.name is not null
and (chn.name like '%man%' or chn.name like '%Man%')
and k.keyword in ('superhero', 'revenge', 'murder', 'fight', 'based-on-novel', 'magic', 'violence') and kt.kind = 'movie'
and t.production_year > 2000

-- family 21
select min(cn.name) as company, min(lt.link) as link, min(t.title) as title
from company_name as cn, company_type as ct, keyword as k, link_type as lt, movie_companies as mc, movie_info as mi,
movie_keyword as mk, movie_link as ml, title as t
where lt.id = ml.link_type_id and ml.movie_id = t.id and t.id = mk.movie_id and mk.keyword_id = k.id and t.id = mc.movie_id
and mc.company_type_id = ct.id and mc.company_id = cn.id and mi.movie_id = t.id and ml.movie_id = mk.movie_id
and ml.movie_id = mc.movie_id and mk.movie_id = mc.movie_id and ml.movie_id = mi.movie_id and mk.movie_id = mi.movie_id
and mc.movie_id = mi.movie_id
-- 21a
and cn.country_code <> '[bg]' and (cn.name like '%Film%' or cn.name like '%Warner%') and ct.kind = 'production companies'
and k.keyword = 'sequel' and lt.link like '%follow%' and mc.note is null
and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'USA', 'English') and t.production_year between 1950 and 2000
-- 21b
and cn.country_code <> '[bg]' and (cn.name like '%Film%' or cn.name like '%Warner%') and ct.kind = 'production companies'
and k.keyword = 'sequel' and lt.link like '%follow%' and mc.note is null and mi.info in ('Germany', 'German')
and t.production_year between 2000 and 2010
-- 21c
and cn.country_code <> '[bg]' and (cn.name like '%Film%' or cn.name like '%Warner%') and ct.kind = 'production companies'
and k.keyword = 'sequel' and lt.link like '%follow%' and mc.note is null
and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'USA', 'English', 'UK') and t.production_year between 1950 and 2010

-- family 22
select min(cn.name) as company, min(mi_idx.info) as rating, min(t.title) as title
from company_name as cn, company_type as ct, info_type as it1, info_type as it2, keyword as k, kind_type as kt,
movie_companies as mc, movie_info as mi, movie_info_idx as mi_idx, movie_keyword as mk, title as t
where kt.id = t.kind_id and t.id = mi.movie_id and t.id = mk.movie_id and t.id = mi_idx.movie_id and t.id = mc.movie_id
and mk.movie_id = mi.movie_id and mk.movie_id = mi_idx.movie_id and mk.movie_id = mc.movie_id and mi.movie_id = mi_idx.movie_id
and mi.movie_id = mc.movie_id and mc.movie_id = mi_idx.movie_id and k.id = mk.keyword_id and it1.id = mi.info_type_id
and it2.id = mi_idx.info_type_id and ct.id = mc.company_type_id and cn.id = mc.company_id
-- 22a
and cn.country_code <> '[us]' and it1.info = 'countries' and it2.info = 'rating'
and k.keyword in ('murder', 'heist', 'blood', 'violence') and kt.kind in ('movie', 'episode') and mc.note not like '%(USA)%'
and mc.note like '%(200%)%' and mi.info in ('Germany', 'German', 'USA', 'UK') and mi_idx.info < '7.0' and t.production_year > 2005
-- 22b
and cn.country_code <> '[us]' and it1.info = 'countries' and it2.info = 'rating'
and k.keyword in ('murder', 'heist', 'blood', 'violence') and kt.kind in ('movie', 'episode') and mc.note not like '%(USA)%'
and mc.note like '%(200%)%' and mi.info in ('Germany', 'German', 'USA', 'UK') and mi_idx.info < '7.0' and t.production_year > 2006
-- 22c
and cn.country_code <> '[us]' and it1.info = 'countries' and it2.info = 'rating'
and k.keyword in ('murder', 'heist', 'blood', 'violence') and kt.kind in ('movie', 'episode') and mc.note not like '%(USA)%'
and mc.note like '%(200%)%' and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'USA', 'English', 'Italy')
and mi_idx.info < '8.5' and t.production_year > 2004
-- 22d
and cn.country_code <> '[us]' and it1.info = 'countries' and it2.info = 'rating'
and k.keyword in ('murder', 'heist', 'blood', 'violence') and kt.kind in ('movie', 'episode')
and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'USA', 'English', 'Italy') and mi_idx.info < '8.5'
and t.production_year > 2005

-- family 23
select min(kt.kind) as kind, min(t.title) as title
from complete_cast as cc, comp_cast_type as cct1, company_name as cn, company_type as ct, info_type as it1, keyword as k,
kind_type as kt, movie_companies as mc, movie_info as mi, movie_keyword as mk, title as t
where kt.id = t.kind_id and t.id = mi.movie_id and t.id = mk.movie_id and t.id = mc.movie_id and t.id = cc.movie_id
and mk.movie_id = mi.movie_id and mk.movie_id = mc.movie_id and mk.movie_id = cc.movie_id and mi.movie_id = mc.movie_id
and mi.movie_id = cc.movie_id and mc.movie_id = cc.movie_id and k.id = mk.keyword_id and it1.id = mi.info_type_id
and cn.id = mc.company_id and ct.id = mc.company_type_id and cct1.id = cc.status_id
-- 23a
and cct1.kind = 'complete+verified' and cn.country_code = '[us]' and it1.info = 'release dates' and kt.kind in ('movie')
and mi.note like '%internet%' and (mi.info like 'USA:% 199%' or mi.info like 'USA:% 200%') and t.production_year > 2000
-- 23b
and cct1.kind = 'complete+verified' and cn.country_code = '[us]' and it1.info = 'release dates'
and k.keyword in ('nerd', 'love', 'alien', 'dream', 'slapstick') and kt.kind in ('movie') and mi.note like '%internet%'
and mi.info like 'USA:% 200%' and t.production_year > 2000
-- 23c
and cct1.kind = 'complete+verified' and cn.country_code = '[us]' and it1.info = 'release dates'
and kt.kind in ('movie', 'tv movie', 'video movie', 'video game') and mi.note like '%internet%'
and (mi.info like 'USA:% 199%' or mi.info like 'USA:% 200%') and t.production_year > 1990

-- family 24
select min(chn.name) as character, min(n.name) as person, min(t.title) as title
from aka_name as an, char_name as chn, cast_info as ci, company_name as cn, info_type as it, keyword as k, movie_companies as mc,
movie_info as mi, movie_keyword as mk, name as n, role_type as rt, title as t
where t.id = mi.movie_id and t.id = mc.movie_id and t.id = ci.movie_id and t.id = mk.movie_id and mc.movie_id = ci.movie_id
and mc.movie_id = mi.movie_id and mc.movie_id = mk.movie_id and mi.movie_id = ci.movie_id and mi.movie_id = mk.movie_id
and ci.movie_id = mk.movie_id and cn.id = mc.company_id and it.id = mi.info_type_id and n.id = ci.person_id and rt.id = ci.role_id
and n.id = an.person_id and ci.person_id = an.person_id and chn.id = ci.person_role_id and k.id = mk.keyword_id
-- 24a
and ci.note in ('(voice)', '(voice: English version)', '(voice) (uncredited)') and cn.country_code = '[us]'
and it.info = 'release dates' and k.keyword in ('talking-animal', 'anthropomorphism', 'computer-animation', 'magic')
and (mi.info like 'Japan:%201%' or mi.info like 'USA:%201%') and n.gender = 'f' and n.name like '%An%' and rt.role = 'actress'
and t.production_year > 2010
-- 24b
and ci.note in ('(voice)', '(voice: English version)', '(voice) (uncredited)') and cn.country_code = '[us]'
and cn.name like 'Polar%' and it.info = 'release dates' and k.keyword in ('talking-animal', 'computer-animation', 'magic')
and (mi.info like 'Japan:%201%' or mi.info like 'USA:%201%') and n.gender = 'f' and n.name like '%An%' and rt.role = 'actress'
and t.production_year > 2010 and t.title like '%Dragon%'

-- family 25
select min(mi.info) as genre, min(mi_idx.info) as votes, min(n.name) as person, min(t.title) as title
from cast_info as ci, info_type as it1, info_type as it2, keyword as k, movie_info as mi, movie_info_idx as mi_idx,
movie_keyword as mk, name as n, title as t
where t.id = mi.movie_id and t.id = mi_idx.movie_id and t.id = ci.movie_id and t.id = mk.movie_id and ci.movie_id = mi.movie_id
and ci.movie_id = mi_idx.movie_id and ci.movie_id = mk.movie_id and mi.movie_id = mi_idx.movie_id and mi.movie_id = mk.movie_id
and mi_idx.movie_id = mk.movie_id and n.id = ci.person_id and it1.id = mi.info_type_id and it2.id = mi_idx.info_type_id
and k.id = mk.keyword_id
-- 25a
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and it1.info = 'genres'
and it2.info = 'votes' and k.keyword in ('murder', 'blood', 'gore', 'violence', 'prison') and mi.info = 'Horror' and n.gender = 'm'
-- 25b
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and it1.info = 'genres'
and it2.info = 'votes' and k.keyword in ('murder', 'blood', 'gore', 'violence', 'prison') and mi.info = 'Horror' and n.gender = 'm'
and t.production_year > 2010 and t.title like 'Dark%'
-- 25c
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and it1.info = 'genres'
and it2.info = 'votes' and k.keyword in ('murder', 'blood', 'gore', 'violence', 'prison', 'heist', 'revenge')
and mi.info in ('Horror', 'Action', 'Sci-Fi', 'Thriller', 'Crime', 'War') and n.gender = 'm'

-- family 26
select min(chn.name) as character, min(mi_idx.info) as rating, min(t.title) as title
from complete_cast as cc, comp_cast_type as cct1, comp_cast_type as cct2, char_name as chn, cast_info as ci, info_type as it2,
keyword as k, kind_type as kt, movie_info_idx as mi_idx, movie_keyword as mk, name as n, title as t
where kt.id = t.kind_id and t.id = mk.movie_id and t.id = ci.movie_id and t.id = cc.movie_id and t.id = mi_idx.movie_id
and mk.movie_id = ci.movie_id and mk.movie_id = cc.movie_id and mk.movie_id = mi_idx.movie_id and ci.movie_id = cc.movie_id
and ci.movie_id = mi_idx.movie_id and cc.movie_id = mi_idx.movie_id and chn.id = ci.person_role_id and n.id = ci.person_id
and k.id = mk.keyword_id and cct1.id = cc.subject_id and cct2.id = cc.status_id and it2.id = mi_idx.info_type_id
-- 26a
and cct1.kind = 'cast' and cct2.kind like '%complete%' and chn.name is not null
and (chn.name like '%man%' or chn.name like '%Man%') and it2.info = 'rating'
and k.keyword in ('superhero', 'revenge', 'murder', 'fight', 'based-on-novel', 'magic', 'violence') and kt.kind = 'movie'
and mi_idx.info > '7.0' and t.production_year > 2000
-- 26b
and cct1.kind = 'cast' and cct2.kind like '%complete%' and chn.name is not null
and (chn.name like '%man%' or chn.name like '%Man%') and it2.info = 'rating' and k.keyword in ('superhero', 'fight', 'magic')
and kt.kind = 'movie' and mi_idx.info > '8.0' and t.production_year > 2005
-- 26c
and cct1.kind = 'cast' and cct2.kind like '%complete%' and chn.name is not null
and (chn.name like '%man%' or chn.name like '%Man%') and it2.info = 'rating'
and k.keyword in ('superhero', 'revenge', 'murder', 'fight', 'based-on-novel', 'magic', 'violence') and kt.kind = 'movie'
and t.production_year > 2000

-- family 27
select min(cn.name) as company, min(lt.link) as link, min(t.title) as title
from complete_cast as cc, comp_cast_type as cct1, comp_cast_type as cct2, company_name as cn, company_type as ct, keyword as k,
link_type as lt, movie_companies as mc, movie_info as mi, movie_keyword as mk, movie_link as ml, title as t
where lt.id = ml.link_type_id and ml.movie_id = t.id and t.id = mk.movie_id and mk.keyword_id = k.id and t.id = mc.movie_id
and mc.company_type_id = ct.id and mc.company_id = cn.id and mi.movie_id = t.id and t.id = cc.movie_id and cct1.id = cc.subject_id
and cct2.id = cc.status_id and ml.movie_id = mk.movie_id and ml.movie_id = mc.movie_id and mk.movie_id = mc.movie_id
and ml.movie_id = mi.movie_id and mk.movie_id = mi.movie_id and mc.movie_id = mi.movie_id and ml.movie_id = cc.movie_id
and mk.movie_id = cc.movie_id and mc.movie_id = cc.movie_id and mi.movie_id = cc.movie_id
-- 27a
and cct1.kind in ('cast', 'crew') and cct2.kind = 'complete' and cn.country_code <> '[bg]'
and (cn.name like '%Film%' or cn.name like '%Warner%') and ct.kind = 'production companies' and k.keyword = 'sequel'
and lt.link like '%follow%' and mc.note is null and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'USA', 'English')
and t.production_year between 1950 and 2000
-- 27b
and cct1.kind in ('cast', 'crew') and cct2.kind = 'complete' and cn.country_code <> '[bg]'
and (cn.name like '%Film%' or cn.name like '%Warner%') and ct.kind = 'production companies' and k.keyword = 'sequel'
and lt.link like '%follow%' and mc.note is null and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'USA', 'English')
and t.production_year between 1998 and 2008
-- 27c
and cct1.kind = 'cast' and cct2.kind like 'complete%' and cn.country_code <> '[bg]'
and (cn.name like '%Film%' or cn.name like '%Warner%') and ct.kind = 'production companies' and k.keyword = 'sequel'
and lt.link like '%follow%' and mc.note is null
and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'USA', 'English', 'UK') and t.production_year between 1950 and 2010

-- family 28
select min(cn.name) as company, min(mi_idx.info) as rating, min(t.title) as title
from complete_cast as cc, comp_cast_type as cct1, comp_cast_type as cct2, company_name as cn, company_type as ct,
info_type as it1, info_type as it2, keyword as k, kind_type as kt, movie_companies as mc, movie_info as mi,
movie_info_idx as mi_idx, movie_keyword as mk, title as t
where kt.id = t.kind_id and t.id = mi.movie_id and t.id = mk.movie_id and t.id = mi_idx.movie_id and t.id = mc.movie_id
and t.id = cc.movie_id and mk.movie_id = mi.movie_id and mk.movie_id = mi_idx.movie_id and mk.movie_id = mc.movie_id
and mk.movie_id = cc.movie_id and mi.movie_id = mi_idx.movie_id and mi.movie_id = mc.movie_id and mi.movie_id = cc.movie_id
and mc.movie_id = mi_idx.movie_id and mc.movie_id = cc.movie_id and mi_idx.movie_id = cc.movie_id and k.id = mk.keyword_id
and it1.id = mi.info_type_id and it2.id = mi_idx.info_type_id and ct.id = mc.company_type_id and cn.id = mc.company_id
and cct1.id = cc.subject_id and cct2.id = cc.status_id
-- 28a
and cct1.kind = 'crew' and cct2.kind <> 'complete+verified' and cn.country_code <> '[us]' and it1.info = 'countries'
and it2.info = 'rating' and k.keyword in ('murder', 'heist', 'blood', 'violence') and kt.kind in ('movie', 'episode')
and mc.note not like '%(USA)%' and mc.note like '%(200%)%'
and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'USA', 'English', 'Italy') and mi_idx.info < '8.5'
and t.production_year > 2000
-- 28b
and cct1.kind = 'crew' and cct2.kind <> 'complete+verified' and cn.country_code <> '[us]' and it1.info = 'countries'
and it2.info = 'rating' and k.keyword in ('murder', 'heist', 'blood', 'violence') and kt.kind in ('movie', 'episode')
and mc.note not like '%(USA)%' and mc.note like '%(200%)%' and mi.info in ('Sweden', 'Germany', 'Italy', 'France')
and mi_idx.info > '5.0' and t.production_year > 2000
-- 28c
and cct1.kind = 'cast' and cct2.kind = 'complete' and cn.country_code <> '[us]' and it1.info = 'countries'
and it2.info = 'rating' and k.keyword in ('murder', 'heist', 'blood', 'violence') and kt.kind in ('movie', 'episode')
and mc.note not like '%(USA)%' and mc.note like '%(200%)%'
and mi.info in ('Sweden', 'Germany', 'Swedish', 'German', 'USA', 'English', 'Italy') and mi_idx.info < '8.5'
and t.production_year > 2005

-- family 29
select min(chn.name) as character, min(n.name) as person, min(t.title) as title
from aka_name as an, complete_cast as cc, comp_cast_type as cct1, comp_cast_type as cct2, char_name as chn, cast_info as ci,
company_name as cn, info_type as it, info_type as it3, keyword as k, movie_companies as mc, movie_info as mi,
movie_keyword as mk, name as n, person_info as pi, role_type as rt, title as t
where t.id = mi.movie_id and t.id = mc.movie_id and t.id = ci.movie_id and t.id = mk.movie_id and t.id = cc.movie_id
and mc.movie_id = ci.movie_id and mc.movie_id = mi.movie_id and mc.movie_id = mk.movie_id and mc.movie_id = cc.movie_id
and mi.movie_id = ci.movie_id and mi.movie_id = mk.movie_id and mi.movie_id = cc.movie_id and ci.movie_id = mk.movie_id
and ci.movie_id = cc.movie_id and mk.movie_id = cc.movie_id and cn.id = mc.company_id and it.id = mi.info_type_id
and n.id = ci.person_id and rt.id = ci.role_id and n.id = an.person_id and ci.person_id = an.person_id and chn.id = ci.person_role_id
and n.id = pi.person_id and ci.person_id = pi.person_id and it3.id = pi.info_type_id and k.id = mk.keyword_id
and cct1.id = cc.subject_id and cct2.id = cc.status_id
-- 29a
and cct1.kind = 'cast' and cct2.kind = 'complete+verified' and (chn.name like '%Queen%' or chn.name like '%Robot%')
and ci.note in ('(voice)', '(voice) (uncredited)', '(voice: English version)') and cn.country_code = '[us]'
and it.info = 'release dates' and it3.info = 'trivia' and k.keyword in ('computer-animation', 'talking-animal')
and (mi.info like 'Japan:%' or mi.info like 'USA:%') and n.gender = 'f' and n.name like '%An%' and rt.role = 'actress'
and t.title like '%Dragon%' and t.production_year between 1990 and 2019
-- 29b
and cct1.kind = 'cast' and cct2.kind = 'complete+verified' and (chn.name like '%Queen%' or chn.name like '%Robot%')
and ci.note in ('(voice)', '(voice) (uncredited)', '(voice: English version)') and cn.country_code = '[us]'
and it.info = 'release dates' and it3.info = 'height' and k.keyword in ('computer-animation', 'talking-animal') and mi.info like 'USA:%'
and n.gender = 'f' and n.name like '%An%' and rt.role = 'actress' and t.title like '%Dragon%'
and t.production_year between 1990 and 2019
-- 29c
and cct1.kind = 'cast' and cct2.kind = 'complete+verified'
and ci.note in ('(voice)', '(voice) (uncredited)', '(voice: English version)') and cn.country_code = '[us]'
and it.info = 'release dates' and it3.info = 'trivia' and k.keyword = 'computer-animation'
and (mi.info like 'Japan:%200%' or mi.info like 'USA:%200%') and n.gender = 'f' and n.name like '%An%' and rt.role = 'actress'
and t.production_year between 2000 and 2010

-- family 30
select min(mi.info) as genre, min(mi_idx.info) as votes, min(n.name) as person, min(t.title) as title
from complete_cast as cc, comp_cast_type as cct1, comp_cast_type as cct2, cast_info as ci, info_type as it1, info_type as it2,
keyword as k, movie_info as mi, movie_info_idx as mi_idx, movie_keyword as mk, name as n, title as t
where t.id = mi.movie_id and t.id = mi_idx.movie_id and t.id = ci.movie_id and t.id = mk.movie_id and t.id = cc.movie_id
and ci.movie_id = mi.movie_id and ci.movie_id = mi_idx.movie_id and ci.movie_id = mk.movie_id and ci.movie_id = cc.movie_id
and mi.movie_id = mi_idx.movie_id and mi.movie_id = mk.movie_id and mi.movie_id = cc.movie_id and mi_idx.movie_id = mk.movie_id
and mi_idx.movie_id = cc.movie_id and mk.movie_id = cc.movie_id and n.id = ci.person_id and it1.id = mi.info_type_id
and it2.id = mi_idx.info_type_id and k.id = mk.keyword_id and cct1.id = cc.subject_id and cct2.id = cc.status_id
-- 30a
and cct1.kind in ('cast', 'crew') and cct2.kind = 'complete+verified'
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and it1.info = 'genres'
and it2.info = 'votes' and k.keyword in ('murder', 'blood', 'gore', 'violence', 'prison', 'heist', 'revenge')
and mi.info in ('Horror', 'Thriller') and n.gender = 'm' and t.production_year > 2000
-- 30b
and cct1.kind in ('cast', 'crew') and cct2.kind = 'complete+verified'
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and it1.info = 'genres'
and it2.info = 'votes' and k.keyword in ('murder', 'blood', 'gore', 'violence', 'prison', 'heist', 'revenge')
and mi.info in ('Horror', 'Thriller') and n.gender = 'm' and t.production_year > 2000
and (t.title like '%Vampire%' or t.title like '%Dark%' or t.title like 'Mad%')
-- 30c
and cct1.kind = 'cast' and cct2.kind = 'complete+verified'
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and it1.info = 'genres'
and it2.info = 'votes' and k.keyword in ('murder', 'blood', 'gore', 'violence', 'prison', 'heist', 'revenge')
and mi.info in ('Horror', 'Action', 'Sci-Fi', 'Thriller', 'Crime', 'War') and n.gender = 'm'

-- family 31
select min(mi.info) as genre, min(mi_idx.info) as votes, min(n.name) as person, min(t.title) as title
from cast_info as ci, company_name as cn, info_type as it1, info_type as it2, keyword as k, movie_companies as mc,
movie_info as mi, movie_info_idx as mi_idx, movie_keyword as mk, name as n, title as t
where t.id = mi.movie_id and t.id = mi_idx.movie_id and t.id = ci.movie_id and t.id = mk.movie_id and t.id = mc.movie_id
and ci.movie_id = mi.movie_id and ci.movie_id = mi_idx.movie_id and ci.movie_id = mk.movie_id and ci.movie_id = mc.movie_id
and mi.movie_id = mi_idx.movie_id and mi.movie_id = mk.movie_id and mi.movie_id = mc.movie_id and mi_idx.movie_id = mk.movie_id
and mi_idx.movie_id = mc.movie_id and mk.movie_id = mc.movie_id and n.id = ci.person_id and it1.id = mi.info_type_id
and it2.id = mi_idx.info_type_id and k.id = mk.keyword_id and cn.id = mc.company_id
-- 31a
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and cn.name like 'Lion%'
and it1.info = 'genres' and it2.info = 'votes'
and k.keyword in ('murder', 'blood', 'gore', 'violence', 'prison', 'heist', 'revenge') and mi.info in ('Horror', 'Thriller')
and n.gender = 'm'
-- 31b
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and cn.name like 'Lion%'
and it1.info = 'genres' and it2.info = 'votes'
and k.keyword in ('murder', 'blood', 'gore', 'violence', 'prison', 'heist', 'revenge') and mc.note like '%(DVD)%'
and mi.info in ('Horror', 'Thriller') and n.gender = 'm' and t.production_year > 2000
and (t.title like '%Vampire%' or t.title like '%Dark%' or t.title like 'Mad%')
-- 31c
and ci.note in ('(writer)', '(head writer)', '(written by)', '(story)', '(story editor)') and cn.name like 'Lion%'
and it1.info = 'genres' and it2.info = 'votes'
and k.keyword in ('murder', 'blood', 'gore', 'violence', 'prison', 'heist', 'revenge')
and mi.info in ('Horror', 'Action', 'Sci-Fi', 'Thriller', 'Crime', 'War')

-- family 32
select min(lt.link) as link, min(t1.title) as title, min(t2.title) as other_title
from keyword as k, link_type as lt, movie_keyword as mk, movie_link as ml, title as t1, title as t2
where mk.keyword_id = k.id and t1.id = mk.movie_id and ml.movie_id = t1.id and ml.linked_movie_id = t2.id
and lt.id = ml.link_type_id and mk.movie_id = t1.id
-- 32a
and k.keyword like 'puppy-dark-%'
-- 32b
and k.keyword = 'character-name-in-title'

-- family 33
select min(cn1.name) as company, min(cn2.name) as other_company, min(mi_idx1.info) as rating, min(mi_idx2.info) as other_rating,
min(t1.title) as title, min(t2.title) as other_title
from company_name as cn1, company_name as cn2, info_type as it1, info_type as it2, kind_type as kt1, kind_type as kt2,
link_type as lt, movie_companies as mc1, movie_companies as mc2, movie_info_idx as mi_idx1, movie_info_idx as mi_idx2,
movie_link as ml, title as t1, title as t2
where lt.id = ml.link_type_id and t1.id = ml.movie_id and t2.id = ml.linked_movie_id and it1.id = mi_idx1.info_type_id
and t1.id = mi_idx1.movie_id and kt1.id = t1.kind_id and cn1.id = mc1.company_id and t1.id = mc1.movie_id
and ml.movie_id = mi_idx1.movie_id and ml.movie_id = mc1.movie_id and mi_idx1.movie_id = mc1.movie_id
and it2.id = mi_idx2.info_type_id and t2.id = mi_idx2.movie_id and kt2.id = t2.kind_id and cn2.id = mc2.company_id
and t2.id = mc2.movie_id and ml.linked_movie_id = mi_idx2.movie_id and ml.linked_movie_id = mc2.movie_id
and mi_idx2.movie_id = mc2.movie_id
-- 33a
and cn1.country_code = '[us]' and it1.info = 'rating' and it2.info = 'rating' and kt1.kind in ('tv series', 'episode')
and kt2.kind in ('tv series', 'episode') and lt.link in ('follows', 'followed by', 'remake of') and mi_idx2.info < '6.0'
and t2.production_year between 2000 and 2015
-- 33b
and cn1.country_code = '[de]' and it1.info = 'rating' and it2.info = 'rating' and kt1.kind in ('tv series', 'episode')
and kt2.kind in ('tv series', 'episode') and lt.link like '%follow%' and mi_idx2.info < '6.0' and t2.production_year > 2007
-- 33c
and cn1.country_code <> '[us]' and it1.info = 'rating' and it2.info = 'rating' and kt1.kind in ('tv series', 'episode', 'tv movie')
and kt2.kind in ('tv series', 'episode', 'tv movie') and lt.link in ('follows', 'followed by', 'remake of') and mi_idx2.info < '6.5'
and t2.production_year between 2000 and 2010
