import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Dependencies } from '../dependencies.ts';
import { repeat } from '../repeat.ts';
import { systemReason } from '../start-error.ts';

/** How often the file is read again, besides when its folder changes (ms). */
const rereadMs = 60_000;
/** How long after a change of the folder the file is read: whoever writes it may not be done (ms). */
const writtenMs = 100;

export interface FollowOptions extends Pick<Dependencies, 'clock' | 'log'> {
  readonly path: string;
  /** What the file holds, for the log: `authentication configuration`. */
  readonly what: string;
  /** The text of the file. Rejects where it cannot be read. */
  readonly read: () => Promise<string>;
  /** The text in use. */
  readonly text: string;
  /** Uses another text. Rejects where it is not valid: the text before stays in use. */
  readonly use: (text: string, hash: string) => Promise<void>;
  /** Is told of every attempt to use another text. */
  readonly observe: (status: 'success' | 'failure') => void;
}

/** The hash by which logs and metrics tell texts of files apart. */
export const fileHash = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/**
 * Follows a configuration file: reads it when its folder changes, and every 60 seconds. A text that cannot be used is tried
 * again each time, and logged once. The result stops it.
 */
export function followFile({ path, what, read, text, use, observe, clock, log }: FollowOptions): () => Promise<void> {
  let currentText = text;
  let failure = '';
  let reading = Promise.resolve();
  const reload = async () => {
    try {
      const content = await read();
      if (content !== currentText) {
        const hash = fileHash(content);
        await use(content, hash);
        currentText = content;
        observe('success');
        log.info(`the ${what} was reloaded`, { hash });
      }
      failure = '';
    } catch (error) {
      observe('failure');
      const message = systemReason(error);
      if (message !== failure) log.error(`failed to reload the ${what}: the one before stays in use`, { error });
      failure = message;
    }
  };
  /** One after another: a text that takes long does not replace a later one. */
  const readAgain = () => {
    reading = reading.then(reload);
    return reading;
  };
  const stopRepeating = repeat(clock, rereadMs, readAgain);
  let cancel = () => {};
  const folder = watchFolder(dirname(path), () => {
    cancel();
    cancel = clock.after(writtenMs, () => void readAgain());
  });
  return async () => {
    folder?.close();
    cancel();
    await stopRepeating();
    await reading;
  };
}

/** Watches the folder, in which the file may be a symbolic link that is replaced. Undefined: it cannot be watched. */
function watchFolder(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(folder, { persistent: false }, onChange).on('error', () => {});
  } catch {
    return undefined;
  }
}
