import { type JsonObject, jsonEqual } from '../meta/index.ts';
import type { APIService, APIServiceSpec } from '../types/apiregistration-v1.ts';
import type { RemoteService } from './address.ts';
import { type AvailableCondition, availableCondition } from './availability.ts';

/** The order of a group version in discovery: higher numbers come first. */
export interface Priorities {
  readonly group: number;
  readonly version: number;
}

/** A server that serves a group version in place of this one. */
export interface RemoteServer {
  readonly service: RemoteService;
  /** Whether it passed the last check. */
  readonly available: boolean;
  /** Its documents. Undefined: not known, or it is not available. */
  readonly documents: RemoteDocuments | undefined;
}

/** The documents of an extension API server about a group version. */
export interface RemoteDocuments {
  /** In the form of aggregated discovery. */
  readonly resources: readonly JsonObject[];
  /** The hash of the OpenAPI v3 document, which it serves itself; undefined: it has none. */
  readonly openApiV3: string | undefined;
  readonly openApiV2: OpenApiV2 | undefined;
  /** The size of all of that as text (bytes). */
  readonly size: number;
}

/** Maximum size of the documents of all extension API servers (bytes). */
const maxDocuments = 32 * 1024 * 1024;

/** The part of an OpenAPI v2 document about a group version, as JSON with `paths` and `definitions`. */
export interface OpenApiV2 {
  readonly hash: string;
  readonly json: Uint8Array;
}

/** A group version in discovery, as its APIService registers it. */
export interface Registration {
  readonly group: string;
  readonly version: string;
  readonly priorities: Priorities;
  /** Undefined: this server serves it. */
  readonly remote: RemoteServer | undefined;
  readonly condition: AvailableCondition | undefined;
}

/** The priorities of a group version of custom resources. */
const defaultPriorities: Priorities = { group: 1000, version: 100 };

/** No APIService, for servers without aggregation. */
export const nothingRegistered: Pick<Registrations, 'all' | 'prioritiesOf'> = {
  all: new Map(),
  prioritiesOf: () => defaultPriorities,
};

interface Entry {
  readonly registration: Registration;
  /** The spec and the condition that the registration was made from. */
  readonly spec: string;
  readonly condition: string;
}

/** The group versions that APIServices register, by their names such as `v1.example.com`. */
export class Registrations {
  readonly #builtIn: ReadonlyMap<string, Priorities>;
  readonly #own: ReadonlySet<string>;
  readonly #entries = new Map<string, Entry>();
  #all: ReadonlyMap<string, Registration> | undefined;
  readonly #remotes = new Map<string, RemoteServer>();
  /** The group versions that other servers serve. */
  readonly remotes: ReadonlyMap<string, RemoteServer> = this.#remotes;

  /**
   * `builtIn`: the priorities of built-in group versions that have no APIService, by its name. `own`: the groups that no other
   * server may serve, because nobody could change that back.
   */
  constructor(builtIn: ReadonlyMap<string, Priorities>, own: ReadonlySet<string>) {
    this.#builtIn = builtIn;
    this.#own = own;
  }

  /** The group versions of all APIServices: the same map until one of them changes. */
  get all(): ReadonlyMap<string, Registration> {
    this.#all ??= new Map([...this.#entries].map(([name, { registration }]) => [name, registration]));
    return this.#all;
  }

  prioritiesOf(group: string, version: string): Priorities {
    const name = `${version}.${group}`;
    return this.get(name)?.priorities ?? this.#builtIn.get(name) ?? defaultPriorities;
  }

  get(name: string): Registration | undefined {
    return this.#entries.get(name)?.registration;
  }

  /** Stores an APIService; undefined when it was deleted. Returns whether it must be checked now. */
  set(name: string, object: APIService | undefined): boolean {
    const before = this.#entries.get(name);
    if (object === undefined) {
      this.#put(name, undefined);
      return before !== undefined;
    }
    const spec = JSON.stringify(object.spec ?? {});
    const condition = JSON.stringify(availableCondition(object) ?? {});
    const isSameSpec = before?.spec === spec;
    if (isSameSpec && before.condition === condition) return false;
    const remote = isSameSpec ? before.registration.remote : undefined;
    const mayBeRemote = !this.#own.has(object.spec?.group ?? '');
    this.#put(name, { registration: registrationOf(object, remote, mayBeRemote), spec, condition });
    // Another client may have removed the condition.
    return !isSameSpec || availableCondition(object) === undefined;
  }

  /**
   * Stores the documents of the extension API server of a Service, unless the APIService has changed meanwhile. Returns whether
   * they fit beside those of the others; it has none otherwise.
   */
  learned(name: string, service: RemoteService, found: RemoteDocuments): boolean {
    const entry = this.#entries.get(name);
    const remote = entry?.registration.remote;
    if (entry === undefined || remote?.service !== service || !remote.available) return true;
    let size = found.size - (remote.documents?.size ?? 0);
    for (const { documents } of this.#remotes.values()) size += documents?.size ?? 0;
    const fits = size <= maxDocuments;
    const documents = fits ? found : undefined;
    const { documents: before } = remote;
    const isKnown = before === undefined || documents === undefined ? before === documents : isSame(before, documents);
    if (!isKnown)
      this.#put(name, { ...entry, registration: { ...entry.registration, remote: { ...remote, documents } } });
    return fits;
  }

  #put(name: string, after: Entry | undefined): void {
    if (after === undefined) this.#entries.delete(name);
    else this.#entries.set(name, after);
    const remote = after?.registration.remote;
    if (remote === undefined) this.#remotes.delete(name);
    else this.#remotes.set(name, remote);
    this.#all = undefined;
  }
}

/** `before`: the extension API server of the same spec. */
function registrationOf(object: APIService, before: RemoteServer | undefined, mayBeRemote: boolean): Registration {
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = object.spec ?? {};
  const condition = availableCondition(object);
  const service = mayBeRemote ? (before?.service ?? serviceOf(object.spec ?? {})) : undefined;
  const available = condition?.status === 'True';
  return {
    group,
    version,
    priorities: { group: groupPriorityMinimum, version: versionPriority },
    remote: service && { service, available, documents: available ? before?.documents : undefined },
    condition,
  };
}

const isSame = (a: RemoteDocuments, b: RemoteDocuments): boolean =>
  a.openApiV3 === b.openApiV3 &&
  a.openApiV2?.hash === b.openApiV2?.hash &&
  jsonEqual([...a.resources], [...b.resources]);

function serviceOf({ service, caBundle = '', insecureSkipTLSVerify }: APIServiceSpec): RemoteService | undefined {
  if (!service) return undefined;
  return {
    namespace: service.namespace ?? '',
    name: service.name ?? '',
    port: service.port ?? 443,
    ca: Buffer.from(caBundle, 'base64').toString('latin1').trim(),
    verify: insecureSkipTLSVerify !== true,
  };
}
