//! What is done with a call that a model has written, before anything runs: it is refused with a reason that the model
//! can mend, the person is asked, or it runs on what the person has allowed. Nothing in a result or in what a server
//! says of itself can make it run.

use foretoken_calls::{Misfit, TypedCall};
use serde_json::{Map, Value};

use crate::tool::{Claims, Effects};

/// Calls of one round that are looked at; the rest are refused.
pub const CALLS_A_ROUND: usize = 8;
/// Rounds of a reply before the person is asked whether it is to go on.
pub const ROUNDS: u32 = 8;
/// How often a reply may make the same call, with the same arguments.
pub const SAME_CALLS: usize = 3;

/// Why a call is not run, for the model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The reply ended in it.
    #[error("The call was cut off and not run. Write it again as a whole.")]
    Cut,
    /// The name is none of a tool, or the arguments are not what its schema says.
    #[error("The call was not run: {}.", listed(.0))]
    Misfits(Vec<Misfit>),
    /// There are too many in one round.
    #[error("The call was not run: of {came} calls in one answer the first {CALLS_A_ROUND} are.")]
    TooMany {
        /// How many there are.
        came: usize,
    },
    /// It was made again and again.
    #[error("The call was not run: the same call has been made {SAME_CALLS} times. Go on with what it gave.")]
    Again,
    /// The person has switched the tool off.
    #[error("The call was not run: the tool is switched off.")]
    SwitchedOff,
}

fn listed(misfits: &[Misfit]) -> String {
    misfits.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What the person has allowed of a tool, as it is now and as its server is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Nothing: each call is asked about.
    Nothing,
    /// This tool.
    Tool,
    /// Every tool of the server, which those that may destroy something are not part of.
    Server,
    /// No call of it.
    Never,
}

/// What a chat has read so far, which decides what may leave the machine unasked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Read {
    /// Something that may be the person's alone.
    pub private: bool,
    /// Something that strangers have written.
    pub untrusted: bool,
}

impl Read {
    /// After a call has been answered.
    #[must_use]
    pub fn and(self, effects: Effects) -> Self {
        Self {
            private: self.private || effects.reads_private,
            untrusted: self.untrusted || effects.reads_untrusted,
        }
    }
}

/// What is known of a call's tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// What it may do.
    pub effects: Effects,
    /// What its server claims.
    pub claims: Claims,
    /// What the person has allowed.
    pub allowed: Allowed,
}

/// What is done with a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is not run; the model reads why.
    Refuse(Refusal),
    /// The person is asked.
    Ask {
        /// Whether it sends something out of a chat that has read private and untrusted text: whoever wrote the latter
        /// may want the former.
        may_leak: bool,
    },
    /// It runs.
    Run,
}

/// Decides about the call at `place`, from 0, of `count` in a round. `before` are the calls that the reply has made
/// already, `known` is `None` for a name that no tool has.
pub fn verdict<'a>(
    call: &TypedCall,
    (place, count): (usize, usize),
    before: impl IntoIterator<Item = (&'a str, &'a Map<String, Value>)>,
    known: Option<Known>,
    read: Read,
) -> Verdict {
    if call.cut {
        return Verdict::Refuse(Refusal::Cut);
    }
    let Some(known) = known.filter(|_| call.misfits.is_empty()) else {
        return Verdict::Refuse(Refusal::Misfits(call.misfits.clone()));
    };
    if place >= CALLS_A_ROUND {
        return Verdict::Refuse(Refusal::TooMany { came: count });
    }
    let same =
        before.into_iter().filter(|(tool, with)| (*tool, *with) == (call.name.as_str(), &call.arguments));
    if same.count() >= SAME_CALLS {
        return Verdict::Refuse(Refusal::Again);
    }
    let Known { effects, claims, allowed } = known;
    let runs = match allowed {
        Allowed::Never => return Verdict::Refuse(Refusal::SwitchedOff),
        Allowed::Nothing => effects == Effects::NONE,
        Allowed::Tool => true,
        // What a server says is no reason not to ask, but one to ask. MCP's default is that a tool may destroy.
        Allowed::Server => claims.reads_only == Some(true) || claims.destroys == Some(false),
    };
    let may_leak = effects.sends_out && read.private && read.untrusted;
    if runs && !may_leak { Verdict::Run } else { Verdict::Ask { may_leak } }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn call(name: &str, arguments: Value) -> TypedCall {
        let arguments = arguments.as_object().cloned().unwrap();
        TypedCall { name: name.into(), arguments, cut: false, misfits: Vec::new() }
    }

    fn known(allowed: Allowed) -> Known {
        Known { effects: Effects::ALL, claims: Claims::default(), allowed }
    }

    fn first(call: &TypedCall, known: Known, read: Read) -> Verdict {
        verdict(call, (0, 1), [], Some(known), read)
    }

    #[test]
    fn a_tool_of_others_is_asked_about_until_it_is_allowed() {
        let read_file = call("files__read", json!({ "path": "a" }));
        let ask = Verdict::Ask { may_leak: false };
        assert_eq!(first(&read_file, known(Allowed::Nothing), Read::default()), ask);
        assert_eq!(first(&read_file, known(Allowed::Tool), Read::default()), Verdict::Run);
        let never = first(&read_file, known(Allowed::Never), Read::default());
        assert_eq!(never, Verdict::Refuse(Refusal::SwitchedOff));
    }

    #[test]
    fn who_trusts_a_server_is_still_asked_before_something_may_be_destroyed() {
        let write = call("files__write", json!({}));
        let of_server = |claims| Known { claims, ..known(Allowed::Server) };
        let (reads, adds, silent) = (
            Claims { reads_only: Some(true), ..Claims::default() },
            Claims { destroys: Some(false), ..Claims::default() },
            Claims::default(),
        );
        assert_eq!(first(&write, of_server(reads), Read::default()), Verdict::Run);
        assert_eq!(first(&write, of_server(adds), Read::default()), Verdict::Run);
        assert_eq!(first(&write, of_server(silent), Read::default()), Verdict::Ask { may_leak: false });
    }

    #[test]
    fn what_sends_out_is_asked_about_once_a_chat_has_read_what_is_private_and_what_is_strange() {
        let fetch = call("web__fetch", json!({ "url": "https://example.org" }));
        let both = Read::default().and(Effects::ALL);
        for allowed in [Allowed::Tool, Allowed::Nothing] {
            assert_eq!(first(&fetch, known(allowed), both), Verdict::Ask { may_leak: true });
        }
        for one in [Read { private: true, ..Read::default() }, Read { untrusted: true, ..Read::default() }] {
            assert_eq!(first(&fetch, known(Allowed::Tool), one), Verdict::Run);
        }
        let local = Known { effects: Effects { sends_out: false, ..Effects::ALL }, ..known(Allowed::Tool) };
        assert_eq!(first(&fetch, local, both), Verdict::Run);
    }

    #[test]
    fn what_only_computes_is_not_asked_about() {
        let sum = call("calculator", json!({ "expression": "1 + 1" }));
        let computes = Known { effects: Effects::NONE, ..known(Allowed::Nothing) };
        assert_eq!(first(&sum, computes, Read::default().and(Effects::ALL)), Verdict::Run);
    }

    #[test]
    fn a_call_that_is_cut_or_does_not_fit_is_never_run() {
        let whole = call("files__read", json!({}));
        let cut = TypedCall { cut: true, ..whole.clone() };
        assert_eq!(first(&cut, known(Allowed::Tool), Read::default()), Verdict::Refuse(Refusal::Cut));
        let misfit = Misfit::Missing { parameter: "path".into(), expected: "string".into() };
        let wrong = TypedCall { misfits: vec![misfit], ..whole.clone() };
        let Verdict::Refuse(refusal) = first(&wrong, known(Allowed::Tool), Read::default()) else {
            panic!("it does not run")
        };
        assert_eq!(refusal.to_string(), "The call was not run: path: expected string, came nothing.");
        assert!(matches!(verdict(&whole, (0, 1), [], None, Read::default()), Verdict::Refuse(_)));
    }

    #[test]
    fn the_fourth_same_call_is_refused_and_another_is_not() {
        let again = call("files__read", json!({ "path": "a" }));
        let before = [("files__read", &again.arguments); SAME_CALLS];
        let all = verdict(&again, (0, 1), before, Some(known(Allowed::Tool)), Read::default());
        assert_eq!(all, Verdict::Refuse(Refusal::Again));
        let fewer = before.into_iter().skip(1);
        assert_eq!(verdict(&again, (0, 1), fewer, Some(known(Allowed::Tool)), Read::default()), Verdict::Run);
        let other = call("files__read", json!({ "path": "b" }));
        assert_eq!(
            verdict(&other, (0, 1), before, Some(known(Allowed::Tool)), Read::default()),
            Verdict::Run
        );
    }

    proptest! {
        /// Whatever is claimed, a tool with effects runs only where the person has allowed it.
        #[test]
        fn nothing_with_effects_runs_on_claims_alone(
            claims in (any::<[Option<bool>; 4]>()),
            effects in any::<[bool; 4]>(),
            (private, untrusted) in any::<(bool, bool)>(),
            place in 0..20_usize,
        ) {
            let [reads_only, destroys, repeatable, reaches_out] = claims;
            let [reads_private, reads_untrusted, changes, sends_out] = effects;
            let effects = Effects { reads_private, reads_untrusted, changes, sends_out };
            let claims = Claims { reads_only, destroys, repeatable, reaches_out };
            let known = Known { effects, claims, allowed: Allowed::Nothing };
            let decided =
                verdict(&call("a", json!({})), (place, 20), [], Some(known), Read { private, untrusted });
            prop_assert_eq!(decided == Verdict::Run, effects == Effects::NONE && place < CALLS_A_ROUND);
        }
    }
}
