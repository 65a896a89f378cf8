use proptest::prelude::*;

use super::*;

fn peer() -> PeerId {
    PeerId::parse("https://agent.example.com/a2a").unwrap()
}

fn change(now: Instant) -> EvidenceChange {
    let second = Duration::from_secs(1);
    let tally = Tally {
        successes: 2.5,
        failures: 0.25,
        at: now - second,
        last_success: Some(now - second * 2),
        latency: 0.125,
        calls: 7,
        well: 3,
        strikes: 1,
        struck: Some(now - second * 3),
    };
    let sentence = Some(Sentence { until: now + second * 30, level: 2 });
    EvidenceChange::seen(0x1f, peer(), &Learnt { tally, sentence }, now)
}

#[test]
fn it_is_short_and_says_what_it_means() {
    let text = change(Instant::now()).encode();
    let expected = r#"{"v":1,"from":"0000000000000000000000000000001f","peer":"https://agent.example.com/a2a","seen":{"ok":2.5,"bad":0.25,"age":1000,"ok_age":2000,"latency":125.0,"calls":7,"well":3,"strikes":1,"strike_age":3000,"quarantine":30000,"level":2}}"#;
    assert_eq!(text, expected);
    let forgotten = EvidenceChange { from: 1, peer: peer(), seen: None };
    let expected = r#"{"v":1,"from":"00000000000000000000000000000001","peer":"https://agent.example.com/a2a"}"#;
    assert_eq!(forgotten.encode(), expected);
    assert_eq!(EvidenceChange::decode(expected.as_bytes()), Some(forgotten));
    let later = text.replace(r#""age""#, r#""new":[{}],"age""#);
    assert_eq!(EvidenceChange::decode(later.as_bytes()).unwrap().encode(), text);
}

#[test]
fn it_ages_while_it_waits() {
    let waited = change(Instant::now()).aged(Duration::from_secs(10)).encode();
    for aged in [r#""age":11000"#, r#""ok_age":12000"#, r#""strike_age":13000"#, r#""quarantine":20000"#] {
        assert!(waited.contains(aged), "{aged} in {waited}");
    }
    assert!(!change(Instant::now()).aged(Duration::from_secs(30)).encode().contains("quarantine"));
}

#[test]
fn what_nobody_can_have_counted_is_not_read() {
    let good = change(Instant::now()).encode();
    assert!(EvidenceChange::decode(good.as_bytes()).is_some());
    for (part, wrong) in [
        (r#""v":1"#, r#""v":2"#),
        ("https:", "ftp:"),
        (r#""from":"0"#, r#""from":"+"#),
        (r#""from":"0"#, r#""from":""#),
        (r#""ok":2.5"#, r#""ok":-2.5"#),
        (r#""ok":2.5"#, r#""ok":1e400"#),
        (r#""ok":2.5,"bad":0.25"#, r#""ok":1e308,"bad":1e308"#),
        (r#""ok":2.5,"bad":0.25"#, r#""ok":0,"bad":0"#),
        (r#""ok":2.5"#, r#""ok":null"#),
        (r#""latency":125.0"#, r#""latency":-1"#),
        (r#""latency":125.0"#, r#""latency":NaN"#),
        (r#""calls":7"#, r#""calls":0"#),
        (r#""calls":7"#, r#""calls":-1"#),
        (r#""well":3"#, r#""well":8"#),
        (r#""ok_age":2000,"#, ""),
        (r#""age":1000"#, r#""age":18446744073709551616"#),
    ] {
        assert!(good.contains(part), "{part}");
        let text = good.replacen(part, wrong, 1);
        assert_eq!(EvidenceChange::decode(text.as_bytes()), None, "{text}");
    }
    let long = format!("{good}{}", " ".repeat(EvidenceChange::LONGEST));
    assert_eq!(EvidenceChange::decode(long.as_bytes()), None);
}

proptest! {
    /// Whatever numbers are read, they give trust and latency that are numbers.
    #[test]
    fn what_is_read_is_within_bounds(
        (ok, bad, latency) in (any::<f64>(), any::<f64>(), any::<f64>()),
        (age, ok_age, calls, well) in (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()),
        (strikes, left, level) in (any::<u32>(), any::<u64>(), any::<u32>()),
    ) {
        let text = format!(
            r#"{{"v":1,"from":"{:032x}","peer":"https://a.example","seen":{{"ok":{ok:e},"bad":{bad:e},"age":{age},"ok_age":{ok_age},"latency":{latency:e},"calls":{calls},"well":{well},"strikes":{strikes},"strike_age":{age},"quarantine":{left},"level":{level}}}}}"#,
            3,
        );
        let policy = TrustPolicy::default();
        let (now, keep) = (Instant::now(), Duration::from_secs(36_000));
        if let Some(learnt) = EvidenceChange::decode(text.as_bytes()).and_then(|read| read.seen?.learnt(&policy, keep, now)) {
            let mut record = crate::directory::trust::Record::new(1, now);
            record.learn(&policy, 3, &learnt, keep, now);
            for verified in [false, true] {
                let standing = record.standing(&policy, verified, now);
                prop_assert!((0.0..=1.0).contains(&standing.trust), "{standing:?}");
                prop_assert!(standing.latency.unwrap_or_default() <= policy.failure_latency(), "{standing:?}");
            }
        }
    }

    #[test]
    fn no_bytes_are_too_much(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(EvidenceChange::decode(&bytes), None);
    }
}
