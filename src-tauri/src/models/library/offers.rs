//! What models can be converted to, by what their parts were measured to cost: kept in the library, with the
//! measurements, so that nothing is measured twice.

use std::path::{Path, PathBuf};

use foretoken_models::Library;
use foretoken_protocol::{ErrorReport, KeptOffer, ModelOrigin, OfferedSize, QualityOffer};
use serde::{Deserialize, Serialize};

use super::{ModelLibrary, folder_name};
use crate::blocking::blocking;
use crate::json_file;

/// The file that keeps an offer.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    of: Measured,
    /// The file of the person's whose text was read; `None` for the texts of the program.
    text: Option<PathBuf>,
    offer: QualityOffer,
}

/// What was measured: of another model in its place the offer says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Measured {
    /// The model's folder; `None` for one of the library, which may move with it.
    folder: Option<PathBuf>,
    revision: Option<String>,
    weight_bytes: u64,
}

/// Where what was measured of a model is kept.
#[derive(Debug)]
pub(super) struct Place {
    /// The engine's measurements.
    pub(super) measured: PathBuf,
    /// How close it is to its original.
    pub(super) evidence: PathBuf,
    /// The offer that was made by them.
    offer: PathBuf,
}

impl ModelLibrary {
    /// What a model can be converted to, if that was measured of it.
    pub(crate) async fn offer(&self, path: &Path) -> Result<Option<KeptOffer>, ErrorReport> {
        let told = |text: PathBuf| text.to_string_lossy().into_owned();
        let kept = self.kept_offer(path).await?;
        Ok(kept.map(|(text, offer)| KeptOffer { text: text.map(told), offer }))
    }

    /// One of the sizes that were offered for a model.
    pub(super) async fn offered(&self, path: &Path, bytes: u64) -> Result<OfferedSize, ErrorReport> {
        let kept = self.kept_offer(path).await?;
        let points = kept.map_or_else(Vec::new, |(_, offer)| offer.points);
        points.into_iter().find(|point| point.bytes == bytes).ok_or_else(not_offered)
    }

    /// The file whose text a model was measured on, where that is one of the person's.
    pub(super) async fn measured_text(&self, path: &Path) -> Result<Option<PathBuf>, ErrorReport> {
        Ok(self.kept_offer(path).await?.and_then(|(text, _)| text))
    }

    /// Where what is measured of a model is kept. Its folder is there.
    pub(super) fn place_of(&self, path: &Path) -> Result<Place, ErrorReport> {
        Ok(place(&self.library()?, path)?)
    }

    /// Keeps what a model can be converted to.
    pub(super) async fn keep_offer(
        &self,
        path: &Path,
        text: Option<PathBuf>,
        offer: QualityOffer,
    ) -> Result<(), ErrorReport> {
        let place = self.place_of(path)?;
        let kept = Kept { of: self.measured(path).await?, text, offer };
        let written = {
            let target = place.offer.clone();
            blocking(move || json_file::write(&target, &kept)).await
        };
        written.map_err(|error| not_kept(&place.offer, &error))
    }

    /// Removes what an unfinished measurement of a model has left, unless an offer was made by it.
    pub(super) async fn forget_measured(&self, path: &Path) -> Result<(), ErrorReport> {
        let place = self.place_of(path)?;
        blocking(move || match place.offer.exists() {
            true => Ok(()),
            false => match std::fs::remove_file(&place.measured) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(not_kept(&place.measured, &error))
                }
                _ => Ok(()),
            },
        })
        .await
    }

    /// Removes what was offered by another text, of which nothing will be left once the model is measured on this one.
    pub(super) async fn forget_other_offer(
        &self,
        path: &Path,
        text: Option<&Path>,
    ) -> Result<(), ErrorReport> {
        let kept = self.kept_offer(path).await?;
        if kept.is_none_or(|(kept, _)| kept.as_deref() == text) {
            return Ok(());
        }
        let place = self.place_of(path)?;
        blocking(move || std::fs::remove_file(&place.offer).map_err(|error| not_kept(&place.offer, &error)))
            .await
    }

    async fn kept_offer(&self, path: &Path) -> Result<Option<(Option<PathBuf>, QualityOffer)>, ErrorReport> {
        let of = self.measured(path).await?;
        let place = self.place_of(path)?;
        let kept: Option<Kept> = blocking(move || json_file::read(&place.offer)).await;
        Ok(kept.filter(|kept| kept.of == of).map(|kept| (kept.text, kept.offer)))
    }

    async fn measured(&self, path: &Path) -> Result<Measured, ErrorReport> {
        let model = self.model(path)?;
        let weight_bytes = self.found(path).await?.model()?.weight_bytes;
        let folder = (model.origin != ModelOrigin::Library).then_some(model.path);
        Ok(Measured { folder, revision: model.revision, weight_bytes })
    }
}

pub(super) fn place(library: &Library, model: &Path) -> Result<Place, foretoken_models::LibraryError> {
    let name = folder_name(model);
    let is_own = model.parent() == Some(library.root());
    let name = if is_own { name } else { format!("elsewhere--{name}") };
    let folder = library.measured_folder()?;
    Ok(Place {
        measured: folder.join(format!("{name}.measured")),
        evidence: folder.join(format!("{name}.evidence.json")),
        offer: folder.join(format!("{name}.offer.json")),
    })
}

fn not_offered() -> ErrorReport {
    ErrorReport {
        code: "not_offered".into(),
        message: "The model has changed since it was measured, or was not measured yet.".into(),
        hint: "Measure it, then choose a size.".into(),
    }
}

pub(super) fn not_kept(path: &Path, error: &std::io::Error) -> ErrorReport {
    ErrorReport {
        code: "not_written".into(),
        message: format!("What was measured cannot be kept in {}: {error}.", path.display()),
        hint: "Check that the library's disk is not full, and try again.".into(),
    }
}
