import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { Clock } from '../../meta/index.ts';
import { pause } from './abortable-wait.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const immediate: Pick<Clock, 'after'> = {
  after: (_, task) => {
    const timer = setImmediate(task);
    return () => clearImmediate(timer);
  },
};

async function pausedSignal(): Promise<WeakRef<AbortSignal>> {
  const { signal } = new AbortController();
  await pause(immediate as Clock, 1, signal);
  return new WeakRef(signal);
}

it('A pause that has ended retains nothing: a leader pauses every two seconds', async () => {
  const signal = await pausedSignal();
  await expect
    .poll(() => {
      collectGarbage();
      return signal.deref() === undefined;
    })
    .toBe(true);
});
