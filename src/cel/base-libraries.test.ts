import { describe, expect, it } from 'vitest';
import { apiRelease, defaultFeatures, parseRelease } from '../meta/index.ts';
import { kubeLibraries } from './base-libraries.ts';
import { expressionLibraries } from './check/versions.ts';
import type { CelType } from './types.ts';

const libraries = kubeLibraries(defaultFeatures);

const overloads = libraries.flatMap(({ library }) =>
  Object.entries(library.functions).flatMap(([name, all]) => all.map((overload) => ({ name, overload }))),
);

const nameOf = (type: CelType | undefined) => (type?.kind === 'opaque' ? type.name : type?.kind);

describe('the libraries', () => {
  it('have overloads with ids of their own', () => {
    const ids = overloads.map(({ overload }) => overload.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('have no two overloads of a function for the same arguments', () => {
    const signatures = overloads.map(
      ({ name, overload }) => `${overload.member === true ? '.' : ''}${name}(${overload.args.map(nameOf).join()})`,
    );
    expect(signatures.filter((signature, i) => signatures.indexOf(signature) !== i)).toEqual([]);
  });

  it('have a cost wherever they have an estimate', () => {
    const differing = overloads.filter(
      ({ overload: { cost, estimate } }) => (cost === undefined) !== (estimate === undefined),
    );
    expect(differing.map(({ overload }) => overload.id)).toEqual([]);
  });

  it.each([
    ['1.26', ['urls']],
    ['1.27', ['urls', 'authz']],
    ['1.28', ['urls', 'authz', 'quantity']],
    ['1.30', ['urls', 'authz', 'quantity', 'net.ip', 'net.cidr']],
    ['1.32', ['urls', 'authz', 'quantity', 'net.ip', 'net.cidr', 'format']],
    ['1.33', ['urls', 'authz', 'quantity', 'net.ip', 'net.cidr', 'format', 'Semver']],
  ] as const)('of new expressions of %s are %j', (release, names) => {
    const features = { ...defaultFeatures, AuthorizeWithSelectors: false };
    const found = expressionLibraries(kubeLibraries(features))
      .ofNew(parseRelease(release))
      .map(({ name }) => name.replace(/^\w+\./, ''));
    expect(found).toEqual(names);
  });

  it('select in authorization checks while the feature gate is on', () => {
    const has = (on: boolean) =>
      expressionLibraries(kubeLibraries({ ...defaultFeatures, AuthorizeWithSelectors: on }))
        .ofNew(apiRelease)
        .some(({ functions }) => 'fieldSelector' in functions);
    expect([has(true), has(false)]).toEqual([true, false]);
  });
});
