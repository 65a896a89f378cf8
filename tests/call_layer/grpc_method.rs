//! What tonic's generated clients say beside the path: read with feature `tonic`, and where the path names no
//! operation.

use a2a_guard::{
    Binding, Call, CallLayer, Operation, ProtocolVersion,
    wire::grpc::{GrpcDialect, encode::about_task},
};
use tonic::GrpcMethod;

use crate::{
    grpc::of,
    mock::{MockBody, s},
    named,
};

const V1: &str = "lf.a2a.v1.A2AService";
const V03: &str = "a2a.v1.A2AService";

/// What a call to this path is named, with what tonic says beside it.
async fn beside(path: &str, service: &'static str, method: &'static str) -> Call {
    let mut request = of(path, &about_task(GrpcDialect::V1, "t-1", Some("acme")));
    request.extensions_mut().insert(GrpcMethod::new(service, method));
    named(&CallLayer::new(), request).await
}

#[tokio::test(start_paused = true)]
async fn it_names_what_the_path_does_not() {
    for path in ["/", "/route-42", "/gateway/agents/7", "/lf.a2a.v1.A2AService/Call", "/a2a.v1.A2AService/ListTasks"] {
        let call = beside(path, V1, "GetTask").await;
        assert_eq!(call.binding(), Some(Binding::Grpc), "{path}");
        if cfg!(feature = "tonic") {
            assert_eq!((call.operation(), call.version()), (Some(Operation::GetTask), Some(ProtocolVersion::V1_0)));
            assert_eq!((call.tenant(), call.task_id()), (Some("acme"), Some("t-1")), "{path}");
        } else {
            assert_eq!((call.operation(), call.task_id()), (None, None), "{path}");
        }
    }
}

/// The package that tonic names is that of the messages, whatever the caller called the version.
#[cfg(feature = "tonic")]
#[tokio::test(start_paused = true)]
async fn its_package_tells_the_version_and_how_messages_are_read() {
    let request = || {
        let mut request = of("/route-42", &about_task(GrpcDialect::V03, "t-1", None));
        request.extensions_mut().insert(GrpcMethod::new(V03, "TaskSubscription"));
        request
    };
    let call = named(&CallLayer::new(), request()).await;
    assert_eq!((call.operation(), call.version()), (Some(Operation::SubscribeToTask), Some(ProtocolVersion::V0_3)));
    assert_eq!((call.task_id(), call.is_streaming()), (Some("t-1"), true));
    let mut request = request();
    request.extensions_mut().insert(Call::new().with_version(ProtocolVersion::V1_0));
    let call = named(&CallLayer::new(), request).await;
    assert_eq!((call.version(), call.task_id()), (Some(ProtocolVersion::V1_0), Some("t-1")));
}

#[tokio::test(start_paused = true)]
async fn the_path_wins_where_it_names_an_operation() {
    let call = beside("/a2a.v1.A2AService/GetTask", V1, "SendStreamingMessage").await;
    assert_eq!((call.operation(), call.version()), (Some(Operation::GetTask), Some(ProtocolVersion::V0_3)));
    let call = beside("/proxy/lf.a2a.v1.A2AService/CancelTask", V03, "SendMessage").await;
    assert_eq!((call.operation(), call.version()), (Some(Operation::CancelTask), Some(ProtocolVersion::V1_0)));
}

#[tokio::test(start_paused = true)]
async fn what_is_none_of_a2as_names_nothing() {
    for (service, method) in
        [("grpc.health.v1.Health", "Check"), (V1, "TaskSubscription"), (V03, "ListTasks"), (V1, ""), ("", "GetTask")]
    {
        assert_eq!(beside("/route-42", service, method).await.operation(), None, "{service} {method}");
        let call = beside("/a2a.v1.A2AService/Other", service, method).await;
        assert_eq!((call.operation(), call.version()), (None, Some(ProtocolVersion::V0_3)), "{service} {method}");
    }
    // Nor is what calls itself no gRPC, whatever is beside it.
    let mut request = crate::request("POST", "/route-42", MockBody::new().wait(s(1)));
    request.extensions_mut().insert(GrpcMethod::new(V1, "GetTask"));
    assert_eq!(named(&CallLayer::new(), request).await.binding(), None);
}
