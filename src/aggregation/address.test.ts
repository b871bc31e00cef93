import { describe, expect, it } from 'vitest';
import type { Service } from '../types/core-v1.ts';
import type { EndpointSlice } from '../types/discovery-v1.ts';
import { clusterAddress, endpointAddress, readyAddresses } from './address.ts';
import { serviceFinding } from './availability.ts';

const service = (spec: object): Service => ({ metadata: { name: 'x', namespace: 'n' }, spec }) as Service;
const slice = (endpoints: object[] | null, ports: object[] = [{ name: 'web', port: 9443 }]): EndpointSlice =>
  ({ metadata: { name: 's' }, addressType: 'IPv4', endpoints, ports }) as unknown as EndpointSlice;
const web = { clusterIP: '10.0.0.7', ports: [{ name: 'web', port: 443 }] };
const remote = { namespace: 'n', name: 'x', port: 443, ca: '', verify: true };

describe('the address of an extension API server', () => {
  it('is the cluster IP, or the external name, with the port of the APIService', () => {
    expect(clusterAddress(service(web), 443)).toEqual({ host: '10.0.0.7', port: '443' });
    expect(clusterAddress(service({ type: 'ExternalName', externalName: 'a.example' }), 8443)).toEqual({
      host: 'a.example',
      port: '8443',
    });
  });

  it('is an error for a headless Service and for a port that the Service lacks', () => {
    expect(() => clusterAddress(service({ ...web, clusterIP: 'None' }), 443)).toThrow(
      'cannot route to service with ClusterIP "None"',
    );
    expect(() => clusterAddress(service(web), 80)).toThrow('no service port 80 found for service "x"');
  });

  it('is that of a ready endpoint with a port of the same name, where requests go to endpoints', () => {
    const slices = [
      slice(null),
      slice([{ addresses: ['192.0.2.1'] }, { addresses: ['192.0.2.2'], conditions: { ready: false } }]),
      slice([{ addresses: ['192.0.2.3'], conditions: { ready: true } }], [{ name: 'other', port: 1 }]),
    ];
    expect(readyAddresses(slices, 'web')).toEqual([{ host: '192.0.2.1', port: '9443' }]);
    expect(endpointAddress(service(web), slices, 443, () => 0)).toEqual({ host: '192.0.2.1', port: '9443' });
    expect(() => endpointAddress(service(web), [], 443, () => 0)).toThrow('no endpoints available for service "x"');
  });
});

describe('the condition Available', () => {
  it('names what a Service lacks', () => {
    expect(serviceFinding(remote, undefined, [])?.reason).toBe('ServiceNotFound');
    expect(serviceFinding({ ...remote, port: 80 }, service(web), [])?.reason).toBe('ServicePortError');
    expect(serviceFinding(remote, service(web), [])?.reason).toBe('EndpointsNotFound');
    expect(serviceFinding(remote, service(web), [slice(null)])?.reason).toBe('MissingEndpoints');
    expect(serviceFinding(remote, service(web), [slice([{ addresses: ['192.0.2.1'] }])])).toBeUndefined();
  });

  it('does not depend on endpoints for a Service without a cluster IP of its own', () => {
    expect(serviceFinding(remote, service({ type: 'ExternalName', externalName: 'a' }), [])).toBeUndefined();
  });
});
