use std::{collections::HashSet, fmt, future::Future, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    Directory, DirectoryBounds, DirectoryObserver, Evidence, Lexical, Need, PeerId, Permission, PermissionRules, Score,
    Skill, refresh::ListTools,
};
use crate::{card::UrlPolicy, card_consistency::CardStore, error::BoxError};

type LowRisk = Arc<dyn Fn(&Need, &Skill) -> bool + Send + Sync>;
type Admission = Arc<dyn Fn(&str, &PeerId) -> Result<(), String> + Send + Sync>;

/// What a directory is set to.
pub(super) struct Settings {
    pub(super) bounds: DirectoryBounds,
    pub(super) urls: UrlPolicy,
    pub(super) admission: Option<Admission>,
    pub(super) discovery_timeout: Duration,
    pub(super) min_freshness: Duration,
    pub(super) tools_ttl: Duration,
    pub(super) list_tools: Option<ListTools>,
    pub(super) observer: Arc<dyn DirectoryObserver>,
    pub(super) evidence: Evidence,
    pub(super) scorer: Arc<dyn Score>,
    pub(super) permission: Arc<dyn Permission>,
    pub(super) low_risk: LowRisk,
    pub(super) shortlist: usize,
    pub(super) explore: f64,
}

/// Builds a [`Directory`].
#[must_use = "a builder does nothing before `build`"]
pub struct DirectoryBuilder {
    store: CardStore,
    settings: Settings,
}

impl DirectoryBuilder {
    pub(super) fn new(store: CardStore) -> Self {
        let settings = Settings {
            bounds: DirectoryBounds::default(),
            urls: UrlPolicy::strict(),
            admission: None,
            discovery_timeout: Duration::from_secs(10),
            min_freshness: Duration::from_secs(30),
            tools_ttl: Duration::from_secs(300),
            list_tools: None,
            observer: Arc::new(()),
            evidence: Evidence::new(),
            scorer: Arc::new(Lexical),
            permission: Arc::new(PermissionRules::new()),
            low_risk: Arc::new(|_, _| false),
            shortlist: 10,
            explore: 0.0,
        };
        Self { store, settings }
    }

    /// How much is kept of what peers say. Default: [`DirectoryBounds::default`].
    pub fn bounds(mut self, bounds: DirectoryBounds) -> Self {
        self.settings.bounds = bounds;
        self
    }

    /// Which URLs are called: of those who are registered, and of the interfaces on their cards. Default:
    /// [`UrlPolicy::strict`], by which no address of the directory's own machine or network is, and a card's interfaces
    /// are on the card's own origin.
    pub fn urls(mut self, urls: UrlPolicy) -> Self {
        self.settings.urls = urls;
        self
    }

    /// Says whether an owner may register a peer; the error, in words, goes to the owner and into the audit. Default:
    /// whoever comes first.
    pub fn admit(mut self, admission: impl Fn(&str, &PeerId) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.settings.admission = Some(Arc::new(admission));
        self
    }

    /// How long a registration or a refresh waits for a card. Default: 10 s.
    pub fn discovery_timeout(mut self, timeout: Duration) -> Self {
        self.settings.discovery_timeout = timeout;
        self
    }

    /// How long a card counts at least for finding its peer, also where its headers let no cache keep it. Default: 30
    /// s.
    pub fn min_freshness(mut self, least: Duration) -> Self {
        self.settings.min_freshness = least;
        self
    }

    /// How long published tools count. Default: 300 s.
    pub fn tools_ttl(mut self, ttl: Duration) -> Self {
        self.settings.tools_ttl = ttl;
        self
    }

    /// Lists a peer's tools over MCP, all pages of them, when they are due or changed: by whatever speaks MCP with it,
    /// for this crate does not; [`ToolPages`](super::ToolPages) sees to it that they come to an end. Default:
    /// nobody, so that they expire unless they are published again.
    pub fn list_tools<A>(mut self, list: impl Fn(PeerId) -> A + Send + Sync + 'static) -> Self
    where
        A: Future<Output = Result<Vec<Bytes>, BoxError>> + Send + 'static,
    {
        self.settings.list_tools = Some(Arc::new(move |peer| Box::pin(list(peer))));
        self
    }

    /// What is known of peers from calls to them. Default: nothing yet, with the default
    /// [`TrustPolicy`](super::TrustPolicy).
    pub fn evidence(mut self, evidence: Evidence) -> Self {
        self.settings.evidence = evidence;
        self
    }

    /// Says how well skills fit. Default: [`Lexical`].
    pub fn scorer(mut self, scorer: impl Score + 'static) -> Self {
        self.settings.scorer = Arc::new(scorer);
        self
    }

    /// Says who may have whom do what. Default: [`PermissionRules::new`], which denies what is sensitive.
    pub fn permission(mut self, permission: impl Permission + 'static) -> Self {
        self.settings.permission = Arc::new(permission);
        self
    }

    /// The skills that a peer on probation may be asked for: one that nobody vouches for, and that has not done well
    /// often enough to be [proven](super::Standing::proven). They are of low risk where the *need* names them: what
    /// a peer calls its skill is no reason to give it something else. Default: none, so that somebody has to vouch
    /// for each new peer.
    pub fn low_risk_skills<T: Into<Box<str>>>(self, skills: impl IntoIterator<Item = T>) -> Self {
        let skills: HashSet<Box<str>> = skills.into_iter().map(Into::into).collect();
        self.low_risk(move |need, _| need.skill_id().is_some_and(|skill| skills.contains(skill)))
    }

    /// The same, by a rule of yours. The skill is the peer's own claim.
    pub fn low_risk(mut self, rule: impl Fn(&Need, &Skill) -> bool + Send + Sync + 'static) -> Self {
        self.settings.low_risk = Arc::new(rule);
        self
    }

    /// How many of the best are candidates at most, and asked permission for. 0 is taken for 1. Default: 10.
    pub fn shortlist(mut self, most: usize) -> Self {
        self.settings.shortlist = most.max(1);
        self
    }

    /// In which share of calls each peer that may be asked, and fits as well, goes before those who are trusted more: 0
    /// to 1, and what is no number counts as 0. Who is trusted less than a stranger has less of it in proportion,
    /// and a tenth at least. Otherwise nobody new is ever called while somebody known does well, nor who was down
    /// for a while. Which calls, follows from the peer and the number of the call. Default: 0, so that work goes to
    /// those who are known.
    pub fn explore(mut self, share: f64) -> Self {
        self.settings.explore = if share > 0.0 { share.min(1.0) } else { 0.0 };
        self
    }

    /// Told of all that happens. Default: nobody.
    pub fn observe(mut self, observer: impl DirectoryObserver + 'static) -> Self {
        self.settings.observer = Arc::new(observer);
        self
    }

    /// The directory, with nobody in it.
    #[must_use]
    pub fn build(self) -> Directory {
        Directory::new(self.store, self.settings)
    }
}

impl fmt::Debug for DirectoryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectoryBuilder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("bounds", &self.bounds)
            .field("urls", &self.urls)
            .field("discovery_timeout", &self.discovery_timeout)
            .field("min_freshness", &self.min_freshness)
            .field("tools_ttl", &self.tools_ttl)
            .finish_non_exhaustive()
    }
}
