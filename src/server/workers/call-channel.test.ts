import { expect, it } from 'vitest';
import { CallChannel } from './call-channel.ts';

interface Near {
  readonly double: (n: number) => number;
}
interface Far {
  readonly greet: (name: string) => Promise<string>;
  readonly fail: () => void;
  readonly never: () => Promise<void>;
}

/** Two ends that send each other copies. */
function channels() {
  const near: CallChannel<Near, Far> = new CallChannel<Near, Far>(
    { double: (n) => 2 * n },
    (message) => void far.take(structuredClone(message)),
  );
  const far: CallChannel<Far, Near> = new CallChannel<Far, Near>(
    {
      greet: async (name) => `hello ${name}, ${await far.call('double', 21)}`,
      fail: () => {
        throw new Error('it is full');
      },
      never: () => new Promise(() => undefined),
    },
    (message) => void near.take(structuredClone(message)),
  );
  return { near, far };
}

it('calls run in both directions, also while another one waits', async () => {
  const { near } = channels();
  const waiting = near.call('never');
  expect(await near.call('greet', 'you')).toBe('hello you, 42');
  near.end();
  await expect(waiting).rejects.toThrow('has ended');
});

it('an error of the other process rejects with its message', async () => {
  await expect(channels().near.call('fail')).rejects.toThrow('it is full');
});

it('after the end of the other process every call is rejected', async () => {
  const { near } = channels();
  near.end();
  await expect(near.call('greet', 'you')).rejects.toThrow('the other process of the server has ended');
});
