import { isJsonObject, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { qualifiedName } from '../cluster/resource.ts';
import { type CommandContext, command } from '../command.ts';
import { CommandError, throwAll } from '../errors.ts';
import { duration, text, toggle } from '../flags/flag.ts';
import type { Io } from '../io.ts';
import { followEvents } from '../objects/events-of-watch.ts';
import { findByName } from '../objects/find-by-name.ts';
import { filenameFlags, hasFiles, placeDocument, readDocuments } from '../objects/manifests.ts';
import { objectsOfTarget } from '../objects/pages.ts';
import { selectorFlags } from '../objects/selection.ts';
import { pathOfTarget, type Target, targetsOf } from '../objects/targets.ts';
import { relaxedPath } from '../output/custom-columns.ts';
import { jsonText } from '../output/json.ts';
import { printedValue } from '../output/jsonpath/evaluate.ts';
import { outputFlags, type Printer, printedName, printerOf } from '../output/printer.ts';

const flags = {
  ...filenameFlags,
  ...outputFlags,
  ...selectorFlags,
  all: toggle(false, 'Select all resources in the namespace of the specified resource types.'),
  allNamespaces: toggle(false, 'If present, list the requested object(s) across all namespaces.', { short: 'A' }),
  for: text(
    '',
    "The condition to wait on: [create|delete|condition=condition-name[=condition-value]|jsonpath='{JSONPath expression}'=[JSONPath value]].",
  ),
  timeout: duration(
    30_000,
    "The length of time to wait before giving up. Zero means check once and don't wait, negative means wait for a week.",
  ),
};

const weekMs = 7 * 24 * 3_600_000;

/** A condition on the latest state of the object, which is undefined when there is none. */
interface Goal {
  readonly isMet: (object: JsonObject | undefined) => boolean;
  /** An object that is missing is waited for too. */
  readonly allowsMissing: boolean;
}

export const waitCommand = command({
  name: 'wait',
  summary: 'Wait for a specific condition on one or many resources',
  usage:
    "([-f FILENAME] | resource.group/resource.name | resource.group [(-l label | --all)]) [--for=create|--for=delete|--for condition=available|--for=jsonpath='{}'[=value]]",
  examples: [
    {
      title: 'Wait for the pod "busybox1" to contain the status condition of type "Ready"',
      lines: ['ctl wait --for=condition=Ready pod/busybox1'],
    },
    {
      title: 'Wait for the pod "busybox1" to contain the status phase to be "Running"',
      lines: ["ctl wait --for=jsonpath='{.status.phase}'=Running pod/busybox1"],
    },
    {
      title: 'Wait for the pod "busybox1" to be deleted, with a timeout of 60s',
      lines: ['ctl wait --for=delete pod/busybox1 --timeout=60s'],
    },
  ],
  flags,
  run: async (context) => {
    const { flags: values, io } = context;
    const goal = goalOf(values.for);
    const cluster = await context.cluster();
    const printer = await printerOf(values, { write: (line) => io.stdout.write(line), folder: io.folder });
    const targets = await namedTargets(context, cluster);
    // Objects that nothing selects have been deleted.
    if (targets.length === 0 && values.for.toLowerCase() === 'delete') return 0;
    if (targets.length === 0) throw new CommandError('no matching resources found');
    const limit = values.timeout < 0 ? weekMs : values.timeout;
    const errors: unknown[] = [];
    for (const target of targets) {
      await waitFor(io, cluster, target, goal, limit, printer).catch((error: unknown) => errors.push(error));
    }
    throwAll(errors);
    return 0;
  },
});

/** @throws CommandError */
function goalOf(condition: string): Goal {
  const lower = condition.toLowerCase();
  if (lower === 'delete') return { isMet: (object) => object === undefined, allowsMissing: true };
  if (lower === 'create') return { isMet: (object) => object !== undefined, allowsMissing: true };
  const [, name, status = 'true'] = /^condition=([^=]+)(?:=(.*))?$/.exec(condition) ?? [];
  if (name !== undefined) {
    return { isMet: (object) => object !== undefined && hasCondition(object, name, status), allowsMissing: false };
  }
  const [, path, expected] = /^jsonpath=(\{[\s\S]*?\}|[^={][^=]*)(?:=([\s\S]*))?$/.exec(condition) ?? [];
  if (path === undefined) throw new CommandError(`unrecognized condition: ${JSON.stringify(condition)}`);
  const expression = relaxedPath(path);
  const wanted = expected?.replace(/^'(.*)'$/, '$1');
  return {
    isMet: (object) => {
      const values = object === undefined ? [] : expression.values(object);
      if (values.length > 1) throw new CommandError('given jsonpath expression matches more than one value');
      return values[0] !== undefined && (wanted === undefined || printedValue(values[0]) === wanted);
    },
    allowsMissing: false,
  };
}

/** A condition of an older generation does not count. */
function hasCondition(object: JsonObject, name: string, status: string): boolean {
  const { status: of = null, metadata = null } = object;
  const conditions = isJsonObject(of) && Array.isArray(of['conditions']) ? of['conditions'].filter(isJsonObject) : [];
  const found = conditions.find(({ type }) => jsonText(type).toLowerCase() === name.toLowerCase());
  if (found === undefined || jsonText(found['status']).toLowerCase() !== status.toLowerCase()) return false;
  const generation = isJsonObject(metadata) ? metadata['generation'] : undefined;
  const observed = found['observedGeneration'] ?? (isJsonObject(of) ? of['observedGeneration'] : undefined);
  return observed === undefined || generation === undefined || Number(observed) >= Number(generation);
}

async function namedTargets(
  { args, flags: values, io }: CommandContext<typeof flags>,
  cluster: Cluster,
): Promise<Target[]> {
  const targets: Target[] = [];
  if (hasFiles(values))
    for (const one of await readDocuments(values, io)) targets.push(await placeDocument(cluster, one));
  else
    for (const target of await targetsOf(cluster, args, { allNamespaces: values.allNamespaces })) targets.push(target);
  const named: Target[] = [];
  for (const target of targets) {
    if (target.name !== undefined) named.push(target);
    else
      for (const { metadata } of await objectsOfTarget(cluster, target, { selectors: values })) {
        const { name = '', namespace } = metadata as { name?: string; namespace?: string };
        named.push({ ...target, namespace, name });
      }
  }
  return named;
}

async function waitFor(
  io: Io,
  cluster: Cluster,
  target: Target,
  goal: Goal,
  timeoutMs: number,
  printer: Printer | undefined,
): Promise<void> {
  const { resource, name = '' } = target;
  const met = (object: JsonObject | undefined) => {
    const shown = object ?? { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { name } };
    if (printer !== undefined) printer.print(shown);
    else io.stdout.write(`${printedName(shown)} condition met\n`);
  };
  const found = await findByName(cluster, target);
  let { object } = found;
  if (object === undefined && !goal.allowsMissing) {
    throw new StatusError(404, 'NotFound', `${qualifiedName(resource)} "${name}" not found`);
  }
  if (object === undefined && goal.isMet(undefined)) return;
  if (goal.isMet(object)) return met(object);
  const timeout = AbortSignal.timeout(Math.max(timeoutMs, 1));
  const watch = {
    path: pathOfTarget({ ...target, name: undefined }),
    query: { fieldSelector: `metadata.name=${name}`, resourceVersion: found.version },
    until: timeout,
    event: ({ type, object: changed }: { readonly type: string; readonly object: JsonObject }) => {
      const isMet = goal.isMet(type === 'DELETED' ? undefined : changed);
      object = changed;
      return isMet;
    },
  };
  await io.progress.during(
    () => `Waiting for ${resource.name}/${name}`,
    () => followEvents(io, cluster, watch),
  );
  if (timeout.aborted) {
    const where = object === undefined ? '' : ` on ${resource.name}/${name}`;
    throw new CommandError(`timed out waiting for the condition${where}`);
  }
  met(object);
}
