//! The messages of pairing: both commit, then both reveal. The borrowing Mac speaks first.

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};

use super::digits::Keys;
use super::error::PairingError;
use crate::ask::{Answer, Ask, answer_to, ask, random};
use crate::book::Role;
use crate::hex::Hex;
use crate::line::{self, LINE, LONGEST_ASK};
use crate::text;

/// What two Macs have after the messages: what the people compare, and what the other one calls itself.
#[derive(Debug)]
pub(crate) struct Agreed {
    pub(crate) digits: String,
    pub(crate) name: String,
}

/// What the lending Mac says to an ask to pair.
#[derive(Debug, Serialize, Deserialize)]
struct Committed {
    name: String,
    commitment: Hex<32>,
}

/// The random number that a commitment was to.
#[derive(Debug, Serialize, Deserialize)]
struct Reveal {
    nonce: Hex<32>,
}

/// The side of the borrowing Mac.
pub(crate) async fn propose(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    keys: &Keys,
    name: &str,
) -> Result<Agreed, PairingError> {
    let nonce = random()?;
    let pair = Ask::Pair { name: text::name(name), commitment: keys.commitment(Role::Borrower, &nonce) };
    let theirs: Committed = ask(stream, &pair, LINE).await?;
    line::write(stream, &Reveal { nonce }).await?;
    let revealed: Reveal = answer_to(stream, LINE).await?;
    if keys.commitment(Role::Lender, &revealed.nonce) != theirs.commitment {
        return Err(PairingError::Mismatch);
    }
    Ok(Agreed { digits: keys.digits(&nonce, &revealed.nonce), name: text::name(&theirs.name) })
}

/// The side of the lending Mac, after what the other one has asked with.
pub(crate) async fn answer(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    keys: &Keys,
    name: &str,
    (their_name, commitment): (&str, Hex<32>),
) -> Result<Agreed, PairingError> {
    let nonce = random()?;
    let own = Committed { name: text::name(name), commitment: keys.commitment(Role::Lender, &nonce) };
    line::write(stream, &Answer::Granted(own)).await?;
    let revealed: Reveal = line::read(stream, LONGEST_ASK, LINE).await?;
    // Before the own one is told.
    if keys.commitment(Role::Borrower, &revealed.nonce) != commitment {
        return Err(PairingError::Mismatch);
    }
    line::write(stream, &Answer::Granted(Reveal { nonce })).await?;
    Ok(Agreed { digits: keys.digits(&revealed.nonce, &nonce), name: text::name(their_name) })
}
