/** The beta version of endpoint slices. */
import { type ApiObject, isJsonObject, type Json, type JsonObject, type Names } from '../../meta/index.ts';
import { field, map, string } from '../../schema/index.ts';
import * as v1 from '../../types/discovery-v1.ts';
import { countLabelChange } from '../discovery/endpoint-slices.ts';
import type { OlderKind } from './declare.ts';
import { typesIn } from './types.ts';

const { addresses, conditions, hostname, targetRef, nodeName, hints } = v1.Endpoint.fields;
const v1beta1 = typesIn('discovery/v1beta1', {
  Endpoint: {
    addresses,
    conditions,
    hostname,
    targetRef,
    topology: field(5, map(string)),
    nodeName,
    hints: { ...hints, tag: 7 },
  },
  EndpointPort: v1.EndpointPort.fields,
});

const hostnameLabel = ({ labels }: Names) => `${labels}/hostname`;
const zoneLabel = ({ labels }: Names) => `topology.${labels}/zone`;

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** The topology of an endpoint names its node, unless it names another host. */
function nameNode(slice: ApiObject, names: Names): void {
  const endpoints = slice['endpoints'];
  for (const endpoint of Array.isArray(endpoints) ? endpoints : []) {
    if (!isJsonObject(endpoint) || endpoint['nodeName'] === undefined) continue;
    endpoint['topology'] = { [hostnameLabel(names)]: endpoint['nodeName'], ...objectOf(endpoint['topology']) };
  }
}

function toStored(endpoint: Json, names: Names): Json {
  const { topology, ...rest } = objectOf(endpoint);
  const { [zoneLabel(names)]: zone, ...others } = objectOf(topology);
  if (others[hostnameLabel(names)] === rest['nodeName']) delete others[hostnameLabel(names)];
  return {
    ...rest,
    ...(zone === undefined ? {} : { zone }),
    ...(Object.keys(others).length === 0 ? {} : { deprecatedTopology: others }),
  };
}

function toOlder(endpoint: Json, names: Names): Json {
  const { deprecatedTopology, zone, ...rest } = objectOf(endpoint);
  const { nodeName } = rest;
  const topology = {
    ...(nodeName === undefined ? {} : { [hostnameLabel(names)]: nodeName }),
    ...objectOf(deprecatedTopology),
    ...(zone === undefined ? {} : { [zoneLabel(names)]: zone }),
  };
  return Object.keys(topology).length === 0 ? rest : { ...rest, topology };
}

export const discovery: readonly OlderKind[] = [
  {
    group: 'discovery.{domain}',
    plural: 'endpointslices',
    versions: [
      {
        version: 'v1beta1',
        schema: v1beta1(v1.EndpointSlice),
        lifecycle: { introduced: '1.16', deprecated: '1.21', removed: '1.25' },
        changes: [{ older: 'endpoints[]', toStored, toOlder }],
        defaults: nameNode,
        // Only v1beta1 can write the topology, which is `deprecatedTopology` in v1.
        strategy: ({ prepareCreate: _, ...ofKind }) => ({ ...ofKind, prepareUpdate: countLabelChange }),
      },
    ],
  },
];
