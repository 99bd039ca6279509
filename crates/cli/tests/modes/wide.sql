select 'á漢字' as "名", '🙂' as b
