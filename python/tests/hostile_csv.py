"""CSV files with hostile features, each with what is hostile in it."""


def lines(*rows, end="\n"):
    return end.join(rows) + end


def files():
    """Names and bytes."""
    wide = 3000
    text = {
        # Line ends.
        "crlf": lines("a,b", "1,x", "2,y", end="\r\n"),
        "cr": lines("a,b", "1,x", "2,y", end="\r"),
        "mixed_ends": "a,b\r\n1,x\n2,y\r\n3,z\n",
        "no_last_end": "a,b\n1,x\n2,y",
        # Delimiters.
        "semicolon": lines("a;b;c", "1;2,5;x", "2;3,5;y", "3;4,5;z"),
        "tab": lines("a\tb\tc", "1\tx, y\t2.5", "2\tz\t3.5"),
        "bar": lines("a|b|c", "1|x,y|2.5", "2|z|3.5"),
        "comma_in_text": lines("id;note", "1;red, green, blue", "2;one, two, three", "3;a, b, c"),
        "bar_in_text": lines("a,b", "1,x|y", "2,z|w", "3,u|v"),
        "colon_in_times": lines("t,v", "10:20:30,1", "11:21:31,2"),
        # Quotes.
        "quoted": lines('a,b', '1,"x, ""y"" z"', '2,"two\nlines"'),
        "single_quotes": lines("a,b", "1,'x,y'", "2,'z,w'"),
        "other_quote_inside": lines("a,b", '1,"it\'s"', '2,"don\'t"', "3,plain"),
        "apostrophes": lines("name,n", "o'neil,1", "d'arcy,2", "x,3"),
        "backslash_escape": lines("a,b", '1,"say \\"hi\\", he said"', '2,"plain"', '3,"a \\"b\\""'),
        "quoted_numbers": lines('a,b', '"1","2.5"', '"2","3.5"'),
        "quoted_header": lines('"a","b"', "1,2", "3,4"),
        "quoted_empty": lines("a,b", '1,""', "2,", '3,x'),
        "inch_marks": lines("a,b", '5" pipe,1', '6" pipe,2'),
        "space_before_quote": lines('a,b', '1, "x"', '2, "y"'),
        # Headers.
        "no_header": lines("1,x,2.5", "2,y,3.5", "3,z,4.5"),
        "header_of_years": lines("name,2020,2021", "a,1,2", "b,3,4"),
        "header_all_numbers": lines("1,2,3", "10,20,30", "11,21,31"),
        "header_all_text": lines("first,last", "anna,alpha", "bert,beta"),
        "header_twice": lines("a,a,b", "1,2,3", "4,5,6"),
        "header_spaces": lines(" a , b c ", "1,2", "3,4"),
        "header_alone": lines("a,b,c"),
        "header_gap": lines("a,,c", "1,2,3", "4,5,6"),
        "one_column": lines("name", "anna", "bert"),
        "one_column_numbers": lines("1", "2", "3"),
        # Lines that are not rows.
        "blank_lines": "a,b\n1,x\n\n2,y\n\n\n",
        "blank_first": "\n\na,b\n1,x\n2,y\n",
        "comments": lines("# made by a machine", "a,b", "1,x", "2,y"),
        "comments_between": lines("a,b", "1,x", "# half way", "2,y", "# the end"),
        "title": lines("Quarterly report", "", "a,b,c", "1,2,3", "4,5,6"),
        "trailing_delimiter": lines("a,b,", "1,x,", "2,y,"),
        # Ragged rows.
        "short_row": lines("a,b,c", "1,2,3", "4,5", "6,7,8"),
        "long_row": lines("a,b", "1,2", "3,4,5", "6,7"),
        # Types.
        "leading_zeros": lines("zip,n", "01234,1", "00501,2"),
        "plus_signs": lines("a,b", "+1,+2.5", "-2,-3.5"),
        "no_names": lines(",b,", "1,x,2", "2,y,3"),
        "names_twice": lines("a,a,a_1", "1,2,3", "2,3,4"),
        "names_again": lines("a_1,a,a,", "1,2,3,4", "2,3,4,5"),
        "names_by_case": lines("a,A,c", "1,2,3", "2,3,4"),
        "no_name_of_twelve": lines(",b,c,d,e,f,g,h,i,j,k,", "1,2,3,4,5,6,7,8,9,10,11,12", "2,3,4,5,6,7,8,9,10,11,12,13"),
        "no_header_of_twelve": lines("1,2,3,4,5,6,7,8,9,10,11,12", "2,3,4,5,6,7,8,9,10,11,12,13"),
        "exponents": lines("a,b", "1e3,1.5E-2", "2e3,2.5E-2"),
        "thousands": lines("a;b", "1,234;x", "5,678,901;y"),
        "big_integers": lines("a,b", "9223372036854775807,1", "9223372036854775808,2"),
        "booleans": lines("a,b,c", "true,t,yes", "false,f,no", "TRUE,t,yes"),
        "zero_one": lines("a,b", "0,x", "1,y"),
        "infinities": lines("a", "1.5", "inf", "-Infinity", "NaN"),
        "iso_dates": lines("d,t", "2024-02-29,2024-02-29 12:30:45", "2023-12-31,2023-12-31T23:59:59.123"),
        "slash_dates": lines("d,n", "2024/02/29,1", "2023/12/31,2"),
        "day_first": lines("d,n", "29/02/2024,1", "31/12/2023,2"),
        "month_first": lines("d,n", "02/29/2024,1", "12/31/2023,2"),
        "dotted_dates": lines("d,n", "29.02.2024,1", "31.12.2023,2"),
        "ambiguous_dates": lines("d,n", "01/02/2024,1", "03/04/2023,2"),
        "dashed_day_first": lines("d,n", "29-02-2024,1", "31-12-2023,2"),
        "impossible_date": lines("d,n", "2024-02-30,1", "2024-02-28,2"),
        "times": lines("t,n", "10:20:30,1", "23:59:59.5,2"),
        "zoned": lines("t,n", "2024-02-29T12:30:45Z,1", "2024-02-29T12:30:45Z,2"),
        "null_words": lines("a,b", "1,NULL", "2,x", "NULL,y"),
        "nan_words": lines("a,b", "1,N/A", "2,5", "3,6"),
        "empty_column": lines("a,b", "1,", "2,"),
        "spaces": lines("a,b", " 1 , x ", " 2 , y "),
        "negative_zero": lines("a", "-0", "0"),
        "dash_for_nothing": lines("a,b", "1,-", "2,5"),
        "late_text": "a,b\n" + "".join(f"{n},{n}\n" for n in range(30000)) + "x,1\n",
        "wide": ",".join(f"c{n}" for n in range(wide)) + "\n" + ",".join(map(str, range(wide))) + "\n",
        "long_field": lines("a,b", "1," + "x" * 100_000, "2,y"),
        "open_quote": lines("a,b", '1,"x', "2,y", "3,z"),
        "open_quote_late": lines("a,b", "1,x", '2,"y"', '3,"z'),
        "unicode": lines("größe,名前", "1,東京", "2,naïve"),
        "empty_file": "",
        "only_blank": "\n\n\n",
    }
    made = {name: value.encode() for name, value in text.items()}
    made |= {
        "bom": b"\xef\xbb\xbfa,b\n1,x\n2,y\n",
        "utf16_le": "a,b\n1,ä\n2,y\n".encode("utf-16"),
        "utf16_be": b"\xfe\xff" + "a,b\n1,ä\n2,y\n".encode("utf-16-be"),
        "latin1": "a,b\n1,caf\xe9\n2,y\n".encode("latin-1"),
        "nul_bytes": b"a,b\n1,x\0y\n2,z\n",
    }
    return made
