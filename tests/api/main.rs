//! The local server as other programs use it, over real sockets: in front of an engine that does as it is told, and in
//! front of the real one.

mod bad_days;
mod chat;
mod client;
mod clients;
mod completions;
mod constrained;
mod custom;
mod drafters;
mod guard;
mod hostile;
mod live;
mod messages;
mod models;
mod network;
mod pictures;
mod real;
mod recorded;
mod responses;
mod secrets;
mod server;
mod soak;
mod tools;
