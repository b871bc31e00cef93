import {
  type ApiObject,
  type Clock,
  formatGroupResource,
  jsonCopy,
  jsonEqual,
  type Names,
  StatusError,
} from '../meta/index.ts';
import type { Registry, ResourceDefinition } from '../registry/index.ts';
import { CustomResourceDefinition } from '../types/apiextensions-v1.ts';
import { approvalCondition, isProtectedGroup } from './approval.ts';
import { cleanUp, needsCleanUp } from './clean-up.ts';
import { type Condition, type Definition, isTrue, setCondition } from './conditions.ts';
import { caBundleFault } from './conversion/ca-bundle.ts';
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
  readonly #known = new Map<string, Known>();
  /** The definition that has a name in a group. */
  readonly #claims = new Map<string, string>();
  /** Definitions whose status is to be written. */
  readonly #stale = new Set<string>();
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
    const all = [...this.#known.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
    for (const known of all) this.#evaluate(known);
  }

  /** Resolves when nothing more is written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const wake of this.#wakes) wake();
    await Promise.all([this.#writing, ...this.#cleanUps.values()]);
  }

  #tell(name: string, given: ApiObject | undefined): void {
    const known = this.#known.get(name);
    if (given === undefined) {
      if (known === undefined) return;
      this.#known.delete(name);
      this.#unserve(known);
      if (this.#release(known)) this.#reconsider(known);
      return;
    }
    // Objects were decoded against their schema when they were written.
    const object = given as Definition;
    const same = known?.object.metadata.uid === object.metadata.uid ? known : undefined;
    if (known !== undefined && same === undefined) this.#tell(name, undefined);
    // The generation tells whether the spec, which may be large, has changed.
    const { spec, metadata: { generation } = {} } = same?.object ?? {};
    if (spec !== undefined && generation === object.metadata.generation) object.spec = spec;
    const next = same ?? { object, accepted: noNames, claimed: [], naming: noNaming, served: undefined };
    next.object = object;
    this.#known.set(name, next);
    if (this.#loaded) this.#evaluate(next);
  }

  /** Accepts names, serves the definition or stops serving it, and has its status written where it differs. */
  #evaluate(known: Known): void {
    const { object } = known;
    const before = claimsOf(known.accepted);
    this.#release(known);
    const stored = namesOf(object.status?.acceptedNames);
    const has = this.#claim(known, claimsOf(stored).length === 0 ? known.accepted : stored);
    const { accepted, condition } = acceptNames(namesOf(object.spec?.names), has, (use, name) =>
      this.#claims.has(this.#key(known, use, name)),
    );
    this.#release(known);
    known.accepted = this.#claim(known, accepted);
    known.naming = condition;
    this.#serve(known);
    if (this.#isStale(known)) this.#schedule(object.metadata.name ?? '');
    if (needsCleanUp(object, this.#options.names)) this.#startCleanUp(known);
    const now = new Set(claimsOf(known.accepted).map(String));
    if (before.some((claim) => !now.has(String(claim)))) this.#reconsider(known);
  }

  /** Definitions of the group that want a name which another one no longer has are evaluated again. */
  #reconsider({ object }: Known): void {
    if (!this.#loaded) return;
    for (const other of this.#known.values()) {
      if (other.naming.status === 'True' || other.object === object) continue;
      if (other.object.spec?.group === object.spec?.group) this.#evaluate(other);
    }
  }

  #key({ object }: Known, use: NameUse, name: string): string {
    return `${object.spec?.group} ${use} ${name}`;
  }

  /** Claims those of the names that no other definition has, and returns the names without those that one has. */
  #claim(known: Known, names: DefinitionNames): DefinitionNames {
    const own = known.object.metadata.name ?? '';
    const lost = new Set<string>();
    for (const [use, name] of claimsOf(names)) {
      const key = this.#key(known, use, name);
      const holder = this.#claims.get(key);
      if (holder === undefined) {
        this.#claims.set(key, own);
        known.claimed.push(key);
      } else if (holder !== own) lost.add(`${use} ${name}`);
    }
    if (lost.size === 0) return names;
    const kept = (use: NameUse, name: string) => (lost.has(`${use} ${name}`) ? '' : name);
    return {
      plural: kept('resource', names.plural),
      singular: kept('resource', names.singular),
      shortNames: names.shortNames.filter((name) => kept('resource', name) !== ''),
      kind: kept('kind', names.kind),
      listKind: kept('kind', names.listKind),
      categories: names.categories,
    };
  }

  /** Whether the definition had names. */
  #release(known: Known): boolean {
    for (const key of known.claimed) this.#claims.delete(key);
    return known.claimed.splice(0).length > 0;
  }

  #serve(known: Known): void {
    const { object, accepted, served } = known;
    if (establishedCondition(known).status !== 'True' || accepted.plural === '' || accepted.kind === '') {
      this.#unserve(known);
      return;
    }
    const terminating = object.metadata.deletionTimestamp !== undefined || isTrue(object, 'Terminating');
    const { spec } = object;
    const same =
      served !== undefined && served.spec === spec && jsonEqual(acceptedForm(served.names), acceptedForm(accepted));
    if (same && served.terminating === terminating) return;
    const { registry, report } = this.#options;
    try {
      const definitions = same ? served.definitions : this.#define(object, accepted);
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
      known.served = { names: accepted, spec, terminating, definitions };
    } catch (error) {
      report('a custom resource definition cannot be served', { name: object.metadata.name, error });
      this.#unserve(known);
    }
  }

  /** The resource definitions of the versions that are served, and of the storage version. */
  #define(object: Definition, accepted: DefinitionNames): ReadonlyMap<string, ResourceDefinition> {
    return this.#options.define({ ...object, spec: { ...object.spec, names: acceptedForm(accepted) } });
  }

  #unserve(known: Known): void {
    if (known.served === undefined) return;
    this.#options.registry.remove(known.object.spec?.group ?? '', known.served.names.plural);
    known.served = undefined;
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

  #isStale(known: Known): boolean {
    const wanted = { ...known.object, status: jsonCopy(known.object.status ?? {}) } as Definition;
    this.#updateStatus(wanted, known);
    return !jsonEqual(wanted.status as never, (known.object.status ?? {}) as never);
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
    const change = (found: Definition) => {
      const known = this.#known.get(name);
      // A later state arrives with the next event.
      if (known === undefined) return;
      const { uid, generation } = known.object.metadata;
      const isSame = uid === found.metadata.uid && generation === found.metadata.generation;
      if (isSame) this.#updateStatus(found, known);
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
    ...{ type: 'Established', status, reason, message },
  });
  const isEstablished = isTrue(object, 'Established');
  if (naming.status !== 'True' && !isEstablished) return of('False', 'NotAccepted', 'not all names are accepted');
  if (!isEstablished && caBundleFault(object.spec ?? {}) !== undefined) {
    return of('False', 'InvalidCABundle', 'The conversion webhook CABundle is invalid');
  }
  return of('True', 'InitialNamesAccepted', 'the initial names have been accepted');
}
