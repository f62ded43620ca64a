//! Gives other Macs the layers of a model that they are to compute.

use std::path::Path;
use std::time::{Duration, Instant};

use foretoken_peers::{Borrower, Gift, GiftFile, ModelId, Sha256};
use foretoken_protocol::{ErrorReport, Giving};
use serde::Deserialize;
use tokio::sync::oneshot;

use super::{Macs, MacsError, id_of};

/// How often the page is told how far it is.
const OFTEN: Duration = Duration::from_millis(250);

/// A line of what `layers` says.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Model { digest: Sha256 },
    File(GiftFile),
}

/// That layers are being given, until this is dropped.
struct Shown<'a>(&'a Macs);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.0.change(|standing| (standing.giving, standing.stop_giving) = (None, None));
    }
}

impl Macs {
    /// What other Macs know the model in a folder by, and the files of these of its layers; without any, just that.
    pub(super) async fn layers(
        &self,
        folder: &Path,
        of: Option<(u32, u32)>,
    ) -> Result<(ModelId, Vec<GiftFile>), ErrorReport> {
        let mut arguments = vec!["layers".into(), folder.as_os_str().to_owned()];
        arguments
            .extend(of.into_iter().flat_map(|(from, to)| ["--of".into(), format!("{from}..{to}").into()]));
        let (mut digest, mut files, mut odd) = (None, Vec::new(), None);
        let take = |line: &str| match serde_json::from_str(line) {
            Ok(Line::Model { digest: told }) => digest = Some(told),
            Ok(Line::File(file)) => files.push(file),
            Err(error) => odd = Some(error.to_string()),
        };
        self.tool.lines(arguments, take, std::future::pending()).await?;
        match (digest, odd) {
            (Some(digest), None) => Ok((ModelId { name: id_of(folder), digest }, files)),
            (_, odd) => Err(ErrorReport {
                code: "engine_not_understood".into(),
                message: format!(
                    "The engine does not say what layers there are: {}.",
                    odd.unwrap_or_default()
                ),
                hint: "Install Foretoken again.".into(),
            }),
        }
    }

    /// Gives each of the Macs what it has not got of its layers, and tells the page how far that is. `layers`: how many
    /// this Mac has, and then each of them.
    pub(super) async fn give(
        &self,
        folder: &Path,
        lenders: &[Borrower],
        layers: &[u32],
    ) -> Result<ModelId, ErrorReport> {
        let (stop, stopped) = oneshot::channel();
        self.lock().stop_giving = Some(stop);
        let _shown = Shown(self);
        let given = async {
            let mut model = None;
            let mut begin = layers.first().copied().unwrap_or(0);
            for (lender, count) in lenders.iter().zip(layers.iter().skip(1)) {
                let (id, files) = self.layers(folder, Some((begin, begin + count))).await?;
                begin += count;
                let gift = Gift { model: id, files };
                self.give_one(folder, lender, &gift).await?;
                model = Some(gift.model);
            }
            model.ok_or_else(|| MacsError::DoesNotFit.into())
        };
        tokio::select! {
            given = given => given,
            // Whoever could stop it has gone where that fails: then nobody is told either.
            _ = stopped => Err(MacsError::GivingStopped.into()),
        }
    }

    async fn give_one(&self, folder: &Path, lender: &Borrower, gift: &Gift) -> Result<(), ErrorReport> {
        let (path, mac) = (folder.to_string_lossy().into_owned(), lender.name());
        let (since, mut first, mut told) = (Instant::now(), None, None::<Instant>);
        let progress = |done_bytes: u64, all_bytes: u64| {
            let first = *first.get_or_insert(done_bytes);
            if first == all_bytes || told.is_some_and(|told| told.elapsed() < OFTEN && done_bytes < all_bytes)
            {
                return;
            }
            told = Some(Instant::now());
            let seconds = since.elapsed().as_secs_f64();
            let bytes_per_second =
                if done_bytes == first { 0.0 } else { (done_bytes - first) as f64 / seconds.max(1e-3) };
            let (path, mac) = (path.clone(), mac.clone());
            let giving = Giving { path, mac, done_bytes, all_bytes, bytes_per_second };
            self.change(|standing| standing.giving = Some(giving));
        };
        Ok(lender.give(gift, progress).await.map_err(|error| error.of(lender.name()))?)
    }

    /// Stops giving layers, if any are being given. The model is not loaded then; what has arrived is kept there.
    pub(crate) fn stop_giving(&self) {
        if let Some(stop) = self.lock().stop_giving.take() {
            let _ = stop.send(());
        }
    }
}
