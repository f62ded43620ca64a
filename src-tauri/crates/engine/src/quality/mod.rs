//! Conversions whose bits a text has chosen: what each group of matrices costs is measured on some texts, a plan spends
//! a budget of bytes where it saves most, and what has come of it is measured on texts that took no part in choosing.

mod aim;
mod error;
mod kept;
mod offer;
mod run;

pub use aim::{Aim, Closeness};
pub use error::QualityError;
pub use offer::{Offered, Offers};
pub use run::{Made, Progress, Request, Texts, convert, offers, plan};
