//! Why a request is refused or fails, in words of its own: those of the engine may name folders.

use axum::http::StatusCode;

/// When to ask again for a model in whose place a person uses another.
const BUSY_SECONDS: u64 = 30;

/// Why a request is not answered, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ApiError {
    /// The body is no JSON object.
    #[error("The body is not a JSON object: {reason}.")]
    NotJson { reason: String },
    /// A field has a value that it cannot have.
    #[error("{field}: {reason}.")]
    InvalidValue { field: String, reason: String },
    /// A field asks for what there is not.
    #[error("{field} is not supported. {hint}")]
    Unsupported { field: String, hint: String },
    /// Something of before is asked for.
    #[error("Nothing is stored here: send the whole input with each request.")]
    NotStored { field: Option<String> },
    /// The chat is longer than the model can read.
    #[error("prompt is too long: {tokens} tokens > {most} maximum")]
    PromptTooLong { tokens: u32, most: u32 },
    /// The chat template refuses the messages.
    #[error(
        "The model's chat template refuses these messages. A system message comes first, and there is a user message."
    )]
    TemplateRefused,
    /// The model was not taught to call tools.
    #[error("The model that is loaded calls no tools. Leave them out, or load another one.")]
    NoTools,
    /// A picture is named and does not come.
    #[error("{field}: pictures are neither fetched from addresses nor read from files. {hint}")]
    PictureNotFetched { field: String, hint: &'static str },
    /// A picture cannot be decoded.
    #[error("{field}: {reason}")]
    Picture { field: String, reason: String },
    /// There are more pictures than a model is shown.
    #[error("These are {count} pictures, and no more than {most} go with one question.")]
    TooManyPictures { count: usize, most: usize },
    /// The model sees no pictures, or has no place for them. `reason` is a sentence or more.
    #[error(
        "This model cannot be shown these pictures. {reason} Leave them out, or ask for a model that sees."
    )]
    SeesNoPictures { field: Option<String>, reason: String },
    /// The model was not made to fill in the middle.
    #[error("The model that is loaded does not fill in the middle of a text. Leave the suffix out.")]
    NoFillIn,
    /// The form that is asked for cannot be enforced.
    #[error("{reason} {hint}")]
    NotEnforceable { reason: String, hint: String },
    /// The form that is asked for could not be followed to the end of the answer.
    #[error("{reason} {hint}")]
    FormGaveOut { reason: String, hint: String },
    /// The prompt is empty, or has tokens that the model does not know.
    #[error("The prompt is empty, or has ids of tokens that the model does not know.")]
    PromptInvalid,
    /// There is no valid token.
    #[error("The token is missing or wrong. Send it as \"Authorization: Bearer …\" or \"x-api-key: …\".")]
    Unauthorized,
    /// It is sent to another host than this machine, or by a page that may not.
    #[error("{reason}")]
    Forbidden { reason: String },
    /// It says not or ambiguously which host it is for.
    #[error("The request needs one Host header.")]
    NoHost,
    /// There is no such route.
    #[error("There is no {method} {path} here.")]
    NoRoute { method: String, path: String },
    /// It is a route of the dialect, for what there is not here.
    #[error(
        "{path} is not supported: this server writes text, with the models that are here, and does nothing else."
    )]
    NotOffered { path: String },
    /// There is no such request.
    #[error("There is no request {id:?} here. It may have ended.")]
    NoRequest { id: String },
    /// There is no such model.
    #[error("There is no model {name:?} here. {hint}")]
    NoModel { name: String, hint: String },
    /// The body is too large.
    #[error("The body is larger than {most} bytes.")]
    TooLarge { most: usize },
    /// The body did not come.
    #[error("The body did not come within {seconds} seconds.")]
    TooSlow { seconds: u64 },
    /// The body is not what it must be.
    #[error("The body must be JSON, uncompressed, with \"content-type: application/json\".")]
    UnsupportedMedia,
    /// Others wait already.
    #[error("{waiting} requests wait already. Try again in {seconds} s.")]
    QueueFull { waiting: usize, seconds: u64 },
    /// Too many wrong tokens came.
    #[error("Too many requests had a wrong token. Try again in {seconds} s.")]
    TooManyWrongTokens { seconds: u64 },
    /// There is no model that could answer.
    #[error("No model is loaded.")]
    NoModelLoaded,
    /// The person uses another model just now.
    #[error(
        "Somebody is using another model, so {name:?} cannot be loaded now. Ask for \"default\", or try again later."
    )]
    ModelBusy { name: String },
    /// The model takes more memory than there is.
    #[error("{name:?} takes more memory than this machine has for models. Ask for a smaller one.")]
    ModelTooBig { name: String },
    /// The model does not load.
    #[error("{name:?} could not be loaded ({code}).")]
    NotLoadable { name: String, code: String },
    /// There is not enough memory.
    #[error("There is not enough memory for this request.")]
    OutOfMemory,
    /// The engine stopped.
    #[error("The engine stopped. It starts again by itself.")]
    EngineStopped,
    /// Somebody has ended it.
    #[error("The request was cancelled.")]
    Cancelled,
    /// Something failed that should not.
    #[error("The request failed ({code}).")]
    Internal { code: String },
}

impl ApiError {
    /// The status of an answer that says so.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotJson { .. }
            | Self::InvalidValue { .. }
            | Self::Unsupported { .. }
            | Self::PromptTooLong { .. }
            | Self::TemplateRefused
            | Self::NotStored { field: Some(_) }
            | Self::NoTools
            | Self::PictureNotFetched { .. }
            | Self::Picture { .. }
            | Self::TooManyPictures { .. }
            | Self::SeesNoPictures { .. }
            | Self::NoFillIn
            | Self::NotEnforceable { .. }
            | Self::FormGaveOut { .. }
            | Self::PromptInvalid
            | Self::NoHost => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden { .. } => StatusCode::FORBIDDEN,
            Self::NotStored { field: None }
            | Self::NoRoute { .. }
            | Self::NotOffered { .. }
            | Self::NoRequest { .. }
            | Self::NoModel { .. } => StatusCode::NOT_FOUND,
            Self::TooSlow { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMedia => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::QueueFull { .. } | Self::TooManyWrongTokens { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::NoModelLoaded
            | Self::ModelBusy { .. }
            | Self::ModelTooBig { .. }
            | Self::NotLoadable { .. }
            | Self::OutOfMemory => StatusCode::SERVICE_UNAVAILABLE,
            Self::EngineStopped | Self::Cancelled | Self::Internal { .. } => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }

    /// Its kind and its code, as OpenAI names them.
    pub(crate) fn kind_and_code(&self) -> (&'static str, &'static str) {
        const INVALID: &str = "invalid_request_error";
        match self {
            Self::NotJson { .. } => (INVALID, "invalid_json"),
            Self::InvalidValue { .. } => (INVALID, "invalid_value"),
            Self::Unsupported { .. } => (INVALID, "unsupported_parameter"),
            Self::PromptTooLong { .. } => (INVALID, "context_length_exceeded"),
            Self::TemplateRefused => (INVALID, "template_refused"),
            Self::NotStored { field: Some(_) } => (INVALID, "not_stored"),
            Self::NotStored { field: None } => ("not_found_error", "not_stored"),
            Self::NoTools => (INVALID, "tools_not_supported"),
            Self::PictureNotFetched { .. } => (INVALID, "image_url_not_supported"),
            Self::Picture { .. } => (INVALID, "invalid_image"),
            Self::TooManyPictures { .. } => (INVALID, "too_many_images"),
            Self::SeesNoPictures { .. } => (INVALID, "images_not_supported"),
            Self::NoFillIn => (INVALID, "suffix_not_supported"),
            Self::NotEnforceable { .. } => (INVALID, "invalid_schema"),
            Self::FormGaveOut { .. } => (INVALID, "grammar_failed"),
            Self::PromptInvalid => (INVALID, "invalid_value"),
            Self::NoHost => (INVALID, "invalid_host"),
            Self::Unauthorized => ("authentication_error", "invalid_api_key"),
            Self::Forbidden { .. } => ("permission_error", "forbidden"),
            Self::NoRoute { .. } | Self::NoRequest { .. } => ("not_found_error", "not_found"),
            Self::NotOffered { .. } => ("not_found_error", "not_supported"),
            Self::NoModel { .. } => ("not_found_error", "model_not_found"),
            Self::TooSlow { .. } => (INVALID, "request_timeout"),
            Self::TooLarge { .. } => (INVALID, "request_too_large"),
            Self::UnsupportedMedia => (INVALID, "unsupported_media_type"),
            Self::QueueFull { .. } => ("rate_limit_error", "queue_full"),
            Self::TooManyWrongTokens { .. } => ("rate_limit_error", "too_many_wrong_tokens"),
            Self::NoModelLoaded => ("server_error", "engine_unavailable"),
            Self::ModelBusy { .. } => ("server_error", "model_busy"),
            Self::NotLoadable { .. } => ("server_error", "model_not_loadable"),
            Self::ModelTooBig { .. } | Self::OutOfMemory => ("server_error", "out_of_memory"),
            Self::EngineStopped => ("server_error", "engine_stopped"),
            Self::Cancelled => ("server_error", "cancelled"),
            Self::Internal { .. } => ("server_error", "internal"),
        }
    }

    /// The field that it is about.
    pub(crate) fn field(&self) -> Option<&str> {
        match self {
            Self::InvalidValue { field, .. }
            | Self::Unsupported { field, .. }
            | Self::PictureNotFetched { field, .. }
            | Self::Picture { field, .. } => Some(field),
            Self::NotStored { field } | Self::SeesNoPictures { field, .. } => field.as_deref(),
            Self::PromptTooLong { .. } | Self::TemplateRefused => Some("messages"),
            Self::NoModel { .. }
            | Self::ModelBusy { .. }
            | Self::ModelTooBig { .. }
            | Self::NotLoadable { .. } => Some("model"),
            Self::NoTools => Some("tools"),
            Self::NoFillIn => Some("suffix"),
            Self::PromptInvalid => Some("prompt"),
            _ => None,
        }
    }

    /// Whether the same request may succeed later, and after how many seconds if that can be said.
    pub(crate) fn retry(&self) -> Retry {
        match *self {
            Self::QueueFull { seconds, .. } | Self::TooManyWrongTokens { seconds } => Retry::After(seconds),
            Self::NoModelLoaded => Retry::After(5),
            Self::ModelBusy { .. } => Retry::After(BUSY_SECONDS),
            Self::EngineStopped | Self::TooSlow { .. } => Retry::Now,
            _ => Retry::Never,
        }
    }
}

/// Whether to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// The same request fails again.
    Never,
    /// It may succeed.
    Now,
    /// It may succeed after so many seconds.
    After(u64),
}
