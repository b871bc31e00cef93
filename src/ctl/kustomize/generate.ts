/** The config maps and secrets that a kustomization generates. */
import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { configMapKey, isJsonObject, type Json, type JsonObject, setKey } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import type { GeneratorOptions, Kustomization, SecretGenerator } from './format.ts';
import type { Folder } from './load.ts';
import { identityText, isSameIdentity, Resource } from './resource.ts';

/** The objects of all generators of a kustomization, in the order in which they join the others. @throws CommandError */
export async function generate(folder: Folder, kustomization: Kustomization): Promise<Resource[]> {
  const { configMapGenerator = [], secretGenerator = [], generatorOptions } = kustomization;
  const resources: Resource[] = [];
  for (const [kind, generators] of Object.entries({ ConfigMap: configMapGenerator, Secret: secretGenerator })) {
    for (const generator of generators)
      resources.push(await generated(folder, kind, generator, generatorOptions ?? {}));
  }
  return resources;
}

async function generated(
  folder: Folder,
  kind: string,
  generator: SecretGenerator,
  common: GeneratorOptions,
): Promise<Resource> {
  const { name = '', namespace = '', behavior = '', options = {}, type = 'Opaque' } = generator;
  if (name === '') throw new CommandError(`a generator of a ${kind} has no name`);
  const labels = { ...common.labels, ...options.labels };
  const annotations = { ...common.annotations, ...options.annotations };
  const values = await valuesOf(folder, name, generator);
  const object: JsonObject = {
    apiVersion: 'v1',
    kind,
    metadata: {
      name,
      ...(namespace === '' ? {} : { namespace }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    ...(kind === 'Secret' ? { type, data: secretData(values) } : configMapData(values)),
  };
  if (common.immutable === true || options.immutable === true) object['immutable'] = true;
  const needsHash = common.disableNameSuffixHash !== true && options.disableNameSuffixHash !== true;
  return new Resource(object, {
    behavior: behavior === 'replace' || behavior === 'merge' ? behavior : 'create',
    needsHash,
  });
}

function secretData(values: ReadonlyMap<string, Buffer>): JsonObject {
  const data: JsonObject = {};
  for (const [key, value] of values) setKey(data, key, base64Lines(value));
  return data;
}

function configMapData(values: ReadonlyMap<string, Buffer>): JsonObject {
  const data: JsonObject = {};
  const binaryData: JsonObject = {};
  for (const [key, value] of values) {
    if (isUtf8(value)) setKey(data, key, value.toString());
    else setKey(binaryData, key, base64Lines(value));
  }
  const isFilled = (part: JsonObject) => Object.keys(part).length > 0;
  return { ...(isFilled(data) ? { data } : {}), ...(isFilled(binaryData) ? { binaryData } : {}) };
}

/** The length of a line of Base64. */
const lineLength = 70;

/** Base64 that is broken into lines, where it fills one or more. */
function base64Lines(value: Buffer): string {
  const text = value.toString('base64');
  return text.length < lineLength ? text : text.replaceAll(/.{1,70}/g, '$&\n');
}

/** @throws CommandError for a key that is invalid or repeated */
async function valuesOf(
  folder: Folder,
  name: string,
  { envs = [], env = '', literals = [], files = [] }: SecretGenerator,
): Promise<Map<string, Buffer>> {
  const values = new Map<string, Buffer>();
  const add = (key: string, value: Buffer) => {
    const [problem] = configMapKey(key);
    if (problem !== undefined) throw new CommandError(`${JSON.stringify(key)} is not a valid key name: ${problem}`);
    if (values.has(key)) throw new CommandError(`the generator of ${name} has the key ${JSON.stringify(key)} twice`);
    values.set(key, value);
  };
  for (const path of env === '' ? envs : [...envs, env]) {
    for (const [key, value] of variablesIn(await folder.read(path), path)) add(key, Buffer.from(value));
  }
  for (const literal of literals) {
    const at = literal.indexOf('=');
    if (at < 1) throw new CommandError(`invalid literal source ${literal}, expected key=value`);
    add(literal.slice(0, at), Buffer.from(unquoted(literal.slice(at + 1))));
  }
  for (const source of files) {
    const [key, path, ...more] = source.includes('=') ? source.split('=') : [basename(source), source];
    if (more.length > 0 || !key || !path) throw new CommandError(`invalid file source ${source}, expected [key=]path`);
    add(key, await folder.read(path));
  }
  return values;
}

const unquoted = (value: string) => /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value;

/** The variables of a file with lines of the form `NAME=value`. @throws CommandError */
function variablesIn(content: Buffer, path: string): [name: string, value: string][] {
  if (!isUtf8(content)) throw new CommandError(`${path} must be a text in UTF-8`);
  const lines = content
    .toString()
    .replace(/^\ufeff/, '')
    .split(/\r?\n/);
  return lines.flatMap((line): [string, string][] => {
    const text = line.trimStart();
    if (text === '' || text.startsWith('#')) return [];
    const at = text.indexOf('=');
    const name = at < 0 ? text : text.slice(0, at);
    if (!/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name)) {
      throw new CommandError(`${path}: ${JSON.stringify(name)} is not a valid name of a variable`);
    }
    return [[name, at < 0 ? '' : text.slice(at + 1)]];
  });
}

/** Adds a generated object to others: as a new one, or in the place of the one that it replaces or extends. @throws CommandError */
export function absorb(resources: Resource[], added: Resource): void {
  const { identity, behavior } = added;
  const known = resources.filter((one) => one.identities.some((other) => isSameIdentity(other, identity)));
  const [old] = known;
  if (known.length > 1)
    throw new CommandError(`several resources have the name of the generated ${identityText(identity)}`);
  if (old === undefined) {
    if (behavior === 'create') resources.push(added);
    else throw new CommandError(`there is no ${identityText(identity)} that a generator could ${behavior}`);
    return;
  }
  if (behavior === 'create') {
    throw new CommandError(`there is a ${identityText(identity)} already: set behavior to merge or replace`);
  }
  for (const field of ['labels', 'annotations'] as const) {
    const pairs = { ...old.texts(field), ...added.texts(field) };
    added.setMetadata(field, Object.keys(pairs).length === 0 ? undefined : pairs);
  }
  if (behavior === 'merge') {
    added.origin = old.origin;
    for (const field of ['data', 'binaryData']) {
      const pairs = { ...pairsAt(old.object[field]), ...pairsAt(added.object[field]) };
      if (Object.keys(pairs).length > 0) added.object[field] = pairs;
    }
  }
  added.setMetadata('name', old.name);
  added.setMetadata('namespace', old.namespace === '' ? undefined : old.namespace);
  added.needsHash &&= old.needsHash;
  added.succeed(old);
  resources[resources.indexOf(old)] = added;
}

const pairsAt = (value: Json | undefined): JsonObject => (isJsonObject(value ?? null) ? (value as JsonObject) : {});
