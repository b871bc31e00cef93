import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { ByteString } from '../../meta/index.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { KeySpace } from './key-space.ts';
import type { Members } from './members.ts';
import type { WatchRequest, WatchResponse } from './rpc.ts';
import { Watches } from './watches.ts';

// The watches of a store over members that answer as a test says.

const nothing = { created: false, canceled: false, compactRevision: 0, cancelReason: '', events: [], fragment: false };

/** One member at a revision that the test sets; reads of the revision are answered when they are released. */
class ScriptedMembers {
  revisionNow: number;
  readonly streams: { readonly startRevision: number; readonly responses: PassThrough }[] = [];
  #waiting: (() => void)[] = [];
  isHeld = false;

  constructor(revision: number) {
    this.revisionNow = revision;
  }

  async revision(): Promise<number> {
    if (this.isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.revisionNow;
  }

  release(): void {
    this.isHeld = false;
    for (const go of this.#waiting.splice(0)) go();
  }

  watch() {
    const responses = new PassThrough({ objectMode: true });
    const write = ({ createRequest }: { createRequest?: { startRevision: number } } & Partial<WatchRequest>) => {
      if (createRequest === undefined) return;
      this.streams.push({ startRevision: createRequest.startRevision, responses });
      // Progress that was requested is told by the tests.
      this.send(responses, { created: true });
    };
    const call = Object.assign(responses, { write, cancel: () => responses.destroy() });
    return { member: { endpoint: '', suspect: false }, call };
  }

  suspect(): void {}

  send(responses: PassThrough, response: Partial<WatchResponse>): void {
    responses.push({ header: { revision: this.revisionNow }, ...nothing, ...response });
  }

  /** Tells of the changes of a key, by the revisions of them, to a stream that begins before. */
  change(stream: number, key: string, ...revisions: number[]): void {
    const { responses, startRevision } = this.streams[stream] as (typeof this.streams)[number];
    const events = revisions
      .filter((revision) => revision >= startRevision)
      .map((modRevision) => {
        const kv = { key: Buffer.from(`/registry${key}`), modRevision, version: 1, value: Buffer.from('v') };
        return { type: 0 as const, kv, prevKv: null };
      });
    this.send(responses, { events });
  }
}

it('tell a watch that begins while they go on after a compaction what was changed in the meantime', async () => {
  const members = new ScriptedMembers(10);
  const clock = drivenClock();
  const watches = new Watches(members as unknown as Members, new KeySpace('/registry' as ByteString), clock, 10);
  await expect.poll(() => members.streams.length).toBe(1);
  // The position of the stream is compacted, and it goes on at the latest revision, once that is known.
  members.isHeld = true;
  members.revisionNow = 20;
  members.send((members.streams[0] as (typeof members.streams)[0]).responses, { canceled: true, compactRevision: 15 });
  const failed: string[] = [];
  watches.watch('/pods/', 10, { batch: () => {}, error: ({ code }) => failed.push(code) });
  await expect.poll(() => failed).toEqual(['compacted']);
  // Its owner has listed at 20, and watches from there.
  const told: number[] = [];
  watches.watch('/pods/', 20, {
    batch: (revision, changes) => changes.length > 0 && told.push(revision),
    error: () => {},
  });
  members.revisionNow = 25;
  members.release();
  await expect.poll(() => members.streams.length).toBeGreaterThan(1);
  for (let i = 0; i < 20 && !told.includes(23); i++) {
    for (let stream = 1; stream < members.streams.length; stream++) members.change(stream, '/pods/a', 22, 23);
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(told).toEqual([22, 23]);
  watches.close();
});
