//! How many tokens a request would have the model read, without an answer.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::response::Response;
use foretoken_protocol::{ApiDialect, ChatInput, Input};
use serde_json::json;

use crate::api::Api;
use crate::ask::AskedSettings;
use crate::error::ApiError;
use crate::fields::Fields;
use crate::pictures::Pictures;
use crate::replies::refusal;
use crate::router::json_response;
use crate::settings::AskedThinking;
use crate::{body, format, models};

/// Who waits for a model to count with.
const COUNTING: &str = "counting";

/// Answers `POST /v1/chat/completions/input_tokens`.
pub(crate) async fn chat(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let body = body::read(&api, request.into_body()).await?;
    let mut fields = Fields::of_body(&body)?;
    let AskedThinking { on, template } = crate::settings::thinking(&mut fields, &mut Vec::new())?;
    let crate::chat::Conversed { mut chat, pictures, .. } = crate::chat::input(&mut fields, &mut Vec::new())?;
    chat.template = template;
    format::tell(&mut chat, crate::chat::response_format(&mut fields)?.as_ref());
    let tokens = count(&api, ApiDialect::Chat, body, &mut fields, (chat, pictures), on).await?;
    Ok(json_response(&json!({"object": "response.input_tokens", "input_tokens": tokens})))
}

/// Answers `POST /v1/responses/input_tokens`.
pub(crate) async fn responses(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let body = body::read(&api, request.into_body()).await?;
    let mut fields = Fields::of_body(&body)?;
    let AskedThinking { on, template } = crate::responses::effort(&mut fields, &mut Vec::new())?;
    let crate::responses::Conversed { mut chat, pictures, .. } =
        crate::responses::input(&mut fields, &mut Vec::new())?;
    chat.template = template;
    let tokens = count(&api, ApiDialect::Responses, body, &mut fields, (chat, pictures), on).await?;
    Ok(json_response(&json!({"object": "response.input_tokens", "input_tokens": tokens})))
}

/// Answers `POST /v1/messages/count_tokens`.
pub(crate) async fn messages(State(api): State<Arc<Api>>, request: Request) -> Result<Response, ApiError> {
    let body = body::read(&api, request.into_body()).await?;
    let mut fields = Fields::of_body(&body)?;
    let mut settings = AskedSettings::default();
    let crate::messages::Conversed { mut chat, pictures, .. } =
        crate::messages::input(&mut fields, &mut Vec::new())?;
    crate::messages::thinking(&mut fields, &mut settings, &mut chat.template, &mut Vec::new())?;
    let thinking = settings.thinking;
    format::tell(&mut chat, settings.constraint.format.as_ref());
    let tokens = count(&api, ApiDialect::Messages, body, &mut fields, (chat, pictures), thinking).await?;
    Ok(json_response(&json!({"input_tokens": tokens})))
}

/// The tokens of a chat as a reply would be written behind it. What was counted before is not rendered again.
async fn count(
    api: &Arc<Api>,
    dialect: ApiDialect,
    body: Bytes,
    fields: &mut Fields,
    (chat, mut pictures): (ChatInput, Pictures),
    thinking: Option<bool>,
) -> Result<u32, ApiError> {
    // What is waited for below may take long, and pictures make bodies large.
    let asked = api.counted.key((dialect as u8, &*body));
    drop(body);
    let found = models::find(api, &fields.required_string("model")?)?;
    let mut input = Input::Chat(chat);
    // A model that sees nothing is not loaded to say so.
    pictures.admit(models::sight(api, &found.folder).as_ref(), &mut input)?;
    // Replies are written by the model that is loaded: only another one has to wait for its turn.
    let _entered = if api.current_model().as_ref() == Some(&found.folder) {
        None
    } else {
        let entered = api.admission.enter(COUNTING, &found.folder, 1, false).await?;
        models::have(api, &found).await?;
        Some(entered)
    };
    let model = models::loaded(api).await?;
    let thinking = thinking.unwrap_or_else(|| api.models.settings(&model).thinking.is_on());
    let pictures_read = format!("{:?}", model.pictures);
    let key = api.counted.key((asked, &model.path, pictures_read, thinking));
    if let Some(tokens) = api.counted.get(key) {
        return Ok(tokens);
    }
    let _picture_place = if pictures.is_empty() { None } else { Some(api.picture_counts.acquire().await) };
    let _shown = pictures.show(api, &model.pictures, &mut input).await?;
    // A burst of them is counted a few at a time, so that nobody's answer waits for a processor.
    let _place = api.counts.acquire().await;
    let counted = api.engine.count_input(input, thinking).await;
    let counted = counted.map_err(|error| refusal(&error, None))?;
    // Another one knows other tokens.
    if api.current_model().as_ref() != Some(&found.folder) {
        return Err(ApiError::ModelBusy { name: found.id });
    }
    api.counted.remember(key, counted);
    Ok(counted)
}
