select 1 as n, 'plain' as "text", cast(2.5 as double precision) as x
union all select 2, 'two words, "quoted"', null
union all select 3, 'it''s <b>&amp; 50%_$#{}~^\', cast(-0.125 as double precision)
union all select 4, '', cast(2.25 as double precision)
union all select 5, null, null
union all select 6, 'naïve', cast(0.5 as double precision)
union all select -7, 'tab	and | bar', cast(100.25 as double precision)
order by 1
