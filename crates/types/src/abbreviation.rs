//! Abbreviations of times, such as `CEST`, that PostgreSQL knows by default.

use crate::zone::Zone;
use crate::{Result, date};

/// The clock that an abbreviation means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abbreviation {
    /// A clock with a fixed number of seconds ahead of UTC.
    Fixed {
        /// Seconds ahead of UTC.
        seconds: i32,
        /// True for a clock of summer.
        is_summer: bool,
    },
    /// A clock whose offset has changed over the years.
    Moving(MovingAbbreviation),
}

/// An abbreviation whose offset is that of a zone at the time in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovingAbbreviation {
    zone: Zone,
    /// The abbreviation, if the zone's own clock was called so at some time.
    own: Option<&'static str>,
}

impl Abbreviation {
    /// The abbreviation of a name in any case.
    pub fn named(name: &str) -> Option<Abbreviation> {
        let is_in = |names: &str| names.split(' ').any(|n| n.eq_ignore_ascii_case(name));
        if name.is_empty() {
            return None;
        }
        for (seconds, standard, summer) in FIXED {
            if is_in(standard) || is_in(summer) {
                let is_summer = is_in(summer);
                return Some(Abbreviation::Fixed {
                    seconds: *seconds,
                    is_summer,
                });
            }
        }
        let (zone, _, is_own) = MOVING.iter().find(|(_, names, _)| is_in(names))?;
        let own = MOVING.iter().flat_map(|(_, names, _)| names.split(' '));
        Some(Abbreviation::Moving(MovingAbbreviation {
            zone: Zone::named(zone).ok()?,
            own: own.filter(|_| *is_own).find(|n| n.eq_ignore_ascii_case(name)),
        }))
    }

    /// The clock that it means at an instant.
    pub fn zone_at(self, instant: i64) -> Zone {
        let seconds = match self {
            Abbreviation::Fixed { seconds, .. } => seconds.into(),
            Abbreviation::Moving(moving) => moving.seconds_at(instant),
        };
        // No offset of the tables is as far from UTC as 16 hours.
        Zone::of_offset(seconds).unwrap_or(Zone::UTC)
    }

    /// The instant at which its clock shows a time; infinity stays. Error 22008.
    pub fn instant(self, local: i64) -> Result<i64> {
        let about = match self {
            Abbreviation::Fixed { .. } => local,
            Abbreviation::Moving(moving) => moving.zone.instant(local)?,
        };
        self.zone_at(about).instant(local)
    }
}

/// Time between two looks at what a zone's clock was called.
const STEP: i64 = 30 * date::MICROS_PER_DAY;
/// Looks backward, and then forward: 200 years.
const STEPS: i64 = 2_433;
/// The beginning of 1850, and that of 2037.
const FIRST: i64 = -43_829 * date::MICROS_PER_DAY;
const LAST: i64 = 24_472 * date::MICROS_PER_DAY;

impl MovingAbbreviation {
    /// Seconds ahead of UTC at an instant: those that the abbreviation had last before it, else first behind it; where
    /// the zone's clock
    /// was never called so, the zone's own.
    fn seconds_at(self, at: i64) -> i64 {
        // Outside these years no zone has abbreviations.
        let instant = at.clamp(FIRST, LAST);
        let named = |at: i64| {
            let offset = self.zone.at(at);
            (Some(offset.abbreviation.as_str()) == self.own).then_some(offset.seconds)
        };
        let looks = || (0..STEPS).chain((1..STEPS).map(|step| -step));
        let found = self
            .own
            .and_then(|_| looks().find_map(|step| named(instant.saturating_sub(step * STEP))));
        found.unwrap_or_else(|| self.zone.at(at).seconds).into()
    }
}

/// Seconds ahead of UTC, the abbreviations of standard time and those of summer.
const FIXED: &[(i32, &str, &str)] = &[
    (-36000, "HST TAHT", ""),
    (-34200, "MART", ""),
    (-32400, "AKST GAMT", ""),
    (-28800, "PST", "AKDT"),
    (-25200, "MST", "PDT"),
    (-21600, "CST GALT", "MDT"),
    (-18000, "ACT COT EST PET", "CDT"),
    (-14400, "BOT AMT AST", "EDT"),
    (-12600, "NFT NST", ""),
    (-10800, "BRA BRT GFT PMST UYT WGT", "CLST PYST ADT"),
    (-9000, "", "NDT"),
    (-7200, "FNT", "BRST PMDT UYST WGST"),
    (-3600, "EGT AZOT", "FNST"),
    (0, "GMT UCT UT UTC Z ZULU WET", "EGST AZOST"),
    (3600, "WAT CET MET MEZ", "BST WETDST"),
    (7200, "SAST IST EET", "BDST CEST CETDST MEST MESZ METDST"),
    (10800, "EAT FET", "IDT EEST EETDST"),
    (12600, "IRT", ""),
    (14400, "MUT RET SCT", "MSD"),
    (16200, "AFT", ""),
    (18000, "PKT TJT UZT MVT TFT", "MUST"),
    (20700, "NPT", ""),
    (21600, "ALMT BDT BTT XJT", "KGST PKST UZST YEKST"),
    (23400, "MMT", ""),
    (25200, "ICT WAST CXT", "ALMST"),
    (28800, "BNT BORT CCT HKT MYT PHT AWST", "WADT"),
    (31500, "ACWST", ""),
    (32400, "JAYT JST KST PWT", "ULAST AWSST WDT"),
    (34200, "ACST CAST", ""),
    (36000, "DDUT AEST LIGT CHUT MPT PGT TRUT YAPT", "KDT"),
    (37800, "LHST", "ACSST ACDT CADT SADT"),
    (39600, "PONT VUT", "AESST AEDT"),
    (43200, "NZT FJT GILT MHT NZST TVT WAKT WFT", ""),
    (45900, "CHAST", ""),
    (46800, "TOT", "FJST NZDT"),
    (49500, "", "CHADT"),
];

/// A zone, the abbreviations that mean its clock, and whether its own clock was called so at some time.
const MOVING: &[(&str, &str, bool)] = &[
    ("America/Argentina/Buenos_Aires", "ART ARST", false),
    ("America/Asuncion", "PYT", false),
    ("America/Caracas", "VET", false),
    ("America/Guyana", "GYT", false),
    ("America/Santiago", "CLT", false),
    ("Antarctica/Davis", "DAVT", false),
    ("Antarctica/Mawson", "MAWT", false),
    ("Asia/Anadyr", "ANAST ANAT", false),
    ("Asia/Ashgabat", "TMT", false),
    ("Asia/Baku", "AZST AZT", false),
    ("Asia/Bishkek", "KGT", false),
    ("Asia/Colombo", "LKT", false),
    ("Asia/Irkutsk", "IRKST IRKT", false),
    ("Asia/Kamchatka", "PETST PETT", false),
    ("Asia/Krasnoyarsk", "KRAST KRAT", false),
    ("Asia/Magadan", "MAGST MAGT", false),
    ("Asia/Novosibirsk", "NOVST NOVT", false),
    ("Asia/Omsk", "OMSST OMST", false),
    ("Asia/Singapore", "SGT", false),
    ("Asia/Tbilisi", "GEST GET", false),
    ("Asia/Ulaanbaatar", "ULAT", false),
    ("Asia/Vladivostok", "VLAST VLAT", false),
    ("Asia/Yakutsk", "YAKST YAKT", false),
    ("Asia/Yekaterinburg", "YEKT", false),
    ("Asia/Yerevan", "AMST", false),
    ("Atlantic/Stanley", "FKST FKT", false),
    ("Australia/Lord_Howe", "LHDT", false),
    ("Europe/Moscow", "MSK", true),
    ("Europe/Volgograd", "VOLT", false),
    ("Indian/Chagos", "IOT", false),
    ("Pacific/Easter", "EASST EAST", false),
    ("Pacific/Fakaofo", "TKT", false),
    ("Pacific/Kiritimati", "LINT", false),
    ("Pacific/Kosrae", "KOST", false),
    ("Pacific/Niue", "NUT", false),
    ("Pacific/Rarotonga", "CKT", false),
];
