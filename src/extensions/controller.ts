import {
  type ApiObject,
  type Clock,
  formatGroupResource,
  jsonCopy,
  jsonEqual,
  type Names,
  type ObjectMeta,
  StatusError,
} from '../meta/index.ts';
import type { Registry, ResourceDefinition } from '../registry/index.ts';
import { CustomResourceDefinition } from '../types/apiextensions-v1.ts';
import { approvalCondition, isProtectedGroup } from './approval.ts';
import { cleanUp, needsCleanUp } from './clean-up.ts';
import { type Condition, type Definition, isTrue, setCondition } from './conditions.ts';
import { caBundleProblem } from './conversion/ca-bundle.ts';
import { acceptedForm, acceptNames, claimsOf, type DefinitionNames, type NameUse, namesOf } from './naming.ts';

/** Makes the resources of a definition, whose names are the accepted ones, by version: of those served, and the stored one. */
export type Define = (definition: Definition) => ReadonlyMap<string, ResourceDefinition>;

export interface CustomResourcesOptions {
  readonly registry: Registry;
  readonly names: Names;
  readonly clock: Clock;
  readonly define: Define;
  /** Receives failures, which are retried. */
  readonly report: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

/** The state of a definition in this server. */
interface Known {
  object: Definition;
  /** The accepted names: in this server they are its own as soon as its event arrives. */
  accepted: DefinitionNames;
  /** The keys of its claims. */
  readonly claimed: string[];
  /** The condition `NamesAccepted` that the status should have. */
  naming: Condition;
  /** The resources that are installed for it; undefined: none. */
  served: Served | undefined;
}

interface Served {
  readonly names: DefinitionNames;
  readonly spec: Definition['spec'];
  readonly terminating: boolean;
  readonly definitions: ReadonlyMap<string, ResourceDefinition>;
}

/** Each version is a resource of its own. More are not accepted, and not served where another process has stored them. */
export const maxVersions = 100;
/** Discovery shows all of them. Definitions with further ones are reported, and served once others are gone. */
const maxServed = 10_000;

const noNames = namesOf(undefined);
const retryMs = 1_000;
const lastRetryMs = 30_000;

/**
 * Serves the custom resources of the definitions in the store, and writes the status of these. Any number of servers may
 * do so at once: names are accepted in the order in which the definitions are created, which is the same for all of them.
 */
export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #id: string;
  /** By name of the definition. */
  readonly #definitions = new Map<string, Known>();
  /** The definition that has a name in a group. */
  readonly #claims = new Map<string, string>();
  /** Definitions whose status needs to be written. */
  readonly #stale = new Set<string>();
  /** The number of served versions of all definitions. */
  #served = 0;
  /** Running clean-ups by uid. */
  readonly #cleanUps = new Map<string, Promise<void>>();
  readonly #wakes = new Set<() => void>();
  #loaded = false;
  #stopped = false;
  #writing: Promise<void> | undefined;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    this.#id = formatGroupResource({
      group: `apiextensions.${options.names.domain}`,
      resource: 'customresourcedefinitions',
    });
  }

  /** Resolves when the resources of all definitions are served. @throws StatusError when the registry is closed before */
  async start(): Promise<void> {
    await this.#options.registry.follow(this.#id, (_, name, object) => this.#tell(name, object));
    this.#loaded = true;
    // Those that have their names already come first, then the others as they were created.
    const order = ({ object: { metadata, status } }: Known) =>
      `${namesOf(status?.acceptedNames).plural === '' ? 1 : 0} ${metadata.creationTimestamp} ${metadata.name}`;
    const all = [...this.#definitions.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
    for (const entry of all) this.#evaluate(entry);
  }

  /** Resolves when nothing more is written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const wake of this.#wakes) wake();
    await Promise.all([this.#writing, ...this.#cleanUps.values()]);
  }

  #tell(name: string, received: ApiObject | undefined): void {
    const entry = this.#definitions.get(name);
    if (received === undefined) {
      if (entry === undefined) return;
      this.#definitions.delete(name);
      this.#unserve(entry);
      if (this.#release(entry)) this.#reconsider(entry);
      return;
    }
    // Objects were decoded against their schema when they were written.
    const object = received as Definition;
    // Nobody here reads them, and they take as much as the rest of the metadata and the status.
    object.metadata.managedFields = [];
    const same = entry?.object.metadata.uid === object.metadata.uid ? entry : undefined;
    if (entry !== undefined && same === undefined) this.#tell(name, undefined);
    if (same?.object.spec !== undefined && hasSameSpec(same.object.metadata, object.metadata)) {
      object.spec = same.object.spec;
    }
    const next = same ?? { object, accepted: noNames, claimed: [], naming: noNaming, served: undefined };
    next.object = object;
    this.#definitions.set(name, next);
    if (this.#loaded) this.#evaluate(next);
  }

  /** Accepts names, serves the definition or stops serving it, and has its status written where it differs. */
  #evaluate(entry: Known): void {
    const { object } = entry;
    const before = claimsOf(entry.accepted);
    this.#release(entry);
    const stored = namesOf(object.status?.acceptedNames);
    const has = this.#claim(entry, claimsOf(stored).length === 0 ? entry.accepted : stored);
    const { accepted, condition } = acceptNames(namesOf(object.spec?.names), has, (use, name) =>
      this.#claims.has(this.#key(entry, use, name)),
    );
    this.#release(entry);
    entry.accepted = this.#claim(entry, accepted);
    entry.naming = condition;
    this.#serve(entry);
    if (this.#isStale(entry)) this.#schedule(object.metadata.name ?? '');
    if (needsCleanUp(object, this.#options.names)) this.#startCleanUp(entry);
    const now = new Set(claimsOf(entry.accepted).map(String));
    if (before.some((claim) => !now.has(String(claim)))) this.#reconsider(entry);
  }

  /** Definitions of the group that want a name which another one no longer has are evaluated again. */
  #reconsider({ object }: Known): void {
    if (!this.#loaded) return;
    for (const other of this.#definitions.values()) {
      if (other.naming.status === 'True' || other.object === object) continue;
      if (other.object.spec?.group === object.spec?.group) this.#evaluate(other);
    }
  }

  #key({ object }: Known, use: NameUse, name: string): string {
    return `${object.spec?.group} ${use} ${name}`;
  }

  /** Claims those of the names that no other definition has, and returns the names without those that one has. */
  #claim(entry: Known, names: DefinitionNames): DefinitionNames {
    const own = entry.object.metadata.name ?? '';
    const conflicts = new Set<string>();
    for (const [use, name] of claimsOf(names)) {
      const key = this.#key(entry, use, name);
      const holder = this.#claims.get(key);
      if (holder === undefined) {
        this.#claims.set(key, own);
        entry.claimed.push(key);
      } else if (holder !== own) conflicts.add(`${use} ${name}`);
    }
    if (conflicts.size === 0) return names;
    const acceptedName = (use: NameUse, name: string) => (conflicts.has(`${use} ${name}`) ? '' : name);
    return {
      plural: acceptedName('resource', names.plural),
      singular: acceptedName('resource', names.singular),
      shortNames: names.shortNames.filter((name) => acceptedName('resource', name) !== ''),
      kind: acceptedName('kind', names.kind),
      listKind: acceptedName('kind', names.listKind),
      categories: names.categories,
    };
  }

  /** Whether the definition had names. */
  #release(entry: Known): boolean {
    for (const key of entry.claimed) this.#claims.delete(key);
    return entry.claimed.splice(0).length > 0;
  }

  #serve(entry: Known): void {
    const { object, accepted, served } = entry;
    if (establishedCondition(entry).status !== 'True' || accepted.plural === '' || accepted.kind === '') {
      this.#unserve(entry);
      return;
    }
    const terminating = object.metadata.deletionTimestamp !== undefined || isTrue(object, 'Terminating');
    const { spec } = object;
    const same =
      served !== undefined && served.spec === spec && jsonEqual(acceptedForm(served.names), acceptedForm(accepted));
    if (same && served.terminating === terminating) return;
    const { registry, report } = this.#options;
    try {
      const definitions = same ? served.definitions : this.#define(entry, accepted);
      const of = (version: string) => definitions.get(version) as ResourceDefinition;
      const flagged = new Map(
        [...definitions.keys()].map((one) => [one, { ...of(one), ...(terminating ? { terminating } : {}) }]),
      );
      const versions = spec?.versions ?? [];
      registry.install({
        stored: flagged.get(storageVersionOf(object)) as ResourceDefinition,
        served: versions
          .filter((one) => one.served === true)
          .map(({ name = '' }) => flagged.get(name) as ResourceDefinition),
      });
      this.#served += definitions.size - (served?.definitions.size ?? 0);
      entry.served = { names: accepted, spec, terminating, definitions };
    } catch (error) {
      report('a custom resource definition cannot be served', { name: object.metadata.name, error });
      this.#unserve(entry);
    }
  }

  /** The resource definitions of the versions that are served, and of the storage version. @throws Error for too many */
  #define({ object, served }: Known, accepted: DefinitionNames): ReadonlyMap<string, ResourceDefinition> {
    const { length } = object.spec?.versions ?? [];
    if (length > maxVersions) throw new Error(`it has ${length} versions, more than ${maxVersions}`);
    const others = this.#served - (served?.definitions.size ?? 0);
    if (others + length > maxServed) throw new Error(`all definitions have more than ${maxServed} versions`);
    return this.#options.define({ ...object, spec: { ...object.spec, names: acceptedForm(accepted) } });
  }

  #unserve(entry: Known): void {
    if (entry.served === undefined) return;
    this.#options.registry.remove(entry.object.spec?.group ?? '', entry.served.names.plural);
    const wasFull = this.#served + maxVersions > maxServed;
    this.#served -= entry.served.definitions.size;
    entry.served = undefined;
    if (wasFull) queueMicrotask(() => this.#serveOthers());
  }

  /** Serves what there was no room for. */
  #serveOthers(): void {
    for (const entry of this.#definitions.values()) {
      if (this.#served + maxVersions > maxServed || this.#stopped) return;
      if (entry.served === undefined) this.#serve(entry);
    }
  }

  // Status

  /** Writes what this server knows into the status of the definition. */
  #updateStatus(definition: Definition, { accepted, naming }: Known): void {
    const { names, clock } = this.#options;
    const now = clock.now();
    definition.status = { ...definition.status, acceptedNames: acceptedForm(accepted) };
    setCondition(definition, naming, now);
    setCondition(definition, establishedCondition({ object: definition, naming }), now);
    if (isProtectedGroup(definition.spec?.group ?? '', names)) {
      setCondition(definition, approvalCondition(definition.metadata.annotations, names), now);
    }
  }

  #isStale(entry: Known): boolean {
    const desired = { ...entry.object, status: jsonCopy(entry.object.status ?? {}) } as Definition;
    this.#updateStatus(desired, entry);
    return !jsonEqual(desired.status as never, (entry.object.status ?? {}) as never);
  }

  #schedule(name: string): void {
    this.#stale.add(name);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    for (let waitMs = retryMs; this.#stale.size > 0 && !this.#stopped; ) {
      // Changes that arrive together are written together.
      await Promise.resolve();
      const names = [...this.#stale];
      this.#stale.clear();
      const failed = (await Promise.all(names.map((name) => this.#writeStatus(name)))).includes(false);
      if (!failed) continue;
      await this.#pause(waitMs);
      waitMs = Math.min(2 * waitMs, lastRetryMs);
    }
  }

  /** Whether it has been written, or need not be. */
  async #writeStatus(name: string): Promise<boolean> {
    const { registry, report } = this.#options;
    const change = (current: Definition) => {
      const entry = this.#definitions.get(name);
      // A later state arrives with the next event.
      if (entry === undefined) return;
      const isSame = entry.object.metadata.uid === current.metadata.uid;
      if (isSame && hasSameSpec(entry.object.metadata, current.metadata)) this.#updateStatus(current, entry);
    };
    try {
      await registry.objects.guaranteedUpdate(CustomResourceDefinition, '', name, change, 'status');
      return true;
    } catch (error) {
      if (this.#stopped || (error instanceof StatusError && error.code === 404)) return true;
      report('the status of a custom resource definition cannot be written', { name, error });
      this.#stale.add(name);
      return false;
    }
  }

  // Deletion

  #startCleanUp({ object }: Known): void {
    const { uid = '' } = object.metadata;
    if (this.#stopped || this.#cleanUps.has(uid)) return;
    const run = this.#cleanUp(object).finally(() => this.#cleanUps.delete(uid));
    this.#cleanUps.set(uid, run);
  }

  async #cleanUp(definition: Definition): Promise<void> {
    const { registry, names, clock, report } = this.#options;
    const stopped = () => this.#stopped;
    const pause = (ms: number) => this.#pause(ms);
    const { name = '' } = definition.metadata;
    for (let waitMs = retryMs; !this.#stopped; waitMs = Math.min(2 * waitMs, lastRetryMs)) {
      try {
        await cleanUp({ registry, names, clock, pause, stopped }, definition);
        return;
      } catch (error) {
        if (this.#stopped || (error instanceof StatusError && error.code === 404)) return;
        report('the objects of a custom resource definition cannot be deleted', { name, error });
      }
      await this.#pause(waitMs);
    }
  }

  /** Resolves after the time, or when the controller is stopped. */
  #pause(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#wakes.delete(wake);
        resolve();
      };
      const cancel = this.#options.clock.after(ms, wake);
      this.#wakes.add(wake);
    });
  }
}

const storageVersionOf = ({ spec }: Definition): string =>
  spec?.versions?.find(({ storage }) => storage === true)?.name ?? '';

const noNaming: Condition = { type: 'NamesAccepted', status: 'False', reason: '', message: '' };

/** A definition stays established. */
function establishedCondition({ object, naming }: Pick<Known, 'object' | 'naming'>): Condition {
  const of = (status: Condition['status'], reason: string, message: string): Condition => ({
    type: 'Established',
    status,
    reason,
    message,
  });
  const isEstablished = isTrue(object, 'Established');
  if (naming.status !== 'True' && !isEstablished) return of('False', 'NotAccepted', 'not all names are accepted');
  if (!isEstablished && caBundleProblem(object.spec ?? {}) !== undefined) {
    return of('False', 'InvalidCABundle', 'The conversion webhook CABundle is invalid');
  }
  return of('True', 'InitialNamesAccepted', 'the initial names have been accepted');
}

/** Whether an object has the spec that it had before, by its generation: specs may be too large to compare. */
const hasSameSpec = (before: ObjectMeta, { generation = 0 }: ObjectMeta): boolean =>
  generation === (before.generation ?? 0);
