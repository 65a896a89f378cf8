//! A few messages of A2A 1.0 in Protocol Buffers, written by hand: for peers that send what no generated code would,
//! and for programs that want no code generator.

/// `TaskState`
pub(crate) const WORKING: u8 = 2;
pub(crate) const COMPLETED: u8 = 3;
pub(crate) const FAILED: u8 = 4;
pub(crate) const CANCELED: u8 = 5;
pub(crate) const INPUT_REQUIRED: u8 = 6;
pub(crate) const REJECTED: u8 = 7;
pub(crate) const AUTH_REQUIRED: u8 = 8;

/// A field that is a string or a message.
pub(crate) fn field(number: u8, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    let mut field = vec![number << 3 | 2];
    let mut length = value.len();
    while length >= 0x80 {
        field.push(length as u8 | 0x80); // its low seven bits
        length >>= 7;
    }
    field.push(length as u8);
    field.extend_from_slice(value);
    field
}

fn all<const N: usize>(fields: [Vec<u8>; N]) -> Vec<u8> {
    fields.concat()
}

/// `TaskStatus { state = 1 }`
fn status(state: u8) -> Vec<u8> {
    vec![1 << 3, state]
}

/// `Task { id = 1, context_id = 2, status = 3 }`, of `task-1`.
pub(crate) fn bare_task(state: u8) -> Vec<u8> {
    all([field(1, "task-1"), field(2, "ctx-1"), field(3, status(state))])
}

/// The task as `SendMessageResponse` and `StreamResponse` have it.
pub(crate) fn task(state: u8) -> Vec<u8> {
    field(1, bare_task(state))
}

/// `Message { message_id = 1, role = 4, parts = 5 }` of an agent, in either.
pub(crate) fn message(text: &str) -> Vec<u8> {
    field(2, all([field(1, "m-2"), vec![4 << 3, 2], field(5, field(1, text))]))
}

/// A status update in `StreamResponse`.
pub(crate) fn update(state: u8) -> Vec<u8> {
    field(3, all([field(1, "task-1"), field(2, "ctx-1"), field(3, status(state))]))
}

/// An artifact in `StreamResponse`, with a text in it.
pub(crate) fn artifact(text: &str) -> Vec<u8> {
    let artifact = all([field(1, "a-1"), field(4, field(1, text))]);
    field(4, all([field(1, "task-1"), field(2, "ctx-1"), field(3, artifact)]))
}

/// The same in 0.3.
pub(crate) fn old_artifact(text: &str) -> Vec<u8> {
    let artifact = all([field(1, "a-1"), field(5, field(1, text))]);
    field(4, all([field(1, "task-1"), field(2, "ctx-1"), field(3, artifact)]))
}

/// `SendMessageRequest { message = 2 }` of a user.
pub(crate) fn send(text: &str) -> Vec<u8> {
    field(2, all([field(1, "m-1"), vec![4 << 3, 1], field(5, field(1, text))]))
}

/// `SendMessageRequest { request = 1 }` of a user, in 0.3.
pub(crate) fn old_send(text: &str) -> Vec<u8> {
    field(1, all([field(1, "m-1"), vec![4 << 3, 1], field(5, field(1, text))]))
}

/// `GetTaskRequest` and `SubscribeToTaskRequest` of `task-1`: the id is field 2 of the one, and of the other too.
pub(crate) fn of_task() -> Vec<u8> {
    field(2, "task-1")
}
