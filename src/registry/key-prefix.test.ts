import { describe, expect, it } from 'vitest';
import { builtinResources } from '../resources/index.ts';
import { keyPrefixOf } from './key-prefix.ts';

const prefixOf = (group: string, resource: string) => {
  const found = builtinResources.find(({ storage }) => storage.group === group && storage.resource === resource);
  return found === undefined ? undefined : keyPrefixOf(found);
};

describe('keys of objects', () => {
  // The names in the storage of the reference server.
  it.each([
    ['', 'pods', '/pods/'],
    ['', 'nodes', '/minions/'],
    ['', 'services', '/services/specs/'],
    ['', 'endpoints', '/services/endpoints/'],
    ['', 'replicationcontrollers', '/controllers/'],
    ['apps', 'deployments', '/deployments/'],
    ['networking.{domain}', 'ingresses', '/ingress/'],
    ['coordination.{domain}', 'leases', '/leases/'],
    ['apiextensions.{domain}', 'customresourcedefinitions', '/apiextensions.{domain}/customresourcedefinitions/'],
    ['apiregistration.{domain}', 'apiservices', '/apiregistration.{domain}/apiservices/'],
  ])('of %s %s begin with %s', (group, resource, prefix) => {
    expect(prefixOf(group, resource)).toBe(prefix);
  });

  it('of no resource begin with those of another one', () => {
    const stored = new Map(builtinResources.map((one) => [`${one.storage.resource}.${one.storage.group}`, one]));
    const prefixes = [...stored.values()].map(keyPrefixOf);
    expect(prefixes.length).toBeGreaterThan(50);
    for (const [i, prefix] of prefixes.entries()) {
      expect(prefixes.filter((other, j) => i !== j && other.startsWith(prefix))).toEqual([]);
    }
  });
});
