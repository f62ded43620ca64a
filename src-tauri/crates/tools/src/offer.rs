//! What a chat offers its model: the tools that its prompts begin with, frozen, since any other text there would have
//! the whole chat read again.

use std::collections::BTreeSet;

use foretoken_calls::Tools;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::built_in::OwnTool;
use crate::configuration::tool_name;
use crate::tool::{Definition, Effects};

/// Tools that a chat offers at most.
pub const MOST_TOOLS: usize = 64;

/// The tools that a chat's prompts begin with, as they were when the chat first used them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// What the person has switched on: slugs of servers and names of built-in tools, sorted, each once. One that
    /// brought no tool is among them.
    pub sources: Vec<String>,
    /// Built-in tools, then those of servers; each by name.
    pub tools: Vec<OfferedTool>,
}

/// A tool that a chat offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedTool {
    /// What the model calls it.
    pub name: String,
    /// The slug of its server; `None` of a built-in tool.
    pub server: Option<String>,
    /// The fingerprint of its server's entry; empty of a built-in tool.
    pub server_fingerprint: String,
    /// As its server told it, with the name that the server calls it by.
    pub definition: Definition,
    /// The fingerprint of the definition.
    pub fingerprint: String,
    /// What a call may do.
    pub effects: Effects,
}

/// A tool that is not offered, though its source is switched on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// What the model would have called it.
    pub name: String,
    /// Why, as a sentence for people.
    pub reason: String,
}

impl Offer {
    /// Of the sources that the person has switched on, with these built-in tools, and with these servers: the slug of
    /// each, the fingerprint of its entry and its tools. Their order changes nothing. Beside the offer it tells what is
    /// not in it: a tool of which a model cannot be told, one whose name another one has, and those above
    /// [`MOST_TOOLS`].
    pub fn new(
        sources: Vec<String>,
        built_in: &[impl Into<OwnTool> + Copy],
        servers: &[(String, String, Vec<Definition>)],
    ) -> (Self, Vec<LeftOut>) {
        let (mut candidates, mut left_out) = (Vec::new(), Vec::new());
        candidates.extend(built_in.iter().map(|tool| built_in_tool((*tool).into())));
        for (slug, fingerprint, definitions) in servers {
            for definition in definitions {
                match server_tool(slug, fingerprint, definition) {
                    Ok(tool) => candidates.push(tool),
                    Err(one) => left_out.push(one),
                }
            }
        }
        // Of two with one name it is always the same that stays.
        candidates.sort_by_cached_key(|tool| (tool.server.is_some(), tool.name.clone(), json_of(tool)));

        let mut offer =
            Self { sources: BTreeSet::from_iter(sources).into_iter().collect(), tools: Vec::new() };
        let mut names = BTreeSet::new();
        for tool in candidates {
            let refused = match refusal(&tool) {
                Some(reason) => Some(reason),
                None if names.contains(&tool.name) => Some("Another tool has the same name.".to_owned()),
                None if offer.tools.len() == MOST_TOOLS => {
                    Some(format!("A chat offers at most {MOST_TOOLS} tools."))
                }
                None => None,
            };
            match refused {
                Some(reason) => left_out.push(LeftOut { name: tool.name, reason }),
                None => {
                    names.insert(tool.name.clone());
                    offer.tools.push(tool);
                }
            }
        }
        left_out.sort_by(|one, other| (&one.name, &one.reason).cmp(&(&other.name, &other.reason)));
        (offer, left_out)
    }

    /// The list that a prompt begins with, in the notation of OpenAI's API.
    pub fn list(&self) -> Vec<Value> {
        self.tools().list().to_vec()
    }

    /// The same list, as calls are checked against it.
    pub fn tools(&self) -> Tools {
        let listed = self.tools.iter().map(|tool| tool.definition.listed(&tool.name)).collect();
        Tools::usable(listed).map(|(tools, _)| tools).unwrap_or_default()
    }

    /// The tool that the model calls so.
    pub fn find(&self, name: &str) -> Option<&OfferedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Whether the model is offered nothing.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The text that is stored with the chat. The same offer is always the same text.
    pub fn to_json(&self) -> String {
        json_of(self)
    }

    /// Of a stored text; `None` if it is none.
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

fn built_in_tool(tool: OwnTool) -> OfferedTool {
    let definition = tool.definition();
    OfferedTool {
        name: tool.name().to_owned(),
        server: None,
        server_fingerprint: String::new(),
        fingerprint: definition.fingerprint(),
        effects: tool.effects(),
        definition,
    }
}

fn server_tool(slug: &str, fingerprint: &str, definition: &Definition) -> Result<OfferedTool, LeftOut> {
    let name = tool_name(slug, &definition.name).map_err(|error| LeftOut {
        name: format!("{slug}__{}", definition.name),
        reason: error.to_string(),
    })?;
    Ok(OfferedTool {
        name,
        server: Some(slug.to_owned()),
        server_fingerprint: fingerprint.to_owned(),
        fingerprint: definition.fingerprint(),
        // Nothing is known of what others wrote.
        effects: Effects::ALL,
        definition: definition.clone(),
    })
}

/// Why a model cannot be told of a tool, if it cannot.
fn refusal(tool: &OfferedTool) -> Option<String> {
    let listed = vec![tool.definition.listed(&tool.name)];
    let error = match Tools::usable(listed) {
        Ok((_, left_out)) => left_out.into_iter().next()?,
        Err(error) => error,
    };
    // Names of parameters are a stranger's text.
    let (told, _) = crate::visible(&error.to_string());
    let (first, rest) = told.split_at(told.chars().next().map_or(0, char::len_utf8));
    Some(format!("{}{rest}.", first.to_uppercase()))
}

/// Nothing here has a key that is no text, so that it is never empty.
fn json_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::subsequence;
    use serde_json::json;

    use super::*;
    use crate::built_in::BuiltIn;
    use crate::tool::Claims;

    type Server = (String, String, Vec<Definition>);

    fn definition(name: &str, description: &str, parameters: Value) -> Definition {
        Definition {
            name: name.into(),
            title: None,
            description: description.into(),
            parameters: parameters.as_object().cloned().unwrap(),
            results: None,
            claims: Claims { reads_only: Some(true), ..Claims::default() },
        }
    }

    fn tool(name: &str) -> Definition {
        definition(name, "Does it.", json!({ "type": "object", "properties": { "b": {}, "a": {} } }))
    }

    fn server(slug: &str, tools: Vec<Definition>) -> Server {
        (slug.into(), format!("fingerprint of {slug}"), tools)
    }

    fn names(offer: &Offer) -> Vec<&str> {
        offer.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn built_in_tools_come_first_and_then_those_of_servers_by_name() {
        let servers = [server("web", vec![tool("read")]), server("files", vec![tool("write"), tool("read")])];
        let sources = ["web", "files", "calculator", "web", "current_date"].map(str::to_owned).to_vec();
        let (offer, left_out) = Offer::new(sources, BuiltIn::all(), &servers);
        assert_eq!(left_out, []);
        assert_eq!(offer.sources, ["calculator", "current_date", "files", "web"]);
        let expected = ["calculator", "current_date", "files__read", "files__write", "web__read"];
        assert_eq!(names(&offer), expected);
        assert!(offer.tools().names().eq(expected));
        assert_eq!(offer.list(), offer.tools().list());
        assert_eq!(offer.list()[2], tool("read").listed("files__read"));

        let read = offer.find("web__read").unwrap();
        assert_eq!((read.server.as_deref(), read.definition.name.as_str()), (Some("web"), "read"));
        assert_eq!(read.server_fingerprint, "fingerprint of web");
        assert_eq!((read.effects, &read.fingerprint), (Effects::ALL, &tool("read").fingerprint()));
        let calculator = offer.find("calculator").unwrap();
        assert_eq!((&calculator.server, calculator.server_fingerprint.as_str()), (&None, ""));
        assert_eq!(calculator.effects, Effects::NONE);
        assert_eq!(offer.find("read"), None);
    }

    #[test]
    fn a_stored_offer_reads_back_with_its_keys_in_order() {
        let servers = [server("files", vec![tool("read")])];
        let (offer, _) = Offer::new(vec!["files".into()], &[BuiltIn::Date], &servers);
        let read = Offer::from_json(&offer.to_json()).unwrap();
        assert_eq!((&read, read.to_json()), (&offer, offer.to_json()));
        assert_eq!(json!(read.list()).to_string(), json!(offer.list()).to_string());
        assert!(offer.to_json().contains(r#""properties":{"b":{},"a":{}}"#));
        assert_eq!(Offer::from_json("{"), None);
        assert_eq!(Offer::from_json("[]"), None);
    }

    #[test]
    fn of_nothing_there_is_an_empty_offer() {
        let (offer, left_out) =
            Offer::new(vec!["files".into()], &[] as &[BuiltIn], &[server("files", vec![])]);
        assert!(offer.is_empty() && left_out.is_empty() && offer.list().is_empty());
        assert_eq!(offer.sources, ["files"]);
        assert!(Offer::default().tools().is_empty());
    }

    #[test]
    fn what_a_model_cannot_be_told_of_is_left_out_with_the_reason() {
        let tools = vec![
            tool("good"),
            tool(""),
            tool("twice"),
            definition("twice", "Does something else.", json!({})),
            definition("list", "", json!({ "type": "array" })),
            definition("tag", "", json!({ "properties": { "a<b": {} } })),
        ];
        let (offer, left_out) = Offer::new(Vec::new(), &[] as &[BuiltIn], &[server("s", tools)]);
        assert_eq!(names(&offer), ["s__good", "s__twice"]);
        let told: Vec<_> = left_out.iter().map(|one| (one.name.as_str(), one.reason.as_str())).collect();
        let expected = [
            ("s__", "A tool of \"s\" has no name."),
            ("s__list", "The parameters of \"s__list\" have the type \"array\", not \"object\"."),
            ("s__tag", "The parameter \"a<b\" of \"s__tag\" has a name that a model cannot write."),
            ("s__twice", "Another tool has the same name."),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn no_more_are_offered_than_a_model_can_look_at() {
        let tools = (0..70).map(|number| tool(&format!("t{number:02}"))).collect();
        let (offer, left_out) = Offer::new(Vec::new(), BuiltIn::all(), &[server("s", tools)]);
        assert_eq!(offer.tools.len(), MOST_TOOLS);
        assert_eq!((left_out.len(), left_out[0].name.as_str()), (8, "s__t62"));
        assert_eq!(left_out[0].reason, "A chat offers at most 64 tools.");
    }

    fn definitions() -> impl Strategy<Value = Vec<Definition>> {
        let parameters = prop_oneof![
            Just(json!({ "type": "object", "properties": { "a": { "type": "string" } } })),
            Just(json!({ "properties": { "<": {} } })),
            Just(json!({ "type": null })),
            Just(json!({})),
        ];
        vec(("[ab ]{0,2}|x{55,60}", "[ab]?", parameters), 0..8).prop_map(|all| {
            all.into_iter().map(|(name, told, parameters)| definition(&name, &told, parameters)).collect()
        })
    }

    prop_compose! {
        /// Sources, built-in tools and servers, all of which may be there twice, and the same in another order.
        fn shuffled()(
            sources in vec("[abc]", 0..5),
            built_in in subsequence(BuiltIn::all().to_vec(), 0..=BuiltIn::all().len()),
            servers in vec(("[ab]", "[12]", definitions()), 0..4),
        )(
            other_sources in Just(sources.clone()).prop_shuffle(),
            other_built_in in Just(built_in.clone()).prop_shuffle(),
            other_servers in Just(servers.clone()).prop_shuffle().prop_flat_map(|servers| {
                servers
                    .into_iter()
                    .map(|(slug, hash, tools)| (Just(slug), Just(hash), Just(tools).prop_shuffle()))
                    .collect::<Vec<_>>()
            }),
            sources in Just(sources),
            built_in in Just(built_in),
            servers in Just(servers),
        ) -> [(Vec<String>, Vec<BuiltIn>, Vec<Server>); 2] {
            [(sources, built_in, servers), (other_sources, other_built_in, other_servers)]
        }
    }

    proptest! {
        #[test]
        fn the_same_in_any_order_is_the_same_text([one, other] in shuffled()) {
            let (count, offers) = (one.2.iter().map(|server| server.2.len()).sum::<usize>() + one.1.len(),
                [one, other].map(|(sources, built_in, servers)| Offer::new(sources, &built_in, &servers)));
            let [(one, left_out), (other, also_left_out)] = &offers;
            prop_assert_eq!(one.to_json(), other.to_json());
            prop_assert_eq!(json!(one.list()).to_string(), json!(other.list()).to_string());
            prop_assert_eq!(left_out, also_left_out);
            // Nothing is lost, and all that is offered can be told and found.
            prop_assert_eq!(one.tools.len() + left_out.len(), count);
            prop_assert!(one.tools().names().eq(names(one)));
            prop_assert!(one.tools.iter().all(|tool| one.find(&tool.name) == Some(tool)));
            let read = Offer::from_json(&one.to_json());
            prop_assert_eq!(read.as_ref(), Some(one));
        }
    }
}
