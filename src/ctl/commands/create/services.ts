/** Generators of services and ingresses. */
import type { Json, JsonObject } from '../../../meta/index.ts';
import { type Command, command } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { integer, list, repeatable, text } from '../../flags/flag.ts';
import { generator, objectOf } from './generator.ts';

const tcp = list("Port pairs can be specified as '<port>:<targetPort>'.");

/** The ports of pairs such as `80:8080`. @throws CommandError */
function portsOf(pairs: readonly string[], nodePort = 0): Json[] {
  return pairs.map((pair) => {
    const [port = '', target = port] = pair.split(':');
    if (!/^\d{1,5}$/.test(port) || target === '')
      throw new CommandError(`invalid port format ${pair}, expected <port>:<targetPort>`);
    return {
      name: pair.replace(':', '-'),
      ...(nodePort === 0 ? {} : { nodePort }),
      port: Number(port),
      protocol: 'TCP',
      targetPort: /^\d+$/.test(target) ? Number(target) : target,
    };
  });
}

const service = (name: string, type: string, ports: Json[], rest: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { creationTimestamp: null, labels: { app: name }, name },
  spec: { ...(ports.length === 0 ? {} : { ports }), selector: { app: name }, type, ...rest },
  status: { loadBalancer: {} },
});

function needPorts(pairs: readonly string[]): void {
  if (pairs.length === 0) throw new CommandError('at least one tcp port specifier must be provided');
}

const clusterIp = generator({
  name: 'clusterip',
  summary: 'Create a ClusterIP service',
  usage: 'NAME [--tcp=<port>:<targetPort>] [--dry-run=server|client|none]',
  example: 'service clusterip my-cs --tcp=5678:8080',
  flags: { clusterip: text('', "Assign your own ClusterIP or set to 'None' for a 'headless' service."), tcp },
  build: ({ name, flags }) => {
    if (flags.clusterip !== 'None') needPorts(flags.tcp);
    return service(name, 'ClusterIP', portsOf(flags.tcp), flags.clusterip === '' ? {} : { clusterIP: flags.clusterip });
  },
});

const nodePort = generator({
  name: 'nodeport',
  summary: 'Create a NodePort service',
  usage: 'NAME [--tcp=port:targetPort] [--dry-run=server|client|none]',
  example: 'service nodeport my-ns --tcp=5678:8080',
  flags: { nodePort: integer(0, 'Port used to expose the service on each node in a cluster.'), tcp },
  build: ({ name, flags }) => {
    needPorts(flags.tcp);
    return service(name, 'NodePort', portsOf(flags.tcp, flags.nodePort));
  },
});

const loadBalancer = generator({
  name: 'loadbalancer',
  summary: 'Create a LoadBalancer service',
  usage: 'NAME [--tcp=port:targetPort] [--dry-run=server|client|none]',
  example: 'service loadbalancer my-lbs --tcp=5678:8080',
  flags: { tcp },
  build: ({ name, flags }) => {
    needPorts(flags.tcp);
    return service(name, 'LoadBalancer', portsOf(flags.tcp));
  },
});

const externalName = generator({
  name: 'externalname',
  summary: 'Create an ExternalName service',
  usage: 'NAME --external-name external.name [--dry-run=server|client|none]',
  example: 'service externalname my-ns --external-name bar.com',
  flags: { externalName: text('', 'External name of service.'), tcp },
  required: ['externalName'],
  build: ({ name, flags }) => service(name, 'ExternalName', portsOf(flags.tcp), { externalName: flags.externalName }),
});

const serviceCommand: Command = command({
  name: 'service',
  aliases: ['svc'],
  summary: 'Create a service using a specified subcommand',
  description: 'Create a service using a specified subcommand.',
  usage: '',
  examples: [],
  flags: {},
  subcommands: [clusterIp, externalName, loadBalancer, nodePort],
});

const ingress = generator({
  name: 'ingress',
  aliases: ['ing'],
  summary: 'Create an ingress with the specified name',
  usage: 'NAME --rule=host/path=service:port[,tls[=secret]]',
  example: 'ingress simple --rule="foo.com/bar=svc1:8080,tls=my-cert"',
  flags: {
    class: text('', 'Ingress Class to be used.'),
    defaultBackend: text('', 'Default service for backend, in format of svcname:port.'),
    rule: repeatable(
      "Rule in format host/path=service:port[,tls=secretname]. Paths containing the leading character '*' are considered pathType=Prefix.",
    ),
  },
  build: async ({ name, flags, names }) => {
    if (flags.rule.length === 0 && flags.defaultBackend === '') {
      throw new CommandError(
        'not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)',
      );
    }
    const parsed = flags.rule.map(ruleOf);
    const hosts = groupByHost(parsed);
    const rules = [...hosts].map(([host, paths]) => ({
      ...(host === '' ? {} : { host }),
      http: { paths: paths.map(({ path }) => path) },
    }));
    const tls = parsed.flatMap(({ tls: secret, host }) =>
      secret === undefined ? [] : [{ hosts: [host], ...(secret === '' ? {} : { secretName: secret }) }],
    );
    const spec: JsonObject = {
      ...(flags.defaultBackend === '' ? {} : { defaultBackend: backendOf(flags.defaultBackend) }),
      ...(flags.class === '' ? {} : { ingressClassName: flags.class }),
      ...(rules.length === 0 ? {} : { rules }),
      ...(tls.length === 0 ? {} : { tls }),
    };
    return objectOf(`networking.${(await names()).domain}/v1`, 'Ingress', name, { spec, status: { loadBalancer: {} } });
  },
});

interface IngressRule {
  readonly host: string;
  readonly path: JsonObject;
  /** The name of the secret, empty without one; undefined without TLS. */
  readonly tls: string | undefined;
}

/** @throws CommandError */
function ruleOf(rule: string): IngressRule {
  const [, host = '', path = '', backend = '', tls, secret = ''] =
    /^([^/=]*)(\/[^=]*)=([^,]+:[^,]+?)(,tls(?:=([^,]*))?)?$/.exec(rule) ?? [];
  if (backend === '') {
    throw new CommandError(`rule ${rule} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]`);
  }
  const isPrefix = path.endsWith('*');
  return {
    host,
    path: {
      backend: backendOf(backend),
      path: isPrefix ? path.slice(0, -1) : path,
      pathType: isPrefix ? 'Prefix' : 'Exact',
    },
    tls: tls === undefined ? undefined : secret,
  };
}

function backendOf(text: string): JsonObject {
  const [name = '', port = ''] = text.split(':');
  return { service: { name, port: /^\d+$/.test(port) ? { number: Number(port) } : { name: port } } };
}

function groupByHost(rules: readonly IngressRule[]): Map<string, IngressRule[]> {
  const hosts = new Map<string, IngressRule[]>();
  for (const rule of rules) hosts.set(rule.host, [...(hosts.get(rule.host) ?? []), rule]);
  return hosts;
}

export const serviceGenerators: readonly Command[] = [serviceCommand, ingress];
