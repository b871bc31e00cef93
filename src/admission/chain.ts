import { type Clock, formatGroupResource } from '../meta/index.ts';
import type {
  AdmissionOperation,
  AdmissionPlugin,
  AdmissionRequest,
  Awaitable,
  StepLabels,
  StepTimer,
} from './types.ts';

/** One plugin's handler of a phase, with the observers of its latency. */
interface TimedPlugin extends Timed {
  readonly run: (request: AdmissionRequest) => void | Promise<void>;
}
interface Timed {
  readonly passed: (seconds: number) => void;
  readonly rejected: (seconds: number) => void;
}
interface Phase extends Timed {
  /** A plugin changes objects in place. */
  readonly changes: boolean;
  readonly steps: readonly TimedPlugin[];
}

/** The plugins that handle one operation on one resource or subresource. */
interface PluginSet {
  readonly admit: Phase;
  readonly validate: Phase;
}
type PluginSets = { readonly [operation in AdmissionOperation]: PluginSet };

/** The ordered plugins, and the sets of those that handle each operation and resource, built on first use. */
export interface AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[];
  readonly timing: Timing;
  /** By group, resource and subresource; bounded by the number of served resources. */
  readonly pluginSets: Map<string, Map<string, Map<string, PluginSets>>>;
  /** By operation and the positions of the plugins: most resources share theirs. */
  readonly equalSets: Map<string, PluginSet>;
}

interface Timing {
  readonly clock: Pick<Clock, 'now'>;
  readonly timer: StepTimer;
}

const nothing = () => {};
const untimed: Timing = { clock: { now: () => 0 }, timer: () => nothing };

export const createChain = (plugins: readonly AdmissionPlugin[], timing = untimed): AdmissionChain => ({
  plugins,
  timing,
  pluginSets: new Map(),
  equalSets: new Map(),
});

/**
 * Runs the mutating phase in order. The result says whether the object may have been changed without its defaults.
 * Answers at once when no plugin waits, and rejects with the StatusError of the first plugin that rejects.
 */
export function runMutating(chain: AdmissionChain, request: AdmissionRequest): Awaitable<boolean> {
  const phase = pluginsFor(chain, request).admit;
  const running = runPhase(phase, request, chain.timing.clock);
  if (running !== undefined || request.reinvocation?.needed === true) return reinvoke(chain, request, phase, running);
  return phase.changes && request.object !== undefined;
}

async function reinvoke(
  chain: AdmissionChain,
  request: AdmissionRequest,
  phase: Phase,
  running: Promise<void> | undefined,
): Promise<boolean> {
  await running;
  const { reinvocation } = request;
  if (reinvocation?.needed === true) {
    reinvocation.again = true;
    await runPhase(phase, request, chain.timing.clock);
  }
  return phase.changes && request.object !== undefined;
}

/** Runs the validating phase on the object to be stored, likewise; undefined when it has passed. */
export function runValidating(chain: AdmissionChain, request: AdmissionRequest): Promise<void> | undefined {
  return runPhase(pluginsFor(chain, request).validate, request, chain.timing.clock);
}

/**
 * Handles a request by a value that a plugin looks up: at once where the value is known, so that the usual request costs no
 * promise.
 */
export function whenKnown<T>(
  value: Awaitable<T>,
  request: AdmissionRequest,
  handle: (value: T, request: AdmissionRequest) => void | Promise<void>,
): void | Promise<void> {
  return value instanceof Promise ? value.then((known) => handle(known, request)) : handle(value, request);
}

/**
 * A handler of requests by what is configured in the cluster, such as webhooks. `configured` derives it from stored objects;
 * while it is empty, requests pass without a promise.
 */
export function whenConfigured<T>(
  configured: () => Awaitable<readonly T[]>,
  handle: (configured: readonly T[], request: AdmissionRequest) => Promise<void>,
): (request: AdmissionRequest) => void | Promise<void> {
  const handleUnlessEmpty = (found: readonly T[], request: AdmissionRequest) =>
    found.length === 0 ? undefined : handle(found, request);
  return (request) => whenKnown(configured(), request, handleUnlessEmpty);
}

/** Runs the plugins up to the first one that waits without a promise: most of them never wait. */
function runPhase(phase: Phase, request: AdmissionRequest, clock: Timing['clock']): Promise<void> | undefined {
  const { steps } = phase;
  if (steps.length === 0) return undefined;
  const began = clock.now();
  let last = began;
  for (const [i, step] of steps.entries()) {
    let done: void | Promise<void>;
    try {
      done = step.run(request);
    } catch (error) {
      return Promise.reject(rejected(phase, step, { began, last }, clock, error));
    }
    if (done !== undefined) return continuePhase(phase, request, clock, { began, last }, i, done);
    last = passed(step, last, clock);
  }
  phase.passed((last - began) / 1000);
  return undefined;
}

interface PhaseTimes {
  readonly began: number;
  readonly last: number;
}

/** Runs the rest of a phase whose step `first` waits. */
async function continuePhase(
  phase: Phase,
  request: AdmissionRequest,
  clock: Timing['clock'],
  { began, last: started }: PhaseTimes,
  first: number,
  waiting: Promise<void>,
): Promise<void> {
  let last = started;
  let running: void | Promise<void> = waiting;
  for (const [i, step] of phase.steps.entries()) {
    if (i < first) continue;
    try {
      if (i > first) running = step.run(request);
      if (running !== undefined) await running;
    } catch (error) {
      throw rejected(phase, step, { began, last }, clock, error);
    }
    last = passed(step, last, clock);
  }
  phase.passed((last - began) / 1000);
}

/** Returns the time at which the step has passed. */
function passed(step: TimedPlugin, last: number, clock: Timing['clock']): number {
  const now = clock.now();
  step.passed((now - last) / 1000);
  return now;
}

/** Returns the error. */
function rejected(
  phase: Phase,
  step: TimedPlugin,
  { began, last }: PhaseTimes,
  clock: Timing['clock'],
  error: unknown,
): unknown {
  const now = clock.now();
  step.rejected((now - last) / 1000);
  phase.rejected((now - began) / 1000);
  return error;
}

function pluginsFor(chain: AdmissionChain, { operation, resource, subresource }: AdmissionRequest): PluginSet {
  const found = chain.pluginSets.get(resource.group)?.get(resource.resource)?.get(subresource);
  return (found ?? addPlugins(chain, resource.group, resource.resource, subresource))[operation];
}

function addPlugins(chain: AdmissionChain, group: string, resource: string, subresource: string): PluginSets {
  const { plugins, pluginSets, equalSets } = chain;
  const { timer } = chain.timing;
  const id = formatGroupResource({ group, resource });
  const timed = (plugin: string, type: StepLabels['type'], operation: AdmissionOperation): Timed => ({
    passed: timer({ plugin, type, operation, rejected: false }),
    rejected: timer({ plugin, type, operation, rejected: true }),
  });
  const setFor = (operation: AdmissionOperation): PluginSet => {
    const handling = plugins.filter(({ handles }) => handles?.({ operation, resource: id, subresource }) ?? true);
    const key = `${operation} ${handling.map((plugin) => plugins.indexOf(plugin)).join()}`;
    const equal = equalSets.get(key);
    if (equal !== undefined) return equal;
    const changes = handling.some(({ mutate, replaces }) => mutate !== undefined && replaces !== true);
    const phase = (type: StepLabels['type'], part: 'mutate' | 'validate'): Phase => ({
      ...timed('', type, operation),
      changes: changes && part === 'mutate',
      steps: handling.flatMap(({ name, [part]: run }) =>
        run === undefined ? [] : { run, ...timed(name, type, operation) },
      ),
    });
    const set = { admit: phase('admit', 'mutate'), validate: phase('validate', 'validate') };
    equalSets.set(key, set);
    return set;
  };
  const sets: PluginSets = {
    CREATE: setFor('CREATE'),
    UPDATE: setFor('UPDATE'),
    DELETE: setFor('DELETE'),
    CONNECT: setFor('CONNECT'),
  };
  const byResource = pluginSets.get(group) ?? new Map<string, Map<string, PluginSets>>();
  const bySubresource = byResource.get(resource) ?? new Map<string, PluginSets>();
  pluginSets.set(group, byResource.set(resource, bySubresource.set(subresource, sets)));
  return sets;
}
