//! What RFC 9111 says of keeping an answer, clause by clause, held against the whole store.
//!
//! A client's cache: what is said to shared ones alone is not said to it. Lifetimes end with 300 s, whatever is said,
//! and are 60 s where nothing is.

use std::{sync::LazyLock, time::SystemTime};

use super::*;

type Fields = Vec<(&'static str, String)>;

fn fields(pairs: &[(&'static str, &str)]) -> Fields {
    pairs.iter().map(|&(name, value)| (name, value.to_owned())).collect()
}

/// A date so many seconds from now, which is the same for all of them.
fn date(seconds: i64) -> String {
    static NOW: LazyLock<SystemTime> = LazyLock::new(SystemTime::now);
    let span = Duration::from_secs(seconds.unsigned_abs());
    httpdate::fmt_http_date(if seconds < 0 { *NOW - span } else { *NOW + span })
}

fn with(mut reply: Reply, fields: Fields) -> Reply {
    reply.headers.extend(fields);
    reply
}

fn cache_control(value: &str) -> Fields {
    fields(&[("cache-control", value)])
}

/// For how many seconds a card with these fields is used without a question. Dates have whole seconds.
async fn lasts(given: Fields) -> u64 {
    let agent = Agent::script([with(Reply::card("a"), given)]);
    let store = agent.store();
    store.get(ask()).await.unwrap();
    for seconds in 0..=400 {
        if !is_held(&store, &ask()) {
            return seconds;
        }
        pass(1).await;
    }
    u64::MAX
}

#[tokio::test(start_paused = true)]
async fn how_long_an_answer_is_fresh_by_cache_control() {
    for (value, seconds) in [
        // §1.2.2: 1*DIGIT; what is larger than can be held is as good as the largest.
        ("max-age=0", 0),
        ("max-age=00060", 60),
        ("max-age=2147483648", 300),
        ("max-age=18446744073709551616", 300),
        // §4.2.1: invalid freshness information is stale.
        ("max-age=+60", 0),
        ("max-age=60.0", 0),
        ("max-age=6e1", 0),
        ("max-age='60'", 0),
        ("max-age=", 0),
        ("max-age=\"\"", 0),
        ("max-age=60;s=1", 0),
        ("max-age=0x3c", 0),
        // §5.2: names in any case, either syntax for arguments, unknown directives ignored with theirs.
        ("mAx-AgE=60", 60),
        ("max-age=\"60\"", 60),
        ("foo, max-age=60, bar=baz", 60),
        ("foo=\"max-age=5\", max-age=60", 60),
        ("foo=\"a, max-age=5, b\", max-age=60", 60),
        ("foo=\"\\\", max-age=5\", max-age=60", 60),
        ("x-max-age=5, max-age=60", 60),
        ("max-age-x=5, max-age=60", 60),
        ("max-age=60\t,\tpublic", 60),
        (", max-age=60 ,", 60),
        // §5.2.2.1, of several: none that is longer.
        ("max-age=60, max-age=60", 60),
        ("max-age=60, max-age=10", 10),
        ("max-age=10, max-age=60", 10),
        ("max-age=60, max-age=x", 0),
        // §5.2.2.4: also its qualified form, which a cache may treat so.
        ("No-Cache", 0),
        ("no-cache=\"set-cookie\", max-age=60", 0),
        ("no-cache=set-cookie, max-age=60", 0),
        // §5.2.2.5, §5.2.2.3: no status of a card's makes up for it.
        ("no-store, max-age=60", 0),
        ("max-age=60, NO-STORE", 0),
        ("must-understand, no-store, max-age=60", 0),
        ("must-understand, max-age=60", 60),
        // §5.2.2.10, §5.2.2.8: to shared caches.
        ("s-maxage=10, max-age=60", 60),
        ("s-maxage=10", 60),
        ("s-maxage=0, max-age=120", 120),
        ("proxy-revalidate, max-age=120", 120),
        // Of staleness, of transforming, of requests, and of nothing: not of freshness.
        ("must-revalidate, max-age=120", 120),
        ("public, max-age=120", 120),
        ("private, max-age=120", 120),
        ("private=\"x-user\", max-age=120", 120),
        ("no-transform, max-age=120", 120),
        ("immutable, max-age=120", 120),
        ("stale-while-revalidate=600, max-age=120", 120),
        ("stale-if-error=600, max-age=120", 120),
        ("only-if-cached, min-fresh=5, max-stale=5, max-age=120", 120),
        ("public", 60),
        ("", 60),
    ] {
        assert_eq!(lasts(cache_control(value)).await, seconds, "{value}");
    }
}

#[tokio::test(start_paused = true)]
async fn how_long_an_answer_is_fresh_by_several_fields() {
    let lines =
        |lines: &[&'static str]| lines.iter().map(|line| ("cache-control", (*line).to_owned())).collect::<Fields>();
    let expires = |seconds| vec![("date", date(0)), ("expires", date(seconds))];
    let and = |mut one: Fields, other: Fields| {
        one.extend(other);
        one
    };
    let rows: Vec<(Fields, u64)> = vec![
        // RFC 9110 §5.3: several lines are one list.
        (lines(&["max-age=60", "no-cache"]), 0),
        (lines(&["max-age=60", "no-store"]), 0),
        (lines(&["public", "max-age=120"]), 120),
        // §5.3: `max-age` before `Expires`, whichever is longer.
        (and(cache_control("max-age=120"), expires(-100)), 120),
        (and(cache_control("max-age=120"), expires(200)), 120),
        (and(cache_control("max-age=x"), expires(200)), 0),
        (and(cache_control("no-cache"), expires(200)), 0),
        // And `Expires` where it is the shared caches' alone.
        (and(cache_control("s-maxage=10"), expires(120)), 120),
        (expires(120), 120),
        (expires(0), 0),
        (expires(-1), 0),
        (expires(86_400), 300),
        // Less the answer's own date, whatever our clock says.
        (vec![("date", date(-7200)), ("expires", date(-7080))], 120),
        (vec![("date", date(7200)), ("expires", date(7320))], 120),
        (vec![("date", date(7200)), ("expires", date(120))], 0),
        // What is no date has passed; the first of several may be taken, or none.
        (fields(&[("expires", "0")]), 0),
        (fields(&[("expires", "-1")]), 0),
        (fields(&[("expires", "")]), 0),
        (fields(&[("expires", "tomorrow")]), 0),
        (vec![("date", date(0)), ("expires", date(120)), ("expires", date(200))], 0),
        // RFC 9110 §5.6.7: all three forms.
        (fields(&[("date", "Sunday, 06-Nov-94 08:49:37 GMT"), ("expires", "Sun Nov  6 08:51:37 1994")]), 120),
        (fields(&[("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("expires", "Sunday, 06-Nov-94 08:51:37 GMT")]), 120),
        // §4.2.3: the age that it comes with counts, of which kind its lifetime is.
        (fields(&[("cache-control", "max-age=120"), ("age", "20")]), 100),
        (fields(&[("cache-control", "max-age=120"), ("age", "120")]), 0),
        (fields(&[("cache-control", "max-age=120"), ("age", "99999999999999999999")]), 0),
        (fields(&[("cache-control", "max-age=3600"), ("age", "3500")]), 100),
        (and(expires(120), fields(&[("age", "20")])), 100),
        (fields(&[("age", "20")]), 40),
        (fields(&[("age", "86400")]), 0),
        // §5.1: the first of a list; what is none is ignored.
        (fields(&[("cache-control", "max-age=120"), ("age", "20, 30")]), 100),
        (fields(&[("cache-control", "max-age=120"), ("age", "20,x")]), 100),
        (fields(&[("cache-control", "max-age=120"), ("age", "20"), ("age", "30")]), 100),
        (fields(&[("cache-control", "max-age=120"), ("age", "-20")]), 120),
        (fields(&[("cache-control", "max-age=120"), ("age", "20.5")]), 120),
        (fields(&[("cache-control", "max-age=120"), ("age", "")]), 120),
        // Our own choice: an agent whose clock is slow is not an old answer.
        (and(cache_control("max-age=120"), vec![("date", date(-7200))]), 120),
        // §4.2.2: no guess from the date of a change.
        (vec![("last-modified", date(-86_400))], 60),
        // §5.4: of requests.
        (fields(&[("pragma", "no-cache")]), 60),
        // §4.1: whoever varies by everything is asked each time.
        (fields(&[("cache-control", "max-age=120"), ("vary", "*")]), 0),
        (fields(&[("cache-control", "max-age=120"), ("vary", "accept , *")]), 0),
        (fields(&[("cache-control", "max-age=120"), ("vary", "accept"), ("vary", "*")]), 0),
        (fields(&[("cache-control", "max-age=120"), ("vary", "accept, user-agent")]), 120),
        (fields(&[("cache-control", "max-age=120"), ("vary", "")]), 120),
    ];
    for (given, seconds) in rows {
        assert_eq!(lasts(given.clone()).await, seconds, "{given:?}");
    }
}

/// What a 304 makes of a card that came with the first fields, 10 s old: for how long it is used from then on, and
/// `None` where the card is asked for once more, for the 304 is about another one.
async fn renewed(first: Fields, then: Fields) -> Option<u64> {
    let first = with(Reply::card("a"), [cache_control("max-age=10"), first].concat());
    let agent = Agent::script([first, with(Reply::status(304), then), Reply::card("b")]);
    let store = agent.store();
    store.get(ask()).await.unwrap();
    pass(10).await;
    let name = name(&store, ask()).await;
    assert_eq!(name == "a", agent.count() == 2);
    if name == "b" {
        assert_eq!((agent.seen(2).header("if-none-match"), agent.seen(2).header("if-modified-since")), (None, None));
        return None;
    }
    for seconds in 0..=400 {
        if !is_held(&store, &ask()) {
            return Some(seconds);
        }
        pass(1).await;
    }
    Some(u64::MAX)
}

#[tokio::test(start_paused = true)]
async fn what_a_304_renews_and_for_how_long() {
    const CHANGED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const LATER: &str = "Mon, 07 Nov 1994 08:49:37 GMT";
    let etag = || fields(&[("etag", "\"1\"")]);
    let changed = || fields(&[("last-modified", CHANGED)]);
    let rows: Vec<(Fields, Fields, Option<u64>)> = vec![
        // §4.3.4: about the card that has its validator.
        (etag(), etag(), Some(10)),
        (etag(), fields(&[]), Some(10)),
        (etag(), fields(&[("etag", "\"2\"")]), None),
        (etag(), fields(&[("etag", "\"1\""), ("last-modified", LATER)]), Some(10)),
        (fields(&[("etag", "W/\"1\"")]), fields(&[("etag", "W/\"1\"")]), Some(10)),
        (fields(&[("etag", "W/\"1\"")]), fields(&[("etag", "W/\"2\"")]), None),
        (changed(), changed(), Some(10)),
        (changed(), fields(&[]), Some(10)),
        (changed(), fields(&[("last-modified", LATER)]), None),
        (changed(), etag(), None),
        ([etag(), changed()].concat(), changed(), Some(10)),
        ([etag(), changed()].concat(), fields(&[("last-modified", LATER)]), None),
        // §3.2: its fields take the place of what was stored, and the others stay.
        (etag(), cache_control("max-age=100"), Some(100)),
        (etag(), cache_control("no-cache"), Some(0)),
        (etag(), cache_control("no-store"), Some(0)),
        (etag(), cache_control("public"), Some(60)),
        (etag(), vec![("expires", date(200))], Some(10)),
        (etag(), fields(&[("vary", "*")]), Some(0)),
        ([etag(), fields(&[("vary", "*")])].concat(), fields(&[]), Some(0)),
        ([etag(), fields(&[("vary", "*")])].concat(), fields(&[("vary", "accept")]), Some(10)),
        // §4.2.3: its age is its own, and not that of the answer before.
        (etag(), fields(&[("age", "4")]), Some(6)),
        (etag(), fields(&[("age", "10")]), Some(0)),
        ([etag(), fields(&[("age", "5")])].concat(), fields(&[]), Some(10)),
        (etag(), fields(&[("cache-control", "max-age=100"), ("age", "4, 90")]), Some(96)),
    ];
    for (first, then, seconds) in rows {
        assert_eq!(renewed(first.clone(), then.clone()).await, seconds, "{first:?} {then:?}");
    }
}

/// §4.2.4: what may be used after its time, where the options of the store allow it, and the agent does not answer.
#[tokio::test(start_paused = true)]
async fn what_may_be_used_stale() {
    for (value, may) in [
        ("max-age=10", true),
        ("max-age=10, proxy-revalidate", true),
        ("max-age=10, s-maxage=5", true),
        ("max-age=10, public", true),
        ("max-age=10, stale-if-error=0", true),
        ("max-age=10, Must-Revalidate", false),
        ("max-age=10, foo=\"must-revalidate\"", true),
        ("max-age=10, no-cache", false),
        ("max-age=10, no-store", false),
    ] {
        let agent = Agent::script([with(Reply::card("a"), cache_control(value)), Reply::status(503)]);
        let store = CardStore::builder(agent).stale_if_error(Duration::from_secs(100)).build().unwrap();
        store.get(ask()).await.unwrap();
        pass(10).await;
        assert_eq!(store.get(ask()).await.is_ok(), may, "{value}");
    }
}
