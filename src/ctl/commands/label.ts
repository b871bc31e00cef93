/** `label` and `annotate`: both change a map of the metadata by a merge patch. */

import { isJsonObject, type Json, type JsonObject, labelValue, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type Command, type CommandContext, command } from '../command.ts';
import { CommandError, throwAll } from '../errors.ts';
import { text, toggle } from '../flags/flag.ts';
import { changeFlags, changeQuery, type DryRun, dryRunOf, Reporter } from '../objects/change.ts';
import { patchLocally } from '../objects/local-patch.ts';
import { filenameFlags, hasFiles, placeDocument, readDocuments } from '../objects/manifests.ts';
import { objectsOfTarget } from '../objects/pages.ts';
import { localFlag, localObjects, mediaTypes } from '../objects/patch.ts';
import { selectorFlags, urlOf } from '../objects/selection.ts';
import { pathOfTarget, type Target, targetsOf } from '../objects/targets.ts';
import { jsonText } from '../output/json.ts';

const flagsFor = (manager: string) => ({
  ...changeFlags(manager),
  ...filenameFlags,
  ...localFlag,
  ...selectorFlags,
  all: toggle(false, 'Select all resources, in the namespace of the specified resource types.'),
  allNamespaces: toggle(false, 'If true, check the specified action in all namespaces.', { short: 'A' }),
  list: toggle(false, 'If true, display the labels or annotations for a given resource.'),
  overwrite: toggle(
    false,
    'If true, allow values to be overwritten, otherwise reject updates that overwrite existing values.',
  ),
  resourceVersion: text(
    '',
    'If non-empty, the update will only succeed if this is the current resource-version for the object.',
  ),
});

type LabelContext = CommandContext<ReturnType<typeof flagsFor>>;

/** The differences between labels and annotations. */
interface Noun {
  readonly name: 'label' | 'annotation';
  readonly field: 'labels' | 'annotations';
  /** The line about an object that was changed; `null` values are removed. */
  readonly operation: (values: JsonObject, isChanged: boolean) => string;
  /** The message about a value that is there already. */
  readonly overwrites: (key: string, current: string) => string;
}

const label: Noun = {
  name: 'label',
  field: 'labels',
  operation: (values, isChanged) => {
    if (!isChanged) return 'not labeled';
    return Object.values(values).every((value) => value === null) ? 'unlabeled' : 'labeled';
  },
  overwrites: (key, current) => `'${key}' already has a value (${current}), and --overwrite is false`,
};
const annotation: Noun = {
  name: 'annotation',
  field: 'annotations',
  operation: () => 'annotated',
  overwrites: (key, current) =>
    `--overwrite is false but found the following declared annotation(s): '${key}' already has a value (${current})`,
};

/** Arguments of the form `KEY=VALUE` and `KEY-`, after the objects. */
function splitArgs(args: readonly string[]): { resources: string[]; pairs: string[] } {
  const isPair = (arg: string) => arg.includes('=') || /^[^/]+-$|\/[^/]+-$/.test(arg);
  const at = args.findIndex(isPair);
  return at < 0 ? { resources: [...args], pairs: [] } : { resources: args.slice(0, at), pairs: args.slice(at) };
}

/** The new values by key; null removes a key. @throws CommandError */
function valuesOf(pairs: readonly string[], { name }: Noun): JsonObject {
  const values = new Map<string, Json>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const key = at < 0 ? pair.replace(/-$/, '') : pair.slice(0, at);
    if (key === '' || (at < 0 && !pair.endsWith('-'))) throw new CommandError(`invalid ${name} spec: ${pair}`);
    if (values.has(key) && (values.get(key) === null) !== at < 0) {
      throw new CommandError(`can not both modify and remove a ${name} in the same command`);
    }
    const value = pair.slice(at + 1);
    const problems = name === 'label' && at >= 0 ? labelValue(value) : [];
    if (problems.length > 0)
      throw new CommandError(`invalid label value: ${JSON.stringify(pair)}: ${problems.join('; ')}`);
    values.set(key, at < 0 ? null : value);
  }
  return Object.fromEntries(values);
}

async function run(noun: Noun, context: LabelContext): Promise<number> {
  const { args, flags, io } = context;
  const { resources, pairs } = splitArgs(args);
  if (resources.length === 0 && !hasFiles(flags)) {
    throw new CommandError('one or more resources must be specified as <resource> <name> or <resource>/<name>');
  }
  if (pairs.length === 0 && !flags.list) {
    throw new CommandError(`at least one ${noun.name} update is required`);
  }
  const values = valuesOf(pairs, noun);
  const dryRun = dryRunOf(flags, io);
  const reporter = await Reporter.open(flags, dryRun, io);
  const show = async (object: JsonObject, isNamed: boolean, cluster?: Cluster, target?: Target) => {
    if (flags.list) printList(noun, context, object, isNamed);
    else reporter.changed(...(await changed(noun, context, object, values, dryRun, cluster, target)));
  };
  if (flags.local) {
    const objects = await localObjects(resources, flags, io, localWithoutFiles);
    for (const object of objects) await show(object, objects.length > 1);
    return 0;
  }
  const cluster = await context.cluster();
  const targets = await targetsFor(context, cluster, resources);
  const errors: unknown[] = [];
  for (const target of targets) {
    try {
      for (const object of await objectsOfTarget(cluster, target, { selectors: flags })) {
        await show(object, targets.length > 1, cluster, target);
      }
    } catch (error) {
      if (!(error instanceof StatusError || error instanceof CommandError)) throw error;
      errors.push(error);
    }
  }
  throwAll(errors);
  return 0;
}

const localWithoutFiles = 'can only use local files by -f pod.yaml or --filename=pod.json when --local=true is set';

async function targetsFor(
  { flags, io }: LabelContext,
  cluster: Cluster,
  resources: readonly string[],
): Promise<Target[]> {
  if (hasFiles(flags)) {
    const placed: Target[] = [];
    for (const document of await readDocuments(flags, io)) placed.push(await placeDocument(cluster, document));
    return placed;
  }
  const targets = await targetsOf(cluster, resources, { allNamespaces: flags.allNamespaces });
  const selects = flags.all || flags.selector !== '' || flags.fieldSelector !== '';
  if (!selects && targets.some(({ name }) => name === undefined)) {
    throw new CommandError('resource(s) were provided, but no name was specified');
  }
  return targets;
}

const mapOf = (object: JsonObject, field: string): JsonObject => {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  return isJsonObject(metadata[field]) ? metadata[field] : {};
};

function printList({ field }: Noun, { io }: LabelContext, object: JsonObject, isNamed: boolean): void {
  if (isNamed) io.stdout.write(`Listing ${field} for ${jsonText(object['kind'])}./${metaOf(object).name}:\n`);
  for (const [key, value] of Object.entries(mapOf(object, field))) io.stdout.write(`${key}=${jsonText(value)}\n`);
}

const metaOf = ({ metadata }: JsonObject) => metadata as { name: string; namespace?: string };

/** Changes one object, at the server unless there is none, and returns it with the operation to report. */
async function changed(
  noun: Noun,
  { flags, io }: LabelContext,
  object: JsonObject,
  values: JsonObject,
  dryRun: DryRun,
  cluster: Cluster | undefined,
  target: Target | undefined,
): Promise<[JsonObject, string]> {
  const before = mapOf(object, noun.field);
  for (const [key, value] of Object.entries(values)) {
    const current = Object.hasOwn(before, key) ? before[key] : undefined;
    if (value === null && current === undefined) io.stdout.write(`${noun.name} ${JSON.stringify(key)} not found.\n`);
    if (value !== null && current !== undefined && current !== value && !flags.overwrite) {
      throw new CommandError(noun.overwrites(key, jsonText(current)));
    }
  }
  const isChanged = Object.entries(values).some(([key, value]) => (before[key] ?? null) !== value);
  const operation = noun.operation(values, isChanged);
  if (!isChanged) return [object, operation];
  const version = flags.resourceVersion === '' ? {} : { resourceVersion: flags.resourceVersion };
  const patch = { metadata: { [noun.field]: values, ...version } };
  if (cluster === undefined || target === undefined || dryRun === 'client')
    return [await patchLocally(object, 'merge', patch), operation];
  const { name, namespace } = metaOf(object);
  const url = urlOf(pathOfTarget({ resource: target.resource, namespace, name }), changeQuery(flags, dryRun));
  return [await cluster.send({ method: 'PATCH', url, body: patch, contentType: mediaTypes.merge }), operation];
}

export const labelCommand: Command = command({
  name: 'label',
  summary: 'Update the labels on a resource',
  usage: '[--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N',
  examples: [
    {
      title: "Update pod 'foo' with the label 'unhealthy' and the value 'true'",
      lines: ['ctl label pods foo unhealthy=true'],
    },
    { title: "Update pod 'foo' by removing a label named 'bar' if it exists", lines: ['ctl label pods foo bar-'] },
  ],
  flags: flagsFor('kubectl-label'),
  run: (context) => run(label, context),
});

export const annotateCommand: Command = command({
  name: 'annotate',
  summary: 'Update the annotations on a resource',
  usage: '[--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N',
  examples: [
    {
      title: "Update pod 'foo' with the annotation 'description' and the value 'my frontend'",
      lines: ["ctl annotate pods foo description='my frontend'"],
    },
  ],
  flags: flagsFor('kubectl-annotate'),
  run: (context) => run(annotation, context),
});
