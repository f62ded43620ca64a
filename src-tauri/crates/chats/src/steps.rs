//! The rounds of the model that a reply with tools is made of. The reply has their texts joined by blank lines, and
//! grows as any other; what is of the round that is being written is told from what those before it have. A plain reply
//! has none.

use std::collections::HashMap;

use foretoken_protocol::{
    ChatId, DraftRun, FinishReason, Message, MessageId, MessageStatus, Provenance, ReplyCall, ReplyStats,
    ReplyStep, Role, StepIds,
};
use rusqlite::{Connection, Row, named_params};

use crate::calls::NewCall;
use crate::error::Fault;
use crate::pieces::whole;
use crate::sql::{self, all, first, now};
use crate::{ChatsError, Reader, Store, calls, rows};

/// What stands between the texts of two steps in the text of their message.
pub const BETWEEN_STEPS: &str = "\n\n";

/// The columns that [`step`] reads.
const STEP: &str = "ordinal, thinking, text, ids, tokenizer, stats, status";

impl Reader {
    /// The steps of a reply with their calls, in order; none of one without tools.
    pub fn steps(&self, message: MessageId) -> Result<Vec<ReplyStep>, ChatsError> {
        self.read_at_once(|db| of_message(db, message))
    }

    /// The steps of all replies of a chat that have any, on whichever branch.
    pub fn steps_of_chat(&self, chat: ChatId) -> Result<HashMap<MessageId, Vec<ReplyStep>>, ChatsError> {
        self.read_at_once(|db| {
            let sql = "SELECT id FROM message WHERE chat = ?1 AND deletion IS NULL AND role = 'assistant'
                       AND EXISTS (SELECT 1 FROM step WHERE step.message = message.id)";
            let messages: Vec<MessageId> = all(db, sql, [chat], |row| row.get(0))?;
            messages.into_iter().map(|id| Ok((id, of_message(db, id)?))).collect()
        })
    }
}

impl Store {
    /// Begins the next step of a reply that is being written, and returns its number. What a reply without steps has
    /// so far is of its first one.
    pub fn begin_step(&mut self, message: MessageId) -> Result<u32, ChatsError> {
        self.write(|db| begin(db, message))
    }

    /// Goes on with the last step of a reply that is being written again, and returns its number. Calls of it that
    /// never ran go: the model is about to write them to their end. A step with any other call is not gone on with.
    pub fn continue_step(&mut self, message: MessageId) -> Result<u32, ChatsError> {
        self.write(|db| {
            must_be_written(db, message)?;
            let last = "SELECT max(ordinal) FROM step WHERE message = ?1";
            let last: Option<u32> = db.query_row(last, [message], |row| row.get(0))?;
            let ordinal = last.ok_or(ChatsError::NoStep { message })?;
            let ran = "SELECT 1 FROM call WHERE message = ?1 AND step = ?2
                       AND (state NOT IN ('refused', 'stopped') OR decision IS NOT NULL)";
            if first(db, ran, (message, ordinal), |_| Ok(()))?.is_some() {
                return Err(ChatsError::NoStep { message }.into());
            }
            db.execute("DELETE FROM call WHERE message = ?1 AND step = ?2", (message, ordinal))?;
            let again = "UPDATE step SET text_begun = text <> '', thinking_begun = thinking <> '', text = '',
                             thinking = '', ids = NULL, tokenizer = NULL, stats = NULL, status = 'streaming'
                         WHERE message = ?1 AND ordinal = ?2 AND status <> 'streaming'";
            match db.execute(again, (message, ordinal))? {
                1 => Ok(ordinal),
                _ => Err(ChatsError::NoStep { message }.into()),
            }
        })
    }

    /// Ends the step of a reply that is being written: what the reply has gained since it began is its text. The reply
    /// goes on.
    pub fn end_step(
        &mut self,
        message: MessageId,
        reason: FinishReason,
        ids: Option<&StepIds>,
        stats: Option<&ReplyStats>,
    ) -> Result<ReplyStep, ChatsError> {
        self.write(|db| {
            let ordinal = settle(db, message, MessageStatus::Finished { reason }, ids, stats)?
                .ok_or(ChatsError::NoStep { message })?;
            let step = of_message(db, message)?.into_iter().find(|step| step.ordinal == ordinal);
            Ok(step.ok_or(ChatsError::NoStep { message })?)
        })
    }

    /// Ends the step of a reply that is being written, which is begun where there is none, and adds its calls, all at
    /// once. A call with a reason beside it is refused for that. Returns the number of the step.
    pub fn take_calls(
        &mut self,
        message: MessageId,
        reason: FinishReason,
        stats: Option<&ReplyStats>,
        written: &[(NewCall<'_>, Option<&str>)],
    ) -> Result<u32, ChatsError> {
        self.write(|db| {
            let status = MessageStatus::Finished { reason };
            let step = match settle(db, message, status, None, stats)? {
                Some(step) => step,
                None => {
                    let step = begin(db, message)?;
                    settle(db, message, status, None, stats)?;
                    step
                }
            };
            let new: Vec<NewCall<'_>> = written.iter().map(|(call, _)| *call).collect();
            let added = calls::add(db, message, step, &new)?;
            for (id, (_, refused)) in added.into_iter().zip(written) {
                if let Some(reason) = refused {
                    calls::refuse(db, id, reason, reason)?;
                }
            }
            Ok(step)
        })
    }
}

/// Begins the next step of a reply that is being written, and returns its number.
pub(crate) fn begin(db: &Connection, message: MessageId) -> Result<u32, Fault> {
    must_be_written(db, message)?;
    if open(db, message)?.is_some() {
        return Err(ChatsError::NoStep { message }.into());
    }
    let next = "SELECT count(*) FROM step WHERE message = ?1";
    let ordinal: u32 = db.query_row(next, [message], |row| row.get(0))?;
    let (text, thinking) = if ordinal == 0 { texts(db, message)? } else { Default::default() };
    let insert = "INSERT INTO step (message, ordinal, text_begun, thinking_begun, status)
                  VALUES (?1, ?2, ?3, ?4, 'streaming')";
    db.execute(insert, (message, ordinal, !text.is_empty(), !thinking.is_empty()))?;
    Ok(ordinal)
}

/// The steps of a message, in order.
pub(crate) fn of_message(db: &Connection, message: MessageId) -> Result<Vec<ReplyStep>, Fault> {
    let mut steps = without_calls(db, message)?;
    calls::of_message(db, message)?.into_iter().for_each(|call| give(&mut steps, call));
    Ok(steps)
}

fn without_calls(db: &Connection, message: MessageId) -> Result<Vec<ReplyStep>, Fault> {
    let sql = format!("SELECT {STEP} FROM step WHERE message = ?1 ORDER BY ordinal");
    let mut steps = all(db, &sql, [message], step)?;
    let written = steps.iter().position(|step| step.status == MessageStatus::Streaming);
    if let Some((before, [open, ..])) = written.and_then(|at| steps.split_at_mut_checked(at)) {
        (open.text, open.thinking) = rest(db, message, before)?;
    }
    Ok(steps)
}

/// The steps of a message as the page has them: results of calls are asked for when somebody looks at them.
pub(crate) fn brief(db: &Connection, message: MessageId) -> Result<Vec<ReplyStep>, Fault> {
    let mut steps = without_calls(db, message)?;
    if !steps.is_empty() {
        calls::brief(db, message)?.into_iter().for_each(|call| give(&mut steps, call));
    }
    Ok(steps)
}

/// Messages with their steps, as the page has them.
pub(crate) fn with_steps(db: &Connection, messages: Vec<Message>) -> Result<Vec<Message>, Fault> {
    let with = |message: Message| match message.role {
        Role::Assistant => Ok(Message { steps: brief(db, message.id)?, ..message }),
        Role::User | Role::System => Ok(message),
    };
    messages.into_iter().map(with).collect()
}

/// Puts a call into its step.
fn give(steps: &mut [ReplyStep], call: ReplyCall) {
    if let Some(step) = steps.iter_mut().find(|step| step.ordinal == call.id.step) {
        step.calls.push(call);
    }
}

fn step(row: &Row<'_>) -> rusqlite::Result<ReplyStep> {
    let (ids, tokenizer): (Option<Vec<u8>>, Option<String>) = (row.get("ids")?, row.get("tokenizer")?);
    Ok(ReplyStep {
        ordinal: row.get("ordinal")?,
        thinking: row.get("thinking")?,
        text: row.get("text")?,
        ids: ids.zip(tokenizer).map(|(ids, tokenizer)| StepIds { ids, tokenizer }),
        stats: sql::json(row, "stats")?,
        status: rows::status(row)?,
        calls: Vec::new(),
    })
}

/// Ends the step that is being written, if there is one, and returns its number.
pub(crate) fn settle(
    db: &Connection,
    message: MessageId,
    status: MessageStatus,
    ids: Option<&StepIds>,
    stats: Option<&ReplyStats>,
) -> Result<Option<u32>, Fault> {
    let Some(ordinal) = open(db, message)? else { return Ok(None) };
    let before = format!("SELECT {STEP} FROM step WHERE message = ?1 AND ordinal < ?2 ORDER BY ordinal");
    let (text, thinking) = rest(db, message, &all(db, &before, (message, ordinal), step)?)?;
    let end = "UPDATE step SET text = :text, thinking = :thinking, ids = :ids, tokenizer = :tokenizer, stats = :stats,
                   status = :status
               WHERE message = :message AND ordinal = :ordinal";
    let values = named_params! {
        ":text": text,
        ":thinking": thinking,
        ":ids": ids.map(|ids| &ids.ids),
        ":tokenizer": ids.map(|ids| &ids.tokenizer),
        ":stats": stats.map(sql::to_json).transpose()?,
        ":status": rows::status_name(status),
        ":message": message,
        ":ordinal": ordinal,
    };
    db.execute(end, values)?;
    Ok(Some(ordinal))
}

/// What is to be added to a reply for more of its last step: the first text of a step stands behind a blank line.
/// `None` where it is no more than what was given.
pub(crate) fn more(
    db: &Connection,
    message: MessageId,
    text: &str,
    thinking: &str,
    known: &Provenance,
) -> Result<Option<(String, String, Provenance)>, Fault> {
    let last = "SELECT ordinal, status = 'streaming', text_begun, thinking_begun FROM step
                WHERE message = ?1 ORDER BY ordinal DESC LIMIT 1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let last: Option<(u32, bool, bool, bool)> = first(db, last, [message], read)?;
    let Some((ordinal, is_open, text_begun, thinking_begun)) = last else { return Ok(None) };
    if !is_open {
        return Err(ChatsError::NoStep { message }.into());
    }
    let (begins_text, begins_thinking) =
        (!text_begun && !text.is_empty(), !thinking_begun && !thinking.is_empty());
    if !begins_text && !begins_thinking {
        return Ok(None);
    }
    let begin = "UPDATE step SET text_begun = text_begun OR ?3, thinking_begun = thinking_begun OR ?4
                 WHERE message = ?1 AND ordinal = ?2";
    db.execute(begin, (message, ordinal, begins_text, begins_thinking))?;
    let before = "SELECT ifnull(max(text_begun), 0), ifnull(max(thinking_begun), 0) FROM step
                  WHERE message = ?1 AND ordinal < ?2";
    let before: (bool, bool) =
        db.query_row(before, (message, ordinal), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let behind = |begins: bool, text: &str, runs: &[DraftRun]| {
        if !begins {
            return (text.to_owned(), runs.to_vec());
        }
        // The model has not drafted the blank line.
        let mut all = Vec::new();
        let blank = DraftRun(BETWEEN_STEPS.len() as u32, 0);
        [blank].into_iter().chain(runs.iter().copied()).for_each(|run| run.add_to(&mut all));
        (format!("{BETWEEN_STEPS}{text}"), all)
    };
    let (text, answer) = behind(begins_text && before.0, text, &known.answer);
    let (thinking, thoughts) = behind(begins_thinking && before.1, thinking, &known.thinking);
    Ok(Some((text, thinking, Provenance { answer, thinking: thoughts })))
}

/// Copies the steps of a message to another one. Nothing of them runs or asks there.
pub(crate) fn copy(db: &Connection, from: MessageId, to: MessageId) -> Result<(), Fault> {
    for step in of_message(db, from)? {
        add(db, to, &step)?;
    }
    Ok(())
}

/// Copies the steps of a reply to a version of it that has another text. Steps that no longer stand as the model wrote
/// them lose their tokens, and so does the last one.
pub(crate) fn copy_edited(db: &Connection, from: MessageId, to: MessageId, text: &str) -> Result<(), Fault> {
    let mut steps = of_message(db, from)?;
    let texts: Vec<String> = steps.iter().map(|step| step.text.clone()).collect();
    let last = steps.len().saturating_sub(1);
    for (at, (step, text)) in steps.iter_mut().zip(fitted(&texts, text)).enumerate() {
        if at == last || step.text != text {
            step.ids = None;
            step.stats = None;
        }
        step.text = text;
    }
    steps.iter().try_for_each(|step| add(db, to, step))
}

/// Adds a step that has ended, with its calls: one that ran may or may not have happened, and nobody is asked.
pub(crate) fn add(db: &Connection, message: MessageId, step: &ReplyStep) -> Result<(), Fault> {
    let status = match step.status {
        MessageStatus::Streaming => MessageStatus::Interrupted,
        ended => ended,
    };
    let insert =
        "INSERT INTO step (message, ordinal, thinking, text, thinking_begun, text_begun, ids, tokenizer,
                                    stats, status)
                  VALUES (:message, :ordinal, :thinking, :text, :thinking <> '', :text <> '', :ids,
                          :tokenizer, :stats, :status)";
    let values = named_params! {
        ":message": message,
        ":ordinal": step.ordinal,
        ":thinking": step.thinking,
        ":text": step.text,
        ":ids": step.ids.as_ref().map(|ids| &ids.ids),
        ":tokenizer": step.ids.as_ref().map(|ids| &ids.tokenizer),
        ":stats": step.stats.as_ref().map(sql::to_json).transpose()?,
        ":status": rows::status_name(status),
    };
    db.prepare_cached(insert)?.execute(values)?;
    let now = now();
    step.calls.iter().try_for_each(|call| calls::add_ended(db, message, call, now))
}

/// About how many bytes the steps of a message hold.
pub(crate) fn bytes(db: &Connection, message: MessageId) -> rusqlite::Result<usize> {
    let sql = "SELECT ifnull((SELECT sum(octet_length(text) + octet_length(thinking) + ifnull(octet_length(ids), 0))
                              FROM step WHERE message = ?1), 0)
                    + ifnull((SELECT sum(octet_length(arguments_written) + ifnull(octet_length(result), 0)
                                         + ifnull(octet_length(result_for_model), 0))
                              FROM call WHERE message = ?1), 0)";
    db.prepare_cached(sql)?.query_row([message], |row| row.get(0))
}

/// The step of a message that is being written.
fn open(db: &Connection, message: MessageId) -> rusqlite::Result<Option<u32>> {
    let sql = "SELECT ordinal FROM step WHERE message = ?1 AND status = 'streaming'";
    first(db, sql, [message], |row| row.get(0))
}

/// Fails unless the message is a reply that is being written. It may be deleted: it goes on.
fn must_be_written(db: &Connection, message: MessageId) -> Result<(), Fault> {
    let sql = "SELECT 1 FROM message WHERE id = ?1 AND role = 'assistant' AND status = 'streaming'";
    Ok(first(db, sql, [message], |_| Ok(()))?.ok_or(ChatsError::UnknownMessage { id: message })?)
}

/// What a message has, its pieces included: text and thinking.
fn texts(db: &Connection, message: MessageId) -> Result<(String, String), Fault> {
    let sql = concat!("SELECT ", whole!("text"), ", ", whole!("thinking"), " FROM message WHERE id = ?1");
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(first(db, sql, [message], read)?.ok_or(ChatsError::UnknownMessage { id: message })?)
}

/// What a message has beyond the steps `before`: text and thinking.
fn rest(db: &Connection, message: MessageId, before: &[ReplyStep]) -> Result<(String, String), Fault> {
    let (text, thinking) = texts(db, message)?;
    let beyond = |all: &str, joined: String| {
        let rest = all.strip_prefix(&joined).unwrap_or(all);
        let rest = if joined.is_empty() { rest } else { rest.strip_prefix(BETWEEN_STEPS).unwrap_or(rest) };
        rest.to_owned()
    };
    Ok((
        beyond(&text, joined(before.iter().map(|step| &*step.text))),
        beyond(&thinking, joined(before.iter().map(|step| &*step.thinking))),
    ))
}

/// The texts of steps as the message has them.
fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(BETWEEN_STEPS)
}

/// Divides a text among steps that had these, so that it is theirs joined: those that it begins with keep theirs, and
/// the last one gets the rest.
fn fitted(before: &[String], text: &str) -> Vec<String> {
    let mut fitted = vec![String::new(); before.len()];
    let (mut rest, mut goes_on) = (text, true);
    for (at, old) in before.iter().enumerate() {
        if at + 1 == before.len() {
            fitted[at] = rest.to_owned();
        } else if goes_on && !old.is_empty() {
            let behind = rest.strip_prefix(old.as_str()).and_then(|behind| match behind {
                "" => Some(""),
                _ => behind.strip_prefix(BETWEEN_STEPS).filter(|behind| !behind.is_empty()),
            });
            match behind {
                Some(behind) => {
                    fitted[at].clone_from(old);
                    rest = behind;
                }
                None => goes_on = false,
            }
        }
    }
    fitted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_that_is_divided_among_steps_is_theirs_joined(
            before in prop::collection::vec("[a\n]{0,4}", 1..5),
            text in "[a\n]{0,12}",
        ) {
            let joined_before = joined(before.iter().map(String::as_str));
            for text in [&text, &joined_before] {
                let after = fitted(&before, text);
                prop_assert_eq!(&joined(after.iter().map(String::as_str)), text);
            }
        }
    }

    #[test]
    fn a_text_that_only_its_end_has_changed_of_leaves_the_steps_before() {
        let before = ["one".to_owned(), String::new(), "two".to_owned()];
        assert_eq!(fitted(&before, "one\n\nthree"), ["one", "", "three"]);
        assert_eq!(fitted(&before, "four"), ["", "", "four"]);
        assert_eq!(fitted(&before, "one"), ["one", "", ""]);
    }
}
