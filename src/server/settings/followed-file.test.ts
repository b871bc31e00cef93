import { expect, it } from 'vitest';
import { VirtualClock } from '../../meta/index.ts';
import { followFile } from './followed-file.ts';

function follow() {
  const clock = new VirtualClock();
  const seen: string[] = [];
  const file = { text: 'one', unreadable: false };
  const stop = followFile({
    clock,
    path: '/nowhere/file',
    what: 'policy',
    text: 'one',
    log: {
      debug: undefined,
      warn: () => {},
      info: (text) => void seen.push(text),
      error: (text, { error }) => void seen.push(`${text}: ${(error as Error).message}`),
    },
    read: async () => {
      if (file.unreadable) throw new Error('is not readable');
      return file.text;
    },
    use: async (text) => {
      if (text.startsWith('bad')) throw new Error(`${text} is not valid`);
      seen.push(`uses ${text}`);
    },
    observe: (status) => void seen.push(status),
  });
  return { clock, seen, file, stop };
}
/** The changes within a minute. */
async function minute({ clock, seen }: ReturnType<typeof follow>): Promise<string[]> {
  await clock.advance(60_000, async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve();
  });
  return seen.splice(0);
}

it('uses the text of a file when it changes', async () => {
  const following = follow();
  expect(await minute(following)).toEqual([]);
  following.file.text = 'two';
  expect(await minute(following)).toEqual(['uses two', 'success', 'the policy was reloaded']);
  expect(await minute(following)).toEqual([]);
  await following.stop();
});

it('keeps the text in use while the file is bad, tries again, and logs each problem once', async () => {
  const following = follow();
  const failed = 'failed to reload the policy: the one before stays in use';
  following.file.text = 'bad text';
  expect(await minute(following)).toEqual(['failure', `${failed}: bad text is not valid`]);
  expect(await minute(following)).toEqual(['failure']);
  following.file.unreadable = true;
  expect(await minute(following)).toEqual(['failure', `${failed}: is not readable`]);
  Object.assign(following.file, { text: 'one', unreadable: false });
  expect(await minute(following)).toEqual([]);
  following.file.text = 'three';
  expect(await minute(following)).toEqual(['uses three', 'success', 'the policy was reloaded']);
  await following.stop();
});

it('reads no more once it is stopped', async () => {
  const following = follow();
  await following.stop();
  following.file.text = 'two';
  expect(await minute(following)).toEqual([]);
});
