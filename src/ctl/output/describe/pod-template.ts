/** Pod templates as kubectl describes them: lines with tabs between names and values. */
import { type Json, parseQuantity } from '../../../meta/index.ts';
import type { Container, PodTemplateSpec, Probe, Toleration } from '../../../types/core-v1.ts';
import { annotationLines, pairLines, sortedBy, titledLines } from './pairs.ts';
import { volumeLines } from './volumes.ts';

/** The lines of a pod template, from `Pod Template:` to its tolerations. */
export function podTemplateLines({ metadata, spec }: PodTemplateSpec): string[] {
  const { annotations, labels } = metadata ?? {};
  const pod = spec ?? { containers: [] };
  const { serviceAccountName = '', initContainers = [], priorityClassName = '' } = pod;
  return [
    'Pod Template:',
    ...pairLines('  Labels', labels as Json | undefined, '='),
    ...(Object.keys(annotations ?? {}).length === 0 ? [] : annotationLines('  Annotations', annotations as Json)),
    ...(serviceAccountName === '' ? [] : [`  Service Account:\t${serviceAccountName}`]),
    ...(initContainers.length === 0 ? [] : containerLines('  Init Containers', initContainers)),
    ...containerLines('  Containers', pod.containers ?? []),
    ...volumeLines(pod.volumes ?? [], '  '),
    ...spreadLines(pod.topologySpreadConstraints ?? []),
    ...(priorityClassName === '' ? [] : [`  Priority Class Name:\t${priorityClassName}`]),
    ...pairLines('  Node-Selectors', pod.nodeSelector as Json | undefined, '='),
    ...tolerationLines('  Tolerations', pod.tolerations ?? []),
  ];
}

function containerLines(title: string, containers: readonly Container[]): string[] {
  if (containers.length === 0) return [`${title}: <none>`];
  return [`${title}:`, ...containers.flatMap((container) => [`   ${container.name}:`, ...fieldLines(container)])];
}

function fieldLines(container: Container): string[] {
  const { image = '', ports = [], command = [], args = [], resources = {}, env = [], envFrom = [] } = container;
  const { volumeMounts = [], volumeDevices = [] } = container;
  const portLine = (name: string, number: 'containerPort' | 'hostPort') => {
    const texts = ports.map((port) => `${port[number] ?? 0}/${port.protocol ?? ''}`);
    return `    ${name}${texts.length > 1 ? 's' : ''}:\t${texts.join(', ') || '<none>'}`;
  };
  const mounts = sortedBy(volumeMounts, ({ mountPath }) => mountPath).map(
    ({ mountPath, name, readOnly, subPath = '' }) => {
      const path = subPath === '' ? '' : `,path=${JSON.stringify(subPath)}`;
      return `      ${mountPath} from ${name} (${readOnly === true ? 'ro' : 'rw'}${path})`;
    },
  );
  const devices = sortedBy(volumeDevices, ({ devicePath }) => devicePath).map(
    ({ devicePath, name }) => `      ${devicePath} from ${name}`,
  );
  return [
    `    Image:\t${image}`,
    portLine('Port', 'containerPort'),
    portLine('Host Port', 'hostPort'),
    ...section('Command', command.flatMap(wordLines)),
    ...section('Args', args.flatMap(wordLines)),
    ...section('Limits', quantityLines(resources.limits)),
    ...section('Requests', quantityLines(resources.requests)),
    ...probeLine('Liveness', container.livenessProbe),
    ...probeLine('Readiness', container.readinessProbe),
    ...probeLine('Startup', container.startupProbe),
    ...section('Environment Variables from', envFrom.map(sourceLine)),
    ...(env.length === 0
      ? ['    Environment:\t<none>']
      : section('Environment', env.flatMap(variableLines(container)))),
    ...(mounts.length === 0 ? ['    Mounts:\t<none>'] : section('Mounts', mounts)),
    ...section('Devices', devices),
  ];
}

/** A title above its lines; nothing without lines. */
const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`    ${title}:`, ...lines];

const wordLines = (word: string): string[] => word.split('\n').map((line) => `      ${line}`);

const quantityLines = (quantities: Readonly<Record<string, unknown>> | undefined): string[] =>
  Object.keys(quantities ?? {})
    .sort()
    .map((name) => `      ${name}:\t${String(quantities?.[name])}`);

function probeLine(name: string, probe: Probe | null | undefined): string[] {
  if (probe === undefined || probe === null) return [];
  const { exec, httpGet, tcpSocket, grpc } = probe;
  const { initialDelaySeconds = 0, timeoutSeconds = 0, periodSeconds = 0 } = probe;
  const { successThreshold = 0, failureThreshold = 0 } = probe;
  const times = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s #success=${successThreshold} #failure=${failureThreshold}`;
  let action = 'unknown';
  if (exec) action = `exec [${(exec.command ?? []).join(' ')}]`;
  else if (httpGet) {
    const { scheme = '', host = '', port, path = '' } = httpGet;
    action = `http-get ${scheme.toLowerCase()}://${host}:${port}${encodeURI(path).replaceAll('?', '%3F').replaceAll('#', '%23')}`;
  } else if (tcpSocket) action = `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`;
  else if (grpc) action = `grpc <pod>:${grpc.port} ${grpc.service ?? ''}`;
  return [`    ${name}:\t${action} ${times}`];
}

type Variables = NonNullable<Container['env']>;
type Variable = Variables[number];

const optionalText = (optional: boolean | null | undefined) => `\tOptional: ${optional === true}`;

function sourceLine({ prefix = '', configMapRef, secretRef }: NonNullable<Container['envFrom']>[number]): string {
  const { name = '', optional } = configMapRef ?? secretRef ?? {};
  const kind = configMapRef ? 'ConfigMap' : 'Secret';
  return `      ${name}\t${kind}${prefix === '' ? '' : ` with prefix '${prefix}'`}${optionalText(optional)}`;
}

const variableLines =
  (container: Container) =>
  ({ name, value = '', valueFrom }: Variable): string[] => {
    const { fieldRef, resourceFieldRef, secretKeyRef, configMapKeyRef } = valueFrom ?? {};
    const head = `      ${name}:\t`;
    if (fieldRef) return [`${head} (${fieldRef.apiVersion ?? ''}:${fieldRef.fieldPath})`];
    if (resourceFieldRef)
      return [`${head}${resourceValue(container, resourceFieldRef)} (${resourceFieldRef.resource})`];
    if (secretKeyRef) {
      const { key, name: secret = '', optional } = secretKeyRef;
      return [`${head}<set to the key '${key}' in secret '${secret}'>${optionalText(optional)}`];
    }
    if (configMapKeyRef) {
      const { key, name: map = '', optional } = configMapKeyRef;
      return [`${head}<set to the key '${key}' of config map '${map}'>${optionalText(optional)}`];
    }
    return value.split('\n').map((line, i) => (i === 0 ? `${head}${line}` : `      \t${line}`));
  };

type ResourceFieldRef = NonNullable<NonNullable<Variable['valueFrom']>['resourceFieldRef']>;

/** The number that the container gets: the quantity divided by the divisor, rounded up. */
function resourceValue({ resources = {} }: Container, { resource = '', divisor = '1' }: ResourceFieldRef): string {
  const [part = '', ...rest] = resource.split('.');
  const quantities = part === 'limits' ? resources.limits : resources.requests;
  const quantity = parseQuantity(String(quantities?.[rest.join('.')] ?? '0')).nano;
  if (quantity === 0n) return /^limits\.(?:cpu|memory)$/.test(resource) ? 'node allocatable' : '0';
  const unit = parseQuantity(divisor === '0' ? '1' : divisor).nano;
  return String((quantity + unit - 1n) / unit);
}

type SpreadConstraints = NonNullable<NonNullable<PodTemplateSpec['spec']>['topologySpreadConstraints']>;

function spreadLines(constraints: SpreadConstraints): string[] {
  if (constraints.length === 0) return [];
  const sorted = sortedBy(constraints, ({ topologyKey }) => topologyKey);
  const texts = sorted.map(({ topologyKey, whenUnsatisfiable, maxSkew, labelSelector }) => {
    const selector = labelSelector ? ` for selector ${selectorText(labelSelector)}` : '';
    return `${topologyKey}:${whenUnsatisfiable} when max skew ${maxSkew} is exceeded${selector}`;
  });
  return titledLines('  Topology Spread Constraints', texts);
}

type LabelSelector = NonNullable<SpreadConstraints[number]['labelSelector']>;

const operators: { readonly [operator: string]: string } = { In: 'in', NotIn: 'notin' };

/** A label selector in the form of a query: `a=b,c in (d,e)`. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` })),
    ...matchExpressions.map(({ key = '', operator = '', values = [] }) => {
      if (operator === 'Exists') return { key, text: key };
      if (operator === 'DoesNotExist') return { key, text: `!${key}` };
      return { key, text: `${key} ${operators[operator] ?? operator} (${values.toSorted().join(',')})` };
    }),
  ];
  return parts.length === 0
    ? '<none>'
    : sortedBy(parts, ({ key }) => key)
        .map(({ text }) => text)
        .join(',');
}

/** Tolerations in the order of their keys. */
function tolerationLines(title: string, tolerations: readonly Toleration[]): string[] {
  const texts = sortedBy(tolerations, ({ key }) => key).map(
    ({ key = '', value = '', effect = '', operator = '', tolerationSeconds }) => {
      const head = `${key}${value === '' ? '' : `=${value}`}${effect === '' ? '' : `:${effect}`}`;
      const exists = operator === 'Exists' && value === '' ? [head === '' ? 'op=Exists' : ' op=Exists'] : [];
      const seconds = tolerationSeconds === undefined || tolerationSeconds === null ? '' : ` for ${tolerationSeconds}s`;
      return `${head}${exists.join('')}${seconds}`;
    },
  );
  return titledLines(title, texts);
}
