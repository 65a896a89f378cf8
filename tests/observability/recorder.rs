//! A recorder that writes everything down.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use metrics::{
    Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    set_default_local_recorder,
};

#[derive(Debug, Default)]
struct Samples(Mutex<Vec<f64>>);

impl HistogramFn for Samples {
    fn record(&self, value: f64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }
}

#[derive(Debug, Default)]
struct Noted {
    numbers: Mutex<BTreeMap<String, Arc<AtomicU64>>>,
    samples: Mutex<BTreeMap<String, Arc<Samples>>>,
    units: Mutex<BTreeMap<String, Unit>>,
}

/// What one thread's recorder was told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded(Arc<Noted>);

impl Recorded {
    /// Hears this thread, until what is returned beside it is dropped.
    pub(crate) fn new() -> (Self, impl Drop) {
        let recorded = Self::default();
        // It lives as long as the test binary: a handful of these.
        let leaked: &'static Self = Box::leak(Box::new(recorded.clone()));
        (recorded, set_default_local_recorder(leaked))
    }

    pub(crate) fn counter(&self, series: &str) -> Option<u64> {
        let numbers = self.0.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.get(series).map(|number| number.load(Ordering::Relaxed))
    }

    pub(crate) fn gauge(&self, series: &str) -> Option<f64> {
        self.counter(series).map(f64::from_bits)
    }

    pub(crate) fn samples(&self, series: &str) -> Vec<f64> {
        let samples = self.0.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let samples =
            samples.get(series).map(|samples| samples.0.lock().unwrap_or_else(PoisonError::into_inner).clone());
        samples.unwrap_or_default()
    }

    pub(crate) fn unit(&self, name: &str) -> Option<Unit> {
        self.0.units.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied()
    }

    /// Every series there is.
    pub(crate) fn series(&self) -> Vec<String> {
        let numbers = self.0.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let samples = self.0.samples.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.keys().chain(samples.keys()).cloned().collect()
    }

    fn number(&self, key: &Key) -> Arc<AtomicU64> {
        let mut numbers = self.0.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(numbers.entry(written(key)).or_default())
    }

    fn describe(&self, name: &KeyName, unit: Option<Unit>) {
        let mut units = self.0.units.lock().unwrap_or_else(PoisonError::into_inner);
        units.extend(unit.map(|unit| (name.as_str().to_owned(), unit)));
    }
}

/// `name{label="value"}`
fn written(key: &Key) -> String {
    let labels: Vec<_> = key.labels().map(|label| format!(r#"{}="{}""#, label.key(), label.value())).collect();
    format!("{}{{{}}}", key.name(), labels.join(","))
}

impl Recorder for Recorded {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&key, unit);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&key, unit);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&key, unit);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.number(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.number(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        let mut samples = self.0.samples.lock().unwrap_or_else(PoisonError::into_inner);
        Histogram::from_arc(Arc::clone(samples.entry(written(key)).or_default()))
    }
}
