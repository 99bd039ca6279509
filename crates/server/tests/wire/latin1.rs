//! `client_encoding` LATIN1, byte by byte. The answers are those of PostgreSQL 15, but for notices and notifications in
//! characters that LATIN1 lacks.

use crate::client::{Answer, Client, Served, message, sync};
use frazil::Database;
use frazil_server::Authentication;

/// Names of LATIN1: case and signs do not count.
const NAMES: [&str; 8] = [
    "LATIN1",
    "latin1",
    "Latin-1",
    "ISO88591",
    "iso_8859_1",
    "ISO-8859-1",
    "iso 8859 1",
    "'latin1'",
];
/// The message of 22P05 for the euro sign.
const NO_EURO: &str = "character with byte sequence 0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent in \
    encoding \"LATIN1\"";

/// The bytes of a text in LATIN1.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).expect("LATIN1")).collect()
}

/// Query in LATIN1.
fn query(text: &str) -> Vec<u8> {
    message(b'Q', &[&latin1(text)[..], b"\0"].concat())
}

/// Query in UTF-8.
fn utf8(text: &str) -> Vec<u8> {
    crate::client::query(text)
}

fn parse(name: &str, text: &str, types: &[u32]) -> Vec<u8> {
    let mut content = latin1(&format!("{name}\0{text}\0"));
    content.extend((types.len() as i16).to_be_bytes());
    types.iter().for_each(|oid| content.extend(oid.to_be_bytes()));
    message(b'P', &content)
}

/// Bind of values in one format, with results in the same.
fn bind(name: &str, values: &[&[u8]], format: i16) -> Vec<u8> {
    let mut content = latin1(&format!("{name}\0{name}\0"));
    content.extend([&1i16.to_be_bytes()[..], &format.to_be_bytes()].concat());
    content.extend((values.len() as i16).to_be_bytes());
    for value in values {
        content.extend((value.len() as i32).to_be_bytes());
        content.extend(*value);
    }
    content.extend([&1i16.to_be_bytes()[..], &format.to_be_bytes()].concat());
    message(b'B', &content)
}

fn execute(portal: &str, rows: i32) -> Vec<u8> {
    message(b'E', &[&latin1(portal)[..], b"\0", &rows.to_be_bytes()].concat())
}

fn describe(kind: char, name: &str) -> Vec<u8> {
    message(b'D', &latin1(&format!("{kind}{name}\0")))
}

/// A client that asked for LATIN1 at its start.
fn client(served: &Served) -> Client {
    let mut client = served.stranger();
    client.start(&[
        ("user", "me"),
        ("database", "shop"),
        ("client_encoding", "LATIN1"),
    ]);
    let told = client.short();
    assert!(told.contains("S[client_encoding=LATIN1]"), "{told}");
    client
}

/// The one answer of a type to messages.
fn one(client: &mut Client, kind: u8, messages: &[Vec<u8>]) -> Answer {
    client.send(&messages.concat());
    let mut answers = client.until_ready();
    let shown: Vec<String> = answers.iter().map(Answer::short).collect();
    answers.retain(|answer| answer.0 == kind);
    assert_eq!(answers.len(), 1, "{shown:?}");
    answers.remove(0)
}

/// The bytes of a field of an error or a notice.
fn field(answer: &Answer, kind: u8) -> Vec<u8> {
    let mut fields = answer.1.split(|&byte| byte == 0);
    let field = fields.find(|field| field.first() == Some(&kind));
    field.map(|field| field[1..].to_vec()).unwrap_or_default()
}

#[test]
fn every_name_of_latin1_is_known() {
    let served = Served::trusting();
    for name in NAMES {
        let mut client = served.stranger();
        client.start(&[("user", "me"), ("database", "shop"), ("client_encoding", name)]);
        let told = client.short();
        assert!(told.contains("S[client_encoding=LATIN1]"), "{name}: {told}");
        for shown in ["show client_encoding", "select pg_client_encoding()"] {
            assert!(client.ask(&[utf8(shown)]).contains(" D[LATIN1] "), "{name}");
        }
        let name = name.trim_matches('\'');
        let mut client = served.client();
        for set in [
            format!("set client_encoding = '{name}'"),
            format!("set names '{name}'"),
        ] {
            assert_eq!(
                client.ask(&[utf8(&set)]),
                "C[SET] S[client_encoding=LATIN1] ZI",
                "{set}"
            );
            let reset = client.ask(&[utf8("reset client_encoding")]);
            assert_eq!(reset, "C[RESET] S[client_encoding=UTF8] ZI");
        }
    }
    for (name, state) in [("LATIN2", "0A000"), ("l1", "22023")] {
        let mut client = served.stranger();
        client.start(&[("user", "me"), ("database", "shop"), ("client_encoding", name)]);
        let answers = client.until_end();
        assert!(answers.ends_with(&format!("E[{state}]")), "{name}: {answers}");
        let error = one(
            &mut served.client(),
            b'E',
            &[utf8(&format!("set names '{name}'"))],
        );
        let said = [b'M', b'H', b'D']
            .map(|kind| error.field(kind).unwrap_or_default())
            .concat();
        for known in ["UTF8", "LATIN1", "SQL_ASCII"] {
            assert!(said.contains(known), "{said}");
        }
    }
}

#[test]
fn a_role_may_have_the_encoding() {
    let served = Served::new(Database::memory().unwrap(), Authentication::Trust, 20);
    served.client().ask(&[utf8(
        "create role r login superuser; alter role r set client_encoding = 'latin1'",
    )]);
    let mut of_role = served.stranger();
    of_role.start(&[("user", "r"), ("database", "shop")]);
    assert!(of_role.short().contains("S[client_encoding=LATIN1]"));
    assert_eq!(
        of_role.ask(&[query("select 'é' = U&'\\00e9', 'é'")]),
        "T D[t,e9] C[SELECT 1] ZI"
    );
}

#[test]
fn every_byte_comes_back() {
    let served = Served::trusting();
    let mut client = client(&served);
    let bytes: Vec<u8> = (1..=0xff).filter(|byte| *byte != b'\'').collect();
    let text = [b"select length(x), x from (values ('", &bytes[..], b"')) v(x)\0"].concat();
    let row = one(&mut client, b'D', &[message(b'Q', &text)]);
    assert_eq!(row.1, [&b"\0\x02\0\0\0\x03254\0\0\0\xfe"[..], &bytes].concat());
    // Names of columns.
    let columns = one(&mut client, b'T', &[query("select 1 as \"é\", 2 as ü")]);
    assert!(
        columns.1.starts_with(b"\0\x02\xe9\0"),
        "{columns:?}",
        columns = columns.1
    );
    // Stored texts are UTF-8.
    client.ask(&[query("create table é (ü text); insert into é values ('aé')")]);
    let mut other = served.client();
    assert_eq!(
        other.ask(&[utf8("select octet_length(ü), ü from é")]),
        "T D[3,61c3a9] C[SELECT 1] ZI"
    );
}

#[test]
fn a_character_beyond_is_an_error_in_place_of_the_row() {
    let served = Served::trusting();
    let mut client = client(&served);
    let rows = "select i, case i when 3 then U&'\\20ac' else 'é' end from generate_series(1, 4) i";
    assert_eq!(client.ask(&[query(rows)]), "T D[1,e9] D[2,e9] E[22P05] ZI");
    let error = one(&mut client, b'E', &[query(rows)]);
    assert_eq!(error.field(b'M').as_deref(), Some(NO_EURO));
    // A name of a column: no description.
    served
        .client()
        .ask(&[utf8("create view named as select 1 as \"€\"")]);
    let named = "select * from named";
    assert_eq!(client.ask(&[query(named)]), "E[22P05] ZI");
    let described = [parse("", named, &[]), describe('S', ""), sync()];
    assert_eq!(client.ask(&described), "1 t[] E[22P05] ZI");
    let portal = [parse("", named, &[]), bind("", &[], 0), describe('P', ""), sync()];
    assert_eq!(client.ask(&portal), "1 2 E[22P05] ZI");
    // In a piece of a portal, in both formats.
    for format in [0, 1] {
        let pieces = [
            parse("", &rows.replace("select i,", "select"), &[]),
            bind("", &[], format),
            execute("", 2),
            execute("", 2),
            sync(),
        ];
        assert_eq!(client.ask(&pieces), "1 2 D[e9] D[e9] s E[22P05] ZI");
    }
    let array = [
        parse("", "select array['é', U&'\\20ac']", &[]),
        bind("", &[], 1),
        execute("", 0),
        sync(),
    ];
    assert_eq!(client.ask(&array), "1 2 E[22P05] ZI");
    // The transaction fails as by any error of a row.
    assert_eq!(client.ask(&[query("begin")]), "C[BEGIN] ZT");
    assert_eq!(client.ask(&[query("select U&'\\20ac'")]), "T E[22P05] ZE");
    assert_eq!(client.ask(&[query("rollback")]), "C[ROLLBACK] ZI");
    assert_eq!(client.ask(&[query("select 'é'")]), "T D[e9] C[SELECT 1] ZI");
}

#[test]
fn errors_notices_and_notifications_are_converted() {
    let served = Served::trusting();
    let mut client = client(&served);
    let error = one(&mut client, b'E', &[query("select 'aé'::integer")]);
    assert_eq!(
        field(&error, b'M'),
        latin1("invalid input syntax for type integer: \"aé\"")
    );
    let error = one(&mut client, b'E', &[query("select U&'\\20ac'::integer")]);
    assert_eq!(
        (field(&error, b'C'), field(&error, b'M')),
        (latin1("22P05"), latin1(NO_EURO))
    );
    let notice = one(&mut client, b'N', &[query("drop table if exists é")]);
    assert_eq!(
        field(&notice, b'M'),
        latin1("table \"é\" does not exist, skipping")
    );
    served.client().ask(&[utf8(
        "create table base (a integer); create view \"€\" as select a from base",
    )]);
    client.send(&query("drop table base cascade"));
    let answers = client.until_ready();
    let shown: Vec<String> = answers.iter().map(Answer::short).collect();
    assert_eq!(shown, ["N[22P05]", "C[DROP TABLE]", "ZI"]);
    assert_eq!(
        (field(&answers[0], b'S'), field(&answers[0], b'M')),
        (latin1("NOTICE"), latin1(NO_EURO))
    );
    client.ask(&[query("listen é")]);
    let told = one(&mut client, b'A', &[query("notify é, 'ü'")]);
    assert_eq!(told.1[4..], *b"\xe9\0\xfc\0");
    let lacking = client.ask(&[query("select pg_notify('é', U&'\\20ac')")]);
    assert_eq!(lacking, "T D[] C[SELECT 1] N[22P05] ZI");
    // A client that waits.
    let mut other = served.client();
    for (payload, kind) in [("ü", b'A'), ("€", b'N'), ("x", b'A')] {
        other.ask(&[utf8(&format!("notify é, '{payload}'"))]);
        assert_eq!(client.next().map(|answer| answer.0), Some(kind), "{payload}");
    }
}

#[test]
fn settings_are_reported_whatever_their_values() {
    let served = Served::trusting();
    let mut client = client(&served);
    let told = one(&mut client, b'S', &[query("set application_name = 'é'")]);
    assert_eq!(told.1, b"application_name\0\xe9\0");
    let set = "select set_config('application_name', U&'a\\20acé', false) is null";
    let told = one(&mut client, b'S', &[query(set)]);
    assert_eq!(told.1, b"application_name\0a?\xe9\0");
    assert_eq!(client.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
}

#[test]
fn parameters_are_converted() {
    let served = Served::trusting();
    let mut client = client(&served);
    client.ask(&[query("create type mood as enum ('é', 'ü')")]);
    let run = |client: &mut Client, text: &str, types: &[u32], values: &[&[u8]], format| {
        client.ask(&[
            parse("é", text, types),
            bind("é", values, format),
            describe('P', "é"),
            execute("é", 0),
            message(b'C', &latin1("Sé\0")),
            sync(),
        ])
    };
    let texts = "select $1::text, $2::text[], $3::json, $4::mood, length($1)";
    assert_eq!(
        run(
            &mut client,
            texts,
            &[],
            &[b"\xe9", b"{\xe9,\"\xfc \"}", b"\"\xe9\"", b"\xfc"],
            0
        ),
        "1 2 T D[e9,7be92c22fc20227d,22e922,fc,1] C[SELECT 1] 3 ZI"
    );
    let array =
        b"\0\0\0\x01\0\0\0\x01\0\0\0\x19\0\0\0\x03\0\0\0\x01\0\0\0\x02a\xe9\xff\xff\xff\xff\0\0\0\x01\xfc";
    let shown: String = array.iter().map(|byte| format!("{byte:02x}")).collect();
    let binary = "select $1::text, $2::text[], $3::jsonb, $4::mood, $5::varchar(3), $6::char(1), $7::bytea";
    assert_eq!(
        run(
            &mut client,
            binary,
            &[],
            &[
                b"\xe9",
                array,
                b"\x01\"\xe9\"",
                b"\xfc",
                b"\xe9\xfc",
                b"\xe9",
                b"\xe9"
            ],
            1
        ),
        format!("1 2 T D[e9,{shown},0122e922,fc,e9fc,e9,e9] C[SELECT 1] 3 ZI")
    );
    // Bytes that are not of their type.
    for (value, state) in [
        (&array[..array.len() - 1], "22P03"),
        (
            &b"\0\0\0\x01\0\0\0\0\0\0\0\x19\x7f\xff\xff\xff\0\0\0\x01"[..],
            "54000",
        ),
        (&b"\x7f\xff\xff\xff\0\0\0\0\0\0\0\x19"[..], "54000"),
    ] {
        let answers = client.ask(&[parse("", "select $1::text[]", &[]), bind("", &[value], 1), sync()]);
        assert_eq!(answers, format!("1 E[{state}] ZI"), "{value:?}");
    }
}

#[test]
fn the_encoding_changes_within_a_batch() {
    let served = Served::trusting();
    let mut client = served.client();
    // Within Query: its text is read in the encoding of its beginning.
    assert_eq!(
        client.ask(&[utf8("set client_encoding to latin1; select 'é'")]),
        "C[SET] T D[e9] C[SELECT 1] S[client_encoding=LATIN1] ZI"
    );
    assert_eq!(
        client.ask(&[query("set client_encoding to utf8; select 'é'")]),
        "C[SET] T D[c3a9] C[SELECT 1] S[client_encoding=UTF8] ZI"
    );
    // Messages that are sent ahead.
    let ahead = [
        utf8("set client_encoding to latin1"),
        query("select 'é'"),
        query("reset client_encoding"),
        utf8("select 'é'"),
    ];
    client.send(&ahead.concat());
    let answers: Vec<String> = (0..ahead.len()).map(|_| client.short()).collect();
    assert_eq!(
        answers,
        [
            "C[SET] S[client_encoding=LATIN1] ZI",
            "T D[e9] C[SELECT 1] ZI",
            "C[RESET] S[client_encoding=UTF8] ZI",
            "T D[c3a9] C[SELECT 1] ZI"
        ]
    );
    let extended = [
        parse("", "set client_encoding to latin1", &[]),
        bind("", &[], 0),
        execute("", 0),
        parse("", "select 'é'::text, $1::text", &[]),
        bind("", &[b"\xfc"], 0),
        execute("", 0),
        sync(),
    ];
    assert_eq!(
        client.ask(&extended),
        "1 2 C[SET] 1 2 D[e9,fc] C[SELECT 1] S[client_encoding=LATIN1] ZI"
    );
    // A statement's own rows.
    assert_eq!(
        client.ask(&[query("select set_config('client_encoding', 'UTF8', false), 'é'")]),
        "T D[UTF8,c3a9] C[SELECT 1] S[client_encoding=UTF8] ZI"
    );
    // A byte that is not UTF-8 fails in its place, and not those before it.
    let wrong = [parse("", "select 1", &[]), parse("", "select 'é'", &[]), sync()];
    assert_eq!(client.ask(&wrong), "1 E[22021] ZI");
}

#[test]
fn the_encoding_goes_back_with_its_transaction() {
    let served = Served::trusting();
    let mut client = served.client();
    for set in [
        "set client_encoding to latin1",
        "set local client_encoding to latin1",
    ] {
        assert_eq!(client.ask(&[utf8("begin")]), "C[BEGIN] ZT");
        assert_eq!(client.ask(&[utf8(set)]), "C[SET] S[client_encoding=LATIN1] ZT");
        assert_eq!(client.ask(&[query("select 'é'")]), "T D[e9] C[SELECT 1] ZT");
        assert_eq!(
            client.ask(&[query("rollback; select 'é'")]),
            "C[ROLLBACK] T D[c3a9] C[SELECT 1] S[client_encoding=UTF8] ZI"
        );
    }
    // The error of the statement that ends the transaction is still in LATIN1.
    client.ask(&[utf8("begin; set local client_encoding to latin1")]);
    let error = one(&mut client, b'E', &[query("select 'é'::integer")]);
    assert_eq!(
        field(&error, b'M'),
        latin1("invalid input syntax for type integer: \"é\"")
    );
    client.ask(&[utf8("rollback")]);
    assert_eq!(client.ask(&[utf8("select 'é'")]), "T D[c3a9] C[SELECT 1] ZI");
    // COMMIT keeps SET and takes SET LOCAL back.
    client.ask(&[utf8("begin; set local client_encoding to latin1")]);
    assert_eq!(
        client.ask(&[query("commit")]),
        "C[COMMIT] S[client_encoding=UTF8] ZI"
    );
    assert_eq!(
        client.ask(&[utf8("begin; set client_encoding to latin1; commit")]),
        "C[BEGIN] C[SET] C[COMMIT] S[client_encoding=LATIN1] ZI"
    );
}

/// Sends bytes to COPY … FROM STDIN in two parts, and returns the answers in short.
fn copy_in(client: &mut Client, text: &str, bytes: &[u8]) -> String {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    client.ask(&[
        query(text),
        message(b'd', first),
        message(b'd', second),
        message(b'c', b""),
    ])
}

/// The bytes of COPY … TO STDOUT, a message each, and how it ended.
fn copy_out(client: &mut Client, text: &str) -> (Vec<Vec<u8>>, String) {
    client.send(&query(text));
    let answers = client.until_ready();
    let (data, others): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.0 == b'd');
    let others: Vec<String> = others.iter().map(Answer::short).collect();
    (
        data.into_iter().map(|answer| answer.1).collect(),
        others.join(" "),
    )
}

#[test]
fn copy_speaks_the_clients_encoding() {
    let served = Served::trusting();
    let mut client = client(&served);
    client.ask(&[query("create table t (a text)")]);
    assert_eq!(
        copy_in(&mut client, "copy t from stdin", b"\xe9\n\xff\n"),
        "G C[COPY 2] ZI"
    );
    assert_eq!(
        copy_in(&mut client, "copy t from stdin csv", b"\"\xe9\xe8\"\n"),
        "G C[COPY 1] ZI"
    );
    let said = "copy t from stdin (encoding 'utf8')";
    assert_eq!(copy_in(&mut client, said, "é\n".as_bytes()), "G C[COPY 1] ZI");
    assert_eq!(copy_in(&mut client, said, b"\xe9\n"), "G E[22021] ZI");
    assert_eq!(
        copy_in(&mut client, "copy t from stdin (null 'é')", b"\xe9\nx\n"),
        "G C[COPY 2] ZI"
    );
    assert_eq!(
        client.ask(&[query("select a, length(a) from t")]),
        "T D[e9,1] D[ff,1] D[e9e8,2] D[e9,1] D[NULL,NULL] D[x,1] C[SELECT 6] ZI"
    );
    let rows = |rows: &[&[u8]]| rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>();
    let done = "H c C[COPY 2] ZI".to_owned();
    let values = "(values ('é'), ('a,b'))";
    for (options, expected) in [
        ("", rows(&[b"\xe9\n", b"a,b\n"])),
        ("csv", rows(&[b"\xe9\n", b"\"a,b\"\n"])),
        ("(encoding 'utf8')", rows(&["é\n".as_bytes(), b"a,b\n"])),
    ] {
        let copied = copy_out(&mut client, &format!("copy {values} to stdout {options}"));
        assert_eq!(copied, (expected, done.clone()), "{options}");
    }
    // The row with a character beyond is not sent.
    for options in ["", "csv"] {
        let text = format!("copy (values ('é'), (U&'a\\20ac'), ('b')) to stdout {options}");
        assert_eq!(
            copy_out(&mut client, &text),
            (rows(&[b"\xe9\n"]), "H E[22P05] ZI".to_owned())
        );
    }
    // The extended protocol.
    let extended = [
        parse("", "copy (select 'é') to stdout", &[]),
        bind("", &[], 0),
        execute("", 0),
        sync(),
    ];
    assert_eq!(one(&mut client, b'd', &extended).1, b"\xe9\n");
    // A client that gives up.
    let given_up = [query("copy t from stdin"), message(b'f', b"no \xe9\0")];
    let error = one(&mut client, b'E', &given_up);
    assert_eq!(field(&error, b'M'), latin1("COPY from stdin failed: no é"));
}

#[test]
fn copy_in_binary_form_goes_out_and_is_refused_in() {
    let served = Served::trusting();
    let mut client = client(&served);
    let header = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
    let text = "copy (values ('é', 233), ('ab', null)) to stdout binary";
    let first = [&header[..], b"\0\x02\0\0\0\x01\xe9\0\0\0\x04\0\0\0\xe9"].concat();
    let second = b"\0\x02\0\0\0\x02ab\xff\xff\xff\xff".to_vec();
    assert_eq!(
        copy_out(&mut client, text),
        (vec![first, second, vec![255, 255]], "H c C[COPY 2] ZI".to_owned())
    );
    let lacking = "copy (values ('é'), (U&'\\20ac')) to stdout (format binary, encoding 'utf8')";
    let first = [&header[..], b"\0\x01\0\0\0\x01\xe9"].concat();
    assert_eq!(
        copy_out(&mut client, lacking),
        (vec![first], "H E[22P05] ZI".to_owned())
    );
    client.ask(&[query("create table t (a text)")]);
    assert_eq!(client.ask(&[query("copy t from stdin binary")]), "E[0A000] ZI");
    assert_eq!(client.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
}
