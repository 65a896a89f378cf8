//! Settings that cannot be are refused when the layer is built, by name.

use a2a_guard::probe_cache::{ProbeCacheBuilder, ProbeCacheLayer, SkillAvailability, SkillAvailabilityBuilder};

use crate::{
    mock::{HOUR, ms, s},
    support::{Agent, builder},
};

type Set = fn(ProbeCacheBuilder) -> ProbeCacheBuilder;

const CENTURY: std::time::Duration = s(100 * 365 * 86_400);

#[test]
fn of_the_layer() {
    let rows: [(Set, &str); 14] = [
        (
            |b| b.trust(std::time::Duration::ZERO),
            "trust is below 1 ms: each call would be probed for; raise it, or use ProbeCacheLayer::without_probes",
        ),
        (
            |b| b.wait(std::time::Duration::ZERO),
            "wait is below 1 ms: no probe could be waited for; raise it, or use ProbeCacheLayer::without_probes",
        ),
        (
            |b| b.probe_timeout(std::time::Duration::ZERO),
            "probe_timeout is below 1 ms: no probe could be answered in time; raise it, or use ProbeCacheLayer::without_probes",
        ),
        (|b| b.probe_timeout(std::time::Duration::MAX), "probe_timeout is longer than a century, which is no bound"),
        (
            |b| b.back_off(s(9), s(3)),
            "back_off starts at 9s, above its maximum of 3s: lower the first, or raise the maximum",
        ),
        (|b| b.jitter(1.5), "jitter is 1.5: it is a part of the trust, between 0 and 1"),
        (|b| b.jitter(f64::NAN), "jitter is NaN: it is a part of the trust, between 0 and 1"),
        (|b| b.capacity(0), "capacity must not be zero: each call would be probed for"),
        (|b| b.max_probes(0), "max_probes must not be zero: no probe could ever be sent"),
        (
            |b| b.refresh_ahead(s(270)),
            "refresh_ahead (270s) is no shorter than the trust can be: endpoints would be probed all the time",
        ),
        (
            |b| b.origin("/a2a".parse().unwrap()),
            "origin needs a scheme and an authority: https://agent.example.com, say",
        ),
        (
            |b| b.origin("agent.example.com:443".parse().unwrap()),
            "origin needs a scheme and an authority: https://agent.example.com, say",
        ),
        (
            |b| b.refresh_ahead(std::time::Duration::ZERO),
            "refresh_ahead is below 1 ms: no probe could end before its call needs it; leave it out instead",
        ),
        (|b| b.trust(CENTURY + ms(1)), "trust is longer than a century, which is no bound"),
    ];
    let agent = Agent::willing();
    for (set, expected) in rows {
        let error = set(builder(&agent)).build().unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(Some(error.setting()), expected.split(' ').next());
    }
    for set in [(|b| b.message_probe()) as Set, |b| b.refresh_ahead(s(1))] {
        let error = set(ProbeCacheLayer::without_probes()).build().unwrap_err();
        assert!(error.to_string().ends_with("needs a client to probe with: use ProbeCacheLayer::builder"), "{error}");
    }
    assert!(builder(&agent).trust(HOUR).jitter(0.0).wait(ms(1)).back_off(s(1), s(1)).build().is_ok());
    assert!(builder(&agent).trust(CENTURY).build().is_ok());
}

#[test]
fn of_the_handle() {
    type Set = fn(SkillAvailabilityBuilder) -> SkillAvailabilityBuilder;
    let rows: [(Set, &str); 5] = [
        (|b| b.ttl(std::time::Duration::ZERO), "ttl is below 1 ms: no entry would ever hold"),
        (|b| b.capacity(0), "capacity must not be zero: no entry would ever be kept"),
        (|b| b.shared_queue(0), "shared_queue must not be zero: nobody would ever be told"),
        (|b| b.shared_queue(usize::MAX), "shared_queue is larger than any queue can be"),
        (|b| b.unavailable_for(std::time::Duration::ZERO), "unavailable_for is below 1 ms: leave it out instead"),
    ];
    for (set, expected) in rows {
        assert_eq!(set(SkillAvailability::builder()).build().unwrap_err().to_string(), expected);
    }
    let least = SkillAvailability::builder().ttl(ms(1)).unavailable_for(ms(1)).capacity(1);
    assert!(least.clone().shared_queue(1).build().is_ok());
    assert!(least.shared_queue(tokio::sync::Semaphore::MAX_PERMITS).build().is_ok());
}
