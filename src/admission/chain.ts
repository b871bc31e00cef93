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
 * @throws StatusError of the first plugin that rejects
 */
export async function runMutating(chain: AdmissionChain, request: AdmissionRequest): Promise<boolean> {
  const phase = pluginsFor(chain, request).admit;
  await runPhase(phase, request, chain.timing.clock);
  const { reinvocation } = request;
  if (reinvocation?.needed === true) {
    reinvocation.again = true;
    await runPhase(phase, request, chain.timing.clock);
  }
  return phase.changes && request.object !== undefined;
}

/** Runs the validating phase on the object to be stored. @throws StatusError of the first plugin that rejects */
export function runValidating(chain: AdmissionChain, request: AdmissionRequest): Promise<void> {
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

async function runPhase(phase: Phase, request: AdmissionRequest, clock: Timing['clock']): Promise<void> {
  if (phase.steps.length === 0) return;
  const began = clock.now();
  let last = began;
  for (const step of phase.steps) {
    try {
      const done = step.run(request);
      if (done !== undefined) await done;
    } catch (error) {
      const now = clock.now();
      step.rejected((now - last) / 1000);
      phase.rejected((now - began) / 1000);
      throw error;
    }
    const now = clock.now();
    step.passed((now - last) / 1000);
    last = now;
  }
  phase.passed((last - began) / 1000);
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
