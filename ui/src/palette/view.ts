/** What only the page knows of the palette and the list of keys. */
export interface PaletteView {
  /** Whether everything is offered by name. */
  palette: boolean;
  /** Whether the keys are listed. */
  shortcuts: boolean;
}

/** As the window opens. */
export const PALETTE_VIEW: PaletteView = {
  palette: false,
  shortcuts: false,
};
