import { parseAnyJsonInSteps, stringifyJsonInSteps } from '../codec/index.ts';
import { type Clock, inTurns, type Json, Lanes, type Names, peerTurns, type Turns } from '../meta/index.ts';
import type { Service } from '../types/core-v1.ts';
import type { EndpointSlice } from '../types/discovery-v1.ts';
import type { Address, RemoteService } from './address.ts';
import {
  type AvailableCondition,
  conditionAfter,
  type Finding,
  failedCheck,
  local,
  passed,
  serviceFinding,
} from './availability.ts';
import { fromGroupList, fromResourceList } from './discovered.ts';
import { openApiV3Hash, partOfOpenApi } from './openapi.ts';
import type { Registrations, RemoteDocuments } from './registrations.ts';

/** A GET that this server itself sends to an extension API server. */
export interface Question {
  readonly path: string;
  readonly accept?: string;
  /** The user whose request it appears to be. */
  readonly user: { readonly name: string; readonly groups: readonly string[] };
  /** Whether it says where it was addressed to, as relayed requests do. */
  readonly forwarded?: boolean;
  readonly etag?: string;
  /** Maximum size of the body (bytes). Absent: it is not read, and empty. */
  readonly maxBytes?: number;
}

export interface Answer {
  readonly status: number;
  readonly etag: string;
  readonly body: Uint8Array;
}

/**
 * Sends a question, and reads the answer in these turns. Follows no redirect. Rejects with an Error that says why there is no
 * answer.
 */
export type Ask = (service: RemoteService, address: Address, question: Question, turns: Turns) => Promise<Answer>;

export interface AggregatorOptions {
  readonly registrations: Registrations;
  readonly clock: Clock;
  readonly names: Names;
  readonly ask: Ask;
  /** Finds the address of an extension API server. Rejects with an Error that says why there is none. */
  readonly locate: (service: RemoteService) => Promise<Address>;
  /** Whether Services are objects of this server. Others are not checked, only asked. */
  readonly servesServices: () => boolean;
  readonly findService: (namespace: string, name: string) => Promise<Service | undefined>;
  readonly findSlices: (namespace: string, service: string) => Promise<readonly EndpointSlice[]>;
  /** Closes the kept connections to an extension API server. */
  readonly disconnect: (service: RemoteService) => void;
  /** Writes the condition of an APIService. */
  readonly writeCondition: (name: string, condition: AvailableCondition) => Promise<void>;
  /** Reports a failure of the server itself. */
  readonly report: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

/** Interval at which an extension API server is checked, and the least time between two checks (ms). */
const checkMs = 15_000;
const pauseMs = 200;

/** Maximum size of discovery documents, and of the part about one group version (bytes). */
const maxDiscovery = 2 * 1024 * 1024;
const maxResources = 512 * 1024;

/** Maximum size of OpenAPI documents (bytes). */
const maxOpenApi = 4 * 1024 * 1024;

/** How many extension API servers' documents are read at a time; their Services take turns. */
const maxReading = 4;

const openApiAggregator = { name: 'system:aggregator', groups: [] };
const kubeAggregator = { name: 'system:kube-aggregator', groups: ['system:masters'] };

/** How often APIServices have become unavailable: by name, then by reason. Deleted ones are left out. */
export type Outages = ReadonlyMap<string, ReadonlyMap<string, number>>;

interface Check {
  /** Whether the check is in progress, or in the pause after it. */
  running: boolean;
  /** Whether something has changed since the check began. */
  again: boolean;
  cancel: () => void;
}

/**
 * Checks extension API servers: the Service, its endpoints, and an answer to a request. Keeps the conditions of APIServices and
 * the discovered resources up to date. A server is checked by one request at a time.
 */
export class Aggregator {
  readonly #options: AggregatorOptions;
  readonly #checks = new Map<string, Check>();
  /** The ETag of the last OpenAPI v2 document, by the name of the APIService. */
  readonly #etags = new Map<string, { readonly service: RemoteService; readonly etag: string }>();
  readonly #outages = new Map<string, Map<string, number>>();
  readonly #lanes = new Lanes(maxReading);
  #closed = false;

  constructor(options: AggregatorOptions) {
    this.#options = options;
  }

  get outages(): Outages {
    return this.#outages;
  }

  /** The spec of an APIService has changed, or it was deleted. */
  changed(name: string): void {
    if (this.#closed) return;
    const check = this.#checks.get(name) ?? { running: false, again: false, cancel: () => {} };
    this.#checks.set(name, check);
    this.#soon(name, check);
  }

  /** A Service has changed, or its endpoints. */
  serviceChanged(namespace: string, name: string): void {
    for (const [registered, check] of this.#checks) {
      const service = this.#options.registrations.get(registered)?.remote?.service;
      if (service?.namespace !== namespace || service.name !== name) continue;
      this.#options.disconnect(service);
      this.#soon(registered, check);
    }
  }

  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#checks.values()) cancel();
    this.#checks.clear();
  }

  #soon(name: string, check: Check): void {
    check.again = true;
    if (check.running) return;
    check.cancel();
    check.running = true;
    void this.#run(name, check);
  }

  async #run(name: string, check: Check): Promise<void> {
    check.again = false;
    try {
      await this.#check(name);
    } catch (error) {
      if (!this.#closed) this.#options.report('the condition of an APIService cannot be updated', { name, error });
    }
    if (this.#closed) return;
    if (this.#options.registrations.get(name)?.remote === undefined && !check.again) {
      this.#checks.delete(name);
      this.#etags.delete(name);
      this.#outages.delete(name);
      return;
    }
    // Changes during the pause are checked after it.
    check.cancel = this.#options.clock.after(pauseMs, () => {
      check.running = false;
      if (check.again) this.#soon(name, check);
      else check.cancel = this.#options.clock.after(checkMs, () => this.#soon(name, check));
    });
  }

  async #check(name: string): Promise<void> {
    const { registrations, clock, writeCondition, report } = this.#options;
    const registration = registrations.get(name);
    if (registration === undefined) return;
    const { remote, group, version } = registration;
    const finding = remote === undefined ? local : await this.#ask(remote.service, `/apis/${group}/${version}`);
    const current = registrations.get(name);
    if (this.#closed || current === undefined || current.remote?.service !== remote?.service) return;
    const condition = conditionAfter(current.condition, finding, clock.now());
    if (condition !== undefined) {
      await writeCondition(name, condition);
      if (current.condition?.status === 'True' && condition.status === 'False') this.#count(name, finding.reason);
    }
    if (remote === undefined || finding.status === 'False') return;
    const { service } = remote;
    const documents = await this.#lanes.run(`${service.namespace}/${service.name}`, async () =>
      this.#closed ? undefined : this.#documents(name, service, group, version),
    );
    if (documents === undefined || registrations.learned(name, service, documents)) return;
    report('the documents of an extension API server do not fit beside those of the others', { name });
  }

  #count(name: string, reason: string): void {
    const reasons = this.#outages.get(name) ?? new Map<string, number>();
    this.#outages.set(name, reasons.set(reason, (reasons.get(reason) ?? 0) + 1));
  }

  /** Whether the extension API server of a Service answers. */
  async #ask(service: RemoteService, path: string): Promise<Finding> {
    const { ask, locate, findService, findSlices, servesServices } = this.#options;
    const { namespace, name } = service;
    if (servesServices()) {
      const found = await findService(namespace, name);
      const wrong = serviceFinding(service, found, await findSlices(namespace, name));
      if (wrong !== undefined) return wrong;
    }
    let url = '';
    try {
      const address = await locate(service);
      url = `https://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}${path}`;
      const { status } = await ask(service, address, { path, user: kubeAggregator }, answerTurns());
      if (status >= 200 && status <= 299) return passed;
      return failedCheck(`failing or missing response from ${url}: bad status from ${url}: ${status}`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return failedCheck(url === '' ? why : `failing or missing response from ${url}: ${why}`);
    }
  }

  /** The documents of the extension API server for a group version; undefined when it does not list its resources. */
  async #documents(
    name: string,
    service: RemoteService,
    group: string,
    version: string,
  ): Promise<RemoteDocuments | undefined> {
    const { names } = this.#options;
    const known = this.#etags.get(name);
    const turns = answerTurns();
    const user = kubeAggregator;
    const accept = ['v2', 'v2beta1']
      .map((form) => `application/json;g=apidiscovery.${names.domain};v=${form};as=APIGroupDiscoveryList`)
      .join();
    const groups = await this.#read(service, { path: '/apis', accept, user, maxBytes: maxDiscovery });
    let resources = groups && (await parsed(groups.body, turns, (json) => fromGroupList(json, group, version)));
    if (resources === undefined) {
      const own = await this.#read(service, { path: `/apis/${group}/${version}`, user, maxBytes: maxDiscovery });
      resources = own && (await parsed(own.body, turns, fromResourceList));
    }
    const text = resources && (await inTurns(stringifyJsonInSteps(resources), turns));
    if (resources === undefined || text === undefined || text.length > maxResources) return undefined;
    const before = this.#options.registrations.get(name)?.remote?.documents?.openApiV2;
    const questions = { user: openApiAggregator, maxBytes: maxOpenApi };
    const v2 = await this.#read(service, {
      ...questions,
      path: '/openapi/v2',
      accept: 'application/json',
      ...(known?.service === service && before !== undefined ? { etag: known.etag } : {}),
    });
    const openApiV2 =
      v2?.status === 304
        ? before
        : v2 && (await inTurns(partOfOpenApi(v2.body, group, version), turns).catch(() => undefined));
    if (v2?.status === 200) this.#etags.set(name, { service, etag: v2.etag });
    const index = await this.#read(service, { ...questions, path: '/openapi/v3' });
    const openApiV3 = index && (await parsed(index.body, turns, (json) => openApiV3Hash(json, group, version)));
    return { resources, openApiV2, openApiV3, size: text.length + (openApiV2?.json.length ?? 0) };
  }

  /** A document, or that it has not changed; undefined when there is none. */
  async #read(service: RemoteService, question: Question): Promise<Answer | undefined> {
    const { ask, locate } = this.#options;
    try {
      const address = await locate(service);
      const answer = await ask(service, address, { ...question, forwarded: true }, answerTurns());
      return answer.status === 200 || answer.status === 304 ? answer : undefined;
    } catch {
      return undefined;
    }
  }
}

const answerTurns = () => peerTurns('extension API servers');

/** Returns the result of `read` for a JSON document; undefined when it cannot be parsed. */
async function parsed<T>(bytes: Uint8Array, turns: Turns, read: (json: Json) => T): Promise<T | undefined> {
  try {
    return read((await inTurns(parseAnyJsonInSteps(bytes), turns)).value);
  } catch {
    return undefined;
  }
}
