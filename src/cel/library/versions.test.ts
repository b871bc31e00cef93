import { describe, expect, it } from 'vitest';
import type { CelType } from '../types.ts';
import { kubeLibraries } from './versions.ts';

const overloads = kubeLibraries.flatMap(({ library }) =>
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

  it('are known since their release', () => {
    const since = (release: string) =>
      kubeLibraries.filter((each) => each.since === release).map(({ library }) => library.name.replace(/^\w+\./, ''));
    expect(['1.0', '1.27', '1.28', '1.30', '1.31', '1.33'].map(since)).toEqual([
      ['urls'],
      ['authz'],
      ['quantity'],
      ['net.ip', 'net.cidr'],
      ['format', 'authzSelectors'],
      ['Semver'],
    ]);
  });
});
