use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::Full;

use super::*;
use crate::directory::index::IndexChange;

fn nobodys() -> Directory {
    let nobody = tower::service_fn(|_: http::Request<Full<Bytes>>| async {
        Ok::<_, Infallible>(http::Response::builder().status(404).body(Full::<Bytes>::default()).unwrap())
    });
    Directory::builder(CardStore::builder(nobody).build().unwrap()).build()
}

/// A full directory takes one more as an empty one does.
#[tokio::test]
async fn nothing_is_copied_for_a_change_that_nobody_reads_by() {
    let directory = nobodys();
    let tools = &[r#"{"tools":[{"name":"x"}]}"#];
    let ids: Vec<_> = (0..8)
        .map(|n| {
            let base = format!("https://agent-{n}.example").parse().unwrap();
            directory.publish_tools(&base, "o", tools).unwrap()
        })
        .collect();
    let take_out = |id: &PeerId| {
        let copied = directory.inner.change(&mut directory.inner.writing(), IndexChange::TakeOut(id.clone()));
        (copied, directory.len(), directory.inner.current().with_skill("x").len())
    };
    assert_eq!(take_out(&ids[0]), (false, 7, 7));
    let reader = directory.inner.current();
    assert_eq!(take_out(&ids[1]), (false, 6, 6));
    assert_eq!(take_out(&ids[2]), (true, 5, 5), "somebody reads the one before");
    assert_eq!((reader.len(), reader.with_skill("x").len()), (7, 7));
    assert_eq!(take_out(&ids[3]), (false, 4, 4));
    drop(reader);
    assert_eq!(take_out(&ids[4]), (false, 3, 3));
    assert_eq!(directory.generation(), 13);
}

/// It is withdrawn, or somebody else's, when what was read of it is written.
#[tokio::test]
async fn what_was_read_of_a_registration_that_is_over_is_not_written() {
    let directory = nobodys();
    let base = Uri::from_static("https://a.example");
    let tools = || Said::Tools { skills: Vec::new(), left_out: 0, as_of: None };
    let publish = |owner| directory.publish_tools(&base, owner, &[r#"{"tools":[{"name":"x"}]}"#]).unwrap();
    let id = publish("one");
    let before = Arc::clone(directory.inner.current().peer(&id).unwrap());
    directory.withdraw(&id, "one").unwrap();
    directory.put_again(&before, tools());
    assert!(directory.is_empty());
    for owner in ["one", "two"] {
        publish(owner);
        directory.put_again(&before, tools());
        assert_eq!(directory.peer(&id).unwrap().skills.len(), 1);
        directory.withdraw(&id, owner).unwrap();
    }
}
