import { at, isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import { type Command, command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { repeatable, text, toggle } from '../flags/flag.ts';
import { Patcher, patchFlags, placedObjects } from '../objects/patch.ts';
import { type Target, targetsOf } from '../objects/targets.ts';
import { jsonText } from '../output/json.ts';
import { printedName } from '../output/printer.ts';

const flags = {
  ...patchFlags('kubectl-set'),
  all: toggle(false, 'Select all resources, in the namespace of the specified resource types.'),
};

/** Where the pod template of a kind has its containers. */
const specPaths: { readonly [kind: string]: readonly string[] } = {
  Pod: ['spec'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};
const templatePath = ['spec', 'template', 'spec'];

/** The pod spec of an object and where it is. @throws CommandError for kinds without one */
function podSpecOf(
  target: Target,
  object: JsonObject,
): { readonly path: readonly string[]; readonly spec: JsonObject } {
  const path = specPaths[target.resource.kind] ?? templatePath;
  const spec = at(object, ...path);
  if (!isJsonObject(spec))
    throw new CommandError(`the object is not a pod or does not have a pod template: ${target.resource.name}`);
  return { path, spec };
}

const containersOf = (spec: JsonObject, field: 'containers' | 'initContainers'): JsonObject[] => {
  const list = spec[field];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
};

const nested = (path: readonly string[], value: JsonObject): JsonObject =>
  path.toReversed().reduce((inner: JsonObject, name) => ({ [name]: inner }), value);

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
  run: async ({ args, flags: values, io, cluster }) => {
    const { resources, assignments } = splitArgs(args, (arg) => arg.includes('='));
    if (resources.length === 0)
      throw new CommandError('one or more resources must be specified as <resource> <name> or <resource>/<name>');
    if (assignments.length === 0) throw new CommandError('at least one image update is required');
    const images = new Map(
      assignments.map((arg): [string, string] => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)]),
    );
    const opened = await cluster();
    const patcher = await Patcher.open(opened, values, io);
    for (const placed of await placedObjects(opened, await targetsOf(opened, resources), values.selector)) {
      const { path, spec } = podSpecOf(placed.target, placed.object);
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
      await patcher.patch(placed, 'strategic', nested(path, patch), { done: 'image updated' });
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
  run: async ({ args, flags: values, io, cluster }) => {
    const { resources, assignments } = splitArgs(args, isVariable);
    if (resources.length === 0)
      throw new CommandError('one or more resources must be specified as <resource> <name> or <resource>/<name>');
    const all = [...assignments, ...values.env];
    if (all.length === 0 && !values.list) throw new CommandError('at least one environment variable must be provided');
    const opened = await cluster();
    const patcher = await Patcher.open(opened, values, io);
    for (const placed of await placedObjects(opened, await targetsOf(opened, resources), values.selector)) {
      const { path, spec } = podSpecOf(placed.target, placed.object);
      const selected = containersOf(spec, 'containers').filter(({ name }) =>
        matches(values.containers, jsonText(name)),
      );
      if (values.list) {
        for (const { name, env: list } of selected) io.stdout.write(listing(placed.target, jsonText(name), list));
        continue;
      }
      if (selected.length === 0)
        throw new CommandError(
          `${printedName(placed.object)} does not have any containers matching ${JSON.stringify(values.containers)}`,
        );
      const patch = { containers: selected.map(({ name = '' }) => ({ name, env: all.map(readVariable) })) };
      await patcher.patch(placed, 'strategic', nested(path, patch), { done: 'env updated' });
    }
    return 0;
  },
});

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

function listing({ resource, name }: Target, container: string, env: Json | undefined): string {
  const lines = (Array.isArray(env) ? env : []).filter(isJsonObject).map(({ name: key, value = '', valueFrom }) => {
    if (!isJsonObject(valueFrom)) return `${jsonText(key)}=${jsonText(value)}`;
    const [source = '', reference] = Object.entries(valueFrom)[0] ?? [];
    return `# ${jsonText(key)} from ${source} ${isJsonObject(reference) ? Object.values(reference).map(String).join(' ') : ''}`;
  });
  return [`# ${resource.kind} ${name}, container ${container}`, ...lines].map((line) => `${line}\n`).join('');
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
