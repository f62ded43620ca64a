//! The calls of tools in replies, and how far each is. A call begins to run at most once, and only where a decision is
//! stored; every change of its state is one transaction, and one that is not in the table changes nothing.

use foretoken_protocol::{CallDecision, CallId, CallState, ChatId, MessageId, PermissionId, ReplyCall};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, named_params};

use crate::error::Fault;
use crate::position::TreePosition;
use crate::sql::{all, first, now};
use crate::{ChatsError, Reader, Store};

/// A call as the model has written it.
#[derive(Debug, Clone, Copy)]
pub struct NewCall<'a> {
    /// The server; `None` of the app's own tools, and of a name that nothing has.
    pub server: Option<&'a str>,
    /// The tool.
    pub tool: &'a str,
    /// The arguments, as written.
    pub arguments: &'a str,
}

/// That a call may run.
#[derive(Debug, Clone, Copy)]
pub struct Consent<'a> {
    /// Why.
    pub decision: CallDecision,
    /// The permission that it follows from.
    pub grant: Option<PermissionId>,
    /// The arguments that the tool gets.
    pub arguments: &'a str,
    /// The fingerprint of the file that the call changes, as the person has seen it.
    pub seen: Option<&'a str>,
}

/// How a call that ran has ended.
#[derive(Debug, Clone, Copy)]
pub struct CallEnd<'a> {
    /// In which way: done, failed, stopped, timed out or unknown.
    pub state: &'a CallState,
    /// All of the result, as JSON.
    pub result: Option<&'a str>,
    /// What the model gets.
    pub for_model: Option<&'a str>,
    /// Characters of the result that the model does not get.
    pub left_out: Option<u32>,
}

/// Why the person is asked about a call that they have allowed.
const MAY_LEAK: &str = "may_leak";

/// The columns that [`call`] reads.
const CALL: &str = "call.message, call.step, call.ordinal, call.server, call.tool, call.arguments_written,
    call.arguments_sent, call.decision, call.by_grant, call.asked_at, call.started_at, call.ended_at,
    call.state, call.reason, call.result, call.result_for_model, call.left_out, call.seen";

impl Reader {
    /// One call.
    pub fn call(&self, id: CallId) -> Result<ReplyCall, ChatsError> {
        self.read(|db| find(db, id))
    }

    /// The calls of a chat that the person is asked about, on whichever branch, oldest first.
    pub fn pending_calls(&self, chat: ChatId) -> Result<Vec<ReplyCall>, ChatsError> {
        let sql = format!(
            "SELECT {CALL} FROM call CROSS JOIN message ON message.id = call.message
             JOIN chat ON chat.id = message.chat
             WHERE call.ended_at IS NULL AND call.state = 'asking' AND message.chat = ?1
             AND message.deletion IS NULL AND chat.deletion IS NULL
             ORDER BY call.message, call.step, call.ordinal"
        );
        self.read(|db| Ok(all(db, &sql, [chat], call)?))
    }
}

impl Store {
    /// Adds calls to a step, behind those that it has, as [`CallState::Checking`].
    pub fn add_calls(
        &mut self,
        message: MessageId,
        step: u32,
        calls: &[NewCall<'_>],
    ) -> Result<Vec<CallId>, ChatsError> {
        self.write(|db| add(db, message, step, calls))
    }

    /// Refuses a call that was checked, with what the model is told.
    pub fn refuse_call(
        &mut self,
        id: CallId,
        reason: &str,
        for_model: &str,
    ) -> Result<ReplyCall, ChatsError> {
        self.write(|db| {
            refuse(db, id, reason, for_model)?;
            find(db, id)
        })
    }

    /// Asks the person about a call that was checked; `may_leak` where it is asked although it is allowed.
    pub fn ask_call(&mut self, id: CallId, may_leak: bool) -> Result<ReplyCall, ChatsError> {
        self.write(|db| {
            change(db, id, &CallState::Asking)?;
            let why = "UPDATE call SET reason = ?4 WHERE message = ?1 AND step = ?2 AND ordinal = ?3";
            db.execute(why, (id.message, id.step, id.ordinal, may_leak.then_some(MAY_LEAK)))?;
            find(db, id)
        })
    }

    /// Stores that a call may run, which it need not do at once. A decision of the person takes a question; without one
    /// it follows from a permission, or the tool is the app's own.
    pub fn decide_call(&mut self, id: CallId, consent: Consent<'_>) -> Result<ReplyCall, ChatsError> {
        self.write(|db| {
            decide(db, id, consent)?;
            find(db, id)
        })
    }

    /// Asks the person again about a call that they have allowed and that has not begun to run.
    pub fn ask_call_again(&mut self, id: CallId) -> Result<ReplyCall, ChatsError> {
        self.write(|db| {
            let ReplyCall { state, decision, .. } = find(db, id)?;
            if state != CallState::Asking || decision.is_none() {
                return Err(wrong(&state, &CallState::Asking));
            }
            let ask = "UPDATE call SET decision = NULL, by_grant = NULL, arguments_sent = NULL, seen = NULL
                       WHERE message = ?1 AND step = ?2 AND ordinal = ?3";
            db.execute(ask, (id.message, id.step, id.ordinal))?;
            find(db, id)
        })
    }

    /// Stores that a call runs, and before that what is decided, if it was not stored yet. From here on it has run,
    /// whatever comes. Nothing runs in what is deleted.
    pub fn start_call(&mut self, id: CallId, consent: Option<Consent<'_>>) -> Result<ReplyCall, ChatsError> {
        self.write(|db| {
            TreePosition::of(db, id.message)?;
            if let Some(consent) = consent {
                decide(db, id, consent)?;
            }
            let ReplyCall { state, decision, arguments_sent, .. } = find(db, id)?;
            if decision.is_none() || arguments_sent.is_none() {
                must_lead(&state, &CallState::Running)?;
                return Err(ChatsError::CallUndecided { call: id }.into());
            }
            change(db, id, &CallState::Running)?;
            find(db, id)
        })
    }

    /// Stores that the person does not want a call that they were asked about, with what the model is told.
    pub fn deny_call(&mut self, id: CallId, for_model: &str) -> Result<ReplyCall, ChatsError> {
        self.write(|db| {
            change(db, id, &CallState::Denied)?;
            let deny =
                "UPDATE call SET decision = ?4, by_grant = NULL, arguments_sent = NULL, result_for_model = ?5
                        WHERE message = ?1 AND step = ?2 AND ordinal = ?3";
            let decision = decision_name(CallDecision::Denied);
            db.execute(deny, (id.message, id.step, id.ordinal, decision, for_model))?;
            find(db, id)
        })
    }

    /// Takes back a question that the person leaves unanswered, with what the model is told.
    pub fn withdraw_call(&mut self, id: CallId, for_model: Option<&str>) -> Result<ReplyCall, ChatsError> {
        self.write(|db| {
            if find(db, id)?.state == CallState::Running {
                return Err(wrong(&CallState::Running, &CallState::Stopped));
            }
            change(db, id, &CallState::Stopped)?;
            let stop = "UPDATE call SET decision = NULL, by_grant = NULL, arguments_sent = NULL,
                            result_for_model = ?4
                        WHERE message = ?1 AND step = ?2 AND ordinal = ?3";
            db.execute(stop, (id.message, id.step, id.ordinal, for_model))?;
            find(db, id)
        })
    }

    /// Stores how a call that ran has ended, and its result. Its reply may be deleted: undoing brings all of it back.
    pub fn end_call(&mut self, id: CallId, end: CallEnd<'_>) -> Result<ReplyCall, ChatsError> {
        self.write(|db| {
            let found = find(db, id)?.state;
            if found != CallState::Running {
                return Err(wrong(&found, end.state));
            }
            end.result.map_or(Ok(()), |result| must_be_json("The result of a call", result))?;
            change(db, id, end.state)?;
            let keep = "UPDATE call SET result = ?4, result_for_model = ?5, left_out = ?6
                        WHERE message = ?1 AND step = ?2 AND ordinal = ?3";
            let values = (id.message, id.step, id.ordinal, end.result, end.for_model, end.left_out);
            db.execute(keep, values)?;
            find(db, id)
        })
    }
}

/// Adds calls to a step, behind those that it has.
pub(crate) fn add(
    db: &Connection,
    message: MessageId,
    step: u32,
    calls: &[NewCall<'_>],
) -> Result<Vec<CallId>, Fault> {
    let there = "SELECT 1 FROM step WHERE message = ?1 AND ordinal = ?2";
    first(db, there, (message, step), |_| Ok(()))?.ok_or(ChatsError::NoStep { message })?;
    let next = "SELECT count(*) FROM call WHERE message = ?1 AND step = ?2";
    let next: u32 = db.query_row(next, (message, step), |row| row.get(0))?;
    let insert = "INSERT INTO call (message, step, ordinal, server, tool, arguments_written, state)
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'checking')";
    let mut ids = Vec::new();
    for (ordinal, NewCall { server, tool, arguments }) in (next..).zip(calls) {
        db.execute(insert, (message, step, ordinal, server, tool, arguments))?;
        ids.push(CallId { message, step, ordinal });
    }
    Ok(ids)
}

/// Refuses a call that was checked, with what the model is told.
pub(crate) fn refuse(db: &Connection, id: CallId, reason: &str, for_model: &str) -> Result<(), Fault> {
    change(db, id, &CallState::Refused { reason: reason.to_owned() })?;
    let told = "UPDATE call SET result_for_model = ?4 WHERE message = ?1 AND step = ?2 AND ordinal = ?3";
    db.execute(told, (id.message, id.step, id.ordinal, for_model))?;
    Ok(())
}

/// Whether the last process has left calls that run, or decisions about calls that did not begin to.
pub(crate) fn is_anything_left(db: &Connection) -> rusqlite::Result<bool> {
    let sql =
        "SELECT 1 FROM call WHERE ended_at IS NULL AND (state = 'running' OR decision IS NOT NULL) LIMIT 1";
    first(db, sql, [], |_| Ok(())).map(|found| found.is_some())
}

/// Ends the calls that the last process was running: each may or may not have happened. What it was asking is asked
/// again, whatever was decided: nothing runs because of what was said before.
pub(crate) fn take_over(db: &Connection) -> rusqlite::Result<()> {
    let end = "UPDATE call SET state = 'unknown', ended_at = ?1 WHERE ended_at IS NULL AND state = 'running'";
    db.execute(end, [now()])?;
    let ask = "UPDATE call SET decision = NULL, by_grant = NULL, arguments_sent = NULL, seen = NULL
               WHERE ended_at IS NULL AND decision IS NOT NULL";
    db.execute(ask, []).map(drop)
}

/// The calls of a message, in order.
pub(crate) fn of_message(db: &Connection, message: MessageId) -> rusqlite::Result<Vec<ReplyCall>> {
    let sql = format!("SELECT {CALL} FROM call WHERE message = ?1 ORDER BY step, ordinal");
    all(db, &sql, [message], call)
}

/// The same without their results.
pub(crate) fn brief(db: &Connection, message: MessageId) -> rusqlite::Result<Vec<ReplyCall>> {
    let columns = CALL.replace("call.result", "NULL AS result");
    let sql = format!("SELECT {columns} FROM call WHERE message = ?1 ORDER BY step, ordinal");
    all(db, &sql, [message], call)
}

/// How a call stands where nobody runs it and nobody is asked.
pub(crate) fn ended(state: &CallState) -> CallState {
    match state {
        CallState::Running => CallState::Unknown,
        CallState::Checking | CallState::Asking => CallState::Stopped,
        ended => ended.clone(),
    }
}

/// Adds a call to a step of a message, as one that has ended.
pub(crate) fn add_ended(
    db: &Connection,
    message: MessageId,
    call: &ReplyCall,
    now: u64,
) -> Result<(), Fault> {
    let state = ended(&call.state);
    // What was decided and never ran is not decided there.
    let is_decided = call.started_at.is_some() || state != CallState::Stopped;
    let insert = "INSERT INTO call (message, step, ordinal, server, tool, arguments_written, arguments_sent,
                                    decision, by_grant, asked_at, started_at, ended_at, state, reason, result,
                                    result_for_model, left_out)
                  VALUES (:message, :step, :ordinal, :server, :tool, :written, :sent, :decision, :grant,
                          :asked, :started, :ended, :state, :reason, :result, :for_model, :left_out)";
    let values = named_params! {
        ":message": message,
        ":step": call.id.step,
        ":ordinal": call.id.ordinal,
        ":server": call.server,
        ":tool": call.tool,
        ":written": call.arguments_written,
        ":sent": call.arguments_sent.as_ref().filter(|_| is_decided),
        ":decision": call.decision.filter(|_| is_decided).map(decision_name),
        ":grant": call.grant.filter(|_| is_decided),
        ":asked": call.asked_at,
        ":started": call.started_at,
        ":ended": call.ended_at.unwrap_or(now),
        ":state": state_name(&state),
        ":reason": reason(&state),
        ":result": call.result,
        ":for_model": call.result_for_model,
        ":left_out": call.left_out,
    };
    db.prepare_cached(insert)?.execute(values)?;
    Ok(())
}

/// Fails unless a text is JSON.
pub(crate) fn must_be_json(what: &'static str, text: &str) -> Result<(), Fault> {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(ChatsError::NotJson { what, detail: error.to_string() }.into()),
    }
}

fn find(db: &Connection, id: CallId) -> Result<ReplyCall, Fault> {
    let sql = format!("SELECT {CALL} FROM call WHERE message = ?1 AND step = ?2 AND ordinal = ?3");
    let found = first(db, &sql, (id.message, id.step, id.ordinal), call)?;
    Ok(found.ok_or(ChatsError::UnknownCall { call: id })?)
}

fn decide(db: &Connection, id: CallId, consent: Consent<'_>) -> Result<(), Fault> {
    let state = find(db, id)?.state;
    must_lead(&state, &CallState::Running)?;
    let follows = match consent.decision {
        CallDecision::BuiltIn => true,
        CallDecision::AllowedOnce => state == CallState::Asking,
        CallDecision::AllowedInChat | CallDecision::AllowedAlways => {
            state == CallState::Asking || consent.grant.is_some()
        }
        CallDecision::Denied => false,
    };
    if !follows {
        return Err(ChatsError::CallUndecided { call: id }.into());
    }
    let Consent { decision, grant, arguments, seen } = consent;
    let store = "UPDATE call SET decision = ?4, by_grant = ?5, arguments_sent = ?6, seen = ?7
                 WHERE message = ?1 AND step = ?2 AND ordinal = ?3";
    let values = (id.message, id.step, id.ordinal, decision_name(decision), grant, arguments, seen);
    db.execute(store, values)?;
    Ok(())
}

/// Moves a call on to another state, with the time of that.
fn change(db: &Connection, id: CallId, next: &CallState) -> Result<(), Fault> {
    let found = find(db, id)?.state;
    must_lead(&found, next)?;
    let time = match next {
        CallState::Checking => return Ok(()),
        CallState::Asking => "asked_at",
        CallState::Running => "started_at",
        _ => "ended_at",
    };
    let sql = format!(
        "UPDATE call SET state = ?4, reason = ?5, {time} = ?6
         WHERE message = ?1 AND step = ?2 AND ordinal = ?3"
    );
    db.execute(&sql, (id.message, id.step, id.ordinal, state_name(next), reason(next), now()))?;
    Ok(())
}

/// Fails unless a call may go from one state to another.
fn must_lead(from: &CallState, to: &CallState) -> Result<(), Fault> {
    use CallState::{Asking, Checking, Denied, Done, Failed, Refused, Running, Stopped, TimedOut, Unknown};
    let leads = match from {
        Checking => matches!(to, Refused { .. } | Asking | Running),
        Asking => matches!(to, Running | Denied | Stopped),
        Running => matches!(to, Done | Failed | Stopped | TimedOut | Unknown),
        Refused { .. } | Denied | Done | Failed | Stopped | TimedOut | Unknown => false,
    };
    if leads { Ok(()) } else { Err(wrong(from, to)) }
}

fn wrong(from: &CallState, to: &CallState) -> Fault {
    ChatsError::CallState { from: state_name(from), to: state_name(to) }.into()
}

fn call(row: &Row<'_>) -> rusqlite::Result<ReplyCall> {
    let (state, decision): (String, Option<String>) = (row.get("state")?, row.get("decision")?);
    let reason: Option<String> = row.get("reason")?;
    Ok(ReplyCall {
        id: CallId { message: row.get("message")?, step: row.get("step")?, ordinal: row.get("ordinal")? },
        server: row.get("server")?,
        tool: row.get("tool")?,
        arguments_written: row.get("arguments_written")?,
        arguments_sent: row.get("arguments_sent")?,
        decision: decision.map(|name| decision_from(&name).ok_or_else(|| damaged(&name))).transpose()?,
        grant: row.get("by_grant")?,
        asked_at: row.get("asked_at")?,
        started_at: row.get("started_at")?,
        ended_at: row.get("ended_at")?,
        may_leak: state == state_name(&CallState::Asking) && reason.as_deref() == Some(MAY_LEAK),
        state: state_from(&state, reason).ok_or_else(|| damaged(&state))?,
        result: row.get("result")?,
        result_for_model: row.get("result_for_model")?,
        left_out: row.get("left_out")?,
        seen: row.get("seen")?,
    })
}

fn damaged(name: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, format!("a call is {name:?}").into())
}

fn state_name(state: &CallState) -> &'static str {
    match state {
        CallState::Checking => "checking",
        CallState::Refused { .. } => "refused",
        CallState::Asking => "asking",
        CallState::Denied => "denied",
        CallState::Running => "running",
        CallState::Done => "done",
        CallState::Failed => "failed",
        CallState::Stopped => "stopped",
        CallState::TimedOut => "timed_out",
        CallState::Unknown => "unknown",
    }
}

fn reason(state: &CallState) -> Option<&str> {
    match state {
        CallState::Refused { reason } => Some(reason),
        _ => None,
    }
}

fn state_from(name: &str, reason: Option<String>) -> Option<CallState> {
    use CallState::{Asking, Checking, Denied, Done, Failed, Refused, Running, Stopped, TimedOut, Unknown};
    let refused = Refused { reason: reason.unwrap_or_default() };
    [Checking, refused, Asking, Denied, Running, Done, Failed, Stopped, TimedOut, Unknown]
        .into_iter()
        .find(|state| state_name(state) == name)
}

fn decision_name(decision: CallDecision) -> &'static str {
    match decision {
        CallDecision::AllowedOnce => "allowed_once",
        CallDecision::AllowedInChat => "allowed_in_chat",
        CallDecision::AllowedAlways => "allowed_always",
        CallDecision::BuiltIn => "built_in",
        CallDecision::Denied => "denied",
    }
}

fn decision_from(name: &str) -> Option<CallDecision> {
    use CallDecision::{AllowedAlways, AllowedInChat, AllowedOnce, BuiltIn, Denied};
    [AllowedOnce, AllowedInChat, AllowedAlways, BuiltIn, Denied]
        .into_iter()
        .find(|&decision| decision_name(decision) == name)
}
