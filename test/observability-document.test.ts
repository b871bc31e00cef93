import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseYaml } from '../src/codec/index.ts';
import { namesFor, stageNames } from '../src/meta/index.ts';
import { decodeConfiguration } from '../src/schema/index.ts';
import { logParts, parseLevels } from '../src/server/settings/log-levels.ts';
import { tracingFormat } from '../src/tracing/index.ts';

// The names in docs/observability.md exist, and all of them.
const page = readFileSync(new URL('../docs/observability.md', import.meta.url), 'utf8');

/** The first column of the table with this heading. */
const column = (heading: string): string[] => {
  const [, rows = ''] = new RegExp(`\\| ${heading} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`).exec(page) ?? [];
  return rows
    .trim()
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
};

it('names every part of the log, every stage and the spans of every stage', () => {
  expect(column('part')).toEqual([...logParts]);
  expect(column('stage')).toEqual([...stageNames]);
  const spans = column('span');
  expect(stageNames.filter((name) => !spans.includes(name))).toEqual(['serialization']);
});

it('has a valid configuration, and valid levels', () => {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  expect(decodeConfiguration(tracingFormat, parseYaml(Buffer.from(yaml)).value, namesFor('k8s.io'))).toEqual({
    value: expect.objectContaining({ endpoint: 'localhost:4318', samplingRatePerMillion: 100 }) as object,
  });
  const given = [...page.matchAll(/(?:--log-level=|-d )(\S+)/g)].map(([, levels = '']) => parseLevels(levels));
  expect(given).toHaveLength(2);
  for (const parsed of given) expect(parsed).toHaveProperty('value');
});
