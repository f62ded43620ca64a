//! What a model may do beside writing: tools of MCP servers, which are programs or reached by HTTP, and built-in ones;
//! what each of them claims to do, how it is called, and what the model and the person get of its result.

pub mod built_in;
pub mod configuration;
mod connection;
mod definition;
pub mod environment;
mod error;
pub mod form;
pub mod http;
mod offer;
mod process;
mod result_text;
mod servers;
mod sign_in;
mod tool;
mod verdict;

pub use connection::{
    Answer, Asked, Connection, FileContent, Limits, Progress, Prompt, PromptArgument, PromptEntry, Question,
    Reach, ResourceEntry, ServerFile,
};
pub use error::ServerError;
pub use offer::{LeftOut, MOST_TOOLS, Offer, OfferedTool};
pub use process::{Errors, Launch};
pub use result_text::{Hidden, ModelText, for_model, stripped, visible};
pub use servers::{Configured, Keep, ServerState, Servers};
pub use sign_in::{Access, SignIn, SignInClient, SignInError, TokenStore, sign_in_client};
pub use tool::{Claims, Definition, Effects, Outcome, ResultPart};
pub use verdict::{Allowed, CALLS_A_ROUND, Known, ROUNDS, Read, Refusal, SAME_CALLS, Verdict, verdict};
