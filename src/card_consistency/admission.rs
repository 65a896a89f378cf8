use http::Uri;

use crate::{
    call::{Binding, Call, Capability, Shape},
    error::CardFailure,
};

/// Which shapes a capability admits, at one target or at all targets. It narrows what the card declares; without an
/// admission, every shape of a declared capability is sent.
///
/// ```
/// use a2a_guard::{Binding, Capability, card_consistency::Admission};
///
/// // This agent streams, but its gateway buffers streams over JSON-RPC.
/// let admission = Admission::new(Capability::Streaming)
///     .at("https://agent.example.com".parse().unwrap())
///     .bindings([Binding::HttpJson]);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Admission {
    capability: Capability,
    origin: Option<Uri>,
    bindings: Option<Vec<Binding>>,
    media_types: Option<Vec<Box<str>>>,
}

impl Admission {
    /// Admits every shape of a capability, at every target.
    pub fn new(capability: Capability) -> Self {
        Self { capability, origin: None, bindings: None, media_types: None }
    }

    /// Only at targets of this origin: of either scheme, if it names none. One that names no host is everybody's, for a
    /// restriction must not be lost.
    pub fn at(mut self, origin: Uri) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Only over these bindings.
    pub fn bindings(mut self, bindings: impl IntoIterator<Item = Binding>) -> Self {
        self.bindings = Some(bindings.into_iter().collect());
        self
    }

    /// Only where success has one of these media types: `text/event-stream`, say.
    pub fn media_types<T>(mut self, types: impl IntoIterator<Item = T>) -> Self
    where
        T: Into<Box<str>>,
    {
        self.media_types = Some(types.into_iter().map(Into::into).collect());
        self
    }

    fn concerns(&self, call: &Call, target: &Uri) -> bool {
        let same = |origin: &Uri| {
            let Some(host) = origin.host() else { return true };
            let is_scheme = origin.scheme().is_none_or(|scheme| Some(scheme) == target.scheme());
            let port = |uri: &Uri| uri.port_u16().unwrap_or_else(|| default_port(target));
            is_scheme && target.host().is_some_and(|own| own.eq_ignore_ascii_case(host)) && port(origin) == port(target)
        };
        call.capability() == Some(self.capability) && self.origin.as_ref().is_none_or(same)
    }

    fn admits(&self, shape: &Shape) -> bool {
        let binding = |admitted: &Vec<Binding>| shape.binding().is_some_and(|binding| admitted.contains(&binding));
        let media = |admitted: &Vec<Box<str>>| {
            shape.media_type().is_some_and(|media| admitted.iter().any(|admitted| admitted.eq_ignore_ascii_case(media)))
        };
        self.bindings.as_ref().is_none_or(binding) && self.media_types.as_ref().is_none_or(media)
    }

    fn describe(&self) -> Vec<String> {
        let bindings = self.bindings.iter().flatten().map(|binding| binding.as_str().to_owned());
        bindings.chain(self.media_types.iter().flatten().map(|media| media.to_string())).collect()
    }
}

fn default_port(uri: &Uri) -> u16 {
    if uri.scheme_str() == Some("http") { 80 } else { 443 }
}

/// Refuses a shape that what is registered for its capability does not admit.
pub(super) fn check(admissions: &[Admission], call: &Call, target: &Uri) -> Result<(), CardFailure> {
    let shape = call.shape();
    match admissions.iter().find(|admission| admission.concerns(call, target) && !admission.admits(&shape)) {
        Some(admission) => Err(CardFailure::ShapeNotAdmitted { shape, admitted: admission.describe() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Operation;

    #[test]
    fn only_the_admitted_shapes_of_a_capability_pass() {
        let target: Uri = "https://Agent.example.com/a2a".parse().unwrap();
        let admission = Admission::new(Capability::Streaming)
            .at("https://agent.example.com".parse().unwrap())
            .bindings([Binding::HttpJson]);
        let admissions = [admission];
        let call = |operation, binding| Call::new().with_operation(operation).with_binding(binding);
        let stream = call(Operation::SendStreamingMessage, Binding::JsonRpc);
        let refused = check(&admissions, &stream, &target).unwrap_err();
        assert_eq!(refused.class().as_str(), "shape_not_admitted");
        assert!(check(&admissions, &call(Operation::SendStreamingMessage, Binding::HttpJson), &target).is_ok());
        assert!(check(&admissions, &call(Operation::SendMessage, Binding::JsonRpc), &target).is_ok());
        let elsewhere: Uri = "https://other.example.com/a2a".parse().unwrap();
        assert!(check(&admissions, &stream, &elsewhere).is_ok());
    }
}
