import { parseAnyJsonInSteps } from '../codec/index.ts';
import { type Clock, inTurns, type Json, type JsonObject, type Names, serverTurns } from '../meta/index.ts';
import type { Service } from '../types/core-v1.ts';
import type { EndpointSlice } from '../types/discovery-v1.ts';
import type { Address } from './address.ts';
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
import type { Registrations, RemoteService } from './registrations.ts';

/** A GET that this server sends by itself to a server behind. */
export interface Question {
  readonly path: string;
  readonly accept?: string;
  /** The user whose request it appears to be. */
  readonly user: { readonly name: string; readonly groups: readonly string[] };
  /** Whether it says where it was addressed to, as relayed requests do. */
  readonly forwarded?: boolean;
  readonly etag?: string;
  /** Maximum size of the body (bytes). */
  readonly maxBytes: number;
}

export interface Answer {
  readonly status: number;
  readonly etag: string;
  readonly body: Uint8Array;
}

/** Sends a question. Follows no redirect. Rejects with an Error that says why there is no answer. */
export type Ask = (service: RemoteService, address: Address, question: Question) => Promise<Answer>;

export interface AggregatorOptions {
  readonly registrations: Registrations;
  readonly clock: Clock;
  readonly names: Names;
  readonly ask: Ask;
  /** Finds the address of a server behind. Rejects with an Error that says why there is none. */
  readonly locate: (service: RemoteService) => Promise<Address>;
  readonly findService: (namespace: string, name: string) => Promise<Service | undefined>;
  readonly findSlices: (namespace: string, service: string) => Promise<readonly EndpointSlice[]>;
  /** Writes the condition of an APIService. */
  readonly writeCondition: (name: string, condition: AvailableCondition) => Promise<void>;
  /** Reports a failure of the server itself. */
  readonly report: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

/** Interval at which a server behind is checked, and the least time between two checks (ms). */
const checkMs = 15_000;
const pauseMs = 200;

/** Maximum size of discovery documents (bytes). */
const maxDiscovery = 2 * 1024 * 1024;
/** Maximum size of the response to a check, which is not read (bytes). */
const maxChecked = 2 * 1024 * 1024;

const kubeAggregator = { name: 'system:kube-aggregator', groups: ['system:masters'] };

interface Check {
  running: boolean;
  again: boolean;
  cancel: () => void;
}

/**
 * Checks the servers behind: the Service, its endpoints, and an answer to a request. Keeps the conditions of APIServices and
 * the discovered resources up to date. A server is checked by one request at a time.
 */
export class Aggregator {
  readonly #options: AggregatorOptions;
  readonly #checks = new Map<string, Check>();
  #closed = false;

  constructor(options: AggregatorOptions) {
    this.#options = options;
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
      if (service?.namespace === namespace && service.name === name) this.#soon(registered, check);
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
      return;
    }
    check.running = false;
    check.cancel = this.#options.clock.after(check.again ? pauseMs : checkMs, () => this.#soon(name, check));
  }

  async #check(name: string): Promise<void> {
    const { registrations, clock, writeCondition } = this.#options;
    const registration = registrations.get(name);
    if (registration === undefined) return;
    const { remote, group, version } = registration;
    const finding = remote === undefined ? local : await this.#ask(remote.service, `/apis/${group}/${version}`);
    const current = registrations.get(name);
    if (this.#closed || current === undefined || current.remote?.service !== remote?.service) return;
    const condition = conditionAfter(current.condition, finding, clock.now());
    if (condition !== undefined) await writeCondition(name, condition);
    if (remote === undefined || finding.status === 'False') return;
    const resources = await this.#discover(remote.service, group, version);
    if (resources !== undefined) registrations.discovered(name, remote.service, resources);
  }

  /** Whether the server behind a Service answers. */
  async #ask(service: RemoteService, path: string): Promise<Finding> {
    const { ask, locate, findService, findSlices } = this.#options;
    const { namespace, name } = service;
    const found = await findService(namespace, name);
    const wrong = serviceFinding(service, found, await findSlices(namespace, name));
    if (wrong !== undefined) return wrong;
    let url = '';
    try {
      const address = await locate(service);
      url = `https://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}${path}`;
      const { status } = await ask(service, address, { path, user: kubeAggregator, maxBytes: maxChecked });
      if (status >= 200 && status <= 299) return passed;
      return failedCheck(`failing or missing response from ${url}: bad status from ${url}: ${status}`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return failedCheck(url === '' ? why : `failing or missing response from ${url}: ${why}`);
    }
  }

  /** The resources of a group version; undefined when the server behind does not say. */
  async #discover(service: RemoteService, group: string, version: string): Promise<JsonObject[] | undefined> {
    const accept = ['v2', 'v2beta1']
      .map((form) => `application/json;g=apidiscovery.${this.#options.names.domain};v=${form};as=APIGroupDiscoveryList`)
      .join();
    const list = await this.#read(service, { path: '/apis', accept, forwarded: true });
    const found = list === undefined ? undefined : fromGroupList(list, group, version);
    if (found !== undefined) return found;
    const own = await this.#read(service, { path: `/apis/${group}/${version}`, forwarded: true });
    return own === undefined ? undefined : fromResourceList(own);
  }

  /** A JSON document; undefined when there is none. */
  async #read(
    service: RemoteService,
    question: Pick<Question, 'path' | 'accept' | 'forwarded'>,
  ): Promise<Json | undefined> {
    const { ask, locate } = this.#options;
    try {
      const address = await locate(service);
      const { status, body } = await ask(service, address, {
        ...question,
        user: kubeAggregator,
        maxBytes: maxDiscovery,
      });
      return status === 200 ? (await inTurns(parseAnyJsonInSteps(body), serverTurns())).value : undefined;
    } catch {
      return undefined;
    }
  }
}
