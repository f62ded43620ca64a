//! Conversions whose bits a text has chosen: what each group of matrices costs is measured on some texts, a plan spends
//! a budget of bytes where it saves most, and what has come of it is measured on texts that took no part in choosing.
//! So is any other quantized model beside its original.

mod aim;
mod comparison;
mod error;
mod heads;
mod kept;
mod offer;
mod outlook;
mod parts;
mod replies;
mod request;
mod run;

pub use aim::{Aim, Closeness};
pub use comparison::{Comparison, compare};
pub use error::QualityError;
pub use offer::{Offered, Offers};
pub use outlook::{Outlook, outlook};
pub use request::{Progress, Request, Texts};
pub use run::{Made, convert, offers, plan};
