import { at, isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import { type Command, type CommandContext, command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { repeatable, text, toggle } from '../flags/flag.ts';
import { patchLocally } from '../objects/local-patch.ts';
import { hasFiles } from '../objects/manifests.ts';
import { localFlag, localObjects, objectsOf, Patcher, type Placed, patchFlags } from '../objects/patch.ts';
import { jsonText } from '../output/json.ts';
import { printedName } from '../output/printer.ts';

const flags = {
  ...patchFlags('kubectl-set'),
  ...localFlag,
  all: toggle(false, 'Select all resources, in the namespace of the specified resource types.'),
};

/** Where the pod template of a kind has its containers. */
const specPaths: { readonly [kind: string]: readonly string[] } = {
  Pod: ['spec'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};
const templatePath = ['spec', 'template', 'spec'];

/** The pod spec of an object and where it is. @throws CommandError for kinds without one */
function podSpecOf(object: JsonObject): { readonly path: readonly string[]; readonly spec: JsonObject } {
  const path = specPaths[jsonText(object['kind'])] ?? templatePath;
  const spec = at(object, ...path);
  if (isJsonObject(spec)) return { path, spec };
  throw new CommandError(`${printedName(object)} the object is not a pod or does not have a pod template`);
}

const containersOf = (spec: JsonObject, field: 'containers' | 'initContainers'): JsonObject[] => {
  const list = spec[field];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
};

const nested = (path: readonly string[], value: JsonObject): JsonObject =>
  path.toReversed().reduce((inner: JsonObject, name) => ({ [name]: inner }), value);

type SetContext = Pick<CommandContext<typeof flags>, 'flags' | 'io' | 'cluster'>;

/** The objects to change, and what changes them: with --local those of files, without the server. @throws CommandError */
async function objectsToSet({ flags: values, io, cluster }: SetContext, resources: readonly string[]) {
  if (values.local) {
    const objects = await localObjects(resources, values, io, localWithoutFiles);
    return {
      patcher: await Patcher.open(undefined, values, io),
      placed: objects.map((object): LocalOrPlaced => ({ object })),
    };
  }
  if (resources.length === 0 && !hasFiles(values))
    throw new CommandError('one or more resources must be specified as <resource> <name> or <resource>/<name>');
  const opened = await cluster();
  const patcher = await Patcher.open(opened, values, io);
  const placed: readonly LocalOrPlaced[] = await objectsOf(opened, resources, values, io);
  return { patcher, placed };
}

type LocalOrPlaced = Partial<Placed> & Pick<Placed, 'object'>;

const localWithoutFiles = `you must specify resources by --filename when --local is set.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'`;

/** Splits arguments into resources and assignments such as `web=nginx` and `A-`. */
function splitArgs(args: readonly string[], isAssignment: (arg: string) => boolean) {
  return { resources: args.filter((arg) => !isAssignment(arg)), assignments: args.filter(isAssignment) };
}

const image = command({
  name: 'image',
  summary: 'Update the image of a pod template',
  description:
    'Update existing container image(s) of resources.\n\n Possible resources include (case insensitive): pod (po), replicationcontroller (rc), deployment (deploy), daemonset (ds), statefulset (sts), cronjob (cj), replicaset (rs)',
  usage: '(-f FILENAME | TYPE NAME) CONTAINER_NAME_1=CONTAINER_IMAGE_1 ... CONTAINER_NAME_N=CONTAINER_IMAGE_N',
  examples: [
    {
      title: "Set a deployment's nginx container image to 'nginx:1.9.1'",
      lines: ['ctl set image deployment/nginx nginx=nginx:1.9.1'],
    },
    {
      title: "Update image of all containers of daemonset abc to 'nginx:1.9.1'",
      lines: ["ctl set image daemonset abc '*=nginx:1.9.1'"],
    },
  ],
  flags,
  run: async (context) => {
    const { resources, assignments } = splitArgs(context.args, (arg) => arg.includes('='));
    if (assignments.length === 0) throw new CommandError('at least one image update is required');
    const images = new Map(
      assignments.map((arg): [string, string] => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)]),
    );
    const { patcher, placed } = await objectsToSet(context, resources);
    for (const each of placed) {
      const { path, spec } = podSpecOf(each.object);
      const known = [...containersOf(spec, 'containers'), ...containersOf(spec, 'initContainers')].map(
        ({ name }) => name,
      );
      for (const name of images.keys()) {
        if (name !== '*' && !known.includes(name))
          throw new CommandError(`unable to find container named ${JSON.stringify(name)}`);
      }
      const changed = (field: 'containers' | 'initContainers') =>
        containersOf(spec, field).flatMap(({ name = '', image: before }) => {
          const after = images.get(jsonText(name)) ?? images.get('*');
          return after === undefined || after === before ? [] : [{ name, image: after }];
        });
      const patch = Object.fromEntries(
        (['containers', 'initContainers'] as const)
          .map((field) => [field, changed(field)])
          .filter(([, list]) => (list ?? []).length > 0),
      ) as JsonObject;
      if (Object.keys(patch).length === 0) continue;
      await patcher.patch(each, 'strategic', nested(path, patch), { done: 'image updated' });
    }
    return 0;
  },
});

const isVariable = (arg: string): boolean => /^[A-Za-z_][\w.-]*(?:=|-$)/.test(arg) && !arg.includes('/');

const env = command({
  name: 'env',
  summary: 'Update environment variables on a pod template',
  description: 'Update environment variables on a pod template.',
  usage: 'RESOURCE/NAME KEY_1=VAL_1 ... KEY_N=VAL_N',
  examples: [
    {
      title: "Update deployment 'registry' with a new environment variable",
      lines: ['ctl set env deployment/registry STORAGE_DIR=/local'],
    },
    { title: 'List the environment variables defined on all pods', lines: ['ctl set env pods --all --list'] },
    {
      title: 'Remove the environment variable ENV from all containers of a deployment',
      lines: ['ctl set env deployment/d1 ENV-'],
    },
  ],
  flags: {
    ...flags,
    containers: text('*', 'The names of containers in the selected pod templates to change - may use wildcards', {
      short: 'c',
    }),
    env: repeatable('Specify a key-value pair for an environment variable to set into each container.', { short: 'e' }),
    list: toggle(false, 'If true, display the environment and any changes in the standard format.'),
  },
  run: async (context) => {
    const { args, flags: values, io } = context;
    const { resources, assignments } = splitArgs(args, isVariable);
    const all = [...assignments, ...values.env];
    if (all.length === 0 && !values.list) throw new CommandError('at least one environment variable must be provided');
    const { patcher, placed } = await objectsToSet(context, resources);
    for (const each of placed) {
      const { path, spec } = podSpecOf(each.object);
      const selected = containersOf(spec, 'containers').filter(({ name }) =>
        matches(values.containers, jsonText(name)),
      );
      if (selected.length === 0)
        throw new CommandError(
          `${printedName(each.object)} does not have any containers matching ${JSON.stringify(values.containers)}`,
        );
      const patch = { containers: selected.map((container) => withVariables(container, all.map(readVariable))) };
      if (!values.list) {
        await patcher.patch(each, 'strategic', nested(path, patch), { done: 'env updated' });
        continue;
      }
      const after = all.length === 0 ? each.object : await patchLocally(each.object, 'strategic', nested(path, patch));
      for (const { name, env: list } of containersOf(podSpecOf(after).spec, 'containers')) {
        if (matches(values.containers, jsonText(name))) io.stdout.write(listing(after, jsonText(name), list));
      }
    }
    return 0;
  },
});

/** The patch of a container that sets and removes variables; new ones come last. */
function withVariables({ name = '', env }: JsonObject, changes: readonly JsonObject[]): JsonObject {
  const before = (Array.isArray(env) ? env : []).filter(isJsonObject).map((variable) => variable['name'] ?? '');
  const isRemoved = (key: Json) => changes.some((change) => change['name'] === key && change['$patch'] !== undefined);
  const names = [...new Set([...before, ...changes.map((change) => change['name'] ?? '')])];
  const order = names.filter((key) => !isRemoved(key)).map((key) => ({ name: key }));
  const listed = changes.toSorted((a, b) => names.indexOf(a['name'] ?? '') - names.indexOf(b['name'] ?? ''));
  return { name, env: listed, ...(order.length === 0 ? {} : { '$setElementOrder/env': order }) };
}

/** The entry that sets or removes a variable. */
function readVariable(assignment: string): JsonObject {
  const equals = assignment.indexOf('=');
  if (equals < 0) return { name: assignment.slice(0, -1), $patch: 'delete' };
  return { name: assignment.slice(0, equals), value: assignment.slice(equals + 1) };
}

/** Whether a name matches a pattern in which `*` stands for any text. */
const matches = (pattern: string, name: string): boolean => {
  const [first = '', ...rest] = pattern.split('*');
  if (!name.startsWith(first)) return false;
  let position = first.length;
  for (const [i, part] of rest.entries()) {
    const found =
      i === rest.length - 1 ? (name.endsWith(part) ? name.length - part.length : -1) : name.indexOf(part, position);
    if (found < position) return false;
    position = found + part.length;
  }
  return position === name.length;
};

function listing(object: JsonObject, container: string, env: Json | undefined): string {
  const lines = (Array.isArray(env) ? env : []).filter(isJsonObject).map(({ name: key, value = '', valueFrom }) => {
    if (!isJsonObject(valueFrom)) return `${jsonText(key)}=${jsonText(value)}`;
    const [source = '', reference] = Object.entries(valueFrom)[0] ?? [];
    return `# ${jsonText(key)} from ${source} ${isJsonObject(reference) ? Object.values(reference).map(String).join(' ') : ''}`;
  });
  const owner = `${jsonText(object['kind'])} ${jsonText(at(object, 'metadata', 'name'))}`;
  return [`# ${owner}, container ${container}`, ...lines].map((line) => `${line}\n`).join('');
}

/** Only subcommands do something. */
export const setCommand: Command = {
  name: 'set',
  summary: 'Set specific features on objects',
  description:
    'Configure application resources.\n\n These commands help you make changes to existing application resources.',
  usage: 'SUBCOMMAND',
  examples: [],
  flags: {},
  subcommands: [env, image],
};
