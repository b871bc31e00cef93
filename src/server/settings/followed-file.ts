import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Dependencies } from '../dependencies.ts';
import { repeat } from '../repeat.ts';
import { systemReason } from '../start-error.ts';

/** Interval at which the file is read, in addition to changes of its folder (ms). */
const rereadMs = 60_000;
/** Delay between a change of the folder and the read, in which the writer may finish (ms). */
const writtenMs = 100;

export interface FollowOptions extends Pick<Dependencies, 'clock' | 'log'> {
  readonly path: string;
  /** Describes the content of the file in the log: `authentication configuration`. */
  readonly what: string;
  /** Reads the text of the file. Rejects when it cannot be read. */
  readonly read: () => Promise<string>;
  /** The current text. */
  readonly text: string;
  /** Uses a new text. Rejects when it is invalid: the previous text stays in use. */
  readonly use: (text: string, hash: string) => Promise<void>;
  /** Called after every attempt to use a new text. */
  readonly observe: (status: 'success' | 'failure') => void;
}

/** The hash by which logs and metrics tell texts of files apart. */
export const fileHash = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/**
 * Follows a configuration file: reads it when its folder changes, and every 60 seconds. An invalid text is retried each time
 * and logged once. Returns a function that stops it.
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
  /** Sequential, so that a slow reload does not replace a later one. */
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

/** Watches the folder, as the file may be a symbolic link that is replaced. Returns undefined when it cannot be watched. */
function watchFolder(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(folder, { persistent: false }, onChange).on('error', () => {});
  } catch {
    return undefined;
  }
}
