//! The errors of a conversion, each with a message, a stable code for programs and a hint for the person.

use std::io;
use std::path::{Path, PathBuf};

use foretoken_protocol::ErrorReport;

use super::plan::PlanError;
use crate::checkpoint::FloatType;

/// Why a conversion did not come to its end. The message says what is wrong; [`ConvertError::hint`] what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// A setting that no quantization has.
    #[error("{message}")]
    InvalidSetting {
        /// The setting, its value and what it can be.
        message: String,
    },
    /// The source is quantized.
    #[error("{} is quantized already ({format}).", path.display())]
    AlreadyQuantized {
        /// The source.
        path: PathBuf,
        /// How.
        format: String,
    },
    /// The source has an MTP head that cannot be used, and would lose it.
    #[error("The MTP head of {} cannot be used, and the result would be without one. {reason}", path.display())]
    HeadUnusable {
        /// The source.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is something where the result should go.
    #[error("{} exists already and is not empty.", path.display())]
    TargetExists {
        /// The place.
        path: PathBuf,
    },
    /// The path of the result cannot name a folder.
    #[error("{} cannot be the name of a new folder.", path.display())]
    BadTarget {
        /// What was given.
        path: PathBuf,
    },
    /// The work folder is not one of a conversion.
    #[error("{} is in the way: it holds no unfinished conversion.", path.display())]
    WorkFolderTaken {
        /// The work folder.
        path: PathBuf,
    },
    /// Another process converts to the same place.
    #[error("Another conversion to {} is running.", path.display())]
    Busy {
        /// The place of the result.
        path: PathBuf,
    },
    /// The result would not fit the disk.
    #[error(
        "The result needs {needed_mb} MB more in {}, but only {free_mb} MB are free there.",
        path.display()
    )]
    DiskFull {
        /// The folder that the result goes to.
        path: PathBuf,
        /// What is still to be written, in 10⁶ bytes.
        needed_mb: u64,
        /// What is free, in 10⁶ bytes.
        free_mb: u64,
    },
    /// A weight is too large for the type it should be stored in.
    #[error("The tensor {name} holds values that {float} cannot hold.")]
    Overflow {
        /// Its canonical name.
        name: String,
        /// The type.
        float: FloatType,
    },
    /// What was written is not what is read.
    #[error("{} does not read as it was written: {name}.", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The tensor.
        name: String,
    },
    /// The engine would load the result as another model than was meant.
    #[error("The result would not load as it was meant.")]
    Unfaithful,
    /// The plan of a mixed conversion cannot be followed.
    #[error(transparent)]
    Plan(PlanError),
    /// Whoever observed it ended it.
    #[error("The conversion was cancelled.")]
    Cancelled,
    /// The file system failed at the result.
    #[error("{} cannot be written: {source}.", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl ConvertError {
    /// For `map_err` of operations on a file of the result.
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Write { path: path.to_owned(), source }
    }

    /// Stable name of the kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidSetting { .. } => "invalid_setting",
            Self::AlreadyQuantized { .. } => "already_quantized",
            Self::HeadUnusable { .. } => "head_unusable",
            Self::TargetExists { .. } => "target_exists",
            Self::BadTarget { .. } => "bad_target",
            Self::WorkFolderTaken { .. } => "work_folder_taken",
            Self::Busy { .. } => "busy",
            Self::DiskFull { .. } => "disk_full",
            Self::Overflow { .. } => "overflow",
            Self::Damaged { .. } => "damaged",
            Self::Unfaithful => "unfaithful_conversion",
            Self::Plan(error) => error.code(),
            Self::Cancelled => "cancelled",
            Self::Write { source, .. } if is_full(source) => "disk_full",
            Self::Write { .. } => "io",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::InvalidSetting { .. } => "Correct the setting and try again.",
            Self::AlreadyQuantized { .. } => {
                "It loads as it is; for another quantization convert the unquantized source."
            }
            Self::HeadUnusable { .. } => "Repair the head, or take its files out of the folder.",
            Self::TargetExists { .. } | Self::BadTarget { .. } => "Choose a folder that does not exist yet.",
            Self::WorkFolderTaken { .. } => "Move it away, or choose another folder for the result.",
            Self::Busy { .. } => "Wait for it to end, or choose another folder for the result.",
            Self::DiskFull { .. } => "Free some space, or choose another disk; what is done is kept.",
            Self::Overflow { .. } => "Choose bfloat16 or float32 as the data type.",
            Self::Damaged { .. } => {
                "Start the conversion again, which repeats the damaged part; if that does not help, check the disk."
            }
            Self::Unfaithful => "Choose other settings, and report this as a fault of the program.",
            Self::Plan(error) => error.hint(),
            Self::Cancelled => "Start it again to go on from there.",
            Self::Write { source, .. } if is_full(source) => {
                "Free some space and start the conversion again; it goes on from there."
            }
            Self::Write { .. } => "Check that the folder can be written to, and start the conversion again.",
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

impl From<&ConvertError> for ErrorReport {
    fn from(error: &ConvertError) -> Self {
        Self { code: error.code().into(), message: error.to_string(), hint: error.hint().into() }
    }
}
