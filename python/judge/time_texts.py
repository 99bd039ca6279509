"""Dates, times and intervals as texts in every form that PostgreSQL reads, and what is computed of them."""

MONTHS = ["January", "February", "March", "april", "MAY", "Jun", "jul", "Aug", "Sept", "oct", "Nov", "December"]
WORDS = ["epoch", "infinity", "-infinity", "J2451187", "J0", "1999.008", "1999008", "20000229", "990108", "19990108T040506", "2000-W05", "y2000", "0001-01-01", "4713-01-01 BC", "99999-01-01", "2000-2-30", "1999-13-01",
         "2001-02-29", "24:00", "allballs", "2000-02-29 allballs", "", " ", "x", "2000", "2000-02", "02/29/2000 12", "Monday 1999-01-04", "Mon Jan 4 1999", "1999-01-04 Wednesday"]
ZONES = ["", "", "", "", "Z", " UTC", "+02", "-08:30", " +5", "+0530", " Europe/Berlin", " America/New_York", " PST", " EST5EDT", " GMT", " nowhere", "+15:59:59", "+16"]
SPANS = ["1 day", "-1 mon", "2 years 3 mons", "01:02:03.5", "1 day 24:00:00", "P1Y2M3DT4H5M6S", "P0001-02-03T04:05:06", "1-2", "3 4:05:06", "1.5 days", "1.5 months", "-1.5 years", "@ 1 hour ago", "1 week 2 days", "1y 2mon", "100 years",
         "1 century", "1 millennium", "1 ms", "500 us", "-04:05", "+1 -2:03", "1 day ago 2 hours", "", "5", "1 fortnight", "1e3 days", "PT36H", "P1W", "P.5D", "infinity", "178000000 years", "1 2", "2 days 2 days", "1 mon -1 day"]
FIELDS = ["year", "month", "day", "hour", "minute", "second", "dow", "isodow", "doy", "week", "isoyear", "quarter", "decade", "century", "millennium", "epoch", "milliseconds", "microseconds", "julian", "timezone", "timezone_hour"]
UNITS = ["year", "month", "day", "hour", "week", "quarter", "decade", "century", "millennium", "minute", "milliseconds"]
FORMS = ["YYYY-MM-DD HH24:MI:SS.US", "DD Mon YYYY", "Day, FMDDth Month", "IYYY-IW-ID", "Q WW W J DDD", "HH12:MI am", "YY Y,YYY CC BC", "TMMonth RM rm", "FMHH24 SSSS MS TZ", "\"quoted\" yyyymmdd", "DY dy D d", "OF TZH"]
MADE = ["make_date({}, {}, {})", "make_timestamp({}, {}, {}, 1, 2, 3.5)", "make_interval({}, {}, 0, {})", "make_time({}, {}, {})"]


class TimeTexts:
    """What `dialect.Dialect` draws of dates and times."""

    def day_text(self):
        year, month, day = self.pick(1999, 2000, 2024, 1, 87, 1970, 12345), self.r.randint(1, 12), self.r.randint(1, 31)
        name = self.pick(MONTHS[month - 1], MONTHS[month - 1][:3])
        made = self.pick(f"{year:04}-{month:02}-{day:02}", f"{year:04}-{month}-{day}", f"{month}/{day}/{year}", f"{month:02}/{day:02}/{year % 100:02}", f"{name} {day}, {year}", f"{day} {name} {year}", f"{day}-{name}-{year}", f"{year}-{name}-{day}",
                         f"{name}-{day}-{year}", f"{year}{month:02}{day:02}", f"{month}.{day}.{year}", f"{year}/{month}/{day}", f"{day}-{name}-{year % 100:02}", f"{name} {day} {year}", f"{year}.{self.r.randint(1, 367):03}", f"{day}th {name} {year}")
        return made + self.pick("", "", "", "", "", " BC", " AD")

    def clock_text(self):
        hour, minute, second = self.r.randint(0, 24), self.r.randint(0, 60), self.r.randint(0, 61)
        return self.pick(f"{hour:02}:{minute:02}", f"{hour}:{minute:02}:{second:02}", f"{hour:02}:{minute:02}:{second:02}.{self.r.randint(0, 9999999)}", f"{hour:02}{minute:02}{second:02}", f"T{hour:02}:{minute:02}", f"{hour}:{minute:02} {self.pick('am', 'PM')}", f"T{hour:02}{minute:02}{second:02}")

    def time_text(self):
        """A text of a day, a clock, a zone, or several of them in any order."""
        if self.chance(0.2):
            return self.pick(*WORDS) + self.pick("", "", "", *ZONES)
        day, clock, zone = self.day_text(), self.clock_text(), self.pick(*ZONES)
        return self.pick(day, day, f"{day} {clock}", f"{day} {clock}{zone}", f"{day.removesuffix(' AD').removesuffix(' BC')}T{clock.removeprefix('T')}{zone}", clock, f"{clock}{zone}", f"{clock} {day}", f"{day}{zone}", f" {day}  {clock} ", f"{self.pick('Mon', 'Friday', 'sun')} {day} {clock}{zone}")

    def dates(self):
        """Texts that become dates, times and intervals, and are shown. What is no date is refused."""
        zone = self.pick("UTC", "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata")
        items = []
        for _ in range(self.r.choice([1, 1, 2, 3])):
            if self.chance(0.25):
                text, kind = self.pick(*SPANS), "interval"
            else:
                text, kind = self.time_text(), self.pick("date", "timestamp", "timestamptz", "time", "date", "timestamp", "timestamp(2)")
            items.append(self.pick(f"cast(cast('{text}' as {kind}) as text)", f"cast({kind} '{text}' as text)", f"cast(cast(cast('{text}' as text) as {kind}) as text)"))
        return self.shown(items, "", before=[f"set timezone = '{zone}'"], after=["set timezone = 'UTC'"])

    def moment(self):
        """An expression of a time: its kind and text."""
        return self.pick(("date", "s.da"), ("timestamp", "s.ts"), ("timestamptz", "s.tz"), ("date", "date '2024-02-29'"), ("timestamp", "timestamp '1999-12-31 23:59:59.999999'"), ("timestamptz", "timestamptz '2024-03-31 01:30+00'"),
                         ("date", "date '0001-01-01'"), ("timestamp", "cast(s.da as timestamp)"), ("timestamptz", "cast(s.ts as timestamptz)"), ("timestamp", "(s.tz at time zone 'Asia/Kolkata')"), ("timestamptz", "(s.ts at time zone 'America/New_York')"), ("date", "cast(s.tz as date)"))

    def times(self):
        """Arithmetic, comparisons, fields and texts of dates, times and intervals."""
        zone = self.pick("UTC", "Europe/Berlin", "America/New_York")
        kind, a = self.moment()
        other, b = self.moment()
        span = self.pick("s.iv", "interval '1 month'", "interval '-36 hours'", "interval '1 day'", "(s.iv * 2)", "(s.iv / 3)", "(- s.iv)", "justify_hours(s.iv)")
        moved = self.pick(f"({a} + {span})", f"({a} - {span})", a)
        field = self.pick(*(field for field in FIELDS if kind == "timestamptz" or "timezone" not in field))
        items = [self.pick(f"{a} {sign} {b}" if (sign := self.pick('=', '<', '<=', '<>', '>')) else "", f"{a} between {b} and {moved}", f"({a}) in ({b}, {moved})", f"({a}, {moved}) overlaps ({b}, {span})" if kind == other else f"{a} is distinct from {b}"),
                 self.pick(f"cast({moved} as text)", f"cast({a} - {b} as text)", f"cast(age({a}, {b}) as text)", f"cast(date_trunc('{self.pick(*UNITS)}', {moved}) as text)", f"to_char({moved}, '{self.pick(*FORMS)}')", f"cast(greatest({a}, {b}) as text)",
                           f"cast(coalesce({a}, {b}) as text)", f"cast(cast({moved} as time) as text)", f"cast({a} at time zone '{self.pick('Europe/Berlin', 'UTC', 'Asia/Kolkata')}' as text)" if kind != "date" else f"cast({a} + s.i2 % 40 as text)", f"cast(date_bin('15 minutes', {a}, timestamp '2001-01-01') as text)" if kind == "timestamp" else f"cast({a} as text)",
                           f"cast(s.ti + {span} as text)", f"cast({a} + s.ti as text)" if kind != "timestamptz" else f"cast({a} as timestamp)::text", f"cast(justify_interval({span}) as text)", f"cast(date_trunc('{self.pick(*UNITS)}', {span}) as text)"),
                 self.pick(f"extract({field} from {moved})", f"date_part('{field}', {a})", f"extract({self.pick('epoch', 'day', 'hour', 'month', 'second')} from {span})", f"extract(epoch from {a} - {b})" if "date" not in (kind, other) else f"cast({a} as date) - cast({b} as date)",
                           f"cast({self.pick(*MADE).format('s.i2 % 99 + 1', '1 + s.k % 12', '1 + s.k % 28')} as text)", f"extract({self.pick('hour', 'second', 'epoch', 'microseconds')} from s.ti)")]
        return self.shown(["s.k", *items], f" from sorts s{self.pick('', f' where {a} < {b}', f' order by {a}, s.k')}", before=[f"set timezone = '{zone}'"], after=["set timezone = 'UTC'"])
