select 1 as n, 'x' as "text" where 1 = 0
