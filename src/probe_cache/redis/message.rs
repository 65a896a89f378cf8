//! How a change is written into the channel and into the set. Whatever else stands there is not ours, and ignored.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    card::Origin,
    clock::span,
    probe_cache::{Change, SkillKey},
};

/// The longest message that is written or read, and the longest member of the set. Ordinary ones have 200 bytes.
pub(super) const LONGEST: usize = 4096;

/// Readers take this version alone. What adds a field keeps it; what changes a meaning raises it.
const VERSION: u8 = 1;

#[derive(Serialize)]
struct Written<'a> {
    v: u8,
    from: &'a str,
    #[serde(rename = "do")]
    what: What,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
}

#[derive(Deserialize)]
struct Read {
    v: u8,
    from: String,
    #[serde(rename = "do")]
    what: What,
    host: Option<String>,
    skill: Option<String>,
    region: Option<String>,
    ms: Option<u64>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Available,
    Unavailable,
    Drop,
    DropHost,
    DropAll,
}

/// What came by the channel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message<T = Change> {
    /// What was told from here.
    Own,
    /// What another replica learnt.
    Change(T),
    /// Anything.
    Unknown,
}

/// A change as a message; `None` if it is too long to be one.
pub(super) fn write(change: &Change, from: &str) -> Option<String> {
    let (what, key, host, lasts) = match change {
        Change::Available { key, lasts } => (What::Available, Some(key), Some(key.origin()), Some(*lasts)),
        Change::Unavailable { key, lasts } => (What::Unavailable, Some(key), Some(key.origin()), Some(*lasts)),
        Change::Dropped { key } => (What::Drop, Some(key), Some(key.origin()), None),
        Change::DroppedHost { origin } => (What::DropHost, None, Some(origin), None),
        Change::DroppedAll => (What::DropAll, None, None, None),
    };
    let written = Written {
        v: VERSION,
        from,
        what,
        host: host.map(Origin::to_string),
        skill: key.map(SkillKey::skill),
        region: key.and_then(SkillKey::region),
        ms: lasts.map(span),
    };
    serde_json::to_string(&written).ok().filter(|message| message.len() <= LONGEST)
}

pub(super) fn read(message: &[u8], me: &str) -> Message {
    if message.len() > LONGEST {
        return Message::Unknown;
    }
    match serde_json::from_slice::<Read>(message) {
        Ok(read) if read.v != VERSION => Message::Unknown,
        Ok(read) if read.from == me => Message::Own,
        Ok(read) => read.change().map_or(Message::Unknown, Message::Change),
        Err(_) => Message::Unknown,
    }
}

impl Read {
    fn change(self) -> Option<Change> {
        let origin = || Origin::parse(self.host.as_deref()?).ok();
        let key = || key(origin()?, self.skill.as_deref()?, self.region.as_deref());
        let lasts = || self.ms.filter(|ms| *ms > 0).map(Duration::from_millis);
        Some(match self.what {
            What::Available => Change::Available { key: key()?, lasts: lasts()? },
            What::Unavailable => Change::Unavailable { key: key()?, lasts: lasts()? },
            What::Drop => Change::Dropped { key: key()? },
            What::DropHost => Change::DroppedHost { origin: origin()? },
            What::DropAll => Change::DroppedAll,
        })
    }
}

fn key(origin: Origin, skill: &str, region: Option<&str>) -> Option<SkillKey> {
    (!skill.is_empty()).then(|| SkillKey::new(origin, skill).in_region(region.unwrap_or_default()))
}

/// What stands in the set for a key that is available, and for one that is not. One letter, then the key with its host
/// first, so that the server can find all keys of a host.
pub(super) fn members(key: &SkillKey) -> (String, String) {
    let key = serde_json::to_string(&(key.origin().to_string(), key.skill(), key.region())).unwrap_or_default();
    (format!("A{key}"), format!("U{key}"))
}

/// How the members of all keys of a host begin, behind their letter.
pub(super) fn beginning(origin: &Origin) -> String {
    let host = serde_json::to_string(&origin.to_string()).unwrap_or_default();
    format!("[{host},")
}

/// What a member of the set says that expires in so many milliseconds.
pub(super) fn read_member(member: &[u8], left: i64) -> Option<Change> {
    let lasts = u64::try_from(left).ok().filter(|left| *left > 0).map(Duration::from_millis)?;
    let (letter, rest) = member.split_first()?;
    if member.len() > LONGEST {
        return None;
    }
    let (host, skill, region): (String, String, Option<String>) = serde_json::from_slice(rest).ok()?;
    let key = key(Origin::parse(&host).ok()?, &skill, region.as_deref())?;
    match letter {
        b'A' => Some(Change::Available { key, lasts }),
        b'U' => Some(Change::Unavailable { key, lasts }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn translate() -> SkillKey {
        SkillKey::new(Origin::parse("https://Agent.example.com").unwrap(), "translate").in_region("eu")
    }

    #[test]
    fn messages_are_short_and_say_what_they_mean() {
        let lasts = Duration::from_secs(60);
        let message = write(&Change::Available { key: translate(), lasts }, "1f").unwrap();
        let expected = r#"{"v":1,"from":"1f","do":"available","host":"https://agent.example.com","skill":"translate","region":"eu","ms":60000}"#;
        assert_eq!(message, expected);
        assert_eq!(write(&Change::DroppedAll, "1f").unwrap(), r#"{"v":1,"from":"1f","do":"drop_all"}"#);
        assert_eq!(read(message.as_bytes(), "1f"), Message::Own);
        let later = message.replace(r#""ms""#, r#""new":[{}],"ms""#);
        assert_eq!(read(later.as_bytes(), "2e"), Message::Change(Change::Available { key: translate(), lasts }));
    }

    #[test]
    fn what_is_too_long_is_neither_written_nor_read() {
        let key = SkillKey::new(translate().origin().clone(), "s".repeat(LONGEST));
        assert_eq!(write(&Change::Dropped { key }, "1f"), None);
        let mut message = write(&Change::DroppedAll, "1f").unwrap();
        message.push_str(&" ".repeat(LONGEST - message.len()));
        assert_eq!(read(message.as_bytes(), "2e"), Message::Change(Change::DroppedAll));
        message.push(' ');
        assert_eq!(read(message.as_bytes(), "2e"), Message::Unknown);
        let member = |len: usize| {
            let empty = members(&SkillKey::new(translate().origin().clone(), "")).0.len();
            members(&SkillKey::new(translate().origin().clone(), "s".repeat(len - empty))).0.into_bytes()
        };
        assert!(read_member(&member(LONGEST), 1).is_some());
        for too_long in [LONGEST + 1, LONGEST + 2, 2 * LONGEST] {
            assert_eq!(read_member(&member(too_long), 1), None);
        }
    }

    #[test]
    fn everything_else_is_ignored() {
        let of = |what: &str, more: &str| format!(r#"{{"v":1,"from":"2e","do":"{what}"{more}}}"#);
        let (host, skill) = (r#","host":"https://a.example.com""#, r#","skill":"s""#);
        for message in [
            String::new(),
            "null".into(),
            "[1]".into(),
            "[".repeat(LONGEST),
            r#"{"v":1}"#.into(),
            r#"{"v":2,"from":"2e","do":"drop_all"}"#.into(),
            r#"{"v":-1,"from":"2e","do":"drop_all"}"#.into(),
            r#"{"v":1,"do":"drop_all"}"#.into(),
            r#"{"v":1,"from":"2e","do":"drop_all"} x"#.into(),
            of("reboot", ""),
            of("drop_host", ""),
            of("drop_host", r#","host":"ftp://a.example.com""#),
            of("drop_host", r#","host":"relative""#),
            of("drop", host),
            of("drop", skill),
            of("drop", &format!(r#"{host},"skill":"""#)),
            of("available", &format!("{host}{skill}")),
            of("available", &format!(r#"{host}{skill},"ms":0"#)),
            of("available", &format!(r#"{host}{skill},"ms":-5"#)),
            of("available", &format!(r#"{host}{skill},"ms":1e400"#)),
            of("unavailable", &format!(r#"{host}{skill},"ms":"5""#)),
        ] {
            assert_eq!(read(message.as_bytes(), "1f"), Message::Unknown, "{message}");
        }
        let longest = of("available", &format!(r#"{host}{skill},"ms":{}"#, u64::MAX));
        assert!(matches!(read(longest.as_bytes(), "1f"), Message::Change(Change::Available { .. })));
    }

    #[test]
    fn members_of_the_set() {
        let (available, unavailable) = members(&translate());
        assert_eq!(available, r#"A["https://agent.example.com","translate","eu"]"#);
        let lasts = Duration::from_millis(7);
        let read = |member: &str, left| read_member(member.as_bytes(), left);
        assert_eq!(read(&available, 7), Some(Change::Available { key: translate(), lasts }));
        assert_eq!(read(&unavailable, 7), Some(Change::Unavailable { key: translate(), lasts }));
        assert!(available[1..].starts_with(&beginning(translate().origin())));
        let other = Origin::parse("https://agent.example.com:8443").unwrap();
        assert!(!available[1..].starts_with(&beginning(&other)));
        for (member, left) in [("", 7), ("A", 7), ("X[]", 7), (&*available, 0), (&*available, -1), ("é", 7)] {
            assert_eq!(read(member, left), None, "{member}");
        }
    }

    fn keys() -> impl Strategy<Value = SkillKey> {
        (".{1,40}", ".{0,20}", "[a-z]{1,9}").prop_map(|(skill, region, host)| {
            SkillKey::new(Origin::parse(&format!("http://{host}.example.com:81")).unwrap(), skill).in_region(region)
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(key in keys(), ms in 1..u64::MAX) {
            let lasts = Duration::from_millis(ms);
            for change in [
                Change::Available { key: key.clone(), lasts },
                Change::Unavailable { key: key.clone(), lasts },
                Change::Dropped { key: key.clone() },
                Change::DroppedHost { origin: key.origin().clone() },
            ] {
                let message = write(&change, "1f").unwrap();
                prop_assert_eq!(read(message.as_bytes(), "2e"), Message::Change(change));
            }
            let member = members(&key).0;
            prop_assert_eq!(read_member(member.as_bytes(), 5), Some(Change::Available { key, lasts: Duration::from_millis(5) }));
        }

        #[test]
        fn no_bytes_are_too_much(bytes in proptest::collection::vec(any::<u8>(), 0..300), left in any::<i64>()) {
            prop_assert_eq!(read(&bytes, "1f"), Message::Unknown);
            read_member(&bytes, left);
        }
    }
}
