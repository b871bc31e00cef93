/** Generators of namespaces, config maps, secrets, service accounts, quotas and priority classes. */
import type { Json, JsonObject } from '../../../meta/index.ts';
import { type Command, command } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { integer, text, toggle } from '../../flags/flag.ts';
import { hashOf } from '../../objects/content-hash.ts';
import { readSources, sourceFlags } from './data-sources.ts';
import { generator, objectOf, pairsOf } from './generator.ts';

const namespace = generator({
  name: 'namespace',
  aliases: ['ns'],
  summary: 'Create a namespace with the specified name',
  usage: 'NAME [--dry-run=server|client|none]',
  example: 'namespace my-namespace',
  flags: {},
  isClusterScoped: true,
  build: ({ name }) => objectOf('v1', 'Namespace', name, { spec: {}, status: {} }),
});

const appendHash = toggle(false, 'Append a hash of the data to the name.');

const configMap = generator({
  name: 'configmap',
  aliases: ['cm'],
  summary: 'Create a config map from a local file, directory or literal value',
  usage: 'NAME [--from-file=[key=]source] [--from-literal=key1=value1] [--dry-run=server|client|none]',
  example: 'configmap my-config --from-literal=key1=config1 --from-literal=key2=config2',
  flags: { ...sourceFlags, appendHash },
  build: async ({ name, flags, context }) => {
    const entries = [...(await readSources(flags, context.io.folder))];
    const binary = entries.filter(([, bytes]) => !isText(bytes));
    const data = entries.filter(([, bytes]) => isText(bytes)).map(([key, bytes]) => [key, bytes.toString()]);
    return hashed(flags.appendHash, name, (final) =>
      objectOf('v1', 'ConfigMap', final, {
        ...(data.length === 0 ? {} : { data: Object.fromEntries(data) }),
        ...(binary.length === 0 ? {} : { binaryData: encoded(binary) }),
      }),
    );
  },
});

const isText = (bytes: Buffer) => Buffer.from(bytes.toString()).equals(bytes);

const encoded = (entries: readonly (readonly [string, Buffer])[]): JsonObject =>
  Object.fromEntries(entries.map(([key, bytes]) => [key, bytes.toString('base64')]));

/** Builds an object, and builds it again under a name with the hash of the first. */
function hashed(append: boolean, name: string, build: (name: string) => JsonObject): JsonObject {
  const object = build(name);
  return append ? build(`${name}-${hashOf(object)}`) : object;
}

const generic = generator({
  name: 'generic',
  summary: 'Create a secret from a local file, directory, or literal value',
  usage: 'NAME [--type=string] [--from-file=[key=]source] [--from-literal=key1=value1] [--dry-run=server|client|none]',
  example: 'secret generic my-secret --from-literal=key1=supersecret --from-literal=key2=topsecret',
  flags: { ...sourceFlags, appendHash, type: text('', 'The type of secret to create.') },
  build: async ({ name, flags, context }) => {
    const data = encoded([...(await readSources(flags, context.io.folder))]);
    return hashed(flags.appendHash, name, (final) =>
      objectOf('v1', 'Secret', final, {
        ...(Object.keys(data).length === 0 ? {} : { data }),
        ...(flags.type === '' ? {} : { type: flags.type }),
      }),
    );
  },
});

const dockerRegistry = generator({
  name: 'docker-registry',
  summary: 'Create a secret for use with a Docker registry',
  usage: 'NAME --docker-username=user --docker-password=password --docker-email=email [--docker-server=string]',
  example: 'secret docker-registry my-secret --docker-username=USER --docker-password=PASSWORD --docker-email=EMAIL',
  flags: {
    dockerEmail: text('', 'Email for Docker registry.'),
    dockerPassword: text('', 'Password for Docker registry authentication.'),
    dockerServer: text('https://index.docker.io/v1/', 'Server location for Docker registry.'),
    dockerUsername: text('', 'Username for Docker registry authentication.'),
  },
  required: ['dockerPassword', 'dockerUsername'],
  build: async ({ name, flags, names }) => {
    const { dockerServer, dockerUsername: username, dockerPassword: password, dockerEmail: email } = flags;
    const auth = Buffer.from(`${username}:${password}`).toString('base64');
    const account = { username, password, ...(email === '' ? {} : { email }), auth };
    const config = Buffer.from(JSON.stringify({ auths: { [dockerServer]: account } })).toString('base64');
    const type = `${(await names()).labels}/dockerconfigjson`;
    return objectOf('v1', 'Secret', name, { data: { '.dockerconfigjson': config }, type });
  },
});

const tls = generator({
  name: 'tls',
  summary: 'Create a TLS secret from the given public/private key pair',
  usage: 'NAME --cert=path/to/cert/file --key=path/to/key/file [--dry-run=server|client|none]',
  example: 'secret tls tls-secret --cert=path/to/tls.crt --key=path/to/tls.key',
  flags: {
    cert: text('', 'Path to PEM encoded public key certificate.'),
    key: text('', 'Path to private key associated with given certificate.'),
  },
  required: ['cert', 'key'],
  build: async ({ name, flags, context, names }) => {
    const fromFile = [`tls.crt=${flags.cert}`, `tls.key=${flags.key}`];
    const files = await readSources({ fromFile, fromLiteral: [], fromEnvFile: [] }, context.io.folder);
    for (const [key, what] of [
      ['tls.crt', 'certificate'],
      ['tls.key', 'key'],
    ] as const) {
      if (files.get(key)?.includes('-----BEGIN ') !== true) {
        throw new CommandError(`tls: failed to find any PEM data in ${what} input`);
      }
    }
    return objectOf('v1', 'Secret', name, { data: encoded([...files]), type: `${(await names()).labels}/tls` });
  },
});

const secret: Command = command({
  name: 'secret',
  summary: 'Create a secret using a specified subcommand',
  description: 'Create a secret with specified type.',
  usage: '(docker-registry | generic | tls)',
  examples: [],
  flags: {},
  subcommands: [dockerRegistry, generic, tls],
});

const serviceAccount = generator({
  name: 'serviceaccount',
  aliases: ['sa'],
  summary: 'Create a service account with the specified name',
  usage: 'NAME [--dry-run=server|client|none]',
  example: 'serviceaccount my-service-account',
  flags: {},
  build: ({ name }) => objectOf('v1', 'ServiceAccount', name, {}),
});

const quota = generator({
  name: 'quota',
  aliases: ['resourcequota'],
  summary: 'Create a quota with the specified name',
  usage: 'NAME [--hard=key1=value1,key2=value2] [--scopes=Scope1,Scope2] [--dry-run=server|client|none]',
  example: 'quota my-quota --hard=cpu=1,memory=1G,pods=2',
  flags: {
    hard: text('', 'A comma-delimited set of resource=quantity pairs that define a hard limit.'),
    scopes: text('', 'A comma-delimited set of quota scopes that must all match each object tracked by the quota.'),
  },
  build: ({ name, flags }) => {
    const hard = pairsOf(flags.hard === '' ? [] : flags.hard.split(','), 'argument syntax');
    const spec: JsonObject = {
      ...(flags.hard === '' ? {} : { hard }),
      ...(flags.scopes === '' ? {} : { scopes: flags.scopes.split(',') }),
    };
    return objectOf('v1', 'ResourceQuota', name, { spec, status: {} });
  },
});

const priorityClass = generator({
  name: 'priorityclass',
  aliases: ['pc'],
  summary: 'Create a priority class with the specified name',
  usage: 'NAME --value=VALUE --global-default=BOOL [--dry-run=server|client|none]',
  example: 'priorityclass high-priority --value=1000 --description="high priority"',
  flags: {
    description: text('', 'Guidelines on when this priority class should be used.'),
    globalDefault: toggle(false, 'Whether this priority class is the default priority.'),
    preemptionPolicy: text('PreemptLowerPriority', 'The policy for preempting pods with lower priority.'),
    value: integer(0, 'The value of this priority class.'),
  },
  required: ['value'],
  isClusterScoped: true,
  build: async ({ name, flags, names }) => {
    const rest: { [field: string]: Json } = {
      ...(flags.description === '' ? {} : { description: flags.description }),
      ...(flags.globalDefault ? { globalDefault: true } : {}),
      preemptionPolicy: flags.preemptionPolicy,
      value: flags.value,
    };
    return objectOf(`scheduling.${(await names()).domain}/v1`, 'PriorityClass', name, rest);
  },
});

const podDisruptionBudget = generator({
  name: 'poddisruptionbudget',
  aliases: ['pdb'],
  summary: 'Create a pod disruption budget with the specified name',
  usage: 'NAME --selector=SELECTOR --min-available=N [--dry-run=server|client|none]',
  example: 'poddisruptionbudget my-pdb --selector=app=rails --min-available=1',
  flags: {
    maxUnavailable: text('', 'The maximum number or percentage of unavailable pods this budget requires.'),
    minAvailable: text('', 'The minimum number or percentage of available pods this budget requires.'),
    selector: text('', 'A label selector of equality requirements.'),
  },
  required: ['selector'],
  build: ({ name, flags }) => {
    const { minAvailable, maxUnavailable, selector } = flags;
    if (minAvailable === '' && maxUnavailable === '') {
      throw new CommandError('one of min-available or max-unavailable must be specified');
    }
    if (minAvailable !== '' && maxUnavailable !== '') {
      throw new CommandError('min-available and max-unavailable cannot be both specified');
    }
    const amount = (value: string): Json => (/^\d+$/.test(value) ? Number(value) : value);
    const limit: JsonObject =
      minAvailable === '' ? { maxUnavailable: amount(maxUnavailable) } : { minAvailable: amount(minAvailable) };
    const status = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };
    const matchLabels = pairsOf(selector.split(','), 'selector');
    return objectOf('policy/v1', 'PodDisruptionBudget', name, {
      spec: { ...limit, selector: { matchLabels } },
      status,
    });
  },
});

export const configurationGenerators: readonly Command[] = [
  namespace,
  configMap,
  secret,
  serviceAccount,
  quota,
  priorityClass,
  podDisruptionBudget,
];
