import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiObject } from '../../meta/index.ts';
import { type CtlBench, ctlBench } from '../testing/run-ctl.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/ctl.md'), 'utf8');
const section = page.slice(page.indexOf('## History and owners')).split(/^## (?!History and owners)/m)[0] ?? '';
const examples = [...section.matchAll(/^```console\n\$ orch ctl (.+)\n([\s\S]*?)```$/gm)].map(
  ([, line = '', output = '']) => ({
    line,
    output,
  }),
);

const place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
let bench: CtlBench;
/** The resourceVersions of this server by those of the page. */
const versions = new Map<string, string>();

async function apply(shown: string, fieldManager: string, data: { [key: string]: string }): Promise<ApiObject> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data };
  const applied = await bench.server.client.apply<ApiObject>({ ...place, name: 'settings' }, object as never, {
    fieldManager,
    force: true,
  });
  if (shown !== '') versions.set(shown, applied.metadata.resourceVersion ?? '');
  return applied;
}

beforeAll(async () => {
  bench = await ctlBench({ objectHistory: true });
  await apply('184', 'alice', { colour: 'red' });
  await apply('185', 'alice', { colour: 'green' });
  await apply('186', 'bob', { size: '3' });
  const { uid = '' } = (await apply('187', 'alice', { colour: 'blue', size: '3' })).metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', uid }];
  await bench.server.client.create(place, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cached', ownerReferences },
  } as never);
  const file = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  colour: yellow\n';
  writeFileSync(join(bench.folder, 'settings.yaml'), file);
});
afterAll(() => bench.close());

/** Text with every number and every run of spaces alike: versions, ages and widths differ. */
const plain = (text: string) =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z|\d+/g, 'N')
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/ +$/gm, '');
const exitStatus = (line: string) => (/^(?:diff|conflicts)/.test(line) ? 1 : 0);

describe('the examples of the section "History and owners"', () => {
  it('are there', () => {
    expect(examples.map(({ line }) => line.split(' ')[0])).toEqual([
      'history',
      'diff',
      'undo',
      'get',
      'blame',
      'conflicts',
      'tree',
      'top-objects',
    ]);
  });

  it.each(examples)('print what the page shows: $line', async ({ line, output }) => {
    const words = line.split(' ').map((word) => versions.get(word) ?? word);
    const running = bench.start(words);
    if (line.startsWith('top-objects')) {
      await expect.poll(running.stderr).toMatch(/^Watching/);
      await apply('', 'alice', { colour: 'a' });
      await apply('', 'bob', { size: '4' });
      await apply('', 'alice', { colour: 'c' });
    }
    const { status, stdout } = await running.ended;
    expect(status).toBe(exitStatus(line));
    // Some lines stand for all of a long output.
    if (/^(?:blame|diff)/.test(line))
      for (const shown of plain(output).trimEnd().split('\n')) expect(plain(stdout)).toContain(shown);
    else expect(plain(stdout)).toBe(plain(output));
  });
});
