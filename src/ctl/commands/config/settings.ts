/** The subcommands that set fields of kubeconfigs. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Json, JsonObject } from '../../../meta/index.ts';
import { type Command, type CommandContext, command } from '../../command.ts';
import { CommandError, usageError } from '../../errors.ts';
import { type FlagTable, list, nameOfKey, repeatable, text, toggle } from '../../flags/flag.ts';
import { changeFile, fileFor, itemsOf, type ListName, readConfig, withEntry, withItems } from './config-file.ts';

/** The fields of the flags on the command line, under the names of the flags. Files are embedded if the command says so. */
async function fieldsOf(
  context: CommandContext<FlagTable>,
  keys: readonly string[],
  embed: boolean,
): Promise<JsonObject> {
  const fields = new Map<string, Json>();
  for (const key of keys.filter((each) => context.isSet(each))) {
    const value = context.flags[key] as string | boolean;
    const isFile = ['certificateAuthority', 'clientCertificate', 'clientKey'].includes(key) && value !== '';
    if (!isFile) fields.set(nameOfKey(key), value);
    else {
      const path = resolve(context.io.folder, String(value));
      const data = embed ? await readFile(path).catch(() => undefined) : undefined;
      if (embed && data === undefined) throw new CommandError(`could not read ${nameOfKey(key)} data from ${path}`);
      fields.set(nameOfKey(key), embed ? '' : path);
      fields.set(`${nameOfKey(key)}-data`, data === undefined ? '' : data.toString('base64'));
    }
  }
  return Object.fromEntries(fields);
}

function nameOf({ args, path }: CommandContext<unknown>, what: string): string {
  const [name, ...more] = args;
  if (name === undefined || name === '' || more.length > 0)
    throw usageError(`you must specify a non-empty ${what} name`, path);
  return name;
}

const setCluster = command({
  name: 'set-cluster',
  summary: 'Set a cluster entry in kubeconfig',
  usage:
    'NAME [--server=server] [--certificate-authority=path/to/certificate/authority] [--insecure-skip-tls-verify=true] [--tls-server-name=example.com]',
  examples: [
    {
      title: 'Set only the server field on the e2e cluster entry',
      lines: ['ctl config set-cluster e2e --server=https://1.2.3.4'],
    },
  ],
  flags: {
    certificateAuthority: text('', 'Path to certificate-authority file for the cluster entry in kubeconfig.'),
    embedCerts: toggle(false, 'embed-certs for the cluster entry in kubeconfig.'),
    insecureSkipTlsVerify: toggle(false, 'insecure-skip-tls-verify for the cluster entry in kubeconfig.'),
    proxyUrl: text('', 'proxy-url for the cluster entry in kubeconfig.'),
    server: text('', 'server for the cluster entry in kubeconfig.', { short: 's' }),
    tlsServerName: text('', 'tls-server-name for the cluster entry in kubeconfig.'),
  },
  run: async (context) => {
    const name = nameOf(context, 'cluster');
    const keys = ['certificateAuthority', 'insecureSkipTlsVerify', 'proxyUrl', 'server', 'tlsServerName'];
    const fields = await fieldsOf(context as unknown as CommandContext<FlagTable>, keys, context.flags.embedCerts);
    await changeFile(context.io, await fileFor(context, 'clusters', name), (document) =>
      withEntry(document, 'clusters', name, fields),
    );
    context.io.stdout.write(`Cluster ${JSON.stringify(name)} set.\n`);
    return 0;
  },
});

const setContext = command({
  name: 'set-context',
  summary: 'Set a context entry in kubeconfig',
  usage: '[NAME | --current] [--cluster=cluster_nickname] [--user=user_nickname] [--namespace=namespace]',
  examples: [
    { title: 'Set the namespace of the current context', lines: ['ctl config set-context --current --namespace=demo'] },
  ],
  flags: {
    cluster: text('', 'cluster for the context entry in kubeconfig.'),
    current: toggle(false, 'Modify the current context.'),
    namespace: text('', 'namespace for the context entry in kubeconfig.', { short: 'n' }),
    user: text('', 'user for the context entry in kubeconfig.'),
  },
  run: async (context) => {
    const { args, flags, io } = context;
    const config = await readConfig(context);
    if (flags.current && args.length > 0)
      throw new CommandError('you cannot specify both a context name and --current');
    if (!flags.current && args.length !== 1)
      throw new CommandError('you must specify a non-empty context name or --current');
    const name = flags.current ? config.currentContext : (args[0] ?? '');
    if (name === '') throw new CommandError('no current context is set');
    const fields = await fieldsOf(
      context as unknown as CommandContext<FlagTable>,
      ['cluster', 'namespace', 'user'],
      false,
    );
    const isNew = !config.contexts.has(name);
    const entry = isNew ? { cluster: '', user: '', ...fields } : fields;
    await changeFile(context.io, await fileFor(context, 'contexts', name), (document) => {
      const after = withEntry(document, 'contexts', name, entry);
      // A context always names its cluster and its user.
      const items = itemsOf(after, 'contexts').map((item) => ({
        ...item,
        fields: { cluster: '', user: '', ...item.fields },
      }));
      return withItems(after, 'contexts', items);
    });
    io.stdout.write(`Context ${JSON.stringify(name)} ${isNew ? 'created' : 'modified'}.\n`);
    return 0;
  },
});

const setCredentials = command({
  name: 'set-credentials',
  summary: 'Set a user entry in kubeconfig',
  usage:
    'NAME [--client-certificate=path/to/certfile] [--client-key=path/to/keyfile] [--token=bearer_token] [--username=basic_user] [--password=basic_password] [--exec-command=exec_command] [--exec-api-version=exec_api_version] [--exec-arg=arg] [--exec-env=key=value]',
  examples: [
    {
      title: 'Set only the "client-key" field on the "cluster-admin" entry',
      lines: ['ctl config set-credentials cluster-admin --client-key=~/.kube/admin.key'],
    },
  ],
  flags: {
    clientCertificate: text('', 'Path to client-certificate file for the user entry in kubeconfig.'),
    clientKey: text('', 'Path to client-key file for the user entry in kubeconfig.'),
    embedCerts: toggle(false, 'Embed client cert/key for the user entry in kubeconfig.'),
    execApiVersion: text('', 'API version of the exec credential plugin for the user entry in kubeconfig.'),
    execArg: list('New arguments for the exec credential plugin command for the user entry in kubeconfig.'),
    execCommand: text('', 'Command for the exec credential plugin for the user entry in kubeconfig.'),
    execEnv: repeatable("'key=value' environment values for the exec credential plugin."),
    execInteractiveMode: text('', 'InteractiveMode of the exec credentials plugin for the user entry in kubeconfig.'),
    execProvideClusterInfo: toggle(
      false,
      'ProvideClusterInfo of the exec credentials plugin for the user entry in kubeconfig.',
    ),
    password: text('', 'password for the user entry in kubeconfig.'),
    token: text('', 'token for the user entry in kubeconfig.'),
    username: text('', 'username for the user entry in kubeconfig.'),
  },
  run: async (context) => {
    const name = nameOf(context, 'user');
    const { flags } = context;
    if (flags.token !== '' && (flags.username !== '' || flags.password !== '')) {
      throw new CommandError(
        'you cannot specify more than one authentication method at the same time: --token, --username/--password',
      );
    }
    const keys = ['clientCertificate', 'clientKey', 'password', 'token', 'username'];
    const fields = await fieldsOf(context as unknown as CommandContext<FlagTable>, keys, flags.embedCerts);
    const exec: JsonObject = {
      apiVersion: flags.execApiVersion,
      args: flags.execArg.length === 0 ? null : [...flags.execArg],
      command: flags.execCommand,
      env:
        flags.execEnv.length === 0
          ? null
          : flags.execEnv.map((pair) => ({ name: pair.split('=')[0] ?? '', value: pair.slice(pair.indexOf('=') + 1) })),
      ...(flags.execInteractiveMode === '' ? {} : { interactiveMode: flags.execInteractiveMode }),
      provideClusterInfo: flags.execProvideClusterInfo,
    };
    const all = flags.execCommand === '' ? fields : { ...fields, exec };
    await changeFile(context.io, await fileFor(context, 'users', name), (document) =>
      withEntry(document, 'users', name, all),
    );
    context.io.stdout.write(`User ${JSON.stringify(name)} set.\n`);
    return 0;
  },
});

export const setCommands: readonly Command[] = [setCluster, setContext, setCredentials];

/** `clusters.NAME.server`: a list, the name of an entry, and a field; names may contain dots. */
function propertyOf(property: string, path: string): { list: ListName; name: string; field: string | undefined } {
  const [, listName = '', name = '', field] =
    /^(clusters|contexts|users)\.(.+?)(?:\.([a-z-]+|tokenFile))?$/.exec(property) ?? [];
  if (listName === '')
    throw usageError(`${property} is not a property: it must be current-context or like clusters.NAME.server`, path);
  return { list: listName as ListName, name, field };
}

const setProperty = command({
  name: 'set',
  summary: 'Set an individual value in a kubeconfig file',
  usage: 'PROPERTY_NAME PROPERTY_VALUE',
  examples: [
    {
      title: 'Set the server field on the my-cluster cluster to https://1.2.3.4',
      lines: ['ctl config set clusters.my-cluster.server https://1.2.3.4'],
    },
  ],
  flags: {},
  run: async (context) => {
    const [property, value, ...more] = context.args;
    if (property === undefined || value === undefined || more.length > 0)
      throw usageError(`unexpected args: [${context.args.join(' ')}]`, context.path);
    if (property === 'current-context') {
      await changeFile(context.io, await fileFor(context), (document) => ({ ...document, 'current-context': value }));
    } else {
      const { list: listName, name, field } = propertyOf(property, context.path);
      if (field === undefined) throw usageError(`${property} must name a field of the entry`, context.path);
      const content = value === 'true' || value === 'false' ? value === 'true' : value;
      await changeFile(context.io, await fileFor(context, listName, name), (document) =>
        withEntry(document, listName, name, { [field]: content }),
      );
    }
    context.io.stdout.write(`Property ${JSON.stringify(property)} set.\n`);
    return 0;
  },
});

const unsetProperty = command({
  name: 'unset',
  summary: 'Unset an individual value in a kubeconfig file',
  usage: 'PROPERTY_NAME',
  examples: [{ title: 'Unset the current-context', lines: ['ctl config unset current-context'] }],
  flags: {},
  run: async (context) => {
    const [property, ...more] = context.args;
    if (property === undefined || more.length > 0)
      throw usageError(`unexpected args: [${context.args.join(' ')}]`, context.path);
    if (property === 'current-context') {
      await changeFile(context.io, await fileFor(context), (document) => ({ ...document, 'current-context': '' }));
    } else {
      const { list: listName, name, field } = propertyOf(property, context.path);
      await changeFile(context.io, await fileFor(context, listName, name), (document) =>
        field === undefined
          ? withItems(
              document,
              listName,
              itemsOf(document, listName).filter((item) => item.name !== name),
            )
          : withEntry(document, listName, name, { [field]: '' }),
      );
    }
    context.io.stdout.write(`Property ${JSON.stringify(property)} unset.\n`);
    return 0;
  },
});

export const propertyCommands: readonly Command[] = [setProperty, unsetProperty];
