import type { Dependencies } from './dependencies.ts';

/** Timeout of the end of the tasks, and then of the store (ms): a store may never respond. */
const shutdownStepMs = 5_000;

/** Resolves when the work is done, or logs a warning and resolves after a timeout. */
export async function awaitWithTimeout(
  { clock, log }: Pick<Dependencies, 'clock' | 'log'>,
  what: string,
  work: Promise<unknown>,
): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(shutdownStepMs, () => {
      log.warn(`${what} had not ended ${shutdownStepMs / 1000} s after the server was closed, and is left behind`, {});
      resolve();
    });
  });
  await Promise.race([work, late]).finally(() => cancel());
}
