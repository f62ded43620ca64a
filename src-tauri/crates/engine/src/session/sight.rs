//! What a session sees with: reads the vision tower with the first picture, and names pictures for the prefix cache.

use std::collections::HashMap;
use std::sync::Arc;

use crate::checkpoint::{CheckpointError, Config, Layout};
use crate::decode::{HeadInput, PromptPicture};
use crate::error::EngineError;
use crate::model::{ImageSpan, LoadError, Placed, Qwen, Vision};
use crate::text::{TextError, TokenPicture};

/// What is known of pictures.
#[derive(Debug)]
pub(super) struct Sight {
    config: Config,
    layout: Layout,
    /// The numbers of the pictures so far, by digest, width and height.
    known: HashMap<([u8; 32], u32, u32), u32>,
    /// Why the tower's files cannot be used, once that is known: they are not read a second time.
    broken: Option<Arc<CheckpointError>>,
}

impl Sight {
    pub(super) fn new(config: Config, layout: Layout) -> Self {
        Self { config, layout, known: HashMap::new(), broken: None }
    }

    /// Makes a prompt's pictures ready for its row. The first ones have the model's tower read.
    pub(super) fn look_up(
        &mut self,
        model: &mut Qwen,
        pictures: Vec<TokenPicture>,
    ) -> Result<Vec<PromptPicture>, EngineError> {
        if !pictures.is_empty() {
            self.open(model)?;
        }
        Ok(pictures.into_iter().map(|picture| self.named(picture)).collect())
    }

    /// The vectors of a prompt's pictures.
    pub(super) fn look(
        &mut self,
        model: &mut Qwen,
        pictures: &[TokenPicture],
    ) -> Result<Vec<Placed>, EngineError> {
        if !pictures.is_empty() {
            self.open(model)?;
        }
        let Some(vision) = &model.vision else { return Ok(Vec::new()) };
        let placed = |picture: &TokenPicture| {
            let pixels = picture.pixels.read().map_err(TextError::from)?;
            Ok((span(picture), vision.tower.forward(&pixels)?))
        };
        pictures.iter().map(placed).collect()
    }

    fn open(&mut self, model: &mut Qwen) -> Result<(), EngineError> {
        if let Some(error) = &self.broken {
            return Err(EngineError::Tower(error.clone()));
        }
        let (None, Some(tower)) = (&model.vision, self.layout.vision.tower()) else { return Ok(()) };
        match Vision::load(&self.config, tower, self.layout.compute) {
            Ok(vision) => model.vision = Some(vision),
            // Memory, or the disk, may be there the next time.
            Err(error @ (LoadError::Mlx(_) | LoadError::Cancelled)) => return Err(error.into()),
            Err(LoadError::Checkpoint(error @ CheckpointError::Io { .. })) => return Err(error.into()),
            Err(LoadError::Checkpoint(error)) => {
                return Err(EngineError::Tower(self.broken.insert(Arc::new(error)).clone()));
            }
        }
        Ok(())
    }

    fn named(&mut self, picture: TokenPicture) -> PromptPicture {
        let (next, pixels) = (self.known.len(), &picture.pixels);
        // Behind all tokens of the vocabulary, so that no token is taken for a picture.
        let number = self.known.entry((pixels.digest, pixels.width, pixels.height)).or_insert(next as u32);
        let key = self.config.vocab_size as u32 + *number;
        PromptPicture { span: span(&picture), key, pixels: picture.pixels, head_input: HeadInput::Features }
    }
}

fn span(picture: &TokenPicture) -> ImageSpan {
    let [rows, columns] = picture.grid();
    ImageSpan { begin: picture.begin, rows, columns }
}
