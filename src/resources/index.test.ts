import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ResourceDefinition } from '../registry/index.ts';
import { builtinGroups, builtinResources, metricsResources } from './index.ts';

const root = new URL('.', import.meta.url);
/** Folders that hold no kinds of a group. */
const others = ['older', 'pod-template', 'shared', 'testing'];

const isDefinition = (value: unknown): value is ResourceDefinition =>
  typeof value === 'object' && value !== null && 'plural' in value && 'versions' in value;

/** Every definition that a file of a group's folder exports, with the name of the file. */
async function definedResources(): Promise<[file: string, definition: ResourceDefinition][]> {
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !others.includes(entry.name))
    .map(({ name }) => name);
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root))
      .filter((file) => !file.endsWith('.test.ts'))
      .map((file) => `${folder}/${file}`),
  );
  const modules = await Promise.all(
    files.map(async (file) => [file, (await import(new URL(file, root).href)) as object] as const),
  );
  return modules.flatMap(([file, module]) =>
    Object.values(module)
      .filter(isDefinition)
      .map((definition): [string, ResourceDefinition] => [file, definition]),
  );
}

test('every kind that a file defines is listed in its group', async () => {
  const defined = await definedResources();
  const listed = [...builtinResources, ...metricsResources];
  expect(defined.filter(([, definition]) => !listed.includes(definition)).map(([file]) => file)).toEqual([]);
  expect(defined.length).toBe(listed.length);
});

test('every group is listed once and holds kinds of that group only', () => {
  expect(new Set(builtinGroups.map(({ group }) => group)).size).toBe(builtinGroups.length);
  for (const { group, resources } of builtinGroups) {
    expect(resources.map((definition) => definition.group)).toEqual(resources.map(() => group));
  }
  expect(new Set(builtinResources).size).toBe(builtinResources.length);
});

test('every group but that of APIServices has a priority', () => {
  expect(builtinGroups.filter(({ priority }) => priority === undefined).map(({ group }) => group)).toEqual([
    'apiregistration.{domain}',
  ]);
});

test('the schema of a storage version belongs to the objects of one resource', () => {
  const stored = builtinResources.flatMap(({ group, plural, storage, versions, virtual }) =>
    versions
      .filter(({ version }) => virtual !== true && plural === storage.resource && version === storage.version)
      .filter(() => group === storage.group)
      .map(({ schema }) => schema),
  );
  expect(stored.length).toBeGreaterThan(40);
  expect(stored.map(({ name }) => name).filter((name, i, all) => all.indexOf(name) !== i)).toEqual([]);
});
