/**
 * Apply sets: a parent object, by default a secret, records the types and namespaces of the objects that were applied
 * together. Each object has a label with the identity of its set, by which objects that left the set are found.
 */

import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { objectPath, qualifiedName, type Resource } from '../cluster/resource.ts';
import { CommandError } from '../errors.ts';
import { jsonText } from '../output/json.ts';
import type { DryRun } from './change.ts';
import type { Manifest } from './manifests.ts';
import { objectsOfTarget } from './pages.ts';
import { urlOf } from './selection.ts';
import { resourceOf } from './targets.ts';

/** The object that records a set. */
export interface ApplySetParent {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** The parent that `--applyset` names: `NAME` of a secret, or `TYPE/NAME`. @throws CommandError */
export async function parseApplySet(cluster: Cluster, text: string): Promise<ApplySetParent> {
  const [type = '', name] = text.includes('/') ? text.split('/') : ['secrets', text];
  if (name === undefined || name === '') throw new CommandError(`--applyset=${text} must be NAME or TYPE/NAME`);
  const resource = await resourceOf(cluster, type);
  if (resource.namespaced && !cluster.isNamespaceSet) {
    throw new CommandError(`namespace is required to use namespace-scoped ApplySet`);
  }
  return { resource, namespace: resource.namespaced ? cluster.namespace : undefined, name };
}

interface SetOptions {
  readonly fieldManager: string;
  readonly dryRun: DryRun;
}

interface FinishOptions {
  readonly prunes: boolean;
  readonly dryRun: DryRun;
  readonly pruned: (object: JsonObject) => void;
}

/** A set while its objects are applied. */
export class ApplySet {
  readonly #cluster: Cluster;
  readonly #parent: ApplySetParent;
  readonly #options: SetOptions;
  readonly #manifests: readonly Manifest[];
  readonly #id: string;
  readonly #domain: string;
  /** The types and the namespaces of the objects before. */
  readonly #before: { readonly kinds: ReadonlySet<string>; readonly namespaces: ReadonlySet<string> };

  private constructor(
    cluster: Cluster,
    parent: ApplySetParent,
    manifests: readonly Manifest[],
    options: SetOptions,
    domain: string,
    before: JsonObject,
  ) {
    this.#cluster = cluster;
    this.#parent = parent;
    this.#manifests = manifests;
    this.#options = options;
    this.#domain = domain;
    const { resource, namespace = '', name } = parent;
    const identity = `${name}.${namespace}.${resource.kind}.${resource.group}`;
    this.#id = `applyset-${createHash('sha256').update(identity).digest('base64url')}-v1`;
    const listed = (key: string) =>
      new Set(
        jsonText(before[this.#key(key)] ?? '')
          .split(',')
          .filter((part) => part !== ''),
      );
    this.#before = {
      kinds: listed('contains-group-kinds'),
      namespaces: new Set([...listed('additional-namespaces'), ...(namespace === '' ? [] : [namespace])]),
    };
  }

  /** Reads the parent, and records the types of the new objects in addition to those before. @throws StatusError, CommandError */
  static async open(
    cluster: Cluster,
    parent: ApplySetParent,
    manifests: readonly Manifest[],
    options: SetOptions,
  ): Promise<ApplySet> {
    const { names } = await cluster.discovery();
    const path = objectPath(parent.resource, parent.namespace, parent.name);
    const object = await cluster.send({ url: path }).catch((error: unknown) => {
      if (error instanceof StatusError && error.code === 404) return undefined;
      throw error;
    });
    if (object === undefined && parent.resource.name !== 'secrets') {
      throw new CommandError(
        `the parent of the apply set, ${qualifiedName(parent.resource)}/${parent.name}, must exist`,
      );
    }
    const metadata = isJsonObject(object?.['metadata'] ?? null) ? (object?.['metadata'] as JsonObject) : {};
    const annotations = isJsonObject(metadata['annotations']) ? metadata['annotations'] : {};
    const set = new ApplySet(cluster, parent, manifests, options, names.labels, annotations);
    await set.#record(set.#kinds(set.#before.kinds), set.#namespaces(set.#before.namespaces));
    return set;
  }

  /** The object with the label of the set. */
  labelled(object: JsonObject): JsonObject {
    const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
    const labels = isJsonObject(metadata['labels']) ? metadata['labels'] : {};
    return { ...object, metadata: { ...metadata, labels: { ...labels, [this.#key('part-of')]: this.#id } } };
  }

  /** Deletes the objects that left the set, if it prunes, and records what the set has now. */
  async finish({ prunes, dryRun, pruned }: FinishOptions): Promise<void> {
    if (!prunes) return;
    const applied = new Set(
      this.#manifests.map((manifest) => keyOf(manifest.resource, manifest.namespace, manifest.name)),
    );
    const namespaces = this.#namespaces(this.#before.namespaces);
    for (const type of this.#kinds(this.#before.kinds)) {
      const resource = await this.#resourceOfKind(type);
      if (resource === undefined) continue;
      for (const namespace of resource.namespaced ? namespaces : [undefined]) {
        const selectors = { selector: `${this.#key('part-of')}=${this.#id}` };
        for (const object of await objectsOfTarget(
          this.#cluster,
          { resource, namespace, name: undefined },
          { selectors },
        )) {
          const { name = '', uid = '' } = object['metadata'] as { name?: string; uid?: string };
          if (applied.has(keyOf(resource, namespace, name))) continue;
          const url = urlOf(objectPath(resource, namespace, name), dryRun === 'server' ? { dryRun: 'All' } : {});
          const body = { propagationPolicy: 'Background', preconditions: { uid } };
          await this.#cluster.send({ method: 'DELETE', url, body });
          pruned(object);
        }
      }
    }
    await this.#record(this.#kinds(new Set()), this.#namespaces(new Set()));
  }

  #key(name: string): string {
    return `applyset.${this.#domain}/${name}`;
  }

  /** `Deployment.apps`, of these objects and of those before. */
  #kinds(before: ReadonlySet<string>): string[] {
    const own = this.#manifests.map(({ resource: { kind, group } }) => (group === '' ? kind : `${kind}.${group}`));
    return [...new Set([...before, ...own])].toSorted();
  }

  #namespaces(before: ReadonlySet<string>): string[] {
    const own = this.#manifests.flatMap(({ namespace }) => (namespace === undefined ? [] : [namespace]));
    return [...new Set([...before, ...own])].toSorted();
  }

  async #resourceOfKind(type: string): Promise<Resource | undefined> {
    const [kind, ...group] = type.split('.');
    const { resources } = await this.#cluster.discovery();
    return resources.find((resource) => resource.kind === kind && resource.group === group.join('.'));
  }

  async #record(kinds: readonly string[], namespaces: readonly string[]): Promise<void> {
    const { resource, namespace, name } = this.#parent;
    const others = namespaces.filter((one) => one !== namespace);
    const { fieldManager, dryRun } = this.#options;
    const query = { fieldManager, force: true, ...(dryRun === 'server' ? { dryRun: 'All' } : {}) };
    const metadata = {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [this.#key('id')]: this.#id },
      annotations: {
        [this.#key('tooling')]: 'orch-ctl/v1',
        [this.#key('contains-group-kinds')]: kinds.join(','),
        [this.#key('additional-namespaces')]: others.join(','),
      },
    };
    await this.#cluster.send({
      method: 'PATCH',
      url: urlOf(objectPath(resource, namespace, name), query),
      body: { apiVersion: resource.apiVersion, kind: resource.kind, metadata },
      contentType: 'application/apply-patch+yaml',
    });
  }
}

const keyOf = ({ apiVersion, kind }: Resource, namespace = '', name: string) =>
  `${apiVersion.split('/').slice(0, -1).join('')}/${kind}/${namespace}/${name}`;
