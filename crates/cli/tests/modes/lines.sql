select 1 as n, 'first
second
' as "text", 'one
two' as more
