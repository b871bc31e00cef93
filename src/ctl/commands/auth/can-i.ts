import { isJsonObject, type Json, type JsonObject } from '../../../meta/index.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { type CommandContext, command } from '../../command.ts';
import { CommandError, usageError } from '../../errors.ts';
import { text, toggle } from '../../flags/flag.ts';
import { jsonText } from '../../output/json.ts';
import { printTable } from '../../output/tab-writer.ts';
import { warn } from '../../output/terminal.ts';

const flags = {
  allNamespaces: toggle(false, 'If true, check the specified action in all namespaces.', { short: 'A' }),
  list: toggle(false, 'If true, prints all allowed actions.'),
  noHeaders: toggle(false, 'If true, prints allowed actions without headers.'),
  quiet: toggle(false, 'If true, suppress output and just return the exit code.', { short: 'q' }),
  subresource: text('', 'SubResource such as pod/log or deployment/scale.'),
};

type CanIContext = CommandContext<typeof flags>;

export const canICommand = command({
  name: 'can-i',
  summary: 'Check whether an action is allowed',
  usage: 'VERB [TYPE | TYPE/NAME | NONRESOURCEURL]',
  examples: [
    {
      title: 'Check to see if I can create pods in any namespace',
      lines: ['ctl auth can-i create pods --all-namespaces'],
    },
    { title: 'Check to see if I can access the URL /logs/', lines: ['ctl auth can-i get /logs/'] },
    { title: 'List all allowed actions in namespace "foo"', lines: ['ctl auth can-i --list --namespace=foo'] },
  ],
  flags,
  run: async (context) => {
    const { args, flags: values, io, path } = context;
    if (values.list) {
      if (args.length > 0) throw usageError('list option must be specified with no arguments', path);
      await listActions(context, await context.cluster());
      return 0;
    }
    const [verb, what, ...more] = args;
    if (verb === undefined || what === undefined || more.length > 0) {
      throw new CommandError(
        `you must specify two arguments: verb resource or verb resource/resourceName.\nSee '${path} -h' for help and examples.`,
      );
    }
    const cluster = await context.cluster();
    const { names } = await cluster.discovery();
    const attributes = what.startsWith('/')
      ? { nonResourceAttributes: { path: what, verb } }
      : { resourceAttributes: await resourceAttributes(context, cluster, verb, what) };
    const url = `/apis/authorization.${names.domain}/v1/selfsubjectaccessreviews`;
    const body = { apiVersion: `authorization.${names.domain}/v1`, kind: 'SelfSubjectAccessReview', spec: attributes };
    const { status } = await cluster.send({ method: 'POST', url, body });
    const {
      allowed,
      reason = '',
      evaluationError = '',
    } = (status ?? {}) as { allowed?: boolean; reason?: string; evaluationError?: string };
    if (!values.quiet) {
      const why = [reason, evaluationError].filter((part) => part !== '').map((part) => ` - ${part}`);
      io.stdout.write(allowed === true ? 'yes\n' : `no${why.join('')}\n`);
    }
    return allowed === true ? 0 : 1;
  },
});

async function resourceAttributes(
  { flags: values, io }: CanIContext,
  cluster: Cluster,
  verb: string,
  what: string,
): Promise<JsonObject> {
  const [type = '', name = ''] = what.split('/');
  const isWildcard = type === '*';
  const resource = isWildcard ? undefined : await (await cluster.discovery()).find(type);
  if (resource === undefined && !isWildcard) {
    warn(io, `the server doesn't have a resource type '${type}'\n`);
  }
  if (resource?.namespaced === false && !values.allNamespaces) {
    const inGroup = resource.group === '' ? '' : ` in group '${resource.group}'`;
    warn(io, `resource '${resource.name}' is not namespace scoped${inGroup}\n`);
  }
  const { subresource } = values;
  return {
    ...(values.allNamespaces ? {} : { namespace: cluster.namespace }),
    verb,
    group: resource?.group ?? (isWildcard ? '*' : ''),
    resource: resource?.name ?? type,
    ...(subresource === '' ? {} : { subresource }),
    ...(name === '' ? {} : { name }),
  };
}

interface Rule {
  readonly resource: string;
  readonly path: string;
  readonly names: readonly string[];
  readonly verbs: readonly string[];
  readonly order: string;
}

async function listActions({ flags: values, io, args: _ }: CanIContext, cluster: Cluster): Promise<void> {
  const { names } = await cluster.discovery();
  const apiVersion = `authorization.${names.domain}/v1`;
  const body = { apiVersion, kind: 'SelfSubjectRulesReview', spec: { namespace: cluster.namespace } };
  const answer = await cluster.send({ method: 'POST', url: `/apis/${apiVersion}/selfsubjectrulesreviews`, body });
  const status = isJsonObject(answer['status']) ? answer['status'] : {};
  if (status['incomplete'] === true) {
    io.stderr.write(`warning: the list may be incomplete: ${jsonText(status['evaluationError'] ?? '')}\n`);
  }
  const rules = [...resourceRules(status['resourceRules']), ...pathRules(status['nonResourceRules'])].toSorted(inOrder);
  const rows = rules.map(({ resource, path, names: objects, verbs }) => [
    resource,
    `[${path}]`,
    `[${objects.join(' ')}]`,
    `[${verbs.join(' ')}]`,
  ]);
  const header = ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'];
  printTable((line) => io.stdout.write(line), values.noHeaders ? rows : [header, ...rows]);
}

const texts = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : []);
const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const inOrder = (a: Rule, b: Rule) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0);

/** A rule for each resource; the verbs of equal resources are joined. */
function resourceRules(rules: Json | undefined): Rule[] {
  const byPlace = new Map<string, Rule>();
  for (const rule of objects(rules)) {
    const names = texts(rule['resourceNames']);
    for (const group of texts(rule['apiGroups'])) {
      for (const name of texts(rule['resources'])) {
        const key = `${group} ${name} ${names.join(' ')}`;
        const verbs = [...new Set([...(byPlace.get(key)?.verbs ?? []), ...texts(rule['verbs'])])];
        const resource = group === '' ? name : `${name}.${group}`;
        const order = `[${verbs.join(' ')}] [${group}] [${name}] [${names.join(' ')}]`;
        byPlace.set(key, { resource, path: '', names, verbs, order });
      }
    }
  }
  return [...byPlace.values()];
}

function pathRules(rules: Json | undefined): Rule[] {
  return objects(rules).flatMap((rule) =>
    texts(rule['nonResourceURLs']).map((path) => ({
      resource: '',
      path,
      names: [],
      verbs: texts(rule['verbs']),
      order: `[${texts(rule['verbs']).join(' ')}] [] [] [] [${path}]`,
    })),
  );
}
