/** Builds kustomizations: the objects of folders, with the changes that their kustomization files describe. */
import { join, relative } from 'node:path';
import type { JsonObject } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import type { Io } from '../io.ts';
import { hashOf } from '../objects/content-hash.ts';
import { objectsOf } from './documents.ts';
import { defaultFields, mergeFields } from './fields.ts';
import type { Configuration } from './format.ts';
import { absorb, generate } from './generate.ts';
import { type KustomizationFile, readConfigurations, readKustomization, readReplacements } from './kustomization.ts';
import { Folder, isUrl } from './load.ts';
import { ordered } from './order.ts';
import { metadataAnnotations, originOfFile, originOfGenerated, recordTransformations } from './origin.ts';
import { applyJsonPatches, applyPatches } from './patch.ts';
import { updateReferences } from './references.ts';
import { replaceValues } from './replace.ts';
import { type Identity, identityText, names, Resource } from './resource.ts';
import { countsAndImages, namesAndMetadata, setPairs } from './transform.ts';

/** The most objects of a build. */
const maxResources = 10_000;

const localConfiguration = `config.${names.labels}/local-config`;
const managedByLabel = `app.${names.labels}/managed-by`;

interface BuildOptions {
  /** Whether kustomizations may read files outside of their folder. */
  readonly isUnrestricted?: boolean;
}

/** The resources and settings that a kustomization has gathered. */
interface Layer {
  readonly resources: Resource[];
  fields: Required<Configuration>;
}

/**
 * The objects of the kustomization in a folder, in their order. Deprecated fields are reported on standard error.
 * @throws CommandError that names the kustomization file and the field
 */
export async function buildKustomization(
  path: string,
  io: Pick<Io, 'env' | 'folder' | 'signal' | 'stderr'>,
  { isUnrestricted = false }: BuildOptions = {},
): Promise<JsonObject[]> {
  const reading = { isRestricted: !isUnrestricted, env: io.env, signal: io.signal, files: 0, size: 0 };
  const folder = await Folder.open(path, io.folder, reading);
  const file = await readKustomization(folder, io);
  const { buildMetadata = [], sortOptions } = file.kustomization;
  const layer: Layer = { resources: [], fields: defaultFields };
  await new Builder(folder, io, buildMetadata.includes('transformerAnnotations')).add(folder, file, layer);
  for (const resource of layer.resources) appendHash(resource);
  updateReferences(layer.resources, layer.fields.nameReference);
  const resources = ordered(layer.resources.filter(isOutput), sortOptions ?? undefined);
  if (buildMetadata.includes('managedByLabel')) {
    setPairs(resources, [{ path: 'metadata/labels', create: true }], { [managedByLabel]: 'orch-ctl' });
  }
  for (const resource of resources) setAnnotations(resource, buildMetadata);
  return resources.map(({ object }) => object);
}

function appendHash(resource: Resource): void {
  if (!resource.needsHash) return;
  // The hash does not depend on the name.
  const { data = '' } = resource.object;
  const hash = hashOf({ ...resource.object, data, metadata: {} });
  resource.remember();
  resource.setMetadata('name', `${resource.name}-${hash}`);
}

/** Objects for tools, which have the annotation of local configurations, are left out. */
const isOutput = (resource: Resource): boolean =>
  (resource.texts('annotations')[localConfiguration] ?? 'false') === 'false';

/** Annotations are texts, and there is no empty map of them. */
function setAnnotations(resource: Resource, buildMetadata: readonly string[]): void {
  const annotations = { ...resource.texts('annotations'), ...metadataAnnotations(resource, buildMetadata) };
  resource.setMetadata('annotations', Object.keys(annotations).length === 0 ? undefined : annotations);
}

/** Adds the objects of kustomizations to layers. */
class Builder {
  /** The folder of the whole build. */
  readonly #root: Folder;
  readonly #io: Pick<Io, 'stderr'>;
  readonly #recordsTransformations: boolean;

  constructor(root: Folder, io: Pick<Io, 'stderr'>, recordsTransformations: boolean) {
    this.#root = root;
    this.#io = io;
    this.#recordsTransformations = recordsTransformations;
  }

  /** Adds what a kustomization describes. A component changes the objects that are in the layer already, too. */
  async add(folder: Folder, file: KustomizationFile, layer: Layer): Promise<void> {
    const { kustomization } = file;
    try {
      for (const path of kustomization.resources ?? []) await this.#addResource(folder, path, layer);
      for (const fields of await readConfigurations(folder, kustomization)) {
        layer.fields = mergeFields(layer.fields, fields);
      }
      for (const resource of await generate(folder, kustomization)) {
        resource.origin = originOfGenerated(this.#pathOf(folder, file.name), resource.kind);
        absorb(layer.resources, resource);
      }
      for (const path of kustomization.components ?? []) await this.#addComponent(folder, path, layer);
      await transform(folder, file, layer);
      if (this.#recordsTransformations)
        recordTransformations(layer.resources, this.#pathOf(folder, file.name), kustomization);
    } catch (error) {
      throw inFile(error, join(folder.path, file.name));
    }
  }

  async #addResource(folder: Folder, path: string, layer: Layer): Promise<void> {
    if ((await folder.kindOf(path)) === 'file') {
      const objects = objectsOf((await folder.read(path)).toString(), path);
      const origin = originOfFile(isUrl(path) ? path : this.#pathOf(folder, path));
      append(
        layer,
        objects.map((object) => Object.assign(new Resource(object), { origin })),
      );
      return;
    }
    const child = await folder.enter(path);
    const file = await readKustomization(child, this.#io);
    if (file.isComponent) throw new CommandError(`resources: ${path} is a component: list it in 'components'`);
    const below: Layer = { resources: [], fields: defaultFields };
    await this.add(child, file, below);
    append(layer, below.resources);
    layer.fields = mergeFields(layer.fields, below.fields);
  }

  async #addComponent(folder: Folder, path: string, layer: Layer): Promise<void> {
    const child = await folder.enter(path);
    const file = await readKustomization(child, this.#io);
    if (!file.isComponent) throw new CommandError(`components: the kind of ${path} must be Component`);
    await this.add(child, file, layer);
  }

  #pathOf(folder: Folder, path: string): string {
    return relative(this.#root.path, join(folder.path, path));
  }
}

async function transform(folder: Folder, { kustomization }: KustomizationFile, layer: Layer): Promise<void> {
  const { resources } = layer;
  const { namespace, namePrefix, nameSuffix, labels, commonLabels, commonAnnotations } = kustomization;
  const added = [namespace, namePrefix, nameSuffix, labels, commonLabels, commonAnnotations];
  folder.charge(resources.length * JSON.stringify(added).length);
  await applyPatches(folder, resources, kustomization);
  for (const apply of namesAndMetadata) apply(resources, kustomization, layer.fields);
  checkIdentities(resources);
  await applyJsonPatches(folder, resources, kustomization);
  for (const apply of countsAndImages) apply(resources, kustomization, layer.fields);
  for (const replacement of await readReplacements(folder, kustomization))
    replaceValues(folder, resources, replacement);
}

/** @throws CommandError when two objects have one identity */
function append(layer: Layer, added: readonly Resource[]): void {
  for (const resource of added) layer.resources.push(resource);
  if (layer.resources.length > maxResources) {
    throw new CommandError(`resources: there are more than ${maxResources} objects`);
  }
  checkIdentities(layer.resources);
}

function checkIdentities(resources: readonly Resource[]): void {
  const seen = new Set<string>();
  for (const { identity } of resources) {
    const key = keyOf(identity);
    if (seen.has(key)) throw new CommandError(`resources: there are two objects ${identityText(identity)}`);
    seen.add(key);
  }
}

const keyOf = ({ group, version, kind, name, namespace = '' }: Identity): string =>
  [group, version, kind, namespace, name].join('\u0000');

/** Names the file of a kustomization in an error that names none yet. */
class KustomizationError extends CommandError {}

function inFile(error: unknown, path: string): unknown {
  if (!(error instanceof CommandError) || error instanceof KustomizationError) return error;
  return new KustomizationError(`${path}: ${error.message}`, { cause: error });
}
