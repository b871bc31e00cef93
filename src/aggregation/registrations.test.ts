import { describe, expect, it } from 'vitest';
import type { APIService } from '../types/apiregistration-v1.ts';
import { Registrations } from './registrations.ts';

const name = 'v1.example.com';
const service = { namespace: 'n', name: 'x', port: 443 };
const apiService = (spec: object = {}, status?: 'True' | 'False'): APIService =>
  ({
    metadata: { name },
    spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 5, versionPriority: 6, service, ...spec },
    ...(status && { status: { conditions: [{ type: 'Available', status, reason: 'R', message: '' }] } }),
  }) as APIService;
const documents = { resources: [{ resource: 'apples' }], openApiV2: undefined, openApiV3: undefined, size: 24 };

const create = () =>
  new Registrations(new Map([['v1.apps', { group: 9, version: 8 }]]), new Set(['', 'own.example.com']));

describe('the registrations', () => {
  it('are the same map until one of them changes', () => {
    const registrations = create();
    expect(registrations.set(name, apiService())).toBe(true);
    const { all } = registrations;
    registrations.set(name, apiService());
    expect(registrations.all).toBe(all);
    expect(registrations.set(name, apiService({}, 'True'))).toBe(false);
    expect(registrations.all).not.toBe(all);
  });

  it('are checked when the spec changes, and when somebody removes the condition', () => {
    const registrations = create();
    registrations.set(name, apiService({}, 'True'));
    expect(registrations.set(name, apiService({ caBundle: 'QQ==' }, 'True'))).toBe(true);
    expect(registrations.set(name, apiService({ caBundle: 'QQ==' }, 'False'))).toBe(false);
    expect(registrations.set(name, apiService({ caBundle: 'QQ==' }))).toBe(true);
  });

  it('have documents of a server that is available only', () => {
    const registrations = create();
    registrations.set(name, apiService({}, 'True'));
    const remote = registrations.get(name)?.remote;
    registrations.learned(name, remote!.service, documents);
    expect(registrations.get(name)?.remote?.documents).toEqual(documents);
    registrations.set(name, apiService({}, 'False'));
    expect(registrations.get(name)?.remote).toMatchObject({ available: false, documents: undefined });
  });

  it('ignore documents of a server that the APIService no longer names', () => {
    const registrations = create();
    registrations.set(name, apiService({}, 'True'));
    const before = registrations.get(name)!.remote!.service;
    registrations.set(name, apiService({ service: { ...service, name: 'y' } }, 'True'));
    registrations.learned(name, before, documents);
    expect(registrations.get(name)?.remote?.documents).toBeUndefined();
  });

  it('have no documents that do not fit beside those of the others', () => {
    const registrations = create();
    const learned = (version: string, size: number) => {
      registrations.set(`${version}.example.com`, apiService({ version }, 'True'));
      const { service } = registrations.get(`${version}.example.com`)!.remote!;
      return registrations.learned(`${version}.example.com`, service, { ...documents, resources: [{ size }], size });
    };
    const mib = 1024 * 1024;
    expect([learned('v1', 20 * mib), learned('v2', 10 * mib), learned('v3', 3 * mib)]).toEqual([true, true, false]);
    expect(registrations.get('v3.example.com')?.remote?.documents).toBeUndefined();
    expect([learned('v1', 19 * mib), learned('v3', 3 * mib), learned('v2', 11 * mib)]).toEqual([true, true, false]);
    expect(registrations.get('v2.example.com')?.remote?.documents).toBeUndefined();
  });

  it('leave the core group and that of APIServices to this server', () => {
    const registrations = create();
    for (const group of ['', 'own.example.com']) {
      registrations.set(`v1.${group}`, apiService({ group }, 'True'));
      expect(registrations.get(`v1.${group}`)?.remote).toBeUndefined();
    }
  });

  it('have priorities of APIServices, or else of built-in or custom group versions', () => {
    const registrations = create();
    registrations.set(name, apiService());
    expect(registrations.prioritiesOf('example.com', 'v1')).toEqual({ group: 5, version: 6 });
    expect(registrations.prioritiesOf('apps', 'v1')).toEqual({ group: 9, version: 8 });
    expect(registrations.prioritiesOf('other.example.com', 'v1')).toEqual({ group: 1000, version: 100 });
    registrations.set(name, undefined);
    expect(registrations.all.size).toBe(0);
  });
});
