//! Whole answers, in any cut: results and refusals, right and wrong, of every dialect; and answers that pass.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use proptest::prelude::*;

use crate::{
    Set, Told, assert_unchanged, changes, config, cuts, ends, events::detailed, limits, mock::Dialect, mutated,
    runtime, seen_alike, settings,
};

/// What is asked.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Send,
    Get,
    Stream,
    Delete,
    Unnamed,
}

fn asks() -> impl Strategy<Value = Ask> {
    prop_oneof![
        4 => Just(Ask::Send),
        3 => Just(Ask::Get),
        2 => Just(Ask::Stream),
        1 => Just(Ask::Delete),
        1 => Just(Ask::Unnamed),
    ]
}

impl Ask {
    fn request(self, dialect: Dialect) -> Request<Full<Bytes>> {
        match self {
            Self::Send => dialect.send(),
            Self::Get => dialect.get(),
            Self::Stream => dialect.stream(),
            Self::Delete if dialect == Dialect::Rest => {
                dialect.request("DELETE", "/tasks/task-1/pushNotificationConfigs/c", String::new())
            }
            Self::Delete => dialect.rpc("DeleteTaskPushNotificationConfig", r#""taskId":"task-1","id":"c""#),
            Self::Unnamed => dialect.rpc("acme/doIt", ""),
        }
    }
}

const DOCUMENTS: usize = 20;

/// The document of that number.
fn document(dialect: Dialect, number: usize) -> String {
    let task = dialect.task("COMPLETED");
    let result = dialect.result(&task);
    let error = r#""error":{"code":-32001,"message":"no"}"#;
    match number {
        0 => result,
        1 => dialect.result(&dialect.bare_task("WORKING")),
        2 => dialect.result(&dialect.message()),
        3 => dialect.error(-32001),
        4 => detailed(dialect),
        5 => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{task},{error}}}"#),
        6 => format!(r#"{{"jsonrpc":"2.0","id":1,"result":null,{error}}}"#),
        7 => format!(r#"{{"jsonrpc":"2.0","id":1,"error":null,"result":{task}}}"#),
        8 => r#"{"jsonrpc":"2.0","id":1}"#.into(),
        9 => format!(r#"{{"id":"1","result":{task}}}"#),
        10 => format!(r#"{{"jsonrpc":"2.0","id":2,"result":{task}}}"#),
        11 => format!("[{result}]"),
        12 => format!("{result}garbage"),
        13 => format!(" \r\n\t{result}\n\n"),
        14 => result.replace(',', ",\n  ").replace(':', " : "),
        15 => result.replace("task-1", "\\u0074\\u00e9\\ud83d\\ude00"),
        16 => r#"{"code":-32004,"message":"no","data":{"region":"eu","availableSkills":["a"]}}"#.into(),
        17 => r#"{"type":"https://a2a-protocol.org/errors/task-not-found","title":"no","detail":"gone"}"#.into(),
        18 => r#"{"message":"just words \u00e9"}"#.into(),
        _ => String::new(),
    }
}

fn told() -> impl Strategy<Value = (Dialect, Told)> {
    let dialect = prop::sample::select(&Dialect::ALL[..]);
    let status = prop::sample::select(&[200, 200, 200, 200, 201, 400, 404, 429, 500, 503][..]);
    let media = prop::sample::select(
        &[
            "application/json",
            "application/json",
            "application/json; charset=utf-8",
            "application/a2a+json",
            "application/problem+json",
            "text/html",
            "",
        ][..],
    );
    (dialect, 0..DOCUMENTS, changes(), status, media, ends()).prop_map(
        |(dialect, number, changes, status, media, end)| {
            let bytes = mutated(document(dialect, number), &changes);
            (dialect, Told { status, media, bytes, end })
        },
    )
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn an_answer_is_judged_alike_however_it_is_cut(
        (dialect, told) in told(),
        ask in asks(),
        cuts in cuts(),
        set in settings(),
    ) {
        // How much of an answer over the cap passes is a property of its own.
        let set = if matches!(ask, Ask::Unnamed) { Set { limits: limits(), ..set } } else { set };
        let seen = seen_alike(&runtime(), &set, &ask.request(dialect), &told, &cuts)?;
        if !seen.noted.tolerated.contains(&"downgrade_adapted") {
            assert_unchanged(&told, &seen)?;
        }
        if !matches!(ask, Ask::Unnamed) {
            prop_assert_eq!(&seen.noted.word(), &seen.word);
        }
        if !matches!(ask, Ask::Unnamed | Ask::Stream) && seen.word != "success/success" {
            prop_assert!(seen.bytes.is_empty(), "half an answer was handed on");
        }
    }

    /// Of an answer that passes and is too large, as much as the cap allows.
    #[test]
    fn an_answer_that_passes_is_capped_alike_however_it_is_cut(
        size in 0_usize..200,
        max in 1_usize..150,
        cuts in cuts(),
    ) {
        let told = Told { status: 200, media: "image/png", bytes: vec![b'x'; size].into(), end: crate::End::Clean };
        let set = Set { strict: false, adapt: false, limits: limits().max_unary_body(max) };
        let request = Dialect::V1.request("GET", "/picture", String::new());
        let seen = seen_alike(&runtime(), &set, &request, &told, &cuts)?;
        prop_assert_eq!(seen.word, if size > max { "broken/too_large" } else { "success/success" });
    }

}

proptest! {
    #![proptest_config(config(40))]

    /// The generator's good answers are good ones: the properties are not about rubbish alone.
    #[test]
    fn good_answers_are_successes(dialect in prop::sample::select(&Dialect::ALL[..]), cuts in cuts()) {
        let good = |number| Told {
            status: 200,
            media: "application/json",
            bytes: document(dialect, number).into(),
            end: crate::End::Clean,
        };
        let set = Set { strict: false, adapt: false, limits: limits() };
        let rows = [(0, Ask::Send), (1, Ask::Get), (2, Ask::Send), (13, Ask::Send), (14, Ask::Send), (15, Ask::Send)];
        for (number, ask) in rows {
            let seen = seen_alike(&runtime(), &set, &ask.request(dialect), &good(number), &cuts)?;
            prop_assert_eq!(&seen.word, "success/success", "{}", document(dialect, number));
            prop_assert_eq!(seen.bytes, document(dialect, number));
        }
        let seen = seen_alike(&runtime(), &set, &dialect.send(), &good(4), &cuts)?;
        prop_assert_eq!(seen.word, "refused/peer_error");
        let facts = seen.facts.unwrap();
        prop_assert_eq!(facts.reason.as_deref(), Some("UNSUPPORTED_OPERATION"));
        prop_assert_eq!(facts.message.as_deref(), Some("nö"));
    }
}
