import type { ClientRequest, ClientResponse, Transport } from '../../../client/index.ts';
import { identify, type RequestInfo } from '../../../http/index.ts';
import { formatGroupResource, StatusError } from '../../../meta/index.ts';
import type { Store } from '../../../store/index.ts';
import type {
  Compaction,
  Fields,
  Item,
  Operation,
  Outcome,
  Reached,
  Request,
  Selection,
  WatchEvent,
  WatchSession,
} from '../checks/history.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** The loop of the world, as far as a history needs it. */
interface Time {
  readonly time: number;
}

interface ListBody {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly details?: { readonly uid?: string };
  readonly items?: readonly Item[];
}

/** A watch that has not ended. */
type OpenSession = Omit<WatchSession, 'end' | 'ending'> & {
  readonly events: WatchEvent[];
  readonly process: SimulatedProcess;
};

type Written = Item & Fields & { readonly kind?: string };

/** Records the requests and watches of all clients of a world, as a history that can be checked. */
export class HistoryRecorder {
  readonly operations: Operation[] = [];
  readonly watches: WatchSession[] = [];
  readonly compactions: Compaction[] = [];
  readonly #open = new Set<OpenSession>();
  readonly #time: Time;
  readonly #store: Store;
  #ids = 0;

  constructor(time: Time, store: Store) {
    this.#time = time;
    this.#store = store;
  }

  /** Ends the record: open watches have been closed by the checker, which `due` says what they had to tell. */
  close(due: number): Reached[] {
    const open = [...this.#open];
    this.#open.clear();
    for (const session of open) this.watches.push({ ...session, end: this.#time.time, ending: 'closed' });
    return open.flatMap(({ watcher, selection, after, events, process }) => {
      const position = events.at(-1)?.version ?? after;
      // A killed process does not tell that its watches have ended.
      return position === undefined || process.killed ? [] : [{ watcher, selection, position, due }];
    });
  }

  /** A transport of a process whose requests are recorded. */
  recorded(process: SimulatedProcess, transport: Transport): Transport {
    const { name: client } = process;
    return (request) => {
      const info = infoOf(request);
      const { resource } = info ?? {};
      const isObject = resource !== undefined && ['', 'status'].includes(resource.subresource);
      if (info === undefined || !isObject || info.query.has('dryRun')) return transport(request);
      if (info.verb === 'watch') return this.#watch(process, info, request, transport);
      return this.#operate(client, info, request, transport);
    };
  }

  async #operate(
    client: string,
    info: RequestInfo,
    request: ClientRequest,
    transport: Transport,
  ): Promise<ClientResponse> {
    const asked = requestOf(info, request);
    if (asked === undefined) return transport(request);
    const start = this.#time.time;
    const record = (outcome: Outcome) => {
      const id = ('fields' in asked && Number(asked.fields?.data['write'])) || --this.#ids;
      this.operations.push({ id, client, replica: '', request: asked, start, end: this.#time.time, outcome });
    };
    let response: ClientResponse;
    let text = '';
    try {
      response = await transport(request);
      for await (const chunk of response.body) text += Buffer.from(chunk).toString();
    } catch (error) {
      if (!isRefused(error)) record({ type: 'unknown', message: (error as Error).message });
      throw error;
    }
    const outcome = outcomeOf(response.status, text);
    if (outcome.type === 'refused' && outcome.code === 410) await this.#noteCompacted();
    record(outcome);
    return { ...response, body: once(text) };
  }

  /** Records the compacted revision, for a client whose version is too old. */
  async #noteCompacted(): Promise<void> {
    this.compactions.push({ start: this.#time.time, revision: await this.#store.oldest() });
  }

  async #watch(
    process: SimulatedProcess,
    info: RequestInfo,
    request: ClientRequest,
    transport: Transport,
  ): Promise<ClientResponse> {
    const selection = selectionOf(info);
    const version = info.query.get('resourceVersion') ?? '';
    const isInitial = info.query.get('sendInitialEvents') === 'true';
    const start = this.#time.time;
    const response = await transport(request);
    // Without a version and without a mark of their end, initial events cannot be told from changes.
    if (selection === undefined || response.status !== 200 || (!isInitial && (version === '' || version === '0'))) {
      return response;
    }
    const events: WatchEvent[] = [];
    let isExpired = false;
    const session: OpenSession = {
      watcher: process.name,
      process,
      replica: '',
      selection,
      after: isInitial ? undefined : Number(version),
      start,
      events,
    };
    this.#open.add(session);
    const take = (line: string) => {
      const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: Item & { code?: number } };
      if (type === 'ERROR') isExpired ||= object.code === 410;
      else events.push(eventOf(this.#time.time, type as WatchEvent['type'], object));
    };
    const ended = async () => {
      if (isExpired) await this.#noteCompacted();
      if (!this.#open.delete(session)) return;
      this.watches.push({ ...session, end: this.#time.time, ending: isExpired ? 'expired' : 'broken' });
    };
    return { ...response, body: linesOf(response.body, take, ended) };
  }
}

function infoOf({ method, url }: ClientRequest): RequestInfo | undefined {
  try {
    return identify(method, url);
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';

/** Passes chunks on, and their lines to `take`. */
async function* linesOf(
  body: AsyncIterable<Uint8Array>,
  take: (line: string) => void,
  ended: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let rest = '';
  try {
    for await (const chunk of body) {
      const lines = (rest + Buffer.from(chunk).toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') take(line);
      yield chunk;
    }
  } finally {
    await ended();
  }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function eventOf(time: number, type: WatchEvent['type'], object: Item): WatchEvent {
  const { resourceVersion, annotations } = object.metadata as Item['metadata'] & {
    readonly annotations?: { readonly [name: string]: string };
  };
  const isBookmark = type === 'BOOKMARK';
  const endsInitial = isBookmark && Object.keys(annotations ?? {}).some((name) => name.endsWith('initial-events-end'));
  return { time, type, version: Number(resourceVersion), object: isBookmark ? undefined : object, endsInitial };
}

/** The request of an operation; undefined where a history has no form for it. */
function requestOf(info: RequestInfo, { body, headers }: ClientRequest): Request | undefined {
  const { verb, query, resource } = info;
  if (resource === undefined) return undefined;
  const text = query.get('resourceVersion');
  const version = text === null || text === '' ? {} : { version: Number(text) };
  const key = (name: string) => `${formatGroupResource(resource)}/${namespaceOf(resource)}/${name}`;
  if (verb === 'get') return { verb, key: key(resource.name), ...version };
  if (verb === 'list') {
    const selection = selectionOf(info);
    if (selection === undefined || query.has('limit') || query.has('continue')) return undefined;
    const isExact = query.get('resourceVersionMatch') === 'Exact';
    return { verb, selection, ...version, ...(isExact ? { isExact } : {}) };
  }
  const sent = parsed(body);
  if (verb === 'delete') {
    const { uid, resourceVersion } = (sent as { preconditions?: Partial<Item['metadata']> }).preconditions ?? {};
    return { verb, key: key(resource.name), ...(uid === undefined ? {} : { uid }), ...baseOf(resourceVersion) };
  }
  const name = resource.name === '' ? sent.metadata?.name : resource.name;
  if (name === undefined) return undefined;
  const { data, metadata } = sent;
  const fields = data?.['write'] === undefined ? {} : { fields: { tier: metadata?.labels?.['tier'] ?? '', data } };
  if (verb === 'create') return { verb, key: key(name), ...fields };
  if (verb === 'update') return { verb, key: key(name), ...fields, ...baseOf(metadata?.resourceVersion) };
  if (verb !== 'patch') return undefined;
  return { verb: headers['content-type']?.includes('apply') === true ? 'apply' : 'patch', key: key(name), ...fields };
}

/** The namespace that the object is in. In the path of a namespace it is the namespace itself. */
const namespaceOf = ({ group, resource, namespace }: NonNullable<RequestInfo['resource']>): string =>
  group === '' && resource === 'namespaces' ? '' : namespace;

const baseOf = (version: string | undefined) =>
  version === undefined || version === '' ? {} : { base: Number(version) };

function parsed(body: Uint8Array | undefined): Partial<Written> {
  try {
    return JSON.parse(Buffer.from(body ?? '{}').toString()) as Partial<Written>;
  } catch {
    return {};
  }
}

/** Fields that every kind can be selected by, by their names in selectors. */
const commonFields = new Set(['metadata.name', 'metadata.namespace']);

/** The selection of a list or watch; undefined when it selects by fields of a kind. */
function selectionOf({ resource, selectors }: RequestInfo): Selection | undefined {
  if (resource === undefined) return undefined;
  const { labelSelector, fieldSelector } = selectors;
  const [labels, fields] = [labelSelector?.selector, fieldSelector?.selector];
  if (fields?.terms.some(({ field }) => !commonFields.has(field)) === true) return undefined;
  const { name } = resource;
  const namespace = namespaceOf(resource);
  return {
    resource: formatGroupResource(resource),
    ...(namespace === '' ? {} : { namespace }),
    matches: ({ metadata }) =>
      (name === '' || metadata.name === name) &&
      labels?.matches(metadata.labels) !== false &&
      fields?.matches({ 'metadata.name': metadata.name, 'metadata.namespace': metadata.namespace ?? '' }) !== false,
  };
}

function outcomeOf(status: number, text: string): Outcome {
  let body: ListBody & Partial<Item>;
  try {
    body = JSON.parse(text) as ListBody & Partial<Item>;
  } catch {
    body = { message: text.slice(0, 200) };
  }
  const { message = '', reason = '', kind = '' } = body;
  if (status >= 500 || status === 429) return { type: 'unknown', message: `${status} ${reason}: ${message}` };
  if (status >= 400) return { type: 'refused', code: status, reason, message };
  if (body.items !== undefined) {
    return { type: 'list', version: Number(body.metadata?.resourceVersion), items: body.items };
  }
  if (kind !== 'Status') return { type: 'object', object: body as Item };
  const uid = body.details?.uid;
  return uid === undefined ? { type: 'unknown', message } : { type: 'deleted', uid };
}
