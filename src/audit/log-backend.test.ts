import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ByteString, JsonObject } from '../meta/index.ts';
import { jsonLine } from './event.ts';
import { createAuditLog, type LogBackendOptions, openLogBackend } from './log-backend.ts';
import type { RotationOptions } from './rotating-file.ts';
import { backendFixture, eventOf } from './testing/event.ts';

const batch = { mode: 'batch', bufferSize: 1000, batchSize: 1000, waitMs: 0, throttle: undefined } as const;
const options = {
  format: 'json',
  batch,
  truncate: undefined,
} as const;
const rotation = { maxSize: 1_000_000, maxBackups: 0, maxAge: 0, compress: false };

let folder: string;
let path: string;
let fixture: ReturnType<typeof backendFixture>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-'));
  path = join(folder, 'logs', 'audit.log');
  fixture = backendFixture();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (more: Partial<LogBackendOptions> & Partial<RotationOptions> = {}) => {
  const log = createAuditLog(path, { ...rotation, ...more }, fixture);
  return openLogBackend({ ...options, log, ...more }, fixture);
};
const linesOf = (text: string) => text.split('\n').slice(0, -1);
const idsOf = (text: string) => linesOf(text).map((line) => (JSON.parse(line) as JsonObject)['auditID']);
const backups = () => readdirSync(join(folder, 'logs')).filter((name) => name !== 'audit.log');
/** Lets file operations in progress end. */
const written = (ids: readonly string[]) => expect.poll(() => idsOf(readFileSync(path, 'utf8'))).toEqual(ids);

describe('the log backend', () => {
  it('writes one line of JSON for each event, to a file that only its owner can read', async () => {
    const backend = await open();
    void backend.write(eventOf('a', { userAgent: 'ü\n"', requestObject: '{"a":"\u00c3\u00bc"}' as ByteString }));
    void backend.write(eventOf('b'));
    await backend.close(1000);
    const [first = '', ...rest] = linesOf(readFileSync(path, 'utf8'));
    expect(JSON.parse(first)).toEqual({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'a',
      stage: 'ResponseComplete',
      requestURI: '/api/v1/pods',
      verb: 'list',
      user: { username: 'jane' },
      userAgent: 'ü\n"',
      requestObject: { a: 'ü' },
      requestReceivedTimestamp: '2023-11-14T22:13:20.000000Z',
      stageTimestamp: '2023-11-14T22:13:20.001000Z',
    });
    expect(rest).toHaveLength(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('writes one line of text in the format legacy', async () => {
    const backend = await open({ format: 'legacy' });
    void backend.write(eventOf('a', { user: { username: 'jane', groups: ['g', 'h"'] }, sourceIPs: ['10.0.0.1'] }));
    await backend.close(1000);
    expect(readFileSync(path, 'utf8')).toBe(
      '2023-11-14T22:13:20.000Z AUDIT: id="a" stage="ResponseComplete" ip="10.0.0.1" method="list" user="jane" ' +
        'groups="\\"g\\",\\"h\\\\\\"\\"" as="<self>" asgroups="<lookup>" user-agent="" namespace="<none>" ' +
        'uri="/api/v1/pods" response="<deferred>"\n',
    );
  });

  it('appends to the file that is there', async () => {
    mkdirSync(join(folder, 'logs'));
    writeFileSync(path, '{"auditID":"old"}\n');
    const backend = await open();
    void backend.write(eventOf('new'));
    await backend.close(1000);
    expect(idsOf(readFileSync(path, 'utf8'))).toEqual(['old', 'new']);
  });

  it('begins a new line behind a part of one that an earlier process left', async () => {
    mkdirSync(join(folder, 'logs'));
    writeFileSync(path, '{"auditID":"old"}\n{"kind":"Ev');
    const backend = await open();
    void backend.write(eventOf('new'));
    await backend.close(1000);
    const [old, part, line, ...rest] = readFileSync(path, 'utf8').split('\n');
    expect([old, part, idsOf(`${line}\n`), rest]).toEqual(['{"auditID":"old"}', '{"kind":"Ev', ['new'], ['']]);
  });

  it('cannot be opened where no file can be', async () => {
    writeFileSync(join(folder, 'logs'), '');
    await expect(open()).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it('leaves out the objects of an event that is too large, then the event', async () => {
    const truncate = { maxEventSize: 600, maxBatchSize: 10_000 };
    const backend = await open({ truncate });
    void backend.write(eventOf('fits', { requestObject: '{}' as ByteString }));
    void backend.write(
      eventOf('cut', { requestObject: `"${'x'.repeat(600)}"` as ByteString, annotations: { a: 'b' } }),
    );
    void backend.write(eventOf('lost', { requestURI: `/${'x'.repeat(600)}` }));
    await backend.close(1000);
    const events = linesOf(readFileSync(path, 'utf8')).map((line) => JSON.parse(line) as JsonObject);
    expect(events.map(({ auditID, requestObject, annotations }) => [auditID, requestObject, annotations])).toEqual([
      ['fits', {}, undefined],
      ['cut', undefined, { a: 'b', 'audit.k8s.io/truncated': 'true' }],
    ]);
    expect([...fixture.counts.errors]).toEqual([['truncate', 1]]);
  });

  it('drops events when its buffer is full, and says so', async () => {
    const backend = await open({ batch: { ...batch, bufferSize: 2, batchSize: 2 } });
    // The first event is being written while the others wait.
    for (const id of ['a', 'b', 'c', 'd', 'e']) void backend.write(eventOf(id));
    await backend.close(1000);
    expect(idsOf(readFileSync(path, 'utf8'))).toEqual(['a', 'b', 'c']);
    expect([...fixture.counts.errors]).toEqual([['buffered', 2]]);
    expect(fixture.logged).toMatchObject([
      { text: 'audit events were lost', fields: { plugin: 'buffered', events: 1 } },
    ]);
    fixture.clock.advance(10_000);
    void backend.write(eventOf('late'));
    expect(fixture.logged[1]).toMatchObject({ fields: { plugin: 'buffered', events: 2 } });
  });

  it('has nothing to wait for in the mode batch', async () => {
    const backend = await open();
    expect(backend.write(eventOf('a'))).toBeUndefined();
    await backend.close(1000);
  });

  it.each(['blocking', 'blocking-strict'] as const)('has written an event when %s has waited', async (mode) => {
    const throttle = { qps: 1, burst: 1 };
    const backend = await open({ batch: { ...batch, mode, waitMs: 30_000, throttle } });
    for (const ids of [['a'], ['a', 'b']]) {
      expect(await backend.write(eventOf(ids.at(-1) ?? ''))).toBe(true);
      expect(idsOf(readFileSync(path, 'utf8'))).toEqual(ids);
    }
    await backend.close(1000);
  });

  it.each([
    ['blocking', true],
    ['blocking-strict', false],
  ] as const)('tells requests of lost events in the mode %s: %s', async (mode, expected) => {
    const truncate = { maxEventSize: 600, maxBatchSize: 10_000 };
    const backend = await open({ batch: { ...batch, mode, bufferSize: 1 }, truncate });
    const tooLarge = backend.write(eventOf('large', { requestURI: `/${'x'.repeat(600)}` }));
    const [, , beyond] = ['a', 'b', 'c'].map((id) => backend.write(eventOf(id)));
    expect([await tooLarge, await beyond]).toEqual([expected, expected]);
    await backend.close(1000);
    expect(await backend.write(eventOf('late'))).toBe(expected);
    expect([...fixture.counts.errors]).toEqual([
      ['truncate', 1],
      ['buffered', 2],
    ]);
  });

  it('counts and logs what a failing file loses, and goes on when it can', async () => {
    const backend = await open({ maxSize: 300 });
    void backend.write(eventOf('a'));
    await written(['a']);
    // The file cannot be rotated into a folder that is gone.
    rmSync(join(folder, 'logs'), { recursive: true });
    writeFileSync(join(folder, 'logs'), '');
    void backend.write(eventOf('b'));
    await expect.poll(() => [...fixture.counts.errors]).toEqual([['log', 1]]);
    expect(fixture.logged).toMatchObject([{ text: 'audit events were lost', fields: { plugin: 'log', events: 1 } }]);
    rmSync(join(folder, 'logs'));
    void backend.write(eventOf('c'));
    await backend.close(1000);
    expect(idsOf(readFileSync(path, 'utf8'))).toEqual(['c']);
  });

  it.skipIf(!existsSync('/dev/full'))(
    'counts what a full disk loses, and begins a new line behind a part of one',
    async () => {
      mkdirSync(join(folder, 'logs'));
      symlinkSync('/dev/full', path);
      const backend = await open();
      void backend.write(eventOf('a'));
      await expect.poll(() => [...fixture.counts.errors]).toEqual([['log', 1]]);
      expect(fixture.logged).toMatchObject([{ fields: { plugin: 'log', error: { code: 'ENOSPC' } } }]);
      rmSync(path);
      writeFileSync(path, '{"kind":"Ev');
      void backend.write(eventOf('b'));
      await backend.close(1000);
      const [part, line, ...rest] = readFileSync(path, 'utf8').split('\n');
      expect([part, idsOf(`${line}\n`), rest]).toEqual(['{"kind":"Ev', ['b'], ['']]);
    },
  );
});

describe('rotation', () => {
  /** The length of the line of an event whose Audit-ID has one letter. */
  const line = jsonLine(eventOf('a'), backendFixture().names).length + 1;

  it('begins a new file before a line would exceed the size, with the time in the name of the old one', async () => {
    const backend = await open({ maxSize: 2 * line });
    for (const id of ['a', 'b', 'c', 'd', 'e']) void backend.write(eventOf(id));
    await backend.close(1000);
    const names = ['audit-2023-11-14T22-13-20.000.log', 'audit-2023-11-14T22-13-20.001.log'];
    expect(backups().sort()).toEqual(names);
    const texts = [...names, 'audit.log'].map((name) => readFileSync(join(folder, 'logs', name), 'utf8'));
    expect(texts.map(idsOf)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(texts[0]).toHaveLength(2 * line);
    for (const name of backups()) expect(statSync(join(folder, 'logs', name)).mode & 0o777).toBe(0o600);
  });

  it('keeps the latest files, none that is too old, and compresses them', async () => {
    mkdirSync(join(folder, 'logs'));
    const old = ['audit-2023-11-10T00-00-00.000.log', 'audit-2023-11-14T00-00-00.000.log.gz'];
    const foreign = ['audit-notes.log', 'audit-2023-11-10.log', 'other-2023-11-10T00-00-00.000.log'];
    for (const name of [...old, ...foreign]) writeFileSync(join(folder, 'logs', name), '');
    const day = 24 * 3_600_000;
    const backend = await open({ maxSize: line, maxBackups: 3, maxAge: 2 * day, compress: true });
    for (const id of ['a', 'b', 'c']) void backend.write(eventOf(id));
    await backend.close(1000);
    const kept = [0, 1].map((ms) => `audit-2023-11-14T22-13-20.00${ms}.log.gz`);
    expect(new Set(backups())).toEqual(new Set([...foreign, old[1], ...kept]));
    const texts = kept.map((name) => gunzipSync(readFileSync(join(folder, 'logs', name))).toString());
    expect(texts.map(idsOf)).toEqual([['a'], ['b']]);
    expect(fixture.logged).toEqual([]);
  });

  it('removes the oldest files beyond the number that is kept', async () => {
    const backend = await open({ maxSize: line, maxBackups: 2 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) void backend.write(eventOf(id));
    await backend.close(1000);
    expect(backups().sort()).toEqual([2, 3].map((ms) => `audit-2023-11-14T22-13-20.00${ms}.log`));
  });

  it('never gives a rotated file the name of one that was removed', async () => {
    const backend = await open({ maxSize: line, maxBackups: 1 });
    for (const [i, id] of ['b', 'c', 'd'].entries()) {
      void backend.write(eventOf('a'));
      void backend.write(eventOf(id));
      await expect.poll(backups).toEqual([`audit-2023-11-14T22-13-20.00${2 * i}.log`]);
    }
    await backend.close(1000);
  });

  it('logs that old files cannot be removed, and goes on', async () => {
    mkdirSync(join(folder, 'logs', 'audit-2023-11-10T00-00-00.000.log'), { recursive: true });
    const backend = await open({ maxSize: line, maxBackups: 1 });
    for (const id of ['a', 'b']) void backend.write(eventOf(id));
    await backend.close(1000);
    expect(idsOf(readFileSync(path, 'utf8'))).toEqual(['b']);
    expect(fixture.logged).toMatchObject([{ text: 'rotated audit logs cannot be compressed or removed' }]);
  });
});
