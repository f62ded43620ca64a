/** Does one thing after the other. The shell may take up two commands in either order, so what changes the same is sent
 *  when what was sent before it is answered. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Does something once everything before it is done, whether that has failed or not. */
  run<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => {});
    return done;
  }

  /** Waits for everything that is in the queue now. */
  async settled(): Promise<void> {
    await this.#last;
  }
}

/** What changes chats. */
export const chatQueue = new SerialQueue();
/** What changes the settings of the app. */
export const settingsQueue = new SerialQueue();
