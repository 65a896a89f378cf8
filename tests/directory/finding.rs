//! Who is found for a need, in which order, and why the others are not.

use std::time::Duration;

use a2a_guard::{
    Binding, ProtocolVersion,
    directory::{
        Decision, Directory, Evidence, Exclusion, Lexical, Match, Need, PeerId, Report, Score, Skill, StaleReason,
    },
};
use tokio::time::Instant;

use crate::host::{Host, Log, card, interface, peer, plain_card, uri};

const MS: Duration = Duration::from_millis(1);

/// A directory of these agents, each vouched for: base URL and skills.
async fn vouched(agents: &[(&str, &[&str])]) -> (Directory, Log) {
    let host = Host::default();
    let (directory, log) = host.directory(|builder| builder);
    for (base, skills) in agents {
        host.serve(base, plain_card(base, skills));
        let id = directory.publish(&uri(base), "o").await.unwrap();
        directory.vouch(&id, "ops", true);
    }
    (directory, log)
}

fn eligible(decision: &Decision) -> Vec<&str> {
    decision.eligible().map(|candidate| candidate.peer.as_str()).collect()
}

fn why(decision: &Decision, id: &str) -> Option<Exclusion> {
    decision.candidates.iter().find(|candidate| candidate.peer == peer(id)).unwrap().excluded.clone()
}

#[tokio::test(start_paused = true)]
async fn by_skill_by_tag_and_by_what_the_task_says() {
    let (directory, _) = vouched(&[
        (
            "https://a.example",
            &["translate: Translates contracts and letters #Language #legal", "proofread: x #language"],
        ),
        ("https://b.example", &["translate: Translates menus #language", "cook: Cooks dinner #food"]),
        ("https://c.example", &["book-flight: Books flights #travel"]),
    ])
    .await;
    let found = |need: Need| {
        let decision = directory.find(&need);
        decision.eligible().map(|one| format!("{} {}", one.peer.as_str(), one.skill)).collect::<Vec<_>>()
    };
    let (a, b) = ("https://a.example translate", "https://b.example translate");
    assert_eq!(found(Need::skill("translate")), [a, b]);
    assert_eq!(found(Need::skill("TRANSLATE")), Vec::<String>::new(), "ids are compared as they are");
    assert_eq!(found(Need::tagged("LANGUAGE")), ["https://a.example proofread", b]);
    assert_eq!(found(Need::tagged("language").tag("Legal")), [a]);
    assert_eq!(found(Need::skill("translate").tag("food")), Vec::<String>::new());
    assert_eq!(found(Need::task("Please translate the menu: MENUS for dinner")), [b, a]);
    assert_eq!(found(Need::task("Ein völlig anderer Text")), Vec::<String>::new());
    assert_eq!(found(Need::skill("translate").text("menus")), [b, a]);
    let decision = directory.find(&Need::task("translate this menu, or cook it"));
    let fit = &decision.best().unwrap().fit;
    assert_eq!(fit.to_string(), "0.33 by translate (name)");
    assert_eq!(directory.with_version(&ProtocolVersion::V1_0.into()).len(), 3);
    assert_eq!(directory.with_binding(&Binding::Grpc.into()), Vec::<PeerId>::new());
}

#[tokio::test(start_paused = true)]
async fn who_says_everything_fits_nothing_well() {
    let words: String = (0..400).map(|n| format!("filler{n} ")).collect();
    let stuffed = format!("stuffed: translate contract german invoice payment summary {words}");
    let (directory, _) = vouched(&[
        ("https://a.example", &[&stuffed]),
        ("https://b.example", &["translate: Translates a contract to German"]),
    ])
    .await;
    let decision = directory.find(&Need::task("translate contract german"));
    assert_eq!(eligible(&decision), ["https://b.example", "https://a.example"]);
}

#[tokio::test(start_paused = true)]
async fn media_types_are_hints() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder.low_risk_skills(["x"]));
    let with_modes = |base: &str, modes: &str| {
        plain_card(base, &["x"])
            .replace(r#""defaultOutputModes":["text/plain"]"#, &format!(r#""defaultOutputModes":[{modes}]"#))
    };
    for (base, modes) in [("https://a.example", r#""text/plain""#), ("https://b.example", r#""Application/PDF; v=1""#)]
    {
        host.serve(base, with_modes(base, modes));
        directory.publish(&uri(base), "o").await.unwrap();
    }
    let decision = directory.find(&Need::skill("x").accepts("application/pdf").sends("text/plain"));
    assert_eq!(eligible(&decision), ["https://b.example", "https://a.example"]);
    let fits: Vec<_> = decision.eligible().map(|one| one.fit.score()).collect();
    assert_eq!(fits, [1.0, 0.9]);
}

/// The numbers of the text: 98 of 100, two hours of silence, verified.
#[tokio::test(start_paused = true)]
async fn a_good_name_fades_below_that_of_a_stranger() {
    let (directory, _) = vouched(&[("https://a.example", &["x"]), ("https://b.example", &["x"])]).await;
    let (a, now) = (peer("https://a.example"), Instant::now());
    // The failures first: age counts from the last success.
    for n in 0..100 {
        let report = if n < 2 { Report::failure(MS) } else { Report::success(MS) };
        directory.evidence().record_at(&a, Some("x"), report, now);
    }
    let at = |after: Duration| directory.find_at(&Need::skill("x"), now + after, 0);
    assert_eq!(eligible(&at(Duration::ZERO)), ["https://a.example", "https://b.example"]);
    // The cards last 60 s; what is known of calls is asked for here, the cards are not.
    let standing = directory.evidence().standing_at(&a, true, now + Duration::from_secs(7200));
    assert!((standing.trust - 0.345).abs() < 1e-9, "{}", standing.trust);
    let stranger = directory.evidence().standing_at(&peer("https://b.example"), true, now).trust;
    assert_eq!(stranger, 0.5);
    assert!(standing.trust < stranger);

    let host = Host::default();
    for base in ["https://a.example", "https://b.example"] {
        host.serve(base, plain_card(base, &["x"]));
    }
    let late = Directory::builder(host.store()).evidence(directory.evidence().clone()).build();
    tokio::time::advance(Duration::from_secs(7200)).await;
    for base in ["https://a.example", "https://b.example"] {
        let id = late.publish(&uri(base), "o").await.unwrap();
        late.vouch(&id, "ops", true);
    }
    assert_eq!(eligible(&late.find(&Need::skill("x"))), ["https://b.example", "https://a.example"]);
}

#[tokio::test(start_paused = true)]
async fn fit_then_verification_then_trust_then_latency_then_id() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder.low_risk_skills(["x"]));
    let bases: Vec<String> = ["e", "d", "c", "b", "a", "f"].map(|name| format!("https://{name}.example")).into();
    for base in &bases {
        let text = if base.contains("f.") { "x: wanted words" } else { "x" };
        host.serve(base, plain_card(base, &[text]));
        directory.publish(&uri(base), "o").await.unwrap();
    }
    directory.vouch(&peer("https://e.example"), "ops", true);
    let record = |name: &str, reports: &[Report]| {
        reports
            .iter()
            .for_each(|report| directory.evidence().record(&peer(&format!("https://{name}.example")), None, *report));
    };
    // a and b are strangers. d is better known and slow, c is better known and fast.
    record("d", &[Report::success(90 * MS)]);
    record("c", &[Report::success(10 * MS)]);
    let by_text = directory.find(&Need::skill("x").text("words wanted"));
    assert_eq!(by_text.best().unwrap().peer, peer("https://f.example"));
    let order = directory.find(&Need::skill("x"));
    assert_eq!(eligible(&order), ["e", "c", "d", "a", "b", "f"].map(|name| format!("https://{name}.example")));
}

/// Who claims more fits better, and is believed once.
#[tokio::test(start_paused = true)]
async fn who_was_found_to_overclaim_comes_last_however_well_it_fits() {
    let claims = "x: translates any contract, certified, sworn";
    let (directory, _) = vouched(&[("https://a.example", &[claims]), ("https://b.example", &["x: translates"])]).await;
    let need = Need::skill("x").text("translate a sworn certified contract");
    assert_eq!(eligible(&directory.find(&need)), ["https://a.example", "https://b.example"]);
    directory.evidence().record(&peer("https://a.example"), Some("x"), Report::overclaim(MS));
    assert_eq!(eligible(&directory.find(&need)), ["https://b.example", "https://a.example"]);
}

#[tokio::test(start_paused = true)]
async fn failing_fast_never_looks_fast() {
    let (directory, _) = vouched(&[("https://a.example", &["x"]), ("https://b.example", &["x"])]).await;
    let (a, b) = (peer("https://a.example"), peer("https://b.example"));
    let evidence = directory.evidence();
    for n in 0..40 {
        evidence.record(&a, None, if n % 4 == 0 { Report::failure(MS) } else { Report::success(MS) });
        evidence.record(&b, None, if n % 4 == 0 { Report::failure(200 * MS) } else { Report::success(200 * MS) });
    }
    let (one, two) = (evidence.standing(&a, true), evidence.standing(&b, true));
    assert!(one.latency.unwrap() > 100 * MS, "a quarter of its calls fails: {one:?}");
    assert_eq!((one.trust * 1000.0).round(), (two.trust * 1000.0).round());
}

#[tokio::test(start_paused = true)]
async fn each_of_those_who_may_not_be_asked_has_its_reason() {
    let host = Host::default();
    let bases = ["ok", "stale", "old", "new", "bad", "no"].map(|name| format!("https://{name}.example"));
    let (directory, _) = host.directory(|builder| {
        builder.shortlist(1).permission(|ask: &a2a_guard::directory::PermissionAsk<'_>| {
            if ask.peer.as_str().contains("//no.") {
                a2a_guard::directory::Permit::Deny("not that one".into())
            } else {
                a2a_guard::directory::Permit::Allow
            }
        })
    });
    for base in &bases {
        host.serve_for(base, plain_card(base, &["x"]), if base.contains("stale") { 40 } else { 300 }, Duration::ZERO);
    }
    host.serve_for(&bases[2], card(&[interface(&bases[2], "JSONRPC", "0.3")], &["x"]), 300, Duration::ZERO);
    for base in &bases {
        let id = directory.publish(&uri(base), "o").await.unwrap();
        directory.vouch(&id, "ops", !base.contains("new"));
    }
    tokio::time::advance(Duration::from_secs(41)).await;
    for _ in 0..50 {
        directory.evidence().record(&peer(&bases[4]), None, Report::failure(MS));
    }
    let need = Need::skill("x").written(Binding::JsonRpc, ProtocolVersion::V1_0);
    let decision = directory.find(&need);
    assert_eq!(eligible(&decision), ["https://ok.example"]);
    assert_eq!(why(&decision, &bases[1]), Some(Exclusion::Stale(StaleReason::Expired)));
    assert!(matches!(why(&decision, &bases[2]), Some(Exclusion::Version(_))));
    assert_eq!(why(&decision, &bases[3]), Some(Exclusion::Probation));
    assert_eq!(why(&decision, &bases[4]), Some(Exclusion::Quarantined));
    assert_eq!(why(&decision, &bases[5]), Some(Exclusion::Denied("not that one".into())));
    let text = decision.to_string();
    for line in [
        "skill x\n  https://ok.example x: fit 1.00, verified operator, trust 0.500, latency unknown, 0 calls, unknown, JSONRPC 1.0\n",
        "not eligible: stale: expired",
        "not eligible: version: no common version: we write JSONRPC 1.0; it speaks JSONRPC 0.3",
        "not eligible: probation",
        "quarantined; not eligible: quarantined",
        "not eligible: denied: not that one",
    ] {
        assert!(
            text.contains(line) || text.contains(&line.replace("quarantined; ", "quarantined, JSONRPC 1.0; ")),
            "{line}\n{text}"
        );
    }
    // Enough is enough, and who is asked first has been.
    directory.vouch(&peer(&bases[3]), "ops", true);
    let decision = directory.find(&need);
    assert_eq!(eligible(&decision), ["https://new.example"]);
    assert_eq!(why(&decision, &bases[0]), Some(Exclusion::NotShortlisted));
}

#[tokio::test(start_paused = true)]
async fn nobody_there_and_nothing_asked() {
    let (directory, _) = vouched(&[("https://a.example", &["x"])]).await;
    for need in [Need::skill("y"), Need::task(""), Need::tagged("")] {
        let decision = directory.find(&need);
        assert!(decision.candidates.is_empty() && decision.best().is_none(), "{need}");
    }
    assert!(Need::task("").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_chosen_by_a_scorer_of_the_users() {
    struct Longest;
    impl Score for Longest {
        fn score(&self, need: &Need, skill: &Skill) -> Match {
            match skill.id().len() {
                3 => Match::new(f64::NAN),
                length => Match::new(length as f64 / 10.0).because(format!("{}", Lexical.score(need, skill).score())),
            }
        }
    }
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder.scorer(Longest).low_risk(|_, _| true));
    for (base, skill) in
        [("https://a.example", "ab"), ("https://b.example", "abcdefghijklmnop"), ("https://c.example", "abc")]
    {
        host.serve(base, plain_card(base, &[skill]));
        directory.publish(&uri(base), "o").await.unwrap();
    }
    let decision = directory.find(&Need::task("ab"));
    let found: Vec<_> = decision.eligible().map(|one| (one.peer.as_str(), one.fit.to_string())).collect();
    assert_eq!(
        found,
        [("https://b.example", "1.00: 0".to_owned()), ("https://a.example", "0.20: 1".to_owned())],
        "what is no number fits not at all"
    );
}

/// The same evidence gives the same order, whoever came first and however many ask.
#[tokio::test(start_paused = true)]
async fn replicas_agree() {
    let bases: Vec<String> = (0..30).map(|n| format!("https://agent-{n}.example")).collect();
    let evidence = Evidence::new();
    for (n, base) in bases.iter().enumerate() {
        for call in 0..n % 7 {
            let report = if (call + n) % 5 == 0 { Report::failure(MS) } else { Report::success((n % 3) as u32 * MS) };
            evidence.record(&peer(base), Some("x"), report);
        }
    }
    let now = Instant::now();
    let mut orders = Vec::new();
    for round in 0..4_usize {
        let host = Host::default();
        let mut order: Vec<_> = bases.iter().collect();
        order.rotate_left(round * 7);
        if round % 2 == 1 {
            order.reverse();
        }
        let directory = Directory::builder(host.store()).evidence(evidence.clone()).low_risk_skills(["x"]).build();
        for base in order {
            host.serve(base, plain_card(base, &["x: words of it #t", "y: other words #t"]));
            directory.publish(&uri(base), "o").await.unwrap();
        }
        for need in [Need::skill("x"), Need::skill("x").text("some words").tag("T")] {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let (directory, need) = (directory.clone(), need.clone());
                    std::thread::spawn(move || directory.find_at(&need, now, 7).to_string())
                })
                .collect();
            let found: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(found.windows(2).all(|two| two[0] == two[1]));
            orders.push((need.to_string(), found[0].clone()));
        }
    }
    for (need, text) in &orders {
        let same = orders.iter().find(|(other, _)| other == need).unwrap();
        assert_eq!(text, &same.1);
    }
    assert_eq!(orders[0].1.lines().count(), 31);
}

#[tokio::test(start_paused = true)]
async fn coming_back_is_slow() {
    let host = Host::default();
    let evidence = Evidence::new();
    let (directory, _) = host.directory(|builder| builder.evidence(evidence.clone()));
    // One of two may be in quarantine.
    for base in ["https://other.example", "https://a.example"] {
        host.serve_for(base, plain_card(base, &[if base.contains("other") { "y" } else { "x" }]), 300, Duration::ZERO);
        directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
    }
    let id = peer("https://a.example");
    for _ in 0..50 {
        evidence.record(&id, None, Report::failure(MS));
    }
    let admitted = |now: Instant| {
        (0..100).filter(|call| directory.find_at(&Need::skill("x"), now, *call).best().is_some()).count()
    };
    let now = Instant::now();
    assert_eq!(admitted(now), 0);
    let until = match evidence.standing(&id, true).condition {
        a2a_guard::directory::Condition::Quarantined { until } => until,
        other => panic!("{other:?}"),
    };
    assert!(until.duration_since(now) < Duration::from_secs(250), "{:?}", until.duration_since(now));
    let share = admitted(until + MS);
    assert!(share > 0 && share < 50, "{share} of 100");
    let decision =
        (0..100).map(|call| directory.find_at(&Need::skill("x"), until + MS, call)).find(|one| one.best().is_none());
    assert_eq!(why(&decision.unwrap(), "https://a.example"), Some(Exclusion::SlowStart));
}

/// Who is new, or was down, is never called while somebody known does well: unless some calls are for finding out.
#[tokio::test(start_paused = true)]
async fn a_share_of_calls_is_for_those_who_are_not_the_best() {
    let names = ["a", "b", "c", "d"].map(|name| format!("https://{name}.example"));
    let host = Host::default();
    let evidence = Evidence::new();
    let counts = |share: f64| {
        let (host, evidence, names) = (host.clone(), evidence.clone(), names.clone());
        async move {
            let (directory, _) = host.directory(|builder| builder.evidence(evidence).explore(share));
            for base in &names {
                host.serve(base, plain_card(base, &["x"]));
                directory.vouch(&directory.publish(&uri(base), "o").await.unwrap(), "ops", true);
            }
            let now = Instant::now();
            let mut counts = [0; 4];
            for call in 0..1000 {
                let best = directory.find_at(&Need::skill("x"), now, call).best().unwrap().peer.clone();
                counts[names.iter().position(|name| peer(name) == best).unwrap()] += 1;
            }
            counts
        }
    };
    // b does well, c is a stranger like a, and d is known to do badly.
    for n in 0..20 {
        evidence.record(&peer(&names[1]), None, Report::success(MS));
        evidence.record(&peer(&names[3]), None, if n % 5 == 4 { Report::success(MS) } else { Report::failure(MS) });
    }
    assert_eq!(counts(0.0).await, [0, 1000, 0, 0]);
    assert_eq!(counts(f64::NAN).await, [0, 1000, 0, 0]);
    let [a, b, c, d] = counts(0.1).await;
    assert!((80..=120).contains(&a) && (40..=120).contains(&c) && b > 700, "{a} {b} {c}");
    // Its trust is 0.3, with what being verified adds.
    assert!((50..=70).contains(&d), "who does badly has less of it: {d}");
}

#[tokio::test(start_paused = true)]
async fn the_record_is_bounded() {
    let host = Host::default();
    let (directory, _) = host.directory(|builder| builder);
    for n in 0..100 {
        let base = format!("https://agent-{n}.example");
        host.serve(&base, plain_card(&base, &["x"]));
        let id = directory.publish(&uri(&base), "o").await.unwrap();
        directory.vouch(&id, "ops", n < 20);
    }
    let decision = directory.find(&Need::skill("x"));
    assert_eq!(decision.eligible().count(), 10);
    assert_eq!((decision.candidates.len(), decision.omitted), (74, 26));
    let expected = "\n  and 26 more who are not eligible";
    assert!(decision.to_string().ends_with(expected));
}

/// Who is withdrawn keeps no place in quarantine from those who are there, nor comes out of it by coming again.
#[tokio::test(start_paused = true)]
async fn a_place_in_quarantine_is_for_who_is_registered() {
    let names = ["a", "b", "c", "d"].map(|name| format!("https://{name}.example"));
    let (directory, _) = vouched(&names.each_ref().map(|name| (&**name, &["x"] as &[&str]))).await;
    for name in &names[..3] {
        for _ in 0..5 {
            directory.evidence().record(&peer(name), None, Report::failure(MS));
        }
    }
    let condition = |name: &str| directory.evidence().standing(&peer(name), true).condition.as_str();
    let all = || names.each_ref().map(|name| condition(name));
    assert_eq!(all(), ["quarantined", "quarantined", "demoted", "unknown"]);
    for name in &names[..2] {
        directory.withdraw(&peer(name), "o").unwrap();
    }
    assert_eq!(all(), ["quarantined", "quarantined", "quarantined", "unknown"]);
    // As bad as the others, and the first of them by name.
    let host = Host::default();
    let directory = Directory::builder(host.store()).evidence(directory.evidence().clone()).build();
    for name in [&names[0], &names[3]] {
        host.serve(name, plain_card(name, &["x"]));
        directory.publish(&uri(name), "o").await.unwrap();
    }
    assert_eq!(all(), ["quarantined", "quarantined", "demoted", "unknown"]);
}
