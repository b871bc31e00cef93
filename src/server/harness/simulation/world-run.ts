import { createClient } from '../../../client/index.ts';
import { namesFor } from '../../../meta/index.ts';
import type { ServerSettings } from '../../settings/flags.ts';
import type { History } from '../checks/history.ts';
import { check } from '../checks/index.ts';
import { loadDefinitions, loadObjects } from '../load-objects.ts';
import { localWebhooks } from '../webhooks.ts';
import { beginFault, type Caller } from './begin-fault.ts';
import { ClientLink } from './client-link.ts';
import { HistoryRecorder } from './history-recorder.ts';
import type { PlannedOperation, SimulatedFault, SimulationPlan } from './plan.ts';
import { choicesOf } from './seeded-random.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { SimulatedServer } from './simulated-server.ts';
import { SimulatedStore } from './simulated-store.ts';
import { standardChecks, standardSettleMs } from './standard-checks.ts';
import type { Trace } from './trace.ts';
import type { VirtualLoop } from './virtual-loop.ts';
import type { Invariant, OwnWorld, RestInvariant, SimulatedContext, SimulatedProcessStart } from './world.ts';
import { StoreFollower, type WorldChange } from './world-state.ts';

/** A world with its durations in milliseconds. */
export interface WorldRunOptions {
  readonly seed: number;
  readonly world: OwnWorld;
  readonly settings: ServerSettings;
  readonly plan: SimulationPlan;
  readonly durationMs: number;
  readonly settleMs: number;
  readonly loop: VirtualLoop;
  readonly trace: Trace;
  readonly parts: { readonly servers: readonly string[]; readonly clients: readonly string[] };
  /** Ends the run: a rule does not hold. */
  readonly fail: (rule: string, message: string) => void;
}

const administrator = { commonName: 'simulation', organizations: ['system:masters'] };

/** Interval of the checks at rest (ms), and the time that watches have to deliver what was written before (ms). */
const restEveryMs = 500;
const deliveryMs = 15_000;

/** Time after which an operation counts as one that never ends, once all faults have ended (ms). */
const operationMs = 120_000;

/** The name of the client that looks at the world at rest. */
const observer = 'observer';

/** One run of a world, from the first start of its servers to the checks at its end. */
export class WorldRun {
  readonly #options: WorldRunOptions;
  readonly #store: SimulatedStore;
  readonly #state: StoreFollower;
  readonly #history: HistoryRecorder;
  readonly #callers = new Map<string, Caller>();
  readonly #contexts = new Map<string, SimulatedContext>();
  readonly #webhooks = { failing: false };
  readonly #invariants: { readonly [name: string]: Invariant };
  readonly #atRest: { readonly [name: string]: RestInvariant };
  #servers = new Map<string, SimulatedServer>();
  #began = 0;

  constructor(options: WorldRunOptions) {
    const { seed, world, settings, loop, trace } = options;
    this.#options = options;
    const { defect } = world;
    this.#store = new SimulatedStore({
      clock: loop,
      random: choicesOf(seed, 'store'),
      historyMs: settings.etcdCompactionInterval,
      defect: defect && ((store) => defect(store, choicesOf(seed, 'defect'))),
    });
    const names = namesFor(settings.apiDomain);
    this.#state = new StoreFollower(this.#store.state, names, trace, (change) => this.#changed(change));
    this.#history = new HistoryRecorder(loop, this.#store.state);
    const standard = standardChecks(settings, this.#store.state, this.#state);
    this.#invariants = { ...standard.invariants, ...world.invariants };
    this.#atRest = { ...standard.atRest, ...world.atRest };
  }

  get requests(): number {
    return this.#history.operations.length;
  }

  get revision(): number {
    return this.#state.revision;
  }

  async run(): Promise<void> {
    const { world, loop, plan, durationMs, parts } = this.#options;
    await this.#startServers();
    for (const name of [...parts.clients, observer]) this.#addCaller(name, undefined);
    for (const [name, start] of Object.entries(world.processes ?? {})) this.#addCaller(name, start);
    this.#began = loop.time;
    const faults = plan.faults.map((fault) => this.#strike(fault));
    const operations = parts.clients.map((client) =>
      this.#carryOut(plan.operations.filter((operation) => operation.client === client)),
    );
    await loop.sleep(durationMs);
    for (const end of await Promise.all(faults)) await end();
    await Promise.all([...this.#servers.values()].map(({ ready }) => ready));
    await this.#withinLimit(Promise.all(operations));
    await this.#rest();
    await this.#check();
  }

  async #startServers(): Promise<void> {
    const { seed, world, settings, loop, trace, parts } = this.#options;
    const { webhooks: handler } = world;
    const webhooks =
      handler &&
      (await localWebhooks({
        handler: (request) => {
          if (this.#webhooks.failing) throw new Error('the webhook cannot be reached');
          return handler(request);
        },
      }));
    const servers = parts.servers.map(
      (name) =>
        new SimulatedServer({
          name,
          seed,
          settings,
          clock: loop,
          store: this.#store,
          trace,
          interceptWebhooks: webhooks?.intercept,
        }),
    );
    this.#servers = new Map(servers.map((server) => [server.name, server]));
    const [first, ...others] = servers as [SimulatedServer, ...SimulatedServer[]];
    await first.start();
    const { client, names } = first.opened?.server ?? {};
    const { definitions, objects } = world.options ?? {};
    if (client === undefined || names === undefined) throw new Error('the first server does not serve');
    if (definitions !== undefined) await loadDefinitions(client, names, definitions);
    if (objects !== undefined) await loadObjects(client, objects, async () => {});
    await Promise.all(others.map((server) => server.start()));
  }

  /** Adds a client, or a process with what starts it. */
  #addCaller(name: string, start: SimulatedProcessStart | undefined): void {
    const { seed, settings, loop, trace, fail } = this.#options;
    let starts = 0;
    const create = () => {
      const process = new SimulatedProcess(name, loop);
      const purpose = `${name}, start ${++starts}`;
      const servers = [...this.#servers.values()];
      const random = choicesOf(seed, `connections of ${purpose}`);
      const link = new ClientLink({ process, clock: loop, random, servers, trace, user: administrator });
      const client = createClient({
        transport: this.#history.recorded(process, link.transport),
        apiDomain: settings.apiDomain,
      });
      const log = logOf(process, trace);
      const context = { name, client, clock: process.clock, random: choicesOf(seed, purpose), log, memory: new Map() };
      this.#contexts.set(name, context);
      const caller: Caller = {
        process,
        link,
        crash: () => {
          trace.note(name, 'crashes');
          process.kill();
        },
        start: create,
      };
      this.#callers.set(name, caller);
      if (start === undefined) return;
      trace.note(name, 'starts');
      // A process that ends with an error is started again, as in a cluster, unless it is wrong.
      Promise.resolve()
        .then(() => start(context))
        .catch((error: Error) => {
          if (!process.killed && !isExpected(error)) fail('error', `${name}: ${error.stack}`);
        });
    };
    create();
  }

  /** Begins a fault at its time. Resolves to what ends it early. */
  #strike(fault: SimulatedFault): Promise<() => Promise<void>> {
    const { loop, trace } = this.#options;
    const targets = {
      store: this.#store,
      servers: this.#servers,
      callers: this.#callers,
      webhooks: this.#webhooks,
    };
    return loop.sleep(fault.at).then(async () => {
      trace.note('fault', JSON.stringify(fault));
      const end = await beginFault(fault, targets);
      let ended = false;
      const endOnce = async () => {
        if (ended) return;
        ended = true;
        trace.note('fault', `ends: ${JSON.stringify(fault)}`);
        await end();
      };
      loop.after(fault.for ?? 0, () => void endOnce());
      return endOnce;
    });
  }

  /** Carries out the operations of one client, one after the other; those that could only begin after the duration are left out. */
  async #carryOut(operations: readonly PlannedOperation[]): Promise<void> {
    const { loop, world, durationMs, trace, fail } = this.#options;
    for (const { at, client, run, seed } of operations) {
      await loop.sleep(this.#began + at - loop.time);
      if (loop.time >= this.#began + durationMs) return;
      const operation = world.operations?.[run];
      const context = this.#contexts.get(client);
      if (operation === undefined || context === undefined)
        throw new Error(`there is no operation ${run} of ${client}`);
      trace.note(client, `begins ${run} (${seed})`);
      try {
        await operation({ ...context, random: choicesOf(seed, run) });
      } catch (error) {
        trace.note(client, `${run} fails: ${(error as Error).message}`);
        if (!isExpected(error as Error)) fail('error', `${client}, ${run}: ${(error as Error).stack}`);
      }
    }
  }

  /** Waits for operations; the run fails when they do not end. */
  async #withinLimit(operations: Promise<unknown>): Promise<void> {
    const { loop, fail } = this.#options;
    const cancel = loop.after(operationMs, () =>
      fail('error', `an operation does not end within ${operationMs} ms after the last fault`),
    );
    await operations;
    cancel();
  }

  /** Waits until the properties at rest hold. */
  async #rest(): Promise<void> {
    const { world, loop, settleMs, fail } = this.#options;
    const began = loop.time;
    const context = this.#contexts.get(observer) as SimulatedContext;
    for (const [name, holds] of Object.entries(this.#atRest)) {
      const isOwn = world.atRest?.[name] !== undefined;
      const until = began + (isOwn ? settleMs : Math.max(settleMs, standardSettleMs));
      for (;;) {
        const problem = await outcomeOf(() => holds(this.#state, context));
        if (problem === undefined) break;
        if (loop.time >= until) return fail(name, problem);
        await loop.sleep(restEveryMs);
      }
    }
  }

  #changed(change: WorldChange): void {
    for (const [name, holds] of Object.entries(this.#invariants)) {
      try {
        const problem = holds(this.#state, change);
        if (typeof problem === 'string') this.#options.fail(name, problem);
      } catch (error) {
        this.#options.fail(name, (error as Error).message);
      }
    }
  }

  /** Checks what clients and processes have seen. */
  async #check(): Promise<void> {
    const { world, loop, fail } = this.#options;
    const due = this.#state.revision;
    await loop.sleep(deliveryMs);
    const reached = this.#history.close(due);
    const { operations, watches, compactions } = this.#history;
    const { journal } = this.#state;
    const whole: History = { operations, watches, reached, journal, compactions, unmarked: true };
    const { marked } = world;
    const histories = marked === undefined ? [whole] : [withoutMark(restricted(whole, marked)), whole];
    for (const history of histories) {
      for (const { rule, message } of check(history)) fail(rule, message);
    }
  }
}

const withoutMark = ({ unmarked: _, ...history }: History): History => history;

/** The part of a history that is about some of the keys: operations on one object, and changes. */
function restricted(history: History, isIncluded: (key: string) => boolean): History {
  const { operations, watches, reached, journal } = history;
  const ofSelection = ({ selection }: { readonly selection: { resource: string; namespace?: string } }) =>
    isIncluded(`${selection.resource}/${selection.namespace ?? ''}/`);
  return {
    ...history,
    operations: operations.filter(({ request }) => ('key' in request ? isIncluded(request.key) : ofSelection(request))),
    watches: watches.filter(ofSelection),
    reached: reached.filter(ofSelection),
    journal: journal.filter(({ key }) => isIncluded(key)),
  };
}

function logOf(process: SimulatedProcess, trace: Trace): SimulatedContext['log'] {
  const note =
    (level: string) =>
    (text: string, fields: object): void => {
      if (!process.killed) trace.note(process.name, `${level}: ${text} ${JSON.stringify(fields, shown)}`);
    };
  return { info: note('info'), warn: note('warning'), error: note('error') };
}

const shown = (_: string, value: unknown): unknown => (value instanceof Error ? value.message : value);

/** Whether an error comes from the API or from a connection: servers and clients are disturbed. */
function isExpected(error: Error): boolean {
  const { code } = error as { readonly code?: unknown };
  return (
    typeof code === 'number' || ['ECONNREFUSED', 'ECONNRESET'].includes(String(code)) || error.name === 'AbortError'
  );
}

/** The message of a property that fails; undefined when all hold. */
async function outcomeOf(holds: () => unknown): Promise<string | undefined> {
  try {
    const result = await holds();
    if (typeof result === 'string') return result;
    return result === false ? 'it does not hold' : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
