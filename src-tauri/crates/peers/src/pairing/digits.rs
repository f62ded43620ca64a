//! What both people compare, and how neither Mac can choose it: each commits to a random number before it sees the
//! other's.

use ring::digest::{Context, SHA256};

use crate::book::Role;
use crate::hex::Hex;
use crate::identity::PublicKey;

/// The keys of two Macs that pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    pub(crate) borrower: PublicKey,
    pub(crate) lender: PublicKey,
}

impl Keys {
    /// What the Mac in a role commits to. It names the role and the keys: nobody can use another's as its own.
    pub(super) fn commitment(&self, role: Role, nonce: &Hex<32>) -> Hex<32> {
        let label: &[u8] = match role {
            Role::Borrower => b"foretoken pairing: borrower",
            Role::Lender => b"foretoken pairing: lender",
        };
        sha256(&[label, self.borrower.bytes(), self.lender.bytes(), &nonce.0])
    }

    /// The six digits: those of the SHA-256 of both keys and both random numbers, the borrower's first.
    pub(super) fn digits(&self, borrower: &Hex<32>, lender: &Hex<32>) -> String {
        let hash = sha256(&[self.borrower.bytes(), self.lender.bytes(), &borrower.0, &lender.0]);
        let number = hash.0.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        format!("{:06}", number % 1_000_000)
    }
}

fn sha256(parts: &[&[u8]]) -> Hex<32> {
    let mut context = Context::new(&SHA256);
    parts.iter().for_each(|part| context.update(part));
    let mut bytes = [0; 32];
    bytes.iter_mut().zip(context.finish().as_ref()).for_each(|(byte, hashed)| *byte = *hashed);
    Hex(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    #[test]
    fn everything_counts() {
        let key = || Identity::generate().unwrap().key();
        let keys = Keys { borrower: key(), lender: key() };
        let swapped = Keys { borrower: keys.lender, lender: keys.borrower };
        let (one, two) = (Hex([1; 32]), Hex([2; 32]));
        let digits = keys.digits(&one, &two);
        assert!(digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_digit()));
        assert_eq!(digits, keys.digits(&one, &two));
        assert!(digits != keys.digits(&two, &one) || digits != swapped.digits(&one, &two));
        let commitment = keys.commitment(Role::Borrower, &one);
        for other in [
            keys.commitment(Role::Lender, &one),
            keys.commitment(Role::Borrower, &two),
            swapped.commitment(Role::Borrower, &one),
        ] {
            assert_ne!(commitment, other);
        }
    }
}
