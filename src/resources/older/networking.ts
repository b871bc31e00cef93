/** The beta versions of ingresses and ingress classes, and network policies in the group in which they began. */
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import { type Fields, field, intOrString, string } from '../../schema/index.ts';
import * as v1 from '../../types/networking-v1.ts';
import type { OlderKind, OlderVersion } from './declare.ts';
import { typesIn } from './types.ts';

const group = 'networking.{domain}';

const { service: _, resource } = v1.IngressBackend.fields;
const { defaultBackend, tls, rules, ingressClassName } = v1.IngressSpec.fields;
const { path, pathType, backend } = v1.HTTPIngressPath.fields;

const ingressTypes: { readonly [name: string]: Fields } = {
  IngressBackend: { serviceName: field(1, string), servicePort: field(2, intOrString), resource },
  IngressSpec: { ingressClassName, backend: defaultBackend, tls, rules },
  HTTPIngressPath: {
    path,
    pathType: { ...pathType, required: false, always: false, default: 'ImplementationSpecific' },
    backend,
  },
};
const { scope, ...reference } = v1.IngressClassParametersReference.fields;
const networking = typesIn('networking/v1beta1', {
  ...ingressTypes,
  IngressClassParametersReference: { ...reference, scope: { ...scope, required: true, emptyOk: true } },
});
const extensions = typesIn('extensions/v1beta1', ingressTypes);

/** A numeric `servicePort` is a number in v1, any other one a name. */
function toStored(backend: Json): Json {
  if (!isJsonObject(backend)) return backend;
  const { serviceName, servicePort, ...rest } = backend;
  if (serviceName === undefined && servicePort === undefined) return rest;
  const service: JsonObject = { name: serviceName ?? '' };
  if (servicePort !== undefined)
    service['port'] = { [typeof servicePort === 'number' ? 'number' : 'name']: servicePort };
  return { ...rest, service };
}

function toOlder(backend: Json): Json {
  if (!isJsonObject(backend) || !isJsonObject(backend['service'])) return backend;
  const { service, ...rest } = backend;
  const { name, port } = service;
  const servicePort = isJsonObject(port) ? (port['name'] ?? port['number']) : undefined;
  return { ...rest, serviceName: name ?? '', ...(servicePort === undefined ? {} : { servicePort }) };
}

const changes: OlderVersion['changes'] = [
  { older: 'spec.backend', stored: 'spec.defaultBackend', toStored, toOlder },
  { older: 'spec.rules[].http.paths[].backend', toStored, toOlder },
];

export const networkingKinds: readonly OlderKind[] = [
  {
    group,
    plural: 'ingressclasses',
    versions: [
      {
        version: 'v1beta1',
        schema: networking(v1.IngressClass),
        lifecycle: { introduced: '1.18', deprecated: '1.19', removed: '1.22' },
      },
    ],
  },
  {
    group,
    plural: 'ingresses',
    versions: [
      {
        version: 'v1beta1',
        schema: networking(v1.Ingress),
        lifecycle: { introduced: '1.14', deprecated: '1.19', removed: '1.22' },
        changes,
      },
    ],
  },
  {
    group: 'extensions',
    plural: 'ingresses',
    storedIn: group,
    versions: [
      {
        version: 'v1beta1',
        schema: extensions(v1.Ingress),
        lifecycle: { introduced: '1.1', deprecated: '1.14', removed: '1.22' },
        changes,
      },
    ],
  },
  {
    group: 'extensions',
    plural: 'networkpolicies',
    storedIn: group,
    versions: [
      {
        version: 'v1beta1',
        schema: extensions(v1.NetworkPolicy),
        lifecycle: { introduced: '1.3', deprecated: '1.9', removed: '1.16' },
      },
    ],
  },
];
