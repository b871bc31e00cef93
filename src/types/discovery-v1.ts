/** The types of discovery/v1. */
import { bool, field, type Infer, int32, list, map, string, struct } from '../schema/index.ts';
import { ObjectReference } from './core-v1.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

export const EndpointConditions = struct('discovery/v1.EndpointConditions', {
  ready: field(1, bool, { nullable: true }),
  serving: field(2, bool, { nullable: true }),
  terminating: field(3, bool, { nullable: true }),
});

export const ForZone = struct('discovery/v1.ForZone', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
});

export const ForNode = struct('discovery/v1.ForNode', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
});

export const EndpointHints = struct('discovery/v1.EndpointHints', {
  forZones: field(1, list(ForZone), { listType: 'atomic' }),
  forNodes: field(2, list(ForNode), { listType: 'atomic', gate: 'PreferSameTrafficDistribution' }),
});

export const Endpoint = struct('discovery/v1.Endpoint', {
  addresses: field(1, list(string), { required: true, emptyOk: true, always: true, listType: 'set', duplicates: true }),
  conditions: field(2, EndpointConditions),
  hostname: field(3, string, { nullable: true }),
  targetRef: field(4, ObjectReference, { nullable: true }),
  deprecatedTopology: field(5, map(string)),
  nodeName: field(6, string, { nullable: true }),
  zone: field(7, string, { nullable: true }),
  hints: field(8, EndpointHints, { nullable: true }),
});
export type Endpoint = Infer<typeof Endpoint>;

export const EndpointPort = struct(
  'discovery/v1.EndpointPort',
  {
    name: field(1, string, { nullable: true }),
    protocol: field(2, string, { nullable: true, known: ['SCTP', 'TCP', 'UDP'] }),
    port: field(3, int32, { nullable: true }),
    appProtocol: field(4, string, { nullable: true }),
  },
  { structType: 'atomic' },
);

export const EndpointSlice = struct('discovery/v1.EndpointSlice', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  addressType: field(4, string, { required: true, always: true, known: ['FQDN', 'IPv4', 'IPv6'] }),
  endpoints: field(2, list(Endpoint), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  ports: field(3, list(EndpointPort), { always: true, listType: 'atomic' }),
});
export type EndpointSlice = Infer<typeof EndpointSlice>;
