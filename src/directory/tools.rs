//! The tools that a peer lists over MCP (`tools/list`), read as skills.
//!
//! A page is the result of one request, or the whole JSON-RPC response with it. Whoever speaks MCP with the peer asks
//! for the pages and hands them in; nothing here sends anything.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    bounds::DirectoryBounds,
    skill::{Skill, SkillSource, Told},
};

/// The most bytes of one page.
const PAGE: usize = 1 << 20;
/// The most pages.
const PAGES: usize = 64;
/// The most parameters of one tool that it can be found by.
const PARAMETERS: usize = 64;

/// Why pages of tools cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsFault {
    /// A page is too long.
    #[error("page {0} of the tools is longer than 1 MiB")]
    TooLarge(usize),
    /// There are too many pages.
    #[error("there are more than 64 pages of tools")]
    TooMany,
    /// A page is neither the result of `tools/list` nor a response with one.
    #[error("page {page} of the tools is no result of tools/list: {why}")]
    Malformed {
        /// Which, from 0 on.
        page: usize,
        /// What is wrong.
        why: Box<str>,
    },
    /// A page names a cursor that another one named: the list has no end.
    #[error("page {0} of the tools leads back to one that was there before")]
    Loop(usize),
}

/// The pages of one `tools/list`, asked for one after the other by whoever speaks MCP with a peer: as many as a
/// [`Directory`](super::Directory) takes, wherever the peer's cursors lead.
///
/// ```
/// use a2a_guard::{BoxError, directory::ToolPages};
/// use bytes::Bytes;
///
/// # async fn ask(_: Option<&str>) -> Result<Bytes, BoxError> { Ok(Bytes::from_static(br#"{"tools":[]}"#)) }
/// async fn list() -> Result<Vec<Bytes>, BoxError> {
///     let (mut pages, mut cursor) = (ToolPages::new(), None);
///     loop {
///         let page = ask(cursor.as_deref()).await?; // `tools/list` with this cursor
///         cursor = pages.push(page)?;
///         if cursor.is_none() {
///             return Ok(pages.into_pages());
///         }
///     }
/// }
/// # let _ = list;
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolPages {
    pages: Vec<Bytes>,
    cursors: Vec<Box<str>>,
}

impl ToolPages {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next page: the result, or the whole response. Says with which cursor to ask for one more; `None`: it
    /// was the last.
    ///
    /// # Errors
    ///
    /// The page is none or too long, or there is no end to them: more than 64, or a cursor that was there before.
    pub fn push(&mut self, page: Bytes) -> Result<Option<String>, ToolsFault> {
        let number = self.pages.len();
        if number >= PAGES {
            return Err(ToolsFault::TooMany);
        }
        let next = page_of(&page, number)?.next_cursor();
        if let Some(next) = &next {
            if self.cursors.iter().any(|known| **known == **next) {
                return Err(ToolsFault::Loop(number));
            }
            self.cursors.push(next.as_str().into());
        }
        self.pages.push(page);
        Ok(next)
    }

    /// Those that were taken, in their order.
    #[must_use]
    pub fn into_pages(self) -> Vec<Bytes> {
        self.pages
    }
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    next_cursor: Option<&'a RawValue>,
}

impl Page<'_> {
    /// What is no text is no cursor.
    fn next_cursor(&self) -> Option<String> {
        serde_json::from_str(self.next_cursor?.get()).ok()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    input_schema: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Schema<'a> {
    #[serde(borrow, default)]
    properties: std::collections::BTreeMap<Cow<'a, str>, &'a RawValue>,
}

#[derive(Deserialize)]
struct Parameter<'a> {
    #[serde(borrow, default)]
    description: Option<Cow<'a, str>>,
}

/// The tools of all pages, and how many were left out.
pub(super) fn read<P>(pages: &[P], bounds: &DirectoryBounds) -> Result<(Vec<Skill>, usize), ToolsFault>
where
    P: AsRef<[u8]>,
{
    if pages.len() > PAGES {
        return Err(ToolsFault::TooMany);
    }
    let (mut skills, mut left_out) = (Vec::new(), 0);
    for (number, page) in pages.iter().enumerate() {
        for tool in page_of(page.as_ref(), number)?.tools {
            if skills.len() >= bounds.skills {
                left_out += 1;
                continue;
            }
            match skill(tool, bounds) {
                Some(skill) if !skills.iter().any(|known: &Skill| known.id == skill.id) => skills.push(skill),
                _ => left_out += 1,
            }
        }
    }
    Ok((skills, left_out))
}

fn page_of(page: &[u8], number: usize) -> Result<Page<'_>, ToolsFault> {
    let malformed = |why: &str| ToolsFault::Malformed { page: number, why: why.into() };
    if page.len() > PAGE {
        return Err(ToolsFault::TooLarge(number));
    }
    let text = std::str::from_utf8(page).map_err(|_| malformed("it is not UTF-8"))?;
    let of = |text| serde_json::from_str::<Page<'_>>(text);
    let read = match serde_json::from_str::<Response<'_>>(text) {
        Ok(Response { result: Some(result) }) => of(result.get()),
        _ => of(text),
    };
    // Of serde's words only the place is told: the rest may be the peer's.
    read.map_err(|error| malformed(&format!("line {}, column {}", error.line(), error.column())))
}

/// `None`: it is no tool, or has a name that nobody could ask for.
fn skill(tool: &RawValue, bounds: &DirectoryBounds) -> Option<Skill> {
    let tool: Tool<'_> = serde_json::from_str(tool.get()).ok()?;
    let parameters = parameters(tool.input_schema);
    let told = Told {
        id: &tool.name,
        name: tool.title.as_deref().unwrap_or(&tool.name),
        description: tool.description.as_deref().unwrap_or_default(),
        tags: &[],
        examples: parameters.iter().map(|text| &**text).collect(),
        input_modes: &[],
        output_modes: &[],
    };
    Skill::new(&told, SkillSource::Tools, bounds)
}

/// What the parameters are called and said to be, one level deep.
fn parameters(schema: Option<&RawValue>) -> Vec<String> {
    let Some(schema) = schema.and_then(|schema| serde_json::from_str::<Schema<'_>>(schema.get()).ok()) else {
        return Vec::new();
    };
    let said = |(name, parameter): (Cow<'_, str>, &RawValue)| {
        let description = serde_json::from_str::<Parameter<'_>>(parameter.get()).ok().and_then(|said| said.description);
        format!("{name} {}", description.unwrap_or_default())
    };
    schema.properties.into_iter().take(PARAMETERS).map(said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::SkillField;

    const PAGE_ONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"nextCursor":"2","tools":[
        {"name":"get_weather","title":"Weather","description":"Forecast for a city",
         "inputSchema":{"type":"object","properties":{"location":{"type":"string","description":"Postal code"}}}},
        {"name":"broken","inputSchema":7}, {"description":"nameless"}, 7]}}"#;
    const PAGE_TWO: &str = r#"{"tools":[{"name":"get_weather"},{"name":"set_alarm"}]}"#;

    #[test]
    fn tools_of_all_pages_are_skills() {
        let (skills, left_out) = read(&[PAGE_ONE, PAGE_TWO], &DirectoryBounds::default()).unwrap();
        let ids: Vec<_> = skills.iter().map(Skill::id).collect();
        assert_eq!((ids.as_slice(), left_out), (["get_weather", "broken", "set_alarm"].as_slice(), 3));
        let weather = &skills[0];
        for (word, field) in [
            ("weather", Some(SkillField::Name)),
            ("forecast", Some(SkillField::Description)),
            ("postal", Some(SkillField::Example)),
            ("location", Some(SkillField::Example)),
            ("string", None),
        ] {
            assert_eq!(weather.field_of(word), field, "{word}");
        }
        assert_eq!(weather.source(), SkillSource::Tools);
    }

    #[test]
    fn what_is_no_list_of_tools_is_refused_without_its_words() {
        for page in ["", "[]", "{}", r#"{"tools":{}}"#, r#"{"result":{"secret":1}}"#, "{\"tools\":[\"\\x\"]}"] {
            let fault = read(&[page], &DirectoryBounds::default()).unwrap_err();
            assert!(matches!(fault, ToolsFault::Malformed { page: 0, .. }), "{page}");
            assert!(!fault.to_string().contains("secret"));
        }
        let bounds = DirectoryBounds::default();
        assert!(matches!(read(&[b"\xff"], &bounds), Err(ToolsFault::Malformed { .. })));
        assert_eq!(read(&["x".repeat(PAGE + 1)], &bounds).unwrap_err(), ToolsFault::TooLarge(0));
        assert_eq!(read(&[PAGE_TWO; PAGES + 1], &bounds).unwrap_err(), ToolsFault::TooMany);
    }

    #[test]
    fn pages_come_to_an_end_wherever_their_cursors_lead() {
        let page = |next: &str| Bytes::from(format!(r#"{{"tools":[],"nextCursor":{next}}}"#));
        let mut pages = ToolPages::new();
        assert_eq!(pages.push(PAGE_ONE.into()), Ok(Some("2".into())));
        for last in [PAGE_TWO.into(), page("null"), page("7"), page("{}")] {
            assert_eq!(pages.clone().push(last), Ok(None));
        }
        // A cursor is opaque: an empty one is one (MCP 2025-06-18, pagination).
        assert_eq!(pages.push(page("\"\"")), Ok(Some(String::new())));
        for back in ["\"2\"", "\"\""] {
            assert_eq!(pages.push(page(back)), Err(ToolsFault::Loop(2)));
        }
        assert!(matches!(pages.push("[]".into()), Err(ToolsFault::Malformed { page: 2, .. })));
        assert_eq!(pages.push(vec![b' '; PAGE + 1].into()), Err(ToolsFault::TooLarge(2)));
        for n in 2..PAGES {
            assert_eq!(pages.push(page(&format!("\"c{n}\""))), Ok(Some(format!("c{n}"))));
        }
        assert_eq!(pages.push(page("null")), Err(ToolsFault::TooMany));
        assert!(read(&pages.into_pages(), &DirectoryBounds::default()).is_ok());
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let deep =
            format!(r#"{{"tools":[{{"name":"x","inputSchema":{}{}}}]}}"#, "[".repeat(50_000), "]".repeat(50_000));
        assert_eq!(read(&[deep], &DirectoryBounds::default()).unwrap().0.len(), 1);
        let many: Vec<_> = (0..500).map(|n| format!(r#"{{"name":"t{n}"}}"#)).collect();
        let page = format!(r#"{{"tools":[{}]}}"#, many.join(","));
        let (skills, left_out) = read(&[page], &DirectoryBounds::default().skills(10)).unwrap();
        assert_eq!((skills.len(), left_out), (10, 490));
    }
}
