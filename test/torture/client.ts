import { setTimeout as sleep } from 'node:timers/promises';
import type { Fields, Item, Outcome, Request, Selection } from '../../src/server/harness/checks/history.ts';
import { versionOf } from '../../src/server/harness/checks/objects.ts';
import type { Answer, Ask, Endpoint } from './endpoint.ts';
import { type Random, randomOf } from './random.ts';
import type { Recorder } from './recorder.ts';
import { listPath, objectOf, pathOf, randomKey, randomSelection, randomTier } from './target.ts';

interface List {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Item[];
}

type Action = (client: Client) => Promise<unknown>;

/** The actions of a client, each with its weight. */
const actions: readonly (readonly [weight: number, action: Action])[] = [
  [14, (client) => client.create(client.key())],
  [22, (client) => client.update(client.key())],
  [14, (client) => client.patch(client.key())],
  [7, (client) => client.apply(client.key())],
  [8, (client) => client.delete(client.key())],
  [14, (client) => client.get(client.key())],
  [4, (client) => client.get(client.key(), 0)],
  [4, (client) => client.get(client.key(), client.latest)],
  [4, (client) => client.list({})],
  [3, (client) => client.list({ limit: 3 })],
  [2, (client) => client.list({ version: 0 })],
  [2, (client) => client.list({ version: client.latest })],
  [2, (client) => client.list({ version: client.past(), isExact: true })],
];
const choices = actions.flatMap(([weight, action]) => Array.from({ length: weight }, () => action));

/** Times to wait for an answer (ms). */
const patiences = [1_000, 3_000, 3_000, 8_000];
const pageAttempts = 5;

/**
 * One user of all replicas, who makes one request after the other and records them, but for those that no replica has
 * taken: their outcome is undefined.
 */
export class Client {
  readonly #name: string;
  readonly #recorder: Recorder;
  readonly #replicas: readonly Endpoint[];
  readonly #random: Random;
  /** Objects as they were seen last. */
  readonly #known = new Map<string, Item>();
  #replica: Endpoint;
  #isStopped = false;

  constructor(seed: number, number: number, recorder: Recorder, replicas: readonly Endpoint[]) {
    this.#name = `c${number}`;
    this.#recorder = recorder;
    this.#replicas = replicas;
    this.#random = randomOf(seed, number);
    this.#replica = this.#random.pick(replicas);
  }

  /** Works until it is stopped; resolves when the last request is over. `pause`: the most between two requests (ms). */
  async run(pause: number): Promise<void> {
    while (!this.#isStopped) {
      await this.#random.pick(choices)(this);
      if (this.#random.chance(6)) this.#change();
      await sleep(this.#random.integer(pause));
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** The replica that it asks from now on. */
  use(replica: Endpoint): void {
    this.#replica = replica;
  }

  key(): string {
    return randomKey(this.#random);
  }

  get latest(): number {
    return this.#recorder.latest;
  }

  /** A version of the last while. */
  past(): number {
    return Math.max(1, this.latest - this.#random.integer(this.#random.pick([10, 100, 1_000])));
  }

  create(key: string): Promise<Outcome | undefined> {
    return this.#write('create', key, (fields) => ({
      method: 'POST',
      path: pathOf(key).collection,
      body: objectOf(key, fields),
    }));
  }

  /** Replaces an object as this client knows it, which is often out of date. */
  async update(key: string): Promise<Outcome | undefined> {
    if (!this.#known.has(key) || this.#random.chance(2)) await this.get(key);
    const known = this.#known.get(key);
    if (known === undefined) return undefined;
    return this.#write('update', key, (fields) => ({
      method: 'PUT',
      path: pathOf(key).object,
      body: objectOf(key, fields, known),
    }));
  }

  patch(key: string): Promise<Outcome | undefined> {
    return this.#write('patch', key, ({ tier, data }) => ({
      method: 'PATCH',
      path: pathOf(key).object,
      type: 'application/merge-patch+json',
      body: { metadata: { labels: { tier } }, data },
    }));
  }

  apply(key: string): Promise<Outcome | undefined> {
    return this.#write('apply', key, (fields) => ({
      method: 'PATCH',
      path: `${pathOf(key).object}?fieldManager=${this.#name}&force=true`,
      type: 'application/apply-patch+yaml',
      body: objectOf(key, fields),
    }));
  }

  delete(key: string): Promise<Outcome | undefined> {
    const known = this.#known.get(key);
    const choice = known === undefined ? 0 : this.#random.integer(3);
    const request = {
      verb: 'delete',
      key,
      ...(choice === 1 ? { uid: known?.metadata.uid as string } : {}),
      ...(choice === 2 ? { base: versionOf(known as Item) } : {}),
    } as const;
    const { uid, base } = request;
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(base === undefined ? {} : { resourceVersion: String(base) }),
    };
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
    return this.#perform(this.#recorder.nextId(), request, { method: 'DELETE', path: pathOf(key).object, body });
  }

  get(key: string, version?: number): Promise<Outcome | undefined> {
    const query = version === undefined ? '' : `?resourceVersion=${version}`;
    const request = { verb: 'get', key, ...(version === undefined ? {} : { version }) } as const;
    return this.#perform(this.#recorder.nextId(), request, { method: 'GET', path: `${pathOf(key).object}${query}` });
  }

  /** Lists something at random, with a limit in pages from any replica. */
  async list(
    how: { version?: number; isExact?: boolean; limit?: number },
    selection = randomSelection(this.#random),
  ): Promise<Outcome | undefined> {
    const [start, id, { name: replica }] = [this.#recorder.now(), this.#recorder.nextId(), this.#replica];
    const request = { verb: 'list', selection, ...how } as const;
    const outcome = await this.#pages(selection, request);
    if (outcome === undefined) return this.#refused();
    if (outcome.type === 'list') this.#recorder.see(outcome.version);
    const end = this.#recorder.now();
    this.#recorder.operations.push({ id, client: this.#name, replica, request, start, end, outcome });
    return outcome;
  }

  async #pages(
    selection: Selection,
    { version, isExact, limit }: Extract<Request, { verb: 'list' }>,
  ): Promise<Outcome | undefined> {
    const first = {
      ...(version === undefined ? {} : { resourceVersion: String(version) }),
      ...(version === undefined || version === 0
        ? {}
        : { resourceVersionMatch: isExact === true ? 'Exact' : 'NotOlderThan' }),
    };
    const items: Item[] = [];
    let shown: string | undefined;
    let next: string | undefined;
    do {
      const query = next === undefined ? first : { continue: next };
      const path = listPath(selection, { ...query, ...(limit === undefined ? {} : { limit: String(limit) }) });
      const page = await this.#page(path, next === undefined ? 1 : pageAttempts);
      if (page === undefined) return undefined;
      if ('type' in page) return { ...page, ...(shown === undefined ? {} : { version: Number(shown) }) };
      const { resourceVersion } = page.metadata;
      shown ??= resourceVersion;
      if (shown !== resourceVersion) return { type: 'wrong', message: `a page at ${resourceVersion} after ${shown}` };
      items.push(...page.items);
      // A complete list of custom objects has an empty token.
      next = page.metadata.continue || undefined;
      if (next !== undefined) await this.#wander();
    } while (next !== undefined);
    return { type: 'list', version: Number(shown), items };
  }

  /** Asks for a page until there is an answer. */
  async #page(path: string, attempts: number): Promise<List | Exclude<Outcome, { type: 'list' }> | undefined> {
    let outcome: Exclude<Outcome, { type: 'list' }> | undefined;
    for (let i = 0; i < attempts; i++) {
      const answer = await this.#ask({ method: 'GET', path });
      if ('status' in answer && answer.status === 200) return JSON.parse(answer.text) as List;
      outcome = outcomeOf(answer);
      if (outcome?.type === 'refused') break;
      if (attempts > 1) await this.#wander();
    }
    return outcome;
  }

  async #wander(): Promise<void> {
    this.#change();
    await sleep(this.#random.integer(50));
  }

  #change(): void {
    this.#replica = this.#random.pick(this.#replicas);
  }

  #write(
    verb: 'create' | 'update' | 'patch' | 'apply',
    key: string,
    askOf: (fields: Fields) => Ask,
  ): Promise<Outcome | undefined> {
    const id = this.#recorder.nextId();
    const known = verb === 'update' ? this.#known.get(key) : undefined;
    const own = { write: String(id), [this.#name]: String(id) };
    const fields = { tier: randomTier(this.#random), data: { ...known?.data, ...own } };
    const base = known === undefined ? {} : { base: versionOf(known) };
    return this.#perform(id, { verb, key, fields, ...base }, askOf(fields));
  }

  /** Makes a request and records it. */
  async #perform(id: number, request: Exclude<Request, { verb: 'list' }>, ask: Ask): Promise<Outcome | undefined> {
    const { name: replica } = this.#replica;
    const start = this.#recorder.now();
    const outcome = outcomeOf(await this.#ask(ask));
    if (outcome === undefined) return this.#refused();
    const end = this.#recorder.now();
    this.#recorder.operations.push({ id, client: this.#name, replica, request, start, end, outcome });
    if (outcome.type === 'object') {
      this.#known.set(request.key, outcome.object);
      this.#recorder.see(versionOf(outcome.object));
    } else if (outcome.type === 'refused' && outcome.code === 404) this.#known.delete(request.key);
    if (outcome.type === 'unknown') this.#change();
    return outcome;
  }

  /** No replica has taken the request: another one may. */
  async #refused(): Promise<undefined> {
    await this.#wander();
  }

  async #ask(ask: Ask): Promise<Answer | Error> {
    return this.#replica.ask(ask, this.#random.pick(patiences)).catch((error: Error) => error);
  }
}

/** The outcome of a request for one object; undefined if it was not sent. */
function outcomeOf(answer: Answer | Error): Exclude<Outcome, { type: 'list' }> | undefined {
  if (answer instanceof Error && 'code' in answer && answer.code === 'ECONNREFUSED') return undefined;
  if (answer instanceof Error) return { type: 'unknown', message: answer.message };
  const { status, text } = answer;
  let body: { kind?: string; reason?: string; message?: string; details?: { uid?: string } };
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    body = { message: text.slice(0, 200) };
  }
  const { message = '', reason = '' } = body;
  if (status >= 500) return { type: 'unknown', message: `${status} ${reason}: ${message}` };
  if (status >= 400) return { type: 'refused', code: status, reason, message };
  if (body.kind === undefined) return { type: 'wrong', message: `${status} ${message}` };
  if (body.kind !== 'Status') return { type: 'object', object: body as unknown as Item };
  const uid = body.details?.uid;
  return uid === undefined ? { type: 'wrong', message: `${status} ${text}` } : { type: 'deleted', uid };
}
