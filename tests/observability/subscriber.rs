//! A subscriber that writes everything down.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::DefaultGuard,
};

pub(crate) type Fields = BTreeMap<String, String>;

#[derive(Clone, Debug)]
pub(crate) struct NotedSpan {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    pub(crate) parent: Option<u64>,
    pub(crate) fields: Fields,
    handles: usize,
}

impl NotedSpan {
    pub(crate) fn is_closed(&self) -> bool {
        self.handles == 0
    }
}

#[derive(Clone, Debug)]
pub(crate) struct NotedEvent {
    pub(crate) level: Level,
    pub(crate) fields: Fields,
    /// The innermost open span, by its place among all.
    pub(crate) span: Option<u64>,
}

#[derive(Debug, Default)]
struct Noted {
    spans: Vec<NotedSpan>,
    events: Vec<NotedEvent>,
    open: Vec<u64>,
}

/// What one thread's subscriber was told.
#[derive(Clone)]
pub(crate) struct Subscribed {
    noted: Arc<Mutex<Noted>>,
    most: Level,
}

impl Subscribed {
    /// Hears all of this thread, until the guard is dropped.
    pub(crate) fn all() -> (Self, DefaultGuard) {
        Self::up_to(Level::TRACE)
    }

    pub(crate) fn up_to(most: Level) -> (Self, DefaultGuard) {
        let subscribed = Self { noted: Arc::default(), most };
        let guard = tracing::subscriber::set_default(subscribed.clone());
        (subscribed, guard)
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn spans(&self) -> Vec<NotedSpan> {
        self.lock().spans.clone()
    }

    pub(crate) fn events(&self) -> Vec<NotedEvent> {
        self.lock().events.clone()
    }

    /// The one span of a call, and its number.
    pub(crate) fn call(&self) -> (u64, NotedSpan) {
        let mut calls: Vec<_> = (1..).zip(self.spans()).filter(|(_, span)| span.name == "a2a.call").collect();
        assert_eq!(calls.len(), 1, "not exactly one call: {calls:#?}");
        calls.remove(0)
    }

    /// The one event that tells of a call's end.
    pub(crate) fn end(&self) -> NotedEvent {
        let mut ends: Vec<_> =
            self.events().into_iter().filter(|event| event.fields.contains_key("a2a.outcome")).collect();
        assert_eq!(ends.len(), 1, "not exactly one end: {ends:#?}");
        ends.remove(0)
    }

    /// Every value of every field.
    pub(crate) fn everything(&self) -> String {
        let noted = self.lock();
        let fields = noted.spans.iter().map(|span| &span.fields).chain(noted.events.iter().map(|event| &event.fields));
        fields.flat_map(|fields| fields.values()).cloned().collect::<Vec<_>>().join("\u{1}")
    }
}

struct Writing<'a>(&'a mut Fields);

impl Visit for Writing<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Subscriber for Subscribed {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut noted = self.lock();
        let mut fields = Fields::new();
        span.record(&mut Writing(&mut fields));
        let parent =
            if span.is_contextual() { noted.open.last().copied() } else { span.parent().map(|id| id.into_u64()) };
        let metadata = span.metadata();
        let span = NotedSpan { name: metadata.name(), level: *metadata.level(), parent, fields, handles: 1 };
        noted.spans.push(span);
        Id::from_u64(noted.spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut noted = self.lock();
        values.record(&mut Writing(&mut noted.span(id).fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut noted = self.lock();
        let mut fields = Fields::new();
        event.record(&mut Writing(&mut fields));
        let span = noted.open.last().copied();
        noted.events.push(NotedEvent { level: *event.metadata().level(), fields, span });
    }

    fn enter(&self, id: &Id) {
        self.lock().open.push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        let left = self.lock().open.pop();
        assert_eq!(left, Some(id.into_u64()), "spans are left in the order in which they were entered");
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.lock().span(id).handles += 1;
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut noted = self.lock();
        let span = noted.span(&id);
        span.handles -= 1;
        span.is_closed()
    }
}

impl Noted {
    fn span(&mut self, id: &Id) -> &mut NotedSpan {
        &mut self.spans[id.into_u64() as usize - 1]
    }
}
