-- The tables of `bench job`: the schema of the Join Order Benchmark (Leis et al., How Good Are Query Optimizers, Really?,
-- VLDB 2015), filled by arithmetic. Frazil and DuckDB (with integer_division) both run this text, so that both hold the
-- same rows. {titles} is the number of titles, and all tables together have some 29 rows for each; the rows follow from
-- {seed}.
--
-- The data are skewed and correlated on purpose. A title has a rank: most rows of the large tables are about titles of
-- low rank, 16 times as many as the mean at rank 0. The country of a title decides about companies, languages and dates
-- of release, the genre about keywords, years, words of the title and notes on the cast, the rank about ratings and
-- votes. Persons, characters, companies and keywords are used unevenly, too.
--
-- x, y and z are numbers of 30 bits: a multiple of the salted row number, squared, without its lowest and highest bits.
-- All arithmetic is on integers, so that no rounding differs.

-- Titles by rank; dropped at the end.
create table ranked as
select rank, cast(rank * 7368787 % {titles} + 1 as integer) as id, country, genre,
    cast(least(2019, 2019 - age + case when genre in (2, 9) then age / 2 when genre = 13 then -20
        else 0 end) as integer) as year,
    cast(case
        when genre = 12 and part < 50 then 7
        when part < 55 then 1 when part < 60 then 2 when part < 68 then 3 when part < 75 then 4 when part < 76 then 5
        when part < 77 then 6 else 7 end as integer) as kind
from (
    select i - 1 as rank, case when x % 100 < 40 then 0 when x % 100 < 55 then 1 when x % 100 < 65 then 2
        when x % 100 < 73 then 3 when x % 100 < 80 then 4 when x % 100 < 85 then 5 when x % 100 < 89 then 6
        when x % 100 < 93 then 7 when x % 100 < 96 then 8 else 9 end as country,
        case when x % 100 between 73 and 79 and x / 128 % 3 = 0 then 15 else y % 1000 * (y % 1000) / 50000 end as genre,
        z % 1000 * (z % 1000) / 10000 as age, y / 1024 % 100 as part
    from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 0 + {seed} as s from generate_series(1,
            {titles}) as g (i)) as salted) as linear) as hashed) as drawn;

create table kind_type (id integer primary key, kind text not null);
insert into kind_type values
    (1, 'movie'), (2, 'tv series'), (3, 'tv movie'), (4, 'video movie'),
    (5, 'tv mini series'), (6, 'video game'), (7, 'episode');

create table company_type (id integer primary key, kind text not null);
insert into company_type values
    (1, 'distributors'), (2, 'production companies'), (3, 'special effects companies'), (4, 'miscellaneous companies');

create table role_type (id integer primary key, role text not null);
insert into role_type values
    (1, 'actor'), (2, 'actress'), (3, 'producer'), (4, 'writer'),
    (5, 'cinematographer'), (6, 'composer'), (7, 'costume designer'), (8, 'director'),
    (9, 'editor'), (10, 'miscellaneous crew'), (11, 'production designer'), (12, 'guest');

create table link_type (id integer primary key, link text not null);
insert into link_type values
    (1, 'follows'), (2, 'followed by'), (3, 'remake of'), (4, 'remade as'),
    (5, 'references'), (6, 'referenced in'), (7, 'spoofs'), (8, 'spoofed in'),
    (9, 'features'), (10, 'featured in'), (11, 'spin off from'), (12, 'spin off'),
    (13, 'version of'), (14, 'similar to'), (15, 'edited into'), (16, 'edited from'),
    (17, 'alternate language version of'), (18, 'unknown link');

create table comp_cast_type (id integer primary key, kind text not null);
insert into comp_cast_type values
    (1, 'cast'), (2, 'crew'), (3, 'complete'), (4, 'complete+verified');

create table info_type (id integer primary key, info text not null);
insert into info_type
select cast(i as integer), case i
        when 1 then 'runtimes' when 2 then 'color info' when 3 then 'genres' when 4 then 'languages'
        when 5 then 'certificates' when 6 then 'sound mix' when 7 then 'countries'
        when 8 then 'release dates' when 9 then 'locations' when 10 then 'budget'
        when 11 then 'plot' when 12 then 'taglines' when 13 then 'gross' when 14 then 'quotes'
        when 15 then 'trivia' when 16 then 'mini biography' when 17 then 'birth date'
        when 18 then 'birth notes' when 19 then 'height' when 20 then 'spouse'
        when 99 then 'votes distribution' when 100 then 'votes' when 101 then 'rating'
        when 112 then 'top 250 rank' when 113 then 'bottom 10 rank'
        else 'info ' || i end
from generate_series(1, 113) as g (i);

create table title (
    id integer primary key, title text not null, imdb_index text, kind_id integer not null, production_year integer,
    imdb_id integer, phonetic_code text, episode_of_id integer, season_nr integer, episode_nr integer,
        series_years text,
    md5sum text);
insert into title
select id,
    split_part('Dark,Lost,Golden,Silent,Broken,Final,Hidden,Red,Secret,Wild,Last,Crazy,Perfect,Burning,Frozen,'
        || 'Little,Great,Blind,Electric,Forgotten,Holy,Iron,Lonely,Mad', ',', cast(x % 24 + 1 as integer))
        || ' '
            || split_part('Promise,Wedding,Planet,Window,Fighter,Stranger,Vampire,Money,Kiss,Robot,Puppy,Island,Dragon,'
            || 'Sheriff,Soldier,Song,Murder,Champion,Painter,Empire', ',', cast((case when x / 64 % 4 < 3
            then genre else y % 20 end) + 1 as integer))
        || case z % 8 when 0 then ' ' || (z / 8 % 4 + 2) when 1 then '' else ' of the '
            || split_part('City,Night,Road,River,Heart,Game,House,Code,World,Dream', ',', cast(y / 32 % 10
            + 1 as integer)) end,
    case when z / 64 % 20 = 0 then 'I' end, kind, case when z / 128 % 50 > 0 then year end,
    null, 'T' || (x / 32 % 600), case when kind = 7 then cast(y % {titles} + 1 as integer) end,
    case when kind = 7 then cast(x / 512 % 12 + 1 as integer) end,
    case when kind = 7 then cast(z / 512 % 120 + 1 as integer) end,
    case when kind = 2 then year || '-' || least(2019, year + z / 1024 % 12) end, null
from (select hashed.*, ranked.* from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 10000000 + {seed} as s from generate_series(1,
            {titles}) as g (i)) as salted) as linear) as hashed
    join ranked on rank = i - 1) as drawn;

-- Persons: 52 of 100 are male, 33 female, and the gender of the others is unknown. It follows from the id.
create table name (
    id integer primary key, name text not null, imdb_index text, imdb_id integer, gender text, name_pcode_cf text,
    name_pcode_nf text, surname_pcode text, md5sum text);
insert into name
select cast(i as integer), name, case when z % 10 = 0 then 'II' end, null,
    case when i * 48271 % 100 < 52 then 'm' when i * 48271 % 100 < 85 then 'f' end,
    substr(name, 1, 1) || (z / 16 % 650), case when z / 32 % 4 > 0 then substr(first, 1, 1) || (y / 64 % 650) end,
    case when z / 64 % 8 > 0 then substr(name, 1, 1) || (x / 1024 % 99) end, null
from (
    select *, surname || ', ' || first || case when z % 3 = 0 then ' ' || (z / 4 % 90) else '' end as name
    from (
        select i, x, y, z,
            split_part('Adler,Baker,Chavez,Downey,Eriksen,Fischer,Gupta,Hughes,Ivanov,Jansen,Kowalski,Lopez,Moreau,'
                || 'Nakamura,Olsen,Petrov,Quinn,Rossi,Schmidt,Timmons,Ueda,Vance,Weber,Xu,Yoshida,Zimmer', ',',
                cast(x % 676 * (x % 676) / 17577 + 1 as integer)) as surname,
            case when i * 48271 % 100 < 52
                then split_part('Robert,Tim,Anders,Boris,Carlo,Dieter,Emil,Franck,Hiroshi,Kumar', ',', cast(y % 10
                    + 1 as integer))
                else split_part('Angela,Yoko,Anna,Berta,Clara,Diane,Elena,Fumiko,Greta,Priya', ',', cast(y % 10
                    + 1 as integer)) end as first
        from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 20000000 + {seed} as s from generate_series(1, ({titles}
            * 165 / 100)) as g (i)) as salted) as linear) as hashed) as named) as drawn;

create table aka_name (
    id integer primary key, person_id integer not null, name text not null, imdb_index text, name_pcode_cf text,
    name_pcode_nf text, surname_pcode text, md5sum text);
insert into aka_name
select cast(i as integer), cast(((x / 16 + x * x / 1073741824 * x / 1073741824 * 15 / 16) * ({titles}
    * 165 / 100) / 1073741824) * 7368787 % ({titles} * 165 / 100) + 1 as integer),
    split_part('Robert,Tim,Anders,Boris,Carlo,Dieter,Emil,Franck,Hiroshi,Kumar,Angela,Yoko,Anna,Berta,Clara,'
        || 'Diane,Elena,Fumiko,Greta,Priya', ',', cast(y % 20 + 1 as integer))
        || ' '
            || split_part('Adler,Baker,Chavez,Downey,Eriksen,Fischer,Gupta,Hughes,Ivanov,Jansen,Kowalski,Lopez,Moreau,'
            || 'Nakamura,Olsen,Petrov,Quinn,Rossi,Schmidt,Timmons,Ueda,Vance,Weber,Xu,Yoshida,Zimmer', ',',
            cast(z % 26 + 1 as integer)),
    null, substr('ABCDEFGHIJKLMNOPQRSTUVWXYZ', cast(z % 26 + 1 as integer), 1) || (z / 32 % 650), null, null, null
from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 30000000 + {seed} as s from generate_series(1, {titles}
            * 36 / 100) as g (i)) as salted) as linear) as hashed;

create table char_name (
    id integer primary key, name text not null, imdb_index text, imdb_id integer, name_pcode_nf text,
        surname_pcode text,
    md5sum text);
insert into char_name
select cast(i as integer),
    case when x % 4 = 0 then '' else split_part('Tony,Lady,Old,Young,Mad,Captain,Doctor,Sister,King,Agent', ',',
        cast(x / 4 % 10 + 1 as integer)) || ' ' end
        || split_part('Man,Queen,Stark,Soldier,Detective,Clerk,Nurse,Teacher,Driver,Himself,Waiter,Sherlock,Bride,'
            || 'Ghost,Robot,Judge,Thief,Singer,Guard,Neighbor', ',', cast(y % 20 + 1 as integer))
        || case when z % 4 = 0 then '' else ' #' || (z / 4 % 50) end,
    null, null, 'C' || (y / 32 % 650), null, null
from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 40000000 + {seed} as s from generate_series(1, ({titles}
            * 124 / 100)) as g (i)) as salted) as linear) as hashed;

-- Three of five rows are about actors and actresses, by the person's gender. Cartoons are spoken.
create table cast_info (
    id integer not null, person_id integer not null, movie_id integer not null, person_role_id integer, note text,
    nr_order integer, role_id integer not null);
insert into cast_info
select cast(i as integer), person, id,
    case when role < 3 then cast((((x / 2 + y / 2) / 16 + (x / 2 + y / 2) * (x / 2 + y / 2) / 1073741824 * (x / 2
        + y / 2) / 1073741824 * 15 / 16) * ({titles} * 124 / 100) / 1073741824) * 15485863 % ({titles} * 124 / 100)
        + 1 as integer) end,
    case
        when role < 3 then case
            when genre = 12 and z % 8 < 6 then case z % 4 when 0 then '(voice) (uncredited)' when 1
                then '(voice: English version)' else '(voice)' end
            when z % 16 = 0 then '(voice)' when z % 16 < 3 then '(uncredited)' when z % 16 = 3 then '(as '
                || (z / 64 % 900) || ')' end
        when role = 3 then case when z % 8 < 3 then '(producer)' when z % 8 < 6 then '(executive producer)' end
        when role = 4 then split_part('(writer),(head writer),(written by),(story),(story editor),(novel)', ',',
            cast(z % 6 + 1 as integer)) end,
    case when role < 3 and z / 8 % 2 = 0 then cast(z / 128 % 60 + 1 as integer) end, role
from (
    select i, x, y, z, person, id, genre, cast(case
        when y / 4096 % 100 < 60 then case when person * 48271 % 100 between 52 and 84 then 2 else 1 end
        else y / 4096 % 10 + 3 end as integer) as role
    from (
        select i, x, y, z, (x / 16 + x * x / 1073741824 * x / 1073741824 * 15 / 16) * {titles} / 1073741824 as of_rank,
            cast(((y / 16 + y * y / 1073741824 * y / 1073741824 * 15 / 16) * ({titles} * 165 / 100) / 1073741824)
                * 7368787 % ({titles} * 165 / 100) + 1 as bigint) as person
        from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 50000000 + {seed} as s from generate_series(1, {titles}
            * 1433 / 100) as g (i)) as salted) as linear) as hashed) as cast_of
    join ranked on rank = of_rank) as drawn;

-- A hundred companies in a row have the countries of a hundred titles.
create table company_name (
    id integer primary key, name text not null, country_code text, imdb_id integer, name_pcode_nf text,
        name_pcode_sf text,
    md5sum text);
insert into company_name
select cast(i as integer),
    split_part('Film,Warner,Star,Lion,River,Studio,Northern,Polar,Metro,Universal,Eagle,Silver', ',', cast(x % 12
        + 1 as integer)) || ' '
        || split_part('Pictures,Productions,Television,Entertainment,Films,Distribution,Media,Group', ',',
        cast(y % 8 + 1 as integer))
        || case when z % 8 = 0 then '' else ' ' || (z / 8 % 3000) end,
    case when z / 64 % 50 > 0 then split_part('[us],[gb],[de],[fr],[in],[jp],[it],[ca],[se],[bg]', ',',
        cast((case when (i - 1) % 100 < 40 then 0 when (i - 1) % 100 < 55 then 1 when (i - 1) % 100 < 65 then 2
        when (i - 1) % 100 < 73 then 3 when (i - 1) % 100 < 80 then 4 when (i - 1) % 100 < 85 then 5
        when (i - 1) % 100 < 89 then 6 when (i - 1) % 100 < 93 then 7 when (i - 1) % 100 < 96 then 8 else 9 end)
        + 1 as integer)) end,
    null, 'F' || (x / 16 % 650), null, null
from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 70000000 + {seed} as s from generate_series(1, ({titles}
            * 93 / 100000 + 1) * 100) as g (i)) as salted) as linear) as hashed;

-- Four of five companies are from the title's country.
create table movie_companies (
    id integer not null, movie_id integer not null, company_id integer not null, company_type_id integer not null,
        note text);
insert into movie_companies
select cast(i as integer), id,
    cast(((y / 16 + y * y / 1073741824 * y / 1073741824 * 15 / 16) * ({titles} * 93 / 100000 + 1) / 1073741824)
        * 100 + 1 + case
        when z % 5 = 0 then z / 8 % 100
        else cast(split_part('0,40,55,65,73,80,85,89,93,96', ',', cast(country + 1 as integer)) as integer)
            + z / 8 % cast(split_part('40,15,10,8,7,5,4,4,3,4', ',', cast(country
                + 1 as integer)) as integer) end as integer),
    cast(type as integer),
    case
        when type = 2 then case y % 8 when 0 then '(presents)' when 1 then '(co-production)' when 2
            then '(as Metro Pictures)' end
        when type = 1 and y % 8 > 0 then '(' || (year + y / 16 % 3) || ') ('
            || case when y % 8 < 5 then split_part('USA,UK,Germany,France,India,Japan,Italy,Canada,Sweden,Bulgaria',
                ',', cast(country + 1 as integer)) else 'worldwide' end
            || ') (' || split_part('theatrical,TV,VHS,DVD', ',', cast(y / 64 % 4 + 1 as integer)) || ')' end
from (
    select i, x, y, z, (x / 16 + x * x / 1073741824 * x / 1073741824 * 15 / 16) * {titles} / 1073741824 as of_rank,
        case when z / 1024 % 100 < 48 then 1 when z / 1024 % 100 < 95 then 2 else z / 1024 % 2 + 3 end as type
    from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 80000000 + {seed} as s from generate_series(1, {titles}
            * 103 / 100) as g (i)) as salted) as linear) as hashed) as drawn
join ranked on rank = of_rank;

-- Three keywords of each genre have words of their own; others belong to the genre that is the id modulo 20.
create table keyword (id integer primary key, keyword text not null, phonetic_code text);
insert into keyword
select cast(i as integer),
    case when i <= 60
        then split_part('character-name-in-title,family-secret,based-on-novel,wedding,nerd,slapstick,interview,'
            || 'archive-footage,nature,no-dialogue,student-film,dream,superhero,fight,martial-arts,revenge,'
            || 'chase,conspiracy,blood,gore,violence,murder,heist,prison,love,kiss,jealousy,computer,alien,'
            || 'robot,dog,friendship,christmas,island,treasure,escape,anthropomorphism,talking-animal,'
            || 'computer-animation,gunfight,horse,sheriff,battle,soldier,bomb,singing,dance,opera,'
            || 'investigation,clue,detective,magic,sequel,dragon,writer,painter,father-son,king,empire,'
            || 'revolution', ',', cast(least(i, 60) as integer))
        else lower(split_part('Promise,Wedding,Planet,Window,Fighter,Stranger,Vampire,Money,Kiss,Robot,Puppy,Island,Dragon,'
            || 'Sheriff,Soldier,Song,Murder,Champion,Painter,Empire', ',', cast(i % 20 + 1 as integer))) || '-'
            || lower(split_part('Dark,Lost,Golden,Silent,Broken,Final,Hidden,Red,Secret,Wild,Last,Crazy,Perfect,Burning,Frozen,'
            || 'Little,Great,Blind,Electric,Forgotten,Holy,Iron,Lonely,Mad', ',', cast(x % 24 + 1 as integer)))
            || '-' || i end,
    'K' || (y % 650)
from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 90000000 + {seed} as s from generate_series(1, ({titles}
            * 53 / 1000 + 60)) as g (i)) as salted) as linear) as hashed;

-- A third of the keywords are the genre's three, half of them others of the genre, one of 48 is "sequel".
create table movie_keyword (id integer not null, movie_id integer not null, keyword_id integer not null);
insert into movie_keyword
select cast(i as integer), id, cast(case
    when z % 12 < 4 then genre * 3 + 1 + least(y % 4, 2)
    when z % 12 = 11 and y % 4 = 0 then 53
    when z % 12 < 10 then least(60 + ((y / 16 + y * y / 1073741824 * y / 1073741824 * 15 / 16) * ({titles}
        * 53 / 20000) / 1073741824) * 20 + genre, ({titles} * 53 / 1000 + 60))
    else 1 + (y / 16 + y * y / 1073741824 * y / 1073741824 * 15 / 16) * ({titles} * 53 / 1000
        + 60) / 1073741824 end as integer)
from (
    select i, y, z, (x / 16 + x * x / 1073741824 * x / 1073741824 * 15 / 16) * {titles} / 1073741824 as of_rank
    from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 100000000 + {seed} as s from generate_series(1, {titles}
            * 179 / 100) as g (i)) as salted) as linear) as hashed) as drawn
join ranked on rank = of_rank;

-- Dates of release are of the title's country, or of the USA, in its year or a year later.
create table movie_info (
    id integer not null, movie_id integer not null, info_type_id integer not null, info text not null, note text);
insert into movie_info
select cast(i as integer), id, cast(type as integer),
    case type
        when 1 then '' || (60 + y % 90)
        when 2 then case when year < 1960 and y % 4 < 3 then 'Black and White' else 'Color' end
        when 3
            then split_part('Drama,Comedy,Documentary,Short,Action,Thriller,Horror,Crime,Romance,Sci-Fi,Family,Adventure,'
            || 'Animation,Western,War,Musical,Mystery,Fantasy,Biography,History', ',', cast((case when y % 4 < 3
            then genre else y / 8 % 20 end) + 1 as integer))
        when 4 then split_part('English,English,German,French,Hindi,Japanese,Italian,English,Swedish,Bulgarian', ',',
            cast((case when y % 8 < 7 then country else 0 end) + 1 as integer))
        when 7 then split_part('USA,UK,Germany,France,India,Japan,Italy,Canada,Sweden,Bulgaria', ',', cast((case
            when y % 8 < 7 then country else 0 end) + 1 as integer))
        when 8 then split_part('USA,UK,Germany,France,India,Japan,Italy,Canada,Sweden,Bulgaria', ',', cast((case
            when y % 4 < 3 then country else 0 end) + 1 as integer))
            || ':' || (y / 8 % 28 + 1) || ' '
                || split_part('January,February,March,April,May,June,July,August,September,October,November,December',
                ',', cast(y / 256 % 12 + 1 as integer)) || ' ' || (year + y / 4096 % 2)
        when 10 then '$' || (y % 200 + 1) || ',000,000'
        else 'text ' || (y % 100000) end,
    case when type = 8 and z / 1024 % 8 < 3 then split_part('(internet),(premiere),(limited)', ',',
        cast(z / 1024 % 8 + 1 as integer)) end
from (
    select i, y, z, (x / 16 + x * x / 1073741824 * x / 1073741824 * 15 / 16) * {titles} / 1073741824 as of_rank, case
        when z % 100 < 8 then 1 when z % 100 < 16 then 2 when z % 100 < 31 then 3 when z % 100 < 41 then 4
        when z % 100 < 46 then 5 when z % 100 < 50 then 6 when z % 100 < 60 then 7 when z % 100 < 85 then 8
        when z % 100 < 87 then 10 else z % 100 - 76 end as type
    from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 120000000 + {seed} as s from generate_series(1, {titles}
            * 587 / 100) as g (i)) as salted) as linear) as hashed) as drawn
join ranked on rank = of_rank;

-- Titles of the first 18 of 100 ranks have rating, votes and their distribution; the best and the worst have a rank.
create table movie_info_idx (
    id integer not null, movie_id integer not null, info_type_id integer not null, info text not null, note text);
insert into movie_info_idx
select cast(i as integer), id, cast(99 + (i - 1) % 3 as integer),
    case (i - 1) % 3
        when 0 then '0' || (y % 100000000)
        when 1 then '' || ({titles} * 40 / (rank + 50) + y % 50 + 5)
        else '' || ((x % 40 + y % 40 + case when genre in (0, 2, 14, 18) then 15 when genre = 6 then 0
            else 8 end) / 10 + 1) || '.' || (z % 10) end,
    null
from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 140000000 + {seed} as s from generate_series(1, {titles} * 18 / 100
            * 3) as g (i)) as salted) as linear) as hashed
join ranked on rank = (i - 1) / 3;
insert into movie_info_idx
select cast({titles} * 54 / 100 + i as integer), id, case when i <= 250 then 112 else 113 end,
    '' || case when i <= 250 then i else i - 250 end, null
from generate_series(1, 260) as g (i)
join ranked on rank = i * 3 % {titles};

create table movie_link (
    id integer not null, movie_id integer not null, linked_movie_id integer not null, link_type_id integer not null);
insert into movie_link
select cast(i as integer), one.id, other.id, cast(z % 18 * (z % 18) / 18 + 1 as integer)
from (
    select i, z, (x / 16 + x * x / 1073741824 * x / 1073741824 * 15 / 16) * {titles} / 1073741824 as of_rank,
        (y / 16 + y * y / 1073741824 * y / 1073741824 * 15 / 16) * {titles} / 1073741824 as other_rank
    from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 150000000 + {seed} as s from generate_series(1, {titles}
            * 12 / 1000 + 10) as g (i)) as salted) as linear) as hashed) as drawn
join ranked as one on one.rank = of_rank
join ranked as other on other.rank = other_rank;

create table complete_cast (
    id integer not null, movie_id integer, subject_id integer not null, status_id integer not null);
insert into complete_cast
select cast(i as integer), id, cast(y % 3 / 2 + 1 as integer), cast(3 + case when z % 10 < 4 then 1
    else 0 end as integer)
from (
    select i, y, z, (x / 16 + x * x / 1073741824 * x / 1073741824 * 15 / 16) * {titles} / 1073741824 as of_rank
    from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 160000000 + {seed} as s from generate_series(1, {titles}
            * 53 / 1000) as g (i)) as salted) as linear) as hashed) as drawn
join ranked on rank = of_rank;

create table person_info (
    id integer not null, person_id integer not null, info_type_id integer not null, info text not null, note text);
insert into person_info
select cast(i as integer), cast(((x / 16 + x * x / 1073741824 * x / 1073741824 * 15 / 16) * ({titles}
    * 165 / 100) / 1073741824) * 7368787 % ({titles} * 165 / 100) + 1 as integer), cast(15 + z % 6 as integer),
    'text ' || (y % 100000), case when z % 6 = 1 then 'Writer ' || (y % 40 * (y % 40) / 40) end
from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 170000000 + {seed} as s from generate_series(1, {titles}
            * 117 / 100) as g (i)) as salted) as linear) as hashed;

create table aka_title (
    id integer primary key, movie_id integer not null, title text not null, imdb_index text, kind_id integer not null,
    production_year integer, phonetic_code text, episode_of_id integer, season_nr integer, episode_nr integer,
        note text,
    md5sum text);
insert into aka_title
select cast(i as integer), id, 'Alias ' || split_part('City,Night,Road,River,Heart,Game,House,Code,World,Dream', ',',
    cast(y % 10 + 1 as integer)) || ' ' || (y % 500), null, kind, year, null, null, null, null,
    case when z % 3 = 0 then '(' || split_part('USA,UK,Germany,France,India,Japan,Italy,Canada,Sweden,Bulgaria', ',',
        cast(country + 1 as integer)) || ')' end, null
from (
    select i, y, z, (x / 16 + x * x / 1073741824 * x / 1073741824 * 15 / 16) * {titles} / 1073741824 as of_rank
    from (
    select i, x * x / 65536 % 1073741824 as x, y * y / 65536 % 1073741824 as y, z * z / 65536 % 1073741824 as z
    from (
        select i, s * 2654435761 % 2147483648 as x, s * 1597334677 % 2147483648 as y, s * 3266489917 % 2147483648 as z
        from (select cast(i as bigint) as i, cast(i as bigint) + 180000000 + {seed} as s from generate_series(1, {titles}
            * 14 / 100) as g (i)) as salted) as linear) as hashed) as drawn
join ranked on rank = of_rank;

drop table ranked;
