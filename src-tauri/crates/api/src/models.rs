//! The models that programs can name, and which one a name means.

use std::fmt::Debug;

use foretoken_protocol::{EngineState, GenerationSettings, ModelInfo};
use serde_json::{Value, json};

use crate::api::Api;
use crate::error::ApiError;

/// Names the model that is loaded, whichever that is.
const DEFAULT: &str = "default";
/// So begin the names of models that are served elsewhere. Programs made for those ask for them by name, some of them
/// in the background whatever was chosen, and get the model that is loaded.
const ELSEWHERE: [&str; 6] = ["claude-", "gpt-", "chatgpt-", "o1", "o3", "o4"];

/// That another model answers than the one that was named.
pub(crate) const ALIAS: &str = "model-alias";

/// Whose models they are: what there is, and how replies are written where a program does not say.
pub trait Models: Debug + Send + Sync {
    /// The models that are here.
    fn offered(&self) -> Vec<Offered>;

    /// The folder of the model that is loaded, or is to be once an engine runs.
    fn chosen(&self) -> Option<String>;

    /// How a model writes where a request says nothing.
    fn settings(&self, model: &ModelInfo) -> GenerationSettings;
}

/// A model that is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// `organisation/name` of its repository, or the short name of its folder.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Its folder, which no program gets to see.
    pub path: String,
    /// When it came here, seconds since 1970.
    pub created: u64,
}

impl Offered {
    /// Whether a program means this model by `named`: its id, or what follows the organisation, in any case.
    fn is_called(&self, named: &str) -> bool {
        let bare = self.id.rsplit_once('/').map_or(self.id.as_str(), |(_, bare)| bare);
        [self.id.as_str(), bare, &self.name].iter().any(|name| name.eq_ignore_ascii_case(named))
    }
}

/// The models that are here, each with an id of its own: of equal ones the second is `…@2`.
fn offered(api: &Api) -> Vec<Offered> {
    let mut models = api.models.offered();
    for index in 1..models.len() {
        let (before, rest) = models.split_at_mut(index);
        let model = &mut rest[0];
        let same = before.iter().filter(|other| base(&other.id) == model.id).count();
        if same > 0 {
            model.id = format!("{}@{}", model.id, same + 1);
        }
    }
    models
}

fn base(id: &str) -> &str {
    id.rsplit_once('@').map_or(id, |(base, _)| base)
}

/// The model that answers a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) id: String,
    /// Whether the program has named one that is served elsewhere.
    pub(crate) is_alias: bool,
}

/// The model that a program names, if that is the one that answers.
pub(crate) fn find(api: &Api, named: &str) -> Result<Found, ApiError> {
    let current = api.current_model().ok_or(ApiError::NoModelLoaded)?;
    let models = offered(api);
    let loaded = models.iter().find(|model| model.path == current);
    // One that was loaded from elsewhere is not on the list, and answers all the same.
    let whichever = || loaded.map_or_else(|| DEFAULT.into(), |model| model.id.clone());
    if named.eq_ignore_ascii_case(DEFAULT) {
        return Ok(Found { id: whichever(), is_alias: false });
    }
    let name = || named.to_owned();
    match loaded {
        Some(model) if model.is_called(named) => Ok(Found { id: model.id.clone(), is_alias: false }),
        _ if models.iter().any(|model| model.is_called(named)) => {
            let hint = format!("It is here and not loaded. Load it in Foretoken, or ask for {DEFAULT:?}.");
            Err(ApiError::NoModel { name: name(), hint })
        }
        _ if ELSEWHERE.iter().any(|begin| named.to_ascii_lowercase().starts_with(begin)) => {
            Ok(Found { id: whichever(), is_alias: true })
        }
        _ => {
            let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
            let hint = format!("There are {} and {DEFAULT:?}, the one that is loaded.", ids.join(", "));
            Err(ApiError::NoModel { name: name(), hint })
        }
    }
}

/// The answer to `GET /v1/models`, for the packages of OpenAI and of Anthropic.
pub(crate) fn list(api: &Api) -> Value {
    let data: Vec<Value> = offered(api).iter().map(|model| entry(api, model)).collect();
    let id = |model: Option<&Value>| model.map(|model| model["id"].clone());
    json!({
        "object": "list",
        "first_id": id(data.first()),
        "last_id": id(data.last()),
        "has_more": false,
        "data": data,
    })
}

/// The answer to `GET /v1/models/{id}`.
pub(crate) fn one(api: &Api, named: &str) -> Result<Value, ApiError> {
    let models = offered(api);
    let exact = models.iter().find(|model| model.id == named);
    let found = exact.or_else(|| models.iter().find(|model| model.is_called(named)));
    found.map(|model| entry(api, model)).ok_or_else(|| ApiError::NoModel {
        name: named.to_owned(),
        hint: "GET /v1/models lists those that are here.".into(),
    })
}

fn entry(api: &Api, model: &Offered) -> Value {
    let info = match api.engine.state() {
        EngineState::Ready { model: info, .. } if info.path == model.path => Some(info),
        _ => None,
    };
    let context = info.as_ref().map(|info| info.context_length);
    let format = info.as_ref().map(|info| info.format.clone());
    json!({
        "id": model.id,
        "object": "model",
        "created": model.created,
        "owned_by": model.id.split_once('/').map_or("local", |(organisation, _)| organisation),
        "type": "model",
        "display_name": model.name,
        "created_at": rfc3339(model.created),
        "lifecycle": "active",
        "max_input_tokens": context,
        "max_tokens": context,
        "context_length": context,
        "max_model_len": context,
        "foretoken": {
            "loaded": info.is_some(),
            "format": format,
            "tools": info.as_ref().map(|info| info.tools),
            "mtp": info.map(|info| info.mtp),
        },
    })
}

/// A moment in UTC as RFC 3339 writes it.
fn rfc3339(seconds: u64) -> String {
    let moment = jiff::Timestamp::from_second(seconds.try_into().unwrap_or(i64::MAX)).unwrap_or_default();
    moment.to_string()
}
