import { describe, expect, it } from 'vitest';
import { namesFor } from '../../meta/index.ts';
import { builtinResources } from '../../resources/index.ts';
import { keyPrefixOf, resourceFinder } from './key-prefix.ts';

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

describe('the resource of a key', () => {
  const resourceOf = resourceFinder(builtinResources, namesFor('k8s.io'));

  it.each([
    ['/secrets/ns/a', '', 'secrets'],
    ['/secrets/', '', 'secrets'],
    ['/minions/a', '', 'nodes'],
    ['/services/specs/ns/a', '', 'services'],
    ['/services/endpoints/', '', 'endpoints'],
    ['/events/ns/a', '', 'events'],
    ['/deployments/ns/a', 'apps', 'deployments'],
    ['/leases/ns/a', 'coordination.k8s.io', 'leases'],
    ['/apiregistration.k8s.io/apiservices/v1.', 'apiregistration.k8s.io', 'apiservices'],
    ['/example.org/wheels/ns/a', 'example.org', 'wheels'],
    ['/example.org/secrets/ns/a', 'example.org', 'secrets'],
  ])('%s', (key, group, resource) => {
    expect(resourceOf(key)).toMatchObject({ group, resource });
  });

  it.each(['', '/', 'secrets', '/secrets', '/identity', '/ranges/ports/1', '/services/a/b', '/example.org/', '//'])(
    'there is none of %j',
    (key) => {
      expect(resourceOf(key)).toBeUndefined();
    },
  );

  it('is found for the prefix of every built-in resource', () => {
    for (const { storage } of builtinResources) {
      const group = storage.group.replace('{domain}', 'k8s.io');
      const found = resourceOf(`${keyPrefixOf({ storage: { ...storage, group } })}x`);
      expect(found).toMatchObject({ group, resource: storage.resource });
    }
  });
});
