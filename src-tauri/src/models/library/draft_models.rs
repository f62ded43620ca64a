//! Which draft model guesses ahead for which model, of those that are here and those there are to get.

use std::path::{Path, PathBuf};

use foretoken_models::Catalogue;
use foretoken_protocol::{DraftModelOffer, LocalState, ModelOrigin};

use super::ModelLibrary;
use super::facts::{DraftFacts, Facts, Found};
use super::local_models::{ModelFolder, built_in_draft};

/// How well a draft model suits a model, the least first. The engine judges when it loads them: a draft model that it
/// cannot use is left out, and a note of the model says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Suits {
    /// It reads layers that are there, though it says that it was made for another number of them.
    Width,
    /// It was made for a model of this size.
    Size,
    /// The catalogue says that it was made for this model, or for the one that this was converted from; or both came
    /// with the app.
    Listed,
}

/// A model, as far as it matters to draft models.
#[derive(Debug)]
struct Target<'a> {
    path: &'a Path,
    repo: Option<&'a str>,
    built_in: bool,
    facts: &'a Facts,
}

/// A draft model.
#[derive(Debug)]
struct Draft<'a> {
    path: &'a Path,
    repo: Option<&'a str>,
    built_in: bool,
    facts: &'a DraftFacts,
}

/// A model or its draft model is not there now, as when a disk is not connected.
#[derive(Debug)]
pub(crate) struct Offline;

/// Which draft models belong to which models.
#[derive(Debug, Default)]
pub(super) struct Pairs(Vec<Pair>);

#[derive(Debug)]
struct Pair {
    target: PathBuf,
    draft: PathBuf,
    weight_bytes: u64,
}

impl Pairs {
    /// Pairs each draft model with the models that it suits best of all that are here. What a conversion was made of
    /// counts as its repository.
    fn of(targets: &[Target<'_>], drafts: &[Draft<'_>], catalogue: &Catalogue) -> Self {
        let mut found: Vec<(Suits, Pair)> = Vec::new();
        for draft in drafts {
            let suited: Vec<_> = targets
                .iter()
                .filter_map(|target| Some((suits(target, draft, catalogue)?, target)))
                .collect();
            let best = suited.iter().map(|(suits, _)| *suits).max();
            let belongs = suited.into_iter().filter(|(suits, _)| Some(*suits) == best);
            found.extend(belongs.map(|(suits, target)| {
                let (target, path) = (target.path.to_owned(), draft.path.to_owned());
                (suits, Pair { target, draft: path, weight_bytes: draft.facts.weight_bytes })
            }));
        }
        found.sort_by_key(|(suits, _)| std::cmp::Reverse(*suits));
        Self(found.into_iter().map(|(_, pair)| pair).collect())
    }

    /// The draft model that a model is loaded with, and what its weights take in bytes.
    pub(super) fn used_by(&self, target: &Path) -> Option<(&Path, u64)> {
        let pair = self.0.iter().find(|pair| pair.target == target)?;
        Some((&pair.draft, pair.weight_bytes))
    }

    /// The models that a draft model belongs to.
    pub(super) fn targets_of(&self, draft: &Path) -> impl Iterator<Item = &Path> {
        self.0.iter().filter(move |pair| pair.draft == draft).map(|pair| pair.target.as_path())
    }
}

/// How well a draft model suits a model; `None` if it does not at all, or was made for another one.
fn suits(target: &Target<'_>, draft: &Draft<'_>, catalogue: &Catalogue) -> Option<Suits> {
    let (needs, has) = (&draft.facts.draft_for, target.facts);
    let fits = needs.hidden_size == has.hidden_size
        && needs.vocab_size == has.vocab_size
        && needs.layers_read.iter().all(|&layer| layer < has.layers);
    if !fits {
        return None;
    }
    if draft.built_in {
        return target.built_in.then_some(Suits::Listed);
    }
    let listed = draft.repo.and_then(|repo| catalogue.draft_model(repo));
    if let (Some(listed), Some(repo)) = (listed, target.repo) {
        let is_known = catalogue.entries.iter().any(|entry| entry.repo.as_str() == repo);
        match listed.is_for(repo) {
            true => return Some(Suits::Listed),
            false if is_known => return None,
            false => {}
        }
    }
    let as_deep = needs.layers.is_none_or(|layers| layers == has.layers);
    Some(if as_deep { Suits::Size } else { Suits::Width })
}

impl ModelLibrary {
    /// What belongs together of these folders, by what is known of them; also while a disk is not connected.
    /// `catalogue`: the newest list at hand.
    pub(super) fn pairs(&self, folders: &[ModelFolder], catalogue: &Catalogue) -> Pairs {
        let known: Vec<_> = folders
            .iter()
            .filter_map(|folder| Some((folder, self.inspector.known(&folder.path)?.ok()?)))
            .collect();
        let (mut targets, mut drafts) = (Vec::new(), Vec::new());
        for (folder, found) in &known {
            let (path, repo) = (folder.path.as_path(), folder.repo.as_deref());
            let built_in = folder.origin == ModelOrigin::BuiltIn;
            match found {
                Found::Model(facts) => targets.push(Target { path, repo, built_in, facts }),
                Found::DraftModel(facts) => drafts.push(Draft { path, repo, built_in, facts }),
            }
        }
        Pairs::of(&targets, &drafts, catalogue)
    }

    /// Whether a folder holds a draft model: the engine says so, or as long as it has not looked, the catalogue.
    pub(super) fn is_draft_model(&self, folder: &ModelFolder, catalogue: &Catalogue) -> bool {
        match self.inspector.known(&folder.path) {
            Some(Ok(found)) => matches!(found, Found::DraftModel(_)),
            None | Some(Err(_)) => {
                let is_listed = |repo: &str| catalogue.draft_model(repo).is_some();
                folder.is_built_in_draft() || folder.repo.as_deref().is_some_and(is_listed)
            }
        }
    }

    /// The folder of the draft model that the model in a folder is to be loaded with, by what is known now. An error
    /// while either is not to be had: what is loaded is not worth losing for that.
    pub(crate) fn draft_model_of(&self, model: &Path) -> Result<Option<String>, Offline> {
        if let Some(draft) = self.built_in_draft_of(model) {
            return Ok(Some(draft));
        }
        let folders = self.lock().local_models.clone();
        let ready = |path: &Path| {
            let is_ready = |folder: &ModelFolder| folder.path == path && folder.state == LocalState::Ready;
            if folders.iter().any(is_ready) { Ok(()) } else { Err(Offline) }
        };
        ready(model)?;
        let pairs = self.pairs(&folders, &Catalogue::load(self.catalogue.as_ref()));
        let Some((draft, _)) = pairs.used_by(model) else { return Ok(None) };
        ready(draft)?;
        Ok(Some(draft.to_string_lossy().into_owned()))
    }

    /// [`Self::draft_model_of`], after the engine has looked at whatever has changed: a model that was updated or
    /// converted again may need another draft model, or none.
    pub(crate) async fn current_draft_model_of(&self, model: &Path) -> Option<String> {
        if let Some(draft) = self.built_in_draft_of(model) {
            return Some(draft);
        }
        let folders = self.lock().local_models.clone();
        let is_draft = |folder: &&ModelFolder| {
            !folder.is_built_in_draft()
                && matches!(self.inspector.known(&folder.path), Some(Ok(Found::DraftModel(_))))
        };
        let drafts: Vec<_> = folders.iter().filter(is_draft).map(|folder| folder.path.clone()).collect();
        // Most people have got none, and their models need not wait for the engine's word.
        if drafts.is_empty() {
            return None;
        }
        for folder in drafts.iter().map(PathBuf::as_path).chain([model]) {
            // What cannot be inspected is paired with nothing.
            let _ = self.found(folder).await;
        }
        self.draft_model_of(model).unwrap_or(None)
    }

    /// The draft model that came with the app, for the model that did: they were made for each other, and neither has
    /// to be looked at first.
    fn built_in_draft_of(&self, model: &Path) -> Option<String> {
        let draft = (model == self.built_in).then(|| built_in_draft(&self.built_in)).flatten()?;
        Some(draft.to_string_lossy().into_owned())
    }
}

/// The draft model to get for the model of a repository.
pub(super) fn offer(catalogue: &Catalogue, repo: &str) -> Option<DraftModelOffer> {
    let draft = catalogue.draft_models_for(repo).next()?;
    Some(DraftModelOffer {
        repo: draft.repo.to_string(),
        name: draft.repo.name().to_owned(),
        download_bytes: draft.download_bytes,
    })
}

/// What people call the models that a draft model was made for: by the catalogue, or else by what it needs.
pub(super) fn made_for(
    catalogue: &Catalogue,
    repo: Option<&str>,
    facts: Option<&DraftFacts>,
) -> Option<String> {
    if let Some(target) = repo.and_then(|repo| catalogue.draft_model(repo)?.targets.first()) {
        return Some(target.name().to_owned());
    }
    let needs = &facts?.draft_for;
    let depth = match needs.layers {
        Some(layers) => format!("{layers} layers"),
        None => format!("at least {} layers", needs.layers_read.iter().max().map_or(1, |last| last + 1)),
    };
    Some(format!("a model with {depth} and hidden size {}", needs.hidden_size))
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::MtpState;

    use super::super::facts::TargetNeeds;
    use super::*;

    fn model(hidden_size: usize, layers: usize) -> Facts {
        Facts {
            parameters: 1,
            active_parameters: None,
            format: "bfloat16".into(),
            mtp: MtpState::Absent,
            seeing: None,
            hidden_size,
            vocab_size: 248_320,
            layers,
            weight_bytes: 2,
            needs: Vec::new(),
            needs_in_8_bits: None,
        }
    }

    fn draft(hidden_size: usize, layers: Option<usize>, last_read: usize) -> DraftFacts {
        let layers_read = vec![1, last_read];
        DraftFacts {
            architecture: "DFlashDraftModel".into(),
            parameters: 1,
            format: "bfloat16".into(),
            weight_bytes: 7,
            most_guesses: 15,
            draft_for: TargetNeeds { hidden_size, vocab_size: 248_320, layers, layers_read },
        }
    }

    /// The models that a draft model belongs to. Each: its repository, or none, and what it is.
    fn belongs(targets: &[(Option<&str>, Facts)], repo: Option<&str>, facts: &DraftFacts) -> Vec<usize> {
        let paths: Vec<_> = (0..targets.len()).map(|number| PathBuf::from(number.to_string())).collect();
        let targets: Vec<_> = targets
            .iter()
            .zip(&paths)
            .map(|((repo, facts), path)| Target { path, repo: *repo, built_in: false, facts })
            .collect();
        let path = Path::new("draft");
        let draft = Draft { path, repo, built_in: false, facts };
        let pairs = Pairs::of(&targets, &[draft], &Catalogue::embedded());
        let places = pairs.targets_of(path).map(|target| target.to_str().unwrap().parse().unwrap());
        let mut places: Vec<usize> = places.collect();
        places.sort_unstable();
        for (number, path) in paths.iter().enumerate() {
            assert_eq!(pairs.used_by(path).is_some(), places.contains(&number));
        }
        places
    }

    const OLD: Option<&str> = Some("Qwen/Qwen3.5-27B");
    const NEW: Option<&str> = Some("Qwen/Qwen3.6-27B");
    const FOR_NEW: Option<&str> = Some("z-lab/Qwen3.6-27B-DFlash");

    #[test]
    fn a_published_draft_model_belongs_to_the_model_that_it_was_made_for_and_its_conversions() {
        let alike = || model(5120, 64);
        let facts = draft(5120, Some(64), 61);
        assert_eq!(belongs(&[(OLD, alike()), (NEW, alike()), (NEW, alike())], FOR_NEW, &facts), [1, 2]);
        assert_eq!(belongs(&[(OLD, alike())], FOR_NEW, &facts), [0; 0], "of one size, and another model");
        let listed = Some("kradih/Qwen3.6-27B-MTP-4bit-MLX");
        assert_eq!(belongs(&[(listed, alike())], FOR_NEW, &facts), [0], "a conversion by others");
    }

    #[test]
    fn where_nobody_tells_a_draft_model_belongs_to_what_it_fits_best() {
        let alike = || model(5120, 64);
        let facts = draft(5120, Some(64), 61);
        assert_eq!(belongs(&[(None, alike()), (OLD, alike())], None, &facts), [0, 1], "found in a folder");
        assert_eq!(belongs(&[(None, alike())], FOR_NEW, &facts), [0], "the model was");
        assert_eq!(belongs(&[(Some("me/mine"), alike())], FOR_NEW, &facts), [0], "the model is unheard of");
        assert_eq!(belongs(&[(None, alike()), (NEW, alike())], FOR_NEW, &facts), [1], "that one is certain");
        // One published config counts a layer too many.
        let miscounted = draft(5120, Some(65), 61);
        assert_eq!(belongs(&[(None, alike()), (None, model(5120, 65))], None, &miscounted), [1]);
        assert_eq!(belongs(&[(None, alike())], None, &miscounted), [0]);
        assert_eq!(belongs(&[(None, alike())], None, &draft(5120, None, 63)), [0]);
    }

    #[test]
    fn a_draft_model_belongs_to_nothing_of_another_size_whatever_it_is_called() {
        let fit = draft(5120, Some(64), 61);
        let other_words = Facts { vocab_size: 151_936, ..model(5120, 64) };
        for target in [model(4096, 64), model(5120, 61), other_words] {
            assert_eq!(belongs(&[(NEW, target)], FOR_NEW, &fit), [0; 0]);
        }
    }

    #[test]
    fn of_several_draft_models_the_one_that_is_listed_is_used() {
        let facts = [draft(5120, Some(64), 61), draft(5120, Some(64), 61)];
        let target = model(5120, 64);
        let target = Target { path: Path::new("target"), repo: NEW, built_in: false, facts: &target };
        let drafts = [("mine", None), ("published", FOR_NEW)];
        let drafts: Vec<_> = drafts
            .iter()
            .zip(&facts)
            .map(|((path, repo), facts)| Draft { path: Path::new(path), repo: *repo, built_in: false, facts })
            .collect();
        let pairs = Pairs::of(&[target], &drafts, &Catalogue::embedded());
        assert_eq!(pairs.used_by(Path::new("target")), Some((Path::new("published"), 7)));
        assert_eq!(pairs.targets_of(Path::new("mine")).count(), 1);
    }

    #[test]
    fn what_came_with_the_app_belongs_together_and_to_nothing_else() {
        let (facts, of_draft) = (model(192, 8), draft(192, Some(8), 5));
        let target = |path, built_in| Target { path: Path::new(path), repo: None, built_in, facts: &facts };
        let draft = |path, built_in| Draft { path: Path::new(path), repo: None, built_in, facts: &of_draft };
        let (targets, drafts) =
            ([target("copy", false), target("ours", true)], [draft("theirs", false), draft("dflash", true)]);
        let pairs = Pairs::of(&targets, &drafts, &Catalogue::embedded());
        assert_eq!(pairs.used_by(Path::new("ours")), Some((Path::new("dflash"), 7)));
        assert_eq!(pairs.used_by(Path::new("copy")), Some((Path::new("theirs"), 7)));
        assert_eq!(pairs.targets_of(Path::new("dflash")).count(), 1);
    }

    #[test]
    fn what_a_draft_model_was_made_for_is_told_by_name_or_by_size() {
        let catalogue = Catalogue::embedded();
        let facts = draft(5120, None, 61);
        let told = |repo| made_for(&catalogue, repo, Some(&facts)).unwrap();
        assert_eq!(told(FOR_NEW), "Qwen3.6-27B");
        assert_eq!(told(None), "a model with at least 62 layers and hidden size 5120");
        assert_eq!(made_for(&catalogue, None, None), None);
        assert_eq!(offer(&catalogue, NEW.unwrap()).unwrap().repo, FOR_NEW.unwrap());
        assert_eq!(offer(&catalogue, "me/mine"), None);
    }
}
